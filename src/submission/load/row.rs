//! The fields of a row that matter here; all others are passed over without being kept.

use std::fmt;

use bstr::BString;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::MAX_ID_BYTES;

/// A row of a data set or of predictions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The instance.
    pub id: String,
    /// The predicted patch: `model_patch`, else `prediction`; `None` if null or missing.
    pub prediction: Option<BString>,
    /// `patch`: the gold patch of a data set.
    pub patch: Option<BString>,
    /// `test_patch`: the hidden tests of a data set.
    pub test_patch: Option<BString>,
    /// There is a field for a prediction, even if it is null.
    pub has_prediction: bool,
    /// There are fields that only data sets have (`test_patch`, `problem_statement`).
    pub has_dataset_fields: bool,
    /// `resolved`, in rows of results.
    pub resolved: Option<bool>,
}

impl Row {
    /// Reads a JSON object, or anything else that stands for a row under the given key.
    pub(super) fn from_json(text: &[u8], key: Option<&str>) -> Result<Self, String> {
        let start = text.trim_ascii_start().first();
        let mut row = match (start, key) {
            (Some(b'"' | b'n'), Some(_)) => serde_json::from_slice(text)
                .map(|prediction: Text| Row {
                    prediction: prediction.0,
                    has_prediction: true,
                    ..Row::default()
                })
                .map_err(|e| short(&e))?,
            (Some(b'"'), None) => Row {
                id: serde_json::from_slice(text).map_err(|e| short(&e))?,
                ..Row::default()
            },
            (Some(b'{'), _) => serde_json::from_slice(text).map_err(|e| short(&e))?,
            _ => return Err("not a JSON object".to_owned()),
        };
        if let (true, Some(key)) = (row.id.is_empty(), key) {
            key.clone_into(&mut row.id);
        }
        row.check()
    }

    /// Refuses rows without a usable id.
    pub(super) fn check(self) -> Result<Self, String> {
        if self.id.is_empty() {
            return Err("no instance_id".to_owned());
        }
        if self.id.len() > MAX_ID_BYTES {
            return Err(format!("an instance_id of more than {MAX_ID_BYTES} bytes"));
        }
        Ok(self)
    }
}

/// Without the place, which counts from the beginning of the row.
fn short(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    format!("broken JSON: {text}")
}

/// The fields that are read.
const FIELDS: &[&str] = &[
    "instance_id",
    "model_patch",
    "prediction",
    "patch",
    "test_patch",
    "problem_statement",
    "resolved",
];

/// One of [`FIELDS`], or nothing.
struct Key(&'static str);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Key, E> {
                self.visit_bytes(name.as_bytes())
            }
            fn visit_bytes<E: serde::de::Error>(self, name: &[u8]) -> Result<Key, E> {
                let known = FIELDS.iter().find(|field| field.as_bytes() == name);
                Ok(Key(known.copied().unwrap_or_default()))
            }
        }
        deserializer.deserialize_bytes(KeyVisitor)
    }
}

/// A text or null.
struct Text(Option<BString>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<BString>::deserialize(deserializer).map(Text)
    }
}

/// A text or an integer.
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor).map(Id)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an instance_id that is a text or an integer")
    }

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let mut row = Row::default();
        let mut other = None;
        // Of a key that comes twice, the last counts, as everywhere in Python.
        while let Some(key) = map.next_key::<Key>()? {
            match key.0 {
                "instance_id" => row.id = map.next_value::<Id>()?.0,
                "model_patch" => {
                    row.prediction = text(&mut map, "model_patch")?;
                    row.has_prediction = true;
                }
                "prediction" => other = Some(text(&mut map, "prediction")?),
                "patch" => row.patch = text(&mut map, "patch")?,
                "test_patch" => {
                    row.test_patch = text(&mut map, "test_patch")?;
                    row.has_dataset_fields = true;
                }
                "problem_statement" => {
                    map.next_value::<IgnoredAny>()?;
                    row.has_dataset_fields = true;
                }
                "resolved" => row.resolved = map.next_value::<Flag>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let (false, Some(other)) = (row.has_prediction, other) {
            row.prediction = other;
            row.has_prediction = true;
        }
        Ok(row)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A, field: &str) -> Result<Option<BString>, A::Error> {
    map.next_value::<Text>()
        .map(|text| text.0)
        .map_err(|error| A::Error::custom(format!("{field} is no text: {error}")))
}

/// True, false, or anything else.
struct Flag(Option<bool>);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl<'de> Visitor<'de> for FlagVisitor {
            type Value = Option<bool>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Some(value))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
        }
        deserializer.deserialize_any(FlagVisitor).map(Flag)
    }
}
