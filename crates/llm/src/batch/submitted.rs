//! Batches under way, in the database of replies: which requests they have, and what the server calls them.
//!
//! A record is written before its file is sent, and removed once its answers are stored, so a request is in one batch at most
//! whenever a process ends. Texts of requests are not in it.

use std::collections::HashSet;

use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::{Deserialize, Serialize};

use super::super::Error;
use super::super::cache::{ReplyCache, RequestKey, fault, now, of_database};
use callsieve_text::content_hash::content_hash;

/// Records by our id, each JSON compressed with zstd.
const SUBMITTED: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("batches-1");

const LEVEL: i32 = 3;

/// Longest record in bytes: the keys of the largest batch, several times.
const MAX_RECORD: usize = 64 << 20;

/// A batch under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// Our id.
    pub id: String,
    /// The address of the server, without secrets.
    pub server: String,
    /// The model.
    pub model: String,
    /// When the record was written, in seconds since 1970.
    pub time: u64,
    /// The file on the server, once it is there.
    pub file: Option<String>,
    /// The batch on the server, once it is there.
    pub batch: Option<String>,
    /// The requests.
    pub keys: Vec<RequestKey>,
}

impl Submitted {
    /// Returns a batch that is not sent yet.
    pub fn new(server: &str, model: &str, keys: Vec<RequestKey>) -> Self {
        let text: String = keys.iter().map(ToString::to_string).collect();
        let id = format!("{:032x}", content_hash(format!("{server}\n{}\n{text}", now())));
        Self {
            id,
            server: server.to_owned(),
            model: model.to_owned(),
            time: now(),
            file: None,
            batch: None,
            keys,
        }
    }
}

impl ReplyCache {
    /// Returns all batches under way, the oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn submitted(&self) -> Result<Vec<Submitted>, Error> {
        let read = || -> Result<Vec<Vec<u8>>, redb::Error> {
            let transaction = self.database().begin_read()?;
            let table = match transaction.open_table(SUBMITTED) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
                table => table?,
            };
            table.iter()?.map(|entry| Ok(entry?.1.value().to_vec())).collect()
        };
        let records = read().map_err(|error| of_database(self.path(), error))?;
        let mut records: Vec<Submitted> =
            records.iter().map(|record| self.unpacked_record(record)).collect::<Result<_, _>>()?;
        records.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        Ok(records)
    }

    /// Returns the requests that are in a batch under way.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn keys_under_way(&self) -> Result<HashSet<RequestKey>, Error> {
        Ok(self.submitted()?.into_iter().flat_map(|record| record.keys).collect())
    }

    /// Writes a record, or its new state; it is on disk when this returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn note_submitted(&self, record: &Submitted) -> Result<(), Error> {
        let json = serde_json::to_vec(record).map_err(|error| fault(self.path(), &error))?;
        let packed = zstd::bulk::compress(&json, LEVEL).map_err(|error| fault(self.path(), &error))?;
        self.change_submitted(|table| table.insert(record.id.as_str(), &packed[..]).map(|_| ()))
    }

    /// Removes a record.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget_submitted(&self, id: &str) -> Result<(), Error> {
        self.change_submitted(|table| table.remove(id).map(|_| ()))
    }

    fn change_submitted(
        &self,
        change: impl FnOnce(&mut redb::Table<'_, &str, &[u8]>) -> Result<(), redb::StorageError>,
    ) -> Result<(), Error> {
        let changed = || -> Result<(), redb::Error> {
            let transaction = self.database().begin_write()?;
            change(&mut transaction.open_table(SUBMITTED)?)?;
            Ok(transaction.commit()?)
        };
        changed().map_err(|error| of_database(self.path(), error))
    }

    fn unpacked_record(&self, packed: &[u8]) -> Result<Submitted, Error> {
        let json = zstd::bulk::decompress(packed, MAX_RECORD).map_err(|error| fault(self.path(), &error))?;
        serde_json::from_slice(&json).map_err(|error| fault(self.path(), &error))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn records_stay_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let open = || ReplyCache::open(folder.path()).unwrap();
        assert_eq!(open().submitted().unwrap(), []);
        let keys: Vec<RequestKey> = (0..3).map(|n| RequestKey::of(&Map::new(), n)).collect();
        let mut record = Submitted::new("https://a.test/v1", "m", keys[..2].to_vec());
        open().note_submitted(&record).unwrap();
        record.batch = Some("batch_1".to_owned());
        open().note_submitted(&record).unwrap();
        assert_eq!(open().submitted().unwrap(), [record.clone()]);
        assert_eq!(open().keys_under_way().unwrap(), keys[..2].iter().copied().collect());
        // Replies are not touched.
        let mut cache = open();
        assert_eq!(cache.remove(|_| true).unwrap(), 0);
        cache.forget_submitted(&record.id).unwrap();
        assert_eq!(cache.submitted().unwrap(), []);
        assert_eq!(json!(keys[0]), json!(keys[0].to_string()));
    }
}
