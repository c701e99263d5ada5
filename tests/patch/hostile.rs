//! What a run directory can hold to execute code, hide work or block the reader.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use trace_audit::patch::model::FileStatus::{Added, Modified};
use trace_audit::patch::{choose_base, parse};

use super::fixture::{Bench, TEN, against, brief, commit, entry, git, work, write};

/// Plants everything that makes git execute something or hide something.
pub(super) fn plant(run: &Path, canary: &Path) {
    let script = run.join(".git/evil.sh");
    write(
        run,
        ".git/evil.sh",
        format!("#!/bin/sh\ntouch {}\ncat\n", canary.display()),
    );
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let evil = script.display();
    let config = format!(
        "[core]\n\tfsmonitor = {evil}\n\thooksPath = {hooks}\n\tpager = {evil}\n\teditor = {evil}\n\
         \tsshCommand = {evil}\n\taskPass = {evil}\n\tgitProxy = {evil}\n\tattributesFile = {attributes}\n\
         \talternateRefsCommand = {evil}\n\tquotePath = true\n\
         [diff]\n\texternal = {evil}\n\tnoprefix = true\n\tmnemonicPrefix = true\n[color]\n\tui = always\n\
         [diff \"d\"]\n\tcommand = {evil}\n\ttextconv = {evil}\n\
         [filter \"f\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\trequired = true\n\
         [alias]\n\tcat-file = !{evil}\n[credential]\n\thelper = {evil}\n\
         [include]\n\tpath = evil-config\n[merge \"m\"]\n\tdriver = {evil}\n[gpg]\n\tprogram = {evil}\n\
         [sequence]\n\teditor = {evil}\n[pager]\n\tdiff = {evil}\n\tlog = {evil}\n[remote \"origin\"]\n\turl = ext::{evil}\n\
         \tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n[uploadpack]\n\tpackObjectsHook = {evil}\n",
        hooks = run.join(".git/hooks").display(),
        attributes = run.join(".git/evil-attributes").display(),
    );
    write(run, ".git/config", config);
    write(
        run,
        ".git/evil-config",
        format!("[core]\n\tfsmonitor = {evil}\n"),
    );
    write(run, ".git/evil-attributes", "* filter=f diff=d\n");
    write(run, ".git/info/attributes", "* filter=f diff=d\n");
    write(run, ".gitattributes", "* filter=f diff=d\n");
    for hook in [
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ] {
        let path = run.join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&path);
        symlink(&script, path).unwrap();
    }
}

#[test]
fn nothing_of_the_run_is_executed() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    bench.work();
    let canary = bench.dir.path().join("canary");
    plant(&bench.run(), &canary);
    // A missing object, which a partial clone would fetch.
    let run = bench.run();
    let start = git(&bench.base(), &["rev-parse", "HEAD"]);
    let mut want = work();
    want.insert(0, entry(".gitattributes", Added, 1, 0));
    for base in [Some(bench.base()), None] {
        let mut request = bench.request(&run, base.as_deref());
        request.known_commit = Some(&start);
        let found = choose_base(&request).unwrap();
        assert_eq!(brief(&against(&run, &found, None).patch), want);
    }
    let id = git(&bench.base(), &["rev-parse", "HEAD:src/a.txt"]);
    std::fs::remove_file(run.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let mut request = bench.request(&run, None);
    request.known_commit = Some(&start);
    let agent = against(&run, &choose_base(&request).unwrap(), None);
    assert_eq!(agent.flags.unreadable, ["src/a.txt"]);
    assert!(!canary.exists(), "something of the run was executed");
    // The trap is armed: git in the run does execute it.
    let status = ["-c", "core.hooksPath=/dev/null", "status"];
    let _ = std::process::Command::new("git")
        .args(status)
        .current_dir(&run)
        .output();
    assert!(canary.exists(), "the trap does not work");
}

