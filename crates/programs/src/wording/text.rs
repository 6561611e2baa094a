//! A text in which it is known where each value of the user is.

use serde::Serialize;

/// A value that a text holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// The step whose argument it is, from 0.
    pub step: usize,
    /// The parameter.
    pub parameter: String,
    /// Where it begins in the text, in characters from 0.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A text with the values that it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The values, in their order.
    pub mentions: Vec<Mention>,
}

impl Text {
    /// Returns a text without values.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), mentions: Vec::new() }
    }

    /// Returns the text of a value.
    pub fn value(text: String, step: usize, parameter: &str) -> Self {
        let end = text.chars().count();
        Self { text, mentions: vec![Mention { step, parameter: parameter.to_owned(), start: 0, end }] }
    }

    /// Returns the text of the same value in other words.
    #[must_use]
    pub(crate) fn reworded(&self, words: &str) -> Self {
        let end = words.chars().count();
        let mentions = self.mentions.iter().map(|mention| Mention { start: 0, end, ..mention.clone() });
        Self { text: words.to_owned(), mentions: mentions.collect() }
    }

    /// Adds words.
    pub fn push(&mut self, words: &str) {
        self.text.push_str(words);
    }

    /// Adds another text.
    pub fn append(&mut self, other: Self) {
        let offset = self.text.chars().count();
        self.text.push_str(&other.text);
        self.mentions.extend(other.mentions.into_iter().map(|mention| Mention {
            start: mention.start + offset,
            end: mention.end + offset,
            ..mention
        }));
    }

    /// Returns the text with its first letter as a capital. A value at the beginning stays as it is.
    #[must_use]
    pub fn capitalised(self) -> Self {
        let begins_with_value = self.mentions.first().is_some_and(|first| first.start == 0);
        let capitalised = super::templates::capitalised(&self.text);
        // A letter such as ß has a longer capital, which would move what is behind it.
        if begins_with_value || capitalised.chars().count() != self.text.chars().count() {
            return self;
        }
        Self { text: capitalised, ..self }
    }

    /// Puts texts into the slots of a template: `{tasks}`, or `{Tasks}` with a capital letter. Other braces stay.
    #[must_use]
    pub fn of_template(template: &str, slots: &[(&str, &Self)]) -> Self {
        let (mut text, mut rest) = (Self::default(), template);
        while let Some(open) = rest.find('{') {
            text.push(&rest[..open]);
            rest = &rest[open..];
            let slot = rest.find('}').map(|close| &rest[1..close]);
            let found = slot.and_then(|slot| {
                slots.iter().find_map(|(name, value)| {
                    if *name == slot {
                        return Some((*value).clone());
                    }
                    (super::templates::capitalised(name) == slot).then(|| (*value).clone().capitalised())
                })
            });
            if let (Some(value), Some(slot)) = (found, slot) {
                text.append(value);
                rest = &rest[slot.len() + 2..];
            } else {
                text.push("{");
                rest = &rest[1..];
            }
        }
        // "call me back.". has one full stop too many.
        let is_quoted = [".\"", "!\"", "?\""].iter().any(|end| text.text.ends_with(end));
        text.push(rest.strip_prefix('.').filter(|_| is_quoted).unwrap_or(rest));
        text
    }

    /// Removes an article at the end, before a phrase that has its own: "the" before "that order".
    pub fn without_article(&mut self) {
        for article in ["a(n) ", "the ", "a ", "an "] {
            let is_word = |before: &str| before.is_empty() || before.ends_with(' ');
            if let Some(before) = self.text.strip_suffix(article).filter(|before| is_word(before)) {
                self.text.truncate(before.len());
                return;
            }
        }
    }

    /// Removes words at the end, if they are there and no value of the user.
    pub fn without_end(&mut self, words: &str) {
        let n_chars = self.text.chars().count();
        if self.mentions.iter().all(|mention| mention.end + words.chars().count() <= n_chars)
            && let Some(before) = self.text.strip_suffix(words)
            && (before.is_empty() || before.ends_with(' '))
        {
            self.text.truncate(before.len());
        }
    }

    /// Replaces `a(n)` before a word by "a" or "an".
    #[must_use]
    pub fn with_articles(mut self) -> Self {
        const EITHER: &str = "a(n) ";
        while let Some(at) = self.text.find(EITHER) {
            let article = if takes_an(&self.text[at + EITHER.len()..]) { "an " } else { "a " };
            let place = self.text[..at].chars().count();
            self.text.replace_range(at..at + EITHER.len(), article);
            let shorter = EITHER.len() - article.len();
            for mention in self.mentions.iter_mut().filter(|mention| mention.start > place) {
                mention.start -= shorter;
                mention.end -= shorter;
            }
        }
        self
    }

    /// Returns the characters of a mention.
    pub fn said(&self, mention: &Mention) -> String {
        self.text.chars().skip(mention.start).take(mention.end - mention.start).collect()
    }
}

