//! Walks the tree and notes what would be executed.
//!
//! A cautious stand-in for a shell: both branches of a condition count, loops over literal words
//! are unrolled, variables are followed as far as their values are known, nothing is run. What a
//! command prints is followed through pipes, files and substitutions only where it is certain
//! (`echo`, `printf`, `cat` of a heredoc, decoders).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::ast::{Command, Item, Kind, Script};
use super::cursor::Base;
use super::functions::Functions;
use super::limits::{
    BASE_BUDGET, BASE_ROOM, BUDGET_PER_BYTE, Budget, FIELD_COST, MAX_DECODED, MAX_GROUP_REDIRECTS,
    MAX_NESTING, NODE_SIZE, ROOM_PER_BYTE, STEP_COST,
};
use super::model::{Invocation, Join, Origin, Redirect, Script as SourceText};
use super::parser::{Dialect, Parser};
use super::scope::{Field, Known, Scope};

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
    /// The text was nested too deeply to be read with what stands around it.
    pub(crate) detached: bool,
    /// The text was made by expansions: unresolved substitutions in it have run already.
    pub(crate) expanded: bool,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            depth: 0,
            origin: Origin::Direct,
            join: Join::First,
            stdin: None,
            redirects: Rc::from([]),
            detached: false,
            expanded: false,
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

/// How far a list was evaluated.
#[derive(Debug)]
struct List {
    /// What it printed so far, when that is known.
    printed: Option<Known>,
    /// Number of invocations noted before it.
    before: usize,
    /// What the last pipeline is sure to have ended with.
    ended: Option<bool>,
    /// Nothing behind is run: an `exit`, or the work is used up.
    left: bool,
}

impl List {
    fn new(evaluator: &Evaluator) -> Self {
        Self {
            printed: Some(Known::empty()),
            before: evaluator.emitted,
            ended: None,
            left: false,
        }
    }
}

/// The state of taking one command text apart.
#[derive(Debug)]
pub(crate) struct Evaluator {
    pub(crate) budget: Budget,
    /// Memory left for what is noted.
    room: Budget,
    /// Nodes with which a part of a text is taken up.
    part: usize,
    pub(crate) scope: Scope,
    /// Invocations found so far in the current list.
    pub(crate) out: Vec<Invocation>,
    /// For each open pipeline: what goes before it.
    pub(crate) before: Vec<Vec<Invocation>>,
    pub(crate) scripts: Vec<SourceText>,
    /// Files that were there before and are run.
    pub(crate) ran: BTreeSet<String>,
    pub(crate) incomplete: bool,
    /// Scripts nested too deeply, and how they would be executed.
    pub(crate) aside: VecDeque<(String, Origin)>,
    /// Number of invocations noted so far.
    pub(crate) emitted: usize,
    /// Substitutions whose output is not known, as written.
    pub(crate) unresolved: BTreeSet<Rc<str>>,
    /// The functions that are defined, and those that are known to be called by nothing.
    pub(crate) functions: Functions,
    /// Patterns seen in the place of a program, and the program that they fit.
    pub(crate) program_globs: BTreeMap<String, Option<&'static str>>,
    /// Bytes of the text: by them temporary files of different commands are told apart.
    length: usize,
    /// Names of temporary files that were given.
    temporaries: usize,
}

impl Evaluator {
    pub(crate) fn new(length: usize, part: usize) -> Self {
        Self {
            budget: Budget::for_length(length, BUDGET_PER_BYTE, BASE_BUDGET),
            room: Budget::for_length(length, ROOM_PER_BYTE, BASE_ROOM),
            part,
            scope: Scope::new(),
            out: Vec::new(),
            before: Vec::new(),
            scripts: Vec::new(),
            ran: BTreeSet::new(),
            incomplete: false,
            aside: VecDeque::new(),
            emitted: 0,
            unresolved: BTreeSet::new(),
            functions: Functions::default(),
            program_globs: BTreeMap::new(),
            length,
            temporaries: 0,
        }
    }

    /// A part of a name that no other has.
    pub(crate) fn unique(&mut self) -> String {
        self.temporaries += 1;
        format!("{}-{}", self.length, self.temporaries)
    }

    /// Takes work from the budget; when it is used up the result is incomplete.
    pub(crate) fn charge(&mut self, cost: usize) -> bool {
        let allowed = self.budget.spend(cost.saturating_add(1));
        if !allowed {
            self.incomplete = true;
        }
        allowed
    }

    /// Takes memory for what is to be noted; when there is none left, the work ends.
    pub(crate) fn make_room(&mut self, bytes: usize) -> bool {
        let allowed = self.room.spend(bytes);
        if !allowed {
            self.stop();
        }
        allowed
    }

    /// Ends the work: the rest of the text is not looked at.
    pub(crate) fn stop(&mut self) {
        self.budget.use_up();
        self.incomplete = true;
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
        if depth > MAX_NESTING {
            self.set_aside(text, context.origin);
            return None;
        }
        if !self.charge(text.len()) {
            return None;
        }
        let inner = Context {
            depth,
            ..context.clone()
        };
        self.read(dialect, text, base, &inner)
    }

