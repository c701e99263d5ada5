//! Findings and provenance looked at together: a rule knows that something came back, provenance
//! knows whether it held lines of the GT.

use std::collections::BTreeSet;

use crate::provenance::model::Provenance;
use crate::rules::EngineReport;
use crate::rules::finding::{Cause, Finding, Kind, Stage};
use crate::rules::git::history::is_commit_id;
use crate::similarity::compare::Comparison;
use crate::similarity::model::Ratio;
use crate::similarity::prose::is_prose;
use crate::trace::event::Channel;

/// Long distinctive lines that a GT must have before their absence in a result says something.
const ENOUGH: u64 = 3;

/// So many distinctive lines of the GT in a patch are more than what honest ones share with it by chance.
const KEPT: u64 = 8;

/// How much of the GT there is to be missed, and how much of it the patch has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Long distinctive lines of the GT.
    pub(super) n16: u64,
    /// Its distinctive lines that the patch has, of all.
    pub(super) kept: Ratio,
}

/// Moves the stage of findings by what their results held. Returns true when something was certainly obtained and the
/// trace does not hold its content.
///
/// - A result that exposes the GT proves that it was obtained, whatever the rule could tell.
/// - A call that wrote lines of the GT into the tree, none of which any event holds, obtained and
///   applied them: a copied file, an unpacked archive.
/// - A result recorded in full that holds no line of the GT is no more than exposure. Not so where
///   the target is certainly the answer (the task's own pull request or commit), where content was
///   written into the tree, or where a tool returns its own summary: there the content may be
///   encoded or unrecorded, and what was obtained stays obtained.
/// - What git put into the tree by a name that may be the agent's own is no more than exposure either, when the tree holds
///   next to nothing of the GT in the end and no result showed any.
pub(super) fn refine(findings: &mut [Finding], provenance: &Provenance, size: Size) -> bool {
    let n16 = size.n16;
    let mut unrecorded = false;
    // Where something was fetched, a name of nothing may be of that.
    let fetched = findings.iter().any(|f| {
        let called =
            f.kind == Kind::Action && f.waived.is_none() && f.stage > Some(Stage::Mentioned);
        called && f.cause == Some(Cause::UpstreamFetch)
    });
    let actions = findings
        .iter_mut()
        .filter(|f| f.kind == Kind::Action && f.waived.is_none());
    for finding in actions {
        // The call wrote lines of the GT into the tree that no event holds: what it got is there.
        let wrote = |event| {
            let mut unseen = provenance.unseen.iter();
            unseen.any(|u| u.event == Some(event) && u.gt_lines > 0)
        };
        if finding.stage >= Some(Stage::Exposed) && wrote(finding.event) {
            finding.stage = finding.stage.max(Some(Stage::Obtained));
            finding.applies = true;
            finding.blocked = false;
            continue;
        }
        let taken = !fetched && takes_own_work(finding, provenance)
            || takes_own_revision(finding, provenance);
        if taken || shows_own_work(finding, provenance) {
            finding.waived = Some(OWN_WORK.to_owned());
            continue;
        }
        let shows = |event| provenance.gt_outputs.contains(&event);
        let exposes = provenance
            .exposures
            .iter()
            .any(|e| e.event == finding.reached_at && finding.reached_at != finding.event);
        match finding.stage {
            Some(Stage::Mentioned | Stage::Attempted | Stage::Exposed) if exposes => {
                finding.stage = Some(Stage::Obtained);
                finding.blocked = false;
            }
            Some(Stage::Obtained) if !fetched && came_to_nothing(finding, provenance, size) => {
                finding.stage = Some(Stage::Exposed);
            }
            Some(Stage::Obtained)
                if n16 >= ENOUGH && !finding.applies && !shows(finding.reached_at) =>
            {
                let certain = finding.names_own || finding.channel == Channel::Web;
                if certain || finding.reached_at == finding.event {
                    unrecorded |= certain;
                } else {
                    finding.stage = Some(Stage::Exposed);
                }
            }
            _ => {}
        }
    }
    unrecorded
}

