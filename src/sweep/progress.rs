//! How far a sweep is, in words: a rate and how long it will still take.

use std::time::Duration;

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Runs that are finished.
    pub done: usize,
    /// Of these, runs that came from the cache.
    pub cached: usize,
    /// All runs.
    pub all: usize,
    /// Since the beginning.
    pub elapsed: Duration,
}

impl Progress {
    /// "123 of 496 runs (24 %), 4.1 runs/s, 91 s left, 20 from the cache".
    pub fn words(&self) -> String {
        let percent = self.done * 100 / self.all.max(1);
        let mut text = format!("{} of {} runs ({percent} %)", self.done, self.all);
        let seconds = self.elapsed.as_secs_f64();
        if self.done > 0 && seconds > 0.0 {
            let rate = self.done as f64 / seconds;
            text.push_str(&format!(", {} runs/s", short(rate)));
            let left = self.all.saturating_sub(self.done) as f64;
            if left > 0.0 {
                text.push_str(&format!(", {} left", span(left / rate)));
            }
        }
        if self.cached > 0 {
            text.push_str(&format!(", {} from the cache", self.cached));
        }
        text
    }
}

fn short(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        format!("{rate:.0}")
    }
}

/// Seconds as people say them.
fn span(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left() {
        let at = |done, cached, all, seconds| {
            let elapsed = Duration::from_millis(seconds);
            Progress {
                done,
                cached,
                all,
                elapsed,
            }
            .words()
        };
        assert_eq!(at(0, 0, 496, 0), "0 of 496 runs (0 %)");
        assert_eq!(
            at(123, 20, 496, 30_000),
            "123 of 496 runs (24 %), 4.1 runs/s, 1 min 31 s left, 20 from the cache"
        );
        assert_eq!(
            at(496, 0, 496, 1_000),
            "496 of 496 runs (100 %), 496 runs/s"
        );
        assert_eq!(
            at(1, 0, 10_001, 1_000),
            "1 of 10001 runs (0 %), 1.0 runs/s, 2 h 46 min left"
        );
        assert_eq!(at(0, 0, 0, 5), "0 of 0 runs (0 %)");
    }
}
