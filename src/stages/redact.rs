//! Replaces personal values in requests by numbered placeholders of the same format.
//!
//! Values are numbered in canonical order of their first occurrence, those of doc lists before
//! those of requests; so `redact_docs`, which sees the doc lists after it, comes to the same
//! numbers without being told. Nothing of an old value leaves this stage: an edit says where it
//! stood, what kind it was and what stands there now. What is personal is decided in `privacy`.

use std::cell::RefCell;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use crate::engine::columns::{
    AFTERWARDS, ColumnSpec, EXTERNAL_ID, MESSAGES, PLACEHOLDERS, RESPONSE, SESSION, TEXT, USER,
};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::{Context, Contract, Edit, Opinion, Reason, Redaction, RowIx, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::privacy::apply::{Replaced, in_json, in_text, redact_json, redact_text};
use crate::privacy::numbers::Numbers;
use crate::privacy::{Found, Kind, Names, Region, Scanner, Standing, VERSION};

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
static NAME: Reason = Reason::policy("privacy/name", "A name of the list was replaced by a placeholder.");

/// Columns that hold plain text, then those that hold JSON, in the order in which values are numbered.
const PLAIN: [ColumnSpec; 3] = [EXTERNAL_ID, USER, SESSION];
const JSON: [ColumnSpec; 3] = [MESSAGES, RESPONSE, AFTERWARDS];

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Redact {
    /// What is looked for: `email`, `phone`, `card`, `iban`, `ssn`, `key`, `token`, `ipv4`, `ipv6`, `mac`.
    pub kinds: Vec<Kind>,
    /// The region whose national form telephone numbers have, such as "US". Without one a number in national form
    /// needs a word nearby that says what it is; with one more numbers are found.
    pub default_region: Option<Region>,
    /// A text file of names, one a line, that are replaced too, whatever their case. Names are not found otherwise. The
    /// file is read where it is; none of its lines goes into a run.
    pub names: Option<PathBuf>,
}

impl Default for Redact {
    fn default() -> Self {
        Self { kinds: Kind::ALL.to_vec(), default_region: None, names: None }
    }
}

/// What fires and what is near and does not, for each kind.
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
    const LEFT: &'static str = "requests without personal values";

    fn examples() -> Vec<Example> {
        EXAMPLES.iter().map(|(reason, fires, quiet)| Example::query(reason.code, fires, quiet)).collect()
    }

    fn check(&self) -> Result<(), String> {
        if self.kinds.is_empty() && self.names.is_none() {
            return Err("kinds and names must not both be empty: there is nothing to look for".to_owned());
        }
        // Read here too, so that a bad file is told before the run begins.
        self.names.as_ref().map_or(Ok(()), |path| Names::read(path).map(|_| ()))
    }
}

impl Stage for Redact {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::Requests,
            reads: [&PLAIN[..], &JSON, &[TEXT]].concat(),
            reads_if_there: vec![],
            writes: [&PLAIN[..], &JSON, &[PLACEHOLDERS]].concat(),
            reasons: self.reasons(),
            merges: false,
            idempotent: true,
            sends_rows_out: false,
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        fingerprint.part("privacy", &VERSION.to_le_bytes());
        self.fingerprint_names(fingerprint)
    }

    fn prepare(&self) {
        Scanner::prepare(&self.kinds);
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let scanner = self.scanner()?;
        let lists = Met::collect(&view.parent(), cx, |row, note| values_of_list(&scanner, row, note))?;
        let requests = Met::collect(view, cx, |row, note| values_of_request(&scanner, row, note))?;
        let mut numbers = Numbers::default();
        take_and_learn(&[&lists, &requests], &mut numbers);
        rewrite(view, cx, &requests, out, |row, met| {
            let mut opinion = Opinion::keep();
            for column in PLAIN {
                let new = row.text(column).and_then(|text| redact_text(&scanner, &numbers, text));
                opinion = changed(opinion, column, new);
            }
            for column in JSON {
                let new = row.text(column).and_then(|text| redact_json(&scanner, &numbers, text));
                opinion = changed(opinion, column, new);
            }
            if met.taken.is_empty() { opinion } else { opinion.with(PLACEHOLDERS, met.placeholders()) }
        })
    }
}

impl Redact {
    /// The reasons it may name.
    pub(super) fn reasons(&self) -> Vec<&'static Reason> {
        let named = self.kinds.iter().copied().chain(self.names.is_some().then_some(Kind::Name));
        let mut reasons: Vec<&'static Reason> = Vec::new();
        for kind in named {
            if !reasons.contains(&reason(kind)) {
                reasons.push(reason(kind));
            }
        }
        reasons
    }

    /// Adds the list of names by its content.
    ///
    /// # Errors
    /// The list of names cannot be read.
    pub(super) fn fingerprint_names(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        self.names.as_ref().map_or(Ok(()), |path| fingerprint.file(path))
    }

    /// What finds the values.
    ///
    /// # Errors
    /// The list of names cannot be read, or is too long.
    pub(super) fn scanner(&self) -> Result<Scanner> {
        let names = match &self.names {
            Some(path) => Names::read(path).map_err(Error::Setting)?,
            None => Names::default(),
        };
        Ok(Scanner::new(&self.kinds, self.default_region, names))
    }
}

