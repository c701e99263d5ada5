//! Structured patterns over commands: a program with some of its arguments, or a git command by
//! what it reaches.

use super::super::template::{self, Facts};
use super::expand_regexp;
use super::regexp::{Regexp, RegexpError};
use crate::rules::git::call::{GitCall, Prints};
use crate::rules::git::reach::Reach;
use crate::rules::schema::RepoSyntax;
use crate::shell::model::Invocation;

/// Which words fit: an exact one, a glob, or an expression between slashes.
#[derive(Debug, Clone)]
pub struct WordPattern {
    source: String,
    kind: WordKind,
}

#[derive(Debug, Clone)]
enum WordKind {
    Exact,
    Fits(Regexp),
}

impl WordPattern {
    /// Reads `word`, `glob*`, `{one,two}` or `/regex/`.
    ///
    /// # Errors
    /// If the expression between slashes is none.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        if let Some(regex) = between_slashes(source) {
            Regexp::new(regex, false)?;
        }
        Ok(Self::trusted(source))
    }

    /// A word that is known to be right.
    pub(in crate::rules) fn trusted(source: &str) -> Self {
        let regex = match between_slashes(source) {
            Some(regex) => Some(regex.to_owned()),
            None => source
                .contains(['*', '?', '{'])
                .then(|| glob_to_regex(source)),
        };
        Self {
            source: source.to_owned(),
            kind: regex.map_or(WordKind::Exact, |regex| {
                WordKind::Fits(Regexp::trusted(regex, false))
            }),
        }
    }

    /// True if the word fits.
    pub fn fits(&self, word: &str) -> bool {
        match &self.kind {
            WordKind::Exact => self.source.eq_ignore_ascii_case(word),
            WordKind::Fits(regexp) => regexp.is_match(word),
        }
    }

    fn expand(&self, facts: &Facts) -> Self {
        let kind = match &self.kind {
            WordKind::Exact => WordKind::Exact,
            WordKind::Fits(regexp) => WordKind::Fits(expand_regexp(regexp, facts)),
        };
        Self {
            source: self.source.clone(),
            kind,
        }
    }
}

fn between_slashes(source: &str) -> Option<&str> {
    source
        .strip_prefix('/')
        .and_then(|s| s.strip_suffix('/'))
        .filter(|s| !s.is_empty())
}

/// `*` any text, `?` one character, `{a,b}` either; placeholders stay, all else is literal.
fn glob_to_regex(glob: &str) -> String {
    if glob == "*" {
        return "(?s:.)".to_owned();
    }
    let mut out = String::from(r"\A");
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let group = (c == '{')
            .then(|| after.split_once('}'))
            .flatten()
            .map(|(inner, tail)| (inner.to_owned(), tail));
        match (c, group) {
            ('{', Some((inner, tail))) => {
                if template::Fact::named(&inner).is_some() {
                    out.push_str(&format!("{{{inner}}}"));
                } else {
                    let parts: Vec<String> = inner.split(',').map(regex::escape).collect();
                    out.push_str(&format!("(?:{})", parts.join("|")));
                }
                rest = tail;
                continue;
            }
            ('*', _) => out.push_str("(?s:.*)"),
            ('?', _) => out.push_str("(?s:.)"),
            _ => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
        rest = after;
    }
    out.push_str(r"\z");
    out
}

/// `command = { program = …, args = … }`, compiled.
#[derive(Debug, Clone)]
pub struct CommandPattern {
    /// Program names; one is enough.
    pub program: Vec<WordPattern>,
    /// Arguments that must follow one another, with gaps.
    pub args: Vec<WordPattern>,
    /// Arguments that must not occur.
    pub without: Vec<WordPattern>,
    /// The repository that must be meant.
    pub repo: Option<RepoSyntax>,
}

impl CommandPattern {
    /// The texts of its words, to look for placeholders.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.words().map(|w| w.source.as_str())
    }

    fn words(&self) -> impl Iterator<Item = &WordPattern> {
        self.program.iter().chain(&self.args).chain(&self.without)
    }

    pub(super) fn expand(&self, facts: &Facts) -> Self {
        let all = |words: &[WordPattern]| words.iter().map(|w| w.expand(facts)).collect();
        Self {
            program: all(&self.program),
            args: all(&self.args),
            without: all(&self.without),
            repo: self.repo,
        }
    }

    /// True if the invocation fits. `target` says whether a repository address is the task's own.
    pub fn fits(&self, invocation: &Invocation, target: impl Fn(&str) -> bool) -> bool {
        if !self.program.iter().any(|p| p.fits(&invocation.program)) {
            return false;
        }
        let mut words = invocation.args.iter().map(|w| w.text.as_str());
        let in_order = self
            .args
            .iter()
            .all(|wanted| words.any(|word| wanted.fits(word)));
        if !in_order {
            return false;
        }
        let forbidden = |word: &str| self.without.iter().any(|w| w.fits(word));
        if invocation.args.iter().any(|w| forbidden(&w.text)) {
            return false;
        }
        match self.repo {
            None => true,
            Some(wanted) => {
                let own = named_repo(invocation).is_none_or(target);
                own == (wanted == RepoSyntax::Target)
            }
        }
    }
}

