//! Replaces personal values in requests by numbered placeholders of the same format.
//!
//! Values are numbered in canonical order of their first occurrence, those of doc lists before
//! those of requests. A value that is recognised in one place is replaced in all others
//! (`privacy::known`), so there are two passes: the first finds values, the second replaces them
//! in every row that contains one. The replacements in a doc list are noted on one of its requests,
//! for `redact_docs`. No edit contains an old value: it has the place, the kind and the
//! placeholder. `privacy` defines which values are personal.
//!
//! With a recogniser, names and street addresses are found in what the rules left (`read`). A request of which a text could
//! not be read is redacted by the rules and held.

mod examples;
mod findings;
mod read;

use std::path::PathBuf;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) use self::examples::EXAMPLES;
use self::examples::examples;
use self::findings::{Declared, ListFindings, declared_for};
pub(super) use self::findings::{TableFindings, assign_numbers, reserve_noted};
use self::read::assistant_of;
use super::Settings;
use crate::columns::{
    ANSWER_ONLY_PLACEHOLDERS, ASSISTANT, DOCS_PLACEHOLDERS, EXTERNAL_ID, FOLLOWING_MESSAGES, MESSAGES,
    PLACEHOLDERS, RESPONSE, SESSION, TEXT, USER,
};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Role};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::opinion::Opinion;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Action, ColumnSpec, Edit, Evidence, Reason, Redaction, RowIx, TableId};
use crate::environment::Environment;
use crate::privacy::apply::{Finder, Replaced, RowCell, redact_row};
use crate::privacy::cell_contents::CellKind;
use crate::privacy::declared::DeclaredPhones;
use crate::privacy::known::{KnownValues, OwnValues};
use crate::privacy::numbers::Numbers;
use crate::privacy::people::AssistantNames;
use crate::privacy::{Names, PrivacyKind, Region, Scanner, VERSION};
use crate::prompts::recognising::PEOPLE;
use crate::recogniser::ChosenRecogniser;

static EMAIL: Reason = Reason::policy("privacy/email", "An e-mail address was replaced by a placeholder.");
static PHONE: Reason = Reason::policy("privacy/phone", "A telephone number was replaced by a placeholder.");
static CARD: Reason =
    Reason::policy("privacy/card", "The number of a payment card was replaced by a placeholder.");
static IBAN: Reason =
    Reason::policy("privacy/iban", "An international bank account number was replaced by a placeholder.");
static SSN: Reason = Reason::policy(
    "privacy/ssn",
    "A social security number, or another national id after its name, was replaced by a placeholder.",
);
static KEY: Reason = Reason::policy("privacy/key", "An API key or password was replaced by a placeholder.");
static TOKEN: Reason = Reason::policy("privacy/token", "An access token was replaced by a placeholder.");
static IPV4: Reason = Reason::policy("privacy/ipv4", "A public IPv4 address was replaced by a placeholder.");
static IPV6: Reason = Reason::policy("privacy/ipv6", "A public IPv6 address was replaced by a placeholder.");
static MAC: Reason =
    Reason::policy("privacy/mac", "The MAC address of a device was replaced by a placeholder.");
static NAME: Reason = Reason::policy(
    "privacy/name",
    "A name that is in the list of names, or that the recogniser found, was replaced by a placeholder.",
);
static STREET_ADDRESS: Reason = Reason::policy(
    "privacy/street-address",
    "A street address that the recogniser found was replaced by a placeholder.",
);
static NOT_READ: Reason = Reason::fault(
    "privacy/not-read",
    "The recogniser of names gave no usable answer about a text of the request or of its doc list.",
);

static LOST_PIECE: Reason = Reason::policy(
    "privacy/lost-piece",
    "The answer has a piece of a replaced value, such as the surname of an address, and the placeholder has no such piece.",
);

