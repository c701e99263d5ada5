//! Tables of command texts and what they would execute.

use super::*;

/// One line for each invocation: a letter for the origin, program and arguments.
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

/// Checks a table of texts and all their invocations.
fn check(table: &[(&str, &[&str])]) {
    for (text, want) in table {
        assert_eq!(seen(text), *want, "{text}");
    }
}

/// Checks that each text ends up as `git show X`, however it is put.
fn check_shows(texts: &[&str]) {
    for text in texts {
        let line = parse(text);
        let found = line
            .invocations
            .iter()
            .any(|i| i.program == "git" && i.text() == "git show X");
        assert!(found, "{text}: {:?}", seen(text));
        assert!(!line.incomplete, "{text}");
    }
}

/// Checks that none of the texts runs `git show`, `git fetch` or `git cherry-pick`.
fn check_runs_nothing(texts: &[&str]) {
    for text in texts {
        let line = parse(text);
        let runs = line.invocations.iter().find(|invocation| {
            let first = invocation
                .args
                .first()
                .map_or("", |word| word.text.as_str());
            let bad = matches!(first, "show" | "fetch" | "cherry-pick" | "apply");
            (invocation.program == "git" && bad) || invocation.program == "fetch"
        });
        assert_eq!(runs, None, "{text}");
        assert!(!line.incomplete, "{text}");
    }
}

#[test]
fn words_and_quotes() {
    check_shows(&[
        "git show X",
        r#"g"i"t sh\ow 'X'"#,
        "git \\\n  show X",
        "git \\\r\n  show X\r\n",
        "$'\\x67it' $'\\163how' X",
        "$\"git\" show X",
        "/usr/bin/git show X",
        r"\git show X",
        "git show X # comment",
        "g$@it show X",
        "g``it show X",
        "gi$()t show X",
        "/usr/bin/g?t show X",
        "ｇｉｔ\u{3000}show X",
        "g\u{200b}it sh\u{ad}ow X",
        "\u{1b}[31mgi\u{1b}[0mt show X",
        "git.exe show X",
        r"C:\Git\bin\git.exe show X",
    ]);
    check(&[
        ("", &[]),
        ("# only a comment", &[]),
        ("echo a#b", &["echo a#b"]),
        ("x '' \"\" y", &["x   y"]),
        (
            r"type C:\b\eval\gt_diff.patch",
            &[r"type C:\b\eval\gt_diff.patch"],
        ),
        (r"type eval\gt_diff.patch", &[r"type eval\gt_diff.patch"]),
        (
            r"cmd /c type eval\gt_diff.patch",
            &[r"s type eval\gt_diff.patch"],
        ),
        (
            r"powershell Get-Content .\eval\gt.patch",
            &[r"s Get-Content .\eval\gt.patch"],
        ),
        (
            r#"cmd.exe /c "copy C:\a\x.txt ..\y""#,
            &[r"s copy C:\a\x.txt ..\y"],
        ),
        (r"cat ev\al/gt.patch", &["cat eval/gt.patch"]),
        (r"cp C:\a\b.txt .", &[r"cp C:\a\b.txt ."]),
        (r"ls my\ dir", &["ls my dir"]),
    ]);
}

#[test]
fn lists_and_compound_commands() {
    check(&[
        (
            "a; b & c\nd && e || f | g |& h",
            &["a", "b", "c", "d", "e", "f", "g", "h"],
        ),
        (
            "if a; then b; elif c; then d; else e; fi",
            &["a", "b", "c", "d", "e"],
        ),
        (
            "while a; do b; done; until c; do d; done",
            &["a", "b", "c", "d"],
        ),
        (
            "case $x in a|b) c;; (d) e;; *) f; esac; g",
            &["c", "e", "f", "g"],
        ),
        (
            "f() { a; }; function g { b; }; function h() ( c )",
            &["a", "b", "c"],
        ),
        ("( a; { b; } ) && ! c", &["a", "b", "c"]),
        ("[[ $x == *y* && -f z ]] && a", &["a"]),
        ("((i++ < 3)); for ((i=0;i<3;i++)); do a; done", &["a"]),
        ("select x in a; do b; done", &["b"]),
        ("time { a; }; time -p b; coproc c", &["a", "w b", "c"]),
        ("for x in 1 2; do a $x; b; done", &["a 1", "b", "a 2", "b"]),
        ("for x in 1 2 3; do a; done", &["a"]),
        ("for x in *.py; do a $x; done", &["a *.py"]),
        ("a 2>&1 >/dev/null <in | b &> c", &["a", "b"]),
        (
            "a $(b `c`) <(d) \"$(e)\" $((f + $(g)))",
            &[
                "$ c",
                "$ b `c`",
                "< d",
                "$ e",
                "$ g",
                "a $(b `c`) <(d) $(e) $((f + $(g)))",
            ],
        ),
        ("a | b $(c)", &["$ c", "a", "b $(c)"]),
        (
            "cat <<A <<'B'; x\na $(y)\nA\nb $(n)\nB\nz",
            &["$ y", "cat", "x", "z"],
        ),
        ("cat <<-E\n\tbody\n\tE\na", &["cat", "a"]),
        ("x=$(cat <<'E'\ndon't )\nE\n); a", &["$ cat", "a"]),
        ("a <<< 'b; c'", &["a"]),
    ]);
}

