//! E-mail addresses: allowed characters, domains reserved for examples, and placeholders.

use super::ValueStatus;

/// Maximum length of the local part and of the domain, in bytes.
pub(super) const MAX_LOCAL: usize = 64;
pub(super) const MAX_DOMAIN: usize = 253;
/// Domains reserved for examples.
const EXAMPLE_DOMAINS: [&str; 3] = ["example.com", "example.org", "example.net"];
/// Reserved top-level domains.
const RESERVED_TOP: [&str; 5] = ["example", "test", "invalid", "localhost", "tld"];
/// File extensions that follow a size or a version (`@2x.png`).
pub(super) const FILE_ENDINGS: [&str; 17] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "jsx", "tsx", "json", "html", "xml",
    "pdf", "txt", "csv",
];
/// The local part of our placeholders, without the number.
const OURS: &str = "user";

/// Returns the status of a reserved address; `None` for any other address.
pub(super) fn placeholder(local: &str, domain: &str) -> Option<ValueStatus> {
    is_example(domain).then(|| ValueStatus::Placeholder(number(local, domain)))
}

fn is_example(domain: &str) -> bool {
    EXAMPLE_DOMAINS.iter().any(|example| {
        domain.strip_suffix(example).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }) || RESERVED_TOP.contains(&domain.rsplit('.').next().unwrap_or_default())
}

fn number(local: &str, domain: &str) -> Option<u64> {
    (domain == EXAMPLE_DOMAINS[0]).then(|| local.strip_prefix(OURS)?.parse().ok()).flatten()
}

/// Returns the placeholder; an escaped at-sign of a URL stays escaped.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let at = if written.contains("%40") { "%40" } else { "@" };
    format!("{OURS}{number}{at}{}", EXAMPLE_DOMAINS[0])
}

/// Returns the byte at which the at-sign of the first placeholder in a text begins.
pub(super) fn at_sign(text: &str) -> Option<usize> {
    let at = text.find(EXAMPLE_DOMAINS[0])?;
    let before = &text[..at];
    let local = before.strip_suffix("@").or_else(|| before.strip_suffix("%40"))?;
    Some(local.len())
}

pub(super) fn is_local(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | '\'')
}
