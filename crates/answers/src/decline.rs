//! What prose in place of a call is: a decline, a question back, a refusal by policy, or a call in signs of its own.
//!
//! Only a decline is evidence that no function fits. A model that asks for a value would call with it; one that refuses
//! by policy says nothing about its functions.

use callsieve_text::language::language;
use callsieve_text::normal::loose_name;
use callsieve_text::small_talk::is_small_talk;
use serde_json::Value;

use crate::attempt::attempted_by_parameters;
use crate::outcome::{apologises, contains_word, denies, has_word};

/// What prose in place of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prose {
    /// It declines, or answers without a function.
    Declines,
    /// Neither is certain: a passing fault, small talk, or a text that is not English and has no word of a decline. It may ask for a value.
    Unclear,
    /// It asks for a value of a function, or what the user wants.
    AsksBack,
    /// It refuses what is asked, whatever the functions are.
    Refuses,
    /// It calls a function in a notation that no list names.
    Calls,
}

/// Words of refusals by policy, in lower case: rules, law, privacy, safety.
#[rustfmt::skip] // The words of a language are together.
const POLICY: &[&str] = &[
    // English
    "guidelines", "unethical", "illegal", "unlawful", "harmful", "not appropriate",
    "inappropriate", "against the law", "against the rules", "against our rules", "violates", "our policy",
    "policies do not", "the policy", "violate", "not allowed",
    "not permitted", "prohibited", "forbidden", "privacy", "confidential", "personal data", "personal details",
    "personal information", "private information", "data protection",
    "for safety", "for security", "safety reasons", "security reasons",
    "not authorized", "not authorised",
    // German, Dutch
    "richtlinie", "illegal", "unethisch", "datenschutz", "vertraulich", "personenbezogen", "persönliche daten",
    "nicht erlaubt", "nicht gestattet", "verboten", "untersagt", "strafbar", "gegen das gesetz", "gegen die regeln",
    "sicherheitsgründen", "privatsphäre", "vertrouwelijk", "niet toegestaan", "privacy",
    "in strijd met", "persoonsgegevens", "veiligheidsredenen", "mag ik niet", "wettelijk",
    // Spanish, Portuguese, Catalan
    "política de", "políticas", "ilegal", "privacidad", "confidencial", "datos personales", "no está permitido",
    "no está permitida", "no se permite", "prohibid", "contra la ley", "contra las normas", "por seguridad",
    "privacidade", "dados pessoais", "não é permitid", "não está autorizad", "proibid",
    "contra a lei", "as nossas regras", "por segurança", "não estou autorizad",
    "não tenho permissão", "no estoy autorizad",
    // French, Italian, Romanian
    "politique d", "illégal", "confidentiel", "vie privée", "données personnelles", "pas autorisé", "interdit",
    "contraire à la loi", "contraire aux règles", "raisons de sécurité", "confidentialité",
    "politica di", "illegale", "riservat", "dati personali", "non è consentit", "non è permess", "vietat",
    "contro la legge", "contro le regole", "motivi di sicurezza", "confidențial",
    "date personale", "nu este permis", "nu e permis", "interzis", "împotriva legii", "siguranță",
    // Swedish, Danish, Norwegian, Finnish
    "sekretess", "konfidentiell", "personuppgifter", "inte tillåtet", "olaglig", "förbjud", "mot lagen",
    "mot reglerna", "säkerhetsskäl", "fortrolig", "personoplysninger", "personopplysninger",
    "ikke tilladt", "ikke tillatt", "ulovlig", "forbudt", "sikkerhedshensyn", "sikkerhetshensyn", "taushetsplikt",
    "tavshedspligt", "personvern", "luottamuksell", "henkilötiet", "tietosuoja", "ei ole sallittu", "laiton",
    "kielletty",
   
    // Polish, Czech, Slovak, Hungarian, Croatian, Serbian
    "polityk", "nielegaln", "poufn", "prywatnoś", "danych osobowych", "dane osobowe", "nie wolno", "niedozwolon",
    "zabronion", "niezgodne z prawem", "niezgodne z przepis", "wbrew przepis", "wbrew zasad", "narusza",
    "bezpieczeństwa",
    "nezákonn", "důvěrn", "osobní údaje", "osobních údajů", "není dovoleno", "zakázán", "soukrom", "porušuj",
    "proti pravidlům", "bezpečnostn", "nelegáln", "dôvern", "osobné údaje", "nie je dovolené", "bizalmas",
    "személyes adat", "nem megengedett", "tilos", "törvénytelen", "jogellenes", "szabályzat", "adatvédelm",
    "povjerljiv", "poverljiv", "osobne podatke", "lične podatke", "nije dozvoljeno", "zabranjen",
    "protuzakonit", "nezakonit",
    // Russian, Ukrainian, Bulgarian, Greek
    "политик", "незаконн", "конфиденциальн", "персональн", "личные данные", "личных данных", "запрещ", "не разреш",
    "не имею права", "противореч", "наруш", "противозакон", "безопасност", "конфіденційн", "персональні дані", "персональних даних",
    "заборон", "не дозвол", "безпек", "поверителн", "лични данни", "забранен", "απόρρητ", "προσωπικά δεδομένα",
    "προσωπικών δεδομένων", "δεν επιτρέπεται", "απαγορεύεται", "παράνομ", "κανονισμ", "ιδιωτικότητ", "ασφάλειας",
    "εμπιστευτικ", "δεν επιτρεπεται", "απαγορευεται", "παρανομ",
    // Turkish, Indonesian, Malay, Vietnamese, Filipino, Swahili
    "gizlilik", "gizli bilgi", "kişisel veri", "kişisel bilgi", "izin verilmiyor", "yasak", "yasa dışı", "yasadışı",
    "kurallara aykırı", "güvenlik nedeniyle", "kvkk", "yasal değil",
    "aykırı", "kebijakan", "privasi", "rahasia", "data pribadi", "tidak diizinkan", "tidak diperbolehkan",
    "dilarang", "ilegal", "melanggar", "melawan hukum", "alasan keamanan", "tidak dibenarkan",
    "peribadi", "riêng tư", "bảo mật", "thông tin cá nhân", "không được phép", "bất hợp pháp", "trái luật", "vi phạm",
    "chính sách", "labag sa batas", "bawal", "pribado", "faragha", "hairuhusiwi", "kinyume cha sheria",
    // Arabic, Hebrew, Persian, Urdu
    "خصوصية", "سرية", "سري", "بيانات شخصية", "غير مسموح", "لا يسمح", "ممنوع", "غير قانوني", "مخالف", "سياسة",
    "פרטיות", "חסוי", "מידע אישי", "אסור", "לא חוקי", "מדיניות", "בניגוד לחוק", "בניגוד לכללים", "حریم خصوصی",
    "محرمانه", "مجاز نیست", "ممنوع", "غیرقانونی", "خلاف قانون", "غیر قانونی", "رازداری",
    // Hindi, Bengali, Tamil, Telugu
    "गोपनीय", "निजी जानकारी", "व्यक्तिगत जानकारी", "अनुमति नहीं", "गैरकानूनी", "अवैध", "नियमों के खिलाफ", "नीति",
    "গোপনীয়", "ব্যক্তিগত তথ্য", "অনুমতি নেই", "অবৈধ", "নিয়মবিরুদ্ধ", "நீதிக்கு", "சட்டவிரோத", "தனியுரிமை",
    "చట్టవిరుద్ధ", "గోప్య",
    // Thai, Korean, Japanese, Chinese
    "ความเป็นส่วนตัว", "ข้อมูลส่วนบุคคล", "ข้อมูลส่วนตัว", "ความลับ", "ไม่อนุญาต", "ไม่ได้รับอนุญาต", "ผิดกฎหมาย",
    "ผิดกฎ",
    "นโยบาย", "개인정보", "개인 정보", "사생활", "기밀", "허용되지", "금지", "불법", "정책", "규정", "안전상",
    "プライバシー", "個人情報", "機密", "許可されて", "禁止", "違法", "ポリシー", "規則", "規約", "安全上", "隐私", "隱私",
    "保密", "机密", "機密", "个人信息", "個人資料", "不允许", "不允許", "禁止", "违反", "違反", "违法", "違法", "不合法", "政策",
    "规定不",
];

