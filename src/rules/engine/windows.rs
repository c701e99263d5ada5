//! A command line of any length, taken up some programs at a time.
//!
//! A step is large and a line may start hundreds of thousands of programs, so its steps are never all
//! there at once. A window ends where no pipeline or substitution is open; only a single pipeline longer
//! than [`LONGEST`] is cut, which [`Windows::cut`] tells.

use std::collections::{BTreeMap, BTreeSet};

use super::sinks::ends;
use super::steps::{Step, is_search, of_invocation, pass_names_on};
use crate::rules::call::programs::{Class, class};
use crate::rules::call::script;
use crate::rules::outcome::{CallState, Sink};
use crate::rules::rule::Access;
use crate::shell::model::{CommandLine, Invocation, Join, Origin, Script};

/// Programs that are taken up together, more where a pipeline goes on.
const USUAL: usize = 512;

/// Programs with more words than that together are taken up apart.
const MANY_WORDS: usize = 1 << 16;

/// Most programs of one pipeline that are looked at together.
pub(super) const LONGEST: usize = 4_096;

/// The steps of a command line, window by window.
#[derive(Debug)]
pub(super) struct Windows<'l> {
    line: &'l CommandLine,
    /// Number of invocations taken up.
    at: usize,
    /// The scripts that each invocation runs.
    scripts: BTreeMap<usize, Vec<&'l str>>,
    /// Scripts of no invocation.
    others: Vec<&'l str>,
    /// The last program that runs only if another one fails.
    last_or: Option<usize>,
    /// A pipeline was longer than [`LONGEST`].
    pub cut: bool,
}

impl<'l> Windows<'l> {
    pub(super) fn new(line: &'l CommandLine) -> Self {
        let (scripts, others) = runners(line);
        Self {
            line,
            at: 0,
            scripts,
            others,
            last_or: line.invocations.iter().rposition(|i| i.join == Join::Or),
            cut: false,
        }
    }

    /// The next steps, in the order of the text, each script behind what runs it.
    pub(super) fn next(&mut self, cwd: Option<&str>) -> Option<Vec<Step>> {
        let start = self.at;
        let rest = self.line.invocations.get(start..).unwrap_or_default();
        if rest.is_empty() {
            let others = std::mem::take(&mut self.others);
            return (!others.is_empty())
                .then(|| others.iter().map(|s| Step::script(s, cwd)).collect());
        }
        let mut words = 0_usize;
        let few = |invocation: &&Invocation| {
            words += invocation.args.len();
            words <= MANY_WORDS
        };
        let mut length = rest.iter().take(USUAL).take_while(few).count().max(1);
        while length < rest.len() && !closed(rest, length) {
            if length == LONGEST {
                self.cut = true;
                break;
            }
            length += 1;
        }
        self.at = start + length;
        let mut steps = self.joined(rest.get(..length).unwrap_or_default(), cwd);
        let mut all = Vec::with_capacity(steps.len());
        // What the scripts of the last program that runs some write by themselves, and where it stands.
        let mut runner: Option<(usize, Vec<String>)> = None;
        for (at, mut step) in steps.drain(..).enumerate() {
            let run = self.scripts.get(&(start + at)).into_iter().flatten();
            let embedded = step
                .invocation
                .as_ref()
                .is_some_and(|i| i.origin == Origin::Embedded);
            if embedded && let Some((place, written)) = &runner {
                if let Some(runner) = all.get(*place) {
                    step = step.printing_to(runner);
                }
                if !step.io.fetches.is_empty() && !written.is_empty() {
                    step.state.keeps = true;
                    step.saves.extend(written.iter().cloned());
                }
            }
            let place = step.place(cwd);
            let written: Vec<String> = run
                .clone()
                .flat_map(|source| script::written(source))
                .map(|path| place.resolve(&path))
                .collect();
            let run: Vec<Step> = run
                .map(|source| Step::script(source, cwd).printing_to(&step))
                .collect();
            if !embedded {
                runner = (!run.is_empty()).then_some((all.len(), written));
            }
            all.push(step);
            all.extend(run);
        }
        Some(all)
    }

