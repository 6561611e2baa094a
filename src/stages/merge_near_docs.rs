//! Merges near-duplicate doc lists: ROUGE-L F1 above a threshold.
//!
//! The compared text is the canonical JSON of each list after all fixes of `fix_docs`, so two
//! spellings of a type do not make two lists differ. The text is written to the column
//! `compared_text`, so that anyone can recompute the scores. Each merged list has a direct score
//! with the list it is merged into; there are no chains. For equal lists see `merge_exact_docs`.
//!
//! Names, types and keys make up most of a list with terse descriptions, so two lists whose descriptions have little in
//! common can score above the threshold. They are not merged.
//!
//! Lists that differ in a value of their descriptions (a date, a number, a quoted word, a format, a negation) or in what
//! their functions are named for are not merged either: another answer may be right.
//!
//! A request can only move to a near-duplicate list if its call fits there too. So lists merge
//! only if they have the same interface for calls (`docs::interface`). A near-duplicate list
//! with another interface is kept and marked as a variant of the earlier list;
//! `merge_near_queries` compares the requests of a list and its variants.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Settings;
use super::near_queries::f1_of_words;
use crate::cells::TypedCells as _;
use crate::columns::{COMPARED_TEXT, FUNCTIONS, LIST_VARIANT_OF, RENAMES};
use crate::docs::compared::ComparedList;
use crate::docs::fix;
use crate::docs::fix::renames::Rename;
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Likeness, Metric, Reason, RowIx, TableId};
use crate::similarity::rouge::leaders::merge_into_leaders;
use crate::similarity::rouge::texts::Texts;
use crate::text::doc_values::fixed_values;
use crate::text::opposites::Meanings;
use crate::text::profile::Profile;
use crate::text::rouge::{Comparison, Threshold};
use crate::text::tokens::Tokenizer;

static NEAR_COPY: Reason = Reason::policy(
    "docs/near-duplicate",
    "An earlier doc list differs in a few words only, and every call that fits one fits the other.",
)
.of_likeness(Likeness::NearCopy)
// Binding: the names in its calls are rewritten to those of the list it is merged into.
.binding();

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeNearDocs {
    /// ROUGE-L F1 from 0 to 1 above which two lists are merged. Higher keeps more lists.
    #[schemars(with = "f64")]
    pub threshold: Threshold,
    /// How text is split into tokens. "rouge-score-v1" reproduces published figures; it uses only ASCII letters and
    /// digits, so lists that differ only in other scripts are equal. "unicode-v2" distinguishes them. "auto" uses
    /// "unicode-v2" if either list has letters of a script other than Latin, else "rouge-score-v1".
    #[schemars(with = "String")]
    pub tokenizer: Profile,
    /// How a score is compared with the threshold: "exact" compares fractions, so that 4/5 is not above 0.8;
    /// "google-float" compares the floats of rouge-score, where rounding puts some ties above the threshold.
    pub comparison: Comparison,
}

impl Default for MergeNearDocs {
    fn default() -> Self {
        Self {
            threshold: Threshold::try_from(0.8).expect("0.8 is a threshold"),
            tokenizer: Profile::default(),
            comparison: Comparison::default(),
        }
    }
}

impl Settings for MergeNearDocs {
    const NAME: &'static str = "merge-near-docs";
    const SUMMARY: &'static str =
        "Merges doc lists whose ROUGE-L F1 with an earlier one is above a threshold.";
    const FUNNEL_LABEL: &'static str = "similar docs merged (ROUGE-L)";
    fn examples() -> Vec<Example> {
        vec![Example::tables(
            NEAR_COPY.code,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time of day in a given city."}]}, {"functions": [{"name": "now", "description": "Tells the time of day in the given city."}]}]}"#,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time of day in a given city."}]}, {"functions": [{"name": "ring", "description": "Rings the bell of a church until somebody comes."}]}]}"#,
        )]
    }
}

