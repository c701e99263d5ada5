//! Whether all that a call takes from elsewhere is named by the prompt: see `given` for what that means.

use super::cutting::{shell_words, statements, without_heredocs};
use super::diverted::{installed, leads_elsewhere, packages_in, plain_package, targets};
use super::given::{Given, MAX_COMMAND, MIN_NAME, address, repository, without_scheme};
use super::imports::TEMPORARY;
use super::paths::{Paths, Place, base_name};
use super::programs::DOWNLOADERS;
use super::scope::is_program;
use super::temporary::is_temporary;
use crate::similarity::normalise::bare;

/// Targets of calls that are remembered.
const MAX_MADE: usize = 256;

/// Programs that take something from where no word says.
const RUNS: [&str; 16] = [
    "ssh", "scp", "nc", "rsync", "docker", "podman", "kubectl", "gh", "glab", "eval", "sh",
    "python", "python3", "node", "perl", "ruby",
];

/// All words that a script may have which fetches one address and prints or saves what stands there.
const PLAIN: [&str; 25] = [
    "python",
    "python3",
    "import",
    "from",
    "as",
    "with",
    "urllib",
    "request",
    "requests",
    "u",
    "r",
    "f",
    "urlretrieve",
    "urlopen",
    "get",
    "read",
    "text",
    "content",
    "decode",
    "print",
    "open",
    "write",
    "sys",
    "stdout",
    "buffer",
];

/// How names of archives end.
const ARCHIVES: [&str; 5] = [".tgz", ".tar.gz", ".tar", ".zip", ".tar.xz"];

/// What a call takes and makes, so far.
#[derive(Default)]
struct Taking<'w> {
    /// Something of it is named.
    named: bool,
    /// What it puts where.
    targets: Vec<&'w str>,
    /// Names of packages and repositories that it takes.
    names: Vec<String>,
    /// It takes a file that may hold others.
    archive: bool,
    /// A directory of many things that it works in.
    root: Option<&'w str>,
}

impl Given {
    /// Whether all that a call takes from elsewhere is named by the prompt, and something is. Remembers where it puts it.
    pub(super) fn takes(&mut self, text: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if self.prompt.is_empty()
            || text.len() > MAX_COMMAND
            || text.contains(['$', '`'])
            || without_heredocs(text).len() < text.len()
        {
            return false;
        }
        let statements = statements(text);
        let mut taking = Taking::default();
        for statement in &statements {
            if self.statement(statement, &mut taking, paths, cwd).is_none() {
                return false;
            }
        }
        if taking.named {
            self.remember(&taking);
        }
        taking.named
    }

