//! Searches with scripted models, and what the tests of the other modules share.

mod laws;
mod reference;
mod scripts;
mod toolllama;
mod traces;

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde_json::json;

use crate::finish;
use crate::reply::{Observation, Reply};
use crate::settings::{Method, Prompts, Semantics, Settings};
use crate::{Search, Wants};

/// The functions on offer in all tests.
const FUNCTIONS: [&str; 5] = ["a", "b", "c", "a_for_t", "b_for_t"];
/// How a diversity prompt begins.
const DIVERSITY: &str = "Tried before: ";

pub(crate) fn prompts() -> Prompts {
    Prompts {
        diversity: format!("{DIVERSITY}{{candidates}}"),
        unknown_function: "no function {name}".to_owned(),
        finish_fault: "cannot finish: {fault}".to_owned(),
        after_text: None,
    }
}

pub(crate) fn settings(method: Method) -> Settings {
    Settings::new(method, prompts())
}

pub(crate) fn search(settings: Settings) -> Search {
    let opening = vec![Message::text(Role::System, "Rules"), Message::text(Role::User, "Task")];
    Search::new(settings, opening, FUNCTIONS.map(str::to_owned))
}

pub(crate) fn dfsdt(width: u32) -> Search {
    search(settings(Method::Dfsdt { width }))
}

pub(crate) fn toolbench(width: u32) -> Search {
    search(Settings { semantics: Semantics::Toolbench, ..settings(Method::Dfsdt { width }) })
}

pub(crate) fn call(name: &str) -> Call {
    Call { id: None, name: name.to_owned(), arguments: json!({}) }
}

fn finish(arguments: serde_json::Value) -> Reply {
    Reply::calls(vec![Call { arguments, ..call(finish::NAME) }])
}

pub(crate) fn answer(text: &str) -> Reply {
    finish(json!({"return_type": finish::GIVE_ANSWER, "final_answer": text}))
}

pub(crate) fn give_up() -> Reply {
    finish(json!({"return_type": finish::GIVE_UP}))
}

/// A search with one call and an answer.
pub(crate) fn answered() -> Search {
    let mut search = dfsdt(2);
    search.reply(Reply::calls(vec![call("a")])).unwrap();
    search.observe(Observation::result("one")).unwrap();
    search.reply(answer("done")).unwrap();
    search
}

/// The initials of the roles as the original code names them: `F` is an observation.
pub(crate) fn letters(messages: &[Message]) -> String {
    let letter = |message: &Message| match message.role {
        Role::System => 'S',
        Role::User => 'U',
        Role::Assistant => 'A',
        Role::Tool => 'F',
    };
    messages.iter().map(letter).collect()
}

/// A request as a trace has it.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    n_messages: usize,
    n_diversity: usize,
    candidates: Vec<String>,
}

/// Runs a search to its end. `model` gets the number of the request, from 0; every observation is `seen`.
fn run(search: &mut Search, mut model: impl FnMut(usize) -> Reply) -> Vec<Asked> {
    let mut asked = Vec::new();
    loop {
        match search.wants() {
            Wants::Reply { messages, candidates, .. } => {
                let is_prompt = |message: &&Message| message.content.starts_with(DIVERSITY);
                asked.push(Asked {
                    n_messages: messages.len(),
                    n_diversity: messages.iter().filter(is_prompt).count(),
                    candidates: candidates.iter().map(|candidate| candidate.name.to_owned()).collect(),
                });
                search.reply(model(asked.len() - 1)).unwrap();
            }
            Wants::Observation { .. } => search.observe(Observation::result("seen")).unwrap(),
            Wants::Nothing => return asked,
        }
    }
}

/// Returns a model that gives these replies in order and then gives up.
fn script(replies: Vec<Reply>) -> impl FnMut(usize) -> Reply {
    move |at| replies.get(at).cloned().unwrap_or_else(give_up)
}
