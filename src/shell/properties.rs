//! Properties that hold for every command text, and comparison with a real shell.

use std::process::Command;

use proptest::prelude::*;

use super::*;

/// Quotes a word so that any shell reads it back.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Bytes of all texts in a result.
fn size(line: &CommandLine) -> usize {
    let invocations = line.invocations.iter().map(|invocation| {
        let redirects = invocation.redirects.iter().map(|r| r.target.text.len());
        let env = invocation
            .env
            .iter()
            .map(|(name, w)| name.len() + w.text.len());
        invocation.text().len()
            + redirects.sum::<usize>()
            + env.sum::<usize>()
            + invocation.cwd.as_ref().map_or(0, String::len)
            + invocation.heredoc.as_ref().map_or(0, String::len)
    });
    let scripts = line.scripts.iter().map(|script| script.text.len());
    invocations.sum::<usize>() + scripts.sum::<usize>()
}

/// What comes of a text that is read in parts of so many nodes.
fn parse_in_parts(text: &str, nodes: usize) -> CommandLine {
    let folded = fold::fold(text);
    finish(
        read(
            &folded,
            nodes,
            Functions::default(),
            &Surroundings::default(),
        ),
        &folded,
    )
}

/// Checks what must hold for any text.
fn check_bounds(text: &str) {
    let line = parse(text);
    let most = text.len() * limits::BUDGET_PER_BYTE + limits::BASE_BUDGET;
    assert!(
        size(&line) <= most,
        "{} bytes from {}",
        size(&line),
        text.len()
    );
    for invocation in &line.invocations {
        assert!(text.is_char_boundary(invocation.offset), "{invocation:?}");
    }
    assert_eq!(parse(text), line);
    assert_eq!(
        parse_in_parts(text, 1),
        parse_in_parts(text, usize::MAX),
        "{text}"
    );
    let _ = strip_shell_wrapper(text);
}

/// Pieces of shell syntax, so that random texts get deep into the grammar.
const SYNTAX: &[&str] = &[
    "git",
    " ",
    "\n",
    ";",
    ";;",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "}",
    "$(",
    "`",
    "${",
    "$x",
    "x=",
    "'",
    "\"",
    "\\",
    "\\\n",
    "<",
    ">",
    ">>",
    "<<EOF\n",
    "EOF\n",
    "<<<",
    "<(",
    "2>&1",
    "#",
    "if ",
    "then ",
    "fi ",
    "for x in ",
    "do ",
    "done ",
    "case ",
    "in ",
    "esac ",
    "a) ",
    "f() ",
    "[[ ",
    "]] ",
    "((",
    "))",
    "$((",
    "eval ",
    "bash -c ",
    "echo ",
    "base64 -d ",
    "xargs ",
    "env ",
    "sudo ",
    "find . -exec ",
    "python -c ",
    "$'",
    "\\x67",
    "{a,b}",
    "[@]",
    ":-",
    "%",
    "é",
    "！",
    "\u{200b}",
    "ｇ",
    "\u{1b}[1m",
    "\r",
    "\t",
    "\0",
    "alias g=",
    "cd a ",
    "C:\\a ",
    "powershell -c ",
    "awk ",
    "system(",
    "run([",
    "])",
    ",",
    "while ",
    "read x ",
    "tr a-z ",
    "printf %s ",
    "$@",
    "!",
];

/// Texts of such pieces.
fn syntax() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(SYNTAX);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A word as it may be written, in forms that every POSIX shell and bash agree on.
fn written_word() -> impl Strategy<Value = String> {
    let plain = "[a-zA-Z0-9_.,:/+=%@-]{1,4}";
    let atom = prop_oneof![
        plain,
        "'[ -&(-~]{0,6}'",
        "\"[ #%-.0-9a-zA-Z'&;|<>(){}]{0,6}\"",
        r#""a\\[$`"\\nx]b""#,
        r"\\[ -~&&[^\n]]",
        r"\$'[a-z]{0,3}\\[nt\\']x\\x4[1-9]\\10[1-7]'",
        Just("$v''".to_owned()),
        Just("${v}".to_owned()),
        Just("\"$w\"".to_owned()),
        Just("$w''".to_owned()),
        Just("${unset:-d'e f'g}".to_owned()),
        Just("${v:+alt}".to_owned()),
        Just("${unset-}".to_owned()),
        Just("${v#v}".to_owned()),
        Just("${w%% *}".to_owned()),
        Just("${w/wo/R}".to_owned()),
        Just("${v:1:2}".to_owned()),
        Just("${#v}".to_owned()),
        Just("$(echo in ner)".to_owned()),
        Just("\"$(printf '%s-%s' a b)\"".to_owned()),
        Just("`echo back`".to_owned()),
        Just("{a,b{1..3},}".to_owned()),
        Just("\"${arr[@]}\"".to_owned()),
        Just("${arr[1]}".to_owned()),
        Just("\\\n".to_owned()),
    ];
    prop::collection::vec(atom, 1..4).prop_map(|atoms| atoms.concat())
}