fn reason(kind: Kind) -> &'static Reason {
    match kind {
        Kind::Email => &EMAIL,
        Kind::Phone => &PHONE,
        Kind::Card => &CARD,
        Kind::Iban => &IBAN,
        Kind::Ssn => &SSN,
        Kind::Key => &KEY,
        Kind::Token => &TOKEN,
        Kind::Ipv4 => &IPV4,
        Kind::Ipv6 => &IPV6,
        Kind::Mac => &MAC,
        Kind::Name => &NAME,
    }
}

/// What a row holds, for numbering.
pub(super) struct Met {
    row: RowIx,
    position: u32,
    values: Vec<(Kind, String)>,
    taken: Vec<(Kind, u64)>,
}

impl Met {
    /// What the rows of a view hold, in canonical order; rows that hold nothing are left out.
    ///
    /// # Errors
    /// A file cannot be read, or the user asked to stop.
    pub(super) fn collect(
        view: &View<'_>,
        cx: &Context<'_>,
        visit: impl Fn(Row<'_>, &mut dyn FnMut(&Found)) + Sync,
    ) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        view.for_each_batch(cx, |batch| {
            let met = batch.map_rows(|row| {
                let met = RefCell::new(Self {
                    row: row.ix(),
                    position: view.position(row.ix()),
                    values: Vec::new(),
                    taken: Vec::new(),
                });
                visit(row, &mut |found| met.borrow_mut().note(found));
                met.into_inner()
            });
            all.extend(met.into_iter().filter(|met| !met.values.is_empty() || !met.taken.is_empty()));
            Ok(())
        })?;
        all.sort_by_key(|met| met.position);
        Ok(all)
    }

    fn note(&mut self, found: &Found) {
        match found.standing {
            Standing::Personal => self.values.push((found.kind, found.value.clone())),
            Standing::Placeholder(Some(number)) => self.taken.push((found.kind, number)),
            Standing::Placeholder(None) => {}
        }
    }

    fn placeholders(&self) -> String {
        let words: Vec<String> =
            self.taken.iter().map(|(kind, number)| format!("{} {number}", kind.name())).collect();
        words.join(",")
    }
}

/// Gives the values of all rows numbers, in the order of the rows, once the placeholders of all are noted.
pub(super) fn take_and_learn(tables: &[&[Met]], numbers: &mut Numbers) {
    for (kind, number) in tables.iter().copied().flatten().flat_map(|met| &met.taken) {
        numbers.take(*kind, *number);
    }
    for (kind, value) in tables.iter().copied().flatten().flat_map(|met| &met.values) {
        numbers.learn(*kind, value);
    }
}

/// Notes the placeholders of a cell that [`Redact`] wrote.
pub(super) fn take_noted(cell: &str, numbers: &mut Numbers) {
    for (kind, number) in cell.split(',').filter_map(|word| word.split_once(' ')) {
        if let (Some(kind), Ok(number)) = (Kind::from_name(kind), number.parse()) {
            numbers.take(kind, number);
        }
    }
}

/// The values of a doc list, in order.
pub(super) fn values_of_list(scanner: &Scanner, row: Row<'_>, note: &mut dyn FnMut(&Found)) {
    in_text(scanner, row.text(TEXT).unwrap_or_default(), note);
}

fn values_of_request(scanner: &Scanner, row: Row<'_>, note: &mut dyn FnMut(&Found)) {
    for column in PLAIN {
        in_text(scanner, row.text(column).unwrap_or_default(), &mut *note);
    }
    for column in JSON {
        in_json(scanner, row.text(column).unwrap_or_default(), &mut *note);
    }
}

/// Judges the rows that were met, batch by batch.
///
/// # Errors
/// A file cannot be read or written, or the user asked to stop.
pub(super) fn rewrite(
    view: &View<'_>,
    cx: &Context<'_>,
    met: &[Met],
    out: &mut Verdict<'_>,
    judge: impl Fn(Row<'_>, &Met) -> Opinion + Sync,
) -> Result<()> {
    let mut by_row: Vec<&Met> = met.iter().collect();
    by_row.sort_by_key(|met| met.row);
    let find = |row: RowIx| by_row.binary_search_by_key(&row, |met| met.row).ok().map(|at| by_row[at]);
    view.stream(
        cx,
        |row| find(row).is_some(),
        |batch| {
            let opinions =
                batch.map_rows(|row| find(row.ix()).map_or_else(Opinion::keep, |met| judge(row, met)));
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        },
    )
}

/// The opinion with a new cell, and an edit for each value that was replaced in it.
pub(super) fn changed(
    mut opinion: Opinion,
    column: ColumnSpec,
    new: Option<(String, Vec<Replaced>)>,
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
    opinion.with(column, cell)
}
