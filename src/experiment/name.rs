//! What the name of a run directory says.
//!
//! Benchmarks name their runs `TASK-AGENT-VARIANT-DATE`, and over time every part came in several
//! forms: a project prefix before the task, the date with or without dashes or not at all, the agent
//! left out, and notes at the end (`-INVALID`, `-run2`, `-retry`, `-fresh`, `-v2`, several of them).
//! The parser anchors on the parts that cannot be mistaken: the task is the first `LETTERSdigits`
//! word, the variant the word `long` or `short` that a date follows, the date a day that exists.
//! Nothing is an error: what a name does not say stays `None`, and metadata or flags fill it in.

use super::agents;
use super::date;

/// Words that end a name and say what became of the run.
const NOTES: &[&str] = &["invalid", "retry", "fresh", "rerun", "isolated"];

/// The parts of a run's name, each as far as the name has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunName {
    /// The directory's own name, without path and trailing slashes.
    pub raw: String,
    /// What stands before the task: a project such as `cann-ops`.
    pub prefix: Option<String>,
    /// Task id, such as `T34`.
    pub task: Option<String>,
    /// The agent's configuration as written; see [`agents::canonical_agent`].
    pub agent: Option<String>,
    /// `long` or `short`.
    pub prompt_variant: Option<String>,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Notes after the variant and the date, in order.
    pub suffixes: Vec<String>,
    /// A note says `INVALID`: the benchmark itself excludes the run from scores.
    pub excluded: bool,
}

impl RunName {
    /// Reads a directory name or a path whose last component is one (trailing slashes are allowed;
    /// the path may belong to another machine).
    ///
    /// The task is the first word that looks like one. Works in time linear in the length of the
    /// text.
    pub fn parse(text: &str) -> Self {
        Self::parse_knowing(text, |_| false)
    }

    /// As [`RunName::parse`], and a word for which `is_task` holds is the task before one that only
    /// looks like it (`H100-T34-…`). `is_task` is asked about at most 16 words.
    pub fn parse_knowing(text: &str, is_task: impl Fn(&str) -> bool) -> Self {
        let raw = text
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let words: Vec<&str> = raw.split('-').collect();
        let looks: Vec<usize> = (0..words.len())
            .filter(|at| words.get(*at).is_some_and(|w| is_task_word(w)))
            .take(16)
            .collect();
        let known = looks
            .iter()
            .find(|at| words.get(**at).is_some_and(|w| is_task(w)));
        let task_at = known.or(looks.first()).copied();
        let (before, rest) = match task_at {
            Some(at) => (
                words.get(..at).unwrap_or_default(),
                words.get(at + 1..).unwrap_or_default(),
            ),
            None => (&[][..], &words[..]),
        };
        let tail = Tail::read(rest);
        let (prefix, agent) = match task_at {
            Some(_) => (join(before), join(tail.head)),
            None => split_unknown_head(tail.head, &tail),
        };
        Self {
            raw: raw.to_owned(),
            prefix,
            task: task_at
                .and_then(|at| words.get(at))
                .map(|w| (*w).to_owned()),
            agent,
            prompt_variant: tail.variant.map(str::to_owned),
            date: tail.date.clone(),
            excluded: rest.iter().any(|w| w.eq_ignore_ascii_case("invalid")),
            suffixes: tail.notes.into_iter().map(str::to_owned).collect(),
        }
    }

    /// True when the name says so much that the directory is meant as a run: a task, and a prompt
    /// variant, a date or a known agent with it.
    pub fn is_run_like(&self) -> bool {
        let agent_known = self.agent.as_deref().is_some_and(agents::is_known_agent);
        self.task.is_some() && (self.prompt_variant.is_some() || self.date.is_some() || agent_known)
    }
}

/// What follows the task in a name.
struct Tail<'w, 'a> {
    /// The words before variant and date: the agent.
    head: &'w [&'a str],
    variant: Option<&'a str>,
    date: Option<String>,
    notes: Vec<&'a str>,
}

