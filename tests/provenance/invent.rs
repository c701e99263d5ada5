//! Invented tasks of any size: a ground truth whose lines nobody else writes.

use std::path::PathBuf;

use crate::world::{Task, Tree};

const VERBS: [&str; 8] = [
    "gauge", "settle", "braid", "anchor", "ferry", "thresh", "kindle", "weave",
];
const NOUNS: [&str; 9] = [
    "harbour", "lantern", "orchard", "quarry", "meadow", "sluice", "beacon", "granary", "causeway",
];
const TRAITS: [&str; 7] = [
    "depth", "span", "yield_of", "drift", "burden", "draught", "slack",
];

fn pick(words: &[&'static str], number: usize) -> &'static str {
    words[number % words.len()]
}

/// One function of eight lines, one of them a comment.
fn function(k: usize) -> Vec<String> {
    let (verb, noun, other) = (
        pick(&VERBS, k),
        pick(&NOUNS, k * 5 + 1),
        pick(&NOUNS, k * 7 + 3),
    );
    let (one, two, three) = (
        pick(&TRAITS, k),
        pick(&TRAITS, k * 3 + 2),
        pick(&TRAITS, k * 5 + 4),
    );
    vec![
        format!("def {verb}_{noun}_{k}({noun}s, {other}_book):"),
        format!("    # The {noun} of season {k} keeps its {one}."),
        format!("    {one}_{k} = {noun}s.{two}(len({other}_book) + {k})"),
        format!("    if {one}_{k} > {other}_book.limit_{k}:"),
        format!("        raise OverflowError(\"{noun} {k} is over its {three}\")"),
        format!("    for {other}_{k} in sorted({noun}s.{three}_{k}):"),
        format!("        {one}_{k} += {other}_{k}.{two} * {}", k + 3),
        format!("    return {one}_{k} - {other}_book.{three}"),
    ]
}

/// The same with a file of tests, as pull requests have it.
pub fn with_tests(lines: usize) -> Task {
    let mut task = task(lines);
    let functions = lines.div_ceil(7).max(3);
    let body: Vec<String> = (0..functions)
        .flat_map(|k| {
            let (verb, noun) = (pick(&VERBS, k), pick(&NOUNS, k * 5 + 1));
            let (other, one) = (pick(&NOUNS, k * 7 + 3), pick(&TRAITS, k));
            vec![
                format!("def test_{verb}_{noun}_{k}_keeps_its_{one}():"),
                format!(
                    "    {noun}s, {other}_book = make_{noun}s({k}), Book(limit_{k}={})",
                    k + 11
                ),
                format!(
                    "    assert {verb}_{noun}_{k}({noun}s, {other}_book) == {}",
                    k * 31 + 7
                ),
            ]
        })
        .collect();
    let mut gt = String::from_utf8(task.gt_text).unwrap();
    gt.push_str(&format!(
        "diff --git a/tests/test_tide.py b/tests/test_tide.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_tide.py\n@@ -0,0 +1,{} @@\n",
        body.len()
    ));
    body.iter()
        .for_each(|line| gt.push_str(&format!("+{line}\n")));
    task.gt = trace_audit::patch::parse(gt.as_bytes());
    task.gt_text = gt.into_bytes();
    task
}

/// A task whose GT adds about so many lines of code in files of a few functions.
pub fn task(lines: usize) -> Task {
    let functions = lines.div_ceil(7);
    in_files(functions, if functions > 12 { 6 } else { 3 })
}

/// A task of so many functions of seven lines, so many of them in a file.
pub fn in_files(functions: usize, per_file: usize) -> Task {
    let mut gt = String::new();
    for (file, first) in (0..functions).step_by(per_file).enumerate() {
        let all: Vec<String> = (first..functions.min(first + per_file))
            .flat_map(function)
            .collect();
        let path = format!("tide/{}_{file}.py", pick(&NOUNS, file));
        gt.push_str(&format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n",
            all.len()
        ));
        all.iter().for_each(|l| gt.push_str(&format!("+{l}\n")));
    }
    let start: Tree = [
        (
            PathBuf::from("README.md"),
            b"# Tide\n\nReads tide tables.\n".to_vec(),
        ),
        (
            PathBuf::from("tide/__init__.py"),
            b"\"\"\"Tide tables.\"\"\"\n\nVERSION = '4.1'\n".to_vec(),
        ),
    ]
    .into();
    Task {
        id: "Q7".into(),
        gt: trace_audit::patch::parse(gt.as_bytes()),
        gt_text: gt.into_bytes(),
        wrong_gt: None,
        start,
        prompt: "Extend the tide tables as described in the issue.\n".into(),
        facts: "task\tupstream\tpull_request\tbase_commit\tgt_commit\tpackage\n\
                Q7\thttps://github.com/example-org/tide\t4821\t1111aaaa2222bbbb\t3333cccc4444dddd\ttide\n"
            .into(),
        lists: std::collections::BTreeMap::new(),
    }
}

/// A task whose GT is one new file of these lines.
pub fn of_lines(lines: &[String]) -> Task {
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    with_gt(&format!(
        "diff --git a/tide/weir.py b/tide/weir.py\nnew file mode 100644\n--- /dev/null\n+++ b/tide/weir.py\n@@ -0,0 +1,{} @@\n{body}",
        lines.len()
    ))
}

/// The invented task with another GT.
pub fn with_gt(gt: &str) -> Task {
    Task {
        gt: trace_audit::patch::parse(gt.as_bytes()),
        gt_text: gt.into(),
        ..task(1)
    }
}

/// Lines of which hardly two are built alike.
pub fn of_many_shapes(lines: usize) -> Task {
    let mut seed = 7u32;
    let mut next = |of: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % of
    };
    let line = |n: usize| {
        let mut out = format!("    {}_{n} =", pick(&TRAITS, n));
        for part in 0..4 + next(3) {
            let (noun, what) = (pick(&NOUNS, n + part), pick(&TRAITS, n * 3 + part));
            let sign = [" +", " -", " *", " //", " %", " and", " or", " <"][next(8)];
            let sign = if part == 0 { "" } else { sign };
            out += sign;
            out += &match next(6) {
                0 => format!(" {noun}.{what}"),
                1 => format!(" {noun}[{n}]"),
                2 => format!(" {what}({noun}, {n})"),
                3 => format!(" [{noun}, {what}]"),
                4 => format!(" not {noun}"),
                _ => format!(" {{{noun}: {what}}}"),
            };
        }
        out
    };
    of_lines(&(0..lines).map(line).collect::<Vec<_>>())
}
