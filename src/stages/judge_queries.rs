//! Judges whether a function of its list fits what a request asks; thin over `relevance`.
//!
//! A query of low quality or one that no function fits stays kept: it is an entry of the
//! irrelevance set, and `split` sends it there as it is. A request that cannot be decided
//! is held, with what speaks for either side. Merged copies give evidence too: what the
//! log answered to a request that asks the same of the same functions.
//!
//! Not here: what the right call is, and requests that a call fits in endless ways.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::answers::recorded::{Recorded, recorded};
use crate::cells::TypedCells as _;
use crate::columns::{
    FINISH_REASON, FUNCTIONS, MESSAGES, OUTCOME, RELEVANCE, RELEVANCE_BASIS, RESPONSE, STATUS, TOOL_CHOICE,
};
use crate::conversation::Role;
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::decision::{DecisionKind, Ruling};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Evidence, Likeness, Reason, RowIx, TableId};
use crate::relevance::asked::Asked;
use crate::relevance::evidence::{self, Heard, hear};
use crate::relevance::features::features;
use crate::relevance::grounded::are_grounded;
use crate::relevance::measure::Thresholds;
use crate::relevance::model::{Model, Side};
use crate::relevance::offer::Offer;
use crate::relevance::operating::{Means, OPERATING_POINT, OperatingPoint, operating_point};
use crate::relevance::{Relevance, SPACE, low_quality, script};
use crate::text::normal::loose_name;

/// The reason code of requests between the two lines.
const UNSURE_CODE: &str = "relevance/unsure";

static UNSURE: Reason = Reason::policy(
    UNSURE_CODE,
    "Neither the text nor the log's answers show whether a function fits what is asked.",
);

/// Range of [`JudgeQueries::precision`].
const PRECISION: std::ops::RangeInclusive<f64> = 0.5..=1.0;

/// The stage and its settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeQueries {
    /// A file of weights, as `toolsieve calibrate` writes it [default: those built in].
    pub weights: Option<PathBuf>,
    /// Target precision of what the text alone decides, from 0.5 to 1: takes the lines that the curve of the weights
    /// has for it. Higher holds more. A side that does not reach it decides nothing [default: the lines of the weights].
    pub precision: Option<f64>,
    /// From this probability on a request is relevant, from 0 to 1. Higher holds more [default: as the weights say].
    pub relevant_from: Option<f64>,
    /// Up to this probability a request is irrelevant, from 0 to 1. Lower holds more [default: as the weights say].
    pub irrelevant_to: Option<f64>,
    #[serde(skip)]
    #[schemars(skip)]
    model: OnceLock<Model>,
}

impl Settings for JudgeQueries {
    const NAME: &'static str = "judge-queries";
    const SUMMARY: &'static str =
        "Judges each request relevant, irrelevant or of low quality, and holds what it cannot decide.";
    const LEFT: &'static str = "judged for relevance";

    fn examples() -> Vec<Example> {
        macro_rules! asked {
            ($query:literal) => {
                concat!(
                    r#"{"doc_lists": [{"functions": [{"name": "ring_bell", "description": "Rings a bell of the tower.", "#,
                    r#""parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "#,
                    r#""description": "How many times to ring."}}}}]}], "requests": [{"messages": [{"role": "user", "#,
                    r#""content": ""#,
                    $query,
                    r#""}]}]}"#
                )
            };
        }
        vec![Example::tables(UNSURE.code, asked!("Could you let the noon bell ring?"), asked!("Play a song"))]
    }

