//! What a copyist does to a gold patch.

use trace_audit::patch::model::{FileStatus, Hunk, Line, LineKind, Patch};
use trace_audit::patch::render;
use trace_audit::similarity::prepare::prepare;

use crate::data::Gold;
use crate::mutate::renamed;

/// An edit: its name, and the patch that comes of it, as text.
pub type Edit = (&'static str, fn(&Gold) -> Vec<u8>);

pub const EDITS: [Edit; 12] = [
    ("verbatim", |g| g.text.clone().into_bytes()),
    ("one line of context", |g| rendered(g, less_context)),
    ("no final newline", |g| {
        g.text.trim_end().as_bytes().to_vec()
    }),
    ("comments dropped", |g| rendered(g, without_comments)),
    ("reformatted", |g| rendered(g, |p| added(p, reformatted))),
    ("reordered", |g| rendered(g, reordered)),
    ("moved to other files", |g| rendered(g, moved)),
    ("all identifiers renamed", |g| {
        rendered(g, |p| added(p, |t| vec![renamed(t)]))
    }),
    ("20 % of the lines dropped", |g| rendered(g, fifth_dropped)),
    ("`;` at each line end", |g| {
        rendered(g, |p| added(p, |t| vec![semicolon(t)]))
    }),
    ("redundant parentheses", |g| {
        rendered(g, |p| added(p, |t| vec![parentheses(t)]))
    }),
    ("a no-op every 5 lines", |g| rendered(g, padded)),
];

fn rendered(gold: &Gold, edit: impl Fn(&mut Patch)) -> Vec<u8> {
    let mut patch = gold.patch.clone();
    edit(&mut patch);
    render(&patch).into()
}

fn hunks(patch: &mut Patch) -> impl Iterator<Item = &mut Hunk> {
    patch.files.iter_mut().flat_map(|f| &mut f.hunks)
}

/// Replaces the text of every added line.
fn added(patch: &mut Patch, change: impl Fn(&str) -> Vec<String>) {
    for hunk in hunks(patch) {
        let lines = std::mem::take(&mut hunk.lines);
        for line in lines {
            if line.kind == LineKind::Added {
                let texts = change(&line.text.to_string());
                hunk.lines.extend(texts.into_iter().map(|t| Line {
                    text: t.into(),
                    ..line.clone()
                }));
            } else {
                hunk.lines.push(line);
            }
        }
    }
}

fn less_context(patch: &mut Patch) {
    for hunk in hunks(patch) {
        let context = |l: &&Line| l.kind == LineKind::Context;
        let before = hunk
            .lines
            .iter()
            .take_while(context)
            .count()
            .saturating_sub(1);
        hunk.lines.drain(..before);
        hunk.old_start += before as u32;
        hunk.new_start += before as u32;
        let after = hunk
            .lines
            .iter()
            .rev()
            .take_while(context)
            .count()
            .saturating_sub(1);
        hunk.lines.truncate(hunk.lines.len() - after);
    }
}

fn without_comments(patch: &mut Patch) {
    for file in &mut patch.files {
        let code: Vec<Vec<String>> = prepare(file)
            .iter()
            .map(|hunk| hunk.iter().map(|l| l.code.trim_end().to_owned()).collect())
            .collect();
        for (hunk, code) in file.hunks.iter_mut().zip(code) {
            let lines = std::mem::take(&mut hunk.lines);
            for (mut line, code) in lines.into_iter().zip(code) {
                if line.kind == LineKind::Added {
                    if code.is_empty() && !line.text.is_empty() {
                        continue;
                    }
                    line.text = code.into();
                }
                hunk.lines.push(line);
            }
        }
    }
}

/// Other quotes, deeper indentation, lines broken after a comma.
fn reformatted(text: &str) -> Vec<String> {
    let quotes = text.replace('"', "'");
    let depth = quotes.len() - quotes.trim_start().len();
    let body = quotes.trim_start();
    let mut out = vec![format!("{}  ", " ".repeat(depth))];
    for piece in body.split_inclusive(", ") {
        let last = out.last_mut().unwrap();
        if last.trim().len() + piece.len() > 40 && !last.trim().is_empty() {
            out.push(format!("{}      {piece}", " ".repeat(depth)));
        } else {
            last.push_str(piece);
        }
    }
    out
}

fn reordered(patch: &mut Patch) {
    patch.files.reverse();
    for file in &mut patch.files {
        let mut blocks: Vec<Vec<Line>> = Vec::new();
        for hunk in &file.hunks {
            let lines: Vec<Line> = hunk
                .lines
                .iter()
                .filter(|l| l.kind == LineKind::Added)
                .cloned()
                .collect();
            blocks.extend(lines.chunks(4).map(<[Line]>::to_vec));
        }
        let mut lines = blocks.into_iter().rev().flatten();
        for hunk in &mut file.hunks {
            for line in hunk.lines.iter_mut().filter(|l| l.kind == LineKind::Added) {
                *line = lines.next().unwrap();
            }
        }
    }
}

fn moved(patch: &mut Patch) {
    for (number, file) in patch.files.iter_mut().enumerate() {
        let path = format!(
            "own/part{number}/{}",
            file.path().to_string().replace('/', "_")
        );
        let mut lines: Vec<Line> = file.added().cloned().collect();
        for line in &mut lines {
            line.no_newline = false;
        }
        file.old_path = None;
        file.new_path = Some(path.into());
        file.status = FileStatus::Added;
        file.hunks = vec![Hunk {
            old_start: 0,
            new_start: 1,
            lines,
        }];
    }
    patch.files.retain(|f| f.added().next().is_some());
}

fn fifth_dropped(patch: &mut Patch) {
    let mut number = 0;
    for hunk in hunks(patch) {
        hunk.lines.retain(|line| {
            number += usize::from(line.kind == LineKind::Added);
            line.kind != LineKind::Added || number % 5 != 2
        });
    }
}

fn semicolon(text: &str) -> String {
    let bare = text.trim_end();
    if bare.is_empty() || bare.ends_with([';', '{', ',', ':', '(', '\\', '[']) || bare.contains('#')
    {
        text.to_owned()
    } else {
        format!("{bare};")
    }
}

/// `return x` and `a = x` become `return (x)` and `a = (x)`.
fn parentheses(text: &str) -> String {
    let bare = text.trim_end();
    let open = bare.ends_with(['{', ',', ':', '(', '\\', '[']) || bare.contains('#');
    let (body, end) = bare.strip_suffix(';').map_or((bare, ""), |b| (b, ";"));
    for mark in [" = ", "return "] {
        if let Some((before, after)) = body.split_once(mark).filter(|_| !open) {
            return format!("{before}{mark}({after}){end}");
        }
    }
    text.to_owned()
}

fn padded(patch: &mut Patch) {
    let mut number = 0;
    for hunk in hunks(patch) {
        let lines = std::mem::take(&mut hunk.lines);
        for line in lines {
            let here = line.kind == LineKind::Added;
            number += usize::from(here);
            hunk.lines.push(line);
            if here && number % 5 == 0 {
                hunk.lines.push(Line {
                    kind: LineKind::Added,
                    text: format!("_unused{number} = {number}").into(),
                    no_newline: false,
                });
            }
        }
    }
}
