//! A glob that is checked when a rule is read and compiled when a text first meets it.

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A glob over ids of rules or paths, upper and lower case being the same.
#[derive(Debug, Clone)]
pub struct RuleGlob {
    glob: Glob,
    compiled: OnceLock<GlobMatcher>,
}

impl RuleGlob {
    /// Reads a glob.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(source: &str) -> Result<Self, globset::Error> {
        let glob = GlobBuilder::new(source).case_insensitive(true).build()?;
        Ok(Self {
            glob,
            compiled: OnceLock::new(),
        })
    }

    /// True if it fits the whole text.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled
            .get_or_init(|| self.glob.compile_matcher())
            .is_match(text)
    }
}
