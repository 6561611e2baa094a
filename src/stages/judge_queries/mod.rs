//! Judges whether a function of the doc list fits the query of a request; calls `relevance`.
//!
//! A query of low quality, or one that no function fits, is kept: `split` assigns it to the
//! irrelevance category. A request that cannot be decided is held, with the evidence for both
//! sides. The recorded answers of merged copies count as evidence too.
//!
//! A language model can judge instead, or only what the rules leave open (`by_model`).
//!
//! Deliberately absent: which call is correct, and requests with too many correct calls to list.

mod by_model;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{self, Judge};
use super::offered::callable;
use crate::answers::called::CallableFunctions;
use crate::answers::decline::{Prose, prose};
use crate::answers::recorded::{RecordedAnswer, recorded_answer};
use crate::cells::TypedCells as _;
use crate::columns::{
    FINISH_REASON, FUNCTIONS, MESSAGES, OUTCOME, RELEVANCE, RELEVANCE_BASIS, RESPONSE, STATUS, TOOL_CHOICE,
};
use crate::conversation::{Call, Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::decision::{DecisionKind, Ruling};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::{Stage, equal_notes};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Parents, Row, View};
use crate::engine::vocabulary::{Evidence, Likeness, Reason, RowIx, TableId};
use crate::prompts::judging::QUERIES;
use crate::relevance::background::{Background, BackgroundSample};
use crate::relevance::bar::is_barred;
use crate::relevance::docs::PreparedDocs;
use crate::relevance::evidence::{self, AnswerSignal, signal_of};
use crate::relevance::features::features;
use crate::relevance::grounded::are_grounded;
use crate::relevance::language_group::LanguageGroup;
use crate::relevance::measure::Thresholds;
use crate::relevance::model::{Declined, Model, Operating, Side};
use crate::relevance::operating::{JudgedBy, OPERATING_POINT, OperatingPoint, operating_point};
use crate::relevance::query::PreparedQuery;
use crate::relevance::soft_votes::SoftVotes;
use crate::relevance::{Relevance, SPACE, low_quality};
use crate::text::memo::Memo;
use crate::text::small_talk::is_small_talk;

/// The reason code of requests between the two thresholds.
const UNSURE_CODE: &str = "relevance/unsure";

static UNSURE: Reason = Reason::policy(
    UNSURE_CODE,
    "Neither the text nor the recorded answers show whether a function fits the query.",
);

/// Range of [`JudgeQueries::precision`].
const PRECISION: std::ops::RangeInclusive<f64> = 0.5..=1.0;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeQueries {
    /// A file of weights, as written by `callsieve calibrate` [default: the built-in weights].
    pub weights: Option<PathBuf>,
    /// Target precision of decisions from the text alone, from 0.5 to 1: uses the thresholds for it in the curve of the
    /// weights. A label that does not reach it is never assigned. Higher holds more [default: the thresholds of the
    /// weights].
    pub precision: Option<f64>,
    /// Probability from 0 to 1 at or above which a request is relevant. Higher holds more [default: the threshold of
    /// the weights].
    pub relevant_from: Option<f64>,
    /// Probability from 0 to 1 at or below which a request is irrelevant. Lower holds more [default: the threshold of
    /// the weights].
    pub irrelevant_to: Option<f64>,
    /// Who judges: `rules`, `llm` (a language model judges every request that no person decided), or `rules-then-llm` (it
    /// judges what the rules leave open).
    pub judge: Judge,
    /// The name of the language model on the server in `OPENAI_BASE_URL`.
    pub model: Option<String>,
    /// How often the model is asked about a request, an odd number from 1 to 15; more than half must agree. More holds more.
    pub samples: u32,
    /// A file about the soft votes of the model, as written by `callsieve calibrate --agreement --soft-votes`: an answer without a quote
    /// from the texts, or with another verdict, counts as a vote for the labels that were right in at least 95 % [default: none counts].
    pub soft_votes: Option<PathBuf>,
    #[serde(skip)]
    #[schemars(skip)]
    fitted: OnceLock<Model>,
}

impl Default for JudgeQueries {
    fn default() -> Self {
        Self {
            weights: None,
            precision: None,
            relevant_from: None,
            irrelevant_to: None,
            judge: Judge::Rules,
            model: None,
            samples: asking::SAMPLES,
            soft_votes: None,
            fitted: OnceLock::new(),
        }
    }
}

impl Settings for JudgeQueries {
    const NAME: &'static str = "judge-queries";
    const SUMMARY: &'static str =
        "Judges each request relevant, irrelevant or of low quality, and holds what it cannot decide.";
    const FUNNEL_LABEL: &'static str = "judged for relevance";

