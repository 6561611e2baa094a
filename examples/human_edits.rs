//! What people edited in the docs of the leaderboard's Live part since its first release, and what the fixer does.
//!
//! `cargo run --example human_edits -- V2 V4 > docs/fixer-vs-editors.md`, with two folders of BFCL files.
//!
//! Docs are paired by the id of their entry and the name of their function. Both the human's and the fixer's result
//! are compared with the original, place by place, so that an edit is the same where it puts the same at one place.
//! A human edit is of a rule where `check` finds a fault there before and none after; else it is wording (a
//! description) or meaning. No text of the docs is printed.

#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use callsieve::docs::check::check;
use callsieve::docs::fix::{Safety, fix};
use callsieve::docs::{canonical, patch};
use callsieve::lint::input::{self, InputFile};
use serde_json::{Map, Value};

const WORDING: &str = "wording";
const MEANING: &str = "meaning";
const WITHOUT_DEFAULT: &str = "schema/optional-without-default";

fn main() -> anyhow::Result<()> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [original, edited] = paths.as_slice() else { anyhow::bail!("usage: human_edits ORIGINAL EDITED") };
    let (original, edited) = (functions(original)?, functions(edited)?);
    let ids: BTreeSet<&String> = edited.keys().map(|(id, ..)| id).collect();
    let mut tally = Tally::default();
    for (place, before) in &original {
        match edited.get(place) {
            Some(after) => tally.add(before, after),
            None if ids.contains(&place.0) => tally.gone += 1,
            None => tally.moved += 1,
        }
    }
    print!("{}", tally.page(original.len()));
    Ok(())
}

/// Where a doc stands: its entry, its name, and how many of that name stand before it.
type Place = (String, String, usize);

fn functions(folder: &str) -> anyhow::Result<BTreeMap<Place, Value>> {
    let mut found = BTreeMap::new();
    for line in input::read(Path::new(folder))?.iter().flat_map(|file: &InputFile| &file.lines) {
        for function in line.functions() {
            let name = function["name"].as_str().unwrap_or_default().to_owned();
            let mut place = (line.id(), name, 0);
            while found.contains_key(&place) {
                place.2 += 1;
            }
            found.insert(place, function.clone());
        }
    }
    Ok(found)
}

/// One place and what was put there: nothing where it was taken away.
type Edit = (String, Option<String>);

/// The places at which two docs differ. Lists are one place; a key under another name counts as renamed, and what
/// is inside of it is compared under the old one.
fn edits(before: &Value, after: &Value) -> BTreeSet<Edit> {
    let mut found = BTreeSet::new();
    compare("", before, after, &mut found);
    found
}

fn compare(at: &str, before: &Value, after: &Value, found: &mut BTreeSet<Edit>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => compare_keys(at, before, after, found),
        _ if before == after => {}
        _ => drop(found.insert((at.to_owned(), Some(after.to_string())))),
    }
}

fn compare_keys(
    at: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    found: &mut BTreeSet<Edit>,
) {
    let inside = |key: &str| format!("{at}/{}", patch::token(key));
    let renamed = |key: &str| {
        let to = format!("_{key}");
        (!after.contains_key(key) && !before.contains_key(&to) && after.contains_key(&to)).then_some(to)
    };
    for (key, old) in before {
        match (after.get(key), renamed(key)) {
            (Some(new), _) if key == "required" => {
                compare(&inside(key), &in_new_names(old, after), new, found);
            }
            (Some(new), _) => compare(&inside(key), old, new, found),
            (None, Some(to)) => {
                found.insert((inside(key), Some(format!("renamed {to}"))));
                compare(&inside(key), old, &after[&to], found);
            }
            (None, None) => drop(found.insert((inside(key), None))),
        }
    }
    let is_new = |key: &&String| {
        !before.contains_key(*key) && !before.keys().any(|old| renamed(old).as_ref() == Some(key))
    };
    for key in after.keys().filter(is_new) {
        found.insert((inside(key), Some(after[key].to_string())));
    }
}

