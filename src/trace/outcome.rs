//! How a call ended, as far as the text of its result tells.
//!
//! Formats that keep no exit code and no flags write them into the result text. Words in a successful
//! result are content and prove nothing, so refusals and interruptions are only read from results
//! that the format marks as errors.

use memchr::memmem;

use super::event::Outcome;
use super::text::cut;

/// Phrases that agents write when a person or a policy refused the call.
const DENIED: [&str; 13] = [
    "doesn't want to proceed with this tool use",
    "doesn't want to take this action right now",
    "tool use was rejected",
    "The user rejected permission",
    "rejected by the user",
    "rejected by user",
    "User rejected",
    "but you haven't granted it yet",
    "has been denied",
    "Permission denied by",
    "Tool call rejected",
    "was denied by the permission",
    "prevents you from using this specific tool call",
];

/// Phrases for calls that were stopped.
const INTERRUPTED: [&str; 8] = [
    "[Request interrupted by user",
    "Command timed out",
    "command timed out",
    "timed out after",
    "timed out awaiting",
    "Command was aborted",
    "Tool execution aborted",
    "was interrupted",
];

/// Where in a result such phrases are looked for, in bytes.
const HEAD: usize = 2048;
/// Length in bytes of the longest line that is taken for a truncation mark.
const MARK: usize = 160;

/// The outcome that a result text shows. `error` is what the format says.
pub(crate) fn of_text(text: &str, error: bool) -> Outcome {
    let head = cut(text, HEAD);
    let says = |phrases: &[&str]| error && phrases.iter().any(|phrase| head.contains(phrase));
    Outcome {
        exit_code: if error { leading_exit_code(head) } else { None },
        error,
        denied: says(&DENIED),
        interrupted: says(&INTERRUPTED) || head.starts_with("[Request interrupted by user"),
        truncated: is_truncated(text),
    }
}

/// `Exit code 1` at the start of a failed command's result.
fn leading_exit_code(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    let digits = text
        .strip_prefix("Exit code ")
        .or_else(|| text.strip_prefix("Exit code: "))?;
    let end = digits
        .find(|c: char| c != '-' && !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// True when the recorded text says of itself that it is not the whole output.
pub(crate) fn is_truncated(text: &str) -> bool {
    let head = cut(text, HEAD);
    head.starts_with("<persisted-output>")
        || head.starts_with("Output too large")
        || ["runcated", "<response clipped>"].iter().any(|word| {
            memmem::find_iter(text.as_bytes(), word).any(|at| is_mark(line_around(text, at)))
        })
}

/// The line of a text that holds the byte at `at`; empty when it is too long to be a mark.
fn line_around(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let from = at.saturating_sub(MARK);
    let until = bytes.len().min(at + MARK);
    let before = bytes.get(from..at).unwrap_or_default();
    let start = match memchr::memrchr(b'\n', before) {
        Some(feed) => from + feed + 1,
        None if from == 0 => 0,
        None => return "",
    };
    let after = bytes.get(at..until).unwrap_or_default();
    let end = match memchr::memchr(b'\n', after) {
        Some(feed) => at + feed,
        None if until == bytes.len() => until,
        None => return "",
    };
    text.get(start..end).unwrap_or_default()
}

/// A line that a tool writes in place of what it left out: bracketed, or between ellipses.
fn is_mark(line: &str) -> bool {
    let line = line.trim();
    let opens = line.starts_with(['[', '<', '(', '…']) || line.starts_with("...");
    let closes = line.ends_with([']', '>', ')', '…']) || line.ends_with("...");
    opens && closes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_marks() {
        for (text, want) in [
            (
                "<persisted-output>\nOutput too large (106.4KB). Full output saved to: x",
                true,
            ),
            ("1\n2\n\n... [13785 lines truncated] ...", true),
            ("...output truncated...\n\nFull output saved to: /x", true),
            ("a\n[truncated]", true),
            ("a\n[Output truncated: 300 lines]\nb", true),
            ("(output truncated)\n", true),
            ("x\n<response clipped><NOTE>long</NOTE>", true),
            // content that speaks of truncation
            ("    let truncated = line.len() > MAX;\n", false),
            ("// the text is truncated here\n", false),
            ("warning: output truncated by user request", false),
            ("", false),
        ] {
            assert_eq!(is_truncated(text), want, "{text}");
        }
    }

    #[test]
    fn many_words_in_one_long_line_are_quick() {
        assert!(!is_truncated(&"truncated ".repeat(500_000)));
    }

    #[test]
    fn errors() {
        let outcome = of_text("Exit code 128\nfatal: bad revision", true);
        assert_eq!(outcome.exit_code, Some(128));
        assert!(!outcome.succeeded() && !outcome.denied);
        assert_eq!(of_text("Error: Exit code 1\nx", true).exit_code, Some(1));
        assert_eq!(of_text("Exit code 1\nquoted", false), Outcome::default());

        let refused =
            "The user doesn't want to proceed with this tool use. The tool use was rejected";
        assert!(of_text(refused, true).denied);
        assert!(!of_text(refused, false).denied, "content of a good result");
        assert!(of_text("Command timed out after 2m 0s", true).interrupted);
    }
}
