//! Walks the tree and notes what would be executed.
//!
//! A cautious stand-in for a shell: both branches of a condition count, loops over literal words
//! are unrolled, variables are followed as far as their values are known, nothing is run. What a
//! command prints is followed through pipes, files and substitutions only where it is certain
//! (`echo`, `printf`, `cat` of a heredoc, decoders).

use std::rc::Rc;

use super::ast::{AssignedValue, Assignment, Command, Item, Kind, RawRedirect, Script, Simple};
use super::call::Call;
use super::cursor::Base;
use super::limits::{Budget, MAX_DECODED, MAX_GROUP_REDIRECTS, MAX_LOOP_ROUNDS, MAX_NESTING};
use super::model::{Invocation, Join, Origin, Redirect};
use super::parser::{Dialect, parse_text};
use super::scope::{Field, Known, Scope};
use super::windows;

/// What a list inherits from where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) depth: usize,
    pub(crate) origin: Origin,
    /// How the first command is joined to what came before.
    pub(crate) join: Join,
    /// Known standard input.
    pub(crate) stdin: Option<Known>,
    /// Redirections of the groups around.
    pub(crate) redirects: Rc<[Redirect]>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            depth: 0,
            origin: Origin::Direct,
            join: Join::First,
            stdin: None,
            redirects: Rc::from([]),
        }
    }
}

impl Context {
    /// The origin of something found here in the given way: a wrapper says less than what it
    /// stands in, and what was decoded or embedded stays so.
    pub(crate) fn origin_of(&self, found: Origin) -> Origin {
        match (self.origin, found) {
            (Origin::Decoded, _) | (_, Origin::Decoded) => Origin::Decoded,
            (Origin::Embedded, _) => Origin::Embedded,
            (outer, Origin::Wrapped) if outer != Origin::Direct => outer,
            (_, found) => found,
        }
    }
}

/// Redirections of one command, expanded.
#[derive(Debug, Default)]
pub(crate) struct Redirected {
    pub(crate) list: Vec<Redirect>,
    pub(crate) stdin: Option<Known>,
    /// Text of a heredoc or here-string.
    pub(crate) heredoc: Option<String>,
    /// Where that text stands unchanged.
    pub(crate) heredoc_at: Option<usize>,
    /// File that the standard output goes to, and whether it is appended.
    pub(crate) output: Option<(Field, bool)>,
}

/// The state of taking one command text apart.
#[derive(Debug)]
pub(crate) struct Evaluator {
    pub(crate) budget: Budget,
    pub(crate) scope: Scope,
    /// Invocations found so far in the current list.
    pub(crate) out: Vec<Invocation>,
    /// For each open pipeline: what goes before it.
    pub(crate) before: Vec<Vec<Invocation>>,
    pub(crate) scripts: Vec<(String, String)>,
    pub(crate) incomplete: bool,
    /// Number of invocations noted so far.
    pub(crate) emitted: usize,
}

impl Evaluator {
    pub(crate) fn new(length: usize) -> Self {
        Self {
            budget: Budget::for_length(length),
            scope: Scope::new(),
            out: Vec::new(),
            before: Vec::new(),
            scripts: Vec::new(),
            incomplete: false,
            emitted: 0,
        }
    }

    /// Takes work from the budget; when it is used up the result is incomplete.
    pub(crate) fn charge(&mut self, cost: usize) -> bool {
        let allowed = self.budget.spend(cost.saturating_add(1));
        if !allowed {
            self.incomplete = true;
        }
        allowed
    }

    /// Takes a script text apart, one level below `context`.
    pub(crate) fn text(&mut self, text: &str, base: Base, context: &Context) -> Option<Known> {
        self.text_in(Dialect::Posix, text, base, context)
    }

    /// Takes a text apart that is written for another shell.
    pub(crate) fn text_in(
        &mut self,
        dialect: Dialect,
        text: &str,
        base: Base,
        context: &Context,
    ) -> Option<Known> {
        let depth = context.depth + 1;
        if depth > MAX_NESTING || !self.charge(text.len()) {
            self.incomplete = true;
            return None;
        }
        let parsed = parse_text(text, base, depth, dialect);
        self.incomplete |= parsed.incomplete;
        let inner = Context {
            depth,
            ..context.clone()
        };
        self.script(&parsed.script, &inner)
    }

