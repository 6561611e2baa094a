//! E-mail addresses obfuscated against programs: `mira [at] quillpost [dot] net`, `mira at quillpost dot net`.
//!
//! A sign for `@` in brackets, or its name in another language, is sufficient if a domain follows. The English `at` is
//! a common word, so the text before it must look like the name of a mailbox: `look at example dot com` does not.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::address::{FILE_ENDINGS, MAX_DOMAIN, MAX_LOCAL, is_local, placeholder};
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Signs and names that mean an at-sign wherever a domain follows.
const SURE: &[&str] = &[
    "[at]",
    "(at)",
    "{at}",
    "<at>",
    "[@]",
    "(@)",
    "{@}",
    "(a)",
    "[a]",
    "(ät)",
    "[ät]",
    "(æt)",
    "[arobase]",
    "(arobase)",
    "[arroba]",
    "(arroba)",
    "(hjá)",
    "[hjá]",
    "(snabel-a)",
    "[snabel-a]",
    "(małpa)",
    "(malpa)",
    "(zavináč)",
    "(собака)",
    "(kukac)",
    "[chiocciola]",
    "(chiocciola)",
    "_at_",
    "-at-",
    " at sign ",
    " at-sign ",
    " arroba ",
    " arobase ",
    " chiocciola ",
    " apenstaartje ",
    " apestaartje ",
    " snabel-a ",
    " snabela ",
    " krøllalfa ",
    " alfakrøll ",
    " собака ",
    " małpa ",
    " malpa ",
    " klammeraffe ",
    " miukumauku ",
    " zavináč ",
    " kukac ",
    " arond ",
    " et işareti ",
    " παπάκι ",
    " kuyruklu a ",
];
/// Common words that may mean an at-sign.
const UNSURE: &[&str] = &[" at ", " ät ", " et "];
/// The sign itself, apart from what it joins; the last patterns.
const APART: &[&str] = &[" @", "@ "];
/// Common endings of domains besides those of countries.
const COMMON_TOPS: [&str; 24] = [
    "com", "net", "org", "info", "biz", "edu", "gov", "mil", "int", "name", "dev", "app", "shop", "online",
    "site", "store", "tech", "xyz", "museum", "email", "cloud", "mail", "post", "world",
];
/// Providers of mailboxes whose name is enough, without its ending.
const PROVIDERS: [&str; 10] =
    ["gmail", "googlemail", "hotmail", "outlook", "yahoo", "icloud", "protonmail", "aol", "gmx", "yandex"];
