use super::*;
use proptest::prelude::*;

fn tsv(text: &str) -> Result<FactsTable> {
    FactsTable::from_tsv(Path::new("f.tsv"), text)
}

fn toml(text: &str) -> Result<FactsTable> {
    FactsTable::from_toml(Path::new("f.toml"), text)
}

#[test]
fn a_table_with_all_its_oddities() {
    let text = "\u{feff}Task\tpull_request\tgt_commit\tstars\tgt_subject\tforbidden\r\n\
                # a comment\r\n\r\n\
                T1\t#12\tABCDEF0\t5\t\"say \"\"hi\"\"\"\tparent\r\n\
                t1\thttps://example.org/o/r/pull/7/\r\n\
                T2\t\t\t\t\t\t\t\r\n";
    let table = tsv(text).unwrap();
    assert_eq!(table.tasks().collect::<Vec<_>>(), ["T1", "T2", "t1"]);
    let facts = table.get("T1").unwrap();
    assert_eq!(facts.task.as_deref(), Some("T1"));
    assert_eq!(facts.pull_request.as_deref(), Some("12"));
    assert_eq!(facts.gt_commit.as_deref(), Some("abcdef0"));
    assert_eq!(facts.gt_subject.as_deref(), Some("say \"hi\""));
    assert_eq!(facts.forbidden, Forbidden::Parent);
    assert_eq!(table.get("t1").unwrap().pull_request.as_deref(), Some("7"));
    assert_eq!(table.get("T2").unwrap().pull_request, None);
    assert_eq!(table.get("T3"), None);
    assert!(table.notes.is_empty(), "{:?}", table.notes);
}

#[test]
fn mistakes_in_a_table_have_their_line() {
    for (text, want) in [
        ("", "f.tsv:1: the file is empty"),
        ("\n\n", "f.tsv:1: the file is empty"),
        ("id\tpull_request\nT1\t2", "f.tsv:1: no column `task`"),
        (
            "task,pull_request\nT1,2",
            "f.tsv:1: the columns are separated by commas",
        ),
        (
            "task\tissue\tissue\n",
            "f.tsv:1: column `issue` stands twice",
        ),
        (
            "task\nT1\n\nT1\n",
            "f.tsv:4: task `T1` stands twice, first in line 2",
        ),
        (
            "task\tforbidden\nT1\tpast\n",
            "f.tsv:2: `forbidden` is `past`",
        ),
        (
            "task\tpull_request\nT1\tsoon\n",
            "f.tsv:2: `pull_request` is `soon`",
        ),
        (
            "task\tpull_request\nT1\t#\n",
            "f.tsv:2: `pull_request` is `#`",
        ),
        (
            "task\tgt_commit\nT1\tmain\n",
            "f.tsv:2: `gt_commit` is `main`",
        ),
        ("task\tgt_commit\nT1\t.*\n", "f.tsv:2: `gt_commit` is `.*`"),
        (
            "task\tissue\nT1\t2\t3\n",
            "f.tsv:2: 3 fields, and the header has 2",
        ),
        ("task\tissue\n\t2\n", "f.tsv:2: `` is no task id"),
        ("task\n../x\n", "f.tsv:2: `../x` is no task id"),
    ] {
        let error = tsv(text).unwrap_err();
        assert_eq!(error.exit_code(), 65);
        assert!(error.to_string().starts_with(want), "{text:?}: {error}");
    }
    let error = tsv("task\tforbidden\nT1\tpast\n").unwrap_err().to_string();
    assert!(
        error.contains("`future`") && error.contains("`parent`"),
        "{error}"
    );
}

#[test]
fn misspelled_columns_are_reported_and_other_unknown_ones_are_not() {
    let table = tsv("task\tpull_reqest\tstars\nT1\t2\t3\n").unwrap();
    assert_eq!(table.notes.len(), 1);
    assert!(
        table.notes[0].contains("did you mean `pull_request`"),
        "{:?}",
        table.notes
    );
    let table =
        toml("[task.T1]\npull_reqest = 2\nstars = 3\n[task.T2]\npull_reqest = 2\n").unwrap();
    assert_eq!(table.notes.len(), 1, "{:?}", table.notes);
}

