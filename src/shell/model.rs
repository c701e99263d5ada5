//! What a command line would execute.

/// One argument after quoting and simple expansions were undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text, with quotes, backslashes and known variables resolved.
    pub text: String,
    /// Holds an expansion that could not be resolved (`$X`, `$(…)`, a glob).
    pub dynamic: bool,
}

/// Where a redirection goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The operator: `>`, `>>`, `<`, `2>`, `&>` …
    pub operator: String,
    /// The file.
    pub target: Word,
}

/// How an invocation is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// First of its list.
    First,
    /// `a ; b`, a new line, `a & b`.
    Then,
    /// `a && b`.
    And,
    /// `a || b`.
    Or,
    /// `a | b`: the standard input is the output of the invocation before.
    Pipe,
}

/// How an invocation came to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It stands in the command line.
    Direct,
    /// `$(…)` or backquotes.
    Substitution,
    /// `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// Argument of a shell (`bash -c`), an `eval`, or a heredoc to a shell.
    Script,
    /// Run by another program: `xargs`, `find -exec`, `env`, `timeout`, `sudo`, `ssh`.
    Wrapped,
    /// Decoded first (`echo … | base64 -d | sh`).
    Decoded,
    /// Found in the source text of another language (`python -c`, `node -e`, a heredoc to one).
    Embedded,
}

/// One program that a command line would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Base name of the program (`git` for `/usr/bin/git`), lower case on nothing: as written.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Word>,
    /// Variables set for this command only (`A=1 cmd`).
    pub env: Vec<(String, Word)>,
    /// Directory that a `cd` before it (or `git -C`) moved to, when it can be told.
    pub cwd: Option<String>,
    /// Redirections.
    pub redirects: Vec<Redirect>,
    /// Text of a heredoc or here-string on its standard input.
    pub heredoc: Option<String>,
    /// How it is joined to the invocation before it in [`CommandLine::invocations`].
    pub join: Join,
    /// How it came to be executed.
    pub origin: Origin,
    /// It was nested too deeply to be read with what stands around it: what reads its output and
    /// whether it depends on others is not known.
    pub detached: bool,
    /// Byte offset in the command text where it begins (of the outermost text it came from).
    pub offset: usize,
}

impl Invocation {
    /// Program and arguments joined by single blanks: what text patterns see of an invocation.
    pub fn text(&self) -> String {
        let mut out = self.program.clone();
        for word in &self.args {
            out.push(' ');
            out.push_str(&word.text);
        }
        out
    }
}

/// What a command finds when it begins: what earlier ones left behind.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The directory that it begins in, where that is known.
    pub directory: Option<String>,
    /// Files with known content, by their path: absolute, or as seen from that directory.
    pub files: Vec<(String, String)>,
    /// Variables of the shell that goes on.
    pub variables: Vec<(String, String)>,
}

/// A source text in another language that would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The name of the interpreter.
    pub language: String,
    /// The text.
    pub text: String,
    /// The file that it was read from, as the command names it.
    pub file: Option<String>,
}

/// A whole command line, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The programs that would be started, in the order of the text.
    pub invocations: Vec<Invocation>,
    /// Source texts in other languages that would be run (`python - <<EOF`, `node -e`).
    pub scripts: Vec<Script>,
    /// Files of the [`Surroundings`] that would be run, by their path.
    pub ran: Vec<String>,
    /// Variables that the shell has at the end, as far as their values are known and short.
    pub variables: Vec<(String, String)>,
    /// Something could not be parsed; text patterns should look at the whole text, cautiously.
    pub incomplete: bool,
    /// The work allowed for the text was used up before its end: some of it was not looked at.
    pub unread: bool,
}
