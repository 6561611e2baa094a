//! Words of opposite meaning, which make two texts that are otherwise alike mean different things.
//!
//! “Switches a lamp on” and “Switches a lamp off” share all words but one. Only opposites of actions and states are listed
//! that occur in the names and descriptions of functions; a pair that is missing is not noticed.

use rustc_hash::FxHashMap;

/// Pairs of opposites, in lower case.
const PAIRS: &[(&str, &str)] = &[
    ("accept", "decline"),
    ("accept", "reject"),
    ("activate", "deactivate"),
    ("add", "delete"),
    ("add", "remove"),
    ("add", "subtract"),
    ("after", "before"),
    ("allow", "block"),
    ("allow", "deny"),
    ("approve", "deny"),
    ("approve", "reject"),
    ("arrival", "departure"),
    ("arrive", "depart"),
    ("ascending", "descending"),
    ("attach", "detach"),
    ("buy", "sell"),
    ("celsius", "fahrenheit"),
    ("close", "open"),
    ("compress", "decompress"),
    ("connect", "disconnect"),
    ("create", "delete"),
    ("create", "remove"),
    ("credit", "debit"),
    ("decode", "encode"),
    ("decrease", "increase"),
    ("decrement", "increment"),
    ("decrypt", "encrypt"),
    ("deposit", "withdraw"),
    ("disable", "enable"),
    ("down", "up"),
    ("download", "upload"),
    ("end", "start"),
    ("export", "import"),
    ("first", "last"),
    ("future", "past"),
    ("grant", "revoke"),
    ("earliest", "latest"),
    ("hide", "show"),
    ("highest", "lowest"),
    ("in", "out"),
    ("incoming", "outgoing"),
    ("inbound", "outbound"),
    ("latitude", "longitude"),
    ("left", "right"),
    ("last", "next"),
    ("lend", "borrow"),
    ("lock", "unlock"),
    ("login", "logout"),
    ("lower", "raise"),
    ("lower", "upper"),
    ("max", "min"),
    ("maximum", "minimum"),
    ("mute", "unmute"),
    ("next", "previous"),
    ("off", "on"),
    ("new", "old"),
    ("pause", "resume"),
    ("pop", "push"),
    ("receive", "send"),
    ("received", "sent"),
    ("sender", "receiver"),
    ("start", "stop"),
    ("sunrise", "sunset"),
    // German, Spanish, French.
    ("abrir", "cerrar"),
    ("activar", "desactivar"),
    ("activer", "désactiver"),
    ("allumer", "éteindre"),
    ("an", "aus"),
    ("apagar", "encender"),
    ("bajar", "subir"),
    ("ein", "aus"),
    ("fermer", "ouvrir"),
    ("sperren", "entsperren"),
    ("öffnen", "schließen"),
];
/// Beginnings that turn a word into its opposite.
const NEGATING: &[&str] = &["un", "dis", "de", "non"];
/// Least length of a word that such a beginning turns.
const MIN_TURNED: usize = 4;

/// The words of texts as numbers, so that many texts can be compared.
#[derive(Debug, Default)]
pub struct Meanings {
    numbers: FxHashMap<String, u32>,
    words: Vec<String>,
}

impl Meanings {
    /// Returns the words of a text or a name, in lower case and without the ending of the third person: sorted, each once.
    pub fn read(&mut self, text: &str) -> Vec<u32> {
        let mut cut = String::with_capacity(text.len());
        let mut before = ' ';
        for c in text.chars() {
            if before.is_lowercase() && c.is_uppercase() {
                cut.push(' ');
            }
            cut.extend(c.to_lowercase());
            before = c;
        }
        let words = cut.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut numbers: Vec<u32> = words.map(|word| self.number(stem(word))).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = u32::try_from(self.words.len()).expect("fewer than 2^32 words");
        self.numbers.insert(word.to_owned(), number);
        self.words.push(word.to_owned());
        number
    }

