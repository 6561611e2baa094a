//! E-mail addresses, with sub-domains, tags and letters of any script; also passwords in URLs, which look like them.
//!
//! Addresses at example.com, .org and .net (and below the reserved top-level domains) are placeholders already.
//! Accounts of code hosts (`git@…`), file names (`icon@2x.png`) and packages (`lodash@4.17.21`) are not addresses.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::address::{FILE_ENDINGS, MAX_DOMAIN, MAX_LOCAL, is_local, placeholder};
use super::context::escape_before;
use super::{FoundValue, PrivacyKind, ValueStatus};
use super::{key, spelled};

/// Maximum length of user and password in a URL, in bytes.
const MAX_USERINFO: usize = 512;
/// Local parts that name a service, not a person.
const SERVICES: [&str; 2] = ["git", "hg"];
/// Commands whose argument is a user on a host.
const LOGINS: [&str; 3] = ["ssh ", "sftp ", "scp "];
/// Finds addresses, and passwords in URLs.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    if !may_hold(text) {
        return;
    }
    let schemes: Vec<usize> = memmem::find_iter(text.as_bytes(), "://").collect();
    for at in memchr_iter(b'@', text.as_bytes()) {
        find_at(text, at, &schemes, found);
    }
}

/// Returns true if the text may contain either: it has an at-sign.
pub(super) fn may_hold(text: &str) -> bool {
    memchr(b'@', text.as_bytes()).is_some()
}

/// Finds the address or password at an at-sign; `schemes` are the places of all `://`.
fn find_at(text: &str, at: usize, schemes: &[usize], found: &mut Vec<FoundValue>) {
    let quoted = quoted_start(text, at).filter(|_| domain_end(text, at + 1).is_some());
    let Some(start) = quoted.or_else(|| local_start(text, at)) else {
        find_password(text, schemes, at, found);
        return;
    };
    if let Some(has_password) = userinfo(text, authority_start(schemes, start), start) {
        if has_password {
            find_password(text, schemes, at, found);
        }
        return;
    }
    let behind = at + 1;
    let Some(end) = domain_end(text, behind) else {
        spelled::find_at(text, start, at, found);
        return;
    };
    let (local, domain) = (&text[start..at], text[behind..end].to_lowercase());
    let top = domain.rsplit('.').next().unwrap_or_default();
    let is_login = LOGINS.iter().any(|command| text[..start].ends_with(command));
    if FILE_ENDINGS.contains(&top) || SERVICES.contains(&local) || is_login {
        return;
    }
    let local = local.to_lowercase();
    let status = placeholder(&local, &domain).unwrap_or(ValueStatus::Personal);
    found.push(FoundValue::new(PrivacyKind::Email, start, end, format!("{local}@{domain}"), status));
}

/// Finds the password of a URL if user and password end at this at-sign or a later one.
fn find_password(text: &str, schemes: &[usize], at: usize, found: &mut Vec<FoundValue>) {
    if let Some(start) = authority_start(schemes, at) {
        key::find_in_url(text, start, last_at(text, at), found);
    }
}

/// Returns the last at-sign before the host of a URL, as a password may contain one.
fn last_at(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at..text.len().min(at + MAX_USERINFO)];
    let end = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"/\"'<>?#,;".contains(byte))
        .unwrap_or(rest.len());
    at + memrchr(b'@', &rest[..end]).unwrap_or_default()
}

/// Returns the opening quote of a local part in quotes: `"mira keller"@…`.
fn quoted_start(text: &str, at: usize) -> Option<usize> {
    let inside = text[..at].strip_suffix('"')?;
    let near = &inside[inside.floor_char_boundary(inside.len().saturating_sub(MAX_LOCAL))..];
    let open = near.rfind('"')?;
    let local = &near[open + 1..];
    let is_local = local.contains(char::is_alphanumeric) && !local.contains(['\n', '{', '}', ':', ',']);
    is_local.then_some(inside.len() - near.len() + open)
}

fn local_start(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > 0 && at - start <= MAX_LOCAL {
        match escape_before(bytes, start) {
            2 | 6 => break,
            _ => match text[..start].chars().next_back() {
                Some(c) if is_local(c) => start -= c.len_utf8(),
                Some(c) if c.is_alphanumeric() && !is_script_border(c, &text[start..at]) => {
                    start -= c.len_utf8();
                }
                _ => break,
            },
        }
    }
    // Opening and quoting characters are not part of an address.
    let opening = |c: char| matches!(c, '.' | '-' | '\'' | '%' | '+' | '_');
    start = at - text[start..at].trim_start_matches(opening).len();
    (start < at && at - start <= MAX_LOCAL && !text[start..at].ends_with('.')).then_some(start)
}

/// Returns true if text of a script without spaces precedes a separate local part: 邮箱是mira@….
fn is_script_border(before: char, local: &str) -> bool {
    let parts_no_words = u32::from(before) >= 0x0e00;
    parts_no_words && local.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns the byte after the last `://` before byte `at`, unless it is too far away.
fn authority_start(schemes: &[usize], at: usize) -> Option<usize> {
    let before = schemes.partition_point(|scheme| scheme + 3 <= at);
    let start = schemes[..before].last()? + 3;
    (at - start <= MAX_USERINFO).then_some(start)
}

/// Returns `Some` if the address is the user of a URL whose authority begins at `authority` (`Some(true)` after the
/// colon of a password); otherwise `None`.
fn userinfo(text: &str, authority: Option<usize>, start: usize) -> Option<bool> {
    let authority = &text[authority?..start];
    if authority.is_empty() {
        return Some(false);
    }
    let is_border = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '(' | '/');
    (!authority.contains(is_border) && authority.contains(':')).then_some(true)
}

fn domain_end(text: &str, from: usize) -> Option<usize> {
    let mut end = from;
    for c in text[from..].chars().take(MAX_DOMAIN) {
        // Letters of other scripts continue a domain only next to Latin ones: neither 。 nor 谢谢 after .com is part of
        // it.
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') || (c.is_alphabetic() && u32::from(c) < 0x0e00)
        {
            end += c.len_utf8();
        } else {
            break;
        }
    }
    let domain = text[from..end].trim_end_matches(['.', '-']);
    let labels: Vec<&str> = domain.split('.').collect();
    let is_label = |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
    let top = labels.last()?;
    let is_top =
        top.chars().count() >= 2 && (top.chars().all(char::is_alphabetic) || top.starts_with("xn--"));
    (labels.len() >= 2 && labels.iter().all(|label| is_label(label)) && is_top).then_some(from + domain.len())
}
