//! Tells cargo that a new migration is a reason to build again.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
