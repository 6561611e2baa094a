//! Values as a person writes them: dates, lists, yes and no, texts in quotation marks.

use serde_json::Value;

use super::templates::ValueForms;
use crate::words::words;

/// Words of a text that is written without quotation marks.
const MOST_BARE_WORDS: usize = 3;

/// Returns a value as a person writes it.
pub fn said(value: &Value, forms: &ValueForms) -> String {
    match value {
        Value::Bool(true) => forms.r#true.clone(),
        Value::Bool(false) => forms.r#false.clone(),
        Value::String(text) => date(text, forms).unwrap_or_else(|| quoted(text)),
        Value::Array(elements) => list(elements, forms),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{} {}", words(name).join(" "), said(value, forms))
            };
            joined(&members.iter().map(member).collect::<Vec<_>>(), forms)
        }
        other => {
            let text = other.to_string();
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
    }
}

/// Returns a value that a doc lists as a person writes it: `wheel_truing` is "wheel truing".
pub fn said_of_list(value: &Value, forms: &ValueForms) -> String {
    match value {
        Value::String(text) if text.bytes().all(|sign| sign.is_ascii_lowercase() || sign == b'_') => {
            text.replace('_', " ")
        }
        other => said(other, forms),
    }
}

/// A text, in quotation marks if it is not clear where it ends.
fn quoted(text: &str) -> String {
    let is_clear = text.split_whitespace().count() <= MOST_BARE_WORDS
        && text.trim() == text
        && !text.contains(['"', ',', ';', '\'', '(', ')'])
        && !text.ends_with(['.', '!', '?', ':']);
    if is_clear || text.contains('"') { text.to_owned() } else { format!("\"{text}\"") }
}

fn list(elements: &[Value], forms: &ValueForms) -> String {
    let said: Vec<String> = elements.iter().map(|element| said(element, forms)).collect();
    if elements.iter().any(Value::is_object) { said.join(&forms.semicolon) } else { joined(&said, forms) }
}

/// Texts with commas, and "and" before the last.
fn joined(texts: &[String], forms: &ValueForms) -> String {
    match texts.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{}{}{last}", others.join(&forms.comma), forms.and),
    }
}

/// A date of ISO 8601, with or without a time of day.
fn date(text: &str, forms: &ValueForms) -> Option<String> {
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let parts: Vec<&str> = day.split('-').collect();
    let &[year, month, day] = &parts[..] else { return None };
    let is_number =
        |part: &str, width: usize| part.len() == width && part.bytes().all(|digit| digit.is_ascii_digit());
    if !(is_number(year, 4) && is_number(month, 2) && is_number(day, 2)) {
        return None;
    }
    let month = forms.months.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    let day = day.trim_start_matches('0');
    let template = match time {
        None => &forms.date,
        Some(time) if is_time(time) => &forms.date_and_time,
        Some(_) => return None,
    };
    let written = template.replace("{year}", year).replace("{month}", month).replace("{day}", day);
    Some(written.replace("{time}", time.unwrap_or_default()))
}

/// Whether a text is hours and minutes, and maybe seconds.
fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_digit());
    (2..=3).contains(&text.split(':').count()) && parts.all(two_digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::templates::Templates;
    use super::*;

    #[test]
    fn objects_are_said_by_their_members() {
        let forms = Templates::english().values;
        assert_eq!(
            said(&json!({"status": "On hold", "newPriority": 2}), &forms),
            "status On hold and new priority 2"
        );
        assert_eq!(
            said(&json!([{"from": "Ada", "to": "Bo"}, {"from": "Bo", "to": "Ada"}]), &forms),
            "from Ada and to Bo; from Bo and to Ada"
        );
    }

    #[test]
    fn values_have_the_form_of_a_person() {
        let forms = Templates::english().values;
        let said = |value: Value| said(&value, &forms);
        assert_eq!(said(json!("2026-03-04")), "March 4, 2026");
        assert_eq!(said(json!("2026-03-14T09:30")), "March 14, 2026 at 09:30");
        assert_eq!(said(json!("2026-13-04")), "2026-13-04");
        assert_eq!(said(json!("2026-03-14T09:30Z")), "2026-03-14T09:30Z");
        assert_eq!(said(json!(true)), "yes");
        assert_eq!(said(json!(["tea", "milk", "oat cakes"])), "tea, milk and oat cakes");
        assert_eq!(said(json!([3])), "3");
        assert_eq!((said(json!(12.50)), said(json!(50.0))), ("12.5".to_owned(), "50".to_owned()));
        assert_eq!(said(json!("Ana Ruiz")), "Ana Ruiz");
        assert_eq!(said(json!("the chain squeaks when it rains")), "\"the chain squeaks when it rains\"");
        assert_eq!(said(json!("Done.")), "\"Done.\"");
        assert_eq!(said_of_list(&json!("wheel_truing"), &forms), "wheel truing");
        assert_eq!(said_of_list(&json!("GBP_1"), &forms), "GBP_1");
    }
}
