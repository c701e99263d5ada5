//! Every bound of the command reader in one place.
//!
//! Command texts are written by the audited party. Each bound below stops one way of making the
//! reader slow or its output large; whenever one is hit, [`super::CommandLine::incomplete`] is set,
//! so that nothing is cut silently.

/// Deepest nesting of groups, substitutions, scripts in scripts and function calls together.
///
/// Also the bound on Rust recursion: the parser and the evaluator recurse once per level.
pub(crate) const MAX_NESTING: usize = 32;

/// Nodes (commands, words and their parts) of the tree with which a part of a text is taken up.
pub(crate) const PART_OF_TREE: usize = 1 << 13;

/// Memory that a node takes, roughly, in bytes.
pub(crate) const NODE_SIZE: usize = 100;

/// Most nodes of one tree: a pipeline or group that has more is cut. The
/// tests reach a smaller bound sooner.
pub(crate) const MAX_TREE: usize = if cfg!(test) { 1 << 15 } else { 1 << 19 };

/// Memory allowed for what is noted of every command text, in bytes, whatever its length.
pub(crate) const BASE_ROOM: usize = 64 << 20;

/// Memory allowed for each byte of the command text.
pub(crate) const ROOM_PER_BYTE: usize = 16;

/// Most words of one command after expansion.
pub(crate) const MAX_FIELDS: usize = 1 << 18;

/// Longest text that one word may grow to through expansions, in bytes.
pub(crate) const MAX_WORD: usize = 1 << 16;

/// Work allowed for every command text, in bytes read or produced, whatever its length.
pub(crate) const BASE_BUDGET: usize = 1 << 18;

/// Work allowed for each byte of the command text. A byte is read or copied once per level it is
/// nested in; commands of one letter (`a;`) just fit.
pub(crate) const BUDGET_PER_BYTE: usize = 24;

/// Work that starting one command counts for, besides its text.
pub(crate) const COMMAND_COST: usize = 20;

/// Work that one step through the tree counts for: a pipeline, a round of a loop.
pub(crate) const STEP_COST: usize = 8;

/// Work that copying one word of an array or parameter list counts for, besides its text.
pub(crate) const FIELD_COST: usize = 32;

/// Work that matching one pattern against program names counts for.
pub(crate) const GLOB_COST: usize = 512;

/// Most alternatives made from one word with braces (`{a,b}{c,d}`).
pub(crate) const MAX_BRACE_WORDS: usize = 64;

/// Most rounds of a `for` loop over literal words that are told apart.
pub(crate) const MAX_LOOP_ROUNDS: usize = 16;

/// Most redirections of a group that are handed down to the commands in it.
pub(crate) const MAX_GROUP_REDIRECTS: usize = 8;

/// Layers of encoding (`base64 -d | base64 -d | sh`) that are taken off.
pub(crate) const MAX_DECODE_DEPTH: u8 = 3;

/// Longest text a decoder or a simulated filter may produce, in bytes.
pub(crate) const MAX_DECODED: usize = 1 << 20;

/// Most aliases resolved in a row for one command.
pub(crate) const MAX_ALIAS_STEPS: usize = 8;

/// Longest directory that is tracked through `cd`, in bytes (`PATH_MAX` of Linux).
pub(crate) const MAX_DIRECTORY: usize = 4096;

/// The work, or the memory, left for one command text.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
    exhausted: bool,
}

impl Budget {
    /// The budget of a command text of `length` bytes.
    pub(crate) fn for_length(length: usize, per_byte: usize, base: usize) -> Self {
        Self {
            left: length.saturating_mul(per_byte).saturating_add(base),
            exhausted: false,
        }
    }

    /// Takes `cost` from it; false once it is used up.
    pub(crate) fn spend(&mut self, cost: usize) -> bool {
        match self.left.checked_sub(cost) {
            Some(left) if !self.exhausted => {
                self.left = left;
                true
            }
            _ => {
                self.exhausted = true;
                false
            }
        }
    }

    /// Refuses everything from now on.
    pub(crate) fn use_up(&mut self) {
        self.exhausted = true;
    }

    /// True once something was refused.
    pub(crate) fn exhausted(&self) -> bool {
        self.exhausted
    }
}
