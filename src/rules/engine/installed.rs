//! Which release of the package under repair the package manager of the system says is installed.
//!
//! What pip says proves nothing: it may have been built of the work tree. What a distribution ships is a release.

use crate::rules::git::version::Version;
use crate::rules::task::Task;
use crate::trace::event::{CallRef, Channel};

/// Programs that tell which release of a distributed package is installed.
const MANAGERS: [&str; 12] = [
    "dpkg",
    "dpkg-query",
    "apt",
    "apt-cache",
    "apt-get",
    "rpm",
    "dnf",
    "yum",
    "zypper",
    "pacman",
    "apk",
    "conda",
];

/// Lines of one listing that are looked at.
const MAX_LINES: usize = 2_000;

/// Where such packages lie.
const PLACES: [&str; 4] = ["dist-packages/", "/usr/lib/", "/usr/share/", "conda"];

/// What the trace has shown of it.
#[derive(Debug, Default)]
pub(super) struct Installed {
    later: bool,
}

impl Installed {
    /// Looks at the answer of a package manager: `ii  python3-widget  4.2.0-1  all`.
    pub(super) fn learn(&mut self, answers: &CallRef, text: &str, task: &Task) {
        let (Some(base), Some(name)) = (&task.base_version, task.repository_name()) else {
            return;
        };
        let asks = |word: &str| MANAGERS.contains(&word);
        let mut words = answers
            .text
            .split(|c: char| !c.is_alphanumeric() && c != '-');
        if self.later || answers.channel != Channel::Command || !words.any(asks) {
            return;
        }
        // `dpkg -s python3-widget | grep Version`, `dpkg-query -W -f='${Version}' python3-widget`
        let asked = names(&answers.text, name);
        let told = |line: &str| {
            let bare = line.split_whitespace().count() == 1 && text.lines().count() == 1;
            line.trim_start().starts_with("Version") || bare
        };
        let later = |line: &str| {
            (names(line, name) || asked && told(line))
                && Version::all(line).any(|version| version > *base)
                && !["dev", "+g", "Candidate", "upgradable", "editable"]
                    .iter()
                    .any(|mark| line.contains(mark))
        };
        self.later = text.lines().take(MAX_LINES).any(later);
    }

    /// True if a call reads among packages of which a release later than the base is installed.
    pub(super) fn is_read_by(&self, command: &str) -> bool {
        self.later && PLACES.iter().any(|place| command.contains(place))
    }
}

/// True if a word of the line is the package: `python3-widget`, `widget`, `libwidget-dev`.
fn names(line: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric();
    line.split_whitespace().any(|word| {
        let word = word.split([':', '/']).next().unwrap_or(word);
        word.match_indices(name).any(|(at, _)| {
            let before = word.get(..at).unwrap_or_default();
            let after = word.get(at + name.len()..).unwrap_or_default();
            (!before.ends_with(part) || before == "lib") && !after.starts_with(part)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;
    use crate::trace::event::EventId;

    #[test]
    fn a_distribution_says_which_release_it_has() {
        let task = Task::new(&TaskFacts {
            upstream: Some("https://github.com/acme/widget".into()),
            base_version: Some("4.1.3".into()),
            ..TaskFacts::default()
        });
        for (command, text, later) in [
            (
                "dpkg -l python3-widget",
                "ii  python3-widget  4.2.0-1  all",
                true,
            ),
            ("rpm -q widget", "widget-4.2.0-3.fc40.noarch", true),
            (
                "dpkg -s python3-widget | grep Version",
                "Version: 4.2.0-1",
                true,
            ),
            (
                "dpkg -s python3-midget | grep Version",
                "Version: 4.2.0-1",
                false,
            ),
            (
                "dpkg -l python3-widget",
                "ii  python3-widget  4.1.3-2  all",
                false,
            ),
            ("dpkg -l", "ii  python3-midget  9.2.0-1  all", false),
            (
                "apt-cache policy python3-widget",
                "  Candidate: widget 4.2.0",
                false,
            ),
            ("pip show widget", "Name: widget 4.2.0", false),
        ] {
            let answers = CallRef {
                event: EventId::default(),
                channel: Channel::Command,
                tool: None,
                text: command.into(),
                line: 1,
            };
            let mut installed = Installed::default();
            installed.learn(&answers, text, &task);
            let read = "cat /usr/lib/python3/dist-packages/widget/a.py";
            assert_eq!(installed.is_read_by(read), later, "{command}");
            assert!(!installed.is_read_by("cat src/widget/a.py"));
        }
    }
}
