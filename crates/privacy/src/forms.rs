//! Secrets with a known form but no vendor prefix: private keys, arguments of commands, signatures in URLs.

use std::ops::Range;

use memchr::memmem;

use super::random::{is_random, is_stand_in};
use super::scanned::ScannedParts;
use super::secret::{DASHES, PEM, PEM_END, head, number, secret};
use super::value_end::password_end;
use super::vendors::Letters;
use super::{FoundValue, PrivacyKind};

/// Maximum length of a key's name in its first line, and minimum number of letters of a key, complete or truncated.
const MAX_PEM_NAME: usize = 40;
const LEAST_PEM: usize = 32;
/// Bytes before an argument, in its line, in which its command is searched.
const MAX_COMMAND: usize = 160;
/// Lengths of a password on a command line.
const ARGUMENT_CHARS: std::ops::RangeInclusive<usize> = 4..=128;
/// Words that are not a password where one is expected.
const NO_PASSWORDS: [&str; 10] =
    ["password", "port", "protocol", "plugin-dir", "print", "pass", "root", "test", "none", "null"];
/// Minimum length of a signature.
const LEAST_SIGNATURE: usize = 40;
/// Minimum length of the only string in a login call.
const LEAST_ONLY: usize = 32;
/// Numbers of words in a wallet's recovery phrase, letters per word, and maximum distance in bytes from its
/// announcement.
const SEED_WORDS: [usize; 5] = [12, 15, 18, 21, 24];
const SEED_LETTERS: std::ops::RangeInclusive<usize> = 3..=8;
const MAX_SEED_AWAY: usize = 80;
/// Numbers of words in a passphrase, its quotes, and words that only descriptions have.
const PHRASE_WORDS: std::ops::RangeInclusive<usize> = 3..=10;
const PHRASE_QUOTES: [(char, char); 6] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“'), ('«', '»')];
const PLAIN_WORDS: [&str; 24] = [
    "the",
    "a",
    "an",
    "of",
    "to",
    "for",
    "is",
    "or",
    "and",
    "in",
    "that",
    "this",
    "your",
    "with",
    "must",
    "used",
    "key",
    "be",
    "secret",
    "password",
    "phrase",
    "passphrase",
    "optional",
    "enter",
];
/// Minimum length of a value passed to a client.
const LEAST_ARGUMENT: usize = 24;

/// A form of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A private key from its first to its last line.
    Pem,
    /// An argument of one of these commands, with or without a space before it.
    Argument { separate: &'static [&'static str], joined: &'static [&'static str] },
    /// The same, after a user name.
    UserAndPassword(&'static [&'static str]),
    /// A parameter that signs a URL.
    Signature,
    /// The second, or the only, string in a login call.
    Pair,
    /// The recovery phrase of a wallet.
    Seed,
    /// Quoted words of a passphrase.
    Phrase,
    /// A line of a password file: host, port, database, user, password.
    PasswordFile,
    /// The content of a QR code for a wireless network.
    Wifi,
    /// The first argument of a call that creates a client.
    Client,
    /// `user/password@` of Oracle.
    Oracle,
}

