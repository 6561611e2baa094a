//! Words and letters that distinguish languages of one script in short texts.
//!
//! The lists here have function words (articles, prepositions, pronouns, question words, forms of *to be*, the words for
//! today and tomorrow) and letters that few neighbouring languages have; `commands` has the words of requests. A language
//! scores one for each different word and letter of its lists in the text, and two for one that no other language of the
//! script has. It loses one for each word with a letter that it does not write. It wins only without a tie.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use whatlang::{Detector, Lang};

use super::commands::{self, Commands};

/// A language, its distinctive letters, and its function words.
struct Signs {
    lang: Lang,
    letters: &'static str,
    /// The other letters beyond ASCII that it writes.
    alphabet: &'static str,
    words: &'static str,
}

const fn signs(lang: Lang, letters: &'static str, alphabet: &'static str, words: &'static str) -> Signs {
    Signs { lang, letters, alphabet, words }
}

/// The languages of one script.
pub(super) struct Neighbours {
    languages: &'static [Signs],
    /// The languages that are known only to leave a text undecided, and their words.
    unnamed: &'static [&'static str],
    words: LazyLock<FxHashMap<&'static str, Word>>,
}

/// What a word tells.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    /// The languages that have it, one bit each; the unnamed ones follow the others.
    languages: u32,
    /// It is a word of commands.
    is_command: bool,
    /// It counts only beside another word.
    is_weak: bool,
}

