//! National ids after their names: `DNI 12345678Z`, `mon numéro de sécurité sociale est le …`, `"cpf": "…"`.
//!
//! The name and the form decide. Check digits do not: a wrong one is a typing error, and the number is as personal. Without a
//! name the forms are those of any other number. The ids count as social security numbers, which `ssn` finds.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::runs::next_digit;
use super::secret_words::after_owner;
use super::ssn;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Names of ids, and their forms: `9` is a digit, `A` a letter, `*` either. A name in capitals stands for itself only, as its
/// small letters are another word.
struct Document {
    names: &'static [&'static str],
    forms: &'static [&'static str],
}

#[rustfmt::skip] // The names of a country are together.
const DOCUMENTS: &[Document] = &[
    // Spain, Argentina, Peru.
    Document { names: &["dni", "documento nacional de identidad"], forms: &["99999999A", "9999999A", "99999999", "9999999"] },
    Document { names: &["nie", "número de identidad de extranjero", "numero de identidad de extranjero"], forms: &["A9999999A", "A99999999A"] },
    Document { names: &["nif", "número de identificación fiscal"], forms: &["99999999A", "A9999999A", "A99999999", "999999999"] },
    Document { names: &["seguridad social", "nuss"], forms: &["999999999999", "99999999999"] },
    Document { names: &["cuit", "cuil"], forms: &["99999999999"] },
    Document { names: &["rut"], forms: &["99999999*", "9999999*"] },
    Document { names: &["cédula", "cedula", "cédula de ciudadanía", "cedula de ciudadania", "cédula de identidad", "cedula de identidad"], forms: &["9999999999", "999999999", "99999999"] },
    Document { names: &["curp"], forms: &["AAAA999999AAAAAA*9"] },
    Document { names: &["rfc"], forms: &["AAAA999999***"] },
    // Brazil, Portugal.
    Document { names: &["cpf", "cadastro de pessoa física", "cadastro de pessoas físicas"], forms: &["99999999999"] },
    Document { names: &["cnpj", "cadastro nacional da pessoa jurídica"], forms: &["99999999999999", "************99"] },
    // India.
    Document { names: &["aadhaar", "aadhar", "adhaar", "uidai", "आधार"], forms: &["999999999999"] },
    Document { names: &["PAN", "pan card", "permanent account number"], forms: &["AAAAA9999A"] },
    // Italy.
    Document { names: &["codice fiscale", "cod. fiscale", "cod fiscale"], forms: &["AAAAAA**A**A***A", "99999999999"] },
    // Poland, the Netherlands, Belgium.
    Document { names: &["pesel"], forms: &["99999999999"] },
    Document { names: &["bsn", "burgerservicenummer", "sofinummer"], forms: &["999999999", "99999999"] },
    Document { names: &["rijksregisternummer", "insz", "niss", "registre national"], forms: &["99999999999"] },
    // Germany, Austria, Switzerland.
    Document { names: &["steuer-id", "steuer id", "steueridentifikationsnummer", "steuer-identifikationsnummer", "steuerliche identifikationsnummer", "steuer-idnr", "idnr"], forms: &["99999999999"] },
    Document { names: &["sozialversicherungsnummer", "rentenversicherungsnummer", "sv-nummer"], forms: &["99999999A999", "9999999999"] },
    Document { names: &["ahv-nummer", "ahv", "avs"], forms: &["9999999999999"] },
    // France.
    Document { names: &["nir", "sécurité sociale", "securite sociale", "sécu", "insee"], forms: &["999999*99999999", "999999*999999"] },
    // Sweden, Norway, Denmark, Finland.
    Document { names: &["personnummer", "samordningsnummer", "fødselsnummer", "cpr", "cpr-nummer", "kennitala"], forms: &["999999999999", "99999999999", "9999999999"] },
    Document { names: &["henkilötunnus", "hetu"], forms: &["999999A999*", "999999999*"] },
    // Great Britain, Ireland, Canada, Australia, any country.
    Document { names: &["national insurance", "nino", "ni number"], forms: &["AA999999A"] },
    Document { names: &["pps number", "ppsn"], forms: &["9999999A", "9999999AA"] },
    Document { names: &["social insurance number", "SIN"], forms: &["999999999"] },
    Document { names: &["tax file number", "tfn"], forms: &["999999999", "99999999"] },
    Document { names: &["nric"], forms: &["A9999999A"] },
    Document { names: &["national id", "national identification", "national identity"], forms: &["99999999", "999999999", "9999999999", "99999999999", "999999999999", "9999999999999", "99999999999999"] },
    // China, Taiwan, Japan, Korea.
    Document { names: &["身份证", "身份證", "公民身份", "居民身份证", "resident identity card"], forms: &["99999999999999999*", "999999999999999", "A999999999"] },
    Document { names: &["身分證", "身分證字號"], forms: &["A999999999"] },
    Document { names: &["マイナンバー", "個人番号"], forms: &["999999999999"] },
    Document { names: &["주민등록번호", "주민번호"], forms: &["9999999999999"] },
    // Russia, Turkey, and others.
    Document { names: &["снилс", "СНИЛС"], forms: &["99999999999"] },
    Document { names: &["инн", "ИНН"], forms: &["999999999999"] },
    Document { names: &["kimlik", "tckn"], forms: &["99999999999"] },
    Document { names: &["cnp", "cod numeric personal"], forms: &["9999999999999"] },
    Document { names: &["rodné číslo", "rodne cislo"], forms: &["9999999999", "999999999"] },
    Document { names: &["oib", "amka"], forms: &["99999999999"] },
    Document { names: &["nik", "ktp"], forms: &["9999999999999999"] },
];
/// Words between a name and its number.
#[rustfmt::skip] // The words of a language are together.
const BETWEEN: &[&str] = &[
    "number", "no", "nr", "num", "card", "code", "id", "value", "is", "was", "as", "número", "numero", "es", "el", "son", "la",
    "numéro", "est", "le", "du", "nummer", "ist", "lautet", "die", "der", "nº", "n", "é", "o", "do", "è", "il", "numer", "to",
    "jest", "номер", "это", "är", "er", "nummeret", "numara", "numarası", "numaram", "nomor", "adalah", "número",
    "号码", "号", "號碼", "字號", "番号", "是", "为", "為", "は", "का", "नंबर", "है", "संख्या",
];
/// Maximum number of such words.
const MAX_BETWEEN: usize = 4;
/// Marks between a name, such words and the number.
const MARKS: &str = ":=\"'`*#：?-_>|\\()[]°º.,，";
/// Signs between the digits of a number.
const SIGNS: [char; 6] = [' ', '\u{a0}', '.', '-', '/', '+'];
/// The first digits of a placeholder without and with letters.
const FRONT: &str = "9000";
const FRONT_WITH_LETTERS: &str = "0000";

