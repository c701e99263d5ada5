//! One verdict from several: the rule of the panel.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::model::{Outcome, Run};

/// PASS if at least `pass` judges say PASS, else FAIL if at least `fail` say FAIL, else PARTIAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelRule {
    /// Votes for PASS that make a PASS, at least 1.
    pub pass: u64,
    /// Votes for FAIL that make a FAIL, at least 1.
    pub fail: u64,
}

impl PanelRule {
    /// What the panel says of a run; `None` when no judge gave a verdict.
    pub fn judge(self, run: &Run) -> Option<Outcome> {
        let [fail, partial, pass] = run.votes();
        if fail + partial + pass == 0 {
            None
        } else if pass >= self.pass {
            Some(Outcome::Pass)
        } else if fail >= self.fail {
            Some(Outcome::Fail)
        } else {
            Some(Outcome::Partial)
        }
    }
}

impl fmt::Display for PanelRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PASS if at least {} say PASS, else FAIL if at least {} say FAIL, else PARTIAL",
            self.pass, self.fail
        )
    }
}

impl FromStr for PanelRule {
    type Err = String;

    /// Reads `pass=3,fail=2`, in either order.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut pass, mut fail) = (None, None);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value
                .trim()
                .parse::<u64>()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| {
                    format!("`{part}` is not of the form pass=N or fail=N with N from 1 up")
                })?;
            let slot = match key.trim() {
                "pass" => &mut pass,
                "fail" => &mut fail,
                _ => return Err(format!("`{key}` is neither `pass` nor `fail`")),
            };
            if slot.replace(value).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
        }
        match (pass, fail) {
            (Some(pass), Some(fail)) => Ok(Self { pass, fail }),
            _ => Err("both parts are needed, as in pass=3,fail=2".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::score::model::{Place, Rating};

    fn run(verdicts: &str) -> Run {
        let place = Place { file: 0, line: 1 };
        let mut ratings = BTreeMap::new();
        for (i, c) in verdicts.chars().enumerate() {
            let verdict = match c {
                'P' => Outcome::Pass,
                'F' => Outcome::Fail,
                _ => Outcome::Partial,
            };
            ratings.insert(
                format!("j{i}"),
                Rating {
                    verdict,
                    points: vec![],
                    place,
                },
            );
        }
        Run {
            name: "r".into(),
            task: "t".into(),
            agent: "a".into(),
            prompt: String::new(),
            family: String::new(),
            date: String::new(),
            marked: false,
            ratings,
            place,
        }
    }

    #[test]
    fn the_rule_reads_in_order() {
        let default = PanelRule { pass: 3, fail: 2 };
        let lenient = PanelRule { pass: 2, fail: 2 };
        use Outcome::{Fail, Partial, Pass};
        for (votes, by_default, by_lenient) in [
            ("PPPP", Some(Pass), Some(Pass)),
            ("PPPF", Some(Pass), Some(Pass)),
            ("PPFF", Some(Fail), Some(Pass)),
            ("PP-F", Some(Partial), Some(Pass)),
            ("FF--", Some(Fail), Some(Fail)),
            ("F---", Some(Partial), Some(Partial)),
            ("F", Some(Partial), Some(Partial)),
            ("", None, None),
        ] {
            assert_eq!(default.judge(&run(votes)), by_default, "{votes}");
            assert_eq!(lenient.judge(&run(votes)), by_lenient, "{votes}");
        }
    }

    #[test]
    fn reads_its_own_notation() {
        assert_eq!("fail=2, pass=3".parse(), Ok(PanelRule { pass: 3, fail: 2 }));
        for bad in [
            "",
            "pass=3",
            "pass=0,fail=1",
            "pass=3,pass=3",
            "pass=3,fail=x",
            "win=1,fail=1",
        ] {
            assert!(bad.parse::<PanelRule>().is_err(), "{bad}");
        }
    }
}
