//! Which files a program reads, writes, lists, removes, runs.

use super::installers::{built, installs, other_histories, release_files, subversion};
use super::programs::Class;
use super::{Io, Stdin};
use crate::rules::git::call::GitCall;
use crate::rules::rule::Access;
use crate::shell::model::Invocation;

/// Fills in what a program of a class does.
pub fn fill(invocation: &Invocation, class: Class, io: &mut Io) {
    let words: Vec<&str> = invocation.args.iter().map(|w| w.text.as_str()).collect();
    match class {
        Class::Reads => reads(&invocation.program, &words, io),
        Class::Filters => filters(&invocation.program, &words, io),
        Class::Lists if matches!(invocation.program.as_str(), "find" | "gfind") => {
            finds(&words, io)
        }
        Class::Lists => plain(&words).for_each(|w| io.uses(w, Access::List)),
        Class::Copies => {
            copies(&words, io);
            if matches!(invocation.program.as_str(), "mv" | "move-item") {
                // What is moved is there no more.
                let moved = io.files.iter().filter(|f| f.access == Access::Read);
                let moved: Vec<String> = moved.map(|file| file.path.clone()).collect();
                moved.iter().for_each(|path| io.uses(path, Access::Delete));
            }
        }
        Class::Removes => plain(&words).for_each(|w| io.uses(w, Access::Delete)),
        Class::Tees => {
            plain(&words).for_each(|w| {
                io.uses(w, Access::Write);
                io.saves.push(w.to_owned());
            });
            if invocation.program == "sponge" && !io.saves.is_empty() {
                io.stdin = Stdin::Saved;
                io.prints = false;
            }
        }
        Class::Archives => archives(&invocation.program, &words, io),
        Class::Patches => patches(&words, io),
        Class::Runs if unpacks(&words, io) => {}
        Class::Runs => {
            // `go run x.go`
            let mut files = plain(&words).skip_while(|word| matches!(*word, "run" | "script"));
            if let Some(file) = files.next() {
                io.uses(file, Access::Run);
            }
            built(&words, io);
        }
        Class::Installs => installs(&invocation.program, &words, io),
        Class::Other => other(invocation, &words, io),
        Class::Downloads | Class::Speaks => {}
    }
}

/// Words that are no options; `--x=file` gives `file`.
pub(super) fn plain<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    words.iter().filter_map(|word| match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => Some(value),
        _ if word.starts_with('-') && word.len() > 1 => None,
        _ => Some(*word),
    })
}

fn has(words: &[&str], options: &[&str]) -> bool {
    words.iter().any(|w| options.contains(w))
}

/// Values of options that are followed by a word or joined by `=`.
pub(super) fn values<'w>(words: &'w [&'w str], options: &[&str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if options.contains(word) {
            found.extend(rest.next().copied());
        } else if let Some((name, value)) = word.split_once('=')
            && options.contains(&name)
        {
            found.push(value);
        }
    }
    found
}

fn reads(program: &str, words: &[&str], io: &mut Io) {
    if program == "dd" {
        for word in words {
            match word.split_once('=') {
                Some(("if", path)) => io.uses(path, Access::Read),
                Some(("of", path)) => {
                    io.uses(path, Access::Write);
                    io.saves.push(path.to_owned());
                    io.prints = false;
                }
                _ => {}
            }
        }
        return;
    }
    plain(words).for_each(|w| io.uses(w, Access::Read));
}

fn filters(program: &str, words: &[&str], io: &mut Io) {
    // The first word is the pattern unless an option brought it.
    let given = words
        .iter()
        .any(|w| matches!(*w, "-e" | "-f" | "--regexp" | "--expression" | "--file"));
    let in_place = matches!(program, "sed" | "gsed" | "yq" | "gawk")
        && words
            .iter()
            .any(|w| *w == "-i" || w.starts_with("-i.") || w.starts_with("--in-place"));
    let option_values = values(
        words,
        &[
            "-e",
            "-f",
            "--regexp",
            "--expression",
            "-A",
            "-B",
            "-C",
            "-m",
        ],
    );
    let mut skipped = given;
    for word in plain(words) {
        if option_values.contains(&word) {
            continue;
        }
        if !skipped {
            skipped = true;
            continue;
        }
        io.uses(
            word,
            if in_place {
                Access::Write
            } else {
                Access::Read
            },
        );
    }
    io.prints = !in_place;
}

