//! The task as rules see it: what is its own, and what lies after its base.

use std::sync::OnceLock;

use regex::Regex;

use super::git::dates::Day;
use super::git::version::Version;
use super::template::{Fact, Facts, MIN_SHA_DIGITS, Upstream};
use super::text::slice;
use crate::experiment::task_facts::{Forbidden, TaskFacts};

/// What is known of the task.
#[derive(Debug, Clone)]
pub struct Task {
    /// Facts as regular expressions.
    pub facts: Facts,
    /// Release that the agent starts from.
    pub base_version: Option<Version>,
    /// Which part of the history is the answer.
    pub forbidden: Forbidden,
    /// What the prompt allows, in words or as a command.
    pub allowed: Option<String>,
    /// Address that the prompt may name.
    pub requirement: Option<String>,
    base_day: Option<Day>,
    merged_day: Option<Day>,
    pull_request: Option<String>,
    gt: Option<String>,
    base: Option<String>,
    upstream: Option<Upstream>,
    own: OnceLock<Vec<OwnName>>,
    subject: OnceLock<Option<Regex>>,
}

/// A way to name the task's own pull request, issue or commit.
#[derive(Debug, Clone)]
struct OwnName {
    /// What every match holds, in any case of letters: few texts do, so that most runs compile nothing.
    needle: String,
    source: String,
    regex: OnceLock<Option<Regex>>,
    /// The match may stand behind `owner/name`, which must then be the task's.
    numbered: bool,
}

impl OwnName {
    fn regex(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| {
                regex::RegexBuilder::new(&self.source)
                    .case_insensitive(true)
                    .build()
                    .ok()
            })
            .as_ref()
    }
}

impl Task {
    /// Takes the facts of a task.
    pub fn new(facts: &TaskFacts) -> Self {
        let text = |field: &Option<String>| {
            field
                .as_deref()
                .map(str::trim)
                .filter(|t| !t.is_empty())
                .map(str::to_owned)
        };
        let usable = Facts::new(facts);
        let lower = |field: &Option<String>| text(field).map(|t| t.to_lowercase());
        let day = |field: &Option<String>| text(field).as_deref().and_then(Day::git);
        Self {
            base_version: text(&facts.base_version)
                .as_deref()
                .and_then(Version::parse),
            forbidden: facts.forbidden,
            allowed: text(&facts.allowed),
            requirement: text(&facts.requirement),
            base_day: day(&facts.base_date),
            merged_day: day(&facts.merged),
            pull_request: usable
                .has(Fact::Pr)
                .then(|| text(&facts.pull_request))
                .flatten(),
            gt: usable
                .has(Fact::GtSha)
                .then(|| lower(&facts.gt_commit))
                .flatten(),
            base: usable
                .has(Fact::BaseSha)
                .then(|| lower(&facts.base_commit))
                .flatten(),
            upstream: text(&facts.upstream).as_deref().and_then(Upstream::parse),
            own: OnceLock::new(),
            subject: OnceLock::new(),
            facts: usable,
        }
    }

    /// Name of the task's repository.
    pub fn repository_name(&self) -> Option<&str> {
        self.upstream.as_ref().map(|u| u.name.as_str())
    }

