//! Puts each request into its BFCL category.
//!
//! | relevance | functions | calls | category |
//! |---|---|---|---|
//! | `irrelevant`, `low-quality` | any | | irrelevance |
//! | `relevant` | any | one with a text that the model made up | relevance |
//! | else | one | one | simple |
//! | | several | one | multiple |
//! | | one | several | parallel |
//! | | several | several | `parallel_multiple` |
//!
//! Without a stage that judges relevance the log decides: a request with an answer goes by
//! its calls, one without is held by what the log has in place of an answer. A judged request
//! without an answer is held alike, unless no function fits it. An entry of a category without
//! answers whose label rests on the text alone gets the tier `judged`, by which the export
//! keeps it apart. Notes the language of each question on the way. Deliberately absent:
//! judging, and leaving out entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Settings;
use crate::answers::open_text::has_open_text;
use crate::bfcl::category::Category;
use crate::cells::TypedCells as _;
use crate::columns::{
    ANSWER, CATEGORY, CATEGORY_BASIS, FUNCTIONS, LANGUAGE, MESSAGES, RELEVANCE, RELEVANCE_BASIS,
    RESPONSE_KIND, TIER,
};
use crate::conversation::{Message, Role, last_user};
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::export::sink::JUDGED;
use crate::relevance::Relevance;
use crate::relevance::basis::is_shown;
use crate::text::language::{UNDETERMINED, language};

// No person overrules these: a request without a category has no place in a dataset. An answer gives it one.
static DECLINED: Reason = Reason::policy(
    "split/declined",
    "The logged model answered in prose, so there is no call to take as the answer.",
)
.binding();
static CUT: Reason = Reason::policy("split/truncated-answer", "The logged answer stops half-way.").binding();
static FAILED: Reason =
    Reason::policy("split/request-failed", "The request failed, so there is no answer.").binding();
static NOTHING: Reason = Reason::policy("split/no-answer", "The log holds no answer.").binding();
static CALLS_BEFORE: Reason = Reason::policy(
    "split/earlier-calls",
    "The conversation before the question holds calls and results, for which a BFCL question has no place.",
)
.binding();
static UNREADABLE: Reason =
    Reason::policy("split/unreadable-answer", "The logged answer means a call but cannot be read.").binding();
static CONTRADICTED: Reason = Reason::policy(
    "split/contradicting-labels",
    "A person answered the request with a call, and it was judged to need none.",
)
.binding();

/// Why a request is in `irrelevance`: it was judged that no function fits.
const JUDGED_IRRELEVANT: &str = "judged-irrelevant";
/// Why a request is in `irrelevance`: it was judged too poor to be asked.
const LOW_QUALITY: &str = "low-quality";
/// Why a request is in `relevance`: an argument is a text that the model made up.
const OPEN_TEXT: &str = "open-text";

