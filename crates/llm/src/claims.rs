//! Claims: which process asks for a reply that is not in the cache, so that processes at the same time pay for it once.
//!
//! A claim is in the database of replies, written before its request is sent, and goes with the reply or the failure. Each process
//! that asks holds a lock on a file of its own, which the system frees when the process ends in any way: a claim whose file is
//! not locked is void. Where files cannot be locked, all claims are void.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use redb::{ReadableDatabase as _, ReadableTable as _};

use super::Error;
use super::cache::{CLAIMS, ReplyCache, RequestKey, StoredReply, now_ms, of_database};

/// The folder of the locked files, in that of the caches.
const FOLDER: &str = "claims";

/// A process that asks, or a part of one.
#[derive(Debug)]
pub(super) struct Owner {
    id: String,
    path: PathBuf,
    /// Keeps the lock.
    _lock: File,
    n_calls: AtomicU64,
}

impl Owner {
    /// Returns a new owner of claims, and removes the claims of those that are gone.
    ///
    /// # Errors
    /// The file cannot be written, or the cache cannot be read or written.
    pub(super) fn new(cache: &ReplyCache) -> Result<Self, Error> {
        static N_OWNERS: AtomicU64 = AtomicU64::new(0);
        let folder = folder_of(cache);
        let id =
            format!("{:x}-{}-{}", now_ms(), std::process::id(), N_OWNERS.fetch_add(1, Ordering::Relaxed));
        // Locked before it has its name, so that nobody takes it for one that is gone.
        let (path, hidden) = (folder.join(&id), folder.join(format!(".{id}")));
        let made = fs::create_dir_all(&folder).and_then(|()| File::create(&hidden)).and_then(|lock| {
            let _ = lock.try_lock();
            fs::rename(&hidden, &path)?;
            Ok(lock)
        });
        let lock = made.map_err(|cause| Error::File { path: path.clone(), cause })?;
        let owner = Self { id, path, _lock: lock, n_calls: AtomicU64::new(0) };
        owner.sweep(cache)?;
        Ok(owner)
    }

    /// Removes what owners have left that are gone.
    fn sweep(&self, cache: &ReplyCache) -> Result<(), Error> {
        let mut living = Living::of(cache);
        let claims = cache.claimed()?;
        let void: Vec<RequestKey> = claims
            .into_iter()
            .filter(|(_, claimant)| !living.is_alive(claimant))
            .map(|(key, _)| key)
            .collect();
        if !void.is_empty() {
            cache.change(|tables| {
                for key in &void {
                    // Another process may have claimed it meanwhile.
                    let claimant =
                        tables.claims.get(key.bytes())?.map(|claimant| claimant.value().to_owned());
                    if claimant.is_some_and(|claimant| !living.is_alive(&claimant)) {
                        tables.claims.remove(key.bytes())?;
                    }
                }
                Ok(())
            })?;
        }
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_named = name.to_str().is_some_and(|name| !name.starts_with('.') && name != self.id);
            if is_named && !is_locked(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Begins the claims of one call.
    pub(super) fn call<'c>(&self, cache: &'c ReplyCache) -> Claims<'c> {
        let n = self.n_calls.fetch_add(1, Ordering::Relaxed);
        Claims { cache, claimant: format!("{}:{n}", self.id), held: HashSet::new() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // One that stays is removed by the next process.
        let _ = fs::remove_file(&self.path);
    }
}

/// Who has, or gets, the reply to a request.
#[derive(Debug)]
pub(super) enum Claim {
    /// This call sends the request.
    Ours,
    /// Another process sends it, or has sent it.
    Theirs,
    /// The reply is there.
    Stored(Box<StoredReply>),
}

/// The claims of one call; those that are left end with it.
#[derive(Debug)]
pub(super) struct Claims<'c> {
    cache: &'c ReplyCache,
    claimant: String,
    held: HashSet<RequestKey>,
}

