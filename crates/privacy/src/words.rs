//! Words that announce a telephone number, by language, and the regions of each language.
//!
//! A `*` at the end allows any ending, one at the start any beginning. Strong words are about calling. Weak words are
//! about a person or a place: with them a number must be written in groups or with a leading zero.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashSet;

use super::plans::{NumberingPlan, regions};

/// The strength of the words around a number as a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Only the script of the text.
    Script,
    /// A person, a place, a number of some kind.
    Weak,
    /// A call, a telephone.
    Strong,
}

/// A language: its regions by number of speakers, its words, and parts of words of scripts without spaces.
struct Language {
    regions: &'static str,
    strong: &'static str,
    weak: &'static str,
    /// Parts found anywhere, also inside of words.
    anywhere: &'static [&'static str],
    /// Letters that no other language uses.
    scripts: &'static [(char, char)],
}

/// The index of English in the list.
const ENGLISH: usize = 0;

const LANGUAGES: &[Language] = &[
    Language {
        regions: "US IN GB AU IE NZ ZA NG KE PH SG HK PK GH",
        strong: "phone* telephone* tel mobile* mob cell cells cellphone* cel whatsapp whats wa sms fax call calls calling called \
            caller callback dial* text texting texted contact contacts reach ring rings hotline helpline landline* voicemail \
            msisdn viber imessage facetime pager trunkline customer_care customer_service support_line toll_free tollfree \
            my_number his_number her_number their_number our_number your_number the_number_is number_is_now my_line work_line \
            pbx trunk flash_me flash buzz not_reachable ping_me upi paytm gpay bkash pesa mpesa zelle venmo pix bizum swish twint vipps mobilepay blik",
        weak: "number* office desk reception clinic branch front_desk mom mum mam dad nan gran grandma grandpa uncle aunt auntie \
            wife husband brother sister son daughter boss landlord plumber electrician doctor dentist vet nurse school hospital \
            hotel concierge emergency store shop home work reachable switchboard extension rsvp recipient sender hp line hq",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "ES MX AR CO CL PE",
        strong: "llam* llám* telefon* teléfon* tfno tlf celular* celu cel móvil* movil* marca marque marcar fijo fono \
            comunícate comunicate comunicarse guasap* wasap* mensaje* contactar contáct* contact* mándame",
        weak: "numer* número* reserva* oficina conmutador municipalidad tarjeta_dice contesta* timbr* fonazo recepción consulta clínica clinica urgencia* casa mamá papá",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "BR PT",
        strong: "ligue ligar liga liguem ligação telefon* telemóvel telemovel celular* móvel fone disque chame chama chamar zap \
            zapzap whats mensagem contato* contacto*",
        weak: "número* numero* escritório clínica consultório recepção padaria casa",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "DE AT CH",
        strong: "telefon* *telefon *handy *handynummer *telefonnummer *mobilnummer *rufnummer mobil mobiltelefon* natel anruf* \
            anzurufen ruf rufe rufen rufst rückruf* durchwahl* festnetz* erreichbar erreichen erreichst *hotline aalüüte lüüt \
            meine_nummer deine_nummer seine_nummer ihre_nummer unter_der_nummer simse kontakt*",
        weak: "*nummer büro praxis zentrale empfang notfall mama papa oma opa",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "FR BE CH CA",
        strong: "téléphon* telephon* portable appel* rappel* joindre joign* contact* texto textos fixe gsm cellulaire composez \
            standard",
        weak: "numéro* numero* cabinet bureau mairie urgence* accueil secrétariat domicile mari maman papa poste",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "IT CH",
        strong: "chiam* richiam* telefon* cellular* cell contatt* recapito fisso squillo scrivimi",
        weak: "numer* ufficio studio casa centralino reception emergenz* mamma papà",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "NL BE",
        strong: "bel bellen belt gebeld opbellen terugbellen telefoon* *telefoonnummer mobiel* *nummer gsm bereikbaar bereiken \
            appje app sms*",
        weak: "kantoor praktijk huisarts balie receptie bericht nood*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "PL",
        strong: "zadzwo* dzwoni* dzwoń* oddzwo* telefon* tel komórk* kom infolini* sms* kontakt* zapisz",
        weak: "numer* biur* recepcj* żona mąż mama tata",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "RU KZ BY",
        strong: "позвон* перезвон* звон* телефон* тел мобильн* моб сотов* смс вотсап* ватсап* whatsapp набер* свяж* факс*",
        weak: "номер* офис* регистратур* мама папа ресепшен*",
        anywhere: &[],
        scripts: &[('а', 'я')],
    },
    Language {
        regions: "UA",
        strong: "подзвон* зателефон* передзвон* дзвон* телефон* мобільн* тел",
        weak: "номер* офіс*",
        anywhere: &[],
        scripts: &[('і', 'ї')],
    },
    Language {
        regions: "TR",
        strong: "ara arayın* arayabil* arayıp aramak ararsın* telefon* mesaj* cep cepten cebim* tel gsm",
        weak: "numara* ofis* şube* danışma anne* baba*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "VN",
        strong: "gọi thoại sđt đt sdt zalo hotline nhắn",
        weak: "số đài",
        anywhere: &["liên hệ", "di động", "tổng đài"],
        scripts: &[],
    },
    Language {
        regions: "ID MY",
        strong: "hubungi* telepon* telpon* telp telefon* hp ponsel panggil* wa kontak* whatsapp",
        weak: "nomor* nombor* kantor pejabat klinik rumah",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "PH",
        strong: "tawag* tawagan telepono",
        weak: "numero",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "KE TZ UG",
        strong: "piga nipigie simu",
        weak: "nambari namba",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "SE",
        strong: "ring ringa ringer telefon* mobil* *nummer tel nås sms*",
        weak: "växeln kontor* reception*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "NO DK",
        strong: "ring ringe ringer fang fange fanger telefon* mobil* *nummer tlf nødkontakt sms*",
        weak: "kontor* legekontor* lægehuset",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "IS",
        strong: "sími* síma* hring* farsími* gsm",
        weak: "númer*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "FI EE",
        strong: "soit* puhelin* puh gsm matkapuhelin* *numero *numeroni tekstari* helista telefon*",
        weak: "toimisto* päivysty*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "CZ SK",
        strong: "zavol* volej* volat telefon* tel mobil*",
        weak: "číslo čísle recepce kancelář*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "HU",
        strong: "hív* hívj* felhív* telefon* mobil* tel",
        weak: "szám* irod* férjem feleségem anyám apám vészhelyzet*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "RO MD",
        strong: "sun* apel* telefon* mobil tel contact*",
        weak: "număr* numar* nr cabinet* birou*",
        anywhere: &[],
        scripts: &[],
    },
    Language {
        regions: "GR CY",
        strong: "κάλεσ* καλέσ* καλέστε τηλέφων* τηλεφών* τηλεφων* τηλ κινητ* πάρε πάρτε",
        weak: "αριθμ* γραφεί*",
        anywhere: &[],
        scripts: &[('α', 'ω')],
    },
    Language {
        regions: "IL",
        strong: "",
        weak: "",
        anywhere: &["טלפון", "נייד", "תתקשר", "התקשר", "להתקשר", "חייג", "וואטסאפ", "פלאפון"],
        scripts: &[('א', 'ת')],
    },
    Language {
        regions: "SA EG AE MA IQ JO",
        strong: "",
        weak: "",
        anywhere: &[
            "اتصل",
            "هاتف",
            "جوال",
            "موبايل",
            "تلفون",
            "تليفون",
            "واتس",
            "كلمني",
            "كلّم",
            "رقم",
            "نمرت",
            "نمرة",
            "مكتب",
            "رسالة",
            "خدمة",
        ],
        scripts: &[('ء', 'ي')],
    },
    Language {
        regions: "IR PK",
        strong: "",
        weak: "",
        anywhere: &["تماس", "تلفن", "موبایل", "شماره", "همراه", "فون", "کال", "نمبر", "موبائل", "رابطہ"],
        scripts: &[('پ', 'پ'), ('چ', 'چ'), ('ک', 'گ'), ('ی', 'ے')],
    },
    Language {
        regions: "IN",
        strong: "",
        weak: "",
        anywhere: &[
            "फ़ोन",
            "फोन",
            "फ़ोन",
            "मोबाइल",
            "कॉल",
            "नंबर",
            "संपर्क",
            "व्हाट्स",
            "ফোন নম্বর",
            "தொலைபேசி",
            "அழை",
            "மொபைல்",
            "போன்",
            "ఫోన్",
            "కాల్",
            "మొబైల్",
            "ਫ਼ੋਨ",
            "ਫੋਨ",
            "ਮੋਬਾਈਲ",
            "ફોન",
            "મોબાઇલ",
            "ಫೋನ್",
            "ಮೊಬೈಲ್",
            "ഫോൺ",
        ],
        scripts: &[('\u{900}', '\u{97f}'), ('\u{a00}', '\u{d7f}')],
    },
    Language {
        regions: "BD IN",
        strong: "",
        weak: "",
        anywhere: &["ফোন", "মোবাইল", "কল কর", "নম্বর", "যোগাযোগ"],
        scripts: &[('\u{980}', '\u{9ff}')],
    },
    Language {
        regions: "TH",
        strong: "",
        weak: "",
        anywhere: &["โทร", "เบอร์", "มือถือ", "ติดต่อ"],
        scripts: &[('\u{e00}', '\u{e7f}')],
    },
    Language {
        regions: "CN TW HK SG",
        strong: "",
        weak: "",
        anywhere: &[
            "📱", "📞", "☎", "📲", "电话", "電話", "手机", "手機", "拨打", "撥打", "联系", "聯繫", "聯絡",
            "致电", "致電", "打给", "打給", "打俾", "短信", "簡訊", "号码", "號碼", "微信", "座机", "座機",
            "热线", "熱線", "来电", "來電",
        ],
        scripts: &[('\u{4e00}', '\u{9fff}')],
    },
    Language {
        regions: "JP",
        strong: "",
        weak: "",
        anywhere: &["電話", "携帯", "ケータイ", "でんわ", "連絡先", "連絡", "番号", "ショートメール"],
        scripts: &[('\u{3041}', '\u{30ff}')],
    },
    Language {
        regions: "KR",
        strong: "",
        weak: "",
        anywhere: &["전화", "휴대폰", "핸드폰", "연락", "번호", "문자", "통화"],
        scripts: &[('\u{ac00}', '\u{d7a3}')],
    },
];