#[test]
fn variables() {
    check_shows(&[
        "X=git; $X show X",
        "a=sh; b=ow; git $a$b X",
        "g${Z:-i}t show X",
        "g${Z-i}t ${Y:=show} X",
        "git${IFS}show${IFS}X",
        "{git,show,X}",
        "a=(git show X); \"${a[@]}\"",
        "a=(git show X); ${a[0]} ${a[1]} X",
        "c='git show X'; $c",
        "IFS=_; c=git_show_X; $c",
        "x=tig; git ${x:+show} X",
        "x=xgitx; ${x:1:3} show X",
        "x=git.exe; ${x%.exe} show X",
        "x=GIT; ${x,,} show X",
        "x=gat; ${x/a/i} show X",
        "n=v; v=git; ${!n} show X",
        "export X=git; $X show X",
        "printf -v p git; $p show X",
        "read p <<< git; $p show X",
        "set -- git show X; \"$@\"",
        "set -- a git show X; shift; $*",
        "g() { git \"$@\"; }; g show X",
        "f() { $1 show X; }; f git",
        "x=$(printf 'g%s' it); $x show X",
        "$(echo git) show X",
        "`which git` show X",
        "$(command -v git) show X",
        "git $(echo wohs | rev) X",
        "for s in show log; do git $s X; done",
        "while read -r l; do eval \"$l\"; done <<'E'\ngit show X\nE",
        "alias gg='git show'; gg X",
        "git config alias.v 'show'; git v X",
        "git config --global alias.v '!git show'; git v X",
        "git -c alias.v=show v X",
    ]);
    check(&[
        ("A=1 B=$C x", &["x"]),
        ("x \"$1\" $2 ${3}", &["x "]),
        ("x ${#v} ${v[*]}", &["x ${#v} ${v[*]}"]),
        ("x=1; (x=2; a $x); b $x", &["a 2", "b 1"]),
        ("x=1; echo | x=2; b $x", &["echo", "b 1"]),
        ("alias ls='ls -l'; ls", &["alias ls=ls -l", "ls"]),
        ("a $(mktemp)", &["$ mktemp", "a /tmp/tmp.11-1"]),
        (
            "d=$(mktemp -d -p /var/x p.XXXXXX.d); a $d/f $d",
            &[
                "$ mktemp -d -p /var/x p.XXXXXX.d",
                "a /var/x/p.46-1.d/f /var/x/p.46-1.d",
            ],
        ),
        (
            "a `mktemp -t p` $(mktemp q.XXX) $(mktemp $x)",
            &[
                "$ mktemp -t p",
                "$ mktemp q.XXX",
                "$ mktemp $x",
                "a /tmp/p.44-1 q.44-2 $(mktemp $x)",
            ],
        ),
    ]);
}

#[test]
fn wrappers() {
    check_shows(&[
        "env -i -u P A=1 nice -n 5 git show X",
        "timeout -s KILL 5m git show X",
        "timeout --signal=KILL 5 git show X",
        "nohup git show X > o 2>&1 &",
        "ionice -c2 -n7 stdbuf -oL git show X",
        "time -f %e git show X",
        "command git show X; builtin x; exec -a y z",
        "sudo -u root -H git show X",
        "doas git show X",
        "strace -f -e trace=open -o /tmp/x git show X",
        "watch -n1 'git show X'",
        "watch git show X",
        "flock /tmp/l git show X",
        "script -qec 'git show X' /dev/null",
        "script -q /dev/null git show X",
        "su - u -c 'git show X'",
        "busybox sh -c 'git show X'",
        "env -S 'git show X'",
        "uv run --with x git show X",
        "unknown-wrapper --flag git show X",
        "xvfb-run -a git show X",
        "chronic git show X",
        "$out = git show X",
        "ls; and git show X",
        "echo X | xargs git show",
        "echo X | xargs -I{} git show {}",
        "printf '%s\\n' show X | xargs git",
        "printf 'a\\nX\\n' | xargs -I% git show %",
        "echo 'git show X' | xargs -I{} sh -c '{}'",
        "$SHELL -c 'git show X'",
        "parallel git show ::: X",
        "ssh -p 22 host 'git show X'",
        "ssh host <<'E'\ngit show X\nE",
        "docker exec -it -e A=1 c git show X",
        "docker run --rm -v /a:/b --entrypoint git img show X",
        "kubectl exec pod -- git show X",
        "find . -name x -exec git show X \\;",
        "find . -execdir sh -c 'git show X' {} +",
        "vim -es '+r !git show X' +wq",
        "tmux new-session -d 'git show X'",
        "nix develop -c git show X",
        "git bisect run git show X",
        "git submodule foreach 'git show X'",
        "cmd /c \"g^it show X\"",
        "powershell -NoProfile -Command \"git show X\"",
        "pwsh -enc ZwBpAHQAIABzAGgAbwB3ACAAWAA=",
        "trap 'git show X' EXIT",
    ]);
    check(&[
        (
            "git log | xargs -n1 git show",
            &["git log", "w git show {}"],
        ),
        ("xargs -I@ sh -c 'git show @' < f", &["s git show {}"]),
        (
            "python3 -m pip download p",
            &["python3 -m pip download p", "w pip download p"],
        ),
        ("docker run --rm img", &["docker run --rm img"]),
        ("env", &["env"]),
        ("sudo -l", &["sudo -l"]),
        ("command -v git", &["command -v git"]),
    ]);
}

