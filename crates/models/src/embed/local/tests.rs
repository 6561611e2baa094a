//! Tests with a model of two layers, compared with a reference implementation of the encoder.

// The numbers of a model this small are exact in any type.
#![allow(clippy::cast_precision_loss)]

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use proptest::prelude::*;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::encoder::files::WEIGHTS;

const DIMS: usize = 8;
const WIDE: usize = 12;
const HEADS: usize = 2;
const LAYERS: usize = 2;
const POSITIONS: usize = 16;
const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ring", "the", "bell", "at", "noon", "##s", "gate", "tower"];

/// Returns the shape of each tensor of the model.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let table = |name: &str, rows| (format!("embeddings.{name}_embeddings.weight"), vec![rows, DIMS]);
    let mut shapes = vec![table("word", WORDS.len()), table("position", POSITIONS), table("token_type", 2)];
    let mut pair = |name: &str, shape: Vec<usize>| {
        shapes.push((format!("{name}.bias"), vec![shape[0]]));
        shapes.push((format!("{name}.weight"), shape));
    };
    pair("embeddings.LayerNorm", vec![DIMS]);
    for layer in 0..LAYERS {
        let mut in_layer = |name: &str, shape| pair(&format!("encoder.layer.{layer}.{name}"), shape);
        for name in
            ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
        {
            in_layer(name, vec![DIMS, DIMS]);
        }
        in_layer("intermediate.dense", vec![WIDE, DIMS]);
        in_layer("output.dense", vec![DIMS, WIDE]);
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            in_layer(name, vec![DIMS]);
        }
    }
    shapes
}

/// Returns numbers from -1 to 1 that depend only on the tensor's name.
fn weights() -> HashMap<String, Vec<f32>> {
    let values = |name: &str, n: usize| {
        (0..n)
            .map(|at| f32::from((xxh3_64(format!("{name} {at}").as_bytes()) % 2001) as u16) / 1000.0 - 1.0)
            .collect()
    };
    shapes().iter().map(|(name, shape)| (name.clone(), values(name, shape.iter().product()))).collect()
}

fn config() -> Value {
    json!({"model_type": "bert", "hidden_size": DIMS, "intermediate_size": WIDE, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "vocab_size": WORDS.len(), "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "pad_token_id": 0})
}

fn tokenizer() -> Value {
    let vocabulary: serde_json::Map<String, Value> =
        WORDS.iter().enumerate().map(|(at, word)| ((*word).to_owned(), json!(at))).collect();
    let special = |token: &str, id: usize| json!({"id": token, "ids": [id], "tokens": [token]});
    json!({"version": "1.0", "added_tokens": [],
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]"},
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": false},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": null,
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [], "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)}},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary}})
}

fn write(folder: &Path, name: &str, value: &Value) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, value.to_string()).unwrap();
}

fn save(folder: &Path, weights: &HashMap<String, Vec<f32>>) {
    let tensors: HashMap<String, Tensor> = shapes()
        .into_iter()
        .map(|(name, shape)| {
            let tensor = Tensor::from_vec(weights[&name].clone(), shape, &Device::Cpu).unwrap();
            (name, tensor)
        })
        .collect();
    candle_core::safetensors::save(&tensors, folder.join(WEIGHTS)).unwrap();
}

fn module(path: &str, kind: &str) -> Value {
    json!({"path": path, "type": format!("sentence_transformers.models.{kind}")})
}

/// Creates a folder in the format of sentence-transformers.
fn model(pooling: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "config.json", &config());
    write(folder.path(), "tokenizer.json", &tokenizer());
    let modules = json!([
        module("", "Transformer"),
        module("1_Pooling", "Pooling"),
        module("2_Normalize", "Normalize")
    ]);
    write(folder.path(), "modules.json", &modules);
    let modes = json!({"word_embedding_dimension": DIMS, "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_cls_token": pooling == "cls", "pooling_mode_max_tokens": pooling == "max"});
    write(folder.path(), "1_Pooling/config.json", &modes);
    save(folder.path(), &weights());
    folder
}

fn embed(folder: &Path, texts: &[&str]) -> Vectors {
    Local::open(folder).unwrap().embed(texts, &|| false).unwrap()
}

/// The reference implementation of the encoder, with plain loops of 64-bit numbers.
mod plain {
    use super::*;

    type Rows = Vec<Vec<f64>>;

    pub(super) fn hidden(weights: &HashMap<String, Vec<f32>>, ids: &[usize]) -> Rows {
        let row =
            |name: &str, at: usize| vector(weights, &format!("embeddings.{name}_embeddings.weight"), at);
        let sum =
            |id: usize, at: usize| add(&add(&row("word", id), &row("position", at)), &row("token_type", 0));
        let mut x: Rows = ids.iter().enumerate().map(|(at, &id)| sum(id, at)).collect();
        x = norm(weights, "embeddings.LayerNorm", &x);
        for layer in 0..LAYERS {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let attended = linear(
                weights,
                &name("attention.output.dense"),
                &attention(weights, &name("attention.self"), &x),
            );
            x = norm(weights, &name("attention.output.LayerNorm"), &add_rows(&attended, &x));
            let wide: Rows = linear(weights, &name("intermediate.dense"), &x)
                .iter()
                .map(|row| row.iter().map(|&v| gelu(v)).collect())
                .collect();
            let narrow = linear(weights, &name("output.dense"), &wide);
            x = norm(weights, &name("output.LayerNorm"), &add_rows(&narrow, &x));
        }
        x
    }

