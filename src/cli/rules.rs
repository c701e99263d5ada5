//! `trace-audit rules`: which rules there are, and whether their tests hold.

use std::io::Write;
use std::path::PathBuf;

use trace_audit::Error;
use trace_audit::rules::finding::Kind;
use trace_audit::rules::{Rule, RuleSet, SelfTestReport};

use super::output::Terminal;

/// Exit code of `rules test` when a test fails.
const FAILED: u8 = 1;

/// Options of `rules`.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RulesCommand {
    /// One line a rule: id, kind, what it proves, title
    List {
        /// Print the rules' regular expressions instead, one a line, as ripgrep accepts them
        #[arg(long)]
        patterns: bool,
        #[command(flatten)]
        loaded: Loaded,
    },
    /// One rule in full
    Show {
        /// Id of the rule, family.name
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        loaded: Loaded,
    },
    /// Run the tests of all rules; exit code 1 when one fails
    Test(Loaded),
}

/// Which rules to load.
#[derive(Debug, clap::Args)]
struct Loaded {
    /// Directories or files with rules that are added to the built-in ones
    #[arg(value_name = "DIR")]
    rules: Vec<PathBuf>,
}

/// Lists, shows or tests.
pub(crate) fn run(args: &RulesArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    match &args.command {
        RulesCommand::List { patterns, loaded } => {
            let rules = RuleSet::load(&loaded.rules)?;
            let print = if *patterns { list_patterns } else { list };
            terminal.data(None, |out| Ok(print(&rules, out)?))?;
            Ok(0)
        }
        RulesCommand::Show { id, loaded } => {
            // Built-in rules are loaded without their tests for speed; people who look at one want all of it.
            let rules = RuleSet::load(&loaded.rules)?.in_full()?;
            let rule = rules.rule(id).ok_or_else(|| unknown(id))?;
            terminal.data(None, |out| Ok(show(rule, out)?))?;
            Ok(0)
        }
        RulesCommand::Test(loaded) => {
            let report = RuleSet::load(&loaded.rules)?.selftest();
            terminal.data(None, |out| Ok(print_tests(&report, out)?))?;
            Ok(if report.ok() { 0 } else { FAILED })
        }
    }
}

fn unknown(id: &str) -> Error {
    Error::Usage {
        what: format!("there is no rule `{id}`"),
        fix: "`trace-audit rules list` names them all".to_owned(),
    }
}

/// What a rule proves at most, in one word.
fn proves(rule: &Rule) -> String {
    let kind = format!("{:?}", rule.kind).to_lowercase();
    if rule.kind == Kind::Action {
        format!("{kind}, {:?}", rule.stage).to_lowercase()
    } else {
        kind
    }
}

fn list(rules: &RuleSet, out: &mut dyn Write) -> std::io::Result<()> {
    let width = rules.rules().iter().map(|r| r.id.len()).max().unwrap_or(0);
    for rule in rules.rules() {
        let off = if rule.disabled.is_some() {
            " (off)"
        } else {
            ""
        };
        writeln!(
            out,
            "{:width$}  {:20}  {}{off}",
            rule.id,
            proves(rule),
            rule.title
        )?;
    }
    Ok(())
}

fn list_patterns(rules: &RuleSet, out: &mut dyn Write) -> std::io::Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for regex in rules.rules().iter().flat_map(Rule::regexes) {
        if seen.insert(regex) {
            writeln!(out, "{regex}")?;
        }
    }
    Ok(())
}

fn show(rule: &Rule, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}  {}", rule.id, rule.title)?;
    writeln!(out, "  proves      {}", proves(rule))?;
    if let Some(cause) = rule.cause {
        writeln!(out, "  cause       {}", cause.name())?;
    }
    writeln!(
        out,
        "  severity    {}",
        format!("{:?}", rule.severity).to_lowercase()
    )?;
    writeln!(out, "  confidence  {}", rule.confidence.name())?;
    writeln!(out, "  file        {}", rule.origin)?;
    writeln!(out, "  tests       {}", rule.tests.len())?;
    for (name, text) in [("what", &rule.description), ("advice", &rule.advice)] {
        if !text.is_empty() {
            writeln!(out, "  {name:10}  {text}")?;
        }
    }
    if let Some(reason) = &rule.disabled {
        writeln!(out, "  switched off: {reason}")?;
    }
    Ok(())
}

fn print_tests(report: &SelfTestReport, out: &mut dyn Write) -> std::io::Result<()> {
    for failure in &report.failed {
        writeln!(
            out,
            "FAILED {}: \"{}\" expects {}, got {}",
            failure.rule, failure.case, failure.expected, failure.got
        )?;
    }
    for case in &report.todo {
        writeln!(out, "known gap {case}")?;
    }
    for rule in &report.untested {
        writeln!(
            out,
            "note: {rule} lacks a test that matches, or one that does not"
        )?;
    }
    writeln!(
        out,
        "{} passed, {} failed, {} known gaps",
        report.passed,
        report.failed.len(),
        report.todo.len()
    )
}
