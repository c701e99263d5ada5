//! What the prompt hands over: a call that takes what the prompt names, or runs what it orders, brings no reference.
//!
//! "Vendor <https://…/thing.json>", "port `pacer.py` of other/pacer", "as in the guide at /data/api.md", "`npm run gen`":
//! the lines that such a call shows or writes are given with the task, wherever they lie. Nobody knows what stands there,
//! so they are taken out of the comparison and nothing is said of them ([`audit::turns`](crate::audit)). The same holds
//! for tools that generate or rewrite by fixed rules: their output follows from the tree.
//!
//! It speaks for the agent, so it is narrow: all that the call takes from elsewhere has to be named, and what bears the
//! task's own name (its repository, its package, a directory of the reference) is never given.

use std::collections::BTreeSet;

use super::cutting::{sentences, without_heredocs};
use super::follows::{deterministic, prepares, substitutes};
use super::paths::{Paths, Place, base_name};
use super::reads::reads_only;
use super::scope::is_program;
use crate::rules::text::folded;
use crate::similarity::normalise::bare;

/// A shorter name stands in any prompt by chance.
const MIN_NAME: usize = 3;

/// Targets of calls that are remembered.
const MAX_MADE: usize = 256;

/// Longer commands are scripts: nobody tells at a glance what they take.
pub(super) const MAX_COMMAND: usize = 4096;

/// Directories in which packages lie, each in one of its own name.
const PACKAGES: [&str; 4] = ["node_modules/", "site-packages/", "dist-packages/", "gems/"];

/// Words behind which a command names what it writes.
const TARGETS: [&str; 5] = ["-o", "-O", "--output", "-P", ">"];

/// Programs that take something from where no word says.
const RUNS: [&str; 16] = [
    "ssh", "scp", "nc", "rsync", "docker", "podman", "kubectl", "gh", "glab", "eval", "sh",
    "python", "python3", "node", "perl", "ruby",
];

/// What the prompt names, and what was made of it.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// The prompt, folded.
    prompt: String,
    /// Its words, letters and digits only.
    names: BTreeSet<String>,
    /// Addresses in it, without scheme.
    addresses: Vec<String>,
    /// Names of the task itself, letters and digits only.
    own: BTreeSet<String>,
    /// Where calls put what the prompt names.
    made: BTreeSet<String>,
}

/// The words of a text that a shell would see, without quotes.
fn shell_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | '`' | ';' | '|' | '<' | ',')
    })
    .map(|word| word.trim_end_matches(['.', ':']))
    .filter(|word| !word.is_empty())
}

