//! What stages asked language models, in sentences for the card, and for the page and the screen.
//!
//! Of several runs that share a cache, one gets an answer from the server and the others from the cache. The card has only
//! what is the same for all of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::language_model::{ModelUsage, TokenPrices};
use crate::text::figures::{count, counted};

/// The heading of the section.
pub(super) const HEADING: &str = "Language models";

/// Describes what a stage asked, without what depends on the state of the cache.
pub(super) fn sentence_of_card(stage: &str, usage: &ModelUsage) -> String {
    let without = usage.failed + usage.not_sent + usage.unusable;
    let answers = vec![
        format!("{} with a usable answer", count(usage.requests.saturating_sub(without))),
        format!("{without} without", without = count(without)),
    ];
    asked(stage, usage, &answers)
}

/// Describes what a stage asked, and what it cost.
pub fn sentence(stage: &str, usage: &ModelUsage) -> String {
    let mut answers =
        vec![format!("{} from the cache", count(usage.cached)), format!("{} answered", count(usage.arrived))];
    for (n, what) in
        [(usage.failed, "failed"), (usage.not_sent, "not sent"), (usage.unusable, "with an unusable answer")]
    {
        if n > 0 {
            answers.push(format!("{} {what}", count(n)));
        }
    }
    let mut text = asked(stage, usage, &answers);
    if !usage.unusable_reasons.is_empty() {
        let reasons = usage.unusable_reasons.iter().map(|(reason, n)| format!("{reason} ({})", count(*n)));
        text +=
            &format!(" Unusable: {} (--retry-unusable asks again).", reasons.collect::<Vec<_>>().join("; "));
    }
    if usage.requests > usage.cached {
        text += &format!(
            " Tokens: {} in, {} out; estimated {} in, {} out.",
            count(usage.input_tokens),
            count(usage.output_tokens),
            count(usage.estimated_input_tokens),
            count(usage.estimated_output_tokens)
        );
    }
    let costs = [
        (usage.cost, "paid"),
        (usage.estimated_cost, "estimated"),
        (usage.wasted_cost, "for unusable answers"),
        (usage.paid_before, "paid by earlier runs in this folder"),
        (usage.batch_cost, "paid in batches"),
        (usage.saved_cost, "saved by the cache"),
        (saved_by_rules(usage), "saved by the rows decided without the model"),
    ];
    let costs: Vec<String> =
        costs.into_iter().filter_map(|(cost, what)| Some(format!("{:.4} USD {what}", cost?))).collect();
    if costs.is_empty() {
        text + " The price is unknown."
    } else {
        let without = models_without_price(usage);
        let without = match &without[..] {
            [] => String::new(),
            [one] => format!(" The price of {one} is unknown."),
            several => format!(" The prices of {} are unknown.", several.join(", ")),
        };
        text + &format!(" {} (prices: {}).{without}", costs.join(", "), usage.prices)
    }
}

fn models_without_price(usage: &ModelUsage) -> Vec<&str> {
    let unknown = usage.model_prices.iter().filter(|(_, prices)| prices.is_none());
    unknown.map(|(model, _)| model.as_str()).collect()
}

/// Describes the prices of every model that stages ask, for a million tokens, and where they are from.
pub fn prices<'u>(usages: impl Iterator<Item = &'u ModelUsage>) -> String {
    let (mut models, mut sources) = (BTreeMap::new(), BTreeSet::new());
    for usage in usages.filter(|usage| usage.requests > 0) {
        models.extend(usage.model_prices.iter().map(|(model, prices)| (model.as_str(), *prices)));
        sources.insert(usage.prices.as_str());
    }
    if models.is_empty() {
        return "No model is asked.".to_owned();
    }
    let of_model = |(model, prices): (&str, Option<TokenPrices>)| match prices {
        Some(TokenPrices { input, output }) => format!("{model} {input} in, {output} out"),
        None => format!("{model} unknown"),
    };
    let models: Vec<String> = models.into_iter().map(of_model).collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    format!("Prices, in USD for a million tokens: {} ({}).", models.join("; "), sources.join("; "))
}

/// Describes which model a stage asked, for how many rows, and the results of the requests.
fn asked(stage: &str, usage: &ModelUsage, answers: &[String]) -> String {
    let mut text = format!(
        "{stage} asked {} about {} ({}: {}).",
        usage.model,
        counted(usage.rows, "row", "rows"),
        counted(usage.requests, "request", "requests"),
        answers.join(", ")
    );
    if usage.rows_without > 0 {
        text +=
            &format!(" {} decided without the model.", counted(usage.rows_without, "row was", "rows were"));
    }
    text
}

/// Estimated cost in US dollars of the rows that were decided without a model, at the mean cost of the others.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn saved_by_rules(usage: &ModelUsage) -> Option<f64> {
    let costs = [usage.estimated_cost, usage.paid_before, usage.batch_cost, usage.saved_cost];
    let asked = costs.into_iter().flatten().reduce(|one, other| one + other)?;
    (usage.rows > 0 && usage.rows_without > 0).then(|| asked / usage.rows as f64 * usage.rows_without as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_of_the_card_does_not_depend_on_the_cache() {
        let first = ModelUsage {
            model: "m".to_owned(),
            rows: 30,
            rows_without: 5,
            requests: 36,
            cached: 8,
            arrived: 28,
            unusable: 1,
            input_tokens: 5000,
            cost: Some(0.5),
            ..ModelUsage::default()
        };
        let second = ModelUsage {
            cached: 36,
            arrived: 0,
            input_tokens: 0,
            cost: None,
            saved_cost: Some(0.5),
            prices: "p".to_owned(),
            ..first.clone()
        };
        let expected = "judge asked m about 30 rows (36 requests: 35 with a usable answer, 1 without). 5 rows were decided without the model.";
        assert_eq!(sentence_of_card("judge", &first), expected);
        assert_eq!(sentence_of_card("judge", &second), expected);
        assert_ne!(sentence("judge", &first), sentence("judge", &second));
    }

    #[test]
    fn the_sentence_has_counts_tokens_and_costs_that_are_known() {
        let mut usage = ModelUsage {
            model: "m".to_owned(),
            rows: 10,
            rows_without: 30,
            requests: 10,
            cached: 4,
            arrived: 5,
            failed: 1,
            input_tokens: 5000,
            output_tokens: 500,
            estimated_input_tokens: 6000,
            estimated_output_tokens: 480,
            ..ModelUsage::default()
        };
        assert_eq!(
            sentence("judge", &usage),
            "judge asked m about 10 rows (10 requests: 4 from the cache, 5 answered, 1 failed). 30 rows were decided without the model. \
             Tokens: 5,000 in, 500 out; estimated 6,000 in, 480 out. The price is unknown."
        );
        usage.cost = Some(0.5);
        usage.estimated_cost = Some(0.6);
        usage.saved_cost = Some(0.4);
        usage.prices = "p".to_owned();
        let text = sentence("judge", &usage);
        assert!(text.ends_with(
            "0.5000 USD paid, 0.6000 USD estimated, 0.4000 USD saved by the cache, 3.0000 USD saved by the rows decided without the model \
             (prices: p)."
        ), "{text}");
    }
}
