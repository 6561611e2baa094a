//! Cookies of sessions: `Cookie: session=…; sid=…`, `Set-Cookie: PHPSESSID=…; path=/`, `JSESSIONID=…`.
//!
//! In a header of cookies a value is a secret if it is random, or if its name is that of a session or a login; settings
//! (`theme=dark`) and attributes (`path=/`) stay. Outside of a header the name must be that of a session, and the value random.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::random::{LEAST_RANDOM, is_random, is_stand_in, is_uuid};
use super::secret::{head, number, secret};
use super::{FoundValue, PrivacyKind};

/// The word for cookies, in any case: the first pattern.
const COOKIE: &str = "cookie";
/// Names of cookies of sessions, with their equals sign, in any case.
const SESSIONS: [&str; 13] = [
    "session=",
    "sid=",
    "sessionid=",
    "session_id=",
    "session-id=",
    "sessid=",
    "sess=",
    "session_key=",
    "auth=",
    "remember_token=",
    "rememberme=",
    "jsessionid=",
    "phpsessid=",
];
/// Parts of names of cookies that prove who somebody is.
const PROVING: [&str; 12] = [
    "sess", "sid", "auth", "token", "jwt", "login", "csrf", "xsrf", "remember", "ticket", "identity",
    "secret",
];
/// Attributes of a cookie.
const ATTRIBUTES: [&str; 9] =
    ["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority", "version"];
/// Most bytes of a header of cookies.
const MAX_HEADER: usize = 4096;
/// Fewest characters of a value whose name is that of a session.
const LEAST_PROVING: usize = 8;
/// Most bytes from the word to the first name.
const MAX_TIE: usize = 24;

static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    let builder = builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
    builder.build([COOKIE].iter().chain(&SESSIONS)).expect("a few short words")
});

/// Finds the cookies of a text.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    let mut done = 0;
    for hit in MARKS.find_overlapping_iter(text) {
        if hit.start() < done {
            continue;
        }
        if hit.pattern().as_usize() == 0 {
            if let Some(from) = header(text, hit.end()) {
                done = pairs(text, from, found).max(done);
            }
        } else if let Some(value) = of_session(text, hit.start(), hit.end()) {
            found.push(value);
        }
    }
}

/// Returns true if the text may contain a cookie.
pub(super) fn may_hold(text: &str) -> bool {
    MARKS.is_match(text)
}

/// Returns where the pairs begin after the word: `Cookie: `, `"Cookie": "`, `document.cookie = '`, `--cookie "`.
fn header(text: &str, end: usize) -> Option<usize> {
    let rest = &text[end..];
    let shown = &rest[..rest.floor_char_boundary(MAX_TIE)];
    let value = shown.strip_prefix(['s', 'S']).unwrap_or(shown);
    let value = value.trim_start_matches(['"', '\'', '`', '\\', ']', ' ', ':', '=', '{', '(', '>']);
    let tie = &shown[..shown.len() - value.len()];
    let is_tied = tie.contains([':', '=', ' ', '"', '\'']) && !value.is_empty();
    // A phrase such as `cookie policy` has no pair.
    is_tied.then(|| end + shown.len() - value.len())
}

/// Finds the secrets of pairs `name=value` with semicolons between; returns the end of the pairs.
fn pairs(text: &str, from: usize, found: &mut Vec<FoundValue>) -> usize {
    let rest = &text[from..];
    let shown = &rest[..rest.floor_char_boundary(MAX_HEADER)];
    let mut at = 0;
    loop {
        let pair = shown[at..].trim_start_matches([' ', ';', '"', '\'', ',']);
        let start = shown.len() - pair.len();
        let n_name = pair
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '%')))
            .unwrap_or(pair.len());
        let name = &pair[..n_name];
        let joint = &pair[n_name..];
        // In a table of a program: `{"session": "…"}`.
        let bare = joint.trim_start_matches(['"', '\'', ' ']);
        let is_attribute = ATTRIBUTES.contains(&name.to_ascii_lowercase().as_str());
        if name.is_empty() || !(bare.starts_with(['=', ':']) || is_attribute) {
            return from + at;
        }
        let value = bare.strip_prefix(['=', ':']).unwrap_or(bare);
        let value = if bare.starts_with(':') { value.trim_start_matches(' ') } else { value };
        let value = value.trim_start_matches(['"', '\'']);
        // A signed cookie of Node.
        let value = value.strip_prefix("s:").unwrap_or(value);
        let value_start = shown.len() - value.len();
        let length = value
            .find(|c: char| {
                c.is_whitespace() || matches!(c, ';' | '"' | '\'' | '`' | ',' | '\\' | '<' | '}' | ')')
            })
            .unwrap_or(value.len());
        let value = &value[..length];
        if !is_attribute && is_secret(name, value) {
            let trimmed = value.trim_end_matches(['.', '?', '!']);
            found.push(secret(
                text,
                from + value_start..from + value_start + trimmed.len(),
                PrivacyKind::Token,
            ));
        }
        let behind = value_start + length;
        let next = &shown[behind..];
        // An attribute such as a date has blanks.
        let next = if is_attribute { next.find([';', '\n']).map_or("", |end| &next[end..]) } else { next };
        if !next.trim_start_matches(['"', '\'']).trim_start().starts_with([';', ',']) || start >= behind {
            return from + behind;
        }
        at = shown.len() - next.len();
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let judged = head(value);
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| is(byte)).count() >= 2;
    let is_mixed = value.len() >= LEAST_PROVING && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let proves = PROVING.iter().any(|part| name.contains(part));
    !value.is_empty()
        && !is_stand_in(value)
        && !value.starts_with(['$', '{', '<', '%'])
        && (number(judged).is_some_and(|_| proves || value.len() >= LEAST_RANDOM)
            || (proves && (is_mixed || is_uuid(value)))
            || (value.len() >= LEAST_RANDOM && is_random(judged)))
}

