//! Chat completions: one reply for each request, given to the caller as it arrives.
//!
//! A request is a JSON body, so callers decide what is in it. Replies are read leniently, because servers differ; what is no
//! reply of a model, such as a choice without a message, is an error and never an empty text.

use std::cell::Cell;
use std::future::Future;
use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::Error;
use super::client::Client;
use super::sender::{DEMAND, Demand, SECONDS};
use super::tokens::estimated;
use callsieve_engine::context::Cancelled;

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
    /// Tokens of the request that the server had in a cache; part of the tokens of the request.
    pub cached_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// The model, as the server names it.
    pub model: Option<String>,
    /// What a model with reasoning thought, if the server sends it.
    pub reasoning: Option<String>,
    /// Seconds from the start of the last attempt to the whole reply, without waits and earlier attempts.
    pub latency: f64,
    /// The whole reply of the server.
    pub whole: Value,
}

/// What happens to the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It is sent.
    Send,
    /// It is not sent, and the one after it is next.
    Skip,
    /// It waits for the next reply; no request is sent once all replies are there.
    Wait,
}

/// Decides what is sent, and gets the replies.
pub trait Exchange {
    /// Decides about the next request; one that waits is decided about again.
    fn turn(&mut self, _at: usize) -> Turn {
        Turn::Send
    }

    /// Returns the tokens that a request and its answer take at most, for the limits of the server, if they are counted.
    fn most_tokens(&self, _at: usize) -> Option<u64> {
        None
    }

    /// Gets a reply with the number of its request, in the order of arrival. `Break` stops: no other request is sent, and
    /// replies under way are dropped.
    fn receive(&mut self, at: usize, reply: Result<ChatReply, Error>) -> ControlFlow<()>;

    /// Gets the replies that arrived meanwhile, at least one, which can be stored at once.
    fn receive_all(&mut self, replies: Vec<(usize, Result<ChatReply, Error>)>) -> ControlFlow<()> {
        replies.into_iter().try_for_each(|(at, reply)| self.receive(at, reply))
    }
}

impl Client {
    /// Sends chat requests, at most `n_concurrent` at once, and at most as many as the policy of the client allows.
    ///
    /// # Errors
    /// If it is cancelled. Errors of single requests are given to the exchange.
    pub fn chat_each(
        &self,
        bodies: &[Value],
        n_concurrent: usize,
        cancelled: Cancelled<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        // More would wait for a permit of the sender.
        let n_concurrent = n_concurrent.clamp(1, self.max_concurrent().max(1));
        let mut waiting = bodies.iter().enumerate().peekable();
        self.runtime().block_on(async {
            let mut running = JoinSet::new();
            loop {
                if cancelled() {
                    return Err(Error::Interrupted);
                }
                while running.len() < n_concurrent
                    && let Some(&(at, body)) = waiting.peek()
                {
                    let turn = exchange.turn(at);
                    if turn == Turn::Wait {
                        break;
                    }
                    waiting.next();
                    if turn == Turn::Skip {
                        continue;
                    }
                    let request = self.chat(body.clone());
                    let tokens = exchange.most_tokens(at).unwrap_or_default().max(most_tokens(body));
                    let model = body["model"].as_str().unwrap_or_default().to_owned();
                    running.spawn(DEMAND.scope(Demand { model, tokens }, async move { (at, request.await) }));
                }
                match tokio::time::timeout(POLL, running.join_next()).await {
                    Err(_) => {}
                    Ok(None) => return Ok(()),
                    Ok(Some(first)) => {
                        let mut arrived = Vec::new();
                        let mut next = Some(first);
                        while let Some(ended) = next {
                            arrived.push(ended.map_err(|error| Error::Setting(error.to_string()))?);
                            next = running.try_join_next();
                        }
                        if exchange.receive_all(arrived).is_break() {
                            return Ok(());
                        }
                    }
                }
            }
        })
    }

    /// Sends one chat request.
    fn chat(&self, body: Value) -> impl Future<Output = Result<ChatReply, Error>> + Send + 'static {
        let (openai, url, refused) = (self.openai.clone(), self.address(RESOURCE), self.refused.clone());
        SECONDS.scope(Cell::new(0.0), async move {
            let answer = loop {
                let body = match (&refused, &body) {
                    (Some(refused), Value::Object(body)) => Value::Object(refused.adapted(body.clone())),
                    _ => body.clone(),
                };
                let answer: Result<Value, _> = openai.chat().create_byot(&body).await;
                match answer.map_err(|error| Self::error(&url, error)) {
                    Err(error)
                        if refused
                            .as_ref()
                            .zip(body.as_object())
                            .is_some_and(|(refused, body)| refused.learn(body, &error)) => {}
                    answer => break answer?,
                }
            };
            read_reply(&answer, SECONDS.with(Cell::get)).map_err(|what| match tokens_of(&answer["usage"]) {
                (None, _, None) => Error::Answer { url, what },
                (input, cached, output) => {
                    let n = Option::unwrap_or_default;
                    Error::Billed { url, what, tokens: (n(input), n(cached), n(output)) }
                }
            })
        })
    }
}

