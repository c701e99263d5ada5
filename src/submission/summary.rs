//! From what was counted of a submission to what the report says of it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::discover::Source;
use super::flags::{self, LARGE_LINES};
use super::gold::{Gold, GoldInstance};
use super::model::{
    Hunks, Large, Match, Outside, Rate, Resolved, RuleCounts, SizeClass, Submission, Tests,
    Unparsable,
};
use super::population::PeerCounts;
use super::split::Split;
use super::tally::{Duplicates, Entry, Tally};
use crate::similarity::chance::{FITTED_UP_TO, p_chance, poisson_tail};

/// Classes of sizes: name, from, to.
const SIZES: &[(&str, u64, u64)] = &[
    ("1", 0, 1),
    ("2-3", 2, 3),
    ("4-7", 4, 7),
    ("8-15", 8, 15),
    ("16-31", 16, 31),
    ("32+", 32, u64::MAX),
];

/// What all submissions are measured by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a, 'p> {
    pub(super) gold: &'a Gold,
    pub(super) split: &'a Split,
    pub(super) duplicates: Duplicates,
    pub(super) peers: &'p PeerCounts,
}

/// An instance that counts.
struct Counted<'a> {
    id: &'a str,
    entry: &'a Entry,
    gold: &'a GoldInstance,
}

/// Summarises a submission.
pub(super) fn summarise<'a>(
    source: &Source,
    tally: &'a Tally,
    resolved: Option<&BTreeSet<String>>,
    context: Context<'a, '_>,
) -> Submission<'a> {
    let Context {
        gold,
        split,
        duplicates,
        ..
    } = context;
    let counted: Vec<Counted<'a>> = tally
        .counted(gold, split)
        .filter_map(|(id, entry)| {
            let gold = gold.instances.get(id)?;
            Some(Counted { id, entry, gold })
        })
        .collect();
    let denominator = len(counted.len());
    let count = |f: &dyn Fn(&super::judge::Outcome) -> bool| {
        len(counted
            .iter()
            .filter(|c| f(&c.entry.outcome(duplicates)))
            .count())
    };
    let rate = |f: &dyn Fn(&super::judge::Outcome) -> bool| Rate::new(count(f), denominator);
    let (blog, robust) = (rate(&|o| o.blog_match()), rate(&|o| o.robust));
    let split_size = len(split.ids.len());
    let in_split = len(tally
        .entries
        .keys()
        .filter(|id| split.ids.contains(*id))
        .count());
    let unique = len(tally.entries.len());
    let of_all = |f: &dyn Fn(&super::judge::Outcome) -> bool| {
        len(tally
            .entries
            .values()
            .filter(|e| f(&e.outcome(duplicates)))
            .count())
    };
    let sizes = size_classes(&counted, duplicates);
    let large = large(&counted, duplicates);
    let mut submission = Submission {
        name: source.name.clone(),
        path: source.path.display().to_string(),
        format: tally.format,
        flags: Vec::new(),
        rows: tally.all.rows,
        unique,
        duplicates: tally.all.rows - unique,
        differing_duplicates: len(tally.entries.values().filter(|e| e.differing).count()),
        by_duplicates: by_duplicates(&counted),
        outside_split: unique - in_split,
        without_gold: in_split - denominator,
        broken_rows: tally.problems.count,
        empty: of_all(&|o| o.empty),
        unparsable: of_all(&|o| o.blog.is_err()),
        unparsable_kinds: unparsable(tally, duplicates),
        no_change_found: of_all(&|o| !o.empty && !o.readable),
        no_final_newline: of_all(&|o| o.no_final_newline),
        denominator,
        denominator_words: words(split, denominator, in_split - denominator),
        blog,
        blog_newline: rate(&|o| o.newline),
        no_context: rate(&|o| o.no_context),
        robust,
        blog_of_split: Rate::new(blog.matches, split_size),
        robust_of_split: Rate::new(robust.matches, split_size),
        all_rows: tally.all,
        outside: outside(tally, split, duplicates),
        expected_by_chance: sizes.iter().map(|class| class.expected).sum(),
        sizes,
        large,
        tests: Tests {
            instances: len(counted.iter().filter(|c| c.gold.tests.is_some()).count()),
            matches: count(&|o| o.tests),
        },
        resolved: resolved.map(|resolved| compare_results(&counted, resolved, duplicates)),
        matches: matches(tally, resolved, context),
        compat: tally.compat.clone(),
        problems: tally.problems.clone(),
    };
    submission.flags = flags::of_submission(&submission, split_size);
    submission
}

