//! One prediction against its gold patch, by every rule.

use bstr::ByteSlice;

use super::blog_rule::Outline;
use super::gold::GoldInstance;
use super::unidiff::{Failure, Release};
use crate::patch::parse;

/// What the rules say of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// There is no patch, or only white space.
    pub empty: bool,
    /// The published rule, or why `unidiff` fails on the prediction.
    pub blog: Result<bool, Failure>,
    /// The published rule once both texts end with a line feed.
    pub newline: bool,
    /// The text lacks its final line feed.
    pub no_final_newline: bool,
    /// The runs of changed lines, without context.
    pub no_context: bool,
    /// The robust rule.
    pub robust: bool,
    /// The prediction holds the hidden tests, by the robust rule.
    pub tests: bool,
    /// A change to a file was found by the tolerant reader.
    pub readable: bool,
}

impl Outcome {
    /// The published rule says match.
    pub fn blog_match(&self) -> bool {
        self.blog == Ok(true)
    }

    /// The better of two for "any row of the instance": a match by a rule if either is one.
    pub fn or(self, other: Self) -> Self {
        let blog = match (self.blog, other.blog) {
            (Ok(a), Ok(b)) => Ok(a || b),
            (Ok(a), Err(_)) | (Err(_), Ok(a)) => Ok(a),
            (Err(a), Err(_)) => Err(a),
        };
        Self {
            empty: self.empty && other.empty,
            blog,
            newline: self.newline || other.newline,
            no_final_newline: self.no_final_newline && other.no_final_newline,
            no_context: self.no_context || other.no_context,
            robust: self.robust || other.robust,
            tests: self.tests || other.tests,
            readable: self.readable || other.readable,
        }
    }
}

/// Compares a prediction with the gold patch, if there is one.
///
/// Without a gold patch only the reading is judged and nothing matches.
pub fn judge(gold: Option<&GoldInstance>, prediction: &[u8], release: Release) -> Outcome {
    let empty = prediction.trim().is_empty();
    let outline = Outline::read(prediction, release);
    let blog = match &outline {
        Ok(outline) => Ok(gold.is_some_and(|gold| published(gold, prediction, outline, release))),
        Err(failure) => Err(*failure),
    };
    let mut outcome = Outcome {
        empty,
        blog,
        newline: false,
        no_final_newline: !empty && !prediction.ends_with(b"\n"),
        no_context: false,
        robust: false,
        tests: false,
        readable: false,
    };
    if empty {
        return outcome;
    }
    outcome.newline = gold.is_some_and(|gold| with_newlines(gold, prediction, release, blog));
    let targets = [
        gold.map(|gold| &gold.target),
        gold.and_then(|gold| gold.tests.as_ref()),
    ]
    .map(|target| target.filter(|target| target.may_match(prediction)));
    if let (Some(gold), [_, None]) = (gold, &targets)
        && gold.patch == prediction
    {
        // Verbatim: spares reading it, which is dear where everything is a copy.
        let found = gold.target.of_itself();
        outcome.readable = true;
        outcome.no_context = found.no_context;
        outcome.robust = found.robust;
        return outcome;
    }
    if outline.as_ref().is_ok_and(|outline| !outline.is_empty())
        && targets.iter().all(Option::is_none)
    {
        // Most predictions: there is nothing that the tolerant reader could find.
        outcome.readable = true;
        return outcome;
    }
    let patch = parse(prediction);
    outcome.readable = !patch.files.is_empty();
    let [found, tests] = targets.map(|target| {
        target
            .map(|target| target.compare(&patch))
            .unwrap_or_default()
    });
    outcome.no_context = found.no_context;
    outcome.robust = found.robust;
    outcome.tests = tests.robust;
    outcome
}

/// The published rule, with the dear part last.
fn published(
    gold: &GoldInstance,
    prediction: &[u8],
    outline: &Outline<'_>,
    release: Release,
) -> bool {
    let Ok(names) = &gold.published else {
        return false;
    };
    names
        .iter()
        .all(|name| outline.has(name.as_ref().map(|name| name.as_slice())))
        && (gold.patch == prediction
            || Outline::read(&gold.patch, release).is_ok_and(|gold| gold.contained_in(outline)))
}

/// The published rule where both texts end with a line feed.
fn with_newlines(
    gold: &GoldInstance,
    prediction: &[u8],
    release: Release,
    as_it_is: Result<bool, Failure>,
) -> bool {
    let mend = |text: &[u8]| (!text.ends_with(b"\n")).then(|| [text, b"\n"].concat());
    let (gold_mended, mended) = (mend(&gold.patch), mend(prediction));
    if gold_mended.is_none() && mended.is_none() {
        return as_it_is == Ok(true);
    }
    let gold = gold_mended.as_deref().unwrap_or(&gold.patch);
    let prediction = mended.as_deref().unwrap_or(prediction);
    super::blog_rule::matches(gold, prediction, release) == Ok(true)
}
