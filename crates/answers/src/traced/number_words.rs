//! Numbers that a text writes as words: "twelve", "dua belas", "seven and a half", "half a dozen".
//!
//! Every number word counts alone, and words that go together count as the number that they make. One reading too many makes
//! a value traced that may not be; a reading too few keeps a correct answer from being scored.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What a word does in a number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// It is a number below a hundred, or one that stands alone.
    Is(f64),
    /// It multiplies the number before it, and counts alone: hundred, dozen.
    Times(f64),
    /// It makes ten and more of the digit before it: the "belas" of Indonesian.
    Teen,
    /// It makes tens of the digit before it: "puluh", "mươi".
    Tens,
    /// A fraction: half, quarter.
    Fraction(f64),
    /// It adds a half to the number before it, as "buçuk" and "rưỡi" do.
    AndHalf,
    /// It adds a half to the number after it, as "साढ़े" does.
    HalfMore,
    /// A word between: and, a.
    Link,
}

use Part::{AndHalf, Fraction, HalfMore, Is, Link, Teen, Tens, Times};

/// Number words that stand for 1 and up, one language a line; `_` is a number without a word of its own.
#[rustfmt::skip] // The words of a language are together.
const COUNTS: &[(f64, &str)] = &[
    // English
    (1.0, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
        eighteen nineteen"),
    (1.0, "single double triple"), (1.0, "first second third"), (1.0, "once twice"), (2.0, "couple"), (2.0, "pair"),
        (2.0, "both"),
    // German
    (1.0, "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn \
        achtzehn neunzehn"),
    (1.0, "eins zwo"), (1.0, "eine beide"), (1.0, "einen beiden"), (1.0, "einer"), (1.0, "einem"), (5.0, "fuenf"),
        (12.0, "zwoelf"), (2.0, "paar"),
    // Dutch
    (1.0, "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien \
        achttien negentien"),
    (1.0, "één"),
    // Spanish
    (1.0, "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete \
        dieciocho diecinueve"),
    (1.0, "un"), (1.0, "una"), (16.0, "dieciseis"), (21.0, "veintiuno veintidós veintitrés veinticuatro veinticinco \
        veintiséis veintisiete veintiocho veintinueve"),
    // French
    (1.0, "une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"),
    // Italian
    (2.0, "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici \
        diciassette diciotto diciannove"),
    // Portuguese
    (1.0, "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete \
        dezoito dezanove"),
    (1.0, "uma duas tres"), (14.0, "quatorze _ dezesseis dezessete _ dezenove"),
    // Romanian
    (1.0, "unu doi trei patru cinci șase șapte opt nouă zece unsprezece doisprezece treisprezece paisprezece \
        cincisprezece șaisprezece șaptesprezece optsprezece nouăsprezece"),
    (2.0, "două"), (2.0, "doua"), (6.0, "sase sapte"), (9.0, "noua"), (12.0, "douăsprezece"),
    // Swedish, Danish, Norwegian
    (1.0, "ett två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton"),
    (1.0, "_ to tre fire fem seks syv otte _ _ elleve tolv tretten fjorten femten seksten sytten atten nitten"),
    (7.0, "sju åtte"),
    // Finnish
    (1.0, "yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista kaksitoista kolmetoista \
        neljätoista viisitoista kuusitoista seitsemäntoista kahdeksantoista yhdeksäntoista"),
    (1.0, "yhden kahden kolmen neljän viiden kuuden"), (2.0, "kahdelle kolmelle neljälle viidelle kuudelle"),
    // Polish
    (1.0, "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście \
        piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście"),
    (1.0, "jedna dwie"), (1.0, "jedno dwoje troje czworo pięcioro"), (1.0, "jedną dwóch trzech czterech pięciu sześciu \
        siedmiu ośmiu dziewięciu dziesięciu"),
    (2.0, "dwaj trzej czterej"), (2.0, "dwiema"), (2.0, "dwoma trzema"), (5.0, "piec szesc _ osiem dziewiec dziesiec"),
    // Czech, Slovak
    (1.0, "jeden dva tři čtyři pět šest sedm osm devět deset jedenáct dvanáct třináct čtrnáct patnáct šestnáct \
        sedmnáct osmnáct devatenáct"),
    (1.0, "jedna dvě"), (1.0, "jednu dvou tří čtyř pěti šesti"), (1.0, "jedno dve tri štyri päť šesť sedem osem deväť \
        desať jedenásť dvanásť trinásť štrnásť pätnásť šestnásť sedemnásť osemnásť devätnásť"),
    // Hungarian
    (1.0, "egy kettő három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő tizenhárom tizennégy tizenöt tizenhat \
        tizenhét tizennyolc tizenkilenc"),
    (2.0, "két"), (12.0, "tizenkét"), (2.0, "ketten hárman négyen öten hatan"), (21.0, "huszonegy huszonkettő \
        huszonhárom huszonnégy huszonöt"),
    // Croatian, Serbian, Slovenian
    (2.0, "dvije"), (4.0, "četiri pet šest sedam osam devet deset jedanaest dvanaest trinaest četrnaest petnaest \
        šesnaest sedamnaest osamnaest devetnaest"),
    (4.0, "štiri"),
    // Russian
    (1.0, "один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать \
        пятнадцать шестнадцать семнадцать восемнадцать девятнадцать"),
    (1.0, "одна две"), (1.0, "одну двух трех четырех пяти шести семи восьми девяти десяти"), (3.0, "трёх четырёх"),
        (1.0, "одно двое трое четверо пятеро шестеро"),
    (2.0, "двоих троих четверых пятерых"), (2.0, "двоем"), (2.0, "вдвоем втроем вчетвером"), (2.0, "вдвоём втроём"),
    // Ukrainian
    (3.0, "три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять тринадцять чотирнадцять п'ятнадцять \
        шістнадцять сімнадцять вісімнадцять дев'ятнадцять"),
    (2.0, "дві"), (2.0, "двох трьох чотирьох п'ятьох"),
    // Bulgarian
    (1.0, "едно"), (4.0, "четири пет шест седем осем девет десет единадесет дванадесет тринадесет четиринадесет \
        петнадесет"),
    // Greek
    (1.0, "ένα δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα δέκα έντεκα δώδεκα δεκατρία δεκατέσσερα δεκαπέντε δεκαέξι \
        δεκαεπτά δεκαοκτώ δεκαεννέα"),
    (1.0, "ενα δυο τρια τεσσερα πεντε εξι επτα οκτω εννεα δεκα εντεκα δωδεκα δεκατρια δεκατεσσερα δεκαπεντε δεκαεξι \
        δεκαεπτα δεκαοκτω δεκαεννεα"),
    (1.0, "μία δυο τρεις τέσσερις _ _ εφτά οχτώ εννιά"), (1.0, "μια _ _ τεσσερις _ _ εφτα οχτω εννια"), (1.0, "έναν"),
        (1.0, "εναν"), (2.0, "δυό"), (17.0, "δεκαεφτά δεκαοχτώ δεκαεννιά"),
    // Turkish, Azerbaijani
    (1.0, "bir iki üç dört beş altı yedi sekiz dokuz on"), (1.0, "_ _ uc dort bes alti"), (1.0, "tek"), (2.0,
        "ikisi"), (2.0, "çift"),
    // Indonesian, Malay
    (1.0, "satu dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas"), (8.0, "lapan"), (1.0, "sebuah"),
        (1.0, "seorang"), (2.0, "berdua bertiga berempat berlima"),
    // Vietnamese
    (1.0, "một hai ba bốn năm sáu bảy tám chín mười"), (1.0, "mốt _ _ tư lăm _ bẩy"),
    // Filipino, Swahili
    (1.0, "isa dalawa tatlo apat lima anim pito walo siyam sampu"), (1.0, "moja mbili tatu nne tano sita saba nane \
        tisa kumi"), (2.0, "dalawang tatlong"), (2.0, "wawili watatu wanne watano"),
    // Arabic, Hebrew, Persian, Urdu
    (1.0, "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة"), (1.0, "واحدة اثنين ثلاث أربع خمس ست سبع ثماني تسع \
        عشر"), (2.0, "اثنتين"),
    (1.0, "אחד שניים שלושה ארבעה חמישה שישה שבעה שמונה תשעה עשרה"), (1.0, "אחת שתיים שלוש ארבע חמש שש שבע _ תשע עשר"),
        (2.0, "שני"), (2.0, "שתי"),
    (1.0, "یک دو سه چهار پنج شش هفت هشت نه ده"), (1.0, "ایک _ تین چار پانچ چھ سات آٹھ نو دس"),
    // Hindi, Bengali, Tamil, Telugu
    (1.0, "एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस"), (5.0, "पाँच छः"),
    (1.0, "এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ"), (1.0, "ஒன்று இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது \
        பத்து"), (1.0, "ఒకటి రెండు మూడు నాలుగు ఐదు ఆరు ఏడు ఎనిమిది తొమ్మిది పది"),
    // Korean
    (1.0, "하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 열하나 열둘 열셋 열넷 열다섯 열여섯 열일곱 열여덟 열아홉 스물"), (1.0, "한 두 세 네"), (11.0, "열한 열두 열세 열네"),
        (20.0, "스무"),
];

/// Tens from 20, one language a line.
#[rustfmt::skip] // The words of a language are together.
const TENS: &[&str] = &[
    "twenty thirty forty fifty sixty seventy eighty ninety", "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig \
        neunzig", "_ dreissig _ fuenfzig",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig", "veinte treinta cuarenta cincuenta sesenta \
        setenta ochenta noventa",
    "vingt trente quarante cinquante soixante septante huitante nonante", "venti trenta quaranta cinquanta sessanta \
        settanta ottanta novanta",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", "douăzeci treizeci patruzeci cincizeci șaizeci \
        șaptezeci optzeci nouăzeci",
    "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio", "tjue tretti førti femti seksti sytti åtti nitti",
        "tyve tredive fyrre halvtreds tres halvfjerds firs halvfems",
    "kaksikymmentä kolmekymmentä neljäkymmentä viisikymmentä kuusikymmentä seitsemänkymmentä kahdeksankymmentä \
        yhdeksänkymmentä",
    "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
    "dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát", "dvadsať tridsať štyridsať päťdesiat \
        šesťdesiat sedemdesiat osemdesiat deväťdesiat",
    "húsz harminc negyven ötven hatvan hetven nyolcvan kilencven", "dvadeset trideset četrdeset pedeset šezdeset \
        sedamdeset osamdeset devedeset",
    "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто", "двадцять тридцять сорок п'ятдесят \
        шістдесят сімдесят вісімдесят дев'яносто",
    "двадесет тридесет четиридесет петдесет шестдесет седемдесет осемдесет деветдесет", "είκοσι τριάντα σαράντα \
        πενήντα εξήντα εβδομήντα ογδόντα ενενήντα",
    "εικοσι τριαντα σαραντα πενηντα εξηντα εβδομηντα ογδοντα ενενηντα", "yirmi otuz kırk elli altmış yetmiş seksen \
        doksan",
    "عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون", "عشرين ثلاثين أربعين خمسين ستين سبعين ثمانين تسعين", "עשרים \
        שלושים ארבעים חמישים שישים שבעים שמונים תשעים",
    "بیست سی چهل پنجاه شصت هفتاد هشتاد نود", "बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे", "스물 서른 마흔 쉰 예순 일흔 여든 아흔",
    "ishirini thelathini arobaini hamsini sitini sabini themanini tisini",
];

/// Other words of numbers.
#[rustfmt::skip] // The words of a language are together.
const OTHERS: &[(Part, &str)] = &[
    (Times(100.0), "hundred hundert honderd cien ciento cent cento cem sută hundra hundre hundrede sata sto száz сто \
        εκατό εκατο yüz مائة מאה صد सौ mia"),
    (Is(200.0), "doscientos duzentos dwieście двести διακόσια yüz"), (Times(100.0), "ratus trăm"), (Is(100.0),
        "seratus"),
    (Times(1000.0), "thousand tausend duizend mil mille mila mie mii tusen tusind tuhat tysiąc tysiące tysięcy tisíc \
        ezer тысяча тысячи тысяч тисяча тисячі χίλια χιλιάδες bin ribu nghìn ngàn ألف אלף هزار हज़ार हजार elfu"),
    (Is(1000.0), "seribu"), (Times(1e6), "million millions millionen millón millones milhão milhões milion miliony \
        milionów миллион миллиона миллионов milyon juta triệu مليون מיליון"),
    (Times(12.0), "dozen dozens dutzend dozijn docena docenas dúzia dúzias duzia douzaine dozzina duzină dussin dusin \
        tusina tuzin tuzina tucet tucat дюжина дюжину дюжины ντουζίνα ντουζινα düzine lusin دزينة תריסר दर्जन"),
    (Is(6.0), "halbdutzend półtuzin półtuzina полдюжины полдюжина"),
    (Teen, "belas"), (Tens, "puluh mươi"),
    (Fraction(0.5), "half halbe halber halbes halben halb halve media medio demi demie mezzo mezza meio meia jumătate \
        halv halvt halva puoli pół połowa połowę polovina půl pol fél пол половина половину пів μισό μισή μισός μισο \
        μιση yarım setengah nửa نصف חצי نیم आधा आधी nusu"),
    (Fraction(0.25), "quarter quarters cuartos quartos quarts quarti viertel kwart cuarto quart quarto sfert kvart \
        neljännes ćwierć čtvrt četvrt четверть чверть τέταρτο τεταρτο çeyrek seperempat ربع רבע"),
    (Is(1.5), "anderthalb anderthalbe eineinhalb einundeinhalb anderhalf anderhalve półtora półtorej полтора полторы \
        півтора másfél ενάμισι ενάμιση μιάμιση μιαμιση puolitoista halvannan halvanden डेढ़"),
    (Is(2.5), "zweieinhalb zweiundeinhalb tweeënhalf tweeënhalve δυόμισι δυομισι ढाई"), (Is(3.5), "dreieinhalb \
        drieënhalf τρεισήμισι τρισήμισι"), (Is(4.5), "viereinhalb"),
    (Is(5.5), "fünfeinhalb"), (Is(6.5), "sechseinhalb"), (Is(7.5), "siebeneinhalb"), (Is(8.5), "achteinhalb"),
        (Is(9.5), "neuneinhalb"), (Is(10.5), "zehneinhalb"),
    (AndHalf, "buçuk rưỡi половиной ونصف וחצי"), (HalfMore, "साढ़े साढे"),
    (Link, "and a an of und y e et i și si och og ja és και με с з ve dan de d"),
];

static PARTS: LazyLock<FxHashMap<&'static str, Part>> = LazyLock::new(|| {
    let mut parts = FxHashMap::default();
    for (first, words) in COUNTS {
        let mut number = *first;
        for word in words.split(' ') {
            parts.entry(word).or_insert(Is(number));
            number += 1.0;
        }
    }
    for words in TENS {
        let mut number = 20.0;
        for word in words.split(' ') {
            parts.entry(word).or_insert(Is(number));
            number += 10.0;
        }
    }
    for (part, words) in OTHERS {
        for word in words.split(' ') {
            parts.entry(word).or_insert(*part);
        }
    }
    parts.remove("_");
    parts
});

