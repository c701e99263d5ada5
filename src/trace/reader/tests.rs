use proptest::prelude::*;

use super::*;

/// Everything a reader gives out: kind, line, text.
fn spans(mut reader: Reader<impl Read>) -> Vec<(Cut, u64, String)> {
    let mut out = Vec::new();
    while let Some(span) = reader.next_span().unwrap() {
        let text = String::from_utf8_lossy(reader.bytes(&span)).into_owned();
        if span.cut == Cut::Line && serde_json::from_str::<serde_json::Value>(&text).is_err() {
            reader.take_apart(&span);
            continue;
        }
        if span.cut != Cut::TooLong {
            assert_eq!(
                span.piece.range.len() as u64,
                span.piece.bytes.end - span.piece.bytes.start
            );
        }
        out.push((span.cut, span.piece.line, text));
    }
    out
}

fn read(text: &str) -> Vec<(Cut, u64, String)> {
    spans(Reader::new(text.as_bytes()))
}

fn shown(text: &str) -> Vec<String> {
    read(text)
        .into_iter()
        .map(|(cut, line, text)| {
            let sign = match cut {
                Cut::Line | Cut::Value => "=",
                Cut::Text => "t",
                Cut::Broken => "b",
                Cut::Unfinished => "c",
                Cut::TooLong => "x",
            };
            format!("{line}{sign}{}", text.replace('\n', "⏎"))
        })
        .collect()
}

/// Texts, and what is cut out of them: the line, a sign for the kind, the bytes.
const CUTS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("\n\n  \n", &[]),
    ("{\"a\":1}\n{\"b\":2}\n", &["1={\"a\":1}", "2={\"b\":2}"]),
    (
        "{\"a\":1}\r\n\r\n{\"b\":2}",
        &["1={\"a\":1}", "3={\"b\":2}"],
    ),
    (
        "{\"a\":1}{\"b\":2}\n{}",
        &["1={\"a\":1}", "1={\"b\":2}", "2={}"],
    ),
    (
        "{\"a\":1} {\"b\":2} tail\n",
        &["1={\"a\":1}", "1={\"b\":2}", "1ttail"],
    ),
    (
        "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n{\"c\":1}",
        &["1={⏎  \"a\": {⏎    \"b\": 1⏎  }⏎}", "6={\"c\":1}"],
    ),
    // arrays of records
    ("[{\"a\":1},{\"b\":2}]", &["1={\"a\":1}", "1={\"b\":2}"]),
    (
        "[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": 2\n  }\n]\n",
        &["2={⏎    \"a\": 1⏎  }", "5={⏎    \"b\": 2⏎  }"],
    ),
    (
        "[{\"a\":1},\n{\"b\":2}]\n{\"c\":3}\n",
        &["1={\"a\":1}", "2={\"b\":2}", "3={\"c\":3}"],
    ),
    // arrays that are values, and text that starts like one
    (
        "[0.5, \"o\", \"x\"]\n[1]\n",
        &["1=[0.5, \"o\", \"x\"]", "2=[1]"],
    ),
    (
        "[INFO] up {x}\n[12:30] y\n[1] z\n",
        &["1t[INFO] up {x}", "2t[12:30] y", "3t[1] z"],
    ),
    // text and scalars
    (
        "Warning: x\n{\"a\":1}\n\u{1b}[0m{\"b\":2}\n",
        &["1tWarning: x", "2={\"a\":1}", "3t\u{1b}[0m", "3={\"b\":2}"],
    ),
    ("42\n\"s\"\nnull\n", &["1t42", "2t\"s\"", "3tnull"]),
    (
        "\u{feff}{\"a\":1}\n\0\0{\"b\":2}\0\n\u{feff}{\"c\":3}",
        &["1={\"a\":1}", "2={\"b\":2}", "3={\"c\":3}"],
    ),
    // cut off
    ("{\"a\":1}\n{\"b\":\"x", &["1={\"a\":1}", "2c{\"b\":\"x"]),
    ("{\"a\":1}\n{\"b\":", &["1={\"a\":1}", "2c{\"b\":"]),
    ("{\"a\":1}\n{", &["1={\"a\":1}", "2c{"]),
    // a lost tail, then whole records: on the next line, after a comma, after a colon, on the same line
    ("{\"a\":\"x\n{\"b\":2}\n", &["1b{\"a\":\"x", "2={\"b\":2}"]),
    (
        "{\"a\":1,\n{\"b\":2}\n{\"c\":3}\n",
        &["1b{\"a\":1,", "2={\"b\":2}", "3={\"c\":3}"],
    ),
    (
        "{\"a\":\n{\"b\":2}\n{\"c\":3}\n",
        &["1b{\"a\":", "2={\"b\":2}", "3={\"c\":3}"],
    ),
    (
        "{\"a\":\"x{\"b\":{\"c\":\"d\"}}\n{\"e\":1}\n",
        &["1b{\"a\":\"x", "1={\"b\":{\"c\":\"d\"}}", "2={\"e\":1}"],
    ),
    (
        "{\"m\":{\"c\":[{\"t\":\"x{\"b\":{\"c\":\"d\"}}{\"z\":0}\n",
        &[
            "1b{\"m\":{\"c\":[{\"t\":\"x",
            "1={\"b\":{\"c\":\"d\"}}",
            "1={\"z\":0}",
        ],
    ),
    ("{not json}\n{\"a\":1}\n", &["1b{not json}", "2={\"a\":1}"]),
    // a broken pretty-printed record between whole ones
    (
        "[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": \"x\n  },\n  {\n    \"c\": 3\n  }\n]",
        &[
            "2={⏎    \"a\": 1⏎  }",
            "5b{",
            "6t\"b\": \"x",
            "7t},",
            "8={⏎    \"c\": 3⏎  }",
        ],
    ),
    // text in front of a record, and a look-alike that is none
    ("2026 ERROR {\"a\":1}\n", &["1t2026 ERROR ", "1={\"a\":1}"]),
    ("fn x() {\"a\"} }\n", &["1tfn x() {\"a\"} }"]),
];

