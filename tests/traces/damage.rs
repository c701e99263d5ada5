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

/// Notes what does not hold, so that a test names every format for which it does not.
fn check(wrong: &mut Vec<String>, holds: bool, what: impl Into<String>) {
    if !holds {
        wrong.push(what.into());
    }
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

/// The first texts of a run. The last one may be cut, or a cut copy of an earlier one; it may have the border of a box
/// around it, or stand elsewhere and be lost.
fn begins(whole: &[String], with: &[String]) -> bool {
    let Some((last, others)) = with.split_last() else {
        return true;
    };
    let last = last.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
    let known = whole.iter().any(|text| text.starts_with(last));
    whole.starts_with(others) && (known || last.starts_with("attachment://"))
}

/// Of a document, and of text, what stands before the cut is read, and nothing else.
#[test]
fn documents_that_are_cut_off() {
    let mut wrong = Vec::new();
    for sample in samples() {
        if sample.layout == Layout::Lines {
            continue;
        }
        let (name, mut layouts) = (&sample.format, vec![sample.text.clone()]);
        if sample.layout == Layout::Object {
            // On one line, its keys in the same order.
            layouts.push(sample.lines().into_iter().map(str::trim).collect());
        }
        for text in layouts {
            let (whole, _) = read_bytes(text.as_bytes());
            let whole = texts(&whole);
            for mut at in places(&text) {
                // A line of text that is cut says something else.
                if sample.layout == Layout::Text {
                    at = text[..at].rfind('\n').map_or(0, |end| end + 1);
                }
                let (events, _) = read_bytes(&text.as_bytes()[..at]);
                let events = texts(&events);
                check(
                    &mut wrong,
                    begins(&whole, &events),
                    format!("{name} at {at} of {}: {events:?}", text.len()),
                );
            }
            let Some(output) = text.find("abc Fix (#5)") else {
                continue;
            };
            // Inside the message behind the output, and behind it.
            let message = ["Done.", "attachment://"];
            let message = message.iter().filter_map(|mark| text[output..].find(mark));
            let message = message.min().map_or(text.len() - 1, |at| output + at);
            let items = text[message..].find('}').map_or(0, |end| end + 1);
            for at in [message, message + items] {
                let (events, report) = read_bytes(&text.as_bytes()[..at]);
                let read = |event: &Event| is_output(event) && event.text.contains("abc Fix (#5)");
                check(
                    &mut wrong,
                    count(&events, read) == 1 && report.coverage != Coverage::Full,
                    format!("the output of {name} at {at}: {:?}", texts(&events)),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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

/// Formats that show whose turn it is by order alone, in text: what stands twice there may have happened twice.
const TEXT_REPEATS: &[&str] = &["aider-chat", "aider-llm", "rovo-dev", "terminal-bench"];

#[test]
fn doubled_records() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let name = &sample.format;
        let (whole, _) = read_bytes(sample.text.as_bytes());
        let doubled: Vec<String> = sample
            .records()
            .into_iter()
            .flat_map(|record| [record.clone(), record])
            .collect();
        let (events, report) = read_bytes(sample.with_records(&doubled).as_bytes());
        check(&mut wrong, report.coverage != Coverage::Full, name.as_str());
        if TEXT_REPEATS.contains(&name.as_str()) {
            continue;
        }
        let is_call = |event: &Event| event.channel.is_call();
        check(
            &mut wrong,
            count(&events, is_call) == count(&whole, is_call),
            format!("calls or results of {name}"),
        );
        check(
            &mut wrong,
            count(&events, is_output) == count(&whole, is_output),
            format!("calls or results of {name}"),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One record twice, at every place.
#[test]
fn one_doubled_record() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let records = sample.records();
        for at in 0..records.len() {
            if !records[at].contains("git log --all") && !records[at].contains("abc Fix") {
                continue;
            }
            let mut doubled = records.clone();
            doubled.insert(at, records[at].clone());
            let (_, report) = read_bytes(sample.with_records(&doubled).as_bytes());
            check(
                &mut wrong,
                report.coverage != Coverage::Full,
                format!("{} at {at}", sample.format),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn reordered_records() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let name = &sample.format;
        let records = sample.records();
        if records.len() < 2 {
            continue;
        }
        let (_, plain) = read_bytes(sample.text.as_bytes());
        let mut reversed = records.clone();
        reversed.reverse();
        let mut rotated = records.clone();
        rotated.rotate_left(records.len() / 2);
        for order in [reversed, rotated] {
            let (_, report) = read_bytes(sample.with_records(&order).as_bytes());
            check(&mut wrong, report.coverage != Coverage::Full, name.as_str());
            if sample.layout == Layout::Lines {
                assert_eq!(report.files[0].records, plain.files[0].records, "{name}");
            }
        }
        // Lines of pretty-printed objects are no records.
        let mut lines = sample.lines();
        lines.reverse();
        let (_, report) = read_bytes(lines.join("\n").as_bytes());
        check(&mut wrong, report.coverage != Coverage::Full, name.as_str());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
        let format = &sample.format;
        if sample.layout == Layout::Text {
            let big = "line of output ".repeat(50 << 16);
            let damaged = format!("{}{big}\n{}", sample.text, sample.text);
            let (events, report) = read_bytes(damaged.as_bytes());
            assert_ne!(report.coverage, Coverage::Full, "{format}");
            assert_eq!(report.files[0].format, *format);
            let (whole, _) = read_bytes(sample.text.as_bytes());
            let (events, whole) = (texts(&events), texts(&whole));
            for text in whole.iter().take(2) {
                assert!(events.contains(text), "{format}: {text}");
            }
            continue;
        }
        if !sample.has_calls() {
            continue;
        }
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
    let mut wrong = Vec::new();
    for sample in samples() {
        let records = sample.records();
        let mut repeated = Vec::new();
        for record in &records {
            let times = if record.contains("git log --all") {
                5000
            } else {
                1
            };
            repeated.extend(std::iter::repeat_n(record.clone(), times));
        }
        if repeated.len() == records.len() {
            continue;
        }
        let (events, report) = read_bytes(sample.with_records(&repeated).as_bytes());
        check(
            &mut wrong,
            report.coverage != Coverage::Full,
            sample.format.as_str(),
        );
        let commands = count(&events, |event| event.channel == Channel::Command);
        if TEXT_REPEATS.contains(&sample.format.as_str()) {
            assert!(commands >= 1, "{}", sample.format);
        } else {
            check(
                &mut wrong,
                commands == 1,
                format!("calls or results of {}", sample.format),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn results_without_calls() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let format = &sample.format;
        if !sample.has_calls() {
            continue;
        }
        let mut without = sample.records();
        without.retain(|record| !record.contains("git log --all") || record.contains("abc Fix"));
        let (events, report) = read_bytes(sample.with_records(&without).as_bytes());
        if sample.layout == Layout::Text {
            check(
                &mut wrong,
                report.coverage != Coverage::Full,
                format.as_str(),
            );
            continue;
        }
        let output = events.iter().find(|event| is_output(event));
        let intact = output.is_some_and(|output| output.text.contains("abc Fix"));
        check(&mut wrong, intact, format!("the result of {format}"));
        // Formats whose result repeats the call lose nothing.
        let restated = events.iter().any(|event| event.channel == Channel::Command);
        check(
            &mut wrong,
            report.orphans == u64::from(!restated),
            format!("orphans of {format}"),
        );
        if !restated {
            check(
                &mut wrong,
                report.coverage != Coverage::Full,
                format.as_str(),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Calls whose results are lost.
#[test]
fn calls_without_results() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let format = &sample.format;
        if !sample.has_calls() {
            continue;
        }
        let mut without = sample.records();
        without.retain(|record| !record.contains("abc Fix"));
        let (_, report) = read_bytes(sample.with_records(&without).as_bytes());
        let has_call = without
            .iter()
            .any(|record| record.contains("git log --all"));
        if has_call {
            check(
                &mut wrong,
                report.coverage != Coverage::Full,
                format.as_str(),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
