//! Rank correlations, such as that of two halves of a tournament. It is high if ranks measure
//! skill, and near zero if they measure luck.

use alloc::vec::Vec;

/// The correlation of equal rankings.
pub const CORRELATION_MAX: i64 = 1_000;

/// Returns the rank correlation (Spearman's) of two scores of the same players, in thousandths,
/// from −1,000 to 1,000. Tied players have the mean of their ranks. Returns 0 if all scores of one
/// side are equal.
pub fn rank_correlation(first: &[i64], second: &[i64]) -> i64 {
    let first = centred_ranks(first);
    let second = centred_ranks(second);
    let product = |a: &[i64], b: &[i64]| -> i128 {
        a.iter().zip(b).map(|(a, b)| i128::from(*a) * i128::from(*b)).sum()
    };
    let covariance = product(&first, &second);
    let variances = product(&first, &first) * product(&second, &second);
    let deviation = variances.unsigned_abs().isqrt();
    if deviation == 0 {
        return 0;
    }
    let deviation = i128::try_from(deviation).unwrap_or(i128::MAX);
    i64::try_from(covariance * i128::from(CORRELATION_MAX) / deviation).unwrap_or(0)
}

/// Returns twice the rank of each score, less the mean.
fn centred_ranks(scores: &[i64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by_key(|place| scores[*place]);
    let mut ranks = alloc::vec![0; scores.len()];
    let mut below = 0;
    let count = i64::try_from(scores.len()).unwrap_or(i64::MAX);
    for tied in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        let size = i64::try_from(tied.len()).unwrap_or(i64::MAX);
        for place in tied {
            ranks[*place] = 2 * below + size - count;
        }
        below += size;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::rank_correlation;

    #[test]
    fn equal_rankings_correlate_wholly_and_reversed_ones_inversely() {
        assert_eq!(rank_correlation(&[1, 5, 9, 20], &[2, 3, 4, 500]), 1_000);
        assert_eq!(rank_correlation(&[1, 5, 9, 20], &[9, 7, 5, 1]), -1_000);
        assert_eq!(rank_correlation(&[1, 2, 3, 4], &[2, 1, 4, 3]), 600);
        assert_eq!(rank_correlation(&[1, 1, 2, 2], &[1, 1, 2, 2]), 1_000);
        assert_eq!(rank_correlation(&[1, 2, 3], &[7, 7, 7]), 0);
    }
}
