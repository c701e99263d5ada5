//! Damage, for every format: nothing panics or hangs, what is intact is read, what is wrong is counted,
//! and a damaged trace is never called complete.

use serde_json::Value;
use trace_audit::trace::event::{Channel, Coverage, Event};

use crate::samples::{Layout, samples, samples_in};
use crate::support::{read_bytes, texts};

/// In how many places each kind of damage is done.
const PLACES: usize = 20;

fn count(events: &[Event], wanted: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|event| wanted(event)).count()
}

fn is_output(event: &Event) -> bool {
    event.channel == Channel::Output
}

/// The byte positions where damage is done, at character boundaries.
fn places(text: &str) -> impl Iterator<Item = usize> {
    let len = text.trim_end().len();
    (0..PLACES).map(move |step| len * step / PLACES)
}

#[test]
fn whole_samples_are_what_they_are() {
    for sample in samples() {
        let name = &sample.format;
        let (events, report) = read_bytes(sample.text.as_bytes());
        assert_eq!(
            report.coverage, sample.coverage,
            "{name}: {:?}",
            report.reasons
        );
        assert_eq!(&report.files[0].format, name);
        let last = events.last().unwrap();
        if sample.has_final_message() {
            assert_eq!(
                (last.channel, last.text.as_str()),
                (Channel::Result, "Done."),
                "{name}"
            );
        }
        if sample.has_calls() {
            let said: Vec<_> = events
                .iter()
                .filter(|event| event.channel == Channel::Command)
                .map(|event| event.text.as_str())
                .collect();
            assert_eq!(said, ["git log --all"], "{name}");
            let outputs: Vec<_> = events.iter().filter(|event| is_output(event)).collect();
            assert_eq!(outputs.len(), 1, "{name}");
            assert!(outputs[0].text.contains("abc Fix (#5)"), "{name}");
            assert!(outputs[0].answers.is_some(), "{name}");
        }
        // A final line feed is nothing to ask for.
        let (again, _) = read_bytes(sample.text.trim_end().as_bytes());
        assert_eq!(texts(&again), texts(&events), "{name}");
    }
}

#[test]
fn cut_off() {
    for sample in samples() {
        let (name, text) = (&sample.format, &sample.text);
        for at in places(text) {
            let (events, report) = read_bytes(&text.as_bytes()[..at]);
            assert_ne!(report.coverage, Coverage::Full, "{name} at {at}");
            if sample.layout == Layout::Lines {
                let whole_lines = text[..at].rfind('\n').map_or("", |end| &text[..=end]);
                let (intact, _) = read_bytes(whole_lines.as_bytes());
                let (events, intact) = (texts(&events), texts(&intact));
                assert!(events.starts_with(&intact), "{name} at {at}: {events:?}");
            }
        }
    }
}

#[test]
fn flipped_bytes() {
    for sample in samples() {
        let (name, text) = (&sample.format, &sample.text);
        let (whole, _) = read_bytes(text.as_bytes());
        for at in places(text) {
            for flip in [0x80, 0x01, 0x20] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= flip;
                let (events, report) = read_bytes(&bytes);
                // Other bits can turn one valid text into another.
                if flip == 0x80 {
                    assert_ne!(report.coverage, Coverage::Full, "{name} at {at}");
                }
                if sample.layout == Layout::Lines {
                    let lost = texts(&whole).len().saturating_sub(texts(&events).len());
                    assert!(lost <= 2, "{name} at {at}: lost {lost}");
                }
            }
        }
    }
}

#[test]
fn doubled_records() {
    for sample in samples_in(Layout::Lines) {
        let name = &sample.format;
        let (whole, _) = read_bytes(sample.text.as_bytes());
        let doubled: String = sample
            .lines()
            .iter()
            .map(|line| format!("{line}\n{line}\n"))
            .collect();
        let (events, report) = read_bytes(doubled.as_bytes());
        assert_ne!(report.coverage, Coverage::Full, "{name}");
        let is_call = |event: &Event| event.channel.is_call();
        assert_eq!(count(&events, is_call), count(&whole, is_call), "{name}");
        assert_eq!(
            count(&events, is_output),
            count(&whole, is_output),
            "{name}"
        );
    }
}

