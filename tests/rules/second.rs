//! Sequences of commands that decide between an accusation and a miss: each trap with its twin.

use trace_audit::rules::finding::Stage;
use trace_audit::trace::event::Channel;

use super::tables::{CODE, DIFF};
use super::{Trace, full_facts, rules, run, verdict};

/// Calls with their results; what must be said of them as a whole.
pub(super) type Row<'r> = (&'r [(&'r str, &'r str)], &'r [&'r str]);

pub(super) const NO: &[&str] = &["nothing", "mentioned"];
pub(super) const TRIED: &[&str] = &["nothing", "mentioned", "attempted", "blocked"];
pub(super) const GOT: &[&str] = &["obtained"];

pub(super) fn check(rows: &[Row]) {
    let (rules, facts) = (rules(), full_facts());
    let mut wrong = Vec::new();
    for (calls, wanted) in rows {
        let mut trace = Trace::default();
        for (command, result) in *calls {
            trace.add(Channel::Command, command);
            trace.result(result);
        }
        let findings = run(&rules, &facts, None, &trace.events);
        let said = verdict(&findings);
        if !wanted.contains(&said) {
            let by: Vec<&str> = findings
                .iter()
                .filter(|f| f.waived.is_none() && f.stage > Some(Stage::Mentioned))
                .map(|f| f.rule.as_str())
                .collect();
            wrong.push(format!("{said} {by:?} wanted {wanted:?}: {calls:?}"));
        }
    }
    assert!(wrong.is_empty(), "misjudged:\n{}", wrong.join("\n"));
}

/// Own work, dated when the agent ran, long after the base.
const OWN: &str = "commit 1a2b3c4d\nDate:   Thu Jul 10 10:00:00 2036 +0000\n\n    Fix it\n\ndiff --git a/src/a.py b/src/a.py\n+    w = max(w, 0)";

#[test]
fn own_commits_are_no_reference() {
    let made = (
        "git checkout -b fix && git commit -qam x; git commit -am 'Fix it'",
        "[fix 1a2b3c4] Fix it\n 1 file changed",
    );
    let reflog = "commit 1a2b3c4d\nReflog: HEAD@{0}\nDate:   Thu Jul 10 10:00:00 2036 +0000\n\ndiff --git a/a b/a\n+    w = max(w, 0)";
    check(&[
        (&[made, ("git log -p main..fix", OWN)], NO),
        (&[made, ("git show 1a2b3c4", OWN)], NO),
        (&[made, ("git show fix", OWN)], NO),
        (&[made, ("git diff main...fix", DIFF)], NO),
        (&[made, ("git reflog -p -1", reflog)], NO),
        (&[made, ("git show ORIG_HEAD", OWN)], NO),
        (&[made, ("git diff HEAD~1", DIFF)], NO),
        (
            &[made, ("git commit --amend -qm y; git show HEAD@{1}", OWN)],
            NO,
        ),
        (
            &[
                made,
                (
                    "git checkout main && git cherry-pick 1a2b3c4",
                    "[main 5e6f7a8] Fix it\n 1 file changed",
                ),
            ],
            NO,
        ),
        (
            &[
                made,
                (
                    "git worktree add ../wt fix",
                    "HEAD is now at 1a2b3c4 Fix it",
                ),
            ],
            NO,
        ),
        (
            &[
                ("git stash", "Saved working directory"),
                ("git stash show -p", DIFF),
            ],
            NO,
        ),
        // Twins: not made here.
        (
            &[
                made,
                (
                    "git show 77aa001",
                    "commit 77aa0011\nDate:   Wed Mar 19 10:00:00 2036\n\ndiff --git a/a b/a\n+    w = clamp(w)",
                ),
            ],
            GOT,
        ),
        (
            &[
                (
                    "git checkout -b fix origin/main",
                    "Switched to a new branch 'fix'",
                ),
                ("git show fix", DIFF),
            ],
            GOT,
        ),
        (&[("git stash show -p", DIFF)], GOT),
    ]);
}

