//! Words before a secret, in many languages, and how a word is joined to its value: `key = …`, `mein Passwort lautet
//! …`.

use super::marked::Announced;

/// The kind of secret that a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Key,
    Password,
    Token,
}

/// The words. The first letter is omitted if its case varies.
pub(super) const WORDS: [(&[&str], Word); 3] = [
    (
        &[
            "key",
            "Key",
            "KEY",
            "ecret",
            "ECRET",
            "appid",
            "APPID",
            "redential",
            "chlüssel",
            "chave",
            "ключ",
            "klucz",
            "clé",
            "Clé",
            "llave",
            "Llave",
            "chiave",
            "Chiave",
            "sleutel",
            "Sleutel",
            "anahtar",
            "API 키",
            "API키",
            "비밀키",
            "密钥",
            "密鑰",
            "秘钥",
            "APIキー",
        ],
        Word::Key,
    ),
    (
        &[
            "assword",
            "ASSWORD",
            "asswd",
            "ASSWD",
            "pwd",
            "PWD",
            "Pwd",
            "assphrase",
            "ASSPHRASE",
            "asscode",
            "asswort",
            "ASSWORT",
            "ennwort",
            "ontraseña",
            "ontrasena",
            "ONTRASEÑA",
            "clave",
            "Clave",
            "senha",
            "Senha",
            "SENHA",
            "mot de passe",
            "Mot de passe",
            "mdp",
            "MDP",
            "achtwoord",
            "hasło",
            "Hasło",
            "haslo",
            "ароль",
            "ароля",
            "şifre",
            "Şifre",
            "parola",
            "Parola",
            "parolă",
            "mật khẩu",
            "Mật khẩu",
            "ata sandi",
            "ata laluan",
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "暗証番号",
            "비밀번호",
            "비번",
            "암호",
            "كلمة المرور",
            "كلمة السر",
            "باسورد",
            "पासवर्ड",
            "পাসওয়ার্ড",
            "รหัสผ่าน",
            "ösenord",
            "assord",
            "dgangskode",
            "odeord",
            "alasana",
            "heslo",
            "Heslo",
            "jelszó",
            "Jelszó",
            "jelszav",
            "agwoord",
            "requirepass",
            "ωδικός",
            "ωδικό",
            "סיסמה",
            "סיסמא",
            "رمز عبور",
            "گذرواژه",
            "pass",
            "Pass",
            "PASS",
            "pw",
            "PW",
            "psk",
            "PSK",
        ],
        Word::Password,
    ),
    (
        &[
            "oken",
            "OKEN",
            "earer",
            "EARER",
            "Basic",
            "uthorization",
            "UTHORIZATION",
            "令牌",
            "トークン",
            "токен",
            "토큰",
            "jeton",
            "Jeton",
            "SSWS",
            "sessionid",
            "connect.sid",
            "_PAT",
            "SESSID",
            "SESSIONID",
        ],
        Word::Token,
    ),
];
/// Joints between a word and its value, after quotes and whitespace.
const JOINTS: [&str; 37] = [
    "=>",
    "=",
    "：",
    ":",
    "is ",
    "was ",
    "是",
    "为",
    "為",
    "は",
    "는 ",
    "은 ",
    "ist ",
    "lautet ",
    "es ",
    "est ",
    "è ",
    "é ",
    "jest ",
    "это ",
    "adalah ",
    "ialah ",
    "là ",
    "är ",
    "este ",
    "είναι ",
    "هي ",
    "هو ",
    "er ",
    "je ",
    "คือ ",
    "คือ",
    "ay ",
    "'s ",
    "changed to ",
    "set to ",
    "reset to ",
];
/// Text that may follow a joint: `was set to`.
const CHANGES: [&str; 4] = ["set to ", "changed to ", "reset to ", "now "];
/// Joints that are common words: the value must be certain by itself.
const LOOSE_JOINTS: [&str; 9] = ["to ", "on ", "in ", "as ", "- ", "— ", "– ", "-> ", "→ "];
/// Text between a word and its joint that names the owner of the password: `password for the wifi is …`.
const OWNERS: [&str; 24] = [
    " on ", " na ", " от ", " mitt ", " của ", " wifi", " mea ", " μου ", " ko ", " для ", " for ", " of ",
    " to ", " für ", " fürs ", " vom ", " von ", " para ", " de ", " del ", " da ", " do ", " pour ", " du ",
];
const FAR_JOINTS: [&str; 16] = [
    ": ",
    " is ",
    "=",
    " ist ",
    " lautet ",
    " es ",
    " est ",
    " é ",
    " è ",
    " er ",
    " je ",
    " là ",
    " este ",
    " είναι ",
    " ay ",
    " jest ",
];
/// Text between a word for a password and a joint in the same sentence, if the value is certain by itself.
const SENTENCE_JOINTS: [&str; 27] = [
    ": ",
    " is ",
    " was ",
    "=",
    " ist ",
    " heißt ",
    " war ",
    " bisher ",
    " jetzt ",
    " c'est ",
    " es ",
    " est ",
    " era ",
    " är ",
    " var ",
    " nu ",
    " now ",
    " è ",
    " é ",
    " schimbat in ",
    " to ",
    " → ",
    " -> ",
    " pra ",
    " para ",
    "? ",
    " er ",
];
/// Suffixes of a name that distinguish several keys or passwords.
const WHICH: [&str; 22] = [
    "_base",
    "_value",
    "_prod",
    "_production",
    "_dev",
    "_live",
    "_test",
    "_staging",
    "_b64",
    "_base64",
    "_hex",
    "_primary",
    "_secondary",
    "_new",
    "_old",
    "_current",
    "_main",
    "_admin",
    "_root",
    "_string",
    "_plain",
    "_text",
];
/// Words before `key` or `token` whose value is not a secret.
const NO_SECRETS: [&str; 31] = [
    "cache",
    "sort",
    "primary",
    "foreign",
    "partition",
    "row",
    "idempotency",
    "dedup",
    "object",
    "routing",
    "public",
    "pub",
    "commit",
    "hash",
    "map",
    "dict",
    "next",
    "page",
    "continuation",
    "cancellation",
    "lookup",
    "shard",
    "group",
    "join",
    "composite",
    "ssh",
    "storage",
    "slot",
    "trie",
    "merkle",
    "transaction",
];
/// Words before `token` that announce a secret even if it looks like an id.
const NAMING: [&str; 10] =
    ["api", "access", "secret", "server", "auth", "private", "account", "bot", "personal", "admin"];
