//! Extracts what a question is about, to distinguish variants from near duplicates.
//!
//! Two questions with nearly the same words are duplicates if they differ only in words of grammar, courtesy and
//! request ("please show me …", "give me …"). Another number, name, unit, quoted text or negation, or any other content
//! word, makes them variants of one task. The words that may differ are a list; all others count as content, so in
//! doubt two questions are different.

use super::words::for_each_word;

/// English words of grammar, courtesy and request, and courtesy of other languages; sorted. Negations, numbers and
/// words of direction are not included.
#[rustfmt::skip] // Sorted, so the words of a language are not together.
const FREE: &[&str] = &[
    "a", "about", "ahoj", "alsjeblieft", "alstublieft", "am", "an", "and", "anyone", "are", "as", "asap", "at",
    "be", "bitte", "bitteschön", "bonjour", "buenas", "buongiorno", "can", "check", "cheers", "chào", "ciao",
    "could", "czesc", "cześć", "cảm", "d", "dank", "danke", "dear", "dekuji", "dekuju", "den", "dhanyavad", "did",
    "diky", "display", "do", "dobry", "dobrý", "does", "dong", "dziekuje", "dzięki", "dziękuję", "díky", "děkuji",
    "děkuju", "dạ", "ederim", "favor", "fetch", "find", "folks", "for", "gerne", "get", "getting", "give", "given",
    "giving", "giúp", "good", "graag", "gracias", "grazie", "greetings", "guys", "had", "hallo", "has", "have",
    "hej", "hello", "help", "hey", "hi", "hiya", "hola", "how", "hows", "hvala", "i", "im", "in", "is", "it", "its",
    "just", "kak", "kasih", "kiitos", "kindest", "kindly", "know", "kripya", "kérem", "köszönöm", "let", "like",
    "ll", "look", "lütfen", "m", "madam", "makasih", "mal", "may", "me", "merci", "merhaba", "mersi", "might",
    "mohon", "moin", "molim", "mulțumesc", "my", "mình", "namaste", "need", "nhé", "now", "obg", "obrigada",
    "obrigado", "of", "oi", "ok", "okay", "olá", "on", "our", "per", "pleas", "please", "pls", "plz", "podría",
    "podrías", "por", "porfa", "porfavor", "prego", "prosim", "prosze", "proszę", "prosím", "provide", "puedes",
    "re", "regards", "retrieve", "rica", "s", "salut", "salve", "sağol", "selam", "shall", "should", "show",
    "shukriya", "sincerely", "sir", "snälla", "so", "some", "stp", "svp", "szépen", "tack", "tak", "takk", "tell",
    "terima", "tesekkurler", "tesekkür", "teşekkür", "teşekkürler", "thank", "thanks", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "thnx", "those", "thx", "tnx", "to", "tolong", "up", "us",
    "ve", "vlw", "want", "was", "we", "were", "what", "whats", "where", "wheres", "which", "will", "wish", "with",
    "would", "xin", "you", "your", "ďakujem", "ơi", "ơn", "γειά", "γεια", "ευχαριστω", "ευχαριστώ", "παρακαλω",
    "παρακαλώ", "дякую", "здравствуйте", "ласка", "пожалуйста", "привет", "спасибо", "कृपया", "जी", "धन्यवाद",
    "नमस्ते", "शुक्रिया", "ạ", "お願いします", "您好", "谢谢", "감사합니다", "부탁드립니다",
];
/// Endings that stand for a word of grammar: `where's` is `where is`.
const CONTRACTED: &[&str] = &["'s", "'re", "'ll", "'d", "'ve", "'m"];
/// Words after which the order of content words matters.
const DIRECTIONS: &[&str] = &["after", "before", "by", "from", "into", "minus", "than", "until"];
/// Negations; sorted.
const NEGATIONS: &[&str] = &[
    "cannot", "cant", "didnt", "doesnt", "dont", "except", "isnt", "nein", "never", "nicht", "no", "non",
    "not", "sans", "sin", "without", "wont",
];
/// The ending of a contracted negation.
const NOT: &str = "n't";
/// The minimum length of a word whose plural is read as its singular.
const MIN_PLURAL: usize = 4;

/// Returns the content of a question as text, equal for two questions that are duplicates if their words are similar.
/// `question` is as sent or normalised; case, punctuation, and the order of words without a number make no difference.
pub fn specifics(question: &str) -> String {
    let (mut content, ordered) = read(question);
    content.sort_unstable();
    // A repeated word has the same meaning; repeated numbers and characters of scripts without spaces may not.
    content.dedup_by(|a, b| a == b && a.is_ascii() && a.len() >= MIN_PLURAL && !a.contains(char::is_numeric));
    format!("{}\n{}", content.join(" "), ordered.join(" "))
}

/// Returns the content words of a question, in its order; a word after a direction has it before it.
pub(super) fn content_words(question: &str) -> Vec<String> {
    read(question).0
}

/// Returns the words of grammar, courtesy and request.
pub(super) fn free_words() -> &'static [&'static str] {
    FREE
}

