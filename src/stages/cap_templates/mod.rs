//! Keeps a few requests of each template that a machine fills: load tests, health checks, scripts.
//!
//! A template is a query with places for values, sent to one doc list with the same other messages but for values. It is
//! recognised whoever sends it, and named in the reports with its share. Only what is sent in the rhythm of a machine is
//! capped (`similarity::templates`): people ask for the weather of many towns, and each of these requests is theirs. Of
//! equal requests all are kept, because a later stage merges them.

mod found;
mod sent;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::found::shown;
pub use self::found::{Found, NOTE, Named, Part};
pub use self::sent::{sent, sent_by, template_of};

use super::{Notes, Settings};
use crate::cells::TypedCells as _;
use crate::columns::{MESSAGES, OUTCOME, TIME_MS, USER};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};
use crate::similarity::templates::{Sent, sent_by_a_machine, templates, with_word_slots};
use crate::text::figures::{counted, share_of};
use crate::text::memo::Memo;
use crate::text::template::SLOT;

static OF_TEMPLATE: Reason = Reason::policy(
    "query/template",
    "A machine sent it, as its rhythm shows, and enough requests with the same template are kept.",
);

/// Default of [`CapTemplates::max_per_template`].
const MAX_PER_TEMPLATE: usize = 3;
/// The fewest requests of a machine that are taken for fillings of a template.
const FEWEST_OF_A_MACHINE: usize = 6;
/// The fewest fillings of a template that is named.
const FEWEST_NAMED: usize = 10;
/// The most templates that are named.
const MOST_NAMED: usize = 10;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CapTemplates {
    /// Maximum number of different requests kept of each template that is sent in the rhythm of a machine. Others are not
    /// counted. Higher keeps more.
    pub max_per_template: usize,
}

impl Default for CapTemplates {
    fn default() -> Self {
        Self { max_per_template: MAX_PER_TEMPLATE }
    }
}

impl Settings for CapTemplates {
    const NAME: &'static str = "cap-templates";
    const SUMMARY: &'static str = "Keeps a few requests of each template that a load test or another machine sends, as the rhythm shows.";
    const FUNNEL_LABEL: &'static str = "a few of each template of machines";

    fn funnel_label(&self, notes: &Notes) -> Cow<'static, str> {
        let Some(found) = Found::of(notes) else {
            return Self::FUNNEL_LABEL.into();
        };
        let share = |part| share_of(part, found.requests);
        let n = |templates: u64| counted(templates, "template", "templates");
        let (machine, all) = (found.of_machines, found.of_all);
        if found.dropped > 0 {
            let most = self.max_per_template;
            let (named, part) = (n(machine.templates), share(machine.requests));
            format!("at most {most} of each template of machines ({named}: {part} of those here)").into()
        } else if all.templates > 0 {
            format!("no machine's rhythm ({}: {} of those here)", n(all.templates), share(all.requests))
                .into()
        } else {
            "no template of a machine".into()
        }
    }

    fn examples() -> Vec<Example> {
        vec![Example::tables(OF_TEMPLATE.code, EXAMPLES.0.as_str(), EXAMPLES.1.as_str())]
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.max_per_template == 0 {
            Err("max_per_template must be at least 1, not 0".to_owned())
        } else {
            Ok(())
        }
    }
}

/// Requests every second, and at the times of people.
static EXAMPLES: LazyLock<(String, String)> =
    LazyLock::new(|| (requests(|at| 1_000 * at), requests(|at| 1_000 * at * at * (1 + at % 3))));

/// Tables with requests of one template at these times.
fn requests(time: impl Fn(usize) -> usize) -> String {
    let request = |at: usize| {
        let content = format!("Ring the bell of tower {at}");
        json!({ "time_ms": time(at), "messages": [{ "role": "user", "content": content }] })
    };
    json!({ "requests": (0..12).map(request).collect::<Vec<_>>() }).to_string()
}

impl Stage for CapTemplates {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Whole)
            .reads([MESSAGES, TIME_MS, USER])
            .reads_if_there([OUTCOME])
            .reasons([&OF_TEMPLATE])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let requests = read(view, cx)?;
        let sent: Vec<Sent> = requests.iter().map(|request| request.sent).collect();
        let is_of_machine = sent_by_a_machine(&sent);
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        let by_machine: Vec<&Request> =
            requests.iter().zip(&is_of_machine).filter(|(_, is)| **is).map(|(request, _)| request).collect();
        let forms = forms(by_machine.iter().map(|request| request.row), view, cx)?;
        let mut found = Found { requests: requests.len() as u64, ..Found::default() };
        for template in of_machines(&by_machine, &forms) {
            let dropped = self.beyond(&template.requests);
            let n = template.requests.len() as u64;
            found.of_machines.add(n);
            found.dropped += dropped.len() as u64;
            found.named.push(Named {
                template: shown(&named(&forms[&template.requests[0].row], template.slot)),
                requests: n,
                of_machines: n,
                dropped: dropped.len() as u64,
            });
            for (row, kept) in dropped {
                out.drop(
                    row,
                    &OF_TEMPLATE,
                    Evidence::detail(json!({ "kept": view.row_id(kept).to_string() })),
                )?;
            }
        }
        let of_people: Vec<Sent> =
            sent.iter().zip(&is_of_machine).filter(|(_, is)| !**is).map(|(sent, _)| *sent).collect();
        let rows: Vec<RowIx> = requests
            .iter()
            .zip(&is_of_machine)
            .filter(|(_, is)| !**is)
            .map(|(request, _)| request.row)
            .collect();
        let others = templates(&of_people, FEWEST_NAMED);
        let firsts = self::forms(others.iter().take(MOST_NAMED).map(|it| rows[it.first]), view, cx)?;
        for template in &others {
            found.of_all.add(template.requests as u64);
        }
        found.named.extend(others.iter().take(MOST_NAMED).map(|it| Named {
            template: shown(&firsts[&rows[it.first]]),
            requests: it.requests as u64,
            ..Named::default()
        }));
        found.named.sort_by(|a, b| {
            (b.of_machines, b.requests, &a.template).cmp(&(a.of_machines, a.requests, &b.template))
        });
        found.named.truncate(MOST_NAMED);
        out.note(NOTE, json!(found));
        Ok(())
    }
}

