//! Whether a function looks something up or does something, by the words of its name.

/// Words of functions that look something up.
#[rustfmt::skip] // The words of a kind are together.
const LOOKUPS: &[&str] = &[
    "get", "list", "find", "search", "check", "show", "lookup", "look", "fetch", "query", "read", "retrieve", "view",
    "describe", "calculate", "calc", "compute", "convert", "count", "compare", "translate", "estimate", "quote",
    "predict", "track", "browse", "inspect", "is", "has", "which", "what", "how", "when", "where", "validate", "verify",
    "analyze", "analyse", "recommend", "suggest", "preview", "info", "status", "details", "forecast", "history",
];
/// Words of functions that do something.
#[rustfmt::skip] // The words of a kind are together.
const ACTIONS: &[&str] = &[
    "book", "reserve", "cancel", "create", "add", "update", "delete", "remove", "send", "post", "order", "place", "pay",
    "refund", "renew", "extend", "change", "set", "unlock", "lock", "start", "stop", "end", "open", "close", "register",
    "sign", "signup", "schedule", "reschedule", "assign", "move", "transfer", "buy", "purchase", "sell", "submit",
    "report", "request", "enable", "disable", "turn", "switch", "play", "pause", "write", "log", "mark", "approve",
    "reject", "invite", "join", "leave", "subscribe", "unsubscribe", "edit", "modify", "put", "save", "upload", "print",
    "release", "return", "hold", "activate", "deactivate", "block", "freeze", "issue", "file", "apply", "confirm", "notify",
    "remind", "share", "rename", "reset", "restart", "run", "execute", "charge", "top", "rent", "hire", "borrow", "swap",
    "enter", "enrol", "enroll", "replace", "insert", "dispatch", "ship", "call", "refill", "make", "do",
];

/// Returns whether a function looks something up. The first of its words that is a verb decides; a name without one looks
/// something up: `tide_times`.
pub(super) fn looks_up(name: &str) -> bool {
    let words = words(name);
    let is_verb = |word: &&String| LOOKUPS.contains(&word.as_str()) || ACTIONS.contains(&word.as_str());
    words.iter().find(is_verb).is_none_or(|verb| LOOKUPS.contains(&verb.as_str()))
}

/// The words of a name, in lower case: `orders.getStatus` has three.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        let begins = before.is_lowercase() && c.is_uppercase() || !before.is_alphanumeric();
        if c.is_alphanumeric() {
            if begins || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_verb_of_a_name_decides() {
        for name in
            ["get_order", "orders.getStatus", "tide_times", "CheckBalance", "find-slot", "sea_forecast", ""]
        {
            assert!(looks_up(name), "{name}");
        }
        for name in
            ["place_order", "bookTicket", "roster.swapShift", "UnlockBike", "cancel-booking", "ev_signup"]
        {
            assert!(!looks_up(name), "{name}");
        }
    }
}
