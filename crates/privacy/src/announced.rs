//! Whether the words at a number say that it is a telephone number, so that its digits need no numbering plan.
//!
//! Many countries have numbers of seven or eight digits, which no plan tells from an order number. So only words directly at
//! the number count: a word for a telephone or a call with nothing but small words between (`my phone number is`, `ring meg
//! på`), a call and a preposition (`text our branch at`), or `… is my mobile` after it. `words` has the words for other
//! numbers.

use super::context::{FILLER, among, names_other, near_after, near_before, words};
use super::words::{phone_signs, phone_words};

/// Maximum number of small words between the announcing word and the number, and of words between a call and its preposition.
const MAX_FILLERS: usize = 5;
const MAX_BETWEEN: usize = 8;
/// Maximum number of words after a number that are read.
const MAX_AFTER: usize = 4;
/// Words of at most so many letters may be between, in any language.
const SHORT_WORD: usize = 3;
/// Short words that are things with numbers of their own.
const SHORT_NOUNS: &[&str] = &[
    "api", "bid", "bus", "car", "fee", "job", "key", "log", "off", "pay", "pin", "run", "set", "tax", "url",
    "usd", "eur", "gbp", "won", "yen", "buy", "add", "sum", "cut", "cap", "vat", "max", "min", "mrn", "ssn",
    "nhs", "bic", "cvv", "sid", "gid", "seq", "len", "age", "qty", "amt", "cnt", "raw", "tag", "otp", "ram",
];
/// Longer words that may be between.
const LONG_FILLERS: &[&str] = &[
    "mich",
    "dich",
    "mir",
    "ihm",
    "ihr",
    "uns",
    "bitte",
    "unter",
    "einfach",
    "this",
    "that",
    "here",
    "with",
    "please",
    "them",
    "now",
    "below",
    "instead",
    "back",
    "currently",
    "still",
    "lautet",
    "hier",
    "jetzt",
    "moje",
    "jest",
    "onder",
    "under",
    "direkt",
    "directly",
    "number",
    "numbers",
    "nummeret",
    "numret",
    "numri",
    "číslo",
    "ici",
    "maintenant",
    "suivant",
    "actual",
    "nuevo",
    "novo",
    "nuovo",
    "nouveau",
    "neue",
    "nieuwe",
    "new",
    "also",
    "home",
    "work",
    "private",
    "office",
];
/// Prepositions before the number that is called.
const PREPOSITIONS: &[&str] = &[
    "at", "on", "to", "under", "via", "unter", "auf", "an", "au", "sur", "al", "en", "ao", "no", "op",
    "naar", "på", "till", "til", "na", "pod", "на", "по",
];
/// Owners, and words for a number: `mon numéro est`, `мой номер`, `nummeret mitt`.
const OWNERS: &[&str] = &[
    "my", "his", "her", "their", "our", "your", "mein", "meine", "meiner", "deine", "seine", "ihre",
    "unsere", "mon", "ton", "son", "notre", "votre", "leur", "mi", "tu", "su", "nuestro", "meu", "seu",
    "teu", "mio", "tuo", "suo", "mijn", "jouw", "zijn", "haar", "mitt", "ditt", "mit", "dit", "hans",
    "hennes", "hendes", "min", "din", "mój", "twój", "jego", "jej", "мой", "твой", "его", "её", "ее", "ваш",
    "мій", "moje", "tvoje", "můj", "contact", "kontakt", "contacto", "contato", "contatto",
];
const NUMBERS: &[&str] =
    &["number", "nummer", "nummeret", "numret", "numéro", "numero", "número", "numer", "номер", "číslo"];
