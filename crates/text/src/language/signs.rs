//! Function words and letters that distinguish languages of one script in short texts.
//!
//! The lists have function words (articles, prepositions, pronouns, question words, forms of *to be*, the words for
//! today and tomorrow) and letters that few neighbouring languages have. They have no nouns and no verbs of requests,
//! as these are often loanwords. A language scores one for each different word and letter of its list in the text, and
//! wins only without a tie.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use whatlang::{Detector, Lang};

/// A language, its distinctive letters, and its function words.
struct Signs {
    lang: Lang,
    letters: &'static str,
    words: &'static str,
}

const fn signs(lang: Lang, letters: &'static str, words: &'static str) -> Signs {
    Signs { lang, letters, words }
}

/// The languages of one script.
pub(super) struct Neighbours(&'static [Signs], Words);

/// The languages that have a word, one bit each.
type Words = LazyLock<FxHashMap<&'static str, u32>>;

/// Latin letters.
pub(super) static LATIN: Neighbours = Neighbours(LATIN_SIGNS, LazyLock::new(|| words_of(LATIN_SIGNS)));
const LATIN_SIGNS: &[Signs] = &[
    signs(
        Lang::Eng,
        "",
        "about and between could did does from get have how my need please show that the there this today \
         tomorrow want what when where which who why with would you your all any at by do find has it i was \
         will a an are be can for in is like me not of on or to off up out new",
    ),
    signs(
        Lang::Spa,
        "ñ¿¡",
        "el la los las un una unos unas de del al a en y o e que qué como cómo cuál cuáles cuándo cuando \
         dónde donde quién cuánto cuánta cuántos cuántas para por con sin sobre entre hasta desde es está \
         están son hay mi mis tu tus su sus me te se lo le les no más muy hoy mañana ahora este esta esto \
         estos estas ese esa",
    ),
    signs(
        Lang::Fra,
        "œùû",
        "le la les un une des du de d l qu au aux à et ou où que quel quelle quels quelles qui quoi comment \
         combien quand pourquoi pour par avec sans sur sous dans en est sont il elle je j tu nous vous me moi \
         mon ma mes ton ta tes son sa ses notre votre ce cet cette ces ne n pas plus très demain maintenant \
         chez entre y a",
    ),
    signs(
        Lang::Deu,
        "ß",
        "der die das den dem des ein eine einen einem einer eines und oder ist sind war hat wie was wer wo \
         wann warum welche welcher welches wieviel im in am an auf aus bei mit nach von vom zu zum zur für \
         über um ich du er sie es wir ihr mir mich mein meine meinen dein deine nicht kein keine noch heute \
         morgen jetzt bitte alle auch gibt",
    ),
    signs(
        Lang::Ita,
        "",
        "il lo la i gli le l un uno una di del dello della dell dei degli delle d a al allo alla all ai agli \
         alle da dal dalla dall in nel nello nella nell nei con su sul sulla per tra fra e ed o che chi come \
         quando dove quanto quanta quanti quante quale quali perché è sono c mi ti si ci mio mia miei mie non \
         più oggi domani adesso ora questo questa questi",
    ),
    signs(
        Lang::Por,
        "ãõ",
        "o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às e ou que qual quais quem \
         como quando onde quanto quanta quantos quantas porque para por pelo pela com sem sobre entre até é \
         está estão são há meu minha meus minhas me te se lhe não mais muito hoje amanhã agora este esta isto \
         esse essa",
    ),
    signs(
        Lang::Nld,
        "",
        "de het een en of in op aan van voor met naar uit bij om over tot te is zijn was heeft wat wie waar \
         wanneer hoe welke welk hoeveel waarom ik je jij u me mij mijn jouw we wij ons niet geen nog nu \
         vandaag morgen vanavond dit dat die deze er alle ook wordt kan kun",
    ),
    signs(
        Lang::Swe,
        "",
        "en ett den det de och eller i på av för med till från om är var har vad vem hur när vilken vilket \
         vilka varför jag du mig min mitt mina din vi oss inte ingen alla nu idag imorgon ikväll här som att \
         ska kan finns",
    ),
    signs(
        Lang::Dan,
        "øæ",
        "en et den det de og eller i på af for med til fra om er var har hvad hvem hvor hvordan hvornår \
         hvilken hvilket hvilke hvorfor jeg du mig min mit mine din vi os ikke ingen alle nu idag imorgen her \
         som at skal kan findes",
    ),
    signs(
        Lang::Nob,
        "øæ",
        "en et ei den det de og eller i på av for med til fra om er var har hva hvem hvor hvordan når hvilken \
         hvilket hvilke hvorfor jeg du meg min mitt mine din vi oss dere ikke ingen alle nå idag imorgen her \
         som at skal kan finnes",
    ),
    signs(
        Lang::Pol,
        "łżźśćńąę",
        "i w we z ze na do od dla po o u za przy przez jest są jak jaki jaka jakie co kto gdzie kiedy ile \
         który która które dlaczego czy nie mi mnie mój moja moje się to ten ta te dziś dzisiaj jutro teraz \
         będzie oraz lub wszystkie",
    ),
    signs(
        Lang::Ces,
        "řěů",
        "a i v ve z ze na do od pro po o u k ke za při přes je jsou jak jaký jaká jaké co kdo kde kdy kolik \
         který která které proč se si mi mě můj moje ne to ten ta tento dnes zítra teď bude nebo jestli \
         všechny",
    ),
    signs(
        Lang::Tur,
        "ğış",
        "ve veya bir bu şu o ne nasıl nerede kim kaç hangi neden niçin mı mi mu mü için ile da de gibi kadar \
         var yok ben sen bana beni benim en çok daha şimdi bugün yarın olan tüm",
    ),
    signs(
        Lang::Ind,
        "",
        "yang dan atau di ke dari untuk dengan pada dalam oleh ini itu apa apakah siapa mana kapan bagaimana \
         berapa mengapa saya aku kamu anda tidak ada adalah akan sudah belum masih semua sekarang hari besok \
         saja tolong",
    ),
    signs(
        Lang::Vie,
        "ơưđ",
        "là và của cho trong ở tôi bạn có không gì nào thế bao nhiêu khi ai đến từ với này đó được những các \
         một hôm nay ngày mai",
    ),
    signs(
        Lang::Ron,
        "ășț",
        "și sau de la în cu pe din pentru ce cine cum când unde cât câte care este sunt un o al ale mi îmi \
         meu mea nu mai azi mâine acum",
    ),
    signs(
        Lang::Hun,
        "őű",
        "a az és vagy egy hogy mi mit ki hol mikor hogyan mennyi hány miért van nincs nem nekem most ma \
         holnap ez azt",
    ),
];

/// Cyrillic letters.
pub(super) static CYRILLIC: Neighbours =
    Neighbours(CYRILLIC_SIGNS, LazyLock::new(|| words_of(CYRILLIC_SIGNS)));
const CYRILLIC_SIGNS: &[Signs] = &[
    signs(
        Lang::Rus,
        "ыэёь",
        "в во на и с со по для как какой какая какие какое что кто где когда сколько почему мне меня мой моя \
         мои ли не нет это этот эта сегодня завтра сейчас из к о об у от до за или все всё есть",
    ),
    signs(
        Lang::Ukr,
        "іїєґь",
        "у в на і й та з із зі для як який яка які яке що хто де коли скільки чому мені мене мій моя мої чи \
         не немає це цей ця сьогодні завтра зараз до від про або всі",
    ),
    signs(
        Lang::Bul,
        "ъ",
        "в на и с за по как какъв каква какво какви къде кога колко кой коя защо ми мен моя не няма това този \
         тази днес утре сега от до или всички ще да е са",
    ),
];

/// Arabic letters.
pub(super) static ARABIC: Neighbours = Neighbours(ARABIC_SIGNS, LazyLock::new(|| words_of(ARABIC_SIGNS)));
const ARABIC_SIGNS: &[Signs] = &[
    signs(
        Lang::Ara,
        "ةأإىيك",
        "في من إلى على عن مع هل ما ماذا متى أين كيف كم لماذا أو و لا هذا هذه كل اليوم غدا الآن لي",
    ),
    signs(
        Lang::Pes,
        "پچژگیک",
        "در از به با برای را که چه چی کی کجا کجاست چطور چند چرا آیا این آن است هست من و یا امروز فردا الان",
    ),
    signs(
        Lang::Urd,
        "ٹڈڑںےہ",
        "میں کا کی کے کو سے پر اور یا کیا کب کہاں کیسے کتنا کتنے کون کیوں ہے ہیں نہیں آج کل ابھی مجھے میرا یہ \
         وہ",
    ),
];

/// Devanagari.
pub(super) static DEVANAGARI: Neighbours =
    Neighbours(DEVANAGARI_SIGNS, LazyLock::new(|| words_of(DEVANAGARI_SIGNS)));
const DEVANAGARI_SIGNS: &[Signs] = &[
    signs(
        Lang::Hin,
        "",
        "का की के को में से पर और या है हैं था क्या कब कहाँ कहां कैसा कैसे कितना कितनी कितने कौन किसने क्यों \
         नहीं मुझे मेरा मेरी मेरे यह वह आज कल अभी सब सभी लिए",
    ),
    signs(
        Lang::Mar,
        "ळ",
        "आहे आहेत चा ची चे च्या ला मध्ये आणि किंवा काय कधी कुठे कसे कसा किती कोण कोणी का नाही मला माझा माझी \
         माझे हे ते आज उद्या आता सर्व साठी",
    ),
    signs(
        Lang::Nep,
        "",
        "छ छन् हो को मा लाई र वा के कहिले कहाँ कसरी कति किन छैन मलाई मेरो यो त्यो आज भोलि अहिले सबै लागि",
    ),
];

fn words_of(table: &[Signs]) -> FxHashMap<&'static str, u32> {
    let mut words = FxHashMap::default();
    for (at, signs) in table.iter().enumerate() {
        for word in signs.words.split_whitespace() {
            *words.entry(word).or_default() |= 1 << at;
        }
    }
    words
}

