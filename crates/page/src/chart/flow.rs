//! A funnel as a flow: the rows that remain run down, the rows that are removed leave to the right.
//!
//! Widths are proportional to rows. A long flow has several parts, which are columns on a wide screen and one drawing on
//! a narrow one. A part restarts at full width if its flow has become thin, and its first line gives the factor. Numbers
//! and names are next to the ribbons, never on them. Sums are not checked: a station is as wide as its own rows.

use std::borrow::Cow;

use maud::{Markup, html};

use callsieve_text::figures::{count, counted, share_of};

use super::drawing::{
    Drawing, TEXT, bold_width_of, fitted, linked, mark, n, one_line, shape, text, width_of,
};
use super::scale::{place, real, trimmed};
use super::{Figure, WIDTH, figure};
use crate::table::{self, Column};

/// The left edge of the flow.
const LEFT: f64 = 4.0;
/// The width of the flow where it is widest.
const FULL: f64 = 104.0;
/// Where ribbons end and their texts start.
const END: f64 = 138.0;
const LABEL: f64 = END + 6.0;
/// The width of a ribbon or a flow of a few rows.
const THIN: f64 = 1.0;
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The height from which a flow is divided, and the most parts.
const MAX_HEIGHT: f64 = 400.0;
const MAX_PARTS: usize = 3;
/// How many leavers of a station are drawn one by one.
const MAX_LEAVERS: usize = 5;
/// The share of a station's rows below which leavers are gathered.
const SMALL: f64 = 0.002;

/// A step of a pipeline.
#[derive(Debug, Clone)]
pub struct Station<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many rows remain after it.
    pub rows: u64,
    /// The rows that it removes.
    pub leavers: Vec<Leaver<'a>>,
}

/// Rows that a station removes for one reason.
#[derive(Debug, Clone, Copy)]
pub struct Leaver<'a> {
    /// What happens to them.
    pub kind: Kind,
    /// The reason.
    pub reason: &'a str,
    /// How many there are.
    pub rows: u64,
    /// The target of a link, such as `#reasons`.
    pub link: Option<&'a str>,
}

/// What happens to a removed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Merged into another row.
    Merged,
    /// Dropped.
    Dropped,
    /// Held for review.
    Held,
    /// Written to another place.
    Redirected,
}

impl Kind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Dropped => "dropped",
            Self::Held => "held",
            Self::Redirected => "redirected",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Merged => "f4",
            Self::Dropped => "fx",
            Self::Held => "f2",
            Self::Redirected => "f3",
        }
    }
}

/// Returns the flow of `things`, such as requests, through these stations.
pub fn flow(of: &Figure<'_>, things: &str, stations: &[Station<'_>]) -> Markup {
    let blocks: Vec<Block<'_>> = stations.iter().map(Block::new).collect();
    let parts = parts(&blocks);
    let widest = |part: &[Block<'_>]| part.iter().map(|block| block.rows_in).max().unwrap_or(0);
    let first_scale = scale(parts.first().map_or(0, |part| widest(part)));
    let mut used = first_scale;
    let mut drawings = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let own = scale(widest(part));
        // A station with more rows than the one before, which is the caller's business, must fit as well.
        if own > 2.0 * used || own < used {
            used = own;
        }
        let note = if at == 0 {
            first_note(things, stations, parts.len())
        } else {
            part_note(at, parts.len(), used / first_scale)
        };
        drawings.push(draw(part, used, &note, at + 1 == parts.len()));
    }
    figure(of, &summary(things, stations), &drawings, &behind(things, stations))
}

/// Returns the units of a row, so that this many are as wide as the flow can be.
fn scale(rows: u64) -> f64 {
    FULL / real(rows.max(1))
}

