//! Reading what the comparison needs: GT, base, agent's patch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::apart::search_apart;
use super::gt_lines::{GtLines, reread};
use super::search::search;
use crate::experiment::discover::RunInputs;
use crate::experiment::gt::GtInput;
use crate::experiment::traces::TraceInput;
use crate::experiment::wording::shell_quote;
use crate::patch::model::{FilePatch, Patch};
use crate::patch::tree::EntryKind;
use crate::patch::{
    AgentPatch, Apart, Base, BaseInfo, BaseRequest, BaseShelf, BaseTree, Fit, GtPatch, TreeFlags,
    apart_without_base, fits, load_gt, load_patch, load_range, worktree_patch,
};
use crate::provenance::model::Provenance;
use crate::similarity::normalise::squeeze;
use crate::verdict::measures::{GtState, PatchState};
use crate::{Error, Result};

/// Characters (without white space) from which on a line tells something: as for distinctive lines.
const MIN_TELLING: usize = 8;

/// The patches of a run and how they were found.
pub(super) struct Sources {
    /// The GT.
    pub(super) gt: Option<GtPatch>,
    /// What to call it.
    pub(super) gt_label: Option<String>,
    /// Names in the root of the run that were left out of the patch.
    pub(super) excluded: BTreeSet<String>,
    /// Whether it fits the base.
    pub(super) gt_state: GtState,
    /// The agent's patch.
    pub(super) patch: Option<Patch>,
    /// What is known about it.
    pub(super) patch_state: PatchState,
    /// The base, where a work tree was compared with one.
    pub(super) base: Option<Base>,
    /// Files of the GT in the work tree that could not be looked at: they are not unchanged.
    pub(super) not_compared: u64,
    /// Files of the patch that stand where the reading of a work tree does not go.
    pub(super) apart: BTreeSet<String>,
    /// Lines of the GT (squeezed) in copies that lie there, or beside the work, and do not count.
    pub(super) residue: BTreeSet<String>,
    /// Lines of the GT that the base already holds, in files that are as the GT leaves them.
    pub(super) preapplied_lines: u64,
    /// What was wrong on the way, in words.
    pub(super) problems: Vec<String>,
    /// What could not be checked, in words.
    pub(super) unchecked: Vec<String>,
}

/// Reads the patch of a run and one of its references. `own` holds names in the root of the run that are the
/// agent's work although evaluators use them.
///
/// # Errors
/// When a file that was found or named cannot be read or holds no patch.
pub(super) fn read(
    inputs: &RunInputs,
    named: Option<&GtInput>,
    own: &BTreeSet<String>,
    shelf: &BaseShelf,
) -> Result<Sources> {
    let gt = named
        .map(|gt| load(gt, inputs.task.as_deref()))
        .transpose()?;
    let mut sources = Sources {
        gt_state: if gt.is_some() {
            GtState::Present
        } else {
            GtState::Absent
        },
        gt_label: named.map(GtInput::label),
        gt,
        excluded: BTreeSet::new(),
        patch: None,
        patch_state: PatchState::Absent,
        base: None,
        not_compared: 0,
        apart: BTreeSet::new(),
        residue: BTreeSet::new(),
        preapplied_lines: 0,
        problems: Vec::new(),
        unchecked: Vec::new(),
    };
    if let Some(gt) = &sources.gt {
        let broken = gt.patch.problems.iter();
        sources
            .problems
            .extend(broken.map(|p| format!("ground truth, line {}: {}", p.line, p.what)));
    }
    if let Some(path) = &inputs.patch_file {
        let patch = load_patch(path)?;
        sources.problems.extend(
            patch
                .problems
                .iter()
                .map(|p| format!("patch, line {}: {}", p.line, p.what)),
        );
        sources.doubt_patch(&patch);
        sources.take_patch(patch);
        if let Some(tree) = &inputs.base_tree {
            sources.read_base_alone(inputs, tree, shelf)?;
        }
    } else if let Some(dir) = &inputs.dir {
        sources.read_work_tree(inputs, dir, own, shelf)?;
    }
    Ok(sources)
}

impl Sources {
    fn take_patch(&mut self, patch: Patch) {
        self.patch_state = if patch.files.is_empty() {
            PatchState::Empty
        } else {
            PatchState::Present
        };
        self.patch = Some(patch);
    }