/// Words of danger, advice and other people's affairs, in lower case: they refuse unless the reply says what is done instead.
#[rustfmt::skip] // The words of a language are together.
const DANGERS: &[&str] = &[
    "share ", "sharing", "disclose", "reveal", "give out", "hand out", "herausgeben", "weitergeben", "preisgeben",
    "auskunft über", "verstrekken", "delen", "datos de otr", "compartir", "revelar", "divulgar", "partilhar",
    "compartilhar", "dados de outr", "divulguer", "partager", "communiquer ce", "pas le droit", "condividere",
    "divulgare", "permesso", "lämna ut", "udlevere", "utlevere", "luovuttaa tietoja", "udostępni", "ujawni", "sdělit",
    "zveřejn", "kiadni", "раскрыва", "разглаш", "не вправе", "розголош", "αποκαλύ", "κοινοποιή", "paylaşam", "veremem",
    "veremiyor", "membagikan", "memberitahukan", "tiết lộ", "chia sẻ thông tin", "مشاركة", "למסור", "साझा", "เปิดเผย",
    "알려드릴 수 없", "お教えできません", "透露", "透漏",
    "emergency", "in danger", "dangerous", "medical advice", "legal advice", "other people's", "someone else's",
    "another person's", "notruf", "gefährlich", "gevaarlijk", "emergencia", "peligros", "emergência", "perigos",
    "urgence", "dangereu", "emergenza", "pericolos", "urgență", "nödnummer", "hätänumero", "numer alarmowy",
    "segélyhív", "başkasının", "başka birinin", "acil durum", "orang lain", "darurat", "nguy hiểm", "khẩn cấp",
    "الطوارئ", "חירום", "আপৎকালীন", "ฉุกเฉิน", "緊急", "紧急", "policy", "policies", "politika", "viola as",
];