fn first_note(things: &str, stations: &[Station<'_>], parts: usize) -> String {
    let rows = format!("{} {}", count(stations.first().map_or(0, rows_into)), one_line(things));
    if parts == 1 { rows } else { format!("{rows}, part 1 of {parts}") }
}

fn part_note(at: usize, of: usize, factor: f64) -> String {
    let part = format!("Part {} of {of}", at + 1);
    let times = |factor: f64| trimmed(&format!("{factor:.1}")).to_owned();
    match factor {
        1.05.. => format!("{part}. Widths are {} times those of part 1.", times(factor)),
        0.95.. => part,
        _ => format!("{part}. Widths of part 1 are {} times these.", times(1.0 / factor)),
    }
}

fn summary(things: &str, stations: &[Station<'_>]) -> String {
    let removed = stations.iter().flat_map(|station| &station.leavers);
    let most = removed.reduce(|most, leaver| if leaver.rows > most.rows { leaver } else { most });
    let (Some(first), Some(last)) = (stations.first(), stations.last()) else {
        return "No stations.".to_owned();
    };
    let most = most.map(|leaver| {
        format!(" Most are {}: {}, {}.", leaver.kind.name(), one_line(leaver.reason), count(leaver.rows))
    });
    format!(
        "Of {} {things}, {} remain after {}.{}",
        count(rows_into(first)),
        count(last.rows),
        counted(stations.len() as u64, "station", "stations"),
        most.unwrap_or_default()
    )
}

/// Returns how many rows come to a station: those that remain and those that leave.
fn rows_into(station: &Station<'_>) -> u64 {
    station.leavers.iter().fold(station.rows, |sum, leaver| sum.saturating_add(leaver.rows))
}

/// Returns the table of all stations and all leavers, also those that the drawing gathers.
fn behind(things: &str, stations: &[Station<'_>]) -> Markup {
    let columns = [Column::text("station"), Column::number("remain"), Column::text("removed")];
    let rows = stations.iter().map(|station| {
        let leavers = station.leavers.iter().enumerate().map(|(at, leaver)| {
            html! {
                @if at > 0 { br; }
                (count(leaver.rows)) " " (leaver.kind.name()) ": " (one_line(leaver.reason))
            }
        });
        vec![
            html! { (one_line(station.name)) },
            html! { (count(station.rows)) },
            html! { @for leaver in leavers { (leaver) } },
        ]
    });
    html! { (table::behind(&columns, rows)) @if stations.is_empty() { p.soft { "No " (things) "." } } }
}

/// A station with what the drawing shows of it.
struct Block<'a> {
    name: &'a str,
    rows: u64,
    rows_in: u64,
    ribbons: Vec<Ribbon<'a>>,
}

/// Leavers that are drawn as one.
struct Ribbon<'a> {
    kind: Kind,
    rows: u64,
    /// The texts next to it, on one line or two.
    lines: Vec<Cow<'a, str>>,
    hover: String,
    link: Option<&'a str>,
}

impl<'a> Block<'a> {
    fn new(station: &Station<'a>) -> Self {
        let rows_in = rows_into(station);
        let mut leavers = station.leavers.clone();
        // The sort is stable: equal counts keep the caller's order.
        leavers.sort_by_key(|leaver| std::cmp::Reverse(leaver.rows));
        let is_large = |leaver: &&Leaver<'_>| real(leaver.rows) >= SMALL * real(rows_in) && leaver.rows > 0;
        let shown = leavers.iter().take(MAX_LEAVERS).take_while(is_large).count();
        let (single, gathered) = leavers.split_at(shown);
        let mut ribbons: Vec<Ribbon<'a>> = single.iter().map(|leaver| Ribbon::of(leaver, rows_in)).collect();
        for kind in [Kind::Merged, Kind::Dropped, Kind::Held, Kind::Redirected] {
            let of_kind: Vec<Leaver<'a>> = gathered.iter().copied().filter(|it| it.kind == kind).collect();
            match &of_kind[..] {
                [] => (),
                // Gathering one leaver saves nothing and hides its name.
                [single] => ribbons.push(Ribbon::of(single, rows_in)),
                several => ribbons.push(Ribbon::gathered(kind, several, rows_in)),
            }
        }
        Self { name: station.name, rows: station.rows, rows_in, ribbons }
    }

    fn height(&self) -> f64 {
        self.heading_height()
            + self.ribbons.iter().map(|ribbon| LINE * place(ribbon.lines.len()) + 5.0).sum::<f64>()
            + 8.0
    }

    /// Whether its name and its rows do not fit on one line.
    fn is_long(&self) -> bool {
        bold_width_of(&one_line(self.name)) + bold_width_of(&count(self.rows)) + 10.0 > WIDTH - LABEL
    }

    fn heading_height(&self) -> f64 {
        LINE * (if self.is_long() { 2.0 } else { 1.0 }) + 5.0
    }
}

impl<'a> Ribbon<'a> {
    fn of(leaver: &Leaver<'a>, rows_in: u64) -> Self {
        let first = format!("{} {}", count(leaver.rows), leaver.kind.name());
        let whole = format!("{first}: {}", one_line(leaver.reason));
        let lines = if width_of(&whole) <= WIDTH - LABEL {
            vec![Cow::Owned(whole)]
        } else {
            vec![Cow::Owned(first), fitted(leaver.reason, WIDTH - LABEL)]
        };
        let hover =
            format!("{}: {} of {}", one_line(leaver.reason), share_of(leaver.rows, rows_in), count(rows_in));
        Self { kind: leaver.kind, rows: leaver.rows, lines, hover, link: leaver.link }
    }

    fn gathered(kind: Kind, leavers: &[Leaver<'a>], rows_in: u64) -> Self {
        let rows = leavers.iter().fold(0, |sum: u64, leaver| sum.saturating_add(leaver.rows));
        let words = format!("{} other reasons", leavers.len());
        Self::of(&Leaver { kind, reason: "", rows, link: None }, rows_in).named(&words)
    }

    fn named(mut self, words: &str) -> Self {
        self.hover = format!("{words}{}", self.hover);
        self.lines = vec![Cow::Owned(format!("{} {}: {words}", count(self.rows), self.kind.name()))];
        self
    }
}

/// Divides stations into parts of about the same height.
fn parts<'b, 'a>(blocks: &'b [Block<'a>]) -> Vec<&'b [Block<'a>]> {
    let total: f64 = blocks.iter().map(Block::height).sum();
    let wanted = (1..MAX_PARTS).find(|parts| total / place(*parts) <= MAX_HEIGHT).unwrap_or(MAX_PARTS);
    let target = total / place(wanted);
    let (mut parts, mut start, mut height) = (Vec::new(), 0, 0.0);
    for (at, block) in blocks.iter().enumerate() {
        // A station belongs to the part in which its middle is.
        let is_over = height + block.height() / 2.0 > target;
        if is_over && at > start && parts.len() + 1 < wanted {
            parts.push(&blocks[start..at]);
            (start, height) = (at, 0.0);
        }
        height += block.height();
    }
    parts.push(&blocks[start..]);
    parts
}

