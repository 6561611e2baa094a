//! Durations in English, German, Spanish, French, Italian and Portuguese texts, in the smaller units in which functions take them: "an hour and a half" is 90 minutes.

use super::number_words::of_words;

/// Returns the numbers that the durations of a text in lower case are in smaller units: of hours their minutes and seconds,
/// of minutes seconds, of days hours, of weeks days, of years months.
pub(super) fn in_smaller_units(lower: &str) -> Vec<f64> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '.';
    let words: Vec<&str> = lower
        .split(|c| !is_of_word(c))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut numbers = Vec::new();
    for (at, unit) in words.iter().enumerate() {
        let factors = factors(unit);
        if factors.is_empty() {
            continue;
        }
        let Some(quantity) = quantity(&words[..at]) else { continue };
        let half = if words[at + 1..].starts_with(&["and", "a", "half"]) { 0.5 } else { 0.0 };
        numbers.extend(factors.iter().map(|factor| (quantity + half) * factor));
    }
    numbers
}

/// How many of each smaller unit one of a unit has.
fn factors(unit: &str) -> &'static [f64] {
    match unit {
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "std" | "hora" | "horas" | "heure"
        | "heures" | "ora" | "ore" => &[60.0, 3600.0],
        "minute" | "minutes" | "min" | "mins" | "minuten" | "minuto" | "minutos" | "minuti" => &[60.0],
        "day" | "days" | "tag" | "tage" | "tagen" | "día" | "días" | "dia" | "dias" | "jour" | "jours"
        | "giorno" | "giorni" => &[24.0],
        "week" | "weeks" | "woche" | "wochen" | "semana" | "semanas" | "semaine" | "semaines"
        | "settimana" | "settimane" => &[7.0],
        "year" | "years" | "jahr" | "jahre" | "jahren" | "año" | "años" | "ano" | "anos" | "anni" => {
            &[12.0]
        }
        _ => &[],
    }
}

/// The number at the end of some words, which stand before a unit.
fn quantity(words: &[&str]) -> Option<f64> {
    match words {
        [.., "three", "quarters", "of", "a" | "an"] => Some(0.75),
        [.., "quarter", "of", "a" | "an"] => Some(0.25),
        [.., "half", "a" | "an"] | [.., "halbe" | "halben" | "media" | "demi" | "meia" | "mezza"] => {
            Some(0.5)
        }
        [.., number, "and", "a", "half"] => Some(number_of(number)? + 0.5),
        [.., "anderthalb" | "eineinhalb"] => Some(1.5),
        [.., "a" | "an"] => Some(1.0),
        [.., number] => number_of(number),
        [] => None,
    }
}

fn number_of(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| of_words(word).whole.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_given_in_smaller_units() {
        for (text, expected) in [
            ("for an hour", &[60.0, 3600.0][..]),
            ("one hour, please", &[60.0, 3600.0]),
            ("half an hour.", &[30.0, 1800.0]),
            ("a quarter of an hour", &[15.0, 900.0]),
            ("three quarters of an hour", &[45.0, 2700.0]),
            ("an hour and a half", &[90.0, 5400.0]),
            ("two and a half hours", &[150.0, 9000.0]),
            ("1.5 hrs", &[90.0, 5400.0]),
            ("in 20 minutes.", &[1200.0]),
            ("two weeks", &[14.0]),
            ("für zwei stunden", &[120.0, 7200.0]),
            ("eine halbe stunde", &[30.0, 1800.0]),
            ("por una hora", &[60.0, 3600.0]),
            ("media hora", &[30.0, 1800.0]),
            ("pour 3 jours", &[72.0]),
            ("the hour of the day", &[]),
            ("hours", &[]),
            ("", &[]),
        ] {
            assert_eq!(in_smaller_units(text), expected, "{text}");
        }
    }
}
