//! What stages made of content and a later stage needs as well: made once a run.
//!
//! It is a pure function of content, kept by its type and a hash of the content. A stage asks for it and makes it where nobody
//! has: so a step that is taken over from an earlier run, or judged on another machine, changes nothing but the time.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Parts that threads lock apart from each other; a power of two.
const SHARDS: usize = 64;

type Shard = Mutex<FxHashMap<(TypeId, u128), Arc<dyn Any + Send + Sync>>>;

/// What was made so far.
pub struct Made {
    shards: [Shard; SHARDS],
}

impl Made {
    /// What `make` gives for the content of that hash: that of the first call for this type and hash. Two threads that ask at
    /// the same time may both make it; both get the same one.
    pub fn once<T: Any + Send + Sync>(&self, content: u128, make: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), content);
        if let Some(known) = self.shard(content).get(&key).cloned().and_then(|known| known.downcast().ok()) {
            return known;
        }
        let made = Arc::new(make());
        let mut shard = self.shard(content);
        let kept = shard.entry(key).or_insert_with(|| Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        Arc::clone(kept).downcast().unwrap_or(made)
    }

    fn shard(
        &self,
        content: u128,
    ) -> std::sync::MutexGuard<'_, FxHashMap<(TypeId, u128), Arc<dyn Any + Send + Sync>>> {
        let at = usize::try_from(content % SHARDS as u128).unwrap_or_default();
        // Whatever a thread that panicked left there is whole: an entry is made before it is put in.
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Made {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn it_is_made_once_for_a_type_and_a_hash() {
        let (made, n_calls) = (Made::default(), Cell::new(0));
        let text = |content: u128| {
            made.once(content, || {
                n_calls.set(n_calls.get() + 1);
                content.to_string()
            })
        };
        assert_eq!([text(1), text(2), text(1)].map(|text| text.to_string()), ["1", "2", "1"]);
        assert_eq!(n_calls.get(), 2);
        assert_eq!(*made.once(1, || 7_u64), 7, "another type of the same hash");
        assert!(Arc::ptr_eq(&text(1), &text(1)));
    }
}
