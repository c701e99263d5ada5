//! Programs in other languages: which addresses and files a source text uses.
//!
//! No language is parsed. A source text that calls something of the network and holds an address
//! fetches it; one that opens files and holds a path reads it.

use std::borrow::Cow;
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
        | git\.Repo\.clone_from | porcelain\.clone",
    )
});

/// Programs that download, as words.
static CLIENTS: LazyLock<Option<Regex>> = LazyLock::new(|| ascii(r"\b(?:curl|wget)\b"));

/// What runs programs: without it, their names are only words.
static STARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?ix)
        subprocess | \bpopen | os\.(?:system|spawn|exec) | pty\.spawn | \bsh\s*[.(] | pexpect | plumbum | asyncio\.create_sub
        | child_process | \bexec\w*\b | \bspawn | \$\s*` | ` | \bsystem\b | %x | Open3 | \bqx\b | proc_open | passthru
        | Start-Process | Invoke-Expression | \biex\b | \bCommand\b | ProcessBuilder | Runtime | \bsh\b",
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

/// What writes a file.
static WRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r#"(?ix)
        \bopen\s*\([^()\n]{0,200},\s*(?:mode\s*=\s*)?["'][rb]{0,2}[wax] | write_text | write_bytes | urlretrieve
        | wget\.download | writeFile | createWriteStream | copyfileobj | (?:IO|File)\.(?:bin)?write | file_put_contents
        | DownloadFile | OutFile | Set-Content | Out-File | WriteAllText | \bgetstore\b | clone_from
        | \bopen\s*\(?[^()\n]{0,80},\s*["'][+]?>"#,
    )
});

/// Files that the source text may write: all that it names, if it writes any.
pub fn written(source: &str) -> Vec<String> {
    let Some(quoted) = QUOTED.as_ref().filter(|_| writes(source)) else {
        return Vec::new();
    };
    quoted
        .captures_iter(source.as_bytes())
        .take(MAX_STRINGS)
        .filter_map(|found| Some(slice(source, found.get(1)?.range())))
        .filter(|text| is_path(text))
        .take(MAX_WRITTEN)
        .map(str::to_owned)
        .collect()
}

/// Files that one source text may write and that are followed.
const MAX_WRITTEN: usize = 32;

/// True for a string that can be the path of a file.
fn is_path(text: &str) -> bool {
    (text.contains('/') || text.contains('.'))
        && !text.contains("://")
        && !text.contains(' ')
        && text.len() <= MAX_PATH
}

/// True if the source text writes files.
pub fn writes(source: &str) -> bool {
    WRITES
        .as_ref()
        .is_some_and(|r| r.is_match(source.as_bytes()))
}

static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| ascii(r#"["'`]([^"'`\n]+)["'`]"#));

static LOOP: LazyLock<Option<Regex>> =
    LazyLock::new(|| ascii(r"(?m)^[ \t]*for[ \t]+(\w+)[ \t]+in[ \t]+(?:(\w+)|([\[(]))"));

/// Loops of one source text that are looked at.
const MAX_LOOPS: usize = 32;

/// Longest list that a loop goes through, in bytes.
const MAX_LIST: usize = 8 << 10;

/// Commands in a list that a loop of the source text gives to something that runs them, word for word:
/// `for c in ['git show x']: os.system(c)`. A list of test cases that nothing runs gives none.
pub fn looped_commands(source: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let (Some(loops), Some(quoted)) = (LOOP.as_ref(), QUOTED.as_ref()) else {
        return commands;
    };
    for found in loops.captures_iter(source.as_bytes()).take(MAX_LOOPS) {
        let group = |n: usize| found.get(n).map(|m| slice(source, m.range()));
        let (Some(variable), whole) = (group(1), found.get(0)) else {
            continue;
        };
        let end = whole.map_or(0, |m| m.end());
        let body = source.get(end..).unwrap_or_default();
        let list = match group(2) {
            None => source.get(end.saturating_sub(1)..),
            Some(name) => assigned(source, name),
        };
        let Some(list) = list.and_then(bracketed).filter(|_| runs(body, variable)) else {
            continue;
        };
        for text in quoted.captures_iter(list.as_bytes()).take(MAX_STRINGS) {
            let text = text.get(1).map_or("", |m| slice(list, m.range()));
            if commands.len() < MAX_STRINGS {
                commands.push(text.to_owned());
            }
        }
    }
    commands
}

/// What a name is set to.
fn assigned<'s>(source: &'s str, name: &str) -> Option<&'s str> {
    source.match_indices(name).find_map(|(at, _)| {
        let before = source.get(..at)?;
        let own = before.is_empty() || before.ends_with(['\n', ' ', '\t', ';']);
        let after = source.get(at + name.len()..)?.trim_start();
        let value = after.strip_prefix('=').filter(|_| own)?;
        (!value.starts_with('=')).then(|| value.trim_start())
    })
}

/// The list in brackets that stands first, up to the first that closes one.
fn bracketed(text: &str) -> Option<&str> {
    let close = match text.chars().next()? {
        '[' => ']',
        '(' => ')',
        _ => return None,
    };
    let end = text.find(close).filter(|end| *end <= MAX_LIST)?;
    text.get(1..end)
}

/// True if the text gives the variable, and only it, to something that runs commands.
fn runs(body: &str, variable: &str) -> bool {
    let runners = [
        "run(",
        "call(",
        "check_output(",
        "check_call(",
        "Popen(",
        "getoutput(",
        "system(",
        "popen(",
        "execSync(",
    ];
    runners.iter().any(|runner| {
        body.match_indices(runner).any(|(at, _)| {
            let inside = body
                .get(at + runner.len()..)
                .unwrap_or_default()
                .trim_start();
            inside.strip_prefix(variable).is_some_and(|rest| {
                let rest = rest.trim_start();
                // A list is run word by word only by a shell.
                rest.starts_with(')') || rest.starts_with(',') || rest.starts_with(".split")
            })
        })
    })
}

/// Longest string that can be a path, in bytes.
const MAX_PATH: usize = 300;

/// Strings of one source text that are looked at.
const MAX_STRINGS: usize = 500;

/// The source text with its docstrings blanked out, all positions kept. Only texts that look like Python have
/// any; a text that may read its own source keeps them.
pub fn without_docstrings(source: &str) -> Cow<'_, str> {
    let quotes = source.contains("\"\"\"") || source.contains("'''");
    let reflects = [
        "__doc__",
        "__file__",
        "getdoc",
        "getsource",
        "eval",
        "exec(",
    ];
    if !quotes || reflects.iter().any(|name| source.contains(name)) {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    // The last character of code, and whether the line holds nothing so far.
    let (mut last, mut fresh) = ('\n', true);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string(rest),
            _ => c.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let triple = part.len() >= 6 && (part.starts_with("\"\"\"") || part.starts_with("'''"));
        if triple && fresh && !"(,=[{\\+%".contains(last) && line_ends(after) {
            let blank = |c: char| if c == '\n' { "\n" } else { " " };
            out.extend(
                part.chars()
                    .flat_map(|c| std::iter::repeat_n(blank(c), c.len_utf8())),
            );
        } else {
            out.push_str(part);
        }
        match c {
            '\n' => fresh = true,
            '#' => {}
            _ if c.is_whitespace() => {}
            _ => {
                fresh = false;
                last = c;
            }
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// Nothing follows on the line.
fn line_ends(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim();
    line.is_empty() || line.starts_with('#')
}

/// The length of the string literal that stands first, with its quotes. One that is not closed ends with its line,
/// or with the text if it has three quotes.
fn string(text: &str) -> usize {
    let triple = text.starts_with("\"\"\"") || text.starts_with("'''");
    let end = text.get(..if triple { 3 } else { 1 }).unwrap_or_default();
    let mut at = end.len();
    while let Some(rest) = text.get(at..) {
        if rest.starts_with(end) {
            return at + end.len();
        }
        match rest.chars().next() {
            None => break,
            Some('\n') if !triple => return at,
            Some('\\') => at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            Some(c) => at += c.len_utf8(),
        }
    }
    text.len()
}

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
    if calls(&NETWORK) || calls(&CLIENTS) && calls(&STARTS) {
        io.fetches = address::all(source);
    }
    let opens = calls(&OPENS);
    if let Some(quoted) = QUOTED.as_ref().filter(|_| opens || !io.fetches.is_empty()) {
        for found in quoted.captures_iter(source.as_bytes()).take(MAX_STRINGS) {
            let text = found.get(1).map_or("", |m| slice(source, m.range()));
            let path = is_path(text);
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
            ("CASES = ['curl https://h.example/x']", 0),
            (
                "import subprocess\nsubprocess.run('curl https://h.example/x', shell=True)",
                1,
            ),
            ("puts `curl https://h.example/x`", 1),
        ] {
            assert_eq!(io_of(source).fetches.len(), count, "{source}");
        }
    }

    #[test]
    fn commands_that_a_loop_runs() {
        for (source, count) in [
            (
                "import os\nfor c in ['git show x', 'ls']:\n    os.system(c)",
                2,
            ),
            (
                "CASES = ['git show x']\nfor c in CASES:\n    subprocess.run(c, shell=True)",
                1,
            ),
            (
                "for c in ('git show x',):\n    print(os.popen(c).read())",
                1,
            ),
            ("CASES = ['git show x']\nfor c in CASES:\n    scan(c)", 0),
            (
                "CASES = ['git show x']\nfor c in CASES:\n    subprocess.run(['./audit', c])",
                0,
            ),
            (
                "CASES = ['git show x']\nfor c in CASES:\n    run('./audit ' + c)",
                0,
            ),
            (
                "for c in sys.argv:\n    os.system(c)\nX = ['git show x']",
                0,
            ),
        ] {
            assert_eq!(looped_commands(source).len(), count, "{source}");
        }
    }

    #[test]
    fn docstrings_are_prose() {
        for (source, stays) in [
            ("\"\"\"Runs X.\"\"\"\nrun()", false),
            (
                "def f():\n    '''Runs X.\n\n    X\n    '''\n    run()",
                false,
            ),
            ("t = \"\"\"\nX\n\"\"\"\nrun(t)", true),
            ("run(\n\"\"\"X\"\"\"\n)", true),
            ("run(\"\"\"\nY\n\"\"\"); X", true),
            ("t = '''\n'''\nX\nu = '''\n'''", true),
            ("# it's\n\"\"\"a\"\"\"\nX", true),
            ("\"\"\"X\"\"\"\nrun(__doc__)", true),
            ("\"\"\"X\"\"\".run()", true),
        ] {
            let live = without_docstrings(source);
            assert_eq!(live.contains('X'), stays, "{source}");
            assert_eq!(live.len(), source.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn positions_stay(text in "(?:\"\"\"|'''|'|\"|\n|#|\\\\|x = |\\PC){0,30}") {
            proptest::prop_assert_eq!(without_docstrings(&text).len(), text.len());
            looped_commands(&text);
            looped_commands(&format!("for x in [{text}]:\n run(x)\n{text}"));
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
