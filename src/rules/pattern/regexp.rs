//! A regular expression that is checked when a rule is read and compiled when it is first needed.
//!
//! Expressions ignore case unless the rule says otherwise. One of ASCII characters alone is
//! compiled without Unicode tables: `\w`, `\b`, `\d` mean ASCII, which is what such a rule wants,
//! and the engine stays on its fast path on any input. One that holds other characters is compiled
//! with Unicode, and then `\b` must be written `(?-u:\b)`: the Unicode word boundary makes the
//! automaton give up on non-ASCII text (measured: 90 times slower), and finds no boundary in
//! `上游fix`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_automata::{Input, meta};
use regex_syntax::hir::{Hir, Look};

use super::anchors::anchors;
use super::known;
use super::loose::loose;
use crate::rules::template::{self, Fact};

/// Compiled size limit of one expression, in bytes. Larger ones are errors.
const SIZE_LIMIT: usize = 2 << 20;

/// A regular expression with its anchors. Copies of it are compiled once, by the first that needs it.
#[derive(Debug, Clone)]
pub struct Regexp {
    /// As written in the rule.
    written: Arc<str>,
    /// With the facts filled in.
    source: Arc<str>,
    case_sensitive: bool,
    shared: Arc<Shared>,
    compiled: Arc<Compiled>,
}

/// What an expression and its forms with the facts filled in have in common.
#[derive(Debug, Default)]
struct Shared {
    anchors: OnceLock<Option<Vec<Cow<'static, str>>>>,
    /// The last form with the facts filled in: most runs in a row are of one task, or of one rule's tests.
    filled: Mutex<Option<Filled>>,
}

/// An expression with the facts filled in.
#[derive(Debug)]
struct Filled {
    source: Arc<str>,
    /// Anchors of its own; `None`: those of the expression as written.
    own: Option<Arc<Shared>>,
    compiled: Arc<Compiled>,
}

/// What is found out about one source when it is first needed.
#[derive(Debug, Default)]
struct Compiled {
    /// The facts that it names.
    facts: OnceLock<BTreeSet<Fact>>,
    /// The looser form, which is asked first; `None` if the expression has no large bounds.
    loose: OnceLock<Option<meta::Regex>>,
    exact: OnceLock<Option<meta::Regex>>,
}

/// What is wrong with an expression, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegexpError {
    /// The message.
    pub message: String,
    /// Byte range in the expression.
    pub span: Range<usize>,
}

impl Regexp {
    /// Parses the expression.
    ///
    /// # Errors
    /// If it is no regular expression, or one that would be slow (see the module text).
    pub fn new(source: &str, case_sensitive: bool) -> Result<Self, RegexpError> {
        let hir = parse(source)?;
        let new = Self::trusted(source.to_owned(), case_sensitive);
        if template::placeholders(source).0.is_empty() {
            let _ = new.shared.anchors.set(anchors(&hir));
        }
        Ok(new)
    }

    /// An expression that is known to be right. It is not parsed before it is needed.
    pub(in crate::rules) fn trusted(source: String, case_sensitive: bool) -> Self {
        let written: Arc<str> = source.into();
        Self {
            source: Arc::clone(&written),
            written,
            case_sensitive,
            shared: Arc::default(),
            compiled: Arc::default(),
        }
    }

    /// The same with the facts filled in. Its anchors are those that it has whatever the facts are.
    pub(super) fn with_source(&self, source: String) -> Self {
        self.filled(source, |source| Self {
            written: Arc::clone(&self.written),
            source: source.into(),
            case_sensitive: self.case_sensitive,
            shared: Arc::clone(&self.shared),
            compiled: Arc::default(),
        })
    }

    /// The same with the facts filled in and read anew for the anchors that only they give. Facts are escaped,
    /// so this cannot fail on a rule that was checked; should it fail all the same, the result matches nothing.
    pub(super) fn with_anchors_of(&self, source: String) -> Self {
        self.filled(source, |source| {
            Self::new(&source, self.case_sensitive).unwrap_or_else(|_| Self::never())
        })
    }

