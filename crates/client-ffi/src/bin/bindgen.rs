//! UniFFI's generator of bindings, in the version of the library's interface.

fn main() {
    uniffi::uniffi_bindgen_main();
}
