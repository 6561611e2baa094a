# What the checks are stands in `.ci/check`; these are short names for it and its parts.

# Lists the recipes.
default:
    @just --list

# Runs every check, in the order of what fails fastest.
ci:
    .ci/check

# Runs all tests.
test:
    cargo test --locked

# Runs the tests with every feature: local models, searches by graph, data frames.
test-all:
    cargo test --all-features --locked

# Formats the code.
fmt:
    cargo fmt

# Lints; every warning is an error.
lint:
    cargo clippy --all-targets --locked -- -D warnings
    cargo clippy --all-targets --all-features --locked -- -D warnings

# Builds the documentation; broken links are errors.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features --locked

# Checks licences, advisories and sources of the dependencies.
deny:
    cargo deny check

# Runs the live recipe on the sample log, with the answers people gave.
run *args:
    cargo run --release --locked -- run {{ args }}

# Changes the engine, or files of it, in small ways and lists the changes that no test notices: `just mutants verdict.rs`.
mutants *files:
    scripts/mutants.sh {{ files }}

# Makes the sample log in raw/ anew.
sample:
    python3 scripts/make_sample_log.py

# Builds the Python package in a virtual environment and runs its tests.
python:
    scripts/check_python.sh

# Makes the wheel of the Python package in dist/.
wheel:
    scripts/python_wheel.sh

# Builds the pages of docs/ as a book in target/book; needs mdbook.
book:
    mdbook build

# Writes the licences of all dependencies to dist/THIRD-PARTY.md, for those who hand on the program or the wheel.
licences:
    mkdir -p dist
    scripts/licences.py > dist/THIRD-PARTY.md
