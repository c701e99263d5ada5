//! From the inputs of one run to its facts, and from facts to verdicts.