    /// What of a patch that came as a file could not be compared with the GT: hunks that are not readable as a
    /// whole, and files without content that are text in the GT.
    fn doubt_patch(&mut self, patch: &Patch) {
        let Some(gt) = &self.gt else { return };
        let text: BTreeSet<&BString> = gt
            .patch
            .files
            .iter()
            .filter(|file| !file.binary && file.added().next().is_some())
            .map(FilePatch::path)
            .collect();
        let binary = patch.files.iter().filter(|file| file.binary);
        let unseen: Vec<String> = binary
            .map(FilePatch::path)
            .filter(|path| text.contains(path))
            .map(ToString::to_string)
            .collect();
        let broken = patch.problems.iter().filter(|p| p.loses_lines).count();
        self.not_compared = (unseen.len() + broken) as u64;
        if !unseen.is_empty() {
            self.unchecked.push(format!(
                "files of the patch without content: {}",
                unseen.join(", ")
            ));
        }
        if broken > 0 {
            self.unchecked
                .push("lines of the patch that cannot be read".to_owned());
        }
    }

    /// The base of a patch that came as a file: only the benchmark's own tree can be it.
    fn read_base_alone(
        &mut self,
        inputs: &RunInputs,
        tree: &Path,
        shelf: &BaseShelf,
    ) -> Result<()> {
        let base = shelf.choose(&BaseRequest {
            run: tree,
            given: inputs.base_commit.as_deref(),
            base_repo: Some(tree),
            known_commit: None,
            gt: None,
        })?;
        self.problems.extend(base.problems.iter().cloned());
        self.check_gt(&base);
        self.base = Some(base);
        Ok(())
    }

    /// Whether the GT fits the base, and what of it the base already holds.
    fn check_gt(&mut self, base: &Base) {
        if let (Some(gt), Some(tree)) = (&self.gt, &base.tree) {
            let (state, lines) = check_fit(&gt.patch, tree.as_ref(), &mut self.problems);
            self.gt_state = state;
            self.preapplied_lines = lines;
        }
    }

    fn read_work_tree(
        &mut self,
        inputs: &RunInputs,
        dir: &Path,
        own: &BTreeSet<String>,
        shelf: &BaseShelf,
    ) -> Result<()> {
        let base = shelf.choose(&BaseRequest {
            run: dir,
            given: inputs.base_commit.as_deref(),
            base_repo: inputs.base_tree.as_deref(),
            known_commit: inputs.task_facts.base_commit.as_deref(),
            gt: self.gt.as_ref().map(|gt| &gt.patch),
        })?;
        let gt = self.gt.as_ref().map(|gt| &gt.patch);
        let lines = gt.map(GtLines::new);
        let mut excluded = excluded_names(inputs, dir)?;
        excluded.retain(|name| !own.contains(name));
        let AgentPatch {
            mut patch,
            problems,
            flags,
            unread,
            ..
        } = worktree_patch(dir, &base, &excluded, gt)?;
        refuse_closed(&flags, dir, inputs.base_tree.as_deref())?;
        self.problems.extend(problems);
        self.excluded = excluded;
        let mut unseen = Vec::new();
        match &base.tree {
            None => {
                self.patch_state = PatchState::BaseUnknown;
                self.unchecked.push(
                    "what the agent changed (no base to compare the work tree with)".to_owned(),
                );
                if let (Some(gt), Some(lines)) = (gt, &lines) {
                    let found = search(dir, gt, lines, &self.excluded)?;
                    self.problems.extend(found.problems);
                    unseen = found.not_compared;
                    let apart = apart_without_base(dir, &self.excluded)?;
                    patch = found.patch;
                    self.add_apart(inputs, dir, &apart, lines, &mut patch);
                    self.patch = Some(patch);
                }
            }
            Some(tree) => {
                if let (Some(gt), Some(lines)) = (gt, &lines) {
                    let disk =
                        |path: &BStr| unread.get::<[u8]>(path.as_ref()).map(PathBuf::as_path);
                    let again = reread(&mut patch, disk, &flags.oversized, lines);
                    self.problems.extend(again.problems);
                    let cut = &again.not_compared;
                    unseen = not_compared(gt, &flags, cut, dir, Some(tree.as_ref()));
                }
                let strange = another_tree(tree.as_ref(), &patch);
                if let Some(lines) = &lines {
                    self.add_apart(inputs, dir, &flags.apart, lines, &mut patch);
                }
                self.check_gt(&base);
                if self.apart.is_empty() && is_empty(dir, &self.excluded)? {
                    self.unchecked
                        .push("what the agent changed (the work tree is empty)".to_owned());
                } else {
                    self.take_patch(patch);
                    self.problems.splice(0..0, strange);
                }
            }
        }
        if !unseen.is_empty() && self.patch_state != PatchState::Absent {
            self.not_compared = unseen.len() as u64;
            self.unchecked.push(format!(
                "files in the work tree that could not be compared with the ground truth: {}",
                unseen.join(", ")
            ));
        }
        self.base = Some(base);
        Ok(())
    }

