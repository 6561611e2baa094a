//! Lists of names in texts for people: the first ones, and how many there are besides.
//!
//! A run can read tens of thousands of files. Reports that programs read have all of them; a screen, a page and a message
//! have at most [`MOST_LISTED`].

use super::figures::count;

/// The most names that a text for people lists.
pub const MOST_LISTED: usize = 10;

/// Returns all names, or the first of them with their number: `12 files: a, b, …, j and 2 more`.
///
/// `things` names many of them: `files`.
pub fn listed<N: AsRef<str>>(names: impl ExactSizeIterator<Item = N>, things: &str) -> String {
    let n_names = names.len();
    let shown: Vec<N> = names.take(MOST_LISTED).collect();
    let shown = shown.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match unlisted(n_names) {
        None => shown,
        Some(more) => format!("{} {things}: {shown} {more}", count(n_names as u64)),
    }
}

/// Returns `and 2 more` if not all of these names are listed; `None` if all are.
pub fn unlisted(n_names: usize) -> Option<String> {
    let n_more = n_names.saturating_sub(MOST_LISTED);
    (n_more > 0).then(|| format!("and {} more", count(n_more as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_ends_after_ten_with_the_number_of_the_others() {
        let names = |n: usize| (1..=n).map(|at| format!("f{at}")).collect::<Vec<_>>();
        assert_eq!(listed(names(0).iter(), "files"), "");
        assert_eq!(listed(names(3).iter(), "files"), "f1, f2, f3");
        assert_eq!(listed(names(10).iter(), "files"), names(10).join(", "));
        let many = listed(names(1_234).iter(), "files");
        assert_eq!(many, format!("1,234 files: {} and 1,224 more", names(10).join(", ")));
        assert_eq!((unlisted(10), unlisted(11)), (None, Some("and 1 more".to_owned())));
    }
}
