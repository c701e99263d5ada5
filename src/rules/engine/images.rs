//! Images that the agent built: a container of one shows its own work, whatever name the image was given.

use std::collections::BTreeSet;

use super::steps::Step;
use crate::rules::text::fold::plain;

/// Images that are remembered.
const MAX_IMAGES: usize = 256;

/// What an image that was built here is called instead, so that no rule takes it for a published one.
const OWN: &str = "built-here";

/// Programs that build images and run them.
const PROGRAMS: [&str; 5] = ["docker", "podman", "nerdctl", "buildah", "img"];

/// Names of the images that the agent built.
#[derive(Debug, Default)]
pub(super) struct OwnImages(BTreeSet<String>);

impl OwnImages {
    /// Remembers what the step builds, and calls what it uses of that by another name.
    pub(super) fn tidy(&mut self, step: &mut Step) {
        let Some(invocation) = &mut step.invocation else {
            return;
        };
        if !PROGRAMS.contains(&invocation.program.as_str()) {
            return;
        }
        let words: Vec<&str> = invocation.args.iter().map(|w| w.text.as_str()).collect();
        if builds(&words) {
            let named = names(&words).map(str::to_owned);
            for name in named.take(MAX_IMAGES.saturating_sub(self.0.len())) {
                self.0.insert(name);
            }
            return;
        }
        let mut renamed = false;
        for word in &mut invocation.args {
            if self.0.contains(&word.text) {
                OWN.clone_into(&mut word.text);
                renamed = true;
            }
        }
        if renamed {
            step.text = plain(&invocation.text()).into_owned();
        }
    }
}

/// `docker build`, `docker buildx build`, `docker image build`, `buildah bud`.
fn builds(words: &[&str]) -> bool {
    let mut verbs = words.iter().filter(|word| !word.starts_with('-')).take(2);
    verbs.any(|verb| matches!(*verb, "build" | "bud" | "build-using-dockerfile" | "commit"))
}

/// The names behind `-t`, `--tag`; the last word of `docker commit`.
fn names<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let option = |word: &str| matches!(word, "-t" | "--tag");
    let behind = words.windows(2).filter_map(move |pair| {
        pair.get(1)
            .filter(|_| pair.first().is_some_and(|w| option(w)))
    });
    let joined = words.iter().filter_map(|word| {
        word.strip_prefix("--tag=")
            .or_else(|| word.strip_prefix("-t="))
    });
    let committed = words.contains(&"commit").then(|| words.last()).flatten();
    behind.copied().chain(joined).chain(committed.copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::steps::steps_of;
    use crate::shell::parse;

    #[test]
    fn what_was_built_here_is_no_published_image() {
        for (command, own) in [
            (
                "docker build -t a/b:2.0 . && docker run a/b:2.0 cat x",
                true,
            ),
            (
                "docker buildx build --tag=a/b:2.0 . ; docker run --rm a/b:2.0",
                true,
            ),
            ("podman commit c a/b:2.0; podman run a/b:2.0", true),
            (
                "docker build -t a/b:2.0 . && docker run a/b:2.1 cat x",
                false,
            ),
            ("docker pull a/b:2.0 && docker run a/b:2.0", false),
        ] {
            let mut images = OwnImages::default();
            let mut last = String::new();
            for mut step in steps_of(&parse(command), None) {
                images.tidy(&mut step);
                if step.text.contains(" run ") {
                    last = step.text;
                }
            }
            assert_eq!(last.contains(OWN), own, "{command}: {last}");
        }
    }
}
