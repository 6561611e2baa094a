//! Names of functions and parameters as words: `get_customerOrders` is get, customer, order.

/// Words that say nothing about what a name stands for.
const EMPTY: [&str; 12] =
    ["get", "find", "list", "search", "show", "fetch", "read", "by", "of", "the", "all", "for"];

/// Signs of a value that is looked for in texts; shorter ones are in many by accident.
const FEWEST_CHARS: usize = 3;

/// Returns `true` if a text holds a value of three signs or more as words of its own, in any case.
pub fn holds_word(text: &str, value: &str) -> bool {
    if value.chars().count() < FEWEST_CHARS {
        return false;
    }
    let (text, value) = (text.to_lowercase(), value.to_lowercase());
    text.match_indices(&value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// Returns the words of a name in lower case, cut at `_`, `-`, `.`, blanks and capitals.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for sign in name.chars() {
        if !sign.is_alphanumeric() || (sign.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if sign.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(sign.to_lowercase());
        }
        was_lower = sign.is_lowercase() || sign.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the singular of an English noun, as far as its ending shows it.
pub fn singular(word: &str) -> String {
    for (ending, one) in [("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() > 1
        {
            return format!("{stem}{one}");
        }
    }
    let keeps = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) || word.len() < 4;
    word.strip_suffix('s').filter(|_| !keeps).unwrap_or(word).to_owned()
}

/// Returns the words of a name in the singular.
pub fn nouns(name: &str) -> Vec<String> {
    words(name).iter().map(|word| singular(word)).collect()
}

/// Returns the nouns of a function's name: its words without verbs such as `get`.
pub fn things(function: &str) -> Vec<String> {
    nouns(function).into_iter().filter(|word| !EMPTY.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(words("get_customerOrders"), ["get", "customer", "orders"]);
        assert_eq!(words("GorillaFileSystem.ls"), ["gorilla", "file", "system", "ls"]);
        assert_eq!(words("order-id2"), ["order", "id2"]);
        assert_eq!(nouns("customerOrders"), ["customer", "order"]);
        assert_eq!(things("find_orders_by_status"), ["order", "status"]);
        assert_eq!(words("__"), [""; 0]);
    }

    #[test]
    fn the_singular_of_a_noun() {
        let all = ["orders", "cities", "addresses", "status", "boxes", "bus", "analysis", "ids", "gas"];
        let expected = ["order", "city", "address", "status", "box", "bus", "analysis", "ids", "gas"];
        assert_eq!(all.map(singular), expected);
    }
}
