//! Line numbers as ranges: what was shown of a file, in a form that a person can look up.

/// Ranges of `shown`, such as `120-210`, in ascending order.
///
/// `all` are the lines that could have been shown (the distinctive ones), ascending. Two shown lines
/// are in one range when no line of `all` between them is missing: what stands between distinctive
/// lines (brackets, blank lines) is not looked for and does not part them.
pub(super) fn ranges(mut shown: Vec<u32>, all: &[u32]) -> Vec<String> {
    shown.sort_unstable();
    shown.dedup();
    let mut out: Vec<(u32, u32)> = Vec::new();
    for line in shown {
        match out.last_mut() {
            Some((_, end)) if next_of(all, *end).is_some_and(|next| next >= line) => *end = line,
            _ => out.push((line, line)),
        }
    }
    out.into_iter()
        .map(|(start, end)| {
            if start == end {
                start.to_string()
            } else {
                format!("{start}-{end}")
            }
        })
        .collect()
}

/// The first of the ascending numbers after `line`.
fn next_of(all: &[u32], line: u32) -> Option<u32> {
    all.get(all.partition_point(|l| *l <= line)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_without_distinctive_lines_do_not_part_a_range() {
        let all = [10, 11, 15, 20, 30];
        for (shown, want) in [
            (vec![], vec![]),
            (vec![11], vec!["11"]),
            (vec![15, 10, 11, 11], vec!["10-15"]),
            (vec![10, 15], vec!["10", "15"]),
            (vec![10, 11, 20, 30], vec!["10-11", "20-30"]),
        ] {
            assert_eq!(ranges(shown, &all), want);
        }
    }
}
