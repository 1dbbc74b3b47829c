//! The binary of the server; `bahay help` lists its commands.

use std::process::ExitCode;

/// mimalloc. A move makes many small allocations; with this allocator it takes an eighth to a
/// quarter less processor time than with that of the C library, measured in alternating runs
/// (docs/PERFORMANCE.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    disable_huge_pages();
    bahay::cli::main()
}

/// Disables transparent huge pages for this process, which the allocator would ask for. The first
/// use of one clears 2 MiB, which took a quarter of the processor time when a thousand clients
/// reconnected at once, and the memory of a table varied between runs. A move costs no more without
/// them (docs/PERFORMANCE.md).
#[cfg(target_os = "linux")]
fn disable_huge_pages() {
    // A kernel without this setting keeps its default, which is correct as well.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

#[cfg(not(target_os = "linux"))]
fn disable_huge_pages() {}
