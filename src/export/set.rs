//! The two sets of a dataset, and where each is.

/// The two sets of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Set {
    /// The answers are sure, or the label is and needs no answer.
    Scored,
    /// The answers are only recorded, the labels only judged by the text.
    Unverified,
}

impl Set {
    /// Both sets, the scored one first.
    pub const ALL: [Self; 2] = [Self::Scored, Self::Unverified];

    /// The set's name in files and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Unverified => "unverified",
        }
    }

    /// The folder of its files below the dataset's.
    pub fn folder(self, dataset: &std::path::Path) -> std::path::PathBuf {
        match self {
            Self::Scored => dataset.to_owned(),
            Self::Unverified => dataset.join("unverified"),
        }
    }

    /// The table of its entries, below the dataset's folder.
    pub fn table(self, dataset: &std::path::Path) -> std::path::PathBuf {
        dataset.join("data").join(format!("{}.parquet", self.name()))
    }

    /// What stands ahead of the last number in the ids of its entries.
    pub fn id_mark(self) -> &'static str {
        match self {
            Self::Scored => "",
            Self::Unverified => "u",
        }
    }
}