#[test]
fn toml_with_numbers_dates_and_lists() {
    let table = toml(
        "title = 'x'\n[task.T34]\npull_request = \"135231\"\nissue = 42\nmerged = 2025-11-13\n\
         gt_authors = [\"A B\", \"C D\"]\n[task.T1]\npull_request = 308\nforbidden = 'parent'\n",
    )
    .unwrap();
    let facts = table.get("T34").unwrap();
    assert_eq!(facts.pull_request.as_deref(), Some("135231"));
    assert_eq!(facts.issue.as_deref(), Some("42"));
    assert_eq!(facts.merged.as_deref(), Some("2025-11-13"));
    assert_eq!(facts.gt_authors.as_deref(), Some("A B;C D"));
    assert_eq!(table.get("T1").unwrap().forbidden, Forbidden::Parent);
    let same = toml("[facts.T1]\npull_request = 308\nforbidden = 'parent'\n").unwrap();
    assert_eq!(same.get("T1"), table.get("T1"));
}

#[test]
fn mistakes_in_toml_have_their_place() {
    for (text, want) in [
        ("", "f.toml: no task facts"),
        ("task = 1", "f.toml:1: column 8: `task` must be a table"),
        ("[task]\nT1 = 1", "f.toml:2: column 6: the facts of `T1`"),
        ("[task.\"a/b\"]", "f.toml:1: column 7: `a/b` is no task id"),
        (
            "[task.T1]\nforbidden = 'x'",
            "f.toml:2: column 13: `forbidden` is `x`",
        ),
        (
            "[task.T1]\npull_request = {a=1}",
            "f.toml:2: column 16: `pull_request` must be",
        ),
        (
            "[task.T1]\npull_request = 1.5",
            "f.toml:2: column 16: `pull_request` is `1.5`",
        ),
        ("[task.T1]\n[task.T1]", "f.toml:2: column "),
        ("[task.T1]\n[facts.T1]", "f.toml:1: column "),
        ("[task", "f.toml:1: column "),
    ] {
        let error = toml(text).unwrap_err();
        assert_eq!(error.exit_code(), 65);
        assert!(error.to_string().starts_with(want), "{text:?}: {error}");
    }
}

#[test]
fn the_form_follows_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        FactsTable::read(&path)
    };
    assert!(
        write("a.tsv", "task\tissue\nT1\t2\n")
            .unwrap()
            .get("T1")
            .is_some()
    );
    assert!(
        write("a.txt", "task\tissue\nT1\t2\n")
            .unwrap()
            .get("T1")
            .is_some()
    );
    assert!(
        write("a.TOML", "[task.T1]\nissue = 2")
            .unwrap()
            .get("T1")
            .is_some()
    );
    let utf16: Vec<u8> = "task\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = dir.path().join("w.tsv");
    std::fs::write(&path, [&b"\xff\xfe"[..], &utf16].concat()).unwrap();
    let error = FactsTable::read(&path).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
    let error = FactsTable::read(&dir.path().join("none")).unwrap_err();
    assert_eq!(error.exit_code(), 66);
}

#[test]
fn the_real_table() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/longhorizon/task_facts.tsv"
    );
    if !Path::new(path).exists() {
        println!("skipped: {path} is not here");
        return;
    }
    let table = FactsTable::read(Path::new(path)).unwrap();
    assert_eq!(table.tasks().count(), 62);
    assert!(table.notes.is_empty(), "{:?}", table.notes);
    let facts = table.get("T34").unwrap();
    assert_eq!(facts.pull_request.as_deref(), Some("135231"));
    assert!(facts.merged.as_deref().unwrap().starts_with("2025-11-13"));
    assert_eq!(
        table.get("C1").unwrap().pull_request.as_deref(),
        Some("308")
    );
    assert_eq!(table.get("M1").unwrap().pull_request, None);
}

proptest! {
    #[test]
    fn no_text_panics(text in "(task\t)?\\PC{0,40}(\n|\t|\"|T1|#|\\PC){0,40}") {
        let _ = tsv(&text);
        let _ = toml(&text);
    }
}