/// Latin letters.
pub(super) static LATIN: Neighbours = Neighbours {
    languages: LATIN_SIGNS,
    unnamed: &[commands::MALAY, commands::CROATIAN],
    words: LazyLock::new(|| {
        words_of(LATIN_SIGNS, commands::LATIN, &[commands::MALAY, commands::CROATIAN], commands::LOANWORDS)
    }),
};
const LATIN_SIGNS: &[Signs] = &[
    signs(
        Lang::Eng,
        "",
        "",
        "about and between could did does from get have how my need please show that the there this today \
         tomorrow want what when where which who why with would you your all any at by do find has it i was \
         will a an are be can for in is like me not of on or to off up out new",
    ),
    signs(
        Lang::Spa,
        "ñ¿¡",
        "áéíóúü",
        "el la los las un una unos unas de del al a en y o e que qué como cómo cuál cuáles cuándo cuando \
         dónde donde quién cuánto cuánta cuántos cuántas para por con sin sobre entre hasta desde es está \
         están son hay mi mis tu tus su sus me te se lo le les no más muy hoy mañana ahora este esta esto \
         estos estas ese esa dos",
    ),
    signs(
        Lang::Fra,
        "œùû",
        "àâæçéèêëîïôüÿ",
        "le la les un une des du de d l qu au aux à et ou où que quel quelle quels quelles qui quoi comment \
         combien quand pourquoi pour par avec sans sur sous dans en est sont il elle je j tu nous vous me moi \
         mon ma mes ton ta tes son sa ses notre votre ce cet cette ces ne n pas plus très demain maintenant \
         chez entre y a",
    ),
    signs(
        Lang::Deu,
        "ß",
        "äöü",
        "der die das den dem des ein eine einen einem einer eines und oder ist sind war hat wie was wer wo \
         wann warum welche welcher welches wieviel im in am an auf aus bei mit nach von vom zu zum zur für \
         über um ich du er sie es wir ihr mir mich mein meine meinen dein deine nicht kein keine noch heute \
         morgen jetzt bitte alle auch gibt",
    ),
    signs(
        Lang::Ita,
        "",
        "àèéìíîòóùú",
        "il lo la i gli le l un uno una di del dello della dell dei degli delle d a al allo alla all ai agli \
         alle da dal dalla dall in nel nello nella nell nei con su sul sulla per tra fra e ed o che chi come \
         quando dove quanto quanta quanti quante quale quali perché è sono c mi ti si ci mio mia miei mie non \
         più oggi domani adesso ora questo questa questi",
    ),
    signs(
        Lang::Por,
        "ãõ",
        "áâàçéêíóôúü",
        "o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às e ou que qual quais quem \
         como quando onde quanto quanta quantos quantas porque para por pelo pela com sem sobre entre até é \
         está estão são há meu minha meus minhas me te se lhe não mais muito hoje amanhã agora este esta isto \
         esse essa",
    ),
    signs(
        Lang::Nld,
        "",
        "áéëïóöüèê",
        "de het een en of in op aan van voor met naar uit bij om over tot te is zijn was heeft wat wie waar \
         wanneer hoe welke welk hoeveel waarom ik je jij u me mij mijn jouw we wij ons niet geen nog nu \
         vandaag morgen vanavond dit dat die deze er alle ook wordt kan kun",
    ),
    signs(
        Lang::Swe,
        "",
        "åäöé",
        "en ett den det de och eller i på av för med till från om är var har vad vem hur när vilken vilket \
         vilka varför jag du mig min mitt mina din vi oss inte ingen alla nu idag imorgon ikväll här som att \
         ska kan finns",
    ),
    signs(
        Lang::Dan,
        "øæ",
        "åéá",
        "en et den det de og eller i på af for med til fra om er var har hvad hvem hvor hvordan hvornår \
         hvilken hvilket hvilke hvorfor jeg du mig min mit mine din vi os ikke ingen alle nu idag imorgen her \
         som at skal kan findes",
    ),
    signs(
        Lang::Nob,
        "øæ",
        "åéòôóê",
        "en et ei den det de og eller i på av for med til fra om er var har hva hvem hvor hvordan når hvilken \
         hvilket hvilke hvorfor jeg du meg min mitt mine din vi oss dere ikke ingen alle nå idag imorgen her \
         som at skal kan finnes",
    ),
    signs(
        Lang::Pol,
        "łżźśćńąę",
        "ó",
        "i w we z ze na do od dla po o u za przy przez jest są jak jaki jaka jakie co kto gdzie kiedy ile \
         który która które dlaczego czy nie mi mnie mój moja moje się to ten ta te dziś dzisiaj jutro teraz \
         będzie oraz lub wszystkie",
    ),
    signs(
        Lang::Ces,
        "řěů",
        "áčďéíňóšťúýž",
        "a i v ve z ze na do od pro po o u k ke za při přes je jsou jak jaký jaká jaké co kdo kde kdy kolik \
         který která které proč se si mi mě můj moje ne to ten ta tento dnes zítra teď bude nebo jestli \
         všechny",
    ),
    signs(
        Lang::Tur,
        "ğış",
        "çöüâîû",
        "ve veya bir bu şu o ne nasıl nerede kim kaç hangi neden niçin mı mi mu mü için ile da de gibi kadar \
         var yok ben sen bana beni benim en çok daha şimdi bugün yarın olan tüm",
    ),
    signs(
        Lang::Ind,
        "",
        "é",
        "yang dan atau di ke dari untuk dengan pada dalam oleh ini itu apa apakah siapa mana kapan bagaimana \
         berapa mengapa saya aku kamu anda tidak ada adalah akan sudah belum masih semua sekarang hari besok \
         saja tolong",
    ),
    signs(
        Lang::Vie,
        "ơưđ",
        "àáâãèéêìíòóôõùúýăĩũạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
        "là và của cho trong ở tôi bạn có không gì nào thế bao nhiêu khi ai đến từ với này đó được những các \
         một hôm nay ngày mai",
    ),
    signs(
        Lang::Ron,
        "ășț",
        "âîşţ",
        "și sau de la în cu pe din pentru ce cine cum când unde cât câte care este sunt un o al ale mi îmi \
         meu mea nu mai azi mâine acum",
    ),
    signs(
        Lang::Hun,
        "őű",
        "áéíóöúü",
        "a az és vagy egy hogy mi mit ki hol mikor hogyan mennyi hány miért van nincs nem nekem most ma \
         holnap ez azt",
    ),
    // Their function words are in `commands`.
    signs(Lang::Fin, "", "äöå", ""),
    signs(Lang::Slk, "ľĺŕ", "áäčďéíňóôšťúýž", ""),
    signs(Lang::Cat, "", "àçéèíïòóúü·", ""),
    signs(Lang::Afr, "", "áäéèêëíîïóôöúûüý", ""),
];

