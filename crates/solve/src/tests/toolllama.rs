//! Training files of the published example answers: they have the bytes of ToolBench's converter.

use callsieve_testkit::data;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;
use crate::toolllama::{steps, write_file};

const ANSWERS: &str = "apis/toolbench/data_example/answer";

/// Group and number of an answer, and of the file that `preprocess/preprocess_toolllama_data.py` makes of it alone: number
/// of steps, bytes and SHA-256. The converter skips the two without valid data and writes an empty list.
const EXPECTED: [(&str, u32, usize, usize, &str); 15] = [
    ("G1", 10, 3, 15_538, "14e36709c495b22baef1bb79db70d80cc6f032a6bbad2ac2e91c89cc8ccb6255"),
    ("G1", 11, 4, 23_047, "3f12eefa27803e57b7b4b08ae0739189441faf2d2e6e806d097f49c12e133691"),
    ("G1", 57, 4, 47_619, "0fa81f41827a7170881b2c19e33c38cd62ae3edbdcc3bb5d6290dcb425f7229f"),
    ("G1", 59, 5, 52_763, "7eca257b04dfbf76a23dd643387709aa8f0e69fc53d553458f50e0c9681537db"),
    ("G1", 69, 0, 2, "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
    ("G2", 10, 4, 29_191, "41400a30b7808d66a8de62cba2be2bc6b01a0dc879c31e341f0ae5f457b7e7e4"),
    ("G2", 102, 4, 32_228, "1dfcf55dad382090c336b9b4154d878e98108cdd804bc17e115f693a0c2b0bef"),
    ("G2", 119, 3, 17_544, "bf296b65f1d5c02454c6605554d7cca218ad0e98bbc4498ec88f433685700ed5"),
    ("G2", 127, 3, 16_972, "2d466f3c3d4ebc70bb5289c6b6de65eeb9fd062f72b1d7627caba6736190ce25"),
    ("G2", 52, 3, 20_235, "12f2b1861c973b5bc8db96b84e075771967534755b273b45a7c57c4c66540b25"),
    ("G3", 13, 5, 53_817, "3fcf56f5dcafcd455221b71a439b3935013cc40024c62b3000e624cdc37a2d8f"),
    ("G3", 15, 4, 42_489, "5ac4db9e6485bd8492d46bc067b9cce015608994108179cc509676ebfdf0533a"),
    ("G3", 21, 4, 38_706, "4b47e5ab737ba863548ecd41fa9f02e9e5e1260f2a812b512f6a639fe3f9d003"),
    ("G3", 3, 4, 62_670, "1a512fce54f496398e7a2ea720e05c69dc4151f92feeb2d27023b7c39cc39fe1"),
    ("G3", 8, 0, 2, "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
];

#[derive(Deserialize)]
struct AnswerFile {
    answer_generation: RecordedAnswer,
}

#[derive(Deserialize)]
struct RecordedAnswer {
    valid_data: bool,
    query: String,
    function: Vec<Value>,
    #[serde(default)]
    train_messages: Vec<Vec<RecordedMessage>>,
}

#[derive(Deserialize)]
struct RecordedMessage {
    role: String,
    content: Option<String>,
    function_call: Option<RecordedCall>,
}

#[derive(Deserialize)]
struct RecordedCall {
    name: String,
    arguments: String,
}

impl RecordedMessage {
    fn message(self) -> Message {
        let role = match self.role.as_str() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "function" => Role::Tool,
            other => panic!("{other} is no role"),
        };
        let call = |call: RecordedCall| Call { id: None, name: call.name, arguments: call.arguments.into() };
        Message {
            calls: self.function_call.into_iter().map(call).collect(),
            ..Message::text(role, self.content.unwrap_or_default())
        }
    }
}

/// Returns the number of steps of an answer and its training file.
fn converted(answer: &str) -> (usize, Vec<u8>) {
    let answer = serde_json::from_str::<AnswerFile>(answer).unwrap().answer_generation;
    let messages = |list: Vec<RecordedMessage>| list.into_iter().map(RecordedMessage::message).collect();
    let lists: Vec<Vec<Message>> = answer.train_messages.into_iter().map(messages).collect();
    let lists = if answer.valid_data { lists } else { Vec::new() };
    let steps = steps(&answer.query, &lists, &answer.function).unwrap();
    let mut file = Vec::new();
    write_file(&mut file, &steps).unwrap();
    (steps.len(), file)
}

#[test]
fn published_answers_have_the_training_files_of_the_original_converter() {
    let Some(folder) = data::path(ANSWERS) else { return };
    for (group, number, n_steps, n_bytes, sha256) in EXPECTED {
        let name = format!("{group}_answer/{number}_ChatGPT_DFS_woFilter_w2.json");
        let (found, file) = converted(&std::fs::read_to_string(folder.join(&name)).unwrap());
        let hash: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((found, file.len(), hash.as_str()), (n_steps, n_bytes, sha256), "{name}");
    }
}
