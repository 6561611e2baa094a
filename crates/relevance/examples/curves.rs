//! Dumps features.
#![allow(clippy::all, clippy::pedantic)]
use callsieve_bfcl::entry::Entry;
use callsieve_bfcl::files::{in_folder, lines};
use callsieve_relevance::benchmark::{background_of, example};
use callsieve_relevance::docs::PreparedDocs;
use callsieve_relevance::{features, low_quality, query::PreparedQuery};
use serde_json::Value;

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let mut records: Vec<(Value, String)> = Vec::new();
    let mut files = in_folder(std::path::Path::new(&folder)).unwrap();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for file in &files {
        let text = std::fs::read_to_string(&file.path).unwrap();
        for (_, line) in lines(&text) {
            records.push((serde_json::from_str(line).unwrap(), file.category.clone()));
        }
    }
    let entries: Vec<(Entry<'_>, &str)> =
        records.iter().map(|(record, category)| (Entry::read(record).unwrap(), category.as_str())).collect();
    let background = background_of(entries.iter().map(|(entry, _)| entry));
    let names: Vec<&str> = features::names().collect();
    println!("id\tlabel\tgroup\tcategory\tlanguage\tbarred\tquery\t{}", names.join("\t"));
    let _ = low_quality::MISSING_VALUE;
    for (entry, category) in &entries {
        let Ok(example) = example(entry, category, &background) else { continue };
        let queries: Vec<&str> = entry.turns[0].iter().map(|message| message.content.as_str()).collect();
        let text = queries.join(" ");
        let language = callsieve_text::language::language(&text);
        let docs = PreparedDocs::new(entry.functions());
        let query = PreparedQuery::new(&queries);
        let barred = docs.takes_anything() || docs.is_named_in(&query);
        let row: Vec<String> = example.features.iter().map(|x| format!("{x:.5}")).collect();
        println!(
            "{}\t{}\t{}\t{category}\t{language}\t{}\t{}\t{}",
            entry.id.unwrap_or_default(),
            u8::from(example.is_relevant),
            example.group.replace(['\n', '\t'], "|"),
            u8::from(barred),
            text.replace(['\n', '\t', '\r'], " "),
            row.join("\t")
        );
    }
}
