//! What the requests of the page do, without HTTP: progress, rows, decisions, groups, disagreements.
//!
//! A decision counts only for the content that it was made on: if a row has changed since, it is undecided again. A reviewer receives
//! decisions of others only on rows that he has decided himself.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::source::{Checked, Checker, Edit, Head, Note, Source};
use super::view::{pretty, view};
use super::{Config, ServerError};
use crate::item::{Item, Table};
use crate::store::{Draft, Line, Reviews, Store, StoreError, Verdict};

/// Most groups, rows of a group, and disagreements in a response.
const MAX_GROUPS: usize = 300;
const MAX_ROWS: usize = 100;
/// Longest reason of a decision, in characters.
const MAX_WHY_CHARS: usize = 4000;

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) error: String,
    pub(super) notes: Vec<Note>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), notes: Vec::new() }
    }

    fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Rule(what) => Self::invalid(what),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

type Answer = Result<Value, Refusal>;

/// A decision on a row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideRequest {
    id: String,
    was: String,
    decision: Verdict,
    /// The edited text.
    text: Option<String>,
    label: Option<String>,
    why: Option<String>,
}

/// A decision on the undecided rows of a group.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupRequest {
    group: String,
    decision: Verdict,
    label: Option<String>,
    why: Option<String>,
    /// How many rows the person sees that it is on.
    n_rows: usize,
}

/// An edited text to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckRequest {
    id: String,
    edit: Edit,
    text: String,
}

/// The rows and decisions of a reviewer.
pub(super) struct Review {
    source: Arc<dyn Source>,
    checker: Arc<dyn Checker>,
    clock: Box<dyn Fn() -> String + Send + Sync>,
    heads: Vec<Head>,
    places: HashMap<String, usize>,
    /// The places of the rows of each group.
    groups: BTreeMap<String, Vec<usize>>,
    decisions: Mutex<Decisions>,
}

/// The decisions on disk, and those in effect by the place of the row.
struct Decisions {
    store: Store,
    by_place: Vec<Option<Verdict>>,
}

#[derive(Serialize)]
struct GroupRow<'a> {
    key: &'a str,
    label: &'a str,
    reason: &'a str,
    n_rows: usize,
    n_undecided: usize,
    first: usize,
}

