//! Prints openapi.yaml.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("openapi") => match bahay_api::openapi(bahay_api::operations()).to_yaml() {
            Ok(document) => print!("{document}"),
            Err(error) => {
                eprintln!("bahay-api: {error}");
                return ExitCode::FAILURE;
            }
        },
        _ => {
            eprintln!("usage: bahay-api openapi");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
