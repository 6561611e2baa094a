//! The forward pass of a BERT encoder, single-threaded.
//!
//! Follows Devlin et al. (arXiv 1810.04805), with the layer order and the tensor names of the
//! `transformers` library; `RoBERTa` differs in the first position, `DistilBERT` in the names and in that it has no
//! segments. All texts of a batch have the
//! same number of tokens, so there is no padding and no attention mask, and texts cannot affect
//! each other. Deliberately absent: dropout, gradients, decoders.

use candle_core::{CpuStorage, CustomOp2, D, DType, Device, IndexOp as _, Layout, Result, Shape, Tensor};
use candle_nn::{Embedding, LayerNorm, Module as _, VarBuilder};
use serde::Deserialize;

/// The encoder settings in `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    pub(crate) model_type: String,
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default = "distilbert_eps")]
    layer_norm_eps: f64,
    #[serde(alias = "activation")]
    hidden_act: String,
    #[serde(default)]
    pad_token_id: u32,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

/// The constant of `DistilBERT`, which is not in its settings.
fn distilbert_eps() -> f64 {
    1e-12
}

/// The supported encoders.
static MODEL_TYPES: [(&str, Family); 4] =
    [("bert", BERT), ("roberta", ROBERTA), ("xlm-roberta", ROBERTA), ("distilbert", DISTILBERT)];

/// How encoders differ.
struct Family {
    /// Positions start after the padding token.
    after_padding: bool,
    /// The level of the encoder in a model with a head.
    root: &'static str,
    names: &'static Names,
}

/// The names of tensors.
#[derive(Debug)]
struct Names {
    layers: &'static str,
    /// Query, key and value.
    qkv: [&'static str; 3],
    attended: &'static str,
    attended_norm: &'static str,
    wide: &'static str,
    narrow: &'static str,
    narrow_norm: &'static str,
}

const BERT: Family = Family { after_padding: false, root: "bert", names: &NAMES };
const ROBERTA: Family = Family { after_padding: true, root: "roberta", names: &NAMES };
const DISTILBERT: Family = Family { after_padding: false, root: "distilbert", names: &DISTILBERT_NAMES };

static NAMES: Names = Names {
    layers: "encoder.layer",
    qkv: ["attention.self.query", "attention.self.key", "attention.self.value"],
    attended: "attention.output.dense",
    attended_norm: "attention.output.LayerNorm",
    wide: "intermediate.dense",
    narrow: "output.dense",
    narrow_norm: "output.LayerNorm",
};

static DISTILBERT_NAMES: Names = Names {
    layers: "transformer.layer",
    qkv: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    attended: "attention.out_lin",
    attended_norm: "sa_layer_norm",
    wide: "ffn.lin1",
    narrow: "ffn.lin2",
    narrow_norm: "output_layer_norm",
};

/// The activation function between the two linear maps of a feed-forward layer.
type Activation = fn(&Tensor) -> Result<Tensor>;

const ACTIVATIONS: [(&str, Activation); 4] = [
    ("gelu", Tensor::gelu_erf),
    ("gelu_new", Tensor::gelu),
    ("gelu_pytorch_tanh", Tensor::gelu),
    ("relu", Tensor::relu),
];

impl Config {
    /// Checks that the encoder is supported; the error names the setting that is not.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        one_of("model_type", &self.model_type, &MODEL_TYPES)?;
        one_of("hidden_act", &self.hidden_act, &ACTIVATIONS)?;
        if let Some(kind) = self.position_embedding_type.as_deref().filter(|&kind| kind != "absolute") {
            return Err(format!("position_embedding_type must be absolute, not {kind}"));
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err("hidden_size must be a multiple of num_attention_heads".to_owned());
        }
        Ok(())
    }

    /// Returns the number of dimensions.
    pub(crate) fn n_dims(&self) -> usize {
        self.hidden_size
    }

