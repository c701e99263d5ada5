//! The facts of many runs, several at a time, handed on in order.
//!
//! Workers take the runs in order and may finish them in any; what is finished early waits until all
//! before it are handed on. A worker that would get more than [`AHEAD`] runs ahead of the first unfinished
//! one waits, so that one huge run does not make the facts of all others pile up. When `stop` is set no new run
//! is begun; what was begun is finished, and stored.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, mpsc};

use super::cache::{Cache, Lookup};
use super::entry::{Entry, Outcome};
use super::key::Keys;
use super::plan::{Plan, Planned};
use crate::Result;
use crate::audit::{Auditor, RunFacts};
use crate::experiment::config::Config;
use crate::experiment::discover::{Options, discover};

/// Runs that may be finished while an earlier one is not.
pub const AHEAD: usize = 256;

/// How a sweep reads its runs.
pub struct Sweep<'a> {
    /// Reads the runs.
    pub auditor: &'a Auditor<'a>,
    /// Inputs named by flags.
    pub options: &'a Options,
    /// Where facts are kept, and their keys.
    pub cache: Option<(&'a Cache, &'a Keys)>,
    /// Runs at a time, at least 1.
    pub jobs: usize,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
}

/// What happened on the way, for the person who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// A run is finished. Its facts may still wait for earlier runs.
    Finished {
        /// They came from the cache.
        cached: bool,
    },
    /// Something about the cache, in words.
    Note(String),
}

/// How a sweep ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    /// Runs that were finished, handed on or not.
    pub finished: usize,
    /// Of these, runs that came from the cache.
    pub cached: usize,
    /// It was stopped before all runs were handed on.
    pub stopped: bool,
}

/// Message of a worker.
enum Message {
    Done {
        index: usize,
        entry: Box<Entry>,
        cached: bool,
    },
    Note(String),
}

impl Sweep<'_> {
    /// Reads all runs of a plan. `each` gets their entries in the order of the plan, `hear` what
    /// happens meanwhile.
    ///
    /// # Errors
    /// The first error of `each`; no further run is begun then.
    pub fn run<E>(
        &self,
        plan: &Plan,
        hear: &mut dyn FnMut(Happened),
        each: &mut dyn FnMut(Entry) -> std::result::Result<(), E>,
    ) -> std::result::Result<Ended, E> {
        let queue = Queue::default();
        // Workers wait rather than pile up what nobody has taken yet.
        let (send, receive) = mpsc::sync_channel(AHEAD);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, plan.runs.len().max(1)) {
                let (send, queue) = (send.clone(), &queue);
                scope.spawn(move || self.work(plan, queue, &send));
            }
            drop(send);
            let result = self.collect(&receive, plan, &queue, hear, each);
            // Whatever ended the collecting: workers must neither wait for a turn nor for a reader.
            queue.close();
            drop(receive);
            result
        })
    }

    fn collect<E>(
        &self,
        receive: &mpsc::Receiver<Message>,
        plan: &Plan,
        queue: &Queue,
        hear: &mut dyn FnMut(Happened),
        each: &mut dyn FnMut(Entry) -> std::result::Result<(), E>,
    ) -> std::result::Result<Ended, E> {
        let mut waiting: BTreeMap<usize, Box<Entry>> = BTreeMap::new();
        let mut next = 0;
        let mut ended = Ended::default();
        for message in receive {
            match message {
                Message::Note(text) => hear(Happened::Note(text)),
                Message::Done {
                    index,
                    entry,
                    cached,
                } => {
                    ended.finished += 1;
                    ended.cached += usize::from(cached);
                    hear(Happened::Finished { cached });
                    waiting.insert(index, entry);
                    while let Some(entry) = waiting.remove(&next) {
                        next += 1;
                        queue.advance(next);
                        each(*entry)?;
                    }
                }
            }
        }
        ended.stopped = next < plan.runs.len();
        Ok(ended)
    }

    /// Takes runs until there are none.
    fn work(&self, plan: &Plan, queue: &Queue, send: &mpsc::SyncSender<Message>) {
        let mut cache_works = true;
        while let Some((index, planned)) = queue.take(plan, self.stop) {
            let mut notes = Vec::new();
            let (entry, cached) = self.one(plan, planned, &mut cache_works, &mut notes);
            let done = Message::Done {
                index,
                entry: Box::new(entry),
                cached,
            };
            let mut messages = notes.into_iter().map(Message::Note).chain([done]);
            // A reader that is gone has an error of its own to report.
            if messages.any(|message| send.send(message).is_err()) {
                return;
            }
        }
    }

    /// Reads one run. Whatever goes wrong is that run's own row.
    fn one(
        &self,
        plan: &Plan,
        planned: &Planned,
        cache_works: &mut bool,
        notes: &mut Vec<String>,
    ) -> (Entry, bool) {
        let mut cached = false;
        let outcome = match (&planned.problem, plan.configs.get(planned.config)) {
            (Some(problem), _) => Outcome::Error(problem.clone()),
            (None, config) => {
                let none = Config::default();
                let config = config.unwrap_or(&none);
                let read = catch_unwind(AssertUnwindSafe(|| {
                    self.facts(planned, config, cache_works, &mut cached, notes)
                }));
                match read {
                    Ok(Ok(facts)) => Outcome::Facts(facts),
                    Ok(Err(error)) => Outcome::Error(error.to_string()),
                    Err(_) => Outcome::Error(
                        "reading this run met a fault of trace-audit; please report it".to_owned(),
                    ),
                }
            }
        };
        let head = planned.head.clone();
        (Entry { head, outcome }, cached)
    }

    fn facts(
        &self,
        planned: &Planned,
        config: &Config,
        cache_works: &mut bool,
        cached: &mut bool,
        notes: &mut Vec<String>,
    ) -> Result<Box<RunFacts>> {
        let inputs = discover(Some(&planned.path), self.options, config)?;
        let Some((cache, keys)) = self.cache else {
            return Ok(Box::new(self.auditor.facts(&inputs)?));
        };
        let key = keys.key(&inputs);
        match cache.get(&key) {
            Lookup::Hit(facts) => {
                *cached = true;
                return Ok(facts);
            }
            Lookup::Miss => {}
            Lookup::Broken(why) => notes.push(format!(
                "the cached facts of {} were not used ({why}); the run was read again",
                planned.head.run
            )),
        }
        let facts = self.auditor.facts(&inputs)?;
        if *cache_works && let Err(error) = cache.put(&key, &facts) {
            // Said once by each worker, not once a run.
            *cache_works = false;
            notes.push(format!(
                "the cache cannot be written ({error}); results are complete, but a second sweep reads these runs again"
            ));
        }
        Ok(Box::new(facts))
    }
}

/// Whose turn it is.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The next run to begin.
    begin: usize,
    /// The first run that is not handed on.
    first: usize,
    closed: bool,
}

impl Queue {
    /// The next run, when it is near enough to the first unfinished one; `None` at the end.
    fn take<'p>(&self, plan: &'p Plan, stop: &AtomicBool) -> Option<(usize, &'p Planned)> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        while !state.closed && state.begin >= state.first.saturating_add(AHEAD) {
            state = self.moved.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        if state.closed || stop.load(Ordering::Relaxed) {
            return None;
        }
        let index = state.begin;
        let planned = plan.runs.get(index)?;
        state.begin += 1;
        Some((index, planned))
    }

    fn advance(&self, first: usize) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.first = first;
        drop(state);
        self.moved.notify_all();
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.closed = true;
        drop(state);
        self.moved.notify_all();
    }
}
