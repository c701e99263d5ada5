//! How commands are cut: into pipelines, programs, words. Recognition, not parsing: `shell` takes commands apart as a shell
//! does; here a quote too many costs little, and `bash -lc "sed -i … f"` is to count like `sed -i … f`.

use std::borrow::Cow;

/// The command without the bodies of its heredocs: those are data, or code of another language.
pub(super) fn without_heredocs(command: &str) -> Cow<'_, str> {
    if !command.contains("<<") {
        return Cow::Borrowed(command);
    }
    let mut out = String::with_capacity(command.len().min(4096));
    let mut ends: Option<String> = None;
    for line in command.lines() {
        if let Some(end) = &ends {
            if line.trim() == end {
                ends = None;
            }
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if let Some((_, after)) = line.split_once("<<")
            && !after.starts_with('<')
        {
            let word = after.trim_start_matches('-').trim_start();
            let end: String = word
                .trim_start_matches(['\'', '"', '\\'])
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            ends = (!end.is_empty()).then_some(end);
        }
    }
    Cow::Owned(out)
}

/// Without redirections that lead nowhere.
pub(super) fn quiet(command: &str) -> Cow<'_, str> {
    if !command.contains('>') {
        return Cow::Borrowed(command);
    }
    let without = command
        .replace("2>&1", "")
        .replace("2>/dev/null", "")
        .replace(">/dev/null", "");
    Cow::Owned(without)
}

/// The pipelines of a command.
pub(super) fn pipelines(command: &str) -> impl Iterator<Item = &str> {
    command.split(['\n', ';', '&'])
}

/// The programs of a command, each with its words; quotes hold nothing together.
pub(super) fn segments(command: &str) -> impl Iterator<Item = &str> {
    command.split(['\n', ';', '|', '&'])
}

/// The same, but a `;` or `|` within quotes parts none.
pub(super) fn sentences(text: &str) -> Vec<String> {
    unquoted(text, &[';', '\n', '|'])
}

/// The pipelines of a command; what stands within quotes parts none.
pub(super) fn statements(text: &str) -> Vec<String> {
    let flat = text.replace("&&", "\n").replace("||", "\n");
    unquoted(&flat, &[';', '\n'])
}

fn unquoted(text: &str, ends: &[char]) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if ends.contains(&c) => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|segment| !segment.trim().is_empty());
    out
}

/// The words of a part of a command, without quotes.
pub(super) fn words(part: &str) -> impl Iterator<Item = &str> {
    part.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | '`'))
        .filter(|word| !word.is_empty())
}

/// The words of a text that a shell would see, without quotes and the signs between commands.
pub(super) fn shell_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | '`' | ';' | '|' | '<' | ',')
    })
    .map(|word| word.trim_end_matches(['.', ':']))
    .filter(|word| !word.is_empty())
}

/// The words of a text that could be paths.
pub(super) fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "/._-+@~%$\\".contains(c);
    text.split(move |c| !part(c))
        .map(|w| w.trim_end_matches(['.', '\\']))
        .filter(|w| w.len() > 1 && w.contains(['.', '/']) || w.len() > 3)
}
