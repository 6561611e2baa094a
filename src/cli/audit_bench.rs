//! The flags of `toolsieve audit` that say how a benchmark is read.

use crate::audit::benchmark::formats::format_named;
use crate::audit::benchmark::{BenchColumn, BenchColumns};
use crate::pipeline::Override;

/// Flags of the format of benchmarks.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// Format of the benchmarks: bfcl, toolbench, api-bank, seal-tools, nestful, tau-bench, columns, rows, or one of
    /// `toolsieve sets add` [default: recognised by its signs]
    #[arg(long, value_name = "NAME")]
    bench_format: Option<String>,

    /// Column of the benchmarks, as query=NAME, functions=NAME, calls=NAME or id=NAME, with dots into objects; needs
    /// --bench-format columns. May be repeated
    #[arg(long, value_name = "ROLE=NAME")]
    bench_column: Vec<BenchColumn>,
}

impl BenchArgs {
    /// Returns the settings of the stage that the flags stand for.
    pub(super) fn overrides(&self, stage: &str) -> anyhow::Result<Vec<Override>> {
        let is_columns = self.bench_format.as_deref() == Some("columns");
        if is_columns == self.bench_column.is_empty() {
            anyhow::bail!(
                "--bench-format columns and --bench-column belong together: found one without the other\nhint: --bench-format columns --bench-column query=prompt"
            );
        }
        let Some(name) = &self.bench_format else { return Ok(Vec::new()) };
        format_named(name)?;
        let over = |key: String, value: String| Override { id: stage.to_owned(), key, value };
        let mut overrides = vec![over("format".to_owned(), toml::Value::from(name.as_str()).to_string())];
        let columns: BenchColumns = self.bench_column.iter().cloned().collect();
        for (role, names) in columns.roles() {
            if !names.is_empty() {
                overrides.push(over(format!("columns.{role}"), toml::Value::from(names.clone()).to_string()));
            }
        }
        Ok(overrides)
    }
}
