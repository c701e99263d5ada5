#!/usr/bin/env bash
# CPU time of `trace-audit scan` against ripgrep with the same patterns, and of starting on a small trace.
#
#     benches/against-ripgrep.sh [MEGABYTES] [ROUNDS]
#
# Needs cargo, awk, and ripgrep (`cargo install ripgrep --locked`, or the package of the system). Rounds alternate
# between the two programs; medians of user + system time are compared, never absolute times of two machines.
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=${1:-100}
rounds=${2:-5}
command -v rg >/dev/null || { echo "ripgrep is not installed: cargo install ripgrep --locked" >&2; exit 66; }
cargo build --release --quiet
program=$PWD/target/release/trace-audit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(find src rules docs -name '*.rs' -o -name '*.toml' -o -name '*.md' | LC_ALL=C sort)
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=$((megabytes * 1000000)) -f benches/corpus.awk $sources > "$work/large.jsonl"
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=400000 -f benches/corpus.awk $sources > "$work/small.jsonl"
"$program" rules list --patterns | LC_ALL=C grep -v '[^ -~]' > "$work/patterns"

# Milliseconds of user + system time of a command; its exit code does not matter.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1 || true; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1000 }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for _ in $(seq "$rounds"); do
    cpu "$program" scan -q "$work/large.jsonl" >> "$work/ours"
    cpu rg -j1 -ci --no-unicode -f "$work/patterns" "$work/large.jsonl" >> "$work/theirs"
done
# A start is too short for one measurement.
start() { for _ in $(seq 20); do "$program" scan -q "$work/small.jsonl"; done; }
for _ in $(seq "$rounds"); do
    echo $(( $(cpu start) / 20 )) >> "$work/start"
done
ours=$(median < "$work/ours")
theirs=$(median < "$work/theirs")
echo "patterns            $(wc -l < "$work/patterns")"
echo "trace               $megabytes MB"
echo "trace-audit scan    $ours ms of CPU"
echo "rg -j1 -ci          $theirs ms of CPU ($(rg --version | head -1))"
awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "ratio               %.2f\n", a / b }'
echo "start on 400 KB     $(median < "$work/start") ms of CPU"