/// The list of required parameters with the names that were renamed, which is no edit of its own.
fn in_new_names(required: &Value, after: &Map<String, Value>) -> Value {
    let properties = after.get("properties");
    let known = |name: &str| properties.is_some_and(|properties| properties.get(name).is_some());
    let new = |name: &Value| match name.as_str() {
        Some(text) if !known(text) && known(&format!("_{text}")) => Value::from(format!("_{text}")),
        _ => name.clone(),
    };
    required.as_array().map_or_else(|| required.clone(), |names| names.iter().map(new).collect())
}

/// Faults of a doc by place, pointers from the function on.
fn faults(function: &Value) -> BTreeMap<String, &'static str> {
    let of_rules =
        check(std::slice::from_ref(function)).into_iter().filter(|finding| !finding.rule.by.is_empty());
    // A list's first finding is kept where two rules speak of one place.
    of_rules.rev().map(|finding| (finding.at["/0".len()..].to_owned(), finding.rule.code)).collect()
}

/// The rule that an edit keeps: a fault of the place, of a key beside it or of what holds it, that is gone after.
fn rule_of(
    at: &str,
    before: &BTreeMap<String, &'static str>,
    after: &BTreeMap<String, &'static str>,
) -> &'static str {
    let schema = at.rsplit_once('/').map_or("", |(schema, _)| schema);
    let gone = |place: &String| before.get(place).filter(|code| after.get(place) != Some(code)).copied();
    let beside = ["default", "enum", "type"].map(|key| format!("{schema}/{key}"));
    let is_text = at.ends_with("/description");
    let places = [at.to_owned()].into_iter().chain(beside.into_iter().filter(|_| !is_text));
    let missing =
        gone(&schema.to_owned()).filter(|code| at.ends_with("/default") && *code == WITHOUT_DEFAULT);
    let rule = places.into_iter().find_map(|place| gone(&place)).or(missing);
    rule.unwrap_or(if is_text { WORDING } else { MEANING })
}

/// The key that an edit is about: one of a schema's, or a parameter.
fn key_of(at: &str) -> &'static str {
    const KEYS: [&str; 8] =
        ["name", "description", "required", "type", "default", "enum", "items", "properties"];
    let mut tokens = at.rsplit('/');
    let (last, holder) = (tokens.next().unwrap_or_default(), tokens.next().unwrap_or_default());
    let key = KEYS.into_iter().find(|key| *key == last && holder != "properties");
    key.unwrap_or("a parameter")
}

/// Counts of one rule: every time an edit stands in the files, and different ones.
#[derive(Default)]
struct Count {
    times: usize,
    distinct: BTreeSet<u128>,
}

impl Count {
    fn add(&mut self, doc: u128, edit: &Edit) {
        self.times += 1;
        let (at, now) = (Value::from(edit.0.clone()), Value::from(edit.1.clone()));
        self.distinct.insert(doc ^ canonical::key(&[at, now]));
    }

    fn cell(&self) -> String {
        if self.times == 0 { "0".to_owned() } else { format!("{} ({})", self.times, self.distinct.len()) }
    }
}

#[derive(Default)]
struct Row {
    hits: Count,
    otherwise: Count,
    misses: Count,
    beyond: Count,
}

#[derive(Default)]
struct Tally {
    /// By rule and key.
    rows: BTreeMap<(&'static str, &'static str), Row>,
    paired: usize,
    /// Their entry is there, and no function of the name in it.
    gone: usize,
    /// No entry has the id.
    moved: usize,
    edited: usize,
    fixed: usize,
    with_guesses: usize,
}

