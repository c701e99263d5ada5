//! `trace-audit sweep`: many runs, and `--shard` for a part of them.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trace_audit::audit::{Auditor, Judge};
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::Options;
use trace_audit::report::model::{Summary, ToolInfo};
use trace_audit::report::{Lang, Style};
use trace_audit::sweep::cache::Cache;
use trace_audit::sweep::entry::Entry;
use trace_audit::sweep::evaluator::{Evaluations, Vote};
use trace_audit::sweep::judging::Judging;
use trace_audit::sweep::key::{Keys, Trust};
use trace_audit::sweep::output::{Format, Sums, Writer};
use trace_audit::sweep::plan::{Choice, Filter, Plan, Shard, day};
use trace_audit::sweep::progress::Progress;
use trace_audit::sweep::run::{Ended, Happened, Sweep};
use trace_audit::sweep::select::select;
use trace_audit::sweep::shard::{Header, write_entry};
use trace_audit::verdict::policy::Policy;
use trace_audit::{Error, Result};

use super::audit::{lang, load_rules, policy_name};
use super::output::Terminal;

/// Exit code after Ctrl-C, as shells report it.
const INTERRUPTED: u8 = 130;

/// Without a terminal, a line of progress is written so often.
const SELDOM: Duration = Duration::from_secs(30);

/// On a terminal, the line of progress is renewed so often.
const OFTEN: Duration = Duration::from_millis(200);

/// Options of the sweep.
#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Directories of experiments, searched to any depth, or files with the path of one run a line
    #[arg(value_name = "EXPERIMENTS_DIR|LIST", required = true)]
    targets: Vec<PathBuf>,
    /// Where the runs of a list are, by name, when its paths are another machine's
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    inputs: SweepInputs,
    #[command(flatten)]
    store: StoreArgs,

    /// Directory (or file) with more rules; may be given several times
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
}

/// Which runs are audited.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which runs")]
struct FilterArgs {
    /// Only this task; may be given several times
    #[arg(long, value_name = "ID")]
    task: Vec<String>,
    /// Only this agent; may be given several times
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,
    /// Only runs from this day on
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only runs up to this day
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Only runs of which the evaluators say so at best: pass, partial, fail or none
    #[arg(long, value_name = "VERDICT", value_parser = ["pass", "partial", "fail", "none"])]
    evaluated: Vec<String>,
    /// Table with the evaluators' verdicts, besides the eval_report files in the runs
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
}

/// Inputs that are the same for all runs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Inputs (found by themselves unless given)")]
struct SweepInputs {
    /// Task facts: TSV with a header, or TOML
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Directory with the tasks (base_repo)
    #[arg(long, value_name = "DIR")]
    base_repo: Option<PathBuf>,
    /// Configuration file, instead of the nearest trace-audit.toml above the runs
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// How the work is done.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Work and cache")]
struct StoreArgs {
    /// Runs at a time; all processors by default
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Where facts of runs are kept, so that unchanged runs are not read again
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Read every run again, and keep nothing
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// How an unchanged file is known: by size and times (stat), or by every byte (content)
    #[arg(long, value_name = "LEVEL", default_value = "stat", value_parser = ["stat", "content"])]
    trust: String,
    /// Write the facts of part I of N, for `merge`, and judge nothing
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

/// How facts are judged and shown; the same for `sweep` and `merge`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judgement and output")]
pub(super) struct JudgeArgs {
    /// Put tasks with a run that passed first, and in them the runs that passed
    #[arg(long)]
    pub(super) passing: bool,
    /// default, seed, strict, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) policy: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = Format::NAMES)]
    format: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of text and Markdown
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = ["en", "zh"])]
    lang: String,
    /// A line for each run, and all remarks
    #[arg(short, long)]
    verbose: bool,
    /// Only the counts; no progress
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Mildest verdict that gives a non-zero exit code
    #[arg(long, value_name = "VERDICT", default_value = "inconclusive", value_parser = ["invalid", "partial", "inconclusive", "never"])]
    fail_on: String,
    /// Exit with 65 when any run could not be judged
    #[arg(long)]
    strict_errors: bool,
}

