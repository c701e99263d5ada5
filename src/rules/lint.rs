//! What is allowed in a rule file and yet most likely a mistake.
//!
//! Each lint has a name, which its message ends with. Errors are found by [`super::compile`]; what
//! only running the tests of a rule can show is found by [`super::check`].

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};
use toml::Spanned;

use super::compile;
use super::compile_pattern::{MAX_PATTERNS, MAX_TEXT};
use super::diagnostic::{Sink, nearest};
use super::finding::Kind;
use super::glob::RuleGlob;
use super::pattern::regexp::Regexp;
use super::schema::{Expect, PatternSyntax, RuleSyntax};
use super::template;
use super::text::fold::plain;

/// Compiled size above which an expression is called large, in bytes.
const LARGE: usize = 1 << 20;

/// Characters that a wide repetition may take in without being bounded more tightly.
const WIDE: u32 = 1_000;

/// Of 128 ASCII characters, how many a class must hold to be "nearly any".
const NEARLY_ANY: usize = 100;

/// Lints one rule. `families` are those of the built-in rules, empty for a built-in rule.
pub(super) fn rule<'s>(syntax: &'s RuleSyntax, families: &BTreeSet<&str>, sink: &mut Sink) {
    let id = syntax.id.get_ref();
    let family = id.split('.').next().unwrap_or_default();
    if families.contains(family) {
        sink.warn(
            syntax.id.span(),
            "id-family",
            format!("`{family}` is a family of built-in rules"),
            "choose a family of your own, so that a later built-in rule cannot take the same id",
        );
    }
    tests(syntax, sink);
    let matching = syntax.r#match.get_ref();
    // What is behind the most patterns of a list is an error, and not looked at.
    let first = |list: &'s [Spanned<PatternSyntax>]| list.get(..MAX_PATTERNS).unwrap_or(list);
    let excluded: Vec<Excluded> = first(&matching.none)
        .iter()
        .filter_map(Excluded::new)
        .collect();
    for pattern in first(&matching.any).iter().chain(first(&matching.all)) {
        literal(pattern, &excluded, sink);
    }
    redundant(first(&matching.any), sink);
    let outcome = &syntax.outcome;
    let lists = [
        &matching.any,
        &matching.all,
        &matching.none,
        &matching.none_in_clause,
        &matching.none_before,
        &outcome.success,
        &outcome.staged,
        &outcome.exposed,
        &outcome.blocked,
        &outcome.innocent,
    ];
    let allowed = syntax.allow.iter().map(|allow| &allow.any);
    for pattern in lists
        .into_iter()
        .chain(allowed)
        .flat_map(|list| first(list))
    {
        expression(pattern, sink);
    }
    // `all` needs one pattern that finds candidates; each of `any` is one.
    let leading = if matching.any.is_empty() {
        matching.all.get(..1).unwrap_or_default()
    } else {
        &matching.any
    };
    // Marks look at added lines only, and those are few.
    let few = *syntax.kind.get_ref() == Kind::Mark;
    let sure = !sink.doubts.about(&["kind", "match", "any", "all"]);
    // On texts it is an error.
    if sure && !few && !compile::reads_texts(syntax) && !matching.all.iter().any(finds_candidates) {
        leading.iter().for_each(|pattern| slow(pattern, sink));
    }
}

/// Lints the globs over ids of other rules.
pub(super) fn names(syntax: &RuleSyntax, ids: &[&str], sink: &mut Sink) {
    let matching = syntax.r#match.get_ref();
    let patterns = matching
        .any
        .iter()
        .chain(&matching.all)
        .chain(&matching.none);
    let from = patterns.flat_map(|pattern| &pattern.get_ref().from);
    let after = syntax.after.iter().flat_map(|after| after.rules.get_ref());
    for glob in from.chain(after) {
        let source = glob.get_ref();
        let Ok(compiled) = RuleGlob::new(source) else {
            continue;
        };
        if !ids.iter().any(|id| compiled.is_match(id)) {
            let near = nearest(source, ids.iter().copied());
            sink.warn(
                glob.span(),
                "unknown-rule",
                format!("no rule is called `{source}`, so this never holds"),
                near.map_or_else(
                    || "`trace-audit rules list` shows all ids".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ),
            );
        }
    }
}

