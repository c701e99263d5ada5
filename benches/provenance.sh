#!/usr/bin/env bash
# CPU time and memory of an audit with a ground truth of many lines, against a scan of the same trace without one.
#
#     benches/provenance.sh [LINES] [MEGABYTES] [ROUNDS] [PROGRAM]
#
# Needs awk, GNU time, and cargo unless a program is named. Three traces: one that shows nothing of the ground truth, one
# that shows all of it once, one that shows it over and over (two thirds of that trace are its lines). The audit has no
# base and no run directory, so that only the trace is read; its patch is half of the ground truth.
set -euo pipefail
cd "$(dirname "$0")/.."
lines=${1:-135000}
megabytes=${2:-100}
rounds=${3:-3}
program=${4:-$PWD/target/release/trace-audit}
[ $# -ge 4 ] || cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Files of 300 lines, no two lines alike.
LC_ALL=C awk -v LINES="$lines" -v DIR="$work/src" 'BEGIN {
    split("gauge settle braid anchor ferry thresh kindle weave", verb); split("harbour lantern orchard quarry meadow sluice beacon", noun)
    system("mkdir -p " DIR)
    for (n = 0; n < LINES; n++) {
        if (n % 300 == 0) { if (file) close(file); file = sprintf("%s/tide_%04d.go", DIR, n / 300) }
        v = verb[n % 8 + 1]; w = noun[n % 7 + 1]
        if (n % 3 == 0) line = sprintf("\tif %sLimit%d(%s, %d) > book.%s {", v, n, w, n * 7 % 1009, w)
        else if (n % 3 == 1) line = sprintf("\t\t%s%d := %s.%sOf(book, %d)", w, n, w, v, n)
        else line = sprintf("\treturn fmt.Errorf(\"%s %d is over its %s: %%w\", err)", v, n, w)
        print line > file
    }
}' /dev/null
# One patch of new files: all of them, and every second one.
patch_of() {
    LC_ALL=C awk -v EVERY="$1" '
        function flush() {
            if (count && number++ % EVERY == 0)
                printf "diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n%s", path, path, path, count, body
            body = ""; count = 0
        }
        FNR == 1 { flush(); path = FILENAME; sub(/.*\//, "tide/", path) }
        { body = body "+" $0 "\n"; count++ }
        END { flush() }' "$work"/src/*.go
}
patch_of 1 > "$work/gt.patch"
patch_of 2 > "$work/own.patch"
sources=$(find src rules docs -name '*.rs' -o -name '*.toml' -o -name '*.md' | LC_ALL=C sort)
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=100000 -f benches/corpus.awk $sources > "$work/small.jsonl"
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=$((megabytes * 1000000)) -f benches/corpus.awk $sources > "$work/unrelated.jsonl"
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=$((megabytes * 1000000)) -f benches/corpus.awk $sources "$work"/src/*.go > "$work/showing.jsonl"
# shellcheck disable=SC2086
LC_ALL=C awk -v SIZE=$((megabytes * 1000000)) -v ONCE="$(find "$work/src" -type f | wc -l)" -f benches/corpus.awk \
    $sources "$work"/src/*.go > "$work/once.jsonl"

# Milliseconds of user + system time and peak KiB of a command; its exit code does not matter.
cost() {
    command time -f '%U %S %M' -o "$work/cost" "$@" >/dev/null 2>&1 || true
    awk 'END { printf "%d %d\n", ($(NF - 2) + $(NF - 1)) * 1000, $NF }' "$work/cost"
}
median() { sort -n | awk '{ v[NR] = $1; m = $2 > m ? $2 : m } END { printf "%d %d\n", v[int((NR + 1) / 2)], m }'; }
echo "ground truth $lines lines, $(wc -c < "$work/gt.patch") bytes; traces of $megabytes MB"
for trace in unrelated once showing; do
    for _ in $(seq "$rounds"); do
        cost "$program" scan -q "$work/$trace.jsonl" >> "$work/$trace.scan"
        cost "$program" audit -q --trace "$work/$trace.jsonl" --gt "$work/gt.patch" >> "$work/$trace.gt"
        cost "$program" audit -q --trace "$work/$trace.jsonl" --gt "$work/gt.patch" --patch "$work/own.patch" >> "$work/$trace.patch"
        cost "$program" audit -q --trace "$work/small.jsonl" --gt "$work/gt.patch" >> "$work/$trace.prepare"
        cost "$program" audit -q --trace "$work/small.jsonl" --gt "$work/gt.patch" --patch "$work/own.patch" >> "$work/$trace.both"
    done
    # shellcheck disable=SC2046
    set -- $(for what in scan gt patch prepare both; do median < "$work/$trace.$what"; done)
    awk -v t="$trace" -v s="$1" -v sm="$2" -v g="$3" -v gm="$4" -v p="$5" -v pm="$6" -v c="$7" -v b="$9" 'BEGIN {
        row = "%-10s %-17s %6d ms %4d MiB: %.2f times the scan, %.2f without what the same takes on 100 KB\n"
        printf row, t, "scan", s, sm / 1024, 1, 1
        printf row, t, "with GT", g, gm / 1024, g / s, (g - c) / s
        printf row, t, "with GT and patch", p, pm / 1024, p / s, (p - b) / s
    }'
done
