//! Results that are computed once for equal keys.
//!
//! Logs are repetitive: of ten requests nine may have a text that an earlier one has. What a pure function makes of a text
//! is therefore kept by the [hash](crate::content_hash) of the text, for all threads. The memory is bounded, and a result that is not
//! kept any more is computed again, so nothing depends on what is kept.

use std::hash::{BuildHasher as _, Hash};
use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Number of maps, so that threads seldom wait for each other.
const N_SHARDS: usize = 16;
/// Maximum number of results in a map.
const MOST_KEPT: usize = 1 << 13;

/// Results by their keys.
#[derive(Debug)]
pub struct Memo<K, T>([RwLock<FxHashMap<K, T>>; N_SHARDS]);

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::default()))
    }
}

impl<K: Hash + Eq, T: Clone> Memo<K, T> {
    /// Returns the result for a key. `make` computes it unless it is kept; it must depend on the key alone.
    pub fn get_or(&self, key: K, make: impl FnOnce() -> T) -> T {
        // The low bits choose a place in the map.
        let high = FxBuildHasher.hash_one(&key) >> 60;
        let shard = &self.0[usize::try_from(high).unwrap_or_default() % N_SHARDS];
        if let Some(known) = shard.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let made = make();
        let mut kept = shard.write().unwrap_or_else(PoisonError::into_inner);
        // Repetitions are mostly close, so older results are removed.
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_result_is_computed_once_and_again_after_it_was_removed() {
        let (memo, n_made) = (Memo::default(), AtomicUsize::new(0));
        let square = |n: usize| {
            memo.get_or(n, || {
                n_made.fetch_add(1, Ordering::Relaxed);
                n * n
            })
        };
        assert_eq!([3, 4, 3, 3].map(square), [9, 16, 9, 9]);
        assert_eq!(n_made.load(Ordering::Relaxed), 2);
        let n_kept = || memo.0.iter().map(|shard| shard.read().unwrap().len()).sum::<usize>();
        for n in 0..3 * N_SHARDS * MOST_KEPT {
            assert_eq!(square(n), n * n);
        }
        assert!(n_kept() <= N_SHARDS * MOST_KEPT, "{}", n_kept());
        assert_eq!(square(3), 9);
    }
}
