#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu-table.sh: writes what gpu-check saw, bench/results/*.json, as tables into docs/gpu.md. GPU_RESULTS: another folder;
# GPU_TABLE: another file, which has the two marks.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly results=${GPU_RESULTS:-bench/results} file=${GPU_TABLE:-docs/gpu.md}

# A row of `slipring bench` stands on a line of its own, as do a part's state and a call's; keys come in one order.
table() { # FILE
    awk '
    function text(key,   at) { # a string member of this line
        at = index($0, "\"" key "\": \"")
        if (at == 0) return ""
        at = substr($0, at + length(key) + 5)
        if (at ~ /^"/) return ""
        return substr(at, 1, match(at, /[^\\]"/))
    }
    function number(key,   at) {
        at = index($0, "\"" key "\": ")
        return at == 0 ? 0 : substr($0, at + length(key) + 4) + 0
    }
    function short(x) { return x >= 1e6 ? sprintf("%.1f M", x / 1e6) : x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
    /^{"device": "/ { printf "### %s\n\nBy %s at commit %s%s.\n", text("device"), text("version"), text("commit"),
                      /"small": true/ ? ": SIZES OF A TEST, NO FIGURES" : "" }
    /^"[a-z]*": {"ended": "/ { part = substr($1, 2, length($1) - 3)
                               parts = parts sprintf("| %s | %s | %d s | %s | %s |\n", substr($1, 2, length($1) - 3), text("ended"),
                               number("seconds"), text("commit"), text("said")) }
    /"passed": [0-9]*, "bounded": / { if (!(part in passed)) suite[++suites] = part # a part may be several processes
                                      passed[part] += number("passed"); bounded[part] += number("bounded")
                                      unsupported[part] += number("unsupported"); failed[part] += number("failed") }
    /^ *{"name": "/ { rows = rows sprintf("| `%s` | %s | %s | %s | %s | %s |\n", text("name"), text("stat"), short(number("value")),
                      number("floor") != 0 ? short(number("floor")) : "-", text("unit"),
                      number("ratio") != 0 ? sprintf("%.2f", number("ratio")) : "-") }
    /^ *{"call": "/ && /"through": "driver"/ && !/"ended": "(returned|absent)"/ { calls = calls sprintf("| %s | %s | %.0f ms |\n",
                      text("call"), text("ended"), number("ms")) }
    END {
        printf "\n| part | ended | took | commit | said |\n|---|---|---|---|---|\n%s", parts
        if (suites) printf "\nThe conformance suite, by part:\n\n"
        for (i = 1; i <= suites; i++) printf "- %s: %d passed, %d within their bounds, %d unsupported, %d failed\n", suite[i],
                                             passed[suite[i]], bounded[suite[i]], unsupported[suite[i]], failed[suite[i]]
        if (rows != "") printf "\n| row | stat | value | floor | unit | ratio |\n|---|---|---|---|---|---|\n%s", rows
        if (calls != "") printf "\nCalls of the driver that did not return while a persistent kernel ran:\n\n| call | ended | after |\n|---|---|---|\n%s", calls
    }' "$1"
}

made=$(mktemp)
trap 'rm -f "$made"' EXIT
found=0
sed '/<!-- gpu-table -->/q' "$file" > "$made"
for json in "$results"/*.json; do
    [[ -e $json ]] || continue
    ((found++ == 0)) || echo >> "$made"
    table "$json" >> "$made"
done
((found)) || echo 'No GPU was at hand yet: no figures.' >> "$made"
sed -n '/<!-- end of it -->/,$p' "$file" >> "$made"
cat "$made" > "$file"
echo "gpu-table: $found devices in $file"
