//! Clients of one server: the host and the path of an address stand in different calls or arguments.

use super::super::scope::Field;
use super::Search;
use super::names::{OPENING, READING};
use super::reader::Reader;
use super::tokens::Token;
use super::values::{Text, Value, located};

/// The entry that holds the address of a client's server.
const BASE: &str = "base";

/// The entry of an object that runs git.
const GIT: &str = "git";

/// Names of the arguments that hold a server.
const SERVERS: &[&str] = &[
    "base_url",
    "baseURL",
    "baseUrl",
    "prefixUrl",
    "hostname",
    "host",
];

/// Names of the arguments that hold a path on it.
const PATHS: &[&str] = &["path", "url", "pathname"];

/// The address that arguments give in parts: `{hostname: h, path: p}`, `("host", "/path")`.
pub(super) fn located_by(arguments: &[Value]) -> Option<Text> {
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let maps = arguments
        .iter()
        .find(|value| value.entry(SERVERS).is_some());
    let (host, path) = match (maps, arguments) {
        (Some(map), _) => (text(map.entry(SERVERS))?, text(map.entry(PATHS))?),
        (None, [host @ Value::Text(_), path @ Value::Text(_), ..]) => {
            let (host, path) = (text(Some(host))?, text(Some(path))?);
            let is_host = host.text.contains('.') && !host.text.contains(['/', ' ']);
            if !is_host || !path.text.starts_with('/') {
                return None;
            }
            (host, path)
        }
        _ => return None,
    };
    Some(join(&host, &path))
}

fn join(base: &Text, path: &Text) -> Text {
    Text {
        text: located(&base.text, &path.text),
        dynamic: base.dynamic || path.dynamic,
        decoded: base.decoded.max(path.decoded),
    }
}

impl Search<'_, '_> {
    /// Remembers a client by the name that it gets: `c = Client(base_url=x)`, `with Client(base_url=x) as c`.
    pub(super) fn opened(&mut self, path: &[&str], arguments: &[Value], at: usize, inside: usize) {
        let Some(last) = path.last().filter(|last| OPENING.contains(last)) else {
            return;
        };
        let named = arguments.iter().find_map(|value| value.entry(SERVERS));
        let is_http = path
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|owner| *owner == "HTTP");
        let first = arguments.first().filter(|_| match *last {
            "HTTPSConnection" | "HTTPConnection" | "ClientSession" => true,
            "new" => is_http,
            _ => false,
        });
        let entry = match (named.or(first), *last) {
            (_, "Git") => (GIT, Value::Text(Text::default())),
            (Some(base @ Value::Text(_)), _) => (BASE, base.clone()),
            _ => return,
        };
        if let Some(name) = self.name_of(at, inside) {
            let client = Value::Map(vec![(entry.0.to_owned(), entry.1)]);
            self.names.insert(name, client);
        }
    }

    /// The name that the value of a call gets, in front of it or behind its arguments.
    fn name_of(&self, at: usize, inside: usize) -> Option<String> {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.tokens.get(at));
        // `c = new Client(…)`, `c = await Client(…)`
        let skipped = usize::from(
            matches!(before(1), Some(Token::Name(word)) if word == "new" || word == "await"),
        );
        if let (Some(Token::Other('=')), Some(Token::Name(name))) =
            (before(1 + skipped), before(2 + skipped))
        {
            return Some(name.clone());
        }
        let end = Reader::new(self.tokens, inside, &self.names).end();
        match (self.tokens.get(end), self.tokens.get(end + 1)) {
            (Some(Token::Name(word)), Some(Token::Name(name))) if word == "as" => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    /// A call of a member of something known; false if it is none that matters.
    pub(super) fn member(&mut self, last: &str, before: &[&str], arguments: &[Value]) -> bool {
        if before.last() == Some(&"git")
            && last == "execute"
            && let Some(Value::List(list)) = arguments.first()
        {
            let list = list.clone();
            self.start_list(&list);
            return true;
        }
        // `sh.git("show", x)`, `from plumbum.cmd import git`
        let programs = ["git", "gh", "curl", "wget"];
        let runs = |owner: Option<&&str>| match owner {
            Some(owner) => *owner == "sh",
            None => self.functions.names_programs,
        };
        if programs.contains(&last) && runs(before.last()) && !arguments.is_empty() {
            let mut argv = vec![Field::plain(last)];
            argv.extend(super::flat(arguments).iter().map(Text::field));
            self.start(&argv);
            return true;
        }
        if let ["git"] = before
            && self.functions.names_programs
        {
            let mut argv = vec![Field::plain("git"), Field::plain(&last.replace('_', "-"))];
            argv.extend(super::flat(arguments).iter().map(Text::field));
            self.start(&argv);
            return true;
        }
        let Some(owner) = before.first().and_then(|owner| self.names.get(*owner)) else {
            return false;
        };
        if owner.entry(&[GIT]).is_some() {
            let mut argv = vec![Field::plain("git"), Field::plain(&last.replace('_', "-"))];
            argv.extend(super::flat(arguments).iter().map(Text::field));
            self.start(&argv);
            return true;
        }
        let Some(Value::Text(base)) = owner.entry(&[BASE]).cloned() else {
            return false;
        };
        let texts = super::flat(arguments);
        let verb =
            |text: &Text| text.text.len() <= 7 && text.text.bytes().all(|b| b.is_ascii_uppercase());
        let path = texts
            .iter()
            .find(|text| !verb(text) && !text.text.is_empty());
        match path.filter(|_| READING.contains(&last)) {
            Some(path) => {
                let address = join(&base, path);
                self.fetch(&address);
                true
            }
            None => false,
        }
    }
}
