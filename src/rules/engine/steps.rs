//! A call as a list of steps: each program that a command starts, each script that it runs.

use super::windows::Windows;
use crate::rules::call::programs::{Class, class};
use crate::rules::call::{Io, script, tool};
use crate::rules::flow::{Place, Use};
use crate::rules::git::call::GitCall;
use crate::rules::outcome::{CallState, Sink};
use crate::rules::rule::Access;
use crate::rules::text::fold::plain;
use crate::shell::model::{CommandLine, Invocation, Join, Origin};
use crate::trace::event::Event;

/// One thing that a call does.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// What text patterns see.
    pub text: String,
    /// The program, if it is one.
    pub invocation: Option<Invocation>,
    /// What it does with files and addresses.
    pub io: Io,
    /// The git command, if it is one.
    pub git: Option<GitCall>,
    /// Words in it are data: they are printed, searched, recorded.
    pub data: bool,
    /// The message of a commit, of a pull request, of a comment.
    pub message: Option<String>,
    /// Where its output goes.
    pub state: CallState,
    /// Everything that its output is saved to.
    pub saves: Vec<String>,
    /// Directory that a `cd` before it moved to.
    pub moved: Option<String>,
    /// How it uses what was saved before; filled in by the engine.
    pub flow: Vec<Use>,
    /// The command could not be taken apart: this is its whole text.
    pub cautious: bool,
}

impl Step {
    /// Where it runs.
    pub(super) fn place<'p>(&'p self, cwd: Option<&'p str>) -> Place<'p> {
        Place {
            moved: self.moved.as_deref(),
            cwd,
        }
    }

    /// How it is joined to the step before it.
    pub(super) fn join(&self) -> Option<Join> {
        self.invocation.as_ref().map(|i| i.join)
    }

    /// True if the same text a second time in one command shows nothing more: it uses no files and no
    /// addresses, no history, and nothing reads its output.
    pub(super) fn proves_nothing_twice(&self) -> bool {
        self.invocation
            .as_ref()
            .is_some_and(|i| i.join != Join::Pipe)
            && self.git.is_none()
            && self.io.files.is_empty()
            && self.io.fetches.is_empty()
            && self.saves.is_empty()
            && self.state.sink == Sink::Shown
            && self.cautious == self.state.unclear
    }

    /// A script in another language.
    pub(super) fn script(source: &str, cwd: Option<&str>) -> Self {
        let source = &*crate::shell::inert::live(source);
        let source = &*script::without_docstrings(source);
        let io = script::io_of(source);
        let place = Place { moved: None, cwd };
        let state = CallState {
            keeps: !io.fetches.is_empty() && !io.saves.is_empty() && script::writes(source),
            ..CallState::default()
        };
        Self {
            state,
            text: plain(source).into_owned(),
            saves: io.saves.iter().map(|path| place.resolve(path)).collect(),
            io,
            ..Self::default()
        }
    }

    /// The same, where what runs it prints into files.
    pub(super) fn printing_to(mut self, runner: &Step) -> Self {
        let kept = matches!(
            runner.state.sink,
            Sink::Aside | Sink::IntoTree | Sink::Applied
        );
        if kept && self.state.sink == Sink::Shown && !self.state.beside {
            self.state.sink = runner.state.sink;
            self.saves.extend(runner.saves.iter().cloned());
        }
        self
    }

    /// A call other than a shell command.
    pub(super) fn of_call(event: &Event, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            io: tool::io_of(event),
            ..Self::default()
        }
    }
}

/// All steps of a short command line.
pub(super) fn steps_of(line: &CommandLine, cwd: Option<&str>) -> Vec<Step> {
    let mut windows = Windows::new(line);
    let mut steps = Vec::new();
    while let Some(more) = windows.next(cwd) {
        steps.extend(more);
    }
    steps
}

