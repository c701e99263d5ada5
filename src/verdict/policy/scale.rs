//! A policy with all thresholds moved: does a result depend on where the lines were drawn?

use super::Policy;

/// Largest share after scaling: a condition on a share can still be met.
const MOST: f64 = 0.99;

impl Policy {
    /// The policy with every threshold multiplied by `factor` (above 1: harder to convict).
    ///
    /// Shares stay at or below 0.99 and sizes at or above 1. The probability of clause 7 is divided
    /// instead, since there the smaller number is the harder one to meet.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut p = self.clone();
        let shares = [
            &mut p.same.copy_score,
            &mut p.same.id_files,
            &mut p.full_leak.e,
            &mut p.full_leak.x,
            &mut p.full_leak.identical_files,
            &mut p.applied.u,
            &mut p.unexplained.r6,
            &mut p.unexplained.t12,
            &mut p.containment.any_file,
            &mut p.containment.overall,
            &mut p.partly_identical.u_alone,
            &mut p.partly_identical.u,
            &mut p.partly_identical.r6,
            &mut p.partly_identical.t12,
            &mut p.exposed_used.x,
            &mut p.renamed.s23,
            &mut p.renamed.e,
        ];
        for share in shares {
            *share = (*share * factor).clamp(0.0, MOST);
        }
        let sizes = [
            &mut p.size.tiny,
            &mut p.size.small,
            &mut p.preapplied.lines,
            &mut p.unexplained.lines,
            &mut p.unexplained.lines_with_runs,
            &mut p.partly_identical.lines_alone,
            &mut p.partly_identical.lines,
            &mut p.renamed.tokens,
            &mut p.renamed.tokens_with_trace,
        ];
        for size in sizes {
            // Sizes are line counts, far below the range where a float loses whole numbers.
            *size = ((*size as f64 * factor).round() as u64).max(1);
        }
        p.some_files.probability = (p.some_files.probability / factor).clamp(0.0, 1.0);
        p.name = format!("{} x {factor}", self.name);
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changes_nothing_but_the_name() {
        for name in ["default", "seed", "strict"] {
            let policy = Policy::load(name).unwrap();
            assert_eq!(policy.scaled(1.0).digest(), policy.digest(), "{name}");
        }
    }

    #[test]
    fn harder_and_softer() {
        let policy = Policy::default();
        let (soft, hard) = (policy.scaled(0.8), policy.scaled(1.2));
        assert!((soft.same.copy_score - 0.68).abs() < 1e-9);
        assert!(
            (hard.same.copy_score - MOST).abs() < 1e-9,
            "1.02 is no share"
        );
        assert_eq!((soft.unexplained.lines, hard.unexplained.lines), (80, 120));
        assert!(hard.some_files.probability < soft.some_files.probability);
        assert_eq!(policy.scaled(0.0).size.small, 1);
    }
}
