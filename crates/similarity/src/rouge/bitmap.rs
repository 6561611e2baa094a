//! Bitmaps that reject nearly every pair of sequences with few instructions.
//!
//! A sequence is a bag of tokens, and a bag is a set of elements: a token with the number of
//! equal tokens before it. Each element flips one bit of the bitmap. If two sequences of `m`
//! and `n` tokens have a common subsequence of length `L`, the symmetric difference of their bags
//! has at most `m + n - 2·L` elements, and each of them flips one bit. So if the bitmaps differ in
//! more bits, there is no such subsequence (Sandes, Teodoro and Melo, "Bitmap filter", 2020). The
//! bitmaps of 64 sequences are interleaved and compared together, with the widest instructions of
//! the machine; the results are the same with any.

use multiversion::multiversion;

/// Number of sequences that are compared together.
pub(crate) const CHUNK_LEN: usize = 64;

/// One word of the bitmap of each sequence in a chunk.
pub(crate) type Column = [u64; CHUNK_LEN];

/// Number of words between two checks whether all sequences of a chunk are rejected.
const WORDS_PER_CHECK: usize = 4;

/// Writes the bitmap of a bag, given as sorted tokens, into a power of two of words.
pub(crate) fn draw(bag: &[u32], words: &mut [u64]) {
    words.fill(0);
    let last_bit = 64 * words.len() as u64 - 1;
    let (mut before, mut nth) = (None, 0_u64);
    for &token in bag {
        nth = if before == Some(token) { nth + 1 } else { 0 };
        before = Some(token);
        let bit = (mixed(u64::from(token) | (nth << 32)) >> 32) & last_bit;
        words[(bit / 64) as usize] ^= 1 << (bit % 64);
    }
}

/// Appends the bitmap of the same bag with fewer words (a power of two as well) to `folded`, by XOR of the words.
pub(crate) fn fold(words: &[u64], n_words: usize, folded: &mut Vec<u64>) {
    let (first, rest) = words.split_at(n_words);
    let start = folded.len();
    folded.extend_from_slice(first);
    for part in rest.chunks_exact(n_words) {
        folded[start..].iter_mut().zip(part).for_each(|(word, bits)| *word ^= bits);
    }
}

