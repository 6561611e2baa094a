//! Batch files: requests for a service that answers them later, and its answers into the cache.
//!
//! The id of a request is its key in the cache, so answers may come in any order, in several files, and for a part of the
//! requests. Requests are in OpenAI's form, which vLLM's `run-batch` reads as well, or in Anthropic's.

pub mod service;
pub mod submitted;

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::Error;
use super::cache::{ReplyCache, RequestKey, StoredReply};
use super::chat::read_reply;
use super::models::Models;
use super::service::PendingRequest;
use callsieve_text::outside::shortened;

/// Answers that are stored in one transaction.
const AT_ONCE: usize = 1000;

/// Most requests in a batch file, as OpenAI allows.
pub const MAX_REQUESTS: usize = 50_000;

/// Most bytes in a batch file, as OpenAI allows.
pub const MAX_BYTES: usize = 200_000_000;

/// Divides requests into files of one model each, within the limits of a batch service. Their order is kept.
pub fn files(
    requests: &[PendingRequest],
    max_requests: usize,
    max_bytes: usize,
) -> Vec<Vec<&PendingRequest>> {
    // The last file of each model, by the order in which models appear.
    let mut open: Vec<(&Value, usize, usize)> = Vec::new();
    let mut files: Vec<Vec<&PendingRequest>> = Vec::new();
    for request in requests {
        let (model, n_bytes) = (&request.body["model"], line(request).len());
        let last = open.iter_mut().find(|(known, ..)| *known == model);
        match last {
            Some((_, file, size)) if files[*file].len() < max_requests && *size + n_bytes <= max_bytes => {
                files[*file].push(request);
                *size += n_bytes;
                continue;
            }
            Some(full) => *full = (model, files.len(), n_bytes),
            None => open.push((model, files.len(), n_bytes)),
        }
        files.push(vec![request]);
    }
    files
}

/// Returns a request as a line of a batch file, in OpenAI's form.
pub fn line(PendingRequest { key, body, .. }: &PendingRequest) -> String {
    let line =
        json!({"custom_id": key.to_string(), "method": "POST", "url": "/v1/chat/completions", "body": body});
    format!("{line}\n")
}

/// The form of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchForm {
    /// JSON lines `{custom_id, method, url, body}`.
    OpenAi,
    /// One object `{requests: [{custom_id, params}]}`.
    Anthropic,
}

/// Returns the requests as the text of a batch file.
pub fn written(requests: &[PendingRequest], form: BatchForm) -> String {
    match form {
        BatchForm::OpenAi => requests.iter().map(line).collect(),
        BatchForm::Anthropic => {
            let requests: Vec<Value> = requests
                .iter()
                .map(|PendingRequest { key, body, .. }| json!({"custom_id": key.to_string(), "params": of_anthropic(body)}))
                .collect();
            format!("{}\n", json!({ "requests": requests }))
        }
    }
}

/// The system message stands apart, and there is no form of the answer: the prompt describes it.
fn of_anthropic(body: &Map<String, Value>) -> Value {
    let messages = body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    let (system, others): (Vec<Value>, Vec<Value>) =
        messages.into_iter().partition(|message| message["role"] == "system");
    let system: Vec<&str> = system.iter().filter_map(|message| message["content"].as_str()).collect();
    let limit = body.get("max_tokens").or_else(|| body.get("max_completion_tokens"));
    let mut params = json!({"model": body.get("model"), "max_tokens": limit, "messages": others});
    if !system.is_empty() {
        params["system"] = json!(system.join("\n\n"));
    }
    if let Some(temperature) = body.get("temperature") {
        params["temperature"] = temperature.clone();
    }
    params
}

