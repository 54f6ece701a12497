#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of 'bench compare', laid out by a browser 1,200 pixels wide: each row's verdict can be seen without scrolling, and
# a row that one file lacks shows what the other has.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
command -v chromium > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

run() { # NAME, its value
    cat << END
{"bench": "latency", "device": "cpu", "description": "a machine", "rows": [
 {"name": "round_trip_of_a_message_to_another_core", "stat": "median", "value": $2, "unit": "ns", "floor": 1, "ratio": $2,
  "better": "less"},
 {"name": "figure_of_which_neither_is_better", "stat": "median", "value": 7, "unit": "ns", "floor": 1, "ratio": 7},
 {"name": "$1", "stat": "median", "value": 77, "unit": "ns", "floor": 1, "ratio": 77, "better": "less"}]}
END
}
run gone 2.5 > old.json
run kept 2.5 > between.json
run fresh 3.5 > new.json
"$tool" bench compare old.json between.json new.json --html page.html > /dev/null && exit 1
[[ $? == 1 ]]
cat >> page.html << 'END'
<script>
const right = document.querySelector("section").getBoundingClientRect().right;
for (const line of [...document.querySelectorAll("tr")].slice(1)) {
  const cell = line.querySelectorAll("td")[1], box = cell.getBoundingClientRect();
  document.body.append(document.createElement("br"), `seen: ${cell.textContent}, ` +
    `${box.right <= right && box.left >= 0}, ${line.children[2].textContent}, ${line.children[3].textContent};`);
}
</script>
END
# --no-sandbox: for root, as in a container
timeout 60 chromium --headless --no-sandbox --disable-gpu --window-size=1200,800 --user-data-dir="$folder/browser" \
    --dump-dom "file://$folder/page.html" > dom.html 2> browser.err || { cat browser.err; exit 1; }
for line in 'regressed, true, 2.500, 3.500' 'neither is better, true, 7.000, 7.000' 'missing, true, 77.00, ' \
    'new, true, , 77.00'; do
    grep -qF "seen: $line;" dom.html || { echo "the page has no row: $line"; grep -o 'seen: [^;]*;' dom.html; exit 1; }
done