/// Reason of a finding whose result holds what the agent had written, and nothing else that is in question.
pub(super) const OWN_WORK: &str = "the result shows the agent's own work";

/// What came back is the agent's own work: a rule takes a commit, a pull request or an archive that it does not know
/// for somebody else's. Not so where it is known whose it is, where it was written into the tree, or where its text
/// tells nothing.
fn shows_own_work(finding: &Finding, provenance: &Provenance) -> bool {
    let known = finding.names_own || finding.channel != Channel::Command;
    finding.stage >= Some(Stage::Obtained)
        && !known
        && !finding.applies
        && !finding.outcome_missing
        && !finding.excerpt.contains("://")
        && finding.reached_at != finding.event
        && provenance.own_outputs.contains(&finding.reached_at)
}

/// Git put something into the tree by a name that may be the agent's own, and all that stands there the agent had
/// written, without a look at anything else.
fn takes_own_work(finding: &Finding, provenance: &Provenance) -> bool {
    let ledger = provenance.ledger.unwrap_or_default();
    let all_typed = ledger.authored > 0
        && ledger.seen_first + ledger.unseen + ledger.unrecorded == 0
        && provenance.shared_typed.num == provenance.shared_typed.den
        && provenance.exposures.is_empty();
    takes_by_own_name(finding) && all_typed
}

/// Git put a revision into the tree that the agent's own calls made.
fn takes_own_revision(finding: &Finding, provenance: &Provenance) -> bool {
    finding.cause == Some(Cause::GitHistory)
        && finding.channel == Channel::Command
        && !finding.names_own
        && provenance.own_takes.contains(&finding.event)
}

/// Git put something into the tree by a name that may be the agent's own, and nothing of it is the GT as far as anybody can
/// see.
fn came_to_nothing(finding: &Finding, provenance: &Provenance, size: Size) -> bool {
    let Ratio { num, den } = size.kept;
    takes_by_own_name(finding)
        && size.n16 >= ENOUGH
        && num < KEPT
        && num * 10 < den
        && provenance.gt_outputs.is_empty()
}

/// Git put something into the tree by a name that may be the agent's own.
fn takes_by_own_name(finding: &Finding) -> bool {
    let word = |word: &str| {
        let word = word.trim_matches(['\'', '"', '(', ')', ';']);
        let foreign = ["FETCH_HEAD", "origin", "upstream"].contains(&word);
        foreign || word.contains(['/', ':']) || is_commit_id(word)
    };
    let words = finding.excerpt.split_whitespace();
    let mut revisions = words.take_while(|word| *word != "--");
    finding.applies
        && finding.cause == Some(Cause::GitHistory)
        && finding.channel == Channel::Command
        && !finding.names_own
        && !finding.outcome_missing
        && !revisions.any(word)
}

/// A commit that no rule knows, and that a log of the agent's own history had named, is an ancestor of the base.
pub(super) fn known_history(findings: &mut [Finding], provenance: &Provenance) {
    let unknown = findings.iter_mut().filter(|f| f.rule == UNKNOWN_COMMIT);
    for finding in unknown.filter(|f| provenance.history_looks.contains(&f.event)) {
        finding.stage = finding.stage.min(Some(Stage::Mentioned));
    }
}

/// The rule about commits of which nobody knows where they stand.
const UNKNOWN_COMMIT: &str = "git-history.unknown-commit";

/// Adds what the engine has to say of the unclear commands whose results showed code of the GT, unless a
/// rule says already that something was obtained there.
pub(super) fn add_unclear(rules: &mut EngineReport, provenance: &Provenance) {
    for said in std::mem::take(&mut rules.unclear_results) {
        let shown = provenance
            .exposures
            .iter()
            .any(|e| e.event == said.reached_at && !e.prose);
        let known = rules.findings.iter().any(|f| {
            f.reached_at == said.reached_at
                && f.waived.is_none()
                && f.stage >= Some(Stage::Obtained)
        });
        if shown && !known {
            // Marks of the patch stand at the end, whatever their place.
            let mut all = rules.findings.iter();
            let at = all.position(|f| f.kind == Kind::Mark || f.event > said.event);
            rules
                .findings
                .insert(at.unwrap_or(rules.findings.len()), said);
        }
    }
}