/// A word to search for.
struct LanguageWord {
    language: usize,
    strength: Strength,
    /// Whether any beginning, and any ending, is allowed.
    open: [bool; 2],
}

struct Words {
    /// Words of scripts with spaces, in a lower-case text with single spaces.
    parted: AhoCorasick,
    entries: Vec<LanguageWord>,
    anywhere: AhoCorasick,
    anywhere_language: Vec<usize>,
    regions: Vec<Vec<NumberingPlan>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let (mut patterns, mut entries) = (Vec::new(), Vec::new());
    let mut anywhere: Vec<&str> = Vec::new();
    let mut anywhere_language: Vec<usize> = Vec::new();
    for (language, words) in LANGUAGES.iter().enumerate() {
        for (list, strength) in [(words.strong, Strength::Strong), (words.weak, Strength::Weak)] {
            for word in list.split_whitespace() {
                patterns.push(word.trim_matches('*').replace('_', " "));
                entries.push(LanguageWord {
                    language,
                    strength,
                    open: [word.starts_with('*'), word.ends_with('*')],
                });
            }
        }
        anywhere.extend(words.anywhere);
        anywhere_language.extend(words.anywhere.iter().map(|_| language));
    }
    Words {
        parted: AhoCorasick::new(patterns).expect("a short list of words"),
        entries,
        anywhere: AhoCorasick::new(anywhere).expect("a short list of words"),
        anywhere_language,
        regions: LANGUAGES.iter().map(|language| regions(language.regions)).collect(),
    }
});

