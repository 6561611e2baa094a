#!/bin/sh
# Changes the engine in small ways and lists the changes that no test of the engine notices.
#
#   scripts/mutants.sh                        all of src/engine: hours
#   scripts/mutants.sh verdict.rs cascade.rs  some files of it
#
# MUTANTS_TESTS holds arguments of the test program, such as "--skip engine::foreign" to skip tests of other files.
# Needs cargo-mutants (`cargo install cargo-mutants --locked`). The mutated package contains only the engine and is
# created in target/mutants; the results are in target/mutants/mutants.out. Only tests in src/engine run.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
package=$target/mutants/package

# Updated in place, so that compiled results of unchanged files are reused.
mkdir -p "$package/src/text" "$package/tests"
cp Cargo.lock "$package/"
# All of the dependencies with their features, so that they are compiled as for the program; no benches and tests.
sed '/^\[\[/,/^$/d' Cargo.toml >"$package/Cargo.toml"
rm -rf "$package/src/engine"
cp -R src/engine "$package/src/engine"
cp mutants/lib.rs "$package/src/lib.rs"
cp src/columns.rs src/content_hash.rs src/fixture.rs src/side_file.rs "$package/src/"
for module in figures normal os_error profile suggestion tokens visible words; do
    cp "src/text/$module.rs" "$package/src/text/"
done
# Files that tests read.
rm -rf "$package/tests/parquet"
cp -R tests/parquet "$package/tests/parquet"

files=
for file in "$@"; do
    files="$files --file src/engine/$file"
done
# shellcheck disable=SC2086 # One argument a word.
exec cargo mutants --dir "$package" --in-place --output "$target/mutants" --no-shuffle \
    ${files:---file 'src/engine/**/*.rs'} \
    --minimum-test-timeout 60 --cargo-arg=--locked --cargo-arg=--offline -- --lib -- ${MUTANTS_TESTS:-}