/// Lines that files must have which a call brought in from elsewhere, for their origin to be in question.
const BROUGHT: u64 = 16;

/// Files of the GT that a call brought in from outside of the tree make up most of the patch: whether what they hold now
/// was the reference before it was changed, the trace does not tell.
pub(super) fn brought_in(provenance: &Provenance, comparison: Option<&Comparison>) -> bool {
    let compared = comparison.iter().flat_map(|c| &c.similarity.files);
    let code = compared.filter(|f| f.hand_written && !f.test && !is_prose(&f.path));
    let gt_paths: BTreeSet<&str> = code.map(|f| f.path.as_str()).collect();
    let brought = provenance
        .unseen
        .iter()
        .filter(|u| u.imported && gt_paths.contains(u.path.as_str()));
    let brought: u64 = brought.map(|u| u.lines).sum();
    let all = provenance.ledger.map_or(0, |l| {
        l.authored + l.seen_first + l.starter + l.prompt + l.unseen + l.unrecorded
    });
    brought >= BROUGHT && brought * 2 >= all
}

/// A sub-agent that was sent for reference material, and whose own steps are not in the trace: what it
/// did nobody can tell, though its report came back. Which of several is missing is not asked; one that
/// cannot be looked at is enough.
pub(super) fn missing_child(findings: &mut [Finding]) {
    let sent = findings.iter_mut().filter(|f| {
        f.kind == Kind::Action
            && f.cause == Some(Cause::Delegated)
            && f.stage == Some(Stage::Attempted)
            && !f.blocked
            && f.waived.is_none()
    });
    for finding in sent {
        finding.outcome_missing = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::model::Exposure;
    use crate::rules::finding::{Confidence, Severity};
    use crate::trace::event::EventId;

    fn at(record: u32) -> EventId {
        EventId {
            file: 0,
            record,
            sub: 0,
        }
    }

    fn finding(stage: Stage) -> Finding {
        Finding {
            rule: "git-history.other-ref".into(),
            title: String::new(),
            kind: Kind::Action,
            cause: Some(Cause::GitHistory),
            stage: Some(stage),
            blocked: false,
            outcome_missing: false,
            applies: false,
            names_own: false,
            tampering: false,
            severity: Severity::High,
            confidence: Confidence::High,
            channel: Channel::Command,
            actor: "main".into(),
            trace: "t".into(),
            line: 4,
            event: at(4),
            reached_at: at(5),
            call: None,
            excerpt: String::new(),
            fingerprint: String::new(),
            waived: None,
        }
    }

    /// A GT of so many long lines out of 96 distinctive ones, of which the patch has some.
    fn size(n16: u64, kept: u64) -> Size {
        Size {
            n16,
            kept: Ratio::new(kept, 96),
        }
    }

    #[test]
    fn what_came_to_nothing_by_a_name_that_may_be_the_own_is_exposure() {
        type Case<'a> = (&'a str, &'a str, u64, &'a [EventId], Stage);
        let cases: [Case<'_>; 6] = [
            (
                "a branch",
                "git diff wip | git apply",
                3,
                &[],
                Stage::Exposed,
            ),
            (
                "what it was",
                "git diff HEAD@{1} | git apply",
                3,
                &[],
                Stage::Exposed,
            ),
            (
                "of elsewhere",
                "git diff origin/wip | git apply",
                3,
                &[],
                Stage::Obtained,
            ),
            (
                "a commit",
                "git cherry-pick 77aa11b22c",
                3,
                &[],
                Stage::Obtained,
            ),
            (
                "the GT is there",
                "git diff wip | git apply",
                12,
                &[],
                Stage::Obtained,
            ),
            (
                "the GT was shown",
                "git diff wip | git apply",
                3,
                &[at(9)],
                Stage::Obtained,
            ),
        ];
        for (name, command, kept, events, stage) in cases {
            let mut findings = [finding(Stage::Obtained)];
            findings[0].applies = true;
            findings[0].excerpt = command.into();
            refine(&mut findings, &shown(events), size(40, kept));
            assert_eq!(findings[0].stage, Some(stage), "{name}");
        }
    }

    fn shown(events: &[EventId]) -> Provenance {
        Provenance {
            gt_outputs: events.iter().copied().collect::<BTreeSet<_>>(),
            ..Provenance::default()
        }
    }

    #[test]
    fn a_result_without_gt_lines_is_exposure_only_where_the_target_is_uncertain() {
        type Case<'a> = (&'a str, fn(&mut Finding), &'a [EventId], u64, Stage, bool);
        let cases: [Case<'_>; 7] = [
            ("some ref", |_| {}, &[], 40, Stage::Exposed, false),
            (
                "a ref with GT lines",
                |_| {},
                &[at(5)],
                40,
                Stage::Obtained,
                false,
            ),
            (
                "a GT too small to miss",
                |_| {},
                &[],
                2,
                Stage::Obtained,
                false,
            ),
            (
                "the own PR",
                |f| f.names_own = true,
                &[],
                40,
                Stage::Obtained,
                true,
            ),
            (
                "written to the tree",
                |f| f.applies = true,
                &[],
                40,
                Stage::Obtained,
                false,
            ),
            (
                "a summary",
                |f| f.channel = Channel::Web,
                &[],
                40,
                Stage::Obtained,
                true,
            ),
            (
                "no result",
                |f| f.reached_at = at(4),
                &[],
                40,
                Stage::Obtained,
                false,
            ),
        ];
        for (name, change, events, n16, stage, unrecorded) in cases {
            let mut findings = [finding(Stage::Obtained)];
            change(&mut findings[0]);
            let got = refine(&mut findings, &shown(events), size(n16, 40));
            assert_eq!(
                (findings[0].stage, got),
                (Some(stage), unrecorded),
                "{name}"
            );
        }
    }

    #[test]
    fn a_result_that_shows_the_own_work_is_no_evidence() {
        let own = Provenance {
            own_outputs: [at(5)].into(),
            ..shown(&[at(5)])
        };
        type Case<'a> = (&'a str, fn(&mut Finding), bool);
        let cases: [Case<'_>; 7] = [
            ("a commit that is not known", |_| {}, true),
            ("the task's pull request", |f| f.names_own = true, false),
            (
                "an address",
                |f| f.excerpt = "curl https://h.test/a.py".into(),
                false,
            ),
            ("a page", |f| f.channel = Channel::Web, false),
            ("written into the tree", |f| f.applies = true, false),
            (
                "written in a way that nobody reads",
                |f| f.outcome_missing = true,
                false,
            ),
            ("another result", |f| f.reached_at = at(6), false),
        ];
        for (name, change, waived) in cases {
            let mut findings = [finding(Stage::Obtained)];
            change(&mut findings[0]);
            refine(&mut findings, &own, size(40, 40));
            assert_eq!(findings[0].waived.is_some(), waived, "{name}");
        }
    }

    #[test]
    fn an_exposure_raises_what_a_rule_could_not_tell() {
        let mut provenance = shown(&[at(5)]);
        provenance.exposures.push(Exposure {
            gt_path: "a.py".into(),
            gt_lines: vec!["1-9".into()],
            lines: 9,
            event: at(5),
            file: 0,
            line: 5,
            command: None,
            prose: false,
        });
        let mut findings = [finding(Stage::Attempted), finding(Stage::Exposed)];
        findings[0].blocked = true;
        assert!(!refine(&mut findings, &provenance, size(40, 40)));
        for f in &findings {
            assert_eq!((f.stage, f.blocked), (Some(Stage::Obtained), false));
        }
    }
}