#[test]
fn scripts_in_scripts() {
    check_shows(&[
        "bash -lc \"git show X\"",
        "bash -o pipefail -c 'git show X'",
        "bash -euo pipefail -c 'git show X'",
        "bash +o posix -c 'git show X'",
        "bash -O extglob +O dotglob -c 'git show X'",
        "bash -norc -c 'git show X'",
        "bash --norc --rcfile f -lc 'git show X'",
        "bash -n +n -c 'git show X'",
        "bash -o nounset -c 'git show X'",
        "bash -c -- 'git show X'",
        "bash -es -- a <<'E'\ngit show X\nE",
        "bash - <<'E'\ngit show X\nE",
        "fish -C cd -c 'git show X'",
        "fish --command='git show X'",
        "echo 'git show X' > r; bash -euo pipefail r",
        "echo 'git show X' > r; bash - r",
        "sh -c 'git show $1' _ X",
        "eval 'git show' X",
        "timeout 20 bash -lc \"cd r && git show X\"",
        "bash <<E\ngit show X\nE",
        "sudo bash -s <<'E'\ngit show X\nE",
        "cat <<'E' | sh\ngit show X\nE",
        "echo git show X | bash",
        "bash <(echo git show X)",
        "source <(echo git show X)",
        ". /dev/stdin <<< 'git show X'",
        "cat > r.sh <<'E'\ngit show X\nE\nbash r.sh",
        "cd d; echo 'git show X' >> r.sh; chmod +x r.sh; ./r.sh",
        "tee /tmp/r <<'E' >/dev/null\ngit show X\nE\nsh /tmp/r",
        "echo 'git show X' > a; cp a b; . ./b",
        "echo Z2l0IHNob3cgWA== | base64 -d | sh",
        "base64 -d <<< Z2l0IHNob3cgWA== | bash",
        "eval \"$(echo Z2l0IHNob3cgWA== | base64 --decode)\"",
        "V=Z2l0IHNob3cgWA==; sh -c \"$(base64 -d <<<$V)\"",
        "echo Z2l0IHNob3cgWA== > f; base64 -d f | sh",
        "openssl base64 -d <<< Z2l0IHNob3cgWA== | sh",
        "echo 6769742073686f772058 | xxd -r -p | sh",
        "echo 'X wohs tig' | rev | sh",
        "echo 'tvg fubj K' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh",
        "echo H4sIAAAAAAAAA0vPLFEozsgvV4gAAHHB7SEKAAAA | base64 -d | gunzip | sh",
        "echo -e '\\x67it show X' | sh",
        "echo WjJsMElITm9iM2NnV0E9PQ== | base64 -d | base64 -d | sh",
    ]);
    check(&[
        ("curl x | bash", &["curl x", "bash"]),
        (
            "echo \"$B\" | base64 -d | bash",
            &["echo $B", "base64 -d", "bash"],
        ),
        ("bash -c \"$(curl x/y)\"", &["$ curl x/y", "s $(curl x/y)"]),
        ("bash run.sh a", &["bash run.sh a"]),
        (
            "echo 6769742073686f77 | xxd -r -p | sh",
            &["echo 6769742073686f77", "xxd -r -p", "d git show"],
        ),
    ]);
}

#[test]
fn encodings_are_taken_off_three_times_at_most() {
    let mut text = "git show X".to_owned();
    for layers in 1..=4 {
        text = encode(&text);
        let line = format!("echo {text} | {}sh", "base64 -d | ".repeat(layers));
        let shows = seen(&line).contains(&"d git show X".to_owned());
        assert_eq!(shows, layers <= 3, "{line}");
        assert_eq!(parse(&line).incomplete, layers > 3, "{line}");
    }
}

/// Base64, for the test above.
fn encode(text: &str) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').collect();
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, b| (bits << 8) | u32::from(*b));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            let value = usize::try_from(value).unwrap();
            let shown = digit <= u32::try_from(chunk.len()).unwrap();
            let c = alphabet
                .get(value)
                .copied()
                .unwrap_or(if value == 62 { '+' } else { '/' });
            out.push(if shown { c } else { '=' });
        }
    }
    out
}

