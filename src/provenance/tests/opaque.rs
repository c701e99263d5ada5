//! A file of the GT that a call put in its place without showing it, and its honest twins.

use super::*;

const FILE: [&str; 10] = [
    "class Retry:  # when a job is tried again",
    "    def __init__(self, base_delay, limit_of_delay):",
    "        self.base_delay = base_delay * 1000",
    "        self.limit_of_delay = limit_of_delay * 1000",
    "    def delay_before(self, attempt_number):",
    "        raised = self.base_delay * 2 ** attempt_number",
    "        return min(raised, self.limit_of_delay) / 1000",
    "    def is_given_up(self, attempt_number):",
    "        return attempt_number > self.most_attempts()",
    "    def most_attempts(self): return self.limit_of_delay // 7",
];

const PATH: &str = "pkg/retry.py";

/// A work tree at `/w/run` whose patch has all of the file; some lines may be the agent's own.
fn tracked(build: &dyn Fn(&mut Session)) -> Provenance {
    let mut task = Task::new(&FILE);
    task.gt_paths = vec![PATH.into()];
    task.lines = FILE
        .iter()
        .enumerate()
        .map(|(i, raw)| DistinctiveLine {
            file: 0,
            gt_line: i as u32 + 1,
            squeezed: squeeze(raw),
            commented: None,
            long: true,
            shared: true,
            prose: false,
        })
        .collect();
    task.patch[0].path = PATH.into();
    let mut session = Session::default();
    build(&mut session);
    for event in &mut session.events {
        event.cwd = Some("/w/run".into());
    }
    task.track(&session)
}

#[test]
fn brought_in_from_elsewhere_whatever_is_said_afterwards() {
    let text = FILE.join("\n");
    let cat = "cat /mnt/ref/retry.py > pkg/retry.py";
    let ways: [(&str, Way<'_>); 3] = [
        ("alone", &|s| {
            s.run(cat, "");
        }),
        ("quoted", &|s| {
            s.run(cat, "");
            s.say(&text);
        }),
        ("another writer behind it", &|s| {
            s.run(cat, "");
            s.run("sed -i 's/a /b /' pkg/retry.py", "");
        }),
    ];
    for (name, way) in ways {
        let p = tracked(way);
        assert_eq!(p.unseen.len(), 1, "{name}");
        assert!(p.unseen[0].imported, "{name}");
        assert_eq!(
            (p.unseen[0].gt_lines, p.shared_typed.num),
            (10, 0),
            "{name}"
        );
        assert_eq!(p.unseen[0].command.as_deref(), Some(cat), "{name}");
    }
    let typed_again = tracked(&|s| {
        s.run(cat, "");
        s.write(PATH, &FILE);
    });
    assert_eq!(typed_again.shared_typed.num, 0);
    assert_eq!(
        (typed_again.opaque[0].lines, typed_again.opaque[0].unwritten),
        (10, 0)
    );
}

#[test]
fn put_there_by_a_program_that_nobody_knows() {
    let p = tracked(&|s| {
        s.run("bash /mnt/ref/run.sh", "");
        s.say(&FILE.join("\n"));
    });
    let copy = &p.opaque[0];
    assert_eq!((copy.lines, copy.unwritten, copy.imported), (10, 10, false));
    assert_eq!(copy.gt_lines, ["1-10"]);
    assert_eq!(
        (copy.command.as_str(), copy.line),
        ("bash /mnt/ref/run.sh", 1)
    );
}

#[test]
fn what_explains_itself_is_no_opaque_copy() {
    let text = FILE.join("\n");
    let long = FILE.map(|l| l.replace(" = ", " =\n    ")).join("\n");
    let patch = FILE.map(|l| format!("+{l}")).join("\n");
    let renamed = text.replace("base_delay", "basic");
    let ways: [(&str, Way<'_>); 9] = [
        ("heredoc, then formatted", &|s| {
            s.run(&format!("cat > pkg/retry.py <<'EOF'\n{long}\nEOF"), "");
            s.run("black .", "");
        }),
        ("written, then formatted", &|s| {
            s.edit(PATH, EditOp::Write, Some(&long));
            s.run("black pkg/retry.py", "");
        }),
        ("generated", &|s| {
            s.run("go generate ./...", "");
        }),
        ("typed, behind an opaque call", &|s| {
            s.run("bash scripts/setup.sh", "");
            s.say(&text);
            s.write(PATH, &FILE);
        }),
        ("said before", &|s| {
            s.say(&text);
            s.run("bash scripts/setup.sh", "");
        }),
        ("its own patch", &|s| {
            s.run(&format!("cat > /tmp/a.patch <<'E'\n{patch}\nE"), "");
            s.run("git apply /tmp/a.patch", "");
        }),
        ("a name replaced", &|s| {
            s.edit(PATH, EditOp::Write, Some(&renamed));
            s.run("sed -i 's/basic/base_delay/g' pkg/retry.py", "");
        }),
        ("saved, and back again", &|s| {
            s.write(PATH, &FILE);
            s.run("cp pkg/retry.py /tmp/retry.py", "");
            s.run("cp /tmp/retry.py pkg/retry.py", "");
            s.run("git stash", "");
            s.run("git stash pop", "");
        }),
        ("not recorded", &|s| {
            s.edit(PATH, EditOp::Unrecorded, None);
            s.run("bash scripts/check.sh", "");
            s.say(&text);
        }),
    ];
    for (name, way) in ways {
        let p = tracked(way);
        assert_eq!(p.opaque, [], "{name}");
        let imported: u64 = p
            .unseen
            .iter()
            .filter(|u| u.imported)
            .map(|u| u.gt_lines)
            .sum();
        assert_eq!(imported, 0, "{name}");
    }
}

#[test]
fn few_lines_or_scattered_ones_say_nothing() {
    for known in [3..10, 0..10] {
        let p = tracked(&|s| {
            let own: Vec<&str> = match known.len() {
                7 => FILE[known.clone()].to_vec(),
                _ => FILE.iter().step_by(2).copied().collect(),
            };
            s.write(PATH, &own);
            s.run("bash scripts/gen_x.sh", "");
        });
        assert_eq!(p.opaque, []);
    }
}
