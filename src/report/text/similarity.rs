//! How much of the ground truth stands in the patch, and what chance gives.

use std::io::{self, Write};

use super::more;
use crate::report::escape::for_terminal;
use crate::report::model::RunReport;
use crate::report::{Lang, Style, phrases};
use crate::similarity::model::{FileSimilarity, Ratio, Similarity};

/// Compared files shown without `--verbose`.
const FILES_SHOWN: usize = 5;
/// Copy score from which on it is worth saying what chance gives.
const ALIKE: f64 = 0.5;

pub(super) fn write(
    run: &RunReport,
    s: &Similarity,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lang = style.lang;
    writeln!(out, "  {}", identical_files(lang, s))?;
    writeln!(
        out,
        "  {}",
        match lang {
            Lang::En => format!(
                "{} of {} of the ground truth {} in the patch; containment {}, Jaccard {}, 12-token grams {}, longest identical run {}",
                s.u_ratio.num,
                phrases::number(s.u_ratio.den, "distinctive line"),
                if s.u_ratio.num == 1 { "is" } else { "are" },
                share(s.containment),
                share(s.jaccard),
                share(s.t12),
                phrases::number(s.longest_run, "line")
            ),
            Lang::Zh => format!(
                "补丁含有参考的 {1} 个特征行中的 {0} 个；包含度 {2}，Jaccard {3}，12 词元组 {4}，最长一致段 {5} 行",
                s.u_ratio.num,
                s.u_ratio.den,
                share(s.containment),
                share(s.jaccard),
                share(s.t12),
                s.longest_run
            ),
        }
    )?;
    if let Some(chance) = &run.words.chance
        && (style.verbose || s.copy_score.unwrap_or(0.0) >= ALIKE)
    {
        writeln!(out, "  {}", for_terminal(chance))?;
    }
    for sentence in &run.words.alike {
        writeln!(out, "  {}", for_terminal(sentence))?;
    }
    if style.verbose {
        writeln!(out, "  {}", other_measures(lang, s))?;
    }
    write_files(s, style, out)
}

/// "35 of 35 hand-written files identical (all of the 19 that are long enough to judge alone)".
fn identical_files(lang: Lang, s: &Similarity) -> String {
    let (same, all) = (s.hand_written_identical, s.hand_written_files);
    let (judged, eligible) = (s.identical_files, s.eligible_files);
    match lang {
        Lang::En => {
            let alone = if eligible == 0 {
                "none is long enough to judge alone".to_owned()
            } else if judged == eligible {
                format!("all of the {eligible} that are long enough to judge alone")
            } else {
                format!("{judged} of the {eligible} that are long enough to judge alone")
            };
            let files = phrases::number(all, "hand-written file");
            format!("{same} of {files} identical ({alone})")
        }
        Lang::Zh => {
            let alone = if eligible == 0 {
                "没有足以单独判断的文件".to_owned()
            } else {
                format!("足以单独判断的 {eligible} 个中有 {judged} 个")
            };
            format!("{all} 个手写文件中 {same} 个一致（{alone}）")
        }
    }
}

/// The measures that say how a copy was changed.
fn other_measures(lang: Lang, s: &Similarity) -> String {
    let measures = [
        (lang.pick("lines with repeats", "计重复的行"), s.multiset),
        (lang.pick("lines in runs of six", "六行以上的连续段"), s.r6),
        (
            lang.pick("exact change blocks", "完全一致的改动块"),
            s.hunks,
        ),
        (lang.pick("23-token shapes", "23 词元形状"), s.s23),
    ];
    let mut said: Vec<String> = measures
        .iter()
        .map(|(name, value)| format!("{name} {}", share(*value)))
        .collect();
    let Ratio { num, den } = s.u_tests;
    if den > 0 {
        let solution = Ratio::new(
            s.u_ratio.num.saturating_sub(num),
            s.u_ratio.den.saturating_sub(den),
        );
        said.push(format!(
            "{} {num}/{den}, {} {}/{}",
            lang.pick("tests", "测试文件"),
            lang.pick("the rest", "其余"),
            solution.num,
            solution.den
        ));
    }
    said.join(lang.pick(", ", "，"))
}

fn write_files(s: &Similarity, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    let mut files: Vec<_> = s
        .files
        .iter()
        .filter(|f| f.hand_written && (style.verbose || f.shared > 0))
        .collect();
    // Most telling first: long files with a high score; ties by path.
    files.sort_by(|a, b| {
        let score = |f: &FileSimilarity| f.copy_score.unwrap_or(0.0) * f.distinctive as f64;
        score(b)
            .total_cmp(&score(a))
            .then_with(|| a.path.cmp(&b.path))
    });
    let shown = if style.verbose {
        files.len()
    } else {
        FILES_SHOWN
    };
    for file in files.iter().take(shown) {
        let mut line = format!(
            "    {}  {}/{} {}{} {}",
            for_terminal(&file.path),
            file.shared,
            file.distinctive,
            lang.pick("distinctive lines", "特征行"),
            lang.pick(", copy score", "，复制分"),
            share(file.copy_score),
        );
        if let Some(other) = file.paired_with.as_ref().filter(|p| **p != file.path) {
            line.push_str(&format!(
                "{}{}{}",
                lang.pick("  (as ", "（对应 "),
                for_terminal(other),
                lang.pick(")", "）")
            ));
        }
        writeln!(out, "{line}")?;
    }
    more(lang, files.len(), shown, lang.pick("files", "个文件"), out)
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"))
}
