//! The verdict: a pure function of one struct of measurements and one policy.

pub mod measures;
pub mod policy;
