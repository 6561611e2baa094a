//! The reasons why an item of a log is not a record: code, sentence, an example with the reason and one without.

/// The fault of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemFault {
    /// A code of [`REASONS`].
    pub reason: &'static str,
    /// What was found, for people.
    pub detail: String,
}

impl ItemFault {
    /// Returns a fault of this reason.
    pub fn new(reason: &'static str, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// A reason code and its meaning.
#[derive(Debug)]
pub struct Reason {
    /// The code `ingest/fault`; it never changes.
    pub code: &'static str,
    /// One sentence for people.
    pub sentence: &'static str,
    /// A small file in which one item has this fault.
    pub fires: Example,
    /// A similar file without the fault.
    pub passes: Example,
}

/// A file of a few bytes.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its name; the extension determines the format.
    pub file: &'static str,
    /// Its content.
    pub text: &'static [u8],
}

/// The item is not JSON.
pub const NOT_JSON: &str = "ingest/not-json";
/// The item is not UTF-8.
pub const NOT_UTF8: &str = "ingest/not-utf8";
/// The item is longer than the limit.
pub const LINE_TOO_LONG: &str = "ingest/line-too-long";
/// The file ends in the middle of an item.
pub const CUT_FILE: &str = "ingest/truncated-file";
/// The file needs more memory to decompress than allowed.
pub const WINDOW_TOO_LARGE: &str = "ingest/window-too-large";
/// A table row has more or fewer cells than the header.
pub const RAGGED_ROW: &str = "ingest/ragged-row";
/// A message cannot be read.
pub const BAD_MESSAGE: &str = "ingest/bad-message";
/// A message holds something that is not text.
pub const NON_TEXT_PART: &str = "ingest/non-text-part";
/// The request offers no functions.
pub const NO_FUNCTIONS: &str = "ingest/no-functions";
/// The request has no messages.
pub const NO_MESSAGES: &str = "ingest/no-messages";
/// The line is blank.
pub const BLANK_LINE: &str = "ingest/blank-line";
/// The line matches no log format.
pub const UNKNOWN_LOG_FORMAT: &str = "ingest/unknown-log-format";

/// The line holds an answer without a request, or its request is ambiguous.
pub const RESPONSE_WITHOUT_REQUEST: &str = "ingest/response-without-request";
/// A part of the conversation is stored elsewhere.
pub const PARTIAL_CONVERSATION: &str = "ingest/partial-conversation";
/// The logger did not store the text.
pub const CONTENT_NOT_STORED: &str = "ingest/content-not-stored";
/// The logger truncated a text.
pub const TRUNCATED: &str = "ingest/truncated-by-logger";
/// The line is one chunk of a streamed answer.
pub const STREAM_CHUNK: &str = "ingest/stream-chunk";

/// The span surrounds the spans of model calls.
pub const SURROUNDING_SPAN: &str = "ingest/surrounding-span";

/// Reasons of valid items without a request.
const SOUND: &[&str] = &[PARTIAL_CONVERSATION, CONTENT_NOT_STORED];

/// Reasons that apply to the rest of a file.
const OF_THE_FILE: &[&str] = &[CUT_FILE, WINDOW_TOO_LARGE];

/// Returns `true` if the rest of a file was not read for this reason.
pub fn ends_file(reason: &str) -> bool {
    OF_THE_FILE.contains(&reason)
}

impl ItemFault {
    /// Returns `true` if the item is valid and simply holds no request.
    pub(super) fn is_sound(&self) -> bool {
        SOUND.contains(&self.reason)
    }
}

/// All reasons of ingest.
pub const REASONS: &[Reason] = &[
    Reason {
        code: BLANK_LINE,
        sentence: "The line is blank; consecutive blank lines are recorded as one entry and counted each.",
        fires: jsonl(b" "),
        passes: jsonl(br#"{"prompt": "hi", "function": "[]"}"#),
    },
    Reason {
        code: NOT_JSON,
        sentence: "The line is not valid JSON.",
        fires: jsonl(br#"{"prompt": "hi", "function": "[]""#),
        passes: jsonl(br#"{"prompt": "hi", "function": "[]"}"#),
    },
    Reason {
        code: NOT_UTF8,
        sentence: "The line holds bytes that are not UTF-8.",
        fires: jsonl(b"{\"prompt\": \"caf\xe9\", \"function\": \"[]\"}"),
        passes: jsonl(b"{\"prompt\": \"caf\xc3\xa9\", \"function\": \"[]\"}"),
    },
    Reason {
        code: LINE_TOO_LONG,
        sentence: "The line is longer than the limit and was not read into memory.",
        fires: jsonl(
            br#"{"prompt": "This line stands for one of many megabytes; the example is read with a limit of 200 bytes. Nothing is wrong with it but that it goes on, and on, and on, and on, until it has said too much.", "function": "[]"}"#,
        ),
        passes: jsonl(br#"{"prompt": "This line is short.", "function": "[]"}"#),
    },
    Reason {
        code: CUT_FILE,
        sentence: "The file is damaged or truncated; only the intact part before the damage was read.",
        fires: Example { file: "log.json", text: br#"[{"prompt": "hi", "function": "[]"},"# },
        passes: Example { file: "log.json", text: br#"[{"prompt": "hi", "function": "[]"}]"# },
    },
    Reason {
        code: WINDOW_TOO_LARGE,
        sentence: "The file was compressed with a larger window than supported, so nothing of it was read.",
        fires: Example { file: "log.jsonl.zst", text: b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00" },
        passes: Example { file: "log.jsonl.zst", text: b"\x28\xb5\x2f\xfd\x00\x58\x01\x00\x00" },
    },
    Reason {
        code: RAGGED_ROW,
        sentence: "The table row has more or fewer cells than the header, so its cells may be in the wrong columns.",
        fires: Example { file: "log.csv", text: b"prompt,function\nhi, there,[]\n" },
        passes: Example { file: "log.csv", text: b"prompt,function\n\"hi, there\",[]\n" },
    },
    Reason {
        code: BAD_MESSAGE,
        sentence: "A message is not an object, has no known role, or makes a call without a name.",
        fires: jsonl(br#"{"messages": [{"role": "narrator", "content": "hi"}], "tools": [{}]}"#),
        passes: jsonl(br#"{"messages": [{"role": "developer", "content": "hi"}], "tools": [{}]}"#),
    },
    Reason {
        code: NON_TEXT_PART,
        sentence: "A message contains an image, audio or another part that is not text.",
        fires: jsonl(br#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}], "tools": [{}]}"#),
        passes: jsonl(
            br#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "tools": [{}]}"#,
        ),
    },
    Reason {
        code: NO_FUNCTIONS,
        sentence: "The request offers no functions.",
        fires: jsonl(br#"{"messages": [{"role": "user", "content": "hi"}], "tools": []}"#),
        passes: jsonl(br#"{"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "greet"}]}"#),
    },
    Reason {
        code: NO_MESSAGES,
        sentence: "The request offers functions, but has no messages.",
        fires: jsonl(br#"{"messages": [], "tools": [{"name": "greet"}]}"#),
        passes: jsonl(br#"{"messages": [{"role": "user", "content": ""}], "tools": [{"name": "greet"}]}"#),
    },
    Reason {
        code: RESPONSE_WITHOUT_REQUEST,
        sentence: "The line holds a model's answer whose request is missing from the log or ambiguous.",
        fires: jsonl(
            br#"{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "hi"}}]}}}"#,
        ),
        passes: jsonl(
            br#"{"custom_id": "a", "body": {"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "greet"}]}, "response": {"body": {"choices": [{"message": {"content": "hi"}}]}}}"#,
        ),
    },
    Reason {
        code: PARTIAL_CONVERSATION,
        sentence: "The request continues a conversation that is stored elsewhere, so its earlier messages are not in the log.",
        fires: jsonl(
            br#"{"input": "And tomorrow?", "previous_response_id": "resp_1", "tools": [{"type": "function", "name": "tide"}]}"#,
        ),
        passes: jsonl(
            br#"{"input": "And tomorrow?", "previous_response_id": null, "tools": [{"type": "function", "name": "tide"}]}"#,
        ),
    },
    Reason {
        code: CONTENT_NOT_STORED,
        sentence: "The logger recorded the request, but not its content.",
        fires: jsonl(br#"{"request_id": "a", "messages": "{}", "proxy_server_request": "{}", "response": "{}"}"#),
        passes: jsonl(
            br#"{"request_id": "a", "messages": "{}", "proxy_server_request": "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"tools\": [{\"name\": \"greet\"}]}"}"#,
        ),
    },
    Reason {
        code: TRUNCATED,
        sentence: "The logger truncated the messages or the function docs of the request.",
        fires: jsonl(
            br#"{"prompt": "When is... (litellm_truncated 90 chars)", "function": "[{\"name\": \"tide\"}]"}"#,
        ),
        passes: jsonl(br#"{"prompt": "When is high tide?", "function": "[{\"name\": \"tide\"}]"}"#),
    },
    Reason {
        code: STREAM_CHUNK,
        sentence: "The line is a chunk of a streamed answer and holds no request.",
        fires: jsonl(br#"{"object": "chat.completion.chunk", "choices": [{"delta": {"content": "hi"}}]}"#),
        passes: jsonl(
            br#"{"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "greet"}], "response": [{"object": "chat.completion.chunk"}]}"#,
        ),
    },
    Reason {
        code: SURROUNDING_SPAN,
        sentence: "The span surrounds the spans of model calls, which hold the requests.",
        fires: jsonl(
            br#"{"name": "ai.generateText", "attributes": {"ai.operationId": "ai.generateText", "ai.prompt": "{\"prompt\": \"hi\"}"}}"#,
        ),
        passes: jsonl(
            br#"{"name": "ai.generateText.doGenerate", "attributes": {"ai.prompt.messages": "[{\"role\": \"user\", \"content\": \"hi\"}]", "ai.prompt.tools": ["{\"name\": \"greet\"}"]}}"#,
        ),
    },
    Reason {
        code: UNKNOWN_LOG_FORMAT,
        sentence: "The line is valid, but holds no request in a known log format.",
        fires: jsonl(br#"{"level": "info", "text": "started"}"#),
        passes: jsonl(br#"{"level": "info", "request": {"prompt": "hi", "functions": "[]"}}"#),
    },
];

const fn jsonl(text: &'static [u8]) -> Example {
    Example { file: "log.jsonl", text }
}