/// Columns of plain text, then columns of JSON, in the order in which values are numbered.
const PLAIN: [ColumnSpec; 4] = [EXTERNAL_ID, USER, ASSISTANT, SESSION];
const JSON: [ColumnSpec; 3] = [MESSAGES, RESPONSE, FOLLOWING_MESSAGES];
/// The columns of a request in the same order, and what their cells are.
const CELLS: [(ColumnSpec, RowCell); 7] = [
    (EXTERNAL_ID, RowCell::Id),
    (USER, RowCell::Id),
    (ASSISTANT, RowCell::Id),
    (SESSION, RowCell::Id),
    (MESSAGES, RowCell::Messages),
    (RESPONSE, RowCell::Answer),
    (FOLLOWING_MESSAGES, RowCell::Following),
];
/// The cells of a request and of a doc list, in the same order.
const REQUEST: [(ColumnSpec, CellKind); 7] = [
    (EXTERNAL_ID, CellKind::Text),
    (USER, CellKind::Text),
    (ASSISTANT, CellKind::Text),
    (SESSION, CellKind::Text),
    (MESSAGES, CellKind::Json),
    (RESPONSE, CellKind::Json),
    (FOLLOWING_MESSAGES, CellKind::Json),
];
pub(super) const LIST: [(ColumnSpec, CellKind); 1] = [(TEXT, CellKind::Text)];

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Redact {
    /// Kinds of values to replace: `email`, `phone`, `card`, `iban`, `ssn`, `key`, `token`, `ipv4`, `ipv6`, `mac`.
    pub kinds: Vec<PrivacyKind>,
    /// The region of telephone numbers in national format, such as "US"; with a region more numbers are found. Without
    /// one, a number in national format is only found next to a word such as "phone".
    pub default_region: Option<Region>,
    /// A text file of names to replace, one per line, in any case. Other names are not found. The file stays where it
    /// is and is not copied into the run.
    pub names: Option<PathBuf>,
    /// Finds names and street addresses in what the rules leave: `off`, `rules` (street addresses only), a
    /// token-classification model in `local:DIR` or `local:hub:OWNER/NAME[@REVISION]`, or a language model `endpoint:MODEL` on
    /// the server in `OPENAI_BASE_URL`, which then gets the texts with their names.
    pub recogniser: ChosenRecogniser,
}

impl Default for Redact {
    fn default() -> Self {
        Self {
            kinds: PrivacyKind::ALL.to_vec(),
            default_region: None,
            names: None,
            recogniser: ChosenRecogniser::default(),
        }
    }
}

impl Settings for Redact {
    const NAME: &'static str = "redact";
    const SUMMARY: &'static str =
        "Replaces personal values and secrets in requests by numbered placeholders of the same format.";
    const FUNNEL_LABEL: &'static str = "personal values replaced by rule";

    fn examples() -> Vec<Example> {
        examples()
    }

    fn set_environment(&mut self, environment: &Environment) {
        self.recogniser.set_environment(environment);
    }

    fn check(&self) -> Result<(), String> {
        if self.kinds.is_empty() && self.names.is_none() && !self.recogniser.name().is_on() {
            return Err("kinds and names must not both be empty without a recogniser".to_owned());
        }
        // Read here too, so that a bad file is reported before the run begins.
        self.names.as_ref().map_or(Ok(()), |path| Names::read(path).map(|_| ()))
    }
}

