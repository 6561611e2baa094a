//! What the result of a call shows by itself: that it failed, that it succeeded, or data that a reply may use.
//!
//! Nothing is a success for want of known error words: an error has another name in every language and every API.

use callsieve_bfcl::conversation::Message;
use callsieve_notation::python;
use callsieve_text::words::is_unspaced;
use serde_json::{Map, Value};

use super::reply::{Datum, numbers_of};
use super::words::{
    FAILURES, NEGATIONS, NOES, SUCCESSES, begins_with_one, contains_one, has_negation, has_one,
};
use super::xml;

/// What a result shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sign {
    /// It says that the call failed.
    Failed,
    /// It says that the call succeeded.
    Succeeded,
    /// It holds data, which a reply about it repeats.
    Data(Vec<Datum>),
    /// It shows nothing, or hints at a failure.
    Doubtful,
}

/// English phrases that make a text of a result or a reply doubtful.
#[rustfmt::skip] // The words of a language are together.
const DOUBTS: &[&str] = &[
    "error", "exception", "fail", "invalid", "sorry", "unable", "cannot", "can't", "could not", "couldn't",
    "not found", "no results", "not work", "didn't work", "denied", "unauthorized", "forbidden", "timed out",
    "timeout", "apolog", "wrong", "try again",
];

/// Keys of a result that hold its error.
const ERROR_KEYS: &[&str] =
    &["error", "errors", "exception", "err", "error_message", "errormessage", "error_code", "traceback"];

/// Keys of a result for success, with a yes or no value.
const SUCCESS_KEYS: &[&str] = &["ok", "success", "succeeded", "is_success", "successful"];

/// Keys of a result that hold a status word or an HTTP status.
const STATUS_KEYS: &[&str] = &["status", "status_code", "statuscode", "http_status"];

/// Keys of a result for a word of status; numbers under them are data.
#[rustfmt::skip] // The words of a language are together.
const STATE_KEYS: &[&str] = &[
    "state", "result", "outcome", "estado", "resultado", "statut", "état", "stato", "esito", "zustand", "ergebnis",
    "stan", "wynik", "stav", "výsledek", "durum", "sonuc", "sonuç", "hasil", "статус", "состояние", "результат",
    "κατάσταση", "κατασταση", "αποτέλεσμα", "trạng thái", "trang_thai", "حالة", "סטטוס", "स्थिति", "상태", "状态", "狀態", "状況",
];

/// Keys of a code that is 0 for success.
#[rustfmt::skip] // The words of a language are together.
const CODE_KEYS: &[&str] = &[
    "code", "errcode", "errno", "ret", "retcode", "return_code", "returncode", "rc", "codigo", "código", "kod",
    "kodu", "kode", "kód", "код",
];

/// Values of a status key that report a failure.
const FAILURE_STATUSES: &[&str] = &["error", "failed", "failure", "fail"];

/// Keys of what is said about a call, in place of what it returned.
#[rustfmt::skip] // The words of a language are together.
const NOTE_KEYS: &[&str] = &[
    "message", "msg", "detail", "details", "info", "hint", "reason", "description", "note", "request_id", "requestid",
    "trace_id", "timestamp", "took", "elapsed", "duration_ms", "meldung", "nachricht", "hinweis", "grund", "melding",
    "bericht", "reden", "mensaje", "motivo", "messaggio", "mensagem", "raison", "meddelande", "besked", "viesti",
    "komunikat", "powód", "zpráva", "üzenet", "mesaj", "neden", "pesan", "alasan", "сообщение", "причина",
    "повідомлення", "μήνυμα", "رسالة", "הודעה", "پیام", "संदेश", "কারণ", "ข้อความ", "메시지", "사유", "メッセージ", "理由", "消息",
    "信息", "原因",
];

/// Keys of why something was refused: what succeeds needs no reason. Without signs of letters, as programs write keys.
#[rustfmt::skip] // The words of a language are together.
const REASON_KEYS: &[&str] = &[
    "reason", "why", "cause", "grund", "reden", "motivo", "razon", "razón", "raison", "causa", "orsak", "anledning",
    "årsak", "årsag", "syy", "powód", "powod", "przyczyna", "důvod", "duvod", "dôvod", "dovod", "indok",
    "motiv", "razlog", "причина", "αιτία", "αιτια", "λόγος", "neden", "sebep", "alasan", "sebab", "lý do", "ly_do",
    "lydo", "dahilan", "sababu", "سبب", "סיבה", "دلیل", "वजह", "कारण", "কারণ", "เหตุผล", "사유", "이유", "理由",
    "原因",
];

