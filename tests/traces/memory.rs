//! Memory does not grow with the length of a trace. Seen from outside, where the system tells.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::samples::{Layout, samples};

/// Turns of an agent, each a message, a call and its result, numbered from `from` on.
fn turns(from: usize, count: usize) -> String {
    let mut text = String::new();
    for n in from..from + count {
        let _ = writeln!(
            text,
            r#"{{"type":"assistant","message":{{"id":"m{n}","model":"x","role":"assistant","content":[{{"type":"text","text":"step {n}"}},{{"type":"tool_use","id":"c{n}","name":"Bash","input":{{"command":"echo {n}"}}}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"a{n}"}}
{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"{n}"}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{n}"}}"#
        );
    }
    text
}

/// Kilobytes of memory that a process had at most so far; `None` where the system does not tell.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// What is remembered of a trace is bounded: beyond the bounds, as many turns again cost nothing.
#[test]
fn memory_is_bounded_whatever_the_number_of_calls() {
    const TURNS: usize = 70_000;
    // Of the tables of what was seen, the first generation is given up only when the third begins.
    const PART: usize = 10_000;
    let mut child = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
        .args(["scan", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if peak(child.id()).is_none() {
        println!("skipped: this system does not tell how much memory a process had");
        let _ = child.kill();
        let _ = child.wait();
        return;
    }
    let mut stdin = child.stdin.take().unwrap();
    let start = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"tools\":[],\"uuid\":\"i\"}\n";
    stdin.write_all(start.as_bytes()).unwrap();
    let mut peaks = Vec::new();
    for from in (0..2 * TURNS).step_by(PART) {
        stdin.write_all(turns(from, PART).as_bytes()).unwrap();
        if (from + PART).is_multiple_of(TURNS) {
            // All but what fits into the pipe was read.
            std::thread::sleep(Duration::from_millis(300));
            peaks.push(peak(child.id()).unwrap());
        }
    }
    drop(stdin);
    child.wait().unwrap();
    let [once, twice] = peaks[..] else {
        panic!("two measurements")
    };
    println!("{once} KiB after {TURNS} turns, {twice} KiB after as many again");
    assert!(once < 64 << 10, "{once} KiB after {TURNS} turns");
    assert!(twice < once + (7 << 10), "{once} KiB, then {twice} KiB");
}

/// A long record is held as it stands, decoded, and as the text of its event: three times, in every format.
#[test]
fn memory_for_a_long_record_is_bounded_in_every_format() {
    const LINE: usize = 6 << 20;
    // A debug build has 18 MiB; a fourth copy of the line is more than what is left.
    const WITHOUT: usize = 20 << 20;
    let mut wrong = Vec::new();
    for sample in samples() {
        if !sample.has_calls() || sample.layout == Layout::Text {
            continue;
        }
        let piece = "line of output\\n";
        let big = piece.repeat(LINE / piece.len());
        let mut child = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .args(["events", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if peak(child.id()).is_none() {
            println!("skipped: this system does not tell how much memory a process had");
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        let text = sample.text.replace("abc Fix (#5)", &big);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
        let had = last_peak(&mut child);
        // Some formats hold an output twice in one record.
        let bound = ((WITHOUT + text.len() * 31 / 10) >> 10) as u64;
        println!("{}: {had} of {bound} KiB", sample.format);
        if had > bound {
            wrong.push(format!("{}: {had} of {bound} KiB", sample.format));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The peak of a process, asked for until it ends.
fn last_peak(child: &mut std::process::Child) -> u64 {
    let mut last = 0;
    while child.try_wait().unwrap().is_none() {
        last = peak(child.id()).unwrap_or(last).max(last);
        std::thread::sleep(Duration::from_millis(2));
    }
    last
}
