//! Compiles the patterns of a rule; errors point into the expression.

use std::ops::Range;

use toml::Spanned;

use super::diagnostic::Sink;
use super::glob::RuleGlob;
use super::pattern::command::{CommandPattern, GitPattern, WordPattern};
use super::pattern::regexp::{Regexp, RegexpError};
use super::pattern::{Pattern, PatternKind};
use super::rule::Access;
use super::schema::{CommandSyntax, GitSyntax, PatternSyntax};
use super::template::{self, Fact};

/// Where a pattern stands, and so which kinds of pattern make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// In `match`.
    Match,
    /// In `outcome`.
    Outcome,
    /// In `allow`.
    Allow,
}

/// Most patterns of one list.
pub(super) const MAX_PATTERNS: usize = 1_000;

/// Longest text or expression of a pattern, in bytes.
pub(super) const MAX_TEXT: usize = 64 << 10;

/// The patterns of a list that are right.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    /// Those without mistakes.
    pub(super) good: Vec<Pattern>,
    /// Some have mistakes.
    pub(super) bad: bool,
}

/// Compiles patterns, all of them.
pub(super) fn patterns(
    list: Vec<Spanned<PatternSyntax>>,
    position: Position,
    sink: &mut Sink,
) -> Compiled {
    let mut compiled = Compiled::default();
    for (number, syntax) in list.into_iter().enumerate() {
        if number == MAX_PATTERNS {
            sink.error_help(
                syntax.span(),
                format!("there are more than {MAX_PATTERNS} patterns in this list"),
                "write a list of words as one `regex`, or make several rules",
            );
            compiled.bad = true;
            break;
        }
        match pattern(syntax, position, sink) {
            Some(pattern) => compiled.good.push(pattern),
            None => compiled.bad = true,
        }
    }
    compiled
}

fn pattern(syntax: Spanned<PatternSyntax>, position: Position, sink: &mut Sink) -> Option<Pattern> {
    let span = syntax.span();
    let syntax = syntax.into_inner();
    let keys = [
        syntax.literal.is_some(),
        syntax.regex.is_some(),
        syntax.command.is_some(),
        syntax.git.is_some(),
        syntax.fetch.is_some(),
        syntax.file.is_some(),
        syntax.flow.is_some(),
        !syntax.is.is_empty(),
    ];
    if keys.iter().filter(|given| **given).count() != 1 {
        sink.error(
            span,
            "a pattern has exactly one of literal, regex, command, git, fetch, file, flow, is",
        );
        return None;
    }
    if syntax.access.is_some() && syntax.file.is_none()
        || !syntax.from.is_empty() && syntax.flow.is_none()
    {
        sink.error(span, "`access` belongs to `file`, `from` belongs to `flow`");
        return None;
    }
    let case = syntax.case_sensitive;
    let newer = syntax.newer;
    let kind = if let Some(literal) = syntax.literal {
        PatternKind::Text(self::literal(&literal, case, sink)?)
    } else if let Some(regex) = syntax.regex {
        PatternKind::Text(regexp(&regex, case, sink)?)
    } else if let Some(fetch) = syntax.fetch {
        PatternKind::Fetch(regexp(&fetch, case, sink)?)
    } else if let Some(file) = syntax.file {
        let access = syntax.access.unwrap_or_else(|| vec![Access::Read]);
        PatternKind::File(regexp(&file, case, sink)?, access)
    } else if let Some(command) = syntax.command {
        PatternKind::Command(self::command(&command, sink)?)
    } else if let Some(git) = syntax.git {
        PatternKind::Git(self::git(git, sink)?)
    } else if let Some(flow) = syntax.flow {
        PatternKind::Flow(flow, globs(&syntax.from, sink)?)
    } else {
        PatternKind::Is(syntax.is)
    };
    let fits = match (&kind, position) {
        (PatternKind::Is(_), _) => position == Position::Outcome,
        (PatternKind::Text(_), _) => true,
        _ => position != Position::Outcome,
    };
    if !fits {
        sink.error_help(
            span,
            "this kind of pattern cannot stand here",
            "`outcome` takes literal, regex, is; `is` stands only there",
        );
        return None;
    }
    Some(Pattern::new(kind, newer))
}

fn literal(text: &Spanned<String>, case: bool, sink: &mut Sink) -> Option<Regexp> {
    if text.get_ref().is_empty() {
        sink.error(text.span(), "an empty literal matches everything");
        return None;
    }
    short(text, sink)?;
    // Escape all but the placeholders.
    let mut source = String::new();
    let mut rest = text.get_ref().as_str();
    while let Some((before, fact, after)) = next_placeholder(rest) {
        source.push_str(&regex::escape(before));
        source.push_str(&fact.to_string());
        rest = after;
    }
    source.push_str(&regex::escape(rest));
    Regexp::new(&source, case)
        .map_err(|error| sink.error(text.span(), error.message))
        .ok()
}

/// A text that is not too long.
fn short(text: &Spanned<String>, sink: &mut Sink) -> Option<()> {
    let length = text.get_ref().len();
    if length > MAX_TEXT {
        sink.error_help(
            text.span(),
            format!("it has {length} bytes, and a text of a pattern has at most {MAX_TEXT}"),
            "look for the part that tells it from other texts, or use several patterns",
        );
        return None;
    }
    Some(())
}