/// Endings of files that are also those of countries.
const FILES_OF_COUNTRIES: [&str; 10] = ["py", "sh", "rs", "pl", "md", "ps", "cc", "so", "st", "ai"];
/// Names of the dot in the same styles.
const DOTS: &[&str] = &[
    "[dot]",
    "(dot)",
    "{dot}",
    "<dot>",
    "_dot_",
    "-dot-",
    "[.]",
    "(.)",
    "{.}",
    "(d)",
    "[d]",
    "[punktur]",
    "(punktur)",
    "[punkt]",
    "(punkt)",
    "[punto]",
    "(punto)",
    "[point]",
    "(point)",
    "[ponto]",
    "(ponto)",
    "[punt]",
    "(punt)",
    "dot ",
    "punkt ",
    "punto ",
    "ponto ",
    "point ",
    "punt ",
    "точка ",
    "kropka ",
    "tečka ",
    "bodka ",
    "pont ",
    "nokta ",
    "piste ",
    "prik ",
    "punct ",
    "τελεία ",
    "titik ",
    "chấm ",
    ". ",
];
/// Names of punctuation inside of a mailbox.
const JOINTS: [(&str, &[&str]); 4] = [
    (
        ".",
        &[
            "[dot]",
            "(dot)",
            "{dot}",
            "[.]",
            "(.)",
            "dot",
            "punkt",
            "punto",
            "ponto",
            "point",
            "punt",
            "точка",
            "kropka",
            "tečka",
            "bodka",
            "pont",
            "nokta",
            "piste",
            "prik",
            "punct",
            "τελεία",
            "titik",
            "chấm",
        ],
    ),
    (
        "_",
        &[
            "underscore",
            "unterstrich",
            "guion bajo",
            "guión bajo",
            "underline",
            "sublinhado",
            "trattino basso",
            "tiret bas",
            "understrek",
            "understreck",
            "podkreślenie",
            "podtržítko",
            "alt çizgi",
            "нижнее подчёркивание",
        ],
    ),
    (
        "-",
        &[
            "hyphen",
            "dash",
            "minus",
            "bindestrich",
            "guion",
            "guión",
            "hífen",
            "traço",
            "tiret",
            "trattino",
            "bindestreck",
            "bindestrek",
            "myślnik",
            "pomlčka",
            "kısa çizgi",
            "тире",
            "дефис",
        ],
    ),
    ("+", &["plus"]),
];
/// Words before an English `at` that are not a mailbox.
const NO_MAILBOX: &[&str] = &[
    "look",
    "looks",
    "looking",
    "looked",
    "me",
    "us",
    "him",
    "her",
    "them",
    "it",
    "you",
    "see",
    "sign",
    "up",
    "available",
    "website",
    "site",
    "find",
    "found",
    "visit",
    "live",
    "lives",
    "located",
    "hosted",
    "and",
    "is",
    "are",
    "was",
    "be",
    "work",
    "works",
    "working",
    "worked",
    "page",
    "online",
    "contact",
    "email",
    "mail",
    "reach",
    "here",
    "there",
    "people",
    "shop",
    "buy",
    "store",
    "read",
    "more",
    "check",
    "go",
    "stay",
    "meet",
    "arrive",
    "that",
    "this",
    "docs",
    "blog",
    "not",
    "out",
    "good",
    "bad",
    "best",
    "least",
    "all",
    "but",
    "someone",
    "team",
    "friends",
    "running",
    "runs",
    "pointed",
    "points",
    "arrives",
    "or",
    "the",
    "a",
    "domain",
    "address",
    "account",
    "order",
    "orders",
    "price",
    "prices",
    "sold",
    "sale",
    "order",
    "listening",
    "lookup",
    "try",
    "then",
    "start",
    "error",
    "down",
];
/// Words before a mailbox.
const BEFORE_MAILBOX: &[&str] = &[
    "is", "to", "mail", "email", "e-mail", "address", "cc", "bcc", "its", "it's", "from", "gmail", "contact",
    "write", "ping", "me", "ask", "reach", "user", "message",
];
/// Words near an address with a normal dot.
const ABOUT_MAIL: [&str; 7] = ["mail", "Mail", "MAIL", "inbox", "correo", "courriel", "почт"];
/// Bytes in which such a word is searched.
const NEAR: usize = 40;

static SIGNS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    let builder = builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
    let signs = builder.build(SURE.iter().chain(UNSURE).chain(APART));
    signs.expect("a few short words")
});

/// A domain: its end, its normal form, and whether one of its dots is spelled out.
struct Domain {
    end: usize,
    name: String,
    is_spelled: bool,
}

/// Finds the spelled-out addresses of a text.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    for hit in SIGNS.find_iter(text) {
        let is_sure = hit.pattern().as_usize() < SURE.len();
        let is_apart = hit.pattern().as_usize() >= SURE.len() + UNSURE.len();
        // A space of the sign is also the space after the word before it.
        let Some((domain, is_cut)) = domain_or_provider(text, hit.end()) else { continue };
        let Some((start, local)) = local(text, hit.start()) else { continue };
        if is_cut {
            if is_signed(&local) {
                push(start, &local, &domain, found);
            }
            continue;
        }
        // With a blank on one side only, the sign is as often the start of somebody's name: `@mira`.
        let is_one_sided =
            is_apart && !(text[hit.start()..].starts_with(' ') && text[hit.end()..].starts_with(' '));
        if is_sure
            || (!is_one_sided && is_mailbox(text, start, &local, &domain))
            || (is_apart && is_signed(&local) && has_common_top(&domain.name))
        {
            push(start, &local, &domain, found);
        }
    }
}

/// Finds an address with an at-sign and spelled-out dots: `mira@quillpost dot net`, `mira@quillpost[.]net`.
/// Its domain may be the name of a provider alone.
pub(super) fn find_at(text: &str, start: usize, at: usize, found: &mut Vec<FoundValue>) {
    if text[at + 1..].starts_with(' ') {
        return;
    }
    let domain = domain_or_provider(text, at + 1).filter(|(domain, is_cut)| domain.is_spelled || *is_cut);
    if let Some((domain, _)) = domain {
        push(start, &text[start..at].to_lowercase(), &domain, found);
    }
}

