//! Comments and messages: words that their author chose freely.
//!
//! Two people may write the same loop; they do not write the same sentence. Comment lines and string
//! literals of several words that the GT and the patch share, misspellings included, are evidence that
//! people understand at once. They are shown and counted apart, never part of a copy score: a
//! requirement may dictate a message, and what the starter or the prompt holds is left out as
//! everywhere else.

use std::collections::{BTreeSet, HashSet};

use foldhash::HashMap;

use super::distinctive::{LONG_CHARS, PromptText, is_trivial};
use super::lexer::{QUOTES, TokenKind, tokens};
use super::normalise::squeeze;
use super::prepare::{PreparedLine, raw_text};
use crate::patch::model::LineKind;

/// A comment line or message of the GT.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Remark {
    /// Index of the GT file in which it stands first.
    pub file: usize,
    /// 1-based line there, in the new version.
    pub gt_line: u32,
    /// A comment line; otherwise a string literal.
    pub comment: bool,
    /// The whole line as it stands in the GT.
    pub raw: String,
    /// The patch adds it, too.
    pub shared: bool,
}

/// A string literal counts as a message from this many words on.
const MIN_WORDS: usize = 3;

/// The remarks of the GT, by what is compared of them.
#[derive(Debug, Clone, Default)]
pub struct Remarks {
    by_key: HashMap<String, Remark>,
}

impl Remarks {
    /// Adds those of a hand-written GT file.
    pub fn add(&mut self, file: usize, hunks: &[Vec<PreparedLine<'_>>]) {
        for line in hunks.iter().flatten() {
            if line.kind() != LineKind::Added {
                continue;
            }
            for (key, comment) in keys(line) {
                self.by_key.entry(key).or_insert_with(|| Remark {
                    file,
                    gt_line: line.number,
                    comment,
                    raw: raw_text(line.line).into_owned(),
                    shared: false,
                });
            }
        }
    }

    /// Takes out what stood in the starter side of the GT, in the prompt, or says nothing.
    pub fn subtract(&mut self, hunks: &[Vec<Vec<PreparedLine<'_>>>], prompt: Option<&PromptText>) {
        for line in hunks.iter().flatten().flatten() {
            if line.kind() != LineKind::Added {
                for (key, _) in keys(line) {
                    self.by_key.remove(&key);
                }
            }
        }
        self.by_key.retain(|key, _| {
            !is_trivial(key) && !prompt.is_some_and(|prompt| prompt.contains(words(key)))
        });
    }

    /// The lines to look for in the starter tree: comment lines are found there, messages within a
    /// line are not.
    pub fn queries(&self) -> impl Iterator<Item = String> {
        let comments = self.by_key.values().filter(|remark| remark.comment);
        comments.map(|remark| squeeze(&remark.raw))
    }

    /// Takes out the comment lines that were found there.
    pub fn settle(&mut self, found: &BTreeSet<String>) {
        self.by_key
            .retain(|_, remark| !remark.comment || !found.contains(&squeeze(&remark.raw)));
    }

    /// Those that a file of the patch adds.
    pub fn find(&self, hunks: &[Vec<PreparedLine<'_>>]) -> HashSet<String> {
        hunks
            .iter()
            .flatten()
            .filter(|line| line.kind() == LineKind::Added)
            .flat_map(keys)
            .map(|(key, _)| key)
            .filter(|key| self.by_key.contains_key(key))
            .collect()
    }

    /// All of them, in the order of the GT, with those in `found` marked as shared.
    pub fn finish(self, found: &HashSet<String>) -> Vec<Remark> {
        let mut remarks: Vec<(String, Remark)> = self.by_key.into_iter().collect();
        // Several messages of one line are told apart by what they say.
        remarks.sort_unstable_by(|(a_key, a), (b_key, b)| {
            (a.file, a.gt_line, a_key).cmp(&(b.file, b.gt_line, b_key))
        });
        let mark = |(key, remark)| Remark {
            shared: found.contains::<String>(&key),
            ..remark
        };
        remarks.into_iter().map(mark).collect()
    }
}

/// Marks the key of a message, so that it differs from a comment of the same words.
const MESSAGE: char = '"';

fn words(key: &str) -> &str {
    key.strip_prefix(MESSAGE).unwrap_or(key)
}

/// What is compared of the remarks of a line, and whether it is a comment.
fn keys(line: &PreparedLine<'_>) -> Vec<(String, bool)> {
    let long = |text: &str| text.chars().nth(LONG_CHARS - 1).is_some();
    if line.text.is_empty() {
        let squeezed = squeeze(&raw_text(line.line));
        let bare = squeezed.trim_matches(|c: char| c.is_ascii_punctuation());
        return if long(bare) {
            vec![(bare.to_owned(), true)]
        } else {
            Vec::new()
        };
    }
    // Most lines have no string at all.
    if !line.code.contains(QUOTES) {
        return Vec::new();
    }
    tokens(&line.code)
        .filter(|token| {
            token.kind == TokenKind::String && token.text.split_whitespace().count() >= MIN_WORDS
        })
        .map(|token| squeeze(token.text))
        .filter(|text| long(text))
        .map(|text| (format!("{MESSAGE}{text}"), false))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::prepare::{prepare, tests::file};
    use super::*;

    fn remarks(lines: &[&str]) -> Remarks {
        let mut remarks = Remarks::default();
        remarks.add(0, &prepare(&file("a.py", lines)));
        remarks
    }

    #[test]
    fn comments_and_messages() {
        let gt = file(
            "a.py",
            &[
                " # The cache dose not expire by itself.",
                "+# This branch is taken when the peer dose not answer.",
                "+raise Error('the peer did not answer in time')  # never",
                "+open('a/very/long/path/with/no/words.txt')",
                "+# short",
                "+# The cache dose not expire by itself!",
            ],
        );
        let prepared = prepare(&gt);
        let mut all = Remarks::default();
        all.add(3, &prepared);
        all.subtract(&[prepared], None);
        let agent = file(
            "b.c",
            &[
                "+ * This branch is taken when the peer dose not answer",
                "+log(\"the peer did not answer in time\");",
            ],
        );
        let theirs = prepare(&agent);
        // A line that begins with a star is a comment only inside one; here it is the first line.
        let found = all.find(&theirs);
        let shown = all.finish(&found);
        assert_eq!(shown.len(), 2);
        assert!(shown.iter().all(|remark| remark.shared && remark.file == 3));
        assert_eq!((shown[0].gt_line, shown[0].comment), (2, true));
        assert_eq!((shown[1].gt_line, shown[1].comment), (3, false));
    }

    #[test]
    fn the_prompt_and_the_starter_are_left_out() {
        let mut all = remarks(&[
            "+# Expires the cache after ten minutes.",
            "+# Keeps the newest entry of each key.",
            "+print('please enter the number of seats')",
            "+# Licensed under the Apache License, Version 2.0",
        ]);
        let prompt = PromptText::new("It prints \"please enter the number of seats\".");
        all.subtract(&[], Some(&prompt));
        let queries: Vec<String> = all.queries().collect();
        assert_eq!(queries.len(), 2);
        all.settle(&[queries[0].clone()].into());
        assert_eq!(all.finish(&HashSet::new()).len(), 1);
    }
}
