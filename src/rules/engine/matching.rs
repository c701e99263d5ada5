//! Tries the patterns of a rule on a text or on a step of a call.

use std::ops::Range;

use super::steps::Step;
use crate::rules::flow::Use;
use crate::rules::git::version::Version;
use crate::rules::index::Marks;
use crate::rules::pattern::{Pattern, PatternKind};
use crate::rules::rule::{Body, Unit};
use crate::rules::task::Task;
use crate::rules::text::clause::{around as clause, clauses};
use crate::rules::text::segment::around;
use crate::rules::text::slice;

/// Hits of one rule in one text that are looked at. More than this many that are all waived, such
/// as quotations from the prompt, are enough to stop; the engine notes that it stopped.
pub(super) const MAX_HITS: usize = 1_000;

/// What patterns are tried on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'s> {
    /// The text.
    pub text: &'s str,
    /// The step, for calls that were taken apart.
    pub step: Option<&'s Step>,
}

/// A place where a rule matches.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    /// What matched.
    pub range: Range<usize>,
    /// The sentence, line or step around it.
    pub piece: Range<usize>,
    /// The saved content that a `flow` pattern found in use.
    pub used: Option<Use>,
}

/// Calls `visit` for each place where the rule matches until it says `true`. Returns false if it
/// gave up after [`MAX_HITS`].
pub(super) fn each_hit(
    body: &Body,
    unit: Unit,
    subject: Subject,
    task: &Task,
    marks: &Marks,
    mut visit: impl FnMut(Hit) -> bool,
) -> bool {
    if !marks.can_match(body) {
        return true;
    }
    if subject.step.is_some() || unit == Unit::Text {
        if let Some(hit) = whole(body, subject, task, marks) {
            visit(hit);
        }
        return true;
    }
    let first = body.all.get(..1).unwrap_or_default();
    let leading = if body.any.is_empty() {
        first
    } else {
        &body.any
    };
    let by_clause = !body.none_in_clause.is_empty() || !body.none_before.is_empty();
    let mut looked = 0;
    for pattern in leading.iter().filter(|p| marks.possible(p)) {
        let mut from = 0;
        while let Some(range) = find(pattern, subject, task, from) {
            if looked == MAX_HITS {
                return false;
            }
            looked += 1;
            from = range.end.max(range.start + 1);
            let piece = around(subject.text, &range, unit);
            let inner = Subject {
                text: slice(subject.text, piece.clone()),
                step: None,
            };
            let hit = |p: &Pattern| find(p, inner, task, 0).is_some();
            let lead = range.start - piece.start..range.end - piece.start;
            if body.all.iter().all(hit)
                && !body.none.iter().any(hit)
                && (!by_clause || stated(body, inner, lead, question(subject.text, &piece), task))
            {
                let found = Hit {
                    range,
                    piece,
                    used: None,
                };
                if visit(found) {
                    return true;
                }
            }
        }
    }
    true
}

/// Where the statement of a hit begins: the last hit of a pattern of `all` that stands in front of it in its piece.
pub(super) fn statement(body: &Body, text: &str, hit: &Hit, task: &Task) -> Range<usize> {
    let piece = Subject {
        text: slice(text, hit.piece.clone()),
        step: None,
    };
    let lead = hit.range.start.saturating_sub(hit.piece.start);
    let mut begins = hit.range.clone();
    for pattern in &body.all {
        let mut from = 0;
        for _ in 0..MAX_HITS {
            let Some(range) = find(pattern, piece, task, from).filter(|r| r.start <= lead) else {
                break;
            };
            from = range.end.max(range.start + 1);
            begins = hit.piece.start + range.start..hit.piece.start + range.end;
        }
    }
    begins
}

