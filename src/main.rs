//! The one binary of the house; `bahay help` lists what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    bahay::cli::main()
}
