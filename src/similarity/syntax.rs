//! How comments and strings are written, by file name.
//!
//! A table, not a parser: enough to find where a comment begins, given that strings may hold
//! comment markers. Languages that share their rules share a row. Files that are not in the table
//! (prose, data, unknown) have no comments.

/// What a single quote means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apostrophe {
    /// It delimits a string, as the double quote does (Python, JavaScript, shell).
    String,
    /// It delimits one character (`'"'` in C, Go, Rust, Java); anything longer is a lifetime, a
    /// digit separator or prose.
    Char,
    /// It means nothing.
    Plain,
}

/// Where comments begin and end in one family of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// Markers that make the rest of the line a comment.
    pub line: &'static [&'static str],
    /// A line marker counts only at the start of the line or after white space (`$#`, `a#b`).
    pub line_after_blank: bool,
    /// A line marker counts only as the first thing of a line (`key = a;b` in `.ini`).
    pub line_first_only: bool,
    /// Opening and closing markers of comments that may span lines.
    pub block: Option<(&'static str, &'static str)>,
    /// Lines inside a block comment usually begin with `*`.
    pub stars: bool,
    /// Delimiters of strings besides the single quote.
    pub quotes: &'static str,
    /// What a single quote means.
    pub apostrophe: Apostrophe,
}

const NONE: Syntax = Syntax {
    line: &[],
    line_after_blank: false,
    line_first_only: false,
    block: None,
    stars: false,
    quotes: "",
    apostrophe: Apostrophe::Plain,
};

/// C, C++, Go, Rust, Java, Kotlin, Swift, C#, Scala …
const C: Syntax = Syntax {
    line: &["//"],
    block: Some(("/*", "*/")),
    stars: true,
    quotes: "\"`",
    apostrophe: Apostrophe::Char,
    ..NONE
};

/// JavaScript, TypeScript, Dart, Groovy, Sass: as C, with strings in single quotes.
const SCRIPT: Syntax = Syntax {
    apostrophe: Apostrophe::String,
    ..C
};

/// PHP: as JavaScript, and `# `; `#[` begins an attribute.
const PHP: Syntax = Syntax {
    line: &["//", "# "],
    ..SCRIPT
};

const CSS: Syntax = Syntax {
    line: &[],
    ..SCRIPT
};

/// HCL (Terraform): C comments and `#`.
const HCL: Syntax = Syntax {
    line: &["//", "#"],
    line_after_blank: true,
    apostrophe: Apostrophe::Plain,
    ..C
};

const PYTHON: Syntax = Syntax {
    line: &["#"],
    quotes: "\"",
    apostrophe: Apostrophe::String,
    ..NONE
};

/// Shell, YAML, Ruby, Perl, Make, TOML, CMake, R …
const HASH: Syntax = Syntax {
    line_after_blank: true,
    ..PYTHON
};

const POWERSHELL: Syntax = Syntax {
    block: Some(("<#", "#>")),
    ..HASH
};

const SQL: Syntax = Syntax {
    line: &["--"],
    block: Some(("/*", "*/")),
    stars: true,
    quotes: "\"",
    apostrophe: Apostrophe::String,
    ..NONE
};

const LUA: Syntax = Syntax {
    block: Some(("--[[", "]]")),
    stars: false,
    ..SQL
};

const HASKELL: Syntax = Syntax {
    line: &["-- ", "--|"],
    block: Some(("{-", "-}")),
    quotes: "\"",
    apostrophe: Apostrophe::Char,
    ..NONE
};

const LISP: Syntax = Syntax {
    line: &[";"],
    quotes: "\"",
    ..NONE
};

const INI: Syntax = Syntax {
    line: &[";", "#"],
    line_first_only: true,
    ..NONE
};

const PERCENT: Syntax = Syntax {
    line: &["%"],
    quotes: "\"",
    ..NONE
};

const FORTRAN: Syntax = Syntax {
    line: &["!"],
    ..PYTHON
};

const ML: Syntax = Syntax {
    block: Some(("(*", "*)")),
    quotes: "\"",
    apostrophe: Apostrophe::Char,
    ..NONE
};

const FSHARP: Syntax = Syntax {
    line: &["//"],
    ..ML
};

const MARKUP: Syntax = Syntax {
    block: Some(("<!--", "-->")),
    ..NONE
};

