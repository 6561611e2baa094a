//! The cache of replies: what a model said to a request, kept for all runs and processes.
//!
//! One database file (redb) in the folder of caches. A reply is stored before anything else happens to it, in a transaction with those
//! that arrived at the same time, so a killed process loses none; several processes write in turns, and `claims` says which of them asks. The
//! first reply to a request stays: runs have used it. Failures are never stored. The key is
//! the SHA-256 of the request with its keys in order: kind of endpoint, model, body and number of the sample. Requests
//! themselves are not stored, so the cache holds no text of a log beyond what a model repeats in its reply.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use redb::{Builder, ConcurrencyMode, Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Error;
use callsieve_text::os_error::{cause_of, hint_of};

/// The name of the file.
const FILE: &str = "replies.redb";

/// Replies by key, each JSON compressed with zstd.
const REPLIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("replies-1");

/// Who asks for a reply that is not there, by key.
pub(super) const CLAIMS: TableDefinition<'_, &[u8], &str> = TableDefinition::new("claims-1");

/// Level of zstd: replies are short, and most of the time is that of the server.
const LEVEL: i32 = 3;

/// Memory for pages of the file, in bytes.
const PAGE_CACHE: usize = 64 << 20;

/// Longest stored reply in bytes, so that a damaged length takes no memory.
const MAX_REPLY: usize = 64 << 20;

/// The member of a body that names the model.
const MODEL: &str = "model";

/// The kind of endpoint, which is part of the key.
const KIND: &str = "chat/completions";

/// The key of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey([u8; 32]);

impl RequestKey {
    /// Returns the key of a request: the whole body with the name of the model, and the number of the sample.
    pub fn of(body: &Map<String, Value>, sample: u32) -> Self {
        Self::of_members(body.iter(), sample)
    }

    /// Returns the key of a request whose body lacks the name of the model.
    pub(super) fn of_model(model: &str, body: &Map<String, Value>, sample: u32) -> Self {
        let (key, model) = (MODEL.to_owned(), Value::from(model));
        // A body that names one has the last word, as where it is sent.
        let named = std::iter::once((&key, &model)).filter(|_| !body.contains_key(MODEL));
        Self::of_members(named.chain(body), sample)
    }

    fn of_members<'b>(members: impl Iterator<Item = (&'b String, &'b Value)>, sample: u32) -> Self {
        let mut text = "{\"body\":".to_owned();
        write_object(members, &mut text);
        // A kind has no character that JSON escapes.
        let _ = write!(text, ",\"kind\":\"{KIND}\",\"sample\":{sample}}}");
        Self(Sha256::digest(text).into())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Reads a key as [`Display`](fmt::Display) writes it: 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut key = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(key))
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for RequestKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RequestKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 64 hexadecimal digits"))
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes a value as JSON with the keys of all objects in order.
fn write_in_order(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => write_object(object.iter(), text),
        Value::Array(array) => {
            text.push('[');
            for (at, value) in array.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_in_order(value, text);
            }
            text.push(']');
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn write_object<'v>(members: impl Iterator<Item = (&'v String, &'v Value)>, text: &mut String) {
    let mut members: Vec<(&String, &Value)> = members.collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    text.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(key).unwrap_or_default());
        text.push(':');
        write_in_order(value, text);
    }
    text.push('}');
}

/// A stored reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredReply {
    /// The name of the model that the request had.
    pub model: String,
    /// When it was stored, in seconds since 1970.
    pub stored: u64,
    /// The same in milliseconds; 0 if an older version stored it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stored_ms: u64,
    /// How long it took, in seconds; `None` for a reply of a batch.
    pub latency: Option<f64>,
    /// The whole reply of the server.
    pub reply: Value,
    /// A stage could not use it, so the next run that sends requests asks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unusable: bool,
}

impl StoredReply {
    /// Returns a reply that is stored now.
    pub fn now(model: &str, latency: Option<f64>, reply: Value) -> Self {
        let stored_ms = now_ms();
        Self {
            model: model.to_owned(),
            stored: stored_ms / 1000,
            stored_ms,
            latency,
            reply,
            is_unusable: false,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // Serde asks for it.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(super) fn now() -> u64 {
    now_ms() / 1000
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The open cache.
pub struct ReplyCache {
    database: Database,
    path: PathBuf,
}

impl fmt::Debug for ReplyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReplyCache").field(&self.path).finish()
    }
}

/// The tables of the database, in a transaction that writes.
pub(super) struct Tables<'t> {
    pub(super) replies: redb::Table<'t, &'static [u8], &'static [u8]>,
    /// By key who asks for a reply.
    pub(super) claims: redb::Table<'t, &'static [u8], &'static str>,
}

/// Why a transaction failed.
pub(super) enum TransactionFault {
    /// The database cannot be read or written.
    Database(redb::Error),
    /// A stored reply is damaged.
    Reply(Error),
}

