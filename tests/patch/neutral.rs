//! Differences that copying, checking out and moving make, and that are no work.

use std::os::unix::fs::symlink;
use std::process::Command;

use trace_audit::patch::model::FileStatus::{Added, Deleted, Modified, Renamed};
use trace_audit::patch::parse;

use super::fixture::{Bench, TEN, brief, commit, entry, write};

#[test]
fn links_that_a_copy_resolved_are_no_work() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let base = bench.base();
    write(&base, "src/sub/c.txt", "c\n");
    symlink("src/a.txt", base.join("link")).unwrap();
    symlink("link", base.join("link2")).unwrap();
    symlink("src/sub", base.join("linkdir")).unwrap();
    symlink("nowhere", base.join("dangling")).unwrap();
    symlink("keep.txt", base.join("cut")).unwrap();
    commit(&base, "links");
    let run = bench.run();
    std::fs::remove_dir_all(&run).unwrap();
    bench.copy_to_run();
    for (name, copy) in [("link", "src/a.txt"), ("link2", "src/a.txt")] {
        std::fs::remove_file(run.join(name)).unwrap();
        std::fs::copy(base.join(copy), run.join(name)).unwrap();
    }
    std::fs::remove_file(run.join("linkdir")).unwrap();
    write(&run, "linkdir/c.txt", "c\n");
    write(&run, "linkdir/new.txt", "n\n");
    std::fs::remove_file(run.join("dangling")).unwrap();
    std::fs::remove_file(run.join("cut")).unwrap();
    let agent = bench.read();
    assert_eq!(
        brief(&agent.patch),
        [
            entry("cut", Deleted, 0, 1),
            entry("linkdir/new.txt", Added, 1, 0)
        ]
    );
    assert_eq!(agent.flags.links_copied, 4);
    write(&run, "link2", TEN.replace("one", "1"));
    write(&run, "linkdir/c.txt", "C\n");
    let agent = bench.read();
    assert_eq!(
        brief(&agent.patch)[1..3],
        [
            entry("link2", Modified, 1, 1),
            entry("linkdir/c.txt", Modified, 1, 1)
        ]
    );
}

#[test]
fn line_ends_and_large_file_pointers_are_no_work() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
        oid sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\nsize 5\n";
    write(&bench.base(), "large.bin", pointer);
    commit(&bench.base(), "pointer");
    let run = bench.run();
    std::fs::remove_dir_all(&run).unwrap();
    bench.copy_to_run();
    write(&run, "large.bin", "hello");
    write(&run, "keep.txt", "kept\r\n");
    write(
        &run,
        "src/a.txt",
        TEN.replace("two\n", "two and a half\n")
            .replace('\n', "\r\n"),
    );
    let agent = bench.read();
    assert_eq!(brief(&agent.patch), [entry("src/a.txt", Modified, 1, 1)]);
    assert_eq!(agent.flags.line_ends, ["keep.txt", "src/a.txt"]);
    assert_eq!(agent.flags.lfs, ["large.bin"]);
}

#[test]
fn moves_are_found_by_content_or_told_by_the_gt() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    std::fs::create_dir(run.join("moved")).unwrap();
    std::fs::rename(run.join("keep.txt"), run.join("moved/keep.txt")).unwrap();
    std::fs::remove_file(run.join("src/a.txt")).unwrap();
    write(&run, "src/z.txt", TEN.replace("one", "1"));
    // Half of the lines of a third file.
    write(
        &run,
        "half.txt",
        format!("{TEN}{}", "another line\n".repeat(30)),
    );
    let rename =
        parse(b"diff --git a/src/a.txt b/src/z.txt\nrename from src/a.txt\nrename to src/z.txt\n");
    // A GT written without looking for moves.
    let plain = parse(
        b"diff --git a/keep.txt b/keep.txt\ndeleted file mode 100644\n\
          diff --git a/moved/keep.txt b/moved/keep.txt\nnew file mode 100644\n\
          diff --git a/src/z.txt b/src/z.txt\nnew file mode 100644\n",
    );
    let moved = [
        entry("half.txt", Added, 40, 0),
        entry("moved/keep.txt", Renamed, 0, 0),
        entry("src/z.txt", Renamed, 1, 1),
    ];
    assert_eq!(brief(&bench.read().patch), moved);
    assert_eq!(brief(&bench.read_with(Some(&rename)).patch), moved);
    assert_eq!(
        brief(&bench.read_with(Some(&plain)).patch),
        [
            entry("half.txt", Added, 40, 0),
            entry("keep.txt", Deleted, 0, 1),
            entry("moved/keep.txt", Added, 1, 0),
            entry("src/a.txt", Deleted, 0, 10),
            entry("src/z.txt", Added, 10, 0),
        ]
    );
}

#[test]
fn a_nested_repository_is_work_and_a_submodule_is_not() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let run = bench.run();
    write(&run, "nested/.git/HEAD", "ref: refs/heads/main\n");
    write(&run, "nested/x.txt", "x\n");
    let agent = bench.read();
    assert_eq!(brief(&agent.patch), [entry("nested/x.txt", Added, 1, 0)]);
    assert_eq!(agent.flags.nested_repos, ["nested"]);
    std::fs::remove_dir_all(run.join("nested")).unwrap();
    let base = bench.base();
    let done = Command::new("git")
        .args([
            "update-index",
            "--add",
            "--cacheinfo",
            "160000,0123456789012345678901234567890123456789,mod",
        ])
        .current_dir(&base)
        .status()
        .unwrap();
    assert!(done.success());
    super::fixture::git(&base, &["commit", "-q", "-m", "submodule"]);
    write(&run, "mod/file.c", "int x;\n");
    let agent = bench.read();
    assert!(agent.patch.files.is_empty());
    assert_eq!(agent.flags.submodules, 1);
}

#[test]
fn what_a_checkout_expands_or_encodes_is_no_work() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let base = bench.base();
    write(
        &base,
        ".gitattributes",
        "*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.enc filter=crypt\n",
    );
    write(&base, "a.id", "// $Id$\none\n");
    write(&base, "changed.id", "// $Id$\none\n");
    write(&base, "a.enc", "plain\n");
    // As git stores it: the attribute is not applied by these tests' git when it adds.
    write(&base, "b.txt", "one\ntwo\n");
    commit(&base, "attributes");
    let run = bench.run();
    std::fs::remove_dir_all(&run).unwrap();
    bench.copy_to_run();
    let id = "0123456789012345678901234567890123456789";
    write(&run, "a.id", format!("// $Id: {id} $\none\n"));
    write(&run, "changed.id", format!("// $Id: {id} $\ntwo\n"));
    write(&run, "a.enc", b"\x01\x02\x03");
    let utf16: Vec<u8> = "one\ntwo\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    write(&run, "b.txt", [&[0xff, 0xfe][..], &utf16].concat());
    let agent = bench.read();
    assert_eq!(
        brief(&agent.patch),
        [
            entry("a.enc", Modified, 1, 1),
            entry("changed.id", Modified, 1, 1)
        ]
    );
    assert_eq!(agent.flags.keywords, ["a.id", "changed.id"]);
    assert_eq!(agent.flags.encoded, ["b.txt"]);
    assert_eq!(agent.flags.filtered, ["a.enc"]);
    assert!(
        agent
            .problems
            .iter()
            .any(|p| p.contains("filter in .gitattributes"))
    );
}
