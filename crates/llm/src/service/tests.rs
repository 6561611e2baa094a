//! Rollouts through the cache and the limits of the service, against a scripted server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{ChatService, Dispatch};
use crate::cache::ReplyCache;
use crate::client::{Client, RetryPolicy};
use crate::models::Models;
use callsieve_engine::context::{Context, Quiet};
use callsieve_engine::language_model::{AnsweredCall, ChatRequest, LanguageModel as _, ModelUsage};
use callsieve_engine::rollout::{AskedOutcome, Next, Rollout, follow};
use callsieve_engine::services::Services;
use callsieve_testkit::server::{Reply, Server};

/// Asks a model that calls `add` until it says a text, and carries out its calls.
struct Adding {
    messages: Vec<Value>,
}

impl Adding {
    fn of(number: u64) -> Self {
        Self { messages: vec![json!({"role": "user", "content": number.to_string()})] }
    }
}

impl Rollout for Adding {
    type Output = String;

    fn next(&mut self, outcomes: Vec<AskedOutcome>) -> Next<String> {
        for outcome in outcomes {
            let answer = match outcome {
                Ok(answer) => answer,
                Err(why) => return Next::Done(why.describe()),
            };
            if answer.calls.is_empty() {
                assert_eq!((answer.finish_reason.as_deref(), answer.output_tokens), (Some("stop"), Some(2)));
                return Next::Done(answer.text);
            }
            assert_eq!(answer.reasoning.as_deref(), Some("one more"));
            for AnsweredCall { id, name, arguments } in answer.calls {
                assert_eq!(name, "add");
                let sum = arguments.parse::<u64>().unwrap() + 1;
                self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": sum.to_string()}));
            }
        }
        let mut body = Map::new();
        body.insert("messages".to_owned(), json!(self.messages));
        Next::Ask(vec![ChatRequest {
            model: "m".to_owned(),
            body,
            sample: 0,
            usual_output: 5,
            max_output: 50,
        }])
    }
}

