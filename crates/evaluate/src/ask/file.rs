//! The result file of a model that is asked: rows that are on disk at once, and read again by the next call.
//!
//! A row has the hash of its request, so outputs to other requests are never taken for these. A line that a killed call left is
//! removed; a file of anything else is refused and stays as it is.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::{Ask, AskMode, Question};
use crate::error::{Result, unfit, unreadable, unwritable};
use crate::results::CACHED;
use callsieve_llm::chat::ChatReply;
use callsieve_system::side_file;

/// The key of the hash of a request.
const REQUEST: &str = "request";
/// The key of the way in which functions were given.
const FUNCTION_CALLING: &str = "function_calling";
/// The start of each row, of which a killed call may have left a part.
const START: &[u8] = b"{\"id\":\"";

/// A result file to which outputs are added.
pub(super) struct ResultFile {
    file: File,
    /// The ids of its rows.
    pub(super) known: HashSet<String>,
    /// The tokens of its requests: of the request, from a cache, of the reply. `None` for one without.
    pub(super) tokens: Vec<Option<(u64, u64, u64)>>,
}

impl ResultFile {
    /// Opens a result file behind its last whole row. `wanted` has the hash of the request for each id of the dataset.
    ///
    /// # Errors
    /// If the file cannot be read or written, another call writes to it, or it has anything else than outputs to these requests.
    pub(super) fn open(ask: &Ask, wanted: &HashMap<&str, &str>) -> Result<Self> {
        let path = &ask.save;
        let mut file = writable(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|cause| unreadable(path, cause))?;
        let whole = end_of_rows(path, &mut bytes)?;
        let (mut known, mut tokens) = (HashSet::new(), Vec::new());
        for (line, row) in (1..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n')) {
            let row: Value = serde_json::from_slice(row).unwrap_or_default();
            let id = check(ask, wanted, line, &row)?;
            tokens.extend(tokens_of(&row));
            if !known.insert(id.to_owned()) {
                let what = format!("line {line} has a second output of {id}");
                return Err(unfit(
                    path,
                    what,
                    "remove one of the two lines, or give another file with --save",
                ));
            }
        }
        // The last row may lack its line feed, after an editor.
        let needs_end = whole > 0 && bytes[whole - 1] != b'\n';
        let ended = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
        let ended = ended.and_then(|_| if needs_end { file.write_all(b"\n") } else { Ok(()) });
        ended.map_err(|cause| unwritable(path, cause))?;
        Ok(Self { file, known, tokens })
    }

    /// Writes a row with its line feed, and has it on disk.
    pub(super) fn store(&mut self, row: &Value) -> std::io::Result<()> {
        self.file.write_all(format!("{row}\n").as_bytes())?;
        self.file.sync_data()?;
        self.known.extend(row["id"].as_str().map(str::to_owned));
        Ok(())
    }
}

/// Opens a file that no other call writes to.
fn writable(path: &Path) -> Result<File> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(|cause| unwritable(parent, cause))?;
    }
    // What is there is read to its end first.
    side_file::refuse_device(path).map_err(|cause| unwritable(path, cause))?;
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|cause| unwritable(path, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(unfit(
            path,
            "another call writes its outputs to this file",
            "wait for it, or give another file with --save",
        )),
        // Some network file systems have no locks.
        Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(cause)) => Err(unwritable(path, cause)),
    }
}

/// Returns the end of the last whole row. What comes after it must be the start of a row that a killed call left.
fn end_of_rows(path: &Path, bytes: &mut [u8]) -> Result<usize> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = &bytes[end..];
    if serde_json::from_slice::<Value>(rest).is_ok() {
        return Ok(bytes.len());
    }
    // After a power failure the end of a file may be zeros.
    let is_start = is_start_of_row(rest) || rest.iter().all(|byte| *byte == 0);
    if is_start { Ok(end) } else { Err(not_ours(path, bytes[..end].split(|byte| *byte == b'\n').count())) }
}

