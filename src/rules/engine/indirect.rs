//! Commands and addresses that an earlier call wrote down: aliases of git, lists of addresses, settings of curl.

use std::collections::BTreeMap;

use super::Engine;
use super::steps::{Step, steps_of};
use crate::rules::call::programs::{Class, class};
use crate::rules::call::{Io, address};
use crate::rules::outcome::Sink;
use crate::shell;
use crate::shell::model::{Invocation, Origin, Word};
use crate::trace::event::Event;

/// Aliases of git that are remembered in one run.
const MAX_ALIASES: usize = 256;

/// Longest of them, in bytes.
const MAX_ALIAS: usize = 4 << 10;

/// Words of a command that are tried as names of files with addresses.
const MAX_WORDS: usize = 1_024;

/// Lines of such a file that are read.
const MAX_LINES: usize = 64;

/// Aliases of git that the agent set in earlier calls. Those of the same command the shell reader knows.
pub(super) type Aliases = BTreeMap<String, String>;

/// Options of download programs that are followed by a file with addresses or settings.
const LIST_OPTIONS: &[&str] = &[
    "-i",
    "--input-file",
    "-K",
    "--config",
    "::::",
    "-a",
    "--arg-file",
];

impl Engine<'_> {
    /// Remembers `git config alias.NAME VALUE`.
    pub(super) fn learn_alias(&mut self, step: &Step) {
        let configures = step.git.as_ref().is_some_and(|git| git.verb == "config");
        let Some(invocation) = step.invocation.as_ref().filter(|_| configures) else {
            return;
        };
        let mut words = invocation.args.iter().map(|w| w.text.as_str());
        let name = words.find_map(|word| word.strip_prefix("alias."));
        if let (Some(name), Some(value)) = (name, words.next())
            && self.aliases.len() < MAX_ALIASES
            && value.len() <= MAX_ALIAS
        {
            self.aliases.insert(name.to_owned(), value.to_owned());
        }
    }

    /// What a call of an alias runs.
    pub(super) fn aliased(&self, step: &Step, cwd: Option<&str>) -> Vec<Step> {
        let value = step
            .git
            .as_ref()
            .and_then(|git| self.aliases.get(&git.verb));
        let (Some(value), Some(invocation)) = (value, &step.invocation) else {
            return Vec::new();
        };
        let verb = step.git.as_ref().map_or("", |git| git.verb.as_str());
        let arguments = invocation.args.iter().map(|w| w.text.as_str());
        let rest: Vec<String> = arguments
            .skip_while(|word| *word != verb)
            .skip(1)
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect();
        let command = match value.strip_prefix('!') {
            Some(script) => format!("{script} {}", rest.join(" ")),
            None => format!("git {value} {}", rest.join(" ")),
        };
        let steps = steps_of(&shell::parse(&command), cwd);
        steps
            .into_iter()
            .map(|made| made.printing_to(step))
            .collect()
    }

    /// Adds the addresses of a download that stand in a file which the agent wrote: `curl -K FILE`, `wget -i FILE`,
    /// `curl $(cat FILE)`, `xargs curl < FILE`.
    pub(super) fn addresses_written(&self, event: &Event, step: &mut Step, cwd: Option<&str>) {
        let Some(invocation) = &step.invocation else {
            return;
        };
        if class(&invocation.program) != Class::Downloads || !step.io.fetches.is_empty() {
            return;
        }
        let words = || invocation.args.iter().map(|w| w.text.as_str());
        let lists = words().any(|word| LIST_OPTIONS.iter().any(|option| word.starts_with(option)));
        let open = words().any(|word| word.contains(['$', '`']))
            || invocation.args.iter().any(|word| word.dynamic)
            || invocation.origin == Origin::Wrapped;
        if !lists && !open {
            return;
        }
        let place = step.place(cwd);
        let mut texts: Vec<&str> = invocation.heredoc.as_deref().into_iter().collect();
        let separators = |c: char| c.is_whitespace() || "'\"`()<>;|&=$".contains(c);
        let named = event.text.split(separators).filter(|word| !word.is_empty());
        let files = named.take(MAX_WORDS);
        texts.extend(files.filter_map(|word| self.scripts.get(&place.resolve(word))));
        let spoken: Vec<String> = self.spoken.keys().cloned().collect();
        if lists {
            texts.extend(spoken.iter().map(String::as_str));
        }
        let more: Vec<String> = texts
            .iter()
            .flat_map(|text| text.lines())
            .take(MAX_LINES)
            .flat_map(setting)
            .collect();
        if more.is_empty() {
            return;
        }
        let mut whole: Invocation = invocation.clone();
        whole.args.extend(more.into_iter().map(|text| Word {
            text,
            dynamic: false,
        }));
        let io = Io::of(&whole);
        if io.fetches.is_empty() {
            return;
        }
        let saves: Vec<String> = io.saves.iter().map(|path| place.resolve(path)).collect();
        step.saves.extend(saves);
        if !io.prints {
            step.state.sink = Sink::Aside;
        }
        step.text.push(' ');
        step.text.push_str(&io.fetches.join(" "));
        step.io = io;
    }
}

/// A line of a list of addresses, or of the settings of curl (`url = "…"`), as arguments.
fn setting(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.starts_with('#') {
        return Vec::new();
    }
    let option = line.split_once(['=', ' ', ':']).map(|(key, value)| {
        let key = key.trim().trim_start_matches('-');
        let value = value.trim().trim_start_matches('=').trim();
        (key, value.trim_matches(['"', '\'']))
    });
    match option {
        Some(("url", value)) => vec![value.to_owned()],
        Some(("output" | "o", value)) => vec!["-o".to_owned(), value.to_owned()],
        _ => address::all(line),
    }
}
