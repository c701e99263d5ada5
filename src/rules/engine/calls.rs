//! Calls: what their steps do, and what they leave behind.

use super::Engine;
use super::cautious;
use super::matching::Subject;
use super::steps::Step;
use super::windows::Windows;
use crate::rules::call::programs::is_shell;
use crate::rules::finding::Kind;
use crate::rules::flow::Saved;
use crate::rules::rule::{Access, Side};
use crate::rules::text::fold::plain;
use crate::shell;
use crate::shell::model::{Invocation, Join, Origin, Surroundings};
use crate::trace::event::{Channel, Event};

/// Bytes of files that the agent wrote and runs that are read in one run, each time that they are run.
pub(super) const MAX_SCRIPT_BYTES: usize = 64 << 20;

/// Programs that are looked at one by one in one run: twenty times more than the longest real runs start.
pub(super) const MAX_STEPS: usize = 1 << 20;

/// Files that are remembered because the agent wrote them.
const MAX_OWN_FILES: usize = 16_384;

/// The tool that is known to start a shell for each command, which keeps no functions for the next one.
const FRESH_SHELL: &str = "Bash";

impl Engine<'_> {
    /// A shell command.
    pub(super) fn command(&mut self, event: &Event) {
        let text = plain(&event.text).into_owned();
        self.mark(&text);
        self.mentions(event, &text);
        let cwd = self.cwd(event);
        let surroundings = Surroundings {
            files: self.scripts.named_in(&event.text, self.script_bytes),
            directory: cwd.clone(),
            variables: self.sessions.variables(event),
        };
        let fresh = event.tool.as_deref() == Some(FRESH_SHELL);
        let line = shell::parse_in(&event.text, &surroundings, fresh);
        drop(surroundings);
        self.sessions.learn(event, &line.variables);
        self.listed.clear();
        self.ran.clear();
        self.run_by_shell(&line.ran);
        self.looked_at.clear();
        self.spoken.clear();
        let cwd = cwd.as_deref();
        let mut windows = Windows::new(&line);
        while let Some(steps) = windows.next(cwd) {
            for mut step in steps {
                self.addresses_written(event, &mut step, cwd);
                self.listen_to(&step);
                self.learn_alias(&step);
                let mut scripts = self.scripts_of(&step, cwd);
                scripts.extend(self.aliased(&step, cwd));
                self.step_once(event, step);
                scripts
                    .into_iter()
                    .for_each(|step| self.step_once(event, step));
            }
        }
        let unread = self.script_bytes > MAX_SCRIPT_BYTES && !self.ran.is_empty();
        self.long_commands += usize::from(windows.cut);
        let doubtful = line.incomplete || windows.cut;
        let unknown = line.invocations.iter().any(runs_the_unknown);
        let rest_unread = line.unread;
        // Both readings of a long command are not held at once.
        drop(line);
        if doubtful {
            cautious::each_step(&text, cwd, rest_unread, |step| self.step_once(event, step));
        }
        let unread = unread || self.steps > MAX_STEPS;
        if let Some(call) = self
            .calls
            .get_mut(&event.id)
            .filter(|c| !c.waiting.is_empty())
        {
            call.spoken = std::mem::take(&mut self.spoken);
        }
        let unclear = doubtful || unread;
        self.unclear_commands += u64::from(unclear);
        if unclear || unknown {
            self.calls.entry(event.id).or_default().unclear = true;
        }
    }

    /// One step of a command that may have many: what was looked at in it before is not looked at again,
    /// and in the whole run no more than [`MAX_STEPS`] are.
    fn step_once(&mut self, event: &Event, step: Step) {
        if step.proves_nothing_twice() && !self.looked_at.insert(step.text.clone()) {
            return;
        }
        self.steps = self.steps.saturating_add(1);
        // The whole text of a command is looked at in any case.
        if self.steps <= MAX_STEPS || step.invocation.is_none() {
            let before = self.findings.len();
            self.step(event, step);
            if self.findings.len() > before {
                // A rule may ask for what was found just now.
                self.looked_at.clear();
            }
        }
    }

    /// One step of a call.
    pub(super) fn step(&mut self, event: &Event, mut step: Step) {
        self.past.tick_step();
        let cwd = self.cwd(event);
        let cwd = cwd.as_deref();
        self.tidy_files(&mut step, cwd);
        self.own_images.tidy(&mut step);
        step.flow = self.stash.uses(&step.io, &step.place(cwd));
        self.place_git(event, &mut step, cwd);
        let files = step.io.files.iter().map(|file| file.path.as_str());
        let addresses = step.io.fetches.iter().map(String::as_str);
        self.mark_all(
            std::iter::once(step.text.as_str())
                .chain(files)
                .chain(addresses),
        );
        let before = self.findings.len();
        let subject = Subject {
            text: &step.text,
            step: Some(&step),
        };
        self.try_rules(event, subject, |rule| rule.kind == Kind::Action);
        if let Some(message) = &step.message {
            self.mark(message);
            let subject = Subject {
                text: message,
                step: None,
            };
            self.try_rules(event, subject, |rule| rule.kind == Kind::Admission);
        }
        self.remember(event, &step, before);
    }

    /// The working directory of an event, or else that of the run.
    pub(super) fn cwd(&self, event: &Event) -> Option<String> {
        event.cwd.clone().or_else(|| self.root.clone())
    }

    /// Reading back what the agent wrote itself is no reading of anything. Files of the work tree
    /// are called by their path in it, so that patterns over absolute paths mean files outside.
    fn tidy_files(&self, step: &mut Step, cwd: Option<&str>) {
        let root = self
            .root
            .as_deref()
            .map(|root| format!("{}/", root.trim_end_matches('/')));
        let mut files = std::mem::take(&mut step.io.files);
        if let Some(root) = &root {
            // `../run/a.py` of the run itself.
            for file in files.iter_mut().filter(|file| file.path.starts_with("..")) {
                let path = step.place(cwd).resolve(&file.path);
                if root.len() > 1 && path.starts_with(root.as_str()) {
                    file.path = path;
                }
            }
        }
        if step
            .moved
            .as_deref()
            .is_some_and(|to| self.is_elsewhere(to))
        {
            // `cd /harness && cat grade.py`
            for file in &mut files {
                file.path = step.place(cwd).resolve(&file.path);
            }
        }
        files.retain(|file| {
            let path = step.place(cwd).resolve(&file.path);
            file.access != Access::Read
                || !self.own_files.contains(&path)
                || self.stash.find(&path).is_some()
        });
        if let Some(root) = root.filter(|root| root.len() > 1) {
            for file in &mut files {
                if let Some(inside) = file.path.strip_prefix(&root) {
                    file.path = inside.to_owned();
                } else if let Some(beside) = self.beside_root(&file.path) {
                    file.path = beside;
                }
            }
        }
        step.io.files = files;
    }

    /// True for a directory that is not the work tree, nor one in it: it does not lie in the run's first working directory
    /// or, if the trace names none, it is one at the top that no image has its work tree in.
    fn is_elsewhere(&self, directory: &str) -> bool {
        const TREES: [&str; 16] = [
            "app",
            "build",
            "code",
            "home",
            "project",
            "projects",
            "repo",
            "repos",
            "root",
            "src",
            "source",
            "testbed",
            "tmp",
            "work",
            "workspace",
            "workspaces",
        ];
        let Some(path) = directory.strip_prefix('/') else {
            return false;
        };
        match self.root.as_deref().map(|root| root.trim_matches('/')) {
            Some(root) if !root.is_empty() => {
                let inside = path.strip_prefix(root);
                !inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            _ => {
                let name = path.trim_end_matches('/');
                !name.is_empty() && !name.contains('/') && !TREES.contains(&name)
            }
        }
    }

    /// `/srv/experiment/other-run/a.py` as `../other-run/a.py`, where the run stands beside it: in the directory
    /// above the work tree or the one above that.
    fn beside_root(&self, path: &str) -> Option<String> {
        let root = self.root.as_deref()?.trim_end_matches('/');
        let (runs, _) = root.rsplit_once('/')?;
        let (above, _) = runs.rsplit_once('/')?;
        let mut places = [(runs, "../"), (above, "../../")].into_iter();
        places.find_map(|(directory, up)| {
            let rest = path.strip_prefix(directory)?.strip_prefix('/')?;
            (!directory.is_empty()).then(|| format!("{up}{rest}"))
        })
    }

    /// Remembers what the step saved and wrote.
    fn remember(&mut self, event: &Event, step: &Step, before: usize) {
        let cwd = self.cwd(event);
        let place = step.place(cwd.as_deref());
        let spread = self.stash.spread(&step.io, &place);
        let bringing =
            self.findings.iter().skip(before).find(|f| {
                f.waived.is_none() && self.rules.rule(&f.rule).is_some_and(|r| r.carries)
            });
        if let Some(finding) = bringing {
            let saved = Saved {
                rule: finding.rule.clone(),
                cause: finding.cause,
                event: event.id,
            };
            for path in &step.saves {
                self.stash.add(path, saved.clone());
            }
        } else if step.io.fetches.is_empty() {
            if !spread && writes_anew(event, step) {
                for path in &step.saves {
                    self.stash.overwritten(path, event.id);
                }
            }
            for file in step.io.files.iter().filter(|f| f.access == Access::Write) {
                if self.own_files.len() < MAX_OWN_FILES {
                    self.own_files.insert(place.resolve(&file.path));
                }
            }
        }
        self.remember_script(step);
    }

    /// A web call, a call of another tool, an edit.
    pub(super) fn call(&mut self, event: &Event) {
        let text = plain(&event.text).into_owned();
        self.mark(&text);
        self.mentions(event, &text);
        if event.channel == Channel::Edit {
            self.history.set_edited();
            let subject = Subject {
                text: &text,
                step: None,
            };
            self.try_rules(event, subject, |rule| rule.kind == Kind::Admission);
            self.remember_edits(event);
        }
        self.step(event, Step::of_call(event, &text));
        if event.channel == Channel::Edit {
            self.replaced(event);
        }
    }

    /// What an edit replaces, for the rules that look at that side.
    fn replaced(&mut self, event: &Event) {
        let looked_at = |active: &super::Active| active.rule.filter.side.has(Side::Removed);
        if !self.active.iter().any(looked_at) {
            return;
        }
        self.side = Side::Removed;
        for old in event.edits.iter().filter_map(|edit| edit.old.as_deref()) {
            let text = plain(old);
            self.mark(&text);
            let subject = Subject {
                text: &text,
                step: None,
            };
            self.try_rules(event, subject, |rule| rule.kind != Kind::Mark);
        }
        self.side = Side::Added;
    }
}

