//! What the calls of one run folder paid for, so that a limit of cost covers all of them.
//!
//! One line for each reply that arrived: the key of its request, the model and the tokens. It is appended before the reply is used, so a
//! killed process loses none. Tokens are kept instead of dollars: a limit counts them with the prices of the present call. An unfinished last
//! line, as a power failure may leave, is removed. Any other damage is an error for a call with a limit. The file has no text of a request or
//! a reply.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::cache::RequestKey;
use super::models::Models;

/// A reply that was paid for.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PaidReply {
    key: String,
    model: String,
    input: u64,
    cached: u64,
    output: u64,
}

/// The replies that calls of a run folder paid for.
#[derive(Debug)]
pub struct Spending {
    earlier: Vec<PaidReply>,
    /// The first line, from 1, that cannot be read.
    damaged: Option<usize>,
    keys: HashSet<RequestKey>,
    file: Mutex<File>,
}

impl Spending {
    /// Reads what earlier calls paid for, and opens the file for more.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let mut file = match OpenOptions::new().read(true).append(true).create(true).open(path) {
            Err(cause) if cause.kind() == ErrorKind::IsADirectory => {
                return Err(std::io::Error::other("it is a folder"));
            }
            opened => opened?,
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // What is appended begins a line of its own.
        let n_whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let is_paid = |line: &[u8]| serde_json::from_slice::<PaidReply>(line).is_ok();
        if is_paid(&bytes[n_whole..]) {
            file.write_all(b"\n")?;
        } else if n_whole < bytes.len() {
            file.set_len(n_whole as u64)?;
            bytes.truncate(n_whole);
        }
        let (mut earlier, mut damaged) = (Vec::new(), None);
        let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
        for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice::<PaidReply>(line) {
                Ok(paid) => earlier.push(paid),
                Err(_) => drop(damaged.get_or_insert(number)),
            }
        }
        let keys = earlier.iter().filter_map(|paid| RequestKey::parse(&paid.key)).collect();
        Ok(Self { earlier, damaged, keys, file: Mutex::new(file) })
    }

    /// Returns the first line, from 1, that cannot be read: what it says was paid is not known.
    pub fn damaged_line(&self) -> Option<usize> {
        self.damaged
    }

    /// Whether an earlier call paid for the reply to a request.
    pub(super) fn has(&self, key: RequestKey) -> bool {
        self.keys.contains(&key)
    }

    /// Returns what earlier calls paid, in US dollars.
    ///
    /// # Errors
    /// A model that they asked has no price; the error is its name.
    pub fn paid(&self, models: &Models) -> Result<f64, &str> {
        self.earlier.iter().try_fold(0.0, |sum, paid| {
            let price = models.price(&paid.model).ok_or(paid.model.as_str())?;
            Ok(sum + price.cost(paid.input, paid.cached, paid.output))
        })
    }

    /// Notes a reply that arrived, with the tokens of the request, of its part in a cache, and of the answer.
    pub(super) fn note(
        &self,
        key: RequestKey,
        model: &str,
        (input, cached, output): (u64, u64, u64),
    ) -> std::io::Result<()> {
        let paid = PaidReply { key: key.to_string(), model: model.to_owned(), input, cached, output };
        let line = format!("{}\n", serde_json::to_string(&paid)?);
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_line_is_removed_and_what_follows_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.jsonl");
        let key = RequestKey::of(&serde_json::Map::new(), 0);
        Spending::open(&path).unwrap().note(key, "gpt-4.1-mini", (1_000_000, 0, 0)).unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"key\": \"00";
        std::fs::write(&path, text).unwrap();
        Spending::open(&path).unwrap().note(key, "gpt-4.1-mini", (1_000_000, 0, 0)).unwrap();
        let spending = Spending::open(&path).unwrap();
        let price = Models::known().price("gpt-4.1-mini").unwrap().input;
        assert!(spending.has(key));
        assert_eq!(spending.paid(&Models::known()), Ok(2.0 * price));
        assert_eq!(spending.paid(&Models::default()), Err("gpt-4.1-mini"));
        assert_eq!(spending.damaged_line(), None);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.jsonl");
        let key = RequestKey::of(&serde_json::Map::new(), 0);
        let spending = Spending::open(&path).unwrap();
        (0..3).for_each(|_| spending.note(key, "m", (100, 0, 0)).unwrap());
        let whole = std::fs::read_to_string(&path).unwrap();
        for (damaged, line) in [
            (whole.replacen("100", "-100", 1), 1),
            (whole.replacen("}\n{", "}{", 1), 1),
            (format!("\u{feff}{whole}"), 1),
            (whole.replacen("}\n", "}\n?\n", 1), 2),
        ] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(Spending::open(&path).unwrap().damaged_line(), Some(line));
        }
        // The last line without its end counts.
        std::fs::write(&path, whole.trim_end()).unwrap();
        assert_eq!(Spending::open(&path).unwrap().earlier.len(), 3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    }
}