/// Policies that people ask about, in lower case; no refusal is based on them.
const POLICIES_OF_SHOPS: &[&str] = &[
    "return polic",
    "refund polic",
    "exchange polic",
    "cancellation polic",
    "shipping polic",
    "delivery polic",
    "warranty polic",
    "insurance polic",
    "baggage polic",
    "luggage polic",
    "pet polic",
    "leave polic",
];

/// Refusals that say nothing about what the assistant can do, in lower case, each a whole sentence but for "sorry" and signs.
#[rustfmt::skip] // The words of a language are together.
const BARE_REFUSALS: &[&str] = &[
    "can't assist with that", "can't help with that", "cannot assist with that", "cannot help with that",
    "can't assist with this", "can't help with this", "cannot help with this", "cannot assist with this",
    "can't assist you with that", "can't help you with that", "can't do that", "won't help with that",
    "unable to assist with that", "unable to help with that", "can't assist with that request",
    "can't help with that request", "cannot comply with that", "can't comply with that", "can't discuss that",
    "not able to help with that", "not able to assist with that", "dabei kann ich nicht helfen",
    "damit kann ich nicht helfen", "dabei kann ich dir nicht helfen", "dabei kann ich ihnen nicht helfen",
    "daar kan ik niet bij helpen", "no puedo ayudar con eso", "no puedo ayudarte con eso", "no puedo ayudarle con eso",
    "não posso ajudar com isso", "não posso ajudar nisso", "je ne peux pas vous aider avec cela",
    "je ne peux pas vous aider avec ça", "je ne peux pas aider avec cela", "je ne peux pas t'aider avec ça",
    "non posso aiutarti con questo", "non posso aiutare con questo", "non posso aiutarla con questo",
    "nu te pot ajuta cu asta", "nu pot ajuta cu asta", "jag kan inte hjälpa till med det",
    "jag kan inte hjälpa dig med det", "det kan jag inte hjälpa till med", "det kan jeg ikke hjælpe med",
    "det kan jeg ikke hjelpe med", "en voi auttaa siinä", "en voi auttaa tässä", "nie mogę w tym pomóc",
    "nie mogę ci w tym pomóc", "nie mogę pomóc w tej sprawie", "s tím vám nemohu pomoci", "s tím nemohu pomoci",
    "ebben nem tudok segíteni", "ne mogu pomoći s tim", "не могу с этим помочь", "я не могу с этим помочь",
    "не могу помочь с этим", "не могу вам с этим помочь", "не можу з цим допомогти", "δεν μπορώ να βοηθήσω με αυτό",
    "δεν μπορώ να βοηθήσω σε αυτό", "bu konuda yardımcı olamam", "buna yardımcı olamam", "bunda yardımcı olamam",
    "saya tidak bisa membantu itu", "saya tidak bisa membantu dengan itu", "saya tidak dapat membantu dengan itu",
    "saya tidak bisa membantu hal itu", "tôi không thể giúp việc đó", "tôi không thể hỗ trợ việc đó",
    "لا أستطيع المساعدة في ذلك", "لا يمكنني المساعدة في ذلك", "אני לא יכול לעזור בזה", "नहीं कर सकता मदद",
    "मैं इसमें मदद नहीं कर सकता", "मैं इसमें मदद नहीं कर सकती", "ไม่สามารถช่วยเรื่องนี้ได้", "도와드릴 수 없습니다",
    "그건 도와드릴 수 없", "お手伝いできません", "お答えできません", "我无法协助", "我不能帮助", "我无法提供帮助", "無法協助",
];

