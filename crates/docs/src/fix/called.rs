//! Derives the name of a function from its call in an API collection: `GET /bells`, `bells.tower(id).ring()`.

use super::names::{is_function_name, is_identifier};

/// HTTP methods.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Top-level domains of hosts in API collections.
const DOMAINS: [&str; 20] = [
    "ai", "biz", "ca", "ch", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "io", "local", "net", "nl",
    "org", "tv", "uk", "us",
];

/// The suffix that executes a request built before it.
const RUNS: &str = ".execute";

/// Returns the name in a call; `None` if the text is not a supported call.
pub(super) fn name(call: &str) -> Option<String> {
    let call = call.trim();
    let name =
        if is_function_name(call) { call.to_owned() } else { of_request(call).or_else(|| of_chain(call))? };
    is_function_name(&name).then_some(name)
}

/// Returns true if a name is the host of an API, with or without a service: `bells.com`, `bells.com:tower`.
pub(super) fn is_host(name: &str) -> bool {
    let host = name.split(':').next().unwrap_or_default();
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let Some((labels, domain)) = host.rsplit_once('.') else { return false };
    labels.split('.').all(is_label) && DOMAINS.contains(&domain.to_ascii_lowercase().as_str())
}

/// Returns `get_bells_id` for `GET /bells/{id}?page=1`, as for an unnamed operation of an API description.
fn of_request(call: &str) -> Option<String> {
    let (method, address) = call.split_once(' ')?;
    let address = address.trim();
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => address.strip_prefix('/')?,
    };
    let path = path.split(['?', '#', ' ']).next().unwrap_or_default();
    let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let method = METHODS.contains(&method).then(|| method.to_ascii_lowercase())?;
    Some(std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("_"))
}

/// Returns `tower.bells.ring` for `tower.bells(id).ring(times).execute()`: the names in a chain of calls.
fn of_chain(call: &str) -> Option<String> {
    let (mut names, mut rest) = (Vec::new(), call);
    loop {
        let end = rest.find(['.', '(']).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() || !is_identifier(name) {
            return None;
        }
        names.push(name);
        rest = &rest[end..];
        while rest.starts_with('(') {
            rest = &rest[closing(rest)? + 1..];
        }
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None if rest.is_empty() => break,
            None => return None,
        }
    }
    let name = names.join(".");
    Some(name.strip_suffix(RUNS).filter(|rest| rest.contains('.')).unwrap_or(&name).to_owned())
}

/// Returns the place of the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let (at, _) = text.char_indices().find(|(_, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_calls_and_requests() {
        for (call, expected) in [
            ("bells.ring", Some("bells.ring")),
            ("bells.ring(times, tower=(1, 2))", Some("bells.ring")),
            ("tower.bells().ring(id: str).execute()", Some("tower.bells.ring")),
            ("bells.Tower({name}).height", Some("bells.Tower.height")),
            ("GET /bells/{id}/rings?page=1", Some("get_bells_id_rings")),
            ("POST https://api.bells.com/v1/rings", Some("post_v1_rings")),
            ("PATCH /bells/:id.json", Some("patch_bells_id_json")),
            ("GET /", Some("get")),
            ("ring it", None),
            ("bells ring {id} -n 3", None),
            ("bells.ring(", None),
            ("bells.ring() or toll()", None),
            ("get /bells", None),
            ("", None),
        ] {
            assert_eq!(name(call).as_deref(), expected, "{call}");
        }
    }

    #[test]
    fn hosts_are_distinguished_from_names() {
        for name in
            ["bells.com", "api.bells.io", "4bells.com", "bells.com:tower", "bells.co.uk", "my-bells.local"]
        {
            assert!(is_host(name), "{name}");
        }
        for name in ["bells.ring", "ring", "requests.get", "Bells and co.", "a b.com", ".com"] {
            assert!(!is_host(name), "{name}");
        }
    }
}
