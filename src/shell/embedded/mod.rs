//! Commands and downloads in the source texts of other languages.
//!
//! `subprocess.run(["git", "show", X])` in a `python -c` runs git just as well. The texts are not
//! parsed, only searched for calls whose arguments are literals, names bound to literals, or simple
//! joins of them:
//!
//! - a call that starts a program gives the invocation of that program;
//! - a call that reads an address gives an invocation of the made-up program `fetch`, with the
//!   address as its argument. If the address cannot be told, each address that stands in the text
//!   is given, marked [`super::Word::dynamic`].
//!
//! Both have [`Origin::Embedded`].

mod clients;
mod functions;
mod names;
mod reader;
mod statements;
mod tokens;
mod values;

use std::collections::BTreeMap;

use super::call::Call;
use super::cursor::Base;
use super::evaluator::Evaluator;
use super::limits::{MAX_DECODE_DEPTH, MAX_NESTING};
use super::model::{Join, Origin, Word};
use super::scope::Field;
use clients::located_by;
use functions::Functions;
use names::{CLIENTS, OPENING, READING, STARTING, SURELY_READING, WHOLE_LIST};
use tokens::{Token, tokenise};
use values::{ARGUMENTS, Names, Text, Value};

/// Most addresses offered for downloads whose address cannot be told.
const MAX_ADDRESSES: usize = 16;

/// Notes what a source text would start or read.
pub(super) fn search(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, source: &str) {
    if !evaluator.charge(source.len()) {
        return;
    }
    let (tokens, lines) = tokenise(language, source);
    let mut search = Search {
        evaluator,
        call,
        language,
        tokens: &tokens,
        names: Names::from([(ARGUMENTS.to_owned(), given(call))]),
        unresolved_read: false,
        last_address: String::new(),
        functions: Functions::find(&tokens, &lines),
        aliases: BTreeMap::new(),
        open_calls: 0,
    };
    search.evaluator.incomplete |= search.functions.cut;
    search.run();
}

/// The script and the arguments that it is given.
fn given(call: &Call<'_>) -> Value {
    /// Arguments that are kept.
    const MOST: usize = 10;
    let words = call.arguments().iter();
    let words = words.skip_while(|word| word.text.starts_with('-') && word.text != "-");
    let known = words.take(MOST).map(|word| Text {
        text: word.text.clone(),
        dynamic: word.dynamic,
        decoded: word.decoded,
    });
    Value::List(known.collect())
}

struct Search<'s, 'f> {
    evaluator: &'s mut Evaluator,
    call: &'s Call<'f>,
    language: &'s str,
    tokens: &'s [Token],
    names: Names,
    /// A download was found whose address cannot be told.
    unresolved_read: bool,
    /// The address of the last download: `urlopen(Request(x))` is one.
    last_address: String,
    /// What the text defines itself.
    functions: Functions,
    /// Other names of calls: `from os import system as s`.
    aliases: BTreeMap<String, String>,
    /// Calls of own functions that are being looked into.
    open_calls: usize,
}

impl Search<'_, '_> {
    fn run(&mut self) {
        self.bind_loops();
        self.bind_aliases();
        self.part(0, self.tokens.len());
        if self.unresolved_read {
            self.offer_addresses();
        }
    }

    /// Looks at the tokens from `at` to `end`.
    fn part(&mut self, mut at: usize, end: usize) {
        while let Some(token) = self.tokens.get(at).filter(|_| at < end) {
            if self.evaluator.budget.exhausted() {
                return;
            }
            match token {
                Token::Command(..) => {
                    let text = self.command_text(at);
                    self.shell(&text);
                    at += 1;
                }
                Token::Text(..) if self.language == "awk" => {
                    self.awk_pipe(at);
                    at += 1;
                }
                Token::Name(name) if self.language == "awk" && self.names.contains_key(name) => {
                    self.awk_pipe(at);
                    at = self.name(at);
                }
                Token::Name(_) => at = self.name(at),
                _ => at += 1,
            }
        }
    }