    fn check(&self) -> std::result::Result<(), String> {
        let in_range = |key: &str, value: Option<f64>| match value {
            Some(value) if !(0.0..=1.0).contains(&value) => {
                Err(format!("{key} must be from 0 to 1, not {value}"))
            }
            _ => Ok(()),
        };
        in_range("relevant_from", self.relevant_from)?;
        in_range("irrelevant_to", self.irrelevant_to)?;
        if let Some(precision) = self.precision.filter(|precision| !PRECISION.contains(precision)) {
            let (least, most) = (PRECISION.start(), PRECISION.end());
            return Err(format!("precision must be from {least} to {most}, not {precision}"));
        }
        let model = self.read_model()?;
        for part in [&model.text, &model.evidence] {
            let from = self.relevant_from.unwrap_or(part.thresholds.relevant_from);
            let to = self.irrelevant_to.unwrap_or(part.thresholds.irrelevant_to);
            if to >= from {
                return Err(format!("irrelevant_to must be below relevant_from, not {to} and {from}"));
            }
        }
        Ok(())
    }
}

impl Stage for JudgeQueries {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Rows)
            .reads([MESSAGES, RESPONSE, FINISH_REASON, STATUS, TOOL_CHOICE, OUTCOME, FUNCTIONS])
            .writes([RELEVANCE, RELEVANCE_BASIS])
            .reasons([&UNSURE])
            .decisions([DecisionKind::Relabel, DecisionKind::Answer])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        fingerprint.built_in("embedder", SPACE.id());
        match &self.weights {
            Some(path) => fingerprint.file(path)?,
            None => fingerprint.built_in("weights", &Model::embedded().to_toml()),
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        let points: Vec<OperatingPoint> =
            notes.into_iter().map(|note| serde_json::from_value(note).ok()).collect::<Option<_>>()?;
        let joined = points.into_iter().reduce(OperatingPoint::and)?;
        (name == OPERATING_POINT).then(|| json!(joined))
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let model = self.model()?;
        let lists = Lists::read(view, cx)?;
        let requests = read_requests(&lists, view, cx, out)?;
        let mut of_list: BTreeMap<RowIx, Vec<RowIx>> = BTreeMap::new();
        for row in view.rows() {
            of_list.entry(view.list_of(row)).or_default().push(row);
        }
        let of_list: Vec<(RowIx, Vec<RowIx>)> = of_list.into_iter().collect();
        let opinions = of_list.par_iter().map(|(list, rows)| {
            let offer = Offer::new(lists.functions(*list));
            // A log may have one list only, so that rows, too, are for all threads.
            let opinion =
                |row: &RowIx| (!cx.cancelled()).then(|| (*row, self.opinion(&requests[row], &offer, model)));
            rows.par_iter().with_max_len(ROWS_AT_ONCE).map(opinion).collect()
        });
        let opinions: Option<Vec<Vec<(RowIx, Opinion)>>> = opinions.collect();
        let opinions = opinions.ok_or(Error::Interrupted)?;
        let means: Vec<Means> = opinions.iter().flatten().map(|(_, opinion)| opinion.means).collect();
        let lines = self.own_lines(model.text.thresholds);
        let point = operating_point(&means, lines, &model.text.curve, self.precision);
        out.note(OPERATING_POINT, json!(point));
        for (row, opinion) in opinions.into_iter().flatten() {
            if let Some(relevance) = opinion.relevance {
                out.set(row, RELEVANCE, relevance.name())?;
            } else {
                out.hold(row, &UNSURE, Evidence::detail(opinion.basis.clone()))?;
            }
            out.set(row, RELEVANCE_BASIS, opinion.basis.to_string())?;
        }
        Ok(())
    }
}

/// What the stage makes of one request.
struct Opinion {
    /// `None` holds it.
    relevance: Option<Relevance>,
    basis: Value,
    means: Means,
}

impl JudgeQueries {
    /// The weights, with the lines that `precision` chooses.
    fn read_model(&self) -> std::result::Result<Model, String> {
        let model = match &self.weights {
            Some(path) => Model::read(path).map_err(|error| error.to_string())?,
            None => Model::embedded().clone(),
        };
        match self.precision {
            Some(precision) => model.at_precision(precision).map_err(|error| error.to_string()),
            None => Ok(model),
        }
    }

    fn model(&self) -> Result<&Model> {
        if self.model.get().is_none() {
            let read = self.read_model().map_err(Error::Setting)?;
            return Ok(self.model.get_or_init(|| read));
        }
        Ok(self.model.get_or_init(|| Model::embedded().clone()))
    }

