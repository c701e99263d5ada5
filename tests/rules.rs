//! x
#[test]
fn selftest() {
    let set = match trace_audit::rules::RuleSet::builtin() { Ok(s) => s, Err(e) => panic!("{e}") };
    let report = set.selftest();
    for f in &report.failed { println!("{f:?}"); }
    println!("passed {} failed {} untested {:?} rules {}", report.passed, report.failed.len(), report.untested, set.rules().len());
    assert!(report.ok());
}
