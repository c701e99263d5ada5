//! Programs that only start another one: `env`, `timeout`, `sudo`, `xargs` …
//!
//! One table says for each how its own options are told from the command behind them.

use super::call::Call;
use super::cursor::Base;
use super::scope::Field;

/// What is behind a wrapper.
#[derive(Debug)]
pub(crate) enum Unwrapped<'f> {
    /// The call is no wrapper, or has nothing behind it.
    No,
    /// Another program.
    Inner {
        argv: &'f [Field],
        env: Vec<(String, Field)>,
        /// Directory that the wrapper moves to.
        directory: Option<Field>,
    },
    /// A text that the wrapper hands to a shell.
    Script { text: String, base: Base },
}

/// How the command of a wrapper is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Program and arguments follow.
    Program,
    /// The words that follow are joined and handed to a shell.
    Shell,
}

/// One wrapper.
#[derive(Debug)]
struct Wrapper {
    name: &'static str,
    /// First argument that makes it one (`uv run`); empty if none is needed.
    subcommand: &'static str,
    /// Options that take the next word as their value.
    values: &'static [&'static str],
    /// Words between the options and the command.
    operands: usize,
    behind: Behind,
}

/// A wrapper whose command follows its options directly.
const fn program(name: &'static str, values: &'static [&'static str]) -> Wrapper {
    after(name, values, 0)
}

/// A wrapper whose command follows its options and some words.
const fn after(name: &'static str, values: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper {
        name,
        subcommand: "",
        values,
        operands,
        behind: Behind::Program,
    }
}

/// A wrapper that is one only with this first argument.
const fn sub(
    name: &'static str,
    subcommand: &'static str,
    values: &'static [&'static str],
) -> Wrapper {
    Wrapper {
        name,
        subcommand,
        values,
        operands: 0,
        behind: Behind::Program,
    }
}

/// The same, with a word between the options and the command.
const fn sub_after(
    name: &'static str,
    subcommand: &'static str,
    values: &'static [&'static str],
) -> Wrapper {
    Wrapper {
        operands: 1,
        ..sub(name, subcommand, values)
    }
}

/// A wrapper that joins its words and hands them to a shell.
const fn shell(name: &'static str, values: &'static [&'static str]) -> Wrapper {
    Wrapper {
        name,
        subcommand: "",
        values,
        operands: 0,
        behind: Behind::Shell,
    }
}

const TIMEOUT: &[&str] = &["-s", "--signal", "-k", "--kill-after"];
const TRACE: &[&str] = &[
    "-e", "-o", "-p", "-s", "-u", "-E", "-a", "-P", "-S", "-b", "-I", "-O", "-X",
];
const PYTHON_RUN: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "--project",
    "--directory",
    "--extra",
    "--group",
    "--env-file",
    "--with-requirements",
    "--index-url",
    "--package",
];