#[test]
fn other_languages_start_programs() {
    let texts = [
        "python -c \"import subprocess as s; s.run(['git','show','X'], text=True)\"",
        "python3 -c 'import os; os.system(\"git show X\")'",
        "python -uc 'import os; os.popen(\"git show X\").read()'",
        "python -c \"import subprocess; subprocess.check_output('git show X'.split())\"",
        "python -c \"import subprocess; subprocess.run('gi'+'t show '+'X', shell=True)\"",
        "python -c \"s='X'; import os; os.system(f'git show {s}')\"",
        "python -c \"c=['git','show']; d = c + ['X']; subprocess.run(d)\"",
        "python -c \"subprocess.run(['bash','-lc','git show X'])\"",
        "python -c \"os.execvp('git',['git','show','X'])\"",
        "python -c \"import os;[os.system(c) for c in ('git show X','ls')]\"",
        "python -c \"from git import Repo; print(Repo('.').git.show('X'))\"",
        "python -c \"os.system(base64.b64decode('Z2l0IHNob3cgWA==').decode())\"",
        "python - <<'E'\nimport sh\nsh.git.show('X')\nE",
        "cat > h.py <<'E'\nimport os\nos.system('git show X')\nE\npython h.py",
        "echo 'import os; os.system(\"git show X\")' | python3 -",
        "node -e \"require('child_process').execSync('git show X')\"",
        "node -e \"spawn('git', ['show', 'X'], {stdio:'inherit'})\"",
        "node -e 'exec(`git show X`, (e, o) => console.log(o))'",
        "bun -e 'await $`git show X`'",
        "perl -e 'print `git show X`'",
        "perl -lne 'system(\"git\", \"show\", \"X\")' f",
        "perl -e 'exec qw(git show X)'",
        "perl -e 'open(F, \"git show X|\")'",
        "perl -e 'open(my $f, \"-|\", \"git\", \"show\", \"X\")'",
        "ruby -e 'puts `git show X`'",
        "ruby -e 'system \"git\", \"show\", \"X\"'",
        "ruby -e 'puts %x(git show X)'",
        "php -r 'echo shell_exec(\"git show X\");'",
        "php -r '$c=\"git show \".\"X\"; system($c);'",
        "awk 'BEGIN{system(\"git show X\")}'",
        "awk 'BEGIN{while((\"git show X\" | getline l)>0) print l}'",
        "lua -e 'os.execute(\"git show X\")'",
        "Rscript -e 'system(\"git show X\")'",
        "osascript -e 'do shell script \"git show X\"'",
    ];
    check_shows(&texts);
    for text in texts {
        let line = parse(text);
        let shows = line.invocations.iter().find(|i| i.text() == "git show X");
        let origin = shows.unwrap().origin;
        assert!(
            matches!(origin, Origin::Embedded | Origin::Decoded),
            "{text}: {origin:?}"
        );
        assert!(!line.scripts.is_empty(), "{text}");
    }
}

#[test]
fn other_languages_read_addresses() {
    let texts = [
        "python -c 'import requests; print(requests.get(\"https://x/y\").text)'",
        "python - <<'E'\nu='https://x/y'\nfor f in urllib.request.urlopen(u): print(f)\nE",
        "python -c \"urlopen(Request('https://x/y', headers={'a':'b'}))\"",
        "python -c \"httpx.Client().get('https://x/y')\"",
        "python -c \"import pandas; pandas.read_csv('https://x/y')\"",
        "node -e \"fetch('https://x/y').then(r => r.text())\"",
        "node -e \"require('https').get('https://x/y', r => r)\"",
        "deno eval \"await fetch('https://x/y')\"",
        "perl -MLWP::Simple -e 'getprint \"https://x/y\"'",
        "ruby -ropen-uri -e 'puts URI.open(\"https://x/y\").read'",
        "ruby -e 'puts Net::HTTP.get(URI(\"https://x/y\"))'",
        "php -r 'echo file_get_contents(\"https://x/y\");'",
        "pwsh -f - <<< x; python -c 'urlretrieve(\"https://x\" + \"/y\", \"z\")'",
    ];
    for text in texts {
        let fetched: Vec<String> = seen(text)
            .into_iter()
            .filter(|line| line.starts_with("e fetch"))
            .collect();
        assert_eq!(fetched, ["e fetch https://x/y"], "{text}");
    }
    // Which of them is read cannot be told: all are offered, marked.
    let line = parse("python -c \"us=['https://a/b','https://c/d']; [urlopen(u) for u in f(us)]\"");
    let offered: Vec<&Invocation> = line
        .invocations
        .iter()
        .filter(|i| i.program == "fetch")
        .collect();
    assert_eq!(offered.len(), 2);
    assert!(offered.iter().all(|i| i.args[0].dynamic));
}