/// Number words that are ordinary words of other languages, with letters that the text of their own language has.
const WEAK: &[(&str, &str)] = &[
    ("on", "ğışç"),
    ("hat", "őűáéíó"),
    ("to", "åæø"),
    ("fire", "åæø"),
    ("pet", "čšžćđě"),
    ("hai", "ạảấầậắằẹếềệểịọốồộổớờợởụứừựửđơưă"),
    ("ba", "ạảấầậắằẹếềệểịọốồộổớờợởụứừựửđơưă"),
];

/// The longest number word, in bytes; longer words are not looked up.
const MOST_BYTES: usize = 64;

/// Counters that Korean writes after a number without a space.
const COUNTERS: &[&str] =
    &["개", "명", "시간", "시", "잔", "장", "박", "번", "대", "병", "분", "달", "살", "마리", "권"];

/// Digits of Chinese and Japanese.
const HAN_DIGITS: &[(char, f64)] = &[
    ('一', 1.0),
    ('二', 2.0),
    ('两', 2.0),
    ('兩', 2.0),
    ('三', 3.0),
    ('四', 4.0),
    ('五', 5.0),
    ('六', 6.0),
    ('七', 7.0),
    ('八', 8.0),
    ('九', 9.0),
    ('十', 10.0),
];

/// Digits of Thai, and words that only look like one.
#[rustfmt::skip] // The words of a language are together.
const THAI: &[(&str, f64)] = &[
    ("หนึ่ง", 1.0), ("สอง", 2.0), ("สาม", 3.0), ("สี่", 4.0), ("ห้า", 5.0), ("หก", 6.0), ("เจ็ด", 7.0), ("แปด", 8.0),
        ("เก้า", 9.0),
    ("เอ็ด", 1.0), ("ยี่", 2.0),
];
const NOT_THAI: &[&str] = &["สามารถ", "สามี", "ห้าง", "เก้าอี้", "หกล้ม", "เป็นหนึ่งเดียว"];

