//! Files that the agent wrote and runs later: scripts, modules, recipes.

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::calls::MAX_SCRIPT_BYTES;
use super::steps::{Step, steps_of};
use crate::rules::call::programs::{Class, class, is_shell};
use crate::rules::call::recipes::{asked, imports, module_files, run_by};
use crate::rules::call::script::looped_commands;
use crate::rules::flow::Place;
use crate::rules::rule::Access;
use crate::shell;
use crate::shell::model::Invocation;
use crate::trace::event::{Channel, EditOp, Event};

/// Longest file that is remembered because the agent may run it later, in bytes.
const MAX_SCRIPT: usize = 64 << 10;

/// Files that are remembered because the agent may run them later.
const MAX_SCRIPTS: usize = 4_096;

/// Bytes of all of them.
const MAX_KEPT: usize = 16 << 20;

/// Bytes of such files that are looked at with one command.
const MAX_NAMED: usize = 256 << 10;

/// Such files that are looked at with one command.
const MAX_FILES: usize = 32;

/// Files that the agent wrote and may run.
#[derive(Debug, Clone, Default)]
pub(super) struct Scripts {
    sources: BTreeMap<String, String>,
    /// Paths by the name without directories: the last one written stands last.
    names: BTreeMap<String, Vec<String>>,
    bytes: usize,
}

impl Scripts {
    fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    fn has(&self, path: &str) -> bool {
        self.sources.contains_key(path)
    }

    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.sources.get(path).map(String::as_str)
    }

    /// The file of that name, wherever it is.
    fn named(&self, name: &str) -> Option<&str> {
        self.names.get(name)?.last().map(String::as_str)
    }

    /// The files whose names stand in a command, or in another such file, with what is in them.
    pub(super) fn named_in(&self, command: &str, read: usize) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        if self.is_empty() || read > MAX_SCRIPT_BYTES {
            return found;
        }
        let mut seen = BTreeSet::new();
        let mut bytes = 0;
        let mut open = self.paths_in(command, &mut seen);
        while let Some(path) = open.pop() {
            let Some(text) = self.get(path) else { continue };
            bytes += text.len();
            if bytes > MAX_NAMED || found.len() >= MAX_FILES {
                break;
            }
            open.extend(self.paths_in(text, &mut seen));
            found.push((path.to_owned(), text.to_owned()));
        }
        found
    }

    /// The files that were not seen yet whose names stand in a text.
    fn paths_in<'s>(&'s self, text: &str, seen: &mut BTreeSet<&'s str>) -> Vec<&'s str> {
        let mut found = Vec::new();
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
        for word in text.split(|c: char| !part_of_name(c)) {
            for path in self.names.get(word).into_iter().flatten() {
                if seen.insert(path) {
                    found.push(path.as_str());
                }
            }
        }
        found
    }

    /// Remembers that a part of a file is replaced. What stands around it may not be known.
    fn change(&mut self, path: &str, old: &str, new: &str) {
        let known = self.get(path).filter(|_| !old.is_empty());
        match known.and_then(|known| known.split_once(old)) {
            Some((before, after)) => {
                let text = [before, new, after].concat();
                self.add(path, &text, false);
            }
            None => self.add(path, new, true),
        }
    }

    /// Forgets a file: something else was written to it.
    fn forget(&mut self, path: &str) {
        if let Some(text) = self.sources.remove(path) {
            self.bytes = self.bytes.saturating_sub(text.len());
            let name = path.rsplit('/').next().unwrap_or(path);
            if let Some(paths) = self.names.get_mut(name) {
                paths.retain(|known| known != path);
            }
        }
    }

    /// Remembers what is written to a file, or added to it.
    fn add(&mut self, path: &str, text: &str, append: bool) {
        let full = self.sources.len() >= MAX_SCRIPTS || self.bytes + text.len() > MAX_KEPT;
        if text.len() > MAX_SCRIPT || full && !self.has(path) {
            return;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let paths = self.names.entry(name.to_owned()).or_default();
        paths.retain(|known| known != path);
        paths.push(path.to_owned());
        let known = self.sources.entry(path.to_owned()).or_default();
        self.bytes = self.bytes.saturating_sub(known.len());
        if !append || known.len() + text.len() >= MAX_SCRIPT {
            known.clear();
        } else if !known.is_empty() && !known.ends_with('\n') {
            known.push('\n');
        }
        known.push_str(text);
        self.bytes += known.len();
    }
}

