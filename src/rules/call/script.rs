//! Programs in other languages: which addresses and files a source text uses.
//!
//! No language is parsed. A source text that calls something of the network and holds an address
//! fetches it; one that opens files and holds a path reads it.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Io, address};
use crate::rules::rule::Access;
use crate::rules::text::{ascii, slice};

static NETWORK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?ix)
        urllib | urlopen | urlretrieve | requests\s*\.\s*(?:get|post|request|session) | httpx
        | http\.client | aiohttp | pycurl | wget\.download | \bfetch\s*\( | axios | \bgot\s*\(
        | node-fetch | undici | https?\.get | https?\.request | LWP | HTTP::Tiny | Mojo::UserAgent
        | open-uri | Net::HTTP | URI\.open | Faraday | HTTParty | Invoke-WebRequest
        | Invoke-RestMethod | WebClient | DownloadString | DownloadFile | HttpClient
        | file_get_contents | curl_exec | GuzzleHttp | http\.Get\( | reqwest | ureq
        | git\.Repo\.clone_from | porcelain\.clone | \bcurl\b | \bwget\b",
    )
});

static OPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?ix)
        \bopen\s*\( | read_text | read_bytes | \.read\s*\( | readFile | createReadStream
        | File\.(?:read|open|readlines|foreach) | IO\.read | file_get_contents | fopen | slurp
        | Get-Content | ReadAllText | shutil\.copy | copyFile | getsource | linecache
        | read_csv | read_parquet | read_json | json\.load | subprocess",
    )
});

static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| ascii(r#"["'`]([^"'`\n]+)["'`]"#));

/// Longest string that can be a path, in bytes.
const MAX_PATH: usize = 300;

/// Strings of one source text that are looked at.
const MAX_STRINGS: usize = 500;

/// What a source text does.
pub fn io_of(source: &str) -> Io {
    let mut io = Io {
        prints: true,
        ..Io::default()
    };
    let calls = |regex: &LazyLock<Option<Regex>>| {
        regex
            .as_ref()
            .is_some_and(|r| r.is_match(source.as_bytes()))
    };
    if calls(&NETWORK) {
        io.fetches = address::all(source);
    }
    let opens = calls(&OPENS);
    if let Some(quoted) = QUOTED.as_ref().filter(|_| opens || !io.fetches.is_empty()) {
        for found in quoted.captures_iter(source.as_bytes()).take(MAX_STRINGS) {
            let text = found.get(1).map_or("", |m| slice(source, m.range()));
            let path = (text.contains('/') || text.contains('.'))
                && !text.contains("://")
                && !text.contains(' ')
                && text.len() <= MAX_PATH;
            if path && opens {
                io.uses(text, Access::Read);
            }
            // What a download names besides its address is where it goes.
            if path && !io.fetches.is_empty() {
                io.saves.push(text.to_owned());
            }
        }
    }
    io
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_count_only_where_something_fetches() {
        for (source, count) in [
            (
                "import urllib.request as u; u.urlopen('https://h.example/x')",
                1,
            ),
            ("fetch(\"https://h.example/x\").then(print)", 1),
            ("LINK = 'https://h.example/x'", 0),
            ("requests.get('http://localhost/x')", 0),
        ] {
            assert_eq!(io_of(source).fetches.len(), count, "{source}");
        }
    }

    #[test]
    fn paths_count_only_where_something_opens() {
        let io = io_of("print(open('/eval/gt_diff.patch').read())");
        assert_eq!(
            io.files.first().map(|f| f.path.as_str()),
            Some("/eval/gt_diff.patch")
        );
        assert!(io_of("print('/eval/gt_diff.patch')").files.is_empty());
    }
}
