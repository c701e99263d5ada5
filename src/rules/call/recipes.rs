//! Files that name commands to be run later: Makefiles, justfiles, `package.json`, modules of Python.
//!
//! Only what the agent wrote itself is ever looked at, and only the recipes that a call names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// Targets of one call that are followed, with what they depend on.
const MAX_TARGETS: usize = 64;

/// Variables of one file that are put in.
const MAX_VARIABLES: usize = 64;

/// Longest text of recipes, in bytes.
const MAX_RECIPES: usize = 256 << 10;

/// The files that a call of a runner of recipes reads, most usual first, and the recipes that it asks for;
/// `None` if the program is no such runner.
pub fn asked<'w>(program: &str, words: &[&'w str]) -> Option<(Vec<String>, Vec<&'w str>)> {
    let (files, options): (&[&str], &[&str]) = match program {
        "make" | "gmake" => (
            &["Makefile", "makefile", "GNUmakefile"],
            &[
                "-f",
                "--file",
                "--makefile",
                "-C",
                "--directory",
                "-j",
                "-I",
                "-o",
                "-W",
            ],
        ),
        "just" => (
            &["justfile", "Justfile", ".justfile"],
            &["-f", "--justfile", "-d", "--working-directory"],
        ),
        "npm" | "pnpm" | "yarn" | "bun" => (
            &["package.json"],
            &["--prefix", "-C", "--cwd", "-w", "--workspace", "--filter"],
        ),
        _ => return None,
    };
    let (mut plain, mut named, mut directory) = (Vec::new(), Vec::new(), None);
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if options.contains(&name) {
            let value = if value.is_empty() {
                rest.next().unwrap_or_default()
            } else {
                value
            };
            match name {
                "-f" | "--file" | "--makefile" | "--justfile" => named.push(value.to_owned()),
                "-C" | "--directory" | "--prefix" | "--cwd" | "-d" | "--working-directory" => {
                    directory = Some(value.trim_end_matches('/'));
                }
                _ => {}
            }
        } else if word == "--" {
            break;
        } else if !word.starts_with('-') && !word.contains('=') {
            plain.push(word);
        }
    }
    let mut wanted = if named.is_empty() {
        files.iter().map(|file| (*file).to_owned()).collect()
    } else {
        named
    };
    if let Some(directory) = directory {
        for file in &mut wanted {
            *file = format!("{directory}/{file}");
        }
    }
    Some((wanted, plain))
}

/// What the recipes would run, as one text for the shell.
pub fn run_by(program: &str, source: &str, asked: &[&str]) -> String {
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => of_package(source, asked),
        _ => of_targets(source, asked),
    }
}

/// The recipes of a Makefile or justfile: of the targets, of the first one if none is named, and of what they
/// depend on.
fn of_targets(source: &str, asked: &[&str]) -> String {
    let joined = source.replace("\\\n", " ");
    let (rules, variables) = rules(&joined);
    let first = rules.first().map(|rule| rule.names.first().copied());
    let mut open: Vec<&str> = match asked {
        [] => first.flatten().into_iter().collect(),
        names => names.iter().rev().copied().collect(),
    };
    let mut done = BTreeSet::new();
    let mut out = String::new();
    while let Some(target) = open.pop() {
        if done.len() >= MAX_TARGETS || out.len() >= MAX_RECIPES || !done.insert(target) {
            continue;
        }
        for rule in rules.iter().filter(|rule| rule.names.contains(&target)) {
            open.extend(rule.needs.iter().rev());
            for line in &rule.recipe {
                out.push_str(line.trim_start_matches(['@', '-', '+', ' ']));
                out.push('\n');
            }
        }
    }
    for (name, value) in variables {
        out = put_in(&out, name, value);
    }
    out.replace("$$", "$")
}

/// A text with the value in the place of the variable, within the bound.
fn put_in(text: &str, name: &str, value: &str) -> String {
    if text.len() + text.matches(name).count() * value.len() > MAX_RECIPES {
        return text.to_owned();
    }
    text.replace(&format!("$({name})"), value)
        .replace(&format!("${{{name}}}"), value)
        .replace(&format!("{{{{{name}}}}}"), value)
        .replace(&format!("{{{{ {name} }}}}"), value)
}

/// A rule: `names: needs` and indented lines.
#[derive(Debug, Default)]
struct Rule<'s> {
    names: Vec<&'s str>,
    needs: Vec<&'s str>,
    recipe: Vec<&'s str>,
}

fn rules(source: &str) -> (Vec<Rule<'_>>, BTreeMap<&str, &str>) {
    let mut rules: Vec<Rule> = Vec::new();
    let mut variables = BTreeMap::new();
    for line in source.lines() {
        if line.starts_with(['\t', ' ']) {
            if let Some(rule) = rules.last_mut() {
                rule.recipe.push(line.trim());
            }
            continue;
        }
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if let Some((name, value)) = variable(line) {
            if variables.len() < MAX_VARIABLES {
                variables.insert(name, value);
            }
        } else if let Some((names, needs)) = line.split_once(':') {
            let (needs, recipe) = needs.split_once(';').unwrap_or((needs, ""));
            // `recipe argument='x':` of a justfile.
            rules.push(Rule {
                names: names.trim_start_matches('@').split_whitespace().collect(),
                needs: needs.trim_start_matches(':').split_whitespace().collect(),
                recipe: Some(recipe.trim())
                    .filter(|r| !r.is_empty())
                    .into_iter()
                    .collect(),
            });
        }
    }
    // `.PHONY` and its like are never what is made first.
    rules.retain(|rule| rule.names.iter().any(|name| !name.starts_with('.')));
    (rules, variables)
}