/// The start of each form.
pub(super) const FORMS: [(&str, Form); 46] = [
    (PEM, Form::Pem),
    (" -u ", Form::UserAndPassword(&["curl", "http", "wget"])),
    (" -u", Form::UserAndPassword(&["curl"])),
    (" --user ", Form::UserAndPassword(&["curl"])),
    (" --user=", Form::UserAndPassword(&["curl"])),
    (" --proxy-user ", Form::UserAndPassword(&["curl"])),
    (" -a ", Form::UserAndPassword(&["http ", "https ", "xh "])),
    (" -U ", Form::UserAndPassword(&["curl", "smbclient", "rpcclient"])),
    (
        " -p",
        Form::Argument {
            separate: &[
                "sshpass", " login", "mongo", "twine", "helm", "jfrog", "rabbitmq", "ldap", "influx", "acr",
                " -u ", " -U ", " --user",
            ],
            joined: &["mysql", "mariadb", "sshpass", "mongo", "7z", "7za", "rar "],
        },
    ),
    (" -P ", Form::Argument { separate: &["unzip", "zip ", "bcp", "sqlcmd", "mosquitto"], joined: &[] }),
    (" -a ", Form::Argument { separate: &["redis-cli"], joined: &[] }),
    (" -w ", Form::Argument { separate: &["ldap"], joined: &[] }),
    (" -pw ", Form::Argument { separate: &["plink", "pscp", "putty", "psftp"], joined: &[] }),
    (" --pass ", Form::Argument { separate: &[""], joined: &[] }),
    (" /p:", Form::Argument { separate: &[], joined: &["freerdp"] }),
    (" pass:", Form::Argument { separate: &[], joined: &["openssl"] }),
    (" -k ", Form::Argument { separate: &["openssl"], joined: &[] }),
    ("IDENTIFIED BY ", Form::Argument { separate: &[""], joined: &[] }),
    ("identified by ", Form::Argument { separate: &[""], joined: &[] }),
    (";P:", Form::Wifi),
    ("ConvertTo-SecureString ", Form::Argument { separate: &[""], joined: &[] }),
    ("seed phrase", Form::Seed),
    ("Seed phrase", Form::Seed),
    ("SEED PHRASE", Form::Seed),
    ("recovery phrase", Form::Seed),
    ("Recovery phrase", Form::Seed),
    ("nemonic", Form::Seed),
    ("seed words", Form::Seed),
    ("algoliasearch(", Form::Pair),
    (":5432:", Form::PasswordFile),
    (":3306:", Form::PasswordFile),
    ("passphrase", Form::Phrase),
    ("Passphrase", Form::Phrase),
    ("twilio')(", Form::Pair),
    ("twilio\")(", Form::Pair),
    (".login(", Form::Pair),
    ("auth=(", Form::Pair),
    ("auth=", Form::Signature),
    ("code=", Form::Signature),
    ("sig=", Form::Signature),
    ("ignature=", Form::Signature),
    ("Client(", Form::Client),
    ("client(", Form::Client),
    ("oracle:thin:", Form::Oracle),
    ("oracle:oci:", Form::Oracle),
    ("sqlplus ", Form::Oracle),
];

