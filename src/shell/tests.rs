//! Tables of command texts and what they would execute.

use super::*;

/// The invocations of a text, one a line: origin letter, program and arguments.
fn seen(text: &str) -> Vec<String> {
    let line = parse(text);
    let mut out: Vec<String> = line
        .invocations
        .iter()
        .map(|invocation| {
            let origin = match invocation.origin {
                Origin::Direct => "",
                Origin::Substitution => "$ ",
                Origin::ProcessSubstitution => "< ",
                Origin::Script => "s ",
                Origin::Wrapped => "w ",
                Origin::Decoded => "d ",
                Origin::Embedded => "e ",
            };
            format!("{origin}{}", invocation.text())
        })
        .collect();
    if line.incomplete {
        out.push("INCOMPLETE".to_owned());
    }
    out
}

/// Checks a table of texts and their invocations.
fn check(table: &[(&str, &[&str])]) {
    for (text, want) in table {
        assert_eq!(seen(text), *want, "{text}");
    }
}

#[test]
fn words_and_quotes() {
    check(&[
        ("git show X", &["git show X"]),
        (r#"g"i"t sh\ow 'X y' # c"#, &["git show X y"]),
        ("git \\\n  show X", &["git show X"]),
        ("$'\\x67it' show", &["git show"]),
        ("/usr/bin/git show", &["git show"]),
        (
            "a; b & c\nd && e || f | g |& h",
            &["a", "b", "c", "d", "e", "f", "g", "h"],
        ),
        ("", &[]),
        ("# only a comment", &[]),
    ]);
}

#[test]
fn variables() {
    check(&[
        ("X=git; $X show", &["git show"]),
        ("a=cherry; b=pick; git $a-$b 1", &["git cherry-pick 1"]),
        ("g${Z:-i}t show", &["git show"]),
        ("git${IFS}show${IFS}X", &["git show X"]),
        ("{git,show,9ac}", &["git show 9ac"]),
        ("a=(git show X); \"${a[@]}\"", &["git show X"]),
        (
            "for r in a b; do git show $r; done",
            &["git show a", "git show b"],
        ),
    ]);
}

#[test]
fn wrappers_and_scripts() {
    check(&[
        ("timeout 20 bash -lc \"git show 9:f\"", &["s git show 9:f"]),
        ("env A=1 nice -n 5 git show", &["w git show"]),
        ("bash <<EOF\ngit show X\nEOF", &["s git show X"]),
        ("cat >n.md <<'EOF'\ngit show X\nEOF", &["cat"]),
        ("eval 'git show'", &["s git show"]),
        ("echo 9ac | xargs git show", &["echo 9ac", "w git show 9ac"]),
        (
            "chronic2 git show X",
            &["chronic2 git show X", "w git show X"],
        ),
        ("git -C d --no-pager -c a=b show X", &["git show X"]),
        (
            "git config alias.x cherry-pick; git x 1",
            &["git config alias.x cherry-pick", "git cherry-pick 1"],
        ),
        (
            "echo Z2l0IHNob3c= | base64 -d | sh",
            &["echo Z2l0IHNob3c=", "base64 -d", "d git show"],
        ),
    ]);
}

#[test]
fn the_text_of_a_shell_wrapper() {
    let cases = [
        ("bash -lc 'git show X'", Some("git show X")),
        (
            "/bin/zsh -lc \"cd $X && ls 'a b'\"",
            Some("cd $X && ls 'a b'"),
        ),
        ("bash -l -c ls", Some("ls")),
        ("bash run.sh", None),
        ("bash -lc 'a' && b", None),
        ("git -lc 'a'", None),
        ("bash -lc 'a", None),
    ];
    for (text, want) in cases {
        assert_eq!(strip_shell_wrapper(text).as_deref(), want, "{text}");
    }
}
