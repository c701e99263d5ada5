//! The rules of a run: read from files in layers, checked, sorted, with the index of their anchors.

use std::borrow::Cow;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::diagnostic::{self, Diagnostic, SourceFile};
use super::index::{Builder, Index};
use super::layers::Layers;
use super::rule::Rule;
use super::sources::sources;
use crate::digest::hex;
use crate::{Error, Result};

/// All rules, checked, with the index of the anchors that are the same for every task.
#[derive(Debug)]
pub struct RuleSet {
    pub(super) rules: Vec<Rule>,
    pub(super) index: Index,
    files: Vec<SourceFile>,
}

impl RuleSet {
    /// The built-in rules.
    ///
    /// # Errors
    /// None in a released version: a test loads them.
    pub fn builtin() -> Result<Self> {
        Self::load(&[])
    }

    /// The built-in rules and those of the given directories, whose `*.toml` files are read in the
    /// order of their names. A path to a file is taken as that file.
    ///
    /// # Errors
    /// If a directory cannot be read, holds no rule file, or holds a link or anything else of the name
    /// `*.toml` that is no regular file, or [`Error::BadRules`] with everything
    /// that is wrong in any of the files.
    pub fn load(dirs: &[PathBuf]) -> Result<Self> {
        let sources = sources(dirs)?;
        match sources.refused {
            Some((path, error)) => Err(Error::io(path, error)),
            None => Self::read(sources.files, sources.faults),
        }
    }

    /// Rules from texts, without the built-in ones unless they are among them.
    ///
    /// # Errors
    /// [`Error::BadRules`] with everything that is wrong.
    pub fn from_files(files: Vec<SourceFile>) -> Result<Self> {
        Self::read(files, Vec::new())
    }

    fn read(files: Vec<SourceFile>, mut diagnostics: Vec<Diagnostic>) -> Result<Self> {
        let mut layers = Layers::default();
        (0..files.len()).for_each(|number| layers.read(&files, number, &mut diagnostics));
        layers.apply_overrides(&files, &mut diagnostics);
        diagnostic::check(&diagnostics, &files)?;
        Self::build(layers, files)
    }

    /// The rules as a set.
    pub(super) fn build(layers: Layers, files: Vec<SourceFile>) -> Result<Self> {
        let mut rules = layers.into_rules().ok_or_else(|| Error::BadRules {
            rendered: "error: no rule is left, so nothing could ever be found".to_owned(),
            errors: 1,
        })?;
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        let mut builder = Builder::starting_at(0);
        for rule in &mut rules {
            if rule.disabled.is_none() {
                builder.add(&mut rule.body);
            }
        }
        Ok(Self {
            rules,
            index: builder.build(),
            files,
        })
    }

    /// The same rules with everything checked, and with the tests of the built-in ones.
    ///
    /// # Errors
    /// [`Error::BadRules`] with everything that is wrong.
    pub fn in_full(&self) -> Result<Self> {
        let mut files = self.files.clone();
        files.iter_mut().for_each(|file| file.trusted = false);
        Self::from_files(files)
    }

