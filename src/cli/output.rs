//! Standard output for data, standard error for everything else, colours only where wanted.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anstream::{AutoStream, StripStream};
use trace_audit::Error;
use trace_audit::report::escape::for_terminal;

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On terminals, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where a command writes.
pub(crate) struct Terminal {
    choice: anstream::ColorChoice,
}

impl Terminal {
    /// A terminal with the given wish for colours.
    pub(crate) fn new(color: ColorChoice) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { choice }
    }

    /// Hands `write` the stream for data: the file, or standard output.
    ///
    /// A file appears only when everything was written, so that a failed run leaves no half report.
    pub(crate) fn data(
        &self,
        file: Option<&Path>,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(path) = file else {
            let stdout = AutoStream::new(io::stdout(), self.choice).lock();
            let mut out = BufWriter::new(stdout);
            write(&mut out)?;
            out.flush()?;
            return Ok(());
        };
        let mut bytes = Vec::new();
        write(&mut StripStream::new(&mut bytes))?;
        let mut out = File::create(path).map_err(|e| Error::io(path, e))?;
        out.write_all(&bytes).map_err(|e| Error::io(path, e))?;
        Ok(())
    }

    /// As [`Terminal::data`], for what is too long to be held: a file grows under another name and
    /// takes its own when `write` says that it is whole.
    pub(crate) fn stream(
        &self,
        file: Option<&Path>,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let Some(path) = file else {
            let stdout = AutoStream::new(io::stdout(), self.choice).lock();
            let mut out = BufWriter::new(stdout);
            let whole = write(&mut out)?;
            out.flush()?;
            return Ok(whole);
        };
        // Pipes and devices cannot be renamed.
        let regular = fs::metadata(path).map_or(true, |meta| meta.is_file());
        let mut name = path.as_os_str().to_owned();
        if regular {
            name.push(".partial");
        }
        let partial = Path::new(&name);
        let grown = (|| {
            let file = File::create(partial).map_err(|e| Error::io(partial, e))?;
            let mut out = BufWriter::new(StripStream::new(file));
            let whole = write(&mut out)?;
            out.flush().map_err(|e| Error::io(path, e))?;
            if regular && whole {
                fs::rename(partial, path).map_err(|e| Error::io(path, e))?;
            }
            Ok(whole)
        })();
        if regular && !matches!(grown, Ok(true)) {
            // A half report would be taken for a whole one.
            let _ = fs::remove_file(partial);
        }
        grown
    }

    /// Text of several lines for the person at the terminal.
    pub(crate) fn message(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut err = AutoStream::new(io::stderr(), self.choice).lock();
        // There is nowhere left to report that standard error is closed.
        let _ = write(&mut err);
    }

    /// A remark for the person at the terminal.
    pub(crate) fn note(&self, text: &str) {
        self.stderr("note", text);
    }

    /// Why the command failed.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        let text = error.to_string();
        // Diagnostics of rule files bring the word with them.
        self.stderr("error", text.strip_prefix("error: ").unwrap_or(&text));
    }

    fn stderr(&self, word: &str, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.choice).lock();
        let bold = anstyle::Style::new().bold();
        // Messages name files of the run, and those are hostile; rendered diagnostics span lines.
        let lines: Vec<_> = text.lines().map(for_terminal).collect();
        // There is nowhere left to report that standard error is closed.
        let _ = writeln!(err, "{bold}{word}:{bold:#} {}", lines.join("\n"));
    }
}
