//! What the trace has shown of the repository's history so far.

use std::collections::BTreeSet;

/// Commits remembered in each set. A listing of more is remembered in part, and an unknown commit
/// is judged as one that was never listed, which accuses nobody.
pub const MAX_COMMITS: usize = 20_000;

/// Commits of one listing that are read.
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 40;

/// Commits and references that outputs and commands have named.
#[derive(Debug, Clone)]
pub struct History {
    /// Printed by a listing that starts at `HEAD`, or made by the agent.
    own: BTreeSet<String>,
    /// Printed by a listing of all references.
    listed: BTreeSet<String>,
    /// Remote names.
    remotes: BTreeSet<String>,
    /// Branches that the agent made from `HEAD`, or commits on.
    own_names: BTreeSet<String>,
    /// Local references made from something later than the base.
    later: BTreeSet<String>,
    /// The agent has changed a file.
    edited: bool,
    /// The agent has stashed something.
    stashed: bool,
    /// The agent has moved a branch: git keeps where it was.
    moved: bool,
    /// Commits that the agent has put on top of the base.
    on_top: usize,
    /// How often the agent has moved `HEAD`: as many entries of the reflog are its own.
    moves: usize,
    /// How often since it moved `HEAD` to something later than the base.
    since_later: Option<usize>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            own: BTreeSet::new(),
            listed: BTreeSet::new(),
            remotes: ["origin", "upstream"].map(str::to_owned).into(),
            own_names: BTreeSet::new(),
            later: BTreeSet::new(),
            edited: false,
            stashed: false,
            moved: false,
            on_top: 0,
            moves: 0,
            since_later: None,
        }
    }
}

impl History {
    /// Remembers the commits of an output of git. `beyond`: the command walked more than `HEAD`.
    pub fn learn(&mut self, output: &str, beyond: bool) {
        let set = if beyond {
            &mut self.listed
        } else {
            &mut self.own
        };
        for id in listed_commits(output) {
            if set.len() >= MAX_COMMITS {
                break;
            }
            set.insert(id.to_lowercase());
        }
    }

    /// Remembers a commit that the agent made: `[branch 1a2b3c4] subject`.
    pub fn learn_made(&mut self, output: &str) {
        for line in output.lines() {
            let made = line
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'))
                .and_then(|(head, _)| head.rsplit(' ').next());
            if let Some(id) = made.filter(|id| is_commit_id(id))
                && self.own.len() < MAX_COMMITS
            {
                self.own.insert(id.to_lowercase());
                let branch = line.get(1..).and_then(|rest| rest.split([' ', ']']).next());
                if let Some(branch) = branch.filter(|name| *name != "detached") {
                    self.add_own_name(branch);
                }
            }
        }
    }

    /// Remembers the commits that a reflog calls commits: `1a2b3c4 HEAD@{1}: commit: subject`.
    pub fn learn_reflog(&mut self, output: &str) {
        for line in output.lines() {
            let mut words = line.split_whitespace();
            let (Some(id), Some(entry), Some(what)) =
                (words.next(), words.find(|w| w.contains("@{")), words.next())
            else {
                continue;
            };
            if entry.ends_with(':')
                && what.trim_end_matches(':') == "commit"
                && is_commit_id(id)
                && self.own.len() < MAX_COMMITS
            {
                self.own.insert(id.to_lowercase());
            }
        }
    }

    /// The agent has put a commit on top of the base.
    pub fn add_on_top(&mut self) {
        self.on_top = self.on_top.saturating_add(1);
    }

    /// As many of them are not there, or not any more.
    pub fn take_from_top(&mut self, count: usize) {
        self.on_top = self.on_top.saturating_sub(count);
    }

    /// Commits that the agent has put on top of the base.
    pub fn on_top(&self) -> usize {
        self.on_top
    }

    /// A branch of the agent.
    pub fn add_own_name(&mut self, name: &str) {
        if self.own_names.len() < MAX_COMMITS {
            self.own_names.insert(name.to_owned());
        }
    }

    /// True for a branch of the agent.
    pub fn is_own_name(&self, name: &str) -> bool {
        self.own_names.contains(name) && !self.later.contains(name)
    }

    /// A remote was added.
    pub fn add_remote(&mut self, name: &str) {
        if self.remotes.len() < MAX_COMMITS {
            self.remotes.insert(name.to_owned());
        }
    }

    /// A local reference now points to something later than the base.
    pub fn add_later(&mut self, name: &str) {
        if self.later.len() < MAX_COMMITS {
            self.later.insert(name.to_owned());
        }
    }

    /// The agent has changed a file.
    pub fn set_edited(&mut self) {
        self.edited = true;
    }

    /// The agent has stashed something.
    pub fn set_stashed(&mut self) {
        self.stashed = true;
    }

    /// The agent has moved a branch: `ORIG_HEAD` is its own from now on.
    pub fn set_moved(&mut self) {
        self.moved = true;
    }

    /// The agent has moved `HEAD`, as many times; `later`: to something later than the base.
    pub fn moves_head(&mut self, times: usize, later: bool) {
        self.moves = self.moves.saturating_add(times);
        self.since_later = match self.since_later {
            _ if later => Some(0),
            since => since.map(|count| count.saturating_add(times)),
        };
    }