/// True if the clauses that the hits stand in state something: the leading hit's own, and for each
/// pattern of `all` that of one of its hits. Guards of one clause say nothing of another.
fn stated(body: &Body, sentence: Subject, lead: Range<usize>, question: bool, task: &Task) -> bool {
    if question {
        return false;
    }
    let starts = clauses(sentence.text);
    let guarded = |patterns: &[Pattern], range: Range<usize>| {
        let part = Subject {
            text: slice(sentence.text, range),
            step: None,
        };
        patterns.iter().any(|p| find(p, part, task, 0).is_some())
    };
    let own = clause(&starts, &lead, sentence.text.len());
    // How far the statement of the leading clause goes.
    let mut reach = lead.end;
    for pattern in &body.all {
        let mut hits = Vec::new();
        let mut from = 0;
        while let Some(range) = find(pattern, sentence, task, from) {
            from = range.end.max(range.start + 1);
            hits.push(range);
            if hits.len() == MAX_HITS {
                break;
            }
        }
        if let Some(near) = hits.iter().find(|hit| own.contains(&hit.start)) {
            reach = reach.max(near.end);
            continue;
        }
        let elsewhere = |hit: &Range<usize>| {
            let whole = clause(&starts, hit, sentence.text.len());
            !guarded(&body.none_in_clause, whole.clone()) && !guarded(&body.none_before, whole)
        };
        if !hits.iter().any(elsewhere) {
            return false;
        }
    }
    let before = own.start..reach.max(own.start);
    !guarded(&body.none_in_clause, own) && !guarded(&body.none_before, before)
}

/// True if the sentence ends in a question mark.
fn question(text: &str, sentence: &Range<usize>) -> bool {
    slice(text, sentence.end..text.len()).starts_with('?')
        || slice(text, sentence.clone())
            .trim_end()
            .ends_with(['?', '？'])
}

/// A step is one piece.
fn whole(body: &Body, subject: Subject, task: &Task, marks: &Marks) -> Option<Hit> {
    let tried = |p: &Pattern| {
        marks
            .possible(p)
            .then(|| find(p, subject, task, 0))
            .flatten()
    };
    let any = body.any.iter().find_map(|p| Some((tried(p)?, p)));
    let all: Option<Vec<(Range<usize>, &Pattern)>> =
        body.all.iter().map(|p| Some((tried(p)?, p))).collect();
    let all = all?;
    let (range, _) = match any {
        Some(hit) => hit,
        None if body.any.is_empty() => all.first().cloned()?,
        None => return None,
    };
    // What rules a hit out may stand anywhere in the step.
    let anywhere = |p: &Pattern| match &p.kind {
        PatternKind::Text(regexp) => regexp.is_match(subject.text),
        _ => find(p, subject, task, 0).is_some(),
    };
    let mut none = body.none.iter().chain(&body.none_in_clause);
    if none.any(anywhere) || body.none_before.iter().any(anywhere) {
        return None;
    }
    let used = body.hitting().find_map(|p| flow(p, subject.step?)).cloned();
    Some(Hit {
        range,
        piece: 0..subject.text.len(),
        used,
    })
}

/// True if the pattern matches anywhere.
pub(super) fn fits(pattern: &Pattern, subject: Subject, task: &Task) -> bool {
    find(pattern, subject, task, 0).is_some()
}

/// The first match of a pattern at or after an offset.
fn find(pattern: &Pattern, subject: Subject, task: &Task, from: usize) -> Option<Range<usize>> {
    let everything = 0..subject.text.len();
    let newer = |text: &str| !pattern.newer || is_newer(text, task);
    match &pattern.kind {
        // Words that a program prints, searches or records are no call.
        PatternKind::Text(_) if subject.step.is_some_and(|step| step.data) => None,
        PatternKind::Text(regexp) => {
            let mut from = from;
            loop {
                let range = regexp.find_at(subject.text, from)?;
                let of_call = subject.step.is_some() && pattern.newer;
                let word = word_around(subject.text, &range);
                let told = of_call && revision_of(subject.text, task).is_some();
                if newer(if told { subject.text } else { word }) {
                    return Some(range);
                }
                from = range.end.max(range.start + 1);
            }
        }
        PatternKind::Fetch(regexp) => {
            let address = subject
                .step?
                .io
                .fetches
                .iter()
                .find(|a| regexp.is_match_short(a) && newer(a))?;
            Some(position(subject.text, address).unwrap_or(everything))
        }
        PatternKind::File(regexp, access) => {
            let file = subject.step?.io.files.iter().find(|f| {
                access.contains(&f.access) && regexp.is_match_short(&f.path) && newer(&f.path)
            })?;
            Some(position(subject.text, &file.path).unwrap_or(everything))
        }
        PatternKind::Command(command) => {
            let invocation = subject.step?.invocation.as_ref()?;
            let target = |repo: &str| task.is_target(repo).unwrap_or(true);
            (command.fits(invocation, target) && newer(subject.text)).then_some(everything)
        }
        PatternKind::Git(git) => {
            let call = subject.step?.git.as_ref()?;
            git.fits(call).then_some(everything)
        }
        PatternKind::Flow(..) => flow(pattern, subject.step?).map(|_| everything),
        PatternKind::Is(_) => None,
    }
}

