//! Exposure and ledger: who wrote each line of the final patch, and where it came from.
//!
//! [`Tracker`] takes the events of a run one by one and follows the lines of the GT and of the patch
//! through them. It answers two questions that no comparison of patches can: was the agent *shown* the
//! reference before it wrote it (E, X, exposures), and did it *type* what it hands in (the ledger,
//! `shared_typed`)? The first convicts without any rule, an unknown mirror as well as a pasted file; the
//! second acquits.
//!
//! Lines are compared without white space, so diff signs, line numbers and indentation do not matter.
//! Lines of fewer than eight bytes are not followed: a bracket is nobody's.

mod carriers;
mod changes;
mod concern;
mod copies;
mod cutting;
mod derived;
mod directory;
mod diverted;
mod follows;
mod given;
mod handed;
mod history;
mod imports;
mod layers;
mod ledger;
mod lines;
mod looks;
pub mod model;
mod needles;
mod opaque;
mod own;
mod parts;
mod paths;
mod programs;
mod ranges;
mod reads;
mod revisions;
mod scope;
mod scripts;
mod spelled;
mod start;
mod substitutions;
mod takes;
mod templates;
mod temporary;
mod totals;
mod tracker;
mod turns;
mod unexplained;
mod views;
mod writes;

pub use model::{AddedFile, AddedLine, Inputs};
pub use opaque::OpaqueCopy;
pub use parts::Parts;
pub use tracker::Tracker;

#[cfg(test)]
mod tests;
