//! `trace-audit rules`: which rules there are, whether they are sound, what they hit, and a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use trace_audit::audit::scan::scan;
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, TaskInputs, discover_task};
use trace_audit::report::escape::for_terminal;
use trace_audit::rules::finding::{Finding, Kind};
use trace_audit::rules::template::{Fact, general};
use trace_audit::rules::{Engine, Rule, RuleSet, SelfTestReport, is_rule_id};
use trace_audit::trace::TraceFile;
use trace_audit::{Error, Result};

use super::output::Terminal;

/// Exit code when a test fails or something is wrong with a rule file.
const FAILED: u8 = 1;

/// What `rules new` writes; `ID`, `NAME` stand for the id and its last part.
const SKELETON: &str = include_str!("rules_new.toml");

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
    /// Show everything that is wrong with rule files: errors, likely mistakes, failing tests
    Check {
        /// Directories or files with rules; without any, the built-in rules
        #[arg(value_name = "DIR")]
        rules: Vec<PathBuf>,
    },
    /// Run the tests of all rules; exit code 1 when one fails
    Test(TestArgs),
    /// Write a commented rule with tests, to start from
    New {
        /// Id of the rule, family.name
        #[arg(value_name = "ID")]
        id: String,
        /// File to write; - is standard output. Default: ID.toml
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Options of `rules test`.
#[derive(Debug, clap::Args)]
struct TestArgs {
    #[command(flatten)]
    loaded: Loaded,
    /// Show what each rule hits in this trace, instead of running its tests; may be given several times.
    /// With DIR, only the rules of DIR
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,
    /// Task facts for --trace: TSV with a header, or TOML
    #[arg(long, value_name = "FILE", requires = "traces")]
    facts: Option<PathBuf>,
    /// Task id for --trace
    #[arg(long, value_name = "ID", requires = "traces")]
    task: Option<String>,
}

/// Which rules to load.
#[derive(Debug, clap::Args)]
struct Loaded {
    /// Directories or files with rules that are added to the built-in ones
    #[arg(value_name = "DIR")]
    rules: Vec<PathBuf>,
}

impl Loaded {
    /// The rule comes from one of the directories; any rule, when none is named.
    fn wants(&self, rule: &Rule) -> bool {
        let origin = Path::new(&rule.origin);
        self.rules.is_empty() || self.rules.iter().any(|dir| origin.starts_with(dir))
    }
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
        RulesCommand::Check { rules } => check(rules, terminal),
        RulesCommand::Test(args) if !args.traces.is_empty() => hits(args, terminal),
        RulesCommand::Test(args) => {
            let report = RuleSet::load(&args.loaded.rules)?.selftest();
            terminal.data(None, |out| Ok(print_tests(&report, out)?))?;
            Ok(if report.ok() { 0 } else { FAILED })
        }
        RulesCommand::New { id, output } => new(id, output.as_deref(), terminal),
    }
}

fn check(dirs: &[PathBuf], terminal: &Terminal) -> anyhow::Result<u8> {
    let report = RuleSet::check(dirs)?;
    terminal.data(None, |out| {
        if !report.rendered.is_empty() {
            writeln!(out, "{}\n", report.rendered)?;
        }
        let not_run = match report.not_run {
            0 => String::new(),
            not_run => format!(", {not_run} not run"),
        };
        writeln!(
            out,
            "{} rules: {} errors, {} warnings, {} tests passed{not_run}",
            report.rules, report.errors, report.warnings, report.passed
        )?;
        Ok(())
    })?;
    Ok(if report.ok() { 0 } else { FAILED })
}

fn new(id: &str, output: Option<&Path>, terminal: &Terminal) -> anyhow::Result<u8> {
    if !is_rule_id(id) {
        return Err(Error::Usage {
            what: format!("`{id}` is no rule id"),
            fix: "write family.name with a-z, 0-9 and -, at most 48 bytes".to_owned(),
        }
        .into());
    }
    let (family, name) = id.split_once('.').unwrap_or((id, id));
    let built_in = RuleSet::builtin()?;
    let taken = |rule: &Rule| rule.id.split('.').next() == Some(family);
    if built_in.rules().iter().any(taken) {
        return Err(Error::Usage {
            what: format!("`{family}` is a family of built-in rules"),
            fix: format!("choose a family of your own, such as `ours.{name}`"),
        }
        .into());
    }
    let program = name.rsplit('.').next().unwrap_or(name);
    let text = SKELETON
        .replace("FAMILY", family)
        .replace("ID", id)
        .replace("NAME", program);
    if output.is_some_and(|path| path.as_os_str() == "-") {
        return terminal
            .data(None, |out| Ok(out.write_all(text.as_bytes())?))
            .map(|()| 0);
    }
    let path = output.map_or_else(|| PathBuf::from(format!("{id}.toml")), Path::to_owned);
    if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
        fs::create_dir_all(directory).map_err(|e| Error::io(directory, e))?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Usage {
                what: format!("{} exists", path.display()),
                fix: "name another file with -o, or remove it".to_owned(),
            },
            _ => Error::io(&path, e),
        })?;
    file.write_all(text.as_bytes())
        .map_err(|e| Error::io(&path, e))?;
    terminal.note(&format!(
        "wrote {}; change it, then run `trace-audit rules check` on it",
        path.display()
    ));
    Ok(0)
}

