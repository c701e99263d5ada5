//! Names that stand for another thing than they say: a package that was installed from an address, a named file that a call
//! wrote over, a fetch that is led elsewhere.
//!
//! The source of what a call made is its argument, and not the name that it bears later on.

use std::collections::BTreeSet;

use super::cutting::{path_words, segments, without_heredocs};
use super::paths::{Paths, Place, base_name};
use super::programs::{COPIERS, COPIES, MANAGERS, READERS};
use super::reads::segment_reads_only;
use super::scope::is_program;

/// More is not remembered: then no name is believed.
const MAX_PATHS: usize = 4096;

/// Longer commands are not looked at: then no name is believed.
const MAX_TEXT: usize = 1 << 16;

/// Words behind which a command names what it writes.
const TARGETS: [&str; 12] = [
    "-o",
    "-O",
    "--output",
    "-P",
    ">",
    ">>",
    "1>",
    "-C",
    "-d",
    "--dest",
    "--target",
    "--directory",
];

/// What makes a package manager bring something.
const INSTALLS: [&str; 10] = [
    "install", "i", "add", "download", "pack", "update", "upgrade", "link", "get", "sync",
];

/// Options and settings by which a package manager takes from elsewhere than usual.
const SOURCES: [&str; 11] = [
    "--index-url",
    "--extra-index-url",
    "--registry",
    "--find-links",
    "--no-index",
    "index-url",
    "registry=",
    "pip_index",
    "pip_extra",
    "pip_find",
    "npm_config_",
];

/// Options and settings by which a fetch goes elsewhere than its address says.
const DETOURS: [&str; 15] = [
    "--connect-to",
    "--resolve",
    "--proxy",
    "--preproxy",
    "--socks",
    "-x",
    "-K",
    "--config",
    "--unix-socket",
    "--abstract-unix-socket",
    "--doh-url",
    "_proxy=",
    "insteadof",
    "/etc/hosts",
    "--execute",
];

/// Directories in which packages lie, each in one of its own name.
const PACKAGES: [&str; 4] = ["node_modules/", "site-packages/", "dist-packages/", "gems/"];

/// What scripts do that write.
const WRITES: [&str; 8] = [
    ".write", "'w", "\"w", "copy", "rename", "move", "replace(", "retrieve",
];

/// The names that are not believed any more.
#[derive(Debug, Default)]
pub(super) struct Diverted {
    /// Of packages.
    pub(super) packages: bool,
    /// Of addresses.
    pub(super) addresses: bool,
    /// Of files and directories.
    paths: BTreeSet<String>,
    /// Of any.
    all: bool,
}

/// Words of a segment, without quotes.
fn words_of(segment: &str) -> Vec<&str> {
    let cut = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | '`' | '<' | ',');
    segment.split(cut).filter(|word| !word.is_empty()).collect()
}

/// The words that a segment writes to, as far as its program is known.
pub(super) fn targets<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let has = |names: &[&str]| words.iter().any(|w| names.contains(&base_name(w)));
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied();
        let glued = word
            .split_once('>')
            .map(|(_, to)| to.trim_start_matches(['>', '|']));
        if TARGETS.contains(word) && !(*word == "-C" && has(&["tar"]) && !extracts(words)) {
            out.extend(next);
        } else if let Some(to) = glued.filter(|to| !to.is_empty() && !to.starts_with('&')) {
            out.push(to);
        } else if let Some(to) = word.strip_prefix("of=").or(word.strip_prefix("--output=")) {
            out.push(to);
        }
    }
    let mut plain = words.iter().filter(|w| !w.starts_with(['-', '>'])).copied();
    let program = plain.find(|w| !["sudo", "env", "command", "bash", "sh"].contains(w));
    let program = program.map(base_name).unwrap_or_default();
    let arguments: Vec<&str> = plain.collect();
    if program == "tee" {
        out.extend(&arguments);
    } else if COPIERS.contains(&program) && arguments.len() > 1 {
        out.extend(arguments.last());
    }
    out
}

/// `tar x…`: what stands behind `-C` is where to.
fn extracts(words: &[&str]) -> bool {
    let at = words.iter().position(|w| base_name(w) == "tar");
    let options = at
        .and_then(|at| words.get(at + 1))
        .copied()
        .unwrap_or_default();
    let short = !options.starts_with("--") && options.contains('x');
    short
        || words
            .iter()
            .any(|w| matches!(*w, "-x" | "--extract" | "--get"))
}

