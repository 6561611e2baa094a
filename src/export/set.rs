//! The two sets of a dataset and their places.

/// The two sets of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Set {
    /// Entries with verified answers, or with verified labels in categories without answers.
    Scored,
    /// Entries with answers that are only recorded, or labels that are judged by the text alone.
    Unverified,
}

impl Set {
    /// Both sets, the scored one first.
    pub const ALL: [Self; 2] = [Self::Scored, Self::Unverified];

    /// Returns the set's name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Unverified => "unverified",
        }
    }

    /// Returns the folder of its files in the folder of the dataset.
    pub fn folder(self, dataset: &std::path::Path) -> std::path::PathBuf {
        match self {
            Self::Scored => dataset.to_owned(),
            Self::Unverified => dataset.join("unverified"),
        }
    }

    /// Returns the path of its Parquet file in the folder of the dataset.
    pub fn table(self, dataset: &std::path::Path) -> std::path::PathBuf {
        dataset.join("data").join(format!("{}.parquet", self.name()))
    }

    /// Returns the mark before the last number in the ids of its entries.
    pub fn id_mark(self) -> &'static str {
        match self {
            Self::Scored => "",
            Self::Unverified => "u",
        }
    }
}
