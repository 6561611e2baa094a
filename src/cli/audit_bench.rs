//! The flags of `callsieve audit` for reading a benchmark.

use crate::audit::benchmark::{BenchColumn, BenchColumns};

/// Flags of the format of benchmarks.
#[derive(Debug, clap::Args)]
pub(super) struct BenchArgs {
    /// Format of the benchmarks: bfcl, toolbench, api-bank, seal-tools, nestful, tau-bench, columns, rows, or one of
    /// `callsieve sets add` [default: recognised by its signs]
    #[arg(long, value_name = "NAME")]
    bench_format: Option<String>,

    /// Column of the benchmarks, as query=NAME, functions=NAME, calls=NAME or id=NAME, with dots into objects; needs
    /// --bench-format columns. May be repeated
    #[arg(long, value_name = "ROLE=NAME")]
    bench_column: Vec<BenchColumn>,
}

impl BenchArgs {
    /// Returns the name of the format, if one is given.
    pub(super) fn format(&self) -> Option<String> {
        self.bench_format.clone()
    }

    /// Returns the named columns.
    pub(super) fn columns(&self) -> BenchColumns {
        self.bench_column.iter().cloned().collect()
    }
}
