//! One JSON value that borrows from the text it was read from.
//!
//! `serde_json::Value` allocates every string and sorts the keys of every object. A trace is mostly
//! strings, of which an adapter needs a few, so this tree borrows each string that has no escapes,
//! keeps the keys in the order of the text, and is never changed. Depth is bounded by the recursion
//! limit of `serde_json` (128): deeper records are flattened first, see [`super::mend`]. Size is
//! bounded by [`MAX_VALUES`]: a small text such as `[0,0,…]` can make a large tree.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Values in one text beyond which it is refused: at about 64 bytes each, 128 MiB.
const MAX_VALUES: u32 = 1 << 21;

/// A JSON value. Objects keep all their keys, repeated ones too: the last one wins in [`Json::get`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string, borrowed when it holds no escapes.
    Str(Cow<'a, str>),
    /// An array.
    Arr(Vec<Json<'a>>),
    /// An object, in the order of the text.
    Obj(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Parses a text that holds exactly one JSON value.
pub(crate) fn parse(text: &str) -> Result<Json<'_>, serde_json::Error> {
    let mut de = serde_json::Deserializer::from_str(text);
    let left = Cell::new(MAX_VALUES);
    let value = AnyValue { left: &left }.deserialize(&mut de)?;
    de.end()?;
    Ok(value)
}

/// Of what it says, without writing it out: it may be long. Equal values have the same.
impl Hash for Json<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Int(number) => number.hash(state),
            // Zero has two signs.
            Self::Float(number) => (number + 0.0).to_bits().hash(state),
            Self::Str(text) => text.hash(state),
            Self::Arr(items) => items.hash(state),
            Self::Obj(members) => members.hash(state),
        }
    }
}

impl<'a> Json<'a> {
    /// The member of that name; `None` when this is no object or has none.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Self::Obj(members) => members
                .iter()
                .rev()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same value, whose strings are borrowed from this one.
    pub(crate) fn borrowed(&self) -> Json<'_> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Int(number) => Json::Int(*number),
            Self::Float(number) => Json::Float(*number),
            Self::Str(text) => Json::Str(Cow::Borrowed(text)),
            Self::Arr(items) => Json::Arr(items.iter().map(Json::borrowed).collect()),
            Self::Obj(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| (Cow::Borrowed(name.as_ref()), value.borrowed()));
                Json::Obj(members.collect())
            }
        }
    }

    /// The member at the end of a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Json<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The string, if this is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The member of that name, if it is a string.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::as_str)
    }

    /// The first of several members that is a string with something in it.
    pub(crate) fn first_str(&self, keys: &[&str]) -> Option<&str> {
        keys.iter()
            .find_map(|key| self.str(key).filter(|text| !text.is_empty()))
    }

    /// The member of that name, if it is an integer.
    pub(crate) fn int(&self, key: &str) -> Option<i64> {
        match self.get(key) {
            Some(Self::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// True when the member of that name is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Bool(true)))
    }

    /// True when there is a member of that name that is not `null`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| *value != Self::Null)
    }

    /// True when the member of that name is an object.
    pub(crate) fn has_obj(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Obj(_)))
    }

    /// The elements, if this is an array; otherwise nothing.
    pub(crate) fn items(&self) -> &[Json<'a>] {
        match self {
            Self::Arr(items) => items,
            _ => &[],
        }
    }

    /// The elements of the member of that name, if it is an array.
    pub(crate) fn list(&self, key: &str) -> &[Json<'a>] {
        self.get(key).map_or(&[], Self::items)
    }

    /// The members in the order of the text, if this is an object; otherwise nothing.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        match self {
            Self::Obj(members) => members,
            _ => &[],
        }
    }
}

/// Reads any value, as long as there are values left.
#[derive(Clone, Copy)]
struct AnyValue<'c> {
    left: &'c Cell<u32>,
}

impl<'de> DeserializeSeed<'de> for AnyValue<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Self::Value, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(D::Error::custom("too many values")),
        }
        de.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(i64::try_from(value).map_or(Json::Float(value as f64), Json::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Str(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::Str(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Json::Arr(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            members.push((key, map.next_value_seed(self)?));
        }
        Ok(Json::Obj(members))
    }
}

/// Reads an object key without copying it where it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Self::Value, D::Error> {
        de.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object key")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows_plain_strings_and_decodes_escaped_ones() {
        let value = parse(r#"{"a":"plain","b":"two\nlines","c":[1,-2,1.5,true,null]}"#).unwrap();
        assert!(matches!(
            value.get("a"),
            Some(Json::Str(Cow::Borrowed("plain")))
        ));
        assert!(
            matches!(value.get("b"), Some(Json::Str(Cow::Owned(text))) if text == "two\nlines")
        );
        assert_eq!(
            value.list("c"),
            [
                Json::Int(1),
                Json::Int(-2),
                Json::Float(1.5),
                Json::Bool(true),
                Json::Null
            ]
        );
    }

    #[test]
    fn the_last_of_repeated_keys_wins() {
        let value = parse(r#"{"k":1,"k":2}"#).unwrap();
        assert_eq!(value.int("k"), Some(2));
        assert_eq!(value.members().len(), 2);
    }

    #[test]
    fn paths_and_absences() {
        let value = parse(r#"{"a":{"b":{"c":"x"}},"n":null,"e":""}"#).unwrap();
        assert_eq!(value.at(&["a", "b", "c"]).and_then(Json::as_str), Some("x"));
        assert_eq!(value.at(&["a", "x", "c"]), None);
        assert!(!value.has("n"));
        assert!(value.has_obj("a"));
        assert_eq!(value.first_str(&["n", "e", "zz"]), None);
        assert!(Json::Int(1).get("a").is_none());
    }

    #[test]
    fn the_size_of_a_tree_is_bounded() {
        let array = |values: usize| format!("[{}0]", "0,".repeat(values - 1));
        assert!(parse(&array(MAX_VALUES as usize - 1)).is_ok());
        assert!(parse(&array(MAX_VALUES as usize)).is_err());
    }

    #[test]
    fn too_deep_and_trailing_text_are_errors_and_no_overflow() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&deep).is_err());
        assert!(parse("{}{}").is_err());
        assert!(parse("").is_err());
    }
}
