//! Which rules there are: the built-in packs, then the files of the user.
//!
//! A user file adds rules (`[[rule]]`) or changes them by id (`[[override]]`). It never replaces the
//! built-in packs as a whole, and a rule that is already there is never replaced by another of the
//! same id: both have made other scanners report nothing and look clean.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::compile;
use super::diagnostic::{self, Diagnostic, Sink, SourceFile};
use super::index::{Builder, Index};
use super::overrides;
use super::rule::Rule;
use super::schema::{OverrideSyntax, PackSyntax, RuleSyntax, SCHEMA_VERSION};
use crate::digest::hex;
use crate::{Error, Result};

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("rules/", $name, ".toml"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $name, ".toml")),
        )),*]
    };
}

/// The built-in packs: file name and text.
const BUILTIN: &[(&str, &str)] = builtin![
    "admission",
    "answer-files",
    "delegation",
    "download",
    "flow",
    "forge",
    "git-history",
    "git-remote",
    "marks",
    "mention",
    "registry",
    "tampering",
];

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
        Self::from_files(sources(dirs)?)
    }

    /// Rules from texts, without the built-in ones unless they are among them.
    ///
    /// # Errors
    /// [`Error::BadRules`] with everything that is wrong.
    pub fn from_files(files: Vec<SourceFile>) -> Result<Self> {
        let mut diagnostics = Vec::new();
        let mut layers = Layers::default();
        for (number, file) in files.iter().enumerate() {
            let mut sink = Sink::new(number, file, &mut diagnostics);
            layers.read(file, &mut sink);
        }
        layers.apply_overrides(&files, &mut diagnostics);
        diagnostic::check(&diagnostics, &files)?;
        layers.build(files)
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

/// The rule files of a directory, sorted by name.
fn rule_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let missing = |what: &str| Error::InputMissing {
        path: dir.to_owned(),
        what: what.to_owned(),
        fix: "name a directory with rule files (*.toml); see docs/rules.md".to_owned(),
    };
    let metadata = fs::metadata(dir).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => missing("there is no such rule directory"),
        _ => Error::io(dir, e),
    })?;
    if metadata.is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| Error::io(&path, e))?;
        if path.extension().is_none_or(|e| e != "toml") || kind.is_dir() {
            continue;
        }
        // A link could lead anywhere, and a pipe would never end: neither is passed over in silence.
        if !kind.is_file() {
            return Err(Error::BadData {
                what: if kind.is_symlink() {
                    "this is a link, and links in a rule directory are not followed".to_owned()
                } else {
                    "this is no regular file".to_owned()
                },
                path,
                line: None,
                fix: "remove it, or name the file itself with --rules".to_owned(),
            });
        }
        found.push(path);
    }
    if found.is_empty() {
        return Err(missing("the directory holds no rule file"));
    }
    found.sort();
    Ok(found)
}

/// The built-in files and those of the given directories.
pub(super) fn sources(dirs: &[PathBuf]) -> Result<Vec<SourceFile>> {
    let mut files: Vec<SourceFile> = BUILTIN
        .iter()
        .map(|(name, text)| SourceFile {
            trusted: true,
            ..SourceFile::new(*name, *text)
        })
        .collect();
    for dir in dirs {
        for path in rule_files(dir)? {
            let bytes = fs::read(&path).map_err(|e| Error::io(&path, e))?;
            let text = String::from_utf8(bytes).map_err(|_| Error::BadData {
                path: path.clone(),
                line: None,
                what: "a rule file must be UTF-8".to_owned(),
                fix: "save it as UTF-8".to_owned(),
            })?;
            files.push(SourceFile::new(path.display().to_string(), text));
        }
    }
    Ok(files)
}

/// Number of built-in files; they come first.
pub(super) fn built_in() -> usize {
    BUILTIN.len()
}

/// The rules read so far.
#[derive(Default)]
pub(super) struct Layers {
    rules: Vec<Rule>,
    by_id: BTreeMap<String, usize>,
    overrides: Vec<(usize, OverrideSyntax)>,
    /// Files from this number on are kept as written, for lints.
    keep_from: Option<usize>,
    /// Rules as written, with the numbers of their files.
    pub(super) kept: Vec<(usize, RuleSyntax)>,
    /// Overrides as written.
    pub(super) kept_overrides: Vec<(usize, OverrideSyntax)>,
}

impl Layers {
    /// Layers that keep what stands in the files from a number on.
    pub(super) fn keeping(first: usize) -> Self {
        Self {
            keep_from: Some(first),
            ..Self::default()
        }
    }

    /// Ids of the rules that stand in files before a number.
    pub(super) fn built_in_ids(&self, first: usize, files: &[SourceFile]) -> Vec<String> {
        let names: Vec<&str> = files.iter().take(first).map(|f| f.name.as_str()).collect();
        let rules = self.rules.iter();
        rules
            .filter(|rule| names.contains(&rule.origin.as_str()))
            .map(|rule| rule.id.clone())
            .collect()
    }