/// Returns the secret of the form that begins here.
pub(super) fn read(
    text: &str,
    hit: &Range<usize>,
    form: Form,
    scanned: &mut ScannedParts,
) -> Option<FoundValue> {
    match form {
        Form::Pem => private_key(text, hit, scanned),
        Form::Argument { separate, joined } => {
            let commands = if text[hit.end..].starts_with(' ') || text[..hit.end].ends_with(' ') {
                separate
            } else {
                joined
            };
            let value = argument(text, hit, commands)?;
            // Without a command the words may be prose: "a group identified by name".
            let is_prose = commands.contains(&"")
                && !text[..value.start].ends_with(['"', '\''])
                && text[value.clone()].chars().all(char::is_alphabetic);
            (!is_prose && is_argument(&text[value.clone()])).then(|| secret(text, value, PrivacyKind::Key))
        }
        Form::UserAndPassword(commands) => {
            let pair = argument(text, hit, commands)?;
            let joint = text[pair.clone()].find([':', '%'])?;
            let value = pair.start + joint + 1..pair.end;
            is_argument(&text[value.clone()]).then(|| secret(text, value, PrivacyKind::Key))
        }
        Form::Signature => {
            let end = scanned.end_of(Letters::Base64, text.as_bytes(), hit.end);
            let value = &text[hit.end..end];
            let is_signature =
                value.len() >= LEAST_SIGNATURE && (is_random(head(value)) || number(head(value)).is_some());
            is_signature.then(|| secret(text, hit.end..end, PrivacyKind::Key))
        }
        Form::Pair => {
            let shown = head(&text[hit.end..]);
            let quotes: Vec<usize> =
                shown.match_indices(['"', '\'']).map(|(at, _)| hit.end + at).take(4).collect();
            let only = quotes.get(..2).map(|quotes| quotes[0] + 1..quotes[1]);
            if let Some(only) = only
                && only.len() >= LEAST_ONLY
                && (is_random(&text[only.clone()]) || number(&text[only.clone()]).is_some())
            {
                return Some(secret(text, only, PrivacyKind::Key));
            }
            let [_, _, from, to] = quotes[..] else { return None };
            let value = &text[from + 1..to];
            let has_digit = value.contains(|c: char| c.is_ascii_digit());
            (has_digit && !value.contains(char::is_whitespace) && is_argument(value))
                .then(|| secret(text, from + 1..to, PrivacyKind::Key))
        }
        Form::Seed => seed(text, hit.end).map(|span| secret(text, span, PrivacyKind::Key)),
        Form::Phrase => phrase(text, hit.end).map(|span| secret(text, span, PrivacyKind::Key)),
        Form::PasswordFile => {
            let line = head(&text[hit.end..]);
            let line = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
            let mut colons = line.match_indices(':').map(|(at, _)| at);
            let (Some(_), Some(at)) = (colons.next(), colons.next()) else { return None };
            let value = hit.end + at + 1..hit.end + line.len();
            is_argument(&text[value.clone()]).then(|| secret(text, value, PrivacyKind::Key))
        }
        Form::Wifi => {
            let line = text[text.floor_char_boundary(hit.start.saturating_sub(MAX_COMMAND))..hit.start]
                .rsplit('\n')
                .next()?;
            let length = head(&text[hit.end..]).find(';')?;
            let value = &text[hit.end..hit.end + length];
            (line.contains("WIFI:") && is_argument(value))
                .then(|| secret(text, hit.end..hit.end + length, PrivacyKind::Key))
        }
        Form::Client => {
            let value = text[hit.end..].trim_start_matches(['"', '\'']);
            let from = text.len() - value.len();
            let end = scanned.end_of(Letters::Plain, text.as_bytes(), from);
            let value = &text[from..end];
            let has = |is: fn(&u8) -> bool| head(value).as_bytes().iter().any(is);
            let mixes = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
            let is_key = (mixes && is_random(head(value))) || number(head(value)).is_some();
            let is_value = from > hit.end && value.len() >= LEAST_ARGUMENT && is_key;
            is_value.then(|| secret(text, from..end, PrivacyKind::Key))
        }
        Form::Oracle => {
            let shown = head(&text[hit.end..]);
            let at = shown.find(['@', ' ', '\n', '"'])?;
            let slash = shown[..at].find('/')?;
            let value = hit.end + slash + 1..hit.end + at;
            (shown[at..].starts_with('@') && is_argument(&text[value.clone()]))
                .then(|| secret(text, value, PrivacyKind::Key))
        }
    }
}

/// Returns twelve or more lower-case words, as many as wallets have, separated only by spaces. The last ones count, as
/// words of the sentence may precede them.
fn seed(text: &str, from: usize) -> Option<Range<usize>> {
    let shown = head(&text[from..]);
    let is_word =
        |word: &str| SEED_LETTERS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for word in shown.split(' ') {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_word(bare) {
            words.push(at..at + bare.len());
        }
        if !is_word(bare) || bare.len() < word.len() {
            if words.len() >= SEED_WORDS[0] {
                break;
            }
            words.clear();
        }
        at += word.len() + 1;
        if words.is_empty() && at > MAX_SEED_AWAY {
            return None;
        }
    }
    let n_words = SEED_WORDS.into_iter().rfind(|&n_words| n_words <= words.len())?;
    let first = words.get(words.len() - n_words)?.start;
    Some(from + first..from + words.last()?.end)
}

