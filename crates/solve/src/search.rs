//! The search for one instruction, as a state machine without input and output.
//!
//! The caller asks what the search [`wants`](Search::wants), does it, and brings the result back. Every search ends: each
//! request counts against a budget, and calls that the search cannot pass on (`Finish`, unknown functions) are answered at
//! once. `backtrack` decides where a search continues after a path.

mod backtrack;

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::{Call, Message};

use crate::diversity::{self, Candidate, filled};
use crate::ending::{Limit, PathEnd, SearchEnd};
use crate::finish::{self, Finish};
use crate::react_text;
use crate::reply::{Content, Observation, OutOfTurn, Reply, Spent};
use crate::settings::{Method, Protocol, Semantics, Settings};
use crate::tree::{CallKind, Node, NodeId, Step, Tree};

/// One instruction's search.
#[derive(Debug, Clone)]
pub struct Search {
    settings: Settings,
    functions: BTreeSet<String>,
    tree: Tree,
    state: State,
    spent: Spent,
    n_answers: u32,
    returned: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// Wants another child of this node.
    Asking(NodeId),
    /// Wants the observation of this call of this node.
    Acting(NodeId, usize),
    /// Wants nothing.
    Ended(SearchEnd),
}

/// What a search wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Wants<'s> {
    /// The reply of the model to these messages.
    Reply {
        /// The node that gets a child.
        node: NodeId,
        /// The messages, in the form of the protocol; the last one may be a diversity prompt.
        messages: Vec<Message>,
        /// The calls that the diversity prompt lists; empty if there is none.
        candidates: Vec<Candidate<'s>>,
    },
    /// The observation of the last of these calls. Those before it are the executed calls of its path, from the root: an
    /// environment that runs them in order has the state in which the last one is to be executed.
    Observation {
        /// The calls, at least one.
        calls: Vec<&'s Call>,
    },
    /// Nothing: the search has ended.
    Nothing,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<'s> {
    /// Why.
    pub end: &'s SearchEnd,
    /// What it has used.
    pub spent: Spent,
    /// The number of paths with an answer.
    pub n_answers: u32,
    /// The number of calls of functions that are not on offer.
    pub n_unknown_calls: usize,
}

impl Search {
    /// Starts a search with these messages. `functions` are the names on offer; `Finish` is always on offer, and the
    /// caller adds its doc ([`finish::function_doc`]) to the request.
    pub fn new(
        settings: Settings,
        opening: Vec<Message>,
        functions: impl IntoIterator<Item = String>,
    ) -> Self {
        let tree = Tree::new(settings.semantics, opening);
        let functions = functions.into_iter().collect();
        let state = State::Asking(Tree::ROOT);
        let mut search =
            Self { settings, functions, tree, state, spent: Spent::default(), n_answers: 0, returned: None };
        search.arrive(Tree::ROOT);
        search
    }

