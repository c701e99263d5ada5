//! The GT, ready to be compared with.

use std::borrow::Cow;
use std::collections::BTreeSet;

use bstr::ByteSlice;
use foldhash::{HashMap, HashMapExt, HashSet};

use super::compare::CompareInputs;
use super::distinctive::{PromptText, is_long, is_trivial};
use super::hunks;
use super::mechanical::Mechanical;
use super::model::DistinctiveLine;
use super::models::models;
use super::normalise::fold;
use super::pairing::GtName;
use super::prepare::{PreparedLine, squeezed_raw};
use super::prose::is_prose;
use super::remarks::Remarks;
use super::scope::FileScope;
use super::testpath::is_test;
use super::tokens::{ABSTRACT, CONCRETE, Grams, Vocabulary};
use crate::patch::model::{FilePatch, FileStatus, Line, LineKind};

/// A line of the GT (all lines with one comparison text).
pub struct LineInfo<'a> {
    /// It carries information.
    pub distinctive: bool,
    /// It follows from lines that were there.
    pub follows: bool,
    /// It stands in a hand-written file.
    pub hand_written: bool,
    /// How often the hand-written files add it.
    pub count: u64,
    /// Where it stands first: rank, file, line. Hand-written files rank before others, code before
    /// prose, code before tests.
    first: (u8, usize, u32),
    line: &'a Line,
    /// The line there is nothing but its comparison text and white space.
    bare: bool,
    /// The comparison text.
    text: &'a str,
}

impl LineInfo<'_> {
    /// The file it stands in first.
    pub fn file(&self) -> usize {
        self.first.1
    }

    /// The comparison text with comments, where that is another.
    fn with_comments(&self) -> Option<String> {
        if self.bare {
            return None;
        }
        Some(squeezed_raw(self.line)).filter(|whole| whole != self.text)
    }
}

/// A file of the GT.
pub struct GtFile<'a> {
    /// The change itself.
    pub patch: &'a FilePatch,
    /// Its path, and where it was before.
    pub name: GtName,
    /// Which measures it counts for.
    pub scope: FileScope,
    /// A test, by its path.
    pub test: bool,
    /// Numbers of its added lines that hold code, in order.
    pub lines: Vec<u32>,
    /// Numbers of its distinctive lines, each once, in order.
    pub distinctive: Vec<u32>,
    /// How many different lines with code it adds that do not follow from others.
    pub distinct: u64,
    /// Its windows of T12.
    pub grams: Vec<u32>,
    /// Its windows of S23.
    pub shapes: Vec<u32>,
    /// Numbers of its change blocks with a distinctive line, as often as they occur.
    pub blocks: Vec<u32>,
}

/// The GT.
pub struct Reference<'a> {
    /// Numbers of the comparison texts.
    numbers: HashMap<&'a str, u32>,
    /// What is known of each.
    pub lines: Vec<LineInfo<'a>>,
    /// Its files, in its order.
    pub files: Vec<GtFile<'a>>,
    /// The tokens.
    pub vocabulary: Vocabulary,
    /// The windows of T12.
    pub grams: Grams,
    /// The windows of S23.
    pub shapes: Grams,
    /// Comments and messages.
    pub remarks: Remarks,
    /// Numbers of the change blocks.
    blocks: HashMap<String, u32>,
}

