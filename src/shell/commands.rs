//! Simple commands at work: words expanded, variables assigned, redirections followed.

use super::ast::{AssignedValue, Assignment, RawRedirect, Simple};
use super::call::Call;
use super::evaluator::{Context, Evaluator, Redirected};
use super::limits::{GLOB_COST, MAX_WORD};
use super::model::Redirect;
use super::scope::{Field, Known};
use super::{programs, windows};

impl Evaluator {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[RawRedirect],
        offset: usize,
        context: &Context,
    ) -> Option<Known> {
        let mut argv = self.expand_words(&simple.words, context);
        windows::restore_backslashes(&mut argv);
        if let Some(program) = argv.first_mut() {
            self.resolve_program_glob(program);
        }
        let redirected = self.redirects(redirects, context);
        let mut env = Vec::new();
        for assignment in &simple.assignments {
            if simple.words.is_empty() || matches!(assignment.value, AssignedValue::Array(_)) {
                self.assign(assignment, context);
            } else if let AssignedValue::Scalar(word) = &assignment.value {
                let value = self.expand_single(word, context);
                env.push((assignment.name.clone(), value));
            }
        }
        if argv.is_empty() && !simple.words.is_empty() {
            // `$EMPTY` alone: nothing to run, if it is empty on every way to here.
            self.functions.reach();
            return Some(Known::empty());
        }
        let argv = if argv.is_empty() {
            match read_of_nothing(&redirected) {
                Some(argv) => argv,
                None => return self.store_output(&redirected, Some(Known::empty())),
            }
        } else {
            argv
        };
        if argv.len() == 1 && argv.first().is_some_and(|field| field.text == "exec") {
            self.turn_output(&redirected);
            if redirected.list.iter().all(moves_output) {
                return Some(Known::empty());
            }
        }
        let mut own: Vec<Redirect> = redirected
            .list
            .iter()
            .chain(&*context.redirects)
            .cloned()
            .collect();
        if !own.iter().any(moves_output) {
            own.extend(self.scope.output.clone());
        }
        let call = Call {
            argv: &argv,
            env,
            redirects: own,
            heredoc: redirected.heredoc.clone(),
            heredoc_at: redirected.heredoc_at,
            stdin: redirected.stdin.clone().or_else(|| context.stdin.clone()),
            directory: self.scope.directory.clone(),
            offset,
            context: context.clone(),
        };
        let printed = self.call(call);
        self.store_output(&redirected, printed)
    }

    /// `exec >file`, and `exec >&3` that ends it.
    fn turn_output(&mut self, redirected: &Redirected) {
        for redirect in redirected.list.iter().filter(|r| moves_output(r)) {
            let file = !redirect.operator.contains(">&") && !redirect.target.dynamic;
            self.scope.output = file.then(|| redirect.clone());
        }
    }

    /// `/usr/bin/g?t`: a pattern in the place of a program, if it fits one that matters.
    fn resolve_program_glob(&mut self, program: &mut Field) {
        /// Longer patterns are no disguise of a short name.
        const LONGEST: usize = 32;
        let name = programs::base_name(&program.text);
        let pattern = program.dynamic && name.len() <= LONGEST && name.contains(['?', '*', '[']);
        if !pattern || name.chars().all(|c| c == '*') {
            return;
        }
        let known = match self.program_globs.get(name).copied() {
            Some(known) => known,
            None if self.charge(GLOB_COST) => {
                let known = programs::matching(name);
                self.program_globs.insert(name.to_owned(), known);
                known
            }
            None => None,
        };
        if let Some(known) = known {
            *program = Field::plain(known);
        }
    }

    fn assign(&mut self, assignment: &Assignment, context: &Context) {
        let name = assignment.name.as_str();
        let extends = assignment.append || matches!(assignment.value, AssignedValue::Element(..));
        let old = self.scope.variables.get(name).filter(|_| extends).cloned();
        let value = match &assignment.value {
            AssignedValue::Scalar(word) => {
                let mut value = self.expand_single(word, context);
                if assignment.append
                    && let Some(first) = old.as_ref().and_then(|old| old.first())
                {
                    let fits = first.text.len() + value.text.len() <= MAX_WORD;
                    if !fits || !self.charge(first.text.len()) {
                        self.incomplete = true;
                        return;
                    }
                    value.text.insert_str(0, &first.text);
                    value.dynamic |= first.dynamic;
                    value.decoded = value.decoded.max(first.decoded);
                }
                value.exact = None;
                vec![value]
            }
            AssignedValue::Array(words) => {
                let mut value = if assignment.append {
                    old.unwrap_or_default()
                } else {
                    Vec::new()
                };
                self.charge_fields(&value);
                value.extend(self.expand_words(words, context));
                value
            }
            AssignedValue::Element(index, word) => {
                let added = self.expand_single(word, context);
                let mut value = old.unwrap_or_default();
                self.charge_fields(&value);
                match index.parse::<usize>().ok() {
                    Some(at) if at < value.len() => {
                        if let Some(slot) = value.get_mut(at) {
                            *slot = added;
                        }
                    }
                    _ => value.push(added),
                }
                value
            }
        };
        if !self.budget.exhausted() {
            self.scope.variables.set(name, value);
        }
    }

    /// Expands redirections; later ones win.
    pub(super) fn redirects(&mut self, redirects: &[RawRedirect], context: &Context) -> Redirected {
        let mut out = Redirected::default();
        for redirect in redirects {
            if let Some(body) = &redirect.body {
                let Some(word) = body.get() else { continue };
                let text = self.expand_single(word, context);
                out.stdin = (!text.dynamic).then(|| Known::new(text.text.as_bytes(), 0));
                out.heredoc_at = word.exact;
                out.heredoc = Some(text.text);
                continue;
            }
            let target = self.expand_single(&redirect.target, context);
            match redirect
                .operator
                .trim_start_matches(|c: char| c.is_ascii_digit())
            {
                "<<<" => {
                    let text = format!("{}\n", target.text);
                    out.stdin =
                        (!target.dynamic).then(|| Known::new(text.as_bytes(), target.decoded));
                    out.heredoc_at = target.exact;
                    out.heredoc = Some(target.text);
                    continue;
                }
                "<" => out.stdin = self.file(&target),
                ">" | ">|" | "&>" if !redirect.operator.starts_with('2') => {
                    out.output = Some((target.clone(), false));
                }
                ">>" | "&>>" if !redirect.operator.starts_with('2') => {
                    out.output = Some((target.clone(), true));
                }
                _ => {}
            }
            out.list.push(Redirect {
                operator: redirect.operator.clone(),
                target: target.word(),
            });
        }
        out
    }

    /// The content of a file, if this text wrote it.
    pub(crate) fn file(&self, path: &Field) -> Option<Known> {
        let exact = self.scope.files.get(&path.text);
        let key = || self.scope.file_key(&path.text);
        exact.or_else(|| self.scope.files.get(&key())).cloned()
    }

    /// Notes that a file is run, if it was there before.
    pub(super) fn note_run(&mut self, path: &Field) {
        let key = self.scope.file_key(&path.text);
        if self.scope.found.contains(&key) {
            self.ran.insert(key);
        }
    }

    /// Remembers what was printed into a file; the result is what is left on standard output.
    pub(super) fn store_output(
        &mut self,
        redirected: &Redirected,
        printed: Option<Known>,
    ) -> Option<Known> {
        let Some((target, append)) = &redirected.output else {
            return printed;
        };
        let content = if *append {
            let key = self.scope.file_key(&target.text);
            let before = self.scope.files.remove(&key);
            self.concatenate(before.or_else(|| Some(Known::empty())), printed)
        } else {
            printed
        };
        self.store_file(target, content);
        Some(Known::empty())
    }

    /// Remembers or forgets the content of a file.
    pub(crate) fn store_file(&mut self, path: &Field, content: Option<Known>) {
        if path.dynamic {
            return;
        }
        let key = self.scope.file_key(&path.text);
        if !self.charge(key.len()) {
            return;
        }
        self.scope.found.remove(&key);
        match content {
            Some(content) => self.scope.files.insert(key, content),
            None => self.scope.files.remove(&key),
        };
    }
}

/// True for what sends the standard output elsewhere.
fn moves_output(redirect: &Redirect) -> bool {
    let operator = redirect
        .operator
        .strip_prefix('1')
        .unwrap_or(&redirect.operator);
    operator.starts_with(['>', '&']) && operator.contains('>')
}

/// `$(< file)` reads a file without a program: noted as `cat file`.
fn read_of_nothing(redirected: &Redirected) -> Option<Vec<Field>> {
    let read = redirected.list.iter().find(|r| r.operator == "<")?;
    let file = Field {
        dynamic: read.target.dynamic,
        ..Field::plain(&read.target.text)
    };
    Some(vec![Field::plain("cat"), file])
}
