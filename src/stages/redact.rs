//! Replaces personal values in requests by numbered placeholders of the same format.
//!
//! Values are numbered in canonical order of their first occurrence, those of doc lists before
//! those of requests. A value that is recognised in one place is replaced in all others
//! (`privacy::known`), so there are two passes: the first finds values, the second replaces them
//! in every row that contains one. The replacements in a doc list are noted on one of its requests,
//! for `redact_docs`. No edit contains an old value: it has the place, the kind and the
//! placeholder. `privacy` defines which values are personal.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use crate::columns::{
    ANSWER_ONLY_PLACEHOLDERS, DOCS_PLACEHOLDERS, EXTERNAL_ID, FOLLOWING_MESSAGES, MESSAGES, PLACEHOLDERS,
    RESPONSE, SESSION, TEXT, USER,
};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Role};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{ColumnSpec, Edit, Reason, Redaction, RowIx, TableId};
use crate::privacy::apply::{Finder, Replaced, redact_json, redact_text};
use crate::privacy::known::{KnownValues, OwnValues, Sighting};
use crate::privacy::numbers::Numbers;
use crate::privacy::sight::{CellKind, Repeated};
use crate::privacy::{Names, NotedSpan, PrivacyKind, Region, Scanner, VERSION};

static EMAIL: Reason = Reason::policy("privacy/email", "An e-mail address was replaced by a placeholder.");
static PHONE: Reason = Reason::policy("privacy/phone", "A telephone number was replaced by a placeholder.");
static CARD: Reason =
    Reason::policy("privacy/card", "The number of a payment card was replaced by a placeholder.");
static IBAN: Reason =
    Reason::policy("privacy/iban", "An international bank account number was replaced by a placeholder.");
static SSN: Reason =
    Reason::policy("privacy/ssn", "A US social security number was replaced by a placeholder.");
static KEY: Reason = Reason::policy("privacy/key", "An API key or password was replaced by a placeholder.");
static TOKEN: Reason = Reason::policy("privacy/token", "An access token was replaced by a placeholder.");
static IPV4: Reason = Reason::policy("privacy/ipv4", "A public IPv4 address was replaced by a placeholder.");
static IPV6: Reason = Reason::policy("privacy/ipv6", "A public IPv6 address was replaced by a placeholder.");
static MAC: Reason =
    Reason::policy("privacy/mac", "The MAC address of a device was replaced by a placeholder.");
static NAME: Reason =
    Reason::policy("privacy/name", "A name from the list of names was replaced by a placeholder.");

/// Columns of plain text, then columns of JSON, in the order in which values are numbered.
const PLAIN: [ColumnSpec; 3] = [EXTERNAL_ID, USER, SESSION];
const JSON: [ColumnSpec; 3] = [MESSAGES, RESPONSE, FOLLOWING_MESSAGES];
/// The cells of a request and of a doc list, in the same order.
const REQUEST: [(ColumnSpec, CellKind); 6] = [
    (EXTERNAL_ID, CellKind::Text),
    (USER, CellKind::Text),
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
}

impl Default for Redact {
    fn default() -> Self {
        Self { kinds: PrivacyKind::ALL.to_vec(), default_region: None, names: None }
    }
}

/// For each kind, a text that fires and a similar text that does not.
pub(super) const EXAMPLES: [(&Reason, &str, &str); 10] = [
    (&EMAIL, "Send the receipt to mira.keller@quillpost.net", "Send the receipt to mira.keller@example.com"),
    (&PHONE, "Call me at +44 20 7946 0321", "Call me on 2024-02-26, 20:45"),
    (&CARD, "Charge 4539 1488 0343 6467", "Charge 4242 4242 4242 4242"),
    (&IBAN, "Send 40 euros to NL02 ABNA 0123 4567 89", "Send 40 euros to NL91 ABNA 0417 1643 00"),
    (&SSN, "My SSN is 536-22-8713", "My SSN is 000-22-8713"),
    (&KEY, "Use the key sk-9aQ2mZx74LpTgB3vWc81RkYd", "Use the key sk-YOUR_API_KEY"),
    (&TOKEN, "Send Bearer 7fK2pQz91LmXw4TbR8sVn3Yc", "Send Bearer tokens with each call"),
    (&IPV4, "Where is 81.143.22.97?", "Where is 192.168.22.97?"),
    (&IPV6, "Where is 2a01:4f8:c17:b0f::2?", "Where is 2001:db8:c17:b0f::2?"),
    (&MAC, "Block the device 3c:22:fb:9a:41:d7", "Block the device 00:00:5e:00:53:17"),
];

