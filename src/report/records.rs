//! The texts of records of public sets that rows overlap, for the page and for `why`.
//!
//! Only of sets whose licence is known and allows any use; see `public_sets::quotes`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::examples::described;
use crate::engine::delta::StageManifest;
use crate::public_sets::compared::SETS_NOTE;
use crate::public_sets::quotes::{self, RecordKey, RecordText};
use crate::stages::Registry;

/// Objects of links that are functions; the others are queries.
const FUNCTION: &str = "function";
const QUERY: &str = "query";

/// Texts by set and record.
#[derive(Debug, Default)]
pub struct Records {
    texts: BTreeMap<RecordKey, RecordText>,
}

impl Records {
    /// Reads records of the sets that stages compared with; nothing is read if none is wanted.
    pub fn read(stages: &[StageManifest], registry: &Registry, wanted: &BTreeSet<RecordKey>) -> Self {
        let mut texts = BTreeMap::new();
        for stage in stages.iter().filter(|_| !wanted.is_empty()) {
            let Some(note) = stage.notes.get(SETS_NOTE) else { continue };
            let own: Option<PathBuf> = stage.settings["dir"].as_str().map(PathBuf::from);
            let dir: &Path = own.as_deref().unwrap_or(registry.environment().sets());
            texts.extend(quotes::read(dir, Some(note), wanted));
        }
        Self { texts }
    }

    /// Returns the text of a record that an object of a row is near to: its function that is most like `text`, or its first query.
    pub fn near(&self, set: &str, record: &str, object: &str, text: &str) -> Option<String> {
        let found = self.texts.get(&(set.to_owned(), record.to_owned()))?;
        match object {
            FUNCTION => described(&Value::Array(vec![found.function_near(text)?]).to_string()),
            QUERY => found.queries.first().cloned(),
            _ => None,
        }
    }
}
