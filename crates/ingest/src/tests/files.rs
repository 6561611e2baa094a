//! Tests of files of every format, compression and kind of damage: lines keep their numbers, and none is lost.

use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{ROW, gzip, outline, positions, read, read_with};
use crate::compression::Compression;
use crate::fate::LineFate;
use crate::read::{FileFormat, Limits, ReadError, read_blocks};
use crate::reasons::*;
use callsieve_bfcl::conversation::{Message, Role};

#[test]
fn line_numbers_are_exact_with_blank_lines_carriage_returns_and_a_byte_order_mark() {
    let text = format!("\u{feff}{ROW}\r\n\r\n  \n{{\n{ROW}\n\n{ROW}");
    let expected = [
        (1, "record"),
        (2, BLANK_LINE),
        (3, BLANK_LINE),
        (4, NOT_JSON),
        (5, "record"),
        (6, BLANK_LINE),
        (7, "record"),
    ];
    for name in ["log.jsonl", "log.json", "log"] {
        assert_eq!(outline(&read(name, &text)), expected, "{name}");
    }
}

#[test]
fn a_csv_row_starts_on_the_line_where_its_first_cell_does() {
    let text = "\u{feff}\r\nquery,function,id\r\n\"a\r\n\"\"b\"\"\r\n\",[],1\r\n\r\nc,\"[{'n': \"\"x\"\"}]\",2\nd,[]\n\"e\",[],4";
    let lines = read("log.csv", text);
    let expected = [(3, "record"), (6, BLANK_LINE), (7, "record"), (8, RAGGED_ROW), (9, "record")];
    assert_eq!(outline(&lines), expected);
    let LineFate::Record(first) = &lines[0].fate else { panic!("no record") };
    assert_eq!(first.messages, [Message::text(Role::User, "a\r\n\"b\"\r\n")]);
    let LineFate::Record(second) = &lines[2].fate else { panic!("no record") };
    assert_eq!(second.functions, "[{'n': \"x\"}]");
    assert_eq!(outline(&read("log.tsv", "query\tfunction\na,b\t[]\n")), [(2, "record")]);
}

#[test]
fn rows_and_lines_may_end_with_a_carriage_return_alone() {
    let table = "\u{feff}query,function,id\r\"a\nb\",[],1\rc,\"[]\",2\rd,[]\re,[],4";
    let lines = read("log.csv", table);
    assert_eq!(outline(&lines), [(2, "record"), (3, "record"), (4, RAGGED_ROW), (5, "record")]);
    let LineFate::Record(first) = &lines[0].fate else { panic!("no record") };
    assert_eq!(first.messages, [Message::text(Role::User, "a\nb")]);
    assert_eq!(positions(&read("log.tsv", "query\tfunction\r\na\t[]\rb\t[]\r\n")), [(2, 1), (2, 2)]);
    for name in ["log.jsonl", "log.json", "log"] {
        let text = format!("{ROW}\r{{'prompt': 'hi', 'function': '[]'}}\r\r{{\r{ROW}");
        let expected = [(1, "record"), (2, "record"), (3, BLANK_LINE), (4, NOT_JSON), (5, "record")];
        assert_eq!(outline(&read(name, text)), expected, "{name}");
    }
    // A carriage return is also a blank between tokens.
    let pretty = ROW.replace(", ", ",\r  ").replace('{', "{\r  ");
    for name in ["log.jsonl", "log.json"] {
        assert_eq!(outline(&read(name, &pretty)), [(1, "record")], "{name}");
    }
    // Twice converted line ends make no blank lines.
    assert_eq!(outline(&read("log.csv", "query,function\r\r\na,[]\r\r\n")), [(2, "record")]);
}