/// The arguments of package managers in a segment that installs.
pub(super) fn installed<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    let manager = words
        .iter()
        .position(|w| MANAGERS.contains(&base_name(w)))?;
    let rest = words.get(manager + 1..)?;
    let verb = rest.iter().position(|w| INSTALLS.contains(w))?;
    let valued = [
        "-d",
        "-t",
        "--dest",
        "--target",
        "--prefix",
        "-r",
        "-c",
        "--pack-destination",
    ];
    let mut out = Vec::new();
    let mut before = "";
    for word in rest.get(verb + 1..).unwrap_or_default() {
        if !word.starts_with(['-', '>']) && !valued.contains(&before) && *word != "2>&1" {
            out.push(*word);
        }
        before = word;
    }
    Some(out)
}

/// The plain name of a package, without version: nothing that says where to take it from.
pub(super) fn plain_package(word: &str) -> Option<&str> {
    let scoped = word.strip_prefix('@');
    let name = scoped.unwrap_or(word);
    let end = name
        .find(['=', '<', '>', '~', '!', '[', '@', '^'])
        .unwrap_or(name.len());
    let (name, version) = name.split_at_checked(end)?;
    let slashes = name.matches('/').count();
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let harmless = !version.contains([':', '/']) && !name.starts_with(['.', '/', '-']);
    // `owner/name` is a repository.
    (harmless && slashes == usize::from(scoped.is_some()) && name.chars().all(plain))
        .then_some(name)
}

/// A path from the directory on in which packages lie, each in one of its own name.
pub(super) fn packages_in(word: &str) -> Option<&str> {
    let at = PACKAGES.iter().find_map(|dir| word.find(dir))?;
    word.get(at..)
}

/// The way in which a path is remembered.
fn key(path: &str) -> String {
    let path = packages_in(path).unwrap_or(path);
    path.trim_end_matches('/').to_lowercase()
}

impl Diverted {
    /// Learns where a command takes packages and addresses from, before it is asked what it takes; `named` tells of the
    /// addresses that the prompt names.
    pub(super) fn sources(
        &mut self,
        command: &str,
        named: impl Fn(&str) -> bool,
        paths: &Paths,
        cwd: Option<&str>,
    ) {
        let text = without_heredocs(command);
        if text.len() > MAX_TEXT {
            self.all = true;
            return;
        }
        let lower = text.to_lowercase();
        self.packages |= SOURCES.iter().any(|option| lower.contains(option));
        let settings = |word: &str| word.contains("_proxy=") || word.contains("insteadof");
        self.addresses |= lower.split_whitespace().any(settings) || {
            let hosts = lower.contains("/etc/hosts");
            hosts && !lower.split(['\n', ';', '|', '&']).all(segment_reads_only)
        };
        for segment in segments(&text) {
            let words = words_of(segment);
            let Some(packages) = installed(&words) else {
                continue;
            };
            // The tree itself may be installed.
            let elsewhere = |word: &&str| {
                let inside = word.starts_with(['.', '/', '~'])
                    && paths.place(word.split('[').next().unwrap_or(word), cwd) != Place::Outside;
                plain_package(word).is_none() && !inside && !named(word)
            };
            self.packages |= packages.iter().any(elsewhere) || words.contains(&"link");
        }
    }

    /// Learns what a command wrote that took something else than what the prompt names.
    pub(super) fn wrote(&mut self, command: &str, paths: &Paths, cwd: Option<&str>) {
        let text = without_heredocs(command);
        let outside = |word: &&str| {
            word.starts_with(['/', '~'])
                && !is_program(word)
                && paths.place(word, cwd) == Place::Outside
        };
        let mut found: Vec<&str> = Vec::new();
        let mut moved: Option<&str> = None;
        for segment in segments(&text) {
            let words = words_of(segment);
            if let ["cd" | "pushd", dir, ..] = words.as_slice() {
                moved = Some(*dir).filter(outside);
                continue;
            }
            if segment_reads_only(segment) && !segment.contains('>') {
                continue;
            }
            let program = words.iter().map(|w| base_name(w)).find(|w| *w != "sudo");
            let knows = |program: &str| {
                COPIES.contains(&program)
                    || READERS.contains(&program)
                    || COPIERS.contains(&program)
            };
            let checks_out =
                program == Some("git") && words.iter().any(|w| ["checkout", "switch"].contains(w));
            if checks_out {
                continue;
            }
            let written = match program {
                Some(program) if knows(program) => targets(&words),
                _ => words.clone(),
            };
            let relative = written.iter().any(|w| !w.starts_with(['/', '~', '-']));
            found.extend(moved.filter(|_| relative));
            let packaged = |w: &&&str| packages_in(w).is_some();
            found.extend(written.iter().filter(|w| outside(w) || packaged(w)));
        }
        if text.len() < command.len() && WRITES.iter().any(|word| command.contains(word)) {
            found.extend(path_words(command).filter(outside));
        }
        for path in found {
            if self.paths.len() >= MAX_PATHS {
                self.all = true;
                return;
            }
            self.paths.insert(key(path));
        }
    }