/// The numbers that the words of a text make.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    /// All readings: of "twenty five" also 20 and 5.
    pub(super) numbers: Vec<f64>,
    /// Those of all words that go together.
    pub(super) whole: Vec<f64>,
}

/// Returns the numbers that the words of a text in lower case make.
pub(super) fn of_words(lower: &str) -> Spoken {
    let mut numbers = Vec::new();
    let mut open = Open::default();
    // A text may have one word a thousand times.
    let mut is_of: FxHashMap<&str, bool> = FxHashMap::default();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '\u{900}'..='\u{dff}'))) {
        if word.is_empty() {
            continue;
        }
        match part(word) {
            Some(part) if *is_of.entry(word).or_insert_with(|| is_of_its_language(word, lower)) => {
                open.add(part, &mut numbers);
            }
            _ => open.close(),
        }
    }
    open.close();
    let mut whole = std::mem::take(&mut open.whole);
    let has_han = !lower.is_ascii() && lower.contains(|c| matches!(c, '\u{4e00}'..='\u{9fff}'));
    let mut unspaced = if has_han { of_han(lower) } else { Vec::new() };
    if !lower.is_ascii() && lower.contains(|c| matches!(c, '\u{e00}'..='\u{e7f}')) {
        of_thai(lower, &mut unspaced);
    }
    whole.extend(&unspaced);
    numbers.extend(unspaced);
    Spoken { numbers, whole }
}