/// Range of [`Split::open_text_words`].
const OPEN_TEXT_WORDS: std::ops::RangeInclusive<usize> = 2..=1000;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// Made-up words, 2 to 1000, from which on a text argument leaves too many right calls to list them: the request
    /// goes to `relevance`. Only of requests that were judged relevant; answers by people stand. Higher keeps more
    /// requests in the categories with answers.
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
        "Puts each request into its BFCL category, notes its language, and holds those without an answer.";
    const LEFT: &'static str = "one of the six categories";

    fn examples() -> Vec<Example> {
        const ANSWERED: &str = r#"{"requests": [{"response_kind": "calls", "answer": [{"ring": {}}]}]}"#;
        vec![
            Example::tables(DECLINED.code, r#"{"requests": [{"response_kind": "declined"}]}"#, ANSWERED),
            Example::tables(CUT.code, r#"{"requests": [{"response_kind": "truncated"}]}"#, ANSWERED),
            Example::tables(FAILED.code, r#"{"requests": [{"response_kind": "failed"}]}"#, ANSWERED),
            Example::tables(NOTHING.code, r#"{"requests": [{"response_kind": "empty"}]}"#, ANSWERED),
            Example::tables(UNREADABLE.code, r#"{"requests": [{"response_kind": "unreadable"}]}"#, ANSWERED),
            Example::tables(
                CALLS_BEFORE.code,
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

impl RowStage for Split {
    type Parent = Vec<Value>;

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Rows)
            .reads([MESSAGES, RESPONSE_KIND, ANSWER, TIER, FUNCTIONS])
            .reads_if_there([RELEVANCE, RELEVANCE_BASIS])
            .writes([CATEGORY, CATEGORY_BASIS, LANGUAGE, TIER])
            .reasons([&DECLINED, &CUT, &FAILED, &NOTHING, &UNREADABLE, &CALLS_BEFORE, &CONTRADICTED])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(5);
        Ok(())
    }

    fn parent(&self, list: Row<'_>) -> Vec<Value> {
        list.functions()
    }

    fn judge_row(&self, request: Row<'_>, functions: &Vec<Value>) -> Opinion {
        let messages = request.messages();
        let (category, basis) = match self.category(request, &messages, functions) {
            Ok(placed) => placed,
            Err(reason) => return Opinion::hold(reason, Evidence::default()),
        };
        let opinion = Opinion::keep().with(CATEGORY, category.name()).with(LANGUAGE, language_of(&messages));
        match basis {
            Some(basis) if !is_label_shown(request) => opinion.with(CATEGORY_BASIS, basis).with(TIER, JUDGED),
            Some(basis) => opinion.with(CATEGORY_BASIS, basis),
            None => opinion,
        }
    }
}

impl Split {
    /// The category and, where it has no answers, why; or why the request is held.
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
        let by_a_person = request.text(TIER) == Some("human");
        match (no_call, answer) {
            (Some(_), Some(_)) if by_a_person => Err(&CONTRADICTED),
            (None, None) => Err(without_answer(request.text(RESPONSE_KIND))),
            _ if has_calls(messages) => Err(&CALLS_BEFORE),
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

/// Something other than the text shows whether a function fits.
fn is_label_shown(request: Row<'_>) -> bool {
    let basis = request.relevance_basis();
    request
        .text(RELEVANCE)
        .and_then(Relevance::from_name)
        .is_some_and(|relevance| is_shown(relevance, basis.as_ref()))
}

fn without_answer(recorded: Option<&str>) -> &'static Reason {
    match recorded {
        Some("declined") => &DECLINED,
        Some("truncated") => &CUT,
        Some("failed") => &FAILED,
        Some("unreadable") => &UNREADABLE,
        _ => &NOTHING,
    }
}

/// An earlier message calls a function or brings a result.
fn has_calls(messages: &[Message]) -> bool {
    messages.iter().any(|message| message.role == Role::Tool || !message.calls.is_empty())
}

/// The language of what the user said last.
fn language_of(messages: &[Message]) -> &'static str {
    last_user(messages).map_or(UNDETERMINED, |message| language(&message.content))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::stage::Rows;
    use crate::fixture::judged;

    const MADE_UP: &str = "Dear ringers, sadly no practice tonight";

    fn request(relevance: &str, tier: &str, note: &str) -> Value {
        json!({
            "messages": [{"role": "user", "content": "Tell everybody that the bells rest on Friday."}],
            "response_kind": "calls", "relevance": relevance, "tier": tier, "answer": [{"post": {"note": [note]}}],
        })
    }

    /// Category, basis and language of each request, or the code by which it is held.
    fn split(requests: &[Value]) -> Vec<String> {
        let tables = json!({"doc_lists": [{"functions": [{"name": "post"}]}], "requests": requests});
        let judged = judged(&Rows(Split::default()), &tables);
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
    fn what_was_judged_decides_and_people_are_never_overruled() {
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
    fn a_label_that_rests_on_the_text_alone_is_of_the_tier_judged() {
        let judged_by = |relevance: &str, note: &str, basis: Value| {
            let mut request = request(relevance, "recorded", note);
            request["relevance_basis"] = basis;
            request
        };
        let (silent, called) = (json!({"evidence": {}}), json!({"evidence": {"called": 1}}));
        let requests = [
            judged_by("irrelevant", "bells rest", silent.clone()),
            judged_by("irrelevant", "bells rest", json!({"evidence": {"declined": 1}})),
            judged_by("low-quality", "bells rest", json!({"low_quality": "empty"})),
            judged_by("low-quality", "bells rest", json!({"low_quality": "pasted-page"})),
            judged_by("relevant", MADE_UP, silent.clone()),
            judged_by("relevant", MADE_UP, called),
            // A category with answers: the tier is the answer's.
            judged_by("relevant", "bells rest", silent),
        ];
        let tables = json!({"doc_lists": [{"functions": [{"name": "post"}]}], "requests": requests});
        let judged = judged(&Rows(Split::default()), &tables);
        let tiers: Vec<Option<&str>> = (0..7).map(|row| judged.cell(row, TIER)).collect();
        let apart = Some("judged");
        assert_eq!(tiers, [apart, None, None, apart, apart, None, None]);
    }

    #[test]
    fn without_a_judgement_the_log_decides() {
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
    fn calls_before_the_question_are_held_whatever_was_judged() {
        for relevance in ["relevant", "irrelevant", "low-quality"] {
            let mut asked = request(relevance, "recorded", "bells rest");
            let call = json!({"name": "post", "arguments": {}});
            asked["messages"].as_array_mut().unwrap().splice(
                0..0,
                [
                    json!({"role": "user", "content": "Post."}),
                    json!({"role": "assistant", "content": "", "calls": [call]}),
                ],
            );
            assert_eq!(split(&[asked]), ["split/earlier-calls"], "{relevance}");
        }
    }
}
