//! Lines of the GT that stand in the starter tree as part of something else.
//!
//! `close(conn)` is no line of a starter that holds `try { close(conn); }`, and so a distinctive line of
//! the GT. In the text of an output, where lines are searched without white space, the one is part of
//! the other: an agent that reads the starter would be "shown" the GT. About one line in a hundred is
//! like that, up to one in ten. Such lines are no evidence of a showing; they stay what they are in the
//! comparison of patches.

use std::collections::HashMap;

use super::layers::squeeze_into;
use super::needles::{NeedleId, Needles};
use crate::similarity::model::DistinctiveLine;
use crate::similarity::normalise::squeeze;

/// Searches the files of the starter.
#[derive(Debug)]
pub struct Parts {
    needles: Needles,
    found: Vec<bool>,
    /// For each line of the GT, what it is searched as: without and with comments within.
    ids: Vec<(NeedleId, Option<NeedleId>)>,
    squeezed: Vec<u8>,
}

impl Parts {
    /// Prepares the search for the long lines of the GT; only those can be evidence of a showing.
    pub fn new(lines: &[DistinctiveLine]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        let mut known: HashMap<String, NeedleId> = HashMap::new();
        let mut id_of = |text: &str| {
            *known.entry(squeeze(text)).or_insert_with_key(|text| {
                texts.push(text.clone());
                NeedleId::try_from(texts.len() - 1).unwrap_or(NeedleId::MAX)
            })
        };
        let ids_of = |line: &DistinctiveLine| {
            if !line.long {
                return (NeedleId::MAX, None);
            }
            (
                id_of(&line.squeezed),
                line.commented.as_deref().map(&mut id_of),
            )
        };
        let ids = lines.iter().map(ids_of).collect();
        Self {
            needles: Needles::new(texts.iter().map(String::as_str)),
            found: vec![false; texts.len()],
            ids,
            squeezed: Vec::new(),
        }
    }

    /// Reads a file of the starter.
    pub fn read(&mut self, content: &[u8]) {
        let Self {
            needles,
            found,
            squeezed,
            ..
        } = self;
        squeezed.clear();
        squeeze_into(squeezed, &String::from_utf8_lossy(content));
        needles.scan(squeezed, |id| {
            if let Some(found) = found.get_mut(id as usize) {
                *found = true;
            }
        });
    }

    /// For each line, in the order given: it stands somewhere in what was read.
    pub fn finish(self) -> Vec<bool> {
        let found = |id: &NeedleId| self.found.get(*id as usize).copied().unwrap_or(false);
        let either = |(bare, commented): &(NeedleId, Option<NeedleId>)| {
            found(bare) || commented.as_ref().is_some_and(found)
        };
        self.ids.iter().map(either).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> DistinctiveLine {
        DistinctiveLine {
            file: 0,
            gt_line: 1,
            squeezed: squeeze(text),
            commented: None,
            long: squeeze(text).len() >= 16,
            shared: false,
            prose: false,
        }
    }

    #[test]
    fn parts_of_lines_and_of_their_sequence() {
        let lines = [
            "close(connection_of(peer))",
            "return value_of(slot, tide)",
            "first_half_of_it; second_half_of_it",
            "first_half_of_it; second_half_of_it",
            "short(x)",
        ];
        let mut parts = Parts::new(&lines.map(line));
        parts.read(b"  try { close( connection_of(peer) ); }\n\xff");
        parts.read("first_half_of_it;\n\tsecond_half_of_it\nshort(x)\n".as_bytes());
        assert_eq!(parts.finish(), [true, false, true, true, false]);
        assert_eq!(Parts::new(&[]).finish(), [] as [bool; 0]);
    }
}
