//! Values of simple expressions: strings and lists, as far as they are known.

use std::collections::BTreeMap;

use super::super::codec;
use super::super::limits::{MAX_DECODED, MAX_WORD};
use super::super::scope::Field;

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(Text),
    List(Vec<Text>),
    /// One of these after the other: the variable of a loop over a literal list.
    Each(Vec<Text>),
    Unknown,
}

/// A string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// Holds something that could not be resolved.
    pub(super) dynamic: bool,
    /// Layers of encoding taken off.
    pub(super) decoded: u8,
}

impl Text {
    pub(super) fn known(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    pub(super) fn unresolved() -> Self {
        Self {
            text: "{}".to_owned(),
            dynamic: true,
            decoded: 0,
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        if self.text.len().saturating_add(other.text.len()) > MAX_WORD {
            self.dynamic = true;
            return;
        }
        self.text.push_str(&other.text);
        self.dynamic |= other.dynamic;
        self.decoded = self.decoded.max(other.decoded);
    }

    /// As an argument of a command.
    pub(super) fn field(&self) -> Field {
        Field {
            dynamic: self.dynamic,
            decoded: self.decoded,
            ..Field::plain(&self.text)
        }
    }
}

/// Names bound to known values.
pub(super) type Names = BTreeMap<String, Value>;

/// The value of a call, where it is worth knowing.
pub(super) fn result(first: &str, last: &str, arguments: &[Value]) -> Value {
    let argument = arguments.first().cloned().unwrap_or(Value::Unknown);
    match last {
        "b64decode" | "decode64" | "base64_decode" | "decode_base64" | "atob"
        | "FromBase64String" | "urlsafe_b64decode" => decode(argument, codec::base64),
        "fromhex" | "unhexlify" => decode(argument, codec::hex),
        "from" if first == "Buffer" => {
            let encoding = arguments.get(1).cloned().map(as_text);
            match encoding.as_ref().map(|e| e.text.as_str()) {
                Some("base64") => decode(argument, codec::base64),
                Some("hex") => decode(argument, codec::hex),
                _ => argument,
            }
        }
        "Request" | "URL" | "URI" | "parse" | "Uri" | "str" | "String" | "bytes" | "Path"
        | "quote" | "escapeshellarg" | "escapeshellcmd" | "escape" | "encodeURI" | "split"
        | "list" | "GET" => argument,
        _ => Value::Unknown,
    }
}

/// A value as one string.
pub(super) fn as_text(value: Value) -> Text {
    match value {
        Value::Text(text) => text,
        _ => Text::unresolved(),
    }
}

pub(super) fn join(items: &[Text], separator: &Text) -> Value {
    let mut out = Text::default();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.join(separator);
        }
        out.join(item);
    }
    Value::Text(out)
}

fn decode(value: Value, decoder: fn(&[u8], usize) -> Option<Vec<u8>>) -> Value {
    let Value::Text(text) = value else {
        return Value::Unknown;
    };
    match decoder(text.text.as_bytes(), MAX_DECODED) {
        Some(bytes) => Value::Text(Text {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            dynamic: text.dynamic,
            decoded: text.decoded.saturating_add(1),
        }),
        None => Value::Unknown,
    }
}
