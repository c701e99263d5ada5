//! Commands that the task facts allow, and what else such a command may say.
//!
//! `allowed = "gh issue view 481"` allows the same program and sub-command on the same target, with other options
//! that only shape what is printed. It allows nothing wider: no other target, no option that reaches further.

use super::text::folded;
use crate::shell;
use crate::shell::model::Invocation;

/// Programs whose sub-command has two words (`gh pr diff`).
const TWO_WORDS: &[&str] = &["gh", "glab", "hub", "tea", "docker", "go", "cargo", "conda"];

/// Options that reach further than the same command without them.
const WIDENS: &[&str] = &[
    "--all",
    "--branches",
    "--remotes",
    "--tags",
    "--reflog",
    "--walk-reflogs",
    "-g",
    "--glob",
    "--git-dir",
    "--work-tree",
    "--no-index",
    "-R",
    "--repo",
    "--hostname",
    "--index-url",
    "--extra-index-url",
    "-i",
    "--proxy",
    "-x",
    "-K",
    "--config",
    "--next",
    "-:",
    "--input-file",
    "--recursive",
    "-r",
];

/// A command as the facts write it.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    program: String,
    /// The words in front of the targets.
    command: Vec<String>,
    targets: Vec<String>,
    options: Vec<String>,
}

/// The commands that a fact names, one a line or between `;`.
pub(super) fn commands(fact: &str) -> Vec<Allowed> {
    let line = shell::parse(fact);
    line.invocations
        .iter()
        .filter(|invocation| !invocation.args.is_empty())
        .map(|invocation| {
            let (command, targets, options) = parts(invocation, None);
            Allowed {
                program: invocation.program.clone(),
                command,
                targets,
                options,
            }
        })
        .collect()
}

impl Allowed {
    /// True if the command is this one, or a narrower one.
    pub(super) fn fits(&self, invocation: &Invocation) -> bool {
        let (command, targets, options) = parts(invocation, Some(&self.targets));
        let widens = |option: &String| {
            let name = option.split('=').next().unwrap_or(option);
            WIDENS.contains(&name) && !self.options.contains(option)
        };
        // A command of git without a revision is about `HEAD`; elsewhere one without a target is about any.
        let any = self.targets.is_empty() && invocation.program != "git";
        invocation.program == self.program
            && !self.command.is_empty()
            && command == self.command
            && (any || targets == self.targets)
            && self.options.iter().all(|option| options.contains(option))
            && !options.iter().any(widens)
            && !invocation.args.iter().any(|word| word.dynamic)
    }
}

/// The sub-command, the targets and the options of a call. A word behind an option may be its value, if the
/// targets are known and it is none of them.
fn parts(
    invocation: &Invocation,
    known: Option<&[String]>,
) -> (Vec<String>, Vec<String>, Vec<String>) {
    let program = invocation.program.as_str();
    let length = match program {
        "curl" | "wget" | "http" | "xh" => 0,
        _ if TWO_WORDS.contains(&program) => 2,
        _ => 1,
    };
    let mut command = Vec::new();
    // Programs without sub-commands have one all the same, so that a name alone allows nothing.
    if length == 0 {
        command.push(String::new());
    }
    let (mut targets, mut options) = (Vec::new(), Vec::new());
    let mut after_option = false;
    for word in &invocation.args {
        let text = word.text.as_str();
        if text == "--" && program == "git" {
            // Paths make it narrower.
            break;
        }
        let other = known.is_some_and(|known| !known.contains(&folded(text)));
        let value = after_option && other && is_value(program, text);
        after_option = text.starts_with('-') && text.len() > 1;
        if value {
            continue;
        }
        if after_option {
            options.push(text.to_owned());
        } else if command.len() < length {
            command.push(text.to_owned());
        } else {
            targets.push(folded(text.trim_end_matches('/')));
        }
    }
    (command, targets, options)
}

/// True for a word behind an option that can only be its value.
fn is_value(program: &str, text: &str) -> bool {
    let number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match program {
        "git" => number,
        _ => !number && !text.contains("://") && !is_host(text) && !text.starts_with('#'),
    }
}

/// `github.com/acme/widget`, `acme.example`
fn is_host(text: &str) -> bool {
    let host = text.split(['/', ':']).next().unwrap_or_default();
    let ending = host.rsplit_once('.').map_or("", |(_, ending)| ending);
    text.contains('/') && ending.len() >= 2 && ending.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::call::tests::invocation;

    #[test]
    fn the_same_command_and_narrower_ones_fit() {
        for (fact, command, fits) in [
            ("git log --all", "git log --all --oneline -5", true),
            ("git log --all", "git log --all -n 5 -- src", true),
            ("git log --all", "git log -p", false),
            ("git log", "git log --oneline -3", true),
            ("git log", "git log --all", false),
            ("git log", "git log origin/main", false),
            ("git log", "git log -p origin/main", false),
            ("git fetch origin", "git fetch -q origin", true),
            ("git fetch origin", "git fetch origin pull/308/head", false),
            ("git fetch origin", "git pull origin", false),
            ("gh issue view 481", "gh issue view 481 --comments", true),
            (
                "gh issue view 481",
                "gh issue view 481 --json title,body",
                true,
            ),
            ("gh issue view 481", "gh issue view 4812", false),
            ("gh issue view 4812", "gh issue view 481", false),
            (
                "gh issue view 481",
                "gh issue view 481 -R acme/other",
                false,
            ),
            ("gh issue view", "gh issue view 12 --comments", true),
            ("gh issue view", "gh pr view 12", false),
            ("gh pr view 481", "gh pr diff 481", false),
            (
                "curl https://h.example/a",
                "curl -sL https://h.example/a -o /tmp/a",
                true,
            ),
            (
                "curl https://h.example/a",
                "curl -sL https://h.example/b",
                false,
            ),
            (
                "curl https://h.example/a",
                "curl https://h.example/a https://h.example/b",
                false,
            ),
            ("curl https://h.example/a", "curl -o x h.example/b", false),
            ("pip install widget", "pip install -q widget", true),
            ("pip install widget", "pip install widget==4.2", false),
            ("pip download", "pip download widget", true),
            ("git log; gh issue view 481", "gh issue view 481", true),
            ("git log\ngh issue view 481", "git log -1", true),
            ("git", "git log", false),
            ("curl", "curl https://h.example/a", false),
            ("gh pr diff 481", "gh pr diff $N", false),
        ] {
            let call = invocation(command);
            let allowed = commands(fact).iter().any(|allowed| allowed.fits(&call));
            assert_eq!(allowed, fits, "{fact}: {command}");
        }
    }
}
