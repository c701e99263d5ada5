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
    /// Values by name: a dictionary, an object, the keyword arguments of a call.
    Map(Vec<(String, Value)>),
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

/// The name under which the arguments of the script are bound.
pub(super) const ARGUMENTS: &str = "sys.argv";

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
        // `new URL("/path", "https://host")`, `urljoin("https://host/a/", "path")`
        "URL" | "urljoin" if arguments.len() == 2 => {
            let mut texts = arguments.iter().cloned().map(as_text);
            match (texts.next(), texts.next()) {
                (Some(first), Some(second)) => {
                    let (base, path) = if last == "URL" {
                        (second, first)
                    } else {
                        (first, second)
                    };
                    Value::Text(Text {
                        text: located(&base.text, &path.text),
                        dynamic: base.dynamic || path.dynamic,
                        decoded: base.decoded.max(path.decoded),
                    })
                }
                _ => argument,
            }
        }
        // `c("show", "x")`, `paste0("https://", host)` of R.
        "c" if first == "c" => Value::List(arguments.iter().cloned().map(as_text).collect()),
        "paste0" => {
            let texts: Vec<Text> = arguments.iter().cloned().map(as_text).collect();
            join(&texts, &Text::default())
        }
        "Request" | "URL" | "URI" | "url" | "parse" | "Uri" | "str" | "String" | "bytes"
        | "Path" | "quote" | "escapeshellarg" | "escapeshellcmd" | "escape" | "encodeURI"
        | "split" | "list" | "GET" => argument,
        // GitPython and its like: `repo.commit("v1")` stands for the name.
        "commit" | "rev_parse" | "revparse_single" if first != last => argument,
        _ => Value::Unknown,
    }
}

impl Value {
    /// The value of a name in a map.
    pub(super) fn entry(&self, names: &[&str]) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        let found = entries
            .iter()
            .find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value)
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.text.len(),
            Self::List(items) | Self::Each(items) => {
                items.iter().map(|item| item.text.len() + 1).sum()
            }
            Self::Map(entries) => {
                let sizes = entries
                    .iter()
                    .map(|(name, value)| name.len() + value.size());
                sizes.sum()
            }
            Self::Unknown => 0,
        }
    }
}

/// One string behind another; those of a loop each.
pub(super) fn behind(left: Value, right: Value) -> Value {
    let joined = |a: &Text, b: &Text| {
        let mut a = a.clone();
        a.join(b);
        a
    };
    match (left, right) {
        (Value::Each(items), Value::Text(b)) => {
            Value::Each(items.iter().map(|a| joined(a, &b)).collect())
        }
        (Value::Text(a), Value::Each(items)) => {
            Value::Each(items.iter().map(|b| joined(&a, b)).collect())
        }
        (left, right) => Value::Text(joined(&as_text(left), &as_text(right))),
    }
}

/// The address of a path on a host, or of a path below another address.
pub(super) fn located(base: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let base = if base.contains("://") {
        base.to_owned()
    } else {
        format!("https://{base}")
    };
    let root = base
        .match_indices('/')
        .nth(2)
        .map_or(base.len(), |(at, _)| at);
    let root = base.get(..root).unwrap_or(&base);
    // A path from the root of a server, unless the base is more than a server.
    if path.starts_with('/') && !base.trim_end_matches('/').contains(&root_and_slash(root)) {
        return format!("{root}{path}");
    }
    format!(
        "{}/{}",
        base.trim_end_matches('/'),
        path.trim_start_matches('/')
    )
}

fn root_and_slash(root: &str) -> String {
    format!("{root}/")
}

/// Puts values in the place of `%s` and `%d`, or of `{}` and `{0}`.
pub(super) fn filled(text: &Text, values: &[Text], percent: bool) -> Text {
    let mut out = Text {
        decoded: text.decoded,
        dynamic: text.dynamic,
        ..Text::default()
    };
    let mut rest = text.text.as_str();
    let mut at = 0;
    while let Some((before, after)) = rest.split_once(if percent { '%' } else { '{' }) {
        out.join(&Text::known(before.to_owned()));
        let (mark, left) = if percent {
            after.split_at_checked(1).unwrap_or((after, ""))
        } else {
            after.split_once('}').unwrap_or((after, ""))
        };
        rest = left;
        if percent && mark == "%" {
            out.join(&Text::known("%".to_owned()));
            continue;
        }
        let index = mark.parse().ok().unwrap_or(at);
        at += 1;
        out.join(values.get(index).unwrap_or(&Text::unresolved()));
    }
    out.join(&Text::known(rest.to_owned()));
    out
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
