//! Rows of gold data sets and of predictions: JSON lines, JSON, Parquet, told apart by content.
//!
//! One row at a time, so that a file of any size needs the memory of its longest row. The files are
//! written by the party under audit: a row that cannot be read is handed on with its line and the
//! reason, and the next one is read.

mod detect;
mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use crate::{Error, Result};

pub use row::Row;

/// Longest row, in bytes; a longer one is passed over and reported.
pub const MAX_ROW_BYTES: usize = 256 << 20;

/// Longest instance id, in bytes.
pub const MAX_ID_BYTES: usize = 1024;

/// How a file holds its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// One JSON text: a list of rows, an object with a row for each id, or objects one after the other.
    Json,
    /// Apache Parquet.
    Parquet,
}

/// A row, or why there is none.
#[derive(Debug)]
pub struct Item {
    /// 1-based line on which the row begins; of Parquet, the number of the row.
    pub line: u64,
    /// The row, or what is wrong with it.
    pub row: std::result::Result<Row, String>,
}

/// Reads all rows of a file and hands each to `sink`.
///
/// # Errors
/// When the file is missing, cannot be read, or is Parquet and this build cannot read it.
pub fn read_rows(path: &Path, sink: &mut dyn FnMut(Item)) -> Result<Format> {
    let mut file = open(path)?;
    let mut magic = [0; 4];
    let read = read_up_to(&mut file, &mut magic).map_err(|e| Error::io(path, e))?;
    file.rewind().map_err(|e| Error::io(path, e))?;
    if magic.get(..read) == Some(b"PAR1") {
        read_parquet(path, file, sink)?;
        return Ok(Format::Parquet);
    }
    let shape = detect::shape(&mut file).map_err(|e| Error::io(path, e))?;
    file.rewind().map_err(|e| Error::io(path, e))?;
    let mut source = json::Source::new(BufReader::with_capacity(1 << 18, file));
    match shape {
        detect::Shape::Lines => json::lines(&mut source, sink),
        detect::Shape::List => json::list(&mut source, sink),
        detect::Shape::Map => json::map(&mut source, sink),
        detect::Shape::Objects => json::objects(&mut source, sink),
    }
    .map_err(|e| Error::io(path, e))?;
    Ok(if shape == detect::Shape::Lines {
        Format::Jsonl
    } else {
        Format::Json
    })
}

/// Opens an ordinary file.
pub(super) fn open(path: &Path) -> Result<File> {
    let missing = |what: &str, fix: &str| Error::InputMissing {
        path: path.to_owned(),
        what: what.to_owned(),
        fix: fix.to_owned(),
    };
    // Asked before opening: opening a named pipe would wait for ever.
    let meta = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing("no such file", "check the path"),
        std::io::ErrorKind::PermissionDenied => missing("may not be read", "check its permissions"),
        _ => Error::io(path, error),
    })?;
    if !meta.is_file() {
        return Err(missing(
            "is no file",
            "name a JSON, JSON lines or Parquet file",
        ));
    }
    File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => missing("may not be read", "check its permissions"),
        _ => Error::io(path, error),
    })
}