    /// The steps of one window, told where their output goes.
    fn joined(&self, invocations: &[Invocation], cwd: Option<&str>) -> Vec<Step> {
        let start = self.at - invocations.len();
        let mut steps: Vec<Step> = invocations.iter().map(of_invocation).collect();
        for at in 1..steps.len() {
            pass_names_on(&mut steps, at);
        }
        let ends = ends(&steps, cwd);
        for (at, ((step, invocation), end)) in
            steps.iter_mut().zip(invocations).zip(ends).enumerate()
        {
            step.state = CallState {
                sink: end.sink,
                forgiving: self.last_or.is_some_and(|or| or > start + at),
                unclear: invocation.detached,
                beside: false,
                opaque: false,
                keeps: false,
            };
            step.saves = end.saves;
        }
        for at in 1..steps.len() {
            let searched = steps.get(at).is_some_and(is_search);
            if let Some(git) = steps.get_mut(at - 1).and_then(|s| s.git.as_mut()) {
                git.searches |= searched;
            }
        }
        set_opaque(&mut steps);
        set_beside(&mut steps);
        steps
    }
}

/// Notes for each step whose output passes through a program that writes it in another way.
fn set_opaque(steps: &mut [Step]) {
    // The output of the step at hand goes on into the one behind it.
    let (mut behind, mut piped) = (false, false);
    for step in steps.iter_mut().rev() {
        let turns = step.invocation.as_ref().is_some_and(is_opaque);
        behind = turns || piped && behind;
        step.state.opaque = behind;
        piped = step.join() == Some(Join::Pipe);
    }
}

