//! Addresses on the network, and which of them a call fetches.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::rules::text::{ascii, slice};

/// Addresses of one text that are looked at; one that holds more is a list of links, no call.
pub const MAX_ADDRESSES: usize = 64;

static URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| ascii(r#"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s"'<>`\\|{}()\[\],]+"#));

/// All addresses with a scheme in a text, without those of this machine.
pub fn all(text: &str) -> Vec<String> {
    let Some(url) = URL.as_ref().filter(|_| text.contains("://")) else {
        return Vec::new();
    };
    url.find_iter(text.as_bytes())
        .map(|found| slice(text, found.range()).trim_end_matches(['.', ';', ':']))
        .map(decoded)
        .filter(|address| !is_local(address))
        .take(MAX_ADDRESSES)
        .map(Cow::into_owned)
        .collect()
}

/// The addresses in the argument of a download program, which may lack the scheme.
pub fn of_argument(word: &str) -> Vec<String> {
    if let Some((scheme, rest)) = word.split_once("://") {
        // A whole word may hold what ends an address in running text, such as brackets.
        let whole = !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
            && !rest.contains(|c: char| c.is_whitespace() || "\"'<>`|".contains(c))
            && !rest.contains("://");
        let address = decoded(word);
        return match whole {
            true if is_local(&address) => Vec::new(),
            true => vec![address.into_owned()],
            false => all(word),
        };
    }
    let host = word.split('/').next().unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    let plausible = word.contains('/')
        && !word.starts_with(['-', '.', '/', '@'])
        && name.contains('.')
        && name
            .rsplit('.')
            .next()
            .is_some_and(|tld| tld.len() >= 2 && tld.bytes().all(|b| b.is_ascii_alphabetic()))
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    if plausible && !is_local(word) {
        vec![decoded(word).into_owned()]
    } else {
        Vec::new()
    }
}

/// An address whose host is the value of an unknown variable: `$UP/owner/name/pull/7.diff`.
pub fn behind_unknown(word: &str) -> Option<String> {
    let name = word.strip_prefix('$')?;
    let (host, path) = name.split_once('/')?;
    let variable = host.trim_start_matches('{').trim_end_matches('}');
    let named = !variable.is_empty()
        && variable
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let plain = !path.contains(|c: char| c.is_whitespace() || "\"'<>`|".contains(c));
    (named && plain && path.split('/').count() >= MIN_PARTS)
        .then(|| format!("https://${variable}/{path}"))
}

/// Parts of a path that must follow an unknown host.
const MIN_PARTS: usize = 3;

/// Layers of `%70` (`%2570`) that are undone.
const MAX_LAYERS: usize = 3;

/// An address, or a text that holds some, with what is percent-encoded in it written plainly. It stays as it is
/// if that would give what cannot stand in an address.
pub fn decoded(address: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(address);
    for _ in 0..MAX_LAYERS {
        match undone(&plain) {
            Some(next) => plain = Cow::Owned(next),
            None => break,
        }
    }
    plain
}

/// One layer undone; `None` if there is none, or not a plain one.
fn undone(address: &str) -> Option<String> {
    if !address.contains('%') {
        return None;
    }
    let mut pieces = address.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    let mut any = false;
    for piece in pieces {
        let digits = piece
            .get(..2)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                any = true;
                bytes.push(byte);
                bytes.extend(piece.bytes().skip(2));
            }
            None => {
                bytes.push(b'%');
                bytes.extend(piece.bytes());
            }
        }
    }
    let odd = |c: char| (c.is_control() || c.is_whitespace()) && !address.contains(c);
    let text = String::from_utf8(bytes).ok().filter(|_| any)?;
    (!text.contains(odd)).then_some(text)
}

/// True for addresses of this machine or of a private network: a server under test is no source.
pub fn is_local(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    if address.starts_with("file://") {
        return true;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if let Some(v6) = host.strip_prefix('[') {
        v6.split(']').next().unwrap_or_default()
    } else {
        host.split(':').next().unwrap_or_default()
    };
    let host = host.to_ascii_lowercase();
    let private = |h: &str| {
        h.starts_with("127.")
            || h.starts_with("10.")
            || h.starts_with("192.168.")
            || (16..=31).any(|n| h.starts_with(&format!("172.{n}.")))
    };
    let numeric = host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    matches!(
        host.as_str(),
        "localhost" | "::1" | "0.0.0.0" | "host.docker.internal" | "testserver"
    ) || host.ends_with(".localhost")
        || host.ends_with(".local")
        || host.ends_with(".internal")
        || (numeric && private(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_texts() {
        assert_eq!(
            all(r#"{"url":"https://h.example/a/b.diff","p":"x http://localhost:8080/y"}"#),
            ["https://h.example/a/b.diff"]
        );
        assert_eq!(
            all("see https://h.example/a. Then"),
            ["https://h.example/a"]
        );
    }

    #[test]
    fn encoded_addresses_are_read() {
        for (address, plain) in [
            ("https://h.example/%70ull/1", "https://h.example/pull/1"),
            ("https://h.example/%2570ull/1", "https://h.example/pull/1"),
            ("https://h.example/?u=a%2Fb", "https://h.example/?u=a/b"),
            ("https://h.example/100%", "https://h.example/100%"),
            ("https://h.example/%zz%4", "https://h.example/%zz%4"),
            ("https://h.example/a%20b", "https://h.example/a%20b"),
            ("https://h.example/%ff%00", "https://h.example/%ff%00"),
        ] {
            assert_eq!(decoded(address), plain, "{address}");
            assert_eq!(of_argument(address), [plain], "{address}");
        }
        assert!(of_argument("http://%6cocalhost/x").is_empty());
    }

    #[test]
    fn arguments_may_lack_the_scheme() {
        assert_eq!(of_argument("h.example.com/a/b").len(), 1);
        for word in [
            "src/a.py",
            "./a.b/c",
            "a.b",
            "-o",
            "localhost:80/x",
            "v1.2/x",
            "10.0.0.7/x",
        ] {
            assert!(of_argument(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn local_addresses_are_no_source() {
        for address in [
            "http://localhost:8080/x",
            "http://user@127.0.0.1/x",
            "http://[::1]:80/x",
            "http://172.20.0.3/x",
            "file:///etc/x",
        ] {
            assert!(is_local(address), "{address}");
        }
        for address in ["https://10.example.com/x", "https://h.example/localhost"] {
            assert!(!is_local(address), "{address}");
        }
    }
}