impl Stage for MergeNearDocs {
    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists)
            .reads([FUNCTIONS])
            .writes([COMPARED_TEXT, RENAMES, LIST_VARIANT_OF])
            .reasons([&NEAR_COPY])
            .merges()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(8);
        fingerprint.version_of("fixes", fix::VERSION);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut lists: Vec<(RowIx, ComparedList)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let compared = batch.map_rows(|row| ComparedList::of(&row.functions()))?;
            lists.extend(batch.rows().iter().copied().zip(compared));
            Ok(())
        })?;
        lists.sort_unstable_by_key(|&(row, _)| view.position(row));
        let (rows, lists): (Vec<RowIx>, Vec<ComparedList>) = lists.into_iter().unzip();
        let mut meanings = Meanings::default();
        let said: Vec<Said> = lists.iter().map(|list| Said::of(list, &mut meanings)).collect();
        let texts: Vec<&str> = lists.iter().map(|list| list.text.as_str()).collect();
        let cancelled = || cx.cancelled();
        let texts = Texts::encode_unless(&texts, self.tokenizer, &cancelled).ok_or(Error::Interrupted)?;
        // First merge lists of the same interface, then find the variants among the remaining lists.
        let mut merged: Vec<Option<NearDuplicate>> = vec![None; lists.len()];
        let mut by_interface: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, list) in lists.iter().enumerate() {
            by_interface.entry(&list.interface).or_default().push(at);
        }
        let mut groups: Vec<Vec<usize>> =
            by_interface.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_unstable();
        for mut group in groups {
            // Lists whose descriptions differ from their leader's are compared with each other. A family in which each list is
            // about something else takes a round for each, and merges nothing.
            for _ in 0..MAX_ROUNDS {
                if group.len() < 2 {
                    break;
                }
                let near = self.near(&texts, &group, cx)?;
                let is_copy = |(at, near): &(usize, NearDuplicate)| {
                    !said[*at].is_other(&said[near.leader], &meanings)
                        && have_same_values(&lists[*at].descriptions, &lists[near.leader].descriptions)
                        && are_described_alike(&lists[*at], &lists[near.leader])
                };
                let are_copies: Vec<bool> = near.par_iter().map(is_copy).collect();
                group.clear();
                for ((at, near), is_copy) in near.into_iter().zip(are_copies) {
                    if is_copy {
                        merged[at] = Some(near);
                    } else {
                        group.push(at);
                    }
                }
            }
        }
        let kept: Vec<usize> = (0..lists.len()).filter(|&at| merged[at].is_none()).collect();
        let variants = self.near(&texts, &kept, cx)?;
        for (at, list) in lists.iter().enumerate() {
            let renames = merged[at].and_then(|near| renames_to(list, &lists[near.leader]));
            let renames = renames.as_ref().unwrap_or(&list.renames);
            if !renames.is_empty() {
                out.set(rows[at], RENAMES, json!(renames).to_string())?;
            }
        }
        for (at, near) in merged.iter().enumerate() {
            let Some(NearDuplicate { leader, score, tokenizer }) = *near else { continue };
            let evidence = Evidence::score(Metric::RougeLF1(tokenizer), score);
            out.merge(rows[at], rows[leader], &NEAR_COPY, evidence)?;
        }
        for (at, near) in variants {
            out.set(rows[at], LIST_VARIANT_OF, view.row_id(rows[near.leader]).to_string())?;
        }
        for (row, list) in rows.into_iter().zip(lists) {
            out.set(row, COMPARED_TEXT, list.text)?;
        }
        Ok(())
    }
}

/// The leader of a near-duplicate list, with the score.
#[derive(Debug, Clone, Copy)]
struct NearDuplicate {
    leader: usize,
    score: f64,
    tokenizer: Tokenizer,
}

impl MergeNearDocs {
    /// Returns the lists of a group that are near-duplicates of an earlier list in it, with that list.
    fn near(&self, texts: &Texts, group: &[usize], cx: &Context<'_>) -> Result<Vec<(usize, NearDuplicate)>> {
        let cancelled = || cx.cancelled();
        let texts = texts.select(group);
        let threshold = self.threshold.compared_by(self.comparison);
        let merges = merge_into_leaders(&texts, threshold, &cancelled).ok_or(Error::Interrupted)?;
        let near = merges.into_iter().enumerate().filter_map(|(at, merge)| {
            let merge = merge?;
            let tokenizer = texts.tokenizer_of(at, merge.leader);
            Some((group[at], NearDuplicate { leader: group[merge.leader], score: merge.score, tokenizer }))
        });
        Ok(near.collect())
    }
}

/// Most comparisons of the lists that are not merged into their leader; lists that are left stay as they are.
const MAX_ROUNDS: usize = 3;

/// Minimum ROUGE-L F1 of the joined descriptions of two lists that merge.
const LEAST_DESCRIBED_ALIKE: f64 = 0.5;