    /// The rules, sorted by id, with those that a user switched off.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of that id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        let at = self
            .rules
            .binary_search_by(|r| r.id.as_str().cmp(id))
            .ok()?;
        self.rules.get(at)
    }

    /// SHA-256 over the texts of all rule files, line ends normalised, as hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.files {
            // To copy texts that have no such line ends would cost as much as to hash them.
            let text = if memchr::memchr(b'\r', file.text.as_bytes()).is_some() {
                Cow::Owned(file.text.replace("\r\n", "\n"))
            } else {
                Cow::Borrowed(file.text.as_ref())
            };
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn file(name: &str, text: &str) -> SourceFile {
        SourceFile::new(name, text.to_owned())
    }

    const ONE: &str = "schema = 1\n[[rule]]\nid = \"a.b\"\ntitle = \"t\"\nseverity = \"low\"\n\
                       confidence = \"low\"\nkind = \"mention\"\nmatch.any = [{ literal = \"needle\" }]\n";

    fn errors(texts: &[&str]) -> String {
        let files: Vec<SourceFile> = std::iter::once(file("one.toml", ONE))
            .chain(texts.iter().map(|t| file("user.toml", t)))
            .collect();
        match RuleSet::from_files(files) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn overrides_change_rules_and_say_why() {
        let user = "schema = 1\n[[override]]\nid = \"a.b\"\nreplace = { severity = \"high\" }\n\
                    append = { tags = [\"x\"], any = [{ literal = \"other\" }] }\n";
        let set =
            RuleSet::from_files(vec![file("one.toml", ONE), file("user.toml", user)]).unwrap();
        let rule = set.rule("a.b").unwrap();
        assert_eq!(rule.severity, crate::rules::finding::Severity::High);
        assert_eq!(rule.body.any.len(), 2);
        assert_eq!(rule.tags, ["x"]);
    }

    #[test]
    fn the_digest_ignores_line_ends_and_sees_all_else() {
        let digest = |text: &str| RuleSet::from_files(vec![file("x", text)]).unwrap().digest();
        assert_eq!(digest(ONE), digest(&ONE.replace('\n', "\r\n")));
        assert_ne!(digest(ONE), digest(&ONE.replace("needle", "noodle")));
    }

    fn check(text: &str, place: &str, message: &str) {
        let shown = errors(&[text]);
        assert!(shown.contains(place), "{text}\nno {place} in:\n{shown}");
        assert!(
            shown.contains(message),
            "{text}\nno {message:?} in:\n{shown}"
        );
    }

    /// Place, message, and what stands in a rule from its seventh line on.
    #[rustfmt::skip]
    const IN_A_RULE: &[(&str, &str, &str)] = &[
        ("8:16", "did you mean `regex`?", "kind = \"mention\"\nmatch.any = [{ regexp = 'x' }]"),
        ("8:28", "unclosed group", "kind = \"mention\"\nmatch.any = [{ regex = 'abc(' }]"),
        ("2:1", "every text", "kind = \"mention\"\nmatch.any = [{ regex = '[0-9]+' }]"),
        ("8:30", "no task fact", "kind = \"mention\"\nmatch.any = [{ regex = 'pull/{prr}' }]"),
        ("7:8", "needs a cause", "kind = \"action\"\nmatch.any = [{ literal = 'abc' }]"),
        ("8:9", "only actions", "kind = \"mention\"\nstage = \"obtained\"\nmatch.any = [{ literal = 'abc' }]"),
        ("9:18", "convicts nobody", "kind = \"action\"\ncause = \"delegated\"\nwhere.channels = [\"prompt\"]\nmatch.any = [{ literal = 'abc' }]"),
        ("8:14", "exactly one", "kind = \"mention\"\nmatch.any = [{ literal = 'abc', regex = 'abc' }]"),
        ("8:14", "cannot stand here", "kind = \"mention\"\nmatch.any = [{ is = [\"diff\"] }]"),
        ("10:10", "needs a reason", "kind = \"mention\"\nmatch.any = [{ literal = 'abc' }]\n[[rule.allow]]\nreason = ' '\nany = [{ literal = 'x' }]"),
    ];

    #[test]
    fn mistakes_in_a_rule_are_shown_with_their_place() {
        let head = "schema = 1\n[[rule]]\nid = \"u.x\"\ntitle = \"t\"\nseverity = \"low\"\nconfidence = \"low\"\n";
        for (place, message, body) in IN_A_RULE {
            check(
                &format!("{head}{body}"),
                &format!("user.toml:{place}"),
                message,
            );
        }
    }

    #[test]
    fn mistakes_in_a_file_are_shown_with_their_place() {
        let change = |rest: &str| format!("schema = 1\n[[override]]\nid = {rest}");
        check("", "user.toml:1:1", "does not say which format");
        check("schema = 2", "user.toml:1:10", "another format");
        check(
            "schema = 1\nrules = []",
            "user.toml:2:1",
            "did you mean `rule`?",
        );
        check("schema = 1\n[[rule", "user.toml:2", "]");
        check(
            &ONE.replace("a.b", "Bad Id"),
            "user.toml:3:6",
            "bad rule id",
        );
        check(ONE, "user.toml:3:6", "use [[override]]");
        check(
            &change("\"a.c\"\nenabled = false\nreason = \"x\""),
            "user.toml:3:6",
            "did you mean `a.b`?",
        );
        check(
            &change("\"a.b\"\nenabled = false"),
            "user.toml:3:6",
            "with a reason",
        );
        check(
            &change("\"a.b\"\nenabled = false\nreason = \"x\""),
            "",
            "no rule is left",
        );
    }

    #[test]
    fn built_in_packs_without_their_tests_are_the_same_rules() {
        let quick = RuleSet::builtin().unwrap();
        let full = quick.in_full().unwrap();
        assert_eq!(quick.rules.len(), full.rules.len());
        for (quick, full) in quick.rules.iter().zip(&full.rules) {
            assert_eq!(quick.id, full.id);
            assert!(
                quick.tests.is_empty() && full.tests.len() >= 4,
                "{}",
                full.id
            );
            assert_eq!(quick.title, full.title);
            let sources = |rule: &Rule| -> Vec<String> {
                let patterns = rule.body.patterns();
                patterns
                    .map(|p| format!("{:?} {:?}", p.regex_source(), p.facts()))
                    .collect()
            };
            assert_eq!(sources(quick), sources(full), "{}", full.id);
        }
    }

    #[test]
    fn all_mistakes_are_shown_at_once() {
        let bad = ONE.replace("a.b", "c.d").replace("literal", "literel");
        let shown = errors(&["schema = 3", &bad]);
        assert_eq!(shown.matches("error: ").count(), 2, "{shown}");
    }

    #[test]
    fn directories_without_rules_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let load = |path: &Path| RuleSet::load(&[path.to_owned()]).unwrap_err();
        assert_eq!(load(dir.path()).exit_code(), 66);
        assert_eq!(load(&dir.path().join("none")).exit_code(), 66);
        fs::write(dir.path().join("a.toml"), "schema = 9").unwrap();
        assert_eq!(load(dir.path()).exit_code(), 65);
        fs::write(dir.path().join("a.toml"), ONE).unwrap();
        assert!(
            RuleSet::load(&[dir.path().to_owned()])
                .unwrap()
                .rule("a.b")
                .is_some()
        );
    }

    /// A link could show a file from elsewhere, a pipe would be read for ever.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_of_a_directory_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("secret.txt");
        fs::write(&outside, "key = [").unwrap();
        let rules = dir.path().join("rules");
        fs::create_dir_all(rules.join("not-a-file.toml")).unwrap();
        fs::write(rules.join("a.toml"), ONE).unwrap();
        let load = || RuleSet::load(std::slice::from_ref(&rules));
        assert!(load().is_ok());
        std::os::unix::fs::symlink(&outside, rules.join("b.toml")).unwrap();
        let error = load().unwrap_err();
        assert_eq!(error.exit_code(), 65);
        let text = error.to_string();
        assert!(text.contains("b.toml") && text.contains("link"), "{text}");
        assert!(!text.contains("key"), "{text}");
        fs::remove_file(rules.join("b.toml")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(rules.join("c.toml"))
            .status();
        if made.is_ok_and(|status| status.success()) {
            let text = load().unwrap_err().to_string();
            assert!(
                text.contains("c.toml") && text.contains("regular"),
                "{text}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn damaged_files_never_panic(cut in 0usize..400, at in 0usize..400, junk in "\\PC{0,6}") {
            let mut text = ONE.to_owned();
            text.truncate(crate::rules::text::floor(ONE, cut));
            text.insert_str(crate::rules::text::floor(&text, at.min(text.len())), &junk);
            let _ = RuleSet::from_files(vec![file("x", &text)]);
        }
    }
}