#[test]
fn cuts() {
    for (text, want) in CUTS {
        let got = shown(text);
        assert_eq!(got, *want, "{text:?}");
    }
}

#[test]
fn small_reads_give_the_same() {
    struct Drip<'t>(&'t [u8], usize);
    impl Read for Drip<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buf.len());
            let (now, later) = self.0.split_at(count);
            buf[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }
    let long = format!("{{\"t\":\"{}\"}}\n", "x".repeat(3 * WINDOW));
    let text = format!(
        "{{\"a\":1}}\nnoise\n{long}[{{\"b\":\n2}},{{\"c\":3}}]\n{long}{}\n{{\"d\":4}}{{\"e\"",
        "y".repeat(2 * WINDOW)
    );
    let want = read(&text);
    assert_eq!(want.len(), 9);
    for size in [1, 7, 4096, WINDOW - 1, WINDOW + 1] {
        assert!(
            spans(Reader::new(Drip(text.as_bytes(), size))) == want,
            "reads of {size}"
        );
    }
}

#[test]
fn lines_and_offsets_are_exact() {
    let text = "{\"a\":1}\n\n  {\n\"b\":2}\nnoise {\"c\":3}\n{\"d\":";
    let mut reader = Reader::new(text.as_bytes());
    while let Some(span) = reader.next_span().unwrap() {
        let (start, end) = (
            span.piece.bytes.start as usize,
            span.piece.bytes.end as usize,
        );
        assert_eq!(reader.bytes(&span), &text.as_bytes()[start..end]);
        assert_eq!(
            span.piece.line as usize,
            1 + text
                .as_bytes()
                .iter()
                .take(start)
                .filter(|b| **b == b'\n')
                .count()
        );
    }
}

#[test]
fn a_record_over_the_cap_is_skipped_and_the_next_one_read() {
    let cap = 4 * WINDOW;
    let long = format!("{{\"t\":\"{}\"}}", "x".repeat(2 * cap));
    let open = format!("{{\"t\":\"{}", "x".repeat(2 * cap));
    let text = format!("{{\"a\":1}}\n{long}\n{{\"b\":2}}\n{open}\n{{\"c\":3}}\n{open}");
    let mut reader = Reader::new(text.as_bytes());
    reader.max_record = cap;
    let got = spans(reader);
    let kinds: Vec<_> = got.iter().map(|(cut, line, _)| (*cut, *line)).collect();
    assert_eq!(
        kinds,
        [
            (Cut::Line, 1),
            (Cut::TooLong, 2),
            (Cut::Line, 3),
            (Cut::TooLong, 4),
            (Cut::Line, 5),
            (Cut::TooLong, 6)
        ]
    );
}

