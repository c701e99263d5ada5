//! One simple command after expansion: wrappers are taken off, scripts are entered, the rest is
//! noted as an [`Invocation`].

use super::cursor::Base;
use super::evaluator::{Context, Evaluator};
use super::limits::{COMMAND_COST, MAX_ALIAS_STEPS, MAX_NESTING};
use super::model::{Invocation, Join, Origin, Redirect, Word};
use super::programs::{base_name, is_well_known, may_wrap};
use super::scope::{Directory, Field, Known, Printed};
use super::wrappers::{self, Unwrapped, join};
use super::{builtins, filters, git, interpreters, runners, shells};

/// A command about to be started.
#[derive(Debug, Clone)]
pub(crate) struct Call<'f> {
    /// Program and arguments; never empty.
    pub(crate) argv: &'f [Field],
    pub(crate) env: Vec<(String, Field)>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) heredoc: Option<String>,
    /// Where the heredoc stands unchanged in the outermost text.
    pub(crate) heredoc_at: Option<usize>,
    pub(crate) stdin: Option<Known>,
    pub(crate) directory: Directory,
    pub(crate) offset: usize,
    pub(crate) context: Context,
}

impl<'f> Call<'f> {
    /// Base name of the program.
    pub(crate) fn program(&self) -> &'f str {
        let Some(field) = self.argv.first() else {
            return "";
        };
        let name = base_name(&field.text);
        // A slash inside `$(curl https://x/y)` separates no directories.
        if field.dynamic && name.contains([')', '`', '}']) {
            return &field.text;
        }
        name
    }

    /// The arguments.
    pub(crate) fn arguments(&self) -> &'f [Field] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// The same call with another program and arguments, run by the one before.
    pub(crate) fn wrapped<'g>(&self, argv: &'g [Field]) -> Call<'g> {
        Call {
            argv,
            env: self.env.clone(),
            redirects: self.redirects.clone(),
            heredoc: self.heredoc.clone(),
            heredoc_at: self.heredoc_at,
            stdin: self.stdin.clone(),
            directory: self.directory.clone(),
            offset: self.offset,
            context: self.inside(Origin::Wrapped),
        }
    }

    /// The context of something found in this call.
    pub(crate) fn inside(&self, found: Origin) -> Context {
        Context {
            origin: self.context.origin_of(found),
            ..self.context.clone()
        }
    }

    /// The context of a script that this call runs: it inherits input and redirections.
    pub(crate) fn script_context(&self, found: Origin) -> Context {
        Context {
            stdin: self.stdin.clone(),
            redirects: self.redirects.iter().cloned().collect(),
            ..self.inside(found)
        }
    }

    /// Where the text of an argument stands.
    pub(crate) fn base_of(&self, field: &Field) -> Base {
        field.exact.map_or(Base::Fixed(self.offset), Base::Exact)
    }

    /// The text of the standard input: what is known to flow in, or a heredoc that is known but
    /// for some expansions.
    pub(crate) fn input(&self) -> Option<(String, u8, Base)> {
        if let Some(text) = &self.heredoc {
            let decoded = self.stdin.as_ref().map_or(0, |known| known.decoded);
            let base = self
                .heredoc_at
                .map_or(Base::Fixed(self.offset), Base::Exact);
            return Some((text.clone(), decoded, base));
        }
        let known = self.stdin.as_ref()?;
        Some((known.text(), known.decoded, Base::Fixed(self.offset)))
    }
}

impl Evaluator {
    /// Takes a call apart; the result is what it prints, when that is known.
    pub(crate) fn call(&mut self, call: Call<'_>) -> Option<Known> {
        self.call_with_aliases(call, 0)
    }

    /// A call found inside another one, a level deeper.
    pub(crate) fn nested(&mut self, mut call: Call<'_>) -> Option<Known> {
        call.context.depth += 1;
        if call.context.depth > MAX_NESTING {
            self.set_aside(&join(call.argv), call.context.origin);
            return None;
        }
        self.call(call)
    }

    fn call_with_aliases(&mut self, mut call: Call<'_>, aliases: usize) -> Option<Known> {
        loop {
            if self.budget.exhausted() {
                return None;
            }
            match wrappers::unwrap(&call) {
                Unwrapped::Inner {
                    argv,
                    env,
                    directory,
                } => {
                    if let Some(path) = directory {
                        call.directory = call.directory.join(&path);
                    }
                    call.argv = argv;
                    call.env.extend(env);
                    call.context = call.inside(Origin::Wrapped);
                }
                Unwrapped::Script { text, base } => {
                    let context = call.script_context(Origin::Wrapped);
                    return self.text(&text, base, &context);
                }
                Unwrapped::No => break,
            }
        }
        if let Some(text) = self.alias(&call).filter(|_| aliases < MAX_ALIAS_STEPS) {
            let mut fields: Vec<Field> = text.split_whitespace().map(Field::plain).collect();
            if text.contains(['\'', '"', ';', '|', '&', '$', '`']) {
                let context = call.script_context(Origin::Script);
                let script = format!("{text} {}", join(call.arguments()));
                return self.text(&script, Base::Fixed(call.offset), &context);
            }
            fields.extend(call.arguments().iter().cloned());
            let inner = Call {
                argv: &fields,
                ..call.clone()
            };
            return self.call_with_aliases(inner, aliases + 1);
        }
        self.start(call)
    }

    fn alias(&self, call: &Call<'_>) -> Option<String> {
        let name = &call.argv.first()?.text;
        let text = self.scope.aliases.get(name)?;
        // `alias ls='ls -l'` does not resolve again.
        (text.split_whitespace().next() != Some(name)).then(|| text.clone())
    }

