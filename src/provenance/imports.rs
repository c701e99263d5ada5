//! Whether what a command writes into the tree comes from elsewhere: a pipeline that reads a file outside of the tree
//! or an address, a foreign commit, stash or patch.
//!
//! Files in `/tmp`, branches and stashes may be the agent's own: what it made before is remembered.

use std::collections::BTreeSet;

use super::cutting::{pipelines, segments, without_heredocs, words};
use super::paths::{Paths, Place, base_name};
use super::programs::{CARRIERS, FORMATTERS, GENERATORS};
use super::reads::reads_only;
use super::scope::is_program;
use super::temporary::{fetches, is_temporary, made, shaped, written_by_script};
use super::writes::{command_writes, interpreted};

/// Where programs keep files of the moment.
pub(super) const TEMPORARY: [&str; 3] = ["/tmp/", "/var/tmp/", "/private/tmp/"];

/// Files that were read and are remembered.
const MAX_READ: usize = 4096;

/// How scripts open what they read, up to the quote of its name.
const OPENERS: [&str; 12] = [
    "open(",
    "Path(",
    "copy(",
    "copy2(",
    "copyfile(",
    "copytree(",
    "urlopen(",
    "urlretrieve(",
    "requests.get(",
    "readFileSync(",
    "File.read(",
    "fetch(",
];

/// What a command does beside looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rewriter {
    /// It formats.
    Formatter,
    /// It generates.
    Generator,
}

/// What all programs of a command do that do not only look; `None` when they do several things, others, or none.
pub(super) fn rewrites(command: &str) -> Option<Rewriter> {
    if command.contains("<<") || command.contains("$(") || command.contains('`') {
        return None;
    }
    let acting = segments(command).filter(|segment| !reads_only(segment));
    let mut all = acting.map(rewriter);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

fn rewriter(segment: &str) -> Option<Rewriter> {
    let words: Vec<&str> = segment.split_whitespace().collect();
    let program = words
        .iter()
        .find(|w| !["npx", "poetry", "run", "uv", "uvx"].contains(w));
    let runs = |name: &str| {
        program.is_some_and(|w| base_name(w) == name)
            || words.starts_with(&["python", "-m"]) && words.get(2) == Some(&name)
    };
    let formats = FORMATTERS.iter().any(|name| runs(name))
        || (runs("go") || runs("cargo")) && words.contains(&"fmt");
    let generates = GENERATORS.iter().any(|name| runs(name))
        || runs("go") && words.contains(&"generate")
        || runs("make") && words.iter().any(|w| w.contains("gen"));
    match (formats, generates) {
        _ if segment.contains('>') => None,
        (_, true) => Some(Rewriter::Generator),
        (true, _) => Some(Rewriter::Formatter),
        _ => None,
    }
}

/// What the agent made by itself, as far as calls show it.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Files in directories for temporary ones.
    files: BTreeSet<String>,
    /// Branches and tags.
    names: BTreeSet<String>,
    /// Changes put away.
    stashes: usize,
    /// Files in those directories that are made of nothing but files of the tree that the agent had read.
    shaped: BTreeSet<String>,
    /// Those.
    read: BTreeSet<String>,
    /// A command has reached for something outside of the tree.
    reached: bool,
}

impl Own {
    /// The agent wrote a file outside of the tree, and the trace holds what.
    pub(super) fn wrote(&mut self, path: &str) {
        self.files.insert(path.to_owned());
    }

    /// Those files.
    pub(super) fn files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Files that are made of nothing but the tree, where nothing from elsewhere can stand in it.
    pub(super) fn shaped(&self) -> Option<&BTreeSet<String>> {
        (!self.reached).then_some(&self.shaped)
    }

    /// The agent read a file of the tree as a whole, and nothing of the GT stood in it.
    pub(super) fn read(&mut self, path: String) {
        if self.read.len() < MAX_READ {
            self.read.insert(path);
        }
    }

    /// A command brings something into known files, or by git into any, that is not the agent's. Remembers what it makes.
    pub(super) fn imports(&mut self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        let skeleton = without_heredocs(command);
        let mut imports = false;
        // The same for all parts: what is made on the way only takes away from it, and once is enough.
        let mut script_reads = None;
        for pipeline in pipelines(&skeleton) {
            let words: Vec<&str> = words(pipeline).collect();
            imports |= self
                .brings(pipeline, &words, paths, cwd)
                .unwrap_or_else(|| {
                    *script_reads.get_or_insert_with(|| self.reads_foreign(command, paths, cwd))
                });
            self.learn(pipeline, &words, paths, cwd);
        }
        let written = written_by_script(command);
        if !written.is_empty()
            && !*script_reads.get_or_insert_with(|| self.reads_foreign(command, paths, cwd))
        {
            self.keep(written);
        }
        imports
    }