#[test]
fn links_are_compared_and_never_followed() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    symlink("/etc/passwd", run.join("secret")).unwrap();
    symlink(".", run.join("circle")).unwrap();
    symlink("../..", run.join("src/up")).unwrap();
    symlink("b.txt", run.join("src/beside")).unwrap();
    std::fs::remove_file(run.join("keep.txt")).unwrap();
    symlink("src/b.txt", run.join("keep.txt")).unwrap();
    let agent = bench.read();
    assert_eq!(
        brief(&agent.patch),
        [
            entry("circle", Added, 1, 0),
            entry("keep.txt", Modified, 1, 1),
            entry("secret", Added, 1, 0),
            entry("src/beside", Added, 1, 0),
            entry("src/up", Added, 1, 0),
        ]
    );
    assert_eq!(
        agent.patch.files[2].added().next().unwrap().text,
        "/etc/passwd"
    );
    assert_eq!(agent.flags.links_outside, ["secret", "src/up"]);
}

#[test]
fn pipes_and_sockets_are_not_opened() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    let fifo = |path: &Path| {
        let _ = std::fs::remove_file(path);
        let made = std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap();
        assert!(made.success());
    };
    fifo(&run.join("pipe"));
    fifo(&run.join("keep.txt"));
    fifo(&run.join(".gitmodules"));
    let _socket = std::os::unix::net::UnixListener::bind(run.join("socket")).unwrap();
    fifo(&run.join(".git/objects/pack/pack-0000000000000000000000000000000000000000.pack"));
    fifo(&run.join(".git/logs/HEAD"));
    let id = git(&bench.base(), &["rev-parse", "HEAD:keep.txt"]);
    fifo(&run.join(".git/objects").join(&id[..2]).join(&id[2..]));
    write(&run, "src/a.txt", TEN.replace("two", "2"));
    let agent = bench.read();
    assert_eq!(brief(&agent.patch), [entry("src/a.txt", Modified, 1, 1)]);
    assert_eq!(
        agent.flags.special,
        [".gitmodules", "keep.txt", "pipe", "socket"]
    );
    // The run's own objects, pipe among them.
    let start = git(&bench.base(), &["rev-parse", "HEAD"]);
    let mut request = bench.request(&run, None);
    request.known_commit = Some(&start);
    let found = choose_base(&request).unwrap();
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    assert_eq!(brief(&against(&run, &found, None).patch).len(), 1);
    fifo(&run.join(".git/HEAD"));
    assert!(
        choose_base(&bench.request(&run, None))
            .unwrap()
            .tree
            .is_none()
    );
}

#[test]
fn strange_names_and_kinds() {
    if !super::git_available() {
        return;
    }
    use bstr::ByteSlice;
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let names: &[&[u8]] = &[
        b"new\nline",
        b"q\"uote",
        b"tab\t",
        b"caf\xe9",
        b" lead",
        b"-dash",
        b":(glob)*",
    ];
    for name in names {
        write(&bench.base(), "x", "old\n");
        std::fs::rename(
            bench.base().join("x"),
            bench.base().join(std::ffi::OsStr::from_bytes(name)),
        )
        .unwrap();
    }
    write(&bench.base(), "dir/file", "f\n");
    write(&bench.base(), "file", "f\n");
    write(&bench.base(), "empty", "");
    write(&bench.base(), "filled", "");
    write(&bench.base(), "bin", b"\0old");
    commit(&bench.base(), "strange");
    let run = bench.run();
    std::fs::remove_dir_all(&run).unwrap();
    bench.copy_to_run();
    for name in names {
        std::fs::write(run.join(std::ffi::OsStr::from_bytes(name)), "new\n").unwrap();
    }
    std::fs::remove_dir_all(run.join("dir")).unwrap();
    write(&run, "dir", "now a file\n");
    std::fs::remove_file(run.join("file")).unwrap();
    write(&run, "file/in", "now a dir\n");
    write(&run, "empty", "no more");
    write(&run, "filled", "");
    write(&run, "bin", b"\0new");
    std::fs::set_permissions(run.join("keep.txt"), PermissionsExt::from_mode(0o755)).unwrap();
    let agent = bench.read();
    for name in names {
        let file = agent
            .patch
            .files
            .iter()
            .find(|f| f.path() == name.as_bstr())
            .unwrap();
        assert_eq!(
            (file.status, file.added().count()),
            (Modified, 1),
            "{}",
            name.as_bstr()
        );
    }
    let rest: Vec<_> = brief(&agent.patch)
        .into_iter()
        .filter(|(p, ..)| !names.iter().any(|n| n.to_str_lossy() == *p))
        .map(|(p, s, a, r)| format!("{p} {s:?} +{a} -{r}"))
        .collect();
    assert_eq!(
        rest,
        [
            "bin Modified +0 -0",
            "dir Added +1 -0",
            "dir/file Deleted +0 -1",
            "empty Modified +1 -0",
            "file Deleted +0 -1",
            "file/in Added +1 -0",
        ]
    );
    assert!(agent.patch.files.iter().any(|f| f.binary));
    assert_eq!(agent.flags.mode_only, 1);
}