/// Cyrillic letters.
pub(super) static CYRILLIC: Neighbours = Neighbours {
    languages: CYRILLIC_SIGNS,
    unnamed: &[],
    words: LazyLock::new(|| words_of(CYRILLIC_SIGNS, commands::CYRILLIC, &[], "")),
};
const CYRILLIC_SIGNS: &[Signs] = &[
    signs(
        Lang::Rus,
        "ыэёь",
        "абвгдежзийклмнопрстуфхцчшщъюя",
        "в во на и с со по для как какой какая какие какое что кто где когда сколько почему мне меня мой моя \
         мои ли не нет это этот эта сегодня завтра сейчас из к о об у от до за или все всё есть",
    ),
    signs(
        Lang::Ukr,
        "іїєґь",
        "абвгдежзийклмнопрстуфхцчшщюя",
        "у в на і й та з із зі для як який яка які яке що хто де коли скільки чому мені мене мій моя мої чи \
         не немає це цей ця сьогодні завтра зараз до від про або всі",
    ),
    signs(
        Lang::Bul,
        "ъ",
        "абвгдежзийклмнопрстуфхцчшщьюя",
        "в на и с за по как какъв каква какво какви къде кога колко кой коя защо ми мен моя не няма това този \
         тази днес утре сега от до или всички ще да е са",
    ),
];

/// Arabic letters.
pub(super) static ARABIC: Neighbours = Neighbours {
    languages: ARABIC_SIGNS,
    unnamed: &[],
    words: LazyLock::new(|| words_of(ARABIC_SIGNS, commands::ARABIC, &[], "")),
};
const ARABIC_SIGNS: &[Signs] = &[
    signs(
        Lang::Ara,
        "ةأإىيك",
        "",
        "في من إلى على عن مع هل ما ماذا متى أين كيف كم لماذا أو و لا هذا هذه كل اليوم غدا الآن لي",
    ),
    signs(
        Lang::Pes,
        "پچژگیک",
        "",
        "در از به با برای را که چه چی کی کجا کجاست چطور چند چرا آیا این آن است هست من و یا امروز فردا الان",
    ),
    signs(
        Lang::Urd,
        "ٹڈڑںےہ",
        "",
        "میں کا کی کے کو سے پر اور یا کیا کب کہاں کیسے کتنا کتنے کون کیوں ہے ہیں نہیں آج کل ابھی مجھے میرا یہ \
         وہ",
    ),
];

/// Devanagari.
pub(super) static DEVANAGARI: Neighbours = Neighbours {
    languages: DEVANAGARI_SIGNS,
    unnamed: &[],
    words: LazyLock::new(|| words_of(DEVANAGARI_SIGNS, commands::DEVANAGARI, &[], "")),
};
const DEVANAGARI_SIGNS: &[Signs] = &[
    signs(
        Lang::Hin,
        "",
        "",
        "का की के को में से पर और या है हैं था क्या कब कहाँ कहां कैसा कैसे कितना कितनी कितने कौन किसने क्यों \
         नहीं मुझे मेरा मेरी मेरे यह वह आज कल अभी सब सभी लिए",
    ),
    signs(
        Lang::Mar,
        "ळ",
        "",
        "आहे आहेत चा ची चे च्या ला मध्ये आणि किंवा काय कधी कुठे कसे कसा किती कोण कोणी का नाही मला माझा माझी \
         माझे हे ते आज उद्या आता सर्व साठी",
    ),
    signs(
        Lang::Nep,
        "",
        "",
        "छ छन् हो को मा लाई र वा के कहिले कहाँ कसरी कति किन छैन मलाई मेरो यो त्यो आज भोलि अहिले सबै लागि",
    ),
];

