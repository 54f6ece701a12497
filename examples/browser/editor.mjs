// SPDX-License-Identifier: Apache-2.0
// The editor: the lines' numbers, those that have errors, and the list of them.

const $ = (id) => document.getElementById(id);
let wrong = new Set();

export function showLines() {
    const count = $("source").value.split("\n").length;
    $("lines").replaceChildren(...Array.from({ length: count }, (_, i) => {
        const line = document.createElement("span");
        line.textContent = i + 1;
        line.classList.toggle("wrong", wrong.has(i + 1));
        return line;
    }));
    $("lines").scrollTop = $("source").scrollTop;
}

export function goToLine(number) {
    const lines = $("source").value.split("\n"), begin = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
    const height = parseFloat(getComputedStyle($("source")).lineHeight);
    $("source").focus();
    $("source").setSelectionRange(begin, begin + lines[number - 1].length);
    $("source").scrollTop = Math.max(0, (number - 5) * height);
    $("source").scrollLeft = 0;
}

function itemOf({ file, line, column, code, level, message, advice }) {
    const item = document.createElement("li"), place = document.createElement("button");
    place.type = "button";
    place.textContent = column ? `${file}:${line}:${column}` : `${file}:${line}`;
    place.disabled = file !== "ward.cu";
    place.dataset.line = line;
    item.append(place, ` ${level ?? "error"}${code ? ` ${code}` : ""}: ${message}${advice ? ` (${advice})` : ""}`);
    return item;
}

/** What is to be said of the source, and of which lines. */
export function showVerdict(text, bad, findings) {
    wrong = new Set(findings.filter((one) => one.file === "ward.cu").map((one) => one.line));
    $("verdict").textContent = text;
    $("verdict").classList.toggle("bad", bad);
    $("findings").replaceChildren(...findings.map(itemOf));
    showLines();
}

$("source").addEventListener("input", showLines);
$("source").addEventListener("scroll", () => { $("lines").scrollTop = $("source").scrollTop; });