    /// Whether a call may have put something else there, above or below.
    pub(super) fn path(&self, path: &str) -> bool {
        let path = key(path);
        let parts = || {
            path.char_indices()
                .filter(|(_, c)| *c == '/')
                .map(|(at, _)| at)
        };
        let above = parts().filter_map(|at| path.get(..at));
        let globbed = path
            .find(['*', '?', '[', '{'])
            .and_then(|at| path.get(..at));
        let below = globbed.map_or_else(|| format!("{path}/"), str::to_owned);
        let mut behind = self.paths.range(below.clone()..);
        self.all
            || self.paths.contains(&path)
            || above.into_iter().any(|above| self.paths.contains(above))
            || behind.next().is_some_and(|next| next.starts_with(&below))
    }
}

/// The words lead a fetch elsewhere than its address says.
pub(super) fn leads_elsewhere(words: &[&str]) -> bool {
    let fetches = |w: &&str| ["curl", "wget", "git", "aria2c"].contains(&base_name(w));
    let host = |w: &&str| w.to_lowercase().starts_with("host:");
    words.iter().any(fetches)
        && words.iter().any(|word| {
            let short = word.len() == 2;
            DETOURS.iter().any(|way| match way.len() {
                2 => word == way,
                _ => !short && word.to_lowercase().contains(way),
            }) || host(&word)
                || *word == "-e" && words.contains(&"wget")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn names_that_are_not_believed() {
        let mut paths = Paths::default();
        paths.start_in("/w/run");
        for (command, packages, path) in [
            ("pip install pacer==2.1", false, false),
            ("pip install -q pacer requests>=2", false, false),
            ("npm install --no-save @acme/pacer-kit@latest", false, false),
            ("pip install -e .", false, false),
            ("pip install -e /w/run[dev]", false, false),
            ("npm install ./packages/a", false, false),
            ("pip install git+https://named.example/pacer", false, false),
            ("cat /data/table.csv > a", false, false),
            ("cp /data/table.csv a.py", false, false),
            ("tar xzf /data/table.csv -C /tmp/v", false, false),
            ("pip install git+https://other.example/pacer", true, false),
            ("bash -lc \"npm install /mnt/pacer-kit\"", true, false),
            ("npm install pacer-kit@npm:@acme/other", true, false),
            ("npm install acme/pacer-kit", true, false),
            ("pip install --index-url https://a.example pacer", true, false),
            ("npm config set registry=http://a.example", true, false),
            ("scp -q ref:/gt/a.py /data/table.csv", false, true),
            ("base64 -d blob > /data/table.csv", false, true),
            ("cd /data && curl -so table.csv https://a.example/x", false, true),
            ("sh /tmp/x.sh /data/table.csv", false, true),
            ("cp -r old /data", false, true),
            ("python3 - <<'E'\nopen('/data/table.csv','w').write(x)\nE", false, true),
        ] {
            let mut diverted = Diverted::default();
            diverted.sources(command, |address| address.contains("named.example"), &paths, None);
            diverted.wrote(command, &paths, Some("/w/run"));
            assert_eq!((diverted.packages, diverted.path("/data/table.csv")), (packages, path), "{command}");
        }
        for (command, want) in [
            ("curl -fsSL https://a.example/x -o a", false),
            ("curl --connect-to ::b.example:443 https://a.example/x", true),
            ("curl --resolve a.example:443:10.0.0.1 https://a.example/x", true),
            ("curl -x b.example:80 https://a.example/x", true),
            ("curl -H Host:b.example https://a.example/x", true),
            ("tar -x a.tar", false),
        ] {
            assert_eq!(leads_elsewhere(&words_of(command)), want, "{command}");
        }
    }
}
