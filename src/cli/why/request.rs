//! Text of the history of a request: as sent, with its docs; how it was judged, and its fate.

use serde_json::Value;

use super::text::{PURGED, Texts, reason};
use crate::conversation::Message;
use crate::engine::corpus::RowId;
use crate::export::tier::JUDGED;
use crate::run::Place;
use crate::run::why::{
    Basis, Facts, Judgement, KeptRequest, MergeTarget, RequestHistory, RowFate, SentDocs, SentRequest,
};
use crate::text::visible::visible_line;

impl Texts {
    pub(super) fn request(self, request: &RequestHistory) -> String {
        let place = request.place.as_ref().map_or_else(|| "?".to_owned(), Place::with_line);
        let mut text = format!("request {}\n", request.id);
        text += &match &request.sent {
            Some(sent) => self.sent(sent, &place),
            None => format!("  read      {place}; only this place is kept\n"),
        };
        if let Some(place) = &request.response_from {
            text += &format!("  joined    its response was joined from {}\n", place.with_line());
        }
        text.extend(request.docs.iter().map(|docs| self.docs(docs)));
        text += "story\n";
        text.extend(request.stages.iter().map(|stage| self.stage(stage)));
        for event in &request.forgotten {
            text += &format!("     {:24} {}: {}\n", event.stage, event.action, event.reason);
        }
        text += &self.attempts(request);
        text.extend(request.judgement.iter().map(judged));
        text += &format!("fate      {}", request.fate.name);
        match &request.kept {
            Some(kept) => text + &self.kept(kept),
            None => text + &not_kept(&request.fate),
        }
    }

    /// The request as sent, with its facts in the log.
    fn sent(self, sent: &SentRequest, place: &str) -> String {
        let own_id = sent.external_id.as_deref().map(|id| format!(", id {}", visible_line(id)));
        let own_id = own_id.unwrap_or_default();
        let format = sent.log_format.as_deref().unwrap_or("?");
        // An instruction is no line of a file: its number is that of the candidate.
        let read = if sent.program.is_some() {
            let (over, number) = place.rsplit_once(':').unwrap_or((place, "?"));
            format!("  made      candidate {number} over {over}{own_id}\n")
        } else {
            format!("  read      {place}{own_id}, format {format}\n")
        };
        read + &facts(&sent.facts)
            + &self.conversation(sent)
            + &sent.program.as_ref().map_or_else(String::new, |record| self.program(record))
            + &self.digest(sent.digest.as_deref())
    }

    /// The messages before the answer, the answer, and the messages after it.
    fn conversation(self, sent: &SentRequest) -> String {
        if sent.is_purged {
            return format!("  messages  {PURGED}\n");
        }
        let shown = |message: &Message| self.shown(&content_and_calls(message));
        let response = sent.response.as_ref().map_or_else(|| "nothing recorded".to_owned(), shown);
        let mut text = String::new();
        for message in &sent.messages {
            text += &format!("  {:9} {}\n", speaker(message), shown(message));
        }
        text += &format!("  answered  {response}\n");
        for message in &sent.following_messages {
            text += &format!("  later     {}: {}\n", speaker(message), shown(message));
        }
        text
    }

    fn docs(self, docs: &SentDocs) -> String {
        let steps = match &docs.parser_steps[..] {
            [] => String::new(),
            steps => format!(", read by {}", steps.join(", ")),
        };
        let text = docs.text.as_deref().unwrap_or(if docs.is_purged { PURGED } else { "" });
        let id = RowId::short(&docs.list_id);
        format!("  docs      list {id}{steps}\n            {}\n", self.shown(text))
            + &self.digest(docs.digest.as_deref())
    }

    /// The category of a kept request in the dataset, and how many were merged into it.
    fn kept(self, kept: &KeptRequest) -> String {
        let category = kept.category.as_deref().unwrap_or("no category");
        let mut text = match (&kept.category_basis, &kept.tier) {
            // Rows of an audit have no category.
            (None, None) if kept.category.is_none() => "\n".to_owned(),
            (Some(basis), tier) => {
                let is_judged = tier.as_deref() == Some(JUDGED);
                let apart = if is_judged { " (nothing confirms the label, so unverified)" } else { "" };
                format!(" as {category}: {basis}{apart}\n")
            }
            (None, tier) => {
                format!(" as {category}, tier of the answer: {}\n", tier.as_deref().unwrap_or("none"))
            }
        };
        if let (None, Some(answer)) = (&kept.category_basis, &kept.answer) {
            text += &format!("answer    {}\n", self.shown(answer.as_str()));
        }
        if let Some(basis) = &kept.answer_basis {
            text += &drafted(basis.as_str());
        }
        if let Some(flags) = &kept.flags {
            text += &format!("flags     {flags}\n");
        }
        match kept.n_merged {
            0 => text,
            1 => text + "merged    1 request merged into it\n",
            n_merged => text + &format!("merged    {n_merged} requests merged into it\n"),
        }
    }
}

