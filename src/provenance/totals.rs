//! From the stories of the lines to the numbers and lists of a [`Provenance`].

use std::collections::{BTreeMap, BTreeSet};

use super::changes::hash_of;
use super::concern::Concern;
use super::ledger::{self, Origin};
use super::lines::{Line, Owners, ShowingId};
use super::model::{AddedFile, Environment, Exposure, Ledger, LedgerSize, Provenance, UnseenLines};
use super::opaque::{self, OpaqueCopy};
use super::paths::PathId;
use super::ranges::ranges;
use super::tracker::{GtLine, Tracker};
use super::unexplained::{given_at, given_lines, is_of_tests, shown_run, unexplained};
use crate::similarity::model::Ratio;
use crate::similarity::normalise::squeeze;

/// Characters of a line that says something of the file it stands in.
const CONTRADICTING_LENGTH: usize = 16;

/// Adds up what a tracker found.
pub(super) fn provenance(t: &Tracker) -> Provenance {
    let [(e_ratio, x_ratio), (e_prose, x_prose)] = shares(t);
    let exposures = exposures(t);
    let first = exposures.iter().find(|e| !e.prose).or(exposures.first());
    let accounts = accounts(t);
    let unexplained = unexplained(t);
    let (given_lines, table_lines) = given_lines(t);
    let mut shared_typed = Ratio::default();
    let shared = |owners: &Owners| of_gt(t, owners).any(|g| g.shared);
    for (line, _) in t.lines.with_owners().filter(|(_, owners)| shared(owners)) {
        shared_typed.den += 1;
        shared_typed.num += u64::from(line.typed());
    }
    // Without any output the trace does not tell what was shown.
    let known = t.outputs && e_ratio.den > 0;
    Provenance {
        e: known.then(|| e_ratio.or_zero()),
        x: known.then(|| x_ratio.or_zero()),
        first_exposure: first.cloned(),
        exposures,
        ledger: (t.calls && !t.patch.is_empty()).then_some(accounts.ledger),
        ledger_size: accounts.size,
        e_ratio,
        e_in_time: shown_in_time(t, true),
        e_of_solution: shown_in_time(t, false),
        x_ratio,
        e_prose,
        x_prose,
        shared_typed,
        last_gt_edit: t.changes.last_gt_edit(),
        preapplied_lines: t.lines.all.iter().filter(|l| l.preapplied).count() as u64,
        placed_lines: unexplained.placed,
        unaccounted: unexplained.unaccounted,
        shown_run: shown_run(t),
        unseen: accounts.unseen,
        beside: accounts.beside,
        opaque: accounts.opaque,
        unsearched: t.lines.unsearched,
        gt_outputs: t.gt_outputs.clone(),
        own_outputs: t.own_outputs.clone(),
        own_takes: t.own_takes.clone(),
        contradictions: contradictions(t),
        written_paths: t.changes.written(),
        environment: environment(t),
        typed_lines: typed_lines(t),
        told_lines: told_lines(t),
        given_lines,
        table_lines,
        given_at: given_at(t),
        history_looks: t.handed.of_history.keys().copied().collect(),
        told_at: t.turns.told.iter().map(|s| (s.file, s.line)).collect(),
    }
}

fn environment(t: &Tracker) -> Environment {
    let names = |ids: &BTreeSet<PathId>| -> Vec<String> {
        let paths = ids.iter().map(|id| t.changes.paths.get(*id).to_owned());
        paths.collect()
    };
    Environment {
        changed_before: names(&t.looks.before),
        unchanged_at_the_end: names(&t.looks.absent_at_the_end()),
        all_explained: t.looks.all_explained(),
        accounted: t.accounted,
    }
}

/// The distinctive lines of the GT with that text.
fn of_gt<'a>(t: &'a Tracker, owners: &'a Owners) -> impl Iterator<Item = &'a GtLine> {
    owners.gt.iter().filter_map(|i| t.gt_lines.get(*i as usize))
}

/// The distinctive lines that a turn of the user explains.
fn told_lines(t: &Tracker) -> Vec<u32> {
    let explained = |line: &Line| line.told && (line.authored || !line.doubted);
    let told = t.lines.with_owners().filter(|(line, _)| explained(line));
    let mut out: Vec<u32> = told
        .flat_map(|(_, owners)| owners.gt.iter().copied())
        .collect();
    out.sort_unstable();
    out
}

/// The distinctive lines in the patch that the agent typed first.
fn typed_lines(t: &Tracker) -> Vec<u32> {
    let typed = t.lines.with_owners().filter(|(line, _)| line.typed());
    let shared = |i: &&u32| t.gt_lines.get(**i as usize).is_some_and(|g| g.shared);
    let mut out: Vec<u32> = typed
        .flat_map(|(_, owners)| owners.gt.iter().filter(shared))
        .copied()
        .collect();
    out.sort_unstable();
    out
}

/// So many lines of a file that were never written there contradict the trace, when they are most of it.
const CONTRADICTING_LINES: usize = 8;

/// Files of the patch most of whose lines the last, whole and undisturbed writing of them lacks.
fn contradictions(t: &Tracker) -> Vec<String> {
    let contradicts = |file: &&AddedFile| {
        let written = t
            .changes
            .paths
            .id(&file.path)
            .and_then(|p| t.changes.last_write(p));
        written.is_some_and(|written| {
            let long = |text: &&str| text.chars().nth(CONTRADICTING_LENGTH - 1).is_some();
            let texts: Vec<String> = file.lines.iter().map(|l| squeeze(&l.text)).collect();
            let lines: Vec<&str> = texts.iter().map(String::as_str).filter(long).collect();
            let absent = lines
                .iter()
                .filter(|l| !written.contains(&hash_of(l)))
                .count();
            absent >= CONTRADICTING_LINES && absent * 2 > lines.len()
        })
    };
    let files = t.patch.iter().filter(|f| !f.generated).filter(contradicts);
    files.map(|f| f.path.clone()).collect()
}