/// Words for a call or a telephone that are also other words, or name a number of any kind; see [`phone_words`].
static VAGUE: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let words = "contact contacts kontakt contato contacto contatt contactar contáct kontak zapisz standard app appje zap sun \
        apel ara nummer numero numeroni mensaje mensagem mesaj message flash trunk cel hp soit marca marque marcar \
        wa kom pbx upi pix the_number_is number_is_now customer_care customer_service support_line whats caller \
        callback calls texts cells pager messages fang fange fanger joign liga chama simse scrivimi رقم نمرت نمرة \
        مكتب رسالة خدمة شماره همراه نمبر رابطہ नंबर संपर्क নম্বর যোগাযোগ 号码 號碼 番号 번호 문자 연락 連絡 联系 聯繫 聯絡 liên_hệ 微信";
    words.split_whitespace().map(|word| word.replace('_', " ")).collect()
});

/// Returns the ends of the words for a call or a telephone in a text, in order; `joined` are words in lower case with single
/// spaces between. Vague ones are left out.
pub(super) fn phone_words(joined: &str) -> impl Iterator<Item = usize> {
    let words = &*WORDS;
    let bytes = joined.as_bytes();
    words.parted.find_overlapping_iter(joined).filter_map(move |hit| {
        let entry = &words.entries[hit.pattern().as_usize()];
        let begins = entry.open[0] || hit.start() == 0 || bytes[hit.start() - 1] == b' ';
        let rest = joined[hit.end()..].find(' ').unwrap_or(joined.len() - hit.end());
        let ends = entry.open[1] || rest == 0;
        let is_sure = entry.strength == Strength::Strong && !VAGUE.contains(&joined[hit.range()]);
        (begins && ends && is_sure).then_some(hit.end() + rest)
    })
}