const WRAPPERS: &[Wrapper] = &[
    program(
        "env",
        &["-u", "--unset", "-C", "--chdir", "-S", "--split-string"],
    ),
    after("timeout", TIMEOUT, 1),
    after("gtimeout", TIMEOUT, 1),
    program("nohup", &[]),
    program("setsid", &[]),
    program("chronic", &[]),
    program("unbuffer", &[]),
    program("catchsegv", &[]),
    program("fakeroot", &[]),
    program("caffeinate", &["-t", "-w"]),
    program("torsocks", &[]),
    program("torify", &[]),
    program("proxychains", &["-f"]),
    program("proxychains4", &["-f"]),
    program("rlwrap", &[]),
    program("winpty", &[]),
    program("wsl", &["-d", "-u", "--cd"]),
    program("arch", &[]),
    program("cross-env", &[]),
    program("busybox", &[]),
    program("toybox", &[]),
    program("time", &["-f", "--format", "-o", "--output"]),
    program("command", &[]),
    program("builtin", &[]),
    program("exec", &["-a"]),
    program("noglob", &[]),
    program("nocorrect", &[]),
    program("nice", &["-n", "--adjustment"]),
    program("ionice", &["-c", "-n", "-p", "--class", "--classdata"]),
    program(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
    ),
    program("strace", TRACE),
    program("ltrace", TRACE),
    program("valgrind", &[]),
    program("numactl", &["-N", "-m", "-C", "-i", "-p"]),
    program("systemd-run", &["-p", "-u", "--unit", "--property", "-E"]),
    program("dbus-run-session", &[]),
    program("nsenter", &["-t", "--target", "-S", "-G", "-r", "-w"]),
    program("cpulimit", &["-l", "-p", "-e", "--limit"]),
    program(
        "chpst",
        &[
            "-u", "-U", "-b", "-e", "-n", "-l", "-L", "-m", "-d", "-o", "-p", "-f", "-c", "-r",
            "-t", "-/",
        ],
    ),
    program(
        "softlimit",
        &[
            "-m", "-d", "-s", "-l", "-a", "-o", "-p", "-f", "-c", "-r", "-t",
        ],
    ),
    program("eatmydata", &[]),
    sub("gdb", "--args", &[]),
    sub_after("direnv", "exec", &[]),
    sub_after("lxc", "exec", &["--cwd", "--env", "--user", "--group"]),
    sub_after("incus", "exec", &["--cwd", "--env", "--user", "--group"]),
    sub("devbox", "run", &["-c", "--config"]),
    sub("toolbox", "run", &["-c", "--container", "-d", "-r"]),
    sub_after("distrobox", "enter", &["-n", "--name", "-a"]),
    sub("heroku", "run", &["-a", "--app", "-s"]),
    program("xvfb-run", &["-n", "-s", "-e", "-f", "-p", "-w"]),
    program(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t", "-D", "-R", "--user", "--group",
            "--chdir", "--host", "--prompt",
        ],
    ),
    program("doas", &["-u", "-C"]),
    program("gosu", &[]),
    program("run0", &["-u", "--user"]),
    after("chroot", &[], 1),
    after("faketime", &[], 1),
    after("taskset", &[], 1),
    after("chrt", &[], 1),
    after("unshare", &[], 0),
    program("firejail", &[]),
    sub("uv", "run", PYTHON_RUN),
    sub("poetry", "run", &[]),
    sub("pipenv", "run", &[]),
    sub("pdm", "run", &["-p"]),
    sub("rye", "run", &[]),
    sub("hatch", "run", &[]),
    sub("conda", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    sub("mamba", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    sub(
        "micromamba",
        "run",
        &["-n", "-p", "--name", "--prefix", "--cwd"],
    ),
    sub("bundle", "exec", &[]),
    sub("mise", "exec", &[]),
    sub("asdf", "exec", &[]),
    sub("pyenv", "exec", &[]),
    sub("rbenv", "exec", &[]),
    sub("perf", "stat", &["-e", "-o", "-r"]),
    sub("npm", "exec", &[]),
    sub("pnpm", "exec", &[]),
    shell("watch", &["-n", "--interval", "-q"]),
    shell(
        "hyperfine",
        &[
            "-w", "-r", "-m", "-M", "-s", "-p", "-S", "-N", "--warmup", "--runs",
        ],
    ),
];

/// Wrappers that take `NAME=value` in front of the command.
const ASSIGNING: &[&str] = &["env", "sudo", "doas", "cross-env"];

/// True for the name of a program that does nothing but start another one.
pub(super) fn is_one(word: &str) -> bool {
    WRAPPERS
        .iter()
        .any(|wrapper| wrapper.name == word && wrapper.subcommand.is_empty())
}

/// Takes one wrapper off.
pub(crate) fn unwrap<'f>(call: &Call<'f>) -> Unwrapped<'f> {
    let name = call.program();
    let arguments = call.arguments();
    let first = arguments.first().map_or("", |field| field.text.as_str());
    if name == "command" && (first.starts_with("-v") || first.starts_with("-V")) {
        return Unwrapped::No;
    }
    let found = WRAPPERS.iter().find(|wrapper| {
        wrapper.name == name && (wrapper.subcommand.is_empty() || wrapper.subcommand == first)
    });
    let Some(wrapper) = found else {
        return Unwrapped::No;
    };
    let skipped = usize::from(!wrapper.subcommand.is_empty());
    let options = Options::read(arguments.get(skipped..).unwrap_or_default(), wrapper.values);
    let split = options.value(&["-S", "--split-string"]);
    if let Some(text) = split.filter(|_| name == "env") {
        let rest = join(options.rest);
        return Unwrapped::Script {
            text: format!("{} {rest}", text.text),
            base: Base::Fixed(call.offset),
        };
    }
    let mut rest = options.rest.get(wrapper.operands..).unwrap_or_default();
    if let Some((dashes, behind)) = rest.split_first()
        && wrapper.operands > 0
        && dashes.text == "--"
    {
        rest = behind;
    }
    let mut env = Vec::new();
    let assigns = ASSIGNING.contains(&name);
    while let Some((field, after)) = rest.split_first().filter(|_| assigns) {
        let Some((name, value)) = as_assignment(field) else {
            break;
        };
        env.push((name, value));
        rest = after;
    }
    match (wrapper.behind, rest) {
        (_, []) => Unwrapped::No,
        (Behind::Program, rest) => Unwrapped::Inner {
            argv: rest,
            env,
            directory: options.value(&["-C", "--chdir", "-D", "--cwd", "--directory"]),
        },
        (Behind::Shell, [only]) => Unwrapped::Script {
            text: only.text.clone(),
            base: call.base_of(only),
        },
        (Behind::Shell, rest) => Unwrapped::Script {
            text: join(rest),
            base: Base::Fixed(call.offset),
        },
    }
}