impl Review {
    pub(super) fn new(config: Config) -> Result<Self, ServerError> {
        let Config { source, checker, store, clock } = config;
        let heads = source.heads().map_err(ServerError::Source)?;
        let mut places = HashMap::with_capacity(heads.len());
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, head) in heads.iter().enumerate() {
            if places.insert(head.id.clone(), at).is_some() {
                return Err(ServerError::DuplicateId(head.id.clone()));
            }
            groups.entry(head.group.key.clone()).or_default().push(at);
        }
        let by_place = heads.iter().map(|head| in_effect(&store, head)).collect();
        let decisions = Mutex::new(Decisions { store, by_place });
        Ok(Self { source, checker, clock, heads, places, groups, decisions })
    }

    /// A panic in another request leaves the decisions as they are on disk.
    fn decisions(&self) -> MutexGuard<'_, Decisions> {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the progress, and the row to go on with.
    pub(super) fn state(&self) -> Value {
        self.state_from(&self.decisions(), 0)
    }

    fn state_from(&self, decisions: &Decisions, from: usize) -> Value {
        let is_skip = |verdict: &&Option<Verdict>| **verdict == Some(Verdict::Skip);
        let n_skipped = decisions.by_place.iter().filter(is_skip).count();
        let n_decided = decisions.by_place.iter().flatten().count() - n_skipped;
        json!({
            "reviewer": decisions.store.reviewer(),
            "n_rows": self.heads.len(), "n_decided": n_decided, "n_skipped": n_skipped,
            "next": next_undecided(&decisions.by_place, from),
            "categories": self.categories(decisions),
        })
    }

    /// Returns the categories that are short of entries, with accepted rows counted.
    fn categories(&self, decisions: &Decisions) -> Vec<Value> {
        let mut accepted: BTreeMap<&str, u64> = BTreeMap::new();
        for (head, verdict) in self.heads.iter().zip(&decisions.by_place) {
            if let (Some(category), Some(Verdict::Accept | Verdict::Answer)) = (&head.category, verdict) {
                *accepted.entry(category).or_default() += 1;
            }
        }
        let counts = self.source.categories().into_iter().map(|count| {
            let n_accepted = accepted.get(count.name.as_str()).copied().unwrap_or_default();
            (count.name, count.has + n_accepted, count.wants)
        });
        let short = counts.filter(|(_, has, wants)| has < wants);
        short.map(|(name, has, wants)| json!({"name": name, "has": has, "wants": wants})).collect()
    }

    /// Returns a row by its place; the first undecided one without a place.
    pub(super) fn item(&self, at: Option<usize>) -> Answer {
        let next = || next_undecided(&self.decisions().by_place, 0);
        let at = at.or_else(next).unwrap_or_default();
        let Some(head) = self.heads.get(at) else {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "there is no such row"));
        };
        let item = self.read(at)?;
        let decisions = self.decisions();
        let line = decisions.store.state().get(&head.id);
        let group = self.groups.get(&head.group.key).map_or(&[][..], Vec::as_slice);
        let n_undecided = group.iter().filter(|at| decisions.by_place[**at].is_none()).count();
        Ok(json!({
            "at": at, "n_rows": self.heads.len(), "item": view(&item),
            "decision": line.filter(|line| line.was == head.was).map(line_view),
            "is_changed": line.is_some_and(|line| line.was != head.was),
            "group_rows": group.len(), "group_undecided": n_undecided,
        }))
    }

    fn read(&self, at: usize) -> Result<Item, Refusal> {
        let internal = |error: String| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error);
        let items = self.source.page(at, 1).map_err(|error| internal(error.to_string()))?;
        let item = items.into_iter().next().filter(|item| item.id == self.heads[at].id);
        item.ok_or_else(|| {
            internal("internal error (please report it): the rows have another order".to_owned())
        })
    }

    fn place(&self, id: &str) -> Result<usize, Refusal> {
        self.places.get(id).copied().ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no row has this id"))
    }

    /// Writes a decision on a row. Returns the line and the next undecided row, once it is on disk.
    pub(super) fn decide(&self, request: DecideRequest) -> Answer {
        let at = self.place(&request.id)?;
        let head = &self.heads[at];
        if request.was != head.was {
            return Err(Refusal::new(StatusCode::CONFLICT, "the row has changed: load it again"));
        }
        if request.decision != Verdict::Skip && !head.possible.contains(&request.decision) {
            let what = format!("{} cannot change this row", request.decision.name());
            return Err(Refusal::invalid(what));
        }
        let value = self.value_of(at, &request)?;
        let draft = Draft { value, why: why_of(request.why)?, ..self.draft(at, request.decision) };
        let mut decisions = self.decisions();
        let line = decisions.store.decide(draft, &(self.clock)())?;
        self.refresh(&mut decisions, std::slice::from_ref(&line));
        Ok(json!({"saved": line_view(&line), "state": self.state_from(&decisions, at)}))
    }

    fn draft(&self, at: usize, decision: Verdict) -> Draft {
        let head = &self.heads[at];
        let draft = Draft::new(head.id.as_str(), head.table, head.was.as_str(), decision);
        Draft { reason: Some(head.reason.clone()), ..draft }
    }

    /// Returns what a decision stores.
    fn value_of(&self, at: usize, request: &DecideRequest) -> Answer {
        if let Some(edit) = Edit::of(request.decision) {
            let text =
                request.text.as_deref().ok_or_else(|| Refusal::invalid("the edited text is missing"))?;
            return self.edited(&self.read(at)?, edit, text);
        }
        match request.decision {
            Verdict::Relabel => label_of(&self.heads[at], request.label.as_deref()),
            Verdict::Accept => {
                let accept = self.read(at)?.accept;
                Ok(accept.ok_or_else(|| Refusal::invalid("there is nothing to accept"))?.value())
            }
            _ => Ok(Value::Null),
        }
    }

    fn edited(&self, item: &Item, edit: Edit, text: &str) -> Answer {
        let checked = self.checker.check(item, edit, text);
        let (is_valid, Checked { value, notes }) = (checked.is_valid(), checked);
        let Some(mut value) = value.filter(|_| is_valid) else {
            return Err(Refusal { notes, ..Refusal::invalid("the text has errors") });
        };
        if edit == Edit::EditDoc && item.table == Table::Requests {
            let list = item.list.as_ref().ok_or_else(|| Refusal::invalid("the row has no doc list"))?;
            value["list"] = json!({"id": list.id, "was": list.was});
        }
        Ok(value)
    }

    /// Writes a decision on all undecided rows of a group that it can change.
    pub(super) fn decide_group(&self, request: GroupRequest) -> Answer {
        let places = self.groups.get(&request.group);
        let places = places.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such group"))?;
        if !request.decision.is_for_groups() {
            return Err(Refusal::invalid("only drop and relabel can be decided for a group"));
        }
        let why = why_of(request.why)?;
        let mut decisions = self.decisions();
        let is_open = |at: &&usize| self.is_open(&decisions, **at, request.decision);
        let open: Vec<usize> = places.iter().filter(is_open).copied().collect();
        if open.len() != request.n_rows || open.is_empty() {
            let what = format!("the group has {} rows that this can change: look at it again", open.len());
            return Err(Refusal::new(StatusCode::CONFLICT, what));
        }
        let draft = |at: usize| {
            let is_relabel = request.decision == Verdict::Relabel;
            let value =
                if is_relabel { label_of(&self.heads[at], request.label.as_deref())? } else { Value::Null };
            Ok(Draft { value, why: why.clone(), ..self.draft(at, request.decision) })
        };
        let drafts = open.iter().map(|&at| draft(at)).collect::<Result<Vec<_>, Refusal>>()?;
        let lines = decisions.store.decide_group(&request.group, drafts, &(self.clock)())?;
        self.refresh(&mut decisions, &lines);
        Ok(json!({"n_saved": lines.len(), "state": self.state_from(&decisions, open[0])}))
    }

    fn is_open(&self, decisions: &Decisions, at: usize, decision: Verdict) -> bool {
        decisions.by_place[at].is_none() && self.heads[at].possible.contains(&decision)
    }

    /// Takes the last decision back. Returns its row.
    pub(super) fn undo(&self) -> Answer {
        let mut decisions = self.decisions();
        let lines = decisions.store.undo(&(self.clock)())?;
        self.refresh(&mut decisions, &lines);
        let at = lines.iter().find_map(|line| self.places.get(&line.id)).copied();
        Ok(json!({"n_undone": lines.len(), "at": at, "state": self.state_from(&decisions, 0)}))
    }

    fn refresh(&self, decisions: &mut Decisions, lines: &[Line]) {
        for at in lines.iter().filter_map(|line| self.places.get(&line.id)) {
            decisions.by_place[*at] = in_effect(&decisions.store, &self.heads[*at]);
        }
    }

    /// Returns the messages about an edited text.
    pub(super) fn check(&self, request: &CheckRequest) -> Answer {
        let item = self.read(self.place(&request.id)?)?;
        let checked = self.checker.check(&item, request.edit, &request.text);
        Ok(json!({"is_valid": checked.is_valid(), "notes": checked.notes}))
    }

    /// Returns the groups, those with the most undecided rows first.
    pub(super) fn groups(&self) -> Value {
        let decisions = self.decisions();
        let row = |places: &Vec<usize>| {
            let first = &self.heads[places[0]];
            GroupRow {
                key: &first.group.key,
                label: &first.group.label,
                reason: &first.reason,
                n_rows: places.len(),
                n_undecided: places.iter().filter(|at| decisions.by_place[**at].is_none()).count(),
                first: places[0],
            }
        };
        let mut rows: Vec<GroupRow> = self.groups.values().map(row).collect();
        rows.sort_by(|one, other| {
            other.n_undecided.cmp(&one.n_undecided).then_with(|| one.first.cmp(&other.first))
        });
        let n_groups = rows.len();
        rows.truncate(MAX_GROUPS);
        json!({"n_groups": n_groups, "groups": rows})
    }

    /// Returns a group with its first rows.
    pub(super) fn group(&self, key: &str) -> Answer {
        let places = self.groups.get(key);
        let places = places.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such group"))?;
        let decisions = self.decisions();
        let n_open = |verdict| places.iter().filter(|at| self.is_open(&decisions, **at, verdict)).count();
        let row = |&at: &usize| {
            let head = &self.heads[at];
            json!({
                "at": at, "id": head.id, "line": head.line, "suspicion": head.suspicion,
                "decision": decisions.by_place[at],
            })
        };
        let first = &self.heads[places[0]];
        Ok(json!({
            "key": key, "label": first.group.label, "reason": first.reason, "labels": first.labels,
            "n_rows": places.len(), "n_drop": n_open(Verdict::Drop), "n_relabel": n_open(Verdict::Relabel),
            "rows": places.iter().take(MAX_ROWS).map(row).collect::<Vec<_>>(),
        }))
    }

    /// Returns the rows that the reviewer and others decided differently, and the agreement with each. Notes on disk that they are shown
    /// first.
    pub(super) fn disagreements(&self) -> Answer {
        let mut decisions = self.decisions();
        let reviews = Reviews::read(decisions.store.folder())?;
        let reviewer = decisions.store.reviewer().to_owned();
        let mut found = reviews.disagreements(&reviewer);
        found.retain(|row| self.is_current(&row.decisions));
        let n_rows = found.len();
        found.truncate(MAX_ROWS);
        decisions.store.note_shown(found.iter().map(|row| row.id.as_str()))?;
        let rows = found.iter().map(|row| {
            let at = self.places.get(&row.id).copied();
            let line = at.map(|at| self.heads[at].line.as_str());
            json!({"at": at, "id": row.id, "line": line, "decisions": row.decisions.iter().map(line_view).collect::<Vec<_>>()})
        });
        let rows: Vec<Value> = rows.collect();
        let mut agreement = reviews.agreement();
        agreement.retain(|pair| pair.first == reviewer || pair.second == reviewer);
        Ok(json!({"n_rows": n_rows, "rows": rows, "agreement": agreement}))
    }

    fn is_current(&self, lines: &[Line]) -> bool {
        lines.iter().all(|line| self.places.get(&line.id).is_some_and(|&at| self.heads[at].was == line.was))
    }
}