fn flow<'s>(pattern: &Pattern, step: &'s Step) -> Option<&'s Use> {
    let PatternKind::Flow(kind, from) = &pattern.kind else {
        return None;
    };
    step.flow.iter().find(|used| {
        used.kind == *kind && (from.is_empty() || from.iter().any(|g| g.is_match(&used.saved.rule)))
    })
}

fn position(text: &str, part: &str) -> Option<Range<usize>> {
    let start = text.find(part)?;
    Some(start..start + part.len())
}

/// The match with the rest of the word that it ends in: `widget==4.2` for a match of `widget`.
fn word_around<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let end = text
        .get(range.end..)
        .and_then(|rest| rest.find(|c: char| c.is_whitespace() || c == '"' || c == '\''))
        .map_or(text.len(), |length| range.end + length);
    slice(text, range.start..end)
}

/// True unless every release that the text names is no later than the base.
fn is_newer(text: &str, task: &Task) -> bool {
    let Some(base) = &task.base_version else {
        return true;
    };
    if let Some(revision) = revision_of(text, task) {
        return !is_old_release(revision, base);
    }
    let mut named = Version::all(text).peekable();
    named.peek().is_none() || is_open(text) || named.any(|version| version > *base)
}

/// The revision at which a forge is asked for a file: by an address, by its API, by a tool; empty for the default
/// branch. `None` if nothing of that kind is asked.
fn revision_of<'t>(text: &'t str, task: &Task) -> Option<&'t str> {
    const ENDS: [char; 9] = ['&', '#', '"', '\'', ' ', '\n', '\t', ',', '}'];
    let keyed = ["\"ref\"", "\nref:"]
        .iter()
        .find_map(|key| text.split_once(key))
        .map(|(_, rest)| rest)
        .or_else(|| text.strip_prefix("ref:"));
    if let Some(rest) = keyed {
        return rest
            .trim_start_matches([':', ' ', '"'])
            .split(&ENDS[..])
            .next();
    }
    if text.contains("/contents/") || text.contains("/repository/files/") {
        let Some((_, rest)) = ["?ref=", "&ref=", " ref="]
            .iter()
            .find_map(|key| text.split_once(key))
        else {
            return Some("");
        };
        return rest.split(&ENDS[..]).next();
    }
    let raw = text
        .split_once("githubusercontent.com/")
        .and_then(|(_, path)| path.splitn(3, '/').nth(2));
    let viewed = || {
        ["/blob/", "/raw/", "/plain/"]
            .iter()
            .find_map(|part| text.split_once(part))
            .map(|(_, rest)| rest)
    };
    if let Some(rest) = raw.or_else(viewed) {
        let tag = rest.strip_prefix("refs/tags/").unwrap_or(rest);
        return tag.split(&['/', '?', '#', ' '][..]).next();
    }
    if !text.contains("://") {
        return None;
    }
    if let Some((_, rest)) = text.split_once("/gh/") {
        return match rest.split_once('@') {
            Some((_, rest)) => rest.split(&['/', '?', '#', ' '][..]).next(),
            None => Some(""),
        };
    }
    // Anything else in the repository is at no revision that can be read, unless it is a release as a whole.
    let release = [
        "archive", "tarball", "zipball", "releases", "download", "codeload", "/get/", "/zip/",
        "tar.gz", "/-/", "@",
    ];
    let whole = release.iter().any(|part| text.contains(part));
    (!whole && task.is_target(text) == Some(true)).then_some("")
}