    /// All that a command names outside of the tree is the agent's own.
    pub(super) fn covers(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        let skeleton = without_heredocs(command);
        let outside = |word: &&str| {
            word.starts_with(['/', '~'])
                && !is_program(word)
                && paths.place(word, cwd) == Place::Outside
        };
        let words = || skeleton.split(|c: char| c.is_whitespace() || "'\"();|&<>".contains(c));
        let mut named = words().filter(outside).peekable();
        named.peek().is_some()
            && named.all(|word| self.files.contains(word))
            && !words().any(|word| word.contains(':'))
    }

    /// Whether a pipeline brings something in; `None` when a script decides.
    fn brings(
        &self,
        pipeline: &str,
        words: &[&str],
        paths: &Paths,
        cwd: Option<&str>,
    ) -> Option<bool> {
        let has = |name: &str| words.iter().any(|w| base_name(w) == name);
        let names_foreign = || words.iter().any(|word| self.is_foreign(word, paths, cwd));
        if let Some(at) = words.iter().position(|w| base_name(w) == "git")
            && let Some(brings) = self.git_brings(words.get(at + 1..).unwrap_or_default())
        {
            return Some(match brings {
                Git::Yes => true,
                Git::No => false,
                Git::Patch => names_foreign(),
            });
        }
        if has("patch") {
            return Some(names_foreign());
        }
        if interpreted(words) {
            return None;
        }
        let says = words
            .first()
            .is_some_and(|w| ["echo", "printf"].contains(&base_name(w)));
        let carries = pipeline.contains('>') || CARRIERS.iter().any(|name| has(name));
        let writes = || !command_writes(pipeline, paths, cwd).known.is_empty();
        Some(carries && !says && names_foreign() && writes())
    }

    /// The word is an address, or a file outside of the tree that is not the agent's.
    fn is_foreign(&self, word: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if word.contains('>') {
            return false;
        }
        let word = word.trim_start_matches('<');
        let word = word.strip_prefix("if=").unwrap_or(word);
        if word.contains("://") {
            return true;
        }
        let plain = |c: char| c.is_alphanumeric() || "/._-+@~%".contains(c);
        let file = word.starts_with(['/', '~']) || word.starts_with("../");
        let deep = word.trim_start_matches(['/', '~']).contains('/');
        file && deep
            && !word.ends_with('/')
            && word.chars().all(plain)
            && !is_program(word)
            && !self.files.contains(word)
            && paths.place(word, cwd) == Place::Outside
    }

    /// A script opens such a file to read it.
    fn reads_foreign(&self, script: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        OPENERS.iter().any(|opener| {
            script.match_indices(opener).any(|(at, _)| {
                let after = script.get(at + opener.len()..).unwrap_or_default();
                let after = after.trim_start_matches(['r', 'b', 'f', '\\']);
                let Some(mark) = after.chars().next().filter(|c| ['"', '\''].contains(c)) else {
                    return false;
                };
                let mut parts = after.splitn(3, mark);
                let name = parts.nth(1).unwrap_or_default();
                let rest = parts.next().unwrap_or_default().trim_start_matches('\\');
                let rest = rest.trim_start_matches([' ', ',', ')']);
                let writes = [".write", "'w", "\"w", "'a", "\"a", "mode='w", "mode=\"w"];
                !writes.iter().any(|way| rest.starts_with(way))
                    && self.is_foreign(name.trim_end_matches('\\'), paths, cwd)
            })
        })
    }

    /// What a command of git brings in; `None` for one that brings nothing by itself.
    fn git_brings(&self, words: &[&str]) -> Option<Git> {
        let at = words.iter().position(|w| {
            [
                "apply",
                "am",
                "merge",
                "cherry-pick",
                "pull",
                "stash",
                "checkout",
                "restore",
            ]
            .contains(w)
        })?;
        let rest = words.get(at + 1..).unwrap_or_default();
        let own = |name: &str| self.is_own_name(name);
        let mut named = rest.iter().copied().filter(|w| !w.starts_with('-'));
        Some(match words.get(at).copied()? {
            "apply" | "am" => Git::Patch,
            "pull" => Git::Yes,
            "merge" | "cherry-pick" => {
                let ends = rest
                    .iter()
                    .any(|w| ["--abort", "--continue", "--quit", "--skip"].contains(w));
                Git::from(!ends && named.next().is_some_and(|name| !own(name)))
            }
            "stash" => {
                let takes = rest.first().is_some_and(|w| ["pop", "apply"].contains(w));
                let which = rest.iter().find_map(|w| {
                    let number = w.split_once('{').map_or(*w, |(_, n)| n);
                    number.trim_end_matches('}').parse::<usize>().ok()
                });
                Git::from(takes && which.unwrap_or(0) >= self.stashes)
            }
            "checkout" => {
                let files = rest.iter().position(|w| *w == "--")?;
                let commit = rest.get(..files)?.iter().find(|w| !w.starts_with('-'));
                Git::from(commit.is_some_and(|commit| !own(commit)))
            }
            _ => {
                let commit = rest.iter().enumerate().find_map(|(at, word)| {
                    let joined = word.strip_prefix("--source=");
                    let apart = ["-s", "--source"].contains(word);
                    joined.or_else(|| rest.get(at + 1).copied().filter(|_| apart))
                });
                Git::from(commit.is_some_and(|commit| !own(commit)))
            }
        })
    }

