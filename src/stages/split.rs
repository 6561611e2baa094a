//! Assigns each request to its BFCL category.
//!
//! | relevance | functions | calls | category |
//! |---|---|---|---|
//! | `irrelevant`, `low-quality` | any | | irrelevance |
//! | `relevant` | any | one with a text that the model composed | relevance |
//! | else | one | one | simple |
//! | | several | one | multiple |
//! | | one | several | parallel |
//! | | several | several | `parallel_multiple` |
//!
//! Without a stage that judges relevance the log decides: the calls of the answer determine the
//! category, and a request without an answer is held, with the kind of response as the reason. A
//! judged request without an answer is held too, unless it was judged irrelevant. An entry of a
//! category without answers whose label is based on the text alone, or on a recorded call that
//! nothing confirms, gets the tier `judged`, so that the export can separate it. The stage also
//! notes the language of each question: by its own words, or if these leave it open, by the texts
//! around it (`languages`).
//! Deliberately absent: judging relevance, and excluding entries.

mod languages;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::languages::Languages;
use super::Settings;
use crate::answers::open_text::has_open_text;
use crate::bfcl::category::Category;
use crate::cells::TypedCells as _;
use crate::columns::{
    ANSWER, CATEGORY, CATEGORY_BASIS, FUNCTIONS, LANGUAGE, MESSAGES, RELEVANCE, RELEVANCE_BASIS,
    RESPONSE_KIND, SESSION, TIER, USER,
};
use crate::conversation::{Message, has_calls};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::export::tier::{HUMAN, JUDGED, RECORDED};
use crate::prompts::judging::OPEN_ENDED_CALL;
use crate::relevance::Relevance;
use crate::relevance::basis::is_shown;

// Binding: a request without a category cannot be exported. A person can give it an answer instead.
static DECLINED: Reason = Reason::policy(
    "split/declined",
    "The logged model answered in prose, so there is no call to use as the answer.",
)
.binding();
static TRUNCATED: Reason =
    Reason::policy("split/truncated-answer", "The logged answer is cut off.").binding();
static FAILED: Reason =
    Reason::policy("split/request-failed", "The request failed, so there is no answer.").binding();
static NO_ANSWER: Reason = Reason::policy("split/no-answer", "The log has no answer.").binding();
static EARLIER_CALLS: Reason = Reason::policy(
    "split/earlier-calls",
    "The conversation before the question contains calls and results, which a BFCL question cannot represent.",
)
.binding();
static UNREADABLE: Reason =
    Reason::policy("split/unreadable-answer", "The logged answer is a call that cannot be read.").binding();
static CONTRADICTED: Reason = Reason::policy(
    "split/contradicting-labels",
    "A person answered the request with a call, but it was judged to need none.",
)
.binding();

/// The basis of `irrelevance` for a request that no function fits.
const JUDGED_IRRELEVANT: &str = "judged-irrelevant";
/// The basis of `irrelevance` for a query of low quality.
const LOW_QUALITY: &str = "low-quality";
/// The basis of `relevance` for a request with a text argument that the model composed.
const OPEN_TEXT: &str = "open-text";
/// The basis of `relevance` for a request with too many right calls to list, as a language model judged.
const OPEN_ENDED: &str = "open-ended";

/// Range of [`Split::open_text_words`].
const OPEN_TEXT_WORDS: std::ops::RangeInclusive<usize> = 2..=1000;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// Number of words composed by the model, 2 to 1000, from which a text argument has too many correct values to
    /// list: the request goes to `relevance`. Applies to requests that were judged relevant, except those with an
    /// answer by a person. Higher keeps more requests in the categories with answers.
    pub open_text_words: usize,
}

impl Default for Split {
    fn default() -> Self {
        Self { open_text_words: 4 }
    }
}

impl Settings for Split {
    const NAME: &'static str = "split";
    const SUMMARY: &'static str =
        "Assigns each request to its BFCL category, notes its language, and holds those without an answer.";
    const FUNNEL_LABEL: &'static str = "one of the six categories";