/// Words that say what is offered in place of what is asked, in lower case: such a reply is a decline, whatever else it says.
#[rustfmt::skip] // The words of a language are together.
const SCOPES: &[&str] = &[
    "i only", "i can only", "we only", "only handle", "only deal", "only do", "no function", "no tool", "no service",
    "none of my", "don't have a function", "don't have a tool", "we don't", "outside what", "not something i",
    "isn't something i", "my functions", "my tools", "ich kann nur", "wir bieten", "keine funktion", "nur für",
    "alleen",
    "solo puedo", "sólo puedo", "únicamente", "ninguna función", "só posso", "só trato", "apenas", "nenhuma função",
    "je ne peux que", "seulement", "aucune fonction", "posso solo", "soltanto", "nessuna funzione", "bara", "kun",
    "vain",
    "tylko", "pouze", "jen", "csak", "samo", "только", "лише", "тільки", "само", "μόνο", "μονο", "sadece", "yalnızca",
    "hanya", "cuma", "chỉ", "lamang", "فقط", "רק", "केवल", "सिर्फ", "শুধু", "เฉพาะ", "เท่านั้น", "だけ", "のみ", "只能",
    "只是", "仅", "僅",
];

/// The most words of a bare refusal.
const MOST_OF_A_REFUSAL: usize = 14;

/// Words that forbid without a no, in lower case.
#[rustfmt::skip] // The words of a language are together.
const FORBIDS: &[&str] = &[
    "i don't", "forbid", "prohibit", "against", "verbot", "untersagt", "prohib", "proib", "interdit", "vietat", "interzis",
    "förbjud",
    "forbud", "kielletty", "zabron", "nemohu", "nemůžu", "nesmím", "nemôžem", "nesmiem", "zakáz", "tilos", "zabran",
    "запрещ", "заборон", "забранен", "противозакон", "porušuj", "narusza", "απαγορ", "yasak",
    "aykırı", "amam", "emem", "dilarang", "melanggar", "vi phạm", "bawal", "ممنوع", "אסור", "禁止", "금지", "违反", "違反",
    "ผิดกฎ",
];

/// How offers of something else begin, in lower case: "Shall I …?" after a decline asks for no value.
#[rustfmt::skip] // The words of a language are together.
const OFFERS: &[&str] = &[
    "shall i", "should i", "would you like", "do you want", "can i help", "may i", "is there anything",
    "anything else", "how can i", "how may i", "what else", "want me to", "soll ich", "möchtest du", "möchten sie",
    "kann ich", "¿quieres", "¿te gustaría", "¿puedo", "¿hay algo", "voulez-vous", "veux-tu", "puis-je", "vuoi che",
    "posso", "quer que", "gostaria", "wil je", "zal ik", "kan ik",
];

