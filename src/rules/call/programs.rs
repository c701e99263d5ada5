//! What common programs do with their arguments. Names of a new client, pager or archiver go here.
//!
//! A program that stands in no table is assumed to *use* the files that it names without showing
//! them, so that an unknown program accuses nobody.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Shows the contents of files.
    Reads,
    /// The same, and its first argument is a pattern or a script, no file.
    Filters,
    /// Shows names, sizes, checksums.
    Lists,
    /// Copies or moves files to its last argument.
    Copies,
    /// Removes files.
    Removes,
    /// Writes its standard input to files and passes it on.
    Tees,
    /// Packs and unpacks.
    Archives,
    /// Gets addresses from the network.
    Downloads,
    /// Changes the work tree by a patch.
    Patches,
    /// Executes files.
    Runs,
    /// Installs or downloads packages and images.
    Installs,
    /// Shows its arguments as they are: they are data.
    Speaks,
    /// Something else.
    Other,
}

#[rustfmt::skip]
const TABLE: &[(Class, &[&str])] = &[
    (Class::Reads, &[
            "cat", "tac", "head", "tail", "less", "more", "most", "nl", "bat", "batcat", "ccat",
            "rev", "cut", "sort", "uniq", "column", "fold", "fmt", "pr", "paste", "join", "xxd",
            "hexdump", "hd", "od", "strings", "base64", "base32", "zcat", "gzcat", "xzcat",
            "bzcat", "zstdcat", "zless", "zmore", "lz4cat", "view", "vi", "vim", "nvim", "nano",
            "emacs", "ed", "ex", "code", "diff", "colordiff", "delta", "cmp", "comm", "sdiff",
            "vimdiff", "meld", "icdiff", "difft", "iconv", "expand", "unexpand", "dos2unix",
            "pygmentize", "highlight", "glow", "mdcat", "type", "get-content", "gc", "uncompyle6",
            "decompyle3", "pycdc", "javap", "ilspycmd", "monodis", "cfr", "procyon", "jadx", "fernflower", "objdump", "nm", "rpm2cpio", "interdiff",
            "filterdiff", "lsdiff", "tr", "xargs", "parallel", "dd",
        ]),
    (Class::Filters, &[
            "grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "rg", "ag", "ack", "ugrep",
            "pt", "sift", "findstr", "select-string", "sls", "sed", "gsed", "awk", "gawk", "mawk",
            "nawk", "jq", "yq", "xq", "jaq", "xmllint", "pup", "htmlq", "ast-grep", "sg", "comby",
        ]),
    (Class::Lists, &[
            "ls", "dir", "vdir", "tree", "find", "gfind", "fd", "fdfind", "stat", "file", "du",
            "wc", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha512sum", "shasum", "b2sum",
            "cksum", "sum", "test", "[", "[[", "basename", "dirname", "realpath", "readlink",
            "which", "whereis", "locate", "exa", "eza", "lsd", "get-childitem", "gci",
            "test-path", "get-filehash", "cloc", "tokei", "scc",
        ]),
    (Class::Copies, &[
            "cp", "gcp", "mv", "ln", "install", "rsync", "scp", "ditto", "copy", "xcopy",
            "robocopy", "copy-item", "move-item",
        ]),
    (Class::Removes, &["rm", "grm", "unlink", "shred", "rmdir", "truncate", "del", "erase", "remove-item", "srm"]),
    (Class::Tees, &["tee", "sponge"]),
    (Class::Archives, &[
            "tar", "gtar", "bsdtar", "unzip", "zip", "7z", "7za", "7zr", "jar", "gunzip", "gzip",
            "unxz", "xz", "bunzip2", "bzip2", "unzstd", "zstd", "ar", "cpio", "dpkg-deb", "unrar",
            "unar", "expand-archive", "dpkg",
        ]),
    (Class::Downloads, &[
            "curl", "curlie", "wget", "wget2", "http", "https", "xh", "xhs", "httpie", "aria2c",
            "axel", "lynx", "links", "links2", "elinks", "w3m", "lwp-request", "lwp-download",
            "get", "fetch", "iwr", "irm", "invoke-webrequest", "invoke-restmethod",
            "start-bitstransfer", "bitsadmin", "hurl", "snarf", "saldl", "trurl", "nc", "ncat",
            "netcat", "socat", "telnet", "openssl", "ftp", "lftp", "yt-dlp", "gdown", "puf",
            "httrack", "monolith", "trafilatura", "websocat", "playwright", "chromium",
            "google-chrome", "firefox",
        ]),
    (Class::Patches, &["patch", "gpatch"]),
    (Class::Runs, &[
            "python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "bun",
            "ruby", "perl", "php", "lua", "rscript", "julia", "bash", "sh", "zsh", "dash", "ksh",
            "fish", "source", ".", "pwsh", "powershell", "tsx", "ts-node", "pytest", "py.test",
            "tox", "nox", "make", "gmake", "ninja", "go", "cargo", "mvn", "gradle", "gradlew",
            "jest", "mocha", "vitest", "java", "rustc", "gcc", "g++", "clang", "cc", "cmake",
        ]),
    (Class::Installs, &[
            "pip", "pip2", "pip3", "pipx", "uv", "uvx", "poetry", "pdm", "conda", "mamba",
            "micromamba", "easy_install", "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "gem",
            "bundle", "composer", "nuget", "dotnet", "apt", "apt-get", "aptitude", "dnf", "yum",
            "zypper", "apk", "pacman", "brew", "port", "nix", "nix-build", "nix-shell", "docker", "podman", "nerdctl",
            "skopeo", "crane", "regctl", "oras", "buildah", "kubectl", "hf", "huggingface-cli",
            "mix", "cabal", "opam", "luarocks", "cpan", "cpanm", "dart", "flutter", "conan", "vcpkg",
            "degit", "tiged", "giget", "gitpick",
        ]),
    (Class::Speaks, &[
            "echo", "printf", "print", "write-output", "write-host", "say", "cowsay", "figlet",
            "banner", "logger", "notify-send", "alias", "true", "false", ":", "export", "set",
            "declare", "local", "readonly", "unset", "man", "tldr", "help", "info",
        ]),
];