    /// Returns the maximum number of tokens in a text.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_position_embeddings.saturating_sub(self.first_position() as usize)
    }

    fn first_position(&self) -> u32 {
        if self.family().after_padding { self.pad_token_id + 1 } else { 0 }
    }

    fn family(&self) -> &'static Family {
        let named = MODEL_TYPES.iter().find(|(name, _)| *name == self.model_type);
        named.map_or(&MODEL_TYPES[0].1, |(_, family)| family)
    }

    fn activation(&self) -> Activation {
        let named = ACTIVATIONS.iter().find(|(name, _)| *name == self.hidden_act);
        named.map_or(Tensor::gelu_erf, |(_, activation)| *activation)
    }
}

fn one_of<T>(key: &str, given: &str, table: &[(&str, T)]) -> std::result::Result<(), String> {
    if table.iter().any(|(name, _)| *name == given) {
        return Ok(());
    }
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    Err(format!("{key} must be one of {}, not {given}", names.join(", ")))
}

/// The weights of an encoder.
pub(super) struct Bert {
    words: Embedding,
    positions: Embedding,
    /// The embedding of the first and only segment, if the encoder has segments.
    segment: Option<Tensor>,
    first_position: u32,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// Reads the weights from the bytes of a safetensors file.
    pub(super) fn new(config: &Config, weights: Vec<u8>) -> Result<Self> {
        let root = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        // Models that were trained with an additional head have the encoder one level deeper.
        let below = MODEL_TYPES.iter().map(|(_, family)| root.pp(family.root));
        let root = below.into_iter().find(has_words).unwrap_or_else(|| root.clone());
        let names = config.family().names;
        let embeddings = root.pp("embeddings");
        let table = |rows, name: &str| embeddings.pp(name).get((rows, config.hidden_size), "weight");
        let embedding = |table| Embedding::new(table, config.hidden_size);
        let layer = |at: usize| Layer::new(config, names, &root.pp(names.layers).pp(at));
        let has_segments = config.type_vocab_size > 0;
        Ok(Self {
            words: embedding(table(config.vocab_size, "word_embeddings")?),
            positions: embedding(table(config.max_position_embeddings, "position_embeddings")?),
            segment: has_segments
                .then(|| table(config.type_vocab_size, "token_type_embeddings")?.i(0))
                .transpose()?,
            first_position: config.first_position(),
            norm: norm(config, &embeddings.pp("LayerNorm"))?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_>>()?,
        })
    }

    /// Returns the last hidden state of texts with the same number of tokens: (texts, tokens, dimensions).
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let (_, n_tokens) = ids.dims2()?;
        let end = self.first_position + u32::try_from(n_tokens).map_err(candle_core::Error::wrap)?;
        let positions = Tensor::arange(self.first_position, end, &Device::Cpu)?;
        let x = self.words.forward(ids)?;
        let x = match &self.segment {
            Some(segment) => add(&x, segment)?,
            None => x,
        };
        let x = self.norm.forward(&add(&x, &self.positions.forward(&positions)?)?)?;
        self.layers.iter().try_fold(x, |x, layer| layer.forward(&x))
    }
}

fn has_words(root: &VarBuilder<'_>) -> bool {
    root.contains_tensor("embeddings.word_embeddings.weight")
}

/// Self-attention and a feed-forward layer, each with a residual connection and layer normalisation.
struct Layer {
    /// Query, key and value, concatenated.
    qkv: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    activation: Activation,
    narrow: Linear,
    narrow_norm: LayerNorm,
    n_heads: usize,
}

