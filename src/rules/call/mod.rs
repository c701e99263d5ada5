//! What a call does with files and addresses, whatever program or tool does it.
//!
//! Rules say "fetches this address", "reads this file"; here stands which programs fetch and read,
//! which options name a file to write, and which words are only data.

pub mod address;
pub mod download;
pub mod files;
mod installers;
pub mod programs;
pub mod recipes;
pub mod script;
pub mod tool;

use self::programs::Class;
use super::rule::Access;
use crate::shell::model::{Invocation, Origin};

/// A use of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// The path as written.
    pub path: String,
    /// How it is used.
    pub access: Access,
}

/// What becomes of the standard input of a program, or of what a call returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stdin {
    /// It is shown or passed on.
    #[default]
    Shown,
    /// It changes the work tree.
    Applied,
    /// It is reduced to numbers or dropped.
    Dropped,
    /// It is written to the files of [`Io::saves`].
    Saved,
    /// It is executed.
    Run,
}

/// What a call does with files and addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Io {
    /// Addresses that are fetched.
    pub fetches: Vec<String>,
    /// Files that are used.
    pub files: Vec<FileUse>,
    /// Files or directories that receive content.
    pub saves: Vec<String>,
    /// Content is shown on the standard output.
    pub prints: bool,
    /// What becomes of the standard input.
    pub stdin: Stdin,
    /// Arguments are shown as they are: words in them are data.
    pub speaks: bool,
    /// The call applies the patch files that it reads.
    pub applies: bool,
    /// A directory among [`Io::saves`] is written into, not made: files in it can be replaced.
    pub replaces: bool,
}

impl Io {
    /// What an invocation does.
    pub fn of(invocation: &Invocation) -> Self {
        let mut io = Self {
            prints: true,
            ..Self::default()
        };
        let class = programs::class(&invocation.program);
        // The shell reader writes a download by a script as `fetch ADDRESS`.
        let by_script = invocation.origin == Origin::Embedded && invocation.program == "fetch";
        match class {
            _ if by_script => {
                let words = invocation.args.iter();
                io.fetches = words.flat_map(|w| address::of_argument(&w.text)).collect();
            }
            Class::Downloads => download::fill(invocation, &mut io),
            Class::Speaks => io.speaks = true,
            _ => files::fill(invocation, class, &mut io),
        }
        if programs::counts(&invocation.program) {
            io.stdin = Stdin::Dropped;
        } else if programs::is_shell(&invocation.program) && io.files.is_empty() {
            io.stdin = Stdin::Run;
        }
        for redirect in &invocation.redirects {
            let operator = redirect.operator.trim_start_matches(['1', '0']);
            let path = redirect.target.text.clone();
            // The shell's own sockets are written as files.
            if let Some(peer) = path.strip_prefix("/dev/tcp/") {
                io.fetches.push(format!("tcp://{}", peer.replace('/', ":")));
                continue;
            }
            match operator {
                "<" => io.files.push(FileUse {
                    path,
                    access: Access::Read,
                }),
                ">" | ">>" | ">|" | "&>" | "&>>" => {
                    io.prints = false;
                    if path != "/dev/null" {
                        io.saves.push(path.clone());
                        io.files.push(FileUse {
                            path,
                            access: Access::Write,
                        });
                    }
                }
                _ => {}
            }
        }
        io
    }

