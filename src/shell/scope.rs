//! What a shell remembers from one command to the next: variables, functions, aliases, files it
//! wrote, the directory it is in.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::ast::Command;
use super::limits::MAX_DIRECTORY;
use super::model::{Redirect, Surroundings, Word};

/// A word after expansion, with what is known of its origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Field {
    pub(crate) text: String,
    /// Holds something that could not be resolved.
    pub(crate) dynamic: bool,
    /// Layers of encoding taken off to get it.
    pub(crate) decoded: u8,
    /// Where its text stands unchanged in the outermost text.
    pub(crate) exact: Option<usize>,
    /// As written, if it held a backslash: a Windows path needs it.
    pub(crate) source: Option<Rc<str>>,
}

impl Field {
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn unresolved(text: &str) -> Self {
        Self {
            dynamic: true,
            ..Self::plain(text)
        }
    }

    pub(crate) fn word(&self) -> Word {
        Word {
            text: self.text.clone(),
            dynamic: self.dynamic,
        }
    }
}

/// A known text that flows through pipes, files and substitutions.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) bytes: Rc<Vec<u8>>,
    /// Layers of encoding taken off to get it.
    pub(crate) decoded: u8,
}

impl Known {
    pub(crate) fn new(bytes: &[u8], decoded: u8) -> Self {
        Self {
            bytes: Rc::new(bytes.to_vec()),
            decoded,
        }
    }

    pub(crate) fn empty() -> Self {
        Self::new(&[], 0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// What a call that was taken apart printed, when that is known.
#[derive(Debug)]
pub(crate) struct Printed(pub(crate) Option<Known>);

/// The value of a variable: one field, or several for arrays and positional parameters.
pub(crate) type Value = Vec<Field>;

/// The directory the shell is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Directory {
    /// Where it was started.
    Start,
    /// Moved to this directory (relative ones count from the start).
    At(String),
    /// Moved to a place that cannot be told.
    Unknown,
}

impl Directory {
    /// The directory after `cd path` here.
    pub(crate) fn join(&self, path: &Field) -> Self {
        if path.dynamic || path.text == "-" {
            return Self::Unknown;
        }
        let text = path.text.as_str();
        let joined = match self {
            _ if is_absolute(text) => tidy(text),
            Self::Unknown => return Self::Unknown,
            Self::Start => tidy(text),
            Self::At(base) => tidy(&format!("{base}/{text}")),
        };
        match joined {
            joined if joined.len() > MAX_DIRECTORY => Self::Unknown,
            joined if joined == "." => Self::Start,
            joined => Self::At(joined),
        }
    }

    /// The directory as invocations record it.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::At(name) => Some(name),
            Self::Start | Self::Unknown => None,
        }
    }

    /// A key for the file `path` seen from here.
    pub(crate) fn file(&self, path: &str) -> String {
        match self {
            Self::At(base) if !is_absolute(path) => tidy(&format!("{base}/{path}")),
            _ => tidy(path),
        }
    }
}

/// True for paths that do not count from the current directory.
fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '~', '\\']) || drive
}

/// Removes `.` and resolves `..` by the text alone.
fn tidy(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if path.starts_with('/') => {}
            part => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (path.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Variables with an undo log, so that leaving a subshell costs what was changed in it.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    values: BTreeMap<String, Value>,
    undo: Vec<(String, Option<Value>)>,
    /// Open marks: without one, nothing needs to be logged.
    marks: usize,
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let old = self.values.insert(name.to_owned(), value);
        self.log(name, old);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let old = self.values.remove(name);
        self.log(name, old);
    }

    fn log(&mut self, name: &str, old: Option<Value>) {
        if self.marks > 0 {
            self.undo.push((name.to_owned(), old));
        }
    }

    /// Names and values, as far as they are known, short and few.
    pub(crate) fn known(&self) -> Vec<(String, String)> {
        const LONGEST: usize = 1 << 10;
        const MOST: usize = 256;
        let own = |name: &str| {
            let special = matches!(name, "IFS" | "SHELL" | "BASH" | "@" | "*");
            !special && name.parse::<u32>().is_err()
        };
        let known = self
            .values
            .iter()
            .filter_map(|(name, value)| match value.as_slice() {
                [only] if own(name) && !only.dynamic && only.text.len() <= LONGEST => {
                    Some((name.clone(), only.text.clone()))
                }
                _ => None,
            });
        known.take(MOST).collect()
    }

    /// Begins a subshell.
    pub(crate) fn mark(&mut self) -> usize {
        self.marks += 1;
        self.undo.len()
    }

    /// Ends the subshell that began with `mark`.
    pub(crate) fn rollback(&mut self, mark: usize) {
        while self.undo.len() > mark {
            if let Some((name, old)) = self.undo.pop() {
                match old {
                    Some(value) => self.values.insert(name, value),
                    None => self.values.remove(&name),
                };
            }
        }
        self.marks = self.marks.saturating_sub(1);
    }
}