impl From<redb::StorageError> for TransactionFault {
    fn from(error: redb::StorageError) -> Self {
        Self::Database(error.into())
    }
}

impl From<redb::TableError> for TransactionFault {
    fn from(error: redb::TableError) -> Self {
        Self::Database(error.into())
    }
}

impl From<redb::TransactionError> for TransactionFault {
    fn from(error: redb::TransactionError) -> Self {
        Self::Database(error.into())
    }
}

impl From<redb::CommitError> for TransactionFault {
    fn from(error: redb::CommitError) -> Self {
        Self::Database(error.into())
    }
}

impl From<Error> for TransactionFault {
    fn from(error: Error) -> Self {
        Self::Reply(error)
    }
}

/// What the cache holds of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// Replies.
    pub replies: u64,
    /// Bytes of the replies as stored.
    pub bytes: u64,
    /// When the first was stored, in seconds since 1970.
    pub first: u64,
    /// When the last was stored, in seconds since 1970.
    pub last: u64,
}

impl ReplyCache {
    /// Returns the path of the cache in a folder of caches.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Opens the cache in a folder of caches; creates both, readable by this user only.
    ///
    /// # Errors
    /// The folder cannot be created, or the file is no such database or is damaged.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = Self::path_in(folder);
        let unwritable = |cause: std::io::Error| of_database(&path, cause);
        fs::create_dir_all(folder).map_err(unwritable)?;
        if fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
            // Under another name until it is whole, so that a process that is killed here leaves no part of a database.
            let made = folder.join(format!(".{FILE}-{}", std::process::id()));
            create_private(&made).map_err(unwritable)?;
            drop(Self::open_file(made.clone())?);
            let placed = place(&made, &path);
            let _ = fs::remove_file(&made);
            placed.map_err(unwritable)?;
        }
        Self::open_file(path)
    }

    fn open_file(path: PathBuf) -> Result<Self, Error> {
        let mut builder = Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter).set_cache_size(PAGE_CACHE);
        builder.set_check_integrity_on_open(true);
        let database = builder.create(&path).map_err(|error| of_database(&path, error))?;
        let cache = Self { database, path };
        // Readers need the tables.
        cache.change(|_| Ok(()))?;
        Ok(cache)
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the reply to a request, if it is there.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&self, key: RequestKey) -> Result<Option<StoredReply>, Error> {
        let found = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = self.database.begin_read()?.open_table(REPLIES)?;
            Ok(table.get(&key.0[..])?.map(|stored| stored.value().to_vec()))
        };
        let Some(stored) = found().map_err(|error| of_database(&self.path, error))? else { return Ok(None) };
        self.unpacked(&stored).map(Some)
    }

    /// Stores a reply; it is on disk when this returns. An earlier reply to the same request that can be used stays, and is
    /// returned.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn put(&self, key: RequestKey, reply: &StoredReply) -> Result<Option<StoredReply>, Error> {
        Ok(self.put_all([(key, reply)])?.into_iter().next().flatten())
    }

    /// Stores several replies in one transaction, and returns for each the earlier one that stays.
    ///
    /// # Errors
    /// The file cannot be read or written; then none of them is stored.
    pub fn put_all<'r>(
        &self,
        replies: impl IntoIterator<Item = (RequestKey, &'r StoredReply)>,
    ) -> Result<Vec<Option<StoredReply>>, Error> {
        let packed: Vec<(RequestKey, Vec<u8>)> = replies
            .into_iter()
            .map(|(key, reply)| Ok((key, self.packed(reply)?)))
            .collect::<Result<_, Error>>()?;
        if packed.is_empty() {
            return Ok(Vec::new());
        }
        self.change(|tables| {
            let mut earlier = Vec::with_capacity(packed.len());
            for (key, packed) in &packed {
                let known = tables.replies.get(&key.0[..])?.map(|stored| stored.value().to_vec());
                let known = known.map(|stored| self.unpacked(&stored)).transpose()?;
                let kept = known.filter(|known| !known.is_unusable);
                if kept.is_none() {
                    tables.replies.insert(&key.0[..], &packed[..])?;
                }
                tables.claims.remove(&key.0[..])?;
                earlier.push(kept);
            }
            Ok(earlier)
        })
    }

    /// Marks stored replies as unusable, in one transaction. Requests without a reply are skipped.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn mark_unusable(&self, keys: &[RequestKey]) -> Result<(), Error> {
        if keys.is_empty() {
            return Ok(());
        }
        self.change(|tables| {
            for key in keys {
                let known = tables.replies.get(&key.0[..])?.map(|stored| stored.value().to_vec());
                let Some(reply) = known.map(|stored| self.unpacked(&stored)).transpose()? else { continue };
                let marked = self.packed(&StoredReply { is_unusable: true, ..reply })?;
                tables.replies.insert(&key.0[..], &marked[..])?;
            }
            Ok(())
        })
    }

    /// Returns what is stored of each model, by its name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn stats(&self) -> Result<std::collections::BTreeMap<String, CacheStats>, Error> {
        let mut models: std::collections::BTreeMap<String, CacheStats> = std::collections::BTreeMap::new();
        self.each(|_, reply, bytes| {
            let stats =
                models.entry(reply.model).or_insert(CacheStats { first: u64::MAX, ..CacheStats::default() });
            stats.replies += 1;
            stats.bytes += bytes;
            stats.first = stats.first.min(reply.stored);
            stats.last = stats.last.max(reply.stored);
            Ok(())
        })?;
        Ok(models)
    }

    /// Gives every stored reply with its key and its stored bytes, in the order of the keys.
    ///
    /// # Errors
    /// The file cannot be read, or the receiver fails.
    pub fn each(
        &self,
        mut receive: impl FnMut(RequestKey, StoredReply, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let table = self.database.begin_read().map_err(redb::Error::from);
        let table = table.and_then(|read| read.open_table(REPLIES).map_err(redb::Error::from));
        let table = table.map_err(|error| of_database(&self.path, error))?;
        for entry in table.iter().map_err(|error| of_database(&self.path, error))? {
            let (key, stored) = entry.map_err(|error| of_database(&self.path, error))?;
            let key = key.value().try_into().map_err(|_| fault(&self.path, &"a key has another length"))?;
            receive(RequestKey(key), self.unpacked(stored.value())?, stored.value().len() as u64)?;
        }
        Ok(())
    }

    /// Removes the replies for which the test is true, and returns their number. The file becomes smaller only if no other
    /// process has it open.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove(&mut self, is_removed: impl Fn(&StoredReply) -> bool) -> Result<u64, Error> {
        let mut keys = Vec::new();
        self.each(|key, reply, _| {
            if is_removed(&reply) {
                keys.push(key);
            }
            Ok(())
        })?;
        self.change(|tables| {
            keys.iter().try_for_each(|key| {
                tables.replies.remove(&key.0[..]).map(|_| ()).map_err(TransactionFault::from)
            })
        })?;
        // Another process may have it open; then a later call makes it smaller.
        let _ = self.database.compact();
        Ok(keys.len() as u64)
    }

    /// Changes replies and claims in one transaction.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Tables<'_>) -> Result<T, TransactionFault>,
    ) -> Result<T, Error> {
        let changed = || -> Result<T, TransactionFault> {
            let transaction = self.database.begin_write()?;
            let mut tables =
                Tables { replies: transaction.open_table(REPLIES)?, claims: transaction.open_table(CLAIMS)? };
            let value = change(&mut tables)?;
            drop(tables);
            transaction.commit()?;
            Ok(value)
        };
        changed().map_err(|fault| match fault {
            TransactionFault::Database(error) => of_database(&self.path, error),
            TransactionFault::Reply(error) => error,
        })
    }

    fn packed(&self, reply: &StoredReply) -> Result<Vec<u8>, Error> {
        let json = serde_json::to_vec(reply).map_err(|error| fault(&self.path, &error))?;
        zstd::bulk::compress(&json, LEVEL).map_err(|error| fault(&self.path, &error))
    }

    pub(super) fn unpacked(&self, stored: &[u8]) -> Result<StoredReply, Error> {
        let json = zstd::bulk::decompress(stored, MAX_REPLY).map_err(|error| fault(&self.path, &error))?;
        serde_json::from_slice(&json).map_err(|error| fault(&self.path, &error))
    }
}

