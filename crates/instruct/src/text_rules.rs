//! What a model writes that no user of an assistant writes: names of functions, talk about APIs, refusals, placeholders.

use std::borrow::Cow;
use std::sync::LazyLock;

use callsieve_text::visible::visible;
use callsieve_text::words::for_each_word;

/// The most characters of a request.
const MOST_CHARS: usize = 2000;
/// Words for what an assistant calls.
const TOOLS: &[&str] = &["api", "apis", "endpoint", "endpoints"];
/// Words before which "API" is a topic and not what is used: "the API newsletter".
const TOPICS: &[&str] =
    &["newsletter", "team", "course", "book", "conference", "documentation", "docs", "training", "meeting"];
/// Phrases that speak of functions as such.
const META: &[&str] = &[
    "call the function",
    "call a function",
    "calling the function",
    "function call",
    "using the function",
    "use the function",
    "using the tool",
    "use the tool",
    "using your tools",
    "available functions",
    "available tools",
    "the following parameters",
    "with the parameters",
    "json object",
    "as the assistant",
];
/// Beginnings of refusals and of what an assistant says.
const REFUSALS: &[&str] = &[
    "i'm sorry, i can",
    "i'm sorry, but i can",
    "i'm sorry, but i don",
    "i'm sorry, but as",
    "i am sorry, i can",
    "i am sorry, but i",
    "sorry, but i can",
    "sorry, i can",
    "i cannot help",
    "i cannot assist",
    "i cannot fulfil",
    "i can't help",
    "i can't assist",
    "i can't fulfil",
    "as an ai",
    "as a language model",
    "i am unable to",
    "i'm unable to",
    "sure, here",
    "sure! here",
    "certainly! here",
    "here is the request",
    "here are the requests",
    "here is a request",
];
/// Words that stand for a value. The end of an address, such as `example.xyz`, is none.
const STAND_INS: &[&str] = &["xyz", "xyz123", "abc123", "foo", "foobar", "lorem", "xxx", "xxxx", "tbd"];
/// A word that stands for a value if it is written as one: in capitals. Otherwise people speak of such things.
const PLACEHOLDER: &str = "PLACEHOLDER";
/// What stands for the word that a language model guesses.
const MASK: &str = "[MASK]";

/// Returns what makes a text none that a person types: more than 2,000 characters, or characters that control a terminal, change the
/// direction of a line or are invisible.
pub fn odd_text(text: &str) -> Option<&'static str> {
    if text.chars().nth(MOST_CHARS).is_some() {
        return Some("more than 2000 characters");
    }
    matches!(visible(text), Cow::Owned(_)).then_some("hidden characters")
}

/// Returns the name of a function that a text has, in any case. Names of one word, such as `ring` or `Weather`, are words of the language,
/// and are not looked for.
pub fn named_function<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = text.to_lowercase();
    names.into_iter().find(|name| {
        let is_word = name.chars().skip(1).all(char::is_lowercase) && name.starts_with(char::is_alphabetic);
        !is_word && stands_alone(&lower, &name.to_lowercase())
    })
}

/// Whether a name is in a text, with no sign of a name beside it.
fn stands_alone(text: &str, name: &str) -> bool {
    let is_of_name = |sign: char| sign.is_alphanumeric() || sign == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name)
        })
}

/// Returns what a text says of functions or APIs as such.
pub fn meta_talk(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    META.iter().copied().find(|phrase| lower.contains(phrase)).or_else(|| {
        let (mut found, mut last) = (None, None);
        for_each_word(&lower, |word| {
            found = found.or(last.take().filter(|_| !TOPICS.contains(&word)));
            last = TOOLS.iter().copied().find(|tool| *tool == word);
        });
        found.or(last)
    })
}

/// Returns the words with which a text refuses, or speaks as an assistant.
pub fn refusal(text: &str) -> Option<&'static str> {
    let lower = text.trim_start().to_lowercase().replace('’', "'");
    REFUSALS
        .iter()
        .copied()
        .find(|phrase| lower.starts_with(phrase) || phrase.starts_with("as a") && lower.contains(phrase))
}

/// A name between brackets: `<city>`, `[your name]`, `{date}`, `YOUR_KEY`.
static BRACKETED: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r"<[A-Za-z][A-Za-z _-]{1,30}>|\[[A-Za-z][A-Za-z _-]{2,30}\]|\{\{?[A-Za-z][A-Za-z _]{1,30}\}?\}|\bYOUR_[A-Z_]+\b")
        .expect("the expression is fixed")
});

/// Returns a placeholder in a text. `original` is a text whose own ones are allowed, such as placeholders of personal values.
pub fn placeholder<'t>(text: &'t str, original: &str) -> Option<&'t str> {
    let bracketed = BRACKETED.find_iter(text).map(|found| found.as_str()).filter(|found| *found != MASK);
    let is_end_of_address = |word: &str| {
        let at = word.as_ptr().addr() - text.as_ptr().addr();
        text[..at].ends_with('.')
    };
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let stand_ins = words.filter(|word| {
        *word == PLACEHOLDER || STAND_INS.contains(&word.to_lowercase().as_str()) && !is_end_of_address(word)
    });
    bracketed.chain(stand_ins).find(|found| !original.contains(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_user_writes_is_found() {
        let names = ["get_order", "cancelOrder", "ring"];
        assert_eq!(named_function("Use Get_Order for R-1", names), Some("get_order"));
        assert_eq!(named_function("please cancelorder", names), Some("cancelOrder"));
        assert_eq!(named_function("ring the get_orders", names), None);
        assert_eq!(meta_talk("Find it with the Weather API."), Some("api"));
        assert_eq!(meta_talk("Send the API newsletter to the API team."), None);
        assert_eq!(named_function("How is the weather in Oslo?", ["Weather"]), None);
        assert_eq!(odd_text("Ring it, the \u{2019}old\u{2019} one.\nPlease."), None);
        assert_eq!(odd_text("Ring \u{202e}it."), Some("hidden characters"));
        assert_eq!(odd_text(&"a ".repeat(1001)), Some("more than 2000 characters"));
        assert_eq!(meta_talk("Use the function that counts."), Some("use the function"));
        assert_eq!(meta_talk("The capital of Paris, a therapist function."), None);
        assert_eq!(refusal(" I’m sorry, I cannot do that."), Some("i'm sorry, i can"));
        assert_eq!(refusal("Well, as an AI I think"), Some("as an ai"));
        assert_eq!(refusal("I cannot find my order R-1, where is it?"), None);
        assert_eq!(refusal("I'm sorry to bother you, but is R-1 ready?"), None);
        assert_eq!(refusal("My order is lost, can you find it?"), None);
        assert_eq!(placeholder("Book it for <your city>.", ""), Some("<your city>"));
        assert_eq!(placeholder("Order ABC123 please", ""), Some("ABC123"));
        assert_eq!(placeholder("Write [NAME_1] a letter", "[NAME_1]"), None);
        assert_eq!(placeholder("Is https://boats.xyz safe? Find a placeholder image of a [MASK].", ""), None);
        assert_eq!(placeholder("Set it to PLACEHOLDER.", ""), Some("PLACEHOLDER"));
        assert_eq!(placeholder("if a < b and c > d [1]", ""), None);
        assert_eq!(placeholder("Insert coin ABC123", "insert coin ABC123"), None);
    }
}