/// A detector's guess is accepted if the text has at least one sign more of that language than of any other. Without a
/// guess, there must be this many signs, and this many times as many as of any other.
const WITHOUT_GUESS: (usize, usize) = (2, 2);

impl Neighbours {
    /// Returns the language with the most words and letters in a text, if the detector's guess or their number confirms
    /// it.
    pub(super) fn of(&self, text: &str) -> Option<Lang> {
        let counts = self.counts(text);
        let lead = counts.iter().copied().max().filter(|&count| count > 0)?;
        let mut leaders = (0..counts.len()).filter(|&at| counts[at] == lead);
        let (Some(at), None) = (leaders.next(), leaders.next()) else { return None };
        let (least, times) = WITHOUT_GUESS;
        let next = counts.iter().copied().filter(|&count| count < lead).max().unwrap_or(0);
        let lang = self.0[at].lang;
        let is_plain = lead >= least && lead >= times * next;
        (is_plain || self.guess(text) == Some(lang)).then_some(lang)
    }

    fn guess(&self, text: &str) -> Option<Lang> {
        let among = self.0.iter().map(|signs| signs.lang).collect();
        Detector::with_allowlist(among).detect(text).map(|info| info.lang())
    }

    /// Returns for each language the number of its different words and letters. One-letter words count only with
    /// others.
    fn counts(&self, text: &str) -> Vec<usize> {
        let text = text.to_lowercase();
        let mut words: Vec<&str> =
            text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        words.dedup();
        let masks: Vec<(u32, bool)> = words
            .into_iter()
            .filter_map(|word| Some((*self.1.get(word)?, word.chars().nth(1).is_none())))
            .collect();
        let count = |(at, signs): (usize, &Signs)| {
            let n_words = |is_short| {
                masks.iter().filter(|&&(mask, short)| mask >> at & 1 == 1 && short == is_short).count()
            };
            let n_letters = signs.letters.chars().filter(|&letter| text.contains(letter)).count();
            let plain = n_words(false) + n_letters;
            if plain > 0 { plain + n_words(true) } else { 0 }
        };
        self.0.iter().enumerate().map(count).collect()
    }
}

/// Returns true for letters, digits, and the vowel signs of Indian scripts.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{0900}'..='\u{097F}')
}