/// Components of Vue and Svelte: scripts in markup. An address in a text has no blank behind its slashes.
const COMPONENT: Syntax = Syntax {
    line: &["// "],
    quotes: "\"`",
    apostrophe: Apostrophe::String,
    ..MARKUP
};

/// Assemblers; `#4` is a number in some of them.
const ASSEMBLER: Syntax = Syntax {
    line: &["//", "# ", "; ", "@ "],
    line_after_blank: true,
    ..C
};

const BASIC: Syntax = Syntax {
    line: &["'"],
    quotes: "\"",
    ..NONE
};

const BATCH: Syntax = Syntax {
    line: &[
        "::", "rem ", "REM ", "@rem ", "@REM ", "& rem ", "& REM ", "&rem ", "&REM ", "& ::", "&::",
    ],
    line_after_blank: true,
    ..NONE
};

/// Objective-C and MATLAB have one ending. A remainder with a blank behind its sign is taken for a comment, on both sides of
/// a comparison.
const C_OR_MATLAB: Syntax = Syntax {
    line: &["//", "% ", "%%"],
    ..C
};

/// Classes of Apex and of LaTeX have one, too; an address has no blank behind its slashes.
const APEX_OR_TEX: Syntax = Syntax {
    line: &["// ", "%"],
    quotes: "\"",
    ..C
};

const PASCAL: Syntax = Syntax {
    line: &["//"],
    block: Some(("{", "}")),
    apostrophe: Apostrophe::String,
    ..NONE
};

const TCL: Syntax = Syntax {
    line: &[";#", "# "],
    quotes: "\"",
    ..NONE
};

const VIM: Syntax = Syntax {
    line: &["\""],
    line_first_only: true,
    ..NONE
};

const JINJA: Syntax = Syntax {
    block: Some(("{#", "#}")),
    ..NONE
};

const HANDLEBARS: Syntax = Syntax {
    block: Some(("{{!", "}}")),
    ..NONE
};

/// Rows of the table: a family and the lower-case extensions that belong to it.
#[rustfmt::skip]
const BY_EXTENSION: &[(&Syntax, &[&str])] = &[
    (&C, &["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "inl", "ipp", "tcc", "ino",
        "cu", "cuh", "cl", "mm", "java", "go", "rs", "swift", "kt", "kts", "scala", "cs", "d",
        "zig", "v", "sv", "svh", "proto", "fbs", "idl", "aidl", "glsl", "hlsl", "wgsl",
        "vert", "frag", "comp", "metal", "y", "l", "td", "sol", "asc", "asl", "dts", "dtsi",
        "rl", "g4", "capnp", "vala", "hx", "re", "cds", "mlir", "hip", "tpp", "cppm", "ixx", "ispc", "move",
        "cairo", "odin", "carbon"]),
    (&SCRIPT, &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "dart", "groovy", "gradle",
        "scss", "sass", "less", "styl", "json5", "jsonc", "as", "qml"]),
    (&PHP, &["php", "phtml"]),
    (&CSS, &["css"]),
    (&HCL, &["tf", "tfvars", "hcl", "thrift"]),
    (&PYTHON, &["py", "pyi", "pyx", "pxd", "bzl", "bazel", "star", "gyp", "gypi", "nim", "gd", "mojo"]),
    (&HASH, &["sh", "bash", "zsh", "ksh", "fish", "rb", "rake", "gemspec", "pl", "pm", "t", "r",
        "yml", "yaml", "toml", "cmake", "mk", "mak", "dockerfile", "conf", "cfg", "awk",
        "jl", "ex", "exs", "cr", "nix", "coffee", "properties", "env", "gn", "gni", "graphql",
        "gql", "meson", "ac", "am", "pyproject", "service", "po", "pot"]),
    (&POWERSHELL, &["ps1", "psm1", "psd1"]),
    (&SQL, &["sql", "psql", "ddl", "ads", "adb", "vhd", "vhdl"]),
    (&LUA, &["lua"]),
    (&HASKELL, &["hs", "lhs", "elm", "purs", "agda", "idr", "lean"]),
    (&LISP, &["lisp", "el", "scm", "ss", "rkt", "clj", "cljs", "cljc", "edn", "asm", "nasm", "ll", "wat",
        "wast"]),
    (&INI, &["ini", "inf", "reg", "editorconfig", "gitattributes", "gitignore", "dockerignore"]),
    (&C_OR_MATLAB, &["m"]),
    (&APEX_OR_TEX, &["cls"]),
    (&PERCENT, &["tex", "sty", "erl", "hrl"]),
    (&FORTRAN, &["f90", "f95", "f03", "f08"]),
    (&ML, &["ml", "mli", "mly", "mll", "sml"]),
    (&FSHARP, &["fs", "fsi", "fsx"]),
    (&MARKUP, &["html", "htm", "xhtml", "xml", "svg", "xsl", "xslt", "xsd", "pom",
        "csproj", "vcxproj", "props", "targets", "plist", "jsp", "ftl"]),
    (&COMPONENT, &["vue", "svelte", "astro"]),
    (&ASSEMBLER, &["s"]),
    (&BASIC, &["vb", "bas", "vbs", "frm"]),
    (&BATCH, &["bat", "cmd"]),
    (&PASCAL, &["pas", "pp", "dpr", "lpr"]),
    (&TCL, &["tcl"]),
    (&VIM, &["vim", "vimrc"]),
    (&JINJA, &["j2", "jinja", "jinja2", "njk", "twig"]),
    (&HANDLEBARS, &["hbs", "handlebars", "mustache"]),
];