    /// Reads a text at the depth of `context`, and then, each as a text of its own, the rests that
    /// were nested too deeply to be read with it. What it prints is known only if there are none.
    pub(crate) fn read(
        &mut self,
        dialect: Dialect,
        text: &str,
        base: Base,
        context: &Context,
    ) -> Option<Known> {
        let mut parser = Parser::new(text, base, context.depth, dialect);
        let printed = self.parts(&mut parser, context);
        let mut rests = parser.rests;
        if rests.is_empty() {
            return printed;
        }
        let inner = Context {
            join: Join::Then,
            stdin: None,
            detached: true,
            ..context.clone()
        };
        rests.reverse();
        while let Some(rest) = rests.pop() {
            let text = match rest.text {
                Cow::Borrowed(text) => text,
                Cow::Owned(text) => {
                    self.set_aside(&text, context.origin);
                    continue;
                }
            };
            if !self.charge(STEP_COST) {
                break;
            }
            let mut parser = Parser::new(text, rest.base, context.depth, dialect);
            self.parts(&mut parser, &inner);
            rests.extend(parser.rests.into_iter().rev());
        }
        None
    }

    /// Evaluates a text part by part.
    fn parts(&mut self, parser: &mut Parser<'_>, context: &Context) -> Option<Known> {
        let mut list = List::new(self);
        while !list.left
            && let Some(part) = parser.part_of(self.part)
        {
            self.incomplete |= parser.incomplete;
            self.items(&part.items, &mut list, context);
        }
        list.printed
    }

    /// Puts a script that is nested too deeply in others on the list of those to be read on their
    /// own when the rest of the text is done.
    pub(crate) fn set_aside(&mut self, text: &str, origin: Origin) {
        self.incomplete = true;
        if self.charge(text.len()) {
            self.aside.push_back((text.to_owned(), origin));
        }
    }

    /// Reads what was set aside, until nothing is left.
    pub(crate) fn read_aside(&mut self) {
        while let Some((text, origin)) = self.aside.pop_front() {
            let context = Context {
                origin,
                detached: true,
                ..Context::default()
            };
            self.read(Dialect::Posix, &text, Base::Fixed(0), &context);
        }
    }

    /// Evaluates a list; the result is what it prints, when that is known.
    pub(crate) fn script(&mut self, script: &Script, context: &Context) -> Option<Known> {
        if context.depth > MAX_NESTING {
            self.incomplete = true;
            return None;
        }
        let mut list = List::new(self);
        self.items(&script.items, &mut list, context);
        list.printed
    }

    /// Evaluates pipelines of a list, one after the other.
    fn items(&mut self, items: &[Item], list: &mut List, context: &Context) {
        for item in items {
            if self.budget.exhausted() {
                list.left = true;
                list.printed = None;
            }
            if list.left {
                return;
            }
            // `false && a`, `true || a`: never run, and the status stays.
            if matches!(
                (item.join, list.ended),
                (Join::And, Some(false)) | (Join::Or, Some(true))
            ) {
                continue;
            }
            list.ended = item.constant();
            // Assignments alone are no invocations: the first one is still to come.
            let first = self.emitted == list.before;
            let join = if first { context.join } else { item.join };
            let output = self.pipeline(item, join, context);
            list.printed = self.concatenate(list.printed.take(), output);
            list.left = item.leaves();
        }
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
        // What nobody else holds grows in place, so that many small outputs stay cheap.
        let copied = if Rc::strong_count(&a.bytes) == 1 {
            b.bytes.len()
        } else {
            length
        };
        if length > MAX_DECODED || !self.charge(copied) {
            self.incomplete = true;
            return None;
        }
        let mut bytes = a.bytes;
        Rc::make_mut(&mut bytes).extend_from_slice(&b.bytes);
        Some(Known {
            bytes,
            decoded: a.decoded.max(b.decoded),
        })
    }

    /// Takes the work of copying words from the budget.
    pub(crate) fn charge_fields(&mut self, fields: &[Field]) -> bool {
        let cost = fields.iter().map(|field| field.text.len() + FIELD_COST);
        self.charge(cost.sum())
    }

    fn pipeline(&mut self, item: &Item, join: Join, context: &Context) -> Option<Known> {
        if !self.charge(STEP_COST) {
            return None;
        }
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
        let output = self.scope.output.take();
        for (at, command) in item.commands.iter().enumerate() {
            // Only what the last one prints goes where the output goes.
            self.scope.output = output.clone().filter(|_| at + 1 == item.commands.len());
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
        self.scope.output = output;
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
                let output = self.scope.output.clone();
                let printed = self.script(script, context);
                self.scope.output = output;
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
            Kind::Function { name, body, nodes } => {
                if !self.make_room(nodes * NODE_SIZE) {
                    return None;
                }
                self.scope.functions.insert(name.clone(), Rc::clone(body));
                if self.functions.is_uncalled(name) {
                    return None;
                }
                let outer = std::mem::replace(&mut self.scope.unknown_parameters, true);
                self.command(body, context);
                self.scope.unknown_parameters = outer;
                None
            }
            Kind::Arithmetic(word) => {
                let text = self.expand_single(word, context).text;
                self.compute(&text);
                None
            }
            Kind::Count { header, body } => {
                self.counting(header, body, context);
                None
            }
            Kind::Test(words) => {
                self.expand_words(words, context);
                None
            }
        }
    }
}