impl<'w, 'a> Tail<'w, 'a> {
    fn read(words: &'w [&'a str]) -> Self {
        let variant_at = variant_position(words);
        // A date before the variant belongs to the name of a model (`…-20250514-long`).
        let from = variant_at.map_or(0, |at| at + 1);
        // The one right after the variant counts before those in notes (`…-INVALID-2026-05-01`).
        let at_once = variant_at.map(|at| at + 1);
        let dated = at_once
            .into_iter()
            .chain((from..words.len()).rev())
            .find_map(|at| date_at(words, at).map(|(date, width)| (at, date, width)));
        let head_end = variant_at
            .or(dated.as_ref().map(|(at, _, _)| *at))
            .unwrap_or_else(|| trailing_notes(words));
        let between = variant_at.map_or(head_end, |at| at + 1);
        let (notes_before, notes_after) = match &dated {
            Some((at, _, width)) => (between..*at, at + width..words.len()),
            None => (between..words.len(), words.len()..words.len()),
        };
        let notes = [notes_before, notes_after]
            .into_iter()
            .filter_map(|range| words.get(range))
            .flatten()
            .copied()
            .filter(|w| !w.is_empty())
            .collect();
        Self {
            head: words.get(..head_end).unwrap_or_default(),
            variant: variant_at.and_then(|at| words.get(at)).copied(),
            date: dated.map(|(_, date, _)| date),
            notes,
        }
    }
}

/// Index of the variant: the last one that a date follows at once, else the last one.
fn variant_position(words: &[&str]) -> Option<usize> {
    let is_variant = |at: &usize| matches!(words.get(*at), Some(&"long" | &"short"));
    let mut positions = (0..words.len()).rev().filter(is_variant);
    let last = positions.next()?;
    let dated = std::iter::once(last)
        .chain(positions)
        .find(|at| date_at(words, at + 1).is_some());
    Some(dated.unwrap_or(last))
}

/// The date that begins with word `at`, normalised, and how many words it takes.
fn date_at(words: &[&str], at: usize) -> Option<(String, usize)> {
    let word = words.get(at)?;
    if word.len() == 8 {
        return date::normalise_date(word).map(|d| (d, 1));
    }
    date::from_parts(word, words.get(at + 1)?, words.get(at + 2)?).map(|d| (d, 3))
}

/// Where the notes begin in a name without variant and date.
fn trailing_notes(words: &[&str]) -> usize {
    let notes = words.iter().rev().take_while(|w| is_note(w)).count();
    words.len() - notes
}

/// `INVALID`, `retry`, `run2`, `v2` …
fn is_note(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let numbered = ["run", "v", "retry"].iter().any(|stem| {
        lower
            .strip_prefix(stem)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    });
    numbered || NOTES.contains(&lower.as_str())
}