/// What a word does in a number; `None` if it is none.
fn part(word: &str) -> Option<Part> {
    if word.len() > MOST_BYTES {
        return None;
    }
    if let Some(part) = PARTS.get(word) {
        return Some(*part);
    }
    if word.ends_with("ig") {
        return glued(word);
    }
    if !word.ends_with(|c| matches!(c, '\u{ac00}'..='\u{d7a3}')) {
        return None;
    }
    let bare = COUNTERS.iter().find_map(|counter| word.strip_suffix(counter)).filter(|bare| !bare.is_empty());
    bare.and_then(|bare| PARTS.get(bare).copied())
}

/// Whether a number word that other languages have too is one here.
fn is_of_its_language(word: &str, text: &str) -> bool {
    let weak = WEAK.iter().find(|(weak, _)| *weak == word);
    weak.is_none_or(|(_, letters)| text.contains(|c| letters.contains(c)))
}

/// The number of a German or Dutch word such as "fünfundzwanzig".
fn glued(word: &str) -> Option<Part> {
    ["und", "en", "ën"].into_iter().find_map(|link| {
        let (unit, tens) = word.rsplit_once(link)?;
        let number = |word: &str| match PARTS.get(word) {
            Some(Is(number)) => Some(*number),
            _ => None,
        };
        let (unit, tens) = (number(unit)?, number(tens)?);
        (unit < 10.0 && (20.0..100.0).contains(&tens)).then_some(Is(tens + unit))
    })
}