fn words_of(
    table: &[Signs],
    of_commands: &[Commands],
    unnamed: &[&'static str],
    loanwords: &'static str,
) -> FxHashMap<&'static str, Word> {
    let mut words: FxHashMap<&'static str, Word> = FxHashMap::default();
    for (at, signs) in table.iter().enumerate() {
        for word in signs.words.split_whitespace() {
            words.entry(word).or_default().languages |= 1 << at;
        }
        for commands in of_commands.iter().filter(|commands| commands.0 == signs.lang) {
            for word in commands.1.split_whitespace() {
                let word = words.entry(word).or_default();
                word.languages |= 1 << at;
                word.is_command = true;
            }
        }
    }
    for (at, list) in unnamed.iter().enumerate() {
        for word in list.split_whitespace() {
            let word = words.entry(word).or_default();
            word.languages |= 1 << (table.len() + at);
            word.is_command = true;
        }
    }
    for word in loanwords.split_whitespace() {
        let english = table.iter().position(|signs| signs.lang == Lang::Eng).map_or(0, |at| 1 << at);
        let word = words.entry(word).or_default();
        word.languages |= english;
        word.is_weak = true;
    }
    words
}

/// A detector's guess is accepted if the text has a higher score for that language than for any other. Without a guess,
/// there must be this score, and this many times that of any other.
const WITHOUT_GUESS: (i32, i32) = (2, 2);
/// The least letters of a word that alone tells the language of a text, and the most words that are not known beside it.
const ONE_WORD: (usize, usize) = (5, 1);
/// The most words that are read: a long text shows its language in its first words.
const MOST_WORDS: usize = 200;
/// The least letters of a function word that tells a language like a word of commands.
const LONG_FUNCTION_WORD: usize = 5;
/// The most words of a text that is the name of a place or a work if all are written like names: `Los Angeles`.
const NAME_WORDS: usize = 3;
/// Languages that a detector confuses with neighbours of far more writers.
const RARE: [Lang; 2] = [Lang::Cat, Lang::Afr];
/// Languages that share so many words that a detector confuses them in a short text.
const SIBLINGS: [(Lang, Lang); 2] = [(Lang::Dan, Lang::Nob), (Lang::Ces, Lang::Slk)];
/// The score of a word or letter that one language of the script has.
const OWN: i32 = 2;
/// The score of one that several have.
const SHARED: i32 = 1;

/// What a text has of each language of a script.
pub(super) struct Scores {
    /// By the language, the unnamed ones last. Negative if letters speak against it.
    of_each: Vec<i32>,
    /// Words of letters in the text.
    pub(super) n_words: usize,
    /// Words that are neither known nor written like a name.
    pub(super) n_plain: usize,
    /// Different words and letters in the text that are signs.
    n_signs: usize,
    /// Letters of the longest word that is a sign, 0 if none is.
    longest_sign: usize,
    /// The languages that have all of the words, one bit each.
    of_all: u32,
    /// The languages that alone have one of the words of commands.
    of_one: u32,
}

impl Neighbours {
    /// Returns the language with the highest score, if the detector's guess or a clear lead confirms it.
    pub(super) fn decided(&self, scores: &Scores, text: &str) -> Option<Lang> {
        let (lead, leader, next) = scores.lead()?;
        let lang = self.languages.get(leader)?.lang;
        if scores.longest_sign == 0 {
            // Languages that are not in the table have the same letters.
            let guess = || whatlang::detect(text).map(|info| info.lang());
            return (scores.n_plain > 0 && guess() == Some(lang)).then_some(lang);
        }
        let (least, times) = WITHOUT_GUESS;
        let (least_letters, most_unknown) = ONE_WORD;
        let is_broad =
            scores.n_signs > 1 || (scores.longest_sign >= least_letters && scores.n_plain <= most_unknown);
        let leads_alone = scores.of_all & scores.of_one & (1 << leader) != 0;
        if is_broad && lead >= least && (lead >= times * next || leads_alone) {
            return Some(lang);
        }
        let is_rivalled = scores.of_each[self.languages.len()..].iter().any(|&score| score > 0)
            || self.sibling(scores, lang).is_some_and(|score| 2 * score >= lead);
        (!is_rivalled && scores.n_words > 1 && self.guess(scores, text) == Some(lang)).then_some(lang)
    }

    /// Returns true if a language that a detector confuses with this one has as many signs.
    pub(super) fn has_equal_sibling(&self, scores: &Scores, lang: Lang) -> bool {
        self.sibling(scores, lang).is_some_and(|score| score > 0 && score == scores.highest())
    }

