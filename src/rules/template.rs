//! Placeholders for task facts in patterns: `{pr}`, `{gt_sha}`, `{repo}` …
//!
//! A placeholder stands for a regular expression that matches the fact in all its usual spellings:
//! `{gt_sha}` any abbreviation of at least seven digits, `{package}` with `-`, `_` and `.`
//! interchangeable, `{gt_subject}` with any white space. A rule that names a fact which the task
//! lacks is inactive there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::text::words;
use crate::experiment::task_facts::TaskFacts;

/// Digits of a commit id that count as naming it.
pub const MIN_SHA_DIGITS: usize = 7;

/// A fact that a pattern can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// Number of the task's pull request.
    Pr,
    /// Number of the issue that it solves.
    Issue,
    /// Commit that is the GT.
    GtSha,
    /// Commit that the agent starts from.
    BaseSha,
    /// Upstream repository as `owner/name`.
    Repo,
    /// Its owner.
    Owner,
    /// Its name.
    RepoName,
    /// Package under repair; the name of the repository if the facts name none.
    Package,
    /// Task id.
    Task,
    /// Subject line of the GT commit.
    GtSubject,
    /// Authors of the GT.
    GtAuthors,
    /// Release that the agent starts from.
    BaseVersion,
}

impl Fact {
    /// All facts with their names in patterns.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("pr", Self::Pr),
        ("issue", Self::Issue),
        ("gt_sha", Self::GtSha),
        ("base_sha", Self::BaseSha),
        ("repo", Self::Repo),
        ("owner", Self::Owner),
        ("repo_name", Self::RepoName),
        ("package", Self::Package),
        ("task", Self::Task),
        ("gt_subject", Self::GtSubject),
        ("gt_authors", Self::GtAuthors),
        ("base_version", Self::BaseVersion),
    ];

    /// The fact of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    /// Its name in patterns.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, f)| *f == self)
            .map_or("", |(n, _)| *n)
    }

    /// The column of the task facts that it is taken from.
    pub fn column(self) -> &'static str {
        match self {
            Self::Pr => "pull_request",
            Self::GtSha => "gt_commit",
            Self::BaseSha => "base_commit",
            Self::Repo | Self::Owner | Self::RepoName => "upstream",
            other => other.name(),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

/// Facts of one task, each as a regular expression.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    regexes: BTreeMap<Fact, String>,
}

impl Facts {
    /// Takes what is usable from the facts of a task.
    pub fn new(facts: &TaskFacts) -> Self {
        let mut regexes = BTreeMap::new();
        let mut put = |fact, regex: Option<String>| {
            if let Some(regex) = regex {
                regexes.insert(fact, format!("(?:{regex})"));
            }
        };
        let upstream = facts.upstream.as_deref().and_then(Upstream::parse);
        put(Fact::Pr, digits(facts.pull_request.as_deref()));
        put(Fact::Issue, digits(facts.issue.as_deref()));
        put(Fact::GtSha, sha(facts.gt_commit.as_deref()));
        put(Fact::BaseSha, sha(facts.base_commit.as_deref()));
        if let Some(upstream) = &upstream {
            put(Fact::Repo, Some(regex::escape(&upstream.path())));
            put(Fact::Owner, Some(owner_regex(&upstream.owner)));
            put(Fact::RepoName, Some(regex::escape(&upstream.name)));
        }
        let named = filled(facts.package.as_deref()).map(|name| vec![name.to_owned()]);
        let names = named.or_else(|| upstream.map(|upstream| upstream.packages()));
        let names = names.unwrap_or_default().into_iter();
        let packages: Vec<String> = names
            .filter(|name| name.len() >= MIN_PACKAGE_NAME)
            .map(|name| package_regex(&name))
            .collect();
        put(
            Fact::Package,
            (!packages.is_empty()).then(|| packages.join("|")),
        );
        put(Fact::Task, escaped(facts.task.as_deref()));
        put(
            Fact::GtSubject,
            subject_regex(facts.gt_subject.as_deref(), facts.pull_request.as_deref()),
        );
        put(Fact::GtAuthors, authors_regex(facts.gt_authors.as_deref()));
        put(Fact::BaseVersion, escaped(facts.base_version.as_deref()));
        Self { regexes }
    }