#[test]
fn names_of_a_header_may_be_in_another_case_and_a_line_may_name_the_delimiter() {
    for text in [
        "sep=;\r\nID;QUERY;Functions;Response\r\n7;\"a, b\";[];none\r\n",
        "ID;QUERY;Functions;Response\r7;\"a, b\";[];none\r",
        "\"sep=|\"\nID|QUERY|Functions|Response\n7|a, b|[]|none\n",
    ] {
        let lines = read("log.csv", text);
        let [LineFate::Record(record)] = &lines.iter().map(|line| line.fate.clone()).collect::<Vec<_>>()[..]
        else {
            panic!("no record: {lines:?}")
        };
        assert_eq!(record.messages, [Message::text(Role::User, "a, b")]);
        assert_eq!((record.external_id.as_deref(), record.functions.as_str()), (Some("7"), "[]"));
        assert_eq!(record.response, Some(Message::text(Role::Assistant, "none")));
    }
    let exact = read("log.csv", "Query,query,functions\nno,yes,[]\n");
    let LineFate::Record(record) = &exact[0].fate else { panic!("no record") };
    assert_eq!(record.messages, [Message::text(Role::User, "yes")]);
}

#[test]
fn elements_of_an_array_and_pretty_printed_objects_start_where_they_start() {
    let row: Value = serde_json::from_str(ROW).unwrap();
    let pretty = serde_json::to_string_pretty(&row).unwrap();
    assert_eq!(outline(&read("log.json", &pretty)), [(1, "record")]);
    let objects = format!("\n{pretty}\n{pretty}\n");
    assert_eq!(outline(&read("log.json", objects)), [(2, "record"), (6, "record")]);
    let array = serde_json::to_string_pretty(&json!([row, 7, row])).unwrap();
    assert_eq!(
        outline(&read("log.json.gz", gzip(&array))),
        [(2, "record"), (6, UNKNOWN_LOG_FORMAT), (7, "record")]
    );
    assert_eq!(
        outline(&read("log.json", format!("[{ROW},{ROW}"))),
        [(1, "record"), (1, "record"), (1, CUT_FILE)]
    );
}

#[test]
fn records_are_numbered_by_element_by_row_and_by_line() {
    let numbered = |name: &str, text: &str| {
        let (lines, facts) = read_with(name, text.as_bytes(), &Limits::default());
        (positions(&lines), facts.by_record)
    };
    let one_line = format!("[{ROW}, 7, {ROW}]\n");
    assert_eq!(numbered("log.json", &one_line), (vec![(1, 1), (1, 2), (1, 3)], true));
    let row: Value = serde_json::from_str(ROW).unwrap();
    let pretty = serde_json::to_string_pretty(&json!([row, 7, row])).unwrap();
    assert_eq!(numbered("log.json", &pretty), (vec![(2, 1), (6, 2), (7, 3)], true));
    let table = "\nquery,function\n\"a\nb\",[]\n\"c\n\nd\",[]\ne,[]\n";
    assert_eq!(numbered("log.csv", table), (vec![(3, 1), (5, 2), (8, 3)], true));
    let by_line = format!("{ROW}\n\n\n{ROW}\n{{\n");
    let expected = vec![(1, 1), (2, 2), (4, 4), (5, 5)];
    for name in ["log.jsonl", "log.json", "log"] {
        assert_eq!(numbered(name, &by_line), (expected.clone(), false), "{name}");
    }
    let spans = format!(r#"{{"spans": [{ROW}, {ROW}]}}"#);
    let several = format!("{spans}\n{spans}\n");
    assert_eq!(numbered("log.jsonl", &several), (vec![(1, 1), (1, 1), (2, 2), (2, 2)], false));
}

#[test]
fn compression_is_detected_by_content_and_all_members_are_read() {
    let text = format!("{ROW}\n{ROW}\n");
    let gzipped = [gzip(&text), gzip(&text)].concat();
    let frame = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let stored = [frame.clone(), frame].concat();
    for (content, compression) in [(gzipped, Compression::Gzip), (stored, Compression::Zstd)] {
        let (lines, facts) = read_with("log.jsonl", &content, &Limits::default());
        assert_eq!(outline(&lines), [(1, "record"), (2, "record"), (3, "record"), (4, "record")]);
        assert_eq!((facts.compression, facts.text_bytes), (compression, 2 * text.len() as u64));
    }
}

#[test]
fn the_lines_before_the_damage_of_a_file_are_read() {
    let text = format!("{ROW}\n").repeat(2000);
    let whole = gzip(&text);
    let lines = read("log.jsonl.gz", &whole[..whole.len() - 9]);
    let (last, before) = lines.split_last().unwrap();
    assert!(before.len() > 1000 && before.iter().all(|line| matches!(line.fate, LineFate::Record(_))));
    assert_eq!(outline(std::slice::from_ref(last)), [(before.len() as u64 + 1, CUT_FILE)]);

    let mut trailing = gzip(ROW);
    trailing.extend_from_slice(b"not a gzip member");
    assert_eq!(outline(&read("log.jsonl.gz", trailing)), [(1, CUT_FILE)]);
    assert_eq!(outline(&read("log.jsonl", b"\x28\xb5\x2f\xfd")), [(1, CUT_FILE)]);
}

/// Returns a compressed file with members of 40 lines each; one bit of a member is flipped near its end.
fn with_a_flipped_bit(compress: fn(&str) -> Vec<u8>, member: usize) -> (Vec<u8>, u64) {
    let mut content = Vec::new();
    let mut sound = 0;
    for n in 0..3 {
        let text: String = (0..40).map(|row| ROW.replace("hi", &format!("hi {n} {row}")) + "\n").collect();
        let mut stored = compress(&text);
        if n == member {
            sound = content.len() as u64;
            let place = stored.len() - 7;
            stored[place] ^= 0x10;
        }
        content.extend(stored);
    }
    (content, sound)
}

#[test]
fn nothing_of_a_corrupt_member_is_read() {
    fn zstd_with_checksum(text: &str) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }
    for compress in [gzip as fn(&str) -> Vec<u8>, zstd_with_checksum] {
        for member in 0..3 {
            let (content, sound) = with_a_flipped_bit(compress, member);
            let lines = read("log.jsonl", &content);
            let (last, before) = lines.split_last().unwrap();
            assert_eq!(before.len(), 40 * member);
            assert!(before.iter().all(|line| matches!(line.fate, LineFate::Record(_))));
            let LineFate::Unreadable(fault) = &last.fate else { panic!("{last:?}") };
            let of_all = format!("{sound} of {} bytes are sound", content.len());
            assert!(fault.reason == CUT_FILE && fault.detail.ends_with(&of_all), "{fault:?}");
        }
    }
}