    /// True if the text names the task's own pull request or commit (not the issue).
    pub fn names_own_change(&self, text: &str) -> bool {
        let number = self.pull_request.as_deref().is_some_and(|pr| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| word == pr)
        });
        let commit = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| self.is_gt(word));
        number || commit
    }

    /// True for an abbreviation of the GT commit.
    pub fn is_gt(&self, id: &str) -> bool {
        abbreviates(self.gt.as_deref(), id)
    }

    /// True for a text in which the GT commit is printed: `commit 9ac4e17d…`, `From 9ac4e17d…` in a line of its own.
    pub fn shows_gt(&self, text: &str) -> bool {
        self.gt.is_some()
            && text.lines().any(|line| {
                let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t']);
                let id = line
                    .strip_prefix("commit ")
                    .or_else(|| line.strip_prefix("From "))
                    .and_then(|rest| rest.split_whitespace().next());
                id.is_some_and(|id| self.is_gt(id))
            })
    }

    /// True if the base commit is known.
    pub fn knows_base(&self) -> bool {
        self.base.is_some()
    }

    /// True for an abbreviation of the base commit.
    pub fn is_base(&self, id: &str) -> bool {
        abbreviates(self.base.as_deref(), id)
    }

    /// True for a local name such as `pr-308` or `pull/308`, if 308 is the task's pull request.
    pub fn pull_request_branch(&self, name: &str) -> bool {
        let Some(pr) = &self.pull_request else {
            return false;
        };
        let lower = name.to_lowercase();
        ["pr", "pull", "mr", "merge"]
            .iter()
            .any(|p| lower.contains(p))
            && lower
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|part| {
                    part.trim_start_matches(|c: char| c.is_ascii_alphabetic()) == pr.as_str()
                })
    }

    /// True if the address, or `owner/name`, is of the task's repository. `None` if the facts do
    /// not say which that is.
    pub fn is_target(&self, address: &str) -> Option<bool> {
        let upstream = self.upstream.as_ref()?;
        let (address, path) = (address.to_lowercase(), upstream.path().to_lowercase());
        // GitLab writes the path of a project with `%2F`.
        let address = address.replace("%2f", "/");
        // The client puts its own repository in their place.
        if ["{owner}/{repo}", ":owner/:repo"]
            .iter()
            .any(|p| address.contains(p))
        {
            return Some(true);
        }
        Some(address.match_indices(&path).any(|(at, _)| {
            let before = address.get(..at).and_then(|s| s.chars().next_back());
            let after = address
                .get(at + path.len()..)
                .and_then(|s| s.chars().next());
            let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            !before.is_some_and(inside) && !after.is_some_and(inside)
        }))
    }

    /// True if a commit of that day is later than the base; `None` if the facts do not say.
    pub fn is_later(&self, day: Day) -> Option<bool> {
        match (self.base_day, self.merged_day) {
            (Some(base), _) => Some(day > base),
            (None, Some(merged)) if day >= merged => Some(true),
            _ => None,
        }
    }

    /// True if the text names the task's own pull request, issue or commit: `#308`, `PR 308`,
    /// `pull/308`, `!308`, `merge_requests/308`, an abbreviation of the commit of seven digits or
    /// more. `#308` of another repository does not count.
    pub fn names_own(&self, text: &str) -> bool {
        let own = self.own.get_or_init(|| own_names(&self.facts));
        let text_lower = text.to_ascii_lowercase();
        own.iter()
            .filter(|own| text_lower.contains(&own.needle))
            .filter_map(|own| Some((own, own.regex()?)))
            .any(|(own, regex)| {
                regex
                    .find_iter(text)
                    .any(|hit| !own.numbered || !self.of_another_repository(text, hit.start()))
            })
    }

    /// True if the text holds the subject line of the GT commit.
    pub fn names_subject(&self, text: &str) -> bool {
        self.subject
            .get_or_init(|| {
                let source = self.facts.regex(Fact::GtSubject)?;
                Regex::new(&format!("(?i){source}")).ok()
            })
            .as_ref()
            .is_some_and(|regex| regex.is_match(text))
    }

    /// Looks at what stands before `#308` or `/pull/308`: another repository?
    fn of_another_repository(&self, text: &str, at: usize) -> bool {
        let before = slice(text, at.saturating_sub(120)..at);
        let path = before
            .rsplit(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '<' | '`'))
            .next()
            .unwrap_or_default()
            .trim_end_matches("/-")
            .trim_end_matches('/');
        let mut parts = path.rsplit('/');
        let (name, owner) = (parts.next(), parts.next());
        match (name, owner, &self.upstream) {
            (Some(name), Some(owner), Some(upstream)) if !name.is_empty() && !owner.is_empty() => {
                // A mirror has another owner and the same name.
                !name.eq_ignore_ascii_case(&upstream.name)
            }
            _ => false,
        }
    }
}

fn abbreviates(commit: Option<&str>, id: &str) -> bool {
    let id = id.to_lowercase();
    id.len() >= MIN_SHA_DIGITS
        && commit.is_some_and(|full| full.starts_with(&id) || id.starts_with(full))
}

