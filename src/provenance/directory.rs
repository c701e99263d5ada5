//! Where the parts of a command are worked off: `cd /mnt/ref && cp retry.py "$OLDPWD/"` copies from there.

use std::borrow::Cow;

/// A longer path is followed no further: no system has one, and each step would copy it.
const MAX_PATH: usize = 4096;

/// Where the segments of a command are worked off.
pub(super) struct Directory {
    start: Option<String>,
    /// Where the next words are worked off, as far as known.
    pub(super) now: Option<String>,
    before: Option<String>,
}

impl Directory {
    /// A command begins there.
    pub(super) fn new(cwd: Option<&str>) -> Self {
        let start = cwd.map(str::to_owned);
        Self {
            now: start.clone(),
            before: None,
            start,
        }
    }

    /// `cd dir` leads there, and the end of a subshell back.
    pub(super) fn step(&mut self, segment: &str, words: &[&str]) {
        if let ["cd" | "pushd", rest @ ..] = words {
            let to = rest
                .iter()
                .find(|word| !word.starts_with('-') || **word == "-");
            let to = match (to, &self.now) {
                (Some(&"-"), _) => self.before.clone(),
                (Some(dir), Some(now)) if !dir.starts_with(['/', '~', '$']) => {
                    Some(format!("{now}/{dir}"))
                }
                (Some(dir), _) => Some((*dir).to_owned()),
                (None, _) => Some("~".to_owned()),
            };
            let to = to.filter(|path| path.len() <= MAX_PATH);
            self.before = std::mem::replace(&mut self.now, to);
        }
        if segment.trim_end().ends_with(')') {
            self.now.clone_from(&self.start);
        }
    }

    /// The words with the directory before in the place of `$OLDPWD`.
    pub(super) fn known<'w>(&self, words: &[&'w str]) -> Vec<Cow<'w, str>> {
        let Some(before) = &self.before else {
            return words.iter().map(|w| Cow::Borrowed(*w)).collect();
        };
        let known = |word: &&'w str| match word.contains("OLDPWD") {
            true => Cow::Owned(word.replace("${OLDPWD}", before).replace("$OLDPWD", before)),
            false => Cow::Borrowed(*word),
        };
        words.iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_grow_with_every_step() {
        let mut place = Directory::new(Some("/w"));
        let dir = "a".repeat(100);
        for step in 1..100 {
            place.step("cd", &["cd", &dir]);
            let length = place.now.as_deref().map_or(0, str::len);
            assert!(length <= MAX_PATH && (step > 30 || length == 2 + step * 101));
        }
    }
}