/// The answers of batch files, on their way into the cache.
#[derive(Debug, Default)]
pub struct Imported {
    waiting: Vec<(RequestKey, StoredReply)>,
    /// The model that was asked, if it is known: a server may give another name in its replies.
    model: Option<String>,
    /// Requests with an answer: a second one to the same request is left out.
    answered: HashSet<RequestKey>,
    /// What the answers took, by model.
    tokens: BTreeMap<String, Tokens>,
    /// The same of those that are left out, because the cache has an answer.
    tokens_repeated: BTreeMap<String, Tokens>,
    /// Answers that are stored.
    pub n_stored: u64,
    /// Answers that are left out, because their request has one: in the same files, or in the cache.
    pub n_repeated: u64,
    /// Requests that the service reports as failed.
    pub n_failed: u64,
    /// Lines that are no answer.
    pub n_unreadable: u64,
}

impl Imported {
    /// Returns the answers to requests to a model.
    pub fn of_model(model: &str) -> Self {
        Self { model: Some(model.to_owned()), ..Self::default() }
    }

    /// Returns what all answers cost at the prices of batches, those included that are left out; `None` if a price is not known.
    pub fn cost(&self, models: &Models) -> Option<f64> {
        cost_of(&self.tokens, models)
    }

    /// Returns what the stored answers cost at the prices of batches.
    ///
    /// # Errors
    /// The price of a model is not known; the error is its name.
    pub fn cost_of_stored(&self, models: &Models) -> Result<f64, &str> {
        let repeated = cost_of(&self.tokens_repeated, models).unwrap_or(0.0);
        match cost_of(&self.tokens, models) {
            Some(cost) => Ok((cost - repeated).max(0.0)),
            None => {
                Err(self.tokens.keys().find(|model| models.get(model).is_none()).map_or("", String::as_str))
            }
        }
    }

    /// Returns the requests with an answer.
    pub fn answered(&self) -> &HashSet<RequestKey> {
        &self.answered
    }

    /// Takes a line of a file; an empty one is skipped. Describes a request that failed, and a line that is no answer.
    pub fn take(&mut self, line: &[u8], describe: &mut dyn FnMut(String)) {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return;
        }
        match read(line) {
            Ok(Line::Answer(key, mut reply)) => {
                if let Some(model) = &self.model {
                    reply.model.clone_from(model);
                }
                if self.answered.insert(key) {
                    add_tokens(&mut self.tokens, &reply);
                    self.waiting.push((key, reply));
                } else {
                    self.n_repeated += 1;
                    describe("a second answer to a request; the first one counts".to_owned());
                }
            }
            Ok(Line::Failed(what)) => {
                self.n_failed += 1;
                describe(format!("the request failed: {}", shortened(&what)));
            }
            Err(what) => {
                self.n_unreadable += 1;
                describe(what.to_owned());
            }
        }
    }

    /// Stores the answers so far if they are many.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub fn flush_if_many(&mut self, cache: &ReplyCache) -> Result<(), Error> {
        if self.waiting.len() >= AT_ONCE { self.flush(cache) } else { Ok(()) }
    }

    /// Stores the answers so far. An answer in the cache that can be used stays: runs may have used it.
    ///
    /// # Errors
    /// The cache cannot be read or written.
    pub fn flush(&mut self, cache: &ReplyCache) -> Result<(), Error> {
        let mut new = Vec::with_capacity(self.waiting.len());
        for (key, reply) in &self.waiting {
            if cache.get(*key)?.is_none_or(|stored| stored.is_unusable) {
                new.push((*key, reply));
            } else {
                add_tokens(&mut self.tokens_repeated, reply);
            }
        }
        let n_new = new.len() as u64;
        cache.put_all(new)?;
        self.n_stored += n_new;
        self.n_repeated += self.waiting.len() as u64 - n_new;
        self.waiting.clear();
        Ok(())
    }
}

/// Tokens of requests, of their parts in a cache, and of answers.
type Tokens = (u64, u64, u64);

fn add_tokens(sums: &mut BTreeMap<String, Tokens>, stored: &StoredReply) {
    let Ok(reply) = read_reply(&stored.reply, 0.0) else { return };
    let sum = sums.entry(stored.model.clone()).or_default();
    sum.0 += reply.input_tokens.unwrap_or(0);
    sum.1 += reply.cached_tokens.unwrap_or(0);
    sum.2 += reply.output_tokens.unwrap_or(0);
}