/// Returns the value of a session outside of a header: `JSESSIONID=…`.
fn of_session(text: &str, start: usize, end: usize) -> Option<FoundValue> {
    // The name may begin with other words: `laravel_session=`, `ASP.NET_SessionId=`, `PHPSESSID=`.
    let before = &text[..start];
    let is_of_word = before.ends_with(|c: char| c.is_ascii_lowercase())
        && text[start..].starts_with(|c: char| c.is_ascii_lowercase());
    if is_of_word {
        return None;
    }
    let value = text[end..].trim_start_matches(['"', '\'']);
    let from = text.len() - value.len();
    let length = head(value)
        .find(|c: char| {
            c.is_whitespace() || matches!(c, ';' | '&' | '"' | '\'' | '`' | ',' | '\\' | '<' | '}' | ')')
        })
        .unwrap_or(head(value).len());
    let value = value[..length].trim_end_matches(['.', '?', '!']);
    let is_random = value.len() >= LEAST_RANDOM && (is_random(head(value)) || number(head(value)).is_some());
    is_random.then(|| secret(text, from..from + value.len(), PrivacyKind::Token))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.sort_by_key(|value| value.start);
        let mut found: Vec<&str> = found.into_iter().map(|value| &text[value.start..value.end]).collect();
        found.dedup();
        found
    }

    #[test]
    fn cookies_of_sessions_are_found_and_settings_stay() {
        for (text, expected) in [
            ("Cookie: session=8c2f7ab19d3e4f50; sid=Qk93mZx81LpT", &["8c2f7ab19d3e4f50", "Qk93mZx81LpT"][..]),
            ("set-cookie: lang=en; Path=/; PHPSESSID=q2m8v7k1t9z3; Secure", &["q2m8v7k1t9z3"]),
            (
                "Set-Cookie: id=a3fWa9x2Kq81ZpTm; Expires=Thu, 21 Oct 2027 07:28:00 GMT; auth=Zx81LpTk2q",
                &["a3fWa9x2Kq81ZpTm", "Zx81LpTk2q"],
            ),
            (
                "{\"Cookie\": \"JSESSIONID=0A1B2C3D4E5F60718293A4B5C6D7E8F9\"}",
                &["0A1B2C3D4E5F60718293A4B5C6D7E8F9"],
            ),
            ("curl --cookie 'connect.sid=s:Qk93mZx81LpTa7Bd.x1' https://a.test", &["Qk93mZx81LpTa7Bd.x1"]),
            (
                "requests.get(url, cookies={'sessionid': 'q2m8v7k1t9z3x5b6', 'theme': 'dark'})",
                &["q2m8v7k1t9z3x5b6"],
            ),
            ("the link had ;jsessionid=9f86d081884c7d659a2feaa0 in it", &["9f86d081884c7d659a2feaa0"]),
            ("ASP.NET_SessionId=x5b6n4l0p8s7d6q2m8v7k1t9.", &["x5b6n4l0p8s7d6q2m8v7k1t9"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
            assert!(may_hold(text), "{text}");
        }
        for text in [
            "Cookie: theme=dark; lang=en-GB; consent=2026-01-02",
            "accept the cookie policy of a.test",
            "cookies: flour=200 g, sugar=150 g",
            "Set-Cookie: session={{token}}; path=/",
            "Cookie: sid=your-session-id-123456",
            "obsession=12345678901234567890ab",
            "session=spring2026",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
