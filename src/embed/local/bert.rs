//! The forward pass of a BERT encoder, on one thread at a time.
//!
//! After Devlin et al. (arXiv 1810.04805), with the layer order and the tensor names of the
//! `transformers` library; `RoBERTa` differs in where positions begin. All texts of a batch have
//! the same number of tokens, so there is no padding and no attention mask, and what stands
//! beside a text cannot reach it. No dropout, no gradients, no decoder.

use candle_core::{CpuStorage, CustomOp2, D, DType, Device, IndexOp as _, Layout, Result, Shape, Tensor};
use candle_nn::{Embedding, LayerNorm, Module as _, VarBuilder};
use serde::Deserialize;

/// What `config.json` says about the encoder.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) model_type: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    hidden_act: String,
    #[serde(default)]
    pad_token_id: u32,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

/// Encoders of this form, and whether their positions begin behind the one of the padding token.
const MODEL_TYPES: [(&str, bool); 3] = [("bert", false), ("roberta", true), ("xlm-roberta", true)];

/// What stands between the two halves of a feed-forward layer.
type Activation = fn(&Tensor) -> Result<Tensor>;

const ACTIVATIONS: [(&str, Activation); 4] = [
    ("gelu", Tensor::gelu_erf),
    ("gelu_new", Tensor::gelu),
    ("gelu_pytorch_tanh", Tensor::gelu),
    ("relu", Tensor::relu),
];

impl Config {
    /// Says what about the encoder is not known here.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
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

    /// Numbers in a vector.
    pub(super) fn n_dims(&self) -> usize {
        self.hidden_size
    }

    /// The most tokens a text may have.
    pub(super) fn max_tokens(&self) -> usize {
        self.max_position_embeddings.saturating_sub(self.first_position() as usize)
    }

    fn first_position(&self) -> u32 {
        let behind_padding = MODEL_TYPES.iter().any(|(name, behind)| *behind && *name == self.model_type);
        if behind_padding { self.pad_token_id + 1 } else { 0 }
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
    /// The embedding of the first and only segment.
    segment: Tensor,
    first_position: u32,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// Takes the weights out of the bytes of a safetensors file.
    pub(super) fn new(config: &Config, weights: Vec<u8>) -> Result<Self> {
        let root = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        // Files of models that were trained for something more have the encoder one level down.
        let below = MODEL_TYPES.iter().map(|(name, _)| name.replace("xlm-", ""));
        let root = below.map(|name| root.pp(name)).find(has_words).unwrap_or(root);
        let embeddings = root.pp("embeddings");
        let table = |rows, name: &str| embeddings.pp(name).get((rows, config.hidden_size), "weight");
        let embedding = |table| Embedding::new(table, config.hidden_size);
        let layer = |at: usize| Layer::new(config, &root.pp("encoder.layer").pp(at));
        Ok(Self {
            words: embedding(table(config.vocab_size, "word_embeddings")?),
            positions: embedding(table(config.max_position_embeddings, "position_embeddings")?),
            segment: table(config.type_vocab_size, "token_type_embeddings")?.i(0)?,
            first_position: config.first_position(),
            norm: norm(config, &embeddings.pp("LayerNorm"))?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_>>()?,
        })
    }

    /// The last hidden state of texts of equally many tokens: (texts, tokens, dimensions).
    pub(super) fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let (_, n_tokens) = ids.dims2()?;
        let end = self.first_position + u32::try_from(n_tokens).map_err(candle_core::Error::wrap)?;
        let positions = Tensor::arange(self.first_position, end, &Device::Cpu)?;
        let x = add(&self.words.forward(ids)?, &self.segment)?;
        let x = self.norm.forward(&add(&x, &self.positions.forward(&positions)?)?)?;
        self.layers.iter().try_fold(x, |x, layer| layer.forward(&x))
    }
}

fn has_words(root: &VarBuilder<'_>) -> bool {
    root.contains_tensor("embeddings.word_embeddings.weight")
}

/// Self-attention and a feed-forward layer, each with what came in added and normalised.
struct Layer {
    /// Query, key and value side by side.
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
    fn new(config: &Config, root: &VarBuilder<'_>) -> Result<Self> {
        let (n_dims, n_wide) = (config.hidden_size, config.intermediate_size);
        let own = ["query", "key", "value"].map(|name| root.pp("attention.self").pp(name));
        let weights: Vec<Tensor> =
            own.iter().map(|part| part.get((n_dims, n_dims), "weight")).collect::<Result<_>>()?;
        let biases: Vec<Tensor> = own.iter().map(|part| part.get(n_dims, "bias")).collect::<Result<_>>()?;
        Ok(Self {
            qkv: Linear { weight: Tensor::cat(&weights, 0)?, bias: Tensor::cat(&biases, 0)? },
            attended: linear(n_dims, n_dims, &root.pp("attention.output.dense"))?,
            attended_norm: norm(config, &root.pp("attention.output.LayerNorm"))?,
            wide: linear(n_dims, n_wide, &root.pp("intermediate.dense"))?,
            activation: config.activation(),
            narrow: linear(n_wide, n_dims, &root.pp("output.dense"))?,
            narrow_norm: norm(config, &root.pp("output.LayerNorm"))?,
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

/// A product with weights, and a bias.
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

/// The sum of a tensor and one that is repeated along its first dimensions.
fn add(x: &Tensor, repeated: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op2_no_bwd(&repeated.contiguous()?, &Add)
}

/// The sum on this thread. That of candle hands large tensors to a pool of its own, whose threads wait by spinning and
/// serve one caller at a time, while batches run on all threads here.
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

/// The numbers of a tensor that stands in one piece.
fn values<'a>(storage: &'a CpuStorage, at: &Layout) -> Result<&'a [f32]> {
    let (from, to) =
        at.contiguous_offsets().ok_or_else(|| candle_core::Error::Msg("in pieces".to_owned()))?;
    Ok(&storage.as_slice()?[from..to])
}

fn norm(config: &Config, root: &VarBuilder<'_>) -> Result<LayerNorm> {
    let n_dims = config.hidden_size;
    Ok(LayerNorm::new(root.get(n_dims, "weight")?, root.get(n_dims, "bias")?, config.layer_norm_eps))
}
