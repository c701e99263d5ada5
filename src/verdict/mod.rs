//! The verdict: a pure function of one struct of measurements and one policy.
//!
//! [`judge::judge`] reads the table of `clauses` over [`measures::Measures`] with the numbers of a
//! [`policy::Policy`]; [`explain`] says in words which clause was met, by what, and which was missed by
//! how much. Nothing here reads a file but the policy, and nothing looks at the clock.

pub mod check;
pub mod clauses;
mod derived;
mod evidence;
pub mod explain;
pub mod judge;
pub mod measures;
pub mod peers;
pub mod policy;
pub mod words;
