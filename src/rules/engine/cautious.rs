//! A command that could not be taken apart, read as text.
//!
//! Its pieces between separators are taken as commands, their words split at blanks, as if there were no
//! quotes. What is found so is doubtful: findings say so, and silence of the result proves nothing.

use super::steps::Step;
use super::windows::{LONGEST, Windows};
use crate::rules::outcome::CallState;
use crate::shell::model::{CommandLine, Invocation, Join, Origin, Redirect, Word};
use crate::shell::{is_data_program, is_well_known, leads_a_command, may_wrap, runs_others};

/// Calls `visit` with the whole text as one step, then with the steps of its pieces.
///
/// With `unread`, part of the text was never looked at, and two kinds of trickery are reckoned with:
/// commands behind words that are not known to run any, and texts that only look like heredocs.
pub(super) fn each_step(text: &str, cwd: Option<&str>, unread: bool, mut visit: impl FnMut(Step)) {
    visit(doubtful(Step {
        text: text.to_owned(),
        ..Step::default()
    }));
    let mut reader = Reader {
        unread,
        cwd,
        visit,
        line: CommandLine::default(),
        words: 0,
        heredoc: None,
    };
    reader.read(text);
    reader.hand_out();
}

/// A step that may be none.
fn doubtful(step: Step) -> Step {
    Step {
        state: CallState {
            unclear: true,
            ..step.state
        },
        cautious: true,
        ..step
    }
}

/// Characters that separate commands, whatever stands around them.
const SEPARATORS: &[char] = &['\n', ';', '|', '&', '(', ')', '`'];

/// Most words of one piece that are looked at together.
const LONGEST_PIECE: usize = 1 << 16;

struct Reader<'c, V> {
    unread: bool,
    cwd: Option<&'c str>,
    visit: V,
    /// Pieces that were not handed out yet.
    line: CommandLine,
    /// Words of them.
    words: usize,
    /// The delimiter of the heredoc whose body is being skipped.
    heredoc: Option<String>,
}

impl<V: FnMut(Step)> Reader<'_, V> {
    /// Hands out the steps of the pieces read so far.
    fn hand_out(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut windows = Windows::new(&line);
        while let Some(steps) = windows.next(self.cwd) {
            steps.into_iter().map(doubtful).for_each(&mut self.visit);
        }
    }

    /// Begins a piece: a text of any length is never there in pieces as a whole.
    fn begin(&mut self, join: Join, words: usize) {
        let most = if join == Join::Pipe {
            2 * LONGEST
        } else {
            LONGEST
        };
        self.words += words;
        if self.line.invocations.len() >= most || self.words > LONGEST_PIECE {
            self.hand_out();
            self.words = words;
        }
    }

    fn read(&mut self, text: &str) {
        for line in text.split('\n') {
            if let Some(delimiter) = &self.heredoc {
                if line.trim() == delimiter {
                    self.heredoc = None;
                }
                continue;
            }
            self.line_of_pieces(line);
            if !self.unread {
                self.heredoc = data_heredoc(line);
            }
        }
    }

    fn line_of_pieces(&mut self, line: &str) {
        let mut join = Join::Then;
        let mut rest = line;
        loop {
            let end = rest.find(SEPARATORS).unwrap_or(rest.len());
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if self.piece(piece, join) {
                join = Join::Then;
            }
            let Some(separator) = after.chars().next() else {
                return;
            };
            rest = after.get(1..).unwrap_or_default();
            join = match (separator, join) {
                ('|', Join::Pipe) => Join::Or,
                ('|', _) => Join::Pipe,
                // `; } | x`: what closes a group stands between it and the pipe.
                (_, Join::Pipe) => Join::Pipe,
                _ => Join::Then,
            };
        }
    }

    /// Adds the commands of a piece; false if there are none.
    fn piece(&mut self, piece: &str, join: Join) -> bool {
        let mut words = piece
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '{', '}', '$']))
            .filter(|word| !word.is_empty())
            .skip_while(|word| leads_a_command(word))
            .peekable();
        let Some(program) = words.peek().map(|word| base_name(word)) else {
            return false;
        };
        let all: Vec<&str> = words.collect();
        for some in all.chunks(LONGEST_PIECE) {
            self.begin(join, some.len());
            self.line.invocations.push(invocation(some, join));
        }
        if self.unread && (may_wrap(program) || runs_others(program)) {
            // The first that means something, unless what it is given is data.
            let inner = all.iter().skip(1).position(|word| {
                let name = base_name(word);
                is_data_program(name) || is_well_known(name) && !runs_others(name)
            });
            let data = |at: usize| {
                all.get(at + 1)
                    .is_some_and(|word| is_data_program(base_name(word)))
            };
            if let Some(inner) = inner
                .filter(|at| !data(*at))
                .and_then(|at| all.get(at + 1..))
            {
                self.line.invocations.push(invocation(inner, join));
            }
        }
        true
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn invocation(words: &[&str], join: Join) -> Invocation {
    let word = |text: &str| Word {
        text: text.to_owned(),
        dynamic: text.contains('$'),
    };
    let (program, rest) = words.split_first().unwrap_or((&"", &[]));
    let (mut args, mut redirects) = (Vec::new(), Vec::new());
    let mut rest = rest.iter().copied();
    while let Some(text) = rest.next() {
        let operator = match text {
            _ if text.starts_with(">>") => ">>",
            _ if text.starts_with('>') => ">",
            _ => {
                args.push(word(text));
                continue;
            }
        };
        let attached = text.trim_start_matches('>');
        let target = if attached.is_empty() {
            rest.next().unwrap_or_default()
        } else {
            attached
        };
        redirects.push(Redirect {
            operator: operator.to_owned(),
            target: word(target),
        });
    }
    Invocation {
        program: base_name(program).to_owned(),
        args,
        env: Vec::new(),
        cwd: None,
        redirects,
        heredoc: None,
        join,
        origin: Origin::Direct,
        detached: false,
        offset: 0,
    }
}