    /// Adds what counts as work in places that were left out.
    fn add_apart(
        &mut self,
        inputs: &RunInputs,
        dir: &Path,
        apart: &[Apart],
        lines: &GtLines,
        patch: &mut Patch,
    ) {
        let Some(gt) = &self.gt else { return };
        let is_read = |name: &str| is_trace(inputs, name) || name == PROMPT_NAME;
        let found = search_apart(dir, apart, &gt.patch, lines, patch, is_read);
        self.problems.extend(found.problems);
        self.residue = found.residue;
        self.apart = found.files.iter().map(|f| f.path().to_string()).collect();
        patch.files.extend(found.files);
        patch.files.sort_by(|a, b| a.path().cmp(b.path()));
    }

    /// Names of the evaluation in the root of the run that the trace shows the agent writing, or writing
    /// into. The harness's own files (traces, metadata, the prompt) are not among them: writing those is
    /// tampering and no work.
    pub(super) fn written_by_the_agent(
        &self,
        inputs: &RunInputs,
        provenance: Option<&Provenance>,
    ) -> BTreeSet<String> {
        let written = provenance.map_or(&[][..], |p| p.written_paths.as_slice());
        let roots = written.iter().filter_map(|path| {
            let path = path.strip_prefix("./").unwrap_or(path);
            let (root, _) = path.split_once('/').unwrap_or((path, ""));
            self.excluded.get(root)
        });
        roots
            .filter(|name| inputs.root_filter.is_evaluators(name) && !is_trace(inputs, name))
            .cloned()
            .collect()
    }

    /// Which of several references the verdict rests on.
    pub(super) fn which_gt(&self, inputs: &RunInputs) -> String {
        format!(
            "of {} references the patch is most like {}",
            inputs.other_gt.len() + usize::from(inputs.gt.is_some()),
            self.gt_label.as_deref().unwrap_or_default()
        )
    }

    /// The base tree, where there is one.
    pub(super) fn tree(&self) -> Option<&dyn BaseTree> {
        self.base.as_ref().and_then(|b| b.tree.as_deref())
    }

    /// Which base was taken.
    pub(super) fn base_info(&self) -> Option<&BaseInfo> {
        self.base.as_ref().map(|b| &b.info)
    }
}

/// The prompt in a run, which is read as such.
const PROMPT_NAME: &str = "TASK_PROMPT.md";

/// A name in the root of the run that is one of its traces.
fn is_trace(inputs: &RunInputs, name: &str) -> bool {
    let of = |t: &TraceInput| t.label == name || t.path.ends_with(name);
    inputs.traces.iter().any(of)
}

/// Reads a reference in whatever form it was named.
fn load(gt: &GtInput, task: Option<&str>) -> Result<GtPatch> {
    match &gt.range {
        Some(range) => load_range(&gt.path, &range.from, &range.to),
        None => load_gt(&gt.path, task),
    }
}

/// A file that may not be opened is not an unchanged file: whoever audits has to open it first.
fn refuse_closed(flags: &TreeFlags, run: &Path, base: Option<&Path>) -> Result<()> {
    for path in &flags.unreadable {
        let relative = path.to_os_str_lossy();
        for root in [Some(run), base].into_iter().flatten() {
            let file = root.join(Path::new(&relative));
            let denied = std::fs::symlink_metadata(&file)
                .and_then(|meta| match meta.is_dir() {
                    true => std::fs::read_dir(&file).map(|_| ()),
                    false if meta.is_file() => std::fs::File::open(&file).map(|_| ()),
                    false => Ok(()),
                })
                .is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
            if denied {
                return Err(Error::InputMissing {
                    path: file,
                    what: "it may not be read, so it cannot be told whether it was changed"
                        .to_owned(),
                    fix: format!("to open it: chmod -R u+rX {}", shell_quote(root)),
                });
            }
        }
    }
    Ok(())
}

/// Files of the base from which on their number says something.
const MANY_FILES: usize = 10;

