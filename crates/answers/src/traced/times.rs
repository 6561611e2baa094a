//! Times of day in texts: "19:30", "7 pm", "7 in the evening", "half past seven", "halb acht", "下午三点".
//!
//! A time with a part of the day ("8 Uhr abends") is read on the clock of 24 hours. One without is read as it is written: "at 3" is
//! 03:00, as nothing says that it is in the afternoon.

use std::ops::Range;

use callsieve_text::words::is_unspaced;

use super::number_words::of_words;

/// A part of the day, which says what an hour up to 12 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Before noon.
    Morning,
    /// After noon, with the evening.
    Afternoon,
    /// This evening or night; 12 is midnight.
    Tonight,
    /// Late in the evening and before the morning.
    Night,
}

impl Part {
    /// The hour on the clock of 24 hours.
    fn hour(self, hour: u32) -> u32 {
        match (self, hour) {
            (_, 0 | 13..) | (Self::Night, 1..=5) => hour,
            (Self::Morning, _) | (Self::Tonight | Self::Night, 12) => hour % 12,
            _ => hour % 12 + 12,
        }
    }
}

/// Words for parts of the day.
#[rustfmt::skip] // The words of a language are together.
const PARTS: [(Part, &[&str]); 4] = [
    (Part::Morning, &["morning", "mornings", "morgens", "vormittag", "vormittags", "früh", "matin", "mattina", "mattino",
        "manhã", "madrugada", "ochtend", "ochtends", "morgonen", "ráno", "rano", "утра", "утром", "sabah", "pagi", "오전",
        "새벽"]),
    (Part::Afternoon, &["afternoon", "afternoons", "evening", "evenings", "mittags", "nachmittag", "nachmittags", "abend",
        "abends", "tarde", "soir", "sera", "stasera", "pomeriggio", "namiddag", "middags", "avond", "avonds", "eftermiddag",
        "kväll", "kvällen", "wieczorem", "wieczór", "вечера", "вечером", "akşam", "오후", "저녁"]),
    (Part::Tonight, &["tonight", "vanavond"]),
    (Part::Night, &["night", "nacht", "nachts", "noche", "nuit", "notte", "stanotte", "noite", "ночи", "ночью", "gece",
        "malam", "natten", "nocy", "밤"]),
];
/// The same in scripts without spaces, where they stand inside of longer runs.
const UNSPACED_PARTS: [(Part, &[&str]); 3] = [
    (Part::Morning, &["上午", "早上", "凌晨", "清晨", "午前", "朝"]),
    (Part::Afternoon, &["下午", "晚", "傍晚", "午後", "夕方"]),
    (Part::Night, &["夜"]),
];
/// Parts that German joins to a day: "Freitagabend".
const JOINED_PARTS: [(Part, &str); 4] = [
    (Part::Morning, "vormittag"),
    (Part::Afternoon, "nachmittag"),
    (Part::Afternoon, "abend"),
    (Part::Morning, "tagmorgen"),
];
/// Words after which "morgen" and "mañana" are the morning, and not tomorrow.
const BEFORE_MORNING: [&str; 7] = ["heute", "am", "gestern", "jeden", "la", "esta", "cada"];
/// Words before a part of the day in a greeting, or where nights are counted; "más tarde" is later.
const NO_PART_AFTER: [&str; 19] = [
    "good", "guten", "gute", "buenas", "buenos", "bom", "boa", "goede", "god", "per", "a", "one", "una",
    "une", "eine", "pro", "each", "más", "mais",
];
/// Words for the full hour.
const UNITS: [&str; 16] = [
    "uhr",
    "h",
    "heure",
    "heures",
    "hora",
    "horas",
    "o",
    "clock",
    "uur",
    "点",
    "點",
    "时",
    "時",
    "시",
    "часов",
    "часа",
];
/// Words before a time.
const BEFORE: [&str; 18] = [
    "at", "um", "gegen", "ab", "by", "around", "about", "a", "las", "à", "às", "alle", "ore", "saat", "jam",
    "om", "kl", "в",
];
/// Words between a time and its part of the day.
const BETWEEN: [&str; 32] = [
    "in", "the", "at", "of", "this", "on", "tomorrow", "today", "every", "early", "late", "am", "heute",
    "morgen", "gestern", "jeden", "der", "des", "de", "la", "por", "en", "esta", "du", "ce", "di", "da",
    "del", "s", "d", "mañana", "demain",
];
/// German words after the preposition "am".
const AFTER_GERMAN_AM: [&str; 18] = [
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "sonnabend",
    "abend",
    "nachmittag",
    "vormittag",
    "mittag",
    "morgen",
    "nächst",
    "kommend",
    "gleich",
    "selb",
    "wochenende",
];
/// Words for noon and midnight.
const NOON: [&str; 9] =
    ["noon", "midday", "mittag", "mittags", "mediodía", "midi", "mezzogiorno", "正午", "中午"];
