//! Detects the language of a short text, or that it is undetermined.
//!
//! A script used by one language decides alone (Hangul, Thai, Greek). Otherwise `whatlang` must be confident: first
//! among all its languages, then, for Latin letters, among the common ones, as a short English query resembles half a
//! dozen rare languages; and the words and letters in `signs` must not speak against it. A query with many typically
//! English words is English before `whatlang` is called, and one with enough of them if `whatlang` is not confident.
//! Otherwise `signs` decides. Everything else is [`UNDETERMINED`]; nothing is guessed. What a text leaves open can be
//! decided by its [context](resolve). For figures, and for the reason not to use `lingua`, see `docs/languages.md`.
//! Deliberately absent: texts in several languages. They are English if a third of their words are, otherwise the
//! language of most of their letters.

mod commands;
mod context;
mod signs;

use whatlang::{Detector, Info, Lang, Script};

pub use self::context::{Candidates, Context, Votes, resolve};
use self::signs::{Neighbours, Scores};

/// The code of a text with undetermined language (ISO 639-2).
pub const UNDETERMINED: &str = "und";

/// The languages of the second attempt for a text of Latin letters.
const COMMON: &[Lang] = &[
    Lang::Eng,
    Lang::Spa,
    Lang::Fra,
    Lang::Deu,
    Lang::Ita,
    Lang::Por,
    Lang::Nld,
    Lang::Pol,
    Lang::Tur,
    Lang::Ind,
    Lang::Vie,
    Lang::Swe,
    Lang::Dan,
    Lang::Ron,
    Lang::Ces,
    Lang::Hun,
];

/// Frequent words of English queries that are frequent in no other language.
const ENGLISH: &[&str] = &[
    "about", "and", "between", "check", "could", "did", "does", "don't", "from", "get", "give", "have",
    "help", "how", "how's", "i'd", "i'll", "i'm", "it's", "looking", "make", "my", "need", "next", "please",
    "search", "should", "show", "tell", "that", "the", "there", "this", "today", "tomorrow", "turn", "using",
    "want", "what", "what's", "when", "where", "which", "who", "why", "with", "would", "you", "your",
];
/// Frequent English words that other languages share. They count together with one of the others.
const SHARED: &[&str] = &[
    "all", "any", "at", "by", "do", "find", "has", "i", "it", "list", "was", "will", "a", "an", "are", "be",
    "can", "for", "in", "is", "like", "me", "not", "of", "on", "or", "to",
];
/// The minimum number of such words in a text.
const MIN_ENGLISH_WORDS: usize = 2;
/// The minimum share of such words: one in this many.
const ENGLISH_SHARE: usize = 5;
/// The number of different words that are only English, and the share of both kinds (one word in this many), that
/// decide without calling `whatlang`.
const PLAINLY_ENGLISH: (u32, usize) = (2, 3);

/// The number of words from which `whatlang` is confident of a text without a sign of its language.
const UNSUPPORTED_WORDS: usize = 4;
/// The number of words from which `whatlang` is confident although more signs are of another language.
const LONG_TEXT_WORDS: usize = 13;

/// Returns the language of a text: its code in ISO 639-1, otherwise in ISO 639-3, or [`UNDETERMINED`].
pub fn language(text: &str) -> &'static str {
    let found = if is_latin(text) { of_latin(text) } else { of_other(text) };
    found.map_or(UNDETERMINED, code)
}

/// Returns true if most of the text is in Latin letters.
fn is_latin(text: &str) -> bool {
    let (mut latin, mut other) = (0, 0);
    for letter in text.chars().filter(|c| c.is_alphabetic()) {
        if is_latin_letter(letter) {
            latin += 1;
        } else {
            other += weight(letter);
        }
    }
    latin >= other
}

/// Returns true for letters below Greek, and for the extensions of Latin (Vietnamese, phonetic, full width).
fn is_latin_letter(letter: char) -> bool {
    matches!(letter, '\0'..='\u{02AF}' | '\u{1D00}'..='\u{1DBF}' | '\u{1E00}'..='\u{1EFF}' | '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}' | '\u{FF21}'..='\u{FF5A}')
}

/// Returns the approximate number of Latin letters for a letter: one for a syllable or a word counts more than one.
fn weight(letter: char) -> usize {
    const LETTER: usize = 2;
    const SYLLABLE: usize = 3;
    match letter {
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{A4CF}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'.. => SYLLABLE,
        _ => LETTER,
    }
}

