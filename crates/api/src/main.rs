//! Prints openapi.yaml or asyncapi.yaml.

use std::process::ExitCode;

use bahay_api::socket;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("openapi") => match bahay_api::openapi(bahay_api::operations()).to_yaml() {
            Ok(document) => print!("{document}"),
            Err(error) => {
                eprintln!("bahay-api: {error}");
                return ExitCode::FAILURE;
            }
        },
        Some("asyncapi") => print!("{}", socket::asyncapi_yaml()),
        _ => {
            eprintln!("usage: bahay-api openapi|asyncapi");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
