//! A command text as a tree: lists of pipelines of commands, words still unexpanded.
//!
//! The tree keeps only what decides what is executed. Its depth is bounded by
//! [`super::limits::MAX_NESTING`], so that walking and dropping it may recurse.

use std::cell::OnceCell;
use std::rc::Rc;

use super::model::Join;

/// A list of pipelines.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
}

/// A pipeline and how it follows the one before it.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) join: Join,
    /// The commands of the pipeline, each reading what the one before it prints.
    pub(crate) commands: Vec<Command>,
}

impl Script {
    /// What the list is sure to end with, if it is only `true`, `:` or `false`.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self.items.as_slice() {
            [only] => only.constant(),
            _ => None,
        }
    }
}

impl Item {
    /// The simple command that is the whole pipeline.
    fn simple(&self) -> Option<&Simple> {
        match self.commands.as_slice() {
            [
                Command {
                    kind: Kind::Simple(simple),
                    ..
                },
            ] => Some(simple),
            _ => None,
        }
    }

    /// What the pipeline is sure to end with, if it is only `true`, `:` or `false`.
    pub(crate) fn constant(&self) -> Option<bool> {
        let simple = self.simple().filter(|only| only.assignments.is_empty())?;
        let [word] = simple.words.as_slice() else {
            return None;
        };
        match word.plain()? {
            "true" | ":" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// True for an `exit` that nothing decides about: what follows in its list never runs.
    pub(crate) fn leaves(&self) -> bool {
        let program = self.simple().and_then(|simple| simple.words.first());
        matches!(self.join, Join::First | Join::Then)
            && program.and_then(RawWord::plain) == Some("exit")
    }
}

/// One command with its redirections.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<RawRedirect>,
    /// Position in the outermost text.
    pub(crate) offset: usize,
}

/// The forms of a command.
#[derive(Debug)]
pub(crate) enum Kind {
    /// `A=1 program argument…`
    Simple(Simple),
    /// `( … )`: changes of directory and variables end with it.
    Subshell(Script),
    /// `{ …; }` and the parts of `if`, `while`, `until`, in order.
    Group(Vec<Script>),
    /// `for name in words; do body; done`; no words means the positional parameters.
    For {
        name: String,
        words: Option<Vec<RawWord>>,
        body: Script,
    },
    /// `case word in pattern) body;; … esac`.
    Case { word: RawWord, arms: Vec<Script> },
    /// `name() body`.
    Function {
        name: String,
        body: Rc<Command>,
        /// Nodes of the body.
        nodes: usize,
    },
    /// `(( … ))`
    Arithmetic(RawWord),
    /// `for (( … )); do body; done`
    Count { header: RawWord, body: Script },
    /// `[[ … ]]`, as the words between the brackets.
    Test(Vec<RawWord>),
}

/// Assignments and words of a simple command.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<RawWord>,
}

/// `name=value`, `name+=value`, `name=(a b)`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) append: bool,
    pub(crate) value: AssignedValue,
}

/// The right side of an assignment.
#[derive(Debug)]
pub(crate) enum AssignedValue {
    Scalar(RawWord),
    Array(Vec<RawWord>),
    /// `name[i]=value`: the index and the value.
    Element(String, RawWord),
}

/// A redirection as written.
#[derive(Debug)]
pub(crate) struct RawRedirect {
    /// The operator with its descriptor: `2>`, `<<-`.
    pub(crate) operator: String,
    /// File, descriptor, here-string or heredoc delimiter.
    pub(crate) target: RawWord,
    /// The body of a heredoc, filled in when the line ends.
    pub(crate) body: Option<HereBody>,
}

/// Body of a heredoc: read after the command it belongs to.
pub(crate) type HereBody = Rc<OnceCell<RawWord>>;

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawWord {
    pub(crate) parts: Vec<Part>,
    /// As it stands in the text, when it holds an unquoted backslash (needed for Windows paths).
    pub(crate) source: Option<Rc<str>>,
    /// Position of the first byte of its only quoted or plain part in the outermost text, when the
    /// text of the part stands there unchanged.
    pub(crate) exact: Option<usize>,
}

impl RawWord {
    /// The text of a word that is a single unquoted literal.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [
                Part::Literal {
                    text,
                    quoted: false,
                },
            ] => Some(text),
            _ => None,
        }
    }

    /// The text with quotes undone and expansions as written.
    pub(crate) fn written(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal { text, .. } => out.push_str(text),
                Part::Variable { variable, .. } => out.push_str(&variable.raw),
                Part::Command { raw, .. }
                | Part::Process { raw, .. }
                | Part::Arithmetic { raw, .. } => out.push_str(raw),
            }
        }
        out
    }
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Text; unquoted text may hold globs and braces.
    Literal { text: String, quoted: bool },
    /// `$x`, `${x…}`.
    Variable {
        variable: Rc<Variable>,
        quoted: bool,
    },
    /// `$( … )` or backquotes.
    Command {
        script: Rc<Script>,
        raw: Rc<str>,
        quoted: bool,
    },
    /// `<( … )` or `>( … )`.
    Process { script: Rc<Script>, raw: Rc<str> },
    /// `$(( … ))`: the value is never computed, but substitutions inside run.
    Arithmetic { word: Rc<RawWord>, raw: Rc<str> },
}

/// A parameter expansion.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) index: Index,
    pub(crate) operation: Operation,
    /// What follows the operator.
    pub(crate) argument: RawWord,
    /// As written, for unresolved ones.
    pub(crate) raw: String,
}

/// Subscript of a parameter expansion.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Index {
    None,
    /// `[@]`: a word for each.
    All,
    /// `[*]`: one word in quotes.
    Joined,
    At(String),
}

/// What a parameter expansion does with the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `${x}`.
    Value,
    /// `${#x}`.
    Length,
    /// `${!x}`.
    Indirect,
    /// `${x-word}`, `${x:-word}`, `${x?word}`.
    Default,
    /// `${x=word}`, `${x:=word}`.
    Assign,
    /// `${x+word}`, `${x:+word}`.
    Alternative,
    /// `${x#pattern}`, `${x##pattern}`.
    StripPrefix { longest: bool },
    /// `${x%pattern}`, `${x%%pattern}`.
    StripSuffix { longest: bool },
    /// `${x/pattern/text}`, `${x//pattern/text}`.
    Replace { all: bool },
    /// `${x^}`, `${x^^}`.
    Upper { all: bool },
    /// `${x,}`, `${x,,}`.
    Lower { all: bool },
    /// `${x:offset:length}`.
    Substring,
    /// Anything else: not resolved.
    Unknown,
}