impl Settings for Redact {
    const NAME: &'static str = "redact";
    const SUMMARY: &'static str =
        "Replaces personal values and secrets in requests by numbered placeholders of the same format.";
    const FUNNEL_LABEL: &'static str = "personal values replaced by rule";

    fn examples() -> Vec<Example> {
        EXAMPLES.iter().map(|(reason, fires, quiet)| Example::query(reason.code, fires, quiet)).collect()
    }

    fn check(&self) -> Result<(), String> {
        if self.kinds.is_empty() && self.names.is_none() {
            return Err("kinds and names must not both be empty".to_owned());
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
            .reasons(self.reasons())
            .role(Role::Redaction)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        fingerprint.version_of("privacy", VERSION);
        self.fingerprint_names(fingerprint)
    }

    fn prepare(&self) {
        Scanner::prepare(&self.kinds);
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let scanner = self.scanner()?;
        let lists = TableFindings::collect(&view.parent(), cx, &scanner, &LIST)?;
        let requests = TableFindings::collect(view, cx, &scanner, &REQUEST)?;
        let known = KnownValues::of(|| lists.values().chain(requests.values()));
        let mut numbers = Numbers::default();
        assign_numbers(&[&lists, &requests], &known, &mut numbers);
        let finder = Finder::from(&scanner).with_known(&known);
        let docs = ListFindings::of(&view.parent(), cx, &lists, finder, &numbers)?;
        let noting = docs.noting_requests(view);
        let wanted = |row: RowIx| {
            requests.holds(row, &known) || lists.has_own_values(view.origin_of(row)) || noting.contains(&row)
        };
        rewrite(view, cx, wanted, out, |row| {
            let list = view.origin_of(row.ix());
            let own = OwnValues::of(requests.values_of(row.ix()).iter().chain(lists.values_of(list)));
            let finder = finder.with_own(&own);
            let mut replaced = Vec::new();
            let mut opinion = Opinion::keep();
            for column in PLAIN {
                let new = row.text(column).and_then(|text| redact_text(finder, &numbers, text));
                opinion = with_redacted_cell(opinion, column, new, &mut replaced);
            }
            for column in JSON {
                let new = row.text(column).and_then(|text| redact_json(finder, &numbers, text));
                opinion = with_redacted_cell(opinion, column, new, &mut replaced);
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
        })
    }
}

impl Redact {
    /// Returns the reasons that the stage may give.
    pub(super) fn reasons(&self) -> Vec<&'static Reason> {
        let named = self.kinds.iter().copied().chain(self.names.is_some().then_some(PrivacyKind::Name));
        let mut reasons: Vec<&'static Reason> = Vec::new();
        for kind in named {
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
        Ok(Scanner::new(&self.kinds, self.default_region, names))
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
    }
}

/// Maximum number of marks kept per row; a row with more is always read again.
const MAX_MARKS: usize = 256;

/// The findings in a table: personal values, placeholders, and marks of possible values.
#[derive(Default)]
pub(super) struct TableFindings {
    /// The rows with values or placeholders, in canonical order.
    rows: Vec<RowFindings>,
    at: FxHashMap<RowIx, usize>,
    /// The marks of each row.
    marks: Vec<(RowIx, Vec<u32>)>,
}

/// The values and placeholders of a row.
#[derive(Default)]
struct RowFindings {
    position: u32,
    values: Vec<Sighting>,
    taken: Vec<(PrivacyKind, u64)>,
}

impl TableFindings {
    /// Searches the cells of the kept rows of a view.
    ///
    /// # Errors
    /// If a file cannot be read, or the run is cancelled.
    pub(super) fn collect(
        view: &View<'_>,
        cx: &Context<'_>,
        scanner: &Scanner,
        cells: &[(ColumnSpec, CellKind)],
    ) -> Result<Self> {
        let mut rows: Vec<(RowIx, RowFindings)> = Vec::new();
        let mut marks: Vec<(RowIx, Vec<u32>)> = Vec::new();
        let repeated = Repeated::default();
        view.for_each_batch(cx, |batch| {
            let seen = batch.map_rows(|row| {
                let position = view.position(row.ix());
                let (mut seen, mut marks) = (RowFindings { position, ..RowFindings::default() }, Vec::new());
                for &(column, kind) in cells {
                    let Some(cell) = row.text(column) else { continue };
                    if let Some(cell) = repeated.see(scanner, cell, kind) {
                        seen.values.extend_from_slice(&cell.values);
                        seen.taken.extend_from_slice(&cell.taken);
                        marks.extend_from_slice(&cell.marks);
                    }
                }
                (row.ix(), seen, in_order(marks))
            })?;
            for (row, seen, of_row) in seen {
                if !seen.values.is_empty() || !seen.taken.is_empty() {
                    rows.push((row, seen));
                }
                if !of_row.is_empty() {
                    marks.push((row, of_row));
                }
            }
            Ok(())
        })?;
        rows.sort_by_key(|(_, seen)| seen.position);
        let at = rows.iter().enumerate().map(|(at, (row, _))| (*row, at)).collect();
        Ok(Self { rows: rows.into_iter().map(|(_, seen)| seen).collect(), at, marks })
    }

    /// Returns all personal values, in canonical order of the rows.
    pub(super) fn values(&self) -> impl Iterator<Item = &Sighting> {
        self.rows.iter().flat_map(|row| &row.values)
    }

    fn row(&self, row: RowIx) -> Option<&RowFindings> {
        self.at.get(&row).map(|&at| &self.rows[at])
    }

    /// Returns the personal values of a row.
    fn values_of(&self, row: RowIx) -> &[Sighting] {
        self.row(row).map_or(&[], |row| &row.values)
    }

    /// Returns whether the row has values that are only replaced in this row and the rows that depend on it.
    fn has_own_values(&self, row: RowIx) -> bool {
        self.values_of(row).iter().any(|value| !value.is_sure())
    }

    /// Returns the placeholders that the log already has in a row; `None` if there are none.
    fn placeholders_of(&self, row: RowIx) -> Option<String> {
        let taken = &self.row(row)?.taken;
        (!taken.is_empty()).then(|| placeholder_list(taken.iter().copied()))
    }

    /// Returns whether the row has values or placeholders, or may contain a known value.
    pub(super) fn holds(&self, row: RowIx, known: &KnownValues) -> bool {
        let may_hold = || {
            let at = self.marks.binary_search_by_key(&row, |(row, _)| *row).ok()?;
            let marks = &self.marks[at].1;
            Some(marks.len() >= MAX_MARKS || known.has_any(marks))
        };
        self.at.contains_key(&row) || (!known.is_empty() && may_hold().unwrap_or(false))
    }
}

/// Sorts the marks of a row and removes duplicates; keeps at most [`MAX_MARKS`].
fn in_order(mut marks: Vec<u32>) -> Vec<u32> {
    marks.sort_unstable();
    marks.dedup();
    marks.truncate(MAX_MARKS);
    marks.shrink_to_fit();
    marks
}

/// Formats placeholders as `email 7,phone 2`.
fn placeholder_list(placeholders: impl Iterator<Item = (PrivacyKind, u64)>) -> String {
    let words: Vec<String> = placeholders.map(|(kind, number)| format!("{} {number}", kind.name())).collect();
    words.join(",")
}

/// Assigns numbers to the values of all rows, in the order of the rows, after reserving the numbers of the placeholders
/// that the log already has.
pub(super) fn assign_numbers(tables: &[&TableFindings], known: &KnownValues, numbers: &mut Numbers) {
    for (kind, number) in tables.iter().flat_map(|seen| &seen.rows).flat_map(|row| &row.taken) {
        numbers.take(*kind, *number);
    }
    for value in tables.iter().flat_map(|seen| seen.values()) {
        match known.canonical(value.kind, &value.written) {
            Some((kind, normal, _)) => numbers.learn(kind, normal),
            None => numbers.learn(value.kind, &value.value),
        }
    }
}

/// Reserves the numbers of the placeholders in a cell that [`Redact`] wrote.
pub(super) fn reserve_noted(cell: &str, numbers: &mut Numbers) {
    for (kind, number) in cell.split(',').filter_map(|word| word.split_once(' ')) {
        if let (Some(kind), Ok(number)) = (PrivacyKind::from_name(kind), number.parse()) {
            numbers.take(kind, number);
        }
    }
}

/// The findings in doc lists that requests and `redact_docs` need.
struct ListFindings {
    lists: FxHashMap<RowIx, ListPlaceholders>,
}

#[derive(Default)]
struct ListPlaceholders {
    /// The kind and number of each value.
    numbers: Vec<(PrivacyKind, u64)>,
    /// The places of the values.
    spans: Vec<NotedSpan>,
}

impl ListFindings {
    fn of(
        view: &View<'_>,
        cx: &Context<'_>,
        seen: &TableFindings,
        finder: Finder<'_>,
        numbers: &Numbers,
    ) -> Result<Self> {
        let mut lists = FxHashMap::default();
        let wanted =
            |row: RowIx| view.is_kept(row) && finder.known().is_some_and(|known| seen.holds(row, known));
        view.stream(cx, wanted, |batch| {
            let found = batch.map_rows(|row| {
                let text = row.text(TEXT).unwrap_or_default();
                let mut placeholders = ListPlaceholders::default();
                for found in finder.find(text) {
                    let Some(number) = numbers.of(&found) else { continue };
                    placeholders.numbers.push((found.kind, number));
                    let (start, end, kind) = (found.start, found.end, found.kind);
                    let placeholder = found.stand_in(&text[start..end], number);
                    placeholders.spans.push(NotedSpan { kind, start, end, number, placeholder });
                }
                placeholders
            })?;
            lists.extend(batch.rows().iter().copied().zip(found));
            Ok(())
        })?;
        Ok(Self { lists })
    }

    /// Returns the requests that carry a note for `redact_docs`: the first of each list with values, and the first of
    /// all requests, whose note shows that the lists were searched.
    fn noting_requests(&self, view: &View<'_>) -> FxHashSet<RowIx> {
        let mut noted: FxHashSet<RowIx> = FxHashSet::default();
        let has_note = |list: RowIx| self.lists.get(&list).is_some_and(|list| !list.spans.is_empty());
        let first_of_all = view.rows().take(1);
        if self.lists.is_empty() {
            return first_of_all.collect();
        }
        view.rows()
            .filter(|&row| has_note(view.origin_of(row)) && noted.insert(view.origin_of(row)))
            .chain(first_of_all)
            .collect()
    }

    /// Returns the places of the values in a list, as JSON.
    fn note_for(&self, list: RowIx) -> String {
        let spans = self.lists.get(&list).map_or(&[][..], |list| &list.spans);
        serde_json::to_string(spans).expect("places and words are JSON")
    }

    fn numbers_of(&self, list: RowIx) -> &[(PrivacyKind, u64)] {
        self.lists.get(&list).map_or(&[], |list| &list.numbers)
    }
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

/// Judges the wanted kept rows, batch by batch.
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
    view.stream(
        cx,
        |row| view.is_judged(row) && wanted(row),
        |batch| {
            let opinions = batch.map_rows(&judge)?;
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        },
    )
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