/// True if the step certainly writes over the files that it saves to, with something that it does not read
/// from others: an edit, or the only command line without branches that there is.
fn writes_anew(event: &Event, step: &Step) -> bool {
    /// Longer texts are asked once for each part: they have branches, most likely.
    const LONGEST: usize = 4096;
    if event.text.len() > LONGEST {
        return false;
    }
    let branches = ["||", "&&", "if", "while", "until", "case", "for"];
    let words = || {
        event
            .text
            .split(|c: char| !c.is_alphanumeric() && !"|&".contains(c))
    };
    step.flow.is_empty()
        && matches!(step.join(), Some(Join::First | Join::Then))
        && step.invocation.as_ref().is_some_and(|i| {
            i.redirects.iter().any(|r| r.operator == ">") && i.origin == Origin::Direct
        })
        && !words().any(|word| branches.contains(&word))
}

/// True for what nobody can read: a shell or `eval` with a text that flows in or that expansions make, or a
/// program that is itself the value of an unknown variable.
fn runs_the_unknown(invocation: &Invocation) -> bool {
    let runs = is_shell(&invocation.program) || invocation.program == "eval";
    let unknown = invocation.join == Join::Pipe || invocation.args.iter().any(|word| word.dynamic);
    runs && unknown || invocation.program.starts_with('$')
}