static NAMES: LazyLock<(Vec<(&'static Document, &'static str)>, AhoCorasick)> = LazyLock::new(|| {
    let (mut documents, mut patterns) = (Vec::new(), Vec::<String>::new());
    for document in DOCUMENTS {
        for &name in document.names {
            let spellings =
                [name.to_owned(), name.replace(' ', "_"), name.replace(' ', "-"), name.replace(' ', "")];
            for spelling in spellings {
                if !patterns.contains(&spelling) {
                    patterns.push(spelling);
                    documents.push((document, name));
                }
            }
        }
    }
    let names = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns);
    (documents, names.expect("a list of some hundred names"))
});

/// Finds the ids of a text.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    // Most texts without a number end here.
    if next_digit(text.as_bytes(), 0).is_none() {
        return;
    }
    for hit in NAMES.1.find_iter(text) {
        let (document, name) = NAMES.0[hit.pattern().as_usize()];
        let written = &text[hit.range()];
        let is_capitals = name.is_ascii() && name.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_whole(text, hit.start(), hit.end()) || (is_capitals && written != name) {
            continue;
        }
        let from = hit.end() + between(&text[hit.end()..]);
        let Some(end) = document.forms.iter().find_map(|form| read(text, from, form)) else { continue };
        let value: String = text[from..end].chars().filter(|c| c.is_alphanumeric()).collect();
        let value = value.to_uppercase();
        let status =
            number(&value).map_or(ValueStatus::Personal, |number| ValueStatus::Placeholder(Some(number)));
        found.push(FoundValue::new(PrivacyKind::Ssn, from, end, value, status));
    }
}

/// Returns true if the text may have an id.
pub(super) fn may_hold(text: &str) -> bool {
    let mut found = Vec::new();
    find(text, &mut found);
    !found.is_empty()
}

