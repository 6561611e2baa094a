//! Multi-turn entries: a conversation for each, as the handler of BFCL for OpenAI-compatible models has it.
//!
//! A turn adds its messages. Then the model is asked step by step: the package decodes each reply and executes its calls, and the
//! results are added, as tool messages or as one text. A reply without a call ends the turn, and too many steps the conversation,
//! so that the output lacks the turns after it. Each conversation has its own thread and process.

use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::steps::Step;
use super::{Ask, AskMode, Asked, Ledger, Question, Stopped, file, is_multi_turn, prompt};
use crate::dataset::{Category, Dataset, Entry};
use crate::error::Result;
use crate::official::Package;
use crate::official::environments::{Docs, Executed};
use crate::results::CACHED;
use callsieve_engine::context::Cancelled;
use callsieve_llm::Error as ClientError;
use callsieve_llm::chat::{ChatReply, Exchange};
use callsieve_llm::client::Client;
use callsieve_text::content_hash::content_hash;

/// Conversations at once, at most: each has a process of 50 to 100 MB.
const MAX_AT_ONCE: usize = 32;

/// Interval in which a request that does not fit the budget is looked at again.
const WAIT: Duration = Duration::from_millis(50);

/// What is said to a model about an entry.
pub(super) struct Conversation<'d> {
    pub(super) id: String,
    /// The hash of all that is known before the first request.
    pub(super) request: String,
    entry: &'d Entry,
    /// The tools of the first turn.
    tools: Vec<Value>,
    turns: Vec<Turn>,
    max_steps: usize,
}

/// What a turn adds.
struct Turn {
    messages: Vec<Value>,
    tools: Vec<Value>,
}

/// Returns the conversations of the entries that are to be asked, and counts them; those without one are named in `asked`.
///
/// # Errors
/// If the package does not start.
pub(super) fn conversations<'d>(
    package: &Package,
    dataset: &'d Dataset,
    ask: &Ask,
    asked: &mut Asked,
) -> Result<Vec<Conversation<'d>>> {
    let categories = dataset.categories.iter().filter(|category| is_multi_turn(category));
    let chosen: Vec<(&Category, &Entry)> = categories
        .flat_map(|of| of.entries.iter().take(ask.n_chosen(of)).map(move |entry| (of, entry)))
        .collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    asked.n += chosen.len();
    let entries: Vec<&Entry> = chosen.iter().map(|(_, entry)| *entry).collect();
    let (docs, facts) = package.docs(&entries)?;
    asked.package = Some(facts);
    let mut all = Vec::new();
    for ((category, entry), docs) in chosen.into_iter().zip(docs) {
        match docs.and_then(|docs| conversation(ask, category, entry, docs)) {
            Ok(conversation) => all.push(conversation),
            Err(reason) => asked.unasked.push((entry.id.clone(), reason)),
        }
    }
    Ok(all)
}

fn conversation<'d>(
    ask: &Ask,
    category: &Category,
    entry: &'d Entry,
    docs: Docs,
) -> std::result::Result<Conversation<'d>, String> {
    let with_docs = Entry { functions: docs.functions.into(), ..entry.clone() };
    let mut first = prompt::request(ask.mode, category, &with_docs)?;
    let mut take = |key: &str| match first.shift_remove(key) {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let (messages, tools) = (take("messages"), take("tools"));
    let mut turns = vec![Turn { messages, tools: Vec::new() }];
    for (number, turn) in entry.question.as_array().into_iter().flatten().enumerate().skip(1) {
        let Some(added) = docs.added.get(&number.to_string()) else {
            turns.push(Turn { messages: turn.as_array().cloned().unwrap_or_default(), tools: Vec::new() });
            continue;
        };
        if turn.as_array().is_none_or(|messages| !messages.is_empty()) {
            return Err(format!("turn {number} adds functions, and has a message"));
        }
        let (text, tools) = match ask.mode {
            AskMode::Prompt => (&added.prompt, Vec::new()),
            AskMode::Calls => (&added.calls, prompt::tools(added.functions.clone())?),
        };
        turns.push(Turn { messages: vec![json!({"role": "user", "content": text})], tools });
    }
    let of_turns: Vec<Value> = turns.iter().map(|turn| json!([turn.messages, turn.tools])).collect();
    let request = json!([body(ask, &[], &tools), of_turns, entry.more]);
    Ok(Conversation {
        id: entry.id.clone(),
        request: format!("{:032x}", content_hash(request.to_string())),
        entry,
        tools,
        turns,
        max_steps: docs.max_steps,
    })
}