/// Beginnings of words for a state in which nothing was done.
#[rustfmt::skip] // The words of a language are together.
const REFUSED_STATES: &[&str] = &[
    "denied", "rejected", "refused", "declined", "expired", "blocked", "unavailable", "forbidden", "unsuccessful",
    "abgelehnt", "verweigert", "abgelaufen", "gesperrt", "fehlgeschlagen", "ausgebucht", "geweigerd", "afgewezen",
    "verlopen", "geblokkeerd", "mislukt", "denegad", "rechazad", "caducad", "bloquead", "agotad", "fallid", "refusé",
    "rejeté", "expiré", "bloqué", "échou", "épuisé", "rifiutat", "negat", "scadut", "bloccat", "esaurit", "fallit",
    "recusad", "negad", "rejeitad", "expirad", "esgotad", "falhou", "nekad", "avvisad", "utgången", "spärrad",
    "misslyck", "nektet", "avvist", "utløpt", "sperret", "mislyk", "afvist", "nægtet", "udløbet", "spærret", "hylätty",
    "evätty", "vanhentunut", "estetty", "epäonnistu", "odrzucon", "odmow", "wygas", "zablokowan", "nieudan", "zamítnut",
    "odmítnut", "vypršel", "zablokován", "zamietnut", "odmietnut", "elutasít", "lejárt", "letilt", "sikertelen",
    "respins", "refuzat", "expirat", "blocat", "eșuat", "odbijen", "isteka", "blokiran", "отклонен", "отказ", "истек",
    "истёк", "заблокирован", "отклонён", "відхилен", "відмов", "отхвърлен", "απορρίφθηκε", "αρνήθηκε", "έληξε",
    "αποκλείστηκε", "απέτυχε", "reddedildi", "süresi doldu", "engellendi", "başarısız", "ditolak", "kedaluwarsa",
    "diblokir", "gagal", "habis", "từ chối", "tu_choi", "hết hạn", "het_han", "bị khóa", "thất bại", "that_bai",
    "tinanggihan", "imekataliwa", "مرفوض", "رُفض", "رفض", "منتهي", "محظور", "נדחה", "סורב", "פג תוקף", "חסום", "رد شد",
    "منقضی", "مسدود", "अस्वीकृत", "असफल", "विफल", "समाप्त", "ब्लॉक", "প্রত্যাখ্যা", "ব্যর্থ", "ปฏิเสธ", "หมดอายุ", "ล้มเหลว",
    "거부", "거절", "만료", "차단", "실패", "拒否", "却下", "期限切れ", "失敗", "拒绝", "拒絕", "过期", "過期", "失败", "已满",
    // Waiting lists
    "waitlist", "wait-list", "waiting list", "wartelist", "wachtlijst", "väntelist", "ventelist", "lista de esper",
    "liste d'attente", "liste d\u{2019}attente", "lista d'attesa", "lista d\u{2019}attesa", "lista rezerwow",
    "lista oczekuj", "pořadník", "várólist", "jonotus", "лист ожидан", "список очікув", "bekleme list", "daftar tunggu",
    "danh sách chờ", "キャンセル待ち", "候补", "候補", "대기",
];
/// The most words of a state.
const MOST_OF_A_STATE: usize = 3;

/// The most members of an object that may only say that nothing was done.
const MOST_OF_A_NOTE: usize = 4;

/// Signs of a sentence in a script without spaces.
const FEWEST_UNSPACED: usize = 4;
/// Letters of a word that is no article: "Porta da Lua" is a name.
const MIN_LETTERS: usize = 4;

/// Returns what the result of a call shows.
///
/// Of a call that only looks something up (`is_lookup`) any data is what was asked for. One that does something has to say
/// that it was done: words and numbers may say the opposite, in every language.
pub(super) fn sign(result: &Message, is_lookup: bool) -> Sign {
    if result.is_error {
        return Sign::Failed;
    }
    match of_text(&result.content) {
        Sign::Data(data)
            if !is_lookup && (is_prose(&result.content) || data.iter().any(Datum::is_nothing)) =>
        {
            Sign::Doubtful
        }
        sign => sign,
    }
}

/// Whether a result is words, not a value of a notation.
fn is_prose(text: &str) -> bool {
    let text = text.trim();
    let is_number = text.parse::<f64>().is_ok();
    !is_number && !text.starts_with(['{', '[', '(', '<', '"']) && text.contains(char::is_alphabetic) && {
        text.split_whitespace().count() > 1 || text.contains(is_unspaced)
    }
}

/// Returns `true` for a text with an English phrase of doubt.
pub(super) fn is_doubtful(lower: &str) -> bool {
    contains_one(lower, DOUBTS)
}

