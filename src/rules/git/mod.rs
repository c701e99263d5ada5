//! What a git command reaches and what comes out of it.
//!
//! Looking at history is honest work; looking at history that is later than the base is not, and
//! the sub-command does not tell one from the other. So a git command is taken apart ([`call`]),
//! its revisions are classified by where they lead ([`reach`]), and what earlier outputs showed is
//! remembered ([`history`]): a commit that a log of `HEAD` printed is an ancestor, one that only a
//! log of all references printed is not.

pub mod call;
pub mod dates;
pub mod history;
pub mod reach;
pub mod version;
