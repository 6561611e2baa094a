//! Examples: one for each reason of the stage.

use std::sync::LazyLock;

use serde_json::json;

use super::{MAX_VARIANTS, NEAR_COPY, SAME_CODE, SIMILAR, VARIANT};
use crate::engine::example::Example;

pub(super) fn all() -> Vec<Example> {
    vec![
        Example::tables(
            SAME_CODE,
            r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell."}]}, {"messages": [{"role": "user", "content": "ring  the noon bell"}]}]}"#,
            r#"{"requests": [{"messages": [{"role": "system", "content": "It is May."}, {"role": "user", "content": "Ring the noon bell."}]}, {"messages": [{"role": "user", "content": "Ring the noon bell."}]}]}"#,
        ),
        Example::tables(
            NEAR_COPY.code,
            r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell of the old town church"}]}, {"messages": [{"role": "user", "content": "Please ring the noon bell of the old town church"}]}]}"#,
            r#"{"requests": [{"messages": [{"role": "user", "content": "Ring the noon bell of the old town church"}]}, {"messages": [{"role": "user", "content": "Stop the bells, a baby sleeps next door"}]}]}"#,
        ),
        Example::tables(
            SIMILAR.code,
            r#"{"requests": [{"messages": [{"role": "user", "content": "noon bell, old town church: ring it three times"}]}, {"messages": [{"role": "user", "content": "ring it three times: noon bell, old town church"}]}]}"#,
            r#"{"requests": [{"messages": [{"role": "user", "content": "noon bell, old town church: ring it three times"}]}, {"messages": [{"role": "user", "content": "how tall is the tower of the harbour light?"}]}]}"#,
        ),
        Example::tables(VARIANT.code, VARIANTS.0.as_str(), VARIANTS.1.as_str()),
    ]
}

/// Tables with one variant too many, and with the maximum number of variants.
static VARIANTS: LazyLock<(String, String)> =
    LazyLock::new(|| (variants(MAX_VARIANTS + 2), variants(MAX_VARIANTS + 1)));

/// Returns requests with nearly the same words and different numbers.
fn variants(n_requests: usize) -> String {
    let request = |n: usize| {
        let content = format!("Ring the noon bell of the old town church {n} times");
        json!({ "messages": [{ "role": "user", "content": content }] })
    };
    json!({ "requests": (1..=n_requests).map(request).collect::<Vec<_>>() }).to_string()
}
