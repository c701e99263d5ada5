//! Arguments that are text: commit messages, search patterns, titles.
//!
//! `git commit -m "docs: explain git fetch upstream"` runs no fetch. A rule that looks at the text
//! of an invocation leaves these arguments out.

use super::model::Invocation;

/// A program (and its first argument) whose options take text.
struct TextOptions {
    program: &'static str,
    /// First argument; empty for any.
    subcommand: &'static str,
    options: &'static [&'static str],
}

const fn of(
    program: &'static str,
    subcommand: &'static str,
    options: &'static [&'static str],
) -> TextOptions {
    TextOptions {
        program,
        subcommand,
        options,
    }
}

const MESSAGE: &[&str] = &["-m", "--message", "--trailer"];
const FORGE: &[&str] = &["-t", "--title", "-b", "--body", "--notes", "-n"];

const TEXT_OPTIONS: &[TextOptions] = &[
    of("git", "commit", MESSAGE),
    of("git", "tag", MESSAGE),
    of("git", "notes", MESSAGE),
    of("git", "stash", MESSAGE),
    of("git", "merge", MESSAGE),
    of(
        "git",
        "log",
        &["--grep", "-S", "-G", "--author", "--format", "--pretty"],
    ),
    of("git", "grep", &["-e"]),
    of("gh", "", FORGE),
    of(
        "glab",
        "",
        &["-t", "--title", "-d", "--description", "-m", "--message"],
    ),
    of("hg", "commit", MESSAGE),
    of("svn", "commit", MESSAGE),
    of("jj", "", MESSAGE),
    of("pytest", "", &["-k", "-m"]),
    of("jest", "", &["-t", "--testNamePattern"]),
    of("vitest", "", &["-t"]),
    of("mocha", "", &["-g", "--grep", "-f"]),
    of("go", "test", &["-run", "-bench"]),
    of("cargo", "test", &["--"]),
    of("logger", "", &["-t"]),
    of(
        "curl",
        "",
        &[
            "-d",
            "--data",
            "--data-raw",
            "-H",
            "--header",
            "-A",
            "--user-agent",
        ],
    ),
];

/// Programs whose every argument is text.
const PRINTING: &[&str] = &[
    "echo",
    "printf",
    "logger",
    "say",
    "notify-send",
    "Write-Host",
    "Write-Output",
    "banner",
];

/// Programs whose first argument that is no option is a pattern or a program in a little language.
const SEARCHING: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "jq",
    "yq",
    "findstr",
    "Select-String",
];

/// Options of [`SEARCHING`] programs that give the pattern instead.
const PATTERN_OPTIONS: &[&str] = &["-e", "--regexp", "--expression"];

/// For each argument of an invocation, whether it is text that is only printed, searched or stored.
///
/// File names are not: `cat eval/gt.patch` names a file that is read.
pub fn data_arguments(invocation: &Invocation) -> Vec<bool> {
    let program = invocation.program.as_str();
    let args = &invocation.args;
    if PRINTING.contains(&program) {
        return vec![true; args.len()];
    }
    let mut marks: Vec<bool> = Vec::with_capacity(args.len());
    let first = args.first().map_or("", |word| word.text.as_str());
    let options: Vec<&str> = TEXT_OPTIONS
        .iter()
        .filter(|entry| {
            entry.program == program && (entry.subcommand.is_empty() || entry.subcommand == first)
        })
        .flat_map(|entry| entry.options.iter().copied())
        .collect();
    let searches = SEARCHING.contains(&program);
    let by_option = searches
        && args
            .iter()
            .any(|word| PATTERN_OPTIONS.contains(&word.text.as_str()));
    let mut pattern_seen = !searches || by_option;
    let mut takes_text = false;
    for word in args {
        let text = word.text.as_str();
        let is_option = text.starts_with('-') && text.len() > 1;
        let mark = if std::mem::take(&mut takes_text) {
            true
        } else if is_option {
            takes_text = options.contains(&text) || (searches && PATTERN_OPTIONS.contains(&text));
            takes_text |= is_message_cluster(&options, text);
            has_attached_text(&options, text)
        } else {
            !std::mem::replace(&mut pattern_seen, true)
        };
        marks.push(mark);
    }
    marks
}

/// `-am` in `git commit -am "text"`.
fn is_message_cluster(options: &[&str], text: &str) -> bool {
    options.contains(&"-m") && !text.starts_with("--") && text.ends_with('m')
}

/// `--message=text`, `-S'text'`.
fn has_attached_text(options: &[&str], text: &str) -> bool {
    options.iter().any(|option| {
        text.strip_prefix(option).is_some_and(|rest| {
            if option.starts_with("--") {
                rest.starts_with('=')
            } else {
                !rest.is_empty()
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::shell::parse;

    #[test]
    fn texts_are_told_from_operands() {
        let cases = [
            ("git commit -m 'run git fetch'", "..#"),
            ("git commit -am 'x' --message='y'", "..##"),
            ("git commit -C HEAD", "..."),
            ("git log --grep='a b' -S x -- f", ".#.#.."),
            ("git show X", ".."),
            ("grep -rn 'git show' docs", ".#."),
            ("grep -e a -e b docs", ".#.#."),
            ("sed -n 1,5p f", ".#."),
            ("echo git show", "##"),
            ("cat eval/gt.patch", "."),
            ("gh pr create --title 'a' --body 'b'", "...#.#"),
            ("pytest -k 'cherry_pick' t.py", ".#."),
            ("rg", ""),
        ];
        for (text, want) in cases {
            let line = parse(text);
            let marks = super::data_arguments(&line.invocations[0]);
            let got: String = marks.iter().map(|m| if *m { '#' } else { '.' }).collect();
            assert_eq!(got, want, "{text}");
        }
    }
}
