# The steps of .ci/run, one by one; `just gate` is all of them. A test holds these commands to that script.

binaries := env("CARGO_TARGET_DIR", "target") / "release-archive/bin"
said := justfile_directory() / "target/said"
archive := env("CARGO_TARGET_DIR", "target") / "release-archive/daybook-linux-x64.tar.gz"

# list the recipes
default:
    @just --list

# everything that has to hold before a change lands
gate:
    .ci/run

# all tests
test:
    cargo test --workspace

# the examples of diagnostics are what programs say in the tests
examples:
    rm -rf {{ said }}
    DAYBOOK_SAID={{ said }} cargo test --workspace
    cargo run --quiet -p daybook-testkit --example check_examples {{ said }}

# formatting
format:
    cargo fmt --all --check

# lints
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# the fuzz targets compile
fuzz:
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/fuzz cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --all-targets

# licences, sources and the list of dependencies
deny:
    cargo deny check bans licenses sources

# the sample workflow on this machine
dry-run:
    cargo run --release -- dry-run workflows/triage.md

# a static release for this machine, and the dry run with it
release:
    scripts/static.sh linux-x64 {{ parent_directory(archive) }}
    mkdir -p {{ binaries }}
    tar -xzf {{ archive }} -C {{ binaries }}

# compiled workflows are what their sources compile to, and keep to the privilege table
compiled: release
    {{ binaries }}/daybook compile testdata/ok --check --format human
    {{ binaries }}/daybook compile testdata/ok-source --check --format human
    {{ binaries }}/daybook audit testdata/ok/*.yml testdata/ok-source/*.yml --format human

# compiled workflows in zizmor, actionlint and GitHub's own parser
lint-workflows:
    scripts/lint-workflows.sh testdata/ok/*.yml testdata/ok-source/*.yml workflows/*.yml .github/workflows/*.yml

# the tutorial, typed line by line
tutorial: release
    scripts/tutorial.sh {{ binaries }}

# a compiled workflow, run by act
act: release
    scripts/act.sh {{ binaries }}

# the action in workflows that nobody compiled
action: release
    scripts/action.sh {{ archive }}

# real MCP clients
clients: release
    scripts/clients.sh {{ binaries }}/daybook --bin-dir {{ binaries }}

# the report page in headless Chromium
report: release
    scripts/report.sh {{ binaries }}/daybook

# the engines of agents, up to the model
engines:
    scripts/engines.sh

# take checks out, one at a time: does a test notice?
mutations:
    scripts/mutations.py

# measure against yardsticks
bench *PARTS:
    scripts/bench {{ PARTS }}
