//! From TOML to a [`Policy`]: look up, check against the schema, lay over the default, check the numbers.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::Policy;
use crate::error::{Error, Result};

const DEFAULT: &str = include_str!("../policies/default.toml");

/// The built-in policies: name and what they change of the default.
const BUILT_IN: [(&str, &str); 3] = [
    ("default", DEFAULT),
    ("seed", include_str!("../policies/seed.toml")),
    ("strict", include_str!("../policies/strict.toml")),
];

/// Larger files are not policies.
const MAX_FILE_BYTES: u64 = 1 << 20;

impl Policy {
    /// Names of the built-in policies.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in policy by its name, or else the TOML file of that path.
    ///
    /// # Errors
    ///
    /// [`Error::InputMissing`] when there is neither; [`Error::BadData`] when the file is no policy:
    /// a syntax error, an unknown key, a wrong type, a share outside 0..=1.
    pub fn load(name_or_file: &str) -> Result<Self> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_file) {
            return Self::parse(text, Path::new(name_or_file));
        }
        let path = Path::new(name_or_file);
        let metadata = std::fs::metadata(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::InputMissing {
                path: path.into(),
                what: "no such policy".into(),
                fix: format!(
                    "Built-in policies are {}; anything else is the path of a TOML file.",
                    Self::built_in_names().collect::<Vec<_>>().join(", ")
                ),
            },
            _ => Error::io(path, e),
        })?;
        if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
            return Err(bad(
                path,
                None,
                format!("not a policy: a directory, a device, or more than {MAX_FILE_BYTES} bytes"),
            ));
        }
        let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::InvalidData => bad(path, None, "not UTF-8".into()),
            _ => Error::io(path, e),
        })?;
        Self::parse(&text, path)
    }

    /// The policy that results from `text` over the default. `path` is for messages, and names the
    /// policy when the text does not.
    ///
    /// # Errors
    ///
    /// [`Error::BadData`], as for [`Policy::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let schema: Table = toml::from_str(DEFAULT)
            .map_err(|e| bad(Path::new("default.toml"), None, e.message().into()))?;
        let mut lines = BTreeMap::new();
        check_keys(text, &schema, path, &mut lines)?;
        let changes: Table =
            toml::from_str(text).map_err(|e| bad(path, None, e.message().into()))?;
        let mut merged = schema;
        if !changes.contains_key("name") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            merged.insert("name".into(), Value::String(stem.into_owned()));
        }
        merge(&mut merged, changes);
        let policy: Self = merged
            .try_into()
            .map_err(|e: toml::de::Error| bad(path, None, e.to_string().trim().to_owned()))?;
        match policy.fault() {
            None => Ok(policy),
            Some((key, what)) => Err(bad(path, lines.get(key).copied(), format!("{key} {what}"))),
        }
    }
}

impl Default for Policy {
    /// The built-in default.
    fn default() -> Self {
        // The tests parse all built-in policies; a file that does not parse cannot be released.
        match Self::parse(DEFAULT, Path::new("default")) {
            Ok(policy) => policy,
            Err(error) => unreachable!("built-in policy: {error}"),
        }
    }
}

fn bad(path: &Path, line: Option<u64>, what: String) -> Error {
    Error::BadData {
        path: path.into(),
        line,
        what,
        fix: "docs/verdict.md lists the keys of a policy; a file holds only those it changes."
            .into(),
    }
}

/// Compares the keys and types of `text` with `schema`, and notes the line of every key.
fn check_keys(
    text: &str,
    schema: &Table,
    path: &Path,
    lines: &mut BTreeMap<String, u64>,
) -> Result<()> {
    let line_at = |offset: usize| {
        let before = text.as_bytes().get(..offset).unwrap_or_default();
        1 + before.iter().filter(|b| **b == b'\n').count() as u64
    };
    let table = DeTable::parse(text)
        .map_err(|e| bad(path, e.span().map(|s| line_at(s.start)), e.message().into()))?;
    for (key, value) in table.get_ref() {
        let line = line_at(key.span().start);
        let name = key.get_ref().as_ref();
        let known = schema
            .get(name)
            .ok_or_else(|| unknown(path, line, name, schema, ""))?;
        check_type(path, line, name, value.get_ref(), known)?;
        lines.insert(name.to_owned(), line);
        let (Some(inner), Value::Table(known)) = (value.get_ref().as_table(), known) else {
            continue;
        };
        for (key, value) in inner {
            let line = line_at(key.span().start);
            let leaf = key.get_ref().as_ref();
            let full = format!("{name}.{leaf}");
            let known = known
                .get(leaf)
                .ok_or_else(|| unknown(path, line, &full, known, " of this section"))?;
            check_type(path, line, &full, value.get_ref(), known)?;
            lines.insert(full, line);
        }
    }
    Ok(())
}

fn unknown(path: &Path, line: u64, key: &str, known: &Table, place: &str) -> Error {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let what = format!(
        "unknown key `{key}`; the keys{place} are {}",
        names.join(", ")
    );
    bad(path, Some(line), what)
}

