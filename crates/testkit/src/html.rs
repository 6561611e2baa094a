//! Checks of HTML pages.

/// Returns the tags of a page with their attributes, in order. Two pages of the same template have the same tags with any
/// texts, unless a text injects a tag or an attribute.
pub fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|tag| tag.split_once('>').map_or(tag, |(tag, _)| tag)).collect()
}
