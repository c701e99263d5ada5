//! Which revisions of the repository are the agent's own, as far as its calls show: commits, branches, tags and stashes
//! that it made, ids that such a call printed, and `HEAD` where no call can have moved it elsewhere.
//!
//! Every other revision is somebody else's, however its name sounds: `wip`, `stash@{0}`, `@{u}`, `HEAD@{1}` were there
//! before the agent came, and may hold anything.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::cutting::{quiet, segments, without_heredocs, words};
use super::paths::{Paths, Place, base_name};

/// Names and ids that are remembered.
const MAX_KEPT: usize = 256;

/// A shorter name of a commit is a word.
pub(super) const MIN_ID: usize = 6;

/// Options of `git log` that reach other refs, or turn its order.
const BEYOND: [&str; 9] = [
    "--all",
    "--branches",
    "--remotes",
    "--tags",
    "--reflog",
    "-g",
    "--walk-reflogs",
    "--reverse",
    "--glob",
];

/// Names of the branch that a base is usually on.
const TRUNKS: [&str; 5] = ["main", "master", "trunk", "develop", "dev"];

/// Whose a revision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// The agent made it.
    Own,
    /// It is the base or lies before it: nothing that the agent made stands there.
    Base,
    /// Somebody else's, or nobody can tell.
    Foreign,
}

/// The revisions that are the agent's own.
#[derive(Debug, Clone, Default)]
pub(super) struct Revisions {
    names: BTreeSet<String>,
    ids: BTreeSet<String>,
    stashes: usize,
    /// Commits on top of what it did not commit.
    on_top: usize,
    /// Those where it was before, and all that it made.
    left: usize,
    made: usize,
    /// How often it moved `HEAD`.
    moves: usize,
    /// `HEAD` stands on what somebody else made.
    away: bool,
    /// It did so once.
    strayed: bool,
    /// It went to a branch of its own.
    switched: bool,
    pushed: bool,
    /// Something was merged, and the index may hold more than one side.
    merged: bool,
}

