//! The context of a value: whether it is part of a longer word, and which words around it name its kind.
//!
//! Texts are as people wrote them, or JSON or Python literals, so an escape (`\n`) before a value counts as whitespace,
//! not as a letter.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::words::{Hint, Strength};

/// Characters before a value in which a word can name its kind.
const NEAR_BEFORE: usize = 48;
/// Characters after a value in which a word can name its kind.
const NEAR_AFTER: usize = 24;

/// Maximum number of words between a verb that changes a version and the version.
const MAX_BEFORE_UPDATE: usize = 5;

/// Words for numbers that are not personal. A `*` allows any ending.
const OTHER_NUMBER: &[&str] = &[
    "order",
    "orders",
    "invoice",
    "ticket",
    "tracking",
    "track",
    "isbn",
    "imei",
    "ean",
    "upc",
    "sku",
    "part",
    "case",
    "serial",
    "ref",
    "reference",
    "model",
    "build",
    "version",
    "ver",
    "function",
    "id",
    "ids",
    "uid",
    "userid",
    "tweet",
    "order_id",
    "user_id",
    "timestamp",
    "ts",
    "zip",
    "zipcode",
    "postcode",
    "cep",
    "flight",
    "row",
    "rows",
    "strike",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "near",
    "commit",
    "oem",
    "guest",
    "loyalty",
    "room",
    "sum",
    "amount",
    "price",
    "account",
    "acct",
    "passport",
    "policy",
    "member",
    "membership",
    "licence",
    "license",
    "vin",
    "vat",
    "gtin",
    "asin",
    "booking",
    "reservation",
    "confirmation",
    "drawing",
    "item",
    "article",
    "batch",
    "lot",
    "parcel",
    "shipment",
    "waybill",
    "total",
    "balance",
    "population",
    "page",
    "pages",
    "bytes",
    "returned",
    "count",
    "pid",
    "pin",
    "puk",
    "port",
    "bestellung*",
    "bestell*",
    "auftrag*",
    "rechnung*",
    "sendung*",
    "seriennummer",
    "kundennummer",
    "artikel*",
    "vorgang*",
    "aktenzeichen",
    "konto*",
    "kontonummer",
    "steuernummer",
    "commande*",
    "facture*",
    "dossier",
    "colis",
    "suivi",
    "référence",
    "réf",
    "série",
    "vol",
    "compte",
    "pedido*",
    "factura*",
    "envío",
    "guía",
    "seguimiento",
    "referencia",
    "expediente",
    "folio",
    "cuenta",
    "vuelo",
    "encomenda*",
    "fatura*",
    "rastreio",
    "rastreamento",
    "protocolo",
    "voo",
    "cpf",
    "cnpj",
    "conta",
    "ordine",
    "ordini",
    "fattura*",
    "spedizione",
    "pratica",
    "volo",
    "codice",
    "conto",
    "ordernummer",
    "factuur*",
    "zending*",
    "rekening*",
    "zamówieni*",
    "faktur*",
    "przesyłk*",
    "paczk*",
    "pesel",
    "nip",
    "regon",
    "заказ*",
    "замовлен*",
    "счет*",
    "счёт*",
    "посылк*",
    "накладн*",
    "инн",
    "снилс",
    "трек*",
    "рейс*",
    "sipariş*",
    "kargo",
    "takip",
    "pesanan",
    "resi",
    "nik",
    "objednávk*",
    "rendelés*",
    "comand*",
    "tilaus*",
    "ordrenummer",
    "beställning*",
    "bestilling*",
];
/// Words for things with numbers of their own, of any form.
#[rustfmt::skip] // The words of a language are together.
const ARTICLE: &[&str] = &[
    "article*", "part", "parts", "item*", "sku", "skus", "ticket*", "order*", "product*", "catalog*", "catalogue*", "stock",
    "model", "serial", "component", "material", "mpn", "spare", "filter", "bolt", "invoice*", "case", "asset", "drawing",
    "teil", "teile*", "ersatzteil*", "artikel*", "bestell*", "auftrag*", "material*", "produkt*", "katalog*", "vorgang*", "stück*",
    "artículo*", "articulo*", "pieza*", "producto*", "pedido*", "referencia*", "repuesto*", "boleto*", "incidencia*",
    "pièce*", "piece*", "produit*", "commande*", "référence*", "billet*", "réf", "ref",
    "articolo", "articoli", "pezzo", "pezzi", "prodotto", "prodotti", "ordine", "ricambio", "biglietto", "codice",
    "artigo*", "peça*", "peca*", "produto*", "encomenda*", "bilhete*", "onderdeel*", "artikel*", "bestelling*", "produkt*",
    "część", "części", "artykuł*", "towar*", "zamówieni*", "bilet*", "zgłoszeni*", "varenummer", "artikelnummer",
    "артикул*", "товар*", "детал*", "заказ*", "запчаст*", "билет*", "заявк*", "ürün*", "parça*", "sipariş*", "barang",
    "pesanan", "suku_cadang",
];
/// The same in scripts without spaces between words; directly before the number.
const ARTICLE_ANYWHERE: &[&str] = &[
    "商品",
    "货号",
    "貨號",
    "料号",
    "零件",
    "配件",
    "工单",
    "订单",
    "品番",
    "型番",
    "部品",
    "注文",
    "チケット",
    "부품",
    "품번",
    "상품",
    "제품",
    "주문",
    "티켓",
    "编号",
    "編號",
    "番号",
    "번호",
];
/// Small words between one of them and its number.
const ARTICLE_FILLER: &[&str] = &[
    "the", "with", "called", "named", "labelled", "labeled", "marked", "id", "mit", "der", "die", "das",
    "con", "el", "la", "avec", "le", "com", "o", "z", "с", "to", "for", "de", "di", "da", "du", "pos",
    "lautet", "è", "é",
];
/// The same in scripts without spaces between words; directly before the number.
const OTHER_ANYWHERE: &[&str] = &[
    "订单",
    "訂單",
    "单号",
    "單號",
    "编号",
    "編號",
    "快递",
    "身份证",
    "账号",
    "帳號",
    "卡号",
    "注文",
    "予約番号",
    "追跡",
    "口座",
    "주문",
    "송장",
    "계좌",
    "طلب",
    "فاتورة",
    "ऑर्डर",
    "आधार",
];
/// Words between such a word and its number.
pub(super) const FILLER: &[&str] = &[
    "number",
    "no",
    "nr",
    "num",
    "code",
    "is",
    "of",
    "número",
    "numero",
    "numéro",
    "nummer",
    "numer",
    "номер",
    "numara",
    "nomor",
    "nº",
    "n",
    "ist",
    "est",
    "es",
];
const SSN: &[&str] = &["ssn", "ssns", "soc", "social", "taxpayer", "tin", "itin", "seguro"];
const SSN_BEHIND: &[&str] = &["ssn", "social"];
/// Words between one of them and its number.
const SSN_FILLER: &[&str] = &["id", "identification", "identifier", "security", "sec"];
const MAC: &[&str] = &[
    "mac",
    "macs",
    "bssid",
    "hwaddr",
    "ether",
    "ethernet",
    "lladdr",
    "wifi",
    "wlan",
    "nic",
    "bluetooth",
    "hardware",
    "physical",
    "physische",
    "физический",
    "arp",
    "dhcp",
];
const VERSION: &[&str] = &[
    "version", "ver", "release", "build", "upgrade", "section", "chapter", "oid", "chrome", "firmware", "v",
];
/// Words for a version and nothing else, in many languages; a few small words may be between them and it.
#[rustfmt::skip] // The words of a language are together.
const VERSION_ONLY: &[&str] = &[
    "version", "versions", "firmware*", "release", "revision", "versión", "versao", "versão", "versione", "versie", "wersja",
    "wersji", "wersję", "verze", "verzi", "verzia", "verzió", "versiune*", "versio", "sürüm*", "phiên_bản", "versi", "версия",
    "версии", "версию", "версія", "версії", "έκδοση", "прошивк*", "إصدار", "גרסה", "संस्करण", "softwareversion*",
    "firmwareversion*", "programmversion*",
];
/// The same in scripts without spaces between words; directly before the number.
const VERSION_ANYWHERE: &[&str] =
    &["版本", "版本号", "バージョン", "ファームウェア", "固件", "버전", "펌웨어", "เวอร์ชัน"];
