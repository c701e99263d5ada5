//! The listeners of a trace, side by side.
//!
//! Rules and provenance hear the same events and know nothing of each other. For a large trace each works on a thread
//! of its own, behind the one that reads: events are cloned into batches, and few batches are on their way at a time.
//! Each listener gets all events in their order, so what they find does not depend on the threads.

use std::mem;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use crate::Result;
use crate::trace::event::{Event, EventSink};
use crate::trace::{TraceFile, TraceReport, read_traces};

/// Traces of so many bytes together are worth the threads.
const LARGE: u64 = 16 << 20;
/// A batch is sent when its texts have so many bytes …
const BATCH_BYTES: usize = 256 << 10;
/// … or when it has so many events.
const BATCH_EVENTS: usize = 512;
/// Batches that may wait for a listener.
const WAITING: usize = 2;
/// A batch of so many bytes is worked off before the reading goes on, so that memory holds one of them.
const HUGE: usize = 4 << 20;

/// Reads the traces; both listeners hear all of it.
///
/// # Errors
/// When a trace cannot be read.
pub(super) fn hear<A, B>(files: &[TraceFile], first: A, second: B) -> Result<(TraceReport, A, B)>
where
    A: EventSink + Send,
    B: EventSink + Send,
{
    let size: u64 = files
        .iter()
        .filter_map(|file| file.path.metadata().ok())
        .map(|data| data.len())
        .sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if size >= LARGE && cores > 1 {
        apart(files, first, second)
    } else {
        together(files, first, second)
    }
}

/// On this thread.
fn together<A: EventSink, B: EventSink>(
    files: &[TraceFile],
    first: A,
    second: B,
) -> Result<(TraceReport, A, B)> {
    struct Both<A, B>(A, B);
    impl<A: EventSink, B: EventSink> EventSink for Both<A, B> {
        fn event(&mut self, event: &Event) {
            self.0.event(event);
            self.1.event(event);
        }
    }
    let mut both = Both(first, second);
    let report = read_traces(files, &mut both)?;
    Ok((report, both.0, both.1))
}

/// Each listener on a thread of its own.
fn apart<A, B>(files: &[TraceFile], first: A, second: B) -> Result<(TraceReport, A, B)>
where
    A: EventSink + Send,
    B: EventSink + Send,
{
    thread::scope(|scope| {
        let (to_first, first) = listener(scope, first);
        let (to_second, second) = listener(scope, second);
        let mut post = Post {
            listeners: [to_first, to_second],
            batch: Vec::new(),
            bytes: 0,
        };
        let report = read_traces(files, &mut post);
        post.send();
        drop(post);
        let (first, second) = (join(first), join(second));
        Ok((report?, first, second))
    })
}

type Batch = Arc<Vec<Event>>;

/// The way to a listener.
struct Listener {
    batches: SyncSender<Batch>,
    /// A message for each batch that it has worked off.
    done: Receiver<()>,
    /// Batches sent and not worked off.
    under_way: usize,
}

impl Listener {
    fn send(&mut self, batch: Batch) {
        // One that is gone has panicked; that shows when it is joined.
        if self.batches.send(batch).is_ok() {
            self.under_way += 1;
        }
        while self.under_way > 0 && self.done.try_recv().is_ok() {
            self.under_way -= 1;
        }
    }

    fn wait(&mut self) {
        while self.under_way > 0 && self.done.recv().is_ok() {
            self.under_way -= 1;
        }
    }
}

fn listener<'scope, S: EventSink + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    mut sink: S,
) -> (Listener, ScopedJoinHandle<'scope, S>) {
    let (batches, received) = sync_channel::<Batch>(WAITING);
    let (worked_off, done) = channel();
    let thread = scope.spawn(move || {
        for batch in received {
            for event in batch.iter() {
                sink.event(event);
            }
            drop(batch);
            // Nobody counts any more once the reading has ended.
            let _ = worked_off.send(());
        }
        sink
    });
    let listener = Listener {
        batches,
        done,
        under_way: 0,
    };
    (listener, thread)
}

/// What a listener has become; its panic is this thread's.
fn join<S>(thread: ScopedJoinHandle<'_, S>) -> S {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Sends events to both listeners.
struct Post {
    listeners: [Listener; 2],
    batch: Vec<Event>,
    /// Bytes of the batch's texts.
    bytes: usize,
}

impl Post {
    fn send(&mut self) {
        let huge = mem::take(&mut self.bytes) >= HUGE;
        // As many as before, most likely: a batch that grows is copied as it does.
        let next = Vec::with_capacity(self.batch.len());
        let batch = Arc::new(mem::replace(&mut self.batch, next));
        for listener in &mut self.listeners {
            listener.send(Arc::clone(&batch));
        }
        drop(batch);
        if huge {
            self.listeners.iter_mut().for_each(Listener::wait);
        }
    }
}

impl EventSink for Post {
    fn event(&mut self, event: &Event) {
        self.owned(event.clone());
    }

    fn owned(&mut self, event: Event) {
        let edits = event.edits.iter();
        let texts = edits.flat_map(|edit| [&edit.old, &edit.new]).flatten();
        self.bytes += event.text.len() + texts.map(String::len).sum::<usize>();
        self.batch.push(event);
        if self.bytes >= BATCH_BYTES || self.batch.len() >= BATCH_EVENTS {
            self.send();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[derive(Default)]
    struct Log(Vec<String>);

    impl EventSink for Log {
        fn event(&mut self, event: &Event) {
            self.0.push(format!("{event:?}"));
        }
    }

    fn trace(lines: usize, long: usize) -> (tempfile::NamedTempFile, Vec<TraceFile>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 0..lines {
            let text = if number % 700 == 3 {
                "y".repeat(long)
            } else {
                "x".repeat(number % 900)
            };
            writeln!(
                file,
                r#"{{"type":"item.completed","item":{{"id":"i{number}","type":"agent_message","text":"{number} {text}"}}}}"#
            )
            .unwrap();
        }
        let files = vec![TraceFile {
            path: file.path().to_owned(),
            label: "codex_events.jsonl".to_owned(),
        }];
        (file, files)
    }

    #[test]
    fn threads_change_nothing() {
        // Enough for many batches, and some huge ones.
        let (_file, files) = trace(3_000, HUGE + 1);
        let (one, a, b) = together(&files, Log::default(), Log::default()).unwrap();
        let (two, c, d) = apart(&files, Log::default(), Log::default()).unwrap();
        assert!(a.0.len() >= 3_000, "{}", a.0.len());
        assert_eq!(a.0, b.0);
        assert_eq!(a.0, c.0);
        assert_eq!(a.0, d.0);
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
    }

    #[test]
    fn a_missing_file_is_an_error_either_way() {
        let files = [TraceFile {
            path: "/nonexistent/trace.jsonl".into(),
            label: "trace.jsonl".to_owned(),
        }];
        assert!(together(&files, Log::default(), Log::default()).is_err());
        assert!(apart(&files, Log::default(), Log::default()).is_err());
    }

    #[test]
    fn a_listener_that_panics_ends_the_reading() {
        struct Bad;
        impl EventSink for Bad {
            fn event(&mut self, _: &Event) {
                panic!("as a fault would");
            }
        }
        let (_file, files) = trace(3_000, HUGE + 1);
        let caught = std::panic::catch_unwind(|| {
            apart(&files, Bad, Log::default()).map(|(report, ..)| report)
        });
        assert!(caught.is_err());
    }
}
