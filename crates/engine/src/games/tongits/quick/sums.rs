//! Sums of a network, many at once, with what every processor has for that: weights as they lie for
//! it, and the steps from one layer to the next.

#[cfg(any(test, feature = "testing"))]
use alloc::vec::Vec;

use wide::{i16x8, i16x16, i32x8};

/// What one is, as an input.
pub const ONE: i16 = 128;

/// What one is, as a weight.
pub const WEIGHT_ONE: i16 = 1_024;

/// Numbers that are summed at once.
pub(super) const LANES: usize = 8;

/// Multiplying by what one is, as an input, and dividing by what it is, as a weight.
pub(super) const ONE_BITS: u32 = ONE.trailing_zeros();
const WEIGHT_ONE_BITS: u32 = WEIGHT_ONE.trailing_zeros();

/// Two weights beside each other, of two numbers that are heard together.
pub(super) type Pair = [i16; 2];

/// So many weights from there on.
pub(super) const fn row<const LENGTH: usize>(weights: &[i16], from: usize) -> [i16; LENGTH] {
    let (_, rest) = weights.split_at(from);
    *rest.first_chunk().expect("a row lies among the weights")
}

/// As many rows as are asked for, one after the other.
pub(super) const fn rows<const LENGTH: usize, const ROWS: usize>(
    weights: &[i16],
    from: usize,
) -> [[i16; LENGTH]; ROWS] {
    let mut rows = [[0; LENGTH]; ROWS];
    let mut place = 0;
    while place < ROWS {
        rows[place] = row(weights, from + place * LENGTH);
        place += 1;
    }
    rows
}

/// What in a file lies by who hears it, each with so many weights, by pairs of what is heard.
pub(super) const fn pair_rows<const UNITS: usize, const PAIRS: usize>(
    weights: &[i16],
    from: usize,
    each: usize,
) -> [[Pair; UNITS]; PAIRS] {
    let mut paired = [[[0; 2]; UNITS]; PAIRS];
    let mut place = 0;
    while place < UNITS * PAIRS {
        let (unit, pair) = (place / PAIRS, place % PAIRS);
        paired[pair][unit] = row(weights, from + each * unit + 2 * pair);
        place += 1;
    }
    paired
}

/// By who hears it again: all of the first, then all of the second, and so on.
#[cfg(any(test, feature = "testing"))]
pub(super) fn unpair_rows<const UNITS: usize>(pairs: &[[Pair; UNITS]]) -> Vec<i16> {
    (0..UNITS).flat_map(|unit| pairs.iter().flat_map(move |pair| pair[unit])).collect()
}

/// Adds what all hear of two numbers.
pub(super) fn add_products(sums: &mut [i32x8], weights: &[Pair], numbers: Pair) {
    let numbers = splat_pair(numbers);
    for (sum, weights) in sums.iter_mut().zip(weights.as_flattened().as_chunks().0) {
        *sum += i16x16::new(*weights).dot(numbers);
    }
}

/// Adds a weight for each sum, as heard at one.
pub(super) fn add_weights(sums: &mut [i32x8], weights: &[i16]) {
    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks().0) {
        *sum += i32x8::from_i16x8(i16x8::new(*weights)) << ONE_BITS;
    }
}

/// Two numbers, for the two weights of each who hears them.
pub(super) fn splat_pair(numbers: Pair) -> i16x16 {
    // As one number of 32 bits, which processors write everywhere at once.
    bytemuck::must_cast(i32x8::splat(bytemuck::must_cast(numbers)))
}

/// The values of hidden places: nothing negative, and nothing above the end.
pub(super) fn activate(sums: i32x8, most: i16) -> i16x8 {
    // What is too large for 16 bits is above the end.
    let values = i16x8::from_i32x8_saturate(sums >> WEIGHT_ONE_BITS);
    values.max(i16x8::ZERO).min(i16x8::splat(most))
}
