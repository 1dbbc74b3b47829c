//! Vectorized sums of a network: the layout of the weights, and the steps from one layer to the
//! next.

#[cfg(any(test, feature = "testing"))]
use alloc::vec::Vec;

use wide::{i16x8, i16x16, i32x8};

/// The fixed-point representation of one, as an input.
pub const ONE: i16 = 128;

/// The fixed-point representation of one, as a weight.
pub const WEIGHT_ONE: i16 = 1_024;

/// The number of sums per vector.
pub(super) const LANES: usize = 8;

/// The shifts for multiplying by [`ONE`] and for dividing by [`WEIGHT_ONE`].
pub(super) const ONE_BITS: u32 = ONE.trailing_zeros();
const WEIGHT_ONE_BITS: u32 = WEIGHT_ONE.trailing_zeros();

/// The weights of two inputs that are processed together.
pub(super) type Pair = [i16; 2];

/// Returns `LENGTH` weights from an offset on.
pub(super) const fn row<const LENGTH: usize>(weights: &[i16], from: usize) -> [i16; LENGTH] {
    let (_, rest) = weights.split_at(from);
    *rest.first_chunk().expect("a row lies among the weights")
}

/// Returns `ROWS` consecutive rows from an offset on.
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

/// Transposes weights from file order, which is by unit with `each` weights per unit, to an order
/// by pair of inputs.
pub(super) const fn pair_rows<const UNITS: usize, const PAIRS: usize>(
    weights: &[i16],
    from: usize,
    each: usize,
) -> [[Pair; UNITS]; PAIRS] {
    let mut paired = [[[0; 2]; UNITS]; PAIRS];
    let mut place = 0;
    while place < UNITS * PAIRS {
        let unit = place / PAIRS;
        let pair = place % PAIRS;
        paired[pair][unit] = row(weights, from + each * unit + 2 * pair);
        place += 1;
    }
    paired
}

/// Restores the order by unit: all weights of the first unit, then all of the second, and so on.
#[cfg(any(test, feature = "testing"))]
pub(super) fn unpair_rows<const UNITS: usize>(pairs: &[[Pair; UNITS]]) -> Vec<i16> {
    (0..UNITS).flat_map(|unit| pairs.iter().flat_map(move |pair| pair[unit])).collect()
}

/// Adds the products of two inputs to the sums of all units.
pub(super) fn add_products(sums: &mut [i32x8], weights: &[Pair], numbers: Pair) {
    let numbers = splat_pair(numbers);
    for (sum, weights) in sums.iter_mut().zip(weights.as_flattened().as_chunks().0) {
        *sum += i16x16::new(*weights).dot(numbers);
    }
}

/// Adds one weight to each sum, as for an input of one.
pub(super) fn add_weights(sums: &mut [i32x8], weights: &[i16]) {
    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks().0) {
        *sum += i32x8::from_i16x8(i16x8::new(*weights)) << ONE_BITS;
    }
}

/// Replicates two inputs over a vector, for the weight pairs of all units.
pub(super) fn splat_pair(numbers: Pair) -> i16x16 {
    // As a single 32-bit number, which processors can broadcast.
    bytemuck::must_cast(i32x8::splat(bytemuck::must_cast(numbers)))
}

/// Applies the activation function: negative values become zero, and values are limited to `most`.
pub(super) fn activate(sums: i32x8, most: i16) -> i16x8 {
    // Values that saturate 16 bits exceed the limit in any case.
    let values = i16x8::from_i32x8_saturate(sums >> WEIGHT_ONE_BITS);
    values.max(i16x8::ZERO).min(i16x8::splat(most))
}
