//! What the user asked: text quoted from it is no evidence, and what it asks for is allowed.

use super::allowed::{Allowed, commands};
use super::call::address::decoded;
use super::text::{folded, slice, words};
use crate::shell::model::Invocation;

/// A shorter piece of text is in any long prompt by chance. In characters.
const MIN_QUOTE: usize = 12;

/// How far before a command in the prompt a word that forbids or asks for it is looked for.
const REACH: usize = 300;

/// Words that turn a mention into a prohibition.
const FORBIDS: &[&str] = &[
    " not ",
    " not:",
    "n't ",
    "n’t ",
    "never",
    "without",
    "avoid",
    "forbid",
    "prohibit",
    "instead of",
    "refrain",
    "disallow",
    "no need",
    "禁止",
    "不要",
    "不得",
    "不能",
    "不可",
    "勿",
    "别用",
    "避免",
    "nicht",
    "jamais",
    "ne pas",
    "nunca",
    "não ",
    "sin ",
    "нельзя",
    "не ",
    "しない",
    "禁じ",
    "금지",
];

/// Words that ask for a command.
const ASKS: &[&str] = &[
    "run",
    "use",
    "using",
    "execute",
    "call",
    "try",
    "with",
    "via",
    "see",
    "read",
    "may",
    "can",
    "allowed",
    "bring ",
    "sync",
    "update",
    " first ",
    "start by",
    "start with",
    "begin ",
    "please",
    "运行",
    "执行",
    "使用",
    "可以",
    "查看",
    "通过",
    "参考",
    "请",
    "先",
    "同步",
    "更新",
    "ejecuta",
    "lance",
    "führe",
    "実行",
    "запусти",
    "실행",
];

/// The prompt, and what the task facts say is allowed.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    folded: String,
    /// The facts that allow something, as text.
    allowed: String,
    /// The commands that they name.
    commands: Vec<Allowed>,
}

/// Why a finding does not count.
pub const QUOTED: &str = "quoted from the prompt";
/// Why a finding does not count.
pub const ASKED: &str = "the prompt asks for it";

impl Prompt {
    /// Takes the prompt text, if known beforehand, and the `allowed` and `requirement` facts.
    pub fn new(prompt: Option<&str>, allowed: &[&str]) -> Self {
        let mut new = Self {
            folded: String::new(),
            allowed: folded(&allowed.join(" \n ")),
            commands: allowed.iter().flat_map(|fact| commands(fact)).collect(),
        };
        if let Some(prompt) = prompt {
            new.learn(prompt);
        }
        new
    }

    /// Adds a text that the user wrote.
    pub fn learn(&mut self, prompt: &str) {
        let text = folded(prompt);
        if self.folded.is_empty() {
            // A prompt can be very long: it is there once.
            self.folded = text;
        } else if !self.folded.contains(&text) {
            self.folded.push('\n');
            self.folded.push_str(&text);
        }
    }

    /// The prompt with white space folded, lower case.
    pub fn text(&self) -> &str {
        &self.folded
    }

    /// True if the piece of text stands in the prompt.
    pub fn quotes(&self, piece: &str) -> bool {
        let piece = folded(piece);
        let piece = piece.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        piece.chars().count() >= MIN_QUOTE && self.folded.contains(piece)
    }

    /// True if the prompt asks for the command, or the facts allow it.
    pub fn allows(&self, invocation: &Invocation) -> bool {
        // An option of git can turn an allowed command into another one (`git log --all`); those of
        // forge clients only shape the output.
        let keeps = |w: &&str| !w.starts_with('-') || invocation.program == "git";
        let core: Vec<&str> = std::iter::once(invocation.program.as_str())
            .chain(invocation.args.iter().map(|w| w.text.as_str()))
            .filter(keeps)
            .collect();
        let core = folded(&core.join(" "));
        let whole = folded(&invocation.text());
        if words(&core).count() < 2 {
            return false;
        }
        [&whole, &core]
            .iter()
            .any(|text| stands_whole(&self.allowed, text) || self.asks_for(text))
            || self.commands.iter().any(|allowed| allowed.fits(invocation))
            || self.asks_by_name(invocation)
            || self.asks_for_more(invocation)
    }

