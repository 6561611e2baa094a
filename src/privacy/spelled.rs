//! E-mail addresses that are spelled so that no program reads them: `mira [at] quillpost [dot] net`, `mira at quillpost dot net`.
//!
//! A sign for `@` in brackets, or its name in another language, is enough with a domain after it. The English `at` is a word
//! of every second sentence, so what is before it must look like the name of a mailbox: `look at example dot com` does not.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::email::{FILE_ENDINGS, MAX_DOMAIN, MAX_LOCAL, is_local, placeholder};
use super::{Found, Kind, Standing};

/// Signs and names that are an at-sign wherever a domain follows.
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
/// Words of many uses.
const UNSURE: &[&str] = &[" at ", " ät ", " et ", " @ "];
/// Dots in the same ways.
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
/// Words before an English `at` that are no mailbox.
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
/// Words that are near an address that has a dot as usual.
const ABOUT_MAIL: [&str; 7] = ["mail", "Mail", "MAIL", "inbox", "correo", "courriel", "почт"];
/// Bytes in which such a word is looked for.
const NEAR: usize = 40;

static SIGNS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let signs = AhoCorasick::builder().ascii_case_insensitive(true).build(SURE.iter().chain(UNSURE));
    signs.expect("a few short words")
});

/// A domain: its end, its normal form, and whether a dot of it is spelled.
struct Domain {
    end: usize,
    name: String,
    is_spelled: bool,
}

/// Finds the spelled addresses of a text.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    for hit in SIGNS.find_iter(text) {
        let is_sure = hit.pattern().as_usize() < SURE.len();
        // A blank of the sign is that of the word before it, too.
        let Some(domain) = domain(text, hit.end()) else { continue };
        let Some((start, local)) = local(text, hit.start()) else { continue };
        if is_sure || is_mailbox(text, start, &local, &domain) {
            push(start, &local, &domain, found);
        }
    }
}

/// Finds an address with an at-sign whose dots are spelled: `mira@quillpost dot net`, `mira@quillpost[.]net`.
pub(super) fn find_at(text: &str, start: usize, at: usize, found: &mut Vec<Found>) {
    if let Some(domain) =
        domain(text, at + 1).filter(|domain| domain.is_spelled && !text[at + 1..].starts_with(' '))
    {
        push(start, &text[start..at].to_lowercase(), &domain, found);
    }
}

/// A spelled address may be in the text.
pub(super) fn may_hold(text: &str) -> bool {
    SIGNS.find_iter(text).any(|hit| domain(text, hit.end()).is_some())
}

fn push(start: usize, local: &str, domain: &Domain, found: &mut Vec<Found>) {
    let standing = placeholder(local, &domain.name).unwrap_or(Standing::Personal);
    found.push(Found::new(Kind::Email, start, domain.end, format!("{local}@{}", domain.name), standing));
}

/// Labels with dots between, as written or spelled.
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

/// Bytes of the label at the start of a text.
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

/// The mailbox before a sign: where it begins, and its normal form.
fn local(text: &str, end: usize) -> Option<(usize, String)> {
    let before = text[..end].trim_end_matches(' ');
    let first = before.len() - mailbox(before);
    let mut start = first;
    let mut local = before[start..].to_owned();
    // `henrike dot lausen`
    loop {
        let rest = text[..start].trim_end_matches(' ');
        let Some(dot) = ["dot", "[dot]", "(dot)", "[.]", "(.)"].iter().find(|dot| ends_with(rest, dot))
        else {
            break;
        };
        let rest = rest[..rest.len() - dot.len()].trim_end_matches(' ');
        let length = mailbox(rest);
        if length == 0
            || (!dot.starts_with(['[', '('])
                && rest.len() + dot.len() == text[..start].trim_end_matches(' ').len())
        {
            break;
        }
        start = rest.len() - length;
        local = format!("{}.{local}", &rest[start..]);
    }
    let is_right = !local.is_empty() && local.len() <= MAX_LOCAL && local.contains(char::is_alphanumeric);
    is_right.then(|| (start, local.to_lowercase()))
}

fn ends_with(text: &str, end: &str) -> bool {
    let tail = text.len().checked_sub(end.len()).and_then(|at| text.as_bytes().get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// Bytes of the mailbox at the end of a text.
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

/// What is before an English `at` names a mailbox.
fn is_mailbox(text: &str, start: usize, local: &str, domain: &Domain) -> bool {
    if NO_MAILBOX.contains(&local) || !local.contains(|c: char| c.is_alphabetic()) {
        return false;
    }
    let before = text[..start].trim_end_matches([' ', ':']);
    let is_in_angles = before.ends_with('<') && text[domain.end..].starts_with('>');
    let has_sign = local.contains(['.', '_']);
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
        || word.is_empty()
        || BEFORE_MAILBOX.contains(&word.as_str())
}