/// What the rules hit in real traces.
fn hits(args: &TestArgs, terminal: &Terminal) -> anyhow::Result<u8> {
    let rules = RuleSet::load(&args.loaded.rules)?;
    let config = Config::find(None, None)?;
    let options = Options {
        task: args.task.clone(),
        facts: args.facts.clone(),
        ..Options::default()
    };
    let task = discover_task(&options, &config)?;
    let mut found: BTreeMap<&str, Vec<Finding>> = rules
        .rules()
        .iter()
        .filter(|rule| args.loaded.wants(rule))
        .map(|rule| (rule.id.as_str(), Vec::new()))
        .collect();
    for path in &args.traces {
        for finding in findings(&rules, &task, path)? {
            if let Some(list) = found.get_mut(finding.rule.as_str()) {
                list.push(finding);
            }
        }
    }
    let inactive = inactive(&rules, &task, &found);
    // Of many rules only those that hit something are of interest.
    let all = !args.loaded.rules.is_empty();
    terminal.data(None, |out| {
        for (rule, list) in found.iter().filter(|(_, list)| all || !list.is_empty()) {
            match inactive.get(*rule) {
                Some(fact) => writeln!(out, "{rule}  inactive: the task fact {fact} is missing")?,
                None => writeln!(out, "{rule}  {} hits", list.len())?,
            }
            for finding in list {
                writeln!(out, "  {}", hit(finding))?;
            }
        }
        let hit = found.values().filter(|list| !list.is_empty()).count();
        writeln!(out, "{hit} of {} rules hit something", found.len())?;
        Ok(())
    })?;
    if !inactive.is_empty() {
        let facts: BTreeSet<&str> = inactive.values().copied().collect();
        let facts: Vec<&str> = facts.into_iter().collect();
        terminal.note(&format!(
            "{} of the rules are inactive, since nothing is known of the task's {}: give its facts with --facts FILE --task ID",
            inactive.len(),
            facts.join(", ")
        ));
    }
    Ok(0)
}

/// The rules among those of interest that name a fact which the task lacks, with that fact.
fn inactive(
    rules: &RuleSet,
    task: &TaskInputs,
    wanted: &BTreeMap<&str, Vec<Finding>>,
) -> BTreeMap<String, &'static str> {
    let report = Engine::new(rules, &task.facts, None, Vec::new()).finish();
    let missing = report.inactive.into_iter().filter_map(|rule| {
        let fact = Fact::named(&rule.missing_fact)?;
        wanted
            .contains_key(rule.id.as_str())
            .then_some((rule.id, fact.column()))
    });
    missing.collect()
}

fn findings(rules: &RuleSet, task: &TaskInputs, path: &Path) -> Result<Vec<Finding>> {
    let file = TraceFile {
        path: path.to_owned(),
        label: path.display().to_string(),
    };
    Ok(scan(rules, task, file)?.findings)
}

fn hit(finding: &Finding) -> String {
    let mut words = vec![finding.stage.map_or_else(
        || format!("{:?}", finding.kind).to_lowercase(),
        |stage| format!("{stage:?}").to_lowercase(),
    )];
    if finding.blocked {
        words.push("blocked".to_owned());
    }
    if let Some(reason) = &finding.waived {
        words.push(format!("waived: {}", for_terminal(reason)));
    }
    format!(
        "{}:{}  {}  \"{}\"   {}",
        for_terminal(&finding.trace),
        finding.line,
        finding.channel,
        for_terminal(&finding.excerpt),
        words.join(", ")
    )
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
    let mut seen = BTreeSet::new();
    for regex in rules.rules().iter().flat_map(Rule::regexes) {
        // ripgrep knows no facts of a task.
        let regex = general(regex);
        if seen.insert(regex.clone()) {
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
