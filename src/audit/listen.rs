//! One pass over a run's traces, heard by the rules and by provenance at the same time.

use std::collections::BTreeSet;

use bstr::{BStr, ByteSlice};

use super::ears::hear;
use super::refine;
use super::sources::Sources;
use super::starter::RunStarter;
use crate::Result;
use crate::experiment::discover::RunInputs;
use crate::experiment::task_facts::Forbidden;
use crate::experiment::traces::{TraceInput, TraceRole};
use crate::patch::model::{LineKind, Patch};
use crate::provenance::model::Provenance;
use crate::provenance::{AddedFile, AddedLine, Inputs, Tracker};
use crate::rules::finding::Finding;
use crate::rules::{Engine, EngineReport, RuleSet};
use crate::similarity::compare::Comparison;
use crate::similarity::normalise::squeeze;
use crate::similarity::starter::Starter;
use crate::trace::event::{Coverage, Event, EventSink};
use crate::trace::{TraceFile, TraceReport, read_traces};

/// Files without a writer that a coverage reason names; the others are counted.
const NAMED_FILES: usize = 3;

/// So many added lines that no event holds, when they are most of the patch, keep a trace from being complete.
const MANY_UNSEEN: u64 = 16;

/// One line of that size (in lines of 80 characters) that no event holds does, too: `exec(b64decode("…"))` may be a whole
/// file.
const LONG_UNSEEN: u64 = 6;

/// What the traces of a run said.
pub(super) struct Heard {
    /// The trace files; `None` when the run has none.
    pub(super) trace: Option<TraceReport>,
    /// How much of the run they show.
    pub(super) coverage: Coverage,
    /// Why it is not more, in words.
    pub(super) reasons: Vec<String>,
    /// Session logs of whatever run that lie in the run directory and were not read.
    pub(super) unread: Vec<String>,
    /// What the rules found.
    pub(super) rules: EngineReport,
    /// Where the lines came from; `None` without a trace.
    pub(super) provenance: Option<Provenance>,
    /// The trace itself has a beginning and an end, and every call its result, whatever the tree holds.
    pub(super) trace_is_full: bool,
    /// The agent's added lines, with those that stand in the base marked.
    pub(super) added: Vec<AddedFile>,
}

/// Reads the traces of a run.
pub(super) fn listen(
    inputs: &RunInputs,
    rules: &RuleSet,
    sources: &Sources,
    comparison: Option<&Comparison>,
    starter: Option<&RunStarter>,
    prompt: Option<&str>,
) -> Result<Heard> {
    let (files, logs) = trace_files(inputs);
    let labels = files.iter().chain(&logs).map(|f| f.label.clone()).collect();
    let mut engine = Engine::new(rules, &inputs.task_facts, prompt, labels);
    let patch = sources.patch.as_ref();
    let added = patch.map(|patch| added_files(patch, starter, comparison));
    let added = added.unwrap_or_default();
    let marks = patch.map(|patch| marks(&mut engine, patch, &added));
    let marks = marks.unwrap_or_default();
    let unread = unread_sessions(inputs, sources);
    if files.is_empty() && logs.is_empty() {
        return Ok(Heard {
            trace: None,
            coverage: Coverage::Missing,
            reasons: vec!["there is no trace".to_owned()],
            unread,
            rules: finish(engine, marks),
            provenance: None,
            trace_is_full: false,
            added,
        });
    }
    let tracker = tracker(inputs, &added, sources, comparison, starter, prompt);
    let (mut trace, mut engine, tracker) = hear(&files, engine, tracker)?;
    if inputs.dir.is_none()
        && let Some(file) = trace.files.iter().find(|f| !f.is_trace())
    {
        return Err(file.not_a_trace());
    }
    // Logs of the runner: plain text that may name something, and no evidence of what was done.
    let mut shifted = Shifted {
        by: u32::try_from(files.len()).unwrap_or(u32::MAX),
        sink: &mut engine,
    };
    let mut report_of_logs = read_traces(&logs, &mut shifted)?;
    trace.files.append(&mut report_of_logs.files);
    Ok(conclude(
        trace,
        tracker,
        finish(engine, marks),
        unread,
        added,
    ))
}

