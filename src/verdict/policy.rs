//! The numbers of the verdict, kept in TOML.
//!
//! A policy is data: three are built in (`default`, `seed`, `strict`), and a file of the user's own
//! changes what it names and keeps the rest. `default.toml` is at the same time the schema of such a
//! file: a key that it does not have, or has with another type, is an error that names the line.

mod file;
mod scale;

use serde::{Deserialize, Serialize};

/// Every threshold of the verdict table. Shares are in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What reports call it.
    pub name: String,
    /// One sentence on what it is for.
    pub description: String,
    /// When the patch counts as the same as the GT.
    pub same: Same,
    /// How many distinctive lines a similarity verdict needs.
    pub size: Size,
    /// When the lines count as typed by the agent.
    pub typed: Typed,
    /// Clause 1.
    pub preapplied: Preapplied,
    /// Clause 2.
    pub full_leak: FullLeak,
    /// Clause 3.
    pub applied: Applied,
    /// Clause 4.
    pub unexplained: Unexplained,
    /// Clause 4, the `seed` policy's part.
    pub containment: Containment,
    /// Clause 6.
    pub partly_identical: PartlyIdentical,
    /// Clause 7.
    pub some_files: SomeFiles,
    /// Clause 8.
    pub exposed_used: ExposedUsed,
    /// Clause 9.
    pub renamed: Renamed,
    /// Clause 10.
    pub answer_seen: AnswerSeen,
    /// Clause 13.
    pub clean: Clean,
}

/// `same`: one of the two is enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// The copy score is above this.
    pub copy_score: f64,
    /// Identical among eligible files are at least this share.
    pub id_files: f64,
}

/// Sizes in distinctive GT lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// With fewer, lines that were typed acquit.
    pub tiny: u64,
    /// With fewer, similarity alone never convicts.
    pub small: u64,
}

/// When a full trace shows that the agent wrote the lines itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    /// At least this share of the shared distinctive lines.
    pub share: f64,
    /// E above this speaks against "fetched nothing".
    pub max_exposed: f64,
}

/// Clause 1, `gt_preapplied`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preapplied {
    /// Distinctive lines that stood in the tree: at least.
    pub lines: u64,
}

/// What clause 2 wants beside the similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Reference content was taken, by whatever evidence, or shown and used.
    Taken,
    /// An admission, and a share of identical hand-written files instead of `same`.
    Admission,
}

/// Clause 2, `full_leak`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullLeak {
    /// What must be shown.
    pub needs: Needs,
    /// E, together with `x`: at least.
    pub e: f64,
    /// X, together with `e`: at least.
    pub x: f64,
    /// Identical hand-written files, for [`Needs::Admission`]: at least.
    pub identical_files: f64,
}

/// Clause 3, `applied`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// U: at least.
    pub u: f64,
}

/// Clause 4, `unexplained_copy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unexplained {
    /// n: at least.
    pub lines: u64,
    /// n, when R6 or T12 is high: at least.
    pub lines_with_runs: u64,
    /// R6: at least.
    pub r6: f64,
    /// T12: at least.
    pub t12: f64,
}

/// Clause 4 of the `seed` policy: raw line containment alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Containment {
    /// Whether the rule is used.
    pub enabled: bool,
    /// Containment of any one file: above.
    pub any_file: f64,
    /// Containment over all files: above.
    pub overall: f64,
}

/// Clause 6, `partly_identical`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartlyIdentical {
    /// U that is enough with `lines_alone`: at least.
    pub u_alone: f64,
    /// n that is enough with `u_alone`: at least.
    pub lines_alone: u64,
    /// U, together with runs: at least.
    pub u: f64,
    /// n, together with runs: at least.
    pub lines: u64,
    /// R6: at least.
    pub r6: f64,
    /// Or T12: at least.
    pub t12: f64,
}

/// Clause 7, `some_files_copied`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SomeFiles {
    /// Chance of that many identical files: below.
    pub probability: f64,
}

/// Clause 8, `exposed_and_used`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExposedUsed {
    /// X: at least.
    pub x: f64,
    /// Or so many lines in a row of one file: at least.
    pub lines: u64,
}

