//! Examines requests: languages, personal values, turns, answers, facts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use jiff::Timestamp;
use rayon::prelude::*;

use super::form::{form, is_plain};
use super::look::{Conversations, Facts, Personal, Requests, Responses, Templates};
use crate::answers::recorded::{RecordedAnswer, recorded_answer};
use crate::content_hash::content_hash;
use crate::conversation::{Message, Role, last_user};
use crate::ingest::fate::Record;
use crate::privacy::apply::{in_json, in_text};
use crate::privacy::{FoundValue, Names, PrivacyKind, Scanner};
use crate::similarity;
use crate::similarity::templates::Sent;
use crate::stages::cap_templates::{sent, sent_by, template_of};
use crate::text::language::language;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&PrivacyKind::ALL, None, Names::default()));

/// Examines all requests of a sample.
pub(super) fn look(records: &[Record]) -> Requests {
    let mut requests = Requests {
        facts: facts(records),
        equal: n_equal(records),
        templates: templates(records),
        ..Requests::default()
    };
    let read: Vec<(&'static str, Vec<PrivacyKind>)> = records
        .par_iter()
        .map(|record| {
            let asked = last_user(&record.messages).map_or("", |message| message.content.as_str());
            (language(asked), personal_values(record))
        })
        .collect();
    for (language, kinds) in read {
        *requests.languages.entry(language).or_default() += 1;
        add_personal(&mut requests.personal, &kinds);
    }
    for record in records {
        add_turns(&mut requests.conversations, &record.messages);
        *answer(&mut requests.responses, record) += 1;
    }
    requests
}

/// Makes the recognisers load their data, so that the loading does not count as the time of a line.
pub(super) fn warm_up() {
    personal_in_text("Call +44 20 7946 0000, quand vous voulez.");
    language("Call us when you like.");
}

/// Returns the kinds of the personal values in a text.
pub(super) fn personal_in_text(text: &str) -> Vec<PrivacyKind> {
    let mut kinds = Vec::new();
    in_text(&*SCANNER, text, |found, _| take(&mut kinds, found));
    kinds
}

/// Counts the values of one row.
pub(super) fn add_personal(personal: &mut BTreeMap<&'static str, Personal>, kinds: &[PrivacyKind]) {
    for kind in kinds {
        personal.entry(kind.name()).or_default().values += 1;
    }
    for kind in kinds.iter().copied().collect::<BTreeSet<PrivacyKind>>() {
        personal.entry(kind.name()).or_default().rows += 1;
    }
}

fn personal_values(record: &Record) -> Vec<PrivacyKind> {
    let mut kinds = Vec::new();
    for cell in [serde_json::to_string(&record.messages), serde_json::to_string(&record.response)] {
        in_json(&*SCANNER, &cell.unwrap_or_default(), |found, _| take(&mut kinds, found));
    }
    kinds
}

fn take(kinds: &mut Vec<PrivacyKind>, found: &FoundValue) {
    if found.is_personal() {
        kinds.push(found.kind);
    }
}

/// The fewest different requests of a template.
const FEWEST_FILLINGS: usize = 6;
/// The most templates that are named.
const MOST_NAMED: usize = 3;
/// The most characters of a name.
const LONGEST_NAME: usize = 100;

/// Finds what many requests share, as the stage `cap-templates` does for all of a log.
fn templates(records: &[Record]) -> Templates {
    let sent: Vec<(&Record, Sent)> = records
        .par_iter()
        .filter_map(|record| {
            let (list, facts) = (content_hash(&record.functions), &record.facts);
            let sent = sent(record.messages.clone(), list)?;
            Some((record, sent_by(sent, facts.user.as_deref(), facts.time_ms)))
        })
        .collect();
    let all: Vec<Sent> = sent.iter().map(|(_, sent)| *sent).collect();
    let found = similarity::templates::templates(&all, FEWEST_FILLINGS);
    let forms: HashSet<u64> = found.iter().map(|template| template.form).collect();
    let is_of_machine = similarity::templates::sent_by_a_machine(&all);
    let names = found.iter().filter_map(|template| template_of(sent[template.first].0.messages.clone()));
    let is_nameable =
        |name: &String| name.chars().count() <= LONGEST_NAME && personal_in_text(name).is_empty();
    Templates {
        templates: found.len() as u64,
        requests: found.iter().map(|template| template.requests as u64).sum(),
        of_largest: found.iter().map(|template| template.requests as u64).max().unwrap_or_default(),
        of_machines: all
            .iter()
            .zip(is_of_machine)
            .filter(|(sent, is)| *is && forms.contains(&sent.form))
            .count() as u64,
        largest: names.filter(is_nameable).take(MOST_NAMED).collect(),
    }
}

fn n_equal(records: &[Record]) -> u64 {
    let mut seen = HashSet::new();
    records.iter().filter(|record| !seen.insert(record.content_key)).count() as u64
}

fn add_turns(conversations: &mut Conversations, messages: &[Message]) {
    let has = |role| messages.iter().filter(|message| message.role == role).count() as u64;
    let turns = has(Role::User);
    match turns {
        0 => conversations.without_user += 1,
        1 => conversations.single_turn += 1,
        _ => conversations.multi_turn += 1,
    }
    conversations.most_turns = conversations.most_turns.max(turns);
    conversations.with_system += u64::from(has(Role::System) > 0);
    let after_user = messages.iter().rev().take_while(|message| message.role != Role::User);
    let goes_on = turns > 0
        && after_user.clone().any(|message| message.role == Role::Tool || !message.calls.is_empty());
    conversations.agent_steps += u64::from(goes_on);
}

fn answer<'r>(responses: &'r mut Responses, record: &Record) -> &'r mut u64 {
    let facts = &record.facts;
    // The docs are not parsed here; a name in quotation marks is a good sign of a function.
    let is_offered = |name: &str| !name.is_empty() && record.functions.contains(&format!("\"{name}\""));
    let (finish_reason, status) = (facts.finish_reason.as_deref(), facts.status);
    match recorded_answer(record.response.as_ref(), finish_reason, status, is_offered) {
        RecordedAnswer::Calls(_) => &mut responses.calls,
        RecordedAnswer::Declined => &mut responses.text,
        RecordedAnswer::Truncated | RecordedAnswer::Failed | RecordedAnswer::Unreadable(_) => {
            &mut responses.failed
        }
        RecordedAnswer::Empty => &mut responses.none,
    }
}

