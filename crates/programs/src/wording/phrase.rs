//! The phrase of a function: the request in the imperative, with slots for its arguments.
//!
//! `list the orders[ of {customer_id}][ placed after {after}]`: what is in brackets is left out if one of its slots has no
//! value.

use crate::words::words;

/// A phrase with slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(Vec<PhrasePart>);

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhrasePart {
    /// Words.
    Words(String),
    /// The argument of a parameter.
    Slot(String),
    /// Parts that are left out together.
    Optional(Vec<PhrasePart>),
}

impl Phrase {
    /// Reads a phrase.
    ///
    /// # Errors
    /// A brace or a bracket without its partner.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let parts = parts(&mut rest, false)
            .ok_or_else(|| format!("\"{text}\" has a brace or a bracket without its partner"))?;
        Ok(Self(parts))
    }

    /// Makes a phrase of a function's description, or of its name; `None` if neither begins with what the function does.
    ///
    /// `things` are the nouns of required parameters that have the key of a thing, with these parameters: "cancel an order" becomes
    /// `cancel order {order_id}`.
    pub fn of_doc(name: &str, description: &str, things: &[(String, String)]) -> Option<Self> {
        let imperative = imperative(name, description).or_else(|| {
            let own = words(name);
            (own.len() > 1 && is_verb(&own[0])).then(|| own.join(" "))
        })?;
        Some(Self(with_keys(&imperative, things)))
    }

    /// Returns `true` if a parameter has a slot outside of brackets.
    pub fn requires(&self, parameter: &str) -> bool {
        self.0.iter().any(|part| matches!(part, PhrasePart::Slot(name) if name == parameter))
    }

    /// Returns its parts.
    pub fn parts(&self) -> &[PhrasePart] {
        &self.0
    }

    /// Returns the parameters that it has slots for.
    pub fn slots(&self) -> Vec<&str> {
        fn add<'a>(parts: &'a [PhrasePart], slots: &mut Vec<&'a str>) {
            for part in parts {
                match part {
                    PhrasePart::Slot(name) => slots.push(name),
                    PhrasePart::Optional(inner) => add(inner, slots),
                    PhrasePart::Words(_) => {}
                }
            }
        }
        let mut slots = Vec::new();
        add(&self.0, &mut slots);
        slots
    }
}

/// Reads parts to the end, or to the bracket that ends them.
fn parts(rest: &mut &str, is_inner: bool) -> Option<Vec<PhrasePart>> {
    let mut found = Vec::new();
    loop {
        let end = rest.find(['{', '}', '[', ']']).unwrap_or(rest.len());
        if end > 0 {
            found.push(PhrasePart::Words(rest[..end].to_owned()));
        }
        let sign = rest[end..].chars().next();
        *rest = rest.get(end + 1..).unwrap_or_default();
        match sign {
            None => return (!is_inner).then_some(found),
            Some('{') => {
                let (name, after) = rest.split_once('}')?;
                found.push(PhrasePart::Slot(name.to_owned()));
                *rest = after;
            }
            Some('[') if !is_inner => found.push(PhrasePart::Optional(parts(rest, true)?)),
            Some(']') if is_inner => return Some(found),
            Some(_) => return None,
        }
    }
}

/// Words with which descriptions of functions begin: the base form of each.
const VERBS: &str = "accept activate add adjust analyze append apply approve archive arrange assign authenticate block \
    book buy calculate call cancel change check choose clear close comment compare complete compress compute confirm \
    contact convert copy count create decline decrease deactivate delete deny deposit describe detect determine disable \
    discover display divide download edit enable encode end estimate evaluate exchange execute export extract fetch fill \
    filter find fix follow forward fund generate get give identify import increase initialize insert invoice issue join \
    like list load lock log login logout look make mark match measure merge modify move multiply notify obtain open order \
    pay perform place plan play post predict press print process provide publish purchase put quote raise rate read \
    reassign recommend record reduce refund register reject release reload remind remove rename renew reopen replace reply report \
    request reschedule reserve reset resolve restock restore resume retrieve retweet return reverse review revoke round save schedule \
    search select sell send set share show sign sort start stop store submit subscribe subtract sum summarize suspend \
    switch take tell test track transfer translate turn unfollow unlock update upgrade upload use validate verify view \
    wait watch withdraw write";

/// Words of a description that are used at most.
const MOST_WORDS: usize = 16;