/// E and X over the long lines of code, and over those of prose. A line in both is code.
fn shares(t: &Tracker) -> [(Ratio, Ratio); 2] {
    let mut out = [(Ratio::default(), Ratio::default()); 2];
    let [code, prose] = &mut out;
    for (line, owners) in t.lines.with_owners().filter(|both| counts(t, *both)) {
        let (e, x) = if of_gt(t, owners).all(|g| g.prose) {
            &mut *prose
        } else {
            &mut *code
        };
        let exposed = line.exposed.is_some();
        e.den += 1;
        x.den += 1;
        e.num += u64::from(exposed);
        x.num += u64::from(exposed && of_gt(t, owners).any(|g| g.shared));
    }
    out
}

/// Whether a line counts for E and X.
fn counts(t: &Tracker, (line, owners): (&Line, &Owners)) -> bool {
    !line.part && of_gt(t, owners).any(|g| g.long)
}

/// Lines of code that were shown while there was still something to write; with those of tests, or without.
fn shown_in_time(t: &Tracker, tests: bool) -> u64 {
    let last = t.changes.last_gt_edit();
    let in_time = |line: &Line| {
        let showing = line.exposed.and_then(|id| t.showings.get(id as usize));
        showing.is_some_and(|s| last.is_none_or(|last| s.event <= last))
    };
    let code =
        |owners: &Owners| of_gt(t, owners).any(|g| !g.prose) && (tests || !is_of_tests(t, owners));
    let lines = t.lines.with_owners();
    lines
        .filter(|(line, owners)| in_time(line) && counts(t, (line, owners)) && code(owners))
        .count() as u64
}

/// Exposures by event and GT file, in order.
fn exposures(t: &Tracker) -> Vec<Exposure> {
    let mut shown: BTreeMap<(ShowingId, usize), Vec<u32>> = BTreeMap::new();
    // Per GT file: its long distinctive lines, and whether it is prose.
    let mut all: BTreeMap<usize, (Vec<u32>, bool)> = BTreeMap::new();
    for (line, owners) in t.lines.with_owners() {
        for gt in of_gt(t, owners).filter(|g| g.long) {
            let (lines, prose) = all.entry(gt.file).or_default();
            lines.push(gt.gt_line);
            *prose = gt.prose;
            if let Some(showing) = line.exposed {
                shown
                    .entry((showing, gt.file))
                    .or_default()
                    .push(gt.gt_line);
            }
        }
    }
    for (lines, _) in all.values_mut() {
        lines.sort_unstable();
    }
    let exposure = |((id, file), lines): ((ShowingId, usize), Vec<u32>)| {
        let showing = t.showings.get(id as usize)?;
        let (of_file, prose) = all.get(&file)?;
        Some(Exposure {
            gt_path: t.gt_paths.get(file).cloned().unwrap_or_default(),
            lines: lines.len() as u64,
            gt_lines: ranges(lines, of_file),
            event: showing.event,
            file: showing.source.file,
            line: showing.source.line,
            command: showing.command.clone(),
            prose: *prose,
        })
    };
    shown.into_iter().filter_map(exposure).collect()
}

/// Where the lines of the patch came from, added up.
#[derive(Default)]
struct Accounts {
    ledger: Ledger,
    size: LedgerSize,
    /// For what no event holds the call that may have written it.
    unseen: Vec<UnseenLines>,
    /// Files among those that have nothing to do with the GT.
    beside: BTreeSet<String>,
    /// Much of a GT file that an opaque call wrote.
    opaque: Vec<OpaqueCopy>,
}

/// Adds up the patch, file by file.
fn accounts(t: &Tracker) -> Accounts {
    let mut out = Accounts::default();
    let concern = Concern::new(&t.gt_paths);
    for (index, file) in t.patch.iter().enumerate() {
        let path = t.changes.paths.id(&file.path);
        let story = path.map(|p| t.changes.story(p)).unwrap_or_default();
        let origins = ledger::origins(file, index, &t.lines, story);
        ledger::count(&mut out.ledger, &origins);
        let ids = t.lines.patch.get(index).into_iter().flatten().flatten();
        let mut its_lines = ids.filter_map(|id| t.lines.get(*id));
        if concern.about(file, its_lines.any(|line| line.of_gt)) {
            ledger::measure(&mut out.size, file, &origins);
        } else if !concern.is_alike(&file.path) {
            out.beside.insert(file.path.clone());
        }
        let writer = path.and_then(|p| t.changes.writer(p));
        out.opaque
            .extend(opaque::copies(t, file, index, &origins, story, writer));
        let unseen_at = || {
            let of_line = t.lines.patch.get(index).into_iter().flatten();
            let both = origins.iter().zip(of_line);
            both.filter(|(o, _)| **o == Origin::Unseen)
                .map(|(_, id)| *id)
        };
        let lines = unseen_at().count() as u64;
        if lines == 0 {
            continue;
        }
        let of_gt: BTreeSet<_> = unseen_at()
            .flatten()
            .filter(|id| t.lines.get(*id).is_some_and(|line| line.of_gt))
            .collect();
        out.unseen.push(UnseenLines {
            path: file.path.clone(),
            lines,
            gt_lines: of_gt.len() as u64,
            imported: writer.is_some_and(|w| w.imports),
            event: writer.map(|w| w.event),
            file: writer.map_or(0, |w| w.event.file),
            line: writer.map(|w| w.line),
            command: writer.map(|w| w.command.clone()),
        });
    }
    out
}