/// Judges the text of a result, which may be JSON or a printed Python value.
fn of_text(text: &str) -> Sign {
    let text = text.trim();
    if text.is_empty() {
        return Sign::Doubtful;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return of_value(&value);
    }
    if let Some(value) = text.starts_with(['{', '[', '(']).then(|| python::literal(text).ok()).flatten() {
        return of_value(&value);
    }
    match xml::value_of(text) {
        Some(value) => of_value(&value),
        None => of_prose(text),
    }
}

/// Judges a structured result. No depth limit is needed, because both parsers refuse values nested deeper than 128.
fn of_value(value: &Value) -> Sign {
    match value {
        // An empty result, or `false`, may be right or the effect of a wrong call.
        Value::Null | Value::Bool(false) => Sign::Doubtful,
        Value::Bool(true) => Sign::Succeeded,
        Value::Number(_) => Sign::Data(vec![Datum { key: None, value: value.clone() }]),
        Value::String(text) => of_prose(text),
        Value::Array(elements) => joint(elements.iter().map(of_element)),
        Value::Object(members) => match members.get("text").filter(|_| is_content_part(members)) {
            Some(text) => of_text(text.as_str().unwrap_or_default()),
            None => of_object(members),
        },
    }
}

/// Judges an element of a list: a text in it is data, such as a name.
fn of_element(value: &Value) -> Sign {
    match value {
        Value::String(text) if !text.trim().is_empty() && !is_doubtful(&text.to_lowercase()) => {
            Sign::Data(vec![Datum { key: None, value: value.clone() }])
        }
        value => of_value(value),
    }
}

/// A part of a message, as the Model Context Protocol has it.
fn is_content_part(members: &Map<String, Value>) -> bool {
    members.get("type").is_some_and(|kind| kind == "text")
        && members.get("text").is_some_and(Value::is_string)
}

/// Failed if one is, else doubtful if one is; then all of them are data, or say that the calls succeeded.
fn joint(parts: impl Iterator<Item = Sign>) -> Sign {
    let (mut data, mut n_parts, mut is_doubtful, mut succeeded) = (Vec::new(), 0, false, false);
    for part in parts {
        n_parts += 1;
        match part {
            Sign::Failed => return Sign::Failed,
            Sign::Doubtful => is_doubtful = true,
            Sign::Succeeded => succeeded = true,
            Sign::Data(more) => data.extend(more),
        }
    }
    match (is_doubtful || n_parts == 0, data.is_empty()) {
        (false, false) => Sign::Data(data),
        (false, true) if succeeded => Sign::Succeeded,
        _ => Sign::Doubtful,
    }
}

fn of_object(members: &Map<String, Value>) -> Sign {
    let (mut data, mut is_doubtful, mut succeeded, mut has_denial) = (Vec::new(), false, false, false);
    let (mut is_free, mut is_refused) = (false, false);
    for (key, value) in members {
        is_refused |= value.as_str().is_some_and(speaks_of_a_refusal);
        has_denial |= is_reason(&key.to_lowercase(), value);
        match of_member(&key.to_lowercase(), value) {
            Member::Failed => return Sign::Failed,
            Member::Succeeded => succeeded = true,
            Member::FreeOfErrors => is_free = true,
            Member::Doubtful => is_doubtful = true,
            Member::Denial => has_denial = true,
            Member::Data(more) => data.extend(more),
            Member::Nothing => {}
        }
    }
    // `{"erfolg": false, "meldung": "ausgebucht"}`: a no beside a few words, or the reason for one.
    let is_nested = members.values().any(|value| value.is_object() || value.is_array());
    let is_note = has_denial && !is_nested && members.len() <= MOST_OF_A_NOTE;
    let is_fault = !is_nested && members.len() <= MOST_OF_A_NOTE && has_code_and_reason(members);
    // `{"booked": false, "alternatives": [{…}]}`: what it says of itself is a no, and the parts are something else.
    if is_nested && is_a_no(members) {
        data.push(Datum::no());
    }
    // No error is no success if a no, or nothing, stands beside it.
    let is_contradicted =
        is_free && !succeeded && (has_denial || data.iter().any(Datum::is_nothing) || denies(members));
    succeeded |= is_free;
    if is_contradicted || is_refused && !is_nested {
        return Sign::Doubtful;
    }
    if is_doubtful || (is_note || is_fault) && !succeeded {
        Sign::Doubtful
    } else if succeeded {
        Sign::Succeeded
    } else if data.is_empty() {
        Sign::Doubtful
    } else {
        Sign::Data(data)
    }
}