#[test]
fn enormous_files_and_unreadable_ones_are_bounded() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    for name in ["sparse", "keep.txt"] {
        let file = std::fs::File::create(run.join(name)).unwrap();
        file.set_len(5 << 30).unwrap();
    }
    let agent = bench.read();
    assert_eq!(
        brief(&agent.patch),
        [
            entry("keep.txt", Modified, 0, 0),
            entry("sparse", Added, 0, 0)
        ]
    );
    assert!(agent.patch.files.iter().all(|f| f.binary));
    assert_eq!(agent.flags.oversized.len(), 2);
    assert_eq!(agent.problems.len(), 1);
}

#[test]
fn the_gt_names_ignored_files_and_lends_its_hunks() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    write(&run, ".gitignore", "*\n");
    write(&run, "build/out.o", "x\n");
    write(&run, "build/named.txt", "n\n");
    write(&run, "other.o", "x\n");
    write(&run, "claude_run.jsonl", "{}\n");
    write(&run, ".claude/settings.json", "{}\n");
    write(&run, "src/claude_run.jsonl", "{}\n");
    write(&run, "eval_report.md/hidden.py", "x\n");
    // The GT says the same change in another way than a difference finds it.
    write(&run, "src/a.txt", TEN.replace("five\n", "five\nfive\n"));
    let gt = parse(
        b"diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -3,4 +3,5 @@\n three\n four\n+five\n five\n six\n\
          diff --git a/build/named.txt b/build/named.txt\nnew file mode 100644\n--- /dev/null\n+++ b/build/named.txt\n@@ -0,0 +1 @@\n+n\n",
    );
    let agent = bench.read_with(Some(&gt));
    assert_eq!(
        brief(&agent.patch),
        [
            entry(".gitignore", Modified, 1, 2),
            entry("build/named.txt", Added, 1, 0),
            entry("eval_report.md/hidden.py", Added, 1, 0),
            entry("src/a.txt", Modified, 1, 0),
            entry("src/claude_run.jsonl", Added, 1, 0),
        ]
    );
    assert_eq!(agent.patch.files[3].hunks, gt.files[0].hunks);
    assert_eq!(agent.flags.gt_hunks, 2);
    assert_eq!(agent.flags.ignored, 2);
    assert_eq!(agent.flags.excluded, [".claude", "claude_run.jsonl"]);
}

#[test]
fn a_nul_hides_no_text_of_the_gt() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    write(&bench.run(), "src/a.txt", format!("{TEN}GT line\n// \0\n"));
    let gt = parse(b"--- a/src/a.txt\n+++ b/src/a.txt\n@@ -10 +10,2 @@\n ten\n+GT line\n");
    assert!(bench.read().patch.files[0].binary);
    let agent = bench.read_with(Some(&gt));
    assert_eq!(brief(&agent.patch), [entry("src/a.txt", Modified, 2, 0)]);
}
