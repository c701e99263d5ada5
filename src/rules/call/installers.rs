//! Where package managers, forge clients and other version control put what they get.

use super::files::{plain, values};
use super::{Io, address};
use crate::rules::rule::Access;

/// Options of installers and archivers whose value is a place to write to.
const TARGET_OPTIONS: &[&str] = &[
    "-d",
    "--dest",
    "--destination-directory",
    "-t",
    "--target",
    "--prefix",
    "--root",
    "-o",
    "--output",
    "-O",
    "--outdir",
    "--pack-destination",
    "--destination",
    "--dest-dir",
    "--dir",
    "--local-dir",
    "--cwd",
    "-w",
    "--wheel-dir",
    "-eb",
    "--build-directory",
    "--out-link",
    "--cache-dir",
    "--output-dir",
    "--install-dir",
];

/// Packages of one command whose places are remembered.
const MAX_PACKAGES: usize = 64;

/// `pip install x -t DIR`, `npm install x`, `docker cp c:/a b`.
pub(super) fn installs(program: &str, words: &[&str], io: &mut Io) {
    if copies_repository(program, words, io) {
        return;
    }
    // `apt-get download widget` writes `widget_4.2.0_all.deb`, `dnf download widget` `widget-4.2.0.rpm`.
    let packs = words.contains(&"pack");
    let joins = match program {
        "npm" | "pnpm" | "yarn" if packs => Some('-'),
        "apt" | "apt-get" | "aptitude" => Some('_'),
        "dnf" | "yum" | "yumdownloader" | "zypper" => Some('-'),
        _ => None,
    };
    if let Some(joined) = joins
        && let Some(at) = words
            .iter()
            .position(|w| matches!(*w, "download" | "source" | "pack"))
    {
        let packages = plain(words.get(at..).unwrap_or_default());
        let names = packages.skip(1).take(MAX_PACKAGES);
        // npm writes `@owner/name@1.2` to `owner-name-1.2.tgz`.
        let bare = |name: &str| match packs {
            true => without_version(name)
                .trim_start_matches('@')
                .replace('/', "-"),
            false => name.split(['=', '/']).next().unwrap_or_default().to_owned(),
        };
        io.saves
            .extend(names.map(|name| format!("{}{joined}*", bare(name))));
    }
    for place in values(words, TARGET_OPTIONS) {
        io.saves.push(place.to_owned());
    }
    // Package managers that keep the sources in a directory of the project.
    let kept = match program {
        "npm" | "pnpm" | "yarn" | "bun" => Some("node_modules"),
        "composer" => Some("vendor"),
        _ => None,
    };
    let into = |w: &str| {
        matches!(
            w,
            "install" | "i" | "add" | "require" | "update" | "upgrade"
        )
    };
    if let (Some(directory), true) = (kept, words.iter().any(|w| into(w))) {
        let packages = plain(words).filter(|w| !into(w)).take(MAX_PACKAGES);
        io.saves
            .extend(packages.map(|package| format!("{directory}/{}", without_version(package))));
    }
    // `composer create-project owner/name [directory] [release]`, `cabal get name-1.2`, `mix hex.package fetch name 1.2`
    let mut rest = plain(words).skip_while(|w| {
        !matches!(
            *w,
            "create-project" | "get" | "unpack" | "fetch" | "source" | "download"
        )
    });
    match (rest.next(), rest.next(), rest.next()) {
        (Some("create-project"), Some(package), directory) => {
            let name = package.rsplit('/').next().unwrap_or(package);
            io.saves.push(directory.unwrap_or(name).to_owned());
        }
        (Some(_), Some(package), release)
            if matches!(program, "mix" | "cabal" | "opam" | "gem" | "luarocks") =>
        {
            let release = release.filter(|r| r.starts_with(|c: char| c.is_ascii_digit()));
            let bare = package.replace(['@', '='], "-");
            io.saves
                .push(release.map_or(bare, |release| format!("{package}-{release}")));
        }
        _ => {}
    }
    if matches!(program, "conda" | "mamba" | "micromamba") {
        io.saves
            .extend(values(words, &["-p"]).into_iter().map(str::to_owned));
    }
    let mut plain = plain(words);
    // `docker cp container:/a b`, `skopeo copy docker://x dir:/d`, `crane export x f`
    let copies = matches!(plain.next(), Some("cp" | "copy" | "export"));
    if let Some(target) = plain.last().filter(|_| copies) {
        let place = ["dir:", "oci:", "docker-archive:", "oci-archive:"]
            .iter()
            .find_map(|p| target.strip_prefix(p))
            .unwrap_or(target);
        io.saves.push(place.to_owned());
    }
}