/// `NAME = value`, `NAME := value`, `name := "value"`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    word.then(|| (name, value.trim().trim_matches(['"', '\''])))
}

static SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""([\w:.-]{1,80})"\s*:\s*("(?:[^"\\\n]|\\.)*")"#).ok());

/// The commands of `package.json` that a call names: `npm run x`, `npm test`, `yarn x`, with what stands before
/// and after them.
fn of_package(source: &str, asked: &[&str]) -> String {
    let name = match asked {
        ["run" | "run-script" | "rum", name, ..] => name,
        ["test" | "t" | "tst", ..] => "test",
        [name, ..] => name,
        [] => return String::new(),
    };
    let (before, after) = (format!("pre{name}"), format!("post{name}"));
    let Some(script) = SCRIPT.as_ref() else {
        return String::new();
    };
    let mut commands: BTreeMap<&str, String> = BTreeMap::new();
    for found in script.captures_iter(source) {
        let (Some(key), Some(value)) = (found.get(1), found.get(2)) else {
            continue;
        };
        if let Ok(command) = serde_json::from_str(value.as_str()) {
            commands.insert(key.as_str(), command);
        }
    }
    [before.as_str(), name, after.as_str()]
        .iter()
        .filter_map(|key| commands.get(key))
        .fold(String::new(), |all, command| all + command + "\n")
}

/// The files that hold a module of Python: `a.b` is `a/b.py`, `a/b/__main__.py` or `a/b/__init__.py`.
pub fn module_files(module: &str) -> impl Iterator<Item = String> {
    let path = module.replace('.', "/");
    ["{}.py", "{}/__main__.py", "{}/__init__.py"]
        .into_iter()
        .map(move |shape| shape.replace("{}", &path))
}

static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\w+)|import[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*))")
        .ok()
});

/// Modules of one source text that are looked for.
const MAX_IMPORTS: usize = 200;

/// The modules that a source text in Python imports.
pub fn imports(source: &str) -> BTreeSet<String> {
    let Some(import) = IMPORT.as_ref().filter(|_| source.contains("import")) else {
        return BTreeSet::new();
    };
    let mut modules = BTreeSet::new();
    for found in import.captures_iter(source).take(MAX_IMPORTS) {
        if let (Some(package), Some(name)) = (found.get(1), found.get(2)) {
            let package = package.as_str().trim_start_matches('.');
            modules.insert(package.to_owned());
            modules.insert(format!("{package}.{}", name.as_str()));
        }
        let plain = found.get(3).map_or("", |m| m.as_str());
        modules.extend(plain.split(',').map(|name| name.trim().to_owned()));
    }
    modules.retain(|module| !module.is_empty());
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(program: &str, call: &str, source: &str) -> String {
        let words: Vec<&str> = call.split_whitespace().collect();
        let (_, names) = asked(program, &words).unwrap();
        run_by(program, source, &names)
    }

    #[test]
    fn the_recipes_that_are_asked_for() {
        let makefile = "URL := h.example/x\n.PHONY: all ref\nall: build\nbuild: gen\n\tcc a.c\ngen:; touch g\nref:\n\t@curl $(URL) \\\n\t  | git apply\n\t-echo $$HOME\n";
        for (call, wanted) in [
            ("", "cc a.c\ntouch g\n"),
            ("build", "cc a.c\ntouch g\n"),
            (
                "-s -j 4 ref X=1",
                "curl h.example/x  \t  | git apply\necho $HOME\n",
            ),
            ("other", ""),
        ] {
            assert_eq!(run("make", call, makefile), wanted, "{call}");
        }
        assert_eq!(
            run("just", "get", "get:\n    curl x\nother:\n    ls\n"),
            "curl x\n"
        );
        let package =
            r#"{"name": "x", "scripts": {"test": "jest", "preref": "ls", "ref": "curl \"x\""}}"#;
        for (call, wanted) in [
            ("run -s ref", "ls\ncurl \"x\"\n"),
            ("test -- -v", "jest\n"),
            ("run none", ""),
            ("", ""),
        ] {
            assert_eq!(run("npm", call, package), wanted, "{call}");
        }
        assert_eq!(run("yarn", "ref", package), "ls\ncurl \"x\"\n");
    }

    #[test]
    fn the_files_that_are_read() {
        for (program, call, wanted) in [
            ("make", "-C sub ref", "sub/Makefile"),
            ("make", "-f b.mk", "b.mk"),
            ("npm", "--prefix web run x", "web/package.json"),
        ] {
            let words: Vec<&str> = call.split_whitespace().collect();
            let (files, _) = asked(program, &words).unwrap();
            assert_eq!(files.first().map(String::as_str), Some(wanted));
        }
        assert!(asked("cmake", &["x"]).is_none());
    }

    #[test]
    fn modules_are_found() {
        let got = imports(
            "import os, tools.get\nfrom a.b import c as d\n  from . import x\nprint('import y')",
        );
        for module in ["os", "tools.get", "a.b", "a.b.c"] {
            assert!(got.contains(module), "{module}");
        }
        assert!(!got.contains("y"));
        assert_eq!(module_files("a.b").next().as_deref(), Some("a/b.py"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(source in "(?:all|:|\n|\t|\\$\\(X\\)|X=|\"|\\\\|;|import |\\PC){0,40}", name in "\\PC{0,8}") {
            of_targets(&source, &[&name]);
            of_package(&source, &["run", &name]);
            imports(&source);
        }
    }
}
