//! A run of digit groups.

/// Groups of digits with short separators.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// First byte of each group and the byte after its last.
    pub(super) groups: Vec<(usize, usize)>,
}

impl Run {
    /// Returns the number of digits from group `first` to group `last`.
    pub(super) fn n_digits(&self, first: usize, last: usize) -> usize {
        self.groups[first..=last].iter().map(|(start, end)| end - start).sum()
    }

    /// Returns the digits from group `first` to group `last`.
    pub(super) fn digits(&self, text: &str, first: usize, last: usize) -> String {
        self.groups[first..=last].iter().map(|&(start, end)| &text[start..end]).collect()
    }

    /// Returns the text between group `at` and the next.
    pub(super) fn gap<'t>(&self, text: &'t str, at: usize) -> &'t str {
        &text[self.groups[at].1..self.groups[at + 1].0]
    }
}
