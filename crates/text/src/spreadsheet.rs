//! Cells of CSV files: text that a spreadsheet would run as a formula gets an apostrophe before it.
//!
//! Every CSV file of the program is written through [`guarded`]. Spreadsheets look for the sign of a formula behind blanks,
//! tabs, line ends and what is not visible, and take wide and small forms of the signs for the signs.

use std::borrow::Cow;

/// Characters with which spreadsheets begin a formula, with their wide and small forms and the mathematical minus.
const SIGNS: [char; 13] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'];

/// Returns a cell as it is written to CSV.
pub fn guarded(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// Returns the cell that [`guarded`] wrote.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(cell)
}

/// Whether a spreadsheet may take a text for a formula, also behind apostrophes, which are taken off one by one.
fn is_formula(cell: &str) -> bool {
    // Programs disagree about these characters themselves.
    let begins_with_layout = |text: &str| text.starts_with(['\t', '\r', '\n']);
    let bare = cell.trim_start_matches('\'');
    begins_with_layout(bare) || bare.trim_start_matches(is_skipped).starts_with(SIGNS)
}

/// Whether spreadsheets pass over a character at the start of a cell.
fn is_skipped(c: char) -> bool {
    c == '\''
        || c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_sign_of_a_formula_is_guarded_behind_anything_that_spreadsheets_pass_over() {
        for sign in SIGNS {
            for before in [
                "", " ", "\n", "\r\n", "\t", "\r", "'", "''", "\u{a0}", "\u{feff}", "\u{200b}", " '\n ",
                "\u{2028}", "\0",
            ] {
                let cell = format!("{before}{sign}1+1");
                assert_eq!(guarded(&cell), format!("'{cell}"), "{cell:?}");
            }
        }
        for cell in ["\ta", "\ra", "\na", "'\ta"] {
            assert_eq!(guarded(cell), format!("'{cell}"));
        }
        for cell in ["", "a", "a=1", "'a", " a", "1-2", "gpt-4 (FC)", "'", "{\"a\": -1}"] {
            assert_eq!(guarded(cell), cell);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(cell in "['=+@a \t\n\r＝﹣-]{0,8}") {
            let written = guarded(&cell);
            prop_assert_eq!(unguarded(&written), &cell);
            prop_assert!(!is_formula(&cell) || written.starts_with('\''));
        }
    }
}