fn cost_of(sums: &BTreeMap<String, Tokens>, models: &Models) -> Option<f64> {
    sums.iter().try_fold(0.0, |sum, (model, &(input, cached, output))| {
        let model = models.get(model)?;
        Some(sum + model.batch.unwrap_or(model.price).cost(input, cached, output))
    })
}

enum Line {
    Answer(RequestKey, StoredReply),
    Failed(String),
}

fn read(line: &[u8]) -> Result<Line, &'static str> {
    let line: Value =
        serde_json::from_slice(line).map_err(|_| "expected a JSON object, found something else")?;
    let key = line["custom_id"].as_str().and_then(RequestKey::parse);
    let key = key.ok_or("\"custom_id\" is no id that `callsieve batch export` wrote")?;
    let result = &line["result"];
    let reply = if result.is_object() {
        match result["type"].as_str() {
            Some("succeeded") => from_anthropic(&result["message"]),
            other => return Ok(Line::Failed(other.unwrap_or("a result without a type").to_owned())),
        }
    } else {
        let response = &line["response"];
        if response.is_null() && line["error"].is_null() {
            return Err("no answer: neither \"response\" nor \"result\" nor \"error\"");
        }
        let status = response["status_code"].as_u64().unwrap_or(200);
        if status != 200 || !line["error"].is_null() {
            let message = ["/error/message", "/response/body/error/message", "/response/error/message"];
            let message = message.iter().find_map(|place| line.pointer(place)?.as_str());
            return Ok(Line::Failed(message.map_or_else(|| format!("status {status}"), str::to_owned)));
        }
        // Early versions of vLLM have the body in the place of the response.
        if response["body"].is_object() { response["body"].clone() } else { response.clone() }
    };
    if let Err(what) = read_reply(&reply, 0.0) {
        return Ok(Line::Failed(what));
    }
    let model = reply["model"].as_str().unwrap_or_default().to_owned();
    Ok(Line::Answer(key, StoredReply::now(&model, None, reply)))
}