static BY_NAME: LazyLock<HashMap<&str, Class>> = LazyLock::new(|| {
    let of = |(class, names): &(Class, &'static [&'static str])| {
        let class = *class;
        names.iter().map(move |name| (*name, class))
    };
    TABLE.iter().flat_map(of).collect()
});

/// What the program does. The name is compared without case and without `.exe`.
pub fn class(program: &str) -> Class {
    let lower = program.to_ascii_lowercase();
    let name = lower.strip_suffix(".exe").unwrap_or(&lower);
    BY_NAME.get(name).copied().unwrap_or_else(|| {
        // python3.12, pip3.11
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match stem {
            "python" | "pypy" | "ruby" | "perl" | "node" if stem.len() < name.len() => Class::Runs,
            "pip" if stem.len() < name.len() => Class::Installs,
            _ => Class::Other,
        }
    })
}

/// True for programs that reduce what they read to numbers.
pub fn counts(program: &str) -> bool {
    matches!(
        program,
        "wc" | "md5sum"
            | "sha1sum"
            | "sha256sum"
            | "sha512sum"
            | "shasum"
            | "cksum"
            | "sum"
            | "b2sum"
            | "true"
            | ":"
    )
}

/// True for shells.
pub fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "source" | "."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_their_variants() {
        for (program, expected) in [
            ("cat", Class::Reads),
            ("curl.exe", Class::Downloads),
            ("Get-Content", Class::Reads),
            ("python3.12", Class::Runs),
            ("pip3.11", Class::Installs),
            ("node", Class::Runs),
            ("frobnicate", Class::Other),
        ] {
            assert_eq!(class(program), expected, "{program}");
        }
    }

    #[test]
    fn no_program_stands_in_two_tables() {
        let mut all: Vec<&str> = TABLE.iter().flat_map(|(_, n)| n.iter().copied()).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
