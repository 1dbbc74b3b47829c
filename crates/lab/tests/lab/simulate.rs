//! The statistics of simulated games, as printed.

use std::process::Command;

#[test]
fn simulate_says_the_same_for_the_same_seed() {
    let run = |seed: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bahay-lab"));
        command.args(["simulate", "--games", "60", "--rough", "--seed", seed]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run("8");
    assert!(first.contains("ends by"), "{first}");
    assert_eq!(first, run("8"));
    assert_ne!(first, run("9"));
}
