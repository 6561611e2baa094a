//! The name that a system prompt gives to the assistant: `You are Marvin, …`, `Your name is Ava`.
//!
//! It is the name of a product, not of a person, so it stays in its own request, in the prompt and in the messages to the
//! assistant. Deliberately absent: a name that the prompt only mentions, as in `You are the assistant of …`.

use serde_json::Value;

use super::normal;

/// What precedes the name, in small letters.
const PHRASES: [&str; 26] = [
    "you are",
    "you're",
    "you\u{2019}re",
    "your name is",
    "assistant called",
    "assistant named",
    "helper called",
    "helper named",
    "bot called",
    "bot named",
    "chatbot called",
    "chatbot named",
    "agent called",
    "agent named",
    "du bist",
    "du heißt",
    "dein name ist",
    "tu es",
    "vous êtes",
    "eres",
    "te llamas",
    "ti chiami",
    "você é",
    "je bent",
    "je heet",
    "jij bent",
];
/// The most words of such a name.
const MAX_WORDS: usize = 2;

/// The names of the assistant in a request, in their normal form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssistantNames(Vec<String>);

impl AssistantNames {
    /// Returns the names in the system prompts of a cell of messages.
    pub fn of(messages: &str) -> Self {
        let mut names = Self::default();
        if !messages.contains("\"system\"") {
            return names;
        }
        let Ok(Value::Array(messages)) = serde_json::from_str(messages) else { return names };
        let prompts = messages.iter().filter(|message| message["role"] == "system");
        for prompt in prompts.filter_map(|message| message["content"].as_str()) {
            names.add(prompt);
        }
        names
    }

    fn add(&mut self, prompt: &str) {
        // The words stay at their places, so that their capitals are known.
        let words: Vec<&str> = prompt.split_whitespace().collect();
        let small: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let small: Vec<&str> = small.iter().map(String::as_str).collect();
        let phrases = PHRASES.map(|phrase| phrase.split(' ').collect::<Vec<&str>>());
        for end in 1..words.len() {
            if phrases.iter().any(|phrase| small[..end].ends_with(phrase)) {
                self.0.extend(name_in(&words[end..]));
            }
        }
    }

    /// Returns true for a name of the assistant, or its first word.
    pub(super) fn has(&self, written: &str) -> bool {
        let written = normal(written);
        self.0.iter().any(|name| *name == written || name.split(' ').next() == Some(written.as_str()))
    }
}

/// Returns the name at the start of some words: one or two with capitals, up to a sign or a word in small letters.
fn name_in(words: &[&str]) -> Option<String> {
    let mut name: Vec<&str> = Vec::new();
    for word in words.iter().take(MAX_WORDS + 1) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        // The assistant of a person is not the person.
        if bare.ends_with("'s") || bare.ends_with("\u{2019}s") {
            return None;
        }
        if !bare.starts_with(char::is_uppercase) {
            break;
        }
        name.push(bare);
        if !word.ends_with(char::is_alphanumeric) {
            break;
        }
    }
    let is_name = (1..=MAX_WORDS).contains(&name.len());
    is_name.then(|| normal(&name.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prompt: &str) -> AssistantNames {
        AssistantNames::of(&serde_json::json!([{"role": "system", "content": prompt}]).to_string())
    }

    #[test]
    fn the_name_that_a_prompt_gives_is_the_name_of_the_assistant() {
        for (prompt, name) in [
            ("You are Quimby, the helper of Acme.", "Quimby"),
            ("Be kind. Your name is \"Quimby\".", "quimby"),
            ("You're an assistant called Quimby Bell", "Quimby Bell"),
            ("You're an assistant called Quimby Bell", "Quimby"),
            ("Du bist Quimby, die Hilfe der Post.", "Quimby"),
            ("Eres Quimby. Responde en español.", "Quimby"),
        ] {
            assert!(names(prompt).has(name), "{prompt}");
        }
    }

    #[test]
    fn a_person_in_a_prompt_is_not_the_assistant() {
        for prompt in [
            "You are the assistant of Dr. Quimby",
            "You are Quimby Bell's assistant",
            "You are talking to Quimby",
            "Escalate to Quimby. A colleague is called Quimby",
            "you are Head Of Sales Quimby",
        ] {
            assert!(!names(prompt).has("Quimby"), "{prompt}");
        }
        let by_user = serde_json::json!([{"role": "user", "content": "You are Quimby"}]).to_string();
        assert!(!AssistantNames::of(&by_user).has("Quimby"));
    }
}