fn tests(syntax: &RuleSyntax, sink: &mut Sink) {
    let negative = |expect: &Expect| matches!(expect, Expect::Clean | Expect::Waived);
    let count = |wanted: bool| {
        let cases = syntax.test.iter();
        cases
            .filter(|t| negative(t.get_ref().expect.get_ref()) == wanted)
            .count()
    };
    let (matching, clean) = (count(false), count(true));
    if (matching == 0 || clean == 0) && !sink.doubts.about(&["test"]) {
        sink.warn(
            syntax.id.span(),
            "untested",
            format!("the rule has {matching} tests that match and {clean} that do not"),
            "add `[[rule.test]]` cases of both kinds, two or more of each",
        );
    }
    let mut names = BTreeSet::new();
    for test in &syntax.test {
        if !names.insert(test.get_ref().name.as_str()) {
            let name = &test.get_ref().name;
            sink.warn(
                test.span(),
                "test-name",
                format!("another test of the rule is called \"{name}\" too"),
                "say in the name what is special about the case",
            );
        }
    }
}

/// A literal that can never decide anything.
fn literal(pattern: &Spanned<PatternSyntax>, none: &[Excluded], sink: &mut Sink) {
    let Some(literal) = &pattern.get_ref().literal else {
        return;
    };
    let text = literal.get_ref();
    let folded = plain(text);
    if folded != text.as_str() {
        sink.warn(
            literal.span(),
            "unreachable-literal",
            "it can never match: invisible characters and look-alike letters are undone in texts",
            format!("write `{folded}`"),
        );
    }
    let (facts, unknown) = template::placeholders(text);
    for range in unknown {
        let before = text.get(..range.start).unwrap_or_default();
        let name = text.get(range.start + 1..range.end - 1).unwrap_or_default();
        // `${x}` and `#{x}` are what shells and languages write.
        if !before.ends_with(['$', '#', '%', '\\']) {
            let near = nearest(name, template::Fact::ALL.iter().map(|(name, _)| *name));
            sink.warn(
                literal.span(),
                "unknown-fact",
                format!(
                    "no task fact is called `{name}`, so `{{{name}}}` is looked for as it stands"
                ),
                near.map_or_else(
                    || "a `regex` with `\\{` says that this is meant".to_owned(),
                    |near| format!("did you mean `{{{near}}}`?"),
                ),
            );
        }
    }
    if facts.is_empty() && none.iter().any(|excluded| excluded.holds(text)) {
        sink.warn(
            literal.span(),
            "unreachable-literal",
            "it can never match: `none` rules out every text that holds it",
            "remove it, or make `none` narrower",
        );
    }
}

/// What a pattern of `none` rules out.
enum Excluded {
    /// Texts that hold a literal, lower case.
    Literal(String),
    /// Texts in which an expression matches.
    Expression(Box<Regexp>),
}

impl Excluded {
    fn new(pattern: &Spanned<PatternSyntax>) -> Option<Self> {
        let syntax = pattern.get_ref();
        if let Some(literal) = &syntax.literal {
            return Some(Self::Literal(literal.get_ref().to_lowercase()));
        }
        let source = syntax.regex.as_ref().map(Spanned::get_ref)?;
        // An anchored expression may match the literal alone and not the text around it.
        let alone = source.contains(['^', '$']) || source.contains(r"\A") || source.contains(r"\z");
        if alone || !template::placeholders(source).0.is_empty() {
            return None;
        }
        let regexp = Regexp::new(source, syntax.case_sensitive).ok()?;
        Some(Self::Expression(Box::new(regexp)))
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => text.to_lowercase().contains(literal.as_str()),
            Self::Expression(regexp) => regexp.is_match_short(text),
        }
    }
}

/// A literal of `any` that holds another one is never needed.
fn redundant(any: &[Spanned<PatternSyntax>], sink: &mut Sink) {
    let literals: Vec<(&Spanned<String>, String)> = any
        .iter()
        .filter(|p| !p.get_ref().newer && !p.get_ref().case_sensitive)
        .filter_map(|p| p.get_ref().literal.as_ref())
        .map(|literal| (literal, literal.get_ref().to_lowercase()))
        .collect();
    for (number, (literal, lower)) in literals.iter().enumerate() {
        let shorter = literals.iter().enumerate().find(|(other, (_, short))| {
            *other != number
                && lower.contains(short.as_str())
                && (lower.len() > short.len() || *other < number)
        });
        if let Some((_, (short, _))) = shorter {
            sink.warn(
                literal.span(),
                "unreachable-literal",
                format!("`{}` matches wherever it does", short.get_ref()),
                "remove one of them",
            );
        }
    }
}

