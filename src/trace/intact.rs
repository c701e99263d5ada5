//! What stands intact in a record that breaks off.
//!
//! Most records are small, and of one that is cut off only its text is kept. A record that holds a whole run
//! is another matter: a sample of Inspect has all messages in it, and the end of the file may be missing
//! behind any of them. Its start is closed behind the last member, or the last item of the array that breaks
//! off, and is a record again. Nothing that is itself cut is handed over.

use super::document::{self, Member};
use super::scan::Scan;

/// White space and commas, between members and between items.
const BETWEEN: &[u8] = b", \t\r\n";

/// The start of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// It, closed.
    pub(crate) text: String,
    /// How many bytes of the broken record are in it.
    pub(crate) length: usize,
}

/// The start of a record that holds a whole run; `None` when it is no such record, or breaks off in front of the
/// run.
pub(crate) fn start_of(text: &str) -> Option<Start> {
    let bytes = text.as_bytes();
    let members = members(bytes, 0);
    let (mut length, mut closing) = (members.end, "}");
    let mut run = members.has_run;
    if let Some(member) = members.broken {
        let within = match bytes.get(member.value) {
            Some(b'[') => Some((items_end(bytes, member.value), "]}")),
            Some(b'{') => Some((self::members(bytes, member.value).end, "}}")),
            _ => None,
        };
        if let Some((end, both)) = within {
            (length, closing) = (end, both);
            run |= document::is_section(member.key) && both == "]}";
        }
    }
    let start = text.get(..length).filter(|_| members.is_one && run)?;
    Some(Start {
        text: format!("{start}{closing}"),
        length,
    })
}

/// True when the broken object that `bytes` begin with bears the mark of one record.
pub(crate) fn is_one_record(bytes: &[u8]) -> bool {
    members(bytes, 0).is_one
}

/// The whole members at the start of an object.
struct Members<'b> {
    /// Where the last one ends.
    end: usize,
    /// The one behind them, whose value does not end.
    broken: Option<Member<'b>>,
    /// One of them is the mark of one record.
    is_one: bool,
    /// One of them is an array that holds a run.
    has_run: bool,
}

fn members(bytes: &[u8], object: usize) -> Members<'_> {
    let mut found = Members {
        end: object + 1,
        broken: None,
        is_one: false,
        has_run: false,
    };
    while let Some(member) =
        document::skip(bytes, found.end, BETWEEN).and_then(|at| Member::at(bytes, at))
    {
        let Scan::Done(end) = document::value_end(bytes, member.value) else {
            found.broken = Some(member);
            break;
        };
        found.end = end;
        found.is_one |= document::is_mark(member.key);
        found.has_run |= document::is_section(member.key) && member.is_array(bytes);
    }
    found
}

/// Where the last whole item of an array ends.
fn items_end(bytes: &[u8], array: usize) -> usize {
    let mut end = array + 1;
    while let Some(at) = document::skip(bytes, end, BETWEEN) {
        match document::value_end(bytes, at) {
            Scan::Done(item_end) => end = item_end,
            _ => break,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn closed_behind_what_is_whole() {
        for (text, want) in [
            (
                r#"{"epoch":1,"messages":[{"a":"]"},{"b"#,
                Some(r#"{"epoch":1,"messages":[{"a":"]"}]}"#),
            ),
            (
                r#"{"epoch":1,"messages":[{"a":1}],"x":{"k":"v","l":"#,
                Some(r#"{"epoch":1,"messages":[{"a":1}],"x":{"k":"v"}}"#),
            ),
            (
                r#"{"epoch":1,"messages":[{"a":1}],"x":"cut"#,
                Some(r#"{"epoch":1,"messages":[{"a":1}]}"#),
            ),
            (
                r#"{"epoch":1,"messages":["#,
                Some(r#"{"epoch":1,"messages":[]}"#),
            ),
            // a number may go on
            (
                r#"{"epoch":1,"messages":[],"n":12"#,
                Some(r#"{"epoch":1,"messages":[]}"#),
            ),
            (r#"{"epoch":1,"messages":"#, None),
            (r#"{"epoch":1,"input":[{"a":1}"#, None),
            (r#"{"messages":[{"a":1},"#, None),
            (r#"{"messages":[{"epoch":1},{"epoch":1"#, None),
            ("{", None),
            ("", None),
        ] {
            let got = start_of(text);
            assert_eq!(got.map(|start| start.text).as_deref(), want, "{text}");
        }
    }

    proptest! {
        /// Wherever a record is cut, its start is JSON again, and no more than what was there.
        #[test]
        fn a_cut_record_parses(at in 0_usize..170) {
            let whole = r#"{"id": "é", "epoch": 1, "messages": [{"t": "\"a\\", "n": [1, {"x": null}]}, {"t": "b"}], "attachments": {"h": "[{\"", "i": "é"}, "scores": {}, "n": -1.5}"#;
            let cut = crate::trace::text::cut(whole, at);
            if let Some(start) = start_of(cut) {
                prop_assert!(start.length <= cut.len());
                prop_assert!(serde_json::from_str::<serde_json::Value>(&start.text).is_ok(), "{}", start.text);
            } else {
                prop_assert!(!cut.contains(r#""messages": ["#));
            }
        }
    }
}