    /// One pipeline of a command; `None` when it takes something that the prompt does not name.
    fn statement<'w>(
        &self,
        statement: &'w str,
        taking: &mut Taking<'w>,
        paths: &Paths,
        cwd: Option<&str>,
    ) -> Option<()> {
        let words: Vec<&str> = shell_words(statement).collect();
        let outside = |word: &&&str| {
            word.contains(['/', '~'])
                && !is_program(word)
                && paths.place(word, cwd) == Place::Outside
        };
        if words.iter().any(|word| word.contains("..")) || leads_elsewhere(&words) {
            return None;
        }
        if let ["cd", dir] = words.as_slice()
            && is_root(dir)
        {
            taking.root = Some(dir);
            return Some(());
        }
        let before = taking.named;
        let mut written = targets(&words);
        let cloned = self.clones(&words, taking)?;
        let runs = |word: &&str| RUNS.contains(&base_name(word));
        if !cloned && words.iter().any(runs) && !is_plain_fetch(statement) {
            return None;
        }
        written.extend(clone_target(&words));
        self.packages(&words, &written, taking)?;
        if taking.root.is_some() && !self.stays(&words, taking) {
            return None;
        }
        let mut made = written.iter().filter(outside);
        if made.any(|word| self.names_path(word, paths)) {
            return None;
        }
        // Their arguments are addresses, with or without scheme.
        let fetches = words
            .iter()
            .any(|word| DOWNLOADERS.contains(&base_name(word)));
        for word in &words {
            self.word(word, fetches, &written, taking, paths, cwd)?;
        }
        // What this command puts somewhere that it does not take from what is named.
        let made = written.iter().filter(outside);
        let blind = made.clone().next().is_some() && taking.named == before && !before;
        taking.targets.extend(made.copied());
        (!blind).then_some(())
    }

    /// One word of a pipeline.
    fn word<'w>(
        &self,
        word: &'w str,
        fetches: bool,
        written: &[&'w str],
        taking: &mut Taking<'w>,
        paths: &Paths,
        cwd: Option<&str>,
    ) -> Option<()> {
        let is_target = written.contains(&word);
        let bare_address = || without_scheme(word).filter(|_| fetches && !is_target);
        if let Some(address) = address(word).or_else(bare_address) {
            if !self.names_address(address) {
                return None;
            }
            taking.named = true;
            taking
                .names
                .extend(repository(address).map(|(_, name)| name.to_owned()));
        } else if let Some(package) = package(word).filter(|_| !is_target) {
            let believed = !self.diverted.packages && !self.diverted.path(word);
            if !believed || !self.names_package(package) {
                return None;
            }
            taking.named = true;
        } else if word.contains("=/") || word.contains("@/") || word.starts_with("git@") {
            return None;
        } else if word.contains(['/', '~'])
            && !is_program(word)
            && !is_target
            && paths.place(word, cwd) == Place::Outside
        {
            let known = || self.names_path(word, paths) || self.was_made(word);
            if known() && !self.diverted.path(word) {
                taking.named = true;
                taking.archive |= ARCHIVES.iter().any(|end| word.ends_with(end));
            } else if !taking
                .targets
                .iter()
                .chain(written)
                .any(|t| is_below(word, t))
            {
                // What this command makes itself is named by nobody, and taken from nowhere else.
                return None;
            }
        }
        Some(())
    }

    /// What calls made of what the prompt names.
    fn was_made(&self, word: &str) -> bool {
        let begins = |begin: &String| {
            word.strip_prefix(begin.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '/']))
        };
        // The prompt names the file out of an archive.
        let unpacked = |root: &String| {
            let file = word.strip_prefix(root.as_str());
            let file = file.and_then(|file| file.strip_prefix('/'));
            file.is_some_and(|file| shell_words(&self.prompt).any(|word| word == file))
        };
        self.made.iter().any(|made| is_below(word, made))
            || self.begun.iter().any(begins)
            || self.unpacked.iter().any(unpacked)
    }

    /// Whether the words clone a repository by its name; `None` when the prompt does not name it.
    fn clones(&self, words: &[&str], taking: &mut Taking<'_>) -> Option<bool> {
        let rest = match words {
            ["gh", "repo", "clone", rest @ ..] => rest,
            ["npx", "degit" | "tiged", rest @ ..]
            | ["npx", "-y" | "--yes", "degit" | "tiged", rest @ ..] => rest,
            _ => return Some(false),
        };
        let what = rest.iter().find(|word| !word.starts_with('-'))?;
        let mut parts = what.split(['/', '#']);
        let (owner, name) = (parts.next()?, parts.next()?);
        if what.contains(':') || !self.names_repository(owner, name) {
            return None;
        }
        taking.named = true;
        taking.names.push(name.to_owned());
        Some(true)
    }

    /// Packages that are saved somewhere: all have to be named.
    fn packages(&self, words: &[&str], written: &[&str], taking: &mut Taking<'_>) -> Option<()> {
        let Some(packages) = installed(words) else {
            return Some(());
        };
        let saves = words.iter().any(|w| ["download", "pack"].contains(w)) || !written.is_empty();
        if !saves || packages.is_empty() {
            return Some(());
        }
        for word in packages {
            let name = plain_package(word)?;
            if self.diverted.packages || !self.names_package(name) {
                return None;
            }
            taking.named = true;
            taking
                .names
                .push(name.rsplit('/').next().unwrap_or(name).to_owned());
            if words.contains(&"npm") {
                taking.names.push("package".to_owned());
            }
        }
        Some(())
    }

    /// In a directory of many things, only what bears the name of what was taken is touched.
    fn stays(&self, words: &[&str], taking: &Taking<'_>) -> bool {
        let taken = |word: &str| {
            let word = bare(word);
            taking
                .names
                .iter()
                .any(|name| word.starts_with(&bare(name)))
        };
        let verbs = [
            "clone", "repo", "pack", "download", "install", "degit", "tiged",
        ];
        words.iter().skip(1).all(|word| {
            let options = word.len() < 5 && word.chars().all(|c| "xzfvjJtq".contains(c));
            let harmless = word.starts_with('-') || verbs.contains(word) || options;
            harmless || address(word).is_some() || taken(word)
        })
    }

    fn remember(&mut self, taking: &Taking<'_>) {
        if self.made.len() + self.begun.len() >= MAX_MADE {
            return;
        }
        let roots = taking
            .targets
            .iter()
            .filter(|target| is_root(target))
            .chain(&taking.root);
        for root in roots {
            let root = root.trim_end_matches('/');
            let names = taking.names.iter().filter(|name| name.len() >= MIN_NAME);
            self.begun
                .extend(names.map(|name| format!("{root}/{name}")));
            self.unpacked
                .extend(taking.archive.then(|| root.to_owned()));
        }
        let targets = taking.targets.iter().filter(|target| !is_root(target));
        self.made
            .extend(targets.map(|target| target.trim_end_matches('/').to_owned()));
    }
}

/// A directory in which anything may lie.
fn is_root(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let temporary = TEMPORARY
        .iter()
        .any(|root| root.trim_end_matches('/') == path);
    temporary || path.matches('/').count() < 2 && !is_temporary(path)
}

fn is_below(word: &str, dir: &str) -> bool {
    let rest = word.strip_prefix(dir.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where to a repository is cloned.
fn clone_target<'w>(words: &[&'w str]) -> Option<&'w str> {
    let clones = |word: &&str| ["clone", "degit", "tiged"].contains(word);
    let at = words.iter().position(clones)?;
    let mut plain = words
        .get(at + 1..)?
        .iter()
        .filter(|word| !word.starts_with('-'));
    let source = |word: &&str| address(word).is_some() || word.contains('/');
    plain.find(|word| source(word))?;
    plain.next().copied()
}

/// `python -c` that fetches an address and does nothing else.
fn is_plain_fetch(statement: &str) -> bool {
    let Some((head, script)) = statement.split_once(" -c ") else {
        return false;
    };
    let mut outside = String::new();
    let mut quote = None;
    let script = script.trim().trim_matches('"');
    for c in script.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => outside.push(c),
            _ => {}
        }
    }
    let words = outside.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut words = words.filter(|word| !word.is_empty());
    ["python", "python3"].contains(&head.trim())
        && statement.contains("://")
        && !script.contains('\\')
        && words.all(|word| PLAIN.contains(&word))
}

/// The package whose directory a path goes through.
fn package(word: &str) -> Option<&str> {
    let (_, rest) = packages_in(word)?.split_once('/')?;
    let mut parts = rest.split('/').filter(|p| !p.starts_with('@'));
    // What stands in the directory itself is of nobody.
    let name = parts.next()?;
    parts.next().map(|_| name)
}
