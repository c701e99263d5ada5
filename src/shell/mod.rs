//! Command text: what would be executed, and what is only data.
//!
//! [`parse`] takes a shell command text apart into the programs that it would start. Quotes,
//! variables, wrappers, scripts in scripts and simple encodings are undone, so that a rule can ask
//! for `git cherry-pick` and neither misses `X=cherry; env git -C . $X-pick` nor accuses
//! `grep "git cherry-pick"`. Nothing is ever run.
//!
//! ```text
//! text ─fold─> text without disguises ─parser─> tree ─evaluator─> invocations
//!              (zero-width, full-width)          │       │ wrappers, shells, git, filters …
//!                                                └ words, heredocs
//! ```
//!
//! # What to expect of the result
//!
//! - The order is that of the text, except that substitutions stand before the pipeline that
//!   contains them: an invocation joined by [`Join::Pipe`] always follows the one it reads from.
//! - Wrappers (`env`, `timeout`, `sudo`, `xargs` …) and shells whose script is known are replaced by
//!   what they run, which inherits their join, variables and redirections. Programs that say
//!   something themselves (`docker run`, `ssh`, `find`, `python -m`, unknown ones) come first, what
//!   they run follows with [`Join::First`].
//! - Both branches of a condition and every arm of a `case` count; loops over literal words are
//!   unrolled; a function body counts where it is defined and again, with its arguments, where it is
//!   called. [`parse_whole_shell`] leaves out the bodies that nothing calls (`functions`).
//! - Texts that are written to a file and run in the same command are followed, and so is what
//!   `echo`, `printf`, `cat` and decoders print: into pipes, substitutions and `eval`.
//! - A download in another language is the made-up program `fetch` with the address as its
//!   argument; `$(< file)` is `cat file`; git's global options are taken off (`-C` is in
//!   [`Invocation::cwd`], `--git-dir` in [`Invocation::env`] as `GIT_DIR`).
//! - Arguments that are text (`git commit -m`, patterns of `grep`) are told by [`data_arguments`].
//! - What is nested deeper than can be followed is read on as a text of its own, so depth hides
//!   nothing; only how it is joined to what stands around it is lost.
//! - Every bound is in `limits`; whenever one is hit, [`CommandLine::incomplete`] is set, and
//!   [`CommandLine::unread`] where the work ended before the text did.
//!
//! Known limits: a variable has the value set last, whichever branch set it; what an unknown
//! program prints is unknown; Makefiles, `expect` and editor scripts are not read.
//!
//! Why an own parser: of those published, `brush-parser` 0.4 (60 crates) overflows the stack on
//! 5,000 nested braces, needs time exponential in unclosed parentheses (24 take 0.4 s) and gives
//! nothing at all for a text with one unmatched quote; `yash-syntax` is GPL, `conch-parser` is
//! abandoned (2019), `tree-sitter-bash` needs a C compiler. Hostile and broken texts are our
//! ordinary input.

mod arithmetic;
mod ast;
mod braces;
mod builtins;
mod call;
mod codec;
mod commands;
mod compound;
mod cursor;
mod data;
mod embedded;
mod escapes;
mod evaluator;
mod expand;
mod expansions;
mod filters;
mod fold;
mod functions;
mod git;
mod heredoc;
pub(crate) mod inert;
pub(crate) mod inflate;
mod interpreters;
mod limits;
mod loops;
pub mod model;
mod parameters;
mod parser;
mod programs;
mod runners;
mod scope;
mod shells;
mod simple;
mod windows;
mod words;
mod wrappers;

use cursor::Base;
use evaluator::{Context, Evaluator};
use functions::Functions;
use parser::{Dialect, Parser};

pub use data::data_arguments;
pub use model::{CommandLine, Invocation, Join, Origin, Redirect, Script, Surroundings, Word};
pub use programs::is_data_program;
pub(crate) use programs::{is_well_known, leads_a_command, may_wrap, runs_others};

/// Takes a command text apart.
///
/// Never fails: what cannot be understood sets [`CommandLine::incomplete`], the rest is there.
pub fn parse(command: &str) -> CommandLine {
    parse_in(command, &Surroundings::default(), false)
}

/// The same, for a shell that ends with the text: functions that nothing in it calls do nothing.
pub fn parse_whole_shell(command: &str) -> CommandLine {
    parse_in(command, &Surroundings::default(), true)
}

/// Takes a command text apart that finds something when it begins; `whole` tells that the shell ends with it.
pub fn parse_in(command: &str, surroundings: &Surroundings, whole: bool) -> CommandLine {
    let folded = fold::fold(command);
    let start = |functions| read(&folded, limits::PART_OF_TREE, functions, surroundings);
    let mut evaluator = start(Functions::default());
    if whole && !evaluator.incomplete {
        let functions = std::mem::take(&mut evaluator.functions);
        let functions = functions.without_callers(&folded.text);
        if !functions.is_empty() {
            // Both readings are not held at once.
            drop(evaluator);
            evaluator = start(functions);
        }
    }
    finish(evaluator, &folded)
}

/// Reads a text in parts of so many nodes.
fn read(
    folded: &fold::Folded<'_>,
    nodes: usize,
    functions: Functions,
    surroundings: &Surroundings,
) -> Evaluator {
    // What it may run is read as well.
    let files = surroundings.files.iter().map(|(_, text)| text.len());
    let length = folded.text.len().saturating_add(files.sum());
    let mut evaluator = Evaluator::new(length, nodes);
    evaluator.scope.surround(surroundings);
    evaluator.functions = functions;
    evaluator.read(
        Dialect::Posix,
        &folded.text,
        Base::Exact(0),
        &Context::default(),
    );
    evaluator.read_aside();
    evaluator
}

fn finish(evaluator: Evaluator, folded: &fold::Folded<'_>) -> CommandLine {
    let mut invocations = evaluator.out;
    for invocation in &mut invocations {
        invocation.offset = folded.original(invocation.offset);
    }
    CommandLine {
        variables: evaluator.scope.variables.known(),
        invocations,
        scripts: evaluator.scripts,
        ran: evaluator.ran.into_iter().collect(),
        incomplete: evaluator.incomplete,
        unread: evaluator.budget.exhausted(),
    }
}

/// The text inside `bash -lc '…'` and its relatives, when the command is nothing else.
///
/// Agents that run every command through a shell record it this way; the inner text is what they
/// meant to run. Expansions in double quotes stay as written.
pub fn strip_shell_wrapper(command: &str) -> Option<String> {
    let mut parser = Parser::new(command, Base::Exact(0), 0, Dialect::Posix);
    let first = parser.part()?;
    let more = parser.part().is_some_and(|part| !part.items.is_empty());
    let [item] = first.items.as_slice() else {
        return None;
    };
    let [only] = item.commands.as_slice() else {
        return None;
    };
    let ast::Kind::Simple(simple) = &only.kind else {
        return None;
    };
    let (program, rest) = simple.words.split_first()?;
    let is_shell = programs::is_shell(programs::base_name(program.plain()?));
    let (script, options) = rest.split_last()?;
    let takes_text = options
        .last()
        .and_then(ast::RawWord::plain)
        .is_some_and(|option| {
            option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')
        });
    let only_options = options
        .iter()
        .all(|word| word.plain().is_some_and(|text| text.starts_with('-')));
    let bare =
        simple.assignments.is_empty() && only.redirects.is_empty() && !more && !parser.incomplete;
    (is_shell && takes_text && only_options && bare).then(|| script.written())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
