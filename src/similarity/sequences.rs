//! Token sequences of a collection, in one piece of memory.

/// Token sequences, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequences {
    tokens: Vec<u32>,
    ends: Vec<usize>,
}

impl Sequences {
    /// Adds a sequence behind the others.
    pub fn push(&mut self, tokens: impl IntoIterator<Item = u32>) {
        self.tokens.extend(tokens);
        self.ends.push(self.tokens.len());
    }

    /// How many sequences there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The tokens of one.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.tokens[start..self.ends[at]]
    }

    /// Every sequence, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Every sequence, to be changed in place.
    pub(super) fn slices_mut(&mut self) -> Vec<&mut [u32]> {
        let mut rest = &mut self.tokens[..];
        let mut n_taken = 0;
        let slices = self.ends.iter().map(|&end| {
            let (slice, behind) = std::mem::take(&mut rest).split_at_mut(end - n_taken);
            (rest, n_taken) = (behind, end);
            slice
        });
        slices.collect()
    }
}

impl<S: AsRef<[u32]>> FromIterator<S> for Sequences {
    fn from_iter<I: IntoIterator<Item = S>>(sequences: I) -> Self {
        let mut all = Self::default();
        for sequence in sequences {
            all.push(sequence.as_ref().iter().copied());
        }
        all
    }
}
