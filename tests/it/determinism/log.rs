//! A log with work for every stage of the live recipe, with decisions of people and a public set.
//!
//! Each topic has its own words, so that only intended rows are alike: spellings of the docs of one topic, and copies
//! and variants of its questions. The number of a request determines its purpose.

use std::fmt::Write as _;

use callsieve::content_hash::content_hash;
use serde_json::{Value, json};

/// The number of requests, without the second steps of agents.
const N_REQUESTS: usize = 500;
/// Ways to write the docs of a topic.
const N_SPELLINGS: usize = 6;
/// The purposes of requests; see [`request`].
const N_ROLES: usize = 11;
/// The topic whose function is in the public set too.
const PUBLIC_FUNCTION: usize = 7;
/// The topic with a question in the public set.
const PUBLIC_QUESTION: usize = 9;

/// One function: name and description; a text and a number parameter, each with a description; a value of the text; and
/// a question that holds it and a place for the number.
type Topic = [&'static str; 8];

#[rustfmt::skip]
const TOPICS: [Topic; 24] = [
    ["prune_orchard", "Cuts the apple trees of an orchard down to a height.", "orchard", "Whose trees are cut.", "height_cm", "Height that the trees keep, in centimetres.", "Vesle", "Cut the apple trees of orchard Vesle down to {} centimetres"],
    ["ring_tower", "Rings the bell of a church tower so many times.", "tower", "The tower whose bell it is.", "times", "Number of strokes.", "Marina", "Let the bell of tower Marina ring {} times"],
    ["tune_organ_pipe", "Brings a pipe of an organ to a pitch.", "stop", "Register that the pipe belongs to.", "pitch_hz", "Pitch in hertz.", "gedackt", "The gedackt pipe sounds flat, tune it to {} hertz"],
    ["brew_kettle", "Heats the water of a tea kettle up to a temperature.", "blend", "Tea that is brewed.", "celsius", "Temperature of the water.", "oolong", "Heat water for oolong tea up to {} degrees"],
    ["moor_ferry", "Assigns a ferry to a berth of the quay.", "ferry", "Name of the vessel.", "berth", "Berth where the vessel is moored.", "Skarv", "Moor the ferry Skarv at berth {} of the quay"],
    ["shear_flock", "Plans on which day of the year the sheep of a farm are shorn.", "farm", "Farm of the sheep.", "day_of_year", "Day on which the shearers come.", "Bakke", "The shearers should come to the sheep of farm Bakke on day {} of the year"],
    ["bind_volume", "Orders a book to be bound with so many leaves.", "binding", "Material of the cover.", "leaves", "Leaves between the covers.", "buckram", "Bind my book in buckram with {} leaves"],
    ["count_glacier_cracks", "Counts the crevasses of a glacier above an altitude from the last survey.", "glacier", "Glacier that was surveyed.", "altitude_m", "Lowest altitude in metres.", "Nigard", "How many crevasses has glacier Nigard above {} metres"],
    ["load_kiln", "Sets the firing curve of a pottery kiln to a peak.", "glaze", "Glaze of the pots.", "cone", "Pyrometric cone at the peak.", "celadon", "Fire the celadon pots in the kiln at cone {}"],
    ["dispatch_snowplough", "Sends a snowplough along a mountain road from a kilometre on.", "road", "Road that is cleared of snow.", "from_km", "Kilometre where the plough starts.", "Rv13", "Please send the snowplough along road Rv13 this morning and let it begin at kilometre {}"],
    ["grade_violin_rosin", "Looks up a rosin for bowed instruments by its hardness.", "maker", "Workshop that cooks the rosin.", "hardness", "Hardness from 1 to 90.", "Lindqvist", "Which Lindqvist rosin for my violin has hardness {}"],
    ["feed_hive", "Notes how many grams of sugar syrup a beehive was given.", "hive", "Hive of the apiary.", "grams", "Weight of the syrup.", "Dronning", "I gave the bees of hive Dronning {} grams of syrup, note it"],
    ["open_sluice", "Opens the gates of a canal lock by a percentage.", "lock", "Lock on the canal.", "percent", "How far the gates open.", "Brekke", "Open the gates of canal lock Brekke to {} percent"],
    ["cut_cheese_wheel", "Divides a wheel of cheese into wedges for the counter.", "cheese", "Sort of cheese.", "wedges", "Number of pieces.", "gouda", "Divide the wheel of gouda into {} wedges"],
    ["set_lighthouse_flash", "Changes the period of the light of a lighthouse.", "lighthouse", "Beacon at the coast.", "period_s", "Seconds between flashes.", "Ryvarden", "Make beacon Ryvarden flash every {} seconds"],
    ["thaw_permafrost_core", "Schedules the thawing of an ice core in the cold room.", "core", "Label of the drilled core.", "minutes", "Duration of the thawing.", "Svalbard", "Thaw the drilled core Svalbard for {} minutes in the cold room"],
    ["weave_carpet", "Starts a loom with a knot density for a rug.", "pattern", "Design that is woven.", "knots", "Knots of a square decimetre.", "medallion", "Weave a rug with the medallion design at {} knots"],
    ["prime_telescope", "Points the telescope of an observatory to a right ascension.", "catalogue", "Star catalogue of the target.", "arc_minutes", "Right ascension in arc minutes.", "Hipparcos", "Point the observatory at Hipparcos star {}"],
    ["mend_fishing_net", "Orders twine for a net with a width of mesh.", "twine", "Fibre of the twine.", "mesh_mm", "Mesh width in millimetres.", "nylon", "I need nylon twine for a net of {} millimetre mesh"],
    ["stamp_letter", "Works out the postage of an envelope by its weight.", "country", "Land of the addressee.", "weight_g", "Weight of the envelope in grams.", "Portugal", "What is the postage to Portugal for {} grams"],
    ["age_whisky_cask", "Finds casks in a warehouse that have matured for years.", "wood", "Wood of the staves.", "years", "Years in the warehouse.", "mizunara", "Find mizunara casks that matured for {} years"],
    ["drain_peat_bog", "Lowers the groundwater of a moor by a depth.", "moor", "Wetland to be lowered.", "depth_cm", "Depth in centimetres.", "Aukra", "Lower the groundwater of wetland Aukra by {} centimetres"],
    ["polish_lens", "Queues an optical blank for grinding with a grit.", "glass", "Kind of optical blank.", "grit", "Grain of the abrasive.", "flint", "Queue the flint blank for grinding with grit {}"],
    ["rent_tuba", "Reserves a brass instrument of the music school for weeks.", "instrument", "Brass instrument to reserve.", "weeks", "Duration of the reservation.", "euphonium", "Reserve a euphonium of the music school for {} weeks"],
];

/// Returns the function of a topic with an additional sentence.
fn function(topic: usize, more: &str) -> Value {
    let [name, about, text, what_text, number, what_number, ..] = TOPICS[topic];
    json!({"name": name, "description": format!("{about}{more}"),
        "parameters": {"type": "object", "required": [text, number], "properties": {
            text: {"type": "string", "description": what_text},
            number: {"type": "integer", "description": what_number}}}})
}

/// Returns the docs of a topic in one of the spellings.
fn docs(topic: usize, spelling: usize) -> String {
    let plain = function(topic, "");
    match spelling {
        0 => json!([plain]).to_string(),
        // The same with other whitespace.
        1 => serde_json::to_string_pretty(&json!([plain])).expect("docs are JSON"),
        // A near-duplicate.
        2 => json!([function(topic, " Now.")]).to_string(),
        // A contact person, which redaction finds.
        3 => json!([function(topic, &format!(" Ask desk{topic}@quillpost.net."))]).to_string(),
        // Types that BFCL does not have.
        4 => json!([plain]).to_string().replace("\"integer\"", "\"int\""),
        // In another dialect, with the function of the next topic.
        _ => {
            let next = function((topic + 1) % TOPICS.len(), "");
            json!([{"type": "function", "function": plain}, {"type": "function", "function": next}])
                .to_string()
        }
    }
}

fn ask(topic: usize, number: usize) -> String {
    TOPICS[topic][7].replace("{}", &number.to_string())
}

fn call(topic: usize, number: usize) -> Value {
    let [name, _, text, _, of_number, _, value, _] = TOPICS[topic];
    let arguments = json!({text: value, of_number: number}).to_string();
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

/// Returns the purpose, the topic and the spelling of the docs of a request.
fn place(request: usize) -> (usize, usize, usize) {
    (request % N_ROLES, request * 5 % TOPICS.len(), request / TOPICS.len() % N_SPELLINGS)
}

/// Adds one line to the log, or the two steps of an agent.
fn request(request: usize, log: &mut String) {
    let (role, topic, spelling) = place(request);
    let user = format!("user{}@quillpost.net", request % 40);
    let time = 1_700_000_000 + request * 7_919 % 100_003;
    let number = request % 83 + 2;
    let none_fits = json!("None of these functions can help with that.");
    let plain = ask(topic, number);
    let (query, response) = match role {
        0 => (
            format!(
                "{plain}, then mail keeper{}@quillpost.net or call +47 22 34 56 {:02}",
                request % 9,
                request % 60
            ),
            call(topic, number),
        ),
        1 => ("asdfghjkl".to_owned(), none_fits),
        // The same question repeatedly, in the same and in nearly the same words.
        2 => (ask(topic, 12), call(topic, 12)),
        3 => (format!("{}!", ask(topic, 12).to_uppercase()), Value::Null),
        4 => (format!("Please {}", ask(topic, 12)), call(topic, 12)),
        // A question for another function.
        5 => (ask((topic + 11) % TOPICS.len(), number), none_fits),
        // A person answers some of these.
        6 => (plain, Value::Null),
        // The recorded value is not the one in the question.
        8 => (plain, call(topic, number + 1)),
        9 => (format!("Could you see to it for {}?", TOPICS[topic][6]), Value::Null),
        10 => (ask(PUBLIC_QUESTION, number), Value::Null),
        _ => return agent(request, topic, (&user, time), log),
    };
    let docs = match request {
        // Truncated docs are not read, and others are too vague.
        _ if request % 37 == 5 => docs(topic, spelling)[..120 + request % 20].to_owned(),
        _ if request % 41 == 6 => {
            json!([{"name": format!("func{request}"), "description": "A function."}]).to_string()
        }
        _ => docs(topic, spelling),
    };
    let mut line = json!({"id": format!("r{request}"), "user": user, "prompt": query, "function": docs, "response": response});
    if !request.is_multiple_of(13) {
        line["ts"] = json!(time);
    }
    writeln!(log, "{line}").expect("a text can be written");
}

/// Adds the steps of an agent: the call, and then the answer to its result, in one session.
fn agent(request: usize, topic: usize, (user, time): (&str, usize), log: &mut String) {
    let number = request % 83 + 2;
    let asked = json!({"role": "user", "content": ask(topic, number)});
    let call = call(topic, number);
    // Some of the calls fail.
    let (result, done) = if request % 4 == 1 {
        (json!({"error": "no such number"}), "I am afraid that did not work.")
    } else {
        (json!({"ok": true}), "It is done.")
    };
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": result.to_string()});
    let done = json!({"role": "assistant", "content": done});
    let steps = [
        ("a", vec![asked.clone()], call.clone(), "tool_calls"),
        ("b", vec![asked, call, result], done, "stop"),
    ];
    for (at, (step, messages, answer, finish)) in (0..).zip(steps) {
        let line = json!({"id": format!("r{request}{step}"), "ts": time + at, "session": format!("session-{request}"),
            "user": user, "request": {"messages": messages, "tools": [{"type": "function", "function": function(topic, "")}]},
            "response": {"choices": [{"message": answer, "finish_reason": finish}]}});
        writeln!(log, "{line}").expect("a text can be written");
    }
}

/// Returns the log, with some lines that cannot be read.
pub(crate) fn log() -> String {
    let mut log = String::new();
    for number in 0..N_REQUESTS {
        if number % 101 == 3 {
            log += "{broken\n";
        }
        request(number, &mut log);
    }
    log
}

/// The kinds of decisions of [`decisions`], by the codes of their reasons.
pub(crate) const DECISIONS: [&str; 5] =
    ["decision/kept", "decision/dropped", "decision/relabelled", "decision/answered", "decision/edited"];

/// Returns decisions of people, of each kind on some rows; the decision of a row that was dropped before is not
/// applied.
pub(crate) fn decisions() -> String {
    let requests_of = |wanted: usize| (0..N_REQUESTS).filter(move |&request| place(request).0 == wanted);
    let id = |request: usize| format!("r{request}");
    let kept =
        requests_of(1).step_by(7).map(|request| json!({"id": id(request), "decision": "keep", "by": "Kim"}));
    let dropped = requests_of(0).step_by(9).map(|request| json!({"id": id(request), "decision": "drop"}));
    let relabelled = requests_of(5).step_by(8);
    let relabelled = relabelled
        .map(|request| json!({"id": id(request), "decision": "relabel", "relevance": "irrelevant"}));
    let answered = requests_of(6).step_by(9).map(|request| {
        let [name, _, text, _, number, _, value, _] = TOPICS[place(request).1];
        json!({"request": id(request), "ground_truth": [{name: {text: [value], number: [request % 83 + 2]}}]})
    });
    let edited = (0..TOPICS.len()).step_by(6).map(|topic| {
        // The id of a list is the hash of its text.
        let list = format!("{:032x}", content_hash(docs(topic, 0)));
        let about = json!([{"op": "add", "path": "/0/description", "value": format!("{} At once.", TOPICS[topic][1])}]);
        json!({"id": list, "decision": "edit", "patch": about})
    });
    let all = kept.chain(dropped).chain(relabelled).chain(answered).chain(edited);
    all.map(|decision| format!("{decision}\n")).collect()
}

/// Returns a public set of one record; some rows of the log have its function and question.
pub(crate) fn public_set() -> String {
    let public = function(PUBLIC_FUNCTION, "");
    json!({"id": "p1", "messages": [{"role": "user", "content": ask(PUBLIC_QUESTION, 40)}],
        "tools": [{"type": "function", "function": public}]})
    .to_string()
}
