//! Tokens as small numbers.

use rustc_hash::FxHashMap;

use super::tokens::Tokenizer;

/// Numbers for tokens, in the order of first occurrence.
///
/// Numbers are comparable only within one vocabulary.
#[derive(Debug, Default)]
pub struct Vocabulary {
    ids: FxHashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// Creates an empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of distinct tokens so far; every token number is below it.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns true if there are no tokens yet.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Calls `f` with the number of each of a text's tokens, in order.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn for_each_number(&mut self, tokenizer: Tokenizer, text: &str, mut f: impl FnMut(u32)) {
        tokenizer.for_each_token(text, |token| f(self.number(token)));
    }

    /// Returns the numbers of a text's tokens.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode(&mut self, tokenizer: Tokenizer, text: &str) -> Vec<u32> {
        let mut encoded = Vec::new();
        self.for_each_number(tokenizer, text, |number| encoded.push(number));
        encoded
    }

    /// Returns the number of a token.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn number(&mut self, token: &str) -> u32 {
        if let Some(&number) = self.ids.get(token) {
            return number;
        }
        let number = u32::try_from(self.ids.len()).expect("2³² distinct tokens do not fit in memory");
        self.ids.insert(token.into(), number);
        number
    }

    /// Returns the tokens in the order of their numbers.
    pub fn into_tokens(self) -> Vec<Box<str>> {
        let mut tokens: Vec<(u32, Box<str>)> =
            self.ids.into_iter().map(|(token, number)| (number, token)).collect();
        tokens.sort_unstable_by_key(|&(number, _)| number);
        tokens.into_iter().map(|(_, token)| token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_assigned_in_the_order_of_first_occurrence() {
        let mut vocabulary = Vocabulary::new();
        assert_eq!(vocabulary.encode(Tokenizer::Rouge, "a b A"), [0, 1, 0]);
        assert_eq!(vocabulary.encode(Tokenizer::Rouge, "c b"), [2, 1]);
        assert_eq!(vocabulary.encode(Tokenizer::Rouge, "天气"), [0_u32; 0]);
        assert_eq!(vocabulary.len(), 3);
        assert_eq!(vocabulary.into_tokens(), ["a", "b", "c"].map(Box::from));
    }
}