/// Extensions of templates: the one before tells the language.
const TEMPLATES: &[&str] = &[
    "in", "j2", "jinja", "jinja2", "tmpl", "tpl", "template", "erb",
];

/// Files known by their whole name (lower case).
#[rustfmt::skip]
const BY_NAME: &[(&Syntax, &[&str])] = &[
    (&HASH, &["makefile", "gnumakefile", "dockerfile", "containerfile", "cmakelists.txt", "gemfile",
        "rakefile", "vagrantfile", "procfile", "owners", "codeowners", "requirements.txt",
        "constraints.txt", "meson.build", "meson_options.txt", "kconfig", "kbuild"]),
    (&PYTHON, &["build", "workspace", "sconstruct", "sconscript", "wscript", "tiltfile", "snakefile"]),
    (&SCRIPT, &["jenkinsfile", "tsconfig.json"]),
];

impl Syntax {
    /// The row for a path; a row without any marker for files that have no comments.
    pub fn of(path: &str) -> &'static Syntax {
        let name = path
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(path)
            .to_ascii_lowercase();
        let find = |table: &[(&'static Syntax, &[&str])], key: &str| {
            table
                .iter()
                .find(|(_, keys)| keys.contains(&key))
                .map(|(syntax, _)| *syntax)
        };
        let by_extension = |name: &str| {
            let (_, extension) = name.rsplit_once('.')?;
            find(BY_EXTENSION, extension)
        };
        let of_template = || {
            let (inner, extension) = name.rsplit_once('.')?;
            TEMPLATES
                .contains(&extension)
                .then(|| find(BY_NAME, inner).or_else(|| by_extension(inner)))?
        };
        find(BY_NAME, &name)
            .or_else(of_template)
            .or_else(|| by_extension(&name))
            .unwrap_or(&NONE)
    }

    /// True for a file without comments.
    pub fn is_plain(&self) -> bool {
        self.line.is_empty() && self.block.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_path_has_one_row() {
        for (path, want) in [
            ("pkg/a.go", &C),
            ("src/Main.JAVA", &C),
            ("web/app.ts", &SCRIPT),
            ("a/b.py", &PYTHON),
            (".github/ci.yml", &HASH),
            ("sub/CMakeLists.txt", &HASH),
            ("BUILD", &PYTHON),
            ("README.md", &NONE),
            ("data.json", &NONE),
            ("LICENSE", &NONE),
            (".gitattributes", &INI),
            ("include/config.h.in", &C),
            ("roles/site.py.j2", &PYTHON),
            ("roles/site.j2", &JINJA),
            ("src/App.vue", &COMPONENT),
            ("", &NONE),
        ] {
            assert_eq!(Syntax::of(path), want, "{path}");
        }
    }

    #[test]
    fn no_extension_stands_in_two_rows() {
        let mut seen = BTreeSet::new();
        for key in BY_EXTENSION.iter().flat_map(|(_, keys)| keys.iter()) {
            assert!(seen.insert(key), "{key}");
        }
    }
}
