//! Git commands of a trace: where each leads, and what it makes of branches and of `HEAD`.

use super::steps::Step;
use super::{Call, Engine};
use crate::rules::flow::Place;
use crate::rules::git::call::{GitCall, Prints};
use crate::rules::git::history::History;
use crate::rules::git::reach::{Map, Reach, below_head};
use crate::rules::rule::Access;
use crate::shell::model::{Invocation, Origin};
use crate::trace::event::Event;

/// Entries of the reflog that a command is taken to make which can make many.
const MANY_MOVES: usize = 50;

impl Engine<'_> {
    /// Finds out where a git command leads, and remembers what it makes of references.
    pub(super) fn place_git(&mut self, event: &Event, step: &mut Step, cwd: Option<&str>) {
        let handed = step.invocation.as_ref().is_some_and(|i| {
            i.args.iter().any(|w| w.dynamic)
                || i.origin == Origin::Wrapped
                    && step
                        .git
                        .as_ref()
                        .is_some_and(|g| g.words.iter().all(|w| w == "{}"))
        });
        let place = step.place(cwd);
        let repository = step.invocation.as_ref().and_then(git_directory);
        let elsewhere = match repository {
            Some(directory) => !place.in_tree(directory),
            None => step.moved.is_some() && !place.in_tree("."),
        };
        let directory = repository
            .map(|directory| place.resolve(directory))
            .or_else(|| Some(Place::default().resolve(step.moved.as_deref().or(cwd)?)));
        // A bare repository of that name, `/srv/mirrors/widget.git`, is a copy of upstream.
        let bare = self.task.repository_name().is_some_and(|name| {
            let named = |directory: &str| {
                directory.starts_with('/') && directory.ends_with(&format!("/{name}.git"))
            };
            directory.as_deref().is_some_and(named)
        });
        let foreign =
            bare || directory.is_some_and(|directory| self.stash.find(&directory).is_some());
        let map = Map {
            task: &self.task,
            history: &self.history,
            foreign,
            elsewhere,
        };
        let read = step.io.files.iter().filter(|file| {
            file.access == Access::Read
                || file.access == Access::List && file.path.contains("lost-found/")
        });
        self.listed
            .extend(read.filter_map(|file| map.kept_in(&file.path)));
        let Some(git) = &mut step.git else { return };
        map.classify(git);
        if handed {
            // Its revisions come from what the same command listed before.
            git.reach.extend(&self.listed);
        }
        self.listed.extend(&git.reach);
        if let Some(name) = &git.creates {
            if git.verb == "remote" {
                self.history.add_remote(name);
            } else if map.makes_later(git) {
                self.history.add_later(name);
            } else if map.makes_own(git) {
                self.history.add_own_name(name);
            }
        }
        let amends = amends(step.invocation.as_ref());
        if let Some(git) = &step.git {
            let call = self.calls.entry(event.id).or_default();
            note(call, git, &self.history);
            if !elsewhere {
                self.moves_branch(git, amends, foreign);
            }
            self.moved_by(git);
        }
    }

    /// Remembers what the command puts on top of the base, and how often it moves `HEAD`.
    fn moves_branch(&mut self, git: &GitCall, amends: bool, foreign: bool) {
        if git.verb == "commit" && !amends {
            self.history.add_on_top();
        } else if git.verb == "reset" {
            let below = git.words.iter().filter_map(|w| below_head(w)).max();
            self.history.take_from_top(below.unwrap_or(0));
        }
        let moves = match git.verb.as_str() {
            _ if foreign => 0,
            "rebase" | "am" | "cherry-pick" => MANY_MOVES,
            "commit" | "reset" | "merge" | "pull" | "checkout" | "switch" | "revert" => 1,
            _ => 0,
        };
        if moves > 0 {
            let later = [Reach::Later, Reach::Gt, Reach::Listed];
            let later = git.reach.iter().any(|reach| later.contains(reach));
            self.history.moves_head(moves, later);
        }
    }

    /// Remembers that the agent stashed something, or moved a branch in some repository.
    fn moved_by(&mut self, git: &GitCall) {
        if git.verb == "stash" && git.prints == Prints::Nothing {
            self.history.set_stashed();
        }
        if matches!(
            git.verb.as_str(),
            "reset" | "merge" | "rebase" | "pull" | "am" | "commit" | "stash" | "cherry-pick"
        ) {
            self.history.set_moved();
        }
    }
}

/// Notes what the result of a command will tell of commits.
fn note(call: &mut Call, git: &GitCall, history: &History) {
    let beyond = git
        .reach
        .iter()
        .any(|r| !matches!(r, Reach::Own | Reach::Past | Reach::Branch));
    // A branch that the agent did not make may hold anything: what a log of it names is not the past of `HEAD`.
    let unknown = git.reach.contains(&Reach::Branch)
        && !git
            .words
            .iter()
            .any(|w| ["main", "master", "trunk"].contains(&w.as_str()));
    // What the agent itself may have lost is nobody else's.
    let lost = git.verb == "fsck" && !history.moved() && !history.stashed();
    let walks = matches!(
        git.verb.as_str(),
        "log" | "rev-list" | "reflog" | "blame" | "rev-parse"
    );
    if walks && !unknown || lost && git.dangling {
        call.lists = Some(call.lists.unwrap_or(false) || beyond);
    }
    call.commits |= git.verb == "commit"
        || !beyond && matches!(git.verb.as_str(), "cherry-pick" | "revert" | "merge");
}

/// True for `git commit --amend`, which puts no further commit on top.
fn amends(invocation: Option<&Invocation>) -> bool {
    invocation.is_some_and(|i| i.args.iter().any(|w| w.text == "--amend"))
}

/// The repository that a git command works in if not that of its directory: `--git-dir`, `GIT_DIR`.
fn git_directory(invocation: &Invocation) -> Option<&str> {
    let set = invocation.env.iter().rev();
    let value = set
        .filter(|(name, _)| name == "GIT_DIR")
        .map(|(_, value)| value);
    value
        .map(|word| word.text.as_str())
        .next()
        .filter(|text| !text.is_empty())
}
