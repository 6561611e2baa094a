//! A model of a few words with known labels, for tests.
//!
//! Its layers pass on what a word's vector says, and the head reads the label from it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

const DIMS: usize = 8;
const WIDE: usize = 4;
const POSITIONS: usize = 16;

/// The labels, by their number.
const LABELS: [&str; 6] = ["O", "B-PER", "I-PER", "B-STREET_ADDRESS", "I-STREET_ADDRESS", "B-LOC"];

/// The words, each with the number of its label. Other words are unknown and have the label O.
const WORDS: [(&str, usize); 16] = [
    ("[PAD]", 0),
    ("[UNK]", 0),
    ("[CLS]", 0),
    ("[SEP]", 0),
    ("mira", 1),
    ("kel", 2),
    ("##ler", 0),
    ("tomas", 1),
    ("5", 3),
    ("old", 4),
    ("mill", 4),
    ("lane", 4),
    ("berkeley", 5),
    ("ask", 0),
    ("may", 0),
    ("jordan", 0),
];

/// Writes the folder of a model. `is_distilled`: with the names of `DistilBERT`.
pub fn write_model(folder: &Path, is_distilled: bool) {
    let id2label: Map<String, Value> =
        LABELS.iter().enumerate().map(|(id, label)| (id.to_string(), json!(label))).collect();
    let config = if is_distilled {
        json!({"model_type": "distilbert", "dim": DIMS, "hidden_dim": WIDE, "n_layers": 1, "n_heads": 2,
            "vocab_size": WORDS.len(), "max_position_embeddings": POSITIONS, "activation": "gelu", "id2label": id2label})
    } else {
        json!({"model_type": "bert", "hidden_size": DIMS, "intermediate_size": WIDE, "num_hidden_layers": 1,
            "num_attention_heads": 2, "vocab_size": WORDS.len(), "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "id2label": id2label})
    };
    write(folder, "config.json", &config.to_string());
    write(folder, "tokenizer.json", &tokenizer().to_string());
    write_bytes(folder, "model.safetensors", &safetensors(&tensors(is_distilled)));
}

/// Writes the words as a list of word pieces.
pub fn write_pieces(folder: &Path) {
    write(folder, "vocab.txt", &WORDS.map(|(word, _)| word).join("\n"));
}

fn write(folder: &Path, name: &str, text: &str) {
    write_bytes(folder, name, text.as_bytes());
}

fn write_bytes(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// The shape and the numbers of a tensor.
type Tensor = (Vec<usize>, Vec<f32>);

/// Returns tensors in the format of safetensors: the length of a header, the header, the numbers.
fn safetensors(tensors: &BTreeMap<String, Tensor>) -> Vec<u8> {
    let mut header = Map::new();
    let mut numbers: Vec<u8> = Vec::new();
    for (name, (shape, values)) in tensors {
        let start = numbers.len();
        numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let place = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, numbers.len()]});
        header.insert(name.clone(), place);
    }
    let header = Value::from(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &numbers].concat()
}

fn tokenizer() -> Value {
    let vocabulary: Map<String, Value> =
        WORDS.iter().enumerate().map(|(id, (word, _))| ((*word).to_owned(), json!(id))).collect();
    let special = |token: &str, id: usize| json!({"id": token, "ids": [id], "tokens": [token]});
    json!({"version": "1.0", "added_tokens": [], "truncation": null, "padding": null,
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": null,
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [], "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)}},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary}})
}

fn tensors(is_distilled: bool) -> BTreeMap<String, Tensor> {
    let mut tensors = BTreeMap::new();
    let mut add = |name: String, values: Vec<f32>, shape: &[usize]| {
        tensors.insert(name, (shape.to_vec(), values));
    };
    let one_of = |at: usize, size: f32| (0..DIMS).map(move |dim| if dim == at { size } else { 0.0 });
    let words = WORDS.iter().flat_map(|&(_, label)| one_of(label, 10.0)).collect();
    let head = (0..LABELS.len()).flat_map(|label| one_of(label, 5.0)).collect();
    let root = if is_distilled { "distilbert" } else { "bert" };
    let table = |name: &str| format!("{root}.embeddings.{name}_embeddings.weight");
    add(table("word"), words, &[WORDS.len(), DIMS]);
    add(table("position"), vec![0.0; POSITIONS * DIMS], &[POSITIONS, DIMS]);
    if !is_distilled {
        add(table("token_type"), vec![0.0; 2 * DIMS], &[2, DIMS]);
    }
    add("classifier.weight".to_owned(), head, &[LABELS.len(), DIMS]);
    add("classifier.bias".to_owned(), vec![0.0; LABELS.len()], &[LABELS.len()]);
    let (layer, square, wide, narrow, norms) = if is_distilled {
        let square = ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"];
        ("transformer.layer.0", square, "ffn.lin1", "ffn.lin2", ["sa_layer_norm", "output_layer_norm"])
    } else {
        let square =
            ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
        (
            "encoder.layer.0",
            square,
            "intermediate.dense",
            "output.dense",
            ["attention.output.LayerNorm", "output.LayerNorm"],
        )
    };
    let mut linear = |name: &str, n_out: usize, n_in: usize| {
        let name = format!("{root}.{layer}.{name}");
        add(format!("{name}.weight"), vec![0.0; n_out * n_in], &[n_out, n_in]);
        add(format!("{name}.bias"), vec![0.0; n_out], &[n_out]);
    };
    for name in square {
        linear(name, DIMS, DIMS);
    }
    linear(wide, WIDE, DIMS);
    linear(narrow, DIMS, WIDE);
    let norms = norms.map(|name| format!("{layer}.{name}"));
    for name in norms.iter().map(String::as_str).chain(["embeddings.LayerNorm"]) {
        add(format!("{root}.{name}.weight"), vec![1.0; DIMS], &[DIMS]);
        add(format!("{root}.{name}.bias"), vec![0.0; DIMS], &[DIMS]);
    }
    tensors
}