    fn called(&mut self, path: &[&str], is_member: bool, arguments: &[Value]) {
        let Some((last, before)) = path.split_last() else {
            return;
        };
        let owner = before.last().copied().unwrap_or_default();
        if self.member(last, before, arguments) {
            return;
        }
        // GitPython: `repo.git.cherry_pick("X")`; sh: `sh.git.show("X")`.
        if owner == "git" && (before.len() > 1 || is_member) {
            let mut argv = vec![Field::plain("git"), Field::plain(&last.replace('_', "-"))];
            argv.extend(flat(arguments).iter().map(Text::field));
            self.start(&argv);
            return;
        }
        if matches!(*last, "exec" | "eval") && matches!(self.language, "python" | "node" | "php") {
            let whole_path = before.is_empty() && !is_member;
            if let (true, Some(Value::Text(text))) = (whole_path, arguments.first())
                && (self.language == "python" || *last == "eval" || text.decoded > 0)
            {
                let text = text.clone();
                self.source(&text);
                return;
            }
        }
        if let Some((Value::Each(items), rest)) = arguments.split_first() {
            for item in items.iter().take(MAX_ADDRESSES) {
                let chosen = [&[Value::Text(item.clone())], rest].concat();
                self.called(path, is_member, &chosen);
            }
            return;
        }
        if self.language == "perl" && *last == "open" {
            self.perl_open(arguments);
        }
        if STARTING.contains(last) {
            self.starting(last, arguments);
        }
        if READING.contains(last) {
            self.reading(last, owner, arguments);
        }
    }

    /// `open(F, "git show |")` and `open(F, "-|", "git", "show")`.
    fn perl_open(&mut self, arguments: &[Value]) {
        let texts = flat(arguments);
        let mode = texts.iter().position(|text| text.text == "-|");
        match mode.and_then(|at| texts.get(at + 1..)) {
            Some([only]) => self.shell(only),
            Some(list) => self.start_list(list),
            None => {
                for text in &texts {
                    if let Some(command) = text.text.trim_end().strip_suffix('|') {
                        self.shell(&Text {
                            text: command.to_owned(),
                            ..text.clone()
                        });
                    }
                }
            }
        }
    }

    /// A call that starts a program.
    fn starting(&mut self, name: &str, arguments: &[Value]) {
        // `spawn({ cmd: […] })`, `run(**{"args": […]})`: `new Command("git", { args: […] })`.
        let options = arguments
            .iter()
            .rev()
            .find(|value| matches!(value, Value::Map(_)));
        if let Some(Value::List(list)) =
            options.and_then(|map| map.entry(&["cmd", "args", "argv", "command"]))
        {
            let given = arguments.first().cloned();
            let list = Value::List(list.clone());
            let chosen = match given {
                Some(program @ Value::Text(_)) => vec![program, list],
                _ => vec![list],
            };
            return self.starting(name, &chosen);
        }
        match arguments {
            [_, Value::Text(program), Value::Text(_), ..]
                if matches!(name, "spawnlp" | "spawnl" | "execlp" | "execl") =>
            {
                // The program stands twice, behind a mode.
                let words = flat(arguments);
                let at = words
                    .iter()
                    .position(|word| word.text == program.text)
                    .unwrap_or(0);
                let twice = usize::from(
                    words
                        .get(at + 1)
                        .is_some_and(|word| word.text == program.text),
                );
                self.start_list(words.get(at + twice..).unwrap_or_default());
            }
            [_, Value::List(list), ..] if WHOLE_LIST.contains(&name) => self.start_list(list),
            [Value::List(list), ..] => self.start_list(list),
            [Value::Text(program), Value::List(list), ..]
                if !program.text.contains(char::is_whitespace) =>
            {
                let mut argv = vec![program.field()];
                argv.extend(list.iter().map(Text::field));
                self.start(&argv);
            }
            [Value::Text(_), Value::Text(_), ..] => {
                let words = flat(arguments);
                // `popen("git show", "r")` has a mode; `open(F, "git show |")` a handle.
                match words.as_slice() {
                    [text, mode] if mode.text.len() <= 2 => self.shell(text),
                    words => self.start_list(words),
                }
            }
            [Value::Text(text), ..] => self.shell(text),
            _ => {}
        }
    }