/// Words of a question for a value, in lower case. In front of an offer they make it one: "Which site would you like?"
#[rustfmt::skip] // The words of a language are together.
const QUESTION_WORDS: &[&str] = &[
    "what", "which", "where", "when", "who", "whom", "whose", "how", "welche", "welchen", "welchem", "welcher", "welches",
    "was", "wann", "wo", "wohin", "wen", "wem", "wie", "wieviel", "wat", "welk", "welke", "waar", "wanneer", "hoe", "hoeveel",
    "qué", "que", "cuál", "cual", "cuáles", "dónde", "donde", "cuándo", "cuando", "cuántos", "cuántas", "quién", "quel", "quelle", "quels", "quelles",
    "où", "quand", "combien", "quale", "quali", "quanti", "quante", "dove", "quando", "chi", "qual", "quais", "onde", "quantos", "quantas", "quem",
];

/// Words with which a reply asks for a value without a question, in lower case.
#[rustfmt::skip] // The words of a language are together.
const REQUESTS: &[&str] = &[
    "need-", "without", "missing", "specif-", "provid-", "give me", "tell me", "send me", "share", "enter", "choose", "pick",
    "let me know", "gib mir", "geben sie", "sag mir", "sagen sie", "nenn mir", "nennen sie", "schick mir", "schicken sie",
    "teilen sie", "dime", "dígame", "indícame", "indíqueme", "envíame", "envíeme", "dis-moi", "dites-moi", "indiquez",
];

/// How a reply promises to act, in lower case: its model would call a function, or says what no function did.
const PROMISES: &[&str] = &[
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "one moment",
    "just a moment",
    "let me check",
    "let me look",
    "let me find",
    "let me get",
    "on its way",
    "right away",
    "consider it done",
];

/// Verbs of claims that do not end as "forwarded" does.
const DONE: &[&str] =
    &["done", "found", "given", "made", "put", "sent", "set", "sorted", "taken", "told", "written"];

/// Letters of a word that means something.
const MIN_LETTERS: usize = 4;

/// Words of a fault that passes, and of what was looked for and not found: a model that says so had a function for it.
#[rustfmt::skip] // The words of a language are together.
const PASSING_FAULTS: &[&str] = &[
    "error occurred", "went wrong", "try again", "temporarily", "unavailable", "at the moment", "can't find", "cannot find",
    "couldn't find", "could not find", "unable to find", "didn't find", "no results", "fehler aufgetreten", "später noch",
    "vorübergehend", "nicht gefunden", "nicht finden", "fout opgetreden", "probeer het later", "niet vinden", "ha ocurrido un error",
    "más tarde", "no encuentro", "no encontré", "no he encontrado", "erreur est survenue", "une erreur", "plus tard", "introuvable",
    "pas trouvé", "si è verificato", "più tardi", "non trovo", "non ho trovato", "ocorreu um erro", "mais tarde", "não encontrei",
    "fel inträffade", "försök igen", "hittar inte", "wystąpił błąd", "później", "nie znalaz", "došlo k chybě", "později", "nenašel",
    "произошла ошибка", "попробуйте позже", "не нашел", "не нашёл", "не удалось найти", "сталася помилка", "παρουσιάστηκε σφάλμα",
    "αργότερα", "δεν βρήκα", "bir hata oluştu", "daha sonra", "bulamadım", "terjadi kesalahan", "coba lagi", "tidak menemukan",
    "có lỗi xảy ra", "thử lại", "không tìm thấy", "حدث خطأ", "لاحقًا", "لم أجد", "אירעה שגיאה", "מאוחר יותר", "त्रुटि", "बाद में",
    "เกิดข้อผิดพลาด", "오류가 발생", "나중에", "찾을 수 없", "エラーが発生", "ご利用いただけません", "見つかりません", "しばらくして", "出错", "稍后",
    "找不到", "暂时",
];