const MIDNIGHT: [&str; 7] =
    ["midnight", "mitternacht", "medianoche", "minuit", "mezzanotte", "午夜", "полночь"];
/// The digits of an hour in Chinese and Japanese, and what follows them.
const HAN_DIGITS: &str = "一二两兩三四五六七八九十";
const HAN_HOURS: [char; 4] = ['点', '點', '时', '時'];
/// Tokens between the two times of a stretch such as "from 3 to 5 pm".
const MOST_BETWEEN: usize = 2;
/// Words in which the part of the day of a time is looked for.
const MOST_AFTER: usize = 5;

/// A time of day that a text may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) hours: u32,
    pub(super) minutes: u32,
    /// It is surely a time, and not only a number, and no part of a time stamp.
    pub(super) is_written: bool,
}

/// Returns the times of day that a text in lower case may mean; a bare number may be an hour.
pub(super) fn times_in(lower: &str) -> Vec<Time> {
    lower.lines().flat_map(of_line).collect()
}

/// A run of digits or of letters.
struct Token<'t> {
    text: &'t str,
    at: Range<usize>,
}

impl Token<'_> {
    fn is_digits(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    /// The number of at most two digits.
    fn number(&self) -> Option<u32> {
        if self.is_digits() && self.text.len() <= 2 { self.text.parse().ok() } else { None }
    }
}

/// A time with the tokens that it has.
struct Found {
    tokens: Range<usize>,
    hours: u32,
    minutes: u32,
    part: Option<Part>,
    is_written: bool,
}

/// A line of a text, cut into tokens.
struct Line<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
}

fn of_line(text: &str) -> Vec<Time> {
    let line = Line { text, tokens: tokens(text) };
    let mut claimed = vec![false; line.tokens.len()];
    let mut found = Vec::new();
    let mut next = 0;
    while next < line.tokens.len() {
        let here = line.time_at(next, &mut claimed);
        next = here.as_ref().map_or(next + 1, |time| time.tokens.end.max(next + 1));
        found.extend(here);
    }
    let mut free: Vec<Part> =
        (0..line.tokens.len()).filter(|&at| !claimed[at]).filter_map(|at| line.part_at(at)).collect();
    free.dedup();
    let mut times = Vec::new();
    for (nth, time) in found.iter().enumerate() {
        let mut add = |hours: u32| {
            times.push(Time { hours, minutes: time.minutes, is_written: time.is_written });
        };
        let end = found.get(nth + 1).filter(|end| end.tokens.start <= time.tokens.end + MOST_BETWEEN);
        match (time.part, end.and_then(|end| end.part), &free[..]) {
            (Some(part), _, _) | (None, None, &[part]) => add(part.hour(time.hours)),
            // "From 9 to 5 pm" begins in the morning.
            (None, Some(part), _) => {
                add(time.hours);
                add(part.hour(time.hours));
            }
            (None, None, parts) => {
                add(time.hours);
                for part in parts {
                    add(part.hour(time.hours));
                }
            }
        }
    }
    for token in &line.tokens {
        let is_one = |words: &[&str]| words.contains(&token.text);
        let is_after = token.at.start > 0 && text[..token.at.start].trim_end_matches('-').ends_with("après");
        if is_one(&NOON) && !is_after {
            times.push(Time { hours: 12, minutes: 0, is_written: true });
        } else if is_one(&MIDNIGHT) {
            times.push(Time { hours: 0, minutes: 0, is_written: true });
        }
    }
    times
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => 1,
        c if c.is_alphabetic() => 2,
        _ => 0,
    };
    let mut tokens = Vec::new();
    let (mut start, mut before) = (0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if kind(c) != before {
            if before != 0 {
                tokens.push(Token { text: &text[start..at], at: start..at });
            }
            (start, before) = (at, kind(c));
        }
    }
    tokens
}

