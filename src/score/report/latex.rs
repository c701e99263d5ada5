//! LaTeX for a paper: `booktabs` tables (the preamble needs `\usepackage{booktabs}`), one paragraph a
//! sentence block.

use std::io::{self, Write};

use super::view::{Block, Grid, blocks};
use super::{Format, visible};
use crate::score::analysis::Analysis;

/// LaTeX.
pub(super) struct Latex;

impl Format for Latex {
    fn name(&self) -> &'static str {
        "latex"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "% needs \\usepackage{{booktabs}}; wide tables may need \\small or a landscape page"
        )?;
        for block in blocks(analysis) {
            writeln!(out)?;
            match block {
                Block::Heading(text) => writeln!(out, "\\paragraph{{{}}}", escape(&text))?,
                Block::Text(text) => writeln!(out, "{}", escape(&text))?,
                Block::List(items) => {
                    writeln!(out, "\\begin{{itemize}}")?;
                    for item in items {
                        writeln!(out, "  \\item {}", escape(&item))?;
                    }
                    writeln!(out, "\\end{{itemize}}")?;
                }
                Block::Table(grid) => table(&grid, out)?,
            }
        }
        Ok(())
    }
}

fn table(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let form: String = (0..grid.columns.len())
        .map(|n| if n < grid.left { 'l' } else { 'r' })
        .collect();
    writeln!(
        out,
        "\\begin{{table}}[t]\n  \\centering\n  \\caption{{{}}}",
        escape(&grid.title)
    )?;
    writeln!(out, "  \\begin{{tabular}}{{{form}}}\n    \\toprule")?;
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        format!("    {} \\\\", cells.join(" & "))
    };
    writeln!(out, "{}\n    \\midrule", line(&grid.columns))?;
    for row in &grid.rows {
        writeln!(out, "{}", line(row))?;
    }
    writeln!(out, "    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}")
}

/// Every character that TeX gives a meaning to, as itself.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            // Otherwise -- is a dash and [ after \\ an argument.
            '-' => out.push_str("{-}"),
            '[' => out.push_str("{[}"),
            '→' => out.push_str("$\\to$"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_keeps_a_meaning() {
        assert_eq!(
            escape("50% \\input{x} a_b^c~ $&# 1 → 2"),
            "50\\% \\textbackslash{}input\\{x\\} a\\_b\\textasciicircum{}c\\textasciitilde{} \\$\\&\\# 1 $\\to$ 2"
        );
    }
}