fn of_latin(text: &str) -> Option<Lang> {
    let words = EnglishWords::of(text);
    if words.are_plainly_english() {
        return Some(Lang::Eng);
    }
    let scores = signs::LATIN.scores(text);
    let sure = |info: Info| (info.script() == Script::Latin && info.is_reliable()).then(|| info.lang());
    let is_supported = |lang: &Lang| is_supported(&signs::LATIN, &scores, *lang);
    let among_common = || Detector::with_allowlist(COMMON.to_vec()).detect(text).and_then(sure);
    let english =
        || (words.may_be_english() && has_most_signs(&signs::LATIN, &scores, Lang::Eng)).then_some(Lang::Eng);
    whatlang::detect(text)
        .and_then(sure)
        .filter(is_supported)
        .or_else(|| among_common().filter(is_supported))
        .or_else(english)
        .or_else(|| signs::LATIN.decided(&scores, text))
}

/// Returns true if no language has more signs in the text, or the text is long.
fn has_most_signs(neighbours: &Neighbours, scores: &Scores, lang: Lang) -> bool {
    scores.n_words >= LONG_TEXT_WORDS || neighbours.score_of(scores, lang) == Some(scores.highest())
}

/// Returns true if no language has more signs in the text, and in a very short one none has as many; or the text is long.
fn is_supported(neighbours: &Neighbours, scores: &Scores, lang: Lang) -> bool {
    let highest = scores.highest();
    let is_some_text = scores.n_words >= UNSUPPORTED_WORDS;
    scores.n_words >= LONG_TEXT_WORDS
        || scores.has_words()
            && match neighbours.score_of(scores, lang) {
                Some(score) if highest > 0 => {
                    score == highest
                        && (is_some_text || scores.has_one_leader())
                        && !neighbours.has_equal_sibling(scores, lang)
                }
                Some(score) => score == 0 && scores.n_words >= UNSUPPORTED_WORDS,
                None => highest == 0 && scores.n_words >= UNSUPPORTED_WORDS,
            }
}

/// The number of words in a text, and of English words among them.
struct EnglishWords {
    all: usize,
    /// Words that are frequent in no other language.
    own: usize,
    /// The different ones among them, one bit each.
    which: u128,
    shared: usize,
}

impl EnglishWords {
    fn of(text: &str) -> Self {
        let mut found = Self { all: 0, own: 0, which: 0, shared: 0 };
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
        for word in words.filter(|word| !word.is_empty()) {
            let word = word.to_lowercase().replace('\u{2019}', "'");
            found.all += 1;
            if let Some(at) = ENGLISH.iter().position(|own| *own == word) {
                found.own += 1;
                found.which |= 1 << at;
            }
            found.shared += usize::from(SHARED.contains(&word.as_str()));
        }
        found
    }

    fn are_plainly_english(&self) -> bool {
        let (own, share) = PLAINLY_ENGLISH;
        self.which.count_ones() >= own && (self.own + self.shared) * share >= self.all
    }

    fn may_be_english(&self) -> bool {
        let n_english = self.own + self.shared;
        self.own > 0 && n_english >= MIN_ENGLISH_WORDS && n_english * ENGLISH_SHARE >= self.all
    }
}

/// Han letters that only Japanese writes in this form.
const JAPANESE_HAN: &str = "込働畑峠枠気駅売図円発検証験実応対択転続変単関絵楽広鉄両価歩毎黒渋沢帰頼読仮処営労栄庁戦拝挙済\
                            録権県団圧囲覚観様総縄";

/// Returns the language of a text in another script. Its Latin letters are names and terms, so they are removed first.
fn of_other(text: &str) -> Option<Lang> {
    let other = without_latin(text);
    let info = whatlang::detect(&other)?;
    let by_signs = |neighbours: &Neighbours| {
        let scores = neighbours.scores(&other);
        let is_sure = info.is_reliable() && is_supported(neighbours, &scores, info.lang());
        if is_sure { Some(info.lang()) } else { neighbours.decided(&scores, &other) }
    };
    match info.script() {
        // Han with few Kana.
        Script::Mandarin if has_japanese_han(&other) => Some(Lang::Jpn),
        Script::Mandarin => Some(info.lang()),
        // Short Hebrew is Hebrew: Yiddish has distinctive signs and far fewer writers.
        Script::Hebrew if !info.is_reliable() => Some(Lang::Heb),
        script => match neighbours_of(script) {
            Some(neighbours) => by_signs(neighbours),
            None => info.is_reliable().then(|| info.lang()),
        },
    }
}

fn has_japanese_han(text: &str) -> bool {
    // Both letters are also Chinese, but not together.
    text.contains(|c| JAPANESE_HAN.contains(c)) || text.contains("予約")
}

/// Returns the text with blanks instead of its Latin letters.
fn without_latin(text: &str) -> String {
    text.chars().map(|c| if is_latin_letter(c) { ' ' } else { c }).collect()
}