/// Reads until the buffer is full or the file ends.
fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, file: File, sink: &mut dyn FnMut(Item)) -> Result<()> {
    parquet::rows(path, file, sink)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _: File, _: &mut dyn FnMut(Item)) -> Result<()> {
    Err(Error::BadData {
        path: path.to_owned(),
        line: None,
        what: "is Parquet, which this build cannot read".to_owned(),
        fix: "build with `--features parquet`, or convert the file to JSON lines".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, and the id or what is wrong.
    type Seen = (u64, std::result::Result<String, String>);

    /// What is read from a file with this content.
    fn read(content: &[u8]) -> (Format, Vec<Seen>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        std::fs::write(&path, content).unwrap();
        let mut rows = Vec::new();
        let format = read_rows(&path, &mut |item| {
            rows.push((item.line, item.row.map(|row| row.id)));
        })
        .unwrap();
        (format, rows)
    }

    fn ids(content: &str) -> (Format, Vec<(u64, String)>) {
        let (format, rows) = read(content.as_bytes());
        let rows = rows
            .into_iter()
            .map(|(line, row)| (line, row.unwrap_or_else(|what| format!("! {what}"))))
            .collect();
        (format, rows)
    }

    fn owned(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
        rows.iter().map(|(l, id)| (*l, (*id).to_owned())).collect()
    }

    const A: &str = r#"{"instance_id": "a", "model_patch": "p"}"#;
    const B: &str = r#"{"model_patch": null, "instance_id": 7}"#;

    #[test]
    fn every_shape_gives_the_same_rows() {
        for (content, format, want) in [
            (format!("{A}\n\n{B}\n"), Format::Jsonl, [(1, "a"), (3, "7")]),
            (format!("\u{feff}{A}\r\n{B}"), Format::Jsonl, [(1, "a"), (2, "7")]),
            (format!("[{A},{B}]"), Format::Json, [(1, "a"), (1, "7")]),
            (format!("[\n  {A},\n  {B}\n]\n"), Format::Json, [(2, "a"), (3, "7")]),
            (format!("{{\"x\": {A}, \"y\": {B}}}"), Format::Json, [(1, "a"), (1, "7")]),
            (
                "{\n \"a\": {\"model_patch\": \"p\"},\n \"7\": {\"model_patch\": \"[{\\\"\"}\n}".to_owned(),
                Format::Json,
                [(2, "a"), (3, "7")],
            ),
            (
                "{\n \"instance_id\": \"a\",\n \"model_patch\": \"p\"\n}\n{\n \"instance_id\": 7, \"model_patch\": \"\" }".to_owned(),
                Format::Json,
                [(1, "a"), (5, "7")],
            ),
            ("{\"a\": \"diff\", \"7\": \"diff\"}".to_owned(), Format::Json, [(1, "a"), (1, "7")]),
        ] {
            assert_eq!(ids(&content), (format, owned(&want)), "{content}");
        }
    }

    #[test]
    fn broken_rows_are_reported_and_passed_over() {
        let (format, rows) = ids(&format!(
            "{A}\n{{\"instance_id\": \"b\n[1]\n3\nnull\n{{}}\n{B}\n"
        ));
        assert_eq!(format, Format::Jsonl);
        assert_eq!(rows.len(), 7);
        let good: Vec<u64> = rows
            .iter()
            .filter(|r| !r.1.starts_with('!'))
            .map(|r| r.0)
            .collect();
        assert_eq!(good, [1, 7]);
        // The first line is cut off.
        let (format, rows) = ids(&format!("{{\"instance_id\": \"x\", \"mod\n{A}\n"));
        assert_eq!(format, Format::Jsonl);
        assert!(rows[0].1.starts_with('!') && rows[1] == (2, "a".to_owned()));
        // A list with an element that is no row, and one that breaks off.
        let (_, rows) = ids(&format!(
            "[{A}, 3, {{\"a\" 1}}, {B}, {{\"instance_id\": \"c\""
        ));
        let text: Vec<&str> = rows.iter().map(|r| r.1.get(..1).unwrap()).collect();
        assert_eq!(text, ["a", "!", "!", "7", "!"]);
        let (_, rows) = ids(&format!("[{A} {B}]"));
        assert_eq!(rows.len(), 2);
        assert!(rows[1].1.starts_with("! "));
    }

    #[test]
    fn odd_ids_and_fields() {
        for (row, want) in [
            (
                r#"{"instance_id": 12345678901234567890}"#,
                "12345678901234567890",
            ),
            (r#"{"instance_id": -3}"#, "-3"),
            (r#"{"instance_id": 1.5}"#, "! "),
            (r#"{"instance_id": true}"#, "! "),
            (r#"{"instance_id": null}"#, "! "),
            (r#"{"instance_id": ["a"]}"#, "! "),
            (r#"{"instance_id": ""}"#, "! "),
            (r#"{"instance_id": "\u001b[2J"}"#, "\u{1b}[2J"),
            (r#"{"instance_id": "a", "instance_id": "b"}"#, "b"),
            (r#"{"instance_id": "a", "model_patch": 3}"#, "! "),
            (r#"{"instance_id": "a", "model_patch": {"x": [1]}}"#, "! "),
            (r#"{"instance_id": "a", "extra": [[[{"b": "]}"}]]]}"#, "a"),
        ] {
            let (_, rows) = ids(&format!("{row}\n{A}\n"));
            assert!(rows[0].1.starts_with(want), "{row}: {rows:?}");
            assert_eq!(rows[1].1, "a", "{row}");
        }
        let long = format!("{{\"instance_id\": \"{}\"}}\n{A}\n", "x".repeat(2000));
        assert!(ids(&long).1[0].1.starts_with("! "));
    }

    #[test]
    fn bytes_that_are_no_text_and_lone_surrogates() {
        let (_, rows) = read(
            b"{\"instance_id\": \"a\", \"model_patch\": \"\xff\"}\n{\"instance_id\": \"\xff\"}\n",
        );
        assert!(rows[0].1.is_ok() && rows[1].1.is_err());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        std::fs::write(
            &path,
            r#"{"instance_id": "a", "model_patch": "\ud800\u00e9"}"#,
        )
        .unwrap();
        let mut patch = None;
        read_rows(&path, &mut |item| patch = item.row.unwrap().prediction).unwrap();
        assert_eq!(patch.unwrap(), b"\xed\xa0\x80\xc3\xa9".as_slice());
    }

    #[test]
    fn nothing_to_read() {
        for content in ["", "\n\n", "[]", "{}", "[ ]\n", "{\n}\n"] {
            assert!(
                ids(content).1.iter().all(|r| r.1.starts_with('!')),
                "{content}"
            );
        }
        let dir = tempfile::tempdir().unwrap();
        let code = |path: &Path| read_rows(path, &mut |_| {}).unwrap_err().exit_code();
        assert_eq!(code(&dir.path().join("none")), 66);
        assert_eq!(code(dir.path()), 66);
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = "[".repeat(1_000_000);
        for content in [
            deep.clone(),
            format!("{{\"instance_id\": \"a\", \"x\": {deep}\n{A}\n"),
            format!("{{\"a\": {deep}"),
            format!("[{A},{deep}"),
        ] {
            read(content.as_bytes());
        }
    }
}