#[test]
fn a_too_large_window_has_a_reason_and_one_of_zstds_long_mode_is_read() {
    let text = format!("{ROW}\n");
    let with_window = |log: u32| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.flush().unwrap();
        encoder.finish().unwrap()
    };
    assert_eq!(outline(&read("log.jsonl", with_window(28))), [(1, "record")]);
    assert_eq!(outline(&read("log.jsonl", with_window(30))), [(1, WINDOW_TOO_LARGE)]);
}

#[test]
fn blank_lines_are_recorded_once_and_counted_each() {
    let n_blank = 3_000_000;
    let text = format!("{ROW}\n{}{ROW}\n \n\r\n", "\n".repeat(n_blank));
    let (lines, facts) = read_with("log.jsonl", text.as_bytes(), &Limits::default());
    assert!(lines.len() < 12, "{} notes", lines.len());
    assert_eq!(facts.n_items, n_blank as u64 + 4);
    let records: Vec<u64> =
        lines.iter().filter(|line| matches!(line.fate, LineFate::Record(_))).map(|line| line.line).collect();
    assert_eq!(records, [1, n_blank as u64 + 2]);
}

#[test]
fn utf_16_is_read_and_a_byte_order_mark_between_files_is_no_text() {
    let row = "{\"prompt\": \"Wie hoch ist die Flut in Rødøy? \u{1f30a}\", \"function\": \"[]\"}";
    let text = format!("{row}\r\n{ROW}\n");
    let units = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let expected = outline(&read("log.jsonl", &text));
    assert_eq!(expected, [(1, "record"), (2, "record")]);
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        for mark in ["\u{feff}", ""] {
            let stored = units(mark, bytes);
            for content in [stored.clone(), zstd::encode_all(&stored[..], 1).unwrap()] {
                assert_eq!(read("log.jsonl", content), read("log.jsonl", &text));
            }
        }
    }
    let table =
        "\u{feff}prompt,function\nhi,[]\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    assert_eq!(outline(&read("log.csv", table)), [(2, "record")]);

    let joined = format!("\u{feff}{ROW}\n\u{feff}{ROW}\n\u{feff}\n");
    assert_eq!(outline(&read("log.jsonl", &joined)), [(1, "record"), (2, "record"), (3, BLANK_LINE)]);
    let arrays = format!("\u{feff}[{ROW}]\n\u{feff}[{ROW}]");
    assert_eq!(outline(&read("log.json", arrays)), [(1, "record"), (2, "record")]);
}