/// Whether the first word of a text begins with the sound of a vowel.
fn takes_an(text: &str) -> bool {
    const LIKE_YOU: [&str; 8] = ["use", "usu", "uni", "eu", "one", "once", "ura", "ute"];
    const NOT_LIKE_YOU: [&str; 2] = ["unim", "unin"];
    const SILENT: [&str; 4] = ["heir", "honest", "honour", "hour"];
    const NUMBERS: [&str; 3] = ["8", "11", "18"];
    const LETTERS: &str = "aefhilmnorsx";
    let word = text.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| lower.starts_with(beginning));
    if lower.starts_with(|sign: char| sign.is_ascii_digit()) {
        return NUMBERS[0] == &lower[..1] || NUMBERS[1..].contains(&lower.as_str());
    }
    // A word that is spelt: "an X-ray", "an SMS".
    let is_spelt = word.chars().count() == 1
        || word.chars().count() < 5 && word.chars().all(|sign| sign.is_ascii_uppercase());
    if is_spelt {
        return lower.starts_with(|sign| LETTERS.contains(sign));
    }
    begins(&SILENT)
        || lower.starts_with(['a', 'e', 'i', 'o', 'u']) && (!begins(&LIKE_YOU) || begins(&NOT_LIKE_YOU))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_move_with_their_text() {
        let mut task = Text::plain("größe ");
        task.append(Text::value("B-1".into(), 0, "id"));
        let text = Text::of_template("Bitte: {tasks}, {other} {Tasks}.", &[("tasks", &task)]);
        assert_eq!(text.text, "Bitte: größe B-1, {other} Größe B-1.");
        let said: Vec<String> = text.mentions.iter().map(|mention| text.said(mention)).collect();
        assert_eq!(said, ["B-1", "B-1"]);
    }

    #[test]
    fn the_article_fits_the_next_word() {
        let kind = Text::value("electric".into(), 0, "kind");
        let text = Text::of_template("a(n) {kind} bike and a(n) pump", &[("kind", &kind)]).with_articles();
        assert_eq!(
            (text.text.as_str(), text.said(&text.mentions[0]).as_str()),
            ("an electric bike and a pump", "electric")
        );
    }

    #[test]
    fn the_article_fits_the_sound() {
        for (word, expected) in [
            ("user", false),
            ("unit", false),
            ("urgent order", true),
            ("one-way ticket", false),
            ("x ray", true),
            ("X-ray", true),
            ("SMS", true),
            ("UV lamp", false),
            ("hour", true),
            ("house", false),
            ("8 day trip", true),
            ("18 day trip", true),
            ("1 day trip", false),
            ("eye test", true),
            ("unimportant note", true),
            ("", false),
        ] {
            assert_eq!(takes_an(word), expected, "{word}");
        }
    }

    #[test]
    fn a_phrase_with_an_article_has_one() {
        for (text, expected) in [
            ("find the ", "find "),
            ("book a(n) ", "book "),
            ("a ", ""),
            ("bath", "bath"),
            ("soda ", "soda "),
        ] {
            let mut text = Text::plain(text);
            text.without_article();
            assert_eq!(text.text, expected);
        }
    }

    #[test]
    fn a_value_keeps_its_spelling_at_the_beginning() {
        let text = Text::of_template("{Value}.", &[("value", &Text::value("abc".into(), 0, "id"))]);
        assert_eq!(text.text, "abc.");
        assert_eq!(Text::of_template("{Value}{", &[("value", &Text::plain("abc"))]).text, "Abc{");
    }
}
