//! Drops doc lists whose functions are in public sets; calls `public_sets` and `similarity::overlap`.
//!
//! A function counts as public if its ROUGE-L F1 with a function of a set is above the
//! threshold. A list is dropped if the share of public functions is large enough, else held.
//! A rewritten doc is found by the name and parameters of its function and held, because a
//! common name alone proves nothing. Every match links the list to the record of the set.
//! Sets that are not on disk are noted and reported as not compared. Evidence and links
//! name functions and records, and never quote a set.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Notes, Settings};
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::docs::canonical;
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::link::{Link, Span};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Action, Evidence, Metric, Reason, RowIx, TableId};
use crate::environment::Environment;
use crate::public_sets::catalogue::recipe_sets;
use crate::public_sets::compared::{self, Missing, ReferenceItems, ReferenceSets, SETS_NOTE};
use crate::public_sets::form;
use crate::similarity::overlap::{self, Function, Matches};
use crate::text::rouge::Threshold;

static PUBLIC_FUNCTION: Reason =
    Reason::policy("overlap/public-function", "All or enough functions of the doc list are in a public set.");
static SOME_PUBLIC_FUNCTIONS: Reason = Reason::policy(
    "overlap/some-public-functions",
    "Some functions of the doc list are in a public set, but too few to drop it.",
);
static PUBLIC_NAME: Reason = Reason::policy(
    "overlap/public-name",
    "A function has the name and parameters of one in a public set, but another description.",
);

/// Maximum number of functions in the evidence of one list.
const MAX_HITS: usize = 20;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropPublicOverlap {
    /// Ids of public sets, as `callsieve sets list` shows them.
    pub sets: Vec<String>,
    /// The folder of sets [default: `$CALLSIEVE_SETS` or `~/.cache/callsieve/sets`].
    pub dir: Option<PathBuf>,
    #[serde(skip)]
    environment: Environment,
    /// What to do if a set is not on disk or cannot be read: "skip" continues without it and notes that, "error" stops.
    pub missing: Missing,
    /// ROUGE-L F1 from 0 to 1 above which a function counts as public. Higher keeps more lists.
    #[schemars(with = "f64")]
    pub threshold: Threshold,
    /// Minimum share of public functions, above 0 and up to 1, at which a list is dropped; below it the list is held.
    /// Higher holds more lists.
    pub drop_share: f64,
    /// Minimum Jaccard index of the parameter names, from 0 to 1, at which two functions of the same name count as one
    /// with different descriptions. Higher holds fewer lists.
    pub name_jaccard: f64,
    /// Minimum number of parameter names that two functions of the same name must share. Higher holds fewer lists.
    pub min_shared_parameters: usize,
}

impl Default for DropPublicOverlap {
    fn default() -> Self {
        Self {
            sets: recipe_sets(),
            dir: None,
            environment: Environment::default(),
            missing: Missing::default(),
            threshold: Threshold::try_from(0.8).expect("0.8 is a threshold"),
            drop_share: 0.5,
            name_jaccard: 0.8,
            min_shared_parameters: 2,
        }
    }
}

impl Settings for DropPublicOverlap {
    const NAME: &'static str = "drop-public-overlap";
    const SUMMARY: &'static str = "Drops doc lists whose functions are in public function-calling sets.";
    const FUNNEL_LABEL: &'static str = "no overlap with public sets";
    fn funnel_label(&self, notes: &Notes) -> Cow<'static, str> {
        compared::compared_sets(notes.get(SETS_NOTE), "overlap with")
            .map_or_else(|| Self::FUNNEL_LABEL.into(), Cow::from)
    }
    fn examples() -> Vec<Example> {
        vec![
            Example::functions(PUBLIC_FUNCTION.code, NEAR_COPY, OTHER),
            Example::functions(SOME_PUBLIC_FUNCTIONS.code, SOME_COPIED, OTHER),
            Example::functions(PUBLIC_NAME.code, REWRITTEN, SAME_NAME_ONLY),
        ]
    }
    fn set_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }
    fn check(&self) -> Result<(), String> {
        if !(self.drop_share > 0.0 && self.drop_share <= 1.0) {
            return Err(format!("drop_share must be above 0 and up to 1, not {}", self.drop_share));
        }
        if !(0.0..=1.0).contains(&self.name_jaccard) {
            return Err(format!("name_jaccard must be from 0 to 1, not {}", self.name_jaccard));
        }
        compared::check(&self.sets, self.dir(), self.missing).map_err(|error| error.to_string())
    }
}