/// Returns the decision in effect on the content that the row has now.
fn in_effect(store: &Store, head: &Head) -> Option<Verdict> {
    store.state().get(&head.id).filter(|line| line.was == head.was).map(|line| line.decision)
}

/// Returns the first undecided row from a place on, or from the beginning if there is none.
fn next_undecided(by_place: &[Option<Verdict>], from: usize) -> Option<usize> {
    let is_undecided = |at: &usize| by_place[*at].is_none();
    (from..by_place.len()).find(is_undecided).or_else(|| (0..from.min(by_place.len())).find(is_undecided))
}

fn label_of(head: &Head, label: Option<&str>) -> Answer {
    match label.filter(|label| head.labels.iter().any(|known| known == label)) {
        Some(label) => Ok(Value::from(label)),
        None => Err(Refusal::invalid(format!("expected a label of the row: {}", head.labels.join(", ")))),
    }
}

fn why_of(why: Option<String>) -> Result<Option<String>, Refusal> {
    let why = why.map(|why| why.trim().to_owned()).filter(|why| !why.is_empty());
    match why {
        Some(why) if why.chars().count() > MAX_WHY_CHARS => {
            Err(Refusal::invalid(format!("the comment has more than {MAX_WHY_CHARS} characters")))
        }
        why => Ok(why),
    }
}

/// Returns a line for the page, with its value as text.
fn line_view(line: &Line) -> Value {
    let value = match &line.value {
        Value::Null => Value::Null,
        Value::String(text) => Value::from(text.as_str()),
        // The page edits the functions alone.
        Value::Object(edit) if edit.contains_key("functions") => Value::from(pretty(&edit["functions"])),
        value => Value::from(pretty(value)),
    };
    json!({
        "seq": line.seq, "time": line.time, "reviewer": line.reviewer, "decision": line.decision, "value": value,
        "why": line.why, "is_of_group": line.batch.is_some(),
    })
}
