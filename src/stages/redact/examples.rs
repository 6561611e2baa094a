//! Examples of reasons: those of both stages, and those of `redact` with a recogniser.

use super::{
    CARD, EMAIL, IBAN, IPV4, IPV6, KEY, LOST_PIECE, MAC, NAME, NOT_READ, PHONE, SSN, STREET_ADDRESS, TOKEN,
};
use crate::engine::example::Example;
use crate::engine::vocabulary::Reason;

/// For each kind, a text that fires and a similar text that does not.
pub(in crate::stages) const EXAMPLES: [(&Reason, &str, &str); 10] = [
    (&EMAIL, "Send the receipt to mira.keller@quillpost.net", "Send the receipt to mira.keller@example.com"),
    (&PHONE, "Call me at +44 20 7946 0321", "Call me on 2024-02-26, 20:45"),
    (&CARD, "Charge 4539 1488 0343 6467", "Charge 4242 4242 4242 4242"),
    (&IBAN, "Send 40 euros to NL02 ABNA 0123 4567 89", "Send 40 euros to NL91 ABNA 0417 1643 00"),
    (&SSN, "My SSN is 536-22-8713", "My SSN is 000-22-8713"),
    (&KEY, "Use the key sk-9aQ2mZx74LpTgB3vWc81RkYd", "Use the key sk-YOUR_API_KEY"),
    (&TOKEN, "Send Bearer 7fK2pQz91LmXw4TbR8sVn3Yc", "Send Bearer tokens with each call"),
    (&IPV4, "Where is 81.143.22.97?", "Where is 192.168.22.97?"),
    (&IPV6, "Where is 2a01:4f8:c17:b0f::2?", "Where is 2001:db8:c17:b0f::2?"),
    (&MAC, "Block the device 3c:22:fb:9a:41:d7", "Block the device 00:00:5e:00:53:17"),
];

/// The setting of the examples with a recogniser.
const ASKS: &str = "recogniser = \"endpoint:m\"";

macro_rules! replies {
    ($query:literal, $replies:literal) => {
        concat!(
            r#"{"requests": [{"messages": [{"role": "user", "content": ""#,
            $query,
            r#""}]}], "replies": ["#,
            $replies,
            "]}"
        )
    };
}

const NOTHING: &str = replies!("Ring the bell of Tessen at noon", r#"{"values": []}"#);
const A_NAME: &str = replies!(
    "Ring Mira Keller at noon",
    r#"{"values": [{"quote": "Mira Keller", "kind": "name"}]}, {"values": []}"#
);
const AN_ADDRESS: &str = replies!(
    "Ring at 5 old mill lane at noon",
    r#"{"values": [{"quote": "5 old mill lane", "kind": "street-address"}]}, {"values": []}"#
);
const NO_REPLY: &str = replies!("Ring Mira Keller at noon", "null");

/// A request whose call has a word of the address in it.
const A_SURNAME: &str = concat!(
    r#"{"requests": [{"messages": [{"role": "user", "content": "Write to mira.keller@quillpost.net"}], "#,
    r#""response": {"role": "assistant", "content": "", "calls": [{"name": "greet", "arguments": {"name": "Keller"}}]}}]}"#
);
/// The same with a name that the user writes, too.
const A_WORD: &str = concat!(
    r#"{"requests": [{"messages": [{"role": "user", "content": "Greet Keller, mira.keller@quillpost.net"}], "#,
    r#""response": {"role": "assistant", "content": "", "calls": [{"name": "greet", "arguments": {"name": "Keller"}}]}}]}"#
);

/// Returns the examples of `redact`.
pub(super) fn examples() -> Vec<Example> {
    let by_rule = EXAMPLES.iter().map(|(reason, fires, quiet)| Example::query(reason.code, fires, quiet));
    let read = [(&NAME, A_NAME), (&STREET_ADDRESS, AN_ADDRESS), (&NOT_READ, NO_REPLY)];
    let by_model =
        read.map(|(reason, fires)| Example::tables(reason.code, fires, NOTHING).with_settings(ASKS));
    let by_piece = Example::tables(LOST_PIECE.code, A_SURNAME, A_WORD);
    by_rule.chain(by_model).chain([by_piece]).collect()
}