/// The words of the name of a list's only function, and of its descriptions.
struct Said {
    name: Vec<u32>,
    descriptions: Vec<u32>,
    /// The words of the name that say what the function is about.
    subject: Vec<String>,
}

impl Said {
    fn of(list: &ComparedList, meanings: &mut Meanings) -> Self {
        let name = list.only.as_ref().map_or("", |(_, name)| name);
        Self {
            name: meanings.read(name),
            descriptions: meanings.read(&list.descriptions),
            subject: subject(name),
        }
    }

    /// Whether the functions do the opposite of each other, or the same to something else.
    fn is_other(&self, other: &Self, meanings: &Meanings) -> bool {
        self.subject != other.subject
            || meanings.are_opposed(&self.name, &other.name)
            || meanings.are_opposed(&self.descriptions, &other.descriptions)
            || meanings.differ_alike((&self.name, &other.name), (&self.descriptions, &other.descriptions))
    }
}

/// Words of names that say that something is looked up or computed, and not what.
const GENERIC: [&str; 31] = [
    "a",
    "an",
    "api",
    "by",
    "calculate",
    "check",
    "compute",
    "current",
    "data",
    "detail",
    "details",
    "display",
    "fetch",
    "find",
    "for",
    "function",
    "get",
    "info",
    "information",
    "list",
    "lookup",
    "of",
    "query",
    "read",
    "retrieve",
    "search",
    "show",
    "tool",
    "up",
    "view",
    "look",
];

/// Words of names with a direction: `km_to_miles` is not `miles_to_km`.
const DIRECTIONS: [&str; 4] = ["to", "from", "into", "2"];