/// Programs that copy the tree of a repository without its history.
const TREE_COPIERS: &[&str] = &["degit", "tiged", "giget", "gitpick"];

/// `npx degit owner/name#tag [directory]`. False if the call is none.
fn copies_repository(program: &str, words: &[&str], io: &mut Io) -> bool {
    let name = |word: &str| TREE_COPIERS.contains(&word.split('@').next().unwrap_or(word));
    let rest = match words.iter().position(|word| name(word)) {
        Some(at) => words.get(at + 1..).unwrap_or_default(),
        None if name(program) => words,
        None => return false,
    };
    let mut rest = rest.iter().copied().filter(|word| !word.starts_with('-'));
    let Some(source) = rest.next() else {
        return true;
    };
    let path = source.split('#').next().unwrap_or(source);
    let last = path.trim_end_matches('/').rsplit(['/', ':']).next();
    io.saves.extend(rest.next().or(last).map(str::to_owned));
    io.prints = false;
    true
}

/// `mvn dependency:get -Dartifact=x -Ddest=FILE`: where the files come to lie.
pub(super) fn built(words: &[&str], io: &mut Io) {
    let places = values(
        words,
        &["-Ddest", "-DoutputDirectory", "-Dmdep.outputDirectory"],
    );
    io.saves.extend(places.into_iter().map(str::to_owned));
}

/// `@scope/name@1.2`, `owner/name:1.2` as `@scope/name`, `owner/name`.
fn without_version(package: &str) -> &str {
    let from = usize::from(package.starts_with('@'));
    let tail = package.get(from..).unwrap_or_default();
    match tail.find(['@', ':']) {
        Some(at) => package.get(..from + at).unwrap_or(package),
        None => package,
    }
}

/// `gh release download TAG -R owner/name`: where the files come to lie.
pub(super) fn release_files(words: &[&str], io: &mut Io) {
    let named = values(words, &["-O", "--output", "-D", "--dir"]);
    if named.contains(&"-") {
        return;
    }
    io.saves.extend(named.iter().map(|w| (*w).to_owned()));
    let repo = values(words, &["-R", "--repo"]).first().copied();
    let archive = values(words, &["-A", "--archive"]).first().copied();
    let options = [repo, archive].map(Option::unwrap_or_default);
    let tag = plain(words)
        .skip_while(|w| *w != "download")
        .skip(1)
        .find(|w| !options.contains(w));
    if let (true, Some(repo), Some(archive), Some(tag)) = (named.is_empty(), repo, archive, tag) {
        let name = repo.rsplit('/').next().unwrap_or(repo);
        let release = tag.trim_start_matches('v');
        io.saves.push(format!("{name}-{release}.{archive}"));
    }
    io.prints = io.saves.is_empty();
}

/// `svn export ADDRESS [PATH]`.
pub(super) fn subversion(words: &[&str], io: &mut Io) {
    let options = values(
        words,
        &[
            "-c",
            "--change",
            "-r",
            "--revision",
            "-l",
            "--limit",
            "--depth",
        ],
    );
    let mut plain = plain(words).filter(|word| !options.contains(word));
    let verb = plain.next();
    let Some(source) = plain.next() else { return };
    io.fetches.extend(address::of_argument(source));
    if matches!(verb, Some("export" | "checkout" | "co")) {
        let name = source.trim_end_matches('/').rsplit('/').next();
        io.saves.extend(plain.next().or(name).map(str::to_owned));
        io.prints = false;
    }
}

/// Mercurial and Jujutsu: `clone` writes a copy, `-R` works in one.
pub(super) fn other_histories(words: &[&str], io: &mut Io) {
    for directory in values(words, &["-R", "--repository", "--cwd"]) {
        io.uses(directory, Access::Read);
    }
    let mut places = plain(words).skip_while(|w| *w != "clone").skip(1);
    if let Some(address) = places.next() {
        let name = address.trim_end_matches('/').rsplit(['/', ':']).next();
        io.saves.extend(places.next().or(name).map(str::to_owned));
        io.prints = false;
    }
}
