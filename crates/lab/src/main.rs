//! The binary of the laboratory; `bahay-lab help` lists its commands.

use std::process::ExitCode;

/// mimalloc, as in the server: a load tester should cost little beside it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bahay_lab::cli::main()
}