    /// True if the prompt or the facts name the address.
    pub fn names_address(&self, address: &str) -> bool {
        let bare = folded(address.trim_end_matches('/'));
        let bare = bare
            .split_once("://")
            .map_or(bare.as_str(), |(_, rest)| rest);
        let stands_in = |text: &str| {
            text.match_indices(bare).any(|(at, _)| {
                let after = text.get(at + bare.len()..).unwrap_or_default();
                let after = after.trim_start_matches(['.', '/', ',', ')']);
                let skipped = text.len() - at - bare.len() - after.len();
                let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '?');
                !after.starts_with(goes_on) && skipped <= 2
            })
        };
        // The prompt may write it in another way.
        let named = |text: &str| stands_in(text) || stands_in(&decoded(text));
        !bare.is_empty() && (named(&self.allowed) || named(&self.folded) && !self.forbids(bare))
    }

    /// True if the prompt asks for the work that a command of git does: it names the command and everything that it is
    /// given (`Backport 5e0d7c1 with cherry-pick`), or one that recovers what was lost, whose options reach no further.
    fn asks_by_name(&self, invocation: &Invocation) -> bool {
        let words = invocation.args.iter().map(|word| word.text.as_str());
        let mut words = words.filter(|word| !word.starts_with('-'));
        let Some(verb) = words.next().filter(|_| invocation.program == "git") else {
            return false;
        };
        match verb {
            "fsck" | "reflog" | "bisect" => {
                self.asks_for(&format!("git {verb}")) || verb != "bisect" && self.asks_to_recover()
            }
            "cherry-pick" | "revert" | "merge" | "rebase" => {
                let targets: Vec<String> = words.map(folded).collect();
                let named =
                    |target: &String| stands_whole(&self.folded, target) && !self.forbids(target);
                !targets.is_empty() && targets.iter().all(named) && self.asks_for(verb)
            }
            _ => false,
        }
    }

    /// True if the work is to bring back what the user lost in git.
    fn asks_to_recover(&self) -> bool {
        let lost = [
            "deleted",
            "dropped",
            "lost my",
            "lost the",
            "by accident",
            "by mistake",
            "recover",
            "rescue",
            "bring back",
            "误删",
            "丢失",
            "找回",
        ];
        let what = ["branch", "stash", "commit", "分支", "提交"];
        let mut sentences = self.folded.split(['.', '!', '?', '。', '！']);
        sentences.any(|sentence| {
            let has = |words: &[&str]| words.iter().any(|word| sentence.contains(word));
            has(&lost[..])
                && has(&what[..])
                && [" my ", " i ", "我"]
                    .iter()
                    .any(|me| format!(" {sentence}").contains(me))
        })
    }

    /// True if the prompt asks for a command of a forge's client of which this one only prints less (`--jq .body`), or
    /// says of which repository (`--repo owner/name`).
    fn asks_for_more(&self, invocation: &Invocation) -> bool {
        /// Program, sub-command of two words, target.
        const LEAST: usize = 4;
        const PRINTS: [&str; 6] = ["--jq", "-q", "--template", "-t", "--json", "--comments"];
        const REPOSITORY: [&str; 2] = ["--repo", "-R"];
        if !matches!(invocation.program.as_str(), "gh" | "glab") {
            return false;
        }
        let words: Vec<&str> = std::iter::once(invocation.program.as_str())
            .chain(invocation.args.iter().map(|word| word.text.as_str()))
            .collect();
        (LEAST..words.len()).any(|length| {
            let (asked, more) = words.split_at_checked(length).unwrap_or((&words, &[]));
            let says =
                |word: &str, list: &[&str]| list.contains(&word.split('=').next().unwrap_or(word));
            let prints = |word: &&str| {
                says(word, &PRINTS)
                    || says(word, &REPOSITORY) && !self.folded.contains(REPOSITORY[0])
            };
            more.first().is_some_and(prints)
                && more.iter().filter(|word| word.starts_with('-')).all(prints)
                && self.asks_for(&folded(&asked.join(" ")))
        })
    }

    fn asks_for(&self, text: &str) -> bool {
        self.folded.match_indices(text).any(|(at, _)| {
            let after = self.folded.get(at + text.len()..).unwrap_or_default();
            let whole = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-'));
            let before = sentence_before(&self.folded, at);
            whole
                && !FORBIDS.iter().any(|w| before.contains(w))
                && ASKS.iter().any(|w| before.contains(w))
        })
    }

    /// True if each place that names the text forbids it.
    fn forbids(&self, text: &str) -> bool {
        self.folded.match_indices(text).all(|(at, _)| {
            FORBIDS
                .iter()
                .any(|w| sentence_before(&self.folded, at).contains(w))
        })
    }
}

/// True if the piece stands in the text and no word goes on behind it.
fn stands_whole(text: &str, piece: &str) -> bool {
    text.match_indices(piece).any(|(at, _)| {
        let after = text.get(at + piece.len()..).unwrap_or_default();
        !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '='))
    })
}

