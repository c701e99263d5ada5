//! Words as the program gets them: variables, substitutions and braces resolved where they can be.

use std::rc::Rc;

use super::ast::{Index, Operation, Part, RawWord, Script, Variable};
use super::braces::{self, Braces};
use super::evaluator::{Context, Evaluator};
use super::limits::{MAX_FIELDS, MAX_WORD};
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

    /// Adds a value that is split at the characters of `IFS`.
    fn push_split(&mut self, value: &Field, separators: &str) {
        let separates = |c: char| c.is_whitespace() || separators.contains(c);
        if value.text.starts_with(separates) {
            self.end();
        }
        let pieces = value
            .text
            .split(separates)
            .filter(|piece| !piece.is_empty());
        for (at, piece) in pieces.enumerate() {
            if at > 0 {
                self.end();
            }
            self.push(piece, value.dynamic, value.decoded);
        }
        if value.text.ends_with(separates) {
            self.end();
        }
    }

    fn end(&mut self) {
        self.done.extend(self.current.take());
    }
}

/// How the unquoted parts of a word are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Values are split at blanks, and globs are noted.
    Words,
    /// The argument of an expansion that is split: its literals are split too.
    Argument,
    /// The word stays one.
    Whole,
}

impl Mode {
    fn splits(self) -> bool {
        self != Self::Whole
    }
}