    /// Starts a call that is no wrapper.
    fn start(&mut self, call: Call<'_>) -> Option<Known> {
        if !self.charge(COMMAND_COST) {
            return None;
        }
        self.functions.started(&call);
        let program = call.program();
        if let Some(Printed(output)) = shells::run(self, &call) {
            return output;
        }
        if program == "git" {
            return git::run(self, &call);
        }
        if let Some(Printed(output)) = runners::run(self, &call) {
            return output;
        }
        let printed = filters::output(self, &call);
        self.emit(&call);
        builtins::apply(self, &call);
        interpreters::run(self, &call);
        if let Some(inner) = behind_unknown_wrapper(&call) {
            let mut inner = call.wrapped(inner);
            inner.context.join = Join::First;
            self.nested(inner);
        }
        shells::run_file(self, &call);
        self.function(&call);
        printed
    }

    /// Runs the body of a function with the arguments of the call.
    fn function(&mut self, call: &Call<'_>) {
        let Some(name) = call.argv.first() else {
            return;
        };
        let Some(body) = self.scope.functions.get(&name.text).cloned() else {
            return;
        };
        let mut context = call.script_context(Origin::Script);
        context.depth += 1;
        context.join = Join::First;
        // Without arguments, what the body does where it is defined is all; a call of it may save what it prints.
        let saves = |redirect: &Redirect| {
            redirect.operator.contains('>') && !redirect.operator.starts_with('2')
        };
        if call.arguments().is_empty() && !call.redirects.iter().any(saves) {
            return;
        }
        if context.depth > MAX_NESTING {
            // What the function may do with its arguments: run them.
            self.set_aside(&join(call.arguments()), Origin::Script);
            return;
        }
        let unknown = std::mem::replace(&mut self.scope.unknown_parameters, false);
        self.with_parameters(call.arguments(), |evaluator| {
            evaluator.command(&body, &context);
        });
        self.scope.unknown_parameters = unknown;
    }

    /// Runs something with positional parameters, and puts the old ones back.
    pub(crate) fn with_parameters<T>(
        &mut self,
        parameters: &[Field],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        /// Parameters beyond are only reached through `$@`.
        const NAMED: usize = 9;
        let mark = self.scope.variables.mark();
        self.charge_fields(parameters);
        for name in ["@", "*"] {
            self.scope.variables.set(name, parameters.to_vec());
        }
        for at in 0..NAMED {
            let value = parameters.get(at).cloned().into_iter().collect();
            self.scope.variables.set(&(at + 1).to_string(), value);
        }
        let result = run(self);
        self.scope.variables.rollback(mark);
        result
    }

    /// Notes a call as it stands.
    pub(crate) fn emit(&mut self, call: &Call<'_>) {
        let args: Vec<Word> = call.arguments().iter().map(Field::word).collect();
        self.emit_as(call, call.program(), args, call.context.origin);
    }

    /// Notes an invocation made from a call.
    pub(crate) fn emit_as(
        &mut self,
        call: &Call<'_>,
        program: &str,
        args: Vec<Word>,
        origin: Origin,
    ) {
        let (cost, room) = size_of_noted(call, program, &args);
        if !self.charge(cost) || !self.make_room(room) {
            return;
        }
        self.emitted += 1;
        self.out.push(Invocation {
            program: program.to_owned(),
            args,
            env: call
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.word()))
                .collect(),
            cwd: call.directory.name().map(str::to_owned),
            redirects: call.redirects.clone(),
            heredoc: call.heredoc.clone(),
            join: call.context.join,
            origin,
            detached: call.context.detached,
            offset: call.offset,
        });
    }
}

/// The bytes of the texts that are noted of a call, and the memory that they take with all around
/// them.
fn size_of_noted(call: &Call<'_>, program: &str, args: &[Word]) -> (usize, usize) {
    /// What the allocator takes for a short text.
    const SHORTEST: usize = 32;
    let words = args.iter().map(|word| word.text.len() + 1);
    let env = call
        .env
        .iter()
        .map(|(name, value)| name.len() + value.text.len());
    let redirects = call.redirects.iter().map(|r| r.target.text.len() + 1);
    let directory = call.directory.name().map_or(0, str::len);
    let heredoc = call.heredoc.as_ref().map_or(0, String::len);
    let text: usize = words.sum::<usize>()
        + env.sum::<usize>()
        + redirects.sum::<usize>()
        + directory
        + heredoc
        + program.len();
    let around = size_of::<Invocation>()
        + SHORTEST
        + args.len() * (size_of::<Word>() + SHORTEST)
        + call.env.len() * (size_of::<(String, Word)>() + 2 * SHORTEST)
        + call.redirects.len() * (size_of::<Redirect>() + 2 * SHORTEST);
    (text, text.saturating_add(around))
}

/// The command behind a program that is not known (`chronic2 git show X`): offered as well,
/// when the first word that is no option is a well-known program with arguments. `$x = git show X`
/// of PowerShell is such a case too.
fn behind_unknown_wrapper<'f>(call: &Call<'f>) -> Option<&'f [Field]> {
    if !may_wrap(call.program()) {
        return None;
    }
    let arguments = call.arguments();
    let at = arguments
        .iter()
        .position(|field| !field.text.starts_with('-') && field.text != "=")?;
    let inner = arguments.get(at..)?;
    let program = inner.first()?;
    (inner.len() > 1 && !program.dynamic && is_well_known(base_name(&program.text)))
        .then_some(inner)
}
