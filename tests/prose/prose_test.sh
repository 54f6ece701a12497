#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/check-prose.sh passes the repository's Markdown, and would report each kind of bad text: planted ones are.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
check=$source_dir/scripts/check-prose.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command -v python3 > /dev/null || { echo 'python3 is not installed'; exit 77; }

fail() {
    echo "$1"
    exit 1
}

words() { # COUNT: so many words
    local i
    for ((i = 0; i < $1; i++)); do printf 'word '; done
}

# expect FINDING TEXT: the text, as page.md (or as $as), is reported with these words; without FINDING it passes.
as=page.md
expect() {
    local status=0
    printf '%s\n' "$2" > "$folder/$as"
    "$check" "$folder/$as" > "$folder/said" || status=$?
    if [[ -z $1 ]]; then
        ((status == 0)) || fail "reported, and is fine: '$2': $(< "$folder/said")"
    elif ((status != 1)) || ! grep -qF "$1" "$folder/said"; then
        fail "ends with $status, without '$1': '$2': $(< "$folder/said")"
    fi
}

# Sentences.
expect '' "$(words 35)."
expect ':1: a sentence of 36 words' "$(words 36)."
expect ':2: a sentence of 36 words' "A short one.
$(words 36)"
expect ':1: a sentence of 40 words' "$(words 20)
$(words 20)."
expect '' "$(words 20). $(words 20)"
expect '' "- $(words 20)
- $(words 20)"
expect '' "$(words 20)

$(words 20)"
expect ':3: a sentence of 36 words' "| a | b |
|---|---|
| x | $(words 36) |"
expect '' "| $(words 20) | $(words 20) |"
expect '' "$(words 34) \`one two three four\`."
expect '' "\`\`\`
$(words 40)
\`\`\`"
expect '' "A text.

    $(words 40)"
expect 'a sentence of 40 words' "- item

  $(words 40)"

# Words that the glossary replaces, also over a line's end and as a part of a list.
expect 'page.md:1: "behind": say "after"' 'It comes behind the other.'
expect 'page.md:2: "Behind"' 'A text.
Behind it there is more.'
expect '"kernel that stays": say "persistent kernel"' 'A kernel
that stays.'
expect '"told"' '| a | b |
|---|---|
| x | is told |'
expect '"told"' '- It is told.'
expect '' "The untold \`behind\` is code, and so is \`it is
told\` over two lines."
expect '' "\`\`\`
it is told
\`\`\`"

# Links.
expect 'a link to gone.md, which is not there' 'See [this](gone.md#part).'
expect '' 'See [this](page.md#part), [that](https://example.org/gone.md) and [there](#part).'

# Comments of headers.
as=page.h
expect ':1: a sentence of 40 words' "/// $(words 20)
/// $(words 20)"
expect '' "/// $(words 20)
int x; ///< $(words 20)"
expect 'page.h:2: "told"' 'int behind;
int x; ///< what is told'
expect '' 'int told = behind;'

# One source: another glossary has other words, and one without words is refused.
as=page.md
printf -- '- **new**: a thing. Instead of "old thing",\n  "older".\n' > "$folder/glossary.md"
export PROSE_GLOSSARY=$folder/glossary.md
expect '' 'It comes behind.'
expect '"old thing": say "new"' 'An old thing.'
expect '"older": say "new"' 'An older one.'
echo 'no entries' > "$folder/glossary.md"
"$check" "$folder/page.md" 2> /dev/null && fail 'a glossary without words is taken'
unset PROSE_GLOSSARY

"$check"