    pub(super) fn read(&mut self, file: &SourceFile, sink: &mut Sink) {
        let text = if file.trusted {
            Cow::Owned(without_tests(&file.text))
        } else {
            Cow::Borrowed(file.text.as_ref())
        };
        let (table, errors) = DeTable::parse_recoverable(&text);
        for error in &errors {
            sink.toml(error, 0..0);
        }
        if !errors.is_empty() {
            return;
        }
        let mut pack = PackSyntax::default();
        let (mut rules, mut schema) = (Vec::new(), None);
        for (key, value) in table.into_inner() {
            let whole = key.span();
            match key.get_ref().as_ref() {
                "schema" => schema = Some(value),
                "pack" => match PackSyntax::deserialize(ValueDeserializer::from(value)) {
                    Ok(read) => pack = read,
                    Err(error) => sink.toml(&error, whole),
                },
                "rule" => rules = entries(value, sink),
                "override" => {
                    for entry in entries(value, sink) {
                        let span = entry.span();
                        match OverrideSyntax::deserialize(ValueDeserializer::from(entry)) {
                            Ok(change) => {
                                if self.keep_from.is_some_and(|first| sink.file >= first) {
                                    self.kept_overrides.push((sink.file, change.clone()));
                                }
                                self.overrides.push((sink.file, change));
                            }
                            Err(error) => sink.toml(&error, span),
                        }
                    }
                }
                other => {
                    let names = ["schema", "pack", "rule", "override"];
                    let near = diagnostic::nearest(other, names.into_iter());
                    let help = near.map_or_else(
                        || format!("the tables of a rule file are {}", names.join(", ")),
                        |name| format!("did you mean `{name}`?"),
                    );
                    sink.error_help(whole, format!("unknown key `{other}`"), help);
                }
            }
        }
        check_schema(schema.as_ref(), sink);
        for entry in rules {
            self.read_rule(entry, &pack, file, sink);
        }
    }

    fn read_rule(
        &mut self,
        entry: Spanned<DeValue<'_>>,
        pack: &PackSyntax,
        file: &SourceFile,
        sink: &mut Sink,
    ) {
        let span = entry.span();
        let syntax = match RuleSyntax::deserialize(ValueDeserializer::from(entry)) {
            Ok(syntax) => syntax,
            Err(error) => return sink.toml(&error, span),
        };
        let id = syntax.id.clone();
        if self.keep_from.is_some_and(|first| sink.file >= first) {
            self.kept.push((sink.file, syntax.clone()));
        }
        let syntax = Spanned::new(span, syntax);
        let compiled = compile::rule(syntax, &pack.test_facts, &file.name, sink);
        if let Some(first) = self.by_id.get(id.get_ref()) {
            let origin = self.rules.get(*first).map_or("", |r| r.origin.as_str());
            sink.error_help(
                id.span(),
                format!("rule `{}` is already defined in {origin}", id.get_ref()),
                "use [[override]] to change a rule",
            );
        } else if let Some(rule) = compiled {
            self.by_id.insert(rule.id.clone(), self.rules.len());
            self.rules.push(rule);
        }
    }

    pub(super) fn apply_overrides(
        &mut self,
        files: &[SourceFile],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for (number, change) in std::mem::take(&mut self.overrides) {
            let Some(file) = files.get(number) else {
                continue;
            };
            let mut sink = Sink::new(number, file, diagnostics);
            let id = change.id.get_ref();
            let Some(rule) = self.by_id.get(id).and_then(|at| self.rules.get_mut(*at)) else {
                let ids = self.by_id.keys().map(String::as_str);
                let near = diagnostic::nearest(id, ids);
                let help = near.map_or_else(
                    || "`trace-audit rules list` shows all ids".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                sink.error_help(change.id.span(), format!("there is no rule `{id}`"), help);
                continue;
            };
            overrides::apply(rule, change, &mut sink);
        }
    }

    /// The rules as a set.
    pub(super) fn build(self, files: Vec<SourceFile>) -> Result<RuleSet> {
        if self.rules.iter().all(|rule| rule.disabled.is_some()) {
            return Err(Error::BadRules {
                rendered: "error: no rule is left, so nothing could ever be found".to_owned(),
                errors: 1,
            });
        }
        let mut rules = self.rules;
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        let mut builder = Builder::starting_at(0);
        for rule in &mut rules {
            if rule.disabled.is_none() {
                builder.add(&mut rule.body);
            }
        }
        Ok(RuleSet {
            rules,
            index: builder.build(),
            files,
        })
    }
}

/// The text of a built-in pack without the `[[rule.test]]` tables: they are more than half of the packs, and
/// only a check needs them. Offsets into it mean nothing, and nothing is wrong in it that would need one.
fn without_tests(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest.as_bytes(), b"\n[").map_or(rest.len(), |at| at + 1);
        let (table, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !table.starts_with("[[rule.test") && !table.starts_with("[rule.test") {
            kept.push_str(table);
        }
        rest = after;
    }
    kept
}

fn check_schema(schema: Option<&Spanned<DeValue<'_>>>, sink: &mut Sink) {
    let help = format!("start the file with `schema = {SCHEMA_VERSION}`");
    let Some(value) = schema else {
        return sink.error_help(0..0, "the file does not say which format it has", help);
    };
    let number = value
        .get_ref()
        .as_integer()
        .and_then(|i| i64::from_str_radix(i.as_str(), i.radix()).ok());
    if number != Some(SCHEMA_VERSION) {
        sink.error_help(value.span(), "this version reads another format", help);
    }
}

/// The tables of an array of tables.
fn entries<'d>(value: Spanned<DeValue<'d>>, sink: &mut Sink) -> Vec<Spanned<DeValue<'d>>> {
    let span = value.span();
    match value.into_inner() {
        DeValue::Array(array) => array.into_iter().collect(),
        _ => {
            sink.error(span, "write [[double brackets]]: there can be several");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn tests_of_built_in_packs_are_left_out() {
        let text = "[[rule]]\nid = 1\n[[rule.test]]\ntext = \"[x]\"\n[rule.test.facts]\na = 1\n[[rule]]\nid = 2";
        let kept = without_tests(text);
        assert_eq!(kept, "[[rule]]\nid = 1\n[[rule]]\nid = 2");
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
