//! A row of the run as an item of the page.

use std::collections::BTreeSet;

use callsieve_review::item::{
    Call, Function, Group, Item, Job, JudgeView, ListRef, Message, Reason, Reply, Role, Table,
};
use serde_json::{Value, json};

use super::evidence::Evidence;
use super::judges::Judgements;
use super::possible::{Facts, Possible};
use super::{Kind, Place};
use crate::answers::human;
use crate::conversation::{self, Role as SentRole};
use crate::engine::vocabulary::TableId;
use crate::instruct::record::Record;
use crate::instruct::source::messages;
use crate::run::{OpenRun, ReviewRow};
use crate::stages::cap_templates::template_of;
use crate::text::short::shortened;

/// The cells of a row that a review table does not have.
#[derive(Default)]
pub(super) struct Content {
    pub(super) was: String,
    pub(super) list_was: String,
    pub(super) messages: Vec<conversation::Message>,
    pub(super) response: Option<conversation::Message>,
    /// How many messages of an instruction have calls.
    pub(super) n_steps: usize,
    /// What judges say about the answer of an instruction.
    pub(super) judgements: Option<Judgements>,
    /// The answer of the attempt that they judged.
    pub(super) judged_answer: Option<String>,
    /// What the label is based on.
    pub(super) basis: Value,
    /// The query of the request that this one was merged into.
    pub(super) leader_query: Option<String>,
    /// Queries that wait for a doc list.
    pub(super) waiting: Vec<String>,
}

impl Content {
    /// Shows all turns, calls and results of an instruction; the columns of the row have what its first step needs.
    pub(super) fn set_instruction(&mut self, instruction: &Record) {
        self.messages = messages(instruction);
        let is_answer =
            |message: &conversation::Message| message.role == SentRole::Assistant && message.calls.is_empty();
        self.response = if self.messages.last().is_some_and(is_answer) { self.messages.pop() } else { None };
        self.n_steps = self.messages.iter().filter(|message| !message.calls.is_empty()).count();
    }

    /// Whether the calls of an instruction are made in several messages.
    fn has_several_steps(&self) -> bool {
        self.n_steps > 1
    }
}

/// Longest summary of a function and label of a group, in characters.
const SUMMARY_CHARS: usize = 120;
const LABEL_CHARS: usize = 60;

/// Why an entry is reviewed; it has no reason code.
pub(super) const UNVERIFIED: (&str, &str) =
    ("unverified", "The dataset has this entry, but nothing except the log confirms its answer or label.");

/// Why an instruction is reviewed that was kept.
pub(super) const KEPT: (&str, &str) =
    ("kept", "The set has this instruction. It was drawn to look for mistakes that no check finds.");

/// Why an instruction is reviewed about which its judges disagree.
pub(super) const DISPUTED: (&str, &str) = (
    "judges-disagree",
    "The set has this instruction, and its judges do not agree whether its answer is right.",
);

/// Why a row is reviewed again after its decision was applied.
pub(super) const DECIDED: (&str, &str) =
    ("decided", "A reviewer decided on the row, and the run applied that.");

/// Returns the item of a row, with its marks.
pub(super) fn item_of(
    run: &OpenRun,
    evidence: &Evidence,
    place: Place,
    row: &ReviewRow,
    content: &Content,
) -> Item {
    let table = run.corpus.table(place.table);
    let fate = table.fate(place.row);
    let is_request = place.table == TableId::Requests;
    let functions = row.functions.as_array().map_or(&[][..], Vec::as_slice);
    let reason = reason_of(run, place);
    let job = match run.job().name() {
        "audit" => Job::Audit,
        "instruct" => Job::Instructions,
        _ => Job::Log,
    };
    let possible = Possible::of(&Facts {
        job,
        kind: place.kind,
        earlier: evidence.earlier(place.table, table.row_id(place.row).0),
        table: place.table,
        fate,
        answer: &row.recorded_answer,
        is_answer_valid: is_valid(&row.recorded_answer, functions),
        category: row.category.as_deref(),
        has_copies: evidence.has_called_copy(place),
        has_editable_list: is_request
            && !functions.is_empty()
            && run.stages.iter().any(|it| it.kind == "parse-docs"),
    });
    let list = if is_request { run.corpus.list[place.row as usize] } else { place.row };
    let list_id = run.corpus.lists.row_id(list).to_string();
    let template = template_of(content.messages.clone()).unwrap_or_default();
    let names: Vec<&str> = functions.iter().filter_map(|function| function["name"].as_str()).collect();
    let label = label_of(&names, &template);
    let mut item = Item {
        evidence: evidence.of_row(place.table, table.row_id(place.row).0),
        job,
        list: is_request.then(|| ListRef { id: list_id.clone(), was: content.list_was.clone() }),
        // The column has the calls of the first step; the conversation of an instruction shows all of them.
        drafted_answer: Some(row.recorded_answer.clone())
            .filter(|answer| !answer.is_null() && !content.has_several_steps()),
        judge: judge_of(&content.basis, row.relevance.as_deref())
            .or_else(|| content.judgements.as_ref().map(Judgements::view)),
        releases: evidence.releases(place),
        category: row.category.clone(),
        possible: possible.decisions,
        accept: possible.accept,
        labels: possible.labels,
        ..Item::new(
            row.id.clone(),
            if is_request { Table::Requests } else { Table::DocLists },
            Group::new(&list_id, &reason.code, &template, label),
            content.was.clone(),
        )
    };
    item.reason = reason;
    fill_conversation(&mut item, content);
    if !is_request {
        item.query = queries_of_list(evidence.waiting(place.row).0, &content.waiting);
    }
    add_to_evidence(&mut item, row, content);
    item.functions = functions_of(&row.functions, &item);
    item.mark();
    item
}

