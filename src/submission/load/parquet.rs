//! Rows of Parquet files, as data hubs publish their sets. Only with the feature `parquet`.
//!
//! Of the columns only those that matter are decoded, page by page.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::{Item, Row};
use crate::{Error, Result};

/// The columns that are decoded.
const COLUMNS: &[&str] = &[
    "instance_id",
    "model_patch",
    "prediction",
    "patch",
    "test_patch",
    "resolved",
];

/// Reads all rows.
///
/// # Errors
/// When the file is damaged; the rows before the damage were handed on.
pub(super) fn rows(path: &Path, file: File, sink: &mut dyn FnMut(Item)) -> Result<()> {
    let bad = |what: String| {
        Error::BadData {
        path: path.to_owned(),
        line: None,
        what,
        fix: "the Parquet file is damaged, or written in a way that is not understood; convert it to JSON lines".to_owned(),
    }
    };
    // The reader checks less than hostile files demand; what it does not check, it stops at.
    catch_unwind(AssertUnwindSafe(|| read(file, sink)))
        .unwrap_or_else(|_| Err("cannot be read".to_owned()))
        .map_err(bad)
}

fn read(file: File, sink: &mut dyn FnMut(Item)) -> std::result::Result<(), String> {
    let reader = SerializedFileReader::new(file).map_err(|e| e.to_string())?;
    let schema = reader.metadata().file_metadata().schema();
    let wanted: Vec<Arc<Type>> = schema
        .get_fields()
        .iter()
        .filter(|field| COLUMNS.contains(&field.name()))
        .cloned()
        .collect();
    let has_dataset_fields = schema
        .get_fields()
        .iter()
        .any(|field| matches!(field.name(), "test_patch" | "problem_statement"));
    let projection = Type::group_type_builder(schema.name())
        .with_fields(wanted)
        .build()
        .map_err(|e| e.to_string())?;
    let mut line = 0;
    for record in reader
        .get_row_iter(Some(projection))
        .map_err(|e| e.to_string())?
    {
        line += 1;
        let record = record.map_err(|e| e.to_string())?;
        let mut row = Row {
            has_dataset_fields,
            ..Row::default()
        };
        let mut other = None;
        for (name, field) in record.get_column_iter() {
            match name.as_str() {
                "instance_id" => row.id = id(field),
                "model_patch" => {
                    row.prediction = text(field);
                    row.has_prediction = true;
                }
                "prediction" => other = Some(text(field)),
                "patch" => row.patch = text(field),
                "test_patch" => row.test_patch = text(field),
                "resolved" => {
                    row.resolved = match field {
                        Field::Bool(value) => Some(*value),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        if let (false, Some(other)) = (row.has_prediction, other) {
            row.prediction = other;
            row.has_prediction = true;
        }
        sink(Item {
            line,
            row: row.check(),
        });
    }
    Ok(())
}

fn text(field: &Field) -> Option<bstr::BString> {
    match field {
        Field::Str(text) => Some(text.as_str().into()),
        Field::Bytes(bytes) => Some(bytes.data().into()),
        _ => None,
    }
}

fn id(field: &Field) -> String {
    match field {
        Field::Str(text) => text.clone(),
        Field::Int(n) => n.to_string(),
        Field::Long(n) => n.to_string(),
        Field::UInt(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        _ => String::new(),
    }
}
