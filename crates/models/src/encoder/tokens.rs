//! The tokenizer of a model folder: `tokenizer.json`, or the word pieces of `vocab.txt`.

use std::path::Path;

use serde::Deserialize;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::bert::BertProcessing;

use super::ModelError;
use super::files::{TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, bad, bytes, optional};

/// The settings of a tokenizer of word pieces.
#[derive(Deserialize)]
#[serde(default)]
struct PieceSettings {
    do_lower_case: bool,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: bool,
}

impl Default for PieceSettings {
    fn default() -> Self {
        Self { do_lower_case: true, strip_accents: None, tokenize_chinese_chars: true }
    }
}

/// Reads the tokenizer of a folder, without truncation and padding, and the bytes that define it.
pub(crate) fn read_tokenizer(folder: &Path) -> Result<(Tokenizer, Vec<u8>), ModelError> {
    let is_there = |name: &str| folder.join(name).exists();
    let (mut tokenizer, defined_by) = if is_there(TOKENIZER) || !is_there(VOCABULARY) {
        let read = bytes(folder, TOKENIZER)?;
        (Tokenizer::from_bytes(&read).map_err(|error| bad(&folder.join(TOKENIZER), error))?, read)
    } else {
        of_pieces(folder)?
    };
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| bad(&folder.join(TOKENIZER), error))?;
    Ok((tokenizer, defined_by))
}

/// Builds the tokenizer of BERT from a list of word pieces, one per line.
fn of_pieces(folder: &Path) -> Result<(Tokenizer, Vec<u8>), ModelError> {
    let refuse = |what: String| bad(&folder.join(VOCABULARY), what);
    let mut read = bytes(folder, VOCABULARY)?;
    let settings: PieceSettings = optional(folder, TOKENIZER_CONFIG)?.unwrap_or_default();
    let path = folder.join(VOCABULARY).to_string_lossy().into_owned();
    let model = WordPiece::from_file(&path).unk_token("[UNK]".to_owned()).build();
    let mut tokenizer = Tokenizer::new(model.map_err(|error| refuse(error.to_string()))?);
    let id = |piece: &str| {
        let id = tokenizer.token_to_id(piece).ok_or_else(|| refuse(format!("it has no {piece}")))?;
        Ok::<_, ModelError>((piece.to_owned(), id))
    };
    let (start, end) = (id("[CLS]")?, id("[SEP]")?);
    let PieceSettings { do_lower_case, strip_accents, tokenize_chinese_chars } = settings;
    let normalizer = BertNormalizer::new(true, tokenize_chinese_chars, strip_accents, do_lower_case);
    tokenizer.with_normalizer(Some(normalizer)).map_err(|error| refuse(error.to_string()))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer.with_post_processor(Some(BertProcessing::new(end, start)));
    read.push(u8::from(do_lower_case));
    read.push(strip_accents.map_or(2, u8::from));
    read.push(u8::from(tokenize_chinese_chars));
    Ok((tokenizer, read))
}
