#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --help of every verb and of the verbs behind it: at most 80 columns, with an example, on standard output, and with a line
# for each verb that is there. What `slipring help` and the page of exit codes say.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
seen=0

fail() {
    echo "$1"
    exit 1
}

# The verbs that a help lists: two spaces, a name, what it is.
verbs_of() {
    sed -n '/^$/q;p' <<< "${1#*$'\n\n'}" | sed -n 's/^  \([a-z-]\{2,\}\) .*/\1/p'
}

look() { # VERB...
    local said
    said=$("$tool" "$@" --help 2>&1) || fail "'$*' --help: exit code $?"
    [[ $said == "Usage: slipring ${*}"* ]] || fail "'$*' --help begins otherwise: ${said%%$'\n'*}"
    [[ $said == *$'\n\nExample:\n  slipring '* ]] || fail "'$*' --help has no example"
    awk -v verb="$*" 'length($0) > 80 { print verb " --help: " length($0) " columns: " $0; found = 1 } END { exit found }' <<< "$said"
    [[ $said != *$'\t'* ]] || fail "'$*' --help has a tab"
    [[ $("$tool" help "$@") == "$said" ]] || fail "'help $*' says something else"
    seen=$((seen + 1))
}

top=$("$tool" --help)
awk 'length($0) > 80 { print "--help: " $0; found = 1 } END { exit found }' <<< "$top"
[[ $("$tool" help) == "$top" && $("$tool" -h) == "$top" ]] || fail "'help' says something else"
[[ $("$tool" help exit-codes) == "Exit codes:"* && $top == *"$("$tool" help exit-codes)" ]] || fail 'exit codes'
[[ $("$tool" version) == "$("$tool" --version)" ]] || fail "'version' says something else"

for verb in $(verbs_of "$top"); do
    [[ $verb != help && $verb != version ]] || continue
    case $verb in
        kernel | cache | cluster | ops | state)
            look "$verb"
            for inner in $(verbs_of "$("$tool" "$verb" --help)"); do look "$verb" "$inner"; done
            ;;
        trace) look trace print ;;
        demo) for inner in ward beats; do look demo "$inner"; done ;;
        bench)
            look bench # `&&` would hide its failure
            look bench compare
            ;;
        *) look "$verb" ;;
    esac
done
((seen == 53)) || fail "$seen helps, not 52: is one not looked at?"

# The page of exit codes has those, and no other.
page=${SLIPRING_SOURCE_DIR:?run by ctest}/docs/contract/exit-codes.md
[[ $("$tool" help exit-codes | sed -n 's/^ *\([0-9]\{1,3\}\)  .*/\1/p' | tr '\n' ' ') == \
    "$(sed -n 's/^| \([0-9]*\) |.*/\1/p' "$page" | tr '\n' ' ')" ]] || fail "$page has other codes"

# The examples that take no time do what they say. What they write stays in a folder of this test.
here=$(mktemp -d)
trap 'rm -r "$here"' EXIT
ln -s "${SLIPRING_SOURCE_DIR:?run by ctest}/examples" "$here/examples"
cd "$here"
slipring() { "$tool" "$@"; }
export tool
export -f slipring
for verb in doctor devices run 'kernel list' 'kernel emit' 'kernel explain' 'kernel suggest' 'kernel fuse' 'kernel tile' 'kernel time' 'kernel run' 'cache ls' 'cluster split' 'cluster run' 'cluster reduce' 'cluster ring'; do
    read -r -a words <<< "$verb"
    example=$("$tool" "${words[@]}" --help | awk '/^$/ { inside = 0 } inside { print } /^Example:$/ { inside = 1 }')
    [[ $example == '  slipring '* ]] || fail "no example of $verb"
    bash -c "$example" > /dev/null || fail "the example of $verb ends with $?: $example"
done
echo "$seen helps"