    /// True if the task has the fact.
    pub fn has(&self, fact: Fact) -> bool {
        self.regexes.contains_key(&fact)
    }

    /// The fact as a regular expression, in a group.
    pub fn regex(&self, fact: Fact) -> Option<&str> {
        self.regexes.get(&fact).map(String::as_str)
    }
}

/// Shorter package names are too common to be told from other words.
const MIN_PACKAGE_NAME: usize = 3;

/// A subject of fewer words is too common to be told from chance.
const MIN_SUBJECT_WORDS: usize = 3;

/// The parts of a repository address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Owner, with sub-groups (`group/sub`).
    pub owner: String,
    /// Name without `.git`.
    pub name: String,
}

impl Upstream {
    /// Takes `https://host/owner/name(.git)`, `git@host:owner/name` or `owner/name` apart.
    pub fn parse(address: &str) -> Option<Self> {
        let address = address.trim().trim_end_matches('/');
        let address = address.strip_suffix(".git").unwrap_or(address);
        let path = match address.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
            None => address.split_once(':').map_or(address, |(_, path)| path),
        };
        let (owner, name) = path.rsplit_once('/')?;
        let ok = |s: &str| !s.is_empty() && !s.contains(char::is_whitespace);
        (ok(owner) && ok(name)).then(|| Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// `owner/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// What its package is called as a rule: like the repository, or with the owner before it (`acme/widget`,
    /// `acme-labs/widget`: `acme-widget`).
    fn packages(&self) -> Vec<String> {
        let owner = self.owner.rsplit('/').next().unwrap_or(&self.owner);
        let first = owner.split(['-', '_', '.']).next().unwrap_or(owner);
        let mut names = vec![self.name.clone(), format!("{owner}-{}", self.name)];
        if first != owner {
            names.push(format!("{first}-{}", self.name));
        }
        names
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|t| !t.is_empty())
}

fn escaped(text: Option<&str>) -> Option<String> {
    filled(text).map(regex::escape)
}

fn digits(number: Option<&str>) -> Option<String> {
    let number = filled(number)?.trim_start_matches(['#', '!']);
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| number.to_owned())
}

fn sha(commit: Option<&str>) -> Option<String> {
    let commit = filled(commit)?;
    let hex = commit.bytes().all(|b| b.is_ascii_hexdigit());
    let head: String = commit.chars().take(MIN_SHA_DIGITS).collect();
    (hex && head.len() == MIN_SHA_DIGITS)
        .then(|| format!(r"(?-u:\b){}[0-9a-f]{{0,33}}(?-u:\b)", head.to_lowercase()))
}

/// An owner; where some signs are not allowed (in names of images), they are left out.
fn owner_regex(owner: &str) -> String {
    let pieces = owner.split_inclusive(['-', '_', '.']);
    let piece = |piece: &str| {
        let bare = piece.trim_end_matches(['-', '_', '.']);
        let sign = regex::escape(piece.get(bare.len()..).unwrap_or_default());
        let sign = if sign.is_empty() || bare.is_empty() {
            sign
        } else {
            format!("(?:{sign})?")
        };
        regex::escape(bare) + &sign
    };
    pieces.map(piece).collect()
}

fn package_regex(name: &str) -> String {
    let mut out = String::new();
    for piece in name.split_inclusive(['-', '_', '.']) {
        let bare = piece.trim_end_matches(['-', '_', '.']);
        out.push_str(&regex::escape(bare));
        if bare.len() < piece.len() {
            out.push_str("[-_.]");
        }
    }
    out
}