#[test]
fn a_line_over_the_limit_is_discarded_and_the_next_keeps_its_number() {
    // Longer than a chunk, so that it is discarded in several pieces.
    let long = format!("{{\"prompt\": \"{}\"}}", "x".repeat(3 << 20));
    let limits = Limits { max_line_bytes: 1000, ..Limits::default() };
    let (lines, _) = read_with("log.jsonl", format!("{ROW}\n{long}\n{ROW}\n{long}").as_bytes(), &limits);
    assert_eq!(outline(&lines), [(1, "record"), (2, LINE_TOO_LONG), (3, "record"), (4, LINE_TOO_LONG)]);
    let detail = format!("{} bytes, the limit is 1000", long.len() + 1);
    assert_eq!(lines[1].fate, LineFate::Unreadable(ItemFault::new(LINE_TOO_LONG, detail)));

    let cell = "y\n".repeat(1 << 20);
    let table = format!("prompt,function\na,[]\n\"{cell}\",[]\nb,[]\n");
    let (rows, _) = read_with("log.csv", table.as_bytes(), &limits);
    assert_eq!(outline(&rows), [(2, "record"), (3, LINE_TOO_LONG), (4 + (1 << 20), "record")]);
}

#[test]
fn invalid_text_has_the_position_of_the_byte() {
    let lines = read("log.jsonl", b"{\"prompt\": \"\xff\"}");
    assert_eq!(lines[0].fate, LineFate::Unreadable(ItemFault::new(NOT_UTF8, "byte 12 of the line")));
}

#[test]
fn lines_do_not_depend_on_the_size_of_blocks() {
    let text = format!("{ROW}\n\n{ROW}\n{{\n").repeat(40_000);
    let whole = read("log.jsonl", &text);
    for block_bytes in [1, 100_000] {
        let limits = Limits { block_bytes, ..Limits::default() };
        assert_eq!(read_with("log.jsonl", text.as_bytes(), &limits).0, whole);
    }
}

#[test]
fn an_empty_file_has_no_items() {
    for name in ["a.jsonl", "a.json", "a.csv"] {
        assert_eq!(read(name, ""), []);
        assert_eq!(read(name, "\u{feff}"), []);
    }
    assert_eq!(read("a.csv", "query,function\n"), []);
}

#[test]
fn formats_are_detected_by_the_name_without_the_compression() {
    for (name, format) in [
        ("a.jsonl", FileFormat::Jsonl),
        ("a.NDJSON.gz", FileFormat::Jsonl),
        ("a.csv.zst", FileFormat::Csv { delimiter: b',' }),
        ("a.tsv", FileFormat::Csv { delimiter: b'\t' }),
        ("a.json", FileFormat::Json),
        ("a.gz", FileFormat::Json),
        ("a", FileFormat::Json),
    ] {
        assert_eq!(FileFormat::of(Path::new(name)), format, "{name}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error_and_so_is_the_callers_refusal() {
    let read = |path: &Path| {
        let refuse = || ReadError::Open { path: "refused".into(), cause: std::io::Error::other("x") };
        read_blocks::<ReadError>(path, FileFormat::Jsonl, &Limits::default(), &mut |_| {}, &mut |_| {
            Err(refuse())
        })
    };
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.jsonl");
    let error = read(&missing).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: cannot be opened: ", missing.display())));
    std::fs::write(&missing, ROW).unwrap();
    assert!(matches!(read(&missing), Err(ReadError::Open { path, .. }) if path == Path::new("refused")));
}

#[test]
fn a_table_has_the_delimiter_of_its_header() {
    for (name, text) in [
        ("a.csv", "prompt;function\n\"hi; there, you\";[]\n"),
        ("a.csv", "prompt\tfunction\nhi, there\t[]\n"),
        ("a.tsv", "prompt,function\n\"hi, there\",[]\n"),
        ("a.csv", "prompt,function\nhi; there,[]\n"),
    ] {
        assert_eq!(outline(&read(name, text)), [(2, "record")], "{text}");
    }
}