/// Returns the quoted words after a verb: `passphrase is "lantern gravel otter"`. Descriptions have words such as
/// `the`.
fn phrase(text: &str, from: usize) -> Option<Range<usize>> {
    let shown = head(&text[from..]);
    let verb = [" is ", " was ", " ist ", " war ", " "].iter().find(|verb| shown.starts_with(**verb))?;
    let quoted = &shown[verb.len()..];
    let (open, close) = PHRASE_QUOTES.iter().find(|(open, _)| quoted.starts_with(*open))?;
    let start = open.len_utf8();
    let length = quoted[start..].find(*close)?;
    let words: Vec<&str> = quoted[start..start + length].split(' ').collect();
    let is_word = |word: &&str| {
        (word.chars().all(char::is_lowercase) && !PLAIN_WORDS.contains(word))
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_phrase = PHRASE_WORDS.contains(&words.len()) && words.iter().all(is_word);
    is_phrase.then(|| from + verb.len() + start..from + verb.len() + start + length)
}

/// Returns the argument at the end of `flag`, if one of the commands is before it in its line.
fn argument(text: &str, flag: &Range<usize>, commands: &[&str]) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(flag.start.saturating_sub(MAX_COMMAND));
    let line = &text[from..flag.start];
    let line = line.rsplit('\n').next().unwrap_or_default();
    if !commands.iter().any(|command| line.contains(command)) {
        return None;
    }
    let shown = head(&text[flag.end..]);
    let value = shown.trim_start_matches([' ', '=']);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let start = flag.end + shown.len() - value.len() + usize::from(quote.is_some());
    let rest = head(&text[start..]);
    let length = match quote {
        Some(quote) => rest.find(quote)?,
        None => rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '<' | '>'))
            .unwrap_or(rest.len()),
    };
    Some(start..start + length)
}

fn is_argument(value: &str) -> bool {
    let is_name = value.starts_with(['$', '-', '<', '{', '%', '/', '*', '@'])
        || NO_PASSWORDS.contains(&value.to_lowercase().as_str());
    let is_port = value.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
    ARGUMENT_CHARS.contains(&value.chars().count())
        && !is_name
        && !is_port
        && !value.contains("$(")
        && !value.contains("${")
        && !is_stand_in(value)
        && password_end(value) > 0
}

/// Returns a private key with its first and last line; of a truncated one, the existing part.
fn private_key(text: &str, hit: &Range<usize>, scanned: &mut ScannedParts) -> Option<FoundValue> {
    let shown = &text[hit.end..text.floor_char_boundary(text.len().min(hit.end + MAX_PEM_NAME))];
    let dashes = shown.find(DASHES)?;
    if !shown[..dashes].contains("PRIVATE KEY") {
        return None;
    }
    let from = hit.end + dashes + DASHES.len();
    let next = next_end(text, from, scanned);
    let cut = memmem::find(&text.as_bytes()[from..next.unwrap_or(text.len())], PEM.as_bytes());
    let end = match (next, cut) {
        (Some(at), None) => at + PEM_END.len() + last_line(&text[at + PEM_END.len()..]),
        _ => from + body_length(&text.as_bytes()[from..]),
    };
    let span = hit.start..end;
    let value = &text[span.clone()];
    let letters = head(&value[from - hit.start..]).bytes().filter(u8::is_ascii_alphanumeric).count();
    let is_key = letters >= LEAST_PEM && !head(&value[from - hit.start..]).contains("...");
    (is_key && (is_random(head(&text[from..end])) || number(value).is_some()))
        .then(|| secret(text, span, PrivacyKind::Key))
}

/// Returns the start of the next last line of a private key after byte `from`; searched only once.
fn next_end(text: &str, from: usize, scanned: &mut ScannedParts) -> Option<usize> {
    if let Some((looked, next)) = scanned.next_end
        && looked <= from
        && next.is_none_or(|next| next >= from)
    {
        return next;
    }
    let next = memmem::find(&text.as_bytes()[from..], PEM_END.as_bytes()).map(|at| from + at);
    scanned.next_end = Some((from, next));
    next
}

/// Returns the length of the rest of a last line, with its dashes.
fn last_line(rest: &str) -> usize {
    let shown = &rest[..rest.floor_char_boundary(MAX_PEM_NAME)];
    shown.find(DASHES).map_or(0, |dashes| dashes + DASHES.len())
}

/// Returns the length of base64 text with line breaks.
fn body_length(bytes: &[u8]) -> usize {
    let is_part = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ')
    };
    let length = bytes.iter().take_while(|&&byte| is_part(byte)).count();
    // A word of prose after it follows a space.
    let body = &bytes[..length];
    body.len() - body.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\\')).count()
}
