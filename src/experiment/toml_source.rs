//! TOML read with places: every complaint names file, line and column.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::wording::{did_you_mean, show};
use crate::{Error, Result};

/// A TOML text and the file it comes from.
#[derive(Clone, Copy)]
pub(crate) struct TomlSource<'a> {
    /// The file, for messages.
    pub(crate) path: &'a Path,
    /// Its text.
    pub(crate) text: &'a str,
}

impl<'a> TomlSource<'a> {
    /// Parses the text.
    ///
    /// # Errors
    /// [`Error::BadData`] with the place of the first mistake.
    pub(crate) fn parse(self) -> Result<DeTable<'a>> {
        match DeTable::parse(self.text) {
            Ok(table) => Ok(table.into_inner()),
            Err(e) => Err(self.error(
                e.span().unwrap_or_default(),
                e.message(),
                "mend the TOML at this place",
            )),
        }
    }

    /// The complaint about a place in the text.
    pub(crate) fn error(self, span: Range<usize>, what: &str, fix: &str) -> Error {
        let (line, column) = self.place(span.start);
        Error::BadData {
            path: self.path.to_owned(),
            line: Some(line),
            what: format!("column {column}: {what}"),
            fix: fix.to_owned(),
        }
    }

    /// The complaint about a key that is not known, with the one that was probably meant.
    pub(crate) fn unknown_key(self, key: &Spanned<impl AsRef<str>>, known: &[&str]) -> Error {
        let name = key.as_ref().as_ref();
        let fix = match did_you_mean(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        self.error(key.span(), &format!("unknown key {}", show(name)), &fix)
    }

    /// A value that must be a string.
    ///
    /// # Errors
    /// [`Error::BadData`] when it is something else.
    pub(crate) fn string<'v>(self, key: &str, value: &'v Spanned<DeValue<'a>>) -> Result<&'v str> {
        value.as_ref().as_str().ok_or_else(|| {
            let found = value.as_ref().type_str();
            self.error(
                value.span(),
                &format!("`{key}` must be a string, and is {found}"),
                "put the value in quotes",
            )
        })
    }

    /// A value that must be a list of strings; a single string counts as a list of one.
    ///
    /// # Errors
    /// [`Error::BadData`] when it is something else.
    pub(crate) fn strings<'v>(
        self,
        key: &str,
        value: &'v Spanned<DeValue<'a>>,
    ) -> Result<Vec<(&'v str, Range<usize>)>> {
        match value.as_ref() {
            DeValue::Array(items) => items
                .iter()
                .map(|item| Ok((self.string(key, item)?, item.span())))
                .collect(),
            _ => Ok(vec![(self.string(key, value)?, value.span())]),
        }
    }

    /// A value that must be a table.
    ///
    /// # Errors
    /// [`Error::BadData`] when it is something else.
    pub(crate) fn table<'v>(
        self,
        key: &str,
        value: &'v Spanned<DeValue<'a>>,
    ) -> Result<&'v DeTable<'a>> {
        value.as_ref().as_table().ok_or_else(|| {
            let found = value.as_ref().type_str();
            self.error(
                value.span(),
                &format!("`{key}` must be a table, and is {found}"),
                &format!("write `[{key}]` and the values below it"),
            )
        })
    }

    /// 1-based line and column (in characters) of a byte offset.
    fn place(self, offset: usize) -> (u64, u64) {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = self.text.get(..at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let column = 1 + before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        (
            u64::try_from(line).unwrap_or(u64::MAX),
            u64::try_from(column).unwrap_or(u64::MAX),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_one_based_and_in_characters() {
        let source = TomlSource {
            path: Path::new("x.toml"),
            text: "é = 1\n\nab",
        };
        assert_eq!(source.place(0), (1, 1));
        assert_eq!(source.place(1), (1, 1));
        assert_eq!(source.place(2), (1, 2));
        assert_eq!(source.place(8), (3, 1));
        assert_eq!(source.place(9999), (3, 3));
    }

    #[test]
    fn a_mistake_has_its_place() {
        let source = TomlSource {
            path: Path::new("x.toml"),
            text: "a = 1\nb = = 2\n",
        };
        let error = source.parse().unwrap_err().to_string();
        assert!(error.starts_with("x.toml:2: column 5: "), "{error}");
    }
}
