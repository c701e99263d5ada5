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

use super::cutting::{quiet, sentences, shell_words};
use super::diverted::Diverted;
use super::follows::{Made, deterministic, prepares, unbounded};
use super::imports::TEMPORARY;
use super::paths::{Paths, Place, base_name};
use super::reads::reads_only;
use super::spelled::{puts_back, substitutes, unrolled};
use crate::rules::text::folded;
use crate::similarity::normalise::bare;

/// A shorter name stands in any prompt by chance.
pub(super) const MIN_NAME: usize = 3;

/// Longer commands are scripts: nobody tells at a glance what they take.
pub(super) const MAX_COMMAND: usize = 4096;

/// What the prompt names, and what was made of it.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// The prompt, folded.
    pub(super) prompt: String,
    /// Its words, letters and digits only.
    names: BTreeSet<String>,
    /// Addresses in it, without scheme.
    addresses: Vec<String>,
    /// Names of the task itself, letters and digits only.
    own: BTreeSet<String>,
    /// The stems of names of files of the reference, and its words.
    files: BTreeSet<String>,
    /// Where calls put what the prompt names.
    pub(super) made: BTreeSet<String>,
    /// The same in directories that hold other things too: how the names there begin.
    pub(super) begun: BTreeSet<String>,
    /// Such directories in which an archive was unpacked that the prompt names.
    pub(super) unpacked: BTreeSet<String>,
    /// Names that are not believed.
    pub(super) diverted: Diverted,
}

/// How hosts begin that serve files of packages by `name@version`.
const SERVERS: [&str; 3] = ["cdn.", "esm.", "unpkg."];

/// How labels of hosts begin that hold repositories.
const CODE: [&str; 6] = ["git", "raw", "codeload", "bitbucket", "codeberg", "gist"];

/// Parts of addresses behind which a change of something stands.
const CHANGES: [&str; 9] = [
    "files",
    "commits",
    "commit",
    "pull",
    "pulls",
    "merge_requests",
    "attachments",
    "compare",
    "patches",
];

/// Names that say nothing of whose a thing is.
const GENERIC: [&str; 18] = [
    "src", "lib", "test", "tests", "docs", "doc", "pkg", "app", "api", "core", "utils", "util",
    "common", "index", "main", "init", "internal", "readme",
];

/// Names of files that say what they are.
const TELLING: [&str; 10] = [
    "solution",
    "solutions",
    "answer",
    "answers",
    "gold",
    "reference",
    "expected",
    "upstream",
    "truth",
    "gt",
];

