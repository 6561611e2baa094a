//! The envelopes of files, gateways and proxies: the paths of a request's body in a line.
//!
//! Envelopes are tried in this order. The bare line comes first, so that the most common logs are the fastest.

use super::{Envelope, Fact};

/// The envelopes, in the order they are tried.
pub const ENVELOPES: &[Envelope] = &[
    Envelope { body: &[], response: &[], facts: &[] },
    Envelope {
        body: &["request", "body"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Status, &["response", "status_code"]), (Fact::Status, &["response", "status"])],
    },
    Envelope {
        body: &["request"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Status, &["response", "status_code"])],
    },
    // Batch input, and gateways that log HTTP as it was.
    Envelope {
        body: &["body"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Id, &["custom_id"]), (Fact::Status, &["response", "status_code"])],
    },
    // Anthropic batch input, with the result next to it if somebody joined the two.
    Envelope { body: &["params"], response: &[&["result", "message"]], facts: &[(Fact::Id, &["custom_id"])] },
    // Helicone.
    Envelope {
        body: &["request_body"],
        response: &[&["response_body"]],
        facts: &[
            (Fact::Time, &["request_created_at"]),
            (Fact::User, &["request_user_id"]),
            (Fact::Assistant, &["request_properties", "App"]),
            (Fact::Assistant, &["properties", "App"]),
            (Fact::Session, &["request_properties", "Helicone-Session-Id"]),
            (Fact::Session, &["properties", "Helicone-Session-Id"]),
            (Fact::Model, &["request_model"]),
            (Fact::Status, &["response_status"]),
        ],
    },
    // LiteLLM spend logs; older ones put the HTTP request there.
    Envelope { body: &["proxy_server_request", "body"], response: &[], facts: SPEND_LOG },
    Envelope { body: &["proxy_server_request"], response: &[], facts: SPEND_LOG },
    // Vertex's log of requests and responses.
    Envelope {
        body: &["full_request"],
        response: &[&["full_response"]],
        facts: &[(Fact::Time, &["logging_time"]), (Fact::Id, &["request_id"])],
    },
    // Bedrock's log of model invocations.
    Envelope {
        body: &["input", "inputBodyJson"],
        response: &[&["output", "outputBodyJson"]],
        facts: &[(Fact::Id, &["requestId"]), (Fact::Model, &["modelId"]), (Fact::User, &["identity", "arn"])],
    },
];

const SPEND_LOG: &[(Fact, super::Path)] = &[
    (Fact::Id, &["request_id"]),
    (Fact::Time, &["startTime"]),
    // `user` is the owner of the key.
    (Fact::User, &["end_user"]),
    (Fact::Assistant, &["metadata", "user_api_key_team_alias"]),
    (Fact::Assistant, &["team_id"]),
    (Fact::Assistant, &["request_tags"]),
    (Fact::Assistant, &["metadata", "user_api_key_alias"]),
    (Fact::Session, &["session_id"]),
    (Fact::Failed, &["status"]),
];