/// Words between one of these and its number.
#[rustfmt::skip] // The words of a language are together.
const VERSION_FILLER: &[&str] = &[
    "the", "of", "my", "our", "this", "current", "latest", "new", "now", "installed", "router", "camera", "device", "printer",
    "switch", "phone", "auf", "der", "des", "die", "la", "el", "de", "del", "du", "le", "lautet", "zu", "a", "à", "to", "é", "è",
];
/// Things that have versions; the number after them is one unless a word for an address or a place is between.
#[rustfmt::skip] // The words of a language are together.
const SOFTWARE: &[&str] = &[
    "app", "apps", "application", "package", "driver", "kernel", "bios", "uefi", "plugin", "sdk", "library", "software", "patch",
    "hotfix", "installer", "module", "rev", "extension", "codec", "runtime", "anwendung", "paket", "treiber", "bibliothek",
    "aplicación", "aplicativo", "paquete", "pacote", "controlador", "biblioteca", "application", "paquet", "pilote",
    "bibliothèque", "applicazione", "pacchetto", "pakket", "sterownik", "pakiet", "приложени*", "пакет*", "драйвер*",
];
/// Verbs that change a version.
#[rustfmt::skip] // The words of a language are together.
const UPDATES: &[&str] = &[
    "update", "updated", "upgrade", "upgraded", "downgrade", "downgraded", "bump", "bumped", "pin", "pinned", "install",
    "installed", "aktualisier*", "installier*", "actualiz*", "instal*", "mettre", "mets", "aggiorn*", "atualiz*", "zaktualiz*",
    "обнов*", "установ*",
];
/// Words for a place or a way, after which an address follows.
const PLACES: &[&str] = &[
    "at", "on", "from", "by", "via", "with", "for", "about", "against", "behind", "host", "server", "router",
    "von", "bei", "unter", "desde", "depuis", "sur", "da", "с", "на", "от",
];
const ADDRESS: &[&str] =
    &["ip", "ips", "ipv4", "host*", "server", "ping", "address*", "addr", "subnet", "dns"];
