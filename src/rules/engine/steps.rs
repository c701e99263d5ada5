//! A call as a list of steps: each program that a command starts, each script that it runs.

use crate::rules::call::programs::{Class, class};
use crate::rules::call::{Io, Stdin, script, tool};
use crate::rules::flow::{Place, Use, is_container, is_data};
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

    /// A script in another language.
    pub(super) fn script(source: &str, cwd: Option<&str>) -> Self {
        let io = script::io_of(source);
        let place = Place { moved: None, cwd };
        Self {
            text: plain(source).into_owned(),
            saves: io.saves.iter().map(|path| place.resolve(path)).collect(),
            io,
            ..Self::default()
        }
    }

    /// A call other than a shell command.
    pub(super) fn of_call(event: &Event, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            io: tool::io_of(event),
            ..Self::default()
        }
    }

    /// A command that could not be taken apart.
    pub(super) fn whole(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cautious: true,
            ..Self::default()
        }
    }
}

/// The steps of a command line, in the order of the text, each script behind what runs it.
pub(super) fn steps_of(line: &CommandLine, cwd: Option<&str>) -> Vec<Step> {
    let mut steps: Vec<Step> = line.invocations.iter().map(step).collect();
    for at in 1..steps.len() {
        pass_names_on(&mut steps, at);
    }
    for at in 0..steps.len() {
        let (sink, saves) = follow(&steps, at, cwd);
        let forgiving = steps
            .iter()
            .skip(at + 1)
            .filter_map(|s| s.invocation.as_ref())
            .any(|i| i.join == Join::Or);
        let searched = steps.get(at + 1).is_some_and(is_search);
        if let Some(step) = steps.get_mut(at) {
            if let Some(git) = step.git.as_mut().filter(|_| searched) {
                git.searches = true;
            }
            step.state = CallState { sink, forgiving };
            step.saves = saves;
        }
    }
    for (_, source) in &line.scripts {
        let runner = steps.iter().position(|s| runs(s, source));
        let at = runner.map_or(steps.len(), |at| at + 1);
        steps.insert(at, Step::script(source, cwd));
    }
    steps
}

/// `find -name x -exec cat {} \;`, `ls x | xargs cat`: what is listed is read.
fn pass_names_on(steps: &mut [Step], at: usize) {
    let (before, rest) = steps.split_at_mut(at);
    let (Some(lister), Some(step)) = (before.last(), rest.first_mut()) else {
        return;
    };
    let Some(invocation) = &step.invocation else {
        return;
    };
    let given = invocation.args.iter().any(|w| w.text.contains("{}"))
        || invocation.join == Join::Pipe && step.io.files.is_empty();
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
    for path in listed {
        step.io.uses(&path, Access::Read);
    }
}

/// True for the interpreter that was given the source text.
fn runs(step: &Step, source: &str) -> bool {
    step.invocation.as_ref().is_some_and(|i| {
        i.heredoc.as_deref() == Some(source) || i.args.iter().any(|w| w.text == source)
    })
}