#[test]
fn data_stays_data() {
    check_runs_nothing(&[
        "grep -rn \"git show\" docs",
        "rg 'git cherry-pick|git fetch origin'",
        "echo git apply x.patch",
        "printf 'git show %s\\n' X",
        "git commit -m \"cherry-pick: git show X\"",
        "git commit -m \"$(cat <<'E'\nwhy we do not run `git fetch upstream` (any more)\nit's over\nE\n)\"",
        "cat > notes.md <<'E'\ngit cherry-pick X\n$(git show X)\nE",
        "cat <<'E' >> docs/r.md\nrun git fetch upstream\nE",
        "sed -i 's/git show/git log/' f",
        "awk '/git show/ {print}' f",
        "python -c \"print('git show X'); x = 'git fetch upstream'; assert x\"",
        "python -c \"parser.parse('git show X'); d['https://x/y']\"",
        "pytest -k 'git show' tests",
        "apply_patch <<'E'\n*** Begin Patch\n+git show X\n*** End Patch\nE",
        "man git show; which git; type git; apt-get install git curl",
        "# git show X",
        ": 'git show X'",
        "x='git show X'",
        "test -n \"git show\" && [ 'git fetch' = y ]",
        "node -e \"console.log('git fetch upstream'); /git show/.test(s)\"",
        "cat > s.sh <<'E'\ngit show X\nE\nls",
        "echo 'git show X' | grep show",
        "echo 'git show X' | tee f | wc -l",
        "xargs echo git show < f",
        "find . -exec grep 'git show' {} +",
        "bash -n -c 'git show X'",
        "bash -nc 'git show X'",
        "bash -O extglob -n -c 'git show X'",
        "bash -euo pipefail -n -c 'git show X'",
        "bash -o noexec -c 'git show X'",
        "echo 'git show X' > r; bash -n r",
        "sh -n <<'E'\ngit show X\nE",
        "ssh host echo git show",
        "env MSG='git show X' ls",
        "gh pr create --title 'git fetch' --body 'git show X'",
    ]);
}

#[test]
fn git_is_normalised() {
    let line = parse("cd a && GIT_DIR=/o git -C b -c k=v --no-pager -C c --work-tree=w show X");
    let git = line.invocations.last().unwrap();
    assert_eq!(git.text(), "git show X");
    assert_eq!(git.cwd.as_deref(), Some("a/b/c"));
    let env: Vec<String> = git
        .env
        .iter()
        .map(|(n, w)| format!("{n}={}", w.text))
        .collect();
    assert_eq!(env, ["GIT_DIR=/o", "GIT_WORK_TREE=w"]);
    let line = parse("git --git-dir /x show; export GIT_DIR=/y; git log");
    let dirs: Vec<&str> = line
        .invocations
        .iter()
        .filter(|i| i.program == "git")
        .map(|i| i.env[0].1.text.as_str())
        .collect();
    assert_eq!(dirs, ["/x", "/y"]);
    check(&[("git --version", &["git --version"]), ("git", &["git"])]);
}

/// bash 5.2 loses the `;` behind the heredoc and runs `eval 'x=v\ w ; git $x' git`; older and other
/// shells run what is written.
#[test]
fn a_heredoc_in_a_substitution_joins_nothing() {
    let step = "eval 'x=v\\ w ; git $x' ; git <<E\nbody ' $x\nE\n";
    let text = format!("x=$( if {step}\nthen {step}\nfi\n)");
    let git = ["s git v w", "$ git", "s git v w", "$ git"];
    check(&[(text.as_str(), &git)]);
}

#[test]
fn directories_redirects_and_heredocs_are_kept() {
    let line = parse("cd /a && (cd b; x) && y; pushd ../c; z; popd; w; cd $D; v");
    let cwd = |program: &str| {
        let found = line.invocations.iter().find(|i| i.program == program);
        found.unwrap().cwd.clone()
    };
    assert_eq!(cwd("x").as_deref(), Some("/a/b"));
    assert_eq!(cwd("y").as_deref(), Some("/a"));
    assert_eq!(cwd("z").as_deref(), Some("/c"));
    assert_eq!(cwd("w").as_deref(), Some("/a"));
    assert_eq!(cwd("v"), None);

    let line = parse("{ a; b 2>e; } >f <<< 'in put'; c &>>g 3<>h");
    let redirects = |at: usize| -> Vec<String> {
        let invocation = &line.invocations[at];
        let shown = |r: &Redirect| format!("{} {}", r.operator, r.target.text);
        invocation.redirects.iter().map(shown).collect()
    };
    assert_eq!(redirects(0), ["> f"]);
    assert_eq!(redirects(1), ["2> e", "> f"]);
    assert_eq!(redirects(2), ["&>> g", "3<> h"]);

    let line = parse("v=1; cat <<A >f\nx $v \\$v\n\"q\"\nA\ncat <<'A'\nx $v\nA");
    assert_eq!(
        line.invocations[0].heredoc.as_deref(),
        Some("x 1 $v\n\"q\"\n")
    );
    assert_eq!(line.invocations[1].heredoc.as_deref(), Some("x $v\n"));
}

#[test]
fn joins_and_offsets_point_into_the_text() {
    let text = "a && b || c; d | e $(f) & \u{200b}bash -c 'g; h' # ｇ";
    let line = parse(text);
    let joins: Vec<(&str, Join)> = line
        .invocations
        .iter()
        .map(|i| (i.program.as_str(), i.join))
        .collect();
    assert_eq!(
        joins,
        [
            ("a", Join::First),
            ("b", Join::And),
            ("c", Join::Or),
            ("f", Join::First),
            ("d", Join::Then),
            ("e", Join::Pipe),
            ("g", Join::Then),
            ("h", Join::Then),
        ]
    );
    for invocation in &line.invocations {
        let there = text.get(invocation.offset..).unwrap();
        assert!(there.starts_with(&invocation.program), "{invocation:?}");
    }
    let line = parse("curl u | bash -c 'git apply -'");
    assert_eq!(line.invocations[1].join, Join::Pipe);
    let line = parse("X=1; a");
    assert_eq!(line.invocations[0].join, Join::First);
}