fn own_names(facts: &Facts) -> Vec<OwnName> {
    let numbered = [Fact::Pr, Fact::Issue].into_iter().filter_map(|fact| {
        let number = facts.regex(fact)?;
        let words = match fact {
            Fact::Issue => r"issues?/|\bissue\s*\#?|\bgh-",
            _ => {
                r"pulls?/|merge_requests/|merge-requests/|pull-requests/|!
                  |\bPRs?\s*(?:no\.?|number)?\s*[\#!]?
                  |\bMR\s*[\#!]?|\bpull(?:\s|-)request\s*(?:no\.?|number)?\s*[\#!]?
                  |拉取请求\s*\#?|合并请求\s*[\#!]?"
            }
        };
        Some((
            format!(r"(?x)(?:\#|{words}){number}(?:[^0-9A-Za-z_]|$)"),
            literal(number),
            true,
        ))
    });
    let commit = facts.regex(Fact::GtSha);
    let commit = commit.map(|sha| (sha.to_owned(), literal(sha), false));
    numbered
        .chain(commit)
        .map(|(source, needle, numbered)| OwnName {
            needle: needle.to_owned(),
            source,
            regex: OnceLock::new(),
            numbered,
        })
        .collect()
}

/// The number itself in the expression of a number, the head of the commit in that of a commit: the longest
/// word. What else stands in them are single letters and digits.
fn literal(fact: &str) -> &str {
    let words = fact.split(|c: char| !c.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task::new(&TaskFacts {
            upstream: Some("https://forge.example/acme/widget".into()),
            pull_request: Some("48213".into()),
            issue: Some("481".into()),
            gt_commit: Some("9ac4e17d00".into()),
            base_date: Some("2031-03-02".into()),
            ..TaskFacts::default()
        })
    }

    #[test]
    fn own_names_in_all_their_forms() {
        let task = task();
        assert_eq!(
            own_names(&task.facts)
                .iter()
                .map(|own| own.needle.as_str())
                .collect::<Vec<_>>(),
            ["48213", "481", "9ac4e17"]
        );
        for (text, own) in [
            ("PR #48213", true),
            ("应用 PR #48213 的补丁", true),
            ("pull request 48213.", true),
            ("see !48213", true),
            ("https://forge.example/acme/widget/pull/48213.diff", true),
            ("https://mirror.example/other/widget/pulls/48213", true),
            ("https://forge.example/other/thing/pull/48213", false),
            ("other/thing#48213", false),
            ("acme/widget#48213", true),
            ("issue 481", true),
            ("commit 9ac4e17", true),
            ("9ac4e17d00ff", true),
            ("9AC4E17D", true),
            ("--accent: #48213f", false),
            ("#482130", false),
            ("48213 bytes", false),
            ("9ac4e1", false),
            ("", false),
        ] {
            assert_eq!(task.names_own(text), own, "{text}");
        }
    }

    #[test]
    fn the_target_repository() {
        let task = task();
        for (address, target) in [
            ("acme/widget", true),
            ("https://forge.example/acme/widget.git", true),
            ("repos/acme/widget/pulls/1", true),
            ("projects/acme%2Fwidget/x", true),
            ("acme/widget-tools", false),
            ("xacme/widget", false),
        ] {
            assert_eq!(task.is_target(address), Some(target), "{address}");
        }
        assert_eq!(Task::new(&TaskFacts::default()).is_target("a/b"), None);
    }

    #[test]
    fn later_means_after_the_day_of_the_base() {
        let task = task();
        let later = |d| task.is_later(Day::iso(d).unwrap());
        assert_eq!(later("2031-03-03"), Some(true));
        assert_eq!(later("2031-03-02"), Some(false));
    }

    #[test]
    fn branches_named_after_the_pull_request() {
        let task = task();
        for (name, own) in [
            ("pr-48213", true),
            ("pr48213", true),
            ("pull/48213/head", true),
            ("pr-482130", false),
            ("issue-48213", false),
        ] {
            assert_eq!(task.pull_request_branch(name), own, "{name}");
        }
    }
}