/// True for a tag of the base's release or an older one: all its numbers are given, since `2.6`, `2.6.x` and
/// `release/2.6` are branches that move.
fn is_old_release(revision: &str, base: &Version) -> bool {
    let tag = revision.strip_prefix("refs/tags/").unwrap_or(revision);
    let moves = tag.contains('/') || tag.ends_with(".x") || tag.ends_with(".X") || is_open(tag);
    !moves && Version::parse(tag).is_some_and(|found| found.is_as_exact_as(base) && found <= *base)
}

/// True for a requirement that the newest release fulfils: `x>4.1`, `x>=4.1`, `x~=4.1`, `x@^4.1`.
fn is_open(text: &str) -> bool {
    text.match_indices(['>', '~', '^']).any(|(at, _)| {
        let tail = slice(text, at + 1..text.len());
        tail.trim_start_matches(['=', ' '])
            .starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;

    #[test]
    fn a_file_of_a_release_is_as_old_as_its_tag() {
        let task = Task::new(&TaskFacts {
            base_version: Some("2.6.0".into()),
            upstream: Some("https://github.com/o/r".into()),
            ..TaskFacts::default()
        });
        for (text, newer) in [
            ("https://raw.githubusercontent.com/o/r/v2.6.0/f.py", false),
            (
                "https://raw.githubusercontent.com/o/r/refs/tags/v2.5.9/f.py",
                false,
            ),
            ("https://raw.githubusercontent.com/o/r/v2.7.0/f.py", true),
            (
                "https://raw.githubusercontent.com/o/r/main/v1.0.0/f.py",
                true,
            ),
            (
                "https://raw.githubusercontent.com/o/r/refs/heads/2.6.0/f.py",
                true,
            ),
            ("https://raw.githubusercontent.com/o/r/2.6/f.py", true),
            ("https://raw.githubusercontent.com/o/r/2.5.x/f.py", true),
            ("https://github.com/o/r/blob/v2.5.0/f.py", false),
            ("https://github.com/o/r/blob/main/docs/2.5.0.py", true),
            ("https://cdn.jsdelivr.net/gh/o/r@2.6.0/f.py", false),
            ("https://cdn.jsdelivr.net/gh/o/r@2.6/f.py", true),
            ("https://cdn.jsdelivr.net/gh/o/r/f2.5.0.py", true),
            ("https://mirror.example/o/r/main/v1.0.0/f.py", true),
            (
                "https://github.com/o/r/archive/refs/tags/v2.6.0.tar.gz",
                false,
            ),
            (
                "https://github.com/o/r/archive/refs/tags/v2.7.0.tar.gz",
                true,
            ),
            (
                "gh api repos/o/r/contents/f.py?ref=v2.6.0 --jq .content",
                false,
            ),
            ("gh api repos/o/r/contents/v1.0.0/f.py", true),
            ("gh api -X GET repos/o/r/contents/f.py -f ref=v2.7.0", true),
            (
                r#"{"repo":"r","path":"f.py","ref":"refs/tags/v2.6.0"}"#,
                false,
            ),
            (r#"{"repo":"r","path":"v1.0.0.py","ref":"main"}"#, true),
            ("repo: r\npath: f.py\nref: refs/tags/v2.6.0", false),
            ("repo: r\npath: v1.0.0.py\nref: main", true),
            ("https://unpkg.com/@o/r@2.6.0/src/f.ts", false),
            ("https://unpkg.com/@o/r@2.7.0/src/f.ts", true),
            ("https://registry.example/other/-/r-2.6.0.tgz", false),
        ] {
            assert_eq!(is_newer(text, &task), newer, "{text}");
        }
    }
}