/// An address without scheme and what stands behind `?` and `#`.
fn address(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once("://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    Some(rest.trim_end_matches('/')).filter(|rest| rest.len() > MIN_NAME)
}

/// `owner/name` of an address.
fn repository(address: &str) -> Option<(&str, &str)> {
    let mut parts = address.split('/').skip(1).filter(|p| *p != "repos");
    let (owner, name) = (parts.next()?, parts.next()?);
    Some((owner, name.trim_end_matches(".git")))
}

impl Given {
    /// Takes what the user wrote.
    pub(super) fn learn(&mut self, prompt: &str) {
        if prompt.trim().is_empty() {
            return;
        }
        let text = folded(prompt);
        let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
        self.names
            .extend(words.map(bare).filter(|w| w.len() >= MIN_NAME));
        let addresses = shell_words(&text).filter_map(address);
        self.addresses.extend(addresses.map(str::to_owned));
        self.prompt.push_str(&text);
        self.prompt.push('\n');
    }

    /// Takes a name of the task: its repository, its package, a directory of the reference.
    pub(super) fn own(&mut self, name: &str) {
        let parts = name.rsplit('/').take(2);
        self.own
            .extend(parts.map(bare).filter(|n| n.len() >= MIN_NAME));
    }

    /// Whether all that a call takes from elsewhere is named by the prompt, and something is. Remembers where it puts it.
    pub(super) fn takes(&mut self, text: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if self.prompt.is_empty()
            || text.len() > MAX_COMMAND
            || text.contains(['$', '`'])
            || without_heredocs(text).len() < text.len()
        {
            return false;
        }
        let (mut named, mut targets) = (false, Vec::new());
        let mut before = "";
        for word in shell_words(text) {
            let target = TARGETS.contains(&before) || address(before).is_some();
            before = word;
            if word.contains("..") || RUNS.contains(&base_name(word)) {
                return false;
            }
            if let Some(address) = address(word) {
                if !self.names_address(address) {
                    return false;
                }
                named = true;
            } else if let Some(package) = package(word) {
                if !self.names_package(package) {
                    return false;
                }
                named = true;
            } else if word.contains("=/") || word.contains("@/") {
                return false;
            } else if word.contains(['/', '~'])
                && !is_program(word)
                && paths.place(word, cwd) == Place::Outside
            {
                let below = |made: &str| {
                    word.strip_prefix(made)
                        .is_some_and(|r| r.is_empty() || r.starts_with('/'))
                };
                if target {
                    targets.push(word.to_owned());
                } else if self.names_path(word) || self.made.iter().any(|t| below(t)) {
                    named = true;
                } else if !targets.iter().any(|t| below(t)) {
                    // What this command makes itself is named by nobody, and taken from nowhere else.
                    return false;
                }
            }
        }
        if named && self.made.len() < MAX_MADE {
            self.made.extend(targets);
        }
        named
    }

    /// Whether a call writes what follows from the tree, or what the prompt orders word by word. Of substitutions, what each
    /// line that they make holds one of; nothing, where any line may come of it.
    pub(super) fn follows(&self, command: &str) -> Option<Vec<String>> {
        if command.len() > MAX_COMMAND || command.contains(['`', '$', '<']) {
            return None;
        }
        let mut pieces = Vec::new();
        let flat = command.replace("&&", "\n").replace("||", "\n");
        let mut some = false;
        for segment in sentences(&flat) {
            if reads_only(&segment) || prepares(&segment) {
                continue;
            }
            if let Some(mut new) = substitutes(&segment) {
                pieces.append(&mut new);
            } else if deterministic(&segment) || self.orders(&segment) {
                some = true;
            } else {
                return None;
            }
        }
        match (some, pieces.is_empty()) {
            (true, _) => Some(Vec::new()),
            (false, false) => Some(pieces),
            (false, true) => None,
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.contains(&bare(name))
    }

    fn names_address(&self, called: &str) -> bool {
        let called = called.to_lowercase();
        if let Some(package) = called
            .split('/')
            .find_map(|part| part.split_once('@').map(|(name, _)| name))
        {
            return self.names_package(package);
        }
        let repository_of = repository(&called);
        if repository_of.is_some_and(|(_, name)| self.is_own(name)) {
            return false;
        }
        self.addresses.iter().any(|named| {
            let below = called
                .strip_prefix(named.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            // A host alone names everything on it.
            let same = repository_of.is_some() && repository(named) == repository_of;
            below && named.contains('/') || same
        })
    }

    fn names_package(&self, name: &str) -> bool {
        let name = bare(name);
        name.len() >= MIN_NAME && self.names.contains(&name) && !self.own.contains(&name)
    }

    fn names_path(&self, path: &str) -> bool {
        let path = folded(path);
        let own = path.split('/').any(|part| self.is_own(part));
        path.len() > MIN_NAME && !own && shell_words(&self.prompt).any(|word| word == path)
    }

    /// The prompt writes the command out, or orders it by name: `Revert commit 77aa11b`.
    fn orders(&self, segment: &str) -> bool {
        let text = folded(segment);
        let words: Vec<&str> = text.split(' ').filter(|w| !w.is_empty()).collect();
        if let ["git", "revert", rest @ ..] = words.as_slice() {
            let mut commits = rest.iter().filter(|word| !word.starts_with('-')).peekable();
            let named = |commit: &&str| commit.len() >= 7 && self.names.contains(*commit);
            return self.names.contains("revert") && commits.peek().is_some() && commits.all(named);
        }
        let whole = |(at, _): (usize, &str)| {
            let after = self.prompt.get(at + text.len()..).unwrap_or_default();
            let before = self.prompt.get(..at).unwrap_or_default();
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-');
            !after.starts_with(goes_on) && !before.ends_with(|c: char| c.is_alphanumeric())
        };
        words.len() >= 2 && self.prompt.match_indices(text.as_str()).any(whole)
    }
}

/// The package whose directory a path goes through.
fn package(word: &str) -> Option<&str> {
    let (_, rest) = PACKAGES.iter().find_map(|dir| word.split_once(dir))?;
    let mut parts = rest.split('/').filter(|p| !p.starts_with('@'));
    // What stands in the directory itself is of nobody.
    let name = parts.next()?;
    parts.next().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(prompt: &str) -> Given {
        let mut given = Given::default();
        given.learn(prompt);
        given.own("example-org/lantern");
        given
    }

    #[test]
    #[rustfmt::skip]
    fn what_the_prompt_names_is_given() {
        let vendor = "Vendor https://schemas.example.org/thing/v2.json as schema/thing.json.";
        let port = "Port pacer.py of https://github.com/other/pacer (MIT) into pacing.py.";
        let upstream = "The project lives at https://github.com/example-org/lantern. Add retries.";
        let package = "Vendor tiny-emitter 2.1.0 as web/vendor/tiny-emitter.js.";
        let docs = "Payments with the client described in /data/payment_api.md.";
        let host = "See https://docs.pay.example for the client.";
        for (prompt, command, want) in [
            (vendor, "curl -fsSL https://schemas.example.org/thing/v2.json -o schema/thing.json", true),
            (vendor, "curl -fsSL https://schemas.example.org/other.json -o schema/thing.json", false),
            (vendor, "curl -so a https://schemas.example.org/thing/v2.json; cat /mnt/ref/a", false),
            (vendor, "curl -so a https://schemas.example.org/thing/v2.json; cat ../ref/a", false),
            (vendor, "curl -so a https://schemas.example.org/thing/v2.json; cat $A", false),
            (vendor, "curl -so a https://schemas.example.org/thing/v2.json; gh pr diff 1", false),
            (vendor, "curl -s https://schemas.example.org/thing/v2.json -d@/mnt/a", false),
            (package, "cat node_modules/tiny-emitter/../lantern/a.js", false),
            (port, "curl -s https://raw.githubusercontent.com/other/pacer/main/pacer.py", true),
            (port, "curl -s https://raw.githubusercontent.com/example-org/lantern/main/pacing.py", false),
            (port, "git clone -q https://github.com/other/pacer /tmp/pacer && cp /tmp/pacer/pacer.py pacing.py", true),
            (port, "git clone -q https://github.com/other/pacer /tmp/pacer && cp /tmp/lantern/pacing.py pacing.py", false),
            (upstream, "curl -s https://raw.githubusercontent.com/example-org/lantern/main/lantern/retry.py", false),
            (package, "curl -fsSL -o web/vendor/tiny-emitter.js https://cdn.example/tiny-emitter@2.1.0/dist/tinyemitter.js", true),
            (package, "cp node_modules/tiny-emitter/dist/tinyemitter.js web/vendor/tiny-emitter.js", true),
            (package, "cp node_modules/other/dist/tinyemitter.js web/vendor/tiny-emitter.js", false),
            ("Add retries to lantern.", "cat .venv/lib/python3.11/site-packages/lantern/retry.py", false),
            ("Log as JSON with python-json-logger.", "cat .venv/lib/python3.11/site-packages/pythonjsonlogger/README.md", true),
            (docs, "cat /data/payment_api.md", true),
            (docs, "cat /data/answer.md", false),
            (host, "curl -s https://docs.pay.example/quickstart", false),
            (docs, "cat lantern/retry.py", false),
            ("", "cat /data/payment_api.md", false),
        ] {
            let mut paths = Paths::default();
            paths.start_in("/w/run");
            assert_eq!(given(prompt).takes(command, &paths, Some("/w/run")), want, "{prompt}: {command}");
        }
        // What was put somewhere stays given there.
        let mut known = given(port);
        let mut paths = Paths::default();
        paths.start_in("/w/run");
        assert!(known.takes("git clone https://github.com/other/pacer /tmp/pacer", &paths, None));
        assert!(known.takes("cat /tmp/pacer/pacer.py", &paths, None));
        assert!(!known.takes("cat /tmp/pacer2/pacer.py", &paths, None));
    }

    #[test]
    #[rustfmt::skip]
    fn what_follows_from_the_tree() {
        let prompt = "Regenerate the client (npm run gen). Revert commit 77aa11b: it broke the importer.";
        for (command, want) in [
            ("npm run gen", true),
            ("cd web && npm run gen", true),
            ("npm run gen && cp /mnt/ref/a.ts api/", false),
            ("npm run build", false),
            ("git revert --no-edit 77aa11b", true),
            ("git revert --no-edit 88bb22c", false),
            ("git revert HEAD", false),
            ("python manage.py makemigrations shop -n order_addresses", true),
            ("stubgen lib -o .", true),
            ("pip install unittest2pytest && unittest2pytest -w tests/", true),
            ("sh /tmp/stubgen", false),
            ("sh /tmp/x.sh", false),
            ("sed -E -i 's/self\\.assertTrue\\((.*)\\)/assert \\1/; s/a/b/g' tests/*.py", true),
            ("sed -i 's/a/b/' tests/a.py", false),
            ("sed -i '$r /mnt/x/f' F", false),
            ("sed -i 's/a/b/e' tests/a.py", false),
            ("sed -i 's/a/b/w /tmp/x' tests/a.py", false),
            ("python gen.py > a.py", false),
            ("cat a.py", false),
        ] {
            assert_eq!(given(prompt).follows(command).is_some(), want, "{command}");
        }
    }
}