const CARD: &[&str] = &[
    "card*",
    "visa",
    "credit",
    "cc",
    "ccnum",
    "pan",
    "maestro",
    "mastercard",
    "amex",
    "debit",
    "karte*",
    "*karte",
    "kreditkart*",
    "carte*",
    "tarjeta*",
    "cartão",
    "cartao",
    "carta",
    "kaart",
    "*kaart",
    "karta",
    "karty",
    "kartą",
    "kartę",
    "kart*",
    "карт*",
    "kort*",
    "*kort",
    "thẻ",
    "kartu",
    "κάρτα*",
    "girocard",
    "unionpay",
    "rupay",
    "mir",
    "мир",
    "elo",
    "troy",
    "verve",
    "dankort",
    "diners",
    "discover",
    "jcb",
];
/// The same in scripts without spaces between words.
const CARD_ANYWHERE: &[&str] = &["卡", "カード", "카드", "بطاقة", "कार्ड", "บัตร", "כרטיס", "কার্ড", "کارت"];
/// Parts of keys that name the kind of their value.
const SAYING: &[&str] = &[
    "phone",
    "tel",
    "mobile",
    "cell",
    "whatsapp",
    "sms",
    "fax",
    "contact",
    "key",
    "token",
    "secret",
    "passw",
    "pwd",
    "pass",
    "ssn",
    "social",
    "ip",
    "host",
    "server",
    "card",
    "version",
    "order",
    "id",
    "auth",
    "number",
    "celular",
    "handy",
    "telefon",
    "fon",
    "mob",
    "msisdn",
    "caller",
    "callee",
    "recipient",
    "numero",
    "nomor",
    "nummer",
    "numer",
    "senha",
    "clave",
    "contra",
    "hasl",
    "parol",
    "sifre",
    "credential",
    "mac",
    "bssid",
    "hwaddr",
    "iban",
    "konto",
    "karte",
    "carte",
    "tarjeta",
    "tin",
    "tax",
    "pin",
    "pw",
    "user",
    "mail",
    "dni",
    "nie",
    "nif",
    "cpf",
    "cnpj",
    "cui",
    "rut",
    "curp",
    "aadha",
    "fiscal",
    "pesel",
    "bsn",
    "nir",
    "secu",
    "personn",
    "national",
    "身份",
];