/// Returns the words of a name that say what a function is about: sorted, unless they have a direction.
fn subject(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut word = String::new();
    for c in name.chars().chain([' ']) {
        let is_cut = !c.is_alphanumeric() || before.is_lowercase() && c.is_uppercase();
        if is_cut && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !GENERIC.contains(&word.as_str()));
    for word in &mut words {
        // A plural is the same thing.
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    if !words.iter().any(|word| DIRECTIONS.contains(&word.as_str())) {
        words.sort_unstable();
        words.dedup();
    }
    words
}

/// Returns whether two descriptions fix the same values: dates, numbers, quoted words, formats and negations. Lines that both
/// have are read only if the others differ.
fn have_same_values(one: &str, other: &str) -> bool {
    let (of_one, of_other): (FxHashSet<&str>, FxHashSet<&str>) =
        (one.lines().collect(), other.lines().collect());
    let only = |own: &str, others: &FxHashSet<&str>| {
        fixed_values(&own.lines().filter(|line| !others.contains(line)).collect::<Vec<_>>().join("\n"))
    };
    let (only_one, only_other) = (only(one, &of_other), only(other, &of_one));
    only_one == only_other || {
        let both = only(one, &of_one.difference(&of_other).copied().collect());
        let all = |only: &str| -> BTreeSet<String> {
            only.lines().chain(both.lines()).map(str::to_owned).collect()
        };
        all(&only_one) == all(&only_other)
    }
}

/// Returns whether the descriptions of two lists have enough in common; an empty description matches any other.
fn are_described_alike(one: &ComparedList, other: &ComparedList) -> bool {
    f1_of_words(&one.descriptions, &other.descriptions).is_none_or(|f1| f1 >= LEAST_DESCRIBED_ALIKE)
}

/// Returns the renames that make a call recorded with a list fit its leader; `None` if the renames of the fixes suffice.
fn renames_to(list: &ComparedList, leader: &ComparedList) -> Option<Vec<Rename>> {
    let ((sent, own), (_, other)) = (list.only.as_ref()?, leader.only.as_ref()?);
    if own == other {
        return None;
    }
    let mut renames = list.renames.clone();
    renames.retain(|rename| rename.parameter.is_some());
    renames.push(Rename { function: 0, name: sent.clone(), parameter: None, to: other.clone() });
    Some(renames)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::fixture::judged;

    /// Returns a list of one function with these descriptions: first its own, then those of its parameters.
    fn described(descriptions: &[String]) -> Value {
        let parameters: serde_json::Map<String, Value> = descriptions[1..]
            .iter()
            .enumerate()
            .map(|(n, text)| {
                (format!("parameter_number_{n}"), json!({"type": "string", "description": text}))
            })
            .collect();
        json!({"functions": [{"name": "look_up", "description": descriptions[0],
            "parameters": {"type": "dict", "required": [], "properties": parameters}}]})
    }

    proptest! {
        #[test]
        fn lists_that_differ_in_every_description_never_merge(
            pairs in prop::collection::vec(("[a-m]{2,6}( [a-m]{2,6}){0,2}", "[n-z]{2,6}( [n-z]{2,6}){0,2}"), 1..12),
            is_chinese in any::<bool>(),
        ) {
            let texts = |n: usize| -> Vec<String> {
                let ascii = pairs.iter().map(|(one, other)| if n == 0 { one } else { other });
                // Each letter maps to another character, so that the texts have nothing in common.
                let script = |c: char| if c.is_ascii_lowercase() {
                    char::from_u32(0x4e00 + u32::from(c)).unwrap()
                } else { c };
                ascii.map(|text| if is_chinese { text.chars().map(script).collect() } else { text.clone() }).collect()
            };
            let tables = json!({"doc_lists": [described(&texts(0)), described(&texts(1))]});
            prop_assert_eq!(judged(&MergeNearDocs::default(), &tables).fate(1), None);
        }
    }

    fn film(name: &str, parameters: &Value, words: &str) -> Value {
        json!([{"name": name, "description": format!("Looks up a film in the archive of the old town cinema {words}."),
            "parameters": parameters}])
    }

    #[test]
    fn near_duplicate_lists_merge_if_a_call_fits_both_and_are_variants_if_not() {
        let title = |required: Value| {
            json!({"type": "dict", "required": required, "properties": {
                "title": {"type": "string", "description": "The title of the film, in any language."}}})
        };
        let lists: Vec<Value> = [
            film("search_movie", &title(json!(["title"])), "and tells its year"),
            film("get_movie_details", &title(json!(["title"])), "and tells its director"),
            film("search_movie", &title(json!([])), "and tells its length"),
        ]
        .into_iter()
        .map(|functions| json!({ "functions": functions }))
        .collect();
        let judged = judged(&MergeNearDocs::default(), &json!({ "doc_lists": lists }));
        let fates: Vec<_> = (0..3).map(|row| judged.fate(row)).collect();
        assert_eq!(fates, [None, Some("docs/near-duplicate"), None]);
        let opposite = |name: &str, word: &str| {
            let parameters = json!({"type": "dict", "required": ["lamp"], "properties": {
                "lamp": {"type": "string", "description": "Which lamp of the house."}}});
            json!({"functions": [{"name": name, "description": format!("Switches a lamp of the house {word}"), "parameters": parameters}]})
        };
        let lamps = json!({"doc_lists": [opposite("light_on", "on"), opposite("light_off", "off"), opposite("get_light_on", "on"), opposite("lamp_on", "on")]});
        let lamps = crate::fixture::judged(&MergeNearDocs::default(), &lamps);
        assert_eq!([1, 2, 3].map(|row| lamps.fate(row)), [None, Some("docs/near-duplicate"), None]);
        // Other values, and names about something else, keep lists apart.
        let of = |name: &str, text: &str| {
            json!({"functions": [{"name": name, "description": text, "parameters": {"type": "dict", "required": ["amount"],
                "properties": {"amount": {"type": "float", "description": "The amount to convert, as a number."}}}}]})
        };
        let text = "Converts an amount between two units of length and returns the result";
        let apart = json!({"doc_lists": [
            of("miles_to_km", text), of("km_to_miles", text), of("convert_length", text),
            of("convert_length_units", &format!("{text} for at most 20 values")),
        ]});
        let apart = crate::fixture::judged(&MergeNearDocs::default(), &apart);
        assert_eq!([0, 1, 2, 3].map(|row| apart.fate(row)), [None; 4]);
        let dated = |day: &str| {
            of("find_trains", &format!("Finds trains for the amount of travellers. Today is {day}."))
        };
        let dated = json!({"doc_lists": [dated("Monday, 3 March 2025"), dated("Friday, 7 March 2025")]});
        assert_eq!(crate::fixture::judged(&MergeNearDocs::default(), &dated).fate(1), None);
        // A call of the second list is renamed to the function of the first.
        let renames: Vec<Rename> = serde_json::from_str(judged.cell(1, RENAMES).unwrap()).unwrap();
        let (name, _) =
            crate::docs::fix::renames::carry(&renames, "get_movie_details", serde_json::Map::new());
        assert_eq!(name, "search_movie");
        assert!(judged.cell(2, LIST_VARIANT_OF).is_some() && judged.cell(0, LIST_VARIANT_OF).is_none());
    }
}