const NEAR_COPY: &str = r#"{"name": "ring_harbour_bell", "description": "Rings one of the bells of the old harbour tower and writes the order into the tower's log book.", "parameters": {"type": "dict", "properties": {"bell": {"type": "string", "description": "Which bell of the tower: great, small or fog."}, "times": {"type": "integer", "description": "How often the bell is struck, from 1 to 12."}, "ordered_by": {"type": "string", "description": "Who gave the order, as it is to stand in the log book."}}, "required": ["bell", "times", "ordered_by"]}}"#;
const OTHER: &str = r#"{"name": "ring_school_bell", "description": "Ends the lesson.", "parameters": {"type": "dict", "properties": {"room": {"type": "string", "description": "The room whose lesson ends."}}, "required": ["room"]}}"#;
const SOME_COPIED: &str = r#"[{"name": "list_pier_lamps", "description": "Lists the lamps of a pier with the hours each has burnt since it was last changed.", "parameters": {"type": "dict", "properties": {"pier": {"type": "string", "description": "The pier whose lamps are listed."}, "min_hours": {"type": "integer", "description": "Only lamps that have burnt for at least so many hours.", "default": 0}}, "required": ["pier"]}}, {"name": "moor_boat", "description": "Notes where a boat lies."}, {"name": "cast_off", "description": "Frees the berth of a boat that leaves."}]"#;
const REWRITTEN: &str = r#"{"name": "Ring.Harbour.Bell", "description": "Sounds a signal for ships.", "parameters": {"type": "dict", "properties": {"bell": {"type": "string", "description": "Name of it"}, "times": {"type": "integer", "description": "Count"}, "orderedBy": {"type": "string", "description": "Person"}}, "required": ["bell"]}}"#;
const SAME_NAME_ONLY: &str = r#"{"name": "ring_harbour_bell", "description": "Sounds a signal for ships.", "parameters": {"type": "dict", "properties": {"bell": {"type": "string", "description": "Name of it"}, "weather": {"type": "string", "description": "Fog or storm"}}, "required": ["bell"]}}"#;

impl DropPublicOverlap {
    /// Returns the folder of sets.
    fn dir(&self) -> &Path {
        self.dir.as_deref().unwrap_or(self.environment.sets())
    }
}

impl Stage for DropPublicOverlap {
    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists)
            .partition(Partition::Rows)
            .reads([FUNCTIONS])
            .reasons([&PUBLIC_FUNCTION, &SOME_PUBLIC_FUNCTIONS, &PUBLIC_NAME])
            .links()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        Ok(compared::fingerprint(&self.sets, self.dir(), fingerprint)?)
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let known = compared::open(&self.sets, self.dir(), self.missing)?;
        note(&known, cx, out);
        let known = known.functions();
        let kept = KeptLists::collect(view, cx)?;
        let found = overlap::functions(&known.items, &kept.functions, self.threshold, &|| cx.cancelled())
            .ok_or(Error::Interrupted)?;
        for (row, functions) in &kept.lists {
            let hits: Vec<(&Function, Matches)> =
                functions.iter().map(|&at| (&kept.functions[at], found[at])).collect();
            for (place, (function, found)) in hits.iter().enumerate() {
                for hit in Hit::by_text(function, found).into_iter().chain(self.by_name(function, found)) {
                    out.link(*row, &hit.link(place, &known))?;
                }
            }
            match self.opinion(&hits, &known) {
                Some((Action::Drop, reason, evidence)) => out.drop(*row, reason, evidence)?,
                Some((_, reason, evidence)) => out.hold(*row, reason, evidence)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Notes which sets were compared, and warns about missing and unreadable sets.
pub(super) fn note(known: &ReferenceSets, cx: &Context<'_>, out: &mut Verdict<'_>) {
    out.note(SETS_NOTE, json!(known.notes));
    let unreadable = known.unreadable.iter().map(|(id, _)| id);
    out.note("not_compared", json!(known.missing.iter().chain(unreadable).collect::<Vec<_>>()));
    if !known.missing.is_empty() {
        cx.progress.warn(&format!(
            "not compared with {}: not on disk (see `callsieve sets list`)",
            known.missing.join(", ")
        ));
    }
    for trouble in &known.troubles {
        cx.progress.warn(&format!("{trouble} (see `callsieve sets list`)"));
    }
}

/// The kept lists, and their distinct functions.
struct KeptLists {
    functions: Vec<Function>,
    /// For each list, the indices of its functions in `functions`.
    lists: Vec<(RowIx, Vec<usize>)>,
}

impl KeptLists {
    fn collect(view: &View<'_>, cx: &Context<'_>) -> Result<Self> {
        let mut kept = Self { functions: Vec::new(), lists: Vec::new() };
        let mut seen: FxHashMap<u128, usize> = FxHashMap::default();
        view.for_each_batch(cx, |batch| {
            let lists = batch.map_rows(|row| {
                row.functions()
                    .into_iter()
                    .map(|function| (canonical::key(std::slice::from_ref(&function)), function))
                    .collect::<Vec<_>>()
            })?;
            // Lists share many functions, and most of the time goes into converting one to its comparison form.
            let mut fresh: Vec<&Value> = Vec::new();
            for (&row, list) in batch.rows().iter().zip(&lists) {
                let mut places = Vec::with_capacity(list.len());
                for (key, function) in list {
                    let next = kept.functions.len() + fresh.len();
                    let at = *seen.entry(*key).or_insert(next);
                    if at == next {
                        fresh.push(function);
                    }
                    places.push(at);
                }
                kept.lists.push((row, places));
            }
            kept.functions.par_extend(fresh.par_iter().map(|function| form::function(function)));
            // Freeing many small JSON values takes time, too.
            lists.into_par_iter().for_each(drop);
            Ok(())
        })?;
        Ok(kept)
    }
}

impl DropPublicOverlap {
    /// Returns the action, reason and evidence for a list of these functions; `None` keeps it.
    fn opinion(
        &self,
        functions: &[(&Function, Matches)],
        known: &ReferenceItems<Function>,
    ) -> Option<(Action, &'static Reason, Evidence)> {
        let by_text: Vec<Hit<'_>> =
            functions.iter().filter_map(|(function, found)| Hit::by_text(function, found)).collect();
        if !by_text.is_empty() {
            #[expect(clippy::cast_precision_loss, reason = "counts of functions are far below 2⁵³")]
            let share = by_text.len() as f64 / functions.len() as f64;
            let (action, reason) = if share >= self.drop_share {
                (Action::Drop, &PUBLIC_FUNCTION)
            } else {
                (Action::Hold, &SOME_PUBLIC_FUNCTIONS)
            };
            return Some((action, reason, evidence(&by_text, functions.len(), known)));
        }
        let by_name: Vec<Hit<'_>> =
            functions.iter().filter_map(|(function, found)| self.by_name(function, found)).collect();
        (!by_name.is_empty())
            .then(|| (Action::Hold, &PUBLIC_NAME, evidence(&by_name, functions.len(), known)))
    }

    /// Returns the function of a set with the same name and enough shared parameters.
    fn by_name<'a>(&self, function: &'a Function, found: &Matches) -> Option<Hit<'a>> {
        let is_same =
            |hit: &Hit<'_>| hit.score >= self.name_jaccard && hit.shared >= self.min_shared_parameters;
        Hit::by_name(function, found).filter(is_same)
    }
}