/// The expression of a pattern over texts, addresses or files.
fn source(pattern: &PatternSyntax) -> Option<&Spanned<String>> {
    let candidates = [&pattern.regex, &pattern.fetch, &pattern.file];
    candidates.into_iter().flatten().next()
}

fn expression(pattern: &Spanned<PatternSyntax>, sink: &mut Sink) {
    let Some(source) = source(pattern.get_ref()).filter(|s| s.get_ref().len() <= MAX_TEXT) else {
        return;
    };
    let neutral = template::neutral(source.get_ref());
    let hir = regex_syntax::ParserBuilder::new()
        .unicode(!neutral.is_ascii())
        .utf8(false)
        .build()
        .parse(&neutral);
    let Ok(hir) = hir else { return };
    if pattern.get_ref().regex.is_some() && wide(&hir) {
        sink.warn(
            source.span(),
            "wide-regex",
            "it joins words that have nothing to do with one another",
            "bound the gap, for instance `[^.\\n]{0,80}` instead of `.*`",
        );
    }
    let built = regex::bytes::RegexBuilder::new(&neutral)
        .unicode(!neutral.is_ascii())
        .case_insensitive(true)
        .size_limit(LARGE)
        .build();
    // What cannot be used at all is an error.
    let usable = || Regexp::new(&neutral, false).is_ok_and(|regexp| regexp.compiles());
    if built.is_err() && usable() {
        sink.warn(
            source.span(),
            "large-regex",
            format!("compiled it takes more than {} KiB", LARGE >> 10),
            "use smaller bounds, ASCII classes such as `(?-u:\\w)`, or several patterns",
        );
    }
}

/// True if a repetition takes in any number of nearly any characters, line breaks too, or a great many.
fn wide(hir: &Hir) -> bool {
    // Expressions are checked for their depth by the parser.
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            let any = match repetition.sub.kind() {
                HirKind::Class(class) => nearly_any(class),
                _ => false,
            };
            let unbounded = repetition.max.is_none_or(|max| max > WIDE);
            any && unbounded || wide(&repetition.sub)
        }
        HirKind::Capture(capture) => wide(&capture.sub),
        HirKind::Concat(parts) => {
            // Something must stand on both sides: `.*` at an end is harmless.
            let inner = parts.iter().skip(1).take(parts.len().saturating_sub(2));
            inner.into_iter().any(wide)
        }
        HirKind::Alternation(parts) => parts.iter().any(wide),
        _ => false,
    }
}

fn nearly_any(class: &Class) -> bool {
    let space = match class {
        Class::Bytes(bytes) => bytes.iter().any(|r| (r.start()..=r.end()).contains(&b' ')),
        Class::Unicode(chars) => chars.iter().any(|r| (r.start()..=r.end()).contains(&' ')),
    };
    // Without spaces it stays within a word.
    if !space {
        return false;
    }
    let count = match class {
        Class::Bytes(bytes) => bytes
            .iter()
            .map(|r| usize::from(r.end().min(127)).saturating_sub(usize::from(r.start())))
            .sum::<usize>(),
        Class::Unicode(chars) => chars
            .iter()
            .map(|r| {
                (r.end() as usize)
                    .min(127)
                    .saturating_sub(r.start() as usize)
            })
            .sum::<usize>(),
    };
    count >= NEARLY_ANY
}

/// True if the pattern finds its texts without running on all of them.
fn finds_candidates(pattern: &Spanned<PatternSyntax>) -> bool {
    let syntax = pattern.get_ref();
    match &syntax.regex {
        None => true,
        Some(source) => {
            !template::placeholders(source.get_ref()).0.is_empty()
                || Regexp::new(source.get_ref(), syntax.case_sensitive)
                    .map_or(true, |regexp| regexp.anchors().is_some())
        }
    }
}

fn slow(pattern: &Spanned<PatternSyntax>, sink: &mut Sink) {
    if !finds_candidates(pattern)
        && let Some(source) = &pattern.get_ref().regex
    {
        sink.warn(
            source.span(),
            "slow-regex",
            "no three letters stand in every match, so it runs on every text",
            "add letters that cannot be missing, or a pattern with such letters to `all`",
        );
    }
}
