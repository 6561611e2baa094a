//! Numbers and tables as plain text: the only formatter for screen, card, page and messages.

use std::borrow::Cow;

use super::visible::visible_line;

/// A number with a comma between thousands: `64,517`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, with the noun in singular or plural: `1 file`, `64,517 files`.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A number from 0 to 100 as `53.2 %`.
pub fn percent(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// A share from 0 to 1 as `53.2 %`.
pub fn share(share: f64) -> String {
    percent(100.0 * share)
}

/// A part of a whole as `53.2 %`; nothing of nothing is `0.0 %`.
// Counts of rows are far below 2^52, so the division is exact enough.
#[allow(clippy::cast_precision_loss)]
pub fn share_of(part: u64, whole: u64) -> String {
    share(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// The fewest things of which a part can be most.
const FEWEST: u64 = 20;

/// Whether a part is more than half of a whole that is not tiny.
pub fn is_most(part: u64, whole: u64) -> bool {
    whole >= FEWEST && part > whole / 2
}

/// Bytes in the largest unit of which there is at least one, in powers of 1024: `812 B`, `1.5 KiB`, `350 MiB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut tenths = number.saturating_mul(10);
    let mut unit = 0;
    while tenths >= 10 * 1024 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1024, unit + 1);
    }
    let digits = if unit == 0 || tenths >= 100 {
        count(tenths / 10)
    } else {
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    format!("{digits} {}", UNITS[unit])
}

/// A time span: `0.42 s`, `9.31 s`, `42.1 s`, `3 min 05 s`, `2 h 07 min`.
// A span is positive and far below 2^52 seconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn seconds(seconds: f64) -> String {
    if seconds < 9.995 {
        return format!("{seconds:.2} s");
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    match seconds.round() as u64 {
        whole @ 0..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        whole => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A table: columns padded to their widest cell; those in `numbers` are aligned to the right. Each row is one line.
///
/// For a table that fits a terminal see `cli::layout`.
pub fn table(header: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let header: Vec<Cow<'_, str>> = header.iter().map(|cell| visible_line(cell)).collect();
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| visible_line(cell)).collect()).collect();
    let width = |at: usize| {
        rows.iter().map(|row| row[at].chars().count()).chain([header[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[Cow<'_, str>]| {
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[at] - cell.chars().count());
            let gap = if at == 0 { "" } else { "  " };
            text += &if numbers.contains(&at) {
                format!("{gap}{pad}{cell}")
            } else {
                format!("{gap}{cell}{pad}")
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line(&header);
    text += &rows.iter().map(|row| line(row)).collect::<String>();
    text
}

/// Standard normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Returns an interval of shares from 0 to 1 as text, in percent.
pub fn interval((low, high): (f64, f64)) -> String {
    format!("{:.1} to {:.1} %", low * 100.0, high * 100.0)
}

/// Returns the Wilson 95 % interval of a share, `part` of `whole`; from 0 to 1 of nothing.
#[allow(clippy::cast_precision_loss)] // Counts are far below 2^52.
pub fn wilson(part: usize, whole: usize) -> (f64, f64) {
    if whole == 0 {
        return (0.0, 1.0);
    }
    let (share, n) = (part as f64 / whole as f64, whole as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    let least = if part == 0 { 0.0 } else { (middle - half).max(0.0) };
    (least, if part == whole { 1.0 } else { (middle + half).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_table_is_one_line_as_wide_as_it_looks() {
        let rows = [vec!["a\nb".to_owned(), "1".to_owned()], vec!["\u{202e}".to_owned(), "22".to_owned()]];
        assert_eq!(table(&["x\r", "n"], &rows, &[1]), "x\\r        n\na\\nb       1\n\\u{202e}  22\n");
    }

    #[test]
    fn thousands_are_separated_by_commas() {
        assert_eq!(
            [0, 999, 1_000, 64_517, 1_234_567].map(count),
            ["0", "999", "1,000", "64,517", "1,234,567"]
        );
    }

    #[test]
    fn shares_have_one_decimal() {
        assert_eq!([share(1.0), share(0.532), percent(0.04)], ["100.0 %", "53.2 %", "0.0 %"]);
        assert_eq!([share_of(1, 3), share_of(0, 0)], ["33.3 %", "0.0 %"]);
    }

    #[test]
    fn bytes_and_seconds_have_the_unit_that_fits() {
        assert_eq!(
            [0, 1023, 1024, 10 * 1024, 350 << 20].map(bytes),
            ["0 B", "1,023 B", "1.0 KiB", "10 KiB", "350 MiB"]
        );
        assert_eq!(
            [0.0, 0.421, 9.994, 9.996, 59.94, 59.96, 185.0, 7_620.0].map(seconds),
            ["0.00 s", "0.42 s", "9.99 s", "10.0 s", "59.9 s", "1 min 00 s", "3 min 05 s", "2 h 07 min"]
        );
    }
}