#[test]
fn reordered_records() {
    for sample in samples() {
        let lines = sample.lines();
        let mut orders: Vec<Vec<&str>> = vec![lines.iter().rev().copied().collect()];
        if sample.layout == Layout::Lines {
            orders.push([&lines[lines.len() / 2..], &lines[..lines.len() / 2]].concat());
        }
        for order in orders {
            let (_, report) = read_bytes(order.join("\n").as_bytes());
            if lines.len() > 1 {
                assert_ne!(report.coverage, Coverage::Full, "{}", sample.format);
            }
            if sample.layout == Layout::Lines {
                assert_eq!(
                    report.files[0].records,
                    lines.len() as u64,
                    "{}",
                    sample.format
                );
            }
        }
    }
}

/// What programs write into the same stream.
const NOISE: [&str; 6] = [
    "Reading additional input from stdin...",
    "[WARN] retry {1}",
    "{ not json",
    "\u{1b}[33mwarning\u{1b}[0m: \"quoted\"",
    "}",
    "[",
];

#[test]
fn mixed_with_other_output() {
    for sample in samples_in(Layout::Lines) {
        let name = &sample.format;
        let (whole, _) = read_bytes(sample.text.as_bytes());
        let mixed: String = sample
            .lines()
            .iter()
            .zip(NOISE.iter().cycle())
            .map(|(line, noise)| format!("{noise}\n{line}\n"))
            .collect();
        let (events, report) = read_bytes(mixed.as_bytes());
        assert_eq!(texts(&events), texts(&whole), "{name}");
        assert_ne!(report.coverage, Coverage::Full, "{name}");

        // On the same line, in front of each record.
        let glued: String = sample
            .lines()
            .iter()
            .map(|line| format!("\u{1b}[0m2026-01-01 {line}\n"))
            .collect();
        let (events, report) = read_bytes(glued.as_bytes());
        assert_eq!(texts(&events), texts(&whole), "{name}");
        assert_ne!(report.coverage, Coverage::Full, "{name}");
    }
    for sample in samples_in(Layout::Object) {
        let name = &sample.format;
        let (whole, _) = read_bytes(sample.text.as_bytes());
        for noise in NOISE.iter().take(2) {
            let mixed = format!("{noise}\n{}\n{noise}\n", sample.text.trim_end());
            let (events, report) = read_bytes(mixed.as_bytes());
            assert_eq!(texts(&events), texts(&whole), "{name}");
            assert_ne!(report.coverage, Coverage::Full, "{name}");
        }
    }
}

#[test]
fn converted_files() {
    let utf16 = |text: &str, little: bool, mark: bool| -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let text = format!("{mark}{text}");
        let units = text.encode_utf16();
        units
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    };
    for sample in samples() {
        let (format, text) = (&sample.format, sample.text.as_str());
        let (whole, plain) = read_bytes(text.as_bytes());
        for (name, bytes) in [
            ("CR LF", text.replace('\n', "\r\n").into_bytes()),
            ("mark", format!("\u{feff}{text}").into_bytes()),
            ("UTF-16 LE", utf16(text, true, true)),
            ("UTF-16 BE", utf16(text, false, true)),
            ("UTF-16 LE, no mark", utf16(text, true, false)),
            ("UTF-16 BE, no mark", utf16(text, false, false)),
            ("zeros", format!("\0\0\0\0{text}").into_bytes()),
        ] {
            let (events, report) = read_bytes(&bytes);
            assert_eq!(texts(&events), texts(&whole), "{format}, {name}");
            // Line ends inside one object are white space.
            let noticed = !(sample.layout == Layout::Object && name == "CR LF");
            if noticed {
                assert_ne!(report.coverage, Coverage::Full, "{format}, {name}");
                let (now, before) = (&report.files[0].problems, &plain.files[0].problems);
                assert_eq!(now.len(), before.len() + 1, "{format}, {name}");
            }
        }
    }
}

#[test]
fn other_layouts_of_the_same_records() {
    for sample in samples_in(Layout::Lines) {
        let (format, lines) = (&sample.format, sample.lines());
        let (whole, plain) = read_bytes(sample.text.as_bytes());
        let values: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let pretty: Vec<String> = values
            .iter()
            .map(|value| serde_json::to_string_pretty(value).unwrap())
            .collect();
        for (name, layout) in [
            ("glued", lines.concat()),
            ("array", format!("[{}]", lines.join(","))),
            ("array of lines", format!("[\n{}\n]\n", lines.join(",\n"))),
            ("pretty", pretty.join("\n")),
            (
                "pretty array",
                serde_json::to_string_pretty(&values).unwrap(),
            ),
        ] {
            let (events, report) = read_bytes(layout.as_bytes());
            assert_eq!(texts(&events), texts(&whole), "{format}, {name}");
            assert_eq!(
                report.coverage, plain.coverage,
                "{format}, {name}: {:?}",
                report.reasons
            );
        }
    }
    for sample in samples_in(Layout::Object) {
        let (whole, plain) = read_bytes(sample.text.as_bytes());
        let value: Value = serde_json::from_str(&sample.text).unwrap();
        for layout in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let (events, report) = read_bytes(layout.as_bytes());
            assert_eq!(texts(&events), texts(&whole), "{}", sample.format);
            assert_eq!(report.coverage, plain.coverage, "{}", sample.format);
        }
    }
}