impl Engine<'_> {
    /// Notes which of the files a command line was read with.
    pub(super) fn run_by_shell(&mut self, paths: &[String]) {
        self.read_with.clear();
        for path in paths {
            let length = self.scripts.get(path).map_or(0, str::len);
            self.script_bytes = self.script_bytes.saturating_add(length);
        }
        self.read_with.extend(paths.iter().cloned());
    }

    /// The steps of the files that the agent wrote before and runs now.
    pub(super) fn scripts_of(&mut self, step: &Step, cwd: Option<&str>) -> Vec<Step> {
        let mut more = Vec::new();
        if step.invocation.is_none() {
            for command in looped_commands(&step.text) {
                more.extend(steps_of(&shell::parse(&command), cwd));
            }
        }
        if self.scripts.is_empty() {
            return more;
        }
        let place = step.place(cwd);
        if let Some(invocation) = &step.invocation {
            self.recipes(invocation, &place, cwd, &mut more);
        }
        let tests = step.invocation.as_ref().is_some_and(runs_tests);
        let mut open = self.files_run(step, &place);
        open.extend(self.modules_in(&step.text, &place));
        while let Some(path) = open.pop() {
            // Running it again in the same command shows nothing more.
            if !self.ran.insert(path.clone()) {
                continue;
            }
            let Some(source) = self.scripts.get(&path) else {
                continue;
            };
            if self.read_with.contains(&path) {
                open.extend(self.modules_in(source, &place));
                continue;
            }
            self.script_bytes = self.script_bytes.saturating_add(source.len());
            if self.script_bytes > MAX_SCRIPT_BYTES {
                continue;
            }
            let shell = step
                .invocation
                .as_ref()
                .is_some_and(|i| is_shell(&i.program) || i.program == path);
            if shell || path.ends_with(".sh") || is_for_a_shell(source) {
                more.extend(steps_of(&shell::parse(source), cwd));
            } else if !(tests && fakes_the_network(source)) {
                let mut script = Step::script(source, cwd);
                // What a test fetches is most often not shown, but what it is compared with.
                script.state.beside = tests;
                more.push(script);
                open.extend(self.modules_in(source, &place));
            }
        }
        more.into_iter()
            .map(|script| script.printing_to(step))
            .collect()
    }

    /// The files of the agent's that a step runs.
    fn files_run(&self, step: &Step, place: &Place) -> Vec<String> {
        let files = step.io.files.iter().filter(|f| f.access == Access::Run);
        let mut run: Vec<String> = files.map(|file| place.resolve(&file.path)).collect();
        let Some(invocation) = &step.invocation else {
            return run;
        };
        let words = || invocation.args.iter().map(|word| word.text.as_str());
        match class(&invocation.program) {
            // `./tools/get.sh`: only the name is left of the program.
            Class::Other => run.extend(self.scripts.named(&invocation.program).map(str::to_owned)),
            Class::Runs => {
                let module = words().skip_while(|word| *word != "-m").nth(1);
                let files = module.into_iter().flat_map(module_files);
                run.extend(files.map(|file| place.resolve(&file)));
                // `pytest -q a.py b.py`, `python -m pytest a.py::test_x`
                let tests = words().map(|word| word.split("::").next().unwrap_or(word));
                let tests = tests.filter(|word| word.ends_with(".py") || word.ends_with(".rb"));
                run.extend(tests.map(|file| place.resolve(file)));
            }
            _ => {}
        }
        run.retain(|path| self.scripts.has(path));
        run
    }

    /// The modules of the agent's that a text in Python imports.
    fn modules_in(&self, source: &str, place: &Place) -> Vec<String> {
        let files = imports(source);
        let files = files.iter().flat_map(|module| module_files(module));
        files
            .map(|file| place.resolve(&file))
            .filter(|path| self.scripts.has(path))
            .collect()
    }

    /// The recipes of the agent's that a call of `make`, `just`, `npm` runs.
    fn recipes(
        &mut self,
        invocation: &Invocation,
        place: &Place,
        cwd: Option<&str>,
        more: &mut Vec<Step>,
    ) {
        let words: Vec<&str> = invocation.args.iter().map(|w| w.text.as_str()).collect();
        let Some((files, names)) = asked(&invocation.program, &words) else {
            return;
        };
        let mut paths = files.iter().map(|file| place.resolve(file));
        let Some(path) = paths.find(|path| self.scripts.has(path)) else {
            return;
        };
        // Each set of recipes once for a command.
        if !self.ran.insert(format!("{path} {}", names.join(" "))) {
            return;
        }
        let source = self.scripts.get(&path).unwrap_or_default();
        self.script_bytes = self.script_bytes.saturating_add(source.len());
        if self.script_bytes <= MAX_SCRIPT_BYTES {
            let text = run_by(&invocation.program, source, &names);
            more.extend(steps_of(&shell::parse(&text), cwd));
        }
    }

    /// Remembers what a step writes to a file, for when it is run.
    pub(super) fn remember_script(&mut self, step: &Step) {
        let (Some(invocation), [path]) = (&step.invocation, step.saves.as_slice()) else {
            return;
        };
        let spoken = || {
            let known = class(&invocation.program) == Class::Speaks
                && invocation.args.iter().all(|word| !word.dynamic);
            known.then(|| spoken(invocation))
        };
        let appends = invocation.redirects.iter().any(|r| r.operator == ">>")
            || step.io.speaks && invocation.args.iter().any(|word| word.text == "-a");
        if let Some(text) = invocation.heredoc.clone().or_else(spoken) {
            self.scripts.add(path, &text, appends);
        } else if invocation.redirects.iter().any(|r| r.operator == ">") {
            self.scripts.forget(path);
        }
    }

    /// Remembers what edits write.
    pub(super) fn remember_edits(&mut self, event: &Event) {
        if event.channel != Channel::Edit {
            return;
        }
        let cwd = self.cwd(event);
        let place = Place {
            moved: None,
            cwd: cwd.as_deref(),
        };
        for edit in &event.edits {
            let Some(new) = &edit.new else { continue };
            match edit.op {
                EditOp::Write => self.scripts.add(&place.resolve(&edit.path), new, false),
                EditOp::Replace => {
                    let old = edit.old.as_deref().unwrap_or_default();
                    self.scripts.change(&place.resolve(&edit.path), old, new);
                }
                EditOp::Delete | EditOp::Unrecorded => {}
            }
        }
    }
}