    fn examples() -> Vec<Example> {
        macro_rules! query {
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
        let unsure = query!("Could you let the noon bell ring?");
        vec![Example::tables(UNSURE.code, unsure, query!("Play a song"))]
            .into_iter()
            .chain(by_model::examples())
            .collect()
    }

    fn check(&self) -> std::result::Result<(), String> {
        asking::check(self.judge, self.model.as_deref(), self.samples)?;
        match self.model.as_deref() {
            Some(model) => drop(self.measured_soft_votes(model)?),
            None if self.soft_votes.is_some() => {
                return Err("soft_votes is set, and no model; expected the model that it is about".to_owned());
            }
            None => {}
        }
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
        for thresholds in
            [model.text.english.thresholds, model.text.other.thresholds, model.evidence.thresholds]
        {
            let from = self.relevant_from.unwrap_or(thresholds.relevant_from);
            let to = self.irrelevant_to.unwrap_or(thresholds.irrelevant_to);
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
            .reasons([&UNSURE, &by_model::OPEN_VOTE, &by_model::NO_JUDGEMENT])
            .decisions([DecisionKind::Relabel, DecisionKind::Answer])
            .asks(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(12);
        if self.judge != Judge::Rules {
            QUERIES.task.fingerprint("prompt", fingerprint);
        }
        fingerprint.built_in("embedder", SPACE.id());
        match &self.weights {
            Some(path) => fingerprint.file(path)?,
            None => fingerprint.built_in("weights", &Model::embedded().to_toml()),
        }
        if let Some(path) = &self.soft_votes {
            fingerprint.file(path)?;
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        match name {
            USAGE_NOTE => return ModelUsage::joined(notes),
            OPERATING_POINT => {}
            _ => return equal_notes(notes),
        }
        let points: Vec<OperatingPoint> =
            notes.into_iter().map(|note| serde_json::from_value(note).ok()).collect::<Option<_>>()?;
        let joined = points.into_iter().reduce(OperatingPoint::and)?;
        Some(json!(joined))
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let model = self.model()?;
        let lists = Lists::read(view, cx)?;
        let requests = read_requests(&lists, view, self.judge != Judge::Rules, cx, out)?;
        let mut of_list: BTreeMap<RowIx, Vec<RowIx>> = BTreeMap::new();
        for row in view.rows() {
            of_list.entry(view.list_of(row)).or_default().push(row);
        }
        let of_list: Vec<(RowIx, Vec<RowIx>)> = of_list.into_iter().collect();
        let background = lists.background();
        let judgements = of_list.par_iter().map(|(list, rows)| {
            let docs = PreparedDocs::new(lists.functions(*list));
            // A log may have a single list, so the rows of a list are spread over all threads, too.
            let judgement = |row: &RowIx| {
                (!cx.cancelled()).then(|| (*row, self.judgement(&requests[row], &docs, &background, model)))
            };
            rows.par_iter().with_max_len(ROWS_AT_ONCE).map(judgement).collect()
        });
        let judgements: Option<Vec<Vec<(RowIx, Judgement)>>> = judgements.collect();
        let judgements = judgements.ok_or(Error::Interrupted)?;
        let judged_by: Vec<JudgedBy> =
            judgements.iter().flatten().map(|(_, judgement)| judgement.judged_by).collect();
        let own = |operating: &Operating| Operating {
            thresholds: self.own_thresholds(operating.thresholds),
            curve: operating.curve.clone(),
        };
        let (english, other) = (own(&model.text.english), own(&model.text.other));
        let point = operating_point(&judged_by, &english, &other, self.precision);
        out.note(OPERATING_POINT, json!(point));
        let judgements: Vec<(RowIx, Judgement)> = judgements.into_iter().flatten().collect();
        let asked = self.ask(&judgements, &requests, &lists, view, cx, out)?;
        for (row, judgement) in judgements {
            if let Some(judgement) = asked.get(&row) {
                by_model::apply(row, judgement, out)?;
                continue;
            }
            if let Some(relevance) = judgement.relevance {
                out.set(row, RELEVANCE, relevance.name())?;
            } else if !requests[&row].has_only_a_broken_call() {
                // What the model called is a question of notation, which `split` asks.
                out.hold(row, &UNSURE, Evidence::detail(judgement.basis.clone()))?;
            }
            out.set(row, RELEVANCE_BASIS, judgement.basis.to_string())?;
        }
        Ok(())
    }
}

/// The judgement of one request.
struct Judgement {
    /// The label; `None` holds the request.
    relevance: Option<Relevance>,
    basis: Value,
    judged_by: JudgedBy,
}

impl JudgeQueries {
    /// Reads the weights, with the thresholds for `precision`.
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

    /// Reads what was measured of the soft votes of the model; `None` without a file.
    fn measured_soft_votes(&self, model: &str) -> std::result::Result<Option<SoftVotes>, String> {
        let read = self.soft_votes.as_deref().map(|path| SoftVotes::read(path, model)).transpose();
        read.map_err(|error| error.to_string())
    }

    fn model(&self) -> Result<&Model> {
        if self.fitted.get().is_none() {
            let read = self.read_model().map_err(Error::Setting)?;
            return Ok(self.fitted.get_or_init(|| read));
        }
        Ok(self.fitted.get_or_init(|| Model::embedded().clone()))
    }

    fn judgement(
        &self,
        request: &Request,
        docs: &PreparedDocs,
        background: &Background,
        model: &Model,
    ) -> Judgement {
        let queries: Vec<&str> = request.queries.iter().map(String::as_str).collect();
        if let Some((_, relevance)) = request.label {
            return Judgement {
                relevance: Some(relevance),
                basis: json!({ "labelled_by": "a person" }),
                judged_by: JudgedBy::Person,
            };
        }
        if request.is_answered {
            return Judgement {
                relevance: Some(Relevance::Relevant),
                basis: json!({ "answered_by": "a person" }),
                judged_by: JudgedBy::Person,
            };
        }
        let query = PreparedQuery::new(&queries).with_context(request.has_context);
        let is_refuted = |rule: &&low_quality::Rule| {
            rule.name == low_quality::MISSING_VALUE && !matches!(request.evidence.word(), "none" | "declined")
        };
        if let Some(rule) = low_quality::fault(&query, docs).filter(|rule| !is_refuted(rule)) {
            return Judgement {
                relevance: Some(Relevance::LowQuality),
                basis: json!({ "low_quality": rule.name, "evidence": request.evidence.to_json() }),
                judged_by: JudgedBy::Rule,
            };
        }
        let features = features(&query, docs, background);
        let languages = query.languages();
        let mut judged = model.judge(&features, request.evidence, languages);
        judged.thresholds = self.own_thresholds(judged.thresholds);
        if self.irrelevant_to.is_some() {
            // A threshold of the settings applies to all requests, declined ones too.
            judged.declined = Declined::Never;
        }
        // With the value that it asks for, the model would call. An English text says enough without that.
        let asks_back = request.asks_back && languages == LanguageGroup::Other;
        let is_barred =
            request.has_broken_call || request.evidence.is_empty() && (asks_back || is_barred(&query, docs));
        let basis = || {
            let mut basis = judged.basis(&features, request.evidence, languages);
            if is_barred {
                basis["barred"] = json!(true);
            }
            basis
        };
        let relevance = match judged.side() {
            Side::Relevant => Some(Relevance::Relevant),
            // A call that worked shows that a function fits, whatever the words are. So does one to a tool that takes any
            // text: the words of a request to such a tool say nothing.
            Side::Unsure | Side::Irrelevant
                if request.evidence.only_worked()
                    || docs.takes_anything() && request.evidence.only_called() =>
            {
                return Judgement {
                    relevance: Some(Relevance::Relevant),
                    basis: basis(),
                    judged_by: JudgedBy::Answers,
                };
            }
            // No recorded answer contradicts the call.
            Side::Unsure if request.is_grounded && request.evidence.word() == "calls" => {
                let mut basis = basis();
                basis["grounded_call"] = json!(true);
                return Judgement {
                    relevance: Some(Relevance::Relevant),
                    basis,
                    judged_by: JudgedBy::Answers,
                };
            }
            Side::Irrelevant if !is_barred => Some(Relevance::Irrelevant),
            Side::Irrelevant | Side::Unsure => None,
        };
        let judged_by = JudgedBy::of_model(&judged, request.evidence.is_empty(), is_barred, languages);
        Judgement { relevance, basis: basis(), judged_by }
    }

    /// Returns the thresholds, with those of the settings if there are any.
    fn own_thresholds(&self, thresholds: Thresholds) -> Thresholds {
        Thresholds {
            relevant_from: self.relevant_from.unwrap_or(thresholds.relevant_from),
            irrelevant_to: self.irrelevant_to.unwrap_or(thresholds.irrelevant_to),
        }
    }
}

/// The functions of a doc list, and what calls can be of.
struct List {
    /// The functions; `None` for a list that is not kept.
    functions: Option<Vec<Value>>,
    callable: Arc<CallableFunctions>,
}

/// The functions of the kept lists, and the function names of all lists.
struct Lists<'a>(Parents<'a, List>);

impl<'a> Lists<'a> {
    fn read(view: &View<'a>, cx: &Context<'_>) -> Result<Self> {
        let (lists, known) = (view.parent(), Memo::default());
        let read = |list: Row<'_>| {
            let functions = lists.is_kept(list.ix()).then(|| list.functions());
            List { functions, callable: callable(list, &known) }
        };
        view.all_parents(cx, read).map(Self)
    }

    /// Returns the functions of a kept list.
    fn functions(&self, list: RowIx) -> &[Value] {
        self.0.of_list(list).and_then(|list| list.functions.as_deref()).unwrap_or_default()
    }

    /// Returns the functions of a kept list, and what calls can be of them.
    fn of_list(&self, list: RowIx) -> Option<(&[Value], &CallableFunctions)> {
        let list = self.0.of_list(list)?;
        Some((list.functions.as_deref()?, &*list.callable))
    }

    /// Returns the functions of all kept lists, to compare those of one list with.
    fn background(&self) -> Background {
        let mut sample = BackgroundSample::default();
        for (_, list) in self.0.iter() {
            sample.add(list.functions.as_deref().unwrap_or_default());
        }
        Background::new(sample)
    }

    /// Returns whether a call is of a function of the list that the request was sent with, or of its current list.
    fn has(&self, request: RowIx, call: &Call) -> bool {
        self.of(request).any(|list| list.callable.has(call))
    }

    /// Returns whether a call with this name can be of one of those functions.
    fn has_name(&self, request: RowIx, name: &str) -> bool {
        self.of(request).any(|list| list.callable.has_name(name))
    }

    fn of(&self, request: RowIx) -> impl Iterator<Item = &List> {
        [self.0.of_origin(request), self.0.of(request)].into_iter().flatten()
    }
}

/// A kept request, with the evidence from its recorded answers and those of its merged copies.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // Independent facts of the log.
struct Request {
    /// Its user messages, in order.
    queries: Vec<String>,
    /// It has messages of others.
    has_context: bool,
    /// The log's model began a call that cannot be read.
    has_broken_call: bool,
    /// The model asked for a value instead of calling.
    asks_back: bool,
    evidence: evidence::LogEvidence,
    /// A person answered it with a call.
    is_answered: bool,
    /// The label that a person gave it, or else its first labelled copy, with the position of that row.
    label: Option<(u32, Relevance)>,
    /// The arguments of a recorded call occur in the request.
    is_grounded: bool,
    /// Its conversation, if a language model is asked.
    messages: Vec<Message>,
}

impl Request {
    /// All that the log says of the answer is a call that cannot be read.
    fn has_only_a_broken_call(&self) -> bool {
        self.has_broken_call && self.evidence.is_empty()
    }
}

/// The evidence from one row about the request that it is, or that it was merged into.
struct RowEvidence {
    head: RowIx,
    of_answer: AnswerEvidence,
    /// The user messages, if the row is the head itself.
    queries: Option<Vec<String>>,
    has_context: bool,
    is_answered: bool,
    label: Option<(u32, Relevance)>,
    /// The conversation, if the row is the head itself and a language model is asked.
    messages: Vec<Message>,
}

/// The evidence from the recorded answer of a row.
#[derive(Clone, Copy)]
struct AnswerEvidence {
    signal: Option<AnswerSignal>,
    /// The log's model began a call that cannot be read.
    has_broken_call: bool,
    /// The model asked for a value instead of calling.
    asks_back: bool,
    /// The arguments of the call occur in the request.
    is_grounded: bool,
}

/// What is known of the answers of equal rows: by the hash of the cells, the list, and the one that the request was sent with.
type KnownAnswers = Memo<(u128, RowIx, RowIx), AnswerEvidence>;

fn read_requests(
    lists: &Lists<'_>,
    view: &View<'_>,
    with_messages: bool,
    cx: &Context<'_>,
    out: &mut Verdict<'_>,
) -> Result<FxHashMap<RowIx, Request>> {
    let mut requests: FxHashMap<RowIx, Request> = FxHashMap::default();
    let wanted = |row: RowIx| view.head_of(row, Likeness::Similar).is_some_and(|head| view.is_judged(head));
    let known = Memo::default();
    view.stream(cx, wanted, |batch| {
        let all = batch.map_rows(|row| row_evidence(row, lists, view, with_messages, &known))?;
        for (&row, evidence) in batch.rows().iter().zip(all) {
            if evidence.label.is_some()
                && let Some(decision) = batch.row(row).decision(DecisionKind::Relabel)
            {
                out.ruling(row, Ruling::of(decision, json!({ "relevance": decision.body })))?;
            }
            let request = requests.entry(evidence.head).or_default();
            if let Some(signal) = evidence.of_answer.signal {
                request.evidence.add(signal);
            }
            request.is_grounded |= evidence.of_answer.is_grounded;
            request.has_broken_call |= evidence.of_answer.has_broken_call;
            request.asks_back |= evidence.of_answer.asks_back;
            request.is_answered |= evidence.is_answered;
            request.label = match (request.label, evidence.label) {
                (Some(one), Some(other)) if other.0 < one.0 => Some(other),
                (one, other) => one.or(other),
            };
            if let Some(queries) = evidence.queries {
                request.queries = queries;
                request.has_context = evidence.has_context;
                request.messages = evidence.messages;
            }
        }
        Ok(())
    })?;
    Ok(requests)
}

/// Whether prose declines the request. Prose after the result of a call reports that result, a question asks for a value, and
/// a greeting has nothing that could be declined.
fn is_decline(messages: &[Message], said: Option<Prose>) -> bool {
    messages.last().is_some_and(|last| last.role == Role::User && !is_small_talk(&last.content))
        && said.is_none_or(|said| said == Prose::Declines)
}

/// Maximum number of requests that one thread takes at a time.
const ROWS_AT_ONCE: usize = 64;

fn row_evidence(
    row: Row<'_>,
    lists: &Lists<'_>,
    view: &View<'_>,
    with_messages: bool,
    known: &KnownAnswers,
) -> RowEvidence {
    let head = view.head_of(row.ix(), Likeness::Similar).unwrap_or(row.ix());
    let cells = row.hash_of(&[MESSAGES, RESPONSE, FINISH_REASON, STATUS, TOOL_CHOICE, OUTCOME]);
    let key = (cells, view.list_of(row.ix()), view.origin_of(row.ix()));
    let of_answer = known.get_or(key, || answer_evidence(row, lists, view));
    let (mut queries, mut has_context, mut asked) = (None, false, Vec::new());
    if head == row.ix() {
        let messages = row.messages();
        if with_messages {
            asked.clone_from(&messages);
        }
        has_context = messages.iter().any(|message| message.role != Role::User);
        let users = messages.into_iter().filter(|message| message.role == Role::User);
        queries = Some(users.map(|message| message.content).collect());
    }
    let is_near_duplicate = view.head_of(row.ix(), Likeness::NearCopy).is_some();
    let is_answered = is_near_duplicate && row.decision(DecisionKind::Answer).is_some();
    let label = row.decision(DecisionKind::Relabel).filter(|_| is_near_duplicate).and_then(|decision| {
        let relevance = Relevance::from_name(decision.body.as_str()?)?;
        // A label of the request itself takes precedence over those of its copies.
        let position = if head == row.ix() { 0 } else { view.position(row.ix()).saturating_add(1) };
        Some((position, relevance))
    });
    RowEvidence { head, of_answer, queries, has_context, is_answered, label, messages: asked }
}

/// Returns what the recorded answer of a row says, by its cells and its two lists.
fn answer_evidence(row: Row<'_>, lists: &Lists<'_>, view: &View<'_>) -> AnswerEvidence {
    let messages = row.messages();
    let response = row.response();
    let is_offered = |name: &str| lists.has_name(row.ix(), name);
    let answer = recorded_answer(response.as_ref(), row.text(FINISH_REASON), row.int(STATUS), is_offered);
    let is_known = |call: &Call| lists.has(row.ix(), call);
    let said = matches!(answer, RecordedAnswer::Declined)
        .then(|| response.as_ref())
        .flatten()
        .map(|response| prose(&response.content, lists.functions(view.list_of(row.ix()))));
    let signal = signal_of(&answer, row.text(OUTCOME), row.text(TOOL_CHOICE), is_known)
        .filter(|signal| *signal != AnswerSignal::Declined || is_decline(&messages, said));
    let has_broken_call = match answer {
        RecordedAnswer::Unreadable(_) => true,
        RecordedAnswer::Truncated => response.as_ref().is_some_and(|response| !response.calls.is_empty()),
        _ => false,
    };
    let is_grounded = matches!(signal, Some(AnswerSignal::Called | AnswerSignal::Worked))
        && matches!(&answer, RecordedAnswer::Calls(calls) if {
            let texts: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
            lists.of_list(view.list_of(row.ix())).is_some_and(|(functions, callable)| {
                are_grounded(calls, functions, callable, &texts.join("\n"))
            })
        });
    AnswerEvidence { signal, has_broken_call, asks_back: said == Some(Prose::AsksBack), is_grounded }
}

#[cfg(test)]
mod tests;
