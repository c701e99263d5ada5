//! The clauses of a sentence, so that a negation counts only for what it negates.
//!
//! "There was no retry logic, so I applied PR #12" says that the pull request was applied, and
//! "I did not look at it, I wrote my own" does not. A clause ends at a colon, a dash, a bracket, at
//! a comma unless a list goes on behind it ("not copied, ported or applied"), and in front of words
//! that begin a clause of their own. Errors on the safe side keep a sentence whole: then its
//! negations count for all of it.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// Where a clause begins; the match itself belongs to the new clause.
const BEGINS: &str = concat!(
    // Marks. A comma is one only if no bare participle follows, which would continue a list.
    r"[:：;；，、(（\[]|\s[—–-]{1,2}\s|[—–]|,\s",
    // English: a conjunction with a clause behind it.
    r"|\s(?i:but|because|although|though|whereas|while|therefore|hence|instead)\s",
    r"|\s(?i:so|since|and|and\s+so|and\s+then|then)\s+(?i:I|we|there|it|the)\s",
    // Chinese.
    r"|因此|所以|于是|但是|但|然后|随后|接着|最后|故而",
    // Spanish, Portuguese, French, German, Russian: finite verbs follow.
    r"|\s(?i:pero|porque|así\s+que|entonces|y|mas|então|por\s+isso|e)\s",
    r"|\s(?i:mais|donc|car|puis|et\s+(?:j'|nous|donc|puis))",
    r"|\s(?i:aber|sondern|daher|deshalb|also|weil|und\s+(?:ich|dann|habe|wir))\s",
    r"|\s(?i:но|поэтому|потому|и|затем)\s",
    // Japanese and Korean: the connective ends a clause.
    r"|ので|ため|けれど|(?:어서|아서|해서|므로|지만|니까|는데)\s",
);

/// Behind a comma: a list of participles goes on, or a parenthesis ends.
const CONTINUES: &str = r"\A,\s+(?i:(?:and\s+|or\s+|nor\s+|even\s+|much\s+less\s+)?(?:\w+ed|took|taken|pulled|lifted|borrowed|read|seen|made|done|drawn)\b|or\b|nor\b|at\s|however|of\s+course|in\s)";

/// In front of a comma: the sentence is interrupted.
const INTERRUPTED: &str = r"(?i:\b(?:not|never|n't|no|nicht|не|no|não|pas))\s*\z";

struct Marks {
    begins: Regex,
    continues: Regex,
    interrupted: Regex,
}

/// `None` only if an expression is wrong, which the tests would show.
fn marks() -> Option<&'static Marks> {
    static MARKS: OnceLock<Option<Marks>> = OnceLock::new();
    MARKS
        .get_or_init(|| {
            Some(Marks {
                begins: Regex::new(BEGINS).ok()?,
                continues: Regex::new(CONTINUES).ok()?,
                interrupted: Regex::new(INTERRUPTED).ok()?,
            })
        })
        .as_ref()
}

/// Offsets at which the clauses of a sentence begin, the first always 0.
pub fn clauses(sentence: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let Some(marks) = marks() else { return starts };
    for found in marks.begins.find_iter(sentence) {
        let (head, tail) = sentence.split_at(found.start());
        let comma = tail.starts_with(',');
        if comma && (marks.continues.is_match(tail) || marks.interrupted.is_match(head)) {
            continue;
        }
        // `、` joins the words of a Chinese list and the clauses of a Japanese sentence.
        if tail.starts_with('、') && !sentence.chars().any(is_kana) {
            continue;
        }
        starts.push(found.start());
    }
    starts
}

fn is_kana(c: char) -> bool {
    ('\u{3041}'..='\u{30ff}').contains(&c)
}

/// The clauses that a hit touches, as one range.
pub fn around(starts: &[usize], hit: &Range<usize>, length: usize) -> Range<usize> {
    let start = starts.iter().rev().find(|at| **at <= hit.start);
    let end = starts.iter().find(|at| **at >= hit.end.max(hit.start + 1));
    start.copied().unwrap_or(0)..end.copied().unwrap_or(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::text::slice;

    fn parts(sentence: &str) -> Vec<&str> {
        let mut starts = clauses(sentence);
        starts.push(sentence.len());
        starts
            .windows(2)
            .map(|w| slice(sentence, w[0]..w[1]).trim())
            .collect()
    }

    #[test]
    fn sentences_fall_into_clauses() {
        for (sentence, wanted) in [
            (
                "There was no retry logic, so I applied it",
                &["There was no retry logic", ", so I applied it"][..],
            ),
            (
                "I had no time but copied it",
                &["I had no time", "but copied it"],
            ),
            (
                "I have not copied, ported, or applied it",
                &["I have not copied, ported, or applied it"],
            ),
            (
                "I have not, at any point, copied it",
                &["I have not, at any point, copied it"],
            ),
            (
                "I did not look and copied nothing",
                &["I did not look and copied nothing"],
            ),
            (
                "由于没有测试，我直接照搬了",
                &["由于没有测试", "，我直接照搬了"],
            ),
            ("没有查看、复制或应用", &["没有查看、复制或应用"]),
            (
                "テストがないため、上流をコピーしました",
                &["テストがない", "ため", "、上流をコピーしました"],
            ),
            (
                "No había tests y copié el parche",
                &["No había tests", "y copié el parche"],
            ),
            (
                "Тестов не было, поэтому взял патч",
                &["Тестов не было", ", поэтому взял патч"],
            ),
        ] {
            assert_eq!(parts(sentence), wanted, "{sentence}");
        }
    }

    proptest::proptest! {
        #[test]
        fn clauses_cover_a_hit(text in ".{0,60}", a in 0usize..60, b in 0usize..20) {
            let starts = clauses(&text);
            let hit = a.min(text.len())..(a + b).min(text.len());
            let clause = around(&starts, &hit, text.len());
            proptest::prop_assert!(clause.start <= hit.start && clause.end >= hit.end);
        }
    }
}