/// The subject without the `(#N)` that forges append.
fn subject_regex(subject: Option<&str>, pr: Option<&str>) -> Option<String> {
    let subject = filled(subject)?;
    let tail = pr.map(|pr| format!("(#{})", pr.trim_start_matches('#')));
    let subject = tail.map_or(subject, |t| subject.trim_end_matches(t.as_str()).trim_end());
    let words: Vec<String> = words(subject).map(regex::escape).collect();
    (words.len() >= MIN_SUBJECT_WORDS || subject.chars().count() >= 16)
        .then(|| words.join(r"[ \t\r\n]+"))
}

fn authors_regex(authors: Option<&str>) -> Option<String> {
    let names: Vec<String> = filled(authors)?
        .split(';')
        .filter_map(|name| {
            let name = name.split('<').next().unwrap_or(name).trim();
            // A lone first name says nothing.
            (words(name).count() >= 2).then(|| {
                words(name)
                    .map(regex::escape)
                    .collect::<Vec<_>>()
                    .join("[ \t]+")
            })
        })
        .collect();
    (!names.is_empty()).then(|| names.join("|"))
}

/// The facts that a pattern names, and the byte ranges of placeholders that name no fact.
pub fn placeholders(pattern: &str) -> (BTreeSet<Fact>, Vec<std::ops::Range<usize>>) {
    let mut facts = BTreeSet::new();
    let mut unknown = Vec::new();
    for (range, name) in braces(pattern) {
        match Fact::named(name) {
            Some(fact) => {
                facts.insert(fact);
            }
            None => unknown.push(range),
        }
    }
    (facts, unknown)
}

/// Replaces the placeholders by the facts; those that are missing stay.
pub fn expand(pattern: &str, facts: &Facts) -> String {
    replace(pattern, |fact| facts.regex(fact).map(str::to_owned))
}

/// Replaces each placeholder by letters of the same length, so that offsets stay the same and the
/// pattern can be checked before there are facts.
pub fn neutral(pattern: &str) -> String {
    replace(pattern, |fact| Some("x".repeat(fact.name().len() + 2)))
}

/// The pattern with each placeholder replaced by one that matches any text; `None` if there are no
/// placeholders.
pub fn opaque(pattern: &str) -> Option<String> {
    (!placeholders(pattern).0.is_empty()).then(|| replace(pattern, |_| Some("(?s:.+)".to_owned())))
}

/// The pattern for a tool that knows no facts: each placeholder stands for anything of its shape.
pub fn general(pattern: &str) -> String {
    replace(pattern, |fact| {
        let shape = match fact {
            Fact::Pr | Fact::Issue => "[0-9]+",
            Fact::GtSha | Fact::BaseSha => "[0-9a-f]{7,40}",
            Fact::Repo => r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+",
            Fact::BaseVersion => r"[0-9]+(?:\.[0-9]+)+",
            Fact::GtSubject | Fact::GtAuthors => r"[^\n]+",
            Fact::Owner | Fact::RepoName | Fact::Package | Fact::Task => r"[A-Za-z0-9._-]+",
        };
        Some(shape.to_owned())
    })
}

fn replace(pattern: &str, with: impl Fn(Fact) -> Option<String>) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut done = 0;
    for (range, name) in braces(pattern) {
        if let Some(text) = Fact::named(name).and_then(&with) {
            out.push_str(pattern.get(done..range.start).unwrap_or_default());
            out.push_str(&text);
            done = range.end;
        }
    }
    out.push_str(pattern.get(done..).unwrap_or_default());
    out
}