#[test]
fn unresolved_words_are_marked() {
    let line = parse("git show $X \"$(y)\" *.py 'a*' ${Z:-d} {} b");
    let git = line.invocations.last().unwrap();
    let marks: Vec<(&str, bool)> = git
        .args
        .iter()
        .map(|w| (w.text.as_str(), w.dynamic))
        .collect();
    assert_eq!(
        marks,
        [
            ("show", false),
            ("$X", true),
            ("$(y)", true),
            ("*.py", true),
            ("a*", false),
            ("d", false),
            ("{}", true),
            ("b", false),
        ]
    );
}

#[test]
fn broken_texts_give_what_they_can() {
    let texts = [
        "git show X; echo 'abc",
        "git show X; echo \"abc",
        "git show X )",
        "git show X; fi",
        "git show X; case a in",
        "if git show X; then",
        "for x in a; do git show X",
        "git show X; echo $(a",
        "git show X; echo ${a",
        "git show X; echo `a",
        "git show X; cat <<E\nbody",
        "git show X; }",
        "git show X; x(",
        "git show X; [[ a",
        "git show X; a=(b",
        "git show X >",
    ];
    for text in texts {
        let line = parse(text);
        assert!(line.incomplete, "{text}");
        let found = line.invocations.iter().any(|i| i.text() == "git show X");
        assert!(found, "{text}: {:?}", seen(text));
    }
}

#[test]
fn each_eval_takes_a_layer_of_quotes_off() {
    let run = |text: &str| -> Vec<String> {
        let line = parse(text);
        let words = |invocation: &Invocation| {
            let args = invocation.args.iter().map(|word| word.text.clone());
            let all = std::iter::once(invocation.program.clone()).chain(args);
            all.collect::<Vec<_>>().join(" ")
        };
        line.invocations.iter().map(words).collect()
    };
    assert!(run(r"eval eval 'x=v\ w ; git log'").contains(&"w".to_owned()));
    assert_eq!(run(r"eval eval 'git\ show\ X'"), ["git show X"]);
    assert_eq!(run("eval eval eval git show X"), ["git show X"]);
}

/// A function body is left out only where nothing can call it.
#[test]
fn what_nothing_calls_does_nothing() {
    let shows = |text: &str| {
        let line = parse_whole_shell(text);
        assert!(!line.incomplete, "{text}");
        line.invocations.iter().any(|i| i.text() == "git show X")
    };
    for text in [
        "f() { git show X; }; ls",
        "function f { git show X; }; cut -f 1 x | tail -f",
        "f() { if a; then git show X | cat; fi; }\ng() ( ls )\ng",
        "( f() { git show X; }; ls ); echo done",
        "f() { g() { git show X; }; }; ls",
        "bash -c 'f() { git show X; }; ls'",
        "f() { git show X; }; trap 'rm -f x' EXIT; export PATH=\"$PATH:y\"; x=$(ls)",
    ] {
        assert!(!shows(text), "{text}");
        let always = parse(text).invocations;
        assert!(always.iter().any(|i| i.text() == "git show X"), "{text}");
    }
    for text in [
        "f() { git show X; }; f",
        "f() { git show X; }; f | cat",
        "f() { git show X; }; ls; $(f)",
        "f() { git show X; }; if a; then while b; do ( f ); done; fi",
        "f() { git show X; }; g() { f; }; ls",
        "f() { git show X; }; f''",
        "foo() { git show X; }; f\\oo",
        "foo() { git show X; }; fo''o",
        "foo() { git show X; }; x=oo; f$x",
        "foo() { git show X; }; x=fo; [ a ] || x=ba; ${x}o",
        "foo() { git show X; }; {fo,}o",
        "f() { git show X; }; x=f; $x",
        "f() { git show X; }; eval \"$c\"",
        "foo() { git show X; }; eval f''oo",
        "foo() { git show X; }; eval 'fo''o'",
        "f() { git show X; }; trap f EXIT",
        "foo() { git show X; }; trap \"fo$x\" EXIT",
        "f() { git show X; }; export -f f; ls | xargs bash -c f",
        "f() { git show X; }; export -f \"$n\"; ./run.sh",
        "f() { git show X; }; declare -fx \"$n\"; ./run.sh",
        "set -a; f() { git show X; }; ./run.sh",
        "set -o allexport; f() { git show X; }; ./run.sh",
        "f() { git show X; }; . ./run.sh",
        "f() { git show X; }; source run.sh",
        "foo() { git show X; }; eval \"$(echo Zm9v | base64 -d)\"",
        "f() { git show X; }; \"$@\"",
        "f() { git show X; }; mapfile -Cf -c1 < x",
        "f() { git show X; }; alias g='f'; g",
        "f() { git show X; }; time f",
        "command_not_found_handle() { git show X; }; frobnicate",
        "TRAPEXIT() { git show X; }; ls",
        "tmux send-keys -t w 'f() { git show X; }' Enter",
        "echo 'f() { git show X; }' > l; . ./l",
        "f() { git show X; }; # then f",
    ] {
        assert!(shows(text), "{text}");
    }
    // What cannot be read may call it.
    for text in ["f() { git show X; }; ls 'x", "f() { git show X; }; ls )"] {
        let line = parse_whole_shell(text);
        assert!(line.invocations.iter().any(|i| i.text() == "git show X"));
    }
}