impl Stage for Redact {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([&PLAIN[..], &JSON, &[TEXT]].concat())
            .writes(
                [&PLAIN[..], &JSON, &[PLACEHOLDERS, DOCS_PLACEHOLDERS, ANSWER_ONLY_PLACEHOLDERS]].concat(),
            )
            .reasons(self.reasons(true).into_iter().chain([&NOT_READ, &LOST_PIECE]))
            .asks(self.recogniser.name().asks())
            .role(Role::Redaction)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(7);
        fingerprint.version_of("privacy", VERSION);
        if let Some(model) = self.recogniser.open()? {
            fingerprint.built_in("recogniser", model.id());
        }
        if self.recogniser.name().asks().is_some() {
            PEOPLE.fingerprint("prompt", fingerprint);
        }
        self.fingerprint_names(fingerprint)
    }

    fn prepare(&self) {
        Scanner::prepare(&self.kinds);
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let scanner = self.scanner()?;
        let lists = TableFindings::collect(&view.parent(), cx, &scanner, &LIST)?;
        let declared: Declared<'_> =
            view.parents(cx, |list| DeclaredPhones::of(list.text(TEXT).unwrap_or_default()))?;
        let requests = TableFindings::collect_declared(view, cx, &scanner, &REQUEST, Some(&declared))?;
        let known = KnownValues::of(|| lists.values().chain(requests.values()));
        let mut numbers = Numbers::default();
        assign_numbers(&[&lists, &requests], &known, &mut numbers);
        let is_cancelled = || cx.cancelled();
        let finder = Finder::from(&scanner).with_known(&known).with_cancel(&is_cancelled);
        let read = self.read(view, cx, finder, (&lists, &requests, &declared), out)?;
        read.assign_numbers(&mut numbers);
        let with_values = view.rows().filter(|&row| requests.holds(row, &known));
        let of_values: FxHashSet<RowIx> = with_values.map(|row| view.origin_of(row)).collect();
        let docs = ListFindings::of(&view.parent(), cx, &lists, (finder, &read), &numbers, &of_values)?;
        let noting = docs.noting_requests(view);
        let wanted = |row: RowIx| {
            view.is_judged(row)
                && (read.is_on()
                    || requests.holds(row, &known)
                    || lists.has_own_values(view.origin_of(row))
                    || noting.contains(&row))
        };
        rewrite(view, cx, wanted, out, |row| {
            let list = view.origin_of(row.ix());
            let own = OwnValues::of(requests.values_of(row.ix()).iter().chain(lists.values_of(list)));
            let assistant = if read.is_on() { assistant_of(row) } else { AssistantNames::default() };
            let people = read.of_request(row.ix()).map(|people| people.with_assistant(Some(&assistant)));
            let finder =
                finder.with_own(&own).with_people(people).with_declared(declared_for(&declared, row.ix()));
            let cells = CELLS.map(|(column, cell)| (cell, row.text(column)));
            let new = redact_row(finder, &numbers, &cells, docs.words_of(list));
            let mut replaced = Vec::new();
            let mut opinion = Opinion::keep();
            for ((column, _), new) in CELLS.into_iter().zip(new) {
                opinion = with_redacted_cell(opinion, column, new, &mut replaced);
            }
            if let Some(lost) = lost_piece(&replaced)
                && read.failure(view, row.ix()).is_none()
            {
                // A person could only drop it.
                opinion.fate = Some((Action::Drop, &LOST_PIECE, lost));
            }
            let answer_only = answer_only_placeholders(&replaced, docs.numbers_of(list));
            let notes = [
                (PLACEHOLDERS, requests.placeholders_of(row.ix())),
                (ANSWER_ONLY_PLACEHOLDERS, answer_only),
                (DOCS_PLACEHOLDERS, noting.contains(&row.ix()).then(|| docs.note_for(list))),
            ];
            notes.into_iter().fold(opinion, |opinion, (column, note)| match note {
                Some(note) => opinion.with(column, note),
                None => opinion,
            })
        })?;
        for (row, why) in read.failures(view) {
            out.fail(row, &NOT_READ, why)?;
        }
        Ok(())
    }
}

impl Redact {
    /// Returns whether names of people are replaced: by a list, or as a model recognises them.
    pub fn finds_names(&self) -> bool {
        self.names.is_some() || self.recogniser.name().finds_names()
    }

    /// Returns the reasons of replaced values; `all`: also those that need other settings.
    pub(super) fn reasons(&self, all: bool) -> Vec<&'static Reason> {
        let is_on = self.recogniser.name().is_on();
        let names = (all || is_on || self.names.is_some()).then_some(PrivacyKind::Name);
        let streets = (all || is_on).then_some(PrivacyKind::StreetAddress);
        let mut reasons: Vec<&'static Reason> = Vec::new();
        for kind in self.kinds.iter().copied().chain(names).chain(streets) {
            if !reasons.contains(&reason(kind)) {
                reasons.push(reason(kind));
            }
        }
        reasons
    }

    /// Adds the content of the list of names to the fingerprint.
    ///
    /// # Errors
    /// If the list of names cannot be read.
    pub(super) fn fingerprint_names(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        self.names.as_ref().map_or(Ok(()), |path| fingerprint.file(path))
    }

    /// Returns the scanner for personal values.
    ///
    /// # Errors
    /// If the list of names cannot be read, or is too long.
    pub(super) fn scanner(&self) -> Result<Scanner> {
        let names = match &self.names {
            Some(path) => Names::read(path).map_err(Error::Setting)?,
            None => Names::default(),
        };
        let scanner = Scanner::new(&self.kinds, self.default_region, names);
        Ok(scanner.with_people(self.recogniser.name().is_on()))
    }
}

