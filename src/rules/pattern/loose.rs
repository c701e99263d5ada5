//! A looser form of an expression, which is cheap to compile and to run.
//!
//! A rule says how far apart its words may stand: `curl[^\n]{0,300}\.patch`. An automaton counts by having a state
//! for each number, twice for both directions, and most texts that hold one of the words hold no match at all. With
//! the upper bound left out, `curl[^\n]*\.patch`, the automaton has a handful of states, and where it finds nothing, the
//! expression itself finds nothing either and need not be compiled.

use regex_syntax::hir::{Hir, HirKind, Repetition};

/// The smallest upper bound that is left out: below, counting costs less than a second expression.
const LEFT_OUT_FROM: u32 = 24;

/// The expression without its large upper bounds: it matches wherever the expression does. `None`: it has none.
pub(super) fn loose(hir: &Hir) -> Option<Hir> {
    let parts = |parts: &[Hir]| {
        let loosened: Vec<Option<Hir>> = parts.iter().map(loose).collect();
        let any = loosened.iter().any(Option::is_some);
        let whole = parts.iter().zip(loosened);
        any.then(|| whole.map(|(hir, loose)| loose.unwrap_or_else(|| hir.clone())))
            .map(Iterator::collect::<Vec<Hir>>)
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
        HirKind::Capture(capture) => loose(&capture.sub),
        HirKind::Concat(list) => parts(list).map(Hir::concat),
        HirKind::Alternation(list) => parts(list).map(Hir::alternation),
        HirKind::Repetition(repetition) => {
            let counts = repetition.max.is_some_and(|max| max >= LEFT_OUT_FROM);
            let sub = loose(&repetition.sub);
            (counts || sub.is_some()).then(|| {
                Hir::repetition(Repetition {
                    max: repetition.max.filter(|_| !counts),
                    sub: sub.map_or_else(|| repetition.sub.clone(), Box::new),
                    ..repetition.clone()
                })
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loosened(source: &str) -> Option<String> {
        let hir = regex_syntax::parse(source).unwrap();
        loose(&hir).map(|hir| hir.to_string())
    }

    #[test]
    fn large_bounds_are_left_out_and_small_ones_kept() {
        let same = |source: &str| regex_syntax::parse(source).unwrap().to_string();
        for (source, wanted) in [
            ("a[^b]{0,300}c", "a[^b]*c"),
            ("(a|b[^x]{2,80}?)c{1,3}", "(?:a|b[^x]{2,}?)c{1,3}"),
            ("(?:x(?:ab){0,30}y){2}", "(?:x(?:ab)*y){2}"),
        ] {
            assert_eq!(loosened(source), Some(same(wanted)), "{source}");
        }
        for source in ["abc", "a{3,}", "a{0,20}b", r"\bgit\b[ \t]+apply"] {
            assert_eq!(loosened(source), None, "{source}");
        }
    }
}