/// Returns true if a name is a word of its own, in prose or in a key: `user_cpf`, `userCpf`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_dense = |c: char| u32::from(c) >= 0x0e00;
    let first = text[start..].chars().next();
    let before = text[..start].chars().next_back();
    let behind = text[end..].chars().next();
    let is_camel = before.is_some_and(char::is_lowercase) && first.is_some_and(char::is_uppercase);
    let begins = is_camel || first.is_some_and(is_dense) || !before.is_some_and(char::is_alphanumeric);
    let ends = !behind.is_some_and(|c| c.is_alphabetic() && !is_dense(c) && !c.is_uppercase());
    begins && ends
}

/// Returns the length of the words and marks before the number.
fn between(behind: &str) -> usize {
    let mut rest = after_owner(behind).unwrap_or(behind);
    for _ in 0..=MAX_BETWEEN {
        rest = rest.trim_start_matches(|c: char| matches!(c, ' ' | '\t' | '\u{a0}') || MARKS.contains(c));
        let length = rest
            .find(|c: char| !c.is_alphabetic() && !matches!(u32::from(c), 0x900..0x980))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        if let Some(dense) = BETWEEN.iter().filter(|word| !word.is_ascii()).find(|dense| {
            u32::from(dense.chars().next().unwrap_or_default()) >= 0x0e00 && word.starts_with(**dense)
        }) {
            rest = &rest[dense.len()..];
            continue;
        }
        let is_part = rest[length..].starts_with(|c: char| c.is_ascii_digit());
        if is_part || !BETWEEN.contains(&word.to_lowercase().as_str()) {
            break;
        }
        rest = &rest[length..];
    }
    behind.len() - rest.len()
}

/// Returns the end of a number of this form at byte `from`. Single signs may be between its characters.
fn read(text: &str, from: usize, form: &str) -> Option<usize> {
    let mut at = from;
    let mut has_digit = false;
    for (n_read, wanted) in form.bytes().enumerate() {
        let mut c = text[at..].chars().next()?;
        if n_read > 0 && SIGNS.contains(&c) {
            at += c.len_utf8();
            c = text[at..].chars().next()?;
        }
        has_digit |= c.is_ascii_digit();
        let is_right = match wanted {
            b'9' => c.is_ascii_digit(),
            b'A' => c.is_ascii_alphabetic(),
            _ => c.is_ascii_alphanumeric(),
        };
        if !is_right {
            return None;
        }
        at += 1;
    }
    let mut behind = text[at..].chars();
    let next = behind.next();
    let goes_on = next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        || (matches!(next, Some('.' | '-' | '/'))
            && behind.next().is_some_and(|c| c.is_ascii_alphanumeric()));
    (has_digit && !goes_on).then_some(at)
}

/// Returns the number of a placeholder.
fn number(value: &str) -> Option<u64> {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let has_letters = digits.len() < value.len();
    if digits.len() == ssn::DIGITS && !has_letters {
        return ssn::number(&digits);
    }
    let is_ours = value.chars().all(|c| c.is_ascii_digit() || c == 'X') && digits.len() > FRONT.len();
    digits.strip_prefix(front(has_letters)).filter(|_| is_ours)?.parse().ok()
}

/// Returns the digits at the front of a placeholder. Of digits alone it begins with a nine, as a number of JSON loses zeros.
fn front(has_letters: bool) -> &'static str {
    if has_letters { FRONT_WITH_LETTERS } else { FRONT }
}

/// Returns the placeholder: zeros and the number for the digits, `X` for the letters.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let n_digits = written.bytes().filter(u8::is_ascii_digit).count();
    let front = front(written.contains(|c: char| c.is_ascii_alphabetic()));
    let width = n_digits.saturating_sub(front.len());
    let capacity = 10_u64.checked_pow(u32::try_from(width).unwrap_or(u32::MAX));
    let number = capacity.map_or(number, |capacity| number % capacity);
    let mut digits = front.chars().chain(format!("{number:0width$}").chars().collect::<Vec<char>>());
    let replaced = |c: char| match c {
        '0'..='9' => digits.next().unwrap_or('0'),
        'a'..='z' => 'x',
        'A'..='Z' => 'X',
        _ => c,
    };
    written.chars().map(replaced).collect()
}