    fn vector(weights: &HashMap<String, Vec<f32>>, name: &str, at: usize) -> Vec<f64> {
        weights[name][at * DIMS..][..DIMS].iter().map(|&v| f64::from(v)).collect()
    }

    fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a + b).collect()
    }

    fn add_rows(a: &Rows, b: &Rows) -> Rows {
        a.iter().zip(b).map(|(a, b)| add(a, b)).collect()
    }

    fn dot(a: &[f64], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, &b)| a * f64::from(b)).sum()
    }

    fn linear(weights: &HashMap<String, Vec<f32>>, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (&weights[&format!("{name}.weight")], &weights[&format!("{name}.bias")]);
        let out = |row: &Vec<f64>| {
            weight.chunks(row.len()).zip(bias).map(|(w, &b)| dot(row, w) + f64::from(b)).collect()
        };
        x.iter().map(out).collect()
    }

    fn norm(weights: &HashMap<String, Vec<f32>>, name: &str, x: &Rows) -> Rows {
        let (weight, bias) = (&weights[&format!("{name}.weight")], &weights[&format!("{name}.bias")]);
        let of = |row: &Vec<f64>| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let spread =
                (row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / row.len() as f64 + 1e-12).sqrt();
            row.iter()
                .zip(weight)
                .zip(bias)
                .map(|((v, &w), &b)| (v - mean) / spread * f64::from(w) + f64::from(b))
                .collect()
        };
        x.iter().map(of).collect()
    }

    fn attention(weights: &HashMap<String, Vec<f32>>, name: &str, x: &Rows) -> Rows {
        let [q, k, v] = ["query", "key", "value"].map(|part| linear(weights, &format!("{name}.{part}"), x));
        let size = DIMS / HEADS;
        let mut out = vec![vec![0.0; DIMS]; x.len()];
        for head in 0..HEADS {
            let range = head * size..(head + 1) * size;
            for (at, out) in out.iter_mut().enumerate() {
                let score = |k: &Vec<f64>| -> f64 {
                    range.clone().map(|d| q[at][d] * k[d]).sum::<f64>() / (size as f64).sqrt()
                };
                let exps: Vec<f64> = k.iter().map(|k| score(k).exp()).collect();
                let total: f64 = exps.iter().sum();
                for d in range.clone() {
                    out[d] = exps.iter().zip(&v).map(|(e, v)| e / total * v[d]).sum();
                }
            }
        }
        out
    }

    /// Computes the integral of the normal distribution numerically.
    fn gelu(x: f64) -> f64 {
        let n = 2000;
        let step = x / f64::from(n);
        let bell = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let area: f64 = (0..n).map(|at| bell((f64::from(at) + 0.5) * step) * step).sum();
        x * (0.5 + area)
    }
}

fn assert_near(row: &[f32], expected: &[f64]) {
    let norm = expected.iter().map(|v| v * v).sum::<f64>().sqrt();
    for (value, expected) in row.iter().zip(expected) {
        assert!((f64::from(*value) - expected / norm).abs() < 1e-5, "{row:?} {expected:?}");
    }
}

#[test]
fn vectors_are_those_of_the_reference_implementation() {
    // [CLS] ring the bell ##s at noon [SEP], and [CLS] [UNK] gate [SEP].
    let texts = [("ring the bells at noon", vec![2, 4, 5, 6, 9, 7, 8, 3]), ("open gate", vec![2, 1, 10, 3])];
    for pooling in ["mean", "cls"] {
        let folder = model(pooling);
        let vectors = embed(folder.path(), &texts.each_ref().map(|(text, _)| *text));
        for ((_, ids), row) in texts.iter().zip(vectors.iter()) {
            let hidden = plain::hidden(&weights(), ids);
            let mean: Vec<f64> = (0..DIMS).map(|d| hidden.iter().map(|row| row[d]).sum::<f64>()).collect();
            assert_near(row, if pooling == "mean" { &mean } else { &hidden[0] });
        }
    }
}

#[test]
fn the_settings_of_the_model_decide_where_a_text_is_truncated() {
    let folder = model("mean");
    let long = "ring ".repeat(40);
    let n_tokens = |n: usize| Local::open(folder.path()).unwrap().tokens(&long).unwrap().len() == n;
    assert!(n_tokens(POSITIONS));
    write(folder.path(), "sentence_bert_config.json", &json!({"max_seq_length": 6, "do_lower_case": true}));
    assert!(n_tokens(6));
    write(folder.path(), "sentence_bert_config.json", &json!({"max_seq_length": 600}));
    assert!(n_tokens(POSITIONS));
}

