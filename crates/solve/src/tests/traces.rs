//! Searches recorded from the original code with scripted models: every number is the same in ToolBench semantics.

use std::collections::BTreeMap;

use callsieve_testkit::data;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::ending::PathEnd;
use crate::training;

#[derive(Deserialize)]
struct Trace {
    name: String,
    params: Params,
    return_value: u32,
    error: Option<String>,
    query_count: usize,
    llm_calls: usize,
    status: u32,
    n_terminal: usize,
    n_give_up: usize,
    tree_size: usize,
    tree_depth: usize,
    calls: Vec<TraceCall>,
    valid_data: bool,
    finish_type: String,
    train_message_lengths: Vec<usize>,
    train_roles: Vec<String>,
    final_answer: String,
}

#[derive(Deserialize)]
struct Params {
    single_chain_max_step: u32,
    tree_beam_size: u32,
    max_query_count: u32,
    answer: u32,
    with_filter: bool,
}

#[derive(Deserialize)]
struct TraceCall {
    n_messages: usize,
    n_diversity: usize,
    previous_candidates: Option<Vec<String>>,
    reply: String,
}

impl Trace {
    fn search(&self) -> Search {
        let params = &self.params;
        let mut settings = settings(Method::Dfsdt { width: params.tree_beam_size });
        settings.semantics = Semantics::Toolbench;
        settings.depth = params.single_chain_max_step;
        settings.answers = params.answer;
        settings.budget.requests = params.max_query_count;
        search(settings)
    }

    /// The reply of the script. A trace has only its function; its name says what is special about the arguments.
    fn reply(&self, at: usize) -> Reply {
        let name = self.calls[at].reply.as_str();
        let is_last = at + 1 == self.calls.len();
        let thought = self.name.starts_with("C2 ").then(|| "I think.".to_owned());
        let arguments = match name {
            "<text>" => return Reply::text("I think."),
            "Finish" if self.name.starts_with("K ") && !is_last => json!({"return_type": "give_answer"}),
            "Finish" if is_last && (self.status == 1 || self.name.starts_with('J')) => {
                json!({"return_type": "give_answer", "final_answer": "done"})
            }
            "Finish" => json!({"return_type": "give_up_and_restart"}),
            _ if self.name.starts_with("L ") => json!("{not json"),
            _ => json!({}),
        };
        let thought = thought.filter(|_| name != "Finish");
        Reply::message(thought, vec![Call { arguments, ..call(name) }])
    }
}

/// Checks everything that a trace has.
fn check(trace: &Trace) {
    let name = &trace.name;
    assert!(!trace.params.with_filter && trace.error.is_none(), "{name}");
    let mut search = trace.search();
    let asked = run(&mut search, |at| trace.reply(at));
    let expected: Vec<Asked> = trace.calls.iter().map(TraceCall::asked).collect();
    assert_eq!(asked, expected, "{name}");
    assert_eq!(asked.len(), trace.llm_calls, "{name}");
    let outcome = search.outcome().unwrap();
    assert_eq!(outcome.spent.requests as usize, trace.query_count, "{name}");
    assert_eq!(u32::from(outcome.n_answers > 0), trace.status, "{name}");
    assert_eq!(outcome.n_answers as usize, trace.n_terminal, "{name}");
    assert_eq!(search.toolbench_return_value(), Some(trace.return_value), "{name}");
    let tree = search.tree();
    let ends = |wanted: fn(&PathEnd) -> bool| tree.paths().filter(|path| wanted(path.end)).count();
    assert_eq!(ends(|end| *end == PathEnd::GaveUp), trace.n_give_up, "{name}");
    assert_eq!(tree.toolbench_size(), trace.tree_size, "{name}");
    let depth = tree.nodes().map(|(id, _)| tree.depth(id) + 1).max();
    assert_eq!(depth, Some(trace.tree_depth), "{name}");
    check_data(trace, tree);
}

/// Checks the path that the original takes as data: the first answer, or a path that gave up.
fn check_data(trace: &Trace, tree: &crate::Tree) {
    let name = &trace.name;
    let gave_up = || tree.paths().find(|path| *path.end == PathEnd::GaveUp);
    let taken = tree.chosen().or_else(gave_up);
    assert_eq!(taken.is_some(), trace.valid_data, "{name}");
    let is_answer = taken.is_none_or(|path| path.end.is_answered());
    assert_eq!(if is_answer { "give_answer" } else { "give_up" }, trace.finish_type, "{name}");
    let messages = taken.map(|path| training::toolbench_messages(tree, path.leaf, &prompts().diversity));
    let messages = messages.unwrap_or_default();
    assert_eq!(messages.iter().map(Vec::len).collect::<Vec<_>>(), trace.train_message_lengths, "{name}");
    assert_eq!(messages.iter().map(|list| letters(list)).collect::<Vec<_>>(), trace.train_roles, "{name}");
    let arguments = taken.and_then(|path| Some(path.calls().last()?.arguments.clone()));
    let recorded = serde_json::from_str::<serde_json::Value>(&trace.final_answer).ok();
    assert_eq!(arguments, recorded, "{name}");
}

impl TraceCall {
    fn asked(&self) -> Asked {
        Asked {
            n_messages: self.n_messages,
            n_diversity: self.n_diversity,
            candidates: self.previous_candidates.clone().unwrap_or_default(),
        }
    }
}

#[test]
fn recorded_searches_of_the_original_code_are_the_same() {
    let Some(text) = data::text("toolllm/dfs_traces.json") else { return };
    let traces: Vec<Trace> = serde_json::from_str(&text).unwrap();
    for trace in &traces {
        check(trace);
    }
    let by_requests: BTreeMap<&str, usize> =
        traces.iter().map(|trace| (trace.name.as_str(), trace.llm_calls)).collect();
    assert_eq!(by_requests.len(), 18);
    assert_eq!(by_requests.values().sum::<usize>(), 250);
}