/// Returns whether bytes are the start of a row: an id and then a result, as far as they go.
fn is_start_of_row(bytes: &[u8]) -> bool {
    const THEN: &[u8] = b"\",\"result\":";
    let Some(rest) = bytes.strip_prefix(START) else { return START.starts_with(bytes) };
    let after_id = rest.iter().position(|byte| *byte == b'"').map_or(&[][..], |at| &rest[at..]);
    after_id.starts_with(THEN) || THEN.starts_with(after_id)
}

fn not_ours(path: &Path, line: usize) -> crate::EvaluateError {
    unfit(path, format!("line {line} is no output of a call with --ask"), "give another file with --save")
}

/// Returns the id of a row, if it has the output to the request that is wanted.
fn check<'r>(ask: &Ask, wanted: &HashMap<&str, &str>, line: usize, row: &'r Value) -> Result<&'r str> {
    let path = &ask.save;
    let hint = "give another file with --save, or remove this one";
    let (Some(id), Some(request)) = (row["id"].as_str(), row[REQUEST].as_str()) else {
        return Err(not_ours(path, line));
    };
    let model = row["model"].as_str().unwrap_or_default();
    if model != ask.model {
        let what = format!("line {line} has an output of the model {model:?}, expected {:?}", ask.model);
        return Err(unfit(path, what, hint));
    }
    if row[FUNCTION_CALLING] != json!(ask.mode == AskMode::Calls) {
        let (found, expected) = match ask.mode {
            AskMode::Prompt => ("fc", "prompt"),
            AskMode::Calls => ("prompt", "fc"),
        };
        let what = format!("line {line} has an output of --ask-mode {found}, expected {expected}");
        return Err(unfit(path, what, hint));
    }
    if wanted.get(id).is_some_and(|wanted| *wanted != request) {
        let what = format!(
            "line {line} has the output of {id} to another request: of another temperature, --max-tokens, dataset or version of callsieve"
        );
        return Err(unfit(path, what, hint));
    }
    Ok(id)
}

/// Returns the tokens of each request of a row: one, or one for each step of a conversation.
fn tokens_of(row: &Value) -> Vec<Option<(u64, u64, u64)>> {
    let [input, cached, output] =
        ["input_token_count", CACHED, "output_token_count"].map(|key| numbers(&row[key]));
    let at = |counts: &[Option<u64>], step: usize| counts.get(step).copied().flatten();
    let tokens = |step| Some((at(&input, step)?, at(&cached, step).unwrap_or(0), at(&output, step)?));
    (0..input.len()).map(tokens).collect()
}

/// Returns the numbers of a value, or of the steps of its turns.
fn numbers(value: &Value) -> Vec<Option<u64>> {
    match value {
        Value::Array(inner) => inner.iter().flat_map(numbers).collect(),
        value => vec![value.as_u64()],
    }
}

/// Returns the output of a reply, as it is in result files.
pub(super) fn result(ask: &Ask, reply: &ChatReply) -> Value {
    let calls: Vec<Value> = reply.calls.iter().map(|(name, arguments)| json!({ name: arguments })).collect();
    if ask.mode == AskMode::Calls && !calls.is_empty() { json!(calls) } else { json!(reply.content) }
}

/// Returns an output in the form of BFCL result files.
pub(super) fn row(ask: &Ask, question: &Question, reply: &ChatReply) -> Value {
    let mut row = json!({
        "id": question.id, "result": result(ask, reply), "input_token_count": reply.input_tokens,
        "output_token_count": reply.output_tokens, "latency": reply.latency,
    });
    if let Some(cached) = reply.cached_tokens.filter(|cached| *cached > 0) {
        row[CACHED] = json!(cached);
    }
    if let Some(reasoning) = &reply.reasoning {
        row["reasoning_content"] = json!(reasoning);
    }
    end(&mut row, ask, json!(reply.finish_reason), &question.request);
    row
}