/// The language whose questions are known by their words.
const ENGLISH: &str = "en";

/// Judges prose by which a model answered a request with these functions on offer.
pub fn prose(text: &str, functions: &[Value]) -> Prose {
    if attempted_by_parameters(text, functions).is_some() {
        return Prose::Calls;
    }
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    // A question of Greek ends with a semicolon.
    let is_greek = lower.contains(|c| matches!(c, '\u{3b1}'..='\u{3ce}'));
    let lower = if is_greek { lower.replace([';', '\u{37e}'], "?") } else { lower };
    let sentences = sentences(&lower);
    let questions: Vec<&str> =
        sentences.iter().copied().filter(|sentence| sentence.ends_with(['?', '？', '؟'])).collect();
    let is_offer = |question: &&str| is_offer(question);
    let asks_for_value = |question: &&str| !is_offer(question) && names_a_parameter(question, functions);
    if questions.iter().any(asks_for_value) {
        return Prose::AsksBack;
    }
    // "There are several; I need the state."
    let says_what_is_missing =
        |sentence: &&str| has_word(sentence, REQUESTS) && names_a_parameter(sentence, functions);
    if sentences.iter().any(says_what_is_missing) {
        return Prose::AsksBack;
    }
    if contains_word(&lower, PASSING_FAULTS) && !has_word(&lower, SCOPES) {
        return Prose::Unclear;
    }
    if refuses(&lower, &sentences) {
        return Prose::Refuses;
    }
    // In a language that the docs are not in, a question without a no.
    let ends_with_question = sentences.last().is_some_and(|last| questions.contains(last));
    let asks = ends_with_question && !questions.last().is_some_and(is_offer);
    let declines = || {
        let mut statements = sentences.iter().filter(|sentence| !questions.contains(sentence));
        statements.any(|sentence| denies(sentence) || apologises(sentence))
    };
    match (asks, declines()) {
        (true, false) => Prose::AsksBack,
        (_, true) => Prose::Declines,
        (false, false) => {
            let is_said = || denies(&lower) || apologises(&lower) || has_word(&lower, SCOPES);
            let acts = || has_word(&lower, PROMISES) || sentences.iter().any(|sentence| claims(sentence));
            let answers = || language(text) == ENGLISH && !is_small_talk(text) && !acts();
            if is_said() || answers() { Prose::Declines } else { Prose::Unclear }
        }
    }
}

/// Whether a sentence says that something was done: "I've forwarded it", "Done."
fn claims(sentence: &str) -> bool {
    const ADVERBS: [&str; 4] = ["already", "also", "just", "now"];
    let words: Vec<&str> = sentence
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty() && !ADVERBS.contains(word))
        .collect();
    let is_done = |word: &str| word.ends_with("ed") || DONE.contains(&word);
    words == ["done"]
        || words.windows(2).any(|pair| pair[0] == "i've" && is_done(pair[1]))
        || words.windows(3).any(|three| three[..2] == ["i", "have"] && is_done(three[2]))
}

/// Whether a text refuses by policy: it denies and has a word of rules, law, privacy or safety, or a sentence is a bare refusal.
/// A word about what the assistant does instead makes it a decline, unless rules are named.
fn refuses(lower: &str, sentences: &[&str]) -> bool {
    let is_denied = || denies(lower) || apologises(lower) || contains_word(lower, FORBIDS);
    if contains_word(lower, POLICY) && is_denied() {
        return true;
    }
    // "I have no information about return policies" says what it has, not what it may.
    let without_topics =
        POLICIES_OF_SHOPS.iter().fold(lower.to_owned(), |text, topic| text.replace(topic, ""));
    if contains_word(&without_topics, DANGERS) && is_denied() && !has_word(lower, SCOPES) {
        return true;
    }
    let is_bare = |sentence: &&str| {
        contains_word(sentence, BARE_REFUSALS)
            && sentence.split_whitespace().count() <= MOST_OF_A_REFUSAL
            && BARE_REFUSALS.iter().any(|refusal| {
                let after = sentence.split_once(refusal).map(|(_, after)| after);
                after.is_some_and(|after| !after.contains(char::is_alphanumeric))
            })
    };
    sentences.iter().any(is_bare) && !has_word(lower, SCOPES)
}