/// `{name}` groups of letters and underscores. Repetitions (`{2,5}`), escaped braces and Unicode
/// classes (`\p{Han}`) are none.
fn braces(pattern: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let mut found = Vec::new();
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'{', bytes.get(at..).unwrap_or_default()) {
        let open = at + open;
        at = open + 1;
        let rest = pattern.get(at..).unwrap_or_default();
        let Some(close) = rest.find('}') else { break };
        let name = rest.get(..close).unwrap_or_default();
        let named = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            && name.bytes().any(|b| b.is_ascii_lowercase());
        let before = pattern.get(..open).unwrap_or_default();
        let class = [r"\p", r"\P", r"\x", r"\u", r"\b", r"\"]
            .iter()
            .any(|escape| before.ends_with(escape));
        if named && !class {
            found.push((open..at + close + 1, name));
            at += close + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts::new(&TaskFacts {
            upstream: Some("https://forge.example/acme/widget.git".into()),
            pull_request: Some("#308".into()),
            gt_commit: Some("9AC4E17d".into()),
            base_commit: Some("3f1c2".into()),
            gt_subject: Some("Fix  negative width (#308)".into()),
            gt_authors: Some("Ann Example <a@b>; Bo".into()),
            ..TaskFacts::default()
        })
    }

    #[test]
    fn a_fact_stands_for_all_its_spellings() {
        let facts = facts();
        for (pattern, hit, miss) in [
            (r"#{pr}(?-u:\b)", "see #308.", "see #3081"),
            ("^{gt_sha}$", "9ac4e17", "9ac4e1"),
            ("^{gt_sha}$", "9ac4e17dd00d", "9ac4e27d"),
            ("/{repo}/", "x/acme/widget/y", "x/acme/gadget/y"),
            (
                "^{gt_subject}$",
                "Fix negative\twidth",
                "Fix negative width x",
            ),
            ("^{gt_authors}$", "Ann Example", "Bo"),
            ("^{package}$", "widget", "wodget"),
        ] {
            let regex = regex::Regex::new(&expand(pattern, &facts)).unwrap();
            assert!(regex.is_match(hit), "{regex} should match {hit:?}");
            assert!(!regex.is_match(miss), "{regex} should not match {miss:?}");
        }
    }

    #[test]
    fn a_short_commit_is_no_fact() {
        assert!(!facts().has(Fact::BaseSha));
        assert!(!facts().has(Fact::Issue));
    }

    #[test]
    fn names_of_a_repository_elsewhere() {
        let facts = Facts::new(&TaskFacts {
            upstream: Some("https://github.com/acme-labs/widget".into()),
            ..TaskFacts::default()
        });
        let whole = |fact| {
            let regex = format!("^{}$", facts.regex(fact).unwrap());
            regex::Regex::new(&regex).unwrap()
        };
        for (fact, name, expected) in [
            (Fact::Owner, "acme-labs", true),
            (Fact::Owner, "acmelabs", true),
            (Fact::Owner, "acme", false),
            (Fact::Package, "widget", true),
            (Fact::Package, "acme_widget", true),
            (Fact::Package, "acme-labs-widget", true),
            (Fact::Package, "acme-labs", false),
            (Fact::Package, "other-widget", false),
        ] {
            assert_eq!(whole(fact).is_match(name), expected, "{name}");
        }
    }

    #[test]
    fn package_separators_are_interchangeable() {
        let regex = regex::Regex::new(&format!("^{}$", package_regex("acme-widget.x"))).unwrap();
        assert!(regex.is_match("acme_widget-x"));
        assert!(!regex.is_match("acmewidgetx"));
    }

    #[test]
    fn only_names_in_braces_are_placeholders() {
        let (facts, unknown) = placeholders(r"\p{han}a{2,5}\{pr\}{pr}{prr}");
        assert_eq!(facts.into_iter().collect::<Vec<_>>(), [Fact::Pr]);
        assert_eq!(unknown.len(), 1);
        assert_eq!(neutral("a{pr}b"), "axxxxb");
    }

    #[test]
    fn repository_addresses() {
        for (address, path) in [
            ("https://h.example/a/b/", Some("a/b")),
            ("git@h.example:a/b.git", Some("a/b")),
            ("https://h.example/g/s/n", Some("g/s/n")),
            ("a/b", Some("a/b")),
            ("https://h.example", None),
            ("", None),
        ] {
            let got = Upstream::parse(address).map(|u| u.path());
            assert_eq!(got.as_deref(), path, "{address}");
        }
    }
}