/// Returns the domain from byte `from`, or that of the provider named there, and whether it is the latter.
fn domain_or_provider(text: &str, from: usize) -> Option<(Domain, bool)> {
    let of_provider = || {
        let name = provider(text, from)?;
        Some((Domain { end: from + name.len(), name: format!("{name}.com"), is_spelled: false }, true))
    };
    domain(text, from).map(|domain| (domain, false)).or_else(of_provider)
}

/// Returns the provider of a mailbox whose domain is cut off: `mira.keller@gmail`.
fn provider(text: &str, from: usize) -> Option<&'static str> {
    let rest = text.get(from..)?;
    PROVIDERS.into_iter().find(|name| {
        let is_name = rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        let behind = rest.get(name.len()..).unwrap_or_default();
        // The stop of a sentence may follow, and no further part of a domain.
        let behind = behind.strip_prefix('.').unwrap_or(behind);
        is_name
            && !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '['))
    })
}

/// Returns true for a mailbox that is no word: it has a sign or a digit, and is no file or version.
fn is_signed(local: &str) -> bool {
    let is_file = FILE_ENDINGS.iter().any(|ending| local.ends_with(&format!(".{ending}")));
    let has_sign = local.contains(|c: char| matches!(c, '.' | '_' | '+') || c.is_ascii_digit());
    let n_letters = local.chars().filter(|c| c.is_alphabetic()).count();
    has_sign && n_letters >= 3 && local.starts_with(char::is_alphabetic) && !is_file
}

/// Returns true for a domain that ends like most do.
fn has_common_top(domain: &str) -> bool {
    let top = domain.rsplit('.').next().unwrap_or_default();
    let is_country = top.len() == 2 && top.bytes().all(|byte| byte.is_ascii_lowercase());
    is_country || COMMON_TOPS.contains(&top)
}

/// Returns true if the text may contain a spelled-out address.
pub(super) fn may_hold(text: &str) -> bool {
    SIGNS.find_iter(text).any(|hit| domain_or_provider(text, hit.end()).is_some())
}

fn push(start: usize, local: &str, domain: &Domain, found: &mut Vec<FoundValue>) {
    let status = placeholder(local, &domain.name).unwrap_or(ValueStatus::Personal);
    found.push(FoundValue::new(
        PrivacyKind::Email,
        start,
        domain.end,
        format!("{local}@{}", domain.name),
        status,
    ));
}

/// Reads labels separated by dots, written or spelled out.
fn domain(text: &str, from: usize) -> Option<Domain> {
    let shown = &text[from..text.floor_char_boundary(text.len().min(from + MAX_DOMAIN))];
    let mut rest = shown.trim_start_matches(' ');
    let (mut labels, mut is_spelled) = (Vec::new(), false);
    let mut end = None;
    loop {
        let length = label(rest);
        if length == 0 {
            break;
        }
        labels.push(rest[..length].to_lowercase());
        end = Some(from + shown.len() - rest.len() + length);
        rest = &rest[length..];
        if rest.starts_with('.') && label(&rest[1..]) > 0 {
            rest = &rest[1..];
            continue;
        }
        let blank = rest.trim_start_matches(' ');
        let is_apart = blank.len() < rest.len();
        // `quillpost .net`
        if is_apart && blank.starts_with('.') {
            let top = &blank[1..];
            let top = top[..label(top)].to_lowercase();
            if has_common_top(&top) && !FILES_OF_COUNTRIES.contains(&top.as_str()) {
                is_spelled = true;
                rest = &blank[1..];
                continue;
            }
        }
        let Some(dot) = DOTS.iter().find(|dot| starts_with(blank, dot) && (is_apart || !dot.ends_with(' ')))
        else {
            break;
        };
        let behind = blank[dot.len()..].trim_start_matches(' ');
        if label(behind) == 0 {
            break;
        }
        is_spelled = true;
        rest = behind;
    }
    let top = labels.last()?;
    let is_top =
        labels.len() >= 2 && (2..=13).contains(&top.chars().count()) && top.chars().all(char::is_alphabetic);
    let is_word = labels[0] == "the" || labels[0] == "a";
    (is_top && !is_word).then(|| Domain { end: end.unwrap_or(from), name: labels.join("."), is_spelled })
}

/// Returns the length in bytes of the label at the start of a text.
fn label(text: &str) -> usize {
    let mut length = 0;
    for (at, c) in text.char_indices() {
        let is_part = c.is_alphanumeric() || (c == '-' && at > 0 && !starts_with(&text[at..], "-dot-"));
        if !is_part {
            break;
        }
        length = at + c.len_utf8();
    }
    text[..length].trim_end_matches('-').len()
}