/// A number whose words are being read.
#[derive(Default)]
struct Open {
    /// What is done: the thousands.
    total: f64,
    current: Option<f64>,
    /// The number before one other word: "two hours and a half".
    previous: Option<f64>,
    /// The last word only links.
    is_linked: bool,
    /// The next number is half more.
    half_more: bool,
    /// The numbers that are read to their end.
    whole: Vec<f64>,
}

impl Open {
    /// Reads a word that is no part of a number.
    fn close(&mut self) {
        self.finish();
        let (previous, whole) = (self.current, std::mem::take(&mut self.whole));
        *self = Self { previous, whole, ..Self::default() };
    }

    fn finish(&mut self) {
        if self.current.is_some() || self.total > 0.0 {
            self.whole.push(self.total + self.current.unwrap_or_default());
        }
    }

    /// Reads a word, and adds the number up to it.
    fn add(&mut self, part: Part, numbers: &mut Vec<f64>) {
        match part {
            Link => {
                self.is_linked = true;
                return;
            }
            HalfMore => {
                self.close();
                self.half_more = true;
                return;
            }
            Is(number) => self.add_number(number, numbers),
            Times(factor) => {
                numbers.push(factor);
                let product = self.current.take().unwrap_or(1.0) * factor;
                if factor >= 1000.0 {
                    self.total += product;
                } else {
                    self.current = Some(product);
                }
            }
            Teen => self.current = self.current.filter(|digit| *digit < 10.0).map(|digit| digit + 10.0),
            Tens => self.current = self.current.filter(|digit| *digit < 10.0).map(|digit| digit * 10.0),
            Fraction(fraction) => {
                numbers.push(fraction);
                numbers.extend(self.previous.map(|number| number + fraction));
                self.whole.extend(self.previous.map(|number| number + fraction));
                // "three quarters", "two and a half"; "one half" is a half.
                self.current = match (self.current, self.is_linked) {
                    (Some(number), false) => {
                        numbers.push(number * fraction);
                        Some(if number > 1.0 { number + fraction } else { fraction })
                    }
                    (Some(number), true) => Some(number + fraction),
                    (None, _) => Some(fraction),
                };
            }
            AndHalf => {
                numbers.extend(self.previous.map(|number| number + 0.5));
                self.whole.extend(self.previous.map(|number| number + 0.5));
                self.current = self.current.map(|number| number + 0.5);
            }
        }
        (self.is_linked, self.previous) = (false, None);
        if self.current.is_some() || self.total > 0.0 {
            numbers.push(self.total + self.current.unwrap_or_default());
        }
    }

