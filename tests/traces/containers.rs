//! Compressed traces, archives, and standard input.

use std::io::Write;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use trace_audit::trace::TraceReport;
use trace_audit::trace::event::Coverage;

use crate::samples::samples;
use crate::support::{read_bytes, texts};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of entries with method and content; the sizes stand in front, or behind (`follow`).
fn zip(entries: &[(u16, &[u8])], follow: bool, flags: u16) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, (method, content)) in entries.iter().enumerate() {
        let packed = match method {
            8 => deflate(content),
            93 => zstd(content),
            _ => content.to_vec(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let sizes = [
            crc.sum().to_le_bytes(),
            (packed.len() as u32).to_le_bytes(),
            (content.len() as u32).to_le_bytes(),
        ]
        .concat();
        let name = format!("samples/{number}_epoch_1.json");
        out.extend(b"PK\x03\x04\x14\0");
        out.extend((flags | if follow { 8 } else { 0 }).to_le_bytes());
        out.extend(method.to_le_bytes());
        out.extend([0; 4]);
        out.extend(if follow { vec![0; 12] } else { sizes.clone() });
        out.extend((name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out.extend(name.bytes());
        out.extend(packed);
        if follow {
            out.extend(b"PK\x07\x08");
            out.extend(sizes);
        }
    }
    out.extend(b"PK\x05\x06");
    out.extend([0; 18]);
    out
}

/// Everything that a text can be packed into.
fn packed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let (front, back) = text.split_at(text.len() / 2);
    let skipped = [b"\x53\x2a\x4d\x18\x05\0\0\0abcde".to_vec(), zstd(text)].concat();
    vec![
        ("gzip", gzip(text)),
        ("gzip, two members", [gzip(front), gzip(back)].concat()),
        ("zstd", zstd(text)),
        ("zstd, two frames", [zstd(front), zstd(back)].concat()),
        ("zstd, a frame to skip", skipped),
        ("zip, stored", zip(&[(0, text)], false, 0)),
        ("zip, deflate", zip(&[(8, text)], false, 0)),
        ("zip, zstd", zip(&[(93, text)], false, 0)),
        ("zip, sizes behind", zip(&[(8, text)], true, 0)),
        ("zip, two entries", zip(&[(8, b""), (93, text)], false, 0)),
        ("gzip in gzip", gzip(&gzip(text))),
    ]
}

fn problems(report: &TraceReport) -> Vec<&str> {
    let problems = report.files.iter().flat_map(|file| &file.problems);
    problems.map(|problem| problem.what.as_str()).collect()
}

#[test]
fn every_sample_reads_alike_from_every_container() {
    for sample in samples() {
        let (whole, plain) = read_bytes(sample.text.as_bytes());
        for (name, bytes) in packed(sample.text.as_bytes()) {
            let (events, report) = read_bytes(&bytes);
            let format = &sample.format;
            assert_eq!(texts(&events), texts(&whole), "{format}, {name}");
            assert_eq!(
                report.coverage, plain.coverage,
                "{format}, {name}: {:?}",
                report.reasons
            );
            assert_eq!(report.files[0].format, *format, "{name}");
        }
    }
}

#[test]
fn damaged_containers_keep_what_was_unpacked() {
    let sample = samples().into_iter().find(|s| s.format == "claude-stream");
    let text = sample.unwrap().text;
    let (whole, _) = read_bytes(text.as_bytes());
    let whole = texts(&whole);
    for (name, bytes) in packed(text.as_bytes()) {
        for step in 0..20 {
            let at = bytes.len() * step / 20;
            let (events, report) = read_bytes(&bytes[..at]);
            // The empty end of a zip archive holds nothing.
            let all = texts(&events) == whole;
            assert!(
                all || report.coverage != Coverage::Full,
                "{name} cut at {at}"
            );
            assert!(texts(&events).len() <= whole.len(), "{name} cut at {at}");

            let mut flipped = bytes.clone();
            flipped[at] ^= 0x55;
            let (events, report) = read_bytes(&flipped);
            let all = texts(&events) == whole;
            assert!(
                all || report.coverage != Coverage::Full,
                "{name} flipped at {at}"
            );
            assert_eq!(report.files[0].sha256.len(), 64, "{name} flipped at {at}");
        }
    }
    // What stands in front of the damage is read.
    let long: String = (0..20_000)
        .map(|n| {
            format!(
                "{{\"type\":\"error\",\"message\":\"number {n} {}\"}}\n",
                n * 7919
            )
        })
        .collect();
    for (name, bytes) in [
        ("gzip", gzip(long.as_bytes())),
        ("zstd", zstd(long.as_bytes())),
    ] {
        let (events, report) = read_bytes(&bytes[..bytes.len() / 2]);
        assert!(events.len() > 5_000, "{name}: {}", events.len());
        let told = problems(&report);
        assert!(
            told.iter().any(|what| what.contains("damaged or cut")),
            "{name}: {told:?}"
        );
    }
}

#[test]
fn a_damaged_entry_does_not_hide_the_next() {
    let [first, second] = ["first", "second"].map(|word| {
        format!("{{\"type\":\"thread.started\",\"thread_id\":\"{word}\"}}\n{{\"type\":\"item.completed\",\"item\":{{\"id\":\"1\",\"type\":\"reasoning\",\"text\":\"{word}\"}}}}")
    });
    for method in [0, 8, 93] {
        let mut bytes = zip(
            &[(method, first.as_bytes()), (method, second.as_bytes())],
            false,
            0,
        );
        let start = 30 + "samples/0_epoch_1.json".len();
        for byte in &mut bytes[start + 10..start + 40] {
            *byte ^= 0x5a;
        }
        let (events, report) = read_bytes(&bytes);
        assert!(
            texts(&events).contains(&"second".to_owned()),
            "method {method}"
        );
        let told = problems(&report);
        assert!(told.iter().any(|what| what.contains("damaged")), "{told:?}");
    }
}

#[test]
fn what_is_not_unpacked_is_said() {
    let text = b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}";
    for (name, bytes, word) in [
        ("encrypted", zip(&[(8, text)], false, 1), "encrypted"),
        ("unknown method", zip(&[(99, text)], false, 0), "not read"),
        ("three layers", gzip(&gzip(&gzip(text))), "gzip"),
        ("xz", b"\xfd7zXZ\x00\0\0\0\0".to_vec(), "xz"),
    ] {
        let (events, report) = read_bytes(&bytes);
        assert!(events.is_empty(), "{name}");
        assert_eq!(report.coverage, Coverage::Missing, "{name}");
        let told = problems(&report);
        assert!(
            told.iter().any(|what| what.contains(word)),
            "{name}: {told:?}"
        );
    }
}

#[test]
fn a_bomb_is_stopped() {
    let start = b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(start).unwrap();
    let line = [b' '; 1 << 16];
    for _ in 0..8_000 {
        encoder.write_all(&line).unwrap();
    }
    let gzipped = encoder.finish().unwrap();
    let (_, report) = read_bytes(&gzipped);
    let told = problems(&report);
    assert!(
        told.iter().any(|what| what.contains("250 times its size")),
        "{told:?}"
    );
    assert_eq!(report.files[0].format, "codex-exec", "the start is read");
}

#[test]
fn standard_input() {
    let sample = samples().into_iter().find(|s| s.format == "codex-exec");
    let text = sample.unwrap().text;
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .args(["events", "-", "--channel", "command"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
        assert!(stdout.contains("git log --all"), "{stdout}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("1 command; coverage full"), "{stderr}");
    }
}