#[test]
fn case_and_prompt_are_those_of_the_model() {
    let folder = model("mean");
    let plain = embed(folder.path(), &["the bell"]);
    assert_ne!(embed(folder.path(), &["THE Bell"]), plain);
    write(folder.path(), "sentence_bert_config.json", &json!({"do_lower_case": true}));
    assert_eq!(embed(folder.path(), &["THE Bell"]), plain);
    let prompts = json!({"prompts": {"query": "ring "}, "default_prompt_name": "query"});
    write(folder.path(), "config_sentence_transformers.json", &prompts);
    assert_eq!(Local::open(folder.path()).unwrap().tokens("the bell").unwrap(), [2, 4, 5, 6, 3]);
}

#[test]
fn an_encoder_with_positions_after_padding_differs_only_in_that() {
    let folder = model("mean");
    let plain = embed(folder.path(), &["ring the bell"]);
    let mut shifted = config();
    (shifted["model_type"], shifted["pad_token_id"]) = (json!("roberta"), json!(1));
    write(folder.path(), "config.json", &shifted);
    let mut weights = weights();
    weights.get_mut("embeddings.position_embeddings.weight").unwrap().rotate_right(2 * DIMS);
    save(folder.path(), &weights);
    assert_eq!(embed(folder.path(), &["ring the bell"]), plain);
    assert!(Local::open(folder.path()).unwrap().id().contains(&format!("-{}-", POSITIONS - 2)));
}

#[test]
fn the_id_depends_on_the_content_and_not_on_the_path() {
    let id = |folder: &Path| Local::open(folder).unwrap().id();
    let (a, b) = (model("mean"), model("mean"));
    assert_eq!(id(a.path()), id(b.path()));
    assert_ne!(id(a.path()), id(model("cls").path()));
    let lower = model("mean");
    write(lower.path(), "sentence_bert_config.json", &json!({"do_lower_case": true}));
    let prompted = model("mean");
    let prompts = json!({"prompts": {"query": "ring "}, "default_prompt_name": "query"});
    write(prompted.path(), "config_sentence_transformers.json", &prompts);
    assert!(id(lower.path()) != id(a.path()) && id(prompted.path()) != id(a.path()));
    let mut other = weights();
    other.get_mut("encoder.layer.0.output.dense.bias").unwrap()[0] += 0.5;
    save(b.path(), &other);
    assert_ne!(id(a.path()), id(b.path()));
}

#[test]
fn unsupported_settings_that_would_change_a_vector_are_refused() {
    type Change = fn(&Path);
    let changes: [(Change, &str); 7] = [
        (
            |at| write(at, "modules.json", &json!([module("", "Transformer"), module("2_Dense", "Dense")])),
            "module Dense",
        ),
        (|at| write(at, "modules.json", &json!([module("", "Transformer")])), "expected a pooling module"),
        (
            |at| write(at, "1_Pooling/config.json", &json!({"pooling_mode_max_tokens": true})),
            "pooling must be either mean or cls",
        ),
        (|at| write(at, "config.json", &json!({"model_type": "gpt2"})), "config.json"),
        (
            |at| {
                let mut other = config();
                other["model_type"] = json!("t5");
                write(at, "config.json", &other);
            },
            "model_type must be one of bert",
        ),
        (|at| std::fs::write(at.join(WEIGHTS), b"cut").unwrap(), "model.safetensors"),
        (|at| std::fs::remove_file(at.join(TOKENIZER)).unwrap(), "tokenizer.json"),
    ];
    for (change, expected) in changes {
        let folder = model("mean");
        change(folder.path());
        let message = Local::open(folder.path()).err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_folder_without_modules_is_an_encoder_with_mean_pooling() {
    let folder = model("mean");
    let plain = embed(folder.path(), &["ring"]);
    std::fs::remove_file(folder.path().join("modules.json")).unwrap();
    assert_eq!(embed(folder.path(), &["ring"]), plain);
}

#[test]
fn a_cancelled_run_stops() {
    let stopped = Local::open(model("mean").path()).unwrap().embed(&["ring"], &|| true);
    assert!(matches!(stopped, Err(EmbedError::Interrupted)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_row_has_the_same_bits_in_any_batch(
        texts in prop::collection::vec("((ring|the|bells|noon|gate|zoo) ?){0,9}", 1..90)
    ) {
        let folder = model("mean");
        let local = Local::open(folder.path()).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = local.embed(&texts, &|| false).unwrap();
        prop_assert_eq!(together.len(), texts.len());
        for (text, row) in texts.iter().zip(together.iter()) {
            let alone = local.embed(&[text], &|| false).unwrap();
            prop_assert_eq!(row, alone.get(0));
        }
    }
}