/// Returns the languages of a script that several use.
fn neighbours_of(script: Script) -> Option<&'static Neighbours> {
    match script {
        Script::Latin => Some(&signs::LATIN),
        Script::Cyrillic => Some(&signs::CYRILLIC),
        Script::Arabic => Some(&signs::ARABIC),
        Script::Devanagari => Some(&signs::DEVANAGARI),
        _ => None,
    }
}

/// Returns the two-letter code, or the three-letter one if there is none.
fn code(language: Lang) -> &'static str {
    match language {
        // ISO 639-1 has codes for Chinese and Persian as a whole, not for the members that `whatlang` names.
        Lang::Cmn => "zh",
        Lang::Pes => "fa",
        language => {
            let three = language.code();
            isolang::Language::from_639_3(three).and_then(|language| language.to_639_1()).unwrap_or(three)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scripts_of_one_language_decide_alone() {
        for (text, expected) in [
            ("날씨", "ko"),
            ("อากาศ", "th"),
            ("καιρός", "el"),
            ("אבא", "he"),
            ("ひらがな", "ja"),
            ("天气", "zh"),
            ("東京の天気は", "ja"),
            ("சென்னை", "ta"),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn whole_sentences_are_distinguished() {
        for (text, expected) in [
            ("Could you check whether the harbour light is burning tonight?", "en"),
            ("¿Podrías decirme a qué hora sale el próximo tren para Sevilla?", "es"),
            ("Wie spät ist es jetzt in Hamburg, und wann fährt der nächste Zug?", "de"),
            ("Quelle heure est-il maintenant à Marseille, s'il vous plaît ?", "fr"),
            ("Сколько сейчас времени в Новосибирске и когда отходит следующий поезд?", "ru"),
            ("अगली ट्रेन कितने बजे छूटती है और क्या उसमें जगह है?", "hi"),
            (
                "Мне нужно узнать, который час сейчас в Новосибирске и с какого пути отходит следующий поезд, чтобы я не опоздал.",
                "ru",
            ),
            ("كم الساعة الآن في القاهرة وهل سيتأخر القطار القادم إلى الإسكندرية؟", "ar"),
            ("मुझे यह जानना है कि अगली रेलगाड़ी कितने बजे छूटती है और क्या उसमें अभी भी कोई खाली जगह है।", "hi"),
            ("Bây giờ ở Huế là mấy giờ và chuyến tàu tiếp theo khi nào chạy?", "vi"),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn a_short_query_is_english_by_its_words_or_undetermined() {
        assert_eq!(language("ring the bell for me"), "en");
        assert_eq!(language("What\u{2019}s on today?"), "en");
        // Two different words, not one of them twice: many languages have one of them.
        assert!(!EnglishWords::of("Wys my al my lêers in die gids").are_plainly_english());
        // The text has equally many English and Danish words.
        assert_eq!(language("find en bil i Aarhus"), UNDETERMINED);
        for text in ["", "42", "?!", "ok", "bell 12", "\u{16}", "sdfsdf", "http://a.b/c"] {
            assert_eq!(language(text), UNDETERMINED, "{text}");
        }
    }

    /// Languages of the labelled queries, and the minimum number of correct results among the 25 of each.
    const FLOORS: [(&str, usize); 20] = [
        ("en", 25),
        ("es", 23),
        ("pt", 23),
        ("fr", 24),
        ("it", 25),
        ("de", 23),
        ("nl", 25),
        ("sv", 23),
        ("pl", 23),
        ("cs", 23),
        ("tr", 25),
        ("id", 23),
        ("vi", 25),
        ("ru", 21),
        ("uk", 23),
        ("ar", 25),
        ("hi", 24),
        ("zh", 25),
        ("ja", 25),
        ("ko", 25),
    ];

    #[test]
    fn short_queries_of_twenty_languages_are_right_or_undetermined() {
        let queries = include_str!("../../tests/short_queries.jsonl");
        let mut right: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for line in queries.lines() {
            let query: serde_json::Value = serde_json::from_str(line).unwrap();
            let (expected, text) = (query["language"].as_str().unwrap(), query["query"].as_str().unwrap());
            let found = language(text);
            assert!(found == expected || found == UNDETERMINED, "{found}: {text}");
            *right.entry(expected.to_owned()).or_default() += usize::from(found == expected);
        }
        assert_eq!((queries.lines().count(), right.len()), (500, FLOORS.len()));
        assert!(FLOORS.iter().all(|&(language, floor)| right[language] >= floor), "{right:?}");
    }

    /// Returns the number of queries in a file, and of right and wrong answers among them.
    fn counted(queries: &str) -> (usize, usize, Vec<String>) {
        let (mut right, mut wrong) = (0, Vec::new());
        for line in queries.lines() {
            let query: serde_json::Value = serde_json::from_str(line).unwrap();
            let (expected, text) = (query["language"].as_str().unwrap(), query["query"].as_str().unwrap());
            let found = language(text);
            right += usize::from(found == expected);
            if found != expected && found != UNDETERMINED {
                wrong.push(format!("{found}: {text}"));
            }
        }
        (queries.lines().count(), right, wrong)
    }

    #[test]
    fn short_commands_of_sixteen_languages_are_right_or_undetermined() {
        let (all, right, wrong) = counted(include_str!("../../tests/short_commands.jsonl"));
        assert_eq!(all, 191);
        assert!(100 * right >= 90 * all, "{right} of {all}");
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn a_command_is_in_the_language_of_its_own_words_or_undetermined() {
        for (text, expected) in [
            ("cancela la C-7799", "es"),
            ("cancella la C-7799", "it"),
            ("cancele C-7799", UNDETERMINED),
            ("cancelar pedido", UNDETERMINED),
            ("storniere C-7799", "de"),
            ("annule C-7799", "fr"),
            ("toon factuur 12", "nl"),
            ("näytä lasku 12", "fi"),
            ("zruš rezervaci", "cs"),
            ("zruš rezerváciu", "sk"),
            ("zruš 12", UNDETERMINED),
            ("vis mine fakturaer", UNDETERMINED),
            ("skru på lampen på kontoret", UNDETERMINED),
            ("skru på lyset på kjøkkenet", "nb"),
            ("tænd lyset i køkkenet", "da"),
            ("tempah bilik untuk esok", UNDETERMINED),
            ("otkaži moju narudžbu", UNDETERMINED),
            ("откажи резервацију", UNDETERMINED),
            ("会議予約", "ja"),
            ("預約會議", "zh"),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
        // Names of places and works, words of code, and words of many languages.
        for text in
            ["Los Angeles", "El Niño", "São Paulo", "C-7799", "visa", "ja", "no", "rm -rf tmp", "la 77"]
        {
            assert_eq!(language(text), UNDETERMINED, "{text}");
        }
    }

    #[test]
    fn few_words_suffice_if_whatlang_is_not_confident() {
        for (text, expected) in [
            ("is de winkel in Delft open", "nl"),
            ("was kostet das in Ulm", "de"),
            ("какая погода в Твери", "ru"),
            ("як звати цю пісню", "uk"),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
        // Danish and Norwegian share nearly all function words.
        assert_ne!(language("kan jeg leie en sykkel hos dere"), "da");
        // A single letter is a name or a part of an address.
        for text in ["a b c", "l y e", "http://a.b/c"] {
            assert_eq!(language(text), UNDETERMINED, "{text}");
        }
    }

    #[test]
    fn a_name_in_another_script_does_not_change_the_language() {
        assert_eq!(language("Find me the shop that is called 阳光 in my town, please"), "en");
        assert_eq!(language("Could you tell me what \"dónde está la biblioteca principal\" says?"), "en");
        assert_eq!(language("API 문서를 보여줘"), "ko");
        assert_eq!(language("用 Python 写一个函数"), "zh");
    }

    #[test]
    fn every_language_has_a_unique_code() {
        let codes: std::collections::BTreeSet<&str> = Lang::all().iter().map(|&lang| code(lang)).collect();
        assert_eq!(codes.len(), Lang::all().len());
        assert!(codes.iter().all(|code| code.len() == 2), "{codes:?}");
    }

    /// Counts the languages of the official queries in other scripts, if the files are available.
    #[test]
    fn official_queries_in_other_scripts_are_detected() {
        let Some(folder) = callsieve_testkit::data::path("bfcl-v4-live") else { return };
        let entries = std::fs::read_dir(folder).unwrap();
        let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            for line in std::fs::read_to_string(path).unwrap().lines() {
                let entry: serde_json::Value = serde_json::from_str(line).unwrap();
                let turn = entry["question"][0].as_array().unwrap();
                *counts.entry(language(turn.last().unwrap()["content"].as_str().unwrap())).or_default() += 1;
            }
        }
        assert_eq!(counts.values().sum::<usize>(), 2251);
        let of = |code: &str| counts.get(code).copied().unwrap_or_default();
        // One more Chinese, Korean and Hebrew query each is an English sentence about words in another script.
        assert_eq!(
            [of("zh"), of("ko"), of("ar"), of("fa"), of("th"), of("he")],
            [32, 13, 4, 1, 4, 2],
            "{counts:?}"
        );
        assert!(of("en") > 1900 && of(UNDETERMINED) < 270, "{counts:?}");
    }

    proptest! {
        #[test]
        fn every_text_has_a_code(text in any::<String>()) {
            let found = language(&text);
            prop_assert!(found == UNDETERMINED || found.len() == 2);
        }
    }
}