    fn add_number(&mut self, number: f64, numbers: &mut Vec<f64>) {
        numbers.push(number);
        if std::mem::take(&mut self.half_more) {
            numbers.push(number + 0.5);
            self.whole.push(number + 0.5);
        }
        // Twenty and five, hundred and twenty.
        let goes_on = |before: f64| {
            number < 10.0 && before >= 20.0 && before % 10.0 == 0.0
                || number < 100.0 && before >= 100.0 && before % 100.0 == 0.0
        };
        match self.current {
            Some(before)
                if goes_on(before) || (10.0..11.0).contains(&before) && number < 10.0 && !self.is_linked =>
            {
                self.current = Some(before + number);
            }
            // "three thousand five hundred": the thousands are done.
            None if self.total > 0.0 => self.current = Some(number),
            _ => {
                self.finish();
                self.total = 0.0;
                self.current = Some(number);
            }
        }
    }
}

/// The numbers of the digits of Chinese and Japanese: each, tens with ones, and halves.
fn of_han(text: &str) -> Vec<f64> {
    let digit = |c: char| HAN_DIGITS.iter().find(|(han, _)| *han == c).map(|(_, number)| *number);
    let mut numbers = Vec::new();
    let mut run: Vec<f64> = Vec::new();
    for c in text.chars().chain([' ']) {
        if let Some(number) = digit(c) {
            numbers.push(number);
            run.push(number);
            continue;
        }
        if c == '半' {
            numbers.push(0.5);
        }
        if !run.is_empty() {
            let value = match run[..] {
                [10.0, ones] => 10.0 + ones,
                [tens, 10.0] => tens * 10.0,
                [tens, 10.0, ones] => tens * 10.0 + ones,
                _ => run[run.len() - 1],
            };
            numbers.push(value);
            run.clear();
        }
    }
    // "两个半" has a counter between.
    for (at, _) in text.match_indices('半') {
        let before: Vec<char> = text[..at].chars().rev().take(3).collect();
        numbers.extend(before.iter().find_map(|&c| digit(c)).map(|number| number + 0.5));
    }
    numbers
}