/// True for a program whose output is its input, written in a way that cannot be read: turned round, coded, packed.
fn is_opaque(invocation: &Invocation) -> bool {
    let words = || invocation.args.iter().map(|word| word.text.as_str());
    let short = |letters: &[char]| {
        words()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    let undoes = || short(&['d', 'D', 'r']) || words().any(|w| w.starts_with("--d"));
    match invocation.program.as_str() {
        "rev" | "uuencode" | "rot13" | "basenc" | "ascii85" | "hexdump" | "hd" | "od" => true,
        "base64" | "base32" | "xxd" | "openssl" | "gpg" | "age" => !undoes(),
        "gzip" | "pigz" | "bzip2" | "xz" | "zstd" | "lz4" | "brotli" | "lzma" | "compress" => {
            !undoes() && !short(&['l', 't'])
        }
        "tr" => !short(&['d', 's']) && words().filter(|w| w.chars().count() > 2).count() > 1,
        _ => false,
    }
}

/// Notes for each step that brings something whether another part of the command shows a file of the work
/// tree, whatever becomes of that step.
fn set_beside(steps: &mut [Step]) {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let saved: BTreeSet<String> = steps
        .iter()
        .flat_map(|step| step.saves.iter().chain(&step.io.saves))
        .map(|path| name(path))
        .collect();
    let reads = |step: &Step| {
        let program = step.invocation.as_ref().map(|i| class(&i.program));
        matches!(program, Some(Class::Reads | Class::Filters))
            && step.state.sink == Sink::Shown
            && step.io.files.iter().any(|file| {
                file.access == Access::Read
                    && !file.path.starts_with(['/', '~', '$', '-'])
                    && !file.path.starts_with("..")
                    && !file.path.contains(['(', '<'])
                    && !file.path.ends_with(".diff")
                    && !file.path.ends_with(".patch")
                    && !saved.contains(&name(&file.path))
            })
    };
    // Parts of the command that run whether or not the one before succeeded, numbered.
    let mut part = 0;
    let parts: Vec<usize> = steps
        .iter()
        .map(|step| {
            part += usize::from(matches!(step.join(), Some(Join::Or | Join::Then)));
            part
        })
        .collect();
    let readers: BTreeSet<usize> = steps
        .iter()
        .zip(&parts)
        .filter(|(step, _)| reads(step))
        .map(|(_, part)| *part)
        .collect();
    for (step, part) in steps.iter_mut().zip(&parts) {
        let brings = step.git.is_some() || !step.io.fetches.is_empty();
        let others = readers.len() > usize::from(readers.contains(part));
        step.state.beside = brings && step.state.sink == Sink::Shown && others;
    }
}

/// True if nothing is open between the invocation at `at` and the one before it.
fn closed(invocations: &[Invocation], at: usize) -> bool {
    let (Some(before), Some(next)) = (invocations.get(at - 1), invocations.get(at)) else {
        return true;
    };
    let inside = matches!(
        before.origin,
        Origin::Substitution | Origin::ProcessSubstitution
    );
    !inside && next.join != Join::Pipe && next.origin != Origin::Wrapped
}

/// Scripts by the invocation that was given them, and the rest. The same text is taken once.
fn runners<'l>(line: &'l CommandLine) -> (BTreeMap<usize, Vec<&'l str>>, Vec<&'l str>) {
    let mark = |script: &'l Script| script.file.as_deref().unwrap_or(&script.text);
    let mut runner: BTreeMap<&str, (bool, Option<usize>)> = BTreeMap::new();
    for script in &line.scripts {
        runner.insert(mark(script), (script.file.is_some(), None));
    }
    if runner.is_empty() {
        return Default::default();
    }
    for (at, invocation) in line.invocations.iter().enumerate() {
        let words = invocation.args.iter().map(|w| w.text.as_str());
        // A file can be named before it is run: written, made executable.
        let runs = class(&invocation.program) == Class::Runs;
        for text in words.chain(invocation.heredoc.as_deref()) {
            if let Some((file, first @ None)) = runner.get_mut(text)
                && (runs || !*file)
            {
                *first = Some(at);
            }
        }
    }
    let mut scripts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut others = Vec::new();
    for script in &line.scripts {
        match runner.remove(mark(script)) {
            Some((_, Some(at))) => scripts.entry(at).or_default().push(&script.text),
            Some((_, None)) => others.push(script.text.as_str()),
            None => {}
        }
    }
    (scripts, others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    fn windows(text: &str) -> (Vec<usize>, bool) {
        let line = parse(text);
        let mut windows = Windows::new(&line);
        let mut lengths = Vec::new();
        while let Some(steps) = windows.next(None) {
            lengths.push(steps.len());
        }
        (lengths, windows.cut)
    }

    #[test]
    fn a_window_ends_between_pipelines() {
        let list = "a; ".repeat(USUAL - 1);
        assert_eq!(windows(&format!("{list}b; c")), (vec![USUAL, 1], false));
        let piped = windows(&format!("{list}b | c | d; e"));
        assert_eq!(piped, (vec![USUAL + 2, 1], false));
        let inside = windows(&format!("{list}b $(c) $(d); e"));
        assert_eq!(inside, (vec![USUAL + 2, 1], false));
        let (lengths, cut) = windows(&"a | ".repeat(LONGEST + 7));
        assert_eq!((lengths.first(), cut), (Some(&LONGEST), true));
    }

    #[test]
    fn scripts_stand_behind_what_runs_them() {
        let line = parse("x; python -c 'a = 1'; y; python -c 'a = 1'; python -c 'b = 2'");
        let steps = Windows::new(&line).next(None).unwrap();
        let texts: Vec<&str> = steps.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "x",
                "python -c a = 1",
                "a = 1",
                "y",
                "python -c a = 1",
                "python -c b = 2",
                "b = 2"
            ]
        );
    }

    #[test]
    fn a_later_or_forgives_across_windows() {
        let line = parse(&format!("a; {}b || true; c", "x; ".repeat(USUAL)));
        let mut windows = Windows::new(&line);
        let first = windows.next(None).unwrap();
        let last = windows.next(None).unwrap();
        assert!(first.iter().all(|step| step.state.forgiving));
        assert!(last.last().is_some_and(|step| !step.state.forgiving));
    }
}