/// Audits the runs and returns the exit code.
pub(crate) fn run(args: &SweepArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let selection = select(&args.targets, args.root.as_deref())?;
    let options = args.inputs.options();
    let filter = args.filter.filter()?;
    let evaluations = Evaluations::new(&args.filter.scores)?;
    let plan = Plan::new(
        &selection.found,
        &Choice {
            filter: &filter,
            shard: args.store.shard,
            passing_first: args.judge.passing,
            evaluations: &evaluations,
            options: &options,
            config: args.inputs.config.as_deref(),
        },
    )?;
    for note in &selection.notes {
        terminal.note(note);
    }
    if plan.runs.is_empty() && args.store.shard.is_none() {
        return Err(Error::Usage {
            what: format!("none of the {} runs is asked for", plan.left_out),
            fix: "widen --task, --agent, --since, --until or --evaluated".to_owned(),
        }
        .into());
    }
    // Rules and policy are the same for all runs: a mistake in them is not one run's fault.
    let none = Config::default();
    let config = plan.configs.first().unwrap_or(&none);
    if plan
        .configs
        .iter()
        .any(|c| c.rules != config.rules || c.policy != config.policy)
    {
        terminal.note(
            "the runs have different configurations; rules and policy are those of the first",
        );
    }
    let rules = load_rules(&args.rules, config)?;
    let policy = args.judge.policy(config)?;
    let auditor = Auditor::new(&rules, &policy, args.judge.lang());
    let cache = open_cache(&args.store, &plan, terminal)?;
    let trust = args.store.trust();
    let keys = Keys::new(&rules.digest(), trust);
    let jobs = args.store.jobs();
    if !args.judge.quiet {
        terminal.note(&intention(&plan, jobs, cache.as_ref(), trust));
    }
    let stop = catch_interrupts(terminal);
    let sweep = Sweep {
        auditor: &auditor,
        options: &options,
        cache: cache.as_ref().map(|cache| (cache, &keys)),
        jobs,
        stop: &stop,
    };
    let mut meter = Meter::new(plan.runs.len(), args.judge.quiet);
    match args.store.shard {
        Some(shard) => {
            let header = Header::new(&rules.digest(), Some(shard), plan.runs.len());
            write_shard(args, &header, &sweep, &plan, &mut meter, terminal)
        }
        None => judge_all(args, &auditor, &sweep, &plan, &mut meter, terminal),
    }
}

/// Reads, judges and writes all runs.
fn judge_all(
    args: &SweepArgs,
    auditor: &Auditor<'_>,
    sweep: &Sweep<'_>,
    plan: &Plan,
    meter: &mut Meter,
    terminal: &Terminal,
) -> anyhow::Result<u8> {
    let tool = auditor.tool();
    let judge = auditor.judge_of_facts();
    let mut ended = Ended::default();
    let code = args.judge.write(&tool, judge, terminal, &mut |each| {
        ended = sweep.run(plan, &mut |happened| meter.hear(&happened, terminal), each)?;
        meter.clear();
        Ok(!ended.stopped)
    });
    meter.clear();
    match code? {
        Some(code) => Ok(code),
        None => Ok(interrupted(&ended, plan, sweep.cache.is_some(), terminal)),
    }
}

/// Reads the runs of a part and writes their facts.
fn write_shard(
    args: &SweepArgs,
    header: &Header,
    sweep: &Sweep<'_>,
    plan: &Plan,
    meter: &mut Meter,
    terminal: &Terminal,
) -> anyhow::Result<u8> {
    let mut ended = Ended::default();
    let output = args.judge.output.as_deref();
    let written = terminal.stream(output, |out| {
        header.write(out)?;
        ended = sweep.run(
            plan,
            &mut |h| meter.hear(&h, terminal),
            &mut |entry: Entry| write_entry(&entry, out),
        )?;
        Ok(!ended.stopped)
    });
    meter.clear();
    if written? {
        Ok(0)
    } else {
        Ok(interrupted(&ended, plan, sweep.cache.is_some(), terminal))
    }
}