    /// Returns what the search wants next; the same until a reply or an observation comes.
    pub fn wants(&self) -> Wants<'_> {
        match self.state {
            State::Asking(node) => self.request(node),
            State::Acting(node, step) => Wants::Observation { calls: self.executed(node, step) },
            State::Ended(_) => Wants::Nothing,
        }
    }

    /// Takes the reply to a request.
    ///
    /// # Errors
    /// If the search wants none; nothing changes.
    pub fn reply(&mut self, reply: Reply) -> Result<(), OutOfTurn> {
        let State::Asking(parent) = self.state else { return Err(self.out_of_turn("a reply")) };
        self.spent.add(reply.usage);
        if self.settings.is_original_dfs() && self.spent.requests >= self.settings.requests() {
            self.end_by_budget(parent, Limit::Requests);
            return Ok(());
        }
        match reply.content {
            Content::Message { text, calls } => {
                let node = self.node(parent, text, calls);
                let node = self.tree.push(parent, node);
                self.act(node);
            }
            Content::Failure(reason) => self.fail(parent, reason),
        }
        Ok(())
    }

    /// Takes the observation of a call.
    ///
    /// # Errors
    /// If the search wants none; nothing changes.
    pub fn observe(&mut self, observation: Observation) -> Result<(), OutOfTurn> {
        let State::Acting(node, step) = self.state else { return Err(self.out_of_turn("an observation")) };
        if !self.record(node, step, observation) {
            self.act(node);
        }
        Ok(())
    }

    /// Ends the search for a reason of the caller, such as its clock. A search that has ended stays as it is.
    pub fn stop(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        let open = match self.state {
            State::Asking(node) | State::Acting(node, _) => node,
            State::Ended(_) => return,
        };
        self.end_open_path(open, PathEnd::Stopped(reason.clone()));
        self.state = State::Ended(SearchEnd::Stopped(reason));
    }

    /// Returns the tree so far.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns what the search has used so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Returns how the search ended; `None` while it wants something.
    pub fn outcome(&self) -> Option<Outcome<'_>> {
        let State::Ended(end) = &self.state else { return None };
        let n_unknown_calls = self.tree.unknown_calls();
        Some(Outcome { end, spent: self.spent, n_answers: self.n_answers, n_unknown_calls })
    }

    /// Returns the number that the original `DFS` function returns for a search that ended; `None` for other methods and
    /// semantics, and for a search that was stopped.
    pub fn toolbench_return_value(&self) -> Option<u32> {
        self.returned
    }

    fn out_of_turn(&self, got: &'static str) -> OutOfTurn {
        let expected = match self.state {
            State::Asking(_) => "a reply",
            State::Acting(..) => "an observation",
            State::Ended(_) => "nothing, because the search has ended",
        };
        OutOfTurn { expected, got }
    }

    fn request(&self, node: NodeId) -> Wants<'_> {
        let mut messages = self.tree.messages(node);
        let n_children = self.tree.node(node).map_or(0, |node| node.children().len());
        let mut candidates = Vec::new();
        if matches!(self.settings.method, Method::Dfsdt { .. }) {
            candidates = diversity::candidates(&self.tree, node, n_children);
            let template = &self.settings.prompts.diversity;
            messages.extend(diversity::message(&self.tree, node, n_children, template));
        }
        if self.settings.protocol == Protocol::Text {
            messages = react_text::written(&messages);
        }
        Wants::Reply { node, messages, candidates }
    }

    /// Returns the calls that the caller executed on the path, and the one at `step`.
    fn executed(&self, node: NodeId, step: usize) -> Vec<&Call> {
        let mut path = self.tree.path(node);
        let last = path.pop().map(|node| node.calls.iter().take(step + 1)).into_iter().flatten();
        let before = path.into_iter().flat_map(|node| &node.calls);
        before.chain(last).filter(|step| step.kind == CallKind::Function).map(|step| &step.call).collect()
    }

    /// Builds the node of a reply.
    fn node(&self, parent: NodeId, text: Option<String>, calls: Vec<Call>) -> Node {
        let mut node = Node { request: self.spent.requests, text, ..Node::default() };
        let mut calls = calls;
        if self.settings.protocol == Protocol::Text && calls.is_empty() {
            let read = react_text::read(node.text.as_deref().unwrap_or_default());
            node.text = read.thought;
            node.fault = read.fault;
            node.invented_observation = read.invented_observation;
            calls.extend(read.call);
        }
        let allowed = match self.settings.semantics {
            Semantics::Paper => (self.settings.depth as usize).saturating_sub(self.tree.depth(parent)),
            Semantics::Toolbench => 1,
        };
        node.dropped_calls = calls.len().saturating_sub(allowed);
        calls.truncate(allowed);
        node.calls = calls.into_iter().map(|call| self.step(call)).collect();
        if node.calls.is_empty() {
            // The original code asks again at the same node after a reply without text and call, without a limit to its
            // recursion; an empty text ends such a path at its depth.
            node.text.get_or_insert_default();
            node.after = self.after_text(&node);
        }
        node
    }

    fn step(&self, call: Call) -> Step {
        let kind = match call.name.as_str() {
            finish::NAME => CallKind::Finish,
            name if self.functions.contains(name) => CallKind::Function,
            _ => CallKind::Unknown,
        };
        Step { call, kind, observation: None }
    }

    fn after_text(&self, node: &Node) -> Option<String> {
        let template = self.settings.prompts.after_text.as_deref()?;
        let fault = node.fault.map(|fault| fault.to_string()).unwrap_or_default();
        (self.settings.semantics == Semantics::Paper).then(|| filled(template, &[("{fault}", &fault)]))
    }

    /// Goes through the calls of a node that have no observation, until one is the caller's to execute.
    fn act(&mut self, id: NodeId) {
        loop {
            let node = self.tree.at(id);
            let Some(at) = node.calls.iter().position(|step| step.observation.is_none()) else { break };
            let step = &node.calls[at];
            let observation = match step.kind {
                CallKind::Function => {
                    self.state = State::Acting(id, at);
                    return;
                }
                CallKind::Unknown => {
                    filled(&self.settings.prompts.unknown_function, &[("{name}", &step.call.name)])
                }
                CallKind::Finish => match finish::read(&step.call.arguments) {
                    Ok(Finish::Answer(answer)) => return self.end_path(id, at, PathEnd::Answered(answer)),
                    Ok(Finish::GiveUp) => return self.end_path(id, at, PathEnd::GaveUp),
                    Err(fault) => {
                        filled(&self.settings.prompts.finish_fault, &[("{fault}", &fault.to_string())])
                    }
                },
            };
            if self.record(id, at, Observation::error(observation)) {
                return;
            }
        }
        self.arrive(id);
    }

    /// Records an observation; returns `true` if it ends the path.
    fn record(&mut self, id: NodeId, at: usize, observation: Observation) -> bool {
        let observation = observation.cut(self.settings.max_observation_chars);
        if let Some(step) = self.tree.at(id).calls.get_mut(at) {
            step.observation = Some(observation);
        }
        let is_loop = self.settings.semantics == Semantics::Paper && self.is_loop(id, at);
        if is_loop {
            self.end_path(id, at, PathEnd::Loop);
        }
        is_loop
    }

    /// Returns `true` if the path has the call with this observation as often as is allowed. Arguments are compared as
    /// JSON values, without the order of members.
    fn is_loop(&self, id: NodeId, at: usize) -> bool {
        let path = self.tree.path(id);
        let Some(last) = path.last().and_then(|node| node.calls.get(at)) else { return false };
        let steps = path.iter().flat_map(|node| &node.calls);
        let is_same = |step: &&Step| {
            step.call.name == last.call.name
                && step.observation == last.observation
                && step.call.arguments == last.call.arguments
        };
        let limit = self.settings.loop_repeats as usize;
        limit > 0 && steps.filter(is_same).count() >= limit
    }

    /// Ends the path of a node after one of its calls; later calls of the reply are dropped.
    fn end_path(&mut self, id: NodeId, at: usize, end: PathEnd) {
        self.n_answers += u32::from(end.is_answered());
        let node = self.tree.at(id);
        node.dropped_calls += node.calls.len().saturating_sub(at + 1);
        node.calls.truncate(at + 1);
        node.end = Some(end);
        self.continue_after(id);
    }

    fn fail(&mut self, parent: NodeId, reason: String) {
        if self.settings.semantics == Semantics::Paper {
            self.end_open_path(parent, PathEnd::Failed(reason.clone()));
            self.state = State::Ended(SearchEnd::Failed(reason));
            return;
        }
        // The original code makes a failed request a text of the model and continues beside it.
        let end = Some(PathEnd::Failed(reason.clone()));
        let request = self.spent.requests;
        let node = self.tree.push(parent, Node { request, text: Some(reason), end, ..Node::default() });
        self.continue_after(node);
    }
}