/// Mixes the bits of a number, like the last step of `splitmix64`.
fn mixed(element: u64) -> u64 {
    let element = element.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (element ^ (element >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Folds a bitmap into one word.
pub(crate) fn sketch(words: &[u64]) -> u64 {
    words.iter().fold(0, |sketch, word| sketch ^ word)
}

/// Returns the number of bits in which two bitmaps differ; the wider one is folded to the width of the other.
pub(crate) fn difference(a: &[u64], b: &[u64]) -> usize {
    let (wide, narrow) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if wide.len() == narrow.len() {
        return wide.iter().zip(narrow).map(|(a, b)| (a ^ b).count_ones() as usize).sum();
    }
    let folded = |at: usize| wide[at..].iter().step_by(narrow.len()).fold(0, |folded, word| folded ^ word);
    narrow.iter().enumerate().map(|(at, word)| (word ^ folded(at)).count_ones() as usize).sum()
}

/// Returns a bit per sequence of a chunk: whether its bitmap differs from `probe` in at most `limit` bits.
///
/// The number of columns is the number of words in `probe`, a multiple of [`WORDS_PER_CHECK`].
#[multiversion(targets(
    "x86_64+avx+avx2+bmi1+bmi2+lzcnt+popcnt+fma+avx512f+avx512vl+avx512bw+avx512dq+avx512cd+avx512vpopcntdq",
    "x86_64+avx+avx2+bmi1+bmi2+lzcnt+popcnt+fma",
    "x86_64+popcnt",
    "aarch64+neon"
))]
pub(crate) fn within(columns: &[Column], probe: &[u64], limit: u64) -> u64 {
    let mut counts = [0_u64; CHUNK_LEN];
    for (columns, words) in columns.chunks_exact(WORDS_PER_CHECK).zip(probe.chunks_exact(WORDS_PER_CHECK)) {
        for (column, word) in columns.iter().zip(words) {
            for (count, bits) in counts.iter_mut().zip(column) {
                *count += u64::from((bits ^ word).count_ones());
            }
        }
        if counts.iter().fold(u64::MAX, |least, &count| least.min(count)) > limit {
            return 0;
        }
    }
    let within = counts.iter().enumerate().map(|(at, &count)| u64::from(count <= limit) << at);
    within.fold(0, |mask, bit| mask | bit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the size of the symmetric difference of two bags.
    fn n_lacking(a: &[u32], b: &[u32]) -> usize {
        let count = |bag: &[u32], token| bag.iter().filter(|&&other| other == token).count();
        let mut tokens = [a, b].concat();
        tokens.sort_unstable();
        tokens.dedup();
        tokens.iter().map(|&token| count(a, token).abs_diff(count(b, token))).sum()
    }

    fn bag() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(prop_oneof![0_u32..4, any::<u32>()], 0..60).prop_map(|mut bag| {
            bag.sort_unstable();
            bag
        })
    }

    proptest! {
        #[test]
        fn bitmaps_never_differ_in_more_bits_than_bags_differ_in_elements(
            a in bag(), b in bag(), n_words in prop::sample::select(vec![4_usize, 8, 16])
        ) {
            let drawn = |bag: &[u32]| {
                let mut words = vec![u64::MAX; n_words];
                draw(bag, &mut words);
                words
            };
            prop_assert!(difference(&drawn(&a), &drawn(&b)) <= n_lacking(&a, &b));
            let sketches = [&a, &b].map(|bag| sketch(&drawn(bag)));
            prop_assert!((sketches[0] ^ sketches[1]).count_ones() as usize <= n_lacking(&a, &b));
        }

        #[test]
        fn bitmaps_of_two_widths_differ_as_if_both_were_narrow(
            a in bag(), b in bag(), n_words in prop::sample::select(vec![1_usize, 4, 8, 16])
        ) {
            let drawn = |bag: &[u32], n_words: usize| {
                let mut words = vec![0; n_words];
                draw(bag, &mut words);
                words
            };
            let narrow = difference(&drawn(&a, n_words), &drawn(&b, n_words));
            prop_assert_eq!(difference(&drawn(&a, 32), &drawn(&b, n_words)), narrow);
            prop_assert_eq!(difference(&drawn(&a, n_words), &drawn(&b, 32)), narrow);
        }

        #[test]
        fn a_folded_bitmap_equals_one_with_fewer_words(bag in bag()) {
            let drawn = |n_words: usize| {
                let mut words = vec![0; n_words];
                draw(&bag, &mut words);
                words
            };
            for n_words in [4, 8, 16] {
                let mut folded = vec![7];
                fold(&drawn(32), n_words, &mut folded);
                prop_assert_eq!(&folded[1..], &drawn(n_words)[..]);
            }
        }

        #[test]
        fn comparing_a_chunk_equals_comparing_each_sequence(
            bags in prop::collection::vec(bag(), CHUNK_LEN), probe in bag(), limit in 0_u64..120,
            n_words in prop::sample::select(vec![4_usize, 16])
        ) {
            let mut columns = vec![[0; CHUNK_LEN]; n_words];
            let mut words = vec![0; n_words];
            let mut expected = 0_u64;
            let mut probed = vec![0; n_words];
            draw(&probe, &mut probed);
            for (at, bag) in bags.iter().enumerate() {
                draw(bag, &mut words);
                columns.iter_mut().zip(&words).for_each(|(column, word)| column[at] = *word);
                expected |= u64::from(difference(&words, &probed) as u64 <= limit) << at;
            }
            prop_assert_eq!(within(&columns, &probed, limit), expected);
        }
    }
}