/// The error of a cache that is damaged.
pub(super) fn fault(path: &Path, cause: &dyn fmt::Display) -> Error {
    let hint = "move the file away; without it requests are sent, and paid, again".to_owned();
    Error::Cache { path: path.to_owned(), what: cause.to_string(), hint }
}

/// The error of a cache that the system does not let read or write, such as on a full disk; else that of a damaged one.
pub(super) fn of_database(path: &Path, error: impl Into<redb::Error>) -> Error {
    let error = error.into();
    let redb::Error::Io(cause) = &error else { return fault(path, &error) };
    let hint = hint_of(cause, path);
    match hint.strip_prefix("\nhint: ") {
        Some(hint) => Error::Cache {
            path: path.to_owned(),
            what: cause_of(cause),
            hint: format!("{hint}; CALLSIEVE_CACHE can name another folder for caches"),
        },
        None => fault(path, &error),
    }
}

/// Creates an empty file that only this user can read; one that a killed process left is replaced.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path).map(|_| ())
}

/// Gives a new database its name, unless another process was faster.
fn place(made: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(made, path) {
        Ok(()) => Ok(()),
        // One that is empty holds nothing, and has no process that uses it.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => match fs::metadata(path)?.len() {
            0 => fs::rename(made, path),
            _ => Ok(()),
        },
        // A file system without hard links.
        Err(_) => fs::rename(made, path),
    }
}

#[cfg(test)]
mod tests;