    /// The last form with the facts filled in, if it is this one; a new one otherwise.
    fn filled(&self, source: String, make: impl FnOnce(String) -> Self) -> Self {
        // Who would have to wait for another run builds its own.
        let Ok(mut last) = self.shared.filled.try_lock() else {
            return make(source);
        };
        if let Some(last) = last.as_ref().filter(|last| *last.source == *source) {
            let own = last.own.as_ref();
            return Self {
                written: Arc::clone(own.map_or(&self.written, |_| &last.source)),
                source: Arc::clone(&last.source),
                case_sensitive: self.case_sensitive,
                shared: Arc::clone(own.unwrap_or(&self.shared)),
                compiled: Arc::clone(&last.compiled),
            };
        }
        let made = make(source);
        let own = !Arc::ptr_eq(&made.shared, &self.shared);
        *last = Some(Filled {
            source: Arc::clone(&made.source),
            own: own.then(|| Arc::clone(&made.shared)),
            compiled: Arc::clone(&made.compiled),
        });
        made
    }

    /// An expression that matches nothing, in place of one that could not be expanded.
    pub fn never() -> Self {
        let never = Self::trusted(r"[^\s\S]".to_owned(), true);
        let _ = never.shared.anchors.set(None);
        let _ = never.compiled.loose.set(None);
        let _ = never.compiled.exact.set(None);
        never
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// True if case matters.
    pub fn case_sensitive(&self) -> bool {
        self.case_sensitive
    }

    /// Literals of which every match contains one, lower case; `None`: there are none.
    pub fn anchors(&self) -> Option<&[Cow<'static, str>]> {
        let find = || known::anchors(&self.written).unwrap_or_else(|| derived(&self.written));
        self.shared.anchors.get_or_init(find).as_deref()
    }

    /// The facts that it names.
    pub(super) fn facts(&self) -> &BTreeSet<Fact> {
        self.compiled
            .facts
            .get_or_init(|| template::placeholders(&self.source).0)
    }

    /// As written in the rule, before any facts were filled in.
    #[cfg(test)]
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    fn syntax(&self) -> syntax::Config {
        syntax::Config::new()
            .unicode(!self.source.is_ascii())
            .case_insensitive(!self.case_sensitive)
            .multi_line(true)
            .utf8(false)
    }

    /// The compiled expression; `None` if it is too large.
    fn regex(&self) -> Option<&meta::Regex> {
        self.compiled
            .exact
            .get_or_init(|| {
                meta::Builder::new()
                    .configure(engine())
                    .syntax(self.syntax())
                    .build(&self.source)
                    .ok()
            })
            .as_ref()
    }

    /// False if the looser form matches nowhere from `start` on.
    fn may_match(&self, text: &str, start: usize) -> bool {
        let loose = self.compiled.loose.get_or_init(|| {
            let hir = syntax::parse_with(&self.source, &self.syntax()).ok()?;
            meta::Builder::new()
                .configure(engine())
                .build_from_hir(&loose(&hir)?)
                .ok()
        });
        let input = || Input::new(text).range(start..);
        loose.as_ref().is_none_or(|regex| regex.is_match(input()))
    }

    /// True if it compiles within the size limit. Costly; for checks and tests.
    pub fn compiles(&self) -> bool {
        self.regex().is_some()
    }

    /// True if it matches anywhere.
    pub fn is_match(&self, text: &str) -> bool {
        self.may_match(text, 0) && self.regex().is_some_and(|r| r.is_match(text))
    }

    /// The same for a short text that no index has seen: the anchors are looked for first, so
    /// that expressions which cannot match are never compiled.
    pub fn is_match_short(&self, text: &str) -> bool {
        let may = match self.anchors() {
            Some(anchors) if text.is_ascii() => anchors.iter().any(|a| contains(text, a)),
            _ => true,
        };
        may && self.is_match(text)
    }

    /// The first match at or after a byte offset, as a byte range.
    pub fn find_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        if start > text.len() || !self.may_match(text, start) {
            return None;
        }
        self.regex()?
            .find(Input::new(text).range(start..))
            .map(|found| found.range())
    }
}

/// The anchors of an expression as written in a rule. A placeholder is a piece that is not known: anchors
/// hold whatever the facts are.
pub(super) fn derived(written: &str) -> Option<Vec<Cow<'static, str>>> {
    let opaque = template::opaque(written);
    let source = opaque.as_deref().unwrap_or(written);
    parse(source).ok().and_then(|hir| anchors(&hir))
}