/// What bash makes of the words; `None` without bash.
fn oracle(script: &str) -> Option<Vec<String>> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", script])
        .env_clear()
        .output()
        .ok()?;
    assert!(output.status.success(), "{script}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

proptest! {
    #[test]
    fn any_text_ends_within_bounds(text in any::<String>()) {
        check_bounds(&text);
    }

    #[test]
    fn any_syntax_ends_within_bounds(text in syntax()) {
        check_bounds(&text);
    }

    #[test]
    fn quoted_words_come_back(words in prop::collection::vec("[ -~\n\té你（ü€]{0,12}", 1..6)) {
        let text: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let text = format!("x {}", text.join(" "));
        let line = parse(&text);
        prop_assert!(!line.incomplete);
        prop_assert_eq!(line.invocations.len(), 1);
        let args: Vec<&str> = line.invocations[0].args.iter().map(|w| w.text.as_str()).collect();
        prop_assert_eq!(args, words.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert!(line.invocations[0].args.iter().all(|word| !word.dynamic));
    }

    #[test]
    fn a_script_in_quotes_is_the_script(words in prop::collection::vec("[a-z'\"$ ]{0,8}", 1..5)) {
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let inner = format!("x {}", words.join(" "));
        let outer = format!("bash -c {}", quote(&inner));
        let plain = parse(&inner);
        let nested = parse(&outer);
        prop_assert_eq!(plain.invocations.len(), nested.invocations.len());
        for (a, b) in plain.invocations.iter().zip(&nested.invocations) {
            prop_assert_eq!(a.text(), b.text());
        }
        prop_assert_eq!(strip_shell_wrapper(&outer), Some(inner));
    }
}

/// True if bash accepts the syntax; `None` without bash.
fn accepted(script: &str) -> Option<bool> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-n", "-c", script])
        .env_clear()
        .output()
        .ok()?;
    Some(output.status.success() && output.stderr.is_empty())
}

/// The commands that bash starts for a script, as far as they are no builtins: it finds no
/// programs, so that all go to the handler, which notes them. `None` without bash.
fn started(script: &str) -> Option<Vec<Vec<String>>> {
    let here = tempfile::tempdir().unwrap();
    // One write for each command, and so no ends of lines: members of a pipeline run at the same time.
    let handler = "command_not_found_handle() { local all= word; \
        for word; do all+=${word//$'\\n'/$'\\x1d'}$'\\x1f'; done; printf '%s\\x1e' \"$all\" >>\"$LOG\"; }";
    let log = here.path().join("log");
    Command::new("bash")
        .args(["--norc", "--noprofile", "-c"])
        .arg(format!("PATH=/nowhere; {handler}\n{script}\nwait"))
        .env_clear()
        .env("LOG", &log)
        .current_dir(here.path())
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    let log = std::fs::read(log).unwrap_or_default();
    let log = String::from_utf8(log).unwrap();
    let commands = log.split_terminator('\x1e').map(|command| {
        let words = command.split_terminator('\x1f');
        words.map(|word| word.replace('\x1d', "\n")).collect()
    });
    Some(commands.collect())
}

/// True for a substitution with a heredoc in it: bash 5.2 writes the parsed script down anew before
/// it runs it, and drops the `;` behind a heredoc, so that `$(cat <<E … ; a; b)` runs `a b`.
fn loses_separators(script: &str) -> bool {
    let inside = script.split_once("$( ").map(|(_, inside)| inside);
    inside.is_some_and(|inside| {
        inside.contains(" <<E") || inside.contains(" <<'E") || inside.contains(" <<-E")
    })
}

/// Words of scripts; those that assign change nothing.
const WORDS: &[&str] = &[
    "git",
    "show",
    "X",
    "'a b'",
    "\"$x\"",
    "$x",
    "a\\ b",
    "${x:-d}",
    "$(git log)",
    "`ls`",
    "<(cat f)",
    "{a,b}",
    "$'\\n'",
    "a=b",
    "-x",
    "#c",
    "if",
    "done",
    "}",
    "!",
    "*.py",
    "[",
    "]]",
    "case",
    "2",
    "é",
    "$((1+2))",
    "\"$(echo \")\")\"",
    "a'b'\"c\"",
    "eval",
    "command",
    "$p",
    "\"${arr[@]}\"",
    "\"$(echo git show)\"",
    "$(printf '%s ' a b)",
    "${p:0:1}${p#g}",
    ". /dev/stdin <<< 'git log' ;",
    "eval 'x=v\\ w ; git $x' ;",
    "read p <<< git ;",
    "set -- q 'r s' ;",
    "$2",
    "cd . ;",
];

/// Scripts that are mostly well formed.
///
/// Assignments in them change nothing: which branch is taken, and so which value a variable has
/// afterwards, is not followed.
fn grammatical() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS);
    let simple = prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "));
    let redirected = (
        simple.clone(),
        prop::sample::select(vec![
            "",
            " >f",
            " 2>&1",
            " <f",
            " &>f",
            " <<<'a b'",
            " <<E\nbody ' $x\nE\n",
            " <<'E'\nbody ( `\nE\n",
            " <<-E\n\tb\n\tE\n",
            " >&2",
            " {fd}>f",
        ]),
    )
        .prop_map(|(simple, redirect)| simple + redirect);
    redirected.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(
            (
                inner.clone(),
                prop::sample::select(vec![
                    ";", "\n", " && ", " || ", " | ", "|&", "&", " ; # c\n",
                ]),
            ),
            1..4,
        );
        let list = list.prop_map(|parts| {
            let mut out = String::new();
            for (at, (command, joiner)) in parts.iter().enumerate() {
                if at > 0 {
                    out.push_str(joiner);
                }
                out.push_str(command);
            }
            out
        });
        (list, 0..12_usize).prop_map(|(list, form)| match form {
            0 => format!("( {list}\n)"),
            1 => format!("{{ {list}\n}}"),
            2 => format!("if {list}\nthen {list}\nelse {list}\nfi"),
            3 => format!("for i in a b $c\ndo {list}\ndone"),
            4 => format!("while {list}\ndo {list}\ndone"),
            5 => format!("case $x in\na|b) {list}\n;;\n(c) {list}\n;;\nesac"),
            6 => format!("f() {{ {list}\n}}"),
            7 => format!("x=$( {list}\n)"),
            8 => format!("echo \"$( {list}\n)\""),
            9 => format!("! {list}"),
            10 => format!("[[ -n $x && a == b* ]] && {{ {list}\n}}"),
            _ => list,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn words_are_what_bash_makes_of_them(words in prop::collection::vec(written_word(), 1..5)) {
        // Three such groups in one word are more than are told apart.
        prop_assume!(words.iter().all(|word| word.matches("{a,b").count() < 3));
        let setup = "v=value w='two words' arr=(one 'two three')";
        let script = format!("{setup}\nprintf '%s\\0' {}", words.join(" "));
        let Some(want) = oracle(&script) else {
            eprintln!("skipped: no bash here to compare with");
            return Ok(());
        };
        let line = parse(&script);
        prop_assert!(!line.incomplete, "{}", script);
        let Some(printf) = line.invocations.iter().find(|i| i.program == "printf" && i.origin == Origin::Direct) else {
            panic!("no printf in {script:?}");
        };
        let args: Vec<&str> = printf.args.iter().skip(1).map(|w| w.text.as_str()).collect();
        // Without arguments printf prints the format once.
        let want: Vec<&str> = if args.is_empty() && want == [""] { Vec::new() } else { want.iter().map(String::as_str).collect() };
        prop_assert_eq!(args, want, "{}", script);
    }

    #[test]
    fn what_bash_accepts_is_complete(script in grammatical()) {
        // What `eval` is given is no matter of syntax.
        prop_assume!(!script.contains("eval"));
        match accepted(&script) {
            None => eprintln!("skipped: no bash here to compare with"),
            Some(true) => prop_assert!(!parse(&script).incomplete, "{}", script),
            Some(false) => {}
        }
    }

    #[test]
    fn parts_change_nothing(script in grammatical()) {
        prop_assert_eq!(parse_in_parts(&script, 1), parse_in_parts(&script, usize::MAX));
    }

    #[test]
    fn nothing_that_bash_starts_is_missed(script in grammatical()) {
        // An endless loop is of no use here.
        prop_assume!(!script.contains("while "));
        prop_assume!(!loses_separators(&script));
        let script = format!("x='v w'; c=z; p=git; arr=(git 'show X'); set -- q 'r s'; {script}");
        let Some(started) = started(&script) else {
            eprintln!("skipped: no bash here to compare with");
            return Ok(());
        };
        let line = parse(&script);
        for argv in started {
            let seen = line.invocations.iter().any(|invocation| {
                let unknown = invocation.program.contains(['$', '`']);
                let same = argv.first().is_some_and(|program| *program == invocation.program);
                let dynamic = invocation.args.iter().any(|word| word.dynamic);
                let args = invocation.args.iter().map(|word| word.text.as_str());
                unknown || same && (dynamic || args.eq(argv.iter().skip(1).map(String::as_str)))
            });
            prop_assert!(seen, "{:?} not seen in {}: {:?}", argv, script, line);
        }
    }
}
