//! The one error type of the library. A message names the file, what is wrong and what to do.

use std::path::PathBuf;

/// What a fallible library call returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an audit could not be done. Every variant maps to one exit code (see [`Error::exit_code`]).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input that was named, or that the run needs, is not there or may not be read.
    #[error("{path}: {what}\n  {fix}", path = path.display())]
    InputMissing {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, without a final full stop.
        what: String,
        /// What the user can do, often the exact command.
        fix: String,
    },
    /// An input was read and does not hold what it should.
    #[error("{}{}: {what}\n  {fix}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    BadData {
        /// The file.
        path: PathBuf,
        /// 1-based line, where there is one.
        line: Option<u64>,
        /// What is wrong.
        what: String,
        /// What the user can do.
        fix: String,
    },
    /// Rule files with errors; the text is already rendered with file, line, column and caret.
    #[error("{rendered}")]
    BadRules {
        /// All diagnostics, rendered for a person.
        rendered: String,
        /// How many errors.
        errors: usize,
    },
    /// The operating system refused something that should work.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Options that contradict each other or the inputs.
    #[error("{what}\n  {fix}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What the user can do.
        fix: String,
    },
}

impl Error {
    /// Wraps an I/O error with the path it is about.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// The process exit code: 64 usage, 65 bad data, 66 input missing, 74 I/O (as in `sysexits.h`).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 64,
            Self::BadData { .. } | Self::BadRules { .. } => 65,
            Self::InputMissing { .. } => 66,
            Self::Io { .. } => 74,
        }
    }
}