/// Returns true if the key may name the kind of its value.
pub(super) fn says_something(key: &str) -> bool {
    static IN_ANY_CASE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let parts = AhoCorasick::builder().ascii_case_insensitive(true).build(SAYING);
        parts.expect("a few short words")
    });
    IN_ANY_CASE.is_match(key)
}

/// Returns the length of an escape such as `\n` or `\u0041` directly before byte `at`; 0 if there is none.
pub(super) fn escape_before(bytes: &[u8], at: usize) -> usize {
    if at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r' | b'f' | b'b') {
        return 2;
    }
    if at >= 6
        && bytes[at - 6] == b'\\'
        && bytes[at - 5] == b'u'
        && bytes[at - 4..at].iter().all(u8::is_ascii_hexdigit)
    {
        return 6;
    }
    0
}

/// Returns true if a word continues before byte `at`.
pub(super) fn is_joined_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1]) && escape_before(bytes, at) == 0
}

/// Returns true if a word continues at byte `at`.
pub(super) fn is_joined_after(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|&byte| is_word(byte))
}

/// Returns true if a number or identifier continues after byte `at`: with a word, or a joint and a word.
pub(super) fn goes_on(bytes: &[u8], at: usize, joints: &[u8]) -> bool {
    is_joined_after(bytes, at)
        || bytes.get(at).is_some_and(|byte| joints.contains(byte))
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns true if a number or identifier continues before byte `at`.
pub(super) fn came_before(bytes: &[u8], at: usize, joints: &[u8]) -> bool {
    is_joined_before(bytes, at)
        || at >= 2
            && joints.contains(&bytes[at - 1])
            && bytes[at - 2].is_ascii_alphanumeric()
            && escape_before(bytes, at - 1) == 0
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the text before byte `at` in its line, as far as words count.
pub(super) fn near_before(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(NEAR_BEFORE));
    let start = if text[start..at].is_ascii() {
        start
    } else {
        text[..at].char_indices().rev().take(NEAR_BEFORE).last().map_or(at, |(start, _)| start)
    };
    let near = &text[start..at];
    near.rfind('\n').map_or(near, |line| &near[line + 1..])
}

/// Returns the text after byte `at` in its line, as far as words count.
pub(super) fn near_after(text: &str, at: usize) -> &str {
    let length: usize = text[at..].chars().take(NEAR_AFTER).map(char::len_utf8).sum();
    let near = &text[at..at + length];
    near.find('\n').map_or(near, |line| &near[..line])
}

/// Returns the words of a text: letters, split at a capital after a small letter (`phoneNumber`).
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let starts = was_lower && c.is_uppercase();
        if (!c.is_alphabetic() || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

pub(super) fn among(word: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| match (entry.strip_suffix('*'), entry.strip_prefix('*')) {
        (Some(start), _) => word.starts_with(start),
        (None, Some(end)) => word.ends_with(end),
        (None, None) => word == *entry,
    })
}

fn has(text: &str, list: &[&str]) -> bool {
    words(text).iter().any(|word| among(word, list))
}

/// Words after a number that name its kind; other words there belong to the following text.
const PHONE_AFTER: &[&str] = &[
    "phone*",
    "mobile*",
    "cell",
    "cellphone*",
    "whatsapp",
    "whats",
    "telephone*",
    "landline",
    "helpline",
    "ext",
    "extension",
    "dahili",
    "reachable",
];

/// Returns the hints to a telephone number in the words near the number at `start` to `end`.
pub(super) fn announces_phone(text: &str, start: usize, end: usize) -> Hint {
    let mut hint = Hint::default();
    let before = near_before(text, start);
    hint.read(before, &words(before).join(" "));
    let behind = near_after(text, end);
    if hint.strength != Some(Strength::Strong) {
        // In languages with the verb at the end, it follows the number.
        hint.read_after(behind, &words(behind).join(" "));
        if has(behind, PHONE_AFTER) {
            hint.read("", "phone");
        }
    }
    if hint.strength.is_none() && !(before.is_ascii() && behind.is_ascii()) {
        hint.read_script(before);
        hint.read_script(behind);
    }
    hint
}

/// Returns the hints in a line above the list or table that contains the number.
pub(super) fn line_above_announces_phone(text: &str, start: usize) -> Option<Hint> {
    let line = text[..start].rfind('\n')?;
    if start - line > NEAR_BEFORE {
        return None;
    }
    let above = &text[text.floor_char_boundary(line.saturating_sub(3 * NEAR_BEFORE))..line];
    let mut hint = Hint::default();
    hint.read(above, &words(above).join(" "));
    (hint.strength == Some(Strength::Strong)).then_some(hint)
}

/// Returns true if the word directly before byte `at` names another kind of number.
pub(super) fn announces_other(text: &str, at: usize) -> bool {
    let before = near_before(text, at);
    let words = words(before);
    let mut last = words.iter().rev().skip_while(|word| among(word, FILLER));
    let end = before.trim_end_matches([' ', ':', '：', '号', '号', '番', '#', '是', '为']);
    last.next().is_some_and(|word| among(word, OTHER_NUMBER))
        || before.trim_end().ends_with('#')
        || OTHER_ANYWHERE.iter().any(|word| end.ends_with(word))
}

/// Returns true if a word beside the number at `start` to `end` names an article, an order or a ticket.
pub(super) fn announces_article(text: &str, start: usize, end: usize) -> bool {
    let before = near_before(text, start);
    let is_filler = |word: &&String| among(word, FILLER) || among(word, ARTICLE_FILLER);
    let is_article = |word: &String| among(word, ARTICLE);
    let words_before = words(before);
    let bare =
        before.trim_end_matches([' ', ':', '：', '号', '號', '番', '是', '为', '為', 'は', '는', '은', '#']);
    let whole = before.trim_end_matches([' ', ':', '：', '是', '为', '為', 'は', '는', '은', '#']);
    if words_before.iter().rev().find(|word| !is_filler(word)).is_some_and(is_article)
        || (!before.is_ascii()
            && ARTICLE_ANYWHERE.iter().any(|word| bare.ends_with(word) || whole.ends_with(word)))
    {
        return true;
    }
    let behind = near_after(text, end);
    let behind = &behind[..behind.find(['.', ',', ';', '?', '!']).unwrap_or(behind.len())];
    let words_behind = words(behind);
    // `… is the part number`, `… (article)`.
    let is_said = behind.trim_start().starts_with('(')
        || words_behind
            .first()
            .is_some_and(|word| matches!(word.as_str(), "is" | "ist" | "es" | "est" | "è" | "é"));
    let mut next = words_behind
        .iter()
        .filter(|word| !is_filler(word) && !matches!(word.as_str(), "a" | "an" | "my" | "our"));
    is_said && next.next().is_some_and(is_article)
}

/// Returns true if a word in lower case names another kind of number.
pub(super) fn names_other(word: &str) -> bool {
    among(word, OTHER_NUMBER)
}

/// Returns true if a word nearby announces a social security number.
pub(super) fn announces_ssn(text: &str, start: usize, end: usize) -> bool {
    has(near_before(text, start), SSN) || has(near_after(text, end), SSN_BEHIND)
}

/// Returns true if the word directly before byte `at` announces a social security number: `taxpayer id …`.
pub(super) fn names_ssn(text: &str, at: usize) -> bool {
    let words = words(near_before(text, at));
    let mut last = words.iter().rev().skip_while(|word| among(word, FILLER) || among(word, SSN_FILLER));
    last.next().is_some_and(|word| among(word, SSN) || word == "ss")
}

/// Returns true if a word nearby announces a MAC address.
pub(super) fn announces_mac(text: &str, at: usize) -> bool {
    has(near_before(text, at), MAC)
}

/// Returns true if a word nearby announces a version.
pub(super) fn announces_version(text: &str, at: usize) -> bool {
    let before = near_before(text, at);
    let words = words(before);
    let is_near = words.iter().rev().take(2).any(|word| among(word, VERSION));
    let is_filler = |word: &&String| among(word, FILLER) || among(word, VERSION_FILLER);
    let is_only =
        || words.iter().rev().find(|word| !is_filler(word)).is_some_and(|word| among(word, VERSION_ONLY));
    let end = before.trim_end_matches([' ', ':', '：', '号', '是', '为', 'は']);
    let is_operator = [">=", "<=", "~=", "^", "=="].iter().any(|operator| before.ends_with(operator));
    is_near
        || is_only()
        || is_of_software(&words)
        || (is_operator && words.last().is_some_and(|word| !among(word, ADDRESS)))
        || (!before.is_ascii() && VERSION_ANYWHERE.iter().any(|word| end.ends_with(word)))
}

/// Returns true if the words end with software or its change, and no place is named after it: `app …`, `package kiln …`,
/// `upgrade the driver to …`.
fn is_of_software(words: &[String]) -> bool {
    let to = ["to", "auf", "a", "à", "para", "до", "na"];
    let (words, has_to) = match words.split_last() {
        Some((last, rest)) if to.contains(&last.as_str()) => (rest, true),
        _ => (words, false),
    };
    let is_place = |word: &String| among(word, ADDRESS) || among(word, PLACES);
    let near = &words[words.len().saturating_sub(2)..];
    let is_software = near.iter().any(|word| among(word, SOFTWARE)) && !near.iter().any(is_place);
    let is_update = words.iter().rev().take(MAX_BEFORE_UPDATE).any(|word| among(word, UPDATES));
    if has_to {
        let is_bare = || words.last().is_some_and(|word| among(word, UPDATES));
        return is_update && (is_software || is_bare());
    }
    is_software
}

/// Returns true if the text after a number says that it is a version: `is the latest version`.
pub(super) fn is_version_after(text: &str, end: usize) -> bool {
    let behind = near_after(text, end);
    let behind = &behind[..behind.find(['.', ',', ';', '?', '!']).unwrap_or(behind.len())];
    let words = words(behind);
    let small = [
        "is",
        "the",
        "a",
        "our",
        "my",
        "latest",
        "new",
        "newest",
        "current",
        "stable",
        "last",
        "installed",
        "ist",
        "die",
    ];
    words.iter().find(|word| !small.contains(&word.as_str())).is_some_and(|word| among(word, VERSION_ONLY))
}

/// Returns true if a word nearby announces an IP address.
pub(super) fn announces_address(text: &str, at: usize) -> bool {
    has(near_before(text, at), ADDRESS)
}

/// Returns true if a word nearby announces a card number.
pub(super) fn announces_card(text: &str, start: usize, end: usize) -> bool {
    let before = near_before(text, start);
    has(before, CARD)
        || CARD_ANYWHERE.iter().any(|word| before.contains(word))
        || has(near_after(text, end), CARD)
}