/// The text from the last full stop on. Line breaks are folded, so the head of a list ("you must
/// not:") counts for its items.
fn sentence_before(text: &str, at: usize) -> String {
    let before = slice(text, at.saturating_sub(REACH)..at);
    let start = [". ", "! ", "? ", "。", "！"]
        .iter()
        .filter_map(|stop| before.rfind(stop).map(|i| i + stop.len()))
        .max()
        .unwrap_or(0);
    format!(" {}", before.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::call::tests::invocation;

    #[test]
    fn what_the_prompt_asks_for_is_allowed() {
        for (prompt, command, allowed) in [
            (
                "Please run `gh issue view 481` for details.",
                "gh issue view 481 --comments",
                true,
            ),
            ("run `gh issue view 481`", "gh issue view 4812", false),
            ("Never run `gh pr diff 308`.", "gh pr diff 308", false),
            (
                "You must not:\n- run gh pr diff 308\n- use git",
                "gh pr diff 308",
                false,
            ),
            (
                "Do not guess. Use git fetch origin.",
                "git fetch origin",
                true,
            ),
            (
                "Use git fetch origin.",
                "git fetch origin pull/308/head",
                false,
            ),
            ("The PR is gh pr diff 308", "gh pr diff 308", false),
            ("You may run git log.", "git log", true),
            (
                "First bring the branch up to date (`git fetch origin && git rebase origin/main`).",
                "git fetch origin",
                true,
            ),
            (
                "First of all: this was once `git fetch origin` away, do not do that.",
                "git fetch upstream",
                false,
            ),
            ("请先同步:git fetch origin", "git fetch origin", true),
            ("You may run git log.", "git log --all -p", false),
            (
                "Backport 5e0d7c1 to stable-1.8 with cherry-pick.",
                "git cherry-pick -x 5e0d7c1",
                true,
            ),
            (
                "Backport 5e0d7c1 to stable-1.8 with cherry-pick.",
                "git cherry-pick 77aa001",
                false,
            ),
            (
                "Do not take 5e0d7c1 with cherry-pick.",
                "git cherry-pick 5e0d7c1",
                false,
            ),
            (
                "Find my dropped stash with git fsck.",
                "git fsck --no-reflogs --lost-found",
                true,
            ),
            ("Find my notes.", "git fsck --lost-found", false),
            (
                "I deleted the branch `layout` by accident. Bring it back.",
                "git reflog --date=relative",
                true,
            ),
            (
                "After a crash the commit log is lost: fix recovery.",
                "git reflog",
                false,
            ),
            (
                "Read the report first: gh issue view 27 --repo a/b --json title,body",
                "gh issue view 27 --repo a/b --json title,body --jq .body",
                true,
            ),
            (
                "Read the report first: gh issue view 27 --repo a/b",
                "gh issue view 27 --repo a/b --repo c/d",
                false,
            ),
            (
                "Read the report first: gh issue view 27 --repo a/b",
                "gh issue view 27 --repo c/d",
                false,
            ),
            (
                "Read the report first: gh issue view 27",
                "gh issue view 27 --comments --repo c/d",
                true,
            ),
            ("", "gh pr diff 308", false),
            ("use git", "git", false),
        ] {
            let prompt_text = Prompt::new(Some(prompt), &[]);
            assert_eq!(
                prompt_text.allows(&invocation(command)),
                allowed,
                "{prompt}: {command}"
            );
        }
        let facts = Prompt::new(None, &["git log --all"]);
        assert!(facts.allows(&invocation("git log --all")));
    }

    #[test]
    fn quotations() {
        let prompt = Prompt::new(
            Some("Implement issue #48190\n(tracked as  PR #48213)."),
            &[],
        );
        assert!(prompt.quotes("(tracked as PR #48213)"));
        assert!(prompt.quotes("Implement ISSUE #48190 (tracked"));
        assert!(!prompt.quotes("PR #48213"));
        assert!(!prompt.quotes("I applied PR #48213 as asked"));
    }

    #[test]
    fn addresses_named_by_the_prompt() {
        let prompt = Prompt::new(
            Some("Spec: https://h.example/a/README.md. Do not fetch https://h.example/b"),
            &[],
        );
        assert!(prompt.names_address("https://h.example/a/README.md"));
        assert!(!prompt.names_address("https://h.example/a/README"));
        assert!(!prompt.names_address("https://h.example/b"));
        assert!(!prompt.names_address("https://h.example/c"));
    }
}
