//! What programs do, as far as a command names them: which look, which write, fetch, format or generate. Lists, and nothing
//! else: to know another formatter or generator, it is added here.

/// Programs that only look.
pub(super) const READERS: [&str; 34] = [
    "ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "find", "pwd", "echo",
    "printf", "wc", "sort", "uniq", "sed", "awk", "cut", "tr", "nl", "less", "more", "file",
    "stat", "tree", "which", "true", "test", "cd", "diff", "du", "date", "jq",
];

/// Subcommands of git that only look.
pub(super) const GIT_READERS: [&str; 10] = [
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "rev-parse",
    "ls-files",
    "grep",
    "blame",
    "remote",
];

/// Commands that run tests, as their first words.
pub(super) const TEST_RUNNERS: [&[&str]; 10] = [
    &["pytest"],
    &["python", "-m", "pytest"],
    &["python3", "-m", "pytest"],
    &["python", "-m", "unittest"],
    &["python3", "-m", "unittest"],
    &["go", "test"],
    &["cargo", "test"],
    &["npm", "test"],
    &["make", "test"],
    &["make", "check"],
];

/// Options of them that bring in nothing from elsewhere and write nothing. Others may.
pub(super) const TEST_OPTIONS: [&str; 27] = [
    "-q",
    "-qq",
    "-v",
    "-vv",
    "-s",
    "-x",
    "-k",
    "-m",
    "-ra",
    "-rA",
    "-n",
    "-j",
    "-race",
    "-short",
    "-run",
    "-count",
    "-timeout",
    "-failfast",
    "--lib",
    "--all",
    "--workspace",
    "--no-run",
    "--quiet",
    "--tb",
    "--maxfail",
    "--durations",
    "--nocapture",
];

/// Programs whose arguments are files that they change.
pub(super) const WRITERS: [&str; 10] = [
    "tee", "cp", "mv", "install", "rsync", "ln", "rm", "dd", "scp", "ditto",
];

/// Programs that save what they fetch.
pub(super) const DOWNLOADERS: [&str; 3] = ["curl", "wget", "aria2c"];

/// Programs that may write anywhere by what their script says.
pub(super) const INTERPRETERS: [&str; 11] = [
    "python",
    "python3",
    "python2",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "Rscript",
    "osascript",
];

/// Formatters and generators with the word that makes them write ("" for always).
pub(super) const REWRITERS: [(&str, &str); 24] = [
    ("gofmt", "-w"),
    ("goimports", "-w"),
    ("gofumpt", "-w"),
    ("go", "generate"),
    ("go", "fmt"),
    ("cargo", "fmt"),
    ("cargo", "fix"),
    ("rustfmt", ""),
    ("black", ""),
    ("isort", ""),
    ("autopep8", "-i"),
    ("yapf", "-i"),
    ("ruff", "format"),
    ("ruff", "--fix"),
    ("prettier", "--write"),
    ("eslint", "--fix"),
    ("clang-format", "-i"),
    ("spotlessApply", ""),
    ("spotless:apply", ""),
    ("protoc", ""),
    ("patch", ""),
    ("unzip", ""),
    ("tar", "x"),
    ("buf", "generate"),
];

/// Subcommands of git that change the work tree.
pub(super) const GIT_WRITERS: [&str; 12] = [
    "apply",
    "am",
    "cherry-pick",
    "checkout",
    "restore",
    "merge",
    "rebase",
    "stash",
    "pull",
    "revert",
    "switch",
    "read-tree",
];

/// Programs that copy; their last argument, or the one behind `-t`, is where to.
pub(super) const COPIERS: [&str; 7] = ["cp", "mv", "install", "rsync", "ln", "scp", "ditto"];

/// Programs that only format.
pub(super) const FORMATTERS: [&str; 11] = [
    "gofmt",
    "goimports",
    "gofumpt",
    "rustfmt",
    "black",
    "isort",
    "autopep8",
    "yapf",
    "ruff",
    "prettier",
    "clang-format",
];

/// Programs that only generate.
pub(super) const GENERATORS: [&str; 5] = ["protoc", "mockgen", "sqlc", "controller-gen", "buf"];

/// Programs that write what they read, beside redirections.
pub(super) const CARRIERS: [&str; 8] = ["tee", "sponge", "dd", "ed", "ex", "vim", "vi", "nvim"];

/// Programs, and words of commands, whose output follows from the tree, with the kinds of files that they make: a directory,
/// or how names end; any where there are none.
pub(super) const DETERMINISTIC: [(&str, &[&str]); 12] = [
    ("makemigrations", &["migrations/"]),
    ("stubgen", &[".pyi"]),
    ("mypy.stubgen", &[".pyi"]),
    ("unittest2pytest", &[".py"]),
    ("pyupgrade", &[".py"]),
    ("2to3", &[".py"]),
    ("openapi-generator", &[]),
    ("openapi-ts", &[".ts", ".js"]),
    ("openapi-typescript", &[".ts"]),
    (
        "jscodeshift",
        &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".vue"],
    ),
    ("graphql-codegen", &[]),
    ("bindgen", &[".rs"]),
];

/// Programs and subcommands that bring something from elsewhere.
pub(super) const FETCHERS: [&str; 9] = [
    "curl", "wget", "aria2c", "scp", "ssh", "sftp", "gh", "docker", "podman",
];

/// Package managers, with what makes them fetch.
pub(super) const MANAGERS: [&str; 9] = [
    "pip", "pip3", "npm", "yarn", "pnpm", "go", "cargo", "gem", "apt-get",
];

pub(super) const FETCHES: [&str; 7] = [
    "download", "pack", "source", "mod", "fetch", "install", "get",
];

/// Programs that write what they read, as it is or unpacked: what they make is whose the source is.
pub(super) const COPIES: [&str; 16] = [
    "cp", "mv", "install", "rsync", "ln", "cat", "tar", "unzip", "gunzip", "zcat", "xz", "base64",
    "head", "tail", "sed", "dd",
];

/// Programs that make a text of others, by what their own words say.
pub(super) const SHAPERS: [&str; 20] = [
    "awk", "gawk", "sed", "cut", "tr", "sort", "uniq", "grep", "head", "tail", "cat", "printf",
    "echo", "paste", "column", "jq", "tac", "nl", "fold", "fmt",
];
