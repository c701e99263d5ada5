//! Edits that an agent writes into its message: `SEARCH/REPLACE` blocks.
//!
//! ```text
//! path/of/file.py
//! <<<<<<< SEARCH
//! old lines
//! =======
//! new lines
//! >>>>>>> REPLACE
//! ```
//!
//! Between path and block there may be an opening fence.

use crate::trace::event::{EditOp, FileEdit};

/// The blocks of a text, in their order.
pub(super) fn edits(text: &str) -> Vec<FileEdit> {
    let mut edits = Vec::new();
    let mut lines = text.lines();
    // The last line that may be a path: none is a fence or blank.
    let mut path = "";
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if !trimmed.starts_with("<<<<<<< SEARCH") {
            if !trimmed.is_empty() && !trimmed.starts_with("```") {
                path = trimmed;
            }
            continue;
        }
        let mut old = String::new();
        let mut new = String::new();
        let mut closed = false;
        let mut into = &mut old;
        for line in lines.by_ref() {
            match line.trim_end() {
                "=======" => into = &mut new,
                end if end.starts_with(">>>>>>> REPLACE") => {
                    closed = true;
                    break;
                }
                _ => {
                    into.push_str(line);
                    into.push('\n');
                }
            }
        }
        if closed {
            let whole = old.is_empty();
            edits.push(FileEdit {
                path: plain(path).to_owned(),
                op: if whole {
                    EditOp::Write
                } else {
                    EditOp::Replace
                },
                old: (!whole).then_some(old),
                new: Some(new),
            });
        }
    }
    edits
}

/// A path without the marks that models put around it.
fn plain(path: &str) -> &str {
    path.trim_matches(['*', '`', ':', '#', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let text = "Now:\n\n**a.py**\n```python\n<<<<<<< SEARCH\n  x\n=======\n  y\n\n>>>>>>> REPLACE\n```\n\
                    b.py\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\nopen\n<<<<<<< SEARCH\nz\n";
        let got = edits(text);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0].path, "a.py");
        assert_eq!(got[0].old.as_deref(), Some("  x\n"));
        assert_eq!(got[0].new.as_deref(), Some("  y\n\n"));
        assert_eq!((got[1].path.as_str(), got[1].op), ("b.py", EditOp::Write));
    }
}