/// Estimates the tokens of a request and of its longest answer as servers do.
fn most_tokens(body: &Value) -> u64 {
    let limits = ["max_tokens", "max_completion_tokens"];
    let answer = limits.iter().find_map(|limit| body[*limit].as_u64()).unwrap_or_default();
    estimated(body.to_string().len()) + answer
}

/// The most tokens that a reply is believed to have; a server that reports more is wrong, and sums stay in their range.
const MOST_TOKENS: u64 = u32::MAX as u64;

/// Reads a reply. Servers differ: content in parts, arguments as an object, no usage, an error with status 200.
pub(super) fn read_reply(answer: &Value, latency: f64) -> Result<ChatReply, String> {
    let choice = &answer["choices"][0];
    if let Some(error) = [&choice["error"], &answer["error"]].into_iter().find(|error| !error.is_null()) {
        let message = error["message"].as_str().or_else(|| error.as_str());
        return Err(format!(
            "the reply is an error: {}",
            message.map_or_else(|| error.to_string(), str::to_owned)
        ));
    }
    let finish_reason = choice["finish_reason"].as_str();
    if finish_reason == Some("error") {
        return Err("the reply is an error: \"finish_reason\" is \"error\"".to_owned());
    }
    let message = &choice["message"];
    if !message.is_object() {
        return Err("the reply has no choice with a message".to_owned());
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(call).collect();
    let (input_tokens, cached_tokens, output_tokens) = tokens_of(&answer["usage"]);
    let reasoning =
        [&message["reasoning_content"], &message["reasoning"]].into_iter().find_map(Value::as_str);
    Ok(ChatReply {
        content: content(message),
        calls,
        finish_reason: finish_reason.map(str::to_owned),
        input_tokens,
        cached_tokens,
        output_tokens,
        model: answer["model"].as_str().map(str::to_owned),
        reasoning: reasoning.filter(|text| !text.is_empty()).map(str::to_owned),
        latency,
        whole: answer.clone(),
    })
}

/// Returns the tokens of a request, of its part in a cache, and of the answer, as far as the server reports them.
fn tokens_of(usage: &Value) -> (Option<u64>, Option<u64>, Option<u64>) {
    // Some write 100.0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // A whole number from 0; larger ones become the largest.
    let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    let number =
        |value: &Value| value.as_u64().or_else(|| value.as_f64().and_then(whole)).map(|n| n.min(MOST_TOKENS));
    let tokens = |keys: [&str; 2]| keys.iter().find_map(|key| number(&usage[*key]));
    (
        tokens(["prompt_tokens", "input_tokens"]),
        number(&usage["prompt_tokens_details"]["cached_tokens"]),
        tokens(["completion_tokens", "output_tokens"]),
    )
}

/// Returns the text of a message, or its refusal.
fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => message["refusal"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Returns name and arguments of a call. The official handlers read the arguments from a text; an object is written as one. A call without
/// a name has an empty one: it calls nothing, and was paid for like any other.
fn call(call: &Value) -> (String, Value) {
    let function = if call["function"].is_object() { &call["function"] } else { call };
    let name = function["name"].as_str().unwrap_or_default();
    let arguments = match &function["arguments"] {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    (name.to_owned(), Value::String(arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::RetryPolicy;
    use callsieve_testkit::server::{Reply, Server};

    fn said(text: &str) -> Value {
        json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    }

    /// Notes the replies; sends and stops as the test says.
    struct Noted<'s> {
        replies: Vec<(usize, Result<ChatReply, String>)>,
        turn: &'s mut dyn FnMut(usize) -> Turn,
        stops: bool,
    }

    impl Exchange for Noted<'_> {
        fn turn(&mut self, at: usize) -> Turn {
            (self.turn)(at)
        }

        fn receive(&mut self, at: usize, reply: Result<ChatReply, Error>) -> ControlFlow<()> {
            self.replies.push((at, reply.map_err(|error| error.to_string())));
            if self.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    fn noted(turn: &mut dyn FnMut(usize) -> Turn, stops: bool) -> Noted<'_> {
        Noted { replies: Vec::new(), turn, stops }
    }

    fn client(server: &Server) -> Client {
        Client::new(&server.url, None, RetryPolicy::fast()).unwrap()
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
        let mut always = |_| Turn::Send;
        let mut noted = noted(&mut always, false);
        client(&server).chat_each(&bodies, 2, &|| false, &mut noted).unwrap();
        noted.replies.sort_by_key(|(at, _)| *at);
        let [(0, Ok(a)), (1, Err(bad)), (2, Ok(c))] = &noted.replies[..] else {
            panic!("{:?}", noted.replies)
        };
        assert_eq!((a.content.as_str(), a.input_tokens, c.content.as_str()), ("a", Some(7), "c"));
        assert!(a.latency > 0.0 && a.latency < 5.0, "{a:?}");
        assert!(bad.contains("status 400: no"), "{bad}");
        assert_eq!(server.requests()[0].path, "/chat/completions");
    }

    #[test]
    fn nothing_is_sent_after_a_stop() {
        let server = Server::start(|_, _| Reply::new(200, said("a").to_string()));
        let bodies = vec![json!({"messages": []}); 5];
        let mut always = |_| Turn::Send;
        client(&server).chat_each(&bodies, 1, &|| false, &mut noted(&mut always, true)).unwrap();
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn requests_that_may_not_be_sent_are_not_and_replies_under_way_arrive() {
        let server = Server::start(|_, _| Reply::new(200, said("a").to_string()));
        let bodies = vec![json!({"messages": []}); 5];
        let mut three = |at| if at < 3 { Turn::Send } else { Turn::Wait };
        let mut noted = noted(&mut three, false);
        client(&server).chat_each(&bodies, 4, &|| false, &mut noted).unwrap();
        assert_eq!((server.requests().len(), noted.replies.len()), (3, 3));
    }

    #[test]
    fn those_behind_a_request_that_is_skipped_are_sent() {
        let server = Server::start(|_, _| Reply::new(200, said("a").to_string()));
        let bodies = vec![json!({"messages": []}); 5];
        let mut odd = |at: usize| if at % 2 == 1 { Turn::Send } else { Turn::Skip };
        let mut noted = noted(&mut odd, false);
        client(&server).chat_each(&bodies, 1, &|| false, &mut noted).unwrap();
        assert_eq!(noted.replies.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn the_latency_has_no_waits_and_no_failed_attempts() {
        let server = Server::start(|_, number| match number {
            0 => {
                std::thread::sleep(Duration::from_millis(400));
                Reply::new(503, "busy")
            }
            _ => Reply::new(200, said("a").to_string()),
        });
        let mut always = |_| Turn::Send;
        let mut noted = noted(&mut always, false);
        client(&server).chat_each(&[json!({})], 1, &|| false, &mut noted).unwrap();
        let (_, Ok(reply)) = &noted.replies[0] else { panic!("{:?}", noted.replies) };
        assert!(reply.latency > 0.0 && reply.latency < 0.4, "{reply:?}");
    }

    #[test]
    fn an_error_with_status_200_is_retried_like_its_code() {
        let server = Server::start(|_, number| match number {
            0 => Reply::new(200, r#"{"error": {"code": 502, "message": "no upstream"}}"#),
            _ => Reply::new(200, said("a").to_string()),
        });
        let mut always = |_| Turn::Send;
        let mut noted = noted(&mut always, false);
        client(&server).chat_each(&[json!({})], 1, &|| false, &mut noted).unwrap();
        assert!(noted.replies[0].1.is_ok() && server.requests().len() == 2, "{:?}", noted.replies);
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
        assert_eq!(read(json!({"content": null, "tool_calls": null})).content, "");
        let whole = json!({"choices": [{"message": {"content": "a", "reasoning_content": "hm"}, "finish_reason": "length"}],
            "model": "m-2", "usage": {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}});
        let reply = read_reply(&whole, 0.5).unwrap();
        assert_eq!((reply.model.as_deref(), reply.reasoning.as_deref()), (Some("m-2"), Some("hm")));
        assert_eq!((reply.cached_tokens, reply.finish_reason.as_deref()), (Some(4), Some("length")));
    }

    #[test]
    fn what_is_no_reply_of_a_model_is_an_error() {
        for (answer, expected) in [
            (json!({"error": {"message": "overloaded"}}), "the reply is an error: overloaded"),
            (json!({"error": "overloaded", "choices": []}), "the reply is an error: overloaded"),
            (
                json!({"choices": [{"error": {"code": 502}, "message": {"content": ""}}]}),
                r#"an error: {"code":502}"#,
            ),
            (
                json!({"choices": [{"finish_reason": "error", "message": {"content": "hal"}}]}),
                "\"finish_reason\" is",
            ),
            (json!({"choices": [{"finish_reason": "stop"}]}), "no choice with a message"),
            (json!({"choices": []}), "no choice with a message"),
            (json!([]), "no choice with a message"),
        ] {
            let error = read_reply(&answer, 0.0).unwrap_err();
            assert!(error.contains(expected), "{answer}: {error}");
        }
    }

    #[test]
    fn a_call_without_a_name_and_tokens_without_number_are_a_reply() {
        let answer = json!({
            "choices": [{"message": {"tool_calls": [{"function": {"arguments": "{}"}}]}}],
            "usage": {"prompt_tokens": u64::MAX, "completion_tokens": 3},
        });
        let reply = read_reply(&answer, 0.0).unwrap();
        assert_eq!(reply.calls, [(String::new(), json!("{}"))]);
        assert_eq!((reply.input_tokens, reply.output_tokens), (Some(MOST_TOKENS), Some(3)));
    }
}