/// Words before `key` or `token`, in one name or apart, with which it names a secret and nothing else.
const SPECIFIC: [&str; 29] = [
    "api",
    "access",
    "secret",
    "server",
    "auth",
    "private",
    "account",
    "bot",
    "personal",
    "admin",
    "client",
    "app",
    "consumer",
    "service",
    "signing",
    "signature",
    "encryption",
    "master",
    "webhook",
    "refresh",
    "session",
    "bearer",
    "deploy",
    "license",
    "integration",
    "subscription",
    "shared",
    "jwt",
    "id",
];
/// Schemes of the header `Authorization`.
const SCHEMES: [&str; 12] = [
    "Bearer ",
    "bearer ",
    "Basic ",
    "basic ",
    "SSWS ",
    "Token ",
    "token ",
    "ApiKey ",
    "apikey ",
    "GenieKey ",
    "DPoP ",
    "OAuth ",
];
/// Quotes and emphasis before a value, and after a word.
const OPENING: [char; 14] = ['"', '\'', '\\', '`', '*', '“', '„', '”', '«', '»', '‘', '‚', '「', '『'];
const CLOSING: [char; 13] = ['"', '\'', '\\', ']', '`', '*', '“', '”', '«', '»', '’', '」', '』'];
/// Maximum number of bytes from a word to its value, and to a joint that is not directly after it.
const MAX_TIE: usize = 20;
const MAX_FAR: usize = 48;
/// Digits of a private key in hex.
const HEX_KEY: usize = 64;
/// Minimum length of a password that is not directly after its word.
const SURE_CHARS: usize = 8;
/// The same for other secrets.
const SURE_RANDOM: usize = 20;
/// Length of a word up to which it has to be a whole word.
const SHORT_WORD: usize = 4;
/// Bytes before a word that can modify it.
const MAX_BEFORE: usize = 48;
/// Maximum length in bytes of an inflection: `Passworts`, `şifrem`.
const MAX_ENDING: usize = 8;

/// The connection of a value to its word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    /// The first byte of the value.
    pub(super) from: usize,
    /// The quote around the value.
    pub(super) quote: Option<char>,
    /// What the word says about it. A value that is only near it must be certain by itself.
    pub(super) announced: Announced,
    /// Whether the value may look like an id.
    pub(super) is_named: bool,
    /// Whether a user and a password in base64 may follow.
    pub(super) is_basic: bool,
}