fn next_placeholder(text: &str) -> Option<(&str, Fact, &str)> {
    Fact::ALL
        .iter()
        .filter_map(|(_, fact)| {
            let (before, after) = text.split_once(&fact.to_string())?;
            Some((before, *fact, after))
        })
        .min_by_key(|(before, _, _)| before.len())
}

/// Compiles an expression; errors point into it.
fn regexp(text: &Spanned<String>, case: bool, sink: &mut Sink) -> Option<Regexp> {
    if sink.trusted {
        return Some(Regexp::trusted(text.get_ref().clone(), case));
    }
    short(text, sink)?;
    let (_, unknown) = template::placeholders(text.get_ref());
    for range in &unknown {
        let name = text.get_ref().get(range.start + 1..range.end - 1);
        let span = inside(text, range, sink.text);
        unknown_fact(name.unwrap_or_default(), span, sink);
    }
    let mut source = text.get_ref().clone();
    for range in unknown.iter().rev() {
        source.replace_range(range.clone(), &"x".repeat(range.len()));
    }
    match Regexp::new(&source, case) {
        Ok(_) if !unknown.is_empty() => None,
        Ok(_) if too_large(&source, case) => {
            sink.error_help(
                text.span(),
                "compiled it is so large that it could not be used",
                "use smaller bounds, ASCII classes such as `(?-u:\\w)`, or several patterns",
            );
            None
        }
        Ok(regexp) => Some(regexp),
        Err(RegexpError { message, span }) => {
            let span = inside(text, &span, sink.text);
            sink.error(span, format!("invalid regex: {message}"));
            None
        }
    }
}

/// True if the expression is right and yet cannot be compiled: it would never match anything.
fn too_large(source: &str, case: bool) -> bool {
    // Only repetitions, classes of Unicode and sheer length make an expression large.
    let may = source.contains('{') || !source.is_ascii() || source.len() > 1_000;
    may && Regexp::new(&template::neutral(source), case).is_ok_and(|regexp| !regexp.compiles())
}

/// The place in the file of a range in a string. A basic string with escapes is pointed at as a
/// whole, because its offsets in the file differ from those in the value.
fn inside(value: &Spanned<String>, range: &Range<usize>, file: &str) -> Range<usize> {
    let whole = value.span();
    let raw = file.get(whole.clone()).unwrap_or_default();
    let quotes = [
        "'''\r\n",
        "'''\n",
        "'''",
        "'",
        "\"\"\"\r\n",
        "\"\"\"\n",
        "\"\"\"",
        "\"",
    ];
    let start = quotes
        .iter()
        .find(|q| raw.starts_with(**q))
        .map_or(0, |q| q.len());
    let same = raw
        .get(start..)
        .is_some_and(|rest| rest.starts_with(value.get_ref().as_str()));
    if same {
        whole.start + start + range.start..whole.start + start + range.end
    } else {
        whole
    }
}

/// Compiles a word, a glob or an expression between slashes.
fn word(text: &Spanned<String>, sink: &mut Sink) -> Option<WordPattern> {
    if sink.trusted {
        return Some(WordPattern::trusted(text.get_ref()));
    }
    short(text, sink)?;
    WordPattern::new(text.get_ref())
        .map_err(|error| sink.error(text.span(), format!("invalid regex: {}", error.message)))
        .ok()
}

/// Compiles words; `None` if one has mistakes, after all were looked at.
pub(super) fn words(list: &[Spanned<String>], sink: &mut Sink) -> Option<Vec<WordPattern>> {
    let words: Vec<Option<WordPattern>> = list.iter().map(|w| word(w, sink)).collect();
    words.into_iter().collect()
}

fn command(syntax: &CommandSyntax, sink: &mut Sink) -> Option<CommandPattern> {
    let span = syntax.program.span();
    let names = syntax.program.get_ref().0.iter();
    let programs: Vec<Spanned<String>> = names
        .map(|p| Spanned::new(span.clone(), p.clone()))
        .collect();
    let mut words = |list: &[Spanned<String>]| words(list, sink);
    let (program, args) = (words(&programs), words(&syntax.args));
    let without = words(&syntax.without);
    Some(CommandPattern {
        program: program?,
        args: args?,
        without: without?,
        repo: syntax.repo,
    })
}

fn git(syntax: GitSyntax, sink: &mut Sink) -> Option<GitPattern> {
    let remote = match syntax.remote {
        Some(remote) => Some(regexp(&remote, false, sink)?),
        None => None,
    };
    Some(GitPattern {
        verb: syntax.verb,
        reach: syntax.reach,
        prints: syntax.prints,
        searches: syntax.searches,
        remote,
    })
}

pub(super) fn unknown_fact(name: &str, span: Range<usize>, sink: &mut Sink) {
    let names: Vec<&str> = Fact::ALL.iter().map(|(name, _)| *name).collect();
    sink.error_help(
        span,
        format!("no task fact is called `{name}`"),
        format!("the facts are {}", names.join(", ")),
    );
}

/// Reads globs; `None` if one has errors, after all were looked at.
pub(super) fn globs(list: &[Spanned<String>], sink: &mut Sink) -> Option<Vec<RuleGlob>> {
    let globs: Vec<Option<RuleGlob>> = list
        .iter()
        .map(|glob| match RuleGlob::new(glob.get_ref()) {
            Ok(glob) => Some(glob),
            Err(error) => {
                sink.error(glob.span(), format!("bad glob: {}", error.kind()));
                None
            }
        })
        .collect();
    globs.into_iter().collect()
}
