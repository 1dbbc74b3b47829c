//! Direct writers of JSON: the answers of steps are frequent and mostly numbers.

use alloc::string::String;

use serde::Serialize;

/// Appends a value.
///
/// # Panics
///
/// Panics if the value cannot be represented in JSON, which does not occur for the engine's types.
pub(super) fn push_json(out: &mut String, value: &impl Serialize) {
    out.push_str(&serde_json::to_string(value).expect("the engine's types serialize to JSON"));
}

/// Appends the beginning of a field, which ends with its name, and a value.
pub(super) fn push_field(out: &mut String, beginning: &str, value: &impl Serialize) {
    out.push_str(beginning);
    push_json(out, value);
}

/// Appends a whole number.
pub(super) fn push_number(out: &mut String, number: u32) {
    if number >= 10 {
        self::push_number(out, number / 10);
    }
    let digit = u8::try_from(number % 10).expect("a digit is below ten");
    out.push(char::from(b'0' + digit));
}

/// Appends a list, whose elements are written by `each`.
pub(super) fn push_list<T>(
    out: &mut String,
    things: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (place, thing) in things.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        each(out, thing);
    }
    out.push(']');
}

/// Appends each number as four hexadecimal digits, the lower byte first. Works in chunks, because
/// tensors make up most of the output.
pub(super) fn push_hex(out: &mut String, numbers: &[i16]) {
    const PIECE: usize = 256;
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    let mut text = [[0; 4]; PIECE];
    out.reserve(4 * numbers.len());
    for piece in numbers.chunks(PIECE) {
        for (text, number) in text.iter_mut().zip(piece) {
            let [[a, b], [c, d]] = number.to_le_bytes().map(digits);
            *text = [a, b, c, d];
        }
        let written = text[..piece.len()].as_flattened();
        out.push_str(core::str::from_utf8(written).expect("hexadecimal digits are ASCII"));
    }
}
