//! Functions that nothing calls: `f() { git fetch; }; ls` fetches nothing.
//!
//! A body counts where it is defined, unless it is certain that nothing calls it. That is a matter of the
//! whole text, so it is found out by reading it once, and the text is read again without the bodies. It is
//! certain only if
//!
//! - the shell ends with the text, and nothing hands its functions on (`export -f`, `set -a`);
//! - the name stands nowhere else in the text, not even in quotes or comments;
//! - each program stands in the text as it is, so that no name is put together, decoded, typed into
//!   another shell or read from somewhere;
//! - the shell calls no function of that name by itself (`command_not_found_handle`).

use std::collections::BTreeSet;

use super::call::Call;
use super::parser::is_name;

/// Functions that shells call by themselves.
const HOOKS: &[&str] = &[
    "chpwd",
    "command_not_found_handle",
    "command_not_found_handler",
    "periodic",
    "precmd",
    "preexec",
];

/// Beginnings of the names of such functions.
const HOOK_PREFIXES: &[&str] = &["TRAP", "fish_", "zsh"];

/// Builtins behind which a function may be called or handed on without its name in the text.
const REACHING: &[&str] = &[
    ".",
    "alias",
    "autoload",
    "bind",
    "complete",
    "enable",
    "mapfile",
    "readarray",
    "source",
];

/// What is known of the functions of a command text.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    defined: BTreeSet<String>,
    /// A function may be called that is not named in the text.
    reached: bool,
    uncalled: BTreeSet<String>,
}

impl Functions {
    /// Notes a definition; true if nothing calls the function.
    pub(crate) fn is_uncalled(&mut self, name: &str) -> bool {
        if self.uncalled.contains(name) {
            return true;
        }
        if !self.reached && !self.defined.contains(name) {
            self.defined.insert(name.to_owned());
        }
        false
    }

    /// Notes a program that is started.
    pub(crate) fn started(&mut self, call: &Call<'_>) {
        self.reached |= call.argv.first().is_none_or(|field| field.exact.is_none())
            || REACHING.contains(&call.program())
            || hands_on(call);
    }

    /// Notes that a function may be called here that is not named in the text.
    pub(crate) fn reach(&mut self) {
        self.reached = true;
    }

    /// The functions that are defined in the text, which was read whole, and that nothing calls.
    pub(crate) fn without_callers(self, text: &str) -> Self {
        let mut uncalled = self.defined;
        let special = ["PROMPT_COMMAND", "PS4", "BASH_ENV"];
        if self.reached || special.iter().any(|name| text.contains(name)) {
            uncalled.clear();
        }
        uncalled.retain(|name| is_plain(name));
        let (mut once, mut often) = (BTreeSet::new(), BTreeSet::new());
        if !uncalled.is_empty() {
            for word in text.split(|c: char| !is_word(c)) {
                if uncalled.contains(word) && !once.insert(word) {
                    often.insert(word);
                }
            }
        }
        uncalled.retain(|name| once.contains(name.as_str()) && !often.contains(name.as_str()));
        Self {
            uncalled,
            ..Self::default()
        }
    }

    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.uncalled.is_empty()
    }
}

/// True for a name that no shell calls by itself.
fn is_plain(name: &str) -> bool {
    let hook = HOOKS.contains(&name) || HOOK_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    !hook && !name.is_empty() && name.bytes().all(is_name)
}

/// True for the characters of words: `-f` of a command does not name the function `f`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// `export -f`, `declare -fx`, `set -a`, `set -o allexport`.
fn hands_on(call: &Call<'_>) -> bool {
    let letter = match call.program() {
        "set" => 'a',
        "export" | "declare" | "typeset" | "readonly" | "local" => 'f',
        _ => return false,
    };
    call.arguments().iter().any(|field| {
        let flags = field.text.starts_with('-') && field.text.contains(letter);
        flags || field.text == "allexport"
    })
}