/// The reason with its sentence, under the settings of its stage.
fn reason_of(run: &OpenRun, place: Place) -> Reason {
    let fate = run.corpus.table(place.table).fate(place.row).filter(|_| place.kind != Kind::Entry);
    let Some(fate) = fate else {
        let (code, sentence) = match place.kind {
            Kind::Entry => UNVERIFIED,
            Kind::Kept => KEPT,
            Kind::Disputed => DISPUTED,
            _ => DECIDED,
        };
        return Reason { code: code.to_owned(), sentence: sentence.to_owned() };
    };
    let sentence = run.manifests.get(usize::from(fate.stage)).and_then(|manifest| {
        Some((run.registry.kind(&manifest.kind)?.sentence)(&manifest.settings, fate.reason))
    });
    let sentence = sentence.unwrap_or_else(|| fate.reason.sentence.into()).into_owned();
    let code = fate.reason.code.to_owned();
    Reason { code, sentence }
}

/// Whether an answer fits the docs, as a decision with it would have to.
fn is_valid(answer: &Value, functions: &[Value]) -> bool {
    let calls = answer.as_array().map_or(&[][..], Vec::as_slice);
    human::check_form(calls).is_ok()
        && human::carried(calls, functions, |name, it| (name.to_owned(), it)).is_ok()
}

fn label_of(names: &[&str], template: &str) -> String {
    let list = match names {
        [] => "no functions".to_owned(),
        [one] => (*one).to_owned(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    };
    let label = shortened(&list, LABEL_CHARS);
    if template.is_empty() { label } else { format!("{label} · \"{}\"", shortened(template, LABEL_CHARS)) }
}

/// Puts the messages around the query: the system prompt, those before it, and those between it and the reply.
fn fill_conversation(item: &mut Item, content: &Content) {
    let query = content.messages.iter().rposition(|message| message.role == SentRole::User);
    let mut system: Vec<&str> = Vec::new();
    for (at, message) in content.messages.iter().enumerate() {
        if Some(at) == query {
            item.query.clone_from(&message.content);
        } else if message.role == SentRole::System {
            system.push(&message.content);
        } else if query.is_some_and(|query| at > query) {
            item.later.push(message_of(message));
        } else {
            item.earlier.push(message_of(message));
        }
    }
    item.system = (!system.is_empty()).then(|| system.join("\n\n"));
    if let Some(response) = &content.response {
        item.reply =
            Reply { text: response.content.clone(), calls: response.calls.iter().map(call_of).collect() };
    }
}

fn message_of(message: &conversation::Message) -> Message {
    let role = match message.role {
        SentRole::System => Role::System,
        SentRole::User => Role::User,
        SentRole::Assistant => Role::Assistant,
        SentRole::Tool => Role::Tool,
    };
    Message { role, text: message.content.clone(), calls: message.calls.iter().map(call_of).collect() }
}

fn call_of(call: &conversation::Call) -> Call {
    Call { name: call.name.clone(), arguments: call.arguments.clone() }
}

fn queries_of_list(n_waiting: u64, queries: &[String]) -> String {
    if queries.is_empty() {
        return String::new();
    }
    let what = if n_waiting == 1 { "request waits" } else { "requests wait" };
    format!("{n_waiting} {what} for this doc list:\n\n{}", queries.join("\n\n"))
}

/// Adds what a reviewer needs besides the evidence of the stage.
fn add_to_evidence(item: &mut Item, row: &ReviewRow, content: &Content) {
    let mut more = Vec::new();
    more.extend(content.leader_query.as_ref().map(|query| ("query_there", json!(query))));
    more.extend(content.judged_answer.as_ref().map(|answer| ("judged_answer", json!(answer))));
    more.extend(row.flags.as_ref().map(|flags| ("flags", json!(flags))));
    if item.evidence.get("probability").is_none() {
        more.extend(
            row.probability.map(|probability| ("probability_that_a_function_fits", json!(probability))),
        );
    }
    more.extend(row.entry_id.as_ref().map(|id| ("entry", json!(id))));
    more.extend(row.external_id.as_ref().map(|id| ("id_in_the_log", json!(id))));
    if let Some(file) = &row.file {
        let place = row.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
        more.push(("place", json!(place)));
    }
    if more.is_empty() {
        return;
    }
    if item.evidence.is_null() {
        item.evidence = json!({});
    }
    for (key, value) in more {
        item.evidence[key] = value;
    }
}

/// What a language model was asked about the label, as far as the run has it.
fn judge_of(basis: &Value, relevance: Option<&str>) -> Option<JudgeView> {
    let votes = basis["votes"].as_array()?;
    let vote = |vote: &Value| vote.as_str().map_or_else(|| vote.to_string(), str::to_owned);
    let mut reply = votes.iter().map(vote).collect::<Vec<_>>().join(", ");
    if let Some(quote) = basis["quote"].as_str() {
        reply = format!("{reply}\n\"{quote}\"");
    }
    Some(JudgeView {
        model: basis["asked"].as_str().unwrap_or("?").to_owned(),
        prompt: "The query, the earlier messages and the functions of this page.".to_owned(),
        reply,
        verdict: relevance.unwrap_or("unsure").to_owned(),
    })
}

/// The functions, each with a line about it. Functions that cannot be read are one text.
fn functions_of(functions: &Value, item: &Item) -> Vec<Function> {
    let Some(functions) = functions.as_array() else {
        let text = functions.as_str().unwrap_or_default();
        let summary = "the functions as sent".to_owned();
        let function = Function { name: String::new(), summary, doc: functions.clone(), is_concerned: true };
        return if text.is_empty() { Vec::new() } else { vec![function] };
    };
    let concerned = concerned(functions, item);
    functions
        .iter()
        .map(|doc| {
            let name = doc["name"].as_str().unwrap_or_default().to_owned();
            let description = doc["description"].as_str().unwrap_or_default();
            let line = description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let is_concerned = concerned.contains(name.as_str());
            Function { summary: shortened(line.trim(), SUMMARY_CHARS), doc: doc.clone(), is_concerned, name }
        })
        .collect()
}

/// The names of the functions that the reply calls, that the drafted answer has, or that the evidence names.
fn concerned<'f>(functions: &'f [Value], item: &Item) -> BTreeSet<&'f str> {
    let answer = item.drafted_answer.as_ref().and_then(Value::as_array).into_iter().flatten();
    let in_answer = answer.filter_map(Value::as_object).flat_map(serde_json::Map::keys).map(String::as_str);
    let of_messages = item.earlier.iter().chain(&item.later).flat_map(|message| &message.calls);
    let of_messages = of_messages.filter(|_| item.job == Job::Instructions);
    let called = item.reply.calls.iter().chain(of_messages).map(|call| call.name.as_str());
    // Names of functions are often changed in form between docs and calls.
    let plain = |name: &str| name.replace(['.', '-'], "_").to_lowercase();
    let named: BTreeSet<String> = in_answer.chain(called).map(plain).collect();
    let evidence = item.evidence.to_string();
    let names = functions.iter().filter_map(|function| function["name"].as_str());
    names.filter(|name| named.contains(&plain(name)) || is_word_of(name, &evidence)).collect()
}

