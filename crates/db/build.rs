//! Makes cargo rebuild after a change of the migrations, which are built into the program.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