impl Claims<'_> {
    /// Claims the requests that nobody else has claimed, and whose replies are not there. `is_usable` is false for a reply
    /// that is asked for again.
    ///
    /// # Errors
    /// The cache cannot be read or written.
    pub(super) fn claim(
        &mut self,
        keys: &[RequestKey],
        is_usable: &dyn Fn(RequestKey, &StoredReply) -> bool,
    ) -> Result<Vec<Claim>, Error> {
        let mut living = Living::of(self.cache);
        let claims = self.cache.change(|tables| {
            let mut claims = Vec::with_capacity(keys.len());
            for &key in keys {
                let stored = tables.replies.get(key.bytes())?.map(|stored| stored.value().to_vec());
                let stored = stored.map(|stored| self.cache.unpacked(&stored)).transpose()?;
                if let Some(stored) = stored.filter(|stored| is_usable(key, stored)) {
                    claims.push(Claim::Stored(Box::new(stored)));
                    continue;
                }
                let claimant = tables.claims.get(key.bytes())?.map(|claimant| claimant.value().to_owned());
                let is_theirs =
                    claimant.is_some_and(|other| other != self.claimant && living.is_alive(&other));
                claims.push(if is_theirs {
                    Claim::Theirs
                } else {
                    tables.claims.insert(key.bytes(), self.claimant.as_str())?;
                    Claim::Ours
                });
            }
            Ok(claims)
        })?;
        let ours = keys.iter().zip(&claims).filter(|(_, claim)| matches!(claim, Claim::Ours));
        self.held.extend(ours.map(|(key, _)| *key));
        Ok(claims)
    }

    /// Returns the requests of which others still have the claim, and no reply is there.
    ///
    /// # Errors
    /// The cache cannot be read.
    pub(super) fn n_waiting(
        &self,
        keys: &[RequestKey],
        is_usable: &dyn Fn(RequestKey, &StoredReply) -> bool,
    ) -> Result<usize, Error> {
        let mut living = Living::of(self.cache);
        let claimed: HashMap<RequestKey, String> = self.cache.claimed()?.into_iter().collect();
        let mut n_waiting = 0;
        for key in keys {
            let is_theirs = claimed.get(key).is_some_and(|claimant| living.is_alive(claimant));
            if is_theirs && self.cache.get(*key)?.is_none_or(|stored| !is_usable(*key, &stored)) {
                n_waiting += 1;
            }
        }
        Ok(n_waiting)
    }

    /// Notes that a reply is stored, which ends its claim.
    pub(super) fn stored(&mut self, key: RequestKey) {
        self.held.remove(&key);
    }

    /// Ends the claims whose requests have no reply, so that others can ask.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub(super) fn release(&mut self, keys: &[RequestKey]) -> Result<(), Error> {
        let ours: Vec<RequestKey> = keys.iter().copied().filter(|key| self.held.remove(key)).collect();
        if ours.is_empty() {
            return Ok(());
        }
        self.cache.change(|tables| {
            for key in &ours {
                let claimant = tables.claims.get(key.bytes())?.map(|claimant| claimant.value().to_owned());
                if claimant.is_some_and(|claimant| claimant == self.claimant) {
                    tables.claims.remove(key.bytes())?;
                }
            }
            Ok(())
        })
    }

    /// Ends all claims that are left.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub(super) fn release_all(&mut self) -> Result<(), Error> {
        let mut held: Vec<RequestKey> = self.held.iter().copied().collect();
        held.sort_unstable();
        self.release(&held)
    }
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        // They are void at the latest when the process ends.
        let _ = self.release_all();
    }
}

impl ReplyCache {
    /// Returns all claims with their claimants.
    fn claimed(&self) -> Result<Vec<(RequestKey, String)>, Error> {
        let read = || -> Result<Vec<(RequestKey, String)>, redb::Error> {
            let table = self.database().begin_read()?.open_table(CLAIMS)?;
            let claims = table.iter()?.map(|entry| {
                let (key, claimant) = entry?;
                Ok(RequestKey::of_bytes(key.value()).map(|key| (key, claimant.value().to_owned())))
            });
            claims.filter_map(Result::transpose).collect()
        };
        read().map_err(|error| of_database(self.path(), error))
    }

    /// Returns the requests that other processes are asking for now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn keys_claimed(&self) -> Result<HashSet<RequestKey>, Error> {
        let mut living = Living::of(self);
        let claims = self.claimed()?.into_iter();
        Ok(claims.filter(|(_, claimant)| living.is_alive(claimant)).map(|(key, _)| key).collect())
    }
}