    /// Remembers what a pipeline makes.
    fn learn(&mut self, pipeline: &str, words: &[&str], paths: &Paths, cwd: Option<&str>) {
        let applies = words
            .iter()
            .any(|w| ["apply", "am", "patch"].contains(&base_name(w)));
        if words.iter().any(|w| base_name(w) == "git") {
            let after = |names: &[&str]| {
                let at = words.iter().position(|w| names.contains(w))?;
                words.get(at + 1).copied().filter(|w| !w.starts_with('-'))
            };
            self.names
                .extend(after(&["-b", "-B", "-c", "-C", "branch", "tag"]).map(str::to_owned));
            if let Some(at) = words.iter().position(|w| *w == "stash") {
                match words.get(at + 1) {
                    None | Some(&"push" | &"save") => self.stashes += 1,
                    Some(&"pop" | &"drop") => self.stashes = self.stashes.saturating_sub(1),
                    Some(word) => self.stashes += usize::from(word.starts_with('-')),
                }
            }
        }
        if applies || reads_only(pipeline) {
            return;
        }
        let elsewhere = |word: &&str| {
            !is_temporary(word.trim_start_matches(['<', '>'])) && self.is_foreign(word, paths, cwd)
        };
        let elsewhere = words.iter().any(elsewhere);
        self.reached |= elsewhere || fetches(words);
        if elsewhere || self.git_takes(words) {
            return;
        }
        self.keep(made(words, |word| self.files.contains(word)));
        if let Some(file) = shaped(pipeline, |word| {
            let path = word.strip_prefix("./").unwrap_or(word);
            self.shaped.contains(word) || self.read.contains(path)
        }) {
            self.shaped.insert(file.to_owned());
        }
    }

    fn keep(&mut self, files: Vec<&str>) {
        let files: Vec<String> = files.into_iter().map(str::to_owned).collect();
        self.files.extend(files);
    }

    /// Git prints, packs or lays out a revision that is not the agent's.
    fn git_takes(&self, words: &[&str]) -> bool {
        let Some(at) = words.iter().position(|w| base_name(w) == "git") else {
            return false;
        };
        let rest = words.get(at + 1..).unwrap_or_default();
        let verb = rest.iter().position(|w| {
            [
                "show",
                "cat-file",
                "archive",
                "worktree",
                "diff",
                "log",
                "format-patch",
            ]
            .contains(w)
        });
        let Some(verb) = verb else { return false };
        let after = rest.get(verb + 1..).unwrap_or_default();
        let mut revisions = after
            .iter()
            .take_while(|w| **w != "--" && !w.contains('>'))
            .filter(|w| !w.starts_with('-') && !w.starts_with('/') && **w != "add")
            .map(|w| w.split(':').next().unwrap_or(w));
        revisions.any(|name| !name.is_empty() && !name.contains('.') && !self.is_own_name(name))
    }

    /// What stands for the agent's own state.
    fn is_own_name(&self, name: &str) -> bool {
        ["HEAD", "@", "-", "ORIG_HEAD", "stash"].iter().any(|own| {
            let rest = name.strip_prefix(own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['~', '^', '@']))
        }) || self.names.contains(name)
    }
}

/// What a command of git brings in.
enum Git {
    /// Something foreign.
    Yes,
    /// What is the agent's, or the repository's as it was.
    No,
    /// A patch; it depends on where it lies.
    Patch,
}

impl From<bool> for Git {
    fn from(foreign: bool) -> Self {
        if foreign { Self::Yes } else { Self::No }
    }
}

#[cfg(test)]
mod tests {
    use super::super::writes::tests::paths;
    use super::*;

    fn last_imports(commands: &[&str]) -> bool {
        let mut own = Own::default();
        let all = commands
            .iter()
            .map(|command| own.imports(command, &paths(), Some("/w/run")));
        all.last().unwrap_or_default()
    }

