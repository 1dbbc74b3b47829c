//! Prints openapi.yaml or asyncapi.yaml.

use std::process::ExitCode;

fn main() -> ExitCode {
    let document = match std::env::args().nth(1).as_deref() {
        Some("openapi") => bahay_api::openapi().to_yaml().expect("the document can be serialized"),
        Some("asyncapi") => bahay_api::socket::asyncapi_yaml(),
        _ => {
            eprintln!("usage: bahay-api openapi|asyncapi");
            return ExitCode::FAILURE;
        }
    };
    print!("{document}");
    ExitCode::SUCCESS
}