/// The first sentence of a description in the imperative: "Cancels an order." is "cancel an order".
fn imperative(name: &str, description: &str) -> Option<String> {
    let description = description.replace(['*', '`'], "");
    let own = description.rsplit_once("Tool description:").map_or(&*description, |(_, own)| own);
    let sentence = own.trim().split(['\n', ';']).next()?;
    let sentence = sentence.split(". ").next()?.trim_end_matches('.').trim();
    let sentence = sentence.split(" (").next()?;
    let sentence = sentence.split(" and returns ").next()?;
    let sentence = sentence.split(" with all details").next()?;
    let (first, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    let verb = base_form(&first.to_lowercase(), name)?;
    // What a thing is looked up by are the parameters.
    let rest = if LOOKS_UP.contains(&verb.as_str()) { rest.split(" by ").next()? } else { rest };
    if rest.split_whitespace().count() >= MOST_WORDS || rest.is_empty() {
        return None;
    }
    // An assistant returns nothing to a person.
    let verb = if verb == "return" { "show me" } else { verb.as_str() };
    Some(format!("{verb} {rest}"))
}

/// Verbs of functions that look something up.
const LOOKS_UP: [&str; 9] = ["count", "fetch", "find", "get", "list", "retrieve", "return", "search", "show"];

/// An imperative with a slot for each thing that it names: "a planned order" becomes `order {order_id}`.
fn with_keys(imperative: &str, things: &[(String, String)]) -> Vec<PhrasePart> {
    const ARTICLES: [&str; 3] = ["a", "an", "the"];
    let words: Vec<&str> = imperative.split(' ').collect();
    // The last word of a noun is enough where no other parameter has it: "a customer" for `new_customer_id`.
    let of_noun = |word: &str| {
        let word = word.trim_end_matches(',');
        let exact = things.iter().find(|(noun, _)| noun == word);
        let mut ends = things.iter().filter(|(noun, _)| noun.rsplit(' ').next() == Some(word));
        exact.or_else(|| ends.next().filter(|_| ends.next().is_none())).map(|(_, parameter)| parameter)
    };
    let (mut parts, mut text) = (Vec::new(), String::new());
    let (mut at, mut taken) = (0, Vec::new());
    while at < words.len() {
        // With one adjective at most.
        let places = ARTICLES.contains(&words[at]).then_some([at + 1, at + 2]);
        let found = places.into_iter().flatten().find_map(|place| Some((place, of_noun(words.get(place)?)?)));
        if let Some((place, parameter)) = found.filter(|(_, parameter)| !taken.contains(parameter)) {
            let (noun, comma) = (words[place].trim_end_matches(','), words[place].ends_with(','));
            text += noun;
            text.push(' ');
            parts.push(PhrasePart::Words(std::mem::take(&mut text)));
            parts.push(PhrasePart::Slot(parameter.clone()));
            text += if comma { ", " } else { " " };
            taken.push(parameter);
            at = place + 1;
        } else {
            text += words[at];
            text.push(' ');
            at += 1;
        }
    }
    let rest = text.trim_end();
    if !rest.is_empty() {
        parts.push(PhrasePart::Words(rest.to_owned()));
    }
    parts
}

/// Returns `true` for a word with which descriptions of functions begin.
pub fn is_verb(word: &str) -> bool {
    VERBS.split_whitespace().any(|verb| verb == word)
}

/// The base form of a verb, if the word is one that functions do: of the list, or the first word of the function's name with
/// an ending.
fn base_form(word: &str, name: &str) -> Option<String> {
    if is_verb(word) {
        return Some(word.to_owned());
    }
    let own = words(name);
    let stems = [
        word.strip_suffix('s').map(str::to_owned),
        word.strip_suffix("es").map(str::to_owned),
        word.strip_suffix("ies").map(|stem| format!("{stem}y")),
    ];
    stems.into_iter().flatten().find(|stem| is_verb(stem) || own.first() == Some(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_words_slots_and_optional_parts() {
        let phrase = Phrase::parse("list orders[ of {customer_id}]{x}").unwrap();
        let optional = vec![PhrasePart::Words(" of ".into()), PhrasePart::Slot("customer_id".into())];
        let expected = [
            PhrasePart::Words("list orders".into()),
            PhrasePart::Optional(optional),
            PhrasePart::Slot("x".into()),
        ];
        assert_eq!(phrase.parts(), expected);
        assert_eq!(phrase.slots(), ["customer_id", "x"]);
        for text in ["a {b", "a b}", "a [b", "a b]", "a [b [c]]"] {
            assert!(Phrase::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_description_becomes_an_imperative() {
        let phrase = |name: &str, description: &str| {
            let found = Phrase::of_doc(name, description, &[]);
            let words = found.iter().flat_map(|phrase| phrase.parts().iter()).map(|part| match part {
                PhrasePart::Words(words) => words.as_str(),
                other => panic!("{other:?}"),
            });
            words.collect::<String>()
        };
        assert_eq!(phrase("cancel_order", "Cancels an order. It cannot be undone."), "cancel an order");
        assert_eq!(
            phrase("getQuote", "Fetches the price of a stock (in USD)."),
            "fetch the price of a stock"
        );
        assert_eq!(
            phrase("ls", "This tool belongs to a file system. Tool description: List the files."),
            "list the files"
        );
        assert_eq!(phrase("applyCode", "Applies a code to a cart."), "apply a code to a cart");
        assert_eq!(phrase("stock_info", "The information of a stock."), "");
        assert_eq!(phrase("rereer", "rereer"), "");
        assert_eq!(phrase("history", "History for a game."), "");
        assert_eq!(phrase("feed_by_name", "Get **the feed** by `name`"), "get the feed");
        assert_eq!(phrase("send_mail", ""), "send mail");
        assert_eq!(phrase("gaze", "Gazes at the stars."), "gaze at the stars");
        assert_eq!(phrase("find_pets", "Finds pets by part of their name or by kind."), "find pets");
        assert_eq!(phrase("get_visit", "Returns a visit with all details."), "show me a visit");
    }

    #[test]
    fn the_things_of_a_description_are_those_of_parameters() {
        let things = [("order", "order_id"), ("new owner", "new_owner_id")];
        let things = things.map(|(noun, parameter)| (noun.to_owned(), parameter.to_owned()));
        let phrase = |description: &str| Phrase::of_doc("f", description, &things).unwrap();
        for (description, expected) in [
            ("Cancels a planned order.", "cancel order {order_id}"),
            (
                "Gives an order to an owner, and tells him.",
                "give order {order_id} to owner {new_owner_id}, and tells him",
            ),
            ("Moves an order behind an order.", "move order {order_id} behind an order"),
            ("Cancels orders of the owner.", "cancel orders of owner {new_owner_id}"),
            ("Cancels orders.", "cancel orders"),
        ] {
            assert_eq!(phrase(description), Phrase::parse(expected).unwrap(), "{description}");
        }
        assert!(phrase("Cancels an order.").requires("order_id"));
        assert!(!Phrase::parse("cancel[ order {order_id}]").unwrap().requires("order_id"));
    }
}
