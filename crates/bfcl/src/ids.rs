//! The ids of entries: `live_<category>_<A>-<prefix><B>-<C>`.
//!
//! `A` counts the entries of a category, `B` its doc lists, `C` the entries of one doc
//! list, all from 0 and without gaps; a mark before `C` distinguishes the sets of one dataset. The
//! official package reads the category from the part before the last `_`, sorts by `A` as a
//! number, requires two `-`, and reads nothing else. So letters before `B` make the id different
//! from all ids of the leaderboard, and the package can still read it. Two sets of one dataset,
//! and two datasets with different prefixes, never share an id.

use super::category::Category;

/// Maximum length of a prefix, in characters.
const MAX_PREFIX_CHARS: usize = 16;
/// Words anywhere in an id by which the official package recognises other categories.
const RESERVED_WORDS: [&str; 2] = ["memory", "prereq"];
/// Checks a prefix: letters and digits with a letter at both ends, or empty.
///
/// # Errors
/// `id_prefix must …, not …`.
pub fn check_prefix(prefix: &str) -> Result<(), String> {
    let letter = |at: Option<char>| at.is_some_and(|c| c.is_ascii_alphabetic());
    let is_plain = prefix.len() <= MAX_PREFIX_CHARS
        && prefix.chars().all(|c| c.is_ascii_alphanumeric())
        && letter(prefix.chars().next())
        && letter(prefix.chars().last());
    if !prefix.is_empty() && !is_plain {
        return Err(format!(
            "id_prefix must be at most {MAX_PREFIX_CHARS} ASCII letters and digits with a letter at both ends, or \"\", not {prefix:?}"
        ));
    }
    match RESERVED_WORDS.iter().find(|word| prefix.contains(*word)) {
        Some(word) => Err(format!(
            "id_prefix must not contain \"{word}\", by which the official package recognises other categories, not {prefix:?}"
        )),
        None => Ok(()),
    }
}

/// Numbers the entries of one file.
#[derive(Debug)]
pub struct Ids<'p> {
    prefix: &'p str,
    mark: &'p str,
    n_entries: u64,
    n_lists: u64,
    n_in_list: u64,
    list: Option<u32>,
}

impl<'p> Ids<'p> {
    /// Starts at 0; `prefix` comes before the number of a doc list, `mark` before that of an entry in it.
    pub fn new(prefix: &'p str, mark: &'p str) -> Self {
        Self { prefix, mark, n_entries: 0, n_lists: 0, n_in_list: 0, list: None }
    }

    /// Continues after an existing id; returns `false` if it is not an id of this category.
    #[must_use]
    pub fn follow(&mut self, category: Category, id: &str) -> bool {
        let next = |(entry, list): (_, _)| Some((u64::checked_add(entry, 1)?, u64::checked_add(list, 1)?));
        let Some((entries, lists)) =
            Numbers::of(&format!("live_{}", category.name()), id).and_then(|id| next((id.entry, id.list?.0)))
        else {
            return false;
        };
        self.n_entries = self.n_entries.max(entries);
        self.n_lists = self.n_lists.max(lists);
        true
    }

    /// Returns the id of the next entry; entries of the same `list` must be consecutive.
    pub fn next(&mut self, category: Category, list: u32) -> String {
        if self.list != Some(list) {
            self.list = Some(list);
            self.n_lists += 1;
            self.n_in_list = 0;
        }
        let id = format!(
            "live_{}_{}-{}{}-{}{}",
            category.name(),
            self.n_entries,
            self.prefix,
            self.n_lists - 1,
            self.mark,
            self.n_in_list
        );
        self.n_entries += 1;
        self.n_in_list += 1;
        id
    }
}

/// The numbers of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// `A`.
    pub entry: u64,
    /// `B` and `C`, without the letters before them; an id of a category without doc lists has none.
    pub list: Option<(u64, u64)>,
}

impl Numbers {
    /// Reads the numbers of an id of this category, with any prefix and mark.
    pub fn of(category: &str, id: &str) -> Option<Self> {
        let parts: Vec<&str> = id.strip_prefix(category)?.strip_prefix('_')?.split('-').collect();
        // A prefix may contain digits: the number comes after the last letter.
        let after_letters = |part: &str| part.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        match parts.as_slice() {
            [entry] => Some(Self { entry: entry.parse().ok()?, list: None }),
            [entry, list, in_list] => {
                let list = (after_letters(list)?, after_letters(in_list)?);
                Some(Self { entry: entry.parse().ok()?, list: Some(list) })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_count_entries_lists_and_entries_of_a_list() {
        let made = |prefix, mark| {
            let mut ids = Ids::new(prefix, mark);
            [7, 7, 3, 9, 9].map(|list| ids.next(Category::Irrelevance, list).replace("live_irrelevance_", ""))
        };
        assert_eq!(made("", ""), ["0-0-0", "1-0-1", "2-1-0", "3-2-0", "4-2-1"]);
        assert_eq!(made("ts", ""), ["0-ts0-0", "1-ts0-1", "2-ts1-0", "3-ts2-0", "4-ts2-1"]);
        assert_eq!(made("ts", "u"), ["0-ts0-u0", "1-ts0-u1", "2-ts1-u0", "3-ts2-u0", "4-ts2-u1"]);
    }

    #[test]
    fn new_ids_continue_after_existing_ones() {
        let mut ids = Ids::new("ts", "");
        for taken in ["live_simple_0-0-0", "live_simple_257-159-17", "live_simple_258-a1b160-u0"] {
            assert!(ids.follow(Category::Simple, taken), "{taken}");
        }
        assert_eq!(ids.next(Category::Simple, 0), "live_simple_259-ts161-0");
        for other in
            ["live_multiple_0-0-0", "simple_20", "live_simple_1-2", "live_simple_1-a-0", "live_simple_x-1-0"]
        {
            assert!(!ids.follow(Category::Simple, other), "{other}");
        }
    }

    #[test]
    fn a_prefix_that_the_official_package_would_misread_is_refused() {
        for good in ["", "ts", "a", "may2026x", "ACME"] {
            assert_eq!(check_prefix(good), Ok(()), "{good}");
        }
        for bad in ["1a", "a1", "a-b", "a_b", "a:b", "é", " ", "aprereqa", "memory", "abcdefghijklmnopq"] {
            assert!(check_prefix(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn new_ids_can_be_continued_and_are_never_repeated(
            prefix in "([a-z]([a-z0-9]{0,4}[a-z])?)?", lists in prop::collection::vec(0_u32..4, 1..20), verified in any::<bool>()
        ) {
            let mark = if verified { "" } else { "u" };
            let mut lists = lists;
            lists.sort_unstable();
            let (mut ids, mut after) = (Ids::new(&prefix, mark), Ids::new(&prefix, mark));
            let made: Vec<String> = lists.iter().map(|&list| ids.next(Category::Parallel, list)).collect();
            for id in &made {
                prop_assert!(after.follow(Category::Parallel, id));
            }
            let next = after.next(Category::Parallel, 9);
            prop_assert_eq!(&next, &ids.next(Category::Parallel, 9));
            prop_assert!(!made.contains(&next));
        }
    }
}