/// The repository that a forge command names: `-R owner/name`, an address, `repos/owner/name/…`.
fn named_repo(invocation: &Invocation) -> Option<&str> {
    let mut words = invocation.args.iter().map(|w| w.text.as_str());
    let mut address = None;
    while let Some(word) = words.next() {
        if matches!(word, "-R" | "--repo") {
            return words.next();
        }
        if let Some(value) = word.strip_prefix("--repo=") {
            return Some(value);
        }
        if word.contains("://") || word.contains("repos/") || word.contains("projects/") {
            address.get_or_insert(word);
        }
    }
    address
}

/// `git = { verb = …, reach = …, prints = … }`, compiled. An empty list filters nothing.
#[derive(Debug, Clone, Default)]
pub struct GitPattern {
    /// Sub-commands.
    pub verb: Vec<String>,
    /// What the revisions lead to.
    pub reach: Vec<Reach>,
    /// What comes out.
    pub prints: Vec<Prints>,
    /// The command looks for something.
    pub searches: Option<bool>,
    /// Over the addresses, remotes and refspecs that it names.
    pub remote: Option<Regexp>,
}

impl GitPattern {
    pub(super) fn expand(&self, facts: &Facts) -> Self {
        Self {
            remote: self.remote.as_ref().map(|r| expand_regexp(r, facts)),
            ..self.clone()
        }
    }

    /// True if the git command fits.
    pub fn fits(&self, git: &GitCall) -> bool {
        (self.verb.is_empty() || self.verb.contains(&git.verb))
            && (self.prints.is_empty() || self.prints.contains(&git.prints))
            && self.searches.is_none_or(|wanted| wanted == git.searches)
            && (self.reach.is_empty() || self.reach.iter().any(|r| git.reach.contains(r)))
            && self
                .remote
                .as_ref()
                .is_none_or(|r| git.remotes.iter().any(|word| r.is_match(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;
    use crate::shell::model::{Join, Origin, Word};

    fn invocation(text: &str) -> Invocation {
        let mut words = text.split_whitespace().map(str::to_owned);
        Invocation {
            program: words.next().unwrap_or_default(),
            args: words
                .map(|text| Word {
                    text,
                    dynamic: false,
                })
                .collect(),
            env: Vec::new(),
            cwd: None,
            redirects: Vec::new(),
            heredoc: None,
            join: Join::First,
            origin: Origin::Direct,
            detached: false,
            offset: 0,
        }
    }

    fn pattern(args: &[&str], without: &[&str]) -> CommandPattern {
        let words = |list: &[&str]| list.iter().map(|w| WordPattern::new(w).unwrap()).collect();
        CommandPattern {
            program: words(&["gh"]),
            args: words(args),
            without: words(without),
            repo: Some(RepoSyntax::Target),
        }
    }

    #[test]
    fn arguments_fit_in_order_with_gaps() {
        let wanted = pattern(&["pr", "{diff,view}"], &["--web"]);
        for (text, fits) in [
            ("gh pr diff 308", true),
            ("gh -R acme/widget pr view 308", true),
            ("gh pr list", false),
            ("gh diff pr", false),
            ("hub pr diff", false),
            ("gh pr diff 308 --web", false),
            ("gh pr diff 12 --repo other/thing", false),
        ] {
            let target = |repo: &str| repo.contains("acme/widget");
            assert_eq!(wanted.fits(&invocation(text), target), fits, "{text}");
        }
    }

    #[test]
    fn words_are_globs_or_expressions_with_facts() {
        let facts = Facts::new(&TaskFacts {
            pull_request: Some("308".into()),
            ..TaskFacts::default()
        });
        for (source, word, fits) in [
            ("pull/{pr}/*", "pull/308/head", true),
            ("pull/{pr}/*", "pull/3081/head", false),
            ("/^pull/{pr}\\b/", "pull/308", true),
            ("*.x", "a.x", true),
            ("*.x", "aax", false),
            ("{pr}", "308", true),
        ] {
            let word_pattern = WordPattern::new(source).unwrap().expand(&facts);
            assert_eq!(word_pattern.fits(word), fits, "{source} on {word}");
        }
    }
}