/// The engine of all expressions: the lazy automaton alone. The index of anchors has already found out that a
/// match is likely, so a search for literals of its own, and the tables of the faster engines, would cost more
/// than half of the compilation and hardly ever pay.
fn engine() -> meta::Config {
    meta::Config::new()
        .auto_prefilter(false)
        .dfa(false)
        .onepass(false)
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .nfa_size_limit(Some(SIZE_LIMIT))
}

/// True if the text contains the lower-case needle, whatever its case.
fn contains(text: &str, needle: &str) -> bool {
    text.as_bytes()
        .windows(needle.len())
        .any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

fn parse(source: &str) -> Result<Hir, RegexpError> {
    // Placeholders are checked as letters of the same length, so that offsets stay right.
    let source = &template::neutral(source);
    let mut parser = regex_syntax::ParserBuilder::new()
        .unicode(!source.is_ascii())
        .utf8(false)
        .multi_line(true)
        .build();
    let error = |message: String, span: &regex_syntax::ast::Span| RegexpError {
        message,
        span: span.start.offset..span.end.offset.max(span.start.offset + 1),
    };
    let hir = match parser.parse(source) {
        Ok(hir) => hir,
        Err(regex_syntax::Error::Parse(e)) => return Err(error(e.kind().to_string(), e.span())),
        Err(regex_syntax::Error::Translate(e)) => {
            return Err(error(e.kind().to_string(), e.span()));
        }
        Err(e) => return Err(whole(source, e.to_string())),
    };
    let properties = hir.properties();
    let looks = properties.look_set();
    if [Look::WordUnicode, Look::WordUnicodeNegate]
        .iter()
        .any(|look| looks.contains(*look))
    {
        let message = r"write (?-u:\b) instead of \b in a pattern with non-ASCII characters";
        return Err(whole(source, message.to_owned()));
    }
    if properties.minimum_len() == Some(0) {
        return Err(whole(source, "it matches the empty text".to_owned()));
    }
    Ok(hir)
}

fn whole(source: &str, message: String) -> RegexpError {
    RegexpError {
        message,
        span: 0..source.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_point_into_the_expression() {
        let error = |source| Regexp::new(source, false).unwrap_err();
        assert_eq!(error("git (reset").span, 4..5);
        assert!(error(r"上游\b").message.contains(r"(?-u:\b)"));
        assert!(error("a*").message.contains("empty"));
    }

    #[test]
    fn ascii_expressions_ignore_case_and_invalid_neighbours() {
        let regexp = Regexp::new(r"\bfix\b", false).unwrap();
        assert_eq!(regexp.find_at("上游Fix。", 0), Some(6..9));
        assert!(!Regexp::new(r"\bfix\b", true).unwrap().is_match("Fix"));
    }

    #[test]
    fn non_ascii_letters_ignore_case_too() {
        assert!(Regexp::new("взял", false).unwrap().is_match("Взял"));
    }

    #[test]
    fn an_expression_that_is_too_large_matches_nothing() {
        let regexp = Regexp::new(r"é(?:\w{1,1000}x){1,20}", false).unwrap();
        assert!(!regexp.compiles());
        assert!(!regexp.is_match("éaax"));
    }

    proptest::proptest! {
        /// The looser form, asked first, decides nothing by itself.
        #[test]
        fn the_looser_form_hides_no_match(text in "(?:curl|wget|[ x|\\n]{0,40}|\\.patch|a){0,12}", start in 0..40_usize) {
            for source in [
                r"\b(?:curl|wget)\b[^\n|]{0,30}\|",
                r"(?:a[^\n]{0,24}\.patch){1,2}",
                r"\A[^x]{3,60}\.patch\b",
            ] {
                let regexp = Regexp::new(source, false).unwrap();
                let exact = regexp.regex().unwrap();
                proptest::prop_assert_eq!(regexp.is_match(&text), exact.is_match(&text));
                if start <= text.len() {
                    let found = exact.find(Input::new(&text).range(start..)).map(|f| f.range());
                    proptest::prop_assert_eq!(regexp.find_at(&text, start), found);
                }
            }
        }
    }
}