/// Clause 9, `renamed_copy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// S23: at least.
    pub s23: f64,
    /// GT tokens that are enough alone: at least.
    pub tokens: u64,
    /// GT tokens that are enough with evidence in the trace: at least.
    pub tokens_with_trace: u64,
    /// E that counts as such evidence: at least.
    pub e: f64,
    /// E, in time, from which a part of it may be renamed: at least.
    pub e_of_part: f64,
    /// S23 of such a part: at least.
    pub s23_of_part: f64,
    /// Token shapes of such a part in the patch: at least.
    pub tokens_of_part: u64,
}

/// Clause 10, `answer_seen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerSeen {
    /// How bad it is.
    pub verdict: SeenVerdict,
}

/// What a policy may make of an answer that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenVerdict {
    /// The answer was seen; whether it helped is not the question.
    Partial,
    /// Looking is out.
    Invalid,
}

/// Clause 13.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clean {
    /// Copy score from which a clean verdict carries `elevated_similarity`.
    pub elevated: f64,
}

impl Policy {
    /// SHA-256 of all numbers, in hexadecimal. Name, description, comments and order do not enter.
    pub fn digest(&self) -> String {
        let numbers = Self {
            name: String::new(),
            description: String::new(),
            ..self.clone()
        };
        let text = toml::to_string(&numbers).unwrap_or_default();
        crate::digest::sha256(text.as_bytes())
    }

    /// The first number that makes no sense, by its key.
    fn fault(&self) -> Option<(&'static str, String)> {
        let shares = [
            ("same.copy_score", self.same.copy_score),
            ("same.id_files", self.same.id_files),
            ("typed.share", self.typed.share),
            ("typed.max_exposed", self.typed.max_exposed),
            ("full_leak.e", self.full_leak.e),
            ("full_leak.x", self.full_leak.x),
            ("full_leak.identical_files", self.full_leak.identical_files),
            ("applied.u", self.applied.u),
            ("unexplained.r6", self.unexplained.r6),
            ("unexplained.t12", self.unexplained.t12),
            ("containment.any_file", self.containment.any_file),
            ("containment.overall", self.containment.overall),
            ("partly_identical.u_alone", self.partly_identical.u_alone),
            ("partly_identical.u", self.partly_identical.u),
            ("partly_identical.r6", self.partly_identical.r6),
            ("partly_identical.t12", self.partly_identical.t12),
            ("some_files.probability", self.some_files.probability),
            ("exposed_used.x", self.exposed_used.x),
            ("renamed.s23", self.renamed.s23),
            ("renamed.e", self.renamed.e),
            ("renamed.e_of_part", self.renamed.e_of_part),
            ("renamed.s23_of_part", self.renamed.s23_of_part),
            ("clean.elevated", self.clean.elevated),
        ];
        for (key, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Some((key, format!("is {value}; it is a share, from 0 to 1")));
            }
        }
        let counts = [
            ("size.tiny", self.size.tiny),
            ("size.small", self.size.small),
            ("preapplied.lines", self.preapplied.lines),
            ("unexplained.lines", self.unexplained.lines),
            (
                "unexplained.lines_with_runs",
                self.unexplained.lines_with_runs,
            ),
            (
                "partly_identical.lines_alone",
                self.partly_identical.lines_alone,
            ),
            ("partly_identical.lines", self.partly_identical.lines),
            ("exposed_used.lines", self.exposed_used.lines),
            ("renamed.tokens", self.renamed.tokens),
            ("renamed.tokens_with_trace", self.renamed.tokens_with_trace),
            ("renamed.tokens_of_part", self.renamed.tokens_of_part),
        ];
        for (key, value) in counts {
            if value == 0 {
                return Some((key, "is 0; nothing would be needed".into()));
            }
        }
        let ordered = [
            ("size.tiny", self.size.tiny, "size.small", self.size.small),
            (
                "unexplained.lines_with_runs",
                self.unexplained.lines_with_runs,
                "unexplained.lines",
                self.unexplained.lines,
            ),
            (
                "renamed.tokens_with_trace",
                self.renamed.tokens_with_trace,
                "renamed.tokens",
                self.renamed.tokens,
            ),
        ];
        ordered
            .into_iter()
            .find(|(_, low, _, high)| low > high)
            .map(|(key, low, other, high)| {
                (key, format!("is {low}, which is more than {other}, {high}"))
            })
    }
}