/// The subcommand of git and what follows it, and the directory that it is run in.
pub(super) fn git<'w>(words: &[&'w str]) -> Option<(&'w str, Vec<&'w str>, Option<&'w str>)> {
    let at = words.iter().position(|w| base_name(w) == "git")?;
    let mut rest = words.get(at + 1..)?.iter().copied();
    let mut dir = None;
    let verb = loop {
        match rest.next()? {
            "-C" => dir = rest.next(),
            "-c" => _ = rest.next(),
            option if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    Some((verb, rest.collect(), dir))
}

/// The command with substitutions that name a revision spelled out: `git show $(git rev-parse HEAD)`. Others are one word
/// that says nothing.
pub(super) fn spelled(text: &str) -> Cow<'_, str> {
    if !text.contains("$(") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        // `C=$(…)` is a part of its own.
        let argument = before.ends_with([' ', '"']);
        let Some((inner, behind)) = after.split_once(')').filter(|_| argument) else {
            out.push_str("$(");
            rest = after;
            continue;
        };
        let words: Vec<&str> = inner.split_whitespace().collect();
        match words.as_slice() {
            ["git", "rev-parse", revision] | ["git", "rev-parse", _, revision] => {
                out.push_str(revision);
            }
            _ => out.push_str("$_"),
        }
        rest = behind;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// How many generations before a name: `~2`, `^`; `None` for what is no plain line of ancestors.
fn depth(suffix: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut rest = suffix;
    while let Some(mark) = rest.chars().next() {
        rest = rest.get(1..)?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let number = match number {
            "" => 1,
            number => number.parse().ok()?,
        };
        rest = match mark {
            '~' => {
                depth = depth.saturating_add(number);
                after
            }
            '^' if rest.starts_with('{') => {
                let (kind, after) = rest.get(1..)?.split_once('}')?;
                ["", "commit", "tree"].contains(&kind).then_some(after)?
            }
            '^' if number <= 1 => {
                depth = depth.saturating_add(number);
                after
            }
            _ => return None,
        };
    }
    Some(depth)
}

/// A word that can be the id of a commit.
pub(super) fn is_id(word: &str) -> bool {
    (MIN_ID..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

impl Revisions {
    /// Commits of the agent's on top of what it did not commit.
    pub(super) fn on_top(&self) -> usize {
        self.on_top
    }

    /// Whose a revision is, a file at one, or the end of a range.
    pub(super) fn whose(&self, word: &str) -> Whose {
        let (name, path) = match word.split_once(':') {
            Some((name, path)) => (name, Some(path)),
            None => (word, None),
        };
        if let Some((_, end)) = name.split_once("..") {
            let end = end.trim_start_matches('.');
            return self.whose(if end.is_empty() { "HEAD" } else { end });
        }
        if name.is_empty() {
            return self.index(path.unwrap_or_default());
        }
        let suffix = name.find(['~', '^']).unwrap_or(name.len());
        let (name, suffix) = name.split_at_checked(suffix).unwrap_or((name, ""));
        let depth = depth(suffix);
        match name {
            "HEAD" | "@" => self.head(depth, path.is_some()),
            "ORIG_HEAD" => self.own_if(self.moves > 0 && !self.strayed),
            _ if name.contains("@{") => self.moved(name, depth, path.is_some()),
            "stash" | "refs/stash" => self.own_if(self.stashes > 0),
            _ => self.own_if(self.is_own_name(name)),
        }
    }

    fn own_if(&self, own: bool) -> Whose {
        if own { Whose::Own } else { Whose::Foreign }
    }

    fn is_own_name(&self, name: &str) -> bool {
        let braced = name.strip_prefix("${").and_then(|n| n.strip_suffix('}'));
        if let Some(variable) = braced {
            return self.names.contains(&format!("${variable}"));
        }
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        let published = name.strip_prefix("origin/").filter(|_| self.pushed);
        let has = |name: &str| self.names.contains(name);
        let abbreviates = |id: &String| id.starts_with(name) || name.starts_with(id.as_str());
        has(branch) || published.is_some_and(has) || is_id(name) && self.ids.iter().any(abbreviates)
    }

    /// What the index holds: `:file`, or one side of a merge (`:2:file`); `:/text` searches all history.
    fn index(&self, path: &str) -> Whose {
        let mut chars = path.chars();
        match (chars.next(), chars.next()) {
            (Some('/'), _) => Whose::Foreign,
            (Some('1'..='3'), Some(':')) => self.own_if(self.merged),
            _ => Whose::Own,
        }
    }

    /// The commit that is checked out or an ancestor; `tree` for the files that it holds.
    fn head(&self, depth: Option<usize>, tree: bool) -> Whose {
        let Some(depth) = depth else {
            return Whose::Base;
        };
        match depth < self.on_top {
            true if tree && self.away => Whose::Foreign,
            true => Whose::Own,
            false if self.away => Whose::Foreign,
            false => Whose::Base,
        }
    }

    /// `HEAD@{1}`, `stash@{0}`, `@{-1}`, `@{u}`.
    fn moved(&self, name: &str, depth: Option<usize>, tree: bool) -> Whose {
        let (of, at) = name.split_once("@{").unwrap_or((name, ""));
        let at = at.trim_end_matches('}');
        let number = at.parse::<usize>().ok();
        match (of, number) {
            ("stash" | "refs/stash", Some(number)) => self.own_if(number < self.stashes),
            ("" | "HEAD", Some(0)) => self.head(depth, tree),
            ("" | "HEAD", Some(number)) if !self.strayed && number <= self.moves => {
                if number < self.moves {
                    Whose::Own
                } else {
                    Whose::Base
                }
            }
            ("", None) if at.starts_with('-') => self.own_if(self.switched && !self.strayed),
            _ if ["u", "upstream", "push"].contains(&at) => {
                self.own_if(self.pushed && !self.strayed)
            }
            (_, Some(_)) => self.own_if(self.is_own_name(of)),
            _ => Whose::Foreign,
        }
    }

    /// Learns from a command and what it printed. One of git alone that failed made nothing.
    pub(super) fn learn(
        &mut self,
        command: &str,
        output: &str,
        succeeded: bool,
        paths: &Paths,
        cwd: Option<&str>,
    ) {
        if !command.contains("git") {
            return;
        }
        let text = without_heredocs(command);
        let quiet = quiet(&text);
        let before = (!succeeded).then(|| self.clone());
        let mut alone = true;
        for segment in segments(&quiet) {
            let words: Vec<&str> = words(segment).collect();
            alone &= words
                .first()
                .is_none_or(|w| ["git", "cd", "echo"].contains(w));
            self.step(&words, paths, cwd);
        }
        if let Some(before) = before.filter(|_| alone) {
            let (away, strayed) = (self.away, self.strayed);
            *self = before;
            self.away |= away;
            self.strayed |= strayed;
        }
        for segment in segments(&quiet) {
            let words: Vec<&str> = words(segment).collect();
            self.printed(&words, output);
        }
    }

    /// The ids that a part of a command printed.
    fn printed(&mut self, words: &[&str], output: &str) {
        let Some((verb, rest, None)) = git(words) else {
            return;
        };
        let other = rest
            .iter()
            .any(|w| BEYOND.contains(w) || !w.starts_with('-') && *w != "HEAD" && is_revision(w));
        let lines = output.lines();
        let ids: Vec<&str> = match verb {
            // `[branch 1a2b3c4] subject`
            "commit" => lines
                .filter_map(|line| {
                    line.strip_prefix('[')?
                        .split_once(']')?
                        .0
                        .rsplit(' ')
                        .next()
                })
                .collect(),
            // `1a2b3c4 HEAD@{1}: commit: subject`
            "reflog" => lines
                .filter_map(|line| {
                    let (id, rest) = line.split_once(' ')?;
                    let (_, entry) = rest.split_once("HEAD@{")?;
                    let (number, what) = entry.split_once("}: ")?;
                    let own = number.parse::<usize>().ok()? < self.moves && !self.strayed;
                    (own && what.starts_with("commit")).then_some(id)
                })
                .collect(),
            "log" if !other => lines
                .filter_map(|line| {
                    let line = line.trim_start_matches(['*', ' ']);
                    let line = line.strip_prefix("commit ").unwrap_or(line);
                    line.split_whitespace().next().filter(|word| is_id(word))
                })
                .take(self.on_top)
                .collect(),
            "rev-parse" if rest.contains(&"HEAD") && self.on_top > 0 => {
                let ids: Vec<&str> = lines.map(str::trim).filter(|line| is_id(line)).collect();
                if ids.len() == 1 { ids } else { Vec::new() }
            }
            _ => return,
        };
        for id in ids.into_iter().filter(|id| is_id(id)) {
            if self.ids.len() < MAX_KEPT {
                self.ids.insert(id.to_lowercase());
            }
        }
    }

    /// What a part of a command makes, or where it leads.
    pub(super) fn step(&mut self, words: &[&str], paths: &Paths, cwd: Option<&str>) {
        let Some((verb, rest, dir)) = git(words) else {
            return;
        };
        if dir.is_some_and(|dir| paths.place(dir, cwd) == Place::Outside) {
            return;
        }
        let has = |word: &str| rest.contains(&word);
        let plain: Vec<&str> = rest
            .iter()
            .copied()
            .filter(|w| !w.starts_with('-'))
            .collect();
        match verb {
            "commit" if has("--amend") => {
                self.on_top = self.on_top.max(1);
                self.made = self.made.max(1);
                self.moves = self.moves.saturating_add(1);
            }
            "commit" => self.moved_on(),
            // `C=$(git rev-parse HEAD)`
            "rev-parse" => {
                let variable = words.first().and_then(|word| word.strip_suffix("=$"));
                let own = plain.iter().all(|word| self.whose(word) == Whose::Own);
                if let Some(variable) = variable.filter(|_| own && !plain.is_empty()) {
                    self.name(&format!("${variable}"), None);
                }
            }
            "stash" => self.stash(&rest),
            "push" => self.pushed = true,
            "branch" | "tag" => match plain.as_slice() {
                [name] if !has("-d") && !has("-D") && !has("--list") => self.name(name, None),
                [name, from] if !has("-d") && !has("-D") => self.name(name, Some(from)),
                _ => {}
            },
            "checkout" | "switch" => self.checkout(&rest, paths, cwd),
            "worktree" => {
                if let Some(at) = rest.iter().position(|w| ["-b", "-B"].contains(w))
                    && let Some(name) = rest.get(at + 1)
                {
                    let from = plain.iter().filter(|w| *w != name).nth(2);
                    self.name(name, from.copied());
                }
            }
            "cherry-pick" | "merge" | "revert" | "am" | "pull" | "rebase" => {
                self.merged = true;
                self.take(verb, &plain);
            }
            "apply" => self.merged |= has("-3") || has("--3way"),
            "reset" => self.reset(&rest, &plain, paths, cwd),
            "bisect" => match plain.first() {
                Some(&"reset") => self.away = false,
                _ => self.away = true,
            },
            "update-ref" | "symbolic-ref" | "read-tree" | "replace" => self.stray(),
            _ => {}
        }
    }

    /// A commit of the agent's.
    fn moved_on(&mut self) {
        self.on_top = self.on_top.saturating_add(1);
        self.made = self.made.saturating_add(1);
        self.moves = self.moves.saturating_add(1);
    }

    /// `HEAD` stands elsewhere now.
    fn stray(&mut self) {
        self.on_top = 0;
        (self.away, self.strayed) = (true, true);
    }

    /// A name for a revision.
    fn name(&mut self, name: &str, from: Option<&str>) {
        let own = match from {
            Some(from) => self.whose(from) != Whose::Foreign,
            None => !self.away,
        };
        if !own {
            self.names.remove(name);
        } else if self.names.len() < MAX_KEPT {
            self.names.insert(name.to_owned());
        }
    }

    fn stash(&mut self, rest: &[&str]) {
        match rest.first() {
            None | Some(&"push" | &"save") => self.stashes = self.stashes.saturating_add(1),
            Some(&"pop" | &"drop") => {
                self.merged = true;
                self.stashes = self.stashes.saturating_sub(1);
            }
            Some(&"clear") => self.stashes = 0,
            Some(word) if word.starts_with('-') => {
                self.stashes = self.stashes.saturating_add(1);
            }
            _ => {}
        }
    }

    fn checkout(&mut self, rest: &[&str], paths: &Paths, cwd: Option<&str>) {
        // Also `-qb`.
        let makes = |w: &str| {
            let short = w.starts_with('-') && !w.starts_with("--") && w.len() <= 4;
            short && w.ends_with(['b', 'B', 'c', 'C']) || w == "--orphan" || w == "--create"
        };
        let mut plain = rest.iter().filter(|w| !w.starts_with('-') || **w == "-");
        if let Some(name) = rest
            .iter()
            .position(|w| makes(w))
            .and_then(|at| rest.get(at + 1))
        {
            let from = plain.find(|w| *w != name).copied();
            self.name(name, from);
            self.moves = self.moves.saturating_add(1);
            if self.names.contains(*name) {
                self.switched = true;
            } else {
                self.stray();
            }
            return;
        }
        let (Some(to), None) = (plain.next(), plain.next()) else {
            return;
        };
        let is_path = || {
            let file = to.contains('.') && !to.contains("..") && !is_revision(to);
            file || matches!(paths.place(to, cwd), Place::Known(_)) || *to == "."
        };
        if rest.contains(&"--") || *to != "-" && is_path() {
            return;
        }
        self.moves = self.moves.saturating_add(1);
        let before = std::mem::replace(&mut self.left, self.on_top);
        let trunk = TRUNKS.contains(to) && self.switched && !self.strayed;
        match self.whose(to) {
            // Back to where it was before.
            _ if *to == "-" => {
                self.away = self.strayed && !self.away;
                self.on_top = before;
            }
            Whose::Own => {
                (self.away, self.switched) = (false, true);
                self.on_top = self.made;
            }
            Whose::Base => (self.away, self.switched) = (false, true),
            Whose::Foreign if trunk => {
                (self.away, self.on_top) = (false, 0);
            }
            Whose::Foreign => {
                self.switched = true;
                self.stray();
            }
        }
    }

    /// Commits of elsewhere are put on top, or `HEAD` on them.
    fn take(&mut self, verb: &str, plain: &[&str]) {
        let own = |word: &&str| self.whose(word) != Whose::Foreign;
        let all_own = !plain.is_empty() && plain.iter().all(own);
        match verb {
            "cherry-pick" | "merge" | "revert" if all_own => self.moved_on(),
            // `--abort`, `--continue`.
            "cherry-pick" | "merge" | "revert" | "rebase" | "am" if plain.is_empty() => {}
            "rebase" if all_own => {}
            "rebase" => (self.away, self.strayed) = (true, true),
            _ => self.stray(),
        }
    }

    fn reset(&mut self, rest: &[&str], plain: &[&str], paths: &Paths, cwd: Option<&str>) {
        let whole = ["--hard", "--soft", "--mixed", "--keep", "--merge"];
        let is_file = |w: &&str| matches!(paths.place(w, cwd), Place::Known(_));
        let Some(to) = plain.first() else { return };
        let all = rest.iter().any(|w| whole.contains(w));
        if rest.contains(&"--") || !all && (plain.len() > 1 || is_file(to) || *to == ".") {
            return;
        }
        let generations = to
            .strip_prefix("HEAD")
            .or(to.strip_prefix('@'))
            .and_then(depth);
        match (generations, self.whose(to)) {
            (Some(0), _) => {}
            (Some(count), _) => {
                self.on_top = self.on_top.saturating_sub(count);
                self.moves = self.moves.saturating_add(1);
            }
            (None, Whose::Own) => {
                self.on_top = self.on_top.max(1);
                self.away = self.strayed && self.away;
                self.moves = self.moves.saturating_add(1);
            }
            (None, Whose::Base) => self.moves = self.moves.saturating_add(1),
            (None, Whose::Foreign) => {
                self.moves = self.moves.saturating_add(1);
                self.stray();
            }
        }
    }
}

/// A word that is written as a revision, and can be no path.
pub(super) fn is_revision(word: &str) -> bool {
    let tag = word
        .strip_prefix('v')
        .is_some_and(|v| v.contains('.') && v.starts_with(|c: char| c.is_ascii_digit()));
    let remote = ["origin/", "upstream/", "refs/"]
        .iter()
        .any(|start| word.starts_with(start));
    let range = word.contains("..") && !word.contains("../") && !word.contains("/..");
    let marks = word.contains(['~', '^', ':', '$']) || word.contains("@{");
    tag || remote || range || marks || is_id(word) || matches!(word, "HEAD" | "@" | "stash")
}

#[cfg(test)]
mod tests {
    use super::super::writes::tests::paths;
    use super::*;

    #[test]
    fn substitutions_are_spelled_out() {
        for (command, want) in [
            ("git diff $(git merge-base HEAD main)", "git diff $_"),
            ("git show $(git rev-parse HEAD):f", "git show HEAD:f"),
            (
                "git show \"$(git rev-parse --short wip)\"",
                "git show \"wip\"",
            ),
            (
                "C=$(git rev-parse HEAD); git show $C",
                "C=$(git rev-parse HEAD); git show $C",
            ),
            ("git show $(git rev-parse", "git show $(git rev-parse"),
        ] {
            assert_eq!(spelled(command), want);
        }
    }

    /// The state after commands, each with what it printed.
    fn after(commands: &[(&str, &str)]) -> Revisions {
        let mut out = Revisions::default();
        for (command, output) in commands {
            out.learn(command, output, true, &paths(), Some("/w/run"));
        }
        out
    }

    #[test]
    #[rustfmt::skip]
    fn whose_a_revision_is() {
        use Whose::{Base, Foreign, Own};
        let commit = ("git commit -qam a", "");
        let printed = ("git commit -am a", "[main 3fe1a2b] a\n 1 file changed");
        let back = ("git reset -q --hard HEAD~1; git reflog", "3fe1a2b HEAD@{1}: commit: a\n5e1f0c2 HEAD@{2}: commit: x");
        for (commands, revision, want) in [
            (&[][..], "wip:pkg/a.go", Foreign),
            (&[], "stash@{0}", Foreign),
            (&[], "HEAD@{1}", Foreign),
            (&[], "@{u}", Foreign),
            (&[], "@{-1}", Foreign),
            (&[], ":1:pkg/a.go", Foreign),
            (&[], ":/fix", Foreign),
            (&[], ":pkg/a.go", Own),
            (&[], "HEAD", Base),
            (&[], "@:pkg/a.go", Base),
            (&[], "HEAD~3", Base),
            (&[commit], "HEAD", Own),
            (&[commit], "HEAD:pkg/a.go", Own),
            (&[commit], "HEAD~1", Base),
            (&[commit], "HEAD^{commit}", Own),
            (&[commit], "HEAD^{/fix}", Base),
            (&[commit], "HEAD@{1}", Base),
            (&[commit], "HEAD@{2}", Foreign),
            (&[commit], "main..HEAD", Own),
            (&[commit], "HEAD..main", Foreign),
            (&[commit, ("git checkout -q next", "")], "HEAD", Foreign),
            (&[commit, ("git pull", "")], "HEAD", Foreign),
            (&[commit, ("git reset -q --hard HEAD~1", "")], "HEAD", Base),
            (&[("git reset -q --hard next", "")], "HEAD", Foreign),
            (&[("git reset -q --hard next", "")], "HEAD@{1}", Foreign),
            (&[printed], "3fe1a2b9", Own),
            (&[printed], "99aabb1", Foreign),
            (&[commit, back], "3fe1a2b", Own),
            (&[commit, back], "5e1f0c2", Foreign),
            (&[("git reflog", "3fe1a2b HEAD@{0}: commit: a")], "3fe1a2b", Foreign),
            (&[commit, ("git log --oneline -2", "3fe1a2b a\n5e1f0c2 b")], "3fe1a2b", Own),
            (&[commit, ("git log --oneline -2", "3fe1a2b a\n5e1f0c2 b")], "5e1f0c2", Foreign),
            (&[commit, ("git log --oneline --all", "3fe1a2b a")], "3fe1a2b", Foreign),
            (&[("git log --oneline", "3fe1a2b a")], "3fe1a2b", Foreign),
            (&[("git commit -qm a; git rev-parse HEAD", "3fe1a2b9c0aa11bb22cc33dd44ee55ff66778899")], "3fe1a2b9c0", Own),
            (&[("git fetch; git rev-parse FETCH_HEAD", "3fe1a2b9c0aa11bb22cc33dd44ee55ff66778899")], "3fe1a2b9c0", Foreign),
            (&[("git stash -u", "")], "stash@{0}:pkg/a.go", Own),
            (&[("git stash -u", "")], "stash@{1}", Foreign),
            (&[("git stash", ""), ("git stash pop", "")], "stash", Foreign),
            (&[("git checkout -q -b wip", "")], "wip", Own),
            (&[("git checkout -qb wip", "")], "wip", Own),
            (&[("git checkout -q -b wip origin/fix", "")], "wip", Foreign),
            (&[("git branch keep && git commit -qam x", "")], "keep", Own),
            (&[("git commit -qam x; C=$(git rev-parse HEAD)", "")], "$C", Own),
            (&[("git commit -qam x; C=$(git rev-parse HEAD)", "")], "${C}", Own),
            (&[("C=$(git rev-parse wip)", "")], "$C", Foreign),
            (&[("git -C /mnt/up commit -qam x", "")], "HEAD", Base),
            (&[("git checkout -b wip", ""), commit, ("git checkout -q main", "")], "@{-1}", Own),
            (&[("git checkout -b wip", ""), commit, ("git push -u origin wip", "")], "@{u}", Own),
        ] {
            assert_eq!(after(commands).whose(revision), want, "{commands:?} {revision}");
        }
        let mut failed = Revisions::default();
        failed.learn("git commit -qam a", "", false, &paths(), None);
        assert_eq!(failed.whose("HEAD"), Base);
        failed.learn("git commit -qam a && pytest", "", false, &paths(), None);
        assert_eq!(failed.whose("HEAD"), Own);
    }
}