/// Returns the connection of the word at these bytes to a value after it.
pub(super) fn tie(text: &str, word_start: usize, word_end: usize, word: Word) -> Option<Tie> {
    let before = &text[text.floor_char_boundary(word_start.saturating_sub(MAX_BEFORE))..word_start];
    let mut rest = text.get(word_end..)?;
    // Short words have to be whole words.
    let is_short = word_end - word_start <= SHORT_WORD;
    if word == Word::Password && is_short {
        let is_joined = before.ends_with(|c: char| c.is_alphanumeric())
            || rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_joined
            && &text[word_start..word_end] != "pwd"
            && &text[word_start..word_end] != "PWD"
            && &text[word_start..word_end] != "Pwd"
        {
            return None;
        }
    } else if word == Word::Password {
        rest = without_ending(rest);
    }
    let mut is_of_api = false;
    if word == Word::Key {
        let all = rest;
        rest = [" API", " api", " de API", " da API"]
            .iter()
            .find_map(|of| rest.strip_prefix(of))
            .unwrap_or(rest);
        is_of_api = rest.len() < all.len();
    }
    rest = without_which(rest);
    let joined = joined_before(before);
    if word == Word::Key && NO_SECRETS.contains(&joined.as_str()) {
        return None;
    }
    let whole = &text[..word_end];
    let is_header = ["earer", "EARER", "Basic", "SSWS"].iter().any(|header| whole.ends_with(header));
    let is_flag = is_flag(before);
    let closed = rest.trim_start_matches(CLOSING);
    let behind = closed.trim_start_matches([' ', '\t']);
    let joint = |joints: &[&str]| joints.iter().find_map(|joint| behind.strip_prefix(joint));
    let (value, is_loose) = if let Some(value) = joint(&JOINTS) {
        (CHANGES.iter().find_map(|change| value.strip_prefix(change)).unwrap_or(value), false)
    } else if (is_header || is_flag) && rest.starts_with(' ') {
        (behind, false)
    } else if let Some(value) = far(rest, word) {
        (value, false)
    } else if let Some(value) = joint(&LOOSE_JOINTS) {
        (value, true)
    } else if let Some(value) = in_sentence(rest, word) {
        (value, true)
    } else if rest.starts_with([' ', '"', '\'', '`', '(', '“', '„', '«', '‘', '「', '『', '*']) {
        // After a word in another script, a Latin word is not prose.
        let is_apart = word == Word::Password && !whole.ends_with(|c: char| u32::from(c) < 0x0370);
        (behind.trim_start_matches('('), !is_apart)
    } else {
        return None;
    };
    let scheme = value.trim_start_matches(|c: char| c.is_whitespace() && c != '\n' || OPENING.contains(&c));
    let scheme_length =
        SCHEMES.iter().find(|scheme_name| scheme.starts_with(**scheme_name)).map_or(0, |name| name.len());
    let value = if word == Word::Token { &scheme[scheme_length..] } else { scheme };
    let value = value.strip_prefix("base64:").filter(|_| word == Word::Key).unwrap_or(value);
    // The key of a wallet.
    let is_hex = |digits: &&str| {
        let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        length == HEX_KEY && !digits[length..].starts_with(char::is_alphanumeric)
    };
    let value = value.strip_prefix("0x").filter(|rest| word == Word::Key && is_hex(rest)).unwrap_or(value);
    // A signed cookie of Node.
    let value = value.strip_prefix("s:").filter(|_| whole.ends_with("connect.sid")).unwrap_or(value);
    let from = text.len() - value.len();
    // A value far from its word belongs to another.
    let most = MAX_TIE + MAX_FAR;
    if from - word_end > most || value.is_empty() {
        return None;
    }
    let quote = text[..from].chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`'));
    let name =
        before_word(before).rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    if word != Word::Password && NO_SECRETS.contains(&name.as_str()) {
        return None;
    }
    let is_named = NAMING.contains(&name.as_str()) || joined == "genie";
    let begins =
        |name: &str, word: &str| name.strip_prefix(word).is_some_and(|rest| matches!(rest, "" | "s" | "t"));
    let is_environment = before.ends_with('_') && whole.ends_with(|c: char| c.is_ascii_uppercase());
    let is_specific = is_of_api
        || is_header
        || is_environment
        || whole.ends_with("ecret")
        || whole.ends_with("ECRET")
        || SPECIFIC.iter().any(|word| name == *word || begins(&joined, word));
    let is_basic = whole.ends_with("Basic") || scheme[..scheme_length].eq_ignore_ascii_case("basic ");
    let announced = Announced { is_loose, is_specific };
    Some(Tie { from, quote, announced, is_named, is_basic })
}

/// Returns the text before a word whose first letters are given here: `my ` of `my t` + `oken`.
fn before_word(before: &str) -> &str {
    before.trim_end_matches(|c: char| c.is_alphanumeric()).trim_end_matches([' ', '_', '-'])
}

/// Returns the letters directly before the word, in lower case: `public` of `PublicKey`.
fn joined_before(before: &str) -> String {
    let start = before.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    before[start..].to_ascii_lowercase()
}

/// Returns the text without a suffix that distinguishes several: `secret_key_base: …`, `Unseal Key 2: …`, `key (not the
/// old one): …`.
fn without_which(rest: &str) -> &str {
    let is_joint = |behind: &&str| behind.trim_start_matches(['"', '\'', ' ']).starts_with([':', '=']);
    if let Some(behind) = WHICH.iter().find_map(|which| rest.strip_prefix(which)).filter(is_joint) {
        return behind;
    }
    let behind_number = rest.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with(' ') && rest.len() - behind_number.len() <= 4 && is_joint(&behind_number) {
        return behind_number;
    }
    let remark = rest.strip_prefix(" (").and_then(|remark| {
        let shown = &remark[..remark.floor_char_boundary(MAX_FAR)];
        shown.find(')').map(|at| &remark[at + 1..])
    });
    remark.filter(is_joint).unwrap_or(rest)
}

/// Returns the text after a joint in the same sentence, if it is certain: long, with letters and digits or signs.
fn in_sentence(rest: &str, word: Word) -> Option<&str> {
    if !rest.starts_with([' ', '?', ',']) {
        return None;
    }
    let least = if word == Word::Password { SURE_CHARS } else { SURE_RANDOM };
    let near = &rest[..rest.floor_char_boundary(MAX_FAR)];
    let near = near.split(['\n', '!', ';']).next().unwrap_or_default();
    let is_sure = |value: &&str| {
        let end = value.find(char::is_whitespace).unwrap_or(value.len());
        let first = &value[..end];
        first.chars().count() >= least
            && first.contains(|c: char| c.is_ascii_digit() || "!@#$%^*&".contains(c))
            && first.contains(char::is_alphabetic)
    };
    let mut joints: Vec<usize> = SENTENCE_JOINTS
        .iter()
        .flat_map(|joint| near.match_indices(joint).map(|(at, joint)| at + joint.len()))
        .collect();
    joints.sort_unstable();
    joints.into_iter().map(|at| &rest[at..]).find(is_sure)
}

/// Removes lower-case letters, or letters of a script without cases, that end a word.
fn without_ending(rest: &str) -> &str {
    let length: usize = rest
        .chars()
        .take(MAX_ENDING + 1)
        .take_while(|&c| {
            c.is_alphabetic() && !c.is_uppercase() && !matches!(c, '是' | '为' | '為' | 'は' | '는' | '은')
        })
        .map(char::len_utf8)
        .sum();
    if length <= MAX_ENDING { &rest[length..] } else { rest }
}

/// Returns true if the word is an argument of a command: `--db-password`.
fn is_flag(before: &str) -> bool {
    let name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    before.len() - name.len() <= MAX_TIE && before[name.len()..].starts_with("--")
}

/// Returns the text after a joint that is a few words away.
fn far(rest: &str, word: Word) -> Option<&str> {
    if word == Word::Token { None } else { after_owner(rest) }
}

/// Returns the text after the owner of a value and a joint: ` for the wifi is …`, ` del cliente: …`.
pub(super) fn after_owner(rest: &str) -> Option<&str> {
    if !OWNERS.iter().any(|owner| rest.starts_with(owner)) {
        return None;
    }
    let near = &rest[..rest.floor_char_boundary(MAX_FAR)];
    let near = near.split(['\n', '.', '?', '!', ';']).next().unwrap_or_default();
    let (at, joint) = FAR_JOINTS.iter().filter_map(|joint| near.find(joint).map(|at| (at, joint))).min()?;
    Some(&rest[at + joint.len()..])
}
