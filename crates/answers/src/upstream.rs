//! Recognises the error of a server or a library where a log has an answer.
//!
//! Programs write an exception into the column of the answer. Such a text is no answer of a model, so it is no evidence.
//! A text must look like the error of a program as a whole: a sentence in which a model reports an error is prose.

use serde_json::Value;

/// Reason phrases of HTTP and of gateways, in lower case.
const PHRASES: &[&str] = &[
    "internal server error",
    "bad gateway",
    "service unavailable",
    "service temporarily unavailable",
    "gateway timeout",
    "gateway time-out",
    "request timeout",
    "request timed out",
    "too many requests",
    "rate limit exceeded",
    "upstream timeout",
    "upstream request timeout",
    "upstream connect error",
    "no healthy upstream",
    "bad request",
    "unauthorized",
    "forbidden",
    "not found",
    "payload too large",
    "overloaded",
    "connection error",
    "connection refused",
    "connection reset",
    "connection aborted",
    "connection timed out",
    "read timed out",
    "timeout",
    "timed out",
    "server error",
    "max retries exceeded",
    "quota exceeded",
    "insufficient_quota",
    "maximum context length",
    "context_length_exceeded",
    "rate_limit",
    "invalid api key",
    "econnreset",
    "fetch failed",
];

/// What programs write before an error, in lower case.
const OPENERS: &[&str] = &[
    "error code",
    "error during inference",
    "error",
    "[error]",
    "http error",
    "http/1.1",
    "http",
    "api error",
    "apierror",
    "server error",
    "upstream error",
    "request failed",
    "exception",
    "status code",
    "status",
];

/// Openers one after the other: `Error during inference: Error code: 429`.
const MOST_OPENERS: usize = 3;

/// How a page of a gateway begins, in lower case.
const PAGES: &[&str] = &["<html", "<!doctype html"];

/// The first words of Python's errors, in lower case.
const TRACEBACK: &str = "traceback (most recent call last)";

/// Suffixes of the names of exceptions.
const CLASSES: &[&str] = &["Error", "Exception", "Timeout"];

/// Maximum length in characters of an error without a page or a traceback around it.
const MAX_CHARS: usize = 600;

/// Keys of JSON errors.
const KEYS: &[&str] = &["error", "errors", "detail", "exception"];

/// Returns whether a text is the error of a program.
pub(super) fn is_error(text: &str) -> bool {
    let text = text.trim();
    let lower = text.to_lowercase();
    if lower.starts_with(TRACEBACK) {
        return true;
    }
    if PAGES.iter().any(|page| lower.starts_with(page)) {
        return PHRASES.iter().any(|phrase| lower.contains(phrase));
    }
    if text.chars().take(MAX_CHARS + 1).count() > MAX_CHARS {
        return false;
    }
    begins_with_a_class(text) || is_phrase(&lower)
}

/// Returns whether a JSON object is an error: its only content is an error.
pub(super) fn is_error_object(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    KEYS.iter().filter_map(|key| object.get(*key)).any(|error| match error {
        Value::Object(fields) => {
            ["message", "code", "type", "status"].iter().any(|key| fields.contains_key(*key))
        }
        Value::String(text) => object.len() == 1 && is_phrase(&text.to_lowercase()) || is_error(text),
        _ => false,
    })
}

/// Returns whether a text begins with the name of an exception and a colon: `openai.RateLimitError: `.
fn begins_with_a_class(text: &str) -> bool {
    let Some((class, _)) = text.split_once(':') else { return false };
    let is_name = class.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    is_name && CLASSES.iter().any(|end| class.len() > end.len() && class.ends_with(end))
}

/// Returns whether a text in lower case is a reason phrase, or has an opener or a status, and a reason phrase or a
/// status after it.
fn is_phrase(lower: &str) -> bool {
    let mut rest = bare(lower);
    if PHRASES.contains(&rest) {
        return true;
    }
    // A sentence such as "error handling is not among my functions" has no colon and no status.
    let (mut has_opener, mut has_colon) = (false, false);
    for _ in 0..MOST_OPENERS {
        let after = OPENERS
            .iter()
            .filter_map(|opener| rest.strip_prefix(opener))
            .find(|rest| rest.starts_with([':', ' ', '-', '(']) || rest.is_empty());
        let Some(after) = after else { break };
        has_opener = true;
        has_colon |= after.trim_start().starts_with(':');
        rest = bare(after);
    }
    let status = status_at_start(rest);
    if let Some(after) = status {
        return has_opener || PHRASES.iter().any(|phrase| bare(after).starts_with(phrase));
    }
    has_colon && PHRASES.iter().any(|phrase| rest.contains(phrase))
}

/// Returns the text after an HTTP status of a failure.
fn status_at_start(text: &str) -> Option<&str> {
    let (digits, after) = text.split_at_checked(3)?;
    let is_status = digits.starts_with(['4', '5']) && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_status && !after.starts_with(|c: char| c.is_alphanumeric())).then_some(after)
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '-' | '.' | '!' | '(' | ')' | '[' | ']' | ',')
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_servers_and_libraries_are_recognised() {
        for text in [
            "Error: 503 upstream timeout",
            "Error during inference: Error code: 429 - rate limit reached",
            "Internal Server Error",
            "502 Bad Gateway",
            "HTTP 429: Too Many Requests",
            "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
            "error: connection reset by peer",
            "openai.RateLimitError: You exceeded your current quota",
            "TimeoutError: ",
            "Traceback (most recent call last):\n  File \"a.py\", line 1",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            "upstream request timeout",
            "Request timed out.",
        ] {
            assert!(is_error(text), "{text}");
        }
        assert!(is_error_object(&json!({"error": {"message": "overloaded", "type": "server_error"}})));
        assert!(is_error_object(&json!({"detail": "Internal Server Error"})));
    }

    #[test]
    fn sentences_of_a_model_are_no_errors() {
        for text in [
            "Sorry, the service is unavailable in your area.",
            "Error: none of the given functions can answer the question.",
            "Error handling is not among my functions.",
            "I cannot look up why you get a 503 Service Unavailable.",
            "500 kroner is the price of the ticket.",
            "404 is the code of a page that was not found.",
            "The request timed out, so please try again.",
            "Not found in my functions: a way to order food.",
            "Note: I have no function for this.",
        ] {
            assert!(!is_error(text), "{text}");
        }
        assert!(!is_error_object(&json!({"error": "I have no function for this."})));
        assert!(!is_error_object(&json!({"answer": "Internal Server Error"})));
    }
}