/// Returns a message of Anthropic as a chat reply.
fn from_anthropic(message: &Value) -> Value {
    let parts = message["content"].as_array().into_iter().flatten();
    let text: String = parts.filter_map(|part| part["text"].as_str()).collect();
    let finish = match message["stop_reason"].as_str() {
        Some("max_tokens") => "length",
        _ => "stop",
    };
    let usage = &message["usage"];
    let tokens = |key: &str| usage[key].as_u64().unwrap_or(0);
    // Tokens from and into the provider's cache are not part of its input tokens.
    let cached = tokens("cache_read_input_tokens");
    let input = tokens("input_tokens") + cached + tokens("cache_creation_input_tokens");
    json!({
        "model": message["model"],
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": input, "completion_tokens": tokens("output_tokens"),
            "prompt_tokens_details": {"cached_tokens": cached}}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> PendingRequest {
        let body = json!({"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            "response_format": {"type": "json_schema"}, "temperature": 0, "max_tokens": 9});
        let body = body.as_object().unwrap().clone();
        PendingRequest { key: RequestKey::of(&body, 0), body, input_tokens: 5, max_output: 9 }
    }

    #[test]
    fn files_have_one_model_each_and_keep_within_the_limits() {
        let of = |model: &str, n: u32| {
            let body = json!({"model": model, "messages": []}).as_object().unwrap().clone();
            PendingRequest { key: RequestKey::of(&body, n), body, input_tokens: 1, max_output: 1 }
        };
        let requests = [of("a", 0), of("b", 1), of("a", 2), of("a", 3), of("b", 4)];
        let names = |max_requests, max_bytes| -> Vec<String> {
            let files = files(&requests, max_requests, max_bytes);
            let name = |request: &&PendingRequest| {
                let at = requests.iter().position(|other| other.key == request.key).unwrap();
                at.to_string()
            };
            files.iter().map(|file| file.iter().map(name).collect::<String>()).collect()
        };
        assert_eq!(names(9, MAX_BYTES), ["023", "14"]);
        assert_eq!(names(2, MAX_BYTES), ["02", "14", "3"]);
        let two = 2 * line(&requests[0]).len();
        assert_eq!(names(9, two), ["02", "14", "3"]);
        assert_eq!(names(9, two - 1), ["0", "1", "2", "3", "4"]);
        assert!(files(&[], 9, 9).is_empty());
    }

    #[test]
    fn requests_are_written_in_both_forms_with_the_key_as_their_id() {
        let (one, key) = (pending(), pending().key.to_string());
        let line: Value =
            serde_json::from_str(&written(std::slice::from_ref(&one), BatchForm::OpenAi)).unwrap();
        assert_eq!(
            (line["custom_id"].as_str(), &line["body"]),
            (Some(key.as_str()), &Value::Object(one.body.clone()))
        );
        let whole: Value = serde_json::from_str(&written(&[one], BatchForm::Anthropic)).unwrap();
        assert_eq!(
            whole["requests"][0],
            json!({"custom_id": key, "params": {"model": "m", "max_tokens": 9,
            "messages": [{"role": "user", "content": "u"}], "system": "s", "temperature": 0}})
        );
    }

    #[test]
    fn answers_of_every_service_are_read_and_failures_are_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ReplyCache::open(folder.path()).unwrap();
        let id = |n: u32| RequestKey::of(&pending().body, n).to_string();
        let body = |text: &str| json!({"model": "m", "choices": [{"message": {"content": text}}]});
        let lines = [
            json!({"custom_id": id(2), "response": {"status_code": 200, "body": body("openai")}, "error": null}),
            json!({"custom_id": id(1), "response": body("vllm")}),
            json!({"custom_id": id(1), "response": body("again")}),
            json!({"custom_id": id(0), "result": {"type": "succeeded", "message": {"model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "anthropic"}], "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3}}}}),
            json!({"custom_id": id(3), "response": {"status_code": 500, "body": {"error": {"message": "down"}}}}),
            json!({"custom_id": id(3), "response": null, "error": {"message": "expired"}}),
            json!({"custom_id": id(3), "result": {"type": "errored"}}),
            json!({"custom_id": id(3), "response": {"status_code": 200, "body": {"choices": []}}}),
            json!({"custom_id": "other", "response": body("x")}),
            // A line of the requests.
            json!({"custom_id": id(4), "method": "POST", "body": {"model": "m"}}),
            json!([1]),
        ];
        let (mut imported, mut faults) = (Imported::default(), Vec::new());
        for line in lines {
            imported.take(line.to_string().as_bytes(), &mut |what| faults.push(what));
            imported.flush_if_many(&cache).unwrap();
        }
        imported.take(b"  ", &mut |what| faults.push(what));
        imported.flush(&cache).unwrap();
        assert_eq!((imported.n_stored, imported.n_failed, imported.n_unreadable), (3, 4, 3), "{faults:?}");
        assert_eq!(imported.n_repeated, 1, "{faults:?}");
        let mut later = Imported::of_model("asked");
        for n in [2, 5] {
            let line = json!({"custom_id": id(n), "response": body("later")}).to_string();
            later.take(line.as_bytes(), &mut |what| panic!("{what}"));
        }
        later.flush(&cache).unwrap();
        assert_eq!((later.n_stored, later.n_repeated), (1, 1));
        let new = cache.get(RequestKey::of(&pending().body, 5)).unwrap().unwrap();
        assert_eq!((new.model.as_str(), &new.reply["model"]), ("asked", &json!("m")));
        for (n, text) in [(0, "anthropic"), (1, "vllm"), (2, "openai")] {
            let stored = cache.get(RequestKey::of(&pending().body, n)).unwrap().unwrap();
            let reply = read_reply(&stored.reply, 0.0).unwrap();
            assert_eq!(reply.content, text);
            assert!(n > 0 || (reply.input_tokens, reply.cached_tokens) == (Some(8), Some(3)));
        }
        assert_eq!(cache.get(RequestKey::of(&pending().body, 3)).unwrap(), None);
        assert!(faults.contains(&"the request failed: expired".to_owned()), "{faults:?}");
    }
}
