//! What the program prints, word for word: one file a case in `tests/cmd`.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test --test cli` writes the new output; the
//! diff is the review.

#[test]
fn golden() {
    trycmd::TestCases::new().case("tests/cmd/*.toml");
}