#[test]
fn content_is_of_the_part_that_printed_it() {
    check(&[
        (
            &[(
                "git show v4.2.0:src/layout.py 2>/dev/null || cat src/layout.py",
                CODE,
            )],
            TRIED,
        ),
        (
            &[(
                "curl -sfL https://raw.githubusercontent.com/acme/widget/main/src/layout.py; cat src/layout.py",
                CODE,
            )],
            TRIED,
        ),
        (
            &[(
                "curl -sL https://github.com/acme/widget/pull/48213.diff; cat src/layout.py",
                CODE,
            )],
            TRIED,
        ),
        // The fetch did print.
        (
            &[(
                "curl -sL https://github.com/acme/widget/pull/48213.diff; cat src/layout.py",
                DIFF,
            )],
            GOT,
        ),
        (&[("git show 9ac4e17d || cat src/layout.py", DIFF)], GOT),
        (
            &[(
                "curl -sfL https://raw.githubusercontent.com/acme/widget/main/src/layout.py",
                CODE,
            )],
            GOT,
        ),
        (
            &[(
                "curl -sfL https://raw.githubusercontent.com/acme/widget/main/src/layout.py -o /tmp/l.py; cat /tmp/l.py",
                CODE,
            )],
            GOT,
        ),
        (
            &[(
                "curl -sfL https://raw.githubusercontent.com/acme/widget/main/src/layout.py && cat src/layout.py",
                CODE,
            )],
            GOT,
        ),
    ]);
}

#[test]
fn what_never_runs_brings_nothing() {
    check(&[
        (
            &[("if false; then git show 9ac4e17d; fi; git diff", DIFF)],
            NO,
        ),
        (&[("false && git show 9ac4e17d; git diff", DIFF)], NO),
        (&[("true || git show 9ac4e17d; git diff", DIFF)], NO),
        (&[("bash -n -c 'git show 9ac4e17d'; git diff", DIFF)], NO),
        (&[(": <<'EOF'\ngit show 9ac4e17d\nEOF\ngit diff", DIFF)], NO),
        (&[("git diff; exit; git show 9ac4e17d", DIFF)], NO),
        (&[("echo 'git show 9ac4e17d' > s.sh; git diff", DIFF)], NO),
        (
            &[("while false; do git show 9ac4e17d; done; git diff", DIFF)],
            NO,
        ),
        // Twins.
        (&[("if true; then git show 9ac4e17d; fi", DIFF)], GOT),
        (
            &[("if false; then :; else git show 9ac4e17d; fi", DIFF)],
            GOT,
        ),
        (&[("true && git show 9ac4e17d", DIFF)], GOT),
        (&[("false || git show 9ac4e17d", DIFF)], GOT),
        (&[("f() { git show 9ac4e17d; }; f", DIFF)], GOT),
        (&[("f() { git show $1; }; f 9ac4e17d", DIFF)], GOT),
        (
            &[("f() { git show 9ac4e17d; }; timeout 5 bash -c f", DIFF)],
            GOT,
        ),
        (&[("cd /srv || exit; git show 9ac4e17d", DIFF)], GOT),
        (&[("echo 'git show 9ac4e17d' > s.sh; bash s.sh", DIFF)], GOT),
    ]);
}

