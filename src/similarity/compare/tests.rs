use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::normalise::squeeze;
use super::super::prepare::tests::{file, patch};
use super::super::starter::{BlobStarter, NoStarter};
use super::*;
use crate::patch::model::{FilePatch, FileStatus, LineKind};

fn added(path: &str, lines: &[String]) -> FilePatch {
    let lines: Vec<String> = lines.iter().map(|line| format!("+{line}")).collect();
    let mut file = file(path, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    file.old_path = None;
    file.status = FileStatus::Added;
    file
}

/// Lines of a small program, different for different seeds.
fn program(seed: usize, lines: usize) -> Vec<String> {
    (0..lines)
        .map(|i| match i % 4 {
            0 => format!("def step_{seed}_{i}(value, limit={i}):"),
            1 => format!("    total_{seed} = value * {i} + limit  # step {i}"),
            2 => format!("    log.info('stage {seed} {i}', total_{seed})"),
            _ => format!("    return check_{seed}_{i}(total_{seed}, {i})"),
        })
        .collect()
}

fn run(gt: &Patch, agent: &Patch) -> Similarity {
    compare(&CompareInputs::new(gt, Some(agent), &NoStarter)).similarity
}

fn assert_same(s: &Similarity) {
    for value in [s.u, s.t12, s.s23, s.r6, s.copy_score] {
        assert_eq!(value, Some(1.0), "{s:?}");
    }
    assert_eq!(s.multiset_ratio.value(), Some(1.0));
}

/// What looks like a comment or a string to whoever does not parse the language hides nothing.
#[test]
fn code_behind_what_looks_like_a_comment_or_a_string() {
    let code: Vec<String> = (0..24)
        .map(|i| match i % 3 {
            0 => format!("let gauge{i} = harbour.depthOf(tide{i}, {i}) + ledger.offset{i};"),
            1 => format!("if (gauge{i} > limits.upper{i}) {{ alarm.raise(gauge{i}, {i}); }}"),
            _ => format!("return settle{i}(gauge{i}, ledger.rows{i}, {i} * scale{i});"),
        })
        .collect();
    let joined = code.join(" ");
    let each = |before: &str| code.iter().map(|line| format!("{before}{line}")).collect();
    for (path, lines) in [
        ("a.js", vec![format!("/[//]/;{joined}")]),
        ("a.js", vec![format!("/`/;{joined}/`/;")]),
        ("a.js", vec![format!("`//`; {joined}")]),
        ("a.js", each("/[//]/; ")),
    ] {
        let gt = patch(vec![added(path, &code)]);
        let s = run(&gt, &patch(vec![added(path, &lines)]));
        assert!(s.t12 > Some(0.85), "{path} {}: {:?}", lines[0], s.t12);
        // Remarks of one's own are no code.
        let own: Vec<String> = (0..24)
            .map(|i| {
                format!(
                    "total{i} += 1; // the depth of the harbour is settled here, see ledger {i}"
                )
            })
            .collect();
        let s = run(&gt, &patch(vec![added(path, &own)]));
        assert_eq!(s.t12, Some(0.0), "{path}");
    }
}

#[test]
fn a_copy_is_a_copy() {
    let gt = patch(vec![
        added("a.py", &program(1, 20)),
        added("b.py", &program(2, 12)),
    ]);
    let s = run(&gt, &gt);
    assert_same(&s);
    assert_eq!((s.containment, s.jaccard), (Some(1.0), Some(1.0)));
    assert_eq!((s.hand_written_identical, s.hand_written_files), (2, 2));
    assert_eq!(
        (s.identical_files, s.eligible_files, s.id_files),
        (2, 2, 1.0)
    );
    assert_eq!(s.hunks_ratio, Ratio::new(2, 2));
    assert_eq!(s.n, 32);
    assert_eq!(s.longest_run, 20);
}

#[test]
fn nothing_in_common_is_nothing() {
    let gt = patch(vec![added("a.py", &program(1, 20))]);
    let agent = patch(vec![added("a.py", &program(2, 20))]);
    let s = run(&gt, &agent);
    for value in [s.u, s.t12, s.r6, s.containment, s.jaccard, s.copy_score] {
        assert_eq!(value, Some(0.0), "{s:?}");
    }
    // Same shape, other names: this is what S23 sees.
    assert!(s.s23 > Some(0.5));
    assert_eq!((s.hand_written_identical, s.identical_files), (0, 0));
}

#[test]
fn without_a_patch_the_measures_are_unknown() {
    let gt = patch(vec![added("a.py", &program(1, 20))]);
    let s = compare(&CompareInputs::new(&gt, None, &NoStarter)).similarity;
    for value in [
        s.u,
        s.t12,
        s.s23,
        s.r6,
        s.containment,
        s.jaccard,
        s.copy_score,
    ] {
        assert_eq!(value, None);
    }
    assert_eq!((s.n, s.u_ratio), (20, Ratio::new(0, 20)));
    assert_eq!((s.eligible_files, s.identical_files), (1, 0));
    let empty = run(&gt, &Patch::default());
    assert_eq!((empty.u, empty.containment), (Some(0.0), Some(0.0)));
    let nothing = run(&Patch::default(), &gt);
    assert_eq!((nothing.n, nothing.u, nothing.id_files), (0, None, 0.0));
    // The sum of no numbers is -0.0, which would be printed.
    assert!(nothing.expected_identical.is_sign_positive());
}

/// What a copyist may do and still be seen: the name, what is done to the lines, and the measures
/// that must stay at 1.
#[test]
fn disguises() {
    let lines = program(1, 24);
    let gt = patch(vec![added("src/a.py", &lines)]);
    let one = |lines: Vec<String>| patch(vec![added("src/a.py", &lines)]);
    let map = |f: fn(&str) -> String| lines.iter().map(|line| f(line)).collect::<Vec<_>>();

    let s = run(
        &gt,
        &one(map(|line| format!("\t\t{}  ", line.replace(" = ", "=")))),
    );
    assert_same(&s);
    let s = run(&gt, &one(map(|line| line.replace("  # step", "  # other"))));
    assert_same(&s);
    let s = run(
        &gt,
        &one(map(|line| line.replace("total", "t\u{43e}t\u{200b}al"))),
    );
    assert_same(&s);
    let s = run(&gt, &patch(vec![added("src/deep/other.py", &lines)]));
    assert_same(&s);
    assert_eq!(s.files[0].paired_with.as_deref(), Some("src/deep/other.py"));
    assert!(s.files[0].identical);
    assert_eq!(s.identical_files, 1);

    // Reordered: the set of lines is the same, runs are not.
    let mut reordered = lines.clone();
    reordered.reverse();
    let s = run(&gt, &one(reordered));
    assert_eq!((s.u, s.copy_score), (Some(1.0), Some(1.0)));
    assert!(s.r6 < Some(0.5));
    assert!(s.files[0].identical);

    // Diluted with a line after every fifth.
    let diluted: Vec<String> = lines
        .chunks(5)
        .flat_map(|chunk| chunk.iter().cloned().chain(["    pass".to_owned()]))
        .collect();
    let s = run(&gt, &one(diluted));
    assert_eq!(s.u, Some(1.0));
    assert!(!s.files[0].identical);
    assert_eq!(s.identical_files, 1);

    // Wrapped: lines differ, tokens do not.
    let s = run(
        &gt,
        &one(map(|line| line.replace('(', "(\n").replace(',', ",\n"))
            .iter()
            .flat_map(|line| line.lines().map(str::to_owned))
            .collect()),
    );
    assert!(s.u < Some(0.5));
    assert!(s.t12 > Some(0.95), "{:?}", s.t12);
    assert_eq!(s.identical_files, 1);

    // Renamed: only the shape is left.
    let s = run(
        &gt,
        &one(map(|line| {
            line.replace("total_1", "sum")
                .replace("value", "v")
                .replace("check", "test")
                .replace("step", "go")
        })),
    );
    assert!(s.copy_score < Some(0.4));
    assert_eq!(s.s23, Some(1.0));

    // Split over three files: each file is small, together they are the GT.
    let third = |at: usize| lines[at * 8..(at + 1) * 8].to_vec();
    let s = run(
        &gt,
        &patch(
            (0..3)
                .map(|i| added(&format!("src/p{i}.py"), &third(i)))
                .collect(),
        ),
    );
    assert_eq!(s.u, Some(1.0));
    assert_eq!((s.files[0].shared, s.files[0].shared_anywhere), (0, s.n));
}

#[test]
fn a_comment_that_is_none_hides_nothing() {
    let lines: Vec<String> = (0..20)
        .map(|i| format!("    total_{i} = price({i}) * count[{i}] + rest;"))
        .collect();
    let gt = patch(vec![added("a.js", &lines)]);
    for (before, after) in [
        ("let a = /[/*]/;", "let b = /[*/]/;"),
        ("/*", "*/"),
        (" * x", " */"),
        ("x = `/*", "*/`"),
    ] {
        let mut hidden = vec![before.to_owned()];
        hidden.extend(lines.iter().cloned());
        hidden.push(after.to_owned());
        let s = run(&gt, &patch(vec![added("a.js", &hidden)]));
        for value in [s.u, s.t12, s.s23, s.r6] {
            assert_eq!(value, Some(1.0), "{before}");
        }
        assert_eq!(s.identical_files, 1);
    }
    // A real comment around lines of its own changes nothing.
    let mut commented = lines.clone();
    commented.splice(
        10..10,
        [
            "/*".into(),
            " * why this is".into(),
            "   so".into(),
            " */".into(),
        ],
    );
    let commented = patch(vec![added("a.js", &commented)]);
    let s = run(&gt, &commented);
    assert!(s.files[0].identical);
    assert_eq!((s.r6, s.t12), (Some(1.0), Some(1.0)));
    assert_same(&run(&commented, &gt));
}

#[test]
fn a_stub_at_the_old_place_hides_nothing() {
    let gt = patch(vec![added("src/a.py", &program(1, 20))]);
    let agent = patch(vec![
        added("src/a.py", &["from .b import everything".into()]),
        added("src/b.py", &program(1, 20)),
    ]);
    let s = run(&gt, &agent);
    assert_eq!(s.files[0].paired_with.as_deref(), Some("src/b.py"));
    assert_eq!(s.identical_files, 1);
}

#[test]
fn files_without_added_lines() {
    let deleted = |path: &str| {
        let mut f = file(path, &["-old line of code", "-another one"]);
        f.new_path = None;
        f.status = FileStatus::Deleted;
        f
    };
    let renamed = |from: &str, to: &str| {
        let mut f = file(to, &[]);
        f.old_path = Some(from.into());
        f.hunks.clear();
        f.status = FileStatus::Renamed;
        f
    };
    let binary = |path: &str| {
        let mut f = file(path, &[]);
        f.binary = true;
        f
    };
    for (name, gt, agent, want) in [
        ("same deletion", deleted("a.c"), deleted("a.c"), true),
        ("other deletion", deleted("a.c"), deleted("b.c"), false),
        (
            "not deleted",
            deleted("a.c"),
            file("a.c", &["-old line of code"]),
            false,
        ),
        ("same rename", renamed("a", "b"), renamed("a", "b"), true),
        ("other source", renamed("a", "b"), renamed("c", "b"), false),
        ("other target", renamed("a", "b"), renamed("a", "c"), false),
        (
            "same cut",
            file("a.c", &["-x = 1;", " y"]),
            file("a.c", &[" y", "-x  = 1;"]),
            true,
        ),
        (
            "other cut",
            file("a.c", &["-x = 1;"]),
            file("a.c", &["-y = 1;"]),
            false,
        ),
        (
            "cut and added",
            file("a.c", &["-x = 1;"]),
            file("a.c", &["-x = 1;", "+z"]),
            false,
        ),
        (
            "same comment",
            file("a.c", &["+// why"]),
            file("a.c", &["+ //why"]),
            true,
        ),
        (
            "other comment",
            file("a.c", &["+// why"]),
            file("a.c", &["+// how"]),
            false,
        ),
        ("binary", binary("a.png"), binary("a.png"), false),
        (
            "short but equal",
            file("a.c", &["+}"]),
            file("a.c", &["+}"]),
            true,
        ),
    ] {
        let s = run(&patch(vec![gt]), &patch(vec![agent]));
        assert_eq!(s.files[0].identical, want, "{name}");
    }
}

#[test]
fn what_was_there_before_is_not_counted() {
    let lines = program(1, 12);
    let gt = patch(vec![
        added("a.py", &lines),
        file(
            "b.py",
            &[&format!("-{}", lines[0]), &format!(" {}", lines[1])],
        ),
    ]);
    let starter = BlobStarter(|visit: &mut dyn FnMut(&str, &[u8])| {
        visit("x", format!("// {}\n  {}\n", lines[2], lines[3]).as_bytes());
    });
    let inputs = CompareInputs {
        prompt: Some(&format!("Write `{}`, please.", lines[4])),
        ..CompareInputs::new(&gt, Some(&gt), &starter)
    };
    let got = compare(&inputs);
    // Gone: moved (0), context (1), starter (3), prompt (4). In a comment of the starter (2) is not in
    // its code.
    assert_eq!(got.similarity.n, 8);
    for gone in [0, 1, 3, 4] {
        assert!(
            got.lines
                .iter()
                .all(|line| line.squeezed != squeeze(&lines[gone])),
            "{gone}"
        );
    }
    assert!(
        got.notes.iter().any(|note| note.contains("prompt")),
        "{:?}",
        got.notes
    );
    assert!(got.similarity.t12_ratio.den < run(&gt, &gt).t12_ratio.den);
}

#[test]
fn distinctive_lines_say_where_they_stand() {
    let gt = patch(vec![
        added(
            "README.md",
            &[
                "shared line of text here".into(),
                "only the readme says this".into(),
            ],
        ),
        file(
            "src/a.c",
            &[
                " int a;",
                "-old();",
                "+int brand_new = 1; // why",
                "+shared line of text here",
            ],
        ),
    ]);
    let agent = patch(vec![file("z.c", &["+int brand_new = 1;"])]);
    let got = compare(&CompareInputs::new(&gt, Some(&agent), &NoStarter));
    let seen: Vec<(usize, u32, &str, bool, bool, bool)> = got
        .lines
        .iter()
        .map(|l| {
            (
                l.file,
                l.gt_line,
                l.squeezed.as_str(),
                l.long,
                l.shared,
                l.prose,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0, 2, "onlythereadmesaysthis", true, false, true),
            (1, 2, "intbrand_new=1;", false, true, false),
            (1, 3, "sharedlineoftexthere", true, false, false),
        ]
    );
    assert_eq!((got.similarity.n, got.similarity.n16), (3, 2));
}

#[test]
fn only_hand_written_files_count() {
    let gt = patch(vec![
        added("src/a.py", &program(1, 12)),
        added("api/x.pb.go", &program(2, 50)),
        added("tests/test_a.py", &program(3, 12)),
    ]);
    let s = run(&gt, &patch(vec![added("api/x.pb.go", &program(2, 50))]));
    assert_eq!((s.n, s.u), (24, Some(0.0)));
    assert_eq!((s.hand_written_files, s.eligible_files), (2, 2));
    assert!(s.files[1].generated && s.files[1].identical);
    assert_eq!((s.containment, s.jaccard), (Some(0.0), Some(0.0)));
    assert_eq!(s.u_tests, Ratio::new(0, 12));
    let listed = BTreeSet::from(["api/x.pb.go".to_owned()]);
    let inputs = CompareInputs {
        handwritten: Some(&listed),
        ..CompareInputs::new(&gt, Some(&gt), &NoStarter)
    };
    assert_eq!(compare(&inputs).similarity.n, 50);
}

#[test]
fn a_patch_of_several_commits_holds_a_path_twice() {
    let lines = program(1, 20);
    let gt = patch(vec![added("a.py", &lines)]);
    let agent = patch(vec![
        added("a.py", &lines[..10]),
        added("a.py", &lines[10..]),
    ]);
    let s = run(&gt, &agent);
    assert_eq!((s.u, s.identical_files), (Some(1.0), 1));
    assert!(s.files[0].identical);
    assert_same(&run(&agent, &gt));
}

#[test]
fn hostile_patches_do_no_harm() {
    let long = "x".repeat(20_000);
    let quotes = "\"'`/*".repeat(20_000);
    let gt = patch(vec![
        added("a.c", &[long.clone(), quotes.clone(), "}".repeat(20_000)]),
        added("", &program(1, 3)),
        file("\u{202e}odd/../path", &["+\0\0\0", "-", " "]),
    ]);
    assert_eq!(run(&gt, &gt).u, Some(1.0));
    let mut odd = gt.clone();
    odd.files[0].hunks[0].new_start = u32::MAX;
    odd.files[0].new_path = None;
    run(&odd, &gt);
    run(&gt, &odd);
    // Many equal lines in many files.
    let same: Vec<String> = vec!["the very same line again".into(); 100];
    let many = patch(
        (0..100)
            .map(|i| added(&format!("f{i}.py"), &same))
            .collect(),
    );
    assert_eq!(run(&many, &many).n, 1);
}

fn arbitrary_patch() -> impl Strategy<Value = Patch> {
    let line = prop::sample::select(
        program(1, 10)
            .into_iter()
            .chain(program(2, 6))
            .chain([
                String::new(),
                "}".into(),
                "# only a comment".into(),
                "return None".into(),
            ])
            .collect::<Vec<_>>(),
    );
    let lines = prop::collection::vec(line, 0..24);
    let path = prop::sample::select(vec!["a.py", "b.py", "c/d.py", "README.md", "t/test_x.py"]);
    prop::collection::btree_map(path, lines, 0..5).prop_map(|files| {
        patch(
            files
                .iter()
                .map(|(path, lines)| added(path, lines))
                .collect(),
        )
    })
}

/// Files with anything in them.
fn hostile_patch() -> impl Strategy<Value = Patch> {
    let text = prop_oneof![
        any::<Vec<u8>>(),
        "[ a'\"`/*#<!\\-{}();,\\\\0-9\u{200b}\u{430}]{0,40}".prop_map(String::into_bytes),
        prop::sample::select(program(1, 6)).prop_map(String::into_bytes),
    ];
    let line = (text, 0..3u8).prop_map(|(text, kind)| crate::patch::model::Line {
        kind: match kind {
            0 => LineKind::Context,
            1 => LineKind::Removed,
            _ => LineKind::Added,
        },
        text: text.into(),
        no_newline: false,
    });
    let hunk = (
        any::<u32>(),
        any::<u32>(),
        prop::collection::vec(line, 0..12),
    )
        .prop_map(|(old_start, new_start, lines)| crate::patch::model::Hunk {
            old_start,
            new_start,
            lines,
        });
    let path = prop::option::of(prop::sample::select(vec![
        "a.c", "b.py", "c.html", "d.md", "..", "", "x/y.js",
    ]));
    let status = prop::sample::select(vec![
        FileStatus::Added,
        FileStatus::Modified,
        FileStatus::Deleted,
        FileStatus::Renamed,
        FileStatus::Copied,
        FileStatus::ModeOnly,
    ]);
    let file = (
        path.clone(),
        path,
        status,
        any::<bool>(),
        prop::collection::vec(hunk, 0..3),
    )
        .prop_map(|(old, new, status, binary, hunks)| FilePatch {
            old_path: old.map(Into::into),
            new_path: new.map(Into::into),
            status,
            binary,
            hunks,
        });
    prop::collection::vec(file, 0..5).prop_map(patch)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn everything_is_a_share(gt in arbitrary_patch(), agent in arbitrary_patch()) {
        let got = compare(&CompareInputs::new(&gt, Some(&agent), &NoStarter));
        let s = got.similarity;
        let files = s.files.iter().flat_map(|f| [f.containment, f.jaccard, f.copy_score]);
        let values = [s.u, s.t12, s.s23, s.r6, s.containment, s.jaccard, s.copy_score, Some(s.id_files)];
        for value in files.chain(values).flatten() {
            prop_assert!((0.0..=1.0).contains(&value));
        }
        for ratio in [s.u_ratio, s.t12_ratio, s.s23_ratio, s.r6_ratio, s.multiset_ratio, s.hunks_ratio] {
            prop_assert!(ratio.num <= ratio.den);
        }
        prop_assert_eq!(got.lines.len() as u64, s.n);
        prop_assert_eq!(got.lines.iter().filter(|l| l.shared).count() as u64, s.u_ratio.num);
        prop_assert!(s.identical_files <= s.eligible_files);
        prop_assert!(s.hand_written_identical <= s.hand_written_files);
    }

    #[test]
    fn nothing_panics(
        gt in hostile_patch(),
        agent in hostile_patch(),
        prompt in any::<Option<String>>(),
    ) {
        let inputs = CompareInputs {
            prompt: prompt.as_deref(),
            ..CompareInputs::new(&gt, Some(&agent), &NoStarter)
        };
        let s = compare(&inputs).similarity;
        prop_assert_eq!(s.files.len(), gt.files.len());
        prop_assert!(s.u_ratio.num <= s.u_ratio.den);
    }

    #[test]
    fn identity_gives_one(gt in arbitrary_patch()) {
        let s = run(&gt, &gt);
        for value in [s.u, s.t12, s.s23, s.containment, s.jaccard] {
            prop_assert!(value.is_none_or(|v| v == 1.0));
        }
        prop_assert_eq!(s.hand_written_identical, s.hand_written_files);
        prop_assert_eq!(s.identical_files, s.eligible_files);
    }

    #[test]
    fn the_order_of_files_makes_no_difference(gt in arbitrary_patch(), agent in arbitrary_patch()) {
        let turned = |p: &Patch| patch(p.files.iter().rev().cloned().collect());
        let one = run(&gt, &agent);
        let mut two = run(&turned(&gt), &turned(&agent));
        two.files.reverse();
        prop_assert_eq!(format!("{one:?}"), format!("{two:?}"));
    }

    #[test]
    fn more_gt_lines_never_look_better(gt in arbitrary_patch(), agent in arbitrary_patch(), pick in any::<prop::sample::Index>()) {
        let lines: Vec<String> = gt.files.iter().flat_map(|f| f.added()).map(|l| l.text.to_string()).collect();
        prop_assume!(!lines.is_empty());
        let mut more = agent.clone();
        more.files.push(added("extra/new.py", &[pick.get(&lines).clone()]));
        let (before, after) = (run(&gt, &agent), run(&gt, &more));
        for (b, a) in [
            (before.u, after.u),
            (before.t12, after.t12),
            (before.s23, after.s23),
            (before.r6, after.r6),
            (before.containment, after.containment),
        ] {
            prop_assert!(a >= b);
        }
    }
}