/// Whether a text has a name as a word of its own.
fn is_word_of(name: &str, text: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
            !before.is_some_and(is_inside) && !after.is_some_and(is_inside)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(query: &str) -> Item {
        let group = Group::new("l", "r", "t", "alike");
        Item { query: query.to_owned(), ..Item::new("a".repeat(32), Table::Requests, group, "") }
    }

    #[test]
    fn messages_are_before_the_query_or_between_it_and_the_reply() {
        let message = |role, content: &str| conversation::Message {
            role,
            content: content.to_owned(),
            calls: Vec::new(),
            call_id: None,
            name: None,
            is_error: false,
        };
        let messages = vec![
            message(SentRole::System, "Be brief."),
            message(SentRole::User, "Hello"),
            message(SentRole::Assistant, "Hi"),
            message(SentRole::User, "Ring the bell"),
            message(SentRole::Tool, "done"),
        ];
        let content = Content {
            messages,
            response: Some(message(SentRole::Assistant, "It rang.")),
            ..Content::default()
        };
        let mut item = item("");
        fill_conversation(&mut item, &content);
        assert_eq!((item.query.as_str(), item.system.as_deref()), ("Ring the bell", Some("Be brief.")));
        let texts = |all: &[Message]| all.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&item.earlier), ["Hello", "Hi"]);
        assert_eq!(texts(&item.later), ["done"]);
        assert_eq!(item.reply.text, "It rang.");
    }

    #[test]
    fn functions_of_the_reply_the_answer_and_the_evidence_are_concerned() {
        let functions: Vec<Value> =
            ["ring.bell", "book", "weather", "bookmark"].iter().map(|name| json!({"name": name})).collect();
        let mut item = item("");
        item.reply.calls = vec![Call { name: "ring_bell".to_owned(), arguments: json!({}) }];
        item.drafted_answer = Some(json!([{"weather": {}}]));
        item.evidence = json!({"at": "bookmark.page", "found": "books"});
        let names: Vec<&str> = concerned(&functions, &item).into_iter().collect();
        assert_eq!(names, ["bookmark", "ring.bell", "weather"]);
    }

    #[test]
    fn functions_that_cannot_be_read_are_shown_as_sent() {
        let functions = functions_of(&json!("[{\"name\": \"ring\""), &item(""));
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].doc, json!("[{\"name\": \"ring\""));
    }
}