fn len(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn words(split: &Split, denominator: u64, without_gold: u64) -> String {
    let of = match split.path {
        Some(_) => "of the split that have",
        None => "with",
    };
    let mut words = format!(
        "{denominator} predicted instances {of} a gold patch; each counts once, empty and unreadable predictions as no match"
    );
    if without_gold > 0 {
        words.push_str(&format!(
            "; {without_gold} predicted instances without a usable gold patch are left out"
        ));
    }
    words
}

fn by_duplicates(counted: &[Counted<'_>]) -> BTreeMap<&'static str, RuleCounts> {
    Duplicates::ALL
        .into_iter()
        .map(|rule| {
            let mut counts = RuleCounts::default();
            for outcome in counted.iter().map(|c| c.entry.outcome(rule)) {
                counts.blog += u64::from(outcome.blog_match());
                counts.robust += u64::from(outcome.robust);
            }
            (rule.name(), counts)
        })
        .collect()
}

fn unparsable(tally: &Tally, duplicates: Duplicates) -> BTreeMap<&'static str, Unparsable> {
    let mut kinds: BTreeMap<&'static str, Unparsable> = BTreeMap::new();
    for outcome in tally.entries.values().map(|e| e.outcome(duplicates)) {
        if let Err(failure) = outcome.blog {
            let kind = kinds.entry(failure.name()).or_default();
            kind.count += 1;
            kind.repaired += u64::from(outcome.readable);
        }
    }
    kinds
}

fn outside(tally: &Tally, split: &Split, duplicates: Duplicates) -> Outside {
    let mut outside = Outside::default();
    for (id, entry) in &tally.entries {
        if split.ids.contains(id) {
            continue;
        }
        let outcome = entry.outcome(duplicates);
        outside.instances += 1;
        outside.with_gold += u64::from(entry.has_gold);
        outside.blog_matches += u64::from(outcome.blog_match());
        outside.robust_matches += u64::from(outcome.robust);
    }
    outside
}

fn size_classes(counted: &[Counted<'_>], duplicates: Duplicates) -> Vec<SizeClass> {
    SIZES
        .iter()
        .map(|(name, from, to)| {
            let mut class = SizeClass {
                lines: name,
                instances: 0,
                blog: 0,
                robust: 0,
                expected: 0.0,
                extrapolated: *to > FITTED_UP_TO,
            };
            for c in counted {
                if !(*from..=*to).contains(&c.gold.lines()) {
                    continue;
                }
                let outcome = c.entry.outcome(duplicates);
                class.instances += 1;
                class.blog += u64::from(outcome.blog_match());
                class.robust += u64::from(outcome.robust);
                if !outcome.empty {
                    class.expected += p_chance(c.gold.lines());
                }
            }
            class
        })
        .collect()
}

fn large(counted: &[Counted<'_>], duplicates: Duplicates) -> Large {
    let (mut instances, mut blog, mut robust, mut expected) = (0, 0, 0, 0.0);
    for c in counted.iter().filter(|c| c.gold.lines() >= LARGE_LINES) {
        let outcome = c.entry.outcome(duplicates);
        instances += 1;
        blog += u64::from(outcome.blog_match());
        robust += u64::from(outcome.robust);
        if !outcome.empty {
            expected += p_chance(c.gold.lines());
        }
    }
    Large {
        from_lines: LARGE_LINES,
        instances,
        blog,
        robust: Rate::new(robust, instances),
        expected,
        p_chance: poisson_tail(robust, expected),
    }
}

fn compare_results(
    counted: &[Counted<'_>],
    resolved: &BTreeSet<String>,
    duplicates: Duplicates,
) -> Resolved {
    let instances = len(counted.iter().filter(|c| resolved.contains(c.id)).count());
    let unresolved = counted
        .iter()
        .filter(|c| c.entry.outcome(duplicates).robust && !resolved.contains(c.id));
    Resolved {
        instances,
        rate: Rate::new(instances, len(counted.len())).rate,
        unresolved_matches: len(unresolved.count()),
    }
}

/// All instances that match by any rule: those of the split first, the largest gold patch first.
fn matches<'a>(
    tally: &'a Tally,
    resolved: Option<&BTreeSet<String>>,
    context: Context<'a, '_>,
) -> Vec<Match<'a>> {
    let mut out: Vec<Match<'a>> = tally
        .entries
        .iter()
        .filter_map(|(id, entry)| {
            let gold = context.gold.instances.get(id).filter(|g| g.is_usable())?;
            let outcome = entry.outcome(context.duplicates);
            let blog = outcome.blog_match();
            if !(blog || outcome.newline || outcome.no_context || outcome.robust) {
                return None;
            }
            Some(Match {
                instance_id: id,
                in_split: context.split.ids.contains(id),
                lines: gold.lines(),
                p_chance: p_chance(gold.lines()),
                blog,
                blog_newline: outcome.newline,
                no_context: outcome.no_context,
                robust: outcome.robust,
                tests: outcome.tests,
                resolved: resolved.map(|ids| ids.contains(id)),
                peers: context.peers.others(id, outcome.robust),
                hunks: Hunks(gold),
            })
        })
        .collect();
    out.sort_by(|a, b| {
        b.in_split
            .cmp(&a.in_split)
            .then(b.lines.cmp(&a.lines))
            .then(a.instance_id.cmp(b.instance_id))
    });
    out
}