/// `find ROOT… -name PATTERN`: files of that name below the roots.
fn finds(words: &[&str], io: &mut Io) {
    let roots: Vec<&str> = words
        .iter()
        .copied()
        .skip_while(|word| matches!(*word, "-L" | "-H" | "-P"))
        .take_while(|word| !word.starts_with(['-', '(', '!']))
        .collect();
    let names = values(words, &["-name", "-iname", "-path", "-ipath", "-wholename"]);
    for root in &roots {
        io.uses(root, Access::List);
    }
    let here = ["."];
    let roots = if roots.is_empty() {
        here.as_slice()
    } else {
        &roots
    };
    for root in roots.iter().take(MAX_ROOTS) {
        for name in names.iter().take(MAX_ROOTS) {
            let path = match *root {
                "." | "./" => (*name).to_owned(),
                _ => format!("{}/{name}", root.trim_end_matches('/')),
            };
            io.uses(&path, Access::List);
        }
    }
}

/// Places and names of one `find` that are looked at.
const MAX_ROOTS: usize = 16;

fn copies(words: &[&str], io: &mut Io) {
    let target = values(words, &["-t", "--target-directory"])
        .first()
        .copied();
    let mut paths: Vec<&str> = plain(words).filter(|w| Some(*w) != target).collect();
    let Some(target) = target.or_else(|| (paths.len() > 1).then(|| paths.pop()).flatten()) else {
        return;
    };
    for path in paths {
        io.uses(path, Access::Read);
    }
    io.uses(target, Access::Write);
    io.saves.push(target.to_owned());
    io.replaces = true;
    io.prints = false;
}

/// Compressors that put the packed file in the place of the plain one, with the ending that they add.
const COMPRESSORS: &[(&str, &str)] = &[
    ("gzip", ".gz"),
    ("pigz", ".gz"),
    ("bzip2", ".bz2"),
    ("xz", ".xz"),
    ("zstd", ".zst"),
];

/// `gzip FILE`: the packed file in the place of the plain one. False if the call does something else.
fn compresses(program: &str, words: &[&str], io: &mut Io) -> bool {
    let unpacks = words.iter().any(|word| {
        matches!(
            *word,
            "--decompress" | "--uncompress" | "--stdout" | "--to-stdout"
        ) || word.starts_with('-') && !word.starts_with("--") && word.contains(['d', 'c'])
    });
    let ending = COMPRESSORS.iter().find(|(name, _)| *name == program);
    if let (Some((_, ending)), false) = (ending, unpacks) {
        for file in plain(words) {
            io.uses(file, Access::Read);
            io.saves.push(format!("{file}{ending}"));
        }
        // Without a file it packs what flows through.
        io.prints = io.saves.is_empty();
        return true;
    }
    false
}