fn body(ask: &Ask, messages: &[Value], tools: &[Value]) -> Value {
    let mut request = Map::new();
    request.insert("messages".to_owned(), json!(messages));
    if !tools.is_empty() {
        request.insert("tools".to_owned(), json!(tools));
    }
    super::body(ask, request)
}

/// Has the conversations, several at once, until all have an output or the call stops.
pub(super) fn converse<'c>(
    client: &Client,
    package: &Package,
    all: &[&Conversation<'_>],
    ledger: Ledger<'c>,
    cancelled: Cancelled<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Ledger<'c> {
    let n_at_once = ledger.ask.n_concurrent.clamp(1, MAX_AT_ONCE).min(all.len());
    let talks =
        Talks { client, package, all, cancelled, next: AtomicUsize::new(0), ledger: Mutex::new(ledger) };
    let (ended, endings) = channel();
    std::thread::scope(|scope| {
        for _ in 0..n_at_once {
            let (ended, talks) = (ended.clone(), &talks);
            scope.spawn(move || {
                while let Some(at) = talks.next() {
                    if talks.converse(at).is_some() && ended.send(()).is_err() {
                        return;
                    }
                }
            });
        }
        drop(ended);
        for () in endings {
            let ledger = talks.ledger();
            progress(ledger.asked.known + ledger.asked.arrived, ledger.asked.n);
        }
    });
    talks.ledger.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What the threads share.
struct Talks<'t, 'c> {
    client: &'t Client,
    package: &'t Package,
    all: &'t [&'t Conversation<'t>],
    cancelled: Cancelled<'t>,
    next: AtomicUsize,
    ledger: Mutex<Ledger<'c>>,
}

/// A conversation so far.
#[derive(Default)]
struct Talk {
    messages: Vec<Value>,
    tools: Vec<Value>,
    turns: Vec<Vec<Step>>,
    /// Why its calls cannot be executed.
    fault: Option<String>,
}

impl<'c> Talks<'_, 'c> {
    fn ledger(&self) -> MutexGuard<'_, Ledger<'c>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<usize> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        (at < self.all.len() && !self.ledger().has_stopped()).then_some(at)
    }

    fn stop(&self, why: Stopped) {
        self.ledger().asked.stopped.get_or_insert(why);
    }

    /// Has a conversation and stores its output; `None` if it is not whole.
    fn converse(&self, at: usize) -> Option<()> {
        let (of, ask) = (self.all[at], self.ledger().ask);
        let is_calls = ask.mode == AskMode::Calls;
        let mut services = match self.package.open(of.entry, &ask.model, is_calls) {
            Ok(services) => services,
            Err(reason) => {
                self.stop(Stopped::Client(format!("{}: {reason}", of.id)));
                return None;
            }
        };
        let mut talk = Talk { tools: of.tools.clone(), ..Talk::default() };
        for turn in &of.turns {
            talk.messages.extend(turn.messages.iter().cloned());
            talk.tools.extend(turn.tools.iter().cloned());
            talk.turns.push(Vec::new());
            let is_over = self.turn(at, &mut talk, &mut |output| services.step(output))?;
            if is_over {
                break;
            }
        }
        let row = row(ask, of, &talk);
        let mut ledger = self.ledger();
        if let Err(cause) = ledger.file.store(&row) {
            ledger.broken = Some((ask.save.clone(), cause));
            return None;
        }
        ledger.asked.arrived += 1;
        Some(())
    }

    /// Asks until a reply has no call; returns whether the conversation is over. `None` if a reply is missing.
    fn turn(
        &self,
        at: usize,
        talk: &mut Talk,
        execute: &mut dyn FnMut(&Value) -> std::result::Result<Executed, String>,
    ) -> Option<bool> {
        let (of, mode) = (self.all[at], self.ledger().ask.mode);
        for n_executed in 1.. {
            let mut step = self.step(at, talk)?;
            match execute(&step.result) {
                Ok(executed) if step.executed.is_none() => {
                    step.executed = Some(executed);
                    self.store(&step)?;
                }
                // The services need the calls again; the next request has the results of then.
                Ok(_) => {}
                Err(fault) => talk.fault = Some(fault),
            }
            talk.messages.push(step.message.clone());
            let (message, executed) = (step.message.clone(), step.executed.clone());
            talk.turns.last_mut()?.push(step);
            if talk.fault.is_some() {
                return Some(true);
            }
            match executed? {
                Executed::Nothing => break,
                Executed::Calls { message: text, .. } if mode == AskMode::Prompt => {
                    talk.messages.push(json!({"role": "user", "content": text}));
                }
                Executed::Calls { results, .. } => talk.messages.extend(tool_messages(&message, &results)),
            }
            // The package ends a conversation at the step after its limit.
            if n_executed > of.max_steps {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns the next reply, which may have arrived in an earlier call.
    fn step(&self, at: usize, talk: &Talk) -> Option<Step> {
        let ask = self.ledger().ask;
        let body = body(ask, &talk.messages, &talk.tools);
        let question = Question::of(self.all[at].id.clone(), body);
        if let Some(step) = self.ledger().steps.known(&question) {
            return Some(step);
        }
        let reply = self.request(at, &question)?;
        let step = Step::of(ask, &question, &reply);
        self.store(&step)?;
        self.ledger().arrived(at, &reply);
        Some(step)
    }

    /// Has a reply on disk; `None` if it cannot be written.
    fn store(&self, step: &Step) -> Option<()> {
        let mut ledger = self.ledger();
        if let Err(cause) = ledger.steps.store(step) {
            ledger.broken = Some((ledger.steps.path.clone(), cause));
            return None;
        }
        Some(())
    }

    /// Sends a request once it fits the budget; `None` if there is no reply.
    fn request(&self, at: usize, question: &Question) -> Option<ChatReply> {
        loop {
            let mut ledger = self.ledger();
            if ledger.has_stopped() {
                return None;
            }
            if ledger.may_send(at, question) {
                break;
            }
            if ledger.budget.is_idle() {
                ledger.asked.stopped = ledger.budget.refused.map(|estimate| Stopped::Cost { estimate });
                return None;
            }
            drop(ledger);
            std::thread::sleep(WAIT);
        }
        let mut reply = OneReply(None);
        let ended = self.client.chat_each(from_ref(&question.body), 1, self.cancelled, &mut reply);
        match (ended, reply.0) {
            (Ok(()), Some(Ok(reply))) => return Some(reply),
            (Ok(()), Some(Err(error))) => self.ledger().failed(at, &question.id, &error),
            (Err(ClientError::Interrupted), _) => self.stop(Stopped::Interrupted),
            (Err(error), _) => self.stop(Stopped::Client(error.to_string())),
            (Ok(()), None) => {}
        }
        None
    }
}

struct OneReply(Option<std::result::Result<ChatReply, ClientError>>);

impl Exchange for OneReply {
    fn receive(&mut self, _at: usize, reply: std::result::Result<ChatReply, ClientError>) -> ControlFlow<()> {
        self.0 = Some(reply);
        ControlFlow::Continue(())
    }
}

/// Returns the results of calls as messages, each with the id of its call.
fn tool_messages(message: &Value, results: &[String]) -> Vec<Value> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let tool = |(call, result): (&Value, &String)| json!({"role": "tool", "content": result, "tool_call_id": call["id"]});
    calls.zip(results).map(tool).collect()
}

/// Returns the output in the form of BFCL result files: a value for each step of each turn.
fn row(ask: &Ask, of: &Conversation<'_>, talk: &Talk) -> Value {
    let each = |get: &dyn Fn(&Step) -> Value| -> Value {
        talk.turns.iter().map(|turn| turn.iter().map(get).collect::<Value>()).collect()
    };
    let any = |is: &dyn Fn(&Step) -> bool| talk.turns.iter().flatten().any(is);
    let mut row = json!({
        "id": of.id, "result": each(&|step| step.result.clone()),
        "input_token_count": each(&|step| json!(step.input_tokens)),
        "output_token_count": each(&|step| json!(step.output_tokens)),
        "latency": each(&|step| step.latency.clone()),
    });
    if any(&|step| step.cached_tokens.is_some_and(|cached| cached > 0)) {
        row[CACHED] = each(&|step| json!(step.cached_tokens.unwrap_or(0)));
    }
    if any(&|step| step.reasoning.is_some()) {
        row["reasoning_content"] = each(&|step| json!(step.reasoning.as_deref().unwrap_or_default()));
    }
    if let Some(fault) = &talk.fault {
        row["environment_error"] = json!(fault);
    }
    file::end(&mut row, ask, each(&|step| json!(step.finish_reason)), &of.request);
    row
}