/// Follows other lines through the traces: the GT shrank, and what the agent handed in is the same. What the rules found in
/// them stays.
pub(super) fn follow_again(
    heard: Heard,
    inputs: &RunInputs,
    sources: &Sources,
    comparison: Option<&Comparison>,
    starter: Option<&RunStarter>,
    prompt: Option<&str>,
) -> Result<Heard> {
    /// Hears nothing.
    struct Deaf;
    impl EventSink for Deaf {
        fn event(&mut self, _: &Event) {}
    }
    let Some(trace) = heard.trace else {
        return Ok(heard);
    };
    let tracker = tracker(inputs, &heard.added, sources, comparison, starter, prompt);
    let (_, Deaf, tracker) = hear(&trace_files(inputs).0, Deaf, tracker)?;
    Ok(conclude(
        trace,
        tracker,
        heard.rules,
        heard.unread,
        heard.added,
    ))
}

/// What the traces said, when all of it was heard.
fn conclude(
    trace: TraceReport,
    tracker: Tracker,
    mut rules: EngineReport,
    unread: Vec<String>,
    added: Vec<AddedFile>,
) -> Heard {
    let mut provenance = tracker.finish();
    let first = trace.files.first();
    if first.is_some_and(|f| f.problems.iter().any(|p| p.is_continuation())) {
        // What stood in the tree at the first look may be the agent's own work, of an earlier session.
        provenance.preapplied_lines = 0;
    }
    refine::known_history(&mut rules.findings, &provenance);
    let trace_is_full =
        trace.coverage == Coverage::Full && rules.unclear_commands == 0 && unread.is_empty();
    let (mut coverage, mut reasons) = coverage(&trace, &provenance, rules.unclear_commands);
    if !unread.is_empty() {
        coverage = coverage.min(Coverage::Partial);
        reasons.push(format!(
            "session logs in the run directory that cannot be told to be of this run were not read: {}",
            shortened(&unread)
        ));
    }
    Heard {
        trace: Some(trace),
        coverage,
        reasons,
        unread,
        rules,
        provenance: Some(provenance),
        trace_is_full,
        added,
    }
}

/// The traces of a run, and the logs of its runner.
fn trace_files(inputs: &RunInputs) -> (Vec<TraceFile>, Vec<TraceFile>) {
    let (traces, logs): (Vec<_>, Vec<_>) = inputs
        .traces
        .iter()
        .partition(|t| t.role == TraceRole::Trace);
    (
        traces.into_iter().map(trace_file).collect(),
        logs.into_iter().map(trace_file).collect(),
    )
}

/// The session logs that were not read, without those that the base holds as they are.
fn unread_sessions(inputs: &RunInputs, sources: &Sources) -> Vec<String> {
    let of_the_base = |session: &TraceInput| {
        let tree = sources.tree()?;
        let path = BStr::new(session.label.as_bytes());
        tree.entries().get(path)?;
        let size = std::fs::symlink_metadata(&session.path).ok()?.len();
        tree.equals_file(path, &session.path, size).ok()
    };
    let sessions = inputs.unread_sessions.iter();
    let sessions = sessions.filter(|session| of_the_base(session) != Some(true));
    sessions.map(|session| session.label.clone()).collect()
}

/// The first of several names, and how many there are more.
pub(super) fn shortened(names: &[String]) -> String {
    let named: Vec<_> = names.iter().take(NAMED_FILES).map(String::as_str).collect();
    match names.len().saturating_sub(NAMED_FILES) {
        0 => named.join(", "),
        left => format!("{} and {left} more", named.join(", ")),
    }
}

fn trace_file(input: &TraceInput) -> TraceFile {
    TraceFile {
        path: input.path.clone(),
        label: input.label.clone(),
    }
}