/// Everything a shell remembers.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) variables: Variables,
    pub(crate) functions: BTreeMap<String, Rc<Command>>,
    pub(crate) aliases: BTreeMap<String, String>,
    pub(crate) git_aliases: BTreeMap<String, String>,
    /// Files written in this text whose content is known.
    pub(crate) files: BTreeMap<String, Known>,
    /// The files among them that were there before, and are as they were.
    pub(crate) found: BTreeSet<String>,
    /// Where the shell was started, if that is known.
    started_in: Option<String>,
    /// Where `exec >file` sends what is printed from there on.
    pub(crate) output: Option<Redirect>,
    pub(crate) directory: Directory,
    pub(crate) directory_stack: Vec<Directory>,
    /// Inside the body of a function that is being defined: its parameters are unknown.
    pub(crate) unknown_parameters: bool,
}

impl Scope {
    pub(crate) fn new() -> Self {
        let mut variables = Variables::default();
        // Word splitting makes `${IFS}` a blank; `$SHELL -c` runs some shell.
        variables.set("IFS", vec![Field::plain(" ")]);
        variables.set("SHELL", vec![Field::plain("/bin/sh")]);
        variables.set("BASH", vec![Field::plain("/bin/bash")]);
        Self {
            variables,
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            git_aliases: BTreeMap::new(),
            files: BTreeMap::new(),
            found: BTreeSet::new(),
            started_in: None,
            output: None,
            directory: Directory::Start,
            directory_stack: Vec::new(),
            unknown_parameters: false,
        }
    }

    /// Takes up what is there when the shell begins.
    pub(crate) fn surround(&mut self, surroundings: &Surroundings) {
        self.started_in.clone_from(&surroundings.directory);
        for (name, value) in &surroundings.variables {
            self.variables.set(name, vec![Field::plain(value)]);
        }
        for (path, text) in &surroundings.files {
            let key = self.file_key(path);
            self.found.insert(key.clone());
            self.files.insert(key, Known::new(text.as_bytes(), 0));
        }
    }

    /// A key for the file `path` seen from the current directory.
    pub(crate) fn file_key(&self, path: &str) -> String {
        let seen = self.directory.file(path);
        match &self.started_in {
            Some(start) if !is_absolute(&seen) => tidy(&format!("{start}/{seen}")),
            _ => seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_join_by_text() {
        let cases = [
            (&["a"][..], Some("a")),
            (&["a", "b/../c"], Some("a/c")),
            (&["a", ".."], None),
            (&["..", ".."], Some("../..")),
            (&["a", "/x//y/."], Some("/x/y")),
            (&["/", ".."], Some("/")),
            (&["~/w", "src"], Some("~/w/src")),
            (&["-"], None),
        ];
        for (steps, want) in cases {
            let mut directory = Directory::Start;
            for step in steps {
                directory = directory.join(&Field::plain(step));
            }
            assert_eq!(directory.name(), want, "{steps:?}");
        }
    }

    #[test]
    fn a_subshell_undoes_its_variables() {
        let mut variables = Variables::default();
        variables.set("a", vec![Field::plain("1")]);
        let mark = variables.mark();
        variables.set("a", vec![Field::plain("2")]);
        variables.set("b", vec![Field::plain("3")]);
        variables.remove("a");
        variables.rollback(mark);
        assert_eq!(variables.get("a").unwrap()[0].text, "1");
        assert!(variables.get("b").is_none());
    }
}