/// Returns the drawing of a part; the flow of the last part ends in a point.
fn draw(blocks: &[Block<'_>], scale: f64, note: &str, is_last: bool) -> Drawing {
    let right = |rows: u64| LEFT + if rows == 0 { 0.0 } else { (real(rows) * scale).max(THIN) };
    let mut y = LINE + 8.0;
    let first = right(blocks.first().map_or(0, |block| block.rows_in));
    let mut edge = format!("M{} {}H{}", n(LEFT), n(y), n(first));
    let mut marks = Vec::new();
    let mut has_links = false;
    for block in blocks {
        edge += &format!("V{}H{}", n(y), n(right(block.rows_in)));
        marks.push(heading(block, y));
        y += block.heading_height();
        let mut rows = block.rows_in;
        for ribbon in &block.ribbons {
            let thick = if ribbon.rows == 0 { 0.0 } else { (real(ribbon.rows) * scale).max(THIN) };
            let label_height = LINE * place(ribbon.lines.len());
            let middle = y + label_height.max(thick) / 2.0 + 3.0;
            let from = right(rows);
            rows = rows.saturating_sub(ribbon.rows);
            edge += &format!("V{}H{}", n(y), n(right(rows)));
            if thick > 0.0 {
                marks.push(mark(ribbon.kind.class(), &bend(from, y, middle, thick), &ribbon.hover));
            }
            marks.push(label(ribbon, middle));
            has_links |= ribbon.link.is_some();
            y += label_height.max(thick) + 5.0;
        }
        y += 8.0;
    }
    let last = right(blocks.last().map_or(0, |block| block.rows));
    edge += &if is_last && last > LEFT {
        format!("V{}L{} {}L{} {}z", n(y), n(f64::midpoint(LEFT, last)), n(y + 8.0), n(LEFT), n(y))
    } else {
        format!("V{}H{}z", n(y), n(LEFT))
    };
    let marks = html! {
        (text(Some("q"), LEFT, TEXT, &fitted(note, WIDTH - LEFT)))
        (shape("f1", &edge))
        @for mark in marks { (mark) }
    };
    Drawing { has_links, ..Drawing::new(y + 10.0, marks) }
}

/// Returns the name of a station, its rows and the line at which it starts.
fn heading(block: &Block<'_>, y: f64) -> Markup {
    let rows = count(block.rows);
    let below = if block.is_long() { LINE } else { 0.0 };
    html! {
        (shape("grid", &format!("M{} {}H{}", n(LABEL), n(y), n(WIDTH))))
        (text(Some("w"), LABEL, y + 15.0, &fitted(block.name, (WIDTH - LABEL) / bold_width_of("0") * width_of("0"))))
        (text(Some("e w"), WIDTH, y + 15.0 + below, &rows))
    }
}

/// Returns a ribbon from the right edge of the flow, where it goes down, to its text, where it goes right.
fn bend(from: f64, y: f64, middle: f64, thick: f64) -> String {
    let (upper, lower) = (n(middle - thick / 2.0), n(middle + thick / 2.0));
    let (from, inner, end, y) = (n(from), n((from - thick).max(LEFT)), n(END), n(y));
    format!("M{from} {y}Q{from} {upper} {end} {upper}V{lower}Q{inner} {lower} {inner} {y}z")
}

fn label(ribbon: &Ribbon<'_>, middle: f64) -> Markup {
    let first = if ribbon.lines.len() == 1 { middle + 4.0 } else { middle - 3.5 };
    let lines = html! {
        @for (at, line) in ribbon.lines.iter().enumerate() {
            (text(None, LABEL, first + LINE * place(at), line))
        }
    };
    linked(ribbon.link, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "flow", title: "Funnel", description: "" };

    fn leaver(kind: Kind, reason: &str, rows: u64) -> Leaver<'_> {
        Leaver { kind, reason, rows, link: None }
    }

    fn drawn(stations: &[Station<'_>]) -> String {
        flow(&FIGURE, "requests", stations).into_string()
    }

    /// Returns a funnel that starts with this many rows, with two leavers at every station.
    fn funnel(stations: usize, rows: u64) -> Vec<Station<'static>> {
        let mut left = rows;
        let station = |_| {
            let [merged, dropped] = [left / 9, left / 14];
            left -= merged + dropped;
            let leavers = vec![
                leaver(Kind::Merged, "merge/near-duplicate", merged),
                leaver(Kind::Dropped, "request/too-short", dropped),
            ];
            Station { name: "merge-near-requests", rows: left, leavers }
        };
        (0..stations).map(station).collect()
    }

    #[test]
    fn a_ribbon_is_as_wide_as_its_share_of_the_rows() {
        let leavers = vec![leaver(Kind::Dropped, "schema/missing-field", 250)];
        let page = drawn(&[Station { name: "lint", rows: 750, leavers }]);
        // 104 units are 1,000 rows, so the ribbon starts between 82 and 108.
        assert!(page.contains("<path class=\"fx\" d=\"M108 43Q108 48 138 48V74Q82 74 82 43z\">"), "{page}");
        assert!(page.contains("<title>schema/missing-field: 25.0 % of 1,000</title>"), "{page}");
        assert!(page.contains("<td>250 dropped: schema/missing-field</td>"), "{page}");
    }

    #[test]
    fn small_leavers_are_gathered_by_kind_and_the_table_has_all() {
        let mut leavers = vec![leaver(Kind::Dropped, "large", 500)];
        leavers.extend(["a", "b", "c"].map(|reason| leaver(Kind::Dropped, reason, 1)));
        leavers.extend(["d", "e"].map(|reason| leaver(Kind::Held, reason, 1)));
        let page = drawn(&[Station { name: "lint", rows: 99_495, leavers }]);
        assert!(
            page.contains(">3 dropped: 3 other reasons<") && page.contains(">2 held: 2 other reasons<"),
            "{page}"
        );
        assert!(page.contains("1 dropped: c<br>1 held: d"), "{page}");
    }

    #[test]
    fn a_single_small_leaver_keeps_its_name() {
        let leavers = vec![leaver(Kind::Dropped, "large", 500), leaver(Kind::Held, "rare", 1)];
        let page = drawn(&[Station { name: "lint", rows: 99_499, leavers }]);
        assert!(page.contains(">1 held: rare<"), "{page}");
    }

    #[test]
    fn a_long_flow_has_parts_and_says_how_much_wider_they_are() {
        let page = drawn(&funnel(15, 64_517));
        assert_eq!(page.matches("<svg").count(), 3, "{page}");
        assert!(page.contains("Part 2 of 3. Widths are 2.7 times those of part 1."), "{page}");
        assert_eq!(drawn(&funnel(3, 64_517)).matches("<svg").count(), 1);
    }

    #[test]
    fn a_part_with_more_rows_than_the_first_fits_as_well() {
        let mut stations = funnel(15, 64_517);
        stations[14].rows = 10_000_000;
        let page = drawn(&stations);
        let edges = page.split("class=\"f1\" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let widths =
            edges.flat_map(|edge| edge.split('H').skip(1).map(|to| to.split(['V', 'z']).next().unwrap()));
        assert!(widths.map(|to| to.parse::<f64>().unwrap()).all(|to| to <= LEFT + FULL), "{page}");
        assert!(page.contains("Widths of part 1 are 155 times these."), "{page}");
    }

    #[test]
    fn fifteen_stations_with_thirty_leavers_are_at_most_12_kilobytes() {
        let size = drawn(&funnel(15, 64_517)).len();
        assert!(size <= 12 * 1024, "{size}");
    }

    #[test]
    fn nothing_and_a_billion_rows_are_drawn() {
        for rows in [0, 1, 1_000_000_000, u64::MAX] {
            for stations in [0, 1, 3, 25] {
                let page = drawn(&funnel(stations, rows));
                assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
            }
        }
        assert!(
            drawn(&funnel(1, 1_000_000_000)).contains(">1,000,000,000<")
                || drawn(&funnel(1, 1_000_000_000)).contains("of 1,000,000,000<")
        );
    }

    #[test]
    fn a_drawing_with_links_is_no_image() {
        let leavers = vec![Leaver { link: Some("#fates"), ..leaver(Kind::Dropped, "a/b", 1) }];
        let page = drawn(&[Station { name: "lint", rows: 1, leavers }]);
        assert!(page.contains("role=\"group\"") && page.contains("<a href=\"#fates\"><text"), "{page}");
    }
}
