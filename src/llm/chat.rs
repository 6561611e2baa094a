//! Chat completions: one reply for each request, given to the caller as it arrives.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;

use super::Error;
use super::client::Client;
use crate::engine::context::Cancelled;

/// Interval of the checks for cancellation.
const POLL: Duration = Duration::from_millis(50);

const RESOURCE: &str = "chat/completions";

/// A reply of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// The text; empty if there is none.
    pub content: String,
    /// The calls as pairs of name and arguments, each the text that the server sent.
    pub calls: Vec<(String, Value)>,
    /// Why the model stopped, in the server's word.
    pub finish_reason: Option<String>,
    /// Tokens of the request.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// Seconds from the start of the request, waiting and retries included, to the whole reply.
    pub latency: f64,
}

impl Client {
    /// Sends chat requests, at most `n_concurrent` at once, and gives each reply to a function with the number of its
    /// request, in the order of arrival. `Break` stops: no other request is sent, and replies under way are dropped.
    ///
    /// # Errors
    /// If it is cancelled. Errors of single requests are given to the function.
    pub fn chat_each(
        &self,
        bodies: &[Value],
        n_concurrent: usize,
        cancelled: Cancelled<'_>,
        mut reply: impl FnMut(usize, Result<ChatReply, Error>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let url = self.address(RESOURCE);
        let mut waiting = bodies.iter().enumerate();
        self.runtime().block_on(async {
            let mut running = JoinSet::new();
            loop {
                if cancelled() {
                    return Err(Error::Interrupted);
                }
                while running.len() < n_concurrent.max(1)
                    && let Some((at, body)) = waiting.next()
                {
                    let (openai, url, body) = (self.openai.clone(), url.clone(), body.clone());
                    running.spawn(async move {
                        let start = Instant::now();
                        let answer: Result<Value, _> = openai.chat().create_byot(body).await;
                        let read = answer.map_err(|error| Self::error(&url, error)).and_then(|answer| {
                            read_reply(&answer, start.elapsed().as_secs_f64())
                                .map_err(|what| Error::Answer { url, what })
                        });
                        (at, read)
                    });
                }
                match tokio::time::timeout(POLL, running.join_next()).await {
                    Err(_) => {}
                    Ok(None) => return Ok(()),
                    Ok(Some(Ok((at, read)))) => {
                        if reply(at, read).is_break() {
                            return Ok(());
                        }
                    }
                    Ok(Some(Err(error))) => return Err(Error::Setting(error.to_string())),
                }
            }
        })
    }
}

/// Reads a reply. Servers differ: content in parts, arguments as an object, no usage, an error with status 200.
fn read_reply(answer: &Value, latency: f64) -> Result<ChatReply, String> {
    let Some(choice) = answer["choices"].get(0) else {
        let error =
            [&answer["error"]["message"], &answer["error"]].into_iter().find(|error| !error.is_null());
        return Err(error.map_or_else(
            || "the reply has no choices".to_owned(),
            |error| {
                format!(
                    "the reply is an error: {}",
                    error.as_str().map_or_else(|| error.to_string(), str::to_owned)
                )
            },
        ));
    };
    let message = &choice["message"];
    let content = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => message["refusal"].as_str().unwrap_or_default().to_owned(),
    };
    let mut calls = Vec::new();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = if call["function"].is_object() { &call["function"] } else { call };
        let name = function["name"].as_str().ok_or("a call of the reply has no name")?;
        // The official handlers read a text; an object is written as one.
        let arguments = match &function["arguments"] {
            Value::Null => Value::String("{}".to_owned()),
            Value::String(text) => Value::String(text.clone()),
            other => Value::String(other.to_string()),
        };
        calls.push((name.to_owned(), arguments));
    }
    let usage = &answer["usage"];
    let tokens = |keys: [&str; 2]| keys.iter().find_map(|key| usage[*key].as_u64());
    Ok(ChatReply {
        content,
        calls,
        finish_reason: choice["finish_reason"].as_str().map(str::to_owned),
        input_tokens: tokens(["prompt_tokens", "input_tokens"]),
        output_tokens: tokens(["completion_tokens", "output_tokens"]),
        latency,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::client::RetryPolicy;
    use crate::llm::server::{Reply, Server};

    fn said(text: &str) -> Value {
        json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    }

    fn client(server: &Server) -> Client {
        let policy = RetryPolicy {
            first_wait: Duration::from_millis(1),
            max_wait: Duration::from_millis(5),
            ..RetryPolicy::default()
        };
        Client::new(&server.url, None, policy).unwrap()
    }

    #[test]
    fn every_reply_is_given_with_the_number_of_its_request() {
        let server = Server::start(|request, _| {
            let text = request.json()["messages"][0]["content"].as_str().unwrap().to_owned();
            if text == "bad" {
                Reply::new(400, r#"{"error": {"message": "no"}}"#)
            } else {
                Reply::new(200, said(&text).to_string())
            }
        });
        let bodies: Vec<Value> = ["a", "bad", "c"]
            .iter()
            .map(|text| json!({"messages": [{"role": "user", "content": text}]}))
            .collect();
        let mut replies = vec![None; 3];
        let mut errors = Vec::new();
        client(&server)
            .chat_each(&bodies, 2, &|| false, |at, reply| {
                match reply {
                    Ok(reply) => replies[at] = Some((reply.content, reply.input_tokens)),
                    Err(error) => errors.push((at, error.to_string())),
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(replies, [Some(("a".to_owned(), Some(7))), None, Some(("c".to_owned(), Some(7)))]);
        assert!(errors[0].0 == 1 && errors[0].1.contains("status 400: no"), "{errors:?}");
        assert_eq!(server.requests()[0].path, "/chat/completions");
    }

    #[test]
    fn nothing_is_sent_after_a_stop() {
        let server = Server::start(|_, _| Reply::new(200, said("a").to_string()));
        let bodies = vec![json!({"messages": []}); 5];
        client(&server).chat_each(&bodies, 1, &|| false, |_, _| ControlFlow::Break(())).unwrap();
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn replies_of_other_forms_are_read() {
        let read = |message: Value| read_reply(&json!({"choices": [{"message": message}]}), 0.5).unwrap();
        assert_eq!(
            read(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})).content,
            "ab"
        );
        assert_eq!(read(json!({"content": null, "refusal": "no"})).content, "no");
        let call = |arguments: Value| json!({"content": null, "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]});
        for (arguments, expected) in
            [(json!({"x": 1}), r#"{"x":1}"#), (json!("{\"x\": 1}"), "{\"x\": 1}"), (Value::Null, "{}")]
        {
            assert_eq!(read(call(arguments)).calls, [("f".to_owned(), json!(expected))]);
        }
        let error = read_reply(&json!({"error": {"message": "overloaded"}}), 0.0).unwrap_err();
        assert_eq!(error, "the reply is an error: overloaded");
    }
}