/// `find -name x -exec cat {} \;`, `ls x | xargs cat`: what is listed is read.
pub(super) fn pass_names_on(steps: &mut [Step], at: usize) {
    let (before, rest) = steps.split_at_mut(at);
    // What stands between them only chooses: `locate x | head -1 | xargs cat`.
    let chooses = |step: &&Step| {
        step.invocation.as_ref().is_some_and(|i| {
            i.join == Join::Pipe && matches!(class(&i.program), Class::Reads | Class::Filters)
        })
    };
    let lister = before.iter().rev().take(MAX_CHOOSERS).find(|s| !chooses(s));
    let (Some(lister), Some(step)) = (lister, rest.first_mut()) else {
        return;
    };
    let Some(invocation) = &step.invocation else {
        return;
    };
    let found_by_fd = lister
        .invocation
        .as_ref()
        .is_some_and(|i| matches!(i.program.as_str(), "fd" | "fdfind"));
    let unnamed = step.io.files.is_empty() && (invocation.join == Join::Pipe || found_by_fd);
    let given = unnamed || invocation.args.iter().any(|w| w.text.contains("{}"));
    let reads = matches!(class(&invocation.program), Class::Reads | Class::Filters);
    if invocation.origin != Origin::Wrapped || !given || !reads {
        return;
    }
    let listed: Vec<String> = lister
        .io
        .files
        .iter()
        .filter(|f| f.access == Access::List)
        .map(|f| f.path.clone())
        .collect();
    if unnamed {
        step.io.uses("{}", Access::Read);
    }
    for path in listed {
        step.io.uses(&path, Access::Read);
    }
}

/// Programs between what lists and what reads.
const MAX_CHOOSERS: usize = 4;

/// One program that a command starts.
pub(super) fn of_invocation(invocation: &Invocation) -> Step {
    let git = GitCall::parse(invocation);
    let message = message(invocation, git.as_ref());
    let class = class(&invocation.program);
    let data = message.is_some() || matches!(class, Class::Speaks | Class::Filters | Class::Runs);
    Step {
        text: plain(&invocation.text()).into_owned(),
        io: Io::of(invocation),
        git,
        data,
        message,
        moved: invocation.cwd.clone(),
        invocation: Some(invocation.clone()),
        ..Step::default()
    }
}

/// The text that `git commit -m`, `git tag -m`, `gh pr create --body` record.
fn message(invocation: &Invocation, git: Option<&GitCall>) -> Option<String> {
    let word = |n: usize| invocation.args.get(n).map(|w| w.text.as_str());
    let records = match git {
        Some(git) => matches!(git.verb.as_str(), "commit" | "tag" | "notes" | "stash"),
        None => {
            matches!(invocation.program.as_str(), "gh" | "glab" | "hub" | "tea")
                && matches!(word(1), Some("create" | "comment" | "edit" | "note"))
        }
    };
    records.then(|| {
        let texts: Vec<&str> = invocation
            .args
            .iter()
            .map(|w| w.text.as_str())
            .filter(|w| w.contains(' '))
            .chain(invocation.heredoc.as_deref())
            .collect();
        plain(&texts.join("\n")).into_owned()
    })
}

/// True for a program behind a pipe that looks for words.
pub(super) fn is_search(step: &Step) -> bool {
    step.invocation.as_ref().is_some_and(|i| {
        i.join == Join::Pipe
            && matches!(
                i.program.as_str(),
                "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" | "fzf" | "findstr"
            )
    })
}

/// True for what runs inside `$(…)` or `<(…)`.
pub(super) fn is_substitution(step: &Step) -> bool {
    step.invocation
        .as_ref()
        .is_some_and(|i| matches!(i.origin, Origin::Substitution | Origin::ProcessSubstitution))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    #[test]
    fn silence_after_or_proves_nothing() {
        let steps = steps_of(&parse("git fetch origin || true"), None);
        assert!(steps.first().is_some_and(|s| s.state.forgiving));
    }

    #[test]
    fn messages_are_data() {
        let steps = steps_of(
            &parse("git commit -qm 'docs: run git fetch upstream'"),
            None,
        );
        let first = steps.first().unwrap();
        assert!(first.data);
        assert_eq!(
            first.message.as_deref(),
            Some("docs: run git fetch upstream")
        );
    }
}