/// Whatever depth a command stands in, it is seen, and so is the one behind.
#[test]
fn no_depth_hides_a_command() {
    for (open, close) in [
        ("( ", ")"),
        ("{ ", ";}"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("echo $((1 + $(", ")))"),
        ("${a:-$(", ")}"),
        ("if ", ";then x;fi"),
        ("if x; then ", ";fi"),
        ("while x; do ", ";done"),
        ("f() { ", ";}"),
        ("case x in a) ", ";;esac"),
        ("cat <(", ")"),
        ("[[ -n $(", ") ]]"),
        ("a=(`x` $(", "))"),
    ] {
        for times in [31, 32, 33, 64, 65, 1_000] {
            let text = format!(
                "{}git show X{}; last y",
                open.repeat(times),
                close.repeat(times)
            );
            let line = parse(&text);
            let shows = line.invocations.iter().filter(|i| i.text() == "git show X");
            assert_eq!(shows.count(), 1, "{times} times {open}");
            let seen = line.invocations.iter().any(|i| i.text().contains("last y"));
            assert!(
                seen || open.contains('"'),
                "{times} times {open}: what follows"
            );
            assert!(!line.unread, "{times} times {open}");
        }
    }
}

/// A command too large to be read as a whole is read in pieces.
#[test]
fn no_length_hides_a_command() {
    let most = limits::MAX_TREE;
    for (open, repeated, close) in [
        ("echo", " a", "; git show X"),
        ("(", "a;", "git show X)"),
        ("if a; then ", "a;", "git show X; fi"),
        ("", "a|", "git show X"),
        ("f() { ", "a;", "}; git show X"),
        ("x=(", "a ", "$(git show X))"),
        ("echo \"", "$x", "$(git show X)\""),
        ("a ", ">b ", "; git show X"),
        ("cat <<E\n", "$x", "$(git show X)\nE\n"),
    ] {
        let text = format!("{open}{}{close}; last y", repeated.repeat(most));
        let line = parse(&text);
        let shows = line.invocations.iter().filter(|i| i.text() == "git show X");
        assert_eq!(shows.count(), 1, "many {repeated}");
        assert!(line.incomplete && !line.unread, "many {repeated}");
    }
}

/// What is noted is bounded too, and that is said.
#[test]
fn more_than_can_be_noted_is_told() {
    let mut evaluator = Evaluator::new(0, limits::PART_OF_TREE);
    let text = "ls;".repeat(100);
    assert!(evaluator.make_room(limits::BASE_ROOM - 1_000));
    evaluator.read(Dialect::Posix, &text, Base::Exact(0), &Context::default());
    assert!(evaluator.incomplete && evaluator.budget.exhausted());
    assert!((1..10).contains(&evaluator.out.len()));
    let fields = parse(&format!(
        "a=({}); b {}",
        "x ".repeat(60),
        "${a[@]} ".repeat(10_000)
    ));
    assert!(fields.unread);
}

#[test]
fn hostile_texts_end() {
    let deep = |open: &str, close: &str| open.repeat(5_000) + "x" + &close.repeat(5_000);
    let texts = [
        deep("(", ")"),
        deep("{ ", ";}"),
        deep("$(", ")"),
        deep("\"$(", ")\""),
        deep("$((", "))"),
        deep("${a:-", "}"),
        deep("if ", ";then x;fi"),
        deep("f() { ", ";}"),
        "case x in a) ".repeat(2_000),
        "for x in a b; do ".repeat(2_000),
        "cat <<A ".repeat(2_000),
        "bash -c ".repeat(2_000),
        "xargs ".repeat(2_000),
        "watch ".repeat(2_000),
        "docker run x ".repeat(2_000),
        "powershell -c ".repeat(1_000),
        format!(
            "x='eval \"$x\"; eval \"$x\"'; {}",
            "eval \"$x\";".repeat(100)
        ),
        format!("f() {{ f $1 x; f $1 y; }}; {}", "f a;".repeat(100)),
        format!("a=xxxxxxxx; {}", "a=$a$a;".repeat(2_000)),
        format!(
            "a() {{ :; }}; {}",
            "for x in 1 2 3 4 5 6 7 8; do ".repeat(12)
        ),
        format!("echo a > f; {}", "cat f f > g; cat g g > f;".repeat(500)),
        format!("{{ {} }} {}", "a;".repeat(2_000), "> x".repeat(2_000)),
        format!("git config alias.x 'x x'; {}", "git x;".repeat(1_000)),
        "alias a='b b' b='a a'; a".to_owned(),
        "{a,b}".repeat(1_000),
    ];
    for text in texts {
        let line = parse(&text);
        let most = text.len() * limits::BUDGET_PER_BYTE + limits::BASE_BUDGET;
        let size: usize = line.invocations.iter().map(|i| i.text().len() + 1).sum();
        assert!(size <= most, "{:.40}", text);
    }
    // Cut at a limit, and said so.
    for text in [
        "$(".repeat(40),
        format!("a=xxxxxxxx; {}", "a=$a$a;".repeat(40)),
    ] {
        assert!(parse(&text).incomplete);
    }
}

/// Limits are for hostile texts: long honest ones are read to their end.
#[test]
fn long_honest_scripts_are_complete() {
    let line = "log() { echo \"$(date) $*\" >&2; }\n";
    let texts = [
        "echo some words of a long report;\n".repeat(2_000),
        "echo some words of a long report >> out.txt\n".repeat(2_000),
        "cd src && make -j4 && cd ..\n".repeat(2_000),
        "x=$(basename \"$f\" .py); test -n \"$x\" || exit 1\n".repeat(2_000),
        line.to_owned() + &"log step one is done\n".repeat(2_000),
        "for i in 1 2 3 4 5; do for j in a b c; do curl -s h/$i/$j; done; done\n".repeat(100),
        "if a; then b; else c; fi | tee -a log\n".repeat(2_000),
        format!("cat > f <<'E'\n{}\nE\ngit add f", "x = 1;\n".repeat(20_000)),
        format!(
            "python3 - <<'E'\n{}\nE\ngit add f",
            "x = f(1, [2])\n".repeat(5_000)
        ),
    ];
    for text in texts {
        let line = parse(&text);
        assert!(!line.incomplete, "{:.60}", text);
    }
}

#[test]
fn faults_found_by_breaking_it() {
    // A broken call in another language, whose list is closed by the wrong bracket.
    check(&[("powershell \"run(]'\"", &["s run", "s ]", "INCOMPLETE"])]);
    // Options and operands that are not git's or the wrapper's own.
    check(&[
        ("git -x show", &["git -x show"]),
        ("command a=b", &["w a=b"]),
        ("timeout 5 a=b", &["w a=b"]),
    ]);
    // The argument of a default value splits only where it is not quoted.
    check(&[("x ${u:-d'e f'g h}", &["x de fg h"])]);
    assert_eq!(parse("x ${u:-d'e f'g h}").invocations[0].args.len(), 2);
    // A pattern in an expansion is no file pattern.
    check(&[("w='two words'; x ${w%% *}", &["x two"])]);
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
        ("bash -c 'a' b", None),
        ("A=1 bash -c 'a'", None),
        ("git -lc 'a'", None),
        ("bash -lc 'a", None),
        ("", None),
    ];
    for (text, want) in cases {
        assert_eq!(strip_shell_wrapper(text).as_deref(), want, "{text}");
    }
}