    /// Returns the score of the language that a detector confuses with this one.
    fn sibling(&self, scores: &Scores, lang: Lang) -> Option<i32> {
        let of = |&(one, other): &(Lang, Lang)| match lang {
            _ if lang == one => Some(other),
            _ if lang == other => Some(one),
            _ => None,
        };
        SIBLINGS.iter().find_map(of).and_then(|sibling| self.score_of(scores, sibling))
    }

    /// Returns the languages that a text leaves open, with their scores: those with at least half of the highest.
    pub(super) fn open(&self, scores: &Scores) -> Vec<(Lang, i32)> {
        let highest = scores.highest();
        let langs = self.languages.iter().map(|signs| signs.lang).zip(scores.of_each.iter().copied());
        langs.filter(|&(_, score)| score > 0 && 2 * score >= highest).collect()
    }

    /// Returns the languages that write all letters of a text in which no word is known.
    pub(super) fn fitting(&self, scores: &Scores) -> Vec<Lang> {
        let langs = self.languages.iter().map(|signs| signs.lang).zip(&scores.of_each);
        langs.filter(|&(_, score)| *score >= 0).map(|(lang, _)| lang).collect()
    }

    /// Returns the score of a language; `None` if it is not among these.
    pub(super) fn score_of(&self, scores: &Scores, lang: Lang) -> Option<i32> {
        let at = self.languages.iter().position(|signs| signs.lang == lang)?;
        Some(scores.of_each[at])
    }

    /// Returns the detector's best guess among these languages, without rare ones that have no sign.
    pub(super) fn guess(&self, scores: &Scores, text: &str) -> Option<Lang> {
        let langs = self.languages.iter().map(|signs| signs.lang).zip(&scores.of_each);
        let is_likely = |&(lang, score): &(Lang, &i32)| *score > 0 || !RARE.contains(&lang);
        let among = langs.filter(is_likely).map(|(lang, _)| lang).collect();
        Detector::with_allowlist(among).detect(text).map(|info| info.lang())
    }

    /// Returns what a text has of each language. One-letter words and loanwords count only with others.
    pub(super) fn scores(&self, text: &str) -> Scores {
        let mut words: Vec<(String, bool)> = text
            .split(|c: char| !is_of_word(c))
            .filter(|word| word.chars().any(char::is_alphabetic) && !is_initial(word, text))
            .take(MOST_WORDS)
            .map(|word| (lowered(word), is_like_a_name(word)))
            .collect();
        let n_words = words.len();
        let is_name = n_words <= NAME_WORDS && words.iter().all(|(_, is_like_a_name)| *is_like_a_name);
        words.sort_unstable();
        words.dedup_by(|later, first| later.0 == first.0);
        let n_languages = self.languages.len() + self.unnamed.len();
        let mut scores = Scores {
            of_each: vec![0; n_languages],
            n_words,
            n_plain: 0,
            n_signs: 0,
            longest_sign: 0,
            of_all: u32::MAX,
            of_one: 0,
        };
        let mut weak: Vec<Word> = Vec::new();
        for (text, is_like_a_name) in &words {
            match self.words.get(text.as_str()) {
                Some(word) if is_name && !word.is_command => {}
                Some(word) if word.is_weak || text.chars().nth(1).is_none() => weak.push(*word),
                Some(word) => scores.add(*word, text.chars().count()),
                None => scores.n_plain += usize::from(!is_like_a_name),
            }
        }
        self.add_letters(&mut scores, &words, text);
        for word in weak {
            scores.add_weak(word);
        }
        scores
    }

