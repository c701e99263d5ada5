//! Texts that stand elsewhere in a record, under their hash.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::trace::json::Json;

/// What stands in place of a text, in front of `://` and its hash.
const MARKS: [&str; 2] = ["attachment", "tc"];
/// Length of a hash.
const HASH: usize = 32;
/// Bytes that attachments may add to one text: a text of nothing but marks would grow without bound.
const MAX_ATTACHED: usize = 64 << 20;

/// The texts by their hash. Empty for formats that keep every text where it belongs.
#[derive(Debug, Default)]
pub(super) struct Attachments<'j> {
    texts: HashMap<&'j str, &'j str>,
}

impl<'j> Attachments<'j> {
    /// The `attachments` of a record.
    pub(super) fn of(record: &'j Json<'_>) -> Self {
        let members = record.get("attachments").map(Json::members);
        let members = members.unwrap_or_default().iter();
        Self {
            texts: members
                .filter_map(|(hash, text)| Some((&**hash, text.as_str()?)))
                .collect(),
        }
    }

    /// A text with what stands elsewhere in its place.
    pub(super) fn fill<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.texts.is_empty() || !text.contains("://") {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (at, colon) in text.match_indices("://") {
            let before = text.get(from..at).unwrap_or_default();
            let mark = MARKS.iter().find_map(|mark| before.strip_suffix(mark));
            let start = at + colon.len();
            let hash = text.get(start..start + HASH).unwrap_or_default();
            if let (Some(before), Some(attached)) = (mark, self.texts.get(hash))
                && out.len() + attached.len() <= MAX_ATTACHED
            {
                out.push_str(before);
                out.push_str(attached);
                from = start + HASH;
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json;

    #[test]
    fn marks_are_replaced_where_their_text_is_there() {
        let (a, b) = ("a".repeat(HASH), "b".repeat(HASH));
        let record = format!(r#"{{"attachments":{{"{a}":"the text"}}}}"#);
        let record = json::parse(&record).unwrap();
        let texts = Attachments::of(&record);
        for (text, want) in [
            ("plain".to_owned(), "plain".to_owned()),
            (format!("attachment://{a}"), "the text".to_owned()),
            (
                format!("x tc://{a} y attachment://{a}"),
                "x the text y the text".to_owned(),
            ),
            (format!("attachment://{b}"), format!("attachment://{b}")),
            ("attachment://é".to_owned(), "attachment://é".to_owned()),
        ] {
            assert_eq!(texts.fill(&text), want, "{text}");
        }
    }
}