/// Adds what tells the outputs of one call from those of another.
pub(super) fn end(row: &mut Value, ask: &Ask, finish_reason: Value, request: &str) {
    row["model"] = json!(ask.model);
    row[FUNCTION_CALLING] = json!(ask.mode == AskMode::Calls);
    row["finish_reason"] = finish_reason;
    row[REQUEST] = json!(request);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a file with this content, and returns the ids, the content afterwards, and the error.
    fn opened(content: &[u8]) -> (Vec<String>, Vec<u8>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        std::fs::write(&path, content).unwrap();
        let ask = Ask { model: "m".to_owned(), save: path.clone(), ..Ask::default() };
        let wanted = HashMap::from([("a", "1"), ("b", "2")]);
        let (mut ids, mut error) = (Vec::new(), String::new());
        match ResultFile::open(&ask, &wanted) {
            Ok(file) => ids = file.known.into_iter().collect(),
            Err(fault) => error = fault.to_string(),
        }
        ids.sort();
        (ids, std::fs::read(&path).unwrap(), error)
    }

    const A: &str = r#"{"id":"a","result":"é","model":"m","function_calling":false,"request":"1"}"#;
    const B: &str = r#"{"id":"b","result":"[]","model":"m","function_calling":false,"request":"2"}"#;

    #[test]
    fn every_part_of_a_row_that_a_killed_call_left_is_removed() {
        for cut in 0..A.len() {
            let content = [format!("{B}\n").as_bytes(), &A.as_bytes()[..cut]].concat();
            let (ids, after, error) = opened(&content);
            assert_eq!((ids, error), (vec!["b".to_owned()], String::new()), "{cut}");
            assert_eq!(after, format!("{B}\n").into_bytes(), "{cut}");
        }
        let (ids, after, _) = opened(format!("{B}\n\0\0\0").as_bytes());
        assert_eq!((ids, after), (vec!["b".to_owned()], format!("{B}\n").into_bytes()));
        let (ids, after, _) = opened(format!("{B}\n{A}").as_bytes());
        assert_eq!((ids.len(), after), (2, format!("{B}\n{A}\n").into_bytes()));
    }

    #[test]
    fn a_file_of_anything_else_is_refused_and_stays() {
        for (content, expected) in [
            ("my notes", "line 1 is no output of a call with --ask"),
            (r#"{"models": 3}"#, "line 1 is no output of a call with --ask"),
            ("{\"id\":\"a\",\"result\":\"[]\"}\n", "line 1 is no output of a call with --ask"),
            (&format!("{A}\n\n"), "line 2 is no output of a call with --ask"),
            (r#"{"id":"a","precious":true,"n":"#, "line 1 is no output of a call with --ask"),
            (&format!("{A}\nnotes"), "line 2 is no output of a call with --ask"),
            (&format!("{A}\n{A}\n"), "line 2 has a second output of a"),
            (&A.replace(r#""m""#, r#""n""#), "an output of the model \"n\", expected \"m\""),
            (&A.replace("false", "true"), "an output of --ask-mode fc, expected prompt"),
            (&A.replace(r#""1""#, r#""3""#), "the output of a to another request"),
        ] {
            let (_, after, error) = opened(content.as_bytes());
            assert!(error.contains(expected), "{content}: {error}");
            assert_eq!(after, content.as_bytes(), "{content}");
        }
    }

    #[test]
    fn two_calls_cannot_write_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let ask = Ask { save: folder.path().join("r.jsonl"), ..Ask::default() };
        let first = ResultFile::open(&ask, &HashMap::new()).unwrap();
        let error = ResultFile::open(&ask, &HashMap::new()).err().unwrap().to_string();
        assert!(error.contains("another call writes its outputs to this file"), "{error}");
        drop(first);
        assert!(ResultFile::open(&ask, &HashMap::new()).is_ok());
    }
}
