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

/// A task whose GT adds about so many lines of code in files of a few functions.
pub fn task(lines: usize) -> Task {
    let functions = lines.div_ceil(7);
    let per_file = if functions > 12 { 6 } else { 3 };
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
        start,
        prompt: "Extend the tide tables as described in the issue.\n".into(),
        facts: "task\tupstream\tpull_request\tbase_commit\tgt_commit\tpackage\n\
                Q7\thttps://github.com/example-org/tide\t4821\t1111aaaa2222bbbb\t3333cccc4444dddd\ttide\n"
            .into(),
        lists: std::collections::BTreeMap::new(),
    }
}
