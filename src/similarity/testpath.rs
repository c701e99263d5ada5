//! Whether a file is a test, by its path.
//!
//! Hidden tests copied into the tree by the harness, and tests that the prompt never showed, weigh
//! differently from code; so both are counted apart.

/// Directories that hold tests, lower case.
const DIRECTORIES: &[&str] = &[
    "test",
    "tests",
    "testing",
    "testdata",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "integration_test",
    "integrationtest",
    "unittest",
    "unittests",
    "unit_test",
    "test_data",
    "testutil",
    "testutils",
    "fixtures",
    "ut",
    "st",
    "jtreg",
    "gtest",
    "androidtest",
    "functionaltest",
    "testfixtures",
];

/// True for test code and test data.
pub fn is_test(path: &str) -> bool {
    let directory = path.rsplit_once(['/', '\\']).map_or("", |(dirs, _)| dirs);
    let in_tests = directory
        .split(['/', '\\'])
        .any(|part| DIRECTORIES.contains(&part.to_ascii_lowercase().as_str()));
    in_tests || is_test_name(file_name(path))
}

fn is_test_name(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let lower = stem.to_ascii_lowercase();
    let inner = name
        .to_ascii_lowercase()
        .rsplit('.')
        .nth(1)
        .is_some_and(|part| matches!(part, "test" | "spec" | "tests" | "e2e"));
    inner
        || matches!(lower.as_str(), "test" | "tests" | "conftest")
        || lower.starts_with("test_")
        || lower.ends_with("_test")
        || lower.ends_with("_tests")
        || lower.ends_with("_spec")
        || lower.ends_with("-test")
        || ends_with_word(stem, "Test")
        || ends_with_word(stem, "Tests")
        || ends_with_word(stem, "TestCase")
        || stem.strip_prefix("Test").is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
        })
}

/// `FooTest` but not `Latest` or `Test` in another word: what comes before is a small letter or digit.
fn ends_with_word(stem: &str, word: &str) -> bool {
    stem.strip_suffix(word)
        .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The extension of a file name, without its dot; `None` for `Makefile` and `.gitignore`.
pub(crate) fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map(|(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_path() {
        for (path, want) in [
            ("pkg/a_test.go", true),
            ("pkg/testing/x.go", true),
            ("src/test/java/Foo.java", true),
            ("src/FooTest.java", true),
            ("src/FooTests.java", true),
            ("src/TestFoo.java", true),
            ("tests/baselines/x.js", true),
            ("a/test_x.py", true),
            ("conftest.py", true),
            ("web/a.spec.ts", true),
            ("web/a.test.tsx", true),
            ("Lib/test/test_x.py", true),
            ("src/Latest.java", false),
            ("src/attestation.go", false),
            ("src/contest.py", false),
            ("src/Testify.java", false),
            ("src/main.rs", false),
            ("latest_news.md", false),
            ("", false),
        ] {
            assert_eq!(is_test(path), want, "{path}");
        }
    }
}