/// The content words, and those of them whose order matters.
fn read(question: &str) -> (Vec<String>, Vec<String>) {
    let (mut content, mut ordered) = (Vec::new(), Vec::new());
    let mut direction: Option<String> = None;
    let mut is_after_content = false;
    // A line break that a log has as two characters.
    let question = question.replace("\\n", " ").replace('\u{2019}', "'");
    for_each_word(&question, |word| {
        let word = without_contraction(word);
        if DIRECTIONS.binary_search(&word).is_ok() {
            direction = Some(word.to_owned());
            return;
        }
        // "usd to eur" has a direction, "want to book" has none.
        if word == "to" && is_after_content {
            direction = Some(word.to_owned());
            return;
        }
        is_after_content = FREE.binary_search(&word).is_err();
        if !is_after_content {
            return;
        }
        let word = singular(word);
        // Scripts without spaces are split into characters, which mean nothing without their order.
        if word.contains(|c: char| c.is_numeric()) || is_unspaced(word) {
            ordered.push(word.to_owned());
        }
        content.push(match direction.take() {
            Some(direction) => format!("{direction} {word}"),
            None => word.to_owned(),
        });
    });
    (content, ordered)
}

/// Returns the parts of a question that no paraphrase changes: its words with a digit, in order, and the number of
/// negations. Equal for two questions with different words that may have the same meaning.
pub fn fixed_points(question: &str) -> String {
    let (mut ordered, mut n_negations) = (Vec::new(), 0);
    for_each_word(&question.replace('\u{2019}', "'"), |word| {
        n_negations += usize::from(NEGATIONS.binary_search(&word).is_ok() || word.ends_with(NOT));
        if word.contains(|c: char| c.is_numeric()) {
            ordered.push(word.to_owned());
        }
    });
    format!("{n_negations}\n{}", ordered.join(" "))
}

/// Returns a word without the contracted word at its end.
fn without_contraction(word: &str) -> &str {
    CONTRACTED.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// Returns true if a token is one character of a script without spaces between words.
fn is_unspaced(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c >= '\u{2e80}') && chars.next().is_none()
}

/// Returns an English word without the plural `s`.
fn singular(word: &str) -> &str {
    let stem = word
        .strip_suffix('s')
        .filter(|stem| word.is_ascii() && word.len() >= MIN_PLURAL && !stem.ends_with('s'));
    stem.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(FREE.is_sorted() && DIRECTIONS.is_sorted() && NEGATIONS.is_sorted());
    }

    #[test]
    fn a_paraphrase_keeps_numbers_and_negations() {
        assert_eq!(fixed_points("Unlock the door at 10:30"), fixed_points("open that gate, 10:30 please"));
        assert_eq!(fixed_points("dont ring"), fixed_points("Don’t ring."));
        for other in ["Unlock the door at 9:30", "Do not unlock the door at 10:30", "Unlock 2 doors at 10:30"]
        {
            assert_ne!(fixed_points("Unlock the door at 10:30"), fixed_points(other));
        }
    }

    #[test]
    fn questions_differing_in_courtesy_or_order_are_equal_and_in_content_are_not() {
        let copies = [
            ("Ring the noon bell", "Please ring the noon bells, thanks!"),
            ("What is the tide in Bergen on 2024-03-02?", "can you tell me the tide on 2024-03-02 in bergen"),
            ("noon bell, old church: ring it three times", "Ring it three times: noon bell, old church"),
            ("Show me all open tickets", "get all open tickets"),
            ("Show me all open tickets, tickets please", "get all open tickets"),
            ("Ring the bell.\\nAt noon", "Ring the bell. At noon"),
            ("I want to book a boat", "Book a boat please"),
            ("where is my order A-10293", "Where's my order A-10293?"),
            ("What’s the tide like in Bergen?", "whats the tide like in bergen"),
            ("I'd like to know when the mill's open", "when is the mill open"),
        ];
        for (one, other) in copies {
            assert_eq!(specifics(one), specifics(other));
        }
        let variants = [
            ("Find a job in Sacramento", "Find a job in Rutherford"),
            ("List 50 per page", "List 10 per page"),
            ("Convert notes.txt", "Convert notes.sav"),
            ("Trains from Turin to Lyon", "Trains from Lyon to Turin"),
            ("Book 2 rooms for 3 nights", "Book 3 rooms for 2 nights"),
            ("Is the port open?", "Is the port not open?"),
            ("Is the port open?", "Isn't the port open?"),
            ("Temperature in Celsius", "Temperature in Fahrenheit"),
            ("Find a pizza place", "Find a sushi place"),
            ("Turn the light on", "Turn the light off"),
            ("上海的天气", "北京的天气"),
            ("从北京到上海的火车票", "从上海到北京的火车票"),
            ("Convert 100 usd to eur", "Convert 100 eur to usd"),
            ("Order a 10 m rope", "Order a 10 km rope"),
            ("Order 10 ropes and 10 hooks", "Order 10 ropes and hooks"),
        ];
        for (one, other) in variants {
            assert_ne!(specifics(one), specifics(other), "{one}");
        }
    }
}