    /// Evaluates a list; the result is what it prints, when that is known.
    pub(crate) fn script(&mut self, script: &Script, context: &Context) -> Option<Known> {
        if context.depth > MAX_NESTING {
            self.incomplete = true;
            return None;
        }
        let mut printed = Some(Known::empty());
        let before = self.emitted;
        for item in &script.items {
            if self.budget.exhausted() {
                return None;
            }
            // Assignments alone are no invocations: the first one is still to come.
            let first = self.emitted == before;
            let join = if first { context.join } else { item.join };
            let output = self.pipeline(item, join, context);
            printed = self.concatenate(printed, output);
        }
        printed
    }

    /// Appends one output to another, if both are known.
    pub(crate) fn concatenate(&mut self, a: Option<Known>, b: Option<Known>) -> Option<Known> {
        let (a, b) = (a?, b?);
        if a.bytes.is_empty() {
            return Some(b);
        }
        if b.bytes.is_empty() {
            return Some(a);
        }
        let length = a.bytes.len() + b.bytes.len();
        if length > MAX_DECODED || !self.charge(length) {
            self.incomplete = true;
            return None;
        }
        Some(Known::new(
            &[&*a.bytes, &*b.bytes].concat(),
            a.decoded.max(b.decoded),
        ))
    }

    fn pipeline(&mut self, item: &Item, join: Join, context: &Context) -> Option<Known> {
        if let [only] = item.commands.as_slice() {
            let inner = Context {
                join,
                ..context.clone()
            };
            return self.command(only, &inner);
        }
        let outer = std::mem::take(&mut self.out);
        self.before.push(outer);
        let mut flowing = context.stdin.clone();
        for (at, command) in item.commands.iter().enumerate() {
            let inner = Context {
                join: if at == 0 { join } else { Join::Pipe },
                stdin: flowing.take(),
                ..context.clone()
            };
            // Each member of a pipeline is a subshell.
            let mark = self.scope.variables.mark();
            let directory = self.scope.directory.clone();
            flowing = self.command(command, &inner);
            self.scope.directory = directory;
            self.scope.variables.rollback(mark);
        }
        let own = std::mem::take(&mut self.out);
        self.out = self.before.pop().unwrap_or_default();
        self.out.extend(own);
        flowing
    }

    pub(crate) fn command(&mut self, command: &Command, context: &Context) -> Option<Known> {
        if let Kind::Simple(simple) = &command.kind {
            return self.simple(simple, &command.redirects, command.offset, context);
        }
        let redirected = self.redirects(&command.redirects, context);
        let inner = Context {
            depth: context.depth + 1,
            stdin: redirected.stdin.clone().or_else(|| context.stdin.clone()),
            redirects: self.group_redirects(&redirected.list, context),
            ..context.clone()
        };
        let printed = self.compound(&command.kind, &inner);
        self.store_output(&redirected, printed)
    }

    /// The redirections that the commands of a group inherit.
    fn group_redirects(&mut self, own: &[Redirect], context: &Context) -> Rc<[Redirect]> {
        if own.is_empty() {
            return Rc::clone(&context.redirects);
        }
        let all: Vec<Redirect> = own.iter().chain(&*context.redirects).cloned().collect();
        if all.len() > MAX_GROUP_REDIRECTS {
            self.incomplete = true;
        }
        all.into_iter().take(MAX_GROUP_REDIRECTS).collect()
    }

