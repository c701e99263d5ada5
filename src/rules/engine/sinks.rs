//! Where the output of a step ends: shown, applied, saved, counted, run.

use super::steps::{Step, is_substitution};
use crate::rules::call::Stdin;
use crate::rules::flow::{is_container, is_data};
use crate::rules::outcome::Sink;
use crate::shell::model::Join;

/// Files at the end of one pipeline that are followed.
const MAX_SAVES: usize = 64;

/// Where the output of a step ends.
#[derive(Debug, Clone, Default)]
pub(super) struct End {
    pub sink: Sink,
    pub saves: Vec<String>,
}

/// Follows the output of each step through its pipeline, from the last step to the first.
pub(super) fn ends(steps: &[Step], cwd: Option<&str>) -> Vec<End> {
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
    use crate::rules::engine::steps::steps_of;
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
}