/// Options at the front of an argument list.
#[derive(Debug)]
pub(super) struct Options<'f> {
    /// Each option with its value: the next word, or what follows `=` or the letter.
    pub(super) given: Vec<(String, Option<Field>)>,
    /// What follows them.
    pub(super) rest: &'f [Field],
}

impl<'f> Options<'f> {
    /// Reads options up to the first word that is none or `--`; those in `values` take the next
    /// word.
    pub(super) fn read(arguments: &'f [Field], values: &[&str]) -> Self {
        let mut given = Vec::new();
        let mut rest = arguments;
        while let Some((field, after)) = rest.split_first() {
            let text = field.text.as_str();
            if text == "--" {
                rest = after;
                break;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            rest = after;
            if values.contains(&text) {
                let value = rest.split_first().map(|(value, after)| {
                    rest = after;
                    value.clone()
                });
                given.push((text.to_owned(), value));
            } else if let Some((name, value)) = text.split_once('=') {
                given.push((name.to_owned(), Some(Field::plain(value))));
            } else if let Some((name, value)) = attached(text, values) {
                given.push((name.to_owned(), Some(Field::plain(value))));
            } else {
                given.push((text.to_owned(), None));
            }
        }
        Self { given, rest }
    }

    /// The value of the last of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<Field> {
        let found = self
            .given
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))?;
        found.1.clone()
    }

    /// True if one of these options is given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.given
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }
}

/// `-n10`: the option and what is attached to it.
fn attached<'t>(text: &'t str, values: &[&str]) -> Option<(&'t str, &'t str)> {
    let (option, value) = text.split_at_checked(2)?;
    (values.contains(&option) && !value.is_empty()).then_some((option, value))
}

/// `NAME=value` in an argument list.
pub(super) fn as_assignment(field: &Field) -> Option<(String, Field)> {
    let (name, value) = field.text.split_once('=')?;
    let named = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(super::parser::is_name);
    named.then(|| {
        let value = Field {
            dynamic: field.dynamic,
            decoded: field.decoded,
            ..Field::plain(value)
        };
        (name.to_owned(), value)
    })
}

/// Words joined by blanks, as a shell gets them.
pub(super) fn join(words: &[Field]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}