/// `T34`, `C1`, `TASK007`: capital letters, then digits.
fn is_task_word(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    !digits.is_empty()
        && digits.len() < word.len()
        && word.len() <= 16
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Prefix and agent of a name without a task: the agent is known by the table or not at all.
fn split_unknown_head(head: &[&str], tail: &Tail<'_, '_>) -> (Option<String>, Option<String>) {
    if tail.variant.is_none() && tail.date.is_none() {
        return (None, None);
    }
    // Names of agents have at most a handful of words; more would make long names quadratic.
    let first = head.len().saturating_sub(6);
    for at in first..head.len() {
        let agent = head.get(at..).and_then(join);
        if agent.as_deref().is_some_and(agents::is_known_agent) {
            return (head.get(..at).and_then(join), agent);
        }
    }
    (join(head), None)
}

/// The words with their dashes; `None` when nothing but dashes would be left.
fn join(words: &[&str]) -> Option<String> {
    let text = words.join("-");
    let text = text.trim_matches('-');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// prefix, task, agent, variant, date, suffixes, excluded
    type Row = (
        &'static str,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
        &'static str,
        bool,
    );

    fn check(rows: &[Row]) {
        for (text, prefix, task, agent, variant, date, suffixes, excluded) in rows {
            let name = RunName::parse(text);
            assert_eq!(name.prefix.as_deref(), *prefix, "prefix of {text:?}");
            assert_eq!(name.task.as_deref(), *task, "task of {text:?}");
            assert_eq!(name.agent.as_deref(), *agent, "agent of {text:?}");
            assert_eq!(name.prompt_variant.as_deref(), *variant, "{text:?}");
            assert_eq!(name.date.as_deref(), *date, "date of {text:?}");
            assert_eq!(name.suffixes.join(" "), *suffixes, "suffixes of {text:?}");
            assert_eq!(name.excluded, *excluded, "excluded of {text:?}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn every_form_in_use() {
        let long = Some("long");
        let short = Some("short");
        check(&[
            ("C1-codex-gpt-5_4-long-20260418", None, Some("C1"), Some("codex-gpt-5_4"), long, Some("2026-04-18"), "", false),
            ("C1-opencode-glm51-long-20260417", None, Some("C1"), Some("opencode-glm51"), long, Some("2026-04-17"), "", false),
            ("C1-claude-opus-max-long-20260420", None, Some("C1"), Some("claude-opus-max"), long, Some("2026-04-20"), "", false),
            ("K1-claude-opus-max-long-2026-04-14", None, Some("K1"), Some("claude-opus-max"), long, Some("2026-04-14"), "", false),
            ("C2-cursor-composer2-long-20260418", None, Some("C2"), Some("cursor-composer2"), long, Some("2026-04-18"), "", false),
            ("C1-cursor-composer2-long-2026-04-14", None, Some("C1"), Some("cursor-composer2"), long, Some("2026-04-14"), "", false),
            ("T34-cursor-composer2-long-2026-04-24", None, Some("T34"), Some("cursor-composer2"), long, Some("2026-04-24"), "", false),
            ("T14-codex-gpt-5_4-short-2026-04-12", None, Some("T14"), Some("codex-gpt-5_4"), short, Some("2026-04-12"), "", false),
            ("C1-claude-opus-short-2026-04-14", None, Some("C1"), Some("claude-opus"), short, Some("2026-04-14"), "", false),
            ("MindSpeed-M2-claude-opus-max-long-20260415", Some("MindSpeed"), Some("M2"), Some("claude-opus-max"), long, Some("2026-04-15"), "", false),
            ("cann-ops-C4-claude-opus-max-short-20260415", Some("cann-ops"), Some("C4"), Some("claude-opus-max"), short, Some("2026-04-15"), "", false),
            ("cann-ops-adv-C1-codex-long-20260415", Some("cann-ops-adv"), Some("C1"), Some("codex"), long, Some("2026-04-15"), "", false),
            ("torch_npu-C3-codex-long", Some("torch_npu"), Some("C3"), Some("codex"), long, None, "", false),
            ("kubernetes-K4-codex-short", Some("kubernetes"), Some("K4"), Some("codex"), short, None, "", false),
            ("cann-ops-C4-A2-long", Some("cann-ops"), Some("C4"), Some("A2"), long, None, "", false),
            ("cann-ops-C4-long", Some("cann-ops"), Some("C4"), None, long, None, "", false),
            ("T34-cursor-composer2-long-2026-04-14-INVALID", None, Some("T34"), Some("cursor-composer2"), long, Some("2026-04-14"), "INVALID", true),
            ("K3-claude-opus-max-long-2026-04-15-run2", None, Some("K3"), Some("claude-opus-max"), long, Some("2026-04-15"), "run2", false),
            ("T10-claude-opus-max-long-2026-04-14-retry", None, Some("T10"), Some("claude-opus-max"), long, Some("2026-04-14"), "retry", false),
            ("K1-codex-short-fresh", None, Some("K1"), Some("codex"), short, None, "fresh", false),
            ("K3-A2-short-v2", None, Some("K3"), Some("A2"), short, None, "v2", false),
            ("T34-cursor-composer2-long-20260418-run2-INVALID", None, Some("T34"), Some("cursor-composer2"), long, Some("2026-04-18"), "run2 INVALID", true),
            ("/Users/x/work/experiment/C1-codex-gpt-5_4-long-20260418/", None, Some("C1"), Some("codex-gpt-5_4"), long, Some("2026-04-18"), "", false),
            ("experiment/T01-codex-gpt-5_4-short-20260418///", None, Some("T01"), Some("codex-gpt-5_4"), short, Some("2026-04-18"), "", false),
        ]);
    }

    #[test]
    #[rustfmt::skip]
    fn names_that_could_mislead() {
        let long = Some("long");
        check(&[
            // The date of a model is no date of a run.
            ("T1-claude-sonnet-4-20250514-long-20260418", None, Some("T1"), Some("claude-sonnet-4-20250514"), long, Some("2026-04-18"), "", false),
            ("T1-claude-sonnet-4-20250514-long", None, Some("T1"), Some("claude-sonnet-4-20250514"), long, None, "", false),
            // `long` inside the name of an agent, and a note after the date that looks like a variant.
            ("T1-robo-long-context-long-20260418", None, Some("T1"), Some("robo-long-context"), long, Some("2026-04-18"), "", false),
            ("T1-codex-long-20260418-short-fix", None, Some("T1"), Some("codex"), long, Some("2026-04-18"), "short fix", false),
            ("T1-codex-long-20260418-INVALID-2026-05-01", None, Some("T1"), Some("codex"), long, Some("2026-04-18"), "INVALID 2026 05 01", true),
            ("T1-codex-long-retry-20260418", None, Some("T1"), Some("codex"), long, Some("2026-04-18"), "retry", false),
            ("T1-codex-long-20260418-attempt3", None, Some("T1"), Some("codex"), long, Some("2026-04-18"), "attempt3", false),
            // Days that do not exist stay what they are: words.
            ("T1-codex-long-20261345", None, Some("T1"), Some("codex"), long, None, "20261345", false),
            ("T1-codex-long-2026-02-30", None, Some("T1"), Some("codex"), long, None, "2026 02 30", false),
            // Parts that are missing.
            ("T34", None, Some("T34"), None, None, None, "", false),
            ("T34-codex", None, Some("T34"), Some("codex"), None, None, "", false),
            ("T34-codex-run2", None, Some("T34"), Some("codex"), None, None, "run2", false),
            ("T34-INVALID", None, Some("T34"), None, None, None, "INVALID", true),
            ("T34-20260418", None, Some("T34"), None, None, Some("2026-04-18"), "", false),
            ("T34-codex-20260418-invalid", None, Some("T34"), Some("codex"), None, Some("2026-04-18"), "invalid", true),
            ("my-cursor-composer2-long-20260418", Some("my"), None, Some("cursor-composer2"), long, Some("2026-04-18"), "", false),
            ("batch-two-long-20260418", Some("batch-two"), None, None, long, Some("2026-04-18"), "", false),
            ("some-repository", None, None, None, None, None, "", false),
            // Hostile.
            ("", None, None, None, None, None, "", false),
            ("/", None, None, None, None, None, "", false),
            ("-", None, None, None, None, None, "", false),
            ("T34--long--20260418", None, Some("T34"), None, long, Some("2026-04-18"), "", false),
            ("T34-a\nb-long-20260418", None, Some("T34"), Some("a\nb"), long, Some("2026-04-18"), "", false),
            ("Ｔ34-ｃodex-long-20260418", Some("Ｔ34-ｃodex"), None, None, long, Some("2026-04-18"), "", false),
            ("T34-ценный-long-20260418", None, Some("T34"), Some("ценный"), long, Some("2026-04-18"), "", false),
            ("T٣٤-codex-long", Some("T٣٤"), None, Some("codex"), long, None, "", false),
        ]);
    }

    #[test]
    fn a_known_task_comes_before_a_word_like_one() {
        let text = "H100-T34-codex-long-20260418";
        assert_eq!(RunName::parse(text).task.as_deref(), Some("H100"));
        let name = RunName::parse_knowing(text, |task| task == "T34");
        assert_eq!(name.task.as_deref(), Some("T34"));
        assert_eq!(name.prefix.as_deref(), Some("H100"));
        assert_eq!(name.agent.as_deref(), Some("codex"));
        let name = RunName::parse_knowing("K3-A2-short-v2", |task| task == "K3");
        assert_eq!(
            (name.task.as_deref(), name.agent.as_deref()),
            (Some("K3"), Some("A2"))
        );
    }

    #[test]
    fn run_like() {
        for (text, want) in [
            ("T34-cursor-composer2-long-2026-04-14", true),
            ("cann-ops-C4-long", true),
            ("T34-codex", true),
            ("T34-20260418", true),
            ("T34", false),
            ("X11-apps", false),
            ("experiment", false),
            ("long", false),
            ("", false),
        ] {
            assert_eq!(RunName::parse(text).is_run_like(), want, "{text:?}");
        }
    }

    #[test]
    fn the_496_real_names() {
        let list = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../shared/data/longhorizon/all_dirs.txt"
        );
        let Ok(text) = std::fs::read_to_string(list) else {
            println!("skipped: {list} is not here");
            return;
        };
        let mut per_agent = std::collections::BTreeMap::new();
        let mut per_variant = std::collections::BTreeMap::new();
        let mut tasks = std::collections::BTreeSet::new();
        for line in text.lines() {
            let name = RunName::parse(line);
            assert!(name.date.is_some() && name.prefix.is_none(), "{line}");
            assert!(name.suffixes.is_empty() && !name.excluded, "{line}");
            assert!(name.is_run_like(), "{line}");
            *per_agent.entry(name.agent.unwrap()).or_insert(0) += 1;
            *per_variant.entry(name.prompt_variant.unwrap()).or_insert(0) += 1;
            tasks.insert(name.task.unwrap());
        }
        assert_eq!(per_agent.len(), 4);
        assert!(per_agent.values().all(|n| *n == 124), "{per_agent:?}");
        assert!(per_variant.values().all(|n| *n == 248), "{per_variant:?}");
        assert_eq!(tasks.len(), 62);
    }

    #[test]
    fn long_names_take_linear_time() {
        for unit in [
            "-",
            "long-",
            "a-",
            "T1-",
            "2026-",
            "2026-04-14-",
            "-INVALID",
            "é-",
        ] {
            let name = RunName::parse(&unit.repeat(200_000));
            assert!(name.raw.len() >= 200_000);
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_the_name(text in "\\PC{0,80}|[T0-9lonGshrt/-]{0,60}") {
            let name = RunName::parse(&text);
            prop_assert!(!name.raw.contains('/'));
            prop_assert!(text.trim_end_matches('/').ends_with(&name.raw));
        }

        #[test]
        fn puts_together_what_it_takes_apart(
            task in "[A-Z]{1,3}[0-9]{1,3}",
            agent in "[a-z]{1,6}(-[a-z0-9_]{1,6}){0,2}",
            variant in "long|short",
            day in 1u32..29,
            dashes: bool,
            note in "|-INVALID|-run2|-retry-v2",
        ) {
            let date = format!("2026-03-{day:02}");
            let written = if dashes { date.clone() } else { date.replace('-', "") };
            // An agent may not hold a word that is a variant of its own.
            prop_assume!(!agent.split('-').any(|w| w == "long" || w == "short"));
            let name = RunName::parse(&format!("{task}-{agent}-{variant}-{written}{note}"));
            prop_assert_eq!(name.task, Some(task));
            prop_assert_eq!(name.agent, Some(agent));
            prop_assert_eq!(name.prompt_variant, Some(variant));
            prop_assert_eq!(name.date, Some(date));
            prop_assert_eq!(name.suffixes.join("-"), note.trim_start_matches('-'));
        }
    }
}
