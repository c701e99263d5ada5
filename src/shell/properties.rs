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
    let scripts = line.scripts.iter().map(|(_, text)| text.len());
    invocations.sum::<usize>() + scripts.sum::<usize>()
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
    let _ = strip_shell_wrapper(text);
}

/// Pieces of shell syntax, so that random texts get deep into the grammar.
fn syntax() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
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
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

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
}