fn reason(kind: PrivacyKind) -> &'static Reason {
    match kind {
        PrivacyKind::Email => &EMAIL,
        PrivacyKind::Phone => &PHONE,
        PrivacyKind::Card => &CARD,
        PrivacyKind::Iban => &IBAN,
        PrivacyKind::Ssn => &SSN,
        PrivacyKind::Key => &KEY,
        PrivacyKind::Token => &TOKEN,
        PrivacyKind::Ipv4 => &IPV4,
        PrivacyKind::Ipv6 => &IPV6,
        PrivacyKind::Mac => &MAC,
        PrivacyKind::Name => &NAME,
        PrivacyKind::StreetAddress => &STREET_ADDRESS,
    }
}

/// Returns the evidence of the first piece of a value in the recorded call (or in the answer, if it has no separate
/// calls) for which the placeholder has none.
fn lost_piece(replaced: &[(ColumnSpec, Replaced)]) -> Option<Evidence> {
    let of_answer = || replaced.iter().filter(|(column, _)| *column == RESPONSE).map(|(_, value)| value);
    let has_calls = of_answer().any(|value| value.path.starts_with(CALLS));
    let is_of_answer = |value: &&Replaced| !has_calls || value.path.starts_with(CALLS);
    let lost = of_answer().filter(is_of_answer).find(|value| value.is_lost)?;
    Some(Evidence::detail(json!({ "kind": lost.kind.name(), "path": lost.path })))
}

/// Returns the placeholders in the recorded call (or in the answer, if it has no separate calls) that are neither in the
/// conversation nor in the docs, as JSON; `None` if there are none.
fn answer_only_placeholders(
    replaced: &[(ColumnSpec, Replaced)],
    docs: &[(PrivacyKind, u64)],
) -> Option<String> {
    let of = |wanted: ColumnSpec| {
        replaced.iter().filter(move |(column, _)| *column == wanted).map(|(_, replaced)| replaced)
    };
    let is_of_call = |value: &Replaced| value.path.starts_with(CALLS) && !value.path.ends_with(CALL_ID);
    let has_calls = of(RESPONSE).any(is_of_call);
    let mut answer_only: Vec<&str> = Vec::new();
    for value in of(RESPONSE).filter(|value| !has_calls || is_of_call(value)) {
        let is_same =
            |kind: PrivacyKind, number: u64| number == value.number && kind.is_numbered_with(value.kind);
        let is_in_request = of(MESSAGES).any(|other| is_same(other.kind, other.number))
            || docs.iter().any(|&(kind, number)| is_same(kind, number));
        if !is_in_request && !answer_only.contains(&&*value.placeholder) {
            answer_only.push(&value.placeholder);
        }
    }
    (!answer_only.is_empty()).then(|| serde_json::to_string(&answer_only).expect("words are JSON"))
}

/// The path of the calls in a response.
const CALLS: &str = "/calls/";
/// The path of a call's id, which is not part of its content.
const CALL_ID: &str = "/id";

/// Judges the wanted rows of a view, batch by batch.
///
/// # Errors
/// If a file cannot be read or written, or the run is cancelled.
pub(super) fn rewrite(
    view: &View<'_>,
    cx: &Context<'_>,
    wanted: impl Fn(RowIx) -> bool,
    out: &mut Verdict<'_>,
    judge: impl Fn(Row<'_>) -> Opinion + Sync,
) -> Result<()> {
    view.stream(cx, wanted, |batch| {
        let opinions = batch.map_rows(&judge)?;
        for (row, opinion) in batch.rows().iter().zip(opinions) {
            out.opinion(*row, opinion)?;
        }
        out.flush(batch.index())
    })
}

/// Adds a new cell to the opinion, with an edit for each replaced value; the values are added to `all`, too.
pub(super) fn with_redacted_cell(
    mut opinion: Opinion,
    column: ColumnSpec,
    new: Option<(String, Vec<Replaced>)>,
    all: &mut Vec<(ColumnSpec, Replaced)>,
) -> Opinion {
    let Some((cell, replaced)) = new else { return opinion };
    opinion.edits.extend(replaced.iter().map(|value| {
        let redaction = Redaction {
            kind: value.kind.name(),
            path: &value.path,
            span: (value.start, value.end),
            placeholder: &value.placeholder,
        };
        Edit::redacted(column, reason(value.kind), &redaction)
    }));
    all.extend(replaced.into_iter().map(|value| (column, value)));
    opinion.with(column, cell)
}
