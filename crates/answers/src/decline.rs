//! What prose in place of a call is: a decline, a question back, or a refusal by policy.
//!
//! Only a decline is evidence that no function fits. A model that asks for a value would call with it; one that refuses
//! by policy says nothing about its functions.

use callsieve_text::normal::loose_name;
use serde_json::Value;

use crate::outcome::{apologises, denies};

/// What prose in place of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prose {
    /// It declines, or answers without a function.
    Declines,
    /// It asks for a value of a function, or what the user wants.
    AsksBack,
    /// It refuses what is asked, whatever the functions are.
    Refuses,
}

/// Phrases of refusals by policy, in lower case.
#[rustfmt::skip] // The words of a language are together.
const POLICY: &[&str] = &[
    "policy", "policies", "guidelines", "unethical", "illegal", "harmful", "not appropriate", "inappropriate",
    "against the law", "violates", "not allowed to", "not permitted to", "richtlinie", "illegale", "unethisch",
    "política de", "políticas", "ilegal", "politique d", "illégal", "politica di", "illegale", "违反", "不合法", "政策",
    "ポリシー", "違法", "정책", "불법", "политик", "незаконн",
];

/// How offers of something else begin, in lower case: "Shall I …?" after a decline asks for no value.
#[rustfmt::skip] // The words of a language are together.
const OFFERS: &[&str] = &[
    "shall i", "should i", "would you like", "do you want", "can i help", "may i", "is there anything",
    "anything else", "how can i", "how may i", "what else", "want me to", "soll ich", "möchtest du", "möchten sie",
    "kann ich", "¿quieres", "¿te gustaría", "¿puedo", "¿hay algo", "voulez-vous", "veux-tu", "puis-je", "vuoi che",
    "posso", "quer que", "gostaria", "wil je", "zal ik", "kan ik",
];

/// Letters of a word that means something.
const MIN_LETTERS: usize = 4;

/// Judges prose by which a model answered a request with these functions on offer.
pub fn prose(text: &str, functions: &[Value]) -> Prose {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let sentences = sentences(&lower);
    let questions: Vec<&str> =
        sentences.iter().copied().filter(|sentence| sentence.ends_with(['?', '？', '؟'])).collect();
    let is_offer = |question: &&str| OFFERS.iter().any(|offer| question.contains(offer));
    let asks_for_value = |question: &&str| !is_offer(question) && names_a_parameter(question, functions);
    if questions.iter().any(asks_for_value) {
        return Prose::AsksBack;
    }
    if POLICY.iter().any(|phrase| lower.contains(phrase)) && (denies(&lower) || apologises(&lower)) {
        return Prose::Refuses;
    }
    // In a language that the docs are not in, a question without a no.
    let ends_with_question = sentences.last().is_some_and(|last| questions.contains(last));
    let asks = ends_with_question && !questions.last().is_some_and(is_offer);
    let declines = || {
        let mut statements = sentences.iter().filter(|sentence| !questions.contains(sentence));
        statements.any(|sentence| denies(sentence) || apologises(sentence))
    };
    if asks && !declines() {
        return Prose::AsksBack;
    }
    Prose::Declines
}

/// The sentences of a text, with the sign at their end.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let goes_on = c.is_ascii() && text[end..].starts_with(|next: char| !next.is_whitespace());
        let is_end =
            matches!(c, '。' | '！' | '？' | '؟' | '।' | '\n') || matches!(c, '.' | '!' | '?') && !goes_on;
        if is_end {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Whether a question has a word of the name of a parameter, or two of its description.
fn names_a_parameter(question: &str, functions: &[Value]) -> bool {
    let words: Vec<&str> =
        question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.iter().any(|own| *own == word || own.strip_suffix('s') == Some(word));
    functions.iter().any(|function| {
        let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
        properties.into_iter().flatten().any(|(name, schema)| {
            let of_name = loose_name(name);
            let parts = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
            let is_named = words.iter().any(|word| *word == of_name)
                || parts.into_iter().any(|part| part.chars().count() >= MIN_LETTERS && has(&part));
            let described = schema["description"].as_str().unwrap_or_default().to_lowercase();
            let of_description = described.split(|c: char| !c.is_alphanumeric());
            let n_described =
                of_description.filter(|word| word.chars().count() >= MIN_LETTERS && has(word)).count();
            is_named || n_described >= 2
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Prose {
        let functions = [json!({"name": "tides", "parameters": {"properties": {
            "port": {"type": "string", "description": "Name of the port, in English"},
            "startDate": {"type": "string", "description": "First day of the forecast"}}}})];
        prose(text, &functions)
    }

    #[test]
    fn a_question_for_a_value_is_no_decline() {
        for text in [
            "Sure! Which port do you mean?",
            "I can help with that. What is the start date?",
            "I'm sorry, I did not catch the port. Which port is it?",
            "Für welchen Hafen?",
            "¿Para qué puerto lo necesitas?",
            "どの港ですか？",
            "Gerne. Ab welchem Tag?",
        ] {
            assert_eq!(of(text), Prose::AsksBack, "{text}");
        }
    }

    #[test]
    fn a_decline_may_offer_something_else() {
        for text in [
            "I can't book trains. Shall I look up the tides instead?",
            "None of my functions does that.",
            "Das kann ich leider nicht. Soll ich etwas anderes nachsehen?",
            "抱歉，我不能帮你订票。",
            "The capital of France is Paris.",
            "Paris is the capital. Would you like to know more?",
        ] {
            assert_eq!(of(text), Prose::Declines, "{text}");
        }
    }

    #[test]
    fn a_refusal_by_policy_says_nothing_about_the_functions() {
        for text in [
            "I'm sorry, but I can't help with that because it violates our policy.",
            "Das kann ich nicht tun, es verstößt gegen unsere Richtlinien.",
        ] {
            assert_eq!(of(text), Prose::Refuses, "{text}");
        }
    }
}