/// Hands on events whose file numbers come after those of another reading.
struct Shifted<'a, S> {
    by: u32,
    sink: &'a mut S,
}

impl<S: EventSink> EventSink for Shifted<'_, S> {
    fn event(&mut self, event: &Event) {
        let mut event = event.clone();
        event.id.file = event.id.file.saturating_add(self.by);
        event.source.file = event.source.file.saturating_add(self.by);
        self.sink.event(&event);
    }
}

/// Marks in what the agent added: licence headers, contributors, links.
fn marks(engine: &mut Engine<'_>, patch: &Patch, added: &[AddedFile]) -> Vec<Finding> {
    // A line that stands in the base was moved or copied there: its names and links are no news.
    let moved: BTreeSet<&str> = added
        .iter()
        .flat_map(|file| &file.lines)
        .filter(|line| line.starter)
        .map(|line| line.text.as_str())
        .collect();
    let mut found = Vec::new();
    for file in &patch.files {
        let path = file.path().to_str_lossy();
        for hunk in &file.hunks {
            let mut next = hunk.new_start;
            let mut added = Vec::new();
            for line in hunk.lines.iter().filter(|l| l.kind != LineKind::Removed) {
                let text = line.text.to_str_lossy();
                if line.kind == LineKind::Added && !moved.contains(squeeze(&text).as_str()) {
                    added.push((next, text));
                }
                next = next.saturating_add(1);
            }
            let lines = added.iter().map(|(number, text)| (*number, text.as_ref()));
            found.append(&mut engine.scan_added_lines(&path, lines));
        }
    }
    found
}

/// What the rules found in the trace, and after that in the patch.
fn finish(engine: Engine<'_>, marks: Vec<Finding>) -> EngineReport {
    let mut report = engine.finish();
    report.findings.extend(marks);
    report
}

/// The added lines of a patch, without their white space.
pub(super) fn squeezed_lines(patch: &Patch) -> BTreeSet<String> {
    let added = patch.files.iter().flat_map(|f| f.added());
    added
        .map(|line| squeeze(&line.text.to_str_lossy()))
        .collect()
}

/// The agent's added lines, with those that stand in the base marked.
fn added_files(
    patch: &Patch,
    starter: Option<&RunStarter>,
    comparison: Option<&Comparison>,
) -> Vec<AddedFile> {
    let generated: BTreeSet<&str> = comparison
        .into_iter()
        .flat_map(|c| &c.similarity.files)
        .filter(|f| f.generated)
        .map(|f| f.paired_with.as_deref().unwrap_or(&f.path))
        .collect();
    let known = starter
        .map(|starter| starter.known(&squeezed_lines(patch)).found)
        .unwrap_or_default();
    patch
        .files
        .iter()
        .map(|file| {
            let path = file.path().to_string();
            let before = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            let before = before.filter(|line| line.kind != LineKind::Added);
            AddedFile {
                around: before.map(|l| squeeze(&l.text.to_str_lossy())).collect(),
                generated: generated.contains(path.as_str()),
                lines: file
                    .added()
                    .map(|line| {
                        let text = squeeze(&line.text.to_str_lossy());
                        AddedLine {
                            starter: known.contains(&text),
                            text,
                        }
                    })
                    .collect(),
                path,
            }
        })
        .collect()
}

fn tracker(
    inputs: &RunInputs,
    patch: &[AddedFile],
    sources: &Sources,
    comparison: Option<&Comparison>,
    starter: Option<&RunStarter>,
    prompt: Option<&str>,
) -> Tracker {
    let lines = comparison.map_or(&[][..], |c| c.lines.as_slice());
    let in_starter = starter.map_or_else(Vec::new, |starter| starter.parts(lines));
    let gt_paths: Vec<_> = comparison
        .into_iter()
        .flat_map(|c| &c.similarity.files)
        .map(|f| f.path.clone())
        .collect();
    let mut tracker = Tracker::new(&Inputs {
        gt_paths: &gt_paths,
        lines,
        in_starter: &in_starter,
        patch,
        prompt: prompt.unwrap_or_default(),
        starter_known: sources.tree().is_some(),
    });
    let facts = &inputs.task_facts;
    let names = [&facts.upstream, &facts.package].into_iter().flatten();
    tracker.task_is(names.map(String::as_str));
    if facts.forbidden == Forbidden::Parent {
        tracker.history_is_forbidden();
    }
    tracker
}