/// Which owners are alive, each looked at once.
struct Living {
    folder: PathBuf,
    known: HashMap<String, bool>,
}

impl Living {
    fn of(cache: &ReplyCache) -> Self {
        Self { folder: folder_of(cache), known: HashMap::new() }
    }

    fn is_alive(&mut self, claimant: &str) -> bool {
        let owner = claimant.split(':').next().unwrap_or_default();
        let is_name =
            !owner.is_empty() && owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            return false;
        }
        let path = self.folder.join(owner);
        *self.known.entry(owner.to_owned()).or_insert_with(|| is_locked(&path))
    }
}

fn folder_of(cache: &ReplyCache) -> PathBuf {
    cache.path().with_file_name(FOLDER)
}

/// Returns whether a process holds the lock of a file.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn key(n: u32) -> RequestKey {
        RequestKey::of(&Map::new(), n)
    }

    fn reply() -> StoredReply {
        StoredReply::now("m", None, json!({}))
    }

    fn names(claims: &[Claim]) -> String {
        let name = |claim: &Claim| match claim {
            Claim::Ours => 'o',
            Claim::Theirs => 't',
            Claim::Stored(_) => 's',
        };
        claims.iter().map(name).collect()
    }

    #[test]
    fn a_request_is_claimed_once_until_it_has_a_reply_or_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (ReplyCache::open(folder.path()).unwrap(), ReplyCache::open(folder.path()).unwrap());
        let (one, other) = (Owner::new(&a).unwrap(), Owner::new(&b).unwrap());
        let (mut ours, mut theirs, mut third) = (one.call(&a), other.call(&b), other.call(&b));
        let usable = |_: RequestKey, stored: &StoredReply| !stored.is_unusable;
        assert_eq!(names(&ours.claim(&[key(0), key(1)], &usable).unwrap()), "oo");
        assert_eq!(names(&ours.claim(&[key(1)], &usable).unwrap()), "o");
        assert_eq!(names(&theirs.claim(&[key(0), key(1), key(2)], &usable).unwrap()), "tto");
        assert_eq!(names(&third.claim(&[key(2)], &usable).unwrap()), "t", "another call of the same process");
        assert_eq!(theirs.n_waiting(&[key(0), key(1), key(3)], &usable).unwrap(), 2);
        assert_eq!(b.keys_claimed().unwrap().len(), 3);
        a.put(key(0), &reply()).unwrap();
        ours.stored(key(0));
        ours.release(&[key(1)]).unwrap();
        assert_eq!(names(&theirs.claim(&[key(0), key(1)], &usable).unwrap()), "so");
        // A reply that cannot be used is asked for again.
        a.mark_unusable(&[key(0)]).unwrap();
        assert_eq!(names(&third.claim(&[key(0), key(1)], &usable).unwrap()), "ot");
        drop(theirs);
        assert_eq!(names(&third.claim(&[key(1), key(2)], &usable).unwrap()), "oo");
    }

    #[test]
    fn the_claims_of_a_process_that_is_gone_are_void() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ReplyCache::open(folder.path()).unwrap();
        let usable = |_: RequestKey, _: &StoredReply| true;
        let gone = Owner::new(&cache).unwrap();
        let mut claims = gone.call(&cache);
        claims.claim(&[key(0), key(1)], &usable).unwrap();
        let path = gone.path.clone();
        let other = Owner::new(&cache).unwrap();
        assert_eq!(names(&other.call(&cache).claim(&[key(0)], &usable).unwrap()), "t");
        // As if it were killed: the claims stay, and the lock does not.
        std::mem::forget(claims);
        drop(gone);
        fs::write(&path, "").unwrap();
        assert_eq!(names(&other.call(&cache).claim(&[key(0)], &usable).unwrap()), "o");
        assert_eq!(cache.claimed().unwrap().len(), 1);
        let _third = Owner::new(&cache).unwrap();
        assert_eq!((cache.claimed().unwrap().len(), path.exists()), (0, false));
    }
}