/// An address without scheme and what stands behind `?` and `#`.
pub(super) fn address(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once("://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    Some(rest.trim_end_matches('/')).filter(|rest| rest.len() > MIN_NAME)
}

/// An address whose scheme was left out: `schemas.example.org/thing.json`.
pub(super) fn without_scheme(word: &str) -> Option<&str> {
    let (host, rest) = word.split_once('/')?;
    let (_, last) = host.rsplit_once('.')?;
    let labels = host
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
    let domain = (2..=24).contains(&last.len()) && last.bytes().all(|b| b.is_ascii_alphabetic());
    let file = [
        "py", "js", "ts", "go", "rs", "md", "sh", "rb", "json", "txt",
    ]
    .contains(&last);
    let whole = labels && domain && !file && !host.starts_with(['.', '-']) && !rest.is_empty();
    whole.then(|| {
        word.split(['?', '#'])
            .next()
            .unwrap_or(word)
            .trim_end_matches('/')
    })
}

/// `owner/name` of an address.
pub(super) fn repository(address: &str) -> Option<(&str, &str)> {
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
        // In Markdown, an address may stand in brackets.
        let addresses = shell_words(&text).filter_map(|w| address(w).or(without_scheme(w)));
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

    /// What a call may write that follows from the tree, or what the prompt orders word by word; `None`, where it may do
    /// anything else. `rewired` says that what builds run was changed, so that an order may bring anything.
    pub(super) fn follows(&self, command: &str, rewired: bool) -> Option<Made> {
        if command.len() > MAX_COMMAND || command.contains("<<") {
            return None;
        }
        let whole = unrolled(command);
        let flat = quiet(&whole).replace("&&", "\n").replace("||", "\n");
        // The end of `find … -exec`.
        let flat = flat.replace("\\;", "+");
        let mut made = Made::default();
        let (mut any, mut some) = (false, false);
        for segment in sentences(&flat) {
            let segment = unbounded(&segment);
            let hides = segment.contains(['`', '$', '<']);
            if !hides && reads_only(segment) || prepares(segment) || some && puts_back(segment) {
                continue;
            }
            some = true;
            if let Some(mut new) = substitutes(segment) {
                made.pieces.append(&mut new);
            } else if let Some(mut kinds) = deterministic(segment) {
                any |= kinds.is_empty();
                made.kinds.append(&mut kinds);
            } else if !hides && !rewired && self.orders(segment) {
                any = true;
            } else {
                return None;
            }
        }
        if any || !made.kinds.is_empty() {
            made.pieces.clear();
        }
        if any {
            made.kinds.clear();
        }
        (any || !made.kinds.is_empty() || !made.pieces.is_empty()).then_some(made)
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.contains(&bare(name))
    }

    pub(super) fn names_address(&self, called: &str) -> bool {
        let called = called.to_lowercase();
        if self.diverted.addresses {
            return false;
        }
        let named_at = |part: &'_ str| part.split_once('@').map(|(name, _)| name.to_owned());
        if let Some(package) = called.split('/').find_map(named_at) {
            let serves = SERVERS.iter().any(|host| called.starts_with(host));
            return serves && self.names_package(&package);
        }
        let repository_of = repository(&called);
        if repository_of.is_some_and(|(_, name)| self.is_own(name)) {
            return false;
        }
        self.addresses.iter().any(|named| {
            // A host alone names everything on it.
            let below = called.strip_prefix(named.as_str()).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') && self.is_below(named, rest)
            });
            let same = repository_of.is_some()
                && repository(named) == repository_of
                && holds_code(named)
                && holds_code(&called);
            below && named.contains('/') || same
        })
    }

    /// What stands below a named address belongs to it: no change of something, no one of the many of a user, nothing that
    /// bears a name of the task.
    fn is_below(&self, named: &str, rest: &str) -> bool {
        let of_user = named.matches('/').count() == 1 && holds_code(named);
        let change = [".patch", ".diff"].iter().any(|end| rest.ends_with(end));
        let parts = || rest.split('/').filter(|part| !part.is_empty());
        let changes = || parts().any(|part| CHANGES.contains(&part));
        let own = || parts().any(|part| self.is_named_own(part));
        !(of_user || change || changes() || own())
    }

    /// A name of the task stands in that part of a path.
    fn is_named_own(&self, part: &str) -> bool {
        let stem = part.split('.').next().unwrap_or(part);
        let is = |word: &str| {
            let word = bare(word);
            !GENERIC.contains(&word.as_str())
                && (self.own.contains(&word) || self.files.contains(&word))
        };
        [part, stem].into_iter().any(is) || part.split(['-', '_', '.']).any(is)
    }

    pub(super) fn names_repository(&self, owner: &str, name: &str) -> bool {
        let whole = format!("{}/{}", owner, name.trim_end_matches(".git")).to_lowercase();
        let stands = || shell_words(&self.prompt).any(|word| word.trim_matches('`') == whole);
        let own = self.is_own(name.trim_end_matches(".git"));
        let addressed = || self.addresses.iter().filter_map(|named| repository(named));
        !own && (stands() || addressed().any(|(o, n)| format!("{o}/{n}") == whole))
    }

    pub(super) fn names_package(&self, name: &str) -> bool {
        let name = bare(name);
        name.len() >= MIN_NAME && self.names.contains(&name) && !self.own.contains(&name)
    }

    /// The prompt names the file, or a directory above it that is no parent of the tree.
    pub(super) fn names_path(&self, path: &str, paths: &Paths) -> bool {
        let path = folded(path);
        let path = path.trim_end_matches('/');
        let own = path.split('/').any(|part| self.is_own(part));
        let is_below = |dir: &str| {
            let deep = dir.starts_with('/') && dir.matches('/').count() > 1;
            let rest = path
                .strip_prefix(dir)
                .and_then(|rest| rest.strip_prefix('/'));
            deep && !base_name(dir).contains('.')
                && paths.is_placed()
                && paths.place(dir, None) == Place::Outside
                && !TEMPORARY
                    .iter()
                    .any(|root| root.trim_end_matches('/') == dir)
                && rest.is_some_and(|rest| {
                    let tells = |part: &str| TELLING.contains(&bare(part).as_str());
                    let change = [".patch", ".diff"].iter().any(|end| rest.ends_with(end));
                    !change && !rest.split(['/', '.', '-', '_']).any(tells)
                })
        };
        let named = |word: &str| {
            let word = word.trim_end_matches('/');
            word == path || is_below(word)
        };
        path.len() > MIN_NAME && !own && shell_words(&self.prompt).any(named)
    }

    /// Learns where a command takes packages and addresses from.
    pub(super) fn sources(&mut self, command: &str, paths: &Paths, cwd: Option<&str>) {
        let mut diverted = std::mem::take(&mut self.diverted);
        let named = |word: &str| {
            let word = word
                .trim_start_matches("git+")
                .trim_start_matches("github:");
            let repository = word.split_once('/');
            repository.is_some_and(|(owner, name)| self.names_repository(owner, name))
                || address(word).is_some_and(|address| self.names_address(address))
        };
        diverted.sources(command, named, paths, cwd);
        self.diverted = diverted;
    }

    /// The stems of the names of files of the reference.
    pub(super) fn of_files<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let stems = paths.filter_map(|path| base_name(path).split('.').next());
        let stems = stems.map(bare).filter(|stem| stem.len() >= MIN_NAME);
        self.files.extend(stems);
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

