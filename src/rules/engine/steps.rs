//! A call as a list of steps: each program that a command starts, each script that it runs.

use crate::rules::call::programs::{Class, class};
use crate::rules::call::{Io, Stdin, script, tool};
use crate::rules::flow::{Place, Use, is_container, is_data};
use crate::rules::git::call::GitCall;
use crate::rules::outcome::{CallState, Sink};
use crate::rules::rule::Access;
use crate::rules::text::fold::plain;
use crate::shell::model::{CommandLine, Invocation, Join, Origin, Word};
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
    fn join(&self) -> Option<Join> {
        self.invocation.as_ref().map(|i| i.join)
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
}

/// A command that could not be taken apart: its whole text, and its pieces between separators with
/// their words split at blanks, as if there were no quotes. What is found in them is doubtful.
pub(super) fn cautious_steps(text: &str) -> Vec<Step> {
    let whole = Step {
        text: text.to_owned(),
        cautious: true,
        ..Step::default()
    };
    let pieces = text
        .split(['\n', ';', '|', '&', '(', ')', '`'])
        .filter_map(bare_invocation)
        .take(MAX_STEPS)
        .map(|invocation| Step {
            cautious: true,
            ..step(&invocation)
        });
    std::iter::once(whole).chain(pieces).collect()
}

fn bare_invocation(piece: &str) -> Option<Invocation> {
    let mut words = piece
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']))
        .filter(|word| !word.is_empty());
    let program = words.next()?;
    Some(Invocation {
        program: program.rsplit('/').next().unwrap_or(program).to_owned(),
        args: words
            .map(|word| Word {
                text: word.to_owned(),
                dynamic: word.contains('$'),
            })
            .collect(),
        env: Vec::new(),
        cwd: None,
        redirects: Vec::new(),
        heredoc: None,
        join: Join::Then,
        origin: Origin::Direct,
        offset: 0,
    })
}

/// Programs of one command line that are looked at one by one. The rest is looked at as one text.
pub(super) const MAX_STEPS: usize = 4_096;

/// Files at the end of one pipeline that are followed.
const MAX_SAVES: usize = 64;

/// The steps of a command line, in the order of the text, each script behind what runs it.
pub(super) fn steps_of(line: &CommandLine, cwd: Option<&str>) -> Vec<Step> {
    let mut steps: Vec<Step> = line.invocations.iter().take(MAX_STEPS).map(step).collect();
    for at in 1..steps.len() {
        pass_names_on(&mut steps, at);
    }
    let ends = ends(&steps, cwd);
    let mut forgiving = false;
    for (step, end) in steps.iter_mut().zip(ends).rev() {
        step.state = CallState {
            sink: end.sink,
            forgiving,
        };
        step.saves = end.saves;
        forgiving |= step.join() == Some(Join::Or);
    }
    for at in 1..steps.len() {
        let searched = steps.get(at).is_some_and(is_search);
        if let Some(git) = steps.get_mut(at - 1).and_then(|s| s.git.as_mut()) {
            git.searches |= searched;
        }
    }
    for (_, source) in line.scripts.iter().take(MAX_STEPS) {
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

fn is_substitution(step: &Step) -> bool {
    step.invocation
        .as_ref()
        .is_some_and(|i| matches!(i.origin, Origin::Substitution | Origin::ProcessSubstitution))
}

/// Where the output of a step ends.
#[derive(Debug, Clone, Default)]
struct End {
    sink: Sink,
    saves: Vec<String>,
}

/// Follows the output of each step through its pipeline, from the last step to the first.
fn ends(steps: &[Step], cwd: Option<&str>) -> Vec<End> {
    let mut ends: Vec<End> = vec![End::default(); steps.len()];
    // The nearest step behind that is no substitution.
    let mut outer: Option<usize> = None;
    for (at, step) in steps.iter().enumerate().rev() {
        let inner = is_substitution(step);
        let next = if inner { Some(at + 1) } else { outer };
        let next = next.and_then(|n| Some((n, steps.get(n)?)));
        let piped =
            next.filter(|(_, n)| n.join() == Some(Join::Pipe) && is_substitution(n) == inner);
        // The program that takes a substitution stands behind it.
        let consumer = outer
            .filter(|_| inner)
            .and_then(|n| Some((n, steps.get(n)?)));
        let mut end = match (piped, consumer) {
            _ if step.io.applies => End {
                sink: Sink::Applied,
                saves: Vec::new(),
            },
            _ if !step.io.prints => End {
                sink: saved(step, cwd),
                saves: Vec::new(),
            },
            (Some((n, next)), _) => into_pipe(step, next, ends.get(n), cwd),
            (None, Some((_, taker))) if taker.io.applies || taker.io.stdin == Stdin::Applied => {
                End {
                    sink: Sink::Applied,
                    saves: Vec::new(),
                }
            }
            (None, Some((n, _))) => ends.get(n).cloned().unwrap_or_default(),
            (None, None) => End::default(),
        };
        let own = step
            .io
            .saves
            .iter()
            .map(|path| step.place(cwd).resolve(path));
        end.saves.extend(own);
        end.saves.truncate(MAX_SAVES);
        if let Some(slot) = ends.get_mut(at) {
            *slot = end;
        }
        if !inner {
            outer = Some(at);
        }
    }
    ends
}

/// The end of the output of a step that is piped into another one.
fn into_pipe(step: &Step, next: &Step, end: Option<&End>, cwd: Option<&str>) -> End {
    let sink = match next.io.stdin {
        Stdin::Shown => return end.cloned().unwrap_or_default(),
        Stdin::Applied => Sink::Applied,
        Stdin::Dropped => Sink::Dropped,
        Stdin::Run => Sink::Run,
        // `git archive X | tar x` writes over the work tree.
        Stdin::Saved if next.io.saves.is_empty() && step.git.is_some() => Sink::IntoTree,
        Stdin::Saved if next.io.saves.is_empty() => Sink::Aside,
        Stdin::Saved => saved(next, cwd),
    };
    let place = next.place(cwd);
    End {
        sink,
        saves: next
            .io
            .saves
            .iter()
            .map(|path| place.resolve(path))
            .collect(),
    }
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
    if into_tree {
        Sink::IntoTree
    } else {
        Sink::Aside
    }
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
