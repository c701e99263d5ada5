//! Exposure and ledger: who wrote each line of the final patch, and where it came from.

pub mod model;
