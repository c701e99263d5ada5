#!/usr/bin/env bash
# Each adapter of traces by itself, for so many seconds, from the samples of the tests.
#
#     fuzz/adapters.sh [SECONDS] [FORMAT...]
#
# Needs cargo-fuzz. Without formats: all. Stops at the first finding; what it collects stays in fuzz/target/corpus/FORMAT.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-900}
shift || true
if [ $# = 0 ]; then
    # The names are those that `--format` takes.
    mapfile -t names < <(sed -n 's/^ *name: "\([a-z0-9-]*\)",$/\1/p' src/trace/formats/*.rs | LC_ALL=C sort -u)
    set -- "${names[@]}"
fi
cargo fuzz build --sanitizer none trace_adapters
for name in "$@"; do
    corpus=fuzz/target/corpus/$name
    mkdir -p "$corpus"
    echo "== $name"
    TRACE_FORMAT=$name cargo fuzz run --sanitizer none trace_adapters "$corpus" tests/traces/samples -- \
        -dict=fuzz/trace.dict -max_total_time="$seconds" -timeout=20 -print_final_stats=1 2>&1 |
        tee "$corpus.log" | grep -E "^Done|^stat::|panicked|ERROR|SUMMARY" || true
    if grep -qE "panicked|ERROR: libFuzzer" "$corpus.log"; then
        echo "a finding in $name: see $corpus.log and fuzz/artifacts" >&2
        exit 1
    fi
done