fn archives(program: &str, words: &[&str], io: &mut Io) {
    if compresses(program, words, io) {
        return;
    }
    if matches!(program, "dpkg" | "dpkg-deb") {
        unpacks_deb(words, io);
        return;
    }
    let tar = program.ends_with("tar");
    let letters = words
        .first()
        .filter(|_| tar)
        .map_or("", |w| w.trim_start_matches('-'));
    let letter = |c: char| {
        !letters.starts_with('-') && letters.contains(c)
            || words
                .iter()
                .any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains(c))
    };
    // `gzip -dc`, `xz -cd`
    let compressor = COMPRESSORS.iter().any(|(name, _)| program.ends_with(name));
    let shows = has(words, &["--to-stdout", "-p", "-c", "-so", "--stdout"]) && !tar
        || (compressor || program == "gunzip") && letter('c')
        || tar && (letter('O') || has(words, &["--to-stdout"]));
    let lists = tar && (letter('t') || has(words, &["--list"]))
        || has(words, &["-l", "-Z"]) && program == "unzip"
        || words
            .first()
            .is_some_and(|w| matches!(*w, "t" | "l" | "tf"));
    let creates = tar && (letter('c') || has(words, &["--create"]));
    if creates {
        return;
    }
    let archive = if tar {
        // `tar xzf FILE`, `tar -x -f FILE`; without `f` it reads the standard input.
        let named = values(words, &["-f", "--file"]).first().copied();
        let bundled = letter('f').then(|| {
            plain(words).nth(usize::from(
                words.first().is_some_and(|w| !w.starts_with('-')),
            ))
        });
        named.or(bundled.flatten()).filter(|w| *w != "-")
    } else {
        // `7z x FILE`, `ar p FILE`
        let command = words
            .first()
            .is_some_and(|w| w.len() <= 2 && !w.starts_with('-'));
        plain(words).nth(usize::from(command))
    };
    if let Some(archive) = archive.filter(|_| shows) {
        prints_members(archive, words, io);
    }
    match archive {
        Some(archive) => io.uses(archive, if lists { Access::List } else { Access::Read }),
        None if !shows && !lists => io.stdin = Stdin::Saved,
        None => {}
    }
    if shows || lists {
        return;
    }
    io.prints = false;
    let directory = values(words, &["-C", "--directory", "-d", "-DestinationPath"])
        .first()
        .copied();
    let stripped = words.iter().any(|w| w.starts_with("--strip"));
    match (directory, archive) {
        (Some(directory), _) => {
            io.saves.push(directory.to_owned());
            io.replaces = true;
        }
        (None, _) if stripped => {
            io.saves.push(".".to_owned());
            io.replaces = true;
        }
        (None, Some(archive)) => {
            io.saves.push(stem(archive).to_owned());
            if program == "ar" {
                io.saves.push("data.tar*".to_owned());
            }
            if archive.ends_with(".tgz") {
                // What npm packs.
                io.saves.push("package".to_owned());
            }
            io.saves.push("./*".to_owned());
        }
        (None, None) => io.saves.push("./*".to_owned()),
    }
}

/// A member of an archive elsewhere that is printed: `tar xOf /opt/x.tgz a/b.patch`.
fn prints_members(archive: &str, words: &[&str], io: &mut Io) {
    let named = |word: &&str| *word != archive && word.contains(['.', '/']);
    let members = plain(words).filter(|word| archive.starts_with('/') && named(word));
    for member in members.take(MAX_ROOTS) {
        io.uses(&format!("{archive}/{member}"), Access::Read);
    }
}

/// `dpkg -x FILE DIRECTORY`, `dpkg-deb --fsys-tarfile FILE`, `dpkg -c FILE`.
fn unpacks_deb(words: &[&str], io: &mut Io) {
    let takes = has(
        words,
        &["-x", "-X", "-R", "--extract", "--vextract", "--raw-extract"],
    );
    let shows = has(words, &["--fsys-tarfile", "--ctrl-tarfile"]);
    let lists = has(
        words,
        &["-c", "--contents", "-I", "--info", "-f", "--field"],
    );
    let mut rest = plain(words);
    let Some(archive) = rest.next().filter(|_| takes || shows || lists) else {
        return;
    };
    let access = if lists { Access::List } else { Access::Read };
    io.uses(archive, access);
    if takes {
        io.saves.extend(rest.next().map(str::to_owned));
        io.replaces = true;
        io.prints = false;
    }
}

/// `split -l 50 FILE PREFIX`, `csplit -f PREFIX FILE PATTERN`: files whose names begin with the prefix.
fn splits(program: &str, words: &[&str], io: &mut Io) {
    let options: &[&str] = match program {
        "csplit" => &["-b", "-n", "--digits", "--suffix-format", "-f", "--prefix"],
        _ => &[
            "-a",
            "-b",
            "-C",
            "-l",
            "-n",
            "--suffix-length",
            "--bytes",
            "--lines",
            "--number",
            "-t",
        ],
    };
    let taken = values(words, options);
    let mut plain = plain(words).filter(|word| !taken.contains(word));
    let Some(file) = plain.next() else { return };
    let prefix = match program {
        "csplit" => values(words, &["-f", "--prefix"])
            .first()
            .copied()
            .unwrap_or("xx"),
        _ => plain.next().unwrap_or("x"),
    };
    io.uses(file, Access::Read);
    io.saves.push(format!("{prefix}*"));
    io.prints = false;
}