/// Verbs that say what a number before them is.
const COPULAS: &[&str] = &[
    "is", "as", "ist", "als", "est", "es", "é", "è", "er", "är", "jest", "to", "как", "это", "være", "comme",
    "como", "come",
];
/// Words with which questions about something else than a number begin, and the number of words that are read.
const OTHER_QUESTIONS: &[&str] = &[
    "when",
    "time",
    "date",
    "day",
    "wann",
    "uhrzeit",
    "datum",
    "quand",
    "heure",
    "cuándo",
    "cuando",
    "hora",
    "quando",
    "ora",
    "wanneer",
    "tijd",
    "når",
    "hvornår",
    "tid",
    "kiedy",
    "когда",
    "kdy",
    "mikor",
    "price",
    "much",
    "many",
];
const MAX_BEGINNING: usize = 4;
/// Signs of an amount before or after a number.
const AMOUNT: [char; 7] = ['$', '€', '£', '¥', '₹', '%', '#'];
/// Words after an amount.
const UNITS: &[&str] = &[
    "ms",
    "s",
    "sec",
    "second*",
    "minute*",
    "min",
    "hour*",
    "day*",
    "times",
    "m",
    "km",
    "mile*",
    "kg",
    "usd",
    "eur",
    "gbp",
    "inr",
    "euro*",
    "dollar*",
    "pound*",
    "rupee*",
    "peso*",
    "yen",
    "unit*",
    "item*",
    "piece*",
    "people",
    "user*",
    "row*",
    "byte*",
    "kb",
    "mb",
    "gb",
    "word*",
    "token*",
    "message*",
    "customer*",
    "sekunden",
    "stück",
];
/// Characters of scripts without spaces between the announcing word and the number, and after the number.
const MAX_CHARS_BETWEEN: usize = 10;
const MAX_CHARS_AFTER: usize = 4;

/// Returns true if the words directly at the number at `start` to `end` name a telephone or a call to it.
pub(super) fn names_phone(text: &str, start: usize, end: usize) -> bool {
    let before = sentence_before(near_before(text, start));
    let behind = near_after(text, end);
    let is_amount = before.trim_end().ends_with(AMOUNT) || behind.trim_start().starts_with(AMOUNT);
    let has_unit = || {
        let next = behind.strip_prefix([' ', '\u{a0}']).unwrap_or(behind);
        words(next).first().is_some_and(|word| next.starts_with(char::is_alphabetic) && among(word, UNITS))
    };
    if is_amount || has_unit() {
        return false;
    }
    let words = words(before);
    ends_with_phone(&words) || is_called(&words) || is_named_after(behind) || is_signed(before, behind)
}

/// Returns true if a question asks for a telephone number and for no other.
pub(super) fn asks_for_phone(question: &str) -> bool {
    let words = words(question);
    let is_of_phone = phone_words(&words.join(" ")).next().is_some()
        || words.windows(2).any(is_owned)
        || phone_signs(question).next().is_some();
    let is_of_other = words.iter().take(MAX_BEGINNING).any(|word| among(word, OTHER_QUESTIONS));
    is_of_phone && !is_of_other && !words.iter().any(|word| names_other(word))
}

/// Returns the text after the last sentence that ends in it. A full stop after a short word is an abbreviation: `tel. 41`.
fn sentence_before(text: &str) -> &str {
    let is_end = |(at, c): &(usize, char)| match c {
        '?' | '!' | ';' => true,
        '.' => {
            let word = text[..*at].chars().rev().take_while(|c| c.is_alphabetic()).count();
            word > SHORT_WORD + 1 && text[at + 1..].starts_with(char::is_whitespace)
        }
        _ => false,
    };
    text.char_indices().rfind(is_end).map_or(text, |(at, _)| &text[at + 1..])
}

/// Returns true if the words end with one for a telephone or a call, and small words after it.
fn ends_with_phone(words: &[String]) -> bool {
    let n_fillers = words.iter().rev().take(MAX_FILLERS).take_while(|word| is_filler(word)).count();
    (0..=n_fillers).any(|n_after| {
        let words = &words[..words.len() - n_after];
        let words = &words[words.len().saturating_sub(3)..];
        let joined = words.join(" ");
        let is_last = |end: usize| end == joined.len();
        phone_words(&joined).any(is_last) || words.last_chunk::<2>().is_some_and(|pair| is_owned(pair))
    })
}

fn is_filler(word: &str) -> bool {
    let is_short = word.chars().count() <= SHORT_WORD && !SHORT_NOUNS.contains(&word);
    // A code that comes by telephone is another number.
    let is_listed = (among(word, FILLER) && word != "code") || LONG_FILLERS.contains(&word);
    (is_short && !names_other(word)) || is_listed
}

fn is_owned(pair: &[String]) -> bool {
    let is = |list: &[&str], word: &String| list.contains(&word.as_str());
    (is(OWNERS, &pair[0]) && is(NUMBERS, &pair[1])) || (is(NUMBERS, &pair[0]) && is(OWNERS, &pair[1]))
}

