//! The replies of conversations whose output is not whole yet, in a file next to the result file.
//!
//! A reply is on disk before its calls are executed, and is known by the hash of its request, which has all messages before it.
//! Once they are executed, it is there again with the results: a few depend on the process, such as those that show a set. So
//! a conversation that stopped starts again from its first turn, asks nothing twice, and goes on where it was. The file is
//! removed once all its conversations have a row. A file of anything else is refused and stays as it is.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ask, Question, file};
use crate::error::{Result, unfit, unreadable, unwritable};
use crate::official::environments::Executed;
use callsieve_llm::chat::ChatReply;
use callsieve_system::side_file;

/// What the name of the file adds to that of the result file.
const END: &str = ".steps";

/// Fields of a message that official handlers of reasoning models do not send back.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// A reply in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    id: String,
    /// The hash of the request.
    request: String,
    /// The output, as it is in result files.
    pub(super) result: Value,
    /// The message of the server, as the next request has it.
    pub(super) message: Value,
    pub(super) input_tokens: Option<u64>,
    pub(super) cached_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    /// Seconds, as first written.
    pub(super) latency: Value,
    pub(super) reasoning: Option<String>,
    pub(super) finish_reason: Option<String>,
    /// What the output did, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) executed: Option<Executed>,
}

impl Step {
    pub(super) fn of(ask: &Ask, question: &Question, reply: &ChatReply) -> Self {
        let mut message = reply.whole["choices"][0]["message"].clone();
        if let Some(members) = message.as_object_mut() {
            for key in REASONING {
                members.shift_remove(key);
            }
            members.entry("role").or_insert_with(|| "assistant".into());
        }
        Self {
            id: question.id.clone(),
            request: question.request.clone(),
            result: file::result(ask, reply),
            message,
            input_tokens: reply.input_tokens,
            cached_tokens: reply.cached_tokens,
            output_tokens: reply.output_tokens,
            latency: reply.latency.into(),
            reasoning: reply.reasoning.clone(),
            finish_reason: reply.finish_reason.clone(),
            executed: None,
        }
    }

    fn tokens(&self) -> Option<(u64, u64, u64)> {
        Some((self.input_tokens?, self.cached_tokens.unwrap_or(0), self.output_tokens?))
    }
}

/// The file, and what it had.
pub(super) struct StepFile {
    pub(super) path: PathBuf,
    file: Option<File>,
    /// By id and hash of the request.
    known: HashMap<(String, String), Step>,
    /// The tokens of replies that are in no row of the result file.
    pub(super) tokens: Vec<Option<(u64, u64, u64)>>,
}

impl StepFile {
    /// Opens the file of a result file, if it is there. The lock of the result file is also for this one.
    ///
    /// # Errors
    /// If it cannot be read, or has anything else than replies.
    pub(super) fn open(save: &Path, done: &HashSet<String>) -> Result<Self> {
        let mut path = save.as_os_str().to_owned();
        path.push(END);
        let mut this = Self { path: path.into(), file: None, known: HashMap::new(), tokens: Vec::new() };
        let path = &this.path;
        side_file::refuse_device(path).map_err(|cause| unreadable(path, cause))?;
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(this),
            Err(cause) => return Err(unreadable(path, cause)),
        };
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for (line, text) in (1..).zip(bytes[..end].split_inclusive(|byte| *byte == b'\n')) {
            let step: Step = serde_json::from_slice(text).map_err(|_| not_ours(path, line))?;
            let (is_done, tokens) = (done.contains(&step.id), step.tokens());
            let before = this.known.insert((step.id.clone(), step.request.clone()), step);
            if !is_done && before.is_none() {
                this.tokens.push(tokens);
            }
        }
        // A killed call may have left the start of a line; after a power failure the end of a file may be zeros.
        let rest = &bytes[end..];
        if !b"{\"id\":\"".starts_with(rest)
            && !rest.starts_with(b"{\"id\":\"")
            && rest.iter().any(|byte| *byte != 0)
        {
            return Err(not_ours(path, bytes[..end].split(|byte| *byte == b'\n').count()));
        }
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.and_then(|file| file.set_len(end as u64).map(|()| file));
        this.file = Some(file.map_err(|cause| unwritable(path, cause))?);
        Ok(this)
    }

    /// Returns the reply to a request, if it arrived before.
    pub(super) fn known(&self, question: &Question) -> Option<Step> {
        self.known.get(&(question.id.clone(), question.request.clone())).cloned()
    }

    /// Writes a reply with its line feed, and has it on disk.
    pub(super) fn store(&mut self, step: &Step) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(OpenOptions::new().append(true).create_new(true).open(&self.path)?),
        };
        file.write_all(format!("{}\n", serde_json::to_string(step)?).as_bytes())?;
        file.sync_data()?;
        self.known.insert((step.id.clone(), step.request.clone()), step.clone());
        Ok(())
    }

    /// Removes the file if each conversation in it has a row. One that cannot be removed does no harm.
    pub(super) fn remove_if_done(self, done: &HashSet<String>) {
        if self.file.is_some() && self.known.keys().all(|(id, _)| done.contains(id)) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn not_ours(path: &Path, line: usize) -> crate::EvaluateError {
    unfit(
        path,
        format!("line {line} is no reply of a call with --ask"),
        "give another result file with --save, or move this one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str, request: &str) -> String {
        let step = Step {
            id: id.to_owned(),
            request: request.to_owned(),
            result: "[]".into(),
            message: Value::Null,
            input_tokens: Some(7),
            cached_tokens: None,
            output_tokens: Some(1),
            latency: 0.5.into(),
            reasoning: None,
            finish_reason: None,
            executed: None,
        };
        format!("{}\n", serde_json::to_string(&step).unwrap())
    }

    #[test]
    fn replies_count_once_and_the_rest_of_a_cut_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let save = folder.path().join("r.jsonl");
        let path = folder.path().join("r.jsonl.steps");
        let whole = [step("a", "1"), step("a", "1"), step("b", "2")].concat();
        for cut in ["", "{", "{\"id\":\"c", "\0\0"] {
            std::fs::write(&path, format!("{whole}{cut}")).unwrap();
            let file = StepFile::open(&save, &HashSet::from(["b".to_owned()])).unwrap();
            assert_eq!((file.known.len(), &file.tokens[..]), (2, &[Some((7, 0, 1))][..]));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
            file.remove_if_done(&HashSet::from(["b".to_owned()]));
            assert!(path.exists());
        }
        let all = HashSet::from(["a".to_owned(), "b".to_owned()]);
        StepFile::open(&save, &all).unwrap().remove_if_done(&all);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_of_anything_else_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl.steps");
        for content in
            ["my notes", "my notes\n", "{\"id\":\"a\"}\n", "{}\n", &format!("{}notes", step("a", "1"))]
        {
            std::fs::write(&path, content).unwrap();
            let error =
                StepFile::open(&folder.path().join("r.jsonl"), &HashSet::new()).err().unwrap().to_string();
            assert!(error.contains("is no reply of a call with --ask"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
    }
}