/// A request with what decides whether it is kept.
struct Request {
    row: RowIx,
    sent: Sent,
    /// Its recorded call worked.
    worked: bool,
}

/// Reads the requests, in canonical order.
fn read(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<Request>> {
    let mut requests: Vec<Request> = Vec::new();
    let known = Memo::default();
    view.for_each_batch(cx, |batch| {
        let read = batch.map_rows(|row| request(row, view.list_of(row.ix()), &known))?;
        requests.extend(read.into_iter().flatten());
        Ok(())
    })?;
    requests.sort_unstable_by_key(|request| view.position(request.row));
    Ok(requests)
}

/// Reads a request; `None` if there is no user message. What equal messages to one list are sent as is `known`.
fn request(row: Row<'_>, list: RowIx, known: &Memo<(u128, RowIx), Option<Sent>>) -> Option<Request> {
    let sent = known.get_or((row.hash_of(&[MESSAGES]), list), || sent(row.messages(), u128::from(list)))?;
    let sent = sent_by(sent, row.text(USER), row.int(TIME_MS));
    Some(Request { row: row.ix(), sent, worked: row.text(OUTCOME) == Some("worked") })
}

/// The queries of some rows without their values.
fn forms(
    rows: impl Iterator<Item = RowIx>,
    view: &View<'_>,
    cx: &Context<'_>,
) -> Result<FxHashMap<RowIx, String>> {
    let wanted: FxHashSet<RowIx> = rows.collect();
    let mut forms = FxHashMap::default();
    if wanted.is_empty() {
        return Ok(forms);
    }
    view.stream(
        cx,
        |row| wanted.contains(&row),
        |batch| {
            let read = batch.map_rows(|row| Some((row.ix(), template_of(row.messages())?)))?;
            forms.extend(read.into_iter().flatten());
            Ok(())
        },
    )?;
    Ok(forms)
}

/// The requests of a machine that fill one template, in canonical order.
struct OfMachine<'a> {
    requests: Vec<&'a Request>,
    /// The word of the first request that fills a slot.
    slot: Option<usize>,
}

/// A form with the mark in place of the word that fills a slot.
fn named(form: &str, slot: Option<usize>) -> String {
    let words = form.split_whitespace().enumerate();
    words.map(|(at, word)| if Some(at) == slot { SLOT } else { word }).collect::<Vec<_>>().join(" ")
}

/// Groups the requests of machines by template, in the order of their first.
fn of_machines<'a>(requests: &[&'a Request], forms: &FxHashMap<RowIx, String>) -> Vec<OfMachine<'a>> {
    let mut by_source: FxHashMap<u128, Vec<&'a Request>> = FxHashMap::default();
    for request in requests {
        by_source.entry(request.sent.source).or_default().push(request);
    }
    let mut groups: Vec<OfMachine<'a>> = Vec::new();
    for of_source in by_source.into_values() {
        let texts: Vec<&str> = of_source.iter().map(|request| forms[&request.row].as_str()).collect();
        let mut by_template: FxHashMap<u64, OfMachine<'a>> = FxHashMap::default();
        for (request, slotted) in of_source.iter().zip(with_word_slots(&texts)) {
            let new = || OfMachine { requests: Vec::new(), slot: slotted.slot };
            by_template.entry(slotted.template).or_insert_with(new).requests.push(request);
        }
        groups.extend(by_template.into_values());
    }
    groups.retain(|group| group.requests.len() >= FEWEST_OF_A_MACHINE);
    let place: FxHashMap<RowIx, usize> = requests.iter().enumerate().map(|(at, it)| (it.row, at)).collect();
    groups.sort_unstable_by_key(|group| place[&group.requests[0].row]);
    groups
}

impl CapTemplates {
    /// The rows of a template beyond the maximum, each with the first that is kept: those with a call that worked are kept
    /// first.
    fn beyond(&self, requests: &[&Request]) -> Vec<(RowIx, RowIx)> {
        let mut best: Vec<&Request> = requests.to_vec();
        best.sort_by_key(|request| !request.worked);
        let mut kept: FxHashSet<u64> = FxHashSet::default();
        let mut beyond = Vec::new();
        for request in &best {
            let filling = request.sent.filling;
            if kept.len() < self.max_per_template {
                kept.insert(filling);
            }
            if !kept.contains(&filling) {
                beyond.push((request.row, best[0].row));
            }
        }
        beyond
    }
}