    fn opinion(&self, request: &Request, offer: &Offer, model: &Model) -> Opinion {
        let queries: Vec<&str> = request.queries.iter().map(String::as_str).collect();
        if let Some((_, relevance)) = request.label {
            return Opinion {
                relevance: Some(relevance),
                basis: json!({ "labelled_by": "a person" }),
                means: Means::Person,
            };
        }
        if request.is_answered {
            return Opinion {
                relevance: Some(Relevance::Relevant),
                basis: json!({ "answered_by": "a person" }),
                means: Means::Person,
            };
        }
        let asked = Asked::new(&queries);
        if let Some(rule) = low_quality::fault(&asked, offer) {
            return Opinion {
                relevance: Some(Relevance::LowQuality),
                basis: json!({ "low_quality": rule.name, "evidence": request.evidence.to_json() }),
                means: Means::Rule,
            };
        }
        let features = features(&asked, offer);
        let mut judged = model.judge(&features, request.evidence);
        judged.thresholds = self.own_lines(judged.thresholds);
        // Whatever is asked can be put to a tool that takes any text: words cannot show that it does not fit.
        // Nor do they where the query names a function in full.
        let is_barred = script::is_unread(&asked)
            || request.evidence.is_silent() && (offer.takes_anything() || offer.is_named_in(&asked));
        let relevance = match judged.side() {
            Side::Relevant => Some(Relevance::Relevant),
            // No answer of the log speaks against it.
            Side::Unsure if request.is_grounded && request.evidence.word() == "calls" => {
                let mut basis = judged.basis(&features, request.evidence);
                basis["grounded_call"] = json!(true);
                return Opinion { relevance: Some(Relevance::Relevant), basis, means: Means::Answers };
            }
            // What the log's answers say against a query is not enough where its text could not be read.
            Side::Irrelevant if !is_barred => Some(Relevance::Irrelevant),
            Side::Irrelevant | Side::Unsure => None,
        };
        let means = Means::of_model(&judged, request.evidence.is_silent(), is_barred);
        Opinion { relevance, basis: judged.basis(&features, request.evidence), means }
    }

    /// The lines of the settings, where there are some.
    fn own_lines(&self, lines: Thresholds) -> Thresholds {
        Thresholds {
            relevant_from: self.relevant_from.unwrap_or(lines.relevant_from),
            irrelevant_to: self.irrelevant_to.unwrap_or(lines.irrelevant_to),
        }
    }
}

/// What is read of a list.
struct List {
    /// The functions; none of a list that is not kept.
    functions: Option<Vec<Value>>,
    names: FxHashSet<String>,
}

/// The docs of the lists that are kept, and the names of the functions of all.
struct Lists<'a>(Parents<'a, List>);

impl<'a> Lists<'a> {
    fn read(view: &View<'a>, cx: &Context<'_>) -> Result<Self> {
        let lists = view.parent();
        let read = |list: Row<'_>| {
            let functions = list.functions();
            let name = |function: &Value| function.get("name").and_then(Value::as_str).map(loose_name);
            let names = functions.iter().filter_map(name).collect();
            List { functions: lists.is_kept(list.ix()).then_some(functions), names }
        };
        view.all_parents(cx, read).map(Self)
    }

    /// The functions of a kept list.
    fn functions(&self, list: RowIx) -> &[Value] {
        self.0.of_list(list).and_then(|list| list.functions.as_deref()).unwrap_or_default()
    }

    /// Whether the list a request was sent with has a function of that name, or the one it has now.
    fn has(&self, request: RowIx, name: &str) -> bool {
        let name = loose_name(name);
        let lists = [self.0.of_origin(request), self.0.of(request)];
        lists.into_iter().flatten().any(|list| list.names.contains(&name))
    }
}

