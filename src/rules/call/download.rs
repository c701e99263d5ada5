//! Download programs: which addresses they get and where they put them.

use super::{Io, address};
use crate::rules::rule::Access;
use crate::shell::model::Invocation;

/// How a program names the file that it writes.
struct Client {
    names: &'static [&'static str],
    /// Options followed by a file.
    file: &'static [&'static str],
    /// Options followed by a directory.
    directory: &'static [&'static str],
    /// Options that keep the remote name.
    remote: &'static [&'static str],
    /// It writes a file unless told otherwise.
    saves: bool,
}

const CLIENTS: &[Client] = &[
    Client {
        names: &["curl", "curlie"],
        file: &["-o", "--output"],
        directory: &["--output-dir"],
        remote: &["-O", "--remote-name", "--remote-name-all"],
        saves: false,
    },
    Client {
        names: &["wget", "wget2"],
        file: &["-O", "--output-document"],
        directory: &["-P", "--directory-prefix"],
        remote: &[],
        saves: true,
    },
    Client {
        names: &["aria2c", "axel"],
        file: &["-o", "--out", "--output"],
        directory: &["-d", "--dir"],
        remote: &[],
        saves: true,
    },
    Client {
        names: &["http", "https", "xh", "xhs", "httpie"],
        file: &["-o", "--output"],
        directory: &[],
        remote: &["-d", "--download"],
        saves: false,
    },
    Client {
        names: &["iwr", "irm", "invoke-webrequest", "invoke-restmethod"],
        file: &["-OutFile", "-outfile"],
        directory: &[],
        remote: &[],
        saves: false,
    },
    Client {
        names: &["fetch", "lwp-download", "gdown"],
        file: &["-o", "-O"],
        directory: &[],
        remote: &[],
        saves: true,
    },
];

/// Options of curl and wget whose value is no address: headers, data, proxies, referrers.
const OTHER_VALUES: &[&str] = &[
    "-H",
    "--header",
    "-A",
    "--user-agent",
    "-F",
    "--form",
    "-u",
    "--user",
    "-e",
    "--referer",
    "-x",
    "--proxy",
    "-b",
    "--cookie",
    "-c",
    "--cookie-jar",
    "-w",
    "--write-out",
    "-X",
    "--request",
    "--max-time",
    "-m",
    "--retry",
    "--connect-timeout",
    "-T",
    "--timeout",
    "-U",
    "--cacert",
    "--tries",
    "-t",
];

/// Options of curl whose value is data: with `-G` it becomes a part of the address.
const QUERY_VALUES: &[&str] = &[
    "-d",
    "--data",
    "--data-ascii",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--url-query",
];

/// Stands for an item `name==value` of HTTPie.
const HTTPIE: &str = "==";

/// The parts of an address that stand in words of their own: `curl -G --data-urlencode q=x ADDRESS`.
struct Query {
    /// Data are sent as a part of the address.
    get: bool,
    httpie: bool,
    parts: String,
}

impl Query {
    fn new(invocation: &Invocation, httpie: bool) -> Self {
        let words = invocation.args.iter().map(|w| w.text.as_str());
        let get = |word: &str| {
            word == "--get"
                || word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains('G')
                    && word.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
        };
        Self {
            get: words.into_iter().any(get),
            httpie,
            parts: String::new(),
        }
    }

    /// True for an item of HTTPie that belongs into the address.
    fn takes(&self, word: &str) -> bool {
        self.httpie && word.contains(HTTPIE) && !word.contains("://")
    }

    /// A part of the address, or data that are sent otherwise.
    fn add(&mut self, option: &str, value: Option<&str>) {
        let Some(value) = value.filter(|_| self.get || matches!(option, "--url-query" | HTTPIE))
        else {
            return;
        };
        if self.parts.len() + value.len() > MAX_QUERY {
            return;
        }
        let value = value.replace(HTTPIE, "=");
        self.parts.push('&');
        self.parts
            .push_str(&value.replace(char::is_whitespace, "+"));
    }

    /// Puts the parts behind the addresses.
    fn complete(&self, addresses: &mut [String]) {
        let Some(parts) = self.parts.get(1..) else {
            return;
        };
        for address in addresses {
            let mark = if address.contains('?') { '&' } else { '?' };
            address.push(mark);
            address.push_str(parts);
        }
    }
}

/// Longest part of an address that is put together, in bytes.
const MAX_QUERY: usize = 8 << 10;