/// Adds the numbers that Thai writes between other words.
fn of_thai(text: &str, numbers: &mut Vec<f64>) {
    let mut rest = text;
    // The digits so far, and whether a ten came after the first.
    let (mut current, mut has_ten): (Option<f64>, bool) = (None, false);
    while let Some(c) = rest.chars().next() {
        let look_alike = NOT_THAI.iter().find(|word| rest.starts_with(**word));
        let digit = THAI.iter().find(|(word, _)| rest.starts_with(word));
        if let Some(word) = look_alike {
            current = None;
            rest = &rest[word.len()..];
        } else if let Some((word, number)) = digit {
            current = Some(if has_ten { current.unwrap_or_default() + number } else { *number });
            has_ten = false;
            numbers.extend(current);
            rest = &rest[word.len()..];
        } else if let Some(after) = rest.strip_prefix("สิบ") {
            current = Some(current.unwrap_or(1.0) * 10.0);
            has_ten = true;
            numbers.extend(current);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("ครึ่ง") {
            numbers.push(current.map_or(0.5, |number| number + 0.5));
            current = None;
            rest = after;
        } else {
            // A counter may stand between a number and "ครึ่ง".
            if !matches!(c, '\u{e00}'..='\u{e7f}' | ' ') {
                current = None;
            }
            has_ten = false;
            rest = &rest[c.len_utf8()..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_words_go_together() {
        for (text, number) in [
            ("half a dozen eggs", 6.0),
            ("a dozen eggs", 12.0),
            ("two dozen eggs", 24.0),
            ("seven and a half metres", 7.5),
            ("two and a half hours", 2.5),
            ("twenty-five chairs", 25.0),
            ("three hundred and twelve", 312.0),
            ("two thousand five hundred", 2500.0),
            ("three quarters of an hour", 0.75),
            ("anderthalb stunden", 1.5),
            ("fünfundzwanzig stühle", 25.0),
            ("ein halbes dutzend", 6.0),
            ("vijfentwintig stoelen", 25.0),
            ("media docena", 6.0),
            ("dos y media", 2.5),
            ("meia dúzia de ovos", 6.0),
            ("três e meia", 3.5),
            ("um quarto de hora", 0.25),
            ("dezasseis pessoas", 16.0),
            ("deux heures et demie", 2.5),
            ("une demi douzaine", 6.0),
            ("pół tuzina", 6.0),
            ("dwadzieścia trzy", 23.0),
            ("półtorej godziny", 1.5),
            ("dvacet pět", 25.0),
            ("tizenöt fő", 15.0),
            ("másfél óra", 1.5),
            ("șaptesprezece lei", 17.0),
            ("douăzeci și doi", 22.0),
            ("δώδεκα άτομα", 12.0),
            ("εικοσι πεντε ατομα", 25.0),
            ("μιάμιση ώρα", 1.5),
            ("yarım saat", 0.5),
            ("iki buçuk saat", 2.5),
            ("on iki kişi", 12.0),
            ("yirmi beş gün", 25.0),
            ("dua belas orang", 12.0),
            ("dua puluh lima", 25.0),
            ("dua belas ribu lima ratus", 12500.0),
            ("setengah lusin", 6.0),
            ("mười hai người", 12.0),
            ("hai mươi lăm", 25.0),
            ("ba giờ rưỡi", 3.5),
            ("สิบสองคน", 12.0),
            ("ยี่สิบห้าคน", 25.0),
            ("สามชั่วโมงครึ่ง", 3.5),
            ("두 명", 2.0),
            ("세명이요 열다섯 개", 15.0),
            ("двадцать пять", 25.0),
            ("полтора часа", 1.5),
            ("два с половиной", 2.5),
            ("साढ़े तीन घंटे", 3.5),
            ("两个半小时", 2.5),
            ("二十五人", 25.0),
        ] {
            assert!(of_words(text).numbers.contains(&number), "{text}: {:?}", of_words(text));
        }
    }

    #[test]
    fn other_words_are_no_numbers() {
        for (text, number) in [
            ("สามารถจองได้ไหม", 3.0),
            ("ที่ห้างสรรพสินค้า", 5.0),
            ("someone often attends", 1.0),
            ("the weight of the tension", 10.0),
            ("two rooms and five cats", 7.0),
            ("two or five", 25.0),
            ("turn it on", 10.0),
            ("I want to go to the fire, it hat geklappt", 2.0),
            ("wunderbar", 0.5),
            ("a and the", 1.0),
        ] {
            assert!(!of_words(text).numbers.contains(&number), "{text}: {:?}", of_words(text));
        }
        assert_eq!(of_words("").numbers, Vec::<f64>::new());
        assert_eq!(of_words("dua belas kursi, dua ratus meja").whole, [12.0, 200.0]);
    }
}