impl Tally {
    fn add(&mut self, before: &Value, after: &Value) {
        let fixed = |safety| fix(std::slice::from_ref(before), safety).functions.remove(0);
        let (safe, guessed) = (fixed(Safety::Safe), fixed(Safety::Unsafe));
        let (human, ours) = (edits(before, after), edits(before, &safe));
        self.paired += 1;
        self.edited += usize::from(!human.is_empty());
        self.fixed += usize::from(!ours.is_empty());
        self.with_guesses += usize::from(guessed != safe);
        let doc = canonical::key(std::slice::from_ref(before));
        let (old, new, mended) = (faults(before), faults(after), faults(&safe));
        for edit in &human {
            let row = self.rows.entry((rule_of(&edit.0, &old, &new), key_of(&edit.0))).or_default();
            let count = match ours.iter().find(|ours| ours.0 == edit.0) {
                Some(same) if same == edit => &mut row.hits,
                Some(_) => &mut row.otherwise,
                None => &mut row.misses,
            };
            count.add(doc, edit);
        }
        for edit in ours.iter().filter(|ours| human.iter().all(|edit| edit.0 != ours.0)) {
            let row = self.rows.entry((rule_of(&edit.0, &old, &mended), key_of(&edit.0))).or_default();
            row.beyond.add(doc, edit);
        }
    }

    fn page(&self, n_docs: usize) -> String {
        let mut page = format!(
            "# What people edited, and what the fixer does\n\n{}\n\n\
             Of {n_docs} docs of the original release {} are in the current one, under the same id and name; the entries of {} have another id \
             there, and {} are missing. The editors changed {} of the docs, the fixer's safe rules change {}; its rules that \
             guess would change {} more.\n\n\
             | rule | key | the same | same place, otherwise | human only | fixer only |\n|---|---|---|---|---|---|\n",
            INTRODUCTION, self.paired, self.moved, self.gone, self.edited, self.fixed, self.with_guesses
        );
        let is_rule = |code: &str| code != WORDING && code != MEANING;
        let of_rules = self.rows.iter().filter(|((code, _), _)| is_rule(code));
        for ((code, key), row) in of_rules.chain(self.rows.iter().filter(|((code, _), _)| !is_rule(code))) {
            let code = if is_rule(code) { format!("`{code}`") } else { format!("none: {code}") };
            let cells = [&row.hits, &row.otherwise, &row.misses, &row.beyond].map(Count::cell);
            page += &format!("| {code} | {key} | {} |\n", cells.join(" | "));
        }
        page + &self.totals() + "\n" + READING
    }

    /// All edits that keep a rule, and all others.
    fn totals(&self) -> String {
        let is_rule = |code: &str| code != WORDING && code != MEANING;
        let total = |of_rules: bool| {
            let rows =
                || self.rows.iter().filter(|((code, _), _)| is_rule(code) == of_rules).map(|(_, row)| row);
            let sum = |pick: fn(&Row) -> &Count| {
                let (times, distinct) = rows()
                    .map(pick)
                    .fold((0, 0), |sum, count| (sum.0 + count.times, sum.1 + count.distinct.len()));
                if times == 0 { "0".to_owned() } else { format!("{times} ({distinct})") }
            };
            [sum(|row| &row.hits), sum(|row| &row.otherwise), sum(|row| &row.misses), sum(|row| &row.beyond)]
                .join(" | ")
        };
        format!("| all that keep a rule | | {} |\n| all others | | {} |\n", total(true), total(false))
    }
}

const INTRODUCTION: &str = "\
After the first release, BFCL's editors corrected the docs of the Live part by hand. This page counts their edits by rule, and
what `callsieve fix` does with the same docs. It is written by

```sh norun
cargo run --example human_edits -- bfcl-v2-live bfcl-v4-live > docs/fixer-vs-editors.md
```

from two folders of question files, which are not part of the repository. A number counts places in docs, once for each entry
that has the doc; in brackets, distinct edits of distinct docs. An edit belongs to a rule if `callsieve check` finds a fault
there before it and none after it. The other edits are *wording* (a description) or *meaning* (types, defaults, parameters
without a fault).";

const READING: &str = "\
How to read it:

- *The same*: edits that a rule makes as the editors did, such as keywords as names, or numbers written as text.
- *Human only*, of a rule: a value that does not fit its parameter in any type (`dontcare` for a number or a boolean). The
  editors gave the parameter another type, or the list other values. The doc does not show which of the two is right, so `fix`
  and `check` only report it.
- *Human only*, of none: wording was improved or corrected. No rule finds a fault there.
- *Fixer only*: the editors left such defaults as they were; the rules of the recipe require them.
";