/// Fills in what a download does.
pub fn fill(invocation: &Invocation, io: &mut Io) {
    let program = invocation.program.to_ascii_lowercase();
    let client = CLIENTS.iter().find(|c| c.names.contains(&program.as_str()));
    let is =
        |list: fn(&Client) -> &[&str], word: &str| client.is_some_and(|c| list(c).contains(&word));
    let (mut files, mut directory, mut remote) = (Vec::new(), None, false);
    let mut query = Query::new(invocation, is_httpie(&program));
    let mut words = invocation.args.iter().map(|w| w.text.as_str());
    while let Some(word) = words.next() {
        let (name, value) = option(word);
        if is(|c| c.file, name) {
            files.extend(value.or_else(|| words.next()));
        } else if is(|c| c.directory, name) {
            directory = value.or_else(|| words.next());
        } else if let Some(letter) = cluster_tail(word)
            && is(|c| c.file, letter.option.as_str())
        {
            files.extend(letter.value.or_else(|| words.next()));
        } else if is(|c| c.remote, name) || cluster_has(word, client) {
            remote = true;
        } else if QUERY_VALUES.contains(&name) && !is_httpie(&program) {
            query.add(name, value.or_else(|| words.next()));
        } else if OTHER_VALUES.contains(&word) && !is_httpie(&program) {
            words.next();
        } else if query.takes(word) {
            query.add(HTTPIE, Some(word));
        } else if let Some(path) = word.strip_prefix("--config=") {
            io.uses(path, Access::Read);
        } else {
            let word = value.filter(|_| name == "--url").unwrap_or(word);
            io.fetches.extend(address::of_argument(word));
            io.fetches.extend(address::behind_unknown(word));
        }
    }
    query.complete(&mut io.fetches);
    let stdout = files.iter().any(|f| matches!(*f, "-" | "/dev/stdout"));
    files.retain(|f| !matches!(*f, "-" | "/dev/stdout" | "/dev/null"));
    if stdout {
        return;
    }
    let saves = client.is_some_and(|c| c.saves) || remote;
    if files.is_empty() && saves {
        io.saves.extend(io.fetches.iter().filter_map(|a| {
            let name = last_name(a)?;
            Some(directory.map_or_else(|| name.to_owned(), |d| join(d, name)))
        }));
    }
    for file in files {
        io.saves.push(match directory {
            Some(directory) if !file.starts_with('/') => join(directory, file),
            _ => file.to_owned(),
        });
    }
    if saves || !io.saves.is_empty() {
        io.prints = false;
    }
    let written = io.saves.clone();
    for path in &written {
        io.uses(path, Access::Write);
    }
}

/// Clients in the manner of HTTPie, whose short options have other meanings.
fn is_httpie(program: &str) -> bool {
    matches!(program, "http" | "https" | "xh" | "xhs" | "httpie")
}

fn join(directory: &str, file: &str) -> String {
    format!("{}/{file}", directory.trim_end_matches('/'))
}

/// The file name that an address ends with.
fn last_name(address: &str) -> Option<&str> {
    let path = address.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let (_, name) = path.trim_end_matches('/').rsplit_once('/')?;
    (!name.is_empty()).then_some(name)
}

/// `--name=value` as its parts.
fn option(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value)),
        _ => (word, None),
    }
}

struct Tail<'w> {
    option: String,
    value: Option<&'w str>,
}

/// The last option of a cluster of letters with its value: `-sSLo`, `-qO-`, `-Ofile`.
fn cluster_tail(word: &str) -> Option<Tail<'_>> {
    let letters = word.strip_prefix('-').filter(|l| !l.starts_with('-'))?;
    let at = letters.find(['o', 'O', 'P'])?;
    let (head, tail) = letters.split_at_checked(at)?;
    let letter = tail.chars().next()?;
    let value = tail.get(1..).filter(|v| !v.is_empty());
    head.bytes().all(|b| b.is_ascii_alphabetic()).then(|| Tail {
        option: format!("-{letter}"),
        value,
    })
}

/// True if a cluster of letters holds an option that keeps the remote name: `-sLO`.
fn cluster_has(word: &str, client: Option<&Client>) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|l| !l.starts_with('-')) else {
        return false;
    };
    letters.len() <= 8
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
        && letters
            .chars()
            .any(|c| client.is_some_and(|client| client.remote.contains(&format!("-{c}").as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::call::tests::invocation;

    #[test]
    fn addresses_in_several_words() {
        for (text, address) in [
            (
                "curl -sG -d q=a --data-urlencode r=b/c https://h.example/s",
                "https://h.example/s?q=a&r=b/c",
            ),
            (
                "curl --get https://h.example/s?x=1 -d q=a",
                "https://h.example/s?x=1&q=a",
            ),
            ("curl -d q=a https://h.example/s", "https://h.example/s"),
            (
                "curl --url-query q=a https://h.example/s",
                "https://h.example/s?q=a",
            ),
            ("http https://h.example/s q==a", "https://h.example/s?q=a"),
        ] {
            assert_eq!(Io::of(&invocation(text)).fetches, [address], "{text}");
        }
    }

    #[test]
    fn addresses_and_no_header_values() {
        for (text, count) in [
            ("curl -H Referer:https://h.example/a https://h.example/b", 1),
            ("curl -e https://h.example/a https://h.example/b", 1),
            ("curl --url=https://h.example/b", 1),
            ("curl h.example.com/b", 1),
            ("http --body GET https://h.example/b Accept:x", 1),
            ("curl localhost:80/x", 0),
            ("curl $UP/o/r/pull/1.diff", 1),
            ("curl ${UP}/o/r/pull/1.diff", 1),
            ("curl $UP", 0),
            ("curl -d $DATA/a/b/c https://h.example/b", 1),
            ("curl -o x.example/y -s", 0),
            (
                "curl -sG --data-urlencode https://h.example/a https://h.example/b",
                1,
            ),
        ] {
            assert_eq!(Io::of(&invocation(text)).fetches.len(), count, "{text}");
        }
    }
}
