//! A list of problems that a hostile file cannot blow up.

use serde::Serialize;

/// Most problems of a file that are listed; the others are counted.
pub const MAX_LISTED: usize = 20;

/// What could not be read of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Problems {
    /// How many there are.
    pub count: u64,
    /// The first [`MAX_LISTED`].
    pub listed: Vec<Problem>,
}

/// A place that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// 1-based line (of Parquet: row); 0 when it is about the whole file.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

impl Problems {
    /// Adds one.
    pub fn add(&mut self, line: u64, what: impl Into<String>) {
        self.count += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Problem {
                line,
                what: what.into(),
            });
        }
    }

    /// What the first one is.
    pub fn first(&self) -> Option<&str> {
        self.listed.first().map(|problem| problem.what.as_str())
    }

    /// Where the first one is.
    pub fn first_line(&self) -> Option<u64> {
        self.listed.first().map(|problem| problem.line)
    }
}
