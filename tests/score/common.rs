//! What the tests share.

use std::path::{Path, PathBuf};

use trace_audit::score::analysis::{Analysis, Options, Treated, analyse};
use trace_audit::score::bootstrap::Settings;
use trace_audit::score::exact::{Exact, fixed, percent};
use trace_audit::score::model::Scores;
use trace_audit::score::panel::PanelRule;
use trace_audit::score::profile::Profile;
use trace_audit::score::read;
use trace_audit::score::read::audit::Audits;
use trace_audit::score::report;
use trace_audit::score::standing::Standings;
use trace_audit::score::tables::By;
use trace_audit::score::treatments::Level;

pub(crate) fn profile() -> Profile {
    Profile::built_in().unwrap()
}

/// Inputs that outlive their analysis.
pub(crate) struct Case {
    pub(crate) scores: Scores,
    pub(crate) reruns: Option<Scores>,
    pub(crate) audits: Option<Audits>,
    pub(crate) exclude: Vec<String>,
    pub(crate) options: Options,
}

impl Case {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        Self::of(read::load(paths, &profile()).unwrap())
    }

    pub(crate) fn of(scores: Scores) -> Self {
        Self {
            scores,
            reruns: None,
            audits: None,
            exclude: Vec::new(),
            options: Options {
                rule: PanelRule { pass: 3, fail: 2 },
                level: Level::Invalid,
                // Intervals have tests of their own; the debug build is slow.
                bootstrap: Settings {
                    replicates: 0,
                    seed: 1,
                },
            },
        }
    }

    pub(crate) fn rule(mut self, pass: u64, fail: u64) -> Self {
        self.options.rule = PanelRule { pass, fail };
        self
    }

    pub(crate) fn exclude(mut self, names: &[&str]) -> Self {
        self.exclude = names.iter().map(|n| (*n).to_string()).collect();
        self
    }

    pub(crate) fn analysis(&self) -> Analysis<'_> {
        let tables: Vec<&Scores> = std::iter::once(&self.scores).chain(&self.reruns).collect();
        let standings =
            Standings::new(&tables, self.audits.as_ref(), &self.exclude, &profile()).unwrap();
        analyse(
            &self.scores,
            self.reruns.as_ref(),
            standings,
            self.audits.as_ref(),
            self.options,
            None,
        )
        .unwrap()
    }

    pub(crate) fn report(&self, format: &str) -> String {
        let mut out = Vec::new();
        report::by_name(format)
            .unwrap()
            .write(&self.analysis(), &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    }
}

/// `agent runs PASS/PARTIAL/FAIL rate mean rank` of every agent.
pub(crate) fn by_agent(treated: &Treated, common: bool) -> Vec<String> {
    let rows = if common {
        treated.common_table(By::Agent)
    } else {
        treated.table(By::Agent)
    };
    rows.iter()
        .map(|r| {
            format!(
                "{} {} {}/{}/{} {} {} #{}",
                r.agent,
                r.runs,
                r.pass,
                r.partial,
                r.fail,
                r.rate().map_or("-".into(), |v| percent(&v, 3)),
                six(r.mean.as_ref(), 4),
                r.rank.unwrap_or_default()
            )
        })
        .collect()
}

pub(crate) fn six(value: Option<&Exact>, digits: u32) -> String {
    value.map_or("null".into(), |v| fixed(v, digits))
}

/// A file in a directory that lives as long as the test.
pub(crate) fn file(dir: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    path
}