/// The trace's own coverage, lowered when the tree holds changes that no call of it explains, or
/// mostly lines that no event holds (one opaque script can write anything), and when a command could
/// not be read.
fn coverage(
    report: &TraceReport,
    provenance: &Provenance,
    unclear_commands: u64,
) -> (Coverage, Vec<String>) {
    let mut reasons = report.reasons.clone();
    if report.coverage < Coverage::Full {
        return (report.coverage, reasons);
    }
    let known = reasons.len();
    let orphans: Vec<String> = provenance
        .unseen
        .iter()
        .filter(|unseen| unseen.event.is_none() && !provenance.beside.contains(&unseen.path))
        .map(|unseen| unseen.path.clone())
        .collect();
    if !orphans.is_empty() {
        reasons.push(format!(
            "no call of the trace explains the changes to {}",
            shortened(&orphans)
        ));
    }
    if provenance.ledger.is_some() {
        // Of the files that have to do with the GT: what a tool writes elsewhere (lock files, reports, assets) says
        // nothing of who wrote those.
        let size = provenance.ledger_size;
        if size.unseen_lines >= MANY_UNSEEN && size.unseen_lines > size.shown_lines {
            reasons.push(format!(
                "{} added lines stand in no recorded event (written by a script or another program)",
                size.unseen_lines
            ));
        } else if size.unseen >= MANY_UNSEEN && size.unseen > size.shown
            || size.unseen_longest >= LONG_UNSEEN
        {
            reasons.push(format!(
                "added text of the size of {} lines stands in no recorded event (written by a script or another program)",
                size.unseen
            ));
        }
    }
    // A copy from elsewhere is explained: by the copy.
    for copy in provenance.opaque.iter().filter(|c| !c.imported) {
        reasons.push(format!(
            "lines {} of {} stand in {}, in no recorded event; the call in line {} of the trace may have written them: {}",
            shortened(&copy.gt_lines),
            copy.gt_path,
            copy.path,
            copy.line,
            copy.command
        ));
    }
    if unclear_commands > 0 {
        reasons.push(format!(
            "{unclear_commands} commands could not be taken apart, so what they ran is not known for sure"
        ));
    }
    if reasons.len() > known {
        (Coverage::Partial, reasons)
    } else {
        (Coverage::Full, reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;

    /// What was moved inside the repository brings its names along.
    #[test]
    fn moved_lines_carry_no_marks() {
        let patch = crate::patch::parse(
            b"--- a/x.c\n+++ b/x.c\n@@ -1 +1,3 @@\n a\n+// TODO(annex): old\n+// TODO(benno): new\n",
        );
        let line = |text: &str, starter| AddedLine {
            text: squeeze(text),
            starter,
        };
        let added = [AddedFile {
            path: "x.c".to_owned(),
            generated: false,
            around: Vec::new(),
            lines: vec![
                line("// TODO(annex): old", true),
                line("// TODO(benno): new", false),
            ],
        }];
        let rules = RuleSet::builtin().unwrap();
        let mut engine = Engine::new(&rules, &TaskFacts::default(), None, Vec::new());
        let found = marks(&mut engine, &patch, &added);
        let lines: Vec<_> = found.iter().map(|f| (f.rule.as_str(), f.line)).collect();
        assert_eq!(lines, [("marks.person", 3)]);
        assert_eq!(marks(&mut engine, &patch, &[]).len(), 2);
    }
}
