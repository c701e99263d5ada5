//! Whether a file is prose, by its path.
//!
//! Documents are copied from documents for honest reasons (the requirement itself is a document), so
//! exposure of prose is shown apart from exposure of code.

use super::testpath::{extension, file_name};

/// Extensions of documents, lower case.
const EXTENSIONS: &[&str] = &[
    "md", "markdown", "mdx", "mdown", "rst", "txt", "text", "adoc", "asciidoc", "asc", "org",
    "textile", "wiki", "pod", "rdoc", "tex", "html", "htm", "xhtml", "docx", "pdf", "news",
];

/// Files known by name, lower case, without extension.
const NAMES: &[&str] = &[
    "readme",
    "changelog",
    "changes",
    "history",
    "news",
    "authors",
    "contributors",
    "copying",
    "license",
    "licence",
    "notice",
    "todo",
    "install",
    "maintainers",
    "security",
];

/// Files of a text extension that are code all the same.
const CODE_NAMES: &[&str] = &[
    "cmakelists.txt",
    "requirements.txt",
    "constraints.txt",
    "meson_options.txt",
    "robots.txt",
];

/// True for documents: Markdown, reStructuredText, AsciiDoc, plain text, HTML, licence files …
pub fn is_prose(path: &str) -> bool {
    let name = file_name(path).to_ascii_lowercase();
    if CODE_NAMES.contains(&name.as_str()) {
        return false;
    }
    match extension(&name) {
        Some(extension) => EXTENSIONS.contains(&extension),
        None => NAMES.contains(&name.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_path() {
        for (path, want) in [
            ("README.md", true),
            ("docs/a.RST", true),
            ("LICENSE", true),
            ("Misc/NEWS.d/next/Core and Builtins/x.rst", true),
            ("sub/CMakeLists.txt", false),
            ("requirements.txt", false),
            ("notes.txt", true),
            ("src/news.py", false),
            ("src/readme.go", false),
            ("Makefile", false),
            ("", false),
        ] {
            assert_eq!(is_prose(path), want, "{path}");
        }
    }
}