    /// Whether two texts differ in words of opposite meaning: one is only in the first, its opposite only in the second.
    pub fn are_opposed(&self, one: &[u32], other: &[u32]) -> bool {
        let only_one = without(one, other);
        if only_one.is_empty() {
            return false;
        }
        let only_other = without(other, one);
        let word = |number: u32| self.words[number as usize].as_str();
        only_one.iter().any(|&a| only_other.iter().any(|&b| is_pair(word(a), word(b))))
    }

    /// Whether two functions differ in the same words in their names and in their descriptions, such as `list_arrivals` with
    /// “Lists the arrivals” and `list_notices` with “Lists the notices”: then these words are what they are about. Numbers
    /// do not count, since versions of one function differ in them.
    pub fn differ_alike(&self, names: (&[u32], &[u32]), descriptions: (&[u32], &[u32])) -> bool {
        let differs = |name: &[u32], other_name: &[u32], text: &[u32], other: &[u32]| {
            let is_word = |word: &u32| self.words[*word as usize].contains(char::is_alphabetic);
            let said = |word: &u32| text.binary_search(word).is_ok() && other.binary_search(word).is_err();
            without(name, other_name).iter().any(|word| is_word(word) && said(word))
        };
        differs(names.0, names.1, descriptions.0, descriptions.1)
            && differs(names.1, names.0, descriptions.1, descriptions.0)
    }
}

/// Returns the words of a text that another lacks.
fn without(text: &[u32], other: &[u32]) -> Vec<u32> {
    text.iter().copied().filter(|word| other.binary_search(word).is_err()).collect()
}

fn is_pair(a: &str, b: &str) -> bool {
    let turns = |word: &str, turned: &str| {
        word.len() >= MIN_TURNED
            && turned.strip_suffix(word).is_some_and(|beginning| NEGATING.contains(&beginning))
    };
    PAIRS.iter().any(|&(x, y)| (x, y) == (a, b) || (y, x) == (a, b)) || turns(a, b) || turns(b, a)
}

/// Returns a verb without the ending of the third person: names have `open`, descriptions `opens`.
fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u']) => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_in_name_and_description_are_what_functions_are_about() {
        let differ_alike = |names: (&str, &str), texts: (&str, &str)| {
            let mut meanings = Meanings::default();
            let [a, b, c, d] = [names.0, names.1, texts.0, texts.1].map(|text| meanings.read(text));
            meanings.differ_alike((&a, &b), (&c, &d))
        };
        assert!(differ_alike(("licht_an", "licht_aus"), ("Schaltet das Licht an", "Schaltet das Licht aus")));
        assert!(differ_alike(("list_arrivals", "list_notices"), ("Lists the arrivals", "Lists the notices")));
        assert!(!differ_alike(
            ("get_tide", "get_current_tide"),
            ("Returns the tide", "Returns the current tide")
        ));
        assert!(!differ_alike(
            ("search_movie", "get_movie_details"),
            ("A film and its year", "A film and its director")
        ));
    }

    #[test]
    fn opposites_are_found_in_names_and_descriptions() {
        let are_opposed = |one: &str, other: &str| {
            let mut meanings = Meanings::default();
            let (one, other) = (meanings.read(one), meanings.read(other));
            meanings.are_opposed(&one, &other)
        };
        for (one, other) in [
            ("light_on", "light_off"),
            ("Switches a lamp on", "Switches a lamp off"),
            ("lockDoor", "unlockDoor"),
            ("Opens the valve.", "Closes the valve."),
            ("connect_port", "disconnect_port"),
            ("get_max_tide", "get_min_tide"),
        ] {
            assert!(are_opposed(one, other) && are_opposed(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("get_weather", "get_current_weather"),
            ("Turns the light on or off", "Turns a light on or off"),
            ("Opens the valve.", "Opens a valve, and closes the door."),
            ("start_timer", "begin_timer"),
        ] {
            assert!(!are_opposed(one, other), "{one} {other}");
        }
    }
}