/// Returns true if a preposition is directly before the number and a word for a call is before it: `text our branch at`.
fn is_called(words: &[String]) -> bool {
    let Some((last, rest)) = words.split_last() else { return false };
    let rest = &rest[rest.len().saturating_sub(MAX_BETWEEN)..];
    let joined = rest.join(" ");
    PREPOSITIONS.contains(&last.as_str())
        && phone_words(&joined).last().is_some_and(|end| {
            let mut between = joined[end..].split_whitespace();
            between.all(|word| !names_other(word) && !SHORT_NOUNS.contains(&word))
        })
}

/// Returns true if the text after a number says that it is a telephone number: `is my mobile`.
fn is_named_after(behind: &str) -> bool {
    let end = behind.find(['.', ',', ';', '?', '!']).unwrap_or(behind.len());
    let words = words(&behind[..end]);
    let Some((first, rest)) = words.split_first() else { return false };
    if !COPULAS.contains(&first.as_str()) {
        return false;
    }
    let rest = &rest[..rest.len().min(MAX_AFTER)];
    (1..=rest.len()).any(|n_words| ends_with_phone(&rest[..n_words]))
        && !rest.iter().any(|word| names_other(word))
}

/// Returns true if a word of a script without spaces is directly before or after the number.
fn is_signed(before: &str, behind: &str) -> bool {
    let is_near = |text: &str, most: usize| text.chars().count() <= most;
    (!before.is_ascii() && phone_signs(before).any(|place| is_near(&before[place.end..], MAX_CHARS_BETWEEN)))
        || (!behind.is_ascii()
            && phone_signs(behind).any(|place| is_near(&behind[..place.start], MAX_CHARS_AFTER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the words in a text name the number in it.
    fn is_named(text: &str) -> bool {
        let start = text.find(|c: char| c.is_ascii_digit()).unwrap();
        let end = text.rfind(|c: char| c.is_ascii_digit()).unwrap() + 1;
        names_phone(text, start, end)
    }

    #[test]
    fn words_directly_at_a_number_name_it_in_any_language() {
        for text in [
            "My phone number is 41277309",
            "Phone: 412-77-310",
            "the mobile no. is 4127730",
            "Tel. 41 27 73 09",
            "call me back at 41277309",
            "Text our branch at 41277309",
            "save 41277309 as my phone number",
            "41277309 is my new mobile",
            "What is her number: 66182419",
            "Ring meg på 41277309",
            "Nummeret mitt er 41277309",
            "Meine Handynummer lautet 4127730",
            "Mon numéro de téléphone est le 41277309",
            "mi teléfono es el 41277309",
            "il mio numero è 41277309",
            "мой номер 41277309",
            "mój numer telefonu to 4127730",
            "我的电话号码是41277309",
            "電話番号は 4127730",
            "4127730 に電話して",
            "arguments phone_number: 41277309",
            "emergency contact number: 41277309",
        ] {
            assert!(is_named(text), "{text}");
        }
    }

    #[test]
    fn numbers_of_other_things_are_not_named() {
        for text in [
            "Call me when 41277309 arrives",
            "Update contact 41277309",
            "my phone costs 41277309 rupees",
            "I lost my phone. 41277309 is the parcel",
            "Text me the balance at 41277309",
            "Mon numéro de sécurité sociale est le 41277309",
            "the phone order number is 41277309",
            "mobile app version 4127730",
            "call api 41277309",
            "my phone is $41277309",
            "Mitgliedsnummer 41277309",
            "Call back in 12345678 ms",
            "text 4127730 people",
            "41277309 is my order",
            "订单号 41277309",
            "sms_code: 41277309",
            "my phone bill number 41277309",
            "call_sid: 41277309",
        ] {
            assert!(!is_named(text), "{text}");
        }
    }

    #[test]
    fn a_question_for_a_telephone_number_asks_for_nothing_else() {
        for question in [
            "What is your phone number",
            "Which number can I reach you at",
            "Wie ist Ihre Handynummer",
            "您的电话",
        ] {
            assert!(asks_for_phone(question), "{question}");
        }
        for question in [
            "When should I call",
            "What is the order number",
            "How many phones",
            "Which ticket should I text you",
        ] {
            assert!(!asks_for_phone(question), "{question}");
        }
    }
}
