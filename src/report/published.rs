//! The figures that BFCL published, and those of the original release of its V2 Live set. A test counts the latter again where the
//! release is at hand.

use serde::{Deserialize, Serialize};

use crate::bfcl::category::Category;

/// What a published figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Doc–query pairs: requests here.
    Requests,
    /// Distinct docs: doc lists here.
    DocLists,
    /// Entries of the dataset.
    Entries,
}

/// A figure that BFCL published for its own log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// How many.
    pub count: u64,
    /// Of what.
    pub unit: Unit,
}

/// The name of the set whose composition is known.
pub const LIVE: &str = "BFCL V2 Live";

/// Its entries by category.
pub const CATEGORIES: [(Category, u64); 6] = [
    (Category::Simple, 258),
    (Category::Multiple, 1037),
    (Category::Parallel, 16),
    (Category::ParallelMultiple, 24),
    (Category::Irrelevance, 875),
    (Category::Relevance, 41),
];

/// Its entries by the number of their functions, in the bins of [`super::distributions`].
pub const FUNCTIONS_OF_ENTRIES: [u64; 9] = [785, 330, 370, 246, 282, 233, 2, 3, 0];

/// Its offered functions by the number of their parameters.
pub const PARAMETERS_OF_FUNCTIONS: [u64; 9] = [117, 455, 1444, 1431, 1440, 814, 784, 191, 6];

/// Its entries by the number of words of the last message of the user.
pub const WORDS_OF_QUERIES: [u64; 8] = [367, 447, 861, 472, 76, 15, 7, 6];