    fn compound(&mut self, kind: &Kind, context: &Context) -> Option<Known> {
        match kind {
            Kind::Simple(_) => None,
            Kind::Subshell(script) => {
                let mark = self.scope.variables.mark();
                let directory = self.scope.directory.clone();
                let printed = self.script(script, context);
                self.scope.directory = directory;
                self.scope.variables.rollback(mark);
                printed
            }
            Kind::Group(scripts) => {
                let only = scripts.len() == 1;
                let mut printed = None;
                for (at, script) in scripts.iter().enumerate() {
                    let inner = Context {
                        join: if at == 0 { context.join } else { Join::Then },
                        ..context.clone()
                    };
                    printed = self.script(script, &inner);
                }
                printed.filter(|_| only)
            }
            Kind::For { name, words, body } => {
                self.for_loop(name, words.as_deref(), body, context);
                None
            }
            Kind::Case { word, arms } => {
                self.expand_single(word, context);
                for arm in arms {
                    self.script(arm, context);
                }
                None
            }
            Kind::Function { name, body } => {
                self.scope.functions.insert(name.clone(), Rc::clone(body));
                let outer = std::mem::replace(&mut self.scope.unknown_parameters, true);
                self.command(body, context);
                self.scope.unknown_parameters = outer;
                None
            }
            Kind::Arithmetic(word) => {
                self.expand_single(word, context);
                None
            }
            Kind::Test(words) => {
                self.expand_words(words, context);
                None
            }
        }
    }

    /// Evaluates the body once for each literal word; once for all if they cannot be told.
    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[super::ast::RawWord]>,
        body: &Script,
        context: &Context,
    ) {
        let values = match words {
            Some(words) => self.expand_words(words, context),
            None => self.scope.variables.get("@").cloned().unwrap_or_default(),
        };
        let known = !values.is_empty() && values.iter().all(|field| !field.dynamic);
        if !known || values.len() > MAX_LOOP_ROUNDS {
            self.scope
                .variables
                .set(name, vec![Field::unresolved(&format!("${name}"))]);
            self.script(body, context);
            return;
        }
        let start = self.out.len();
        let mut first_round = 0;
        for (round, value) in values.into_iter().enumerate() {
            self.scope.variables.set(name, vec![value]);
            let before = self.out.len();
            self.script(body, context);
            // A body that does not use the variable is noted once.
            let added = self.out.get(before..).unwrap_or_default();
            if round == 0 {
                first_round = added.len();
            } else if self.out.get(start..start + first_round) == Some(added) {
                self.out.truncate(before);
            }
        }
    }

    fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[RawRedirect],
        offset: usize,
        context: &Context,
    ) -> Option<Known> {
        let mut argv = self.expand_words(&simple.words, context);
        windows::restore_backslashes(&mut argv);
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
            // `$EMPTY` alone: nothing to run.
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
        let own: Vec<Redirect> = redirected
            .list
            .iter()
            .chain(&*context.redirects)
            .cloned()
            .collect();
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

    fn assign(&mut self, assignment: &Assignment, context: &Context) {
        let name = assignment.name.as_str();
        let old = self.scope.variables.get(name).cloned();
        let value = match &assignment.value {
            AssignedValue::Scalar(word) => {
                let mut value = self.expand_single(word, context);
                if assignment.append
                    && let Some(first) = old.as_ref().and_then(|old| old.first())
                {
                    let fits = first.text.len() + value.text.len() <= super::limits::MAX_WORD;
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
                self.charge(value.iter().map(|field| field.text.len()).sum());
                value.extend(self.expand_words(words, context));
                value
            }
            AssignedValue::Element(index, word) => {
                let added = self.expand_single(word, context);
                let mut value = old.unwrap_or_default();
                self.charge(value.iter().map(|field| field.text.len()).sum());
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
    fn redirects(&mut self, redirects: &[RawRedirect], context: &Context) -> Redirected {
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
        let key = || self.scope.directory.file(&path.text);
        exact.or_else(|| self.scope.files.get(&key())).cloned()
    }

    /// Remembers what was printed into a file; the result is what is left on standard output.
    fn store_output(&mut self, redirected: &Redirected, printed: Option<Known>) -> Option<Known> {
        let Some((target, append)) = &redirected.output else {
            return printed;
        };
        let content = if *append {
            let before = self.file(target).or_else(|| Some(Known::empty()));
            self.concatenate(before, printed)
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
        let key = self.scope.directory.file(&path.text);
        if !self.charge(key.len()) {
            return;
        }
        match content {
            Some(content) => self.scope.files.insert(key, content),
            None => self.scope.files.remove(&key),
        };
    }
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