impl<'a> Reference<'a> {
    /// Reads the GT and finds its distinctive lines. Says in `notes` what was left out.
    /// `prepared` are the hunks of its files.
    pub fn new(
        inputs: &CompareInputs<'a>,
        scopes: &[FileScope],
        prepared: &'a [Vec<Vec<PreparedLine<'a>>>],
        notes: &mut Vec<String>,
    ) -> Self {
        let mut reference = Self {
            numbers: HashMap::new(),
            lines: Vec::new(),
            files: Vec::new(),
            vocabulary: Vocabulary::default(),
            grams: Grams::new(CONCRETE),
            shapes: Grams::new(ABSTRACT),
            remarks: Remarks::default(),
            blocks: HashMap::new(),
        };
        for ((patch, scope), hunks) in inputs.gt.files.iter().zip(scopes).zip(prepared) {
            reference.add_file(patch, scope, hunks);
        }
        // Remarks, windows and blocks are there to look those of a patch up in.
        let has_patch = inputs.patch.is_some();
        for (index, (scope, hunks)) in scopes.iter().zip(prepared).enumerate() {
            if has_patch && scope.hand_written {
                reference.remarks.add(index, hunks);
            }
        }
        reference.mark_distinctive(inputs, prepared, notes);
        reference.count_distinctive();
        if has_patch {
            reference.add_windows(inputs.prompt, prepared);
        }
        reference
    }

    /// Adds the windows and change blocks of all files, without the windows that stood there before.
    fn add_windows(&mut self, prompt: Option<&str>, prepared: &[Vec<Vec<PreparedLine<'_>>>]) {
        for (index, hunks) in prepared.iter().enumerate() {
            self.add_windows_of(index, hunks);
        }
        for hunks in prepared {
            let old_side = hunks
                .iter()
                .flatten()
                .filter(|line| line.kind() != LineKind::Added)
                .map(|line| line.code.as_ref());
            self.subtract(old_side);
        }
        if let Some(prompt) = prompt {
            let folded: Vec<Cow<'_, str>> = prompt.lines().map(fold).collect();
            self.subtract(folded.iter().map(Cow::as_ref));
        }
    }

    /// Takes out the windows of lines that stood there before.
    fn subtract<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        let stream = self.vocabulary.read(lines);
        self.grams.subtract(&stream.tokens);
        self.shapes.subtract(&stream.shapes);
    }

    /// The number of a comparison text, if the GT adds such a line.
    pub fn number(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// The number of a change block, if the GT has it.
    pub fn block(&self, key: &str) -> Option<u32> {
        self.blocks.get(key).copied()
    }

    /// How many change blocks there are.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// What is known of a line.
    pub fn info(&self, number: u32) -> Option<&LineInfo<'a>> {
        self.lines.get(number as usize)
    }

    /// True for a distinctive line.
    pub fn is_distinctive(&self, number: u32) -> bool {
        self.info(number).is_some_and(|info| info.distinctive)
    }

    /// First pass: numbers the added lines.
    fn add_file(
        &mut self,
        patch: &'a FilePatch,
        scope: &FileScope,
        hunks: &'a [Vec<PreparedLine<'a>>],
    ) {
        let path = patch.path().to_str_lossy().into_owned();
        let index = self.files.len();
        let test = is_test(&path);
        let rank =
            4 * u8::from(!scope.hand_written) + 2 * u8::from(is_prose(&path)) + u8::from(test);
        let mut lines = Vec::new();
        for line in added_code(hunks) {
            let fresh = self.lines.len() as u32;
            let number = *self.numbers.entry(&line.text).or_insert(fresh);
            let here = (rank, index, line.number);
            if number == fresh {
                self.lines.push(LineInfo {
                    distinctive: false,
                    follows: false,
                    hand_written: false,
                    count: 0,
                    first: here,
                    line: line.line,
                    bare: line.is_bare(),
                    text: &line.text,
                });
            }
            if let Some(info) = self.lines.get_mut(number as usize) {
                info.hand_written |= scope.hand_written;
                info.count += u64::from(scope.hand_written);
                if here < info.first {
                    (info.first, info.line, info.bare) = (here, line.line, line.is_bare());
                }
            }
            lines.push(number);
        }
        let moved_from = patch
            .old_path
            .as_ref()
            .map(|old| old.to_str_lossy().into_owned())
            .filter(|old| *old != path);
        self.files.push(GtFile {
            patch,
            test,
            name: GtName {
                path,
                moved_from,
                distinctive: 0,
            },
            scope: scope.clone(),
            distinct: lines.iter().collect::<HashSet<_>>().len() as u64,
            lines,
            distinctive: Vec::new(),
            grams: Vec::new(),
            shapes: Vec::new(),
            blocks: Vec::new(),
        });
    }

    /// Second pass: which lines say something that was not there before.
    fn mark_distinctive(
        &mut self,
        inputs: &CompareInputs<'a>,
        prepared: &[Vec<Vec<PreparedLine<'a>>>],
        notes: &mut Vec<String>,
    ) {
        let mut known: HashSet<u32> = prepared
            .iter()
            .flatten()
            .flatten()
            .filter(|line| line.kind() != LineKind::Added)
            .filter_map(|line| self.number(&line.text))
            .collect();
        let prompt = inputs.prompt.map(PromptText::new);
        let ask = !inputs.starter.is_absent();
        let mut in_prompt = 0;
        let mut asked: Vec<(Cow<'_, str>, u32)> = Vec::new();
        for (number, info) in (0u32..).zip(&self.lines) {
            if known.contains(&number) || is_trivial(info.text) {
                continue;
            }
            if prompt
                .as_ref()
                .is_some_and(|prompt| prompt.contains(info.text))
            {
                in_prompt += 1;
                known.insert(number);
                continue;
            }
            asked.push((Cow::Borrowed(info.text), number));
            // The starter is read without knowledge of comments: ask for the line with them, too.
            if ask && let Some(raw) = info.with_comments() {
                asked.push((Cow::Owned(raw), number));
            }
        }
        if in_prompt > 0 {
            notes.push(format!(
                "{in_prompt} GT lines stand in the prompt and are not counted"
            ));
        }
        self.remarks.subtract(prepared, prompt.as_ref());
        let mut queries = BTreeSet::new();
        if ask {
            asked.sort_unstable();
            let texts = asked.iter().map(|(text, _)| text.clone().into_owned());
            queries = texts.collect();
            queries.extend(self.remarks.queries());
        }
        let answer = inputs.starter.known(&queries);
        self.remarks.settle(&answer.found);
        notes.extend(answer.notes);
        for text in &answer.found {
            let first = asked.partition_point(|(asked, _)| asked.as_ref() < text.as_str());
            let same = asked
                .iter()
                .skip(first)
                .take_while(|(asked, _)| asked.as_ref() == text.as_str());
            known.extend(same.map(|(_, number)| *number));
        }
        let follow = self.follow(inputs, prepared, &asked, &known);
        if !follow.is_empty() {
            notes.push(format!(
                "{} GT lines follow from lines that were there (a renaming, a formatter, a file made of another) and are \
                 not counted",
                follow.len()
            ));
        }
        for (_, number) in &asked {
            if let Some(info) = self.lines.get_mut(*number as usize) {
                info.follows = follow.contains(number);
                info.distinctive = !info.follows && !known.contains(number);
            }
        }
    }

    /// Lines that follow from others that were there, of those that are asked for and not known.
    fn follow(
        &self,
        inputs: &CompareInputs<'a>,
        prepared: &[Vec<Vec<PreparedLine<'a>>>],
        asked: &[(Cow<'_, str>, u32)],
        known: &HashSet<u32>,
    ) -> HashSet<u32> {
        let open: HashSet<u32> = asked.iter().map(|(_, number)| *number).collect();
        let number = |text: &str| {
            self.number(text)
                .filter(|number| open.contains(number) && !known.contains(number))
        };
        let paths: Vec<String> = self.files.iter().map(|f| f.name.path.clone()).collect();
        let is_new = |file: usize| {
            let file = self.files.get(file);
            file.is_some_and(|f| f.scope.hand_written && f.patch.status == FileStatus::Added)
        };
        let models = inputs
            .files
            .map(|source| models(prepared, &paths, is_new, source))
            .unwrap_or_default();
        let mut of_files = models.iter().peekable();
        let mut found = Mechanical::default();
        for (file, hunks) in prepared.iter().enumerate() {
            for hunk in hunks {
                found.hunk(hunk, &number);
            }
            if let Some(model) = of_files.next_if(|model| model.file == file) {
                let lines = added_code(hunks).map(|l| (l.code.as_ref().trim(), number(&l.text)));
                found.modelled(&lines.collect::<Vec<_>>(), &model.code);
            }
        }
        found.finish()
    }

    /// Third pass: the distinctive lines of each file.
    fn count_distinctive(&mut self) {
        let lines = &self.lines;
        for file in &mut self.files {
            let follows = |n: &&u32| lines.get(**n as usize).is_some_and(|info| info.follows);
            let follow = file.lines.iter().filter(follows).collect::<HashSet<_>>();
            file.distinct = file.distinct.saturating_sub(follow.len() as u64);
            let mut distinctive = file.lines.clone();
            distinctive.retain(|n| lines.get(*n as usize).is_some_and(|info| info.distinctive));
            distinctive.sort_unstable();
            distinctive.dedup();
            file.name.distinctive = distinctive.len() as u64;
            file.distinctive = distinctive;
        }
    }

    /// The windows and change blocks of a file.
    fn add_windows_of(&mut self, index: usize, hunks: &[Vec<PreparedLine<'_>>]) {
        let mut numbers = self
            .files
            .get(index)
            .map_or(&[][..], |file| file.lines.as_slice())
            .iter();
        // Of each line of each hunk, whether it is distinctive.
        let own: Vec<Vec<bool>> = hunks
            .iter()
            .map(|hunk| {
                let own = |line: &PreparedLine<'_>| {
                    let number = is_added_code(line).then(|| numbers.next()).flatten();
                    number.is_some_and(|number| self.is_distinctive(*number))
                };
                hunk.iter().map(own).collect()
            })
            .collect();
        let mut flagged: Vec<(&str, bool)> = Vec::new();
        let mut blocks = Vec::new();
        for (hunk, own) in hunks.iter().zip(&own) {
            let added = hunk.iter().zip(own).filter(|(line, _)| is_added_code(line));
            flagged.extend(added.map(|(line, own)| (line.code.as_ref(), *own)));
            for block in hunks::blocks(hunk) {
                if block.added.iter().any(|at| own.get(*at) == Some(&true)) {
                    let fresh = self.blocks.len() as u32;
                    blocks.push(*self.blocks.entry(block.key).or_insert(fresh));
                }
            }
        }
        let stream = self.vocabulary.learn(flagged.into_iter());
        let grams = self.grams.add(&stream.tokens);
        let shapes = self.shapes.add(&stream.shapes);
        if let Some(file) = self.files.get_mut(index) {
            (file.grams, file.shapes, file.blocks) = (grams, shapes, blocks);
        }
    }

    /// How many distinctive lines of hand-written files count for exposure.
    pub fn long_lines(&self) -> u64 {
        let counted = self
            .lines
            .iter()
            .filter(|info| info.distinctive && info.hand_written && is_long(info.text));
        counted.count() as u64
    }

    /// The distinctive lines of the hand-written files, in the order of the GT. `shared` says of a
    /// line's number whether the patch has it.
    pub fn distinctive_lines(&self, shared: impl Fn(u32) -> bool) -> Vec<DistinctiveLine> {
        let prose: Vec<bool> = self
            .files
            .iter()
            .map(|file| is_prose(&file.name.path))
            .collect();
        let told = (0u32..)
            .zip(&self.lines)
            .filter(|(_, info)| info.distinctive && info.hand_written);
        let mut lines: Vec<DistinctiveLine> = told
            .map(|(number, info)| {
                let (_, file, gt_line) = info.first;
                DistinctiveLine {
                    file,
                    gt_line,
                    squeezed: info.text.to_owned(),
                    commented: info
                        .with_comments()
                        .filter(|whole| !whole.contains(info.text)),
                    long: is_long(info.text),
                    shared: shared(number),
                    prose: prose.get(file).copied().unwrap_or(false),
                }
            })
            .collect();
        lines.sort_by(|a, b| {
            (a.file, a.gt_line, &a.squeezed).cmp(&(b.file, b.gt_line, &b.squeezed))
        });
        lines
    }
}

/// The added lines of a file that hold code.
pub fn added_code<'h, 'a>(
    hunks: &'h [Vec<PreparedLine<'a>>],
) -> impl Iterator<Item = &'h PreparedLine<'a>> {
    hunks.iter().flatten().filter(|line| is_added_code(line))
}

fn is_added_code(line: &PreparedLine<'_>) -> bool {
    line.kind() == LineKind::Added && !line.text.is_empty()
}
