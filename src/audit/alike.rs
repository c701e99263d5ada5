//! What the patch shares with the GT besides code: comments, messages, names of new files. Their author chose
//! them freely, so people see at once what they mean; no score counts them.

use crate::report::Lang;
use crate::report::escape::cut;
use crate::report::model::MatchingRemark;
use crate::similarity::compare::Comparison;
use crate::similarity::new_paths::NewPath;

/// Examples in a sentence.
const EXAMPLES: usize = 2;

/// Characters of an example.
const EXAMPLE_CHARS: usize = 60;

/// The comments and messages that both have, in the order of the GT.
pub(super) fn matching_remarks(comparison: &Comparison) -> impl Iterator<Item = MatchingRemark> {
    let files = &comparison.similarity.files;
    let shared = comparison.remarks.iter().filter(|remark| remark.shared);
    shared.map(|remark| MatchingRemark {
        gt_path: files
            .get(remark.file)
            .map(|file| file.path.clone())
            .unwrap_or_default(),
        gt_line: remark.gt_line,
        comment: remark.comment,
        text: remark.raw.clone(),
    })
}

/// What is alike, in sentences; none when nothing is. Not yet fit for a terminal.
pub(super) fn sentences(comparison: &Comparison, lang: Lang) -> Vec<String> {
    let remarks = comparison.similarity.remarks.unwrap_or_default();
    let paths = &comparison.similarity.new_paths;
    let telling: Vec<&NewPath> = paths.iter().filter(|path| !path.in_prompt).collect();
    let separator = lang.pick(", ", "，");
    let mut out = Vec::new();
    if remarks.num > 0 {
        let examples = matching_remarks(comparison).take(EXAMPLES);
        let examples: Vec<String> = examples.map(|remark| example(&remark)).collect();
        let (shared, all) = (remarks.num, remarks.den);
        let examples = examples.join(separator);
        out.push(match lang {
            Lang::En => format!(
                "{shared} of {all} comments and messages of the ground truth stand in the patch word for word: {examples}"
            ),
            Lang::Zh => format!("参考的 {all} 处注释和文案中有 {shared} 处逐字出现在补丁中：{examples}"),
        });
    }
    if !telling.is_empty() {
        let examples: Vec<String> = telling
            .iter()
            .take(EXAMPLES)
            .map(|p| path(p, lang))
            .collect();
        let (count, examples) = (telling.len(), examples.join(separator));
        out.push(match lang {
            Lang::En => format!(
                "new files at paths of the ground truth that the prompt does not name: {count}, {examples}"
            ),
            Lang::Zh => format!("题目未提及而路径与参考相同的新文件：{count} 个，{examples}"),
        });
    }
    out
}

fn example(remark: &MatchingRemark) -> String {
    let text = cut(remark.text.trim(), EXAMPLE_CHARS);
    format!("`{text}` ({}:{})", remark.gt_path, remark.gt_line)
}

fn path(path: &NewPath, lang: Lang) -> String {
    let random = lang.pick(
        " (part of the name looks random)",
        "（名称中有看似随机的部分）",
    );
    format!("{}{}", path.path, if path.random { random } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::compare::{CompareInputs, compare};
    use crate::similarity::starter::NoStarter;

    const GT: &[u8] = b"--- /dev/null\n+++ b/news/8fK2dQ.rst\n@@ -0,0 +1 @@\n+The quay closes at noon.\n\
        --- a/quay.py\n+++ b/quay.py\n@@ -1 +1,4 @@\n x\n+# Ships that come after noon waits outside.\n\
        +raise Closed('the quay is closed after noon')\n+close_the_quay(at=noon)\n";

    fn comparison(prompt: Option<&str>) -> Comparison {
        let gt = crate::patch::parse(GT);
        let text = String::from_utf8_lossy(GT).replace("close_the_quay", "shut_it_down");
        let patch = crate::patch::parse(text.as_bytes());
        compare(&CompareInputs {
            prompt,
            ..CompareInputs::new(&gt, Some(&patch), &NoStarter)
        })
    }

    #[test]
    fn what_is_alike_is_said_with_examples() {
        let comparison = comparison(None);
        assert_eq!(
            sentences(&comparison, Lang::En),
            [
                "2 of 2 comments and messages of the ground truth stand in the patch word for word: \
                 `# Ships that come after noon waits outside.` (quay.py:2), \
                 `raise Closed('the quay is closed after noon')` (quay.py:3)",
                "new files at paths of the ground truth that the prompt does not name: 1, news/8fK2dQ.rst \
                 (part of the name looks random)"
            ]
        );
        assert_eq!(sentences(&comparison, Lang::Zh).len(), 2);
    }

    #[test]
    fn what_the_prompt_says_is_nobodys() {
        let prompt = "Write news/8fK2dQ.rst; say \"the quay is closed after noon\".";
        let comparison = comparison(Some(prompt));
        let said = sentences(&comparison, Lang::En);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("1 of 1 comments"), "{said:?}");
    }
}