/// A kept request: what it asks, and what the log answered to it and its merged copies.
#[derive(Default)]
struct Request {
    /// Its user messages, in order.
    queries: Vec<String>,
    evidence: evidence::Evidence,
    /// A person answered it with a call.
    is_answered: bool,
    /// A person's label of it, or else of the first copy that has one: its place in the order of rows first.
    label: Option<(u32, Relevance)>,
    /// A recorded call holds what the request says.
    is_grounded: bool,
}

/// What one row has to say about the request it stands for.
struct Said {
    head: RowIx,
    heard: Option<Heard>,
    /// For the head itself: its user messages.
    queries: Option<Vec<String>>,
    is_answered: bool,
    label: Option<(u32, Relevance)>,
    is_grounded: bool,
}

fn read_requests(
    lists: &Lists<'_>,
    view: &View<'_>,
    cx: &Context<'_>,
    out: &mut Verdict<'_>,
) -> Result<FxHashMap<RowIx, Request>> {
    let mut requests: FxHashMap<RowIx, Request> = FxHashMap::default();
    let wanted = |row: RowIx| view.head_of(row, Likeness::Similar).is_some_and(|head| view.is_judged(head));
    view.stream(cx, wanted, |batch| {
        let all = batch.map_rows(|row| said(row, lists, view))?;
        for (&row, said) in batch.rows().iter().zip(all) {
            if said.label.is_some()
                && let Some(decision) = batch.row(row).decision(DecisionKind::Relabel)
            {
                out.ruling(row, Ruling::of(decision, json!({ "relevance": decision.body })))?;
            }
            let request = requests.entry(said.head).or_default();
            if let Some(heard) = said.heard {
                request.evidence.add(heard);
            }
            request.is_grounded |= said.is_grounded;
            request.is_answered |= said.is_answered;
            request.label = match (request.label, said.label) {
                (Some(one), Some(other)) if other.0 < one.0 => Some(other),
                (one, other) => one.or(other),
            };
            if let Some(queries) = said.queries {
                request.queries = queries;
            }
        }
        Ok(())
    })?;
    Ok(requests)
}

/// Requests that one thread takes at a time.
const ROWS_AT_ONCE: usize = 64;