/// Says so when the run has next to nothing of the base as it stands there: then it was no run of this task, or
/// the base was named wrongly (or the agent changed everything, which is for a person to see).
fn another_tree(base: &dyn BaseTree, patch: &Patch) -> Option<String> {
    let files = base.entries().len();
    let changed = patch.files.iter().filter(|f| f.old_path.is_some()).count();
    let alike = files.saturating_sub(changed);
    (files >= MANY_FILES && alike * 10 < files).then(|| {
        format!(
            "of the {files} files of the base only {alike} stand unchanged in the run; is it the starter tree of \
             this task? (--base-repo, --base, --task)"
        )
    })
}

/// Files of the GT that stand in the work tree and could not be compared: behind links that the base
/// does not have, pipes and devices, broken ones, those of which `cut` says that some was not read. And files of
/// any name that declare an encoding which is not decoded.
fn not_compared(
    gt: &Patch,
    flags: &TreeFlags,
    cut: &BTreeSet<BString>,
    run: &Path,
    base: Option<&dyn BaseTree>,
) -> Vec<String> {
    let unseen: BTreeSet<&BString> = [&flags.links_outside, &flags.special, &flags.unreadable]
        .into_iter()
        .flatten()
        .chain(cut)
        .collect();
    let behind = |path| !flags.links_followed.contains(path) && is_behind_new_link(path, run, base);
    let of_gt = gt.files.iter().map(FilePatch::path);
    let of_gt = of_gt.filter(|path| unseen.contains(path) || behind(path));
    let undecoded = flags.undecoded.iter().map(|(path, _)| path);
    let all: BTreeSet<&BString> = of_gt.chain(undecoded).collect();
    all.into_iter().map(ToString::to_string).collect()
}

/// The file, or a directory above it, is a link in the run and none in the base: what it leads to
/// may be anything, and is the agent's doing.
fn is_behind_new_link(path: &BString, run: &Path, base: Option<&dyn BaseTree>) -> bool {
    let mut here = BString::default();
    for part in path.split(|b| *b == b'/') {
        if !here.is_empty() {
            here.push(b'/');
        }
        here.extend_from_slice(part);
        let is_link = std::fs::symlink_metadata(run.join(&*here.to_os_str_lossy()))
            .is_ok_and(|meta| meta.file_type().is_symlink());
        if is_link {
            let in_base = base.and_then(|tree| tree.entries().get(&here));
            return !in_base.is_some_and(|entry| entry.kind == EntryKind::Link);
        }
    }
    false
}

/// Checks the GT against the base: one that does not fit is no measure of the patch, and one that
/// the base already holds was there before the agent came. Returns the state and, for the second
/// case, the number of lines.
fn check_fit(gt: &Patch, tree: &dyn BaseTree, problems: &mut Vec<String>) -> (GtState, u64) {
    match fits(gt, Some(tree)) {
        Fit::DoesNotFit { files, already } => {
            let first = files
                .first()
                .map(|(path, why)| format!("{path}: {}", why.words()))
                .unwrap_or_default();
            problems.push(format!(
                "the ground truth does not fit the base: {} of its files do not apply (first: {first})",
                files.len()
            ));
            (GtState::DoesNotFit, telling_lines(gt, &already))
        }
        Fit::Fits { already } => (GtState::Present, telling_lines(gt, &already)),
        Fit::Unknown => (GtState::Present, 0),
    }
}

/// Distinct lines that the GT adds to the files `already` and that are long enough to tell something.
fn telling_lines(gt: &Patch, already: &[BString]) -> u64 {
    let files = gt.files.iter().filter(|f| already.contains(f.path()));
    let lines: BTreeSet<String> = files
        .flat_map(|file| file.added())
        .map(|line| squeeze(&line.text.to_str_lossy()))
        .filter(|line| line.chars().nth(MIN_TELLING - 1).is_some())
        .collect();
    lines.len() as u64
}

/// The run directory holds nothing but names of the evaluation: the work is gone, not undone. An agent that
/// deleted everything leaves the same, and neither can be judged by its patch.
fn is_empty(dir: &Path, excluded: &BTreeSet<String>) -> Result<bool> {
    for entry in dir.read_dir().map_err(|e| Error::io(dir, e))? {
        let name = entry.map_err(|e| Error::io(dir, e))?.file_name();
        let name = name.to_string_lossy();
        if name != ".git" && !excluded.contains(name.as_ref()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Names in the root of the run that are not the agent's work, as the run directory has them.
fn excluded_names(inputs: &RunInputs, dir: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let name = entry.map_err(|e| Error::io(dir, e))?.file_name();
        if let Some(name) = name.to_str()
            && inputs.root_filter.excludes(name)
        {
            names.insert(name.to_owned());
        }
    }
    Ok(names)
}