/// Whether the members that are no lists or objects are a no and notes about it.
fn is_a_no(members: &Map<String, Value>) -> bool {
    let is_no = |value: &Value| *value == Value::Bool(false) || value.as_str().is_some_and(is_refusal);
    let is_note = |key: &str| NOTE_KEYS.contains(&key) || is_reason(key, &"-".into());
    let mut single = members.iter().filter(|(_, value)| !value.is_object() && !value.is_array());
    members.values().any(is_no) && single.all(|(key, value)| is_no(value) || is_note(&key.to_lowercase()))
}

/// Whether an object may be the status of a failed request and its reason, whatever its keys are: `{"κωδ": 412, "κειμενο": …}`.
fn has_code_and_reason(members: &Map<String, Value>) -> bool {
    let is_code = |value: &Value| {
        let code = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
        code.is_some_and(|code| (400..600).contains(&code))
    };
    members.values().any(is_code) && members.values().filter_map(Value::as_str).any(is_sentence)
}

/// Whether a text is in words and is no name: "Casa Verde" begins each of its words with a capital.
fn is_sentence(text: &str) -> bool {
    if text.contains(is_unspaced) {
        return text.chars().filter(|c| is_unspaced(*c)).count() >= FEWEST_UNSPACED;
    }
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).collect();
    let has_no_case = |c: char| !c.is_lowercase() && !c.is_uppercase();
    let opens_small = |word: &&&str| word.starts_with(|c: char| c.is_lowercase() || has_no_case(c));
    words.len() >= 2
        && words.iter().skip(1).filter(opens_small).any(|word| word.chars().count() >= MIN_LETTERS)
}

/// Whether a note among the members denies something.
fn denies(members: &Map<String, Value>) -> bool {
    let notes = members.iter().filter(|(key, _)| NOTE_KEYS.contains(&key.to_lowercase().as_str()));
    notes.filter_map(|(_, note)| note.as_str()).any(|note| has_negation(&note.to_lowercase()))
}

/// Whether a text of a few words has a word for a refusal.
fn speaks_of_a_refusal(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.len() <= MOST_OF_A_STATE
        && words.iter().any(|word| REFUSED_STATES.iter().any(|state| word.starts_with(state)))
}

/// Whether a key is that of an error in some language: `errorCode`, `Fehler`.
fn names_an_error(key: &str) -> bool {
    key.contains("error") || key.contains("fehler") || key.contains("erreur") || FAILURES.contains(&key)
}

/// What the value of a key such as `success` says. Words and numbers have many forms, so only a clear yes is one.
fn of_yes_or_no(value: &Value) -> Member {
    match value {
        Value::Bool(true) => Member::Succeeded,
        Value::Bool(false) => Member::Failed,
        Value::Number(number) if number.as_f64() == Some(1.0) => Member::Succeeded,
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" | "y" | "1" => Member::Succeeded,
            "false" | "no" | "n" | "0" => Member::Failed,
            word if SUCCESSES.contains(&word) => Member::Succeeded,
            _ => Member::Doubtful,
        },
        _ => Member::Doubtful,
    }
}

/// Whether a member says why something was refused.
fn is_reason(key: &str, value: &Value) -> bool {
    REASON_KEYS.contains(&key) && value.as_str().is_some_and(|reason| !reason.trim().is_empty())
}

/// Whether a text is a no, or a state in which nothing was done.
fn is_refusal(text: &str) -> bool {
    let lower = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let is_short = lower.split_whitespace().count() <= MOST_OF_A_STATE;
    matches!(lower.as_str(), "n" | "f" | "false" | "否" | "いいえ" | "아니요")
        || NEGATIONS.contains(&lower.as_str())
        || NOES.contains(&lower.as_str())
        || is_short && REFUSED_STATES.iter().any(|state| lower.starts_with(state))
}

/// What one member of a result shows.
enum Member {
    Failed,
    Succeeded,
    /// It says that there is no error.
    FreeOfErrors,
    Doubtful,
    /// `false` or null under a key that may mean success, or what was looked for.
    Denial,
    Data(Vec<Datum>),
    Nothing,
}