/// What `echo` and `printf` print, roughly: enough to see what it would run.
pub(super) fn spoken(invocation: &Invocation) -> String {
    let words: Vec<&str> = invocation
        .args
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| !matches!(*word, "-e" | "-n" | "-ne" | "-en" | "--"))
        .collect();
    let text = match (invocation.program.as_str(), words.split_first()) {
        ("printf", Some((format, []))) => (*format).to_owned(),
        // `printf '%s\n' line line`
        ("printf", Some((_, rest))) => rest.join("\n"),
        _ => words.join(" "),
    };
    text.replace("\\n", "\n").replace("\\t", "\t")
}

/// True for programs that run tests.
fn runs_tests(invocation: &Invocation) -> bool {
    let runner = |name: &str| {
        matches!(
            name,
            "pytest"
                | "py.test"
                | "unittest"
                | "nose2"
                | "tox"
                | "nox"
                | "jest"
                | "mocha"
                | "vitest"
                | "rspec"
        )
    };
    let module = || {
        let mut words = invocation.args.iter().map(|word| word.text.as_str());
        words.find(|word| *word == "-m").and_then(|_| words.next())
    };
    runner(&invocation.program) || module().is_some_and(runner)
}

/// True for a text that puts something else in the place of the network.
fn fakes_the_network(source: &str) -> bool {
    let fakes = [
        "mock",
        "Mock",
        "monkeypatch",
        "httpretty",
        "respx",
        "nock(",
        "sinon",
        "jest.fn",
        "vi.fn",
        "vcr",
        "responses.add",
        "responses.activate",
        "webmock",
        "WebMock",
        "stub_request",
        "Fake",
    ];
    fakes.iter().any(|name| source.contains(name))
}

/// True for a script that names a shell in its first line.
fn is_for_a_shell(source: &str) -> bool {
    let first = source.lines().next().unwrap_or_default();
    first.starts_with("#!") && first.rsplit(['/', ' ']).next().is_some_and(is_shell)
}