/// `python -m zipfile -e ARCHIVE DIRECTORY`, and `tarfile`.
fn unpacks(words: &[&str], io: &mut Io) -> bool {
    let [
        "-m",
        "zipfile" | "tarfile",
        "-e" | "--extract",
        archive,
        rest @ ..,
    ] = words
    else {
        return false;
    };
    io.uses(archive, Access::Read);
    io.saves
        .push(rest.first().copied().unwrap_or(stem(archive)).to_owned());
    io.replaces = true;
    io.prints = false;
    true
}

/// The name of an archive without directory and extension: what it most often unpacks to.
fn stem(archive: &str) -> &str {
    let name = archive.rsplit('/').next().unwrap_or(archive);
    let mut stem = name;
    while let Some((head, extension)) = stem.rsplit_once('.') {
        let known = matches!(
            extension,
            "tar"
                | "gz"
                | "tgz"
                | "xz"
                | "bz2"
                | "zst"
                | "zip"
                | "whl"
                | "jar"
                | "crate"
                | "gem"
                | "7z"
                | "deb"
                | "orig"
        );
        if !known || head.is_empty() {
            break;
        }
        stem = head;
    }
    stem
}

fn patches(words: &[&str], io: &mut Io) {
    io.applies = true;
    let input = values(words, &["-i", "--input"]);
    let plain: Vec<&str> = plain(words).filter(|w| !input.contains(w)).collect();
    // `patch FILE PATCH`
    let patch = input.first().copied().or_else(|| plain.get(1).copied());
    match patch {
        Some(patch) => io.uses(patch, Access::Read),
        None => io.stdin = Stdin::Applied,
    }
}

fn other(invocation: &Invocation, words: &[&str], io: &mut Io) {
    if let Some(git) = GitCall::parse(invocation) {
        of_git(&git, words, io);
        return;
    }
    match invocation.program.as_str() {
        // `gh repo clone owner/name [directory]`
        "gh" | "glab" | "hub" if has(words, &["clone"]) => {
            let mut places = plain(words).skip_while(|w| *w != "clone").skip(1);
            let address = places.next().unwrap_or_default();
            let name = address.trim_end_matches(".git").rsplit('/').next();
            io.saves.extend(places.next().or(name).map(str::to_owned));
            io.prints = false;
        }
        "gh" if has(words, &["release"]) && has(words, &["download"]) => release_files(words, io),
        "split" | "gsplit" | "csplit" => {
            splits(invocation.program.trim_start_matches('g'), words, io)
        }
        "svn" => subversion(words, io),
        "hg" | "jj" => other_histories(words, io),
        "touch" | "chmod" | "chown" => plain(words).for_each(|w| io.uses(w, Access::Write)),
        "./" => {}
        program if program.ends_with(".sh") || program.ends_with(".py") => {
            io.uses(program, Access::Run);
        }
        _ => plain(words).for_each(|w| io.uses(w, Access::Run)),
    }
}

fn of_git(git: &GitCall, words: &[&str], io: &mut Io) {
    let after_verb = || {
        let at = words
            .iter()
            .position(|w| *w == git.verb)
            .map_or(0, |at| at + 1);
        words.get(at..).unwrap_or_default()
    };
    match git.verb.as_str() {
        "apply" | "am" => {
            let rest = after_verb();
            // `--stat` and `--check` change nothing.
            let harmless = has(rest, &["--stat", "--check", "--numstat", "--summary"])
                && !has(rest, &["--apply"]);
            let control = has(rest, &["--abort", "--continue", "--skip", "--quit"]);
            let files: Vec<&str> = plain(rest).filter(|w| *w != "-").collect();
            io.applies = !harmless && !control;
            files.iter().for_each(|w| io.uses(w, Access::Read));
            if files.is_empty() && io.applies {
                io.stdin = Stdin::Applied;
            }
        }
        "diff" if has(words, &["--no-index"]) => {
            plain(after_verb()).for_each(|w| io.uses(w, Access::Read));
        }
        "rm" => plain(after_verb()).for_each(|w| io.uses(w, Access::Delete)),
        _ => {}
    }
    if let Some(aside) = &git.aside {
        io.saves.push(aside.clone());
        io.prints = false;
    }
}
