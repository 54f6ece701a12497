#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-prose.sh [FILE...]: is the text plain? Reads Markdown files (*.md) and the comments of C headers (*.h, lines of
# `///` and `//`); without arguments all Markdown files of the repository and the public headers. Reports
#   - sentences of more than 35 words;
#   - words that docs/glossary.md replaces: the quoted words after "Instead of" in its entries. PROSE_GLOSSARY names another;
#   - links of Markdown files to files that are not there.
# Code does not count: fenced and indented blocks, and `code`, which is one word. Each cell of a table is a text of its own.
# Text between <!-- generated --> and <!-- end of it --> is not read, nor are the glossary's own words.
# Prints FILE:LINE for each finding and exits with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v python3 > /dev/null || { echo 'check-prose.sh: python3 is not installed (Debian: python3)' >&2; exit 2; }
(($#)) || mapfile -t files < <(find . -name '*.md' -not -path './build*' -not -path './.*' | sort | sed 's,^\./,,'; ls include/slipring/*.h)
exec python3 - "${PROSE_GLOSSARY:-docs/glossary.md}" "${@:-${files[@]}}" << 'PYTHON'
import os, re, sys

LONGEST = 35
glossary, *paths = sys.argv[1:]


def replaced_words():
    """(pattern, old, new) for each quoted word after "Instead of" in the glossary."""
    entries = []
    for block in re.split(r"\n(?=- \*\*)", open(glossary, encoding="utf-8").read()):
        name = re.match(r"- \*\*(.+?)\*\*", block)
        old = re.search(r"Instead of (.*)", block, re.S)
        if name and old:
            for word in re.findall(r'"([^"]+)"', old.group(1)):
                word = " ".join(word.split())
                pattern = r"(?<![\w-])" + r"[\s-]+".join(map(re.escape, word.split())) + r"(?![\w-])"
                entries.append((re.compile(pattern, re.I), word, name.group(1)))
    if not entries:
        sys.exit(f"check-prose.sh: {glossary} replaces no word")
    return entries


def texts_of_markdown(lines):
    """Lists of (line number, text): paragraphs, items of lists, headings, cells of tables."""
    block, fence, generated, in_list, blank = [], None, False, False, True
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if fence or generated:
            if fence and stripped.startswith(fence):
                fence = None
            generated = generated and "<!-- end of it -->" not in line
            continue
        if re.match(r"<!-- (generated|slipring-cts|gpu-table)", stripped):
            generated = True
        begins = re.match(r"(```+|~~~+)", stripped)
        if begins:
            fence = begins.group(1)
        item = re.match(r"\s*([-*+]|\d+\.)\s+(.*)", line)
        indented = blank and re.match(r"(    |\t)", line) and not in_list
        if generated or begins or not stripped or indented or item or stripped[0] in "#|<":
            if block:
                yield block
            block = []
        blank = not stripped or bool(indented)
        if generated or begins or not stripped or indented or stripped.startswith("<"):
            continue
        if stripped.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                yield [(number, cell)]
        elif stripped.startswith("#"):
            in_list = False
            yield [(number, stripped.lstrip("# "))]
        elif item:
            in_list = True
            block = [(number, item.group(2))]
        else:
            in_list = in_list and (bool(block) or line[0] == " ")
            block.append((number, stripped))
    if block:
        yield block


def texts_of_header(lines):
    """Lists of (line number, text): runs of lines of comment. A comment beside code begins one, and so does a
    line that explains a quoted word. A list of errors is a sentence for each."""
    block, column = [], None
    for number, line in enumerate(lines, 1):
        comment = re.search(r"(^|\s)//[/!]?<?(?=\s|$)\s*(.*)", line)
        begins = comment and (line[: comment.start()].strip() or re.match(r"[\"`]\S+[\"`]  +", comment.group(2)))
        if not comment or not comment.group(2) or begins or (column is not None and comment.start(2) != column):
            if block:
                yield block
            block, column = [], None
        if comment and comment.group(2) and "SPDX-" not in line:
            column = comment.start(2)
            block.append((number, comment.group(2)))
    if block:
        yield block


def sentences(block):
    """(line number, words) of each sentence."""
    words, first = [], None
    text = [(number, word) for number, part in block for word in part.split()]
    for at, (number, word) in enumerate(text):
        if not words:
            first = number
        words.append(word)
        of_errors = word[-1] in ",;" and at + 1 < len(text) and re.match(r"[A-Z_]{4,}\W*$", text[at + 1][1])
        if of_errors or re.search(r"[.?!:][)\"'*_]*$", word) and not re.search(r"(e\.g|i\.e|cf|vs|etc)\.$", word):
            yield first, words
            words = []
    if words:
        yield first, words


def without_code(lines):
    """`code` becomes one word, also where it goes over a line's end; the target of a link goes, its text stays."""
    text = "\n".join(lines)
    fences = re.compile(r"^[ ]*(```|~~~).*?^[ ]*\1[^\n]*$", re.S | re.M)
    keep = [match.span() for match in fences.finditer(text)]

    def code(match):
        if any(begin <= match.start() < end for begin, end in keep):
            return match.group(0)
        return "CODE" + "\n" * match.group(0).count("\n")

    text = re.sub(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n)[^`])+?)\1(?!`)", code, text)
    return re.sub(r"\]\([^)\s]*\)", "]", text).split("\n")


def broken_links(path, lines):
    """(line number, target) of each link to a file that is not there."""
    for number, line in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", line)):
            if not os.path.exists(os.path.join(os.path.dirname(path), target)):
                yield number, target


entries, findings = replaced_words(), 0
for path in paths:
    source = open(path, encoding="utf-8").read().split("\n")
    for number, target in broken_links(path, source) if path.endswith(".md") else ():
        print(f"{path}:{number}: a link to {target}, which is not there")
        findings += 1
    lines = without_code(source)
    texts = texts_of_header if path.endswith((".h", ".c")) else texts_of_markdown
    for block in texts(lines):
        for number, words in sentences(block):
            count = sum(1 for word in words if re.search(r"\w", word))
            if count > LONGEST:
                print(f"{path}:{number}: a sentence of {count} words (at most {LONGEST}): {' '.join(words[:8])} ...")
                findings += 1
        if os.path.samefile(path, glossary):
            continue
        whole, places = "", []
        for number, part in block:
            places.append((len(whole), number))
            whole += part.strip() + " "
        for pattern, old, new in entries:
            for match in pattern.finditer(whole):
                number = max(at for at in places if at[0] <= match.start())[1]
                print(f'{path}:{number}: "{match.group(0)}": say "{new}" (docs/glossary.md)')
                findings += 1
sys.exit(1 if findings else 0)
PYTHON
