//! Commands whose output follows from the tree: tools that generate or rewrite by fixed rules, and what prepares them.
//! Scripts are in `scripts`, substitutions that are spelled out in `spelled`.

use super::diverted::{installed, plain_package};
use super::paths::base_name;
use super::programs::DETERMINISTIC;

/// What a command may have made that follows from the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// Each line holds one of these; any, where there are none.
    pub(super) pieces: Vec<String>,
    /// Each file lies in a directory of one of these names, or its name ends so; any, where there are none.
    pub(super) kinds: Vec<&'static str>,
    /// Only where the lines are regular, and what stands in them was given.
    pub(super) table: bool,
}

impl Made {
    /// It may be in that file.
    pub(super) fn may_be(&self, path: &str) -> bool {
        let is = |kind: &&str| match kind.strip_suffix('/') {
            Some(dir) => path.split('/').rev().skip(1).any(|part| part == dir),
            None => path.ends_with(*kind),
        };
        self.kinds.is_empty() || self.kinds.iter().any(is)
    }
}

/// Words before a program, or a command that only prepares.
const BEFORE: [&str; 12] = [
    "npx",
    "poetry",
    "run",
    "uv",
    "uvx",
    "pnpm",
    "pipenv",
    "python",
    "python3",
    "-m",
    "-y",
    "manage.py",
];

/// Where programs of the project lie.
const PROGRAMS: [&str; 3] = ["node_modules/.bin/", ".venv/bin/", "venv/bin/"];

/// It installs what has a plain name, or goes somewhere in the tree.
pub(super) fn prepares(segment: &str) -> bool {
    let words: Vec<&str> = segment.split_whitespace().collect();
    let goes = matches!(words.as_slice(), ["cd", dir] if is_inside(dir));
    let installs = matches!(
        words.as_slice(),
        [
            "pip" | "pip3" | "npm" | "yarn" | "pnpm" | "cargo",
            "install" | "add" | "i" | "ci",
            ..
        ]
    );
    let plain = || {
        let named = installed(&words).unwrap_or_default();
        let mut named = named.iter().filter(|word| **word != ".");
        let led = |word: &&str| {
            word.contains("://") || word.contains("index") || word.contains("registry")
        };
        named.all(|word| plain_package(word).is_some() || word.ends_with(".txt") && is_inside(word))
            && !words.iter().any(led)
    };
    goes || installs && plain()
}

/// A path in the tree, or no path.
fn is_inside(word: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    let value = word.rsplit(['=', '@']).next().unwrap_or(word);
    let outside =
        |word: &str| word.starts_with(['/', '~', '$']) || word.split('/').any(|p| p == "..");
    !outside(word) && !outside(value) && !word.contains("://")
}

/// It runs a tool that generates or rewrites by fixed rules, with nothing but the tree: the kinds of files that it makes.
pub(super) fn deterministic(segment: &str) -> Option<Vec<&'static str>> {
    let words: Vec<&str> = segment.split_whitespace().collect();
    if segment.contains(['>', '<', '$', '`', '(']) || !words.iter().all(|word| is_inside(word)) {
        return None;
    }
    let words = in_container(&words);
    let at = words.iter().position(|word| {
        let manages = base_name(word) == "manage.py" || *word == "django-admin";
        !manages && !BEFORE.contains(word)
    })?;
    let word = *words.get(at)?;
    let program = PROGRAMS
        .iter()
        .find_map(|dir| word.strip_prefix(dir))
        .unwrap_or(word);
    if program == "pyright" && words.contains(&"--createstub") {
        return Some(vec![".pyi"]);
    }
    let (_, kinds) = DETERMINISTIC.iter().find(|(name, _)| *name == program)?;
    Some(kinds.to_vec())
}

/// A service of the project that runs a command: that command.
fn in_container<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let (["docker", "compose", "run" | "exec", rest @ ..]
    | ["docker-compose", "run" | "exec", rest @ ..]) = words
    else {
        return words;
    };
    let plain = ["--rm", "-T", "-it", "-i", "-t", "--no-deps"];
    let at = rest.iter().position(|word| !plain.contains(word));
    let service = at.and_then(|at| rest.get(at));
    let command = at.and_then(|at| rest.get(at + 1..));
    // Other options may bring in other images and files.
    match (service, command) {
        (Some(service), Some(command)) if !service.starts_with('-') && !service.contains('/') => {
            command
        }
        _ => words,
    }
}

/// A command without what bounds the time that it may take.
pub(super) fn unbounded(segment: &str) -> &str {
    let segment = segment.trim();
    let rest = segment.strip_prefix("timeout ").and_then(|rest| {
        let (time, rest) = rest.trim_start().split_once(' ')?;
        let limits = time.starts_with(|c: char| c.is_ascii_digit());
        limits.then(|| rest.trim_start())
    });
    rest.or_else(|| segment.strip_prefix("time "))
        .unwrap_or(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn tools_by_fixed_rules() {
        for (command, want) in [
            ("python manage.py makemigrations shop -n codes", Some("migrations/")),
            ("django-admin makemigrations shop --name codes", Some("migrations/")),
            ("docker compose run --rm web python manage.py makemigrations shop", Some("migrations/")),
            ("docker compose exec -T web ./manage.py makemigrations", Some("migrations/")),
            ("uv run manage.py makemigrations", Some("migrations/")),
            ("stubgen lib -o .", Some(".pyi")),
            ("python -m mypy.stubgen lib -o .", Some(".pyi")),
            ("npx jscodeshift -t tools/transform.js src", Some(".js")),
            ("node_modules/.bin/jscodeshift -t tools/transform.js src", Some(".js")),
            ("npx jscodeshift -t https://a.example/transform.js src", None),
            ("npx jscodeshift -t /mnt/ref/transform.js src", None),
            ("npx jscodeshift --transform=/mnt/ref/transform.js src", None),
            ("stubgen ../ref/lib -o .", None),
            ("./stubgen lib", None),
            ("docker run ref/gen python manage.py makemigrations", None),
            ("docker compose -f /mnt/c.yml run web python manage.py makemigrations", None),
            ("docker compose run -v /mnt:/w web python manage.py makemigrations", None),
            ("PYTHONPATH=/mnt/ref 2to3 -w lib", None),
            ("stubgen lib > a.py", None),
        ] {
            let got = deterministic(command);
            assert_eq!(got.as_ref().and_then(|kinds| kinds.first().copied()), want, "{command}");
        }
        let made = |kinds: &[&'static str]| Made { kinds: kinds.to_vec(), ..Made::default() };
        for (kind, path, want) in [
            ("migrations/", "shop/migrations/0002_codes.py", true),
            ("migrations/", "shop/codes.py", false),
            (".pyi", "lib/a.pyi", true),
            (".pyi", "lib/a.py", false),
        ] {
            assert_eq!(made(&[kind]).may_be(path), want, "{path}");
        }
        assert!(made(&[]).may_be("a.py"));
    }

    #[test]
    fn what_prepares() {
        for (command, want) in [
            ("npm ci", true),
            ("pip install unittest2pytest", true),
            ("pip install -r requirements.txt", true),
            ("cd web", true),
            ("cd /mnt/ref", false),
            ("npm install /mnt/ref/gen", false),
            ("npm install gen@npm:@acme/other", false),
            ("pip install --index-url https://a.example gen", false),
        ] {
            assert_eq!(prepares(command), want, "{command}");
        }
        assert_eq!(unbounded("timeout 120 npm run gen"), "npm run gen");
        assert_eq!(
            unbounded("timeout.sh npm run gen"),
            "timeout.sh npm run gen"
        );
    }
}