/// Returns the places of the words for a call or a telephone in a text of a script without spaces. Vague ones are left out.
pub(super) fn phone_signs(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let hits = WORDS.anywhere.find_overlapping_iter(text).map(|hit| hit.range());
    hits.filter(|place| !VAGUE.contains(&text[place.clone()]))
}

/// The hints to a telephone number in the words around a number.
#[derive(Debug, Default)]
pub(super) struct Hint {
    pub(super) strength: Option<Strength>,
    /// The languages of the words.
    languages: Vec<usize>,
}

impl Hint {
    /// Returns the regions of the languages of the words.
    pub(super) fn regions(&self) -> impl Iterator<Item = NumberingPlan> {
        self.languages.iter().flat_map(|&language| WORDS.regions[language].iter().copied())
    }

    fn note(&mut self, language: usize, strength: Strength) {
        self.strength = self.strength.max(Some(strength));
        if !self.languages.contains(&language) {
            self.languages.push(language);
        }
    }

    /// Returns true if a language other than English was found.
    pub(super) fn is_foreign(&self) -> bool {
        self.languages.iter().any(|&language| language != ENGLISH)
    }

    /// Adds the regions of the script of a text; a number written like a telephone number needs no word there.
    pub(super) fn read_script(&mut self, text: &str) {
        for (at, language) in LANGUAGES.iter().enumerate() {
            let is_written =
                |c: char| language.scripts.iter().any(|&(first, last)| (first..=last).contains(&c));
            if !language.scripts.is_empty() && text.chars().any(is_written) {
                self.note(at, Strength::Script);
            }
        }
    }

    /// Adds the words after a number, except English ones, which belong to the following text.
    pub(super) fn read_after(&mut self, text: &str, joined: &str) {
        let mut hint = Self::default();
        hint.read(text, joined);
        if hint.is_foreign() && !hint.languages.contains(&ENGLISH) {
            hint.languages.iter().for_each(|&language| self.note(language, Strength::Strong));
        }
    }

    /// Adds the words of a text; `joined` are its words in lower case with single spaces between.
    pub(super) fn read(&mut self, text: &str, joined: &str) {
        let words = &*WORDS;
        let bytes = joined.as_bytes();
        for hit in words.parted.find_overlapping_iter(joined) {
            let entry = &words.entries[hit.pattern().as_usize()];
            let begins = entry.open[0] || hit.start() == 0 || bytes[hit.start() - 1] == b' ';
            let ends = entry.open[1] || bytes.get(hit.end()).is_none_or(|&byte| byte == b' ');
            if begins && ends {
                self.note(entry.language, entry.strength);
            }
        }
        if !text.is_ascii() {
            for hit in words.anywhere.find_overlapping_iter(text) {
                self.note(words.anywhere_language[hit.pattern().as_usize()], Strength::Strong);
            }
        }
    }
}
