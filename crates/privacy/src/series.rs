//! Numbers that are no telephone numbers or cards because of their form: decimals, series, and counts with blanks.

use super::context::{among, near_after, words};
use super::run::Run;

/// Largest number of degrees of a coordinate.
const MOST_DEGREES: u32 = 180;
/// Digits after the point of a decimal with a plus before it. Domain registries write telephone numbers with more: `+49.1711234567`.
const MOST_DECIMALS_AFTER_PLUS: usize = 6;
/// Digits of an area and of its numbers, if only a dot is between.
const AREA_AND_NUMBER: [usize; 2] = [3, 7];
/// Digits of the members of a series.
const MEMBER_DIGITS: usize = 4;
/// Maximum spread of two members, and of three.
const SPREAD_OF_TWO: u32 = 9;
const SPREAD_OF_THREE: u32 = 1_000;
/// Words after a count.
#[rustfmt::skip] // The words of a language are together.
const COUNTED: &[&str] = &[
    "row*", "people", "user*", "unit*", "item*", "record*", "entries", "lines", "customer*", "client*", "euro*", "dollar*",
    "pound*", "view*", "visitor*", "visit*", "follower*", "subscriber*", "download*", "inhabitant*", "resident*", "point*",
    "word*", "token*", "byte*", "piece*", "copies", "times", "step*", "event*", "message*", "car*", "km", "kg", "tonnes", "tons",
    "zeilen", "einwohner*", "kunden", "nutzer*", "menschen", "stück", "datensätze", "aufrufe",
    "filas", "personas", "habitantes", "usuarios", "clientes", "unidades", "registros", "linhas", "pessoas", "usuários",
    "lignes", "personnes", "habitants", "utilisateurs", "unités", "exemplaires",
    "righe", "persone", "abitanti", "utenti", "clienti", "unità", "rijen", "mensen", "inwoners", "wierszy", "osób",
    "mieszkańców", "строк*", "человек", "жител*", "пользовател*",
];

/// Returns true if the groups are decimals, with any blanks or signs between: `48.856613 -2.352222`.
pub(super) fn are_decimals(text: &str, run: &Run, first: usize, last: usize, has_plus: bool) -> bool {
    let is_dot = |at: usize| run.gap(text, at) == ".";
    let n_groups = last - first + 1;
    n_groups.is_multiple_of(2)
        && (first..last).all(|at| is_dot(at) == (at - first).is_multiple_of(2))
        && (first..last).step_by(2).all(|at| {
            let group = |at: usize| &text[run.groups[at].0..run.groups[at].1];
            is_decimal(group(at), group(at + 1), has_plus)
        })
}

fn is_decimal(whole: &str, decimals: &str, has_plus: bool) -> bool {
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    let is_number = [whole.len(), decimals.len()] == AREA_AND_NUMBER
        && whole.parse::<u32>().is_ok_and(|degrees| degrees > MOST_DEGREES);
    !is_padded && !is_number && (!has_plus || decimals.len() <= MOST_DECIMALS_AFTER_PLUS)
}

/// Returns true if the groups are members of a series of numbers of four digits: `2019 2020 2021 2022`.
pub(super) fn is_series(text: &str, run: &Run, first: usize, last: usize) -> bool {
    let is_member = |at: usize| run.groups[at].1 - run.groups[at].0 == MEMBER_DIGITS;
    let is_blank = |at: usize| matches!(run.gap(text, at), " " | "\u{a0}");
    if !(first..=last).all(is_member) || !(first..last).all(is_blank) {
        return false;
    }
    let from = (0..first).rev().take_while(|&at| is_member(at) && is_blank(at)).last().unwrap_or(first);
    let to = (last + 1..run.groups.len())
        .take_while(|&at| is_member(at) && is_blank(at - 1))
        .last()
        .unwrap_or(last);
    let members: Vec<u32> = run.groups[from..=to]
        .iter()
        .map(|&(start, end)| text[start..end].parse().unwrap_or_default())
        .collect();
    let rises = members.windows(2).all(|pair| pair[0] < pair[1]);
    let falls = members.windows(2).all(|pair| pair[0] > pair[1]);
    let spread = members[0].abs_diff(members[members.len() - 1]);
    let are_years = members.len() > 2 && members.iter().all(|member| (1900..2100).contains(member));
    let is_even =
        || members.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == members[0].abs_diff(members[1]));
    are_years
        || (rises || falls)
            && match members.len() {
                0 | 1 => false,
                2 => spread <= SPREAD_OF_TWO,
                3 => spread <= SPREAD_OF_THREE,
                _ => spread <= SPREAD_OF_THREE || is_even(),
            }
}

/// Returns true if the groups are a count with blanks at its thousands: `12 500 000 units`.
pub(super) fn is_count(text: &str, run: &Run, first: usize, last: usize) -> bool {
    let group = |at: usize| &text[run.groups[at].0..run.groups[at].1];
    let is_grouped = last - first >= 2
        && group(first).len() <= 3
        && !group(first).starts_with('0')
        && (first + 1..=last).all(|at| group(at).len() == 3)
        && (first..last).all(|at| matches!(run.gap(text, at), " " | "\u{a0}"));
    if !is_grouped {
        return false;
    }
    let is_round = group(last) == "000" && (group(first).len() < 3 || group(last - 1) == "000");
    let behind = near_after(text, run.groups[last].1);
    let has_unit = || {
        let next = behind.strip_prefix([' ', '\u{a0}']).unwrap_or(behind);
        next.starts_with(char::is_alphabetic) && words(next).first().is_some_and(|word| among(word, COUNTED))
    };
    is_round || has_unit()
}