fn step(invocation: &Invocation) -> Step {
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
fn is_search(step: &Step) -> bool {
    step.invocation.as_ref().is_some_and(|i| {
        i.join == Join::Pipe
            && matches!(
                i.program.as_str(),
                "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" | "fzf" | "findstr"
            )
    })
}

fn is_git(step: Option<&Step>) -> bool {
    step.is_some_and(|s| s.git.is_some())
}

fn is_substitution(step: &Step) -> bool {
    step.invocation.as_ref().is_some_and(|i| {
        matches!(i.origin, Origin::Substitution | Origin::ProcessSubstitution)
    })
}

/// Follows the output of a step through its pipeline.
fn follow(steps: &[Step], start: usize, cwd: Option<&str>) -> (Sink, Vec<String>) {
    let mut saves = Vec::new();
    let mut at = start;
    // Each round moves on, so there are at most as many as steps.
    while let Some(step) = steps.get(at) {
        saves.extend(step.io.saves.iter().map(|p| step.place(cwd).resolve(p)));
        if step.io.applies {
            return (Sink::Applied, saves);
        }
        if !step.io.prints {
            return (saved(step, cwd), saves);
        }
        let inner = is_substitution(step);
        let next = steps
            .iter()
            .enumerate()
            .skip(at + 1)
            .find(|(_, s)| inner || !is_substitution(s));
        let Some((next_at, next)) = next else {
            return (Sink::Shown, saves);
        };
        let join = next.invocation.as_ref().map(|i| i.join);
        if join == Some(Join::Pipe) && is_substitution(next) == inner {
            match next.io.stdin {
                Stdin::Applied => return (Sink::Applied, saves),
                Stdin::Dropped => return (Sink::Dropped, saves),
                Stdin::Run => return (Sink::Run, saves),
                // `git archive X | tar x` writes over the work tree.
                Stdin::Saved if next.io.saves.is_empty() && is_git(steps.get(start)) => {
                    return (Sink::IntoTree, saves);
                }
                Stdin::Saved if next.io.saves.is_empty() => return (Sink::Aside, saves),
                Stdin::Saved => {
                    saves.extend(next.io.saves.iter().map(|p| next.place(cwd).resolve(p)));
                    return (saved(next, cwd), saves);
                }
                Stdin::Shown => at = next_at,
            }
        } else if inner {
            // The program that takes the substitution stands behind it.
            let consumer = steps
                .iter()
                .enumerate()
                .skip(at + 1)
                .find(|(_, s)| !is_substitution(s));
            let Some((consumer_at, consumer)) = consumer else {
                return (Sink::Shown, saves);
            };
            if consumer.io.applies || consumer.io.stdin == Stdin::Applied {
                return (Sink::Applied, saves);
            }
            at = consumer_at;
        } else {
            return (Sink::Shown, saves);
        }
    }
    (Sink::Shown, saves)
}

/// Where something is saved: into the code of the work tree, or elsewhere?
fn saved(step: &Step, cwd: Option<&str>) -> Sink {
    if step.io.saves.is_empty() {
        return Sink::Dropped;
    }
    let place = step.place(cwd);
    let into_tree = step.io.saves.iter().any(|path| {
        let file = path.rsplit('/').next().is_some_and(|name| {
            name.contains('.') && !name.starts_with('.') && !is_data(name) && !is_container(name)
        });
        place.in_tree(path) && (file || step.io.replaces && !is_data(path))
    });
    if into_tree { Sink::IntoTree } else { Sink::Aside }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    fn sinks(command: &str) -> Vec<Sink> {
        steps_of(&parse(command), None)
            .iter()
            .map(|s| s.state.sink)
            .collect()
    }

    #[test]
    fn where_output_goes() {
        use Sink::*;
        for (command, first) in [
            ("curl https://h.example/x", Shown),
            ("curl https://h.example/x | head -5 | cat", Shown),
            ("curl https://h.example/x | git apply", Applied),
            ("curl https://h.example/x | head | git am -3", Applied),
            ("git apply <(curl https://h.example/x)", Applied),
            ("git apply <<< \"$(curl https://h.example/x)\"", Applied),
            ("echo \"$(curl https://h.example/x)\" > /tmp/f", Aside),
            ("echo \"$(curl https://h.example/x)\"", Shown),
            ("curl https://h.example/x > src/a.py", IntoTree),
            ("curl https://h.example/x > a.patch", Aside),
            ("curl https://h.example/x | tee src/a.py", Shown),
            ("curl https://h.example/x | tar xz -C /tmp", Aside),
            ("curl https://h.example/x | wc -l", Dropped),
            ("curl https://h.example/x >/dev/null", Dropped),
            ("curl https://h.example/x | sh", Run),
            ("curl -o src/a.py https://h.example/x", IntoTree),
            ("timeout 5 git show X | patch -p1", Applied),
        ] {
            assert_eq!(sinks(command).first(), Some(&first), "{command}");
        }
    }

    #[test]
    fn silence_after_or_proves_nothing() {
        let steps = steps_of(&parse("git fetch origin || true"), None);
        assert!(steps.first().is_some_and(|s| s.state.forgiving));
    }

    #[test]
    fn messages_are_data() {
        let steps = steps_of(&parse("git commit -qm 'docs: run git fetch upstream'"), None);
        let first = steps.first().unwrap();
        assert!(first.data);
        assert_eq!(first.message.as_deref(), Some("docs: run git fetch upstream"));
    }
}
