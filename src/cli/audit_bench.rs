//! The flags of `toolsieve audit` that say how a benchmark is read.

use crate::audit::benchmark::formats::format_named;
use crate::audit::benchmark::{BenchColumn, BenchForm};

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
    /// Returns how benchmarks are read.
    pub(super) fn form(self) -> anyhow::Result<BenchForm> {
        let is_columns = self.bench_format.as_deref() == Some("columns");
        if is_columns == self.bench_column.is_empty() {
            anyhow::bail!(
                "--bench-format columns and --bench-column belong together: found one without the other\nhint: --bench-format columns --bench-column query=prompt"
            );
        }
        let format = self.bench_format.as_deref().map(format_named).transpose()?;
        Ok(BenchForm { format, columns: self.bench_column.into_iter().collect() })
    }
}