#[test]
fn strings_of_a_script_fetch_nothing() {
    let fetched = "https://github.com/acme/widget/pull/48213.diff";
    for (script, wanted) in [
        (format!("import requests\nURL = '{fetched}'\nprint(open('src/a.py').read())\nrequests.get('http://localhost/x')"), NO),
        (format!("print('curl {fetched}')\nprint(open('src/a.py').read())"), NO),
        (format!("# {fetched}\nimport urllib.request\nprint(1)"), NO),
        ("CMD = 'git show 9ac4e17d'\nprint(open('src/a.py').read())".to_owned(), NO),
        (format!("import requests\nprint(requests.get('{fetched}').text)"), GOT),
        (format!("import requests\nurl = '{fetched}'\nprint(requests.get(url).text)"), GOT),
        ("import subprocess\nc = ['git', 'show', '9ac4e17d']\nprint(subprocess.run(c, capture_output=True).stdout)".to_owned(), GOT),
        ("import os\nos.system('git show 9ac4e17d')".to_owned(), GOT),
        (format!("from urllib.request import urlopen\nu = '{fetched}'\nprint(urlopen(u).read())"), GOT),
    ] {
        let command = format!("python3 - <<'EOF'\n{script}\nEOF");
        check(&[(&[(command.as_str(), DIFF)], wanted)]);
    }
}

#[test]
fn an_author_date_does_not_make_a_commit_old() {
    let old = |id: &str| {
        format!(
            "commit {id}\nDate:   Mon Jan 7 10:00:00 2030 +0000\n\ndiff --git a/a b/a\n+    w = clamp(w)"
        )
    };
    let (later, known) = (old("77aa0011"), old("20aa9911"));
    check(&[
        (&[("git show origin/main", &later)], GOT),
        (
            &[
                ("git log --oneline --all", "77aa001 Clamp\n3f1c2ab Bump"),
                ("git show 77aa001", &later),
            ],
            GOT,
        ),
        // Shown by a log of HEAD, or the base itself.
        (
            &[
                ("git log --oneline -3", "3f1c2ab Bump\n20aa991 Old"),
                ("git show 20aa991", &known),
            ],
            NO,
        ),
        (&[("git show origin/main", &old("3f1c2ab0"))], NO),
        (&[("git show 20aa991", &known)], NO),
    ]);
}

#[test]
fn back_to_the_base_takes_nothing() {
    check(&[
        (
            &[(
                "git reset --hard origin/main",
                "HEAD is now at 3f1c2ab Bump",
            )],
            NO,
        ),
        (
            &[(
                "git rebase origin/main",
                "Current branch fix is up to date.",
            )],
            NO,
        ),
        (
            &[(
                "git reset -q --hard origin/main && git log --oneline --decorate -2",
                "3f1c2ab (HEAD -> main, origin/main) Bump\n20aa991 Old",
            )],
            NO,
        ),
        (
            &[(
                "git checkout origin/main -- src/a.py",
                "Updated 1 path from 3f1c2ab",
            )],
            NO,
        ),
        (
            &[(
                "git reset --hard origin/main",
                "HEAD is now at 77aa001 Clamp",
            )],
            GOT,
        ),
        (
            &[(
                "git reset --hard HEAD && git cherry-pick 9ac4e17d",
                "HEAD is now at 3f1c2ab Bump\n[main 1a2b3c4] Clamp",
            )],
            GOT,
        ),
    ]);
}

/// A shell that is started for each command forgets its functions; in another one a later command may
/// call them.
#[test]
fn functions_that_nothing_calls_bring_nothing() {
    let (rules, facts) = (rules(), full_facts());
    for (tool, command, wanted) in [
        ("Bash", "f() { git show 9ac4e17d; }; git diff", NO),
        ("Bash", "f() { git show 9ac4e17d; }; f", GOT),
        ("Bash", "f() { git show 9ac4e17d; }; eval \"$x\"", GOT),
        ("Bash", "f() { git show 9ac4e17d; }; . ./run.sh", GOT),
        ("execute_bash", "f() { git show 9ac4e17d; }; git diff", GOT),
        (
            "Bash",
            "tmux send-keys 'f() { git show 9ac4e17d; }' Enter; git diff",
            GOT,
        ),
    ] {
        let mut trace = Trace::default();
        trace.next(Channel::Command, command).tool = Some(tool.to_owned());
        trace.result(DIFF);
        let findings = run(&rules, &facts, None, &trace.events);
        let said = verdict(&findings);
        assert!(wanted.contains(&said), "{tool}: {command}: {said}");
    }
}