    /// Adds a use of a file.
    pub fn uses(&mut self, path: &str, access: Access) {
        self.files.push(FileUse {
            path: path.to_owned(),
            access,
        });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::shell::model::{Join, Origin, Redirect, Word};

    /// An invocation from blank-separated words; `>x` and `<x` are redirections.
    pub(crate) fn invocation(text: &str) -> Invocation {
        let word = |text: &str| Word {
            text: text.to_owned(),
            dynamic: text.contains('$'),
        };
        let (mut args, mut redirects) = (Vec::new(), Vec::new());
        for part in text.split_whitespace().skip(1) {
            let operator: String = part.chars().take_while(|c| "2<>&".contains(*c)).collect();
            if operator.contains(['<', '>']) {
                redirects.push(Redirect {
                    target: word(part.trim_start_matches(['2', '<', '>', '&'])),
                    operator,
                });
            } else {
                args.push(word(part));
            }
        }
        Invocation {
            program: text
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned(),
            args,
            env: Vec::new(),
            cwd: None,
            redirects,
            heredoc: None,
            join: Join::First,
            origin: Origin::Direct,
            detached: false,
            offset: 0,
        }
    }

    fn uses(text: &str, access: Access) -> Vec<String> {
        Io::of(&invocation(text))
            .files
            .into_iter()
            .filter(|f| f.access == access)
            .map(|f| f.path)
            .collect()
    }

    #[test]
    fn which_files_are_read() {
        for (text, read) in [
            ("cat /a /b", vec!["/a", "/b"]),
            ("sed -n 1,5p /a", vec!["/a"]),
            ("sed -e s/x/y/ /a", vec!["/a"]),
            ("grep -rn gt_diff.patch .", vec!["."]),
            ("grep -e x /a", vec!["/a"]),
            ("ls /a", vec![]),
            ("python /a", vec![]),
            ("frobnicate /a", vec![]),
            ("wc -l </a", vec!["/a"]),
            ("cp /a /b", vec!["/a"]),
            ("tar xOf /a.tgz m", vec!["/a.tgz"]),
            ("unzip -p /a.zip m", vec!["/a.zip"]),
            ("diff -ru src /new", vec!["src", "/new"]),
            ("dd if=/a of=/b", vec!["/a"]),
            ("git apply /a.patch", vec!["/a.patch"]),
            ("git diff --no-index /a /b", vec!["/a", "/b"]),
            ("patch -p1 -i /a.patch", vec!["/a.patch"]),
            ("echo /a", vec![]),
            ("rm /a", vec![]),
        ] {
            assert_eq!(uses(text, Access::Read), read, "{text}");
        }
    }

    #[test]
    fn which_files_are_written_listed_removed_run() {
        for (text, access, paths) in [
            ("rm -rf .git/logs", Access::Delete, vec![".git/logs"]),
            ("sed -i s/x/y/ /a", Access::Write, vec!["/a"]),
            ("tee -a /a", Access::Write, vec!["/a"]),
            ("echo x >/a", Access::Write, vec!["/a"]),
            ("ls -la /a", Access::List, vec!["/a"]),
            ("python3 -u /a.py x", Access::Run, vec!["/a.py"]),
            ("touch /a", Access::Write, vec!["/a"]),
        ] {
            assert_eq!(uses(text, access), paths, "{text}");
        }
    }

    #[test]
    fn where_content_goes() {
        for (text, saves, prints) in [
            ("curl -s https://h.example/x", vec![], true),
            ("curl -so a.py https://h.example/x", vec!["a.py"], false),
            ("curl -sLO https://h.example/x/y.c", vec!["y.c"], false),
            ("wget https://h.example/x/y.c", vec!["y.c"], false),
            ("wget -qO- https://h.example/x", vec![], true),
            ("wget -P /d https://h.example/y.c", vec!["/d/y.c"], false),
            ("cp /a /b", vec!["/b"], false),
            ("tar xzf a.tgz -C /d", vec!["/d"], false),
            (
                "tar xzf widget-1.tgz",
                vec!["widget-1", "package", "./*"],
                false,
            ),
            ("tar xz", vec!["./*"], false),
            ("composer create-project a/b /d 1.2 -q", vec!["/d"], true),
            ("mix hex.package fetch b 1.2 --unpack", vec!["b-1.2"], true),
            ("cabal get b-1.2", vec!["b-1.2"], true),
            ("gzip a.patch", vec!["a.patch.gz"], false),
            ("gzip -dc a.patch.gz", vec![], true),
            ("split -l 50 a.patch p_", vec!["p_*"], false),
            ("split a.patch", vec!["x*"], false),
            ("csplit -f /d/h a.patch /x/", vec!["/d/h*"], false),
            ("unzip a.zip -d /d", vec!["/d"], false),
            ("pip download x -d /d", vec!["/d"], true),
            ("pip install x --target /d", vec!["/d"], true),
            ("git clone https://h.example/a/b /d", vec!["/d"], false),
            ("cat a >b", vec!["b"], false),
            ("cat a >/dev/null", vec![], false),
            ("cat a 2>b", vec![], true),
        ] {
            let io = Io::of(&invocation(text));
            assert_eq!(
                (io.saves, io.prints),
                (saves.iter().map(|s| (*s).to_owned()).collect(), prints),
                "{text}"
            );
        }
    }

    #[test]
    fn what_becomes_of_standard_input() {
        for (text, stdin) in [
            ("head -5", Stdin::Shown),
            ("wc -l", Stdin::Dropped),
            ("git apply", Stdin::Applied),
            ("git am -3", Stdin::Applied),
            ("patch -p1", Stdin::Applied),
            ("git apply x.patch", Stdin::Shown),
            ("sh", Stdin::Run),
            ("tar xz -C /d", Stdin::Saved),
            ("tar xzO", Stdin::Shown),
        ] {
            assert_eq!(Io::of(&invocation(text)).stdin, stdin, "{text}");
        }
    }
}