/// Calls `add` with the last number until it is a multiple of three; answers of odd numbers are late.
fn answer(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let last: u64 = messages.last().unwrap()["content"].as_str().unwrap().parse().unwrap();
    if last % 2 == 1 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let message = if last.is_multiple_of(3) {
        json!({"role": "assistant", "content": format!("It is {last}.")})
    } else {
        let call = json!({"id": format!("call-{last}"), "type": "function",
            "function": {"name": "add", "arguments": last.to_string()}});
        json!({"role": "assistant", "content": null, "reasoning": "one more", "tool_calls": [call]})
    };
    let finish = if last.is_multiple_of(3) { "stop" } else { "tool_calls" };
    json!({"choices": [{"message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    .to_string()
}

fn follow_to_the_end(cache: &Path, dispatch: Dispatch) -> (Vec<String>, ModelUsage) {
    let service = ChatService::new(ReplyCache::open(cache).unwrap(), Models::known(), dispatch);
    let cancel = AtomicBool::new(false);
    let services = Services::default().with_language_model(Some(Arc::new(service)));
    let cx = Context::new(1, &cancel, &Quiet).with_services(services);
    follow((1..=8).map(Adding::of), &cx).unwrap()
}

fn send(server: &Server, n_concurrent: usize) -> Dispatch {
    let policy = RetryPolicy {
        max_attempts: 1,
        first_wait: Duration::from_millis(1),
        max_wait: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let client = Box::new(Client::new(&server.url, None, policy).unwrap());
    Dispatch::Send { client, n_concurrent, max_cost: None }
}

#[test]
fn the_order_in_which_answers_arrive_changes_no_rollout() {
    let ended = [1, 8].map(|n_concurrent| {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(|request, _| Reply::new(200, answer(&request.json())));
        let (ended, usage) = follow_to_the_end(folder.path(), send(&server, n_concurrent));
        // 3 and 6 answer at once, 2, 5 and 8 after one call, 1, 4 and 7 after two.
        assert_eq!((server.requests().len(), usage.requests, usage.rows), (17, 17, 8));
        ended
    });
    assert_eq!(ended[0], ended[1]);
    assert_eq!(ended[0], [3, 3, 3, 6, 6, 6, 9, 9].map(|sum| format!("It is {sum}.")));
}

#[test]
fn a_rollout_goes_on_where_it_was_stopped_and_pays_for_no_answer_twice() {
    let folder = tempfile::tempdir().unwrap();
    // Every request whose number is not small fails: the rollouts stop in the middle.
    let failing = Server::start(|request, number| {
        if number < 10 { Reply::new(200, answer(&request.json())) } else { Reply::new(400, "no") }
    });
    let (stopped, usage) = follow_to_the_end(folder.path(), send(&failing, 4));
    assert!(stopped.iter().any(|text| text.contains("400")), "{stopped:?}");
    assert_eq!(usage.arrived, 10);
    let server = Server::start(|request, _| Reply::new(200, answer(&request.json())));
    let (ended, usage) = follow_to_the_end(folder.path(), send(&server, 4));
    assert_eq!(ended, [3, 3, 3, 6, 6, 6, 9, 9].map(|sum| format!("It is {sum}.")));
    assert_eq!((server.requests().len(), usage.cached, usage.arrived), (7, 10, 7));
    let (again, usage) = follow_to_the_end(folder.path(), Dispatch::CacheOnly);
    assert_eq!((again, usage.cached), (ended, 17));
}

#[test]
fn a_request_that_failed_is_not_sent_again_in_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Reply::new(400, r#"{"error": {"message": "no"}}"#));
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    let ask = |service: &ChatService| {
        let body = Map::from_iter([("messages".to_owned(), json!([{"role": "user", "content": "1"}]))]);
        let request = ChatRequest { model: "m".to_owned(), body, sample: 0, usual_output: 5, max_output: 50 };
        let answered = service.answer(&[request], &cx).unwrap();
        assert_eq!(answered.usage.failed, 1);
        answered.outcomes
    };
    let service =
        || ChatService::new(ReplyCache::open(folder.path()).unwrap(), Models::known(), send(&server, 1));
    {
        let first = service();
        assert_eq!(ask(&first), ask(&first));
        assert_eq!(server.requests().len(), 1);
    }
    ask(&service());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn failures_that_come_last_do_not_end_a_run_whose_server_answers() {
    // The first seven fail, later than the others are answered.
    let server = Server::start(|request, _| {
        let number: u64 = request.json()["messages"][0]["content"].as_str().unwrap().parse().unwrap();
        if number < 7 {
            std::thread::sleep(Duration::from_millis(200));
            return Reply::new(503, "{}");
        }
        Reply::new(200, json!({"choices": [{"message": {"content": "It is."}}]}).to_string())
    });
    let folder = tempfile::tempdir().unwrap();
    let service =
        ChatService::new(ReplyCache::open(folder.path()).unwrap(), Models::known(), send(&server, 16));
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    let request = |number: u64| {
        let message = json!([{"role": "user", "content": number.to_string()}]);
        let body = Map::from_iter([("messages".to_owned(), message)]);
        ChatRequest { model: "m".to_owned(), body, sample: 0, usual_output: 5, max_output: 50 }
    };
    let requests: Vec<ChatRequest> = (0..12).map(request).collect();
    let usage = service.answer(&requests, &cx).unwrap().usage;
    assert_eq!((usage.arrived, usage.failed), (5, 7));
    // Where others wait behind them, they end it.
    let requests: Vec<ChatRequest> = (0..7).chain(20..90).map(request).collect();
    let service =
        ChatService::new(ReplyCache::open(folder.path()).unwrap(), Models::known(), send(&server, 1));
    assert!(service.answer(&requests, &cx).is_err());
}

#[test]
fn a_later_round_counts_what_earlier_ones_paid_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|request, _| Reply::new(200, answer(&request.json())));
    let cancel = AtomicBool::new(false);
    let cx = Context::new(1, &cancel, &Quiet);
    let request = |n: u32| {
        let text = n.to_string();
        let body = Map::from_iter([("messages".to_owned(), json!([{"role": "user", "content": text}]))]);
        ChatRequest { model: "gpt-4o".to_owned(), body, sample: 0, usual_output: 5, max_output: 50 }
    };
    let opened =
        || ChatService::new(ReplyCache::open(folder.path()).unwrap(), Models::known(), send(&server, 1));
    let service = opened();
    let ask = |service: &ChatService, all: &[u32]| {
        let requests: Vec<ChatRequest> = all.iter().map(|n| request(*n)).collect();
        service.answer(&requests, &cx).unwrap().usage
    };
    let first = ask(&service, &[1, 2]);
    assert_eq!((first.arrived, first.cached), (2, 0));
    assert!(first.cost.unwrap() > 0.0);
    // A second stage of the same round asks the same.
    let other = ask(&service, &[1, 2]);
    assert_eq!((other.arrived, other.cached, other.cost), (0, 2, None));
    service.begin_round();
    let second = ask(&service, &[1, 2, 3]);
    assert_eq!((second.arrived, second.cached, second.saved_cost), (3, 0, None));
    assert!(second.cost.unwrap() > first.cost.unwrap());
    assert!(second.input_tokens > first.input_tokens);
    assert_eq!(second.estimated_output_tokens, 15);
    assert_eq!(ask(&service, &[1, 2, 3]).cached, 3);
    // Another run has them from the cache.
    drop(service);
    let later = opened();
    later.begin_round();
    assert_eq!(ask(&later, &[1, 2, 3]).cached, 3);
    assert_eq!(server.requests().len(), 3);
}