/// Says what was reached before Ctrl-C.
fn interrupted(ended: &Ended, plan: &Plan, cached: bool, terminal: &Terminal) -> u8 {
    let next = if cached {
        "they are in the cache, and the same command goes on from there"
    } else {
        "without a cache the same command starts over"
    };
    terminal.note(&format!(
        "interrupted after {} of {} runs; {next}",
        ended.finished,
        plan.runs.len()
    ));
    INTERRUPTED
}

/// What is about to be done, in words.
fn intention(plan: &Plan, jobs: usize, cache: Option<&Cache>, trust: Trust) -> String {
    let mut text = format!("{} runs", plan.runs.len());
    if plan.left_out > 0 {
        text.push_str(&format!(" ({} not asked for)", plan.left_out));
    }
    text.push_str(&format!(", {jobs} at a time, "));
    match cache {
        None => text.push_str("no cache"),
        Some(cache) => {
            let by = match trust {
                Trust::Stat => "size and times (--trust content reads every byte)",
                Trust::Content => "every byte",
            };
            text.push_str(&format!(
                "cache {}, unchanged files known by {by}",
                cache.dir().display()
            ));
        }
    }
    text
}

/// The cache that was named, or the user's; none when the user's cannot be used.
fn open_cache(args: &StoreArgs, plan: &Plan, terminal: &Terminal) -> Result<Option<Cache>> {
    if args.no_cache {
        return Ok(None);
    }
    let Some(dir) = args.cache.clone().or_else(Cache::default_dir) else {
        terminal.note("there is no cache directory (neither XDG_CACHE_HOME nor HOME is set); name one with --cache");
        return Ok(None);
    };
    match Cache::open(&dir, plan.runs.iter().map(|run| run.path.as_path())) {
        Ok(cache) => Ok(Some(cache)),
        Err(error @ Error::Io { .. }) if args.cache.is_none() => {
            terminal.note(&format!(
                "the cache cannot be used ({error}); name another with --cache"
            ));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Ctrl-C ends the sweep in good order; a second one ends it at once.
fn catch_interrupts(terminal: &Terminal) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let set = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    if let Err(error) = set {
        terminal.note(&format!("Ctrl-C will end the sweep at once ({error})"));
    }
    stop
}

impl FilterArgs {
    fn filter(&self) -> Result<Filter> {
        let vote = |word: &String| match word.as_str() {
            "pass" => Vote::Pass,
            "partial" => Vote::Partial,
            "fail" => Vote::Fail,
            _ => Vote::None,
        };
        Ok(Filter {
            tasks: self.task.clone(),
            agents: self.agent.clone(),
            since: self.since.as_deref().map(day).transpose()?,
            until: self.until.as_deref().map(day).transpose()?,
            votes: self.evaluated.iter().map(vote).collect(),
        })
    }
}

impl SweepInputs {
    fn options(&self) -> Options {
        Options {
            facts: self.facts.clone(),
            base_repo: self.base_repo.clone(),
            ..Options::default()
        }
    }
}

impl StoreArgs {
    fn trust(&self) -> Trust {
        if self.trust == "content" {
            Trust::Content
        } else {
            Trust::Stat
        }
    }

    fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}

/// Hands entries to a judge, one after the other; says whether all were handed on.
type Feed<'a> =
    &'a mut dyn FnMut(&mut dyn FnMut(Entry) -> anyhow::Result<()>) -> anyhow::Result<bool>;

impl JudgeArgs {
    pub(super) fn lang(&self) -> Lang {
        lang(&self.lang)
    }

    /// The policy of the flag, else of the configuration, else the default.
    pub(super) fn policy(&self, config: &Config) -> Result<Policy> {
        Policy::load(&policy_name(self.policy.as_deref(), config))
    }

    /// Judges what `feed` hands over and writes it; returns the exit code, or `None` when `feed`
    /// stopped early.
    pub(super) fn write(
        &self,
        tool: &ToolInfo,
        judge: Judge<'_>,
        terminal: &Terminal,
        feed: Feed<'_>,
    ) -> anyhow::Result<Option<u8>> {
        let format = Format::of_name(&self.format)
            .ok_or_else(|| anyhow::anyhow!("format {} is not in the table", self.format))?;
        let style = Style {
            lang: self.lang(),
            verbose: self.verbose,
            quiet: self.quiet,
        };
        let mut sums = None;
        terminal.stream(self.output.as_deref(), |out| {
            let mut writer = Writer::new(format, style, tool);
            let mut judging = Judging::new(judge);
            writer.begin(out)?;
            let whole = feed(&mut |entry| {
                Ok(judging.push(entry, &mut |run| {
                    writer.run(run, out)?;
                    out.flush()
                })?)
            })?;
            if !whole {
                return Ok(false);
            }
            let (summary, sweep) = judging.finish(&mut |run| writer.run(run, out))?;
            writer.end(
                &Sums {
                    tool,
                    summary: &summary,
                    sweep: &sweep,
                },
                out,
            )?;
            sums = Some((summary, sweep));
            Ok(true)
        })?;
        let Some((summary, sweep)) = sums else {
            return Ok(None);
        };
        // The runs went to a program; the sums are for the person who waits.
        if format == Format::JsonLines && !self.quiet {
            let sums = Sums {
                tool,
                summary: &summary,
                sweep: &sweep,
            };
            terminal.message(|out| {
                Writer::new(
                    Format::Text,
                    Style {
                        verbose: false,
                        ..style
                    },
                    tool,
                )
                .end(&sums, out)
            });
        }
        Ok(Some(self.exit_code(&summary)))
    }

    /// The worst of the runs in the order invalid, partial, inconclusive, clean; milder ones than
    /// `--fail-on` count as clean. Verdicts win over runs that failed.
    fn exit_code(&self, s: &Summary) -> u8 {
        let nothing_judged = s.runs > 0 && s.errors == s.runs;
        if nothing_judged || self.strict_errors && s.errors > 0 {
            return 65;
        }
        let counted = match self.fail_on.as_str() {
            "invalid" => 1,
            "partial" => 2,
            "inconclusive" => 3,
            _ => 0,
        };
        let found = [
            (s.invalid + s.harness, 2),
            (s.partial, 1),
            (s.inconclusive, 3),
        ];
        let worst = found.iter().take(counted).find(|(runs, _)| *runs > 0);
        worst.map_or(0, |(_, code)| *code)
    }
}

/// Shows how far the sweep is.
struct Meter {
    all: usize,
    done: usize,
    cached: usize,
    start: Instant,
    shown: Option<Instant>,
    live: bool,
    quiet: bool,
}

impl Meter {
    fn new(all: usize, quiet: bool) -> Self {
        Self {
            all,
            done: 0,
            cached: 0,
            start: Instant::now(),
            shown: None,
            live: io::stderr().is_terminal(),
            quiet,
        }
    }

    fn hear(&mut self, happened: &Happened, terminal: &Terminal) {
        match happened {
            Happened::Note(text) => {
                self.clear();
                terminal.note(text);
            }
            Happened::Finished { cached } => {
                self.done += 1;
                self.cached += usize::from(*cached);
                self.show(terminal);
            }
        }
    }

    fn show(&mut self, terminal: &Terminal) {
        let now = Instant::now();
        let pause = if self.live { OFTEN } else { SELDOM };
        let since = self.shown.unwrap_or(self.start);
        // The last line tells how long it took.
        if self.quiet || (now - since < pause && self.done < self.all) {
            return;
        }
        self.shown = Some(now);
        let words = Progress {
            done: self.done,
            cached: self.cached,
            all: self.all,
            elapsed: now - self.start,
        }
        .words();
        if self.live {
            // Back to the start of the line, and remove what stands there.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{words}");
        } else {
            terminal.note(&words);
        }
    }

    /// Removes the line of progress.
    fn clear(&self) {
        if self.live && self.shown.is_some() && !self.quiet {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}