fn starts_with(text: &str, start: &str) -> bool {
    let head = text.as_bytes().get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// Returns the start and the normal form of the mailbox before a sign.
fn local(text: &str, end: usize) -> Option<(usize, String)> {
    let before = text[..end].trim_end_matches(' ');
    let mut start = before.len() - mailbox(before);
    let mut local = before[start..].to_owned();
    // `r a t e s`: letter by letter.
    while local.chars().next().is_some_and(char::is_alphanumeric)
        && text[start..].chars().nth(1).is_none_or(|c| !c.is_alphanumeric())
        && let Some(letter) = letter_before(text, start)
    {
        local = format!("{}{local}", &text[letter..=letter]);
        start = letter;
    }
    // `henrike dot lausen`, `gwen underscore pike`.
    while let Some((joint, length)) = joint_before(&text[..start]) {
        let rest = text[..start].trim_end_matches(' ');
        let is_apart = rest.len() < start;
        let rest = rest[..rest.len() - length].trim_end_matches(' ');
        let mailbox = mailbox(rest);
        let is_word = text[..start].trim_end_matches(' ').ends_with(char::is_alphabetic);
        if mailbox == 0 || (is_word && !is_apart) {
            break;
        }
        start = rest.len() - mailbox;
        local = format!("{}{joint}{local}", &rest[start..]);
    }
    let is_right = !local.is_empty() && local.len() <= MAX_LOCAL && local.contains(char::is_alphanumeric);
    is_right.then(|| (start, local.to_lowercase()))
}

/// Returns the start of a single letter before byte `at`, with one space between.
fn letter_before(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let letter = at.checked_sub(2)?;
    let is_alone = letter == 0 || bytes[letter - 1] == b' ';
    (bytes[at - 1] == b' ' && bytes[letter].is_ascii_alphanumeric() && is_alone).then_some(letter)
}

/// Returns the sign that the end of a text spells out between two words of a mailbox, and the length of its name.
fn joint_before(text: &str) -> Option<(&'static str, usize)> {
    let rest = text.trim_end_matches(' ');
    let named = JOINTS.iter().find_map(|(sign, names)| {
        let name = names.iter().find(|name| {
            ends_with(rest, name)
                && (name.starts_with(['[', '(', '{']) || rest[..rest.len() - name.len()].ends_with(' '))
        })?;
        Some((*sign, name.len()))
    });
    named.filter(|(_, length)| rest.len() > *length)
}

fn ends_with(text: &str, end: &str) -> bool {
    let tail = text.len().checked_sub(end.len()).and_then(|at| text.as_bytes().get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// Returns the length in bytes of the mailbox at the end of a text.
fn mailbox(text: &str) -> usize {
    let length: usize = text
        .chars()
        .rev()
        .take(MAX_LOCAL)
        .take_while(|&c| {
            (is_local(c) && !matches!(c, '\'' | '%')) || (c.is_alphabetic() && u32::from(c) < 0x0e00)
        })
        .map(char::len_utf8)
        .sum();
    text[text.len() - length..].trim_start_matches(['.', '-', '+', '_']).len()
}

/// Returns true if the text before an English `at` is the name of a mailbox.
fn is_mailbox(text: &str, start: usize, local: &str, domain: &Domain) -> bool {
    if NO_MAILBOX.contains(&local) || !local.contains(|c: char| c.is_alphabetic()) {
        return false;
    }
    let before = text[..start].trim_end_matches([' ', ':']);
    let is_in_angles = before.ends_with('<') && text[domain.end..].starts_with('>');
    let letters = text[start..domain.end].split(['-', ' ']).take_while(|part| part.len() == 1).count();
    let has_sign = local.contains(['.', '_', '+']) || letters > 2;
    if !domain.is_spelled {
        let is_file = FILE_ENDINGS.iter().any(|ending| local.ends_with(&format!(".{ending}")));
        let near = &text[text.floor_char_boundary(start.saturating_sub(NEAR))
            ..text.ceil_char_boundary(text.len().min(domain.end + NEAR))];
        return is_in_angles || (has_sign && !is_file && ABOUT_MAIL.iter().any(|word| near.contains(word)));
    }
    let word =
        before.rsplit(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default().to_lowercase();
    is_in_angles
        || has_sign
        || local.contains(|c: char| c.is_ascii_digit())
        || text[..start].trim_end_matches(' ').ends_with(':')
        || word.is_empty()
        || BEFORE_MAILBOX.contains(&word.as_str())
}