fn check_type(path: &Path, line: u64, key: &str, got: &DeValue<'_>, known: &Value) -> Result<()> {
    let fine = match known {
        Value::Float(_) => got.is_float() || got.is_integer(),
        Value::Integer(_) => got
            .as_integer()
            .is_some_and(|i| i64::from_str_radix(i.as_str(), i.radix()).is_ok_and(|i| i >= 0)),
        Value::Boolean(_) => got.is_bool(),
        Value::String(_) => got.is_str(),
        _ => got.is_table(),
    };
    if fine {
        return Ok(());
    }
    let wanted = match known {
        Value::Float(_) => "a number",
        Value::Integer(_) => "a whole number from 1 up",
        Value::Boolean(_) => "true or false",
        Value::String(_) => "a string",
        _ => "a section",
    };
    let what = format!("`{key}` must be {wanted}");
    Err(bad(path, Some(line), what))
}

/// Puts the values of `changes` over those of `base`, section by section.
fn merge(base: &mut Table, changes: Table) {
    for (key, value) in changes {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(section)), Value::Table(inner)) => section.extend(inner),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Needs, SeenVerdict};
    use super::*;

    fn parse(text: &str) -> Result<Policy> {
        Policy::parse(text, Path::new("mine.toml"))
    }

    #[test]
    fn built_in_policies_load_and_differ() {
        let all: Vec<Policy> = Policy::built_in_names()
            .map(|name| Policy::load(name).unwrap())
            .collect();
        assert_eq!(all[0], Policy::default());
        assert!(all[1].containment.enabled && all[1].full_leak.needs == Needs::Admission);
        assert_eq!(all[2].answer_seen.verdict, SeenVerdict::Invalid);
        assert_eq!(all[2].same, all[0].same);
        for (policy, name) in all.iter().zip(Policy::built_in_names()) {
            assert_eq!(policy.name, name);
        }
    }

    #[test]
    fn the_default_file_names_every_key() {
        // Otherwise a key could not be changed by a file, since that file is the schema.
        let file: Table = toml::from_str(DEFAULT).unwrap();
        let back = Table::try_from(Policy::default()).unwrap();
        assert_eq!(file, back);
    }

    #[test]
    fn a_file_changes_what_it_names() {
        let policy = parse("[same]\ncopy_score = 1\n").unwrap();
        assert_eq!(policy.same.copy_score, 1.0);
        assert_eq!(policy.same.id_files, 0.8);
        assert_eq!(policy.name, "mine");
        assert_eq!(parse("").unwrap().size.small, 16);
        let named = parse("name = 'paper'").unwrap();
        assert_eq!(named.name, "paper");
    }

    #[test]
    fn the_digest_is_over_the_numbers() {
        let default = Policy::default();
        assert_eq!(parse("").unwrap().digest(), default.digest());
        assert_eq!(
            parse("[same]\ncopy_score = 0.85").unwrap().digest(),
            default.digest()
        );
        assert_ne!(
            parse("[same]\ncopy_score = 0.86").unwrap().digest(),
            default.digest()
        );
        assert_eq!(default.digest().len(), 64);
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        for (text, line, words) in [
            ("[same]\n\ncopyscore = 1", Some(3), "same.copyscore"),
            ("[smae]\n", Some(1), "smae"),
            ("\n[same]\ncopy_score = 1.01", Some(3), "from 0 to 1"),
            ("[same]\ncopy_score = nan", Some(2), "NaN"),
            ("[same]\ncopy_score = -0.1", Some(2), "-0.1"),
            ("[same]\ncopy_score = '1'", Some(2), "a number"),
            ("same = 1", Some(1), "a section"),
            ("[size]\nsmall = -1", Some(2), "a whole number"),
            ("[size]\nsmall = 0", Some(2), "nothing would be needed"),
            ("[size]\nsmall = 1.5", Some(2), "a whole number"),
            ("[size]\ntiny = 17", Some(2), "more than size.small"),
            ("[size\n", Some(1), ""),
            ("[size]\ntiny = 1\ntiny = 2", Some(3), ""),
            (
                "[size]\nsmall = 99999999999999999999",
                Some(2),
                "a whole number",
            ),
            (
                "[answer_seen]\nverdict = 'clean'",
                None,
                "`partial` or `invalid`",
            ),
            ("[full_leak]\nneeds = 'luck'", None, "`admission`"),
        ] {
            match parse(text) {
                Err(Error::BadData { line: at, what, .. }) => {
                    assert_eq!(at, line, "{text}: {what}");
                    assert!(what.contains(words), "{text}: {what}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_missing_file_names_the_built_in_policies() {
        let error = Policy::load("no/such/policy.toml").unwrap_err();
        assert_eq!(error.exit_code(), 66);
        assert!(error.to_string().contains("default, seed, strict"));
        let error = Policy::load(env!("CARGO_MANIFEST_DIR")).unwrap_err();
        assert_eq!(error.exit_code(), 65);
    }
}
