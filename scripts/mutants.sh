#!/bin/sh
# Changes the engine in small ways and lists the changes that no test of the engine notices.
#
#   scripts/mutants.sh                        all of crates/engine: hours
#   scripts/mutants.sh verdict.rs cascade.rs  some files of it
#
# MUTANTS_TESTS holds arguments of the test program, such as "--skip foreign" to skip tests of other files.
# Needs cargo-mutants (`cargo install cargo-mutants --locked`). The results are in target/mutants/mutants.out. Only the
# tests of the engine run.
set -eu

cd "$(dirname "$0")/.."
files=
for file in "$@"; do
    files="$files --file crates/engine/src/$file"
done
# shellcheck disable=SC2086 # One argument a word.
exec cargo mutants --package callsieve-engine --output "${CARGO_TARGET_DIR:-target}/mutants" --no-shuffle $files \
    --minimum-test-timeout 60 --cargo-arg=--locked --cargo-arg=--offline -- --lib -- ${MUTANTS_TESTS:-}