/// The delimiter of a heredoc that a line hands to a program that writes or shows it.
fn data_heredoc(line: &str) -> Option<String> {
    let (before, after) = line.split_once("<<")?;
    let program = before
        .rsplit(SEPARATORS)
        .next()?
        .split_whitespace()
        .next()?;
    if !is_data_program(base_name(program)) {
        return None;
    }
    let word = after.trim_start_matches('-').trim_start();
    let word = word.split_whitespace().next()?;
    let delimiter = word.trim_matches(['"', '\'', '\\']);
    let named = delimiter
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    (named && !delimiter.is_empty()).then(|| delimiter.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, unread: bool) -> Vec<String> {
        let mut out = Vec::new();
        each_step(text, None, unread, |step| {
            assert!(step.cautious && step.state.unclear);
            if step.invocation.is_some() {
                out.push(step.text);
            }
        });
        out
    }

    #[test]
    fn commands_are_found_behind_what_leads_to_them() {
        for (text, want) in [
            ("if true; then gh pr diff 1", vec!["true", "gh pr diff 1"]),
            ("{ { { gh pr diff 1; }; }", vec!["gh pr diff 1"]),
            ("eval eval gh pr diff 1", vec!["gh pr diff 1"]),
            ("sudo A=1 nohup gh pr diff 1", vec!["gh pr diff 1"]),
            ("echo \"$(gh pr diff 1)\"", vec!["echo", "gh pr diff 1"]),
        ] {
            assert_eq!(texts(text, false), want, "{text}");
        }
        assert_eq!(texts("foo -x gh pr diff 1", false), ["foo -x gh pr diff 1"]);
        assert_eq!(
            texts("foo -x gh pr diff 1", true),
            ["foo -x gh pr diff 1", "gh pr diff 1"]
        );
        assert_eq!(texts("echo git show x", true), ["echo git show x"]);
    }

    #[test]
    fn the_body_of_a_heredoc_is_data_unless_it_may_be_a_trick() {
        let text = "cat > a.md <<'E'\ngh pr diff 1\nE\nls";
        assert_eq!(texts(text, false), ["cat <<'E", "ls"]);
        assert!(texts(text, true).contains(&"gh pr diff 1".to_owned()));
        assert!(texts("sh <<E\ngh pr diff 1\nE", false).contains(&"gh pr diff 1".to_owned()));
    }

    #[test]
    fn a_pipe_behind_a_group_is_a_pipe() {
        let mut sinks = Vec::new();
        each_step(
            "{ curl https://h.example/x; } | git apply",
            None,
            false,
            |s| {
                if s.invocation.is_some() {
                    sinks.push(s.state.sink);
                }
            },
        );
        assert_eq!(sinks.first(), Some(&crate::rules::outcome::Sink::Applied));
    }
}