impl<'t> Line<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// The signs before a token.
    fn gap(&self, at: usize) -> &'t str {
        let end = self.tokens.get(at).map_or(self.text.len(), |token| token.at.start);
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        &self.text[before.map_or(0, |token| token.at.end).min(end)..end]
    }

    fn is_digits(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_digits)
    }

    /// Whether a token is one of the numbers of a date such as 2025-10-09.
    fn is_of_date(&self, at: usize) -> bool {
        (at.saturating_sub(2)..=at).any(|first| {
            (first..first + 3).all(|at| self.is_digits(at))
                && [first + 1, first + 2].iter().all(|&at| matches!(self.gap(at), "-" | "/" | "."))
        })
    }

    /// Reads the time that begins at a token.
    fn time_at(&self, at: usize, claimed: &mut [bool]) -> Option<Found> {
        let token = self.tokens.get(at)?;
        if token.text.contains(is_unspaced) {
            return self.han_time_at(at, claimed);
        }
        // "Um" is a number in Portuguese, and a preposition in German.
        let is_before =
            BEFORE.contains(&token.text) && (self.is_digits(at + 1) || spoken(self.word(at + 1)).is_some());
        if is_before {
            return None;
        }
        let (hour, mut next) = self.hour_at(at)?;
        let mut time = self.minutes_before(at, hour);
        if time.is_none()
            && let Some((minutes, end)) = self.minutes_after(next)
        {
            time = Some((hour, minutes));
            next = end;
        }
        let has_word_before = self.words_before(at) > 0;
        let is_unit = |word: &str| UNITS.contains(&word) || word.starts_with(HAN_HOURS);
        let has_unit = is_unit(self.word(next)) && self.gap(next).trim().is_empty();
        let part = self.part_of(at, next, claimed);
        let is_of_day = |at: Option<usize>| at.is_some_and(|at| self.is_of_date(at));
        let is_stamp = part.is_none()
            && (is_of_day(at.checked_sub(1))
                || at > 0 && self.word(at - 1) == "t" && is_of_day(at.checked_sub(2)));
        let is_sure = time.is_some() || has_unit || part.is_some() || has_word_before;
        let (hours, minutes) = time.unwrap_or((hour, 0));
        Some(Found { tokens: at..next, hours: hours % 24, minutes, part, is_written: is_sure && !is_stamp })
    }

    /// The hour that begins at a token, and the token after it.
    fn hour_at(&self, at: usize) -> Option<(u32, usize)> {
        let token = self.tokens.get(at)?;
        if !token.is_digits() {
            let number = spoken(token.text).filter(|number| *number <= 24)?;
            let ones = spoken(self.word(at + 1)).filter(|ones| (1..=4).contains(ones));
            return Some(match ones {
                Some(ones) if number == 20 => (number + ones, at + 2),
                _ => (number, at + 1),
            });
        }
        let hour = token.number().filter(|hour| *hour <= 24)?;
        let is_inside = at > 0 && self.is_digits(at - 1) && matches!(self.gap(at), ":" | "." | ",");
        let next = self.tokens.get(at + 1).filter(|next| next.is_digits());
        // 3.5 and 1,250 are no hours, 3.50 may be a time.
        let goes_on = next.is_some_and(|next| match self.gap(at + 1) {
            "." | ":" => next.text.len() != 2,
            "," => true,
            _ => false,
        });
        (!is_inside && !goes_on && !self.is_of_date(at)).then_some((hour, at + 1))
    }

    /// The time that words before an hour make of it: "half past 7", "halb 8", "quarter to 9", "10 past 7".
    fn minutes_before(&self, at: usize, hour: u32) -> Option<(u32, u32)> {
        let earlier = if hour <= 1 { hour + 11 } else { hour - 1 };
        let word = |back: usize| at.checked_sub(back).map_or("", |at| self.word(at));
        match (word(2), word(1)) {
            // "Half seven" of the British.
            ("half", "past") | (_, "half") => Some((hour, 30)),
            ("quarter", "past" | "after") | ("viertel", "nach") => Some((hour, 15)),
            ("quarter", "to" | "before") | ("viertel", "vor") => Some((earlier, 45)),
            (_, "halb" | "halv") => Some((earlier, 30)),
            (number, "past" | "nach") => {
                let minutes = number.parse().ok().or_else(|| spoken(number))?;
                (minutes < 60).then_some((hour, minutes))
            }
            _ => None,
        }
    }

    /// The minutes after an hour, and the token after them.
    fn minutes_after(&self, next: usize) -> Option<(u32, usize)> {
        let minutes = |at: usize| {
            let token = self.tokens.get(at).filter(|token| token.text.len() == 2)?;
            token.number().filter(|minutes| *minutes < 60)
        };
        if matches!(self.gap(next), ":" | ".")
            && let Some(minutes) = minutes(next)
        {
            // The seconds.
            let has_seconds = self.gap(next + 1) == ":" && self.is_digits(next + 1);
            return Some((minutes, next + 1 + usize::from(has_seconds)));
        }
        let is_near = |at: usize| self.gap(at).trim().is_empty();
        let mut signs = self.word(next).chars();
        if is_near(next) && signs.next().is_some_and(|c| HAN_HOURS.contains(&c)) && signs.next() == Some('半')
        {
            return Some((30, next + 1));
        }
        let has_unit = UNITS.contains(&self.word(next)) && is_near(next);
        let at = next + usize::from(has_unit);
        if !is_near(at) {
            return None;
        }
        if let Some(minutes) = minutes(at).or_else(|| spoken(self.word(at)).filter(|n| (10..60).contains(n)))
        {
            return Some((minutes, at + 1));
        }
        match (self.word(at), self.word(at + 1)) {
            ("y", "media") | ("et", "demie" | "demi") | ("e", "mezza" | "mezzo" | "meia") => {
                Some((30, at + 2))
            }
            _ => None,
        }
    }

    /// How many words before a time belong to it: "at".
    fn words_before(&self, at: usize) -> usize {
        (0..at).rev().take_while(|&at| BEFORE.contains(&self.word(at))).count()
    }

    /// The part of the day that stands beside a time.
    fn part_of(&self, at: usize, next: usize, claimed: &mut [bool]) -> Option<Part> {
        if let Some(part) = self.meridiem(next) {
            return Some(part);
        }
        let after = next..(next + MOST_AFTER).min(self.tokens.len());
        let is_beside = |at: &usize| {
            let is_over = self.gap(*at).contains(['.', '!', '?', ';']) && *at > next;
            let word = self.word(*at);
            !is_over && (self.part_at(*at).is_some() || BETWEEN.contains(&word) || UNITS.contains(&word))
        };
        let found = after.take_while(is_beside).find_map(|at| Some((at, self.part_at(at)?)));
        if let Some((at, part)) = found {
            claimed[at] = true;
            return Some(part);
        }
        let before = at.checked_sub(self.words_before(at) + 1)?;
        let part = self.part_at(before).filter(|_| !claimed[before])?;
        claimed[before] = true;
        Some(part)
    }

    /// Reads am or pm at a token. German has a word "am" of another meaning.
    fn meridiem(&self, next: usize) -> Option<Part> {
        let token = self.tokens.get(next).filter(|_| self.gap(next).trim().is_empty())?;
        let rest = &self.text[token.at.start..];
        let is_one = |forms: [&str; 4]| {
            let mut rests = forms.iter().filter_map(|form| rest.strip_prefix(form));
            rests.any(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let is_short = |sign: &str| token.text == sign && self.gap(next).is_empty();
        if is_one(["pm", "p.m", "p. m", "p m"]) || is_short("p") {
            return Some(Part::Afternoon);
        }
        let after = self.word(next + 1);
        let is_german = token.text == "am"
            && (AFTER_GERMAN_AM.iter().any(|word| after.starts_with(word))
                || self.is_digits(next + 1) && self.gap(next + 2).starts_with('.'));
        let is_morning = is_one(["am", "a.m", "a. m", "a m"]) || is_short("a");
        (is_morning && !is_german).then_some(Part::Morning)
    }

    /// The part of the day that a token names.
    fn part_at(&self, at: usize) -> Option<Part> {
        let word = self.word(at);
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        if NO_PART_AFTER.contains(&before) {
            return None;
        }
        if word.contains(is_unspaced) {
            let is_one = |(_, names): &&(Part, &[&str])| names.iter().any(|name| word.contains(name));
            return UNSPACED_PARTS.iter().find(is_one).map(|(part, _)| *part);
        }
        match (before, word) {
            (before, "morgen" | "mañana") => BEFORE_MORNING.contains(&before).then_some(Part::Morning),
            ("après", "midi") => Some(Part::Afternoon),
            ("esta", "noche") => Some(Part::Tonight),
            _ => {
                let is_one = |(_, names): &&(Part, &[&str])| names.contains(&word);
                let joined =
                    || JOINED_PARTS.iter().find(|(_, end)| word.ends_with(end)).map(|(part, _)| *part);
                PARTS.iter().find(is_one).map(|(part, _)| *part).or_else(joined)
            }
        }
    }

    /// Reads a time such as 下午三点半, whose digits stand in a run of letters.
    fn han_time_at(&self, at: usize, claimed: &mut [bool]) -> Option<Found> {
        let word = self.word(at);
        let (sign, _) = word.char_indices().find(|(_, c)| HAN_HOURS.contains(c))?;
        let digits: usize =
            word[..sign].chars().rev().take_while(|&c| HAN_DIGITS.contains(c)).map(char::len_utf8).sum();
        let hours = spoken(&word[sign - digits..sign]).filter(|hours| *hours <= 24)?;
        let is_half = word[sign..].chars().nth(1) == Some('半');
        let part = self.part_at(at).or_else(|| self.part_at(at.checked_sub(1)?));
        claimed[at] = true;
        let minutes = if is_half { 30 } else { 0 };
        Some(Found { tokens: at..at + 1, hours: hours % 24, minutes, part, is_written: true })
    }
}

/// The whole number below a hundred that a word is.
fn spoken(word: &str) -> Option<u32> {
    if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = *of_words(word).whole.last()?;
    (0..100).find(|whole| (f64::from(*whole) - number).abs() < 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, hours: u32, minutes: u32) -> bool {
        times_in(&text.to_lowercase()).iter().any(|time| (time.hours, time.minutes) == (hours, minutes))
    }

    #[test]
    fn a_part_of_the_day_decides_what_an_hour_means() {
        for (text, hours, minutes) in [
            ("Alarm at 7 pm tonight", 19, 0),
            ("5 in the afternoon", 17, 0),
            ("at 5:15 p.m.", 17, 15),
            ("um 8 Uhr abends", 20, 0),
            ("heute Abend um 8", 20, 0),
            ("um 3 am Montag", 3, 0),
            ("at 12:15 am", 0, 15),
            ("12 pm", 12, 0),
            ("a las 9 de la mañana", 9, 0),
            ("a las 5 de la tarde", 17, 0),
            ("à 8 heures du soir", 20, 0),
            ("tomorrow morning at 9", 9, 0),
            ("from 9 to 5 pm", 9, 0),
            ("from 3 to 5 pm", 15, 0),
            ("nachts um halb drei", 2, 30),
            ("at 11 at night", 23, 0),
            ("下午3点", 15, 0),
            ("下午三点半", 15, 30),
            ("오후 3시", 15, 0),
            ("Good morning, the table is for 7 pm", 19, 0),
        ] {
            assert!(has(text, hours, minutes), "{text}");
        }
        for (text, hours, minutes) in [
            ("Alarm at 7 pm tonight", 7, 0),
            ("5 in the afternoon", 5, 0),
            ("um 8 Uhr abends", 8, 0),
            ("heute Abend um 8", 8, 0),
            ("at 12:15 am", 12, 15),
            ("halb drei nachts", 3, 30),
            ("on Friday at 3 pm", 3, 17),
            ("Friday at 9", 21, 0),
            ("in the afternoon", 12, 0),
        ] {
            assert!(!has(text, hours, minutes), "{text}");
        }
    }

    #[test]
    fn half_hours_are_written_as_such() {
        for (text, hours, minutes) in [
            ("half past seven", 7, 30),
            ("halb acht", 7, 30),
            ("halb eins", 12, 30),
            ("seven thirty", 7, 30),
            ("7h30", 7, 30),
            ("7.30", 7, 30),
            ("7 Uhr 30", 7, 30),
            ("a las siete y media", 7, 30),
            ("sept heures et demie", 7, 30),
            ("quarter to 9", 8, 45),
            ("noon", 12, 0),
            ("midnight", 0, 0),
            ("at twenty one", 21, 0),
            ("at 19:30:15", 19, 30),
        ] {
            assert!(has(text, hours, minutes), "{text}");
        }
        for (text, hours, minutes) in [
            ("set an alarm for 3", 2, 30),
            ("set an alarm for 3", 3, 30),
            ("half past seven", 7, 0),
            ("3.5 hours", 3, 0),
            ("on 2025-10-09", 10, 0),
            ("1,250", 1, 0),
        ] {
            assert!(!has(text, hours, minutes), "{text}");
        }
    }

    #[test]
    fn a_bare_number_and_a_time_stamp_are_no_written_times() {
        let writes = |text: &str| times_in(text).iter().any(|time| time.is_written);
        for text in ["friday at 3 pm", "friday at 9", "um 8 uhr", "10:30"] {
            assert!(writes(text), "{text}");
        }
        for text in ["2 rooms on friday", "today is 2025-10-09 08:30", "2025-10-09t08:30:00z", ""] {
            assert!(!writes(text), "{text}");
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in
            ["7:", ":7", "p", "7 p", "半点", "点", "İ 7 pm İ", "24 24 24", "at", "- - 7", "7.8.9.10", "٣ pm"]
        {
            times_in(text);
        }
    }
}