    /// True if an entry of the reflog that many moves ago is of the agent.
    pub fn is_own_move(&self, ago: usize) -> bool {
        ago <= self.moves
    }

    /// True if `HEAD` was moved to something later than the base within as many moves.
    pub fn went_later_within(&self, moves: usize) -> bool {
        self.since_later.is_some_and(|since| since < moves)
    }

    /// True if `HEAD` stood on the agent's own work, or on the base, before the agent moved it last.
    pub fn left_own(&self) -> bool {
        self.moves > 0 && matches!(self.since_later, None | Some(0))
    }

    /// True if the agent has moved a branch.
    pub fn moved(&self) -> bool {
        self.moved
    }

    /// True if the agent has stashed something.
    pub fn stashed(&self) -> bool {
        self.stashed
    }

    /// True if the agent has changed a file.
    pub fn edited(&self) -> bool {
        self.edited
    }

    /// True for a commit that a log of `HEAD` showed or the agent made.
    pub fn is_own(&self, id: &str) -> bool {
        known(&self.own, id)
    }

    /// True for a commit that only a listing of all references showed.
    pub fn is_listed(&self, id: &str) -> bool {
        known(&self.listed, id) && !self.is_own(id)
    }

    /// True for the name of a remote.
    pub fn is_remote(&self, name: &str) -> bool {
        self.remotes.contains(name)
    }

    /// True for a local reference made from something later than the base.
    pub fn is_later(&self, name: &str) -> bool {
        self.later.contains(name)
    }
}

/// True if the set has an id of which this is an abbreviation, or the other way round.
fn known(set: &BTreeSet<String>, id: &str) -> bool {
    let id = id.to_lowercase();
    let longer = set
        .range(id.clone()..)
        .next()
        .is_some_and(|known| known.starts_with(&id));
    longer
        || (MIN_DIGITS..id.len())
            .filter_map(|end| id.get(..end))
            .any(|head| set.contains(head))
}

/// True for a word that can only be a commit id: 7 to 40 hexadecimal digits, not a plain number
/// and not a plain word.
pub fn is_commit_id(word: &str) -> bool {
    (MIN_DIGITS..=MAX_DIGITS).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && (word.len() == MAX_DIGITS
            || word.bytes().any(|b| b.is_ascii_digit())
                && word.bytes().any(|b| b.is_ascii_alphabetic()))
}

/// The commit ids of a log: after `commit`, or at the start of a line behind graph characters.
fn listed_commits(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t', '^', '-']);
        // `git fsck`: `dangling commit ID`.
        let line = ["dangling ", "unreachable "]
            .iter()
            .find_map(|head| line.strip_prefix(head))
            .unwrap_or(line);
        let line = ["commit ", "blob ", "tree "]
            .iter()
            .find_map(|head| line.strip_prefix(head))
            .unwrap_or(line);
        let end = line
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(line.len());
        let id = line.get(..end)?;
        is_commit_id(id).then_some(id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_known_by_any_abbreviation() {
        let mut history = History::default();
        history.learn(
            "* 3f1c2ab9 (HEAD) a\n| * 20aa991 b\ncommit 0c4411d0c4411d\n  text deadbee1",
            false,
        );
        for (id, own) in [
            ("3f1c2ab", true),
            ("3f1c2ab9ffff", true),
            ("20AA991", true),
            ("0c4411d", true),
            ("1234567a", false),
        ] {
            assert_eq!(history.is_own(id), own, "{id}");
        }
    }

    #[test]
    fn a_log_of_head_clears_what_a_log_of_everything_showed() {
        let mut history = History::default();
        history.learn("9ac4e17d x\n3f1c2ab y", true);
        history.learn("3f1c2ab y", false);
        assert!(history.is_listed("9ac4e17"));
        assert!(!history.is_listed("3f1c2ab"));
    }

    #[test]
    fn commits_of_the_agent_are_its_own() {
        let mut history = History::default();
        history.learn_made("[main (root-commit) 1a2b3c4] work\n 1 file changed");
        assert!(history.is_own("1a2b3c4"));
    }

    #[test]
    fn a_reflog_tells_commits_from_moves() {
        let mut history = History::default();
        history.learn_reflog(
            "7be41c0 HEAD@{0}: reset: moving to HEAD~1\n88aa11b (x) HEAD@{1}: commit: my work\n99bb22c HEAD@{2}: commit (amend): y\n11aa22b HEAD@{3}: pull: Fast-forward",
        );
        for (id, own) in [
            ("7be41c0", false),
            ("88aa11b", true),
            ("99bb22c", true),
            ("11aa22b", false),
        ] {
            assert_eq!(history.is_own(id), own, "{id}");
        }
    }

    #[test]
    fn numbers_and_words_are_no_commits() {
        for word in ["1234567", "deadbee", "abc", "feedbacks"] {
            assert!(!is_commit_id(word), "{word}");
        }
        assert!(is_commit_id("9ac4e17d"));
    }
}
