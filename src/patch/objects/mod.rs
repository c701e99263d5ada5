//! The one safe way into the git objects of a run.
//!
//! The party under audit owns the run directory, and git executes what a repository's configuration names:
//! `core.fsmonitor`, `diff.external`, filters, hooks, pagers, credential helpers. So git never runs *in* the
//! run. A git directory of our own, in a temporary directory, borrows the run's packs and loose objects one by
//! one, after a look at each ([`ObjectStore`]); `git cat-file` is started there with an empty environment.
//! HEAD, refs and reflogs are read as plain files. Every object is hashed and compared with its name. The
//! index, attributes, ignore files and configuration of the run are never read.
//!
//! What happens with unusual repositories (`tests/patch/objects.rs`, `hostile.rs` and `verdicts.rs` show it, all but
//! the two minutes' wait):
//!
//! | what | what happens |
//! |---|---|
//! | configuration, hooks, filters, attributes, aliases, pager of the run | not read; nothing runs |
//! | `GIT_*` variables of the caller | dropped |
//! | SHA-256 repository | read |
//! | shallow clone | read; history ends where it was cut |
//! | partial clone | a missing object is a missing object; nothing is fetched |
//! | reftable | refs not readable; a base commit known from elsewhere works |
//! | `.git` is a file (worktree, submodule) | followed inside the run, else refused and listed |
//! | `.git`, `objects`, a pack, a loose object is a link | refused and listed |
//! | alternates | followed inside the run, else refused and listed |
//! | a pipe, socket or device among the objects | left out and listed; never opened |
//! | replace refs, grafts, commit-graph, multi-pack index | not read |
//! | paths with line feeds, quotes, bytes that are no UTF-8 | read |
//! | damaged pack or object | unreadable, the rest is read |
//! | forged object (content and name differ) | refused |
//! | enormous object | size is asked first; above 64 MiB not unpacked |
//! | a tree that contains itself many times over | refused above 2,000,000 entries |
//! | git hangs | ended after 120 s without an answer |
//! | `.git` owned by another user | read; there is no ownership check to fail |
//! | stashes, dropped commits, branches | read for lines of the GT, as evidence; never work (`patch::history`) |
//! | no git program, no `.git` | "history unreadable": plain base tree, or base unknown |
//!
//! Why the git program and not a library: it is needed for the benchmark anyway, reads every pack version and
//! hash, and its object reader has been attacked for longer than any other. The libraries for Rust were
//! weighed: they bring some seventy crates for what is one process and a few hundred lines here.

mod batch;
pub mod commit;
pub mod id;
mod locate;
mod private;
pub mod refs;
mod store;

pub use locate::GitDir;
pub use store::ObjectStore;