    /// A call that reads an address, if its argument is one.
    fn reading(&mut self, name: &str, owner: &str, arguments: &[Value]) {
        if let Some(address) = located_by(arguments) {
            self.fetch(&address);
            return;
        }
        let address = arguments
            .iter()
            .take(2)
            .filter_map(|value| match value {
                Value::Text(text) => Some(text),
                _ => None,
            })
            .find(|text| is_address(&text.text));
        if let Some(address) = address {
            let address = address.clone();
            self.fetch(&address);
        } else if SURELY_READING.contains(&name)
            || (matches!(name, "get" | "request") && CLIENTS.contains(&owner))
        {
            let local = arguments
                .first()
                .is_some_and(|value| matches!(value, Value::Text(text) if !text.dynamic));
            self.unresolved_read |= !local;
        }
    }

    fn fetch(&mut self, address: &Text) {
        if self.last_address == address.text {
            return;
        }
        self.last_address.clone_from(&address.text);
        let argument = Word {
            text: address.text.clone(),
            dynamic: address.dynamic,
        };
        let call = self.inner_call(&[]);
        let origin = call.context.origin;
        self.evaluator
            .emit_as(&call, "fetch", vec![argument], origin);
    }

    /// Offers every address in the text.
    fn offer_addresses(&mut self) {
        let addresses = self.tokens.iter().filter_map(|token| match token {
            Token::Text(text, _) if is_address(text) => Some(text),
            _ => None,
        });
        let mut seen: Vec<&String> = Vec::new();
        for address in addresses {
            if !seen.contains(&address) {
                seen.push(address);
            }
            if seen.len() > MAX_ADDRESSES {
                self.evaluator.incomplete = true;
                seen.pop();
                break;
            }
        }
        for address in seen {
            self.fetch(&Text {
                text: address.clone(),
                dynamic: true,
                decoded: 0,
            });
        }
    }

    fn start_list(&mut self, list: &[Text]) {
        let argv: Vec<Field> = list.iter().map(Text::field).collect();
        self.start(&argv);
    }

    fn start(&mut self, argv: &[Field]) {
        let named = argv
            .first()
            .is_some_and(|program| !program.dynamic && !program.text.is_empty());
        if named {
            let inner = self.inner_call(argv);
            self.evaluator.nested(inner);
        }
    }

    fn shell(&mut self, text: &Text) {
        let call = self.inner_call(&[]);
        let mut context = call.context;
        if text.decoded > 0 {
            context.origin = Origin::Decoded;
        }
        let base = Base::Fixed(self.call.offset);
        self.evaluator.text(&text.text, base, &context);
    }

    /// A source text in a source text.
    fn source(&mut self, text: &Text) {
        let mut call = self.inner_call(&[]);
        call.context.depth += 1;
        if call.context.depth > MAX_NESTING || text.decoded > MAX_DECODE_DEPTH {
            self.evaluator.incomplete = true;
            return;
        }
        if text.decoded > 0 {
            call.context.origin = Origin::Decoded;
        }
        super::interpreters::source(self.evaluator, &call, self.language, &text.text);
    }

    /// True for calls whose arguments are worth reading.
    fn is_interesting(&self, path: &[&str]) -> bool {
        let known = |last: &str| {
            STARTING.contains(&last)
                || READING.contains(&last)
                || OPENING.contains(&last)
                || matches!(last, "eval" | "exec" | "git")
        };
        path.last().is_some_and(|last| known(last))
            || path
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|owner| matches!(*owner, "git" | "sh"))
    }

    fn inner_call<'g>(&self, argv: &'g [Field]) -> Call<'g> {
        let mut inner = self.call.wrapped(argv);
        inner.env.clear();
        inner.redirects.clear();
        inner.heredoc = None;
        inner.heredoc_at = None;
        inner.stdin = None;
        inner.context = self.call.inside(Origin::Embedded);
        inner.context.join = Join::First;
        inner.context.stdin = None;
        inner
    }
}

/// All strings of an argument list.
fn flat(arguments: &[Value]) -> Vec<Text> {
    let mut out = Vec::new();
    for argument in arguments {
        match argument {
            Value::Text(text) => out.push(text.clone()),
            Value::List(items) => out.extend(items.iter().cloned()),
            Value::Each(_) | Value::Map(_) | Value::Unknown => {}
        }
    }
    out
}

fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https", "ftp", "git"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    })
}