/// The sentences of a text, with the sign at their end.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let goes_on = c.is_ascii() && text[end..].starts_with(|next: char| !next.is_whitespace());
        let is_end =
            matches!(c, '。' | '！' | '？' | '؟' | '।' | '\n') || matches!(c, '.' | '!' | '?') && !goes_on;
        if is_end {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Whether a question has a word of the name of a parameter, or two of its description.
fn names_a_parameter(question: &str, functions: &[Value]) -> bool {
    let words: Vec<&str> =
        question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.iter().any(|own| *own == word || own.strip_suffix('s') == Some(word));
    functions.iter().any(|function| {
        let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
        properties.into_iter().flatten().any(|(name, schema)| {
            let of_name = loose_name(name);
            let parts = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
            let is_named = words.iter().any(|word| *word == of_name)
                || parts.into_iter().any(|part| part.chars().count() >= MIN_LETTERS && has(&part));
            let described = schema["description"].as_str().unwrap_or_default().to_lowercase();
            let of_description = described.split(|c: char| !c.is_alphanumeric());
            let n_described =
                of_description.filter(|word| word.chars().count() >= MIN_LETTERS && has(word)).count();
            is_named || n_described >= 2
        })
    })
}

/// Whether a question offers something: "Would you like …?", but not "Which site would you like …?"
fn is_offer(question: &str) -> bool {
    let Some(at) = OFFERS.iter().filter_map(|offer| question.find(offer)).min() else { return false };
    let mut before = question[..at].split(|c: char| !c.is_alphanumeric());
    !before.any(|word| QUESTION_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Prose {
        let functions = [json!({"name": "tides", "parameters": {"properties": {
            "port": {"type": "string", "description": "Name of the port, in English"},
            "startDate": {"type": "string", "description": "First day of the forecast"}}}})];
        prose(text, &functions)
    }

    #[test]
    fn a_question_for_a_value_is_no_decline() {
        for text in [
            "Sure! Which port do you mean?",
            "Which port would you like?",
            "For which port would you like to see the tides?",
            "Where do you want to go?",
            "Happy to help. When would you like it to begin?",
            "Für welchen Hafen möchten Sie das wissen?",
            "¿Para qué puerto ¿quieres verlo?",
            "Pour quel port voulez-vous le savoir ?",
            "I can help with that. What is the start date?",
            "I'm sorry, I did not catch the port. Which port is it?",
            "Für welchen Hafen?",
            "¿Para qué puerto lo necesitas?",
            "どの港ですか？",
            "Gerne. Ab welchem Tag?",
            "Βεβαίως, για ποιο λιμάνι;",
        ] {
            assert_eq!(of(text), Prose::AsksBack, "{text}");
        }
    }

    #[test]
    fn a_request_for_a_value_is_no_decline() {
        for text in [
            "Happy to. Just give me the port.",
            "Of course. Let me know which port and from which day.",
            "Sure, please send me the name of the port so I can check.",
            "Gerne. Nennen Sie mir bitte den Port.",
        ] {
            assert_eq!(of(text), Prose::AsksBack, "{text}");
        }
        // What it offers is no value of a function.
        assert_eq!(of("I only look up tides. Let me know if there is anything else."), Prose::Declines);
    }

    #[test]
    fn a_promise_or_a_claim_is_no_evidence() {
        for text in [
            "One moment, I'll order it.",
            "Thanks for reporting this. I have forwarded it to the network team.",
            "I've just unlocked the account of hmeyer.",
            "Done!",
            "Your taxi is on its way.",
        ] {
            assert_eq!(of(text), Prose::Unclear, "{text}");
        }
        for text in [
            "I have been trained to answer questions about tides, and taxes are no part of that.",
            "The chores are done by robots in this novel, which was written in 1920.",
            "I'll be honest: I can't book trains.",
        ] {
            assert_eq!(of(text), Prose::Declines, "{text}");
        }
    }

    #[test]
    fn a_call_in_signs_of_its_own_is_no_decline() {
        assert_eq!(of("tides | port | Oban"), Prose::Calls);
        assert_eq!(of("→ tides ⟨port := Oban⟩"), Prose::Calls);
        assert_eq!(of("I have only tides, for a port, and cannot do that."), Prose::Declines);
    }

    #[test]
    fn a_decline_may_offer_something_else() {
        for text in [
            "I can't book trains. Shall I look up the tides instead?",
            "None of my functions does that.",
            "Das kann ich leider nicht. Soll ich etwas anderes nachsehen?",
            "抱歉，我不能帮你订票。",
            "The capital of France is Paris.",
            "Paris is the capital. Would you like to know more?",
            "Paris is the capital. What else would you like to know?",
            "Paris is the capital. Would you like to know what the weather is?",
            "I can't help with taxes. I only look up tides.",
            "I can't help with that, I only know tides.",
            "Sorry, that is outside what I can do.",
            "I can't compare insurance policies, I only look up tides.",
            "I don't have information about return policies, sorry.",
            "Sorry, I have no details of your baggage policy.",
            "We don't rent out bicycles.",
            "Nie obsługuję lotów, podaję tylko pływy.",
            "Wir vermieten keine Fahrräder.",
            "Λυπάμαι, δεν πουλάμε εισιτήρια.",
            "Müzik çalamıyorum, sadece gelgit saatlerine bakıyorum.",
            "Saya tidak punya data harga emas.",
            "Non ho ricette.",
            "チケットの予約はできません。",
            "飞机票我查不了，只能查潮汐。",
        ] {
            assert_eq!(of(text), Prose::Declines, "{text}");
        }
    }

    #[test]
    fn a_text_that_may_ask_for_a_value_and_small_talk_are_unclear() {
        for text in [
            "Sure, port ka naam bataiye",
            "See you then!",
            "Con gusto, me falta el puerto.",
            "Gerne!",
            "Désolé, une erreur est survenue.",
            "I can't find the tides of that place.",
            "エラーが発生しました。",
        ] {
            assert_eq!(of(text), Prose::Unclear, "{text}");
        }
    }

    #[test]
    fn a_refusal_by_policy_says_nothing_about_the_functions() {
        for text in [
            "I'm sorry, but I can't help with that because it violates our policy.",
            "Das kann ich nicht tun, es verstößt gegen unsere Richtlinien.",
            "I can't tell you who lives there, for privacy reasons.",
            "I can't help with that. If you are in danger, call an ambulance.",
            "I'm sorry, but I can't assist with that request.",
            "That would be against the law.",
            "I don't give out the numbers of our drivers.",
            "Patientendaten darf ich nicht herausgeben.",
            "Non mi è permesso dirlo.",
            "Üçüncü kişilerin bilgisini veremem.",
            "Aus Datenschutzgründen darf ich das nicht sagen.",
            "Por privacidad no puedo dar esos datos.",
            "Não posso ajudar com isso, é ilegal.",
            "Je ne peux pas donner ces informations, elles sont confidentielles.",
            "Non posso fornire dati personali.",
            "Nie wolno mi podawać danych osobowych.",
            "Osobní údaje nemohu sdělit.",
            "Személyes adatot nem adhatok ki.",
            "Не могу назвать персональные данные.",
            "Δεν επιτρέπεται να δώσω τέτοια στοιχεία.",
            "Bu bilgi gizlilik kapsamında, paylaşamam.",
            "Maaf, itu rahasia, saya tidak bisa memberitahukannya.",
            "Maaf, saya tidak bisa membuka kotak barang orang lain.",
            "Tôi không thể cung cấp thông tin cá nhân.",
            "個人情報はお答えできません。",
            "개인정보는 알려드릴 수 없습니다.",
            "抱歉，这涉及隐私，不能透露。",
            "لا يمكنني مشاركة بيانات شخصية.",
            "ไม่สามารถให้ข้อมูลส่วนบุคคลได้",
        ] {
            assert_eq!(of(text), Prose::Refuses, "{text}");
        }
    }
}