    fn examples() -> Vec<Example> {
        const ANSWERED: &str = r#"{"requests": [{"response_kind": "calls", "answer": [{"ring": {}}]}]}"#;
        vec![
            Example::tables(DECLINED.code, r#"{"requests": [{"response_kind": "declined"}]}"#, ANSWERED),
            Example::tables(TRUNCATED.code, r#"{"requests": [{"response_kind": "truncated"}]}"#, ANSWERED),
            Example::tables(FAILED.code, r#"{"requests": [{"response_kind": "failed"}]}"#, ANSWERED),
            Example::tables(NO_ANSWER.code, r#"{"requests": [{"response_kind": "empty"}]}"#, ANSWERED),
            Example::tables(UNREADABLE.code, r#"{"requests": [{"response_kind": "unreadable"}]}"#, ANSWERED),
            Example::tables(
                EARLIER_CALLS.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Ring."}, {"role": "assistant", "content": "", "calls": [{"name": "ring", "arguments": {}}]}, {"role": "user", "content": "Again."}], "response_kind": "calls", "answer": [{"ring": {}}]}]}"#,
                ANSWERED,
            ),
            Example::tables(
                CONTRADICTED.code,
                r#"{"requests": [{"response_kind": "calls", "relevance": "irrelevant", "tier": "human", "answer": [{"ring": {}}]}]}"#,
                r#"{"requests": [{"response_kind": "calls", "relevance": "irrelevant", "tier": "recorded", "answer": [{"ring": {}}]}]}"#,
            ),
        ]
    }

    fn check(&self) -> std::result::Result<(), String> {
        if OPEN_TEXT_WORDS.contains(&self.open_text_words) {
            return Ok(());
        }
        let (least, most) = (OPEN_TEXT_WORDS.start(), OPEN_TEXT_WORDS.end());
        Err(format!("open_text_words must be from {least} to {most}, not {}", self.open_text_words))
    }
}

impl Stage for Split {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads([MESSAGES, RESPONSE_KIND, ANSWER, TIER, FUNCTIONS])
            .reads_if_there([RELEVANCE, RELEVANCE_BASIS, USER, SESSION])
            .writes([CATEGORY, CATEGORY_BASIS, LANGUAGE, TIER])
            .reasons([&DECLINED, &TRUNCATED, &FAILED, &NO_ANSWER, &UNREADABLE, &EARLIER_CALLS, &CONTRADICTED])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(13);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let docs = view.parents(cx, |list| list.functions())?;
        let languages = Languages::read(view, cx)?;
        view.for_each_batch(cx, |batch| {
            let opinions = batch.map_rows(|row| {
                let functions = docs.of(row.ix()).map_or(&[][..], Vec::as_slice);
                let language = || languages.of(row.ix(), view.list_of(row.ix()), functions);
                self.opinion(row, functions, language)
            })?;
            for (row, opinion) in batch.rows().iter().zip(opinions) {
                out.opinion(*row, opinion)?;
            }
            out.flush(batch.index())
        })
    }
}

impl Split {
    /// Returns the opinion on a request.
    fn opinion(&self, request: Row<'_>, functions: &[Value], language: impl Fn() -> &'static str) -> Opinion {
        let messages = request.messages();
        let (category, basis) = match self.category(request, &messages, functions) {
            Ok(placed) => placed,
            // No decision of a person would make it an entry.
            Err(reason) if reason.code == EARLIER_CALLS.code => {
                return Opinion::drop(reason, Evidence::default());
            }
            Err(reason) => return Opinion::hold(reason, Evidence::default()),
        };
        let opinion = Opinion::keep().with(CATEGORY, category.name()).with(LANGUAGE, language());
        match basis {
            Some(basis) if !is_label_shown(request) || is_only_recorded(request, basis) => {
                opinion.with(CATEGORY_BASIS, basis).with(TIER, JUDGED)
            }
            Some(basis) if is_label_by_a_person(request) => {
                opinion.with(CATEGORY_BASIS, basis).with(TIER, HUMAN)
            }
            Some(basis) => opinion.with(CATEGORY_BASIS, basis),
            None => opinion,
        }
    }

    /// Returns the category and, for a category without answers, its basis; or the reason to hold or drop the request.
    fn category(
        &self,
        request: Row<'_>,
        messages: &[Message],
        functions: &[Value],
    ) -> std::result::Result<(Category, Option<&'static str>), &'static Reason> {
        let relevance = request.text(RELEVANCE).and_then(Relevance::from_name);
        let no_call = match relevance {
            Some(Relevance::Irrelevant) => Some(JUDGED_IRRELEVANT),
            Some(Relevance::LowQuality) => Some(LOW_QUALITY),
            Some(Relevance::Relevant) | None => None,
        };
        let answer = request.answer();
        let by_a_person = request.text(TIER) == Some(HUMAN);
        let is_open_ended = relevance == Some(Relevance::Relevant)
            && !by_a_person
            && request.relevance_basis().is_some_and(|basis| basis["criterion"] == OPEN_ENDED_CALL);
        match (no_call, answer) {
            _ if is_open_ended && !has_calls(messages) => Ok((Category::Relevance, Some(OPEN_ENDED))),
            (Some(_), Some(_)) if by_a_person => Err(&CONTRADICTED),
            (None, None) => Err(without_answer(request.text(RESPONSE_KIND))),
            _ if has_calls(messages) => Err(&EARLIER_CALLS),
            (Some(basis), _) => Ok((Category::Irrelevance, Some(basis))),
            (None, Some(answer)) => {
                let is_judged = relevance == Some(Relevance::Relevant);
                if is_judged
                    && !by_a_person
                    && has_open_text(messages, functions, &answer, self.open_text_words)
                {
                    return Ok((Category::Relevance, Some(OPEN_TEXT)));
                }
                Ok((Category::of_answer(functions.len(), answer.len()), None))
            }
        }
    }
}

/// Returns whether the relevance label is based on more than the text.
fn is_label_shown(request: Row<'_>) -> bool {
    let basis = request.relevance_basis();
    request
        .text(RELEVANCE)
        .and_then(Relevance::from_name)
        .is_some_and(|relevance| is_shown(relevance, basis.as_ref()))
}

/// Whether the label is based on a recorded call that neither the log nor a person confirms.
fn is_only_recorded(request: Row<'_>, basis: &str) -> bool {
    let worked =
        || request.relevance_basis().is_some_and(|basis| basis["evidence"]["worked"].as_u64() > Some(0));
    basis == OPEN_TEXT && request.text(TIER) == Some(RECORDED) && !is_label_by_a_person(request) && !worked()
}

/// Whether a person labelled the request.
fn is_label_by_a_person(request: Row<'_>) -> bool {
    request.relevance_basis().is_some_and(|basis| basis["labelled_by"].is_string())
}

fn without_answer(response_kind: Option<&str>) -> &'static Reason {
    match response_kind {
        Some("declined") => &DECLINED,
        Some("truncated") => &TRUNCATED,
        Some("failed") => &FAILED,
        Some("unreadable") => &UNREADABLE,
        _ => &NO_ANSWER,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::judged;

    const MADE_UP: &str = "Dear ringers, sadly no practice tonight";

    fn request(relevance: &str, tier: &str, note: &str) -> Value {
        json!({
            "messages": [{"role": "user", "content": "Tell everybody that the bells rest on Friday."}],
            "response_kind": "calls", "relevance": relevance, "tier": tier, "answer": [{"post": {"note": [note]}}],
        })
    }

    /// Returns category, basis and language of each request, or the code of the reason to hold it.
    fn split(requests: &[Value]) -> Vec<String> {
        let tables = json!({"doc_lists": [{"functions": [{"name": "post"}]}], "requests": requests});
        let judged = judged(&Split::default(), &tables);
        (0..requests.len())
            .map(|row| {
                let cell = |column| judged.cell(row, column).unwrap_or("-").to_owned();
                judged
                    .fate(row)
                    .map_or_else(|| [CATEGORY, CATEGORY_BASIS, LANGUAGE].map(cell).join(" "), str::to_owned)
            })
            .collect()
    }

    #[test]
    fn the_relevance_label_decides_and_answers_by_people_are_never_overruled() {
        let requests = [
            request("irrelevant", "recorded", "bells rest"),
            request("low-quality", "outcome", "bells rest"),
            request("irrelevant", "human", "bells rest"),
            request("relevant", "recorded", "bells rest"),
            request("relevant", "recorded", MADE_UP),
            request("relevant", "outcome", MADE_UP),
            request("relevant", "human", MADE_UP),
        ];
        let expected = [
            "irrelevance judged-irrelevant en",
            "irrelevance low-quality en",
            "split/contradicting-labels",
            "simple - en",
            "relevance open-text en",
            "relevance open-text en",
            "simple - en",
        ];
        assert_eq!(split(&requests), expected);
    }

    #[test]
    fn a_label_based_on_the_text_alone_gets_the_tier_judged() {
        let judged_by = |relevance: &str, note: &str, basis: Value| {
            let mut request = request(relevance, "recorded", note);
            request["relevance_basis"] = basis;
            request
        };
        let worked = |mut request: Value| {
            request["tier"] = json!("outcome");
            request
        };
        let (silent, called) = (json!({"evidence": {}}), json!({"evidence": {"called": 1}}));
        let requests = [
            judged_by("irrelevant", "bells rest", silent.clone()),
            judged_by("irrelevant", "bells rest", json!({"evidence": {"declined": 1}})),
            judged_by("low-quality", "bells rest", json!({"low_quality": "empty"})),
            judged_by("low-quality", "bells rest", json!({"low_quality": "pasted-page"})),
            judged_by("relevant", MADE_UP, silent.clone()),
            judged_by("relevant", MADE_UP, called.clone()),
            worked(judged_by("relevant", MADE_UP, called)),
            // In a category with answers the tier is that of the answer.
            judged_by("relevant", "bells rest", silent),
        ];
        let tables = json!({"doc_lists": [{"functions": [{"name": "post"}]}], "requests": requests});
        let judged = judged(&Split::default(), &tables);
        let tiers: Vec<Option<&str>> = (0..8).map(|row| judged.cell(row, TIER)).collect();
        let judged = Some("judged");
        assert_eq!(tiers, [judged, None, None, judged, judged, judged, None, None]);
    }

    #[test]
    fn what_a_language_model_judged_open_ended_is_relevance_with_or_without_an_answer() {
        let mut answered = request("relevant", "recorded", "bells rest");
        answered["relevance_basis"] = json!({"criterion": "open-ended-call", "asked": "m", "evidence": {}});
        let mut without = answered.clone();
        without.as_object_mut().unwrap().shift_remove("answer");
        let mut by_a_person = answered.clone();
        by_a_person["tier"] = json!("human");
        let mut fits = answered.clone();
        fits["relevance_basis"]["criterion"] = json!("function-fits");
        assert_eq!(
            split(&[answered, without, by_a_person, fits]),
            ["relevance open-ended en", "relevance open-ended en", "simple - en", "simple - en"]
        );
    }

    #[test]
    fn without_a_relevance_label_the_log_decides() {
        let mut open = request("", "recorded", MADE_UP);
        open.as_object_mut().unwrap().shift_remove("relevance");
        let mut without = open.clone();
        without.as_object_mut().unwrap().shift_remove("answer");
        without["response_kind"] = json!("declined");
        assert_eq!(split(&[open.clone()]), ["simple - en"]);
        assert_eq!(split(&[open, without.clone()]), ["simple - en", "split/declined"]);
        without["relevance"] = json!("relevant");
        assert_eq!(split(&[without.clone()]), ["split/declined"]);
        without["relevance"] = json!("irrelevant");
        assert_eq!(split(&[without]), ["irrelevance judged-irrelevant en"]);
    }

    #[test]
    fn requests_with_earlier_calls_are_held_with_any_relevance_label() {
        for relevance in ["relevant", "irrelevant", "low-quality"] {
            let mut request = request(relevance, "recorded", "bells rest");
            let call = json!({"name": "post", "arguments": {}});
            request["messages"].as_array_mut().unwrap().splice(
                0..0,
                [
                    json!({"role": "user", "content": "Post."}),
                    json!({"role": "assistant", "content": "", "calls": [call]}),
                ],
            );
            assert_eq!(split(&[request]), ["split/earlier-calls"], "{relevance}");
        }
    }
}