    #[test]
    fn what_comes_from_elsewhere() {
        for commands in [
            &["cat /mnt/ref/a.go > pkg/a.go"][..],
            &["cat /opt/up/a.go >pkg/a.go"],
            &["< /mnt/ref/a.go cat > pkg/a.go"],
            &["sed -n '1,$p' /mnt/ref/a.go | tee pkg/a.go >/dev/null"],
            &["tee pkg/a.go < /mnt/ref/a.go >/dev/null"],
            &["head -20 /mnt/ref/a.go > pkg/a.go"],
            &["dd if=/mnt/ref/a.go of=pkg/a.go"],
            &["base64 -d /tmp/x.b64 > pkg/a.go"],
            &["gunzip -c /tmp/d.gz > pkg/a.go"],
            &["curl -s http://ref/a.go | sponge pkg/a.go"],
            &["vim -es -c 'r /mnt/ref/a.go' -c wq pkg/a.go"],
            &[
                "python3 - <<'E'\nimport pathlib\npathlib.Path('pkg/a.go').write_text(pathlib.Path('/opt/a.go/a.go').read_text())\nE",
            ],
            &[
                "python3 -c \"import urllib.request as u;open('pkg/a.go','wb').write(u.urlopen('http://ref/r').read())\"",
            ],
            &["python3 -c \"import shutil;shutil.copy('/mnt/ref/d.py','pkg/a.go')\""],
            &["git checkout abc1234 -- pkg/a.go"],
            &["git checkout feature/retry -- pkg/a.go"],
            &["git restore --source=abc123 pkg/a.go"],
            &["git restore -s origin/main pkg/a.go"],
            &["git merge feature-retry"],
            &["git cherry-pick abc123"],
            &["git stash apply stash@{1}"],
            &["git stash", "git stash apply stash@{1}"],
            &["git stash pop"],
            &["git am /tmp/0001.patch"],
            &["git apply -v /tmp/a.patch"],
            &["patch -p1 < /tmp/a.patch"],
            &[
                "ls /tmp",
                "cat /tmp/a.patch",
                "git apply --check /tmp/a.patch",
                "git apply /tmp/a.patch",
            ],
            &[
                "curl -s http://ref/a.patch -o /tmp/a.patch",
                "git apply /tmp/a.patch",
            ],
            &["zcat /mnt/ref/a.gz > /tmp/a.go", "cat /tmp/a.go > pkg/a.go"],
            &["cat /tmp/up/a.go > /tmp/a.go", "cat /tmp/a.go > pkg/a.go"],
            &[
                "git show up:pkg/a.go > /tmp/a.go",
                "cat /tmp/a.go > pkg/a.go",
            ],
            &[
                "unzip -p /tmp/w.whl a.go > /tmp/a.go",
                "cat /tmp/a.go > pkg/a.go",
            ],
        ] {
            assert!(last_imports(commands), "{commands:?}");
        }
    }

    #[test]
    fn what_is_the_agents_own() {
        for commands in [
            &["cat > pkg/a.go <<'EOF'\nopen(\"/etc/x/y\")\nEOF"][..],
            &["cat > /tmp/a.patch <<'E'\n+x\nE", "git apply /tmp/a.patch"],
            &["git diff > /tmp/a.patch; git apply -R /tmp/a.patch"],
            &["cat pkg/a.go > /tmp/a.go", "cat /tmp/a.go > pkg/a.go"],
            &[
                "python3 /tmp/gen.py > /tmp/out.go",
                "cat /tmp/out.go > pkg/a.go",
            ],
            &["git stash", "git stash pop"],
            &["git stash -u", "go test ./...", "git stash apply"],
            &[
                "git checkout -b work",
                "git checkout main",
                "git merge work",
            ],
            &["git checkout -- pkg/a.go"],
            &["git checkout HEAD~1 -- pkg/a.go"],
            &["git restore pkg/a.go"],
            &["git merge --abort"],
            &["sed -n '/func/,/^}/p' pkg/b.go > pkg/a.go"],
            &["sed -i 's#/old/path#/new/path#' pkg/a.go"],
            &["echo 'see /etc/x/y' >> pkg/a.go"],
            &["/usr/bin/env cat pkg/b.go > pkg/a.go"],
            &["cat /mnt/ref/a.go > /tmp/a.go"],
            &["node -e '...' > /tmp/g.go && cat /tmp/g.go > pkg/a.go"],
            &[
                "python3 - <<'E'\nopen('/tmp/g.go','w').write(x)\nE",
                "cat /tmp/g.go > pkg/a.go",
            ],
            &[
                "git show HEAD:pkg/a.go > /tmp/a.go",
                "cat /tmp/a.go > pkg/a.go",
            ],
            &[
                "python3 - <<'E'\ns=open('pkg/a.go').read()\nopen('/w/log/x','w').write(s)\nopen('pkg/a.go','w').write(s.replace('/a/b','/c/d'))\nE",
            ],
            &["cat /mnt/ref/a.go"],
        ] {
            assert!(!last_imports(commands), "{commands:?}");
        }
    }
}