fn said(row: Row<'_>, lists: &Lists<'_>, view: &View<'_>) -> Said {
    let head = view.head_of(row.ix(), Likeness::Similar).unwrap_or(row.ix());
    let messages = row.messages();
    let response = row.response();
    let answer = recorded(response.as_ref(), row.text(FINISH_REASON), row.int(STATUS));
    let has_function = |name: &str| lists.has(row.ix(), name);
    let heard = hear(&answer, row.text(OUTCOME), row.text(TOOL_CHOICE), has_function)
        // Prose after the result of a call tells that result; it declines nothing.
        .filter(|heard| {
            *heard != Heard::Declined || messages.last().is_some_and(|last| last.role == Role::User)
        });
    let is_grounded = matches!(heard, Some(Heard::Called | Heard::Worked))
        && matches!(&answer, Recorded::Calls(calls) if {
            let functions = lists.functions(view.list_of(row.ix()));
            let texts: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
            are_grounded(calls, functions, &texts.join("\n"))
        });
    let queries = (head == row.ix()).then(|| {
        let users = messages.into_iter().filter(|message| message.role == Role::User);
        users.map(|message| message.content).collect()
    });
    let asks_alike = view.head_of(row.ix(), Likeness::NearCopy).is_some();
    let is_answered = asks_alike && row.decision(DecisionKind::Answer).is_some();
    let label = row.decision(DecisionKind::Relabel).filter(|_| asks_alike).and_then(|decision| {
        let relevance = Relevance::from_name(decision.body.as_str()?)?;
        // A label of the request itself counts before those of its copies.
        let position = if head == row.ix() { 0 } else { view.position(row.ix()).saturating_add(1) };
        Some((position, relevance))
    });
    Said { head, heard, queries, is_answered, label, is_grounded }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::engine::background_writer::BackgroundWriter;
    use crate::engine::context::Quiet;
    use crate::fixture;
    use crate::relevance::measure::{Label, Point};

    /// How many of some requests to ring a bell are held; each is what stands beside the list and the query.
    fn n_held(query: &str, more: &[Value]) -> usize {
        let list = json!({"functions": [{"name": "ring.bell", "description": "Rings a bell of the tower.", "parameters": {
            "type": "dict", "required": [], "properties": {"times": {"type": "integer", "description": "How often."}}}}]});
        let requests = more.iter().map(|more| {
            let mut request = json!({"list": 0, "messages": [{"role": "user", "content": query}]});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            request
        });
        let tables = json!({"doc_lists": [list], "requests": requests.collect::<Vec<Value>>()});
        let (stage, corpus, cancel) =
            (JudgeQueries::default(), fixture::corpus(&tables), AtomicBool::new(false));
        let (contract, folder) = (stage.contract(), tempfile::tempdir().unwrap());
        let cx = Context::new(1, &cancel, &Quiet);
        let mut verdict = Verdict::new(
            "judge",
            &contract,
            corpus.table(contract.table),
            &folder.path().join("columns.parquet"),
            &BackgroundWriter::new(usize::MAX),
        );
        stage.judge(&View::new(&corpus, &contract), &cx, &mut verdict).unwrap();
        verdict.finish().unwrap().fates.len()
    }

    #[test]
    fn answers_decide_what_the_text_leaves_open_unless_they_were_forced() {
        let called =
            json!({"role": "assistant", "content": "", "calls": [{"name": "ring_bell", "arguments": {}}]});
        let query = "Could you let the noon bell ring?";
        assert_eq!(n_held(query, &[json!({})]), 1);
        assert_eq!(n_held(query, &[json!({"response": called})]), 0);
        assert_eq!(n_held(query, &[json!({"response": called, "tool_choice": "required"})]), 1);
        assert_eq!(n_held(query, &[json!({"response": called, "status": 500})]), 1);
    }

    #[test]
    fn a_call_with_values_of_the_request_decides_what_is_left_open() {
        let list = json!({"functions": [{"name": "tower.execute", "description": "Passes a line to the tower.",
            "parameters": {"type": "dict", "required": ["line"], "properties": {"line": {"type": "string", "description": "It."}}}}]});
        let fates = |line: &str| {
            let response = json!({"role": "assistant", "content": "", "calls": [{"name": "tower.execute", "arguments": {"line": line}}]});
            let request = json!({"list": 0, "messages": [{"role": "user", "content": "Kannst du bitte hush owls 7?"}],
                "response": response, "outcome": "goes-on"});
            let tables = json!({"doc_lists": [list], "requests": [request]});
            let stage = JudgeQueries {
                relevant_from: Some(1.0),
                irrelevant_to: Some(0.0),
                ..JudgeQueries::default()
            };
            fixture::judged(&stage, &tables).fate(0)
        };
        assert_eq!(fates("hush owls 7"), None);
        assert_eq!(fates("ring bells 9"), Some(UNSURE_CODE));
    }

    #[test]
    fn the_text_alone_never_calls_a_request_irrelevant_to_a_tool_that_takes_anything() {
        let list = |name: &str| {
            json!({"functions": [{"name": "run", "description": "Runs it.", "parameters": {"type": "dict",
                "required": [name], "properties": {name: {"type": "string", "description": "What."}}}}]})
        };
        let fate = |name: &str, response: Value| {
            let messages = json!([{"role": "user", "content": "Delete the old recipes of my aunt"}]);
            let mut request = json!({"list": 0, "messages": messages});
            if !response.is_null() {
                request["response"] = response;
            }
            let tables = json!({"doc_lists": [list(name)], "requests": [request]});
            let stage = JudgeQueries {
                relevant_from: Some(1.0),
                irrelevant_to: Some(0.99),
                ..JudgeQueries::default()
            };
            fixture::judged(&stage, &tables).fate(0)
        };
        assert_eq!(fate("command", Value::Null), Some(UNSURE_CODE));
        assert_eq!(fate("city", Value::Null), None);
        let declined = json!({"role": "assistant", "content": "I cannot do that.", "calls": []});
        assert_eq!(fate("command", declined), None);
    }

    #[test]
    fn low_quality_is_decided_by_rule_and_stays() {
        assert_eq!(n_held("The user did not provide a query.", &[json!({})]), 0);
    }

    #[test]
    fn lines_must_be_probabilities_and_apart() {
        let built = |settings: &str| {
            let settings: JudgeQueries = toml::from_str(settings).unwrap();
            settings.check()
        };
        assert_eq!(built("relevant_from = 0.8\nirrelevant_to = 0.2"), Ok(()));
        assert_eq!(built("relevant_from = 80"), Err("relevant_from must be from 0 to 1, not 80".to_owned()));
        assert!(
            built("relevant_from = 0.1\nirrelevant_to = 0.2").unwrap_err().contains("below relevant_from")
        );
        assert!(built("weights = \"nowhere.toml\"").unwrap_err().contains("nowhere.toml"));
        for precision in ["0.4", "1.1", "nan"] {
            let error = built(&format!("precision = {precision}")).unwrap_err();
            assert!(error.starts_with("precision must be from 0.5 to 1, not"), "{error}");
        }
    }

    /// A file of the built-in weights with a curve, which may be empty.
    fn weights(curve: Vec<Point>) -> tempfile::NamedTempFile {
        let mut model = Model::embedded().clone();
        model.text.curve = curve;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), model.to_toml()).unwrap();
        file
    }

    fn point(side: Label, precision: f64, threshold: f64) -> Point {
        Point { side, precision, threshold, coverage: 0.5, recall: 0.5, n_decided: 1, n_right: 1 }
    }

    #[test]
    fn a_target_precision_takes_its_lines_from_the_curve_and_settings_win_over_it() {
        let file = weights(vec![point(Label::Relevant, 0.9, 0.0), point(Label::Relevant, 0.99, 0.9999)]);
        let stage = |settings: &str| -> JudgeQueries {
            let weights = format!("weights = {:?}\n", file.path());
            toml::from_str(&(weights + settings)).unwrap()
        };
        let list = json!({"functions": [{"name": "ring.bell", "description": "Rings a bell of the tower.", "parameters": {
            "type": "dict", "required": [], "properties": {"times": {"type": "integer", "description": "How often."}}}}]});
        let request = json!({"messages": [{"role": "user", "content": "Could you let the noon bell ring?"}]});
        let tables = json!({"doc_lists": [list], "requests": [request]});
        for (settings, relevance) in [
            ("", None),
            ("precision = 0.9", Some("relevant")),
            ("precision = 0.85", Some("relevant")),
            ("precision = 0.95", None),
            ("precision = 0.9\nrelevant_from = 0.9999", None),
        ] {
            let judged = fixture::judged(&stage(settings), &tables);
            assert_eq!(judged.cell(0, RELEVANCE), relevance, "{settings}");
            let noted = &judged.delta.notes[OPERATING_POINT];
            assert_eq!(noted["precision"].is_null(), settings.is_empty(), "{noted}");
            let held = noted["bins"]
                .as_array()
                .unwrap()
                .iter()
                .map(|bin| bin["held"].as_u64().unwrap())
                .sum::<u64>();
            assert_eq!(held, u64::from(relevance.is_none()), "{noted}");
            assert_eq!(noted["curve"][0]["requests"], 1, "{noted}");
            assert_eq!(noted["curve"][0]["additional"], u64::from(relevance.is_none()), "{noted}");
        }
        assert_eq!(stage("precision = 0.9").check(), Ok(()));
        let error = stage("precision = 0.995").check().unwrap_err();
        assert!(error.contains("reached on neither side"), "{error}");
        let without = weights(Vec::new());
        let stage = JudgeQueries {
            weights: Some(without.path().to_owned()),
            precision: Some(0.9),
            ..JudgeQueries::default()
        };
        let error = stage.check().unwrap_err();
        assert!(error.contains("needs a curve") && error.contains("\nhint: "), "{error}");
    }
}