/// Every command text of the labelled events can be taken apart.
#[test]
fn real_commands_are_understood() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/cases/events.jsonl"
    );
    let Ok(file) = std::fs::read_to_string(path) else {
        eprintln!("skipped: no labelled events beside the project");
        return;
    };
    let mut commands = 0;
    for row in file.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        if row["channel"] != "command" {
            continue;
        }
        commands += 1;
        let text = row["text"].as_str().unwrap();
        let line = parse(text);
        assert!(!line.incomplete, "{text}");
        assert!(!line.invocations.is_empty(), "{text}");
    }
    assert!(commands > 0);
}

#[test]
fn patterns_of_names_stand_for_them_in_a_loop() {
    check(&[
        (
            "for f in eval/*.go; do echo \"== $f\"; cat \"$f\"; done",
            &["echo == eval/*.go", "cat eval/*.go"],
        ),
        (
            "for f in $(ls eval); do cat $f; done",
            &["$ ls eval", "cat $f"],
        ),
    ]);
}

#[test]
fn perl_without_parentheses() {
    check_shows(&[
        "perl -e 'open my $p, \"-|\", \"git\", \"show\", shift or die; print while <$p>' X",
        "perl -e 'open my $p, \"-|\", \"git\", \"show\", \"X\" or die;'",
    ]);
    let fetched = seen("perl -MLWP::Simple -e 'getprint shift' https://h.example/a");
    assert!(
        fetched.contains(&"e fetch https://h.example/a".to_owned()),
        "{fetched:?}"
    );
    check_runs_nothing(&["perl -e 'print \"git show X\"; sub f { my $x = shift; }' git show X"]);
}

#[test]
fn what_is_found_below_a_directory_elsewhere() {
    let cat = |text: &str| seen(text).last().cloned().unwrap_or_default();
    let script = "find /opt/v -type f -exec sh -c 'cat \"$1\"' _ {} \\;";
    assert_eq!(cat(script), "s cat /opt/v/*");
    assert!(cat("find /opt/v -name '*.py' -exec cat {} +").ends_with("cat {}"));
    assert!(cat("find . -name '*.py' -exec cat {} +").ends_with("cat {}"));
}