fn facts(records: &[Record]) -> Facts {
    let times = || records.iter().filter_map(|record| record.facts.time_ms);
    let mut models = BTreeMap::new();
    for model in records.iter().filter_map(|record| record.facts.model.as_deref()) {
        *models.entry(model_name(model)).or_default() += 1;
    }
    let of_largest = |fact: fn(&Record) -> Option<&str>| {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        records.iter().filter_map(fact).for_each(|name| *counts.entry(name).or_default() += 1);
        counts.into_values().max().unwrap_or_default()
    };
    let different = |fact: fn(&Record) -> Option<&str>| {
        records.iter().filter_map(fact).collect::<HashSet<&str>>().len() as u64
    };
    Facts {
        time: times().min().zip(times().max()).map(|(first, last)| [time(first), time(last)]),
        with_time: times().count() as u64,
        models,
        users: different(|record| record.facts.user.as_deref()),
        assistants: different(|record| record.facts.assistant.as_deref()),
        of_largest_assistant: of_largest(|record| record.facts.assistant.as_deref()),
        of_largest_user: of_largest(|record| record.facts.user.as_deref()),
        sessions: different(|record| record.facts.session.as_deref()),
        with_id: records.iter().filter(|record| record.external_id.is_some()).count() as u64,
    }
}

/// Returns a model's name unchanged if it looks like a name, else its form.
fn model_name(model: &str) -> String {
    let is_name = model
        .rsplit(['/', ':'])
        .all(|part| is_plain(&part.chars().filter(|c| !c.is_ascii_digit()).collect::<String>()));
    if is_name && personal_in_text(model).is_empty() { model.to_owned() } else { form(model, 40) }
}

fn time(time_ms: i64) -> String {
    Timestamp::from_millisecond(time_ms).map_or_else(|_| time_ms.to_string(), |time| format!("{time:.0}"))
}
