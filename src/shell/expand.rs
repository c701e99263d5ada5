//! Words as the program gets them: variables, substitutions and braces resolved where they can be.

use super::ast::{Index, Operation, Part, RawWord, Script, Variable};
use super::braces::{self, Braces};
use super::evaluator::{Context, Evaluator};
use super::limits::MAX_WORD;
use super::model::Origin;
use super::parameters;
use super::scope::{Field, Known, Value};

/// Collects the fields that one word becomes.
#[derive(Debug, Default)]
struct Fields {
    done: Vec<Field>,
    current: Option<Field>,
}

impl Fields {
    fn current(&mut self) -> &mut Field {
        self.current.get_or_insert_default()
    }

    fn push(&mut self, text: &str, dynamic: bool, decoded: u8) {
        let field = self.current();
        field.text.push_str(text);
        field.dynamic |= dynamic;
        field.decoded = field.decoded.max(decoded);
    }

    /// Adds a value that is split at blanks.
    fn push_split(&mut self, value: &Field) {
        if value.text.starts_with(char::is_whitespace) {
            self.end();
        }
        for (at, piece) in value.text.split_whitespace().enumerate() {
            if at > 0 {
                self.end();
            }
            self.push(piece, value.dynamic, value.decoded);
        }
        if value.text.ends_with(char::is_whitespace) {
            self.end();
        }
    }

    fn end(&mut self) {
        self.done.extend(self.current.take());
    }
}

impl Evaluator {
    /// Expands the words of a command.
    pub(super) fn expand_words(&mut self, words: &[RawWord], context: &Context) -> Vec<Field> {
        let mut out = Vec::new();
        for word in words {
            match braces::expand(word) {
                Braces::None => out.extend(self.expand_word(word, context, true)),
                Braces::Words(words) => {
                    for word in &words {
                        out.extend(self.expand_word(word, context, true));
                    }
                }
                Braces::TooMany => {
                    self.incomplete = true;
                    out.extend(self.expand_word(word, context, true));
                }
            }
        }
        out
    }

    /// Expands a word that stays one: the value of an assignment, a file name, a heredoc.
    pub(super) fn expand_single(&mut self, word: &RawWord, context: &Context) -> Field {
        let mut fields = self.expand_word(word, context, false).into_iter();
        let mut joined = fields.next().unwrap_or_default();
        for field in fields {
            joined.text.push(' ');
            joined.text.push_str(&field.text);
            joined.dynamic |= field.dynamic;
            joined.decoded = joined.decoded.max(field.decoded);
            joined.exact = None;
        }
        joined
    }

    fn expand_word(&mut self, word: &RawWord, context: &Context, splits: bool) -> Vec<Field> {
        let mut fields = Fields::default();
        for part in &word.parts {
            match part {
                Part::Literal { text, quoted } => {
                    self.charge(text.len());
                    fields.push(text, !quoted && has_glob(text), 0);
                }
                Part::Variable { variable, quoted } => {
                    let value = self.variable(variable, context);
                    let list = variable.index == Index::All || variable.name == "@";
                    self.add_value(&mut fields, &value, splits && !quoted, list && splits);
                }
                Part::Command {
                    script,
                    raw,
                    quoted,
                } => {
                    let known = self.substitute(script, context, Origin::Substitution);
                    let value = match known {
                        Some(known) => Field {
                            decoded: known.decoded,
                            ..Field::plain(known.text().trim_end_matches('\n'))
                        },
                        None => Field::unresolved(raw),
                    };
                    let split = splits && !quoted && !value.dynamic;
                    self.add_value(&mut fields, &[value], split, false);
                }
                Part::Process { script, raw } => {
                    let known = self.substitute(script, context, Origin::ProcessSubstitution);
                    if let Some(known) = known {
                        // The word names a file with that content.
                        self.scope.files.insert(raw.to_string(), known);
                    }
                    self.add_value(&mut fields, &[Field::unresolved(raw)], false, false);
                }
                Part::Arithmetic { word, raw } => {
                    self.expand_single(word, context);
                    self.add_value(&mut fields, &[Field::unresolved(raw)], false, false);
                }
            }
        }
        fields.end();
        let mut done = fields.done;
        if let [only] = done.as_mut_slice() {
            only.exact = word.exact;
            only.source.clone_from(&word.source);
        }
        done
    }