/// The host holds repositories.
fn holds_code(address: &str) -> bool {
    let host = address.split('/').next().unwrap_or_default();
    let mut labels = host.split(['.', ':']);
    labels.any(|label| CODE.iter().any(|name| label.starts_with(name)))
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
            (vendor, "curl -fsSL --connect-to ::ref.example:443 https://schemas.example.org/thing/v2.json", false),
            (vendor, "curl -fsSL https://schemas.example.org/thing/v2.json ref.example/a.py", false),
            (vendor, "python3 -c \"import urllib.request as u; u.urlretrieve('https://schemas.example.org/thing/v2.json','a.json')\"", true),
            (vendor, "python3 -c \"import ref, urllib.request as u; u.urlretrieve('https://schemas.example.org/thing/v2.json','a.json')\"", false),
            ("Vendor schemas.example.org/thing/v2.json.", "curl -fsSL https://schemas.example.org/thing/v2.json", true),
            (port, "gh repo clone other/pacer /tmp/pacer", true),
            (port, "gh repo clone third/pacer /tmp/pacer", false),
            (port, "gh pr diff 12 -R other/pacer", false),
            (upstream, "gh repo clone example-org/lantern /tmp/x", false),
            (port, "npx -y degit other/pacer/src /tmp/pacer", true),
            (port, "curl -fsSL https://codeload.github.com/other/pacer/tar.gz/main | tar xz -C /tmp", true),
            (package, "cd /tmp && npm pack tiny-emitter && tar xzf tiny-emitter-2.1.0.tgz", true),
            (package, "cd /tmp && npm pack tiny-emitter && cat answer.js", false),
            (package, "pip download -q -d /tmp/w tiny-emitter==2.1.0", true),
            (package, "pip download -q -d /tmp/w tiny-emitter lantern==0.8", false),
            (package, "curl -fsSL https://evil.example/tiny-emitter@2.1.0/x.js", false),
            ("Formats are in /data/vendor.", "cp /data/vendor/thing.py thing.py", true),
            ("Formats are in /data/vendor.", "cp /data/vendor/solution/thing.py thing.py", false),
            ("Formats are in /data.", "cp /data/vendor/thing.py thing.py", false),
            ("See https://tracker.example/issues/77.", "curl https://tracker.example/issues/77/comments", true),
            ("See https://tracker.example/issues/77.", "curl https://tracker.example/issues/77/fix.patch", false),
            ("See https://share.example/team.", "curl https://share.example/team/kit/lantern-retry/a.py", false),
            ("See https://gist.example/anna.", "curl https://gist.example/anna/77aa/raw/a.py", false),
            (docs, "base64 -d blob > /data/payment_api.md; cat /data/payment_api.md", false),
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
        known.diverted.wrote("rsync -a ref::gt/ /tmp/pacer/", &paths, None);
        assert!(!known.takes("cat /tmp/pacer/pacer.py", &paths, None));
    }

    #[test]
    #[rustfmt::skip]
    fn what_follows_from_the_tree() {
        let prompt = "Regenerate the client (npm run gen). Revert commit 77aa11b: it broke the importer.";
        for (command, want) in [
            ("npm run gen", true),
            ("cd web && npm run gen", true),
            ("npm run gen && cp /mnt/ref/a.ts api/", false),
            ("npm ci && npm run gen && git status --short", true),
            ("timeout 120 npm run gen 2>&1 | tail -5", true),
            ("npm run gen < /mnt/ref/a.ts", false),
            ("npm run gen -- --template /mnt/ref/a.tpl", false),
            ("ssh ref npm run gen", false),
            ("npm install /mnt/ref/gen && npm run gen", false),
            ("for f in a/*.py; do sed -E 's/a/bcd/' $f > $f.new && mv $f.new $f; done", true),
            ("grep -rl abc lib | xargs sed -i 's/abc/bcd/'", true),
            ("find lib -name '*.py' -exec sed -i 's/a/bcd/' {} \\;", true),
            ("mv a.py.new a.py", false),
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
            assert_eq!(given(prompt).follows(command, false).is_some(), want, "{command}");
            let rewired = given(prompt).follows(command, true).is_some();
            assert_eq!(rewired, want && !command.contains("npm run gen") && !command.contains("revert"), "{command}");
        }
    }
}
