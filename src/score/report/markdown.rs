//! Markdown with pipe tables.

use std::io::{self, Write};

use super::view::{Block, Grid, blocks};
use super::{Format, visible};
use crate::score::analysis::Analysis;

/// Markdown.
pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        for (n, block) in blocks(analysis).into_iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            match block {
                Block::Heading(text) => writeln!(out, "## {}", escape(&text))?,
                Block::Text(text) => writeln!(out, "{}", escape(&text))?,
                Block::List(items) => {
                    for item in items {
                        writeln!(out, "- {}", escape(&item))?;
                    }
                }
                Block::Table(grid) => table(&grid, out)?,
            }
        }
        Ok(())
    }
}

fn table(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**{}**\n", escape(&grid.title))?;
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        format!("| {} |", cells.join(" | "))
    };
    writeln!(out, "{}", line(&grid.columns))?;
    let rule: Vec<&str> = (0..grid.columns.len())
        .map(|n| if n < grid.left { "---" } else { "---:" })
        .collect();
    writeln!(out, "| {} |", rule.join(" | "))?;
    for row in &grid.rows {
        writeln!(out, "{}", line(row))?;
    }
    Ok(())
}

/// Takes the meaning off every character that Markdown or HTML gives one to, wherever it stands.
fn escape(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' | '@' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    // Bare addresses would become links.
    out.replace("://", "&#58;//").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_keeps_a_meaning() {
        assert_eq!(
            escape("a_b|c *d* <img> [x](y)"),
            "a\\_b\\|c \\*d\\* &lt;img&gt; \\[x\\](y)"
        );
        assert_eq!(escape("http://x www.y"), "http&#58;//x www&#46;y");
        assert_eq!(escape("x\ny\u{202E}"), "x\\\\u{a}y\\\\u{202e}");
    }
}