#[test]
fn odd_strings_are_read_and_counted() {
    for sample in samples() {
        let (format, text) = (&sample.format, &sample.text);
        if !sample.has_calls() || sample.layout == Layout::Text {
            continue;
        }
        let deep = format!("{}\\\"{}", "[".repeat(3), "]".repeat(3));
        for (name, odd, shown, damage) in [
            (
                "lone surrogate",
                r"abc \ud83d Fix (#5)",
                "abc \u{fffd} Fix (#5)",
                true,
            ),
            (
                "control character",
                "abc \u{1b}[1m\u{1} Fix (#5)",
                "abc \u{1b}[1m\u{1} Fix (#5)",
                true,
            ),
            ("bracket soup", deep.as_str(), "[[[\"]]]", false),
        ] {
            let damaged = text.replace("abc Fix (#5)", odd);
            let (events, report) = read_bytes(damaged.as_bytes());
            let output = events.iter().find(|event| is_output(event)).unwrap();
            assert!(
                output.text.contains(shown),
                "{format}, {name}: {}",
                output.text
            );
            let coverage = report.coverage;
            if damage {
                assert_ne!(coverage, Coverage::Full, "{format}, {name}");
            } else {
                assert_eq!(coverage, sample.coverage, "{format}, {name}");
            }
        }
        // A member nested beyond what a parser takes does not hide the rest of the record.
        let nest = format!("{{\"deep\":{}{},", "[".repeat(10_000), "]".repeat(10_000));
        let damaged = text.replacen('{', &nest, 1);
        let (events, report) = read_bytes(damaged.as_bytes());
        assert!(
            texts(&events).contains(&"git log --all".to_owned()),
            "{format}"
        );
        assert_ne!(report.coverage, Coverage::Full, "{format}");
    }
}

#[test]
fn a_line_of_fifty_megabytes() {
    for sample in samples() {
        if !sample.has_calls() || sample.layout == Layout::Text {
            continue;
        }
        let format = &sample.format;
        let big = "line of output\\n".repeat(50 << 16);
        let damaged = sample.text.replace("abc Fix (#5)", &big);
        let (events, report) = read_bytes(damaged.as_bytes());
        let output = events.iter().find(|event| is_output(event)).unwrap();
        assert!(output.text.len() >= big.len() / 16 * 15 - 1, "{format}");
        assert!(output.answers.is_some(), "{format}");
        let (_, plain) = read_bytes(sample.text.as_bytes());
        assert_eq!(
            report.files[0].problems, plain.files[0].problems,
            "{format}"
        );
    }
}

#[test]
fn one_call_five_thousand_times() {
    for sample in samples_in(Layout::Lines) {
        let lines = sample.lines();
        let Some(call) = lines.iter().find(|line| line.contains("git log --all")) else {
            continue;
        };
        let repeated = sample.text.replacen(call, &vec![*call; 5000].join("\n"), 1);
        let (events, report) = read_bytes(repeated.as_bytes());
        let commands = count(&events, |event| event.channel == Channel::Command);
        assert_eq!(commands, 1, "{}", sample.format);
        assert_ne!(report.coverage, Coverage::Full, "{}", sample.format);
    }
}

#[test]
fn results_without_calls() {
    for sample in samples_in(Layout::Lines) {
        let (format, lines) = (&sample.format, sample.lines());
        if !sample.has_calls() {
            continue;
        }
        let without: Vec<&str> = lines
            .iter()
            .filter(|line| !line.contains("git log --all") || line.contains("abc Fix"))
            .copied()
            .collect();
        let (events, report) = read_bytes(without.join("\n").as_bytes());
        let output = events.iter().find(|event| is_output(event)).unwrap();
        assert!(output.text.contains("abc Fix"), "{format}");
        // Formats whose result repeats the call lose nothing.
        let restated = without.iter().any(|line| line.contains("git log --all"));
        assert_eq!(report.orphans, u64::from(!restated), "{format}");
        if !restated {
            assert_ne!(report.coverage, Coverage::Full, "{format}");
        }
    }
}