#[test]
fn a_long_text_line_comes_in_pieces() {
    let text = format!("x{}\n{{\"a\":1}}", "é".repeat(MAX_TEXT / 2 + 5));
    let got = read(&text);
    let lengths: Vec<_> = got
        .iter()
        .map(|(cut, line, text)| (*cut, *line, text.len()))
        .collect();
    assert_eq!(
        lengths,
        [
            (Cut::Text, 1, MAX_TEXT - 1),
            (Cut::Text, 1, 12),
            (Cut::Line, 2, 7)
        ]
    );
}

#[test]
fn an_array_of_records_is_never_held_whole() {
    let one = format!("{{\"t\":\"{}\"}}", "x".repeat(1000));
    let text = format!("[{}]", vec![one.as_str(); 20_000].join(","));
    let mut reader = Reader::new(text.as_bytes());
    let mut count = 0;
    while reader.next_span().unwrap().is_some() {
        count += 1;
        assert!(
            reader.buffer.window() <= 2 * WINDOW,
            "{}",
            reader.buffer.window()
        );
    }
    assert_eq!(count, 20_000);
    assert_eq!(reader.oddities().open_arrays, 0);
}

/// Inputs made to be scanned again and again. Linear work means that these end at once.
#[test]
fn hostile_nesting_is_linear() {
    for (unit, times) in [
        ("{\"a\":\n", 300_000),
        ("{\n", 500_000),
        ("[\n", 500_000),
        ("{\"a\":[\n", 300_000),
        ("{\"a\":{\"b\":", 200_000),
        ("x{\"", 500_000),
        ("{\"a\":\"", 300_000),
        ("[{", 500_000),
        ("{\"a\":1,\n", 300_000),
    ] {
        for end in ["", "}", "\n", "]"] {
            let text = unit.repeat(times) + end;
            let got = read(&text);
            assert!(!got.is_empty());
        }
    }
}

#[test]
fn oddities_are_noticed() {
    let mut reader = Reader::new(&b"{\"a\":1}\n\0{\"b\":2}\r\n[{\"c\":3}"[..]);
    while reader.next_span().unwrap().is_some() {}
    assert_eq!(
        reader.oddities(),
        Oddities {
            crlf: Some(2),
            nul: Some(2),
            open_arrays: 1
        }
    );
}

proptest! {
    /// Nothing but separators is lost, in order, whatever the bytes are.
    #[test]
    fn every_byte_is_given_out_once(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("{\"a\":1}"), Just("{"), Just("}"), Just("["), Just("]"), Just("\""), Just("\\"),
                Just(","), Just(":"), Just("\n"), Just("  "), Just("{\"b\":{\"c\":[1]}}"), Just("text"),
                Just("{\"a\":\""), Just("\r\n"), Just("\0"), Just("1"), Just("é")
            ],
            0..40,
        )
    ) {
        let text = pieces.concat();
        let mut reader = Reader::new(text.as_bytes());
        let mut last = 0;
        while let Some(span) = reader.next_span().unwrap() {
            let start = usize::try_from(span.piece.bytes.start).unwrap();
            let end = usize::try_from(span.piece.bytes.end).unwrap();
            prop_assert!(start >= last && end > start);
            let skipped = &text.as_bytes()[last..start];
            prop_assert!(skipped.iter().all(|b| b" \t\r\n\0,[]".contains(b)), "lost {:?}", skipped);
            prop_assert_eq!(reader.bytes(&span), &text.as_bytes()[start..end]);
            last = end;
        }
        prop_assert!(text.as_bytes()[last..].iter().all(|b| b" \t\r\n\0,[]".contains(b)));
    }

    /// A whole record on its own line is always found.
    #[test]
    fn records_on_their_own_lines_are_found(before in "[\\x20-\\x7e]{0,60}", after in "[\\x20-\\x7e]{0,60}") {
        // A line that ends inside an open container may claim what follows as its member.
        let text = format!("{before}\n{{\"k\":\"v\"}}\n{{\"k\":\"w\"}}\n{after}");
        let got = read(&text);
        prop_assert!(got.iter().any(|(_, _, text)| text.contains("\"w\"")));
    }
}