/// A function of a list and the matching function of a set.
struct Hit<'a> {
    function: &'a str,
    known: usize,
    metric: Metric,
    score: f64,
    shared: usize,
}

impl<'a> Hit<'a> {
    fn by_text(function: &'a Function, found: &Matches) -> Option<Self> {
        let near = found.by_text?;
        Some(Self {
            function: &function.name,
            known: near.known,
            metric: Metric::RougeLF1(near.tokenizer),
            score: near.score,
            shared: 0,
        })
    }

    fn by_name(function: &'a Function, found: &Matches) -> Option<Self> {
        let same = found.by_name?;
        Some(Self {
            function: &function.name,
            known: same.known,
            metric: Metric::ParameterJaccard,
            score: same.jaccard,
            shared: same.shared,
        })
    }

    /// Returns the link of the list; `place` is the index of the function in it.
    fn link(&self, place: usize, known: &ReferenceItems<Function>) -> Link {
        let origin = &known.origins[self.known];
        Link {
            object: "function",
            set: origin.set.clone(),
            record: origin.record.clone(),
            method: self.metric.name().to_owned(),
            score: self.score,
            verdict: None,
            spans: vec![Span::value(FUNCTIONS, format!("/{place}"))],
            record_spans: Vec::new(),
            group: None,
        }
    }
}

fn evidence(hits: &[Hit<'_>], n_functions: usize, known: &ReferenceItems<Function>) -> Evidence {
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let named: Vec<Value> = hits
        .iter()
        .take(MAX_HITS)
        .map(|hit| {
            let origin = &known.origins[hit.known];
            json!({
                "function": hit.function,
                "set": origin.set,
                "record": origin.record,
                "public_function": known.items[hit.known].name,
                "metric": hit.metric.name(),
                "score": hit.score,
            })
        })
        .collect();
    let detail = json!({ "found": hits.len(), "functions": n_functions, "hits": named });
    Evidence { score: Some((hits[0].metric, best)), detail: Some(Box::new(detail)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::judged;

    #[test]
    fn each_matching_function_links_its_list_to_the_record_of_the_set() {
        let list = |text: &str| -> Value {
            let functions: Value = serde_json::from_str(text).unwrap();
            json!({"functions": if functions.is_array() { functions } else { json!([functions]) }})
        };
        let tables = json!({"doc_lists": [list(OTHER), list(SOME_COPIED), list(REWRITTEN), list(NEAR_COPY)]});
        let links = judged(&DropPublicOverlap::default(), &tables).delta.links;
        let found: Vec<(RowIx, &str, &str, String)> = links
            .iter()
            .map(|link| {
                let spans: Vec<Span> = serde_json::from_str(&link.spans).unwrap();
                (link.row, &*link.record, &*link.method, spans[0].path.clone())
            })
            .collect();
        let expected = [
            (1, "sample-2", "rouge-l-f1", "/0"),
            (1, "sample-2", "parameter-jaccard", "/0"),
            (2, "sample-1", "parameter-jaccard", "/0"),
            (3, "sample-1", "rouge-l-f1", "/0"),
            (3, "sample-1", "parameter-jaccard", "/0"),
        ]
        .map(|(row, record, method, path)| (row, record, method, path.to_owned()));
        assert_eq!(found, expected);
        assert!(links.iter().all(|link| (&*link.object, &*link.set) == ("function", "callsieve-sample")));
        assert!(links.iter().all(|link| link.score > 0.79 && link.score <= 1.0), "{links:?}");
    }
}