    /// Adds the letters of the text. All letters in names count as one sign, as names of all languages are in a text.
    fn add_letters(&self, scores: &mut Scores, words: &[(String, bool)], text: &str) {
        let mut letters = String::new();
        let mut of_names = String::new();
        for (word, is_like_a_name) in words {
            let foreign = word.chars().filter(|c| !c.is_ascii());
            if *is_like_a_name { of_names.extend(foreign) } else { letters.extend(foreign) }
        }
        letters.extend(text.chars().filter(|c| matches!(c, '¿' | '¡')));
        for (at, signs) in self.languages.iter().enumerate() {
            for letter in signs.letters.chars() {
                if letters.contains(letter) {
                    let is_own =
                        !self.languages.iter().any(|other| other.lang != signs.lang && other.writes(letter));
                    scores.of_each[at] += if is_own { OWN } else { SHARED };
                    scores.n_signs += 1;
                }
            }
            if signs.letters.chars().any(|letter| of_names.contains(letter) && !letters.contains(letter)) {
                scores.of_each[at] += SHARED;
            }
            let is_outside = |(word, is_like_a_name): &&(String, bool)| {
                !is_like_a_name
                    && word.chars().any(|c| !c.is_ascii() && c.is_alphabetic() && !signs.writes(c))
            };
            // English texts have foreign words.
            let loss = if signs.lang == Lang::Eng { SHARED } else { OWN };
            if !signs.alphabet.is_empty() || signs.lang == Lang::Eng {
                let n_outside =
                    i32::try_from(words.iter().filter(is_outside).count()).unwrap_or(i32::MAX / OWN);
                scores.of_each[at] = scores.of_each[at].saturating_sub(loss * n_outside);
            }
        }
    }
}

impl Signs {
    fn writes(&self, letter: char) -> bool {
        self.letters.contains(letter) || self.alphabet.contains(letter)
    }
}

impl Scores {
    fn add(&mut self, word: Word, n_letters: usize) {
        let is_telling = word.is_command || n_letters >= LONG_FUNCTION_WORD;
        let score = if is_telling && word.languages.is_power_of_two() { OWN } else { SHARED };
        self.add_score(word, score, |_| true);
        self.n_signs += 1;
        self.longest_sign = self.longest_sign.max(n_letters);
        self.of_all &= word.languages;
        if score == OWN {
            self.of_one |= word.languages;
        }
    }

    fn add_weak(&mut self, word: Word) {
        self.n_signs += usize::from(self.highest() > 0);
        self.add_score(word, SHARED, |before| before > 0);
    }

    fn add_score(&mut self, word: Word, more: i32, is_counted: impl Fn(i32) -> bool) {
        for (at, score) in self.of_each.iter_mut().enumerate() {
            if word.languages >> at & 1 == 1 && is_counted(*score) {
                *score += more;
            }
        }
    }

    /// Returns true if the text has a word that is no name.
    pub(super) fn has_words(&self) -> bool {
        self.longest_sign > 0 || self.n_plain > 0
    }

    /// Returns the highest score, 0 or more.
    pub(super) fn highest(&self) -> i32 {
        self.of_each.iter().copied().max().unwrap_or(0).max(0)
    }

    /// Returns true if no two languages have the highest score.
    pub(super) fn has_one_leader(&self) -> bool {
        self.lead().is_some()
    }

    /// Returns the highest score, the language that has it, and the next score; `None` without a lead.
    fn lead(&self) -> Option<(i32, usize, i32)> {
        let lead = self.highest();
        let mut leaders = (0..self.of_each.len()).filter(|&at| self.of_each[at] == lead);
        let (Some(at), None) = (leaders.next(), leaders.next()) else { return None };
        let next = self.of_each.iter().copied().filter(|&score| score < lead).max().unwrap_or(0).max(0);
        (lead > 0).then_some((lead, at, next))
    }
}

/// Returns a word in small letters. The dot that Turkish keeps on a small `i` is left out.
fn lowered(word: &str) -> String {
    word.to_lowercase().replace('\u{307}', "")
}

/// Returns true for a word with a capital first and a small letter after it, or with a digit.
fn is_like_a_name(word: &str) -> bool {
    let mut chars = word.chars();
    let is_titled = chars.next().is_some_and(char::is_uppercase)
        && (word.chars().any(char::is_lowercase) || word.chars().nth(2).is_none());
    is_titled || word.chars().any(char::is_numeric)
}

/// Returns true for a single capital that does not begin the text: a part of a name or a code.
fn is_initial(word: &str, text: &str) -> bool {
    word.chars().all(char::is_uppercase)
        && word.chars().nth(1).is_none()
        && !text.trim_start().starts_with(word)
}

/// Returns true for letters, digits, and the vowel signs of Indian scripts.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{0900}'..='\u{097F}' | '\u{307}')
}
