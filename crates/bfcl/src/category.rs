//! The categories of the live part of the leaderboard and their file names.

use super::files::ANSWERS;

/// A category of the live part of the leaderboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// One function, one call.
    Simple,
    /// Several functions to choose from, one call.
    Multiple,
    /// One function, several calls.
    Parallel,
    /// Several functions, several calls.
    ParallelMultiple,
    /// No function fits: the correct answer is no call.
    Irrelevance,
    /// Some function fits, but the correct calls cannot be listed: any call counts.
    Relevance,
}

impl Category {
    /// All categories, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Simple,
        Self::Multiple,
        Self::Parallel,
        Self::ParallelMultiple,
        Self::Irrelevance,
        Self::Relevance,
    ];

    /// Returns the category of an entry with this number of functions and calls (at least one).
    pub fn of_answer(n_functions: usize, n_calls: usize) -> Self {
        match (n_functions > 1, n_calls > 1) {
            (false, false) => Self::Simple,
            (true, false) => Self::Multiple,
            (false, true) => Self::Parallel,
            (true, true) => Self::ParallelMultiple,
        }
    }

    /// Returns the category with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    /// Returns the name in ids and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Multiple => "multiple",
            Self::Parallel => "parallel",
            Self::ParallelMultiple => "parallel_multiple",
            Self::Irrelevance => "irrelevance",
            Self::Relevance => "relevance",
        }
    }

    /// Returns whether entries of the category have a ground truth.
    pub fn has_answers(self) -> bool {
        !matches!(self, Self::Irrelevance | Self::Relevance)
    }

    /// Returns the name of the question file.
    pub fn file_name(self) -> String {
        format!("BFCL_v4_live_{}.json", self.name())
    }

    /// Returns the path of the answer file, relative to the question file, if the category has one.
    pub fn answer_path(self) -> Option<String> {
        self.has_answers().then(|| format!("{ANSWERS}/{}", self.file_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_follows_from_the_number_of_functions_and_calls() {
        let named = |functions, calls| Category::of_answer(functions, calls).name();
        assert_eq!([named(1, 1), named(3, 1)], ["simple", "multiple"]);
        assert_eq!([named(1, 2), named(2, 2)], ["parallel", "parallel_multiple"]);
    }

    #[test]
    fn only_scored_categories_have_an_answer_file() {
        let paths: Vec<_> = Category::ALL.into_iter().filter_map(Category::answer_path).collect();
        assert_eq!(paths.len(), 4);
        assert_eq!(paths[0], "possible_answer/BFCL_v4_live_simple.json");
        assert_eq!(Category::Relevance.file_name(), "BFCL_v4_live_relevance.json");
    }
}