impl Layer {
    fn new(config: &Config, names: &Names, root: &VarBuilder<'_>) -> Result<Self> {
        let (n_dims, n_wide) = (config.hidden_size, config.intermediate_size);
        let own = names.qkv.map(|name| root.pp(name));
        let weights: Vec<Tensor> =
            own.iter().map(|part| part.get((n_dims, n_dims), "weight")).collect::<Result<_>>()?;
        let biases: Vec<Tensor> = own.iter().map(|part| part.get(n_dims, "bias")).collect::<Result<_>>()?;
        Ok(Self {
            qkv: Linear { weight: Tensor::cat(&weights, 0)?, bias: Tensor::cat(&biases, 0)? },
            attended: linear(n_dims, n_dims, &root.pp(names.attended))?,
            attended_norm: norm(config, &root.pp(names.attended_norm))?,
            wide: linear(n_dims, n_wide, &root.pp(names.wide))?,
            activation: config.activation(),
            narrow: linear(n_wide, n_dims, &root.pp(names.narrow))?,
            narrow_norm: norm(config, &root.pp(names.narrow_norm))?,
            n_heads: config.num_attention_heads,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let attended = self.attended.forward(&self.attention(x)?)?;
        let x = self.attended_norm.forward(&add(&attended, x)?)?;
        let wide = (self.activation)(&self.wide.forward(&x)?)?;
        self.narrow_norm.forward(&add(&self.narrow.forward(&wide)?, &x)?)
    }

    fn attention(&self, x: &Tensor) -> Result<Tensor> {
        let (n_texts, n_tokens, n_dims) = x.dims3()?;
        let head_dims = n_dims / self.n_heads;
        // (texts, tokens, 3, heads, head) to (3, texts, heads, tokens, head).
        let qkv = self.qkv.forward(x)?.reshape((n_texts, n_tokens, 3, self.n_heads, head_dims))?;
        let qkv = qkv.permute((2, 0, 3, 1, 4))?.contiguous()?;
        let (q, k, v) = (qkv.i(0)?, qkv.i(1)?, qkv.i(2)?);
        #[expect(clippy::cast_precision_loss, reason = "the dimensions of a head are few")]
        let scale = 1.0 / (head_dims as f64).sqrt();
        let scores = (q.matmul(&k.transpose(D::Minus2, D::Minus1)?)? * scale)?;
        let attended = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&v)?;
        attended.transpose(1, 2)?.contiguous()?.reshape((n_texts, n_tokens, n_dims))
    }
}

/// A linear map with weights and a bias.
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        add(&candle_nn::Linear::new(self.weight.clone(), None).forward(x)?, &self.bias)
    }
}

fn linear(n_in: usize, n_out: usize, root: &VarBuilder<'_>) -> Result<Linear> {
    Ok(Linear { weight: root.get((n_out, n_in), "weight")?, bias: root.get(n_out, "bias")? })
}

/// Adds a tensor that is repeated along the first dimensions of the other.
fn add(x: &Tensor, repeated: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op2_no_bwd(&repeated.contiguous()?, &Add)
}

/// Addition on the current thread. The addition of candle passes large tensors to its own thread pool, whose threads
/// spin and serve one caller at a time, but here batches already run on all threads.
struct Add;

impl CustomOp2 for Add {
    fn name(&self) -> &'static str {
        "add-repeated"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        at: &Layout,
        y: &CpuStorage,
        y_at: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (mut sums, y) = (values(x, at)?.to_vec(), values(y, y_at)?);
        for sums in sums.chunks_exact_mut(y.len().max(1)) {
            sums.iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
        }
        Ok((CpuStorage::F32(sums), at.shape().clone()))
    }
}

/// Returns the numbers of a contiguous tensor.
fn values<'a>(storage: &'a CpuStorage, at: &Layout) -> Result<&'a [f32]> {
    let (from, to) = at
        .contiguous_offsets()
        .ok_or_else(|| candle_core::Error::Msg("the tensor is not contiguous".to_owned()))?;
    Ok(&storage.as_slice()?[from..to])
}

fn norm(config: &Config, root: &VarBuilder<'_>) -> Result<LayerNorm> {
    let n_dims = config.hidden_size;
    Ok(LayerNorm::new(root.get(n_dims, "weight")?, root.get(n_dims, "bias")?, config.layer_norm_eps))
}