/// Fields put together to one, with blanks between.
fn joined(fields: Vec<Field>) -> Field {
    let mut fields = fields.into_iter();
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

impl Evaluator {
    /// Expands the words of a command.
    pub(super) fn expand_words(&mut self, words: &[RawWord], context: &Context) -> Vec<Field> {
        let mut out = Vec::new();
        for word in words {
            if out.len() > MAX_FIELDS {
                self.stop();
                break;
            }
            match braces::expand(word) {
                Braces::None => out.extend(self.expand_word(word, context, Mode::Words)),
                Braces::Words(words) => {
                    for word in &words {
                        out.extend(self.expand_word(word, context, Mode::Words));
                    }
                }
                Braces::TooMany => {
                    self.incomplete = true;
                    out.extend(self.expand_word(word, context, Mode::Words));
                }
            }
        }
        out
    }

    /// Expands a word that stays one: the value of an assignment, a file name, a heredoc.
    pub(super) fn expand_single(&mut self, word: &RawWord, context: &Context) -> Field {
        let fields = self.expand_word(word, context, Mode::Whole);
        joined(fields)
    }

    fn expand_word(&mut self, word: &RawWord, context: &Context, mode: Mode) -> Vec<Field> {
        let mut fields = Fields::default();
        self.expand_parts(&word.parts, context, mode, &mut fields);
        fields.end();
        let mut done = fields.done;
        if let [only] = done.as_mut_slice() {
            only.exact = word.exact;
            only.source.clone_from(&word.source);
        }
        done
    }

    fn expand_parts(&mut self, parts: &[Part], context: &Context, mode: Mode, fields: &mut Fields) {
        for part in parts {
            match part {
                Part::Literal { text, quoted } => {
                    self.charge(text.len());
                    if mode == Mode::Argument && !quoted {
                        self.add_value(fields, &[Field::plain(text)], true, false);
                    } else {
                        let glob = mode == Mode::Words && !quoted && has_glob(text);
                        fields.push(text, glob, 0);
                    }
                }
                Part::Variable { variable, quoted } => {
                    self.expand_variable(variable, *quoted, context, mode, fields);
                }
                Part::Command {
                    script,
                    raw,
                    quoted,
                } => {
                    let value = self.substitution(script, raw, context);
                    let split = mode.splits() && !quoted;
                    self.add_value(fields, &[value], split, false);
                }
                Part::Process { script, raw } => {
                    let known = self.substitute(script, context, Origin::ProcessSubstitution);
                    if let Some(known) = known {
                        // The word names a file with that content.
                        self.scope.files.insert(raw.to_string(), known);
                    }
                    self.add_value(fields, &[Field::unresolved(raw)], false, false);
                }
                Part::Arithmetic { word, raw } => {
                    let text = self.expand_single(word, context).text;
                    let value = match self.compute(&text) {
                        Some(number) => Field::plain(&number.to_string()),
                        None => Field::unresolved(raw),
                    };
                    self.add_value(fields, &[value], false, false);
                }
            }
        }
    }

    fn expand_variable(
        &mut self,
        variable: &Variable,
        quoted: bool,
        context: &Context,
        mode: Mode,
        fields: &mut Fields,
    ) {
        let list = variable.index == Index::All || variable.name == "@";
        match self.variable(variable, context) {
            Some(value) => {
                if quoted && value.is_empty() && !list {
                    fields.push("", false, 0);
                }
                let split = mode.splits() && !quoted;
                self.add_value(fields, &value, split, list && mode.splits());
            }
            // `${x:-word}`: the word stands in the place of the value.
            None => {
                let inner = if mode.splits() && !quoted {
                    Mode::Argument
                } else {
                    Mode::Whole
                };
                if quoted {
                    fields.push("", false, 0);
                }
                self.expand_parts(&variable.argument.parts, context, inner, fields);
            }
        }
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
                let ifs = self.scope.variables.get("IFS").and_then(|ifs| ifs.first());
                let separators = ifs.map_or("", |ifs| ifs.text.as_str());
                fields.push_split(item, separators);
            } else {
                fields.push(&item.text, item.dynamic, item.decoded);
            }
        }
    }

    /// The value of a parameter expansion; an unresolved one is its own text. `None` if the
    /// argument takes its place.
    fn variable(&mut self, variable: &Variable, context: &Context) -> Option<Value> {
        let value = self.lookup(variable);
        let unresolved = || vec![Field::unresolved(&variable.raw)];
        let filled = |value: &Value| value.iter().any(|field| !field.text.is_empty());
        Some(match (variable.operation, value) {
            (Operation::Value, Some(value)) => value,
            (Operation::Value, None) => unresolved(),
            (Operation::Default | Operation::Assign, Some(value)) if filled(&value) => value,
            (Operation::Default, _) => return None,
            (Operation::Assign, _) => {
                let value = vec![self.expand_single(&variable.argument, context)];
                self.scope.variables.set(&variable.name, value.clone());
                value
            }
            (Operation::Alternative, Some(value)) if filled(&value) => return None,
            (Operation::Alternative, _) => Vec::new(),
            (Operation::Length, Some(value)) if variable.index != Index::None => {
                vec![Field::plain(&value.len().to_string())]
            }
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
        })
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
            if field.dynamic || argument.dynamic {
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
        let chosen: Value = match &variable.index {
            Index::All | Index::Joined => value.clone(),
            Index::None if matches!(name, "@" | "*") => value.clone(),
            Index::None => value.first().cloned().into_iter().collect(),
            Index::At(index) => {
                let index: usize = index.parse().ok()?;
                value.get(index).cloned().into_iter().collect()
            }
        };
        self.charge_fields(&chosen).then_some(chosen)
    }

    /// Positional parameters that were not given are empty, unless a function body is read
    /// without a call.
    fn is_empty_parameter(&self, name: &str) -> bool {
        let positional = name == "@" || name == "*" || name.parse::<u32>().is_ok_and(|n| n > 0);
        positional && !self.scope.unknown_parameters
    }

    /// What `$( … )` comes to.
    fn substitution(&mut self, script: &Script, raw: &Rc<str>, context: &Context) -> Field {
        // `bash -c "x $(y)"`: the outer shell has run `y` before this text existed.
        if context.expanded && self.unresolved.contains(raw) {
            return Field::unresolved(raw);
        }
        match self.substitute(script, context, Origin::Substitution) {
            Some(known) => Field {
                decoded: known.decoded,
                ..Field::plain(known.text().trim_end_matches('\n'))
            },
            None => {
                self.unresolved.insert(Rc::clone(raw));
                Field::unresolved(raw)
            }
        }
    }

    /// Runs a substitution; its invocations go before the pipeline that contains it.
    fn substitute(&mut self, script: &Script, context: &Context, origin: Origin) -> Option<Known> {
        let inner = Context {
            depth: context.depth + 1,
            origin: context.origin_of(origin),
            detached: context.detached,
            ..Context::default()
        };
        let outer = std::mem::take(&mut self.out);
        let mark = self.scope.variables.mark();
        let directory = self.scope.directory.clone();
        let output = self.scope.output.take();
        let known = self.script(script, &inner);
        self.scope.output = output;
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