/// Why a request was not kept, and the requests it was merged into.
fn not_kept(fate: &RowFate) -> String {
    let merged = |into: &MergeTarget| {
        let reason = into.reason.filter(|_| into.fate != "merged").map(|code| format!(": {code}"));
        let (id, fate) = (RowId::short(&into.id), into.fate);
        format!("          merged into {id}, which is {fate}{}\n", reason.unwrap_or_default())
    };
    reason(fate).unwrap_or_default() + &fate.merged_into.iter().map(merged).collect::<String>()
}

/// How a request was judged: by a person, by a rule, or by its text and the answers of the log.
fn judged(judgement: &Judgement) -> String {
    let why = match &judgement.basis {
        Basis::Rule { rule } => format!("by the rule {rule}"),
        Basis::Answer { who } => format!("answered by {who}"),
        Basis::Label { who } => format!("labelled by {who}"),
        Basis::Text { probability, by_text, evidence, grounded_call } => {
            let found = evidence.iter().filter(|(_, n)| n.as_u64() != Some(0));
            let found: Vec<String> = found.map(|(kind, n)| format!("{n} {kind}")).collect();
            let mut found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            if *grounded_call {
                found += ", and the values of the call are in the request";
            }
            format!(
                "a function fits with probability {probability:.3} ({by_text:.3} from the text alone; evidence from answers: {found})"
            )
        }
    };
    format!("judged    {}: {why}\n", judgement.relevance.as_deref().unwrap_or("unsure"))
}

/// The facts of the log about a request besides the conversation, on one line.
fn facts(facts: &Facts) -> String {
    let words = [
        ("model", &facts.model),
        ("user", &facts.user),
        ("assistant", &facts.assistant),
        ("session", &facts.session),
        ("tool_choice", &facts.tool_choice),
        ("finish_reason", &facts.finish_reason),
    ];
    let mut shown: Vec<String> = facts.time.iter().cloned().collect();
    shown.extend(words.iter().filter_map(|(name, word)| Some(format!("{name} {}", word.as_ref()?))));
    shown.extend(facts.parallel_tool_calls.map(|allowed| format!("parallel_tool_calls {allowed}")));
    shown.extend(facts.status.map(|status| format!("status {status}")));
    if shown.is_empty() {
        return String::new();
    }
    format!("  facts     {}\n", visible_line(&shown.join(", ")))
}

/// The role of a message.
fn speaker(message: &Message) -> String {
    format!("{:?}", message.role).to_lowercase()
}

/// A message as one text: its content, then its calls.
fn content_and_calls(message: &Message) -> String {
    let calls = message.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
    std::iter::once(message.content.clone())
        .filter(|content| !content.is_empty())
        .chain(calls)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The language models that drafted an answer, where its values come from, and what nobody asked for.
fn drafted(basis: &str) -> String {
    let Ok(basis) = serde_json::from_str::<Value>(basis) else { return String::new() };
    let texts = |key: &str| {
        let texts = basis[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(|text| visible_line(text).into_owned()).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("drafted   by {}", texts("asked"));
    if basis["models"].is_array() {
        text += &format!(", which are the models {}", texts("models"));
    }
    let of_call = |call: &Value| {
        let values = call.as_object().into_iter().flatten();
        values
            .map(|(name, from)| format!("{name} from {}", from.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let values: Vec<String> = basis["values"].as_array().into_iter().flatten().flat_map(of_call).collect();
    if !values.is_empty() {
        text += &format!("; {}", visible_line(&values.join(", ")));
    }
    if basis["left_out"].is_array() {
        text += &format!("; left out, as nobody asked for it: {}", texts("left_out"));
    }
    text + "\n"
}
