//! The one binary of the house; `bahay help` lists what it does.

use std::process::ExitCode;

/// A move makes many small allocations. In turns with the C library's, this one took an eighth to a
/// quarter off the processor time of a move: see docs/PERFORMANCE.md.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bahay::cli::main()
}