    /// Adds an expanded value, within the bound on the length of a word.
    fn add_value(&mut self, fields: &mut Fields, value: &[Field], split: bool, list: bool) {
        for (at, item) in value.iter().enumerate() {
            if at > 0 {
                if list || split {
                    fields.end();
                } else {
                    fields.push(" ", false, 0);
                }
            }
            let length = fields.current.as_ref().map_or(0, |field| field.text.len());
            let fits = length.saturating_add(item.text.len()) <= MAX_WORD;
            if !fits || !self.charge(item.text.len()) {
                self.incomplete = true;
                fields.current().dynamic = true;
            } else if split && !item.dynamic {
                fields.push_split(item);
            } else {
                fields.push(&item.text, item.dynamic, item.decoded);
            }
        }
    }

    /// The value of a parameter expansion; an unresolved one is its own text.
    fn variable(&mut self, variable: &Variable, context: &Context) -> Value {
        let value = self.lookup(variable);
        let unresolved = || vec![Field::unresolved(&variable.raw)];
        match (variable.operation, value) {
            (Operation::Value, Some(value)) => value,
            (Operation::Value, None) => unresolved(),
            (Operation::Default | Operation::Assign, Some(value))
                if value.iter().any(|field| !field.text.is_empty()) =>
            {
                value
            }
            (Operation::Default, _) => vec![self.expand_single(&variable.argument, context)],
            (Operation::Assign, _) => {
                let value = vec![self.expand_single(&variable.argument, context)];
                self.scope.variables.set(&variable.name, value.clone());
                value
            }
            (Operation::Alternative, None) => Vec::new(),
            (Operation::Indirect, Some(name)) => name
                .first()
                .filter(|name| !name.dynamic)
                .and_then(|name| self.scope.variables.get(&name.text).cloned())
                .unwrap_or_else(unresolved),
            (operation, Some(value)) => {
                let argument = self.expand_single(&variable.argument, context);
                self.operate(operation, &value, &argument)
                    .unwrap_or_else(unresolved)
            }
            (_, None) => {
                self.expand_single(&variable.argument, context);
                unresolved()
            }
        }
    }

    fn operate(
        &mut self,
        operation: Operation,
        value: &[Field],
        argument: &Field,
    ) -> Option<Value> {
        let mut out = Vec::new();
        for field in value {
            self.charge(field.text.len());
            if field.dynamic || argument.dynamic && operation != Operation::Alternative {
                return None;
            }
            out.push(Field {
                decoded: field.decoded.max(argument.decoded),
                ..Field::plain(&parameters::apply(operation, &field.text, &argument.text)?)
            });
        }
        Some(out)
    }

    /// The value of a variable, if it is known.
    fn lookup(&mut self, variable: &Variable) -> Option<Value> {
        let name = variable.name.as_str();
        let value = match self.scope.variables.get(name) {
            Some(value) => value,
            None if self.is_empty_parameter(name) => return Some(Vec::new()),
            None => return None,
        };
        let chosen = match &variable.index {
            Index::All => value.clone(),
            Index::None if matches!(name, "@" | "*") => value.clone(),
            Index::None => value.first().cloned().into_iter().collect(),
            Index::At(index) => {
                let index: usize = index.parse().ok()?;
                value.get(index).cloned().into_iter().collect()
            }
        };
        let cost = chosen.iter().map(|field| field.text.len() + 1).sum();
        self.charge(cost).then_some(chosen)
    }

    /// Positional parameters that were not given are empty, unless a function body is read
    /// without a call.
    fn is_empty_parameter(&self, name: &str) -> bool {
        let positional = name == "@" || name == "*" || name.parse::<u32>().is_ok_and(|n| n > 0);
        positional && !self.scope.unknown_parameters
    }

    /// Runs a substitution; its invocations go before the pipeline that contains it.
    fn substitute(&mut self, script: &Script, context: &Context, origin: Origin) -> Option<Known> {
        let inner = Context {
            depth: context.depth + 1,
            origin: context.origin_of(origin),
            ..Context::default()
        };
        let outer = std::mem::take(&mut self.out);
        let mark = self.scope.variables.mark();
        let directory = self.scope.directory.clone();
        let known = self.script(script, &inner);
        self.scope.directory = directory;
        self.scope.variables.rollback(mark);
        let found = std::mem::replace(&mut self.out, outer);
        match self.before.last_mut() {
            Some(before) => before.extend(found),
            None => self.out.extend(found),
        }
        known
    }
}

/// True for unquoted text that the shell would match against file names, and for the placeholder
/// of `xargs` and `find`.
fn has_glob(text: &str) -> bool {
    text.contains(['*', '?']) || text.contains("{}") || (text.contains('[') && text.contains(']'))
}
