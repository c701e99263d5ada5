//! The split: the instances that a submission was to solve.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use super::gold::Gold;
use super::load::{self, MAX_ID_BYTES};
use crate::{Error, Result};

/// Largest list of ids, in bytes.
const MAX_LIST_BYTES: u64 = 256 << 20;

/// The instances of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Their ids.
    pub ids: BTreeSet<String>,
    /// The file they come from; `None` when they are those of the gold files.
    pub path: Option<String>,
}

impl Split {
    /// The instances that have a gold patch.
    pub fn of_gold(gold: &Gold) -> Self {
        Self {
            ids: gold.instances.keys().cloned().collect(),
            path: None,
        }
    }

    /// Reads a list of ids (one a line, or a JSON list) or a data set (JSON lines, JSON, Parquet).
    ///
    /// # Errors
    /// When the file cannot be read or names no instance.
    pub fn load(path: &Path) -> Result<Self> {
        let ids = if is_text(path)? {
            from_text(path)?
        } else {
            let mut ids = BTreeSet::new();
            load::read_rows(path, &mut |item| {
                // A row that cannot be read is one instance fewer, not another split.
                if let Ok(row) = item.row {
                    ids.insert(row.id);
                }
            })?;
            ids
        };
        if ids.is_empty() {
            return Err(Error::BadData {
                path: path.to_owned(),
                line: None,
                what: "names no instance".to_owned(),
                fix: "give one instance_id a line, or a data set".to_owned(),
            });
        }
        Ok(Self {
            ids,
            path: Some(path.display().to_string()),
        })
    }
}

/// Neither JSON nor Parquet.
fn is_text(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    load::open(path)?
        .take(4096)
        .read_to_end(&mut head)
        .map_err(|e| Error::io(path, e))?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    Ok(!json && !head.starts_with(b"PAR1"))
}

fn from_text(path: &Path) -> Result<BTreeSet<String>> {
    let bad = |line: Option<u64>, what: &str| Error::BadData {
        path: path.to_owned(),
        line,
        what: what.to_owned(),
        fix: "give one instance_id a line, or a data set".to_owned(),
    };
    let mut bytes = Vec::new();
    load::open(path)?
        .take(MAX_LIST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_LIST_BYTES) {
        return Err(bad(None, "is a list of ids of more than 256 MiB"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| bad(None, "is no UTF-8 text"))?;
    let mut ids = BTreeSet::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let id = line.trim();
        if id.is_empty() || id.starts_with('#') {
            continue;
        }
        if id.len() > MAX_ID_BYTES {
            return Err(bad(Some(number), "an id of more than 1024 bytes"));
        }
        ids.insert(id.to_owned());
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(content: &str) -> Result<Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ids");
        std::fs::write(&path, content).unwrap();
        Split::load(&path).map(|split| split.ids.into_iter().collect())
    }

    #[test]
    fn lists_and_data_sets() {
        for content in [
            "a\nb\n",
            "\u{feff}# ids\r\n b \r\n\r\na\r\n",
            "[\"a\", \"b\"]",
            "{\"instance_id\": \"a\", \"patch\": \"x\"}\n{\"instance_id\": \"b\"}\n",
            "[{\"instance_id\": \"a\"}, {\"instance_id\": \"b\"}, 3]",
        ] {
            assert_eq!(load(content).unwrap(), ["a", "b"], "{content}");
        }
        for content in ["", "# a\n", "[]", "[1]", "{\"a\": 1}\n"] {
            assert_eq!(load(content).unwrap_err().exit_code(), 65, "{content}");
        }
    }
}
