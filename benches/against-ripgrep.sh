#!/usr/bin/env bash
# CPU time of `trace-audit scan` against ripgrep with the same patterns and against a Python script, and of
# starting on a small trace.
#
#     benches/against-ripgrep.sh [MEGABYTES] [ROUNDS]
#
# Needs cargo, awk, python3, and ripgrep (`cargo install ripgrep --locked`, or the package of the system).
# PROGRAM=PATH measures a binary that is there already. Rounds alternate between the programs; medians of user +
# system time are compared, never absolute times of two machines. Two traces are measured: `plain` quotes sources
# that are not about leaks, `dense` quotes the rules themselves too, so that a fifth of its outputs names something
# that a rule looks for.
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=${1:-100}
rounds=${2:-5}
command -v rg >/dev/null || { echo "ripgrep is not installed: cargo install ripgrep --locked" >&2; exit 66; }
program=${PROGRAM:-}
if [ -z "$program" ]; then
    cargo build --release --quiet
    program=$PWD/target/release/trace-audit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
all=$(find src rules docs -name '*.rs' -o -name '*.toml' -o -name '*.md' | LC_ALL=C sort)
other=$(grep -v '^src/rules\|^rules\|^docs/rules\|^docs/attacks' <<< "$all")

# corpus NAME BYTES FILES...
corpus() {
    local name=$1 size=$2
    shift 2
    LC_ALL=C awk -v SIZE="$size" -f benches/corpus.awk "$@" > "$work/$name"
}
# Milliseconds of user + system time of a command; its exit code does not matter.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1 || true; } 2>&1 | awk '{ printf "%d\n", ($1 + $2) * 1000 }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
ours() { "$program" scan -q "$1"; }
theirs() { rg -j1 -ci --no-unicode -f "$work/patterns" "$1"; }
# A start is too short for one measurement.
twenty() { for _ in $(seq 20); do "$@"; done; }

"$program" rules list --patterns | LC_ALL=C grep -v '[^ -~]' > "$work/patterns"
echo "$(wc -l < "$work/patterns") patterns, $(rg --version | head -1), $megabytes MB, median of $rounds rounds"
# compare NAME FILES...
compare() {
    local name=$1 a b
    shift
    corpus large $((megabytes * 1000000)) "$@"
    corpus two 2000000 "$@"
    corpus small 400000 "$@"
    rm -f "$work"/*.ms
    for _ in $(seq "$rounds"); do
        cpu ours "$work/large" >> "$work/ours.ms"
        cpu theirs "$work/large" >> "$work/theirs.ms"
        cpu twenty ours "$work/small" >> "$work/ours20.ms"
        cpu twenty theirs "$work/small" >> "$work/theirs20.ms"
    done
    a=$(median < "$work/ours.ms")
    b=$(median < "$work/theirs.ms")
    echo "$name: scan $a ms of CPU, rg -j1 -ci $b ms, ratio $(ratio "$a" "$b")"
    a=$(($(median < "$work/ours20.ms") / 20))
    b=$(($(median < "$work/theirs20.ms") / 20))
    echo "$name: start on 400 KB $a ms, rg $b ms, ratio $(ratio "$a" "$b")"
    if command -v python3 >/dev/null; then
        a=$(cpu ours "$work/two")
        b=$(cpu python3 benches/baseline.py "$work/patterns" "$work/two")
        echo "$name: Python on 2 MB $b ms, scan $a ms, ratio $(ratio "$b" "$a")"
    fi
}
# shellcheck disable=SC2086
compare plain $other
# shellcheck disable=SC2086
compare dense $all
