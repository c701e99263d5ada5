//! Plain text for a terminal: aligned columns, no colours, no box drawing.

use std::io::{self, Write};

use super::view::{Block, Grid, blocks};
use super::{Format, visible};
use crate::score::analysis::Analysis;

/// Plain text.
pub(super) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        for (n, block) in blocks(analysis).into_iter().enumerate() {
            if n > 0 && !matches!(block, Block::Heading(_)) {
                writeln!(out)?;
            }
            match block {
                Block::Heading(text) => {
                    let text = visible(&text);
                    let gap = if n > 0 { "\n\n" } else { "" };
                    writeln!(out, "{gap}{text}\n{}", "=".repeat(text.chars().count()))?;
                }
                Block::Text(text) => writeln!(out, "{}", wrap(&visible(&text), 100))?,
                Block::List(items) => {
                    for item in items {
                        writeln!(out, "- {}", visible(&item))?;
                    }
                }
                Block::Table(grid) => table(&grid, out)?,
            }
        }
        Ok(())
    }
}

/// Breaks lines at spaces; a longer word stays whole.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

fn table(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible(&grid.title))?;
    let lines: Vec<Vec<String>> = std::iter::once(&grid.columns)
        .chain(&grid.rows)
        .map(|cells| cells.iter().map(|c| visible(c)).collect())
        .collect();
    let mut widths = vec![0; grid.columns.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for line in &lines {
        let mut text = String::new();
        for (n, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let gap = if n == 0 { "  " } else { "   " };
            if n < grid.left {
                text.extend([gap, cell, &pad]);
            } else {
                text.extend([gap, &pad, cell]);
            }
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}
