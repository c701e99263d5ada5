//! Statements of a source text that do nothing but hold or print words.
//!
//! An address in a comment, in a `print` of a plain string, or in a name that nothing uses is no fetch. Only whole
//! statements of the plainest forms are taken out; everything else stays, since a miss would hide a leak.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// A plain string without anything that is computed in it.
const PLAIN: &str = r#"[rbuRBU]{0,2}(?:"[^"\n`]*"|'[^'\n`]*')"#;

/// Longest source text that is looked at, in bytes; a longer one stays as it is.
const LONGEST: usize = 1 << 20;

static SPOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let speaks = r"print|puts|console\.(?:log|info|warn|error)|logg(?:er|ing)\.\w+|log\.\w+";
    Regex::new(&format!(
        r"\A\s*(?:(?:#|//).*|(?:{speaks})\s*\(?\s*{PLAIN}\s*\)?\s*;?\s*)\z"
    ))
    .ok()
});

static BOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"\A\s*(?:export\s+)?(?:(?:const|let|var)\s+)?([A-Za-z_]\w*)(?:\s*:\s*\w+)?\s*=\s*{PLAIN}\s*;?\s*\z"
    ))
    .ok()
});

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z_]\w*").ok());

/// The source text with such statements blanked out, all positions kept.
pub(crate) fn live(source: &str) -> Cow<'_, str> {
    let (Some(spoken), Some(bound), Some(word)) = (SPOKEN.as_ref(), BOUND.as_ref(), WORD.as_ref())
    else {
        return Cow::Borrowed(source);
    };
    // Names may be made up at run time.
    let computed = ["exec", "eval", "globals", "locals", "getattr", "vars("];
    if source.len() > LONGEST || computed.iter().any(|name| source.contains(name)) {
        return Cow::Borrowed(source);
    }
    let mut uses = std::collections::BTreeMap::<&str, usize>::new();
    for found in word.find_iter(source) {
        *uses.entry(found.as_str()).or_default() += 1;
    }
    let inert = |statement: &str| {
        // What a template computes is no plain string.
        if ["${", "#{", "$("]
            .iter()
            .any(|mark| statement.contains(mark))
        {
            return false;
        }
        let unused = |name: &str| uses.get(name) == Some(&1);
        spoken.is_match(statement)
            || bound
                .captures(statement)
                .and_then(|found| found.get(1))
                .is_some_and(|name| unused(name.as_str()))
    };
    let mut out = String::with_capacity(source.len());
    let mut changed = false;
    for part in source.split_inclusive(['\n', ';']) {
        let (statement, end) = match part.strip_suffix(['\n', ';']) {
            Some(statement) => (statement, part.get(statement.len()..).unwrap_or_default()),
            None => (part, ""),
        };
        if inert(statement) {
            changed = true;
            out.extend(std::iter::repeat_n(' ', statement.len()));
        } else {
            out.push_str(statement);
        }
        out.push_str(end);
    }
    if changed {
        Cow::Owned(out)
    } else {
        Cow::Borrowed(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_do_nothing_are_taken_out() {
        for (source, stays) in [
            ("print('https://h.example/x')", false),
            ("# https://h.example/x", false),
            ("URL = 'https://h.example/x'\nprint(1)", false),
            ("const URL = \"https://h.example/x\";", false),
            ("URL = 'https://h.example/x'\nrequests.get(URL)", true),
            ("print(requests.get('https://h.example/x').text)", true),
            ("requests.get('https://h.example/x')", true),
            ("u = 'https://h.example/x'; urlopen(u)", true),
            ("U = 'https://h.example/x'\nexec(code)", true),
        ] {
            let live = live(source);
            assert_eq!(live.contains("https"), stays, "{source}");
            assert_eq!(live.len(), source.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn positions_stay(text in "(?:print\\(|'|\"|\n|;|#|x = |\\PC){0,30}") {
            proptest::prop_assert_eq!(live(&text).len(), text.len());
        }
    }
}