fn of_member(key: &str, value: &Value) -> Member {
    if ERROR_KEYS.contains(&key) {
        // A result that says that it has no error says that it worked.
        return if is_blank(value) { Member::FreeOfErrors } else { Member::Failed };
    }
    if names_an_error(key) && !is_blank(value) {
        return Member::Doubtful;
    }
    if SUCCESS_KEYS.contains(&key) {
        return of_yes_or_no(value);
    }
    if STATUS_KEYS.contains(&key)
        && let Some(succeeded) = of_status(value)
    {
        return if succeeded { Member::Succeeded } else { Member::Failed };
    }
    if STATE_KEYS.contains(&key)
        && value.as_str().is_some_and(|word| word.parse::<f64>().is_err())
        && let Some(succeeded) = of_status(value)
    {
        return if succeeded { Member::Succeeded } else { Member::Failed };
    }
    if CODE_KEYS.contains(&key)
        && let Some(code) = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    {
        return if code == 0 || (200..300).contains(&code) { Member::Succeeded } else { Member::Doubtful };
    }
    if CODE_KEYS.contains(&key) && value.as_str().is_some_and(is_error_code) {
        return Member::Doubtful;
    }
    match value {
        Value::Null | Value::Bool(false) => Member::Denial,
        Value::Bool(true) => Member::Nothing,
        Value::String(text) if text.trim().is_empty() => Member::Nothing,
        Value::String(text) if is_refusal(text) => Member::Denial,
        // Data may contain such words (a title, a log line), so they are a doubt, not a failure.
        Value::String(text) if is_doubtful(&text.to_lowercase()) => match of_prose(text) {
            Sign::Failed => Member::Failed,
            _ => Member::Doubtful,
        },
        Value::String(_) | Value::Number(_) if NOTE_KEYS.contains(&key) => Member::Nothing,
        Value::String(_) | Value::Number(_) => {
            Member::Data(vec![Datum { key: Some(key.to_owned()), value: value.clone() }])
        }
        Value::Array(elements) if elements.is_empty() => Member::Nothing,
        Value::Object(inner) if inner.is_empty() => Member::Nothing,
        Value::Array(_) | Value::Object(_) => match of_value(value) {
            Sign::Failed => Member::Failed,
            Sign::Doubtful => Member::Doubtful,
            // The status of a part is not that of the call.
            Sign::Succeeded => Member::Nothing,
            Sign::Data(data) => Member::Data(data),
        },
    }
}

/// Whether a status is one of success; `None` if it may be data.
fn of_status(value: &Value) -> Option<bool> {
    let of_code = |code: f64| match code {
        400.0.. => Some(false),
        200.0..300.0 => Some(true),
        _ => None,
    };
    match value {
        Value::Number(status) => status.as_f64().and_then(of_code),
        Value::String(status) => {
            let status = status.trim().to_lowercase();
            if FAILURE_STATUSES.contains(&status.as_str()) {
                return Some(false);
            }
            let of_word = || SUCCESSES.contains(&status.as_str()).then_some(true);
            status.parse::<f64>().ok().and_then(of_code).or_else(of_word)
        }
        _ => None,
    }
}

/// Returns whether the value of an error key means that there is no error.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(code) => code.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty() || text.eq_ignore_ascii_case("none"),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}

/// Judges a text in words.
fn of_prose(text: &str) -> Sign {
    let lower = text.to_lowercase();
    if begins_with_one(&lower, FAILURES) {
        return Sign::Failed;
    }
    let is_page = ["<html", "<!doctype", "<head", "<body"].iter().any(|tag| lower.contains(tag));
    if lower.trim().is_empty() || is_page || is_doubtful(&lower) || has_one(&lower, NEGATIONS) {
        return Sign::Doubtful;
    }
    if has_one(&lower, SUCCESSES) {
        // "confirmed: false", "ok, but the place is full"
        let is_taken_back =
            has_one(&lower, &["false", "but", "aber", "maar", "pero", "mais", "ale", "но", "ama", "tapi"])
                || [": 0", "=0", "= 0"].iter().any(|zero| lower.contains(zero));
        return if is_taken_back { Sign::Doubtful } else { Sign::Succeeded };
    }
    // What words say of success or failure is another thing in every language; numbers are data.
    let numbers = numbers_of(&lower).into_iter().filter(|digits| !is_http_fault(digits));
    let data: Vec<Datum> = numbers.map(|digits| Datum { key: None, value: digits.into() }).collect();
    if data.is_empty() { Sign::Doubtful } else { Sign::Data(data) }
}

/// Whether a code is one of errors: `E-77`, `ERR_12`.
fn is_error_code(code: &str) -> bool {
    let lower = code.trim().to_lowercase();
    let rest = lower.strip_prefix("err").or_else(|| lower.strip_prefix('e'));
    let digits = rest.map(|rest| rest.trim_start_matches(['-', '_', ' ']));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether digits may be the status of a failed request.
fn is_http_fault(digits: &str) -> bool {
    digits.len() == 3 && digits.starts_with(['4', '5'])
}
