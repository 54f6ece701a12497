#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Structures and numbers of src/hal/webgpu/api.h are those of the library's own headers: one program, compiled with each,
# prints the same. Skipped where SLIPRING_WEBGPU_PYTHON (scripts/webgpu.sh) is missing.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
headers=${SLIPRING_WEBGPU_PYTHON-}/wgpu/resources
[[ -e $headers/webgpu.h ]] || { echo 'skipped: SLIPRING_WEBGPU_PYTHON does not say where wgpu is'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
api=$source_dir/src/hal/webgpu/api.h

# A line for each structure, each of its members and each number of api.h.
{
    echo '#include <stdio.h>'
    echo '#include <stddef.h>'
    echo 'int main(void) {'
    awk '/^typedef struct WGPU[A-Za-z]* \{/ { name = $3; print "printf(\"" name " %zu\\n\", sizeof(" name "));"; inside = 1; next }
         inside && /^\}/ { inside = 0 }
         inside { line = $0; sub(/\/\/.*/, "", line); text = text line
                  if (line !~ /;/) next
                  gsub(/[*;]/, " ", text); sub(/^ *(const )?(struct )?[A-Za-z0-9_]+ /, "", text); count = split(text, member, ",")
                  for (i = 1; i <= count; i++) { gsub(/ /, "", member[i])
                      print "printf(\"" name "." member[i] " %zu\\n\", offsetof(" name ", " member[i] "));" }
                  text = "" }
         /^    WGPU[A-Za-z0-9]*_[A-Za-z0-9_]* =/ { print "printf(\"" $1 " %lld\\n\", (long long)" $1 ");" }' "$api"
    echo 'return 0; }'
} > "$folder/body.c"
(($(wc -l < "$folder/body.c") > 200)) || { echo 'api.h was not read'; exit 1; }

compile() { # NAME INCLUDES...
    local name=$1
    shift
    { printf '#include %s\n' "$@"; cat "$folder/body.c"; } > "$folder/$name.c"
    ${CC:-cc} -std=c17 -I"$source_dir/src" -I"$source_dir/include" -I"$headers" -o "$folder/$name" "$folder/$name.c"
    "$folder/$name" > "$folder/$name.out"
}
compile ours '"hal/webgpu/api.h"'
compile theirs '"webgpu.h"' '"wgpu.h"'
diff "$folder/ours.out" "$folder/theirs.out" || { echo 'api.h differs from the library'; exit 1; }

# A member of another length is seen.
mkdir -p "$folder/hal/webgpu"
sed 's/^    uint64_t offset, size;/    uint32_t offset, size;/' "$api" > "$folder/hal/webgpu/api.h"
if cmp -s "$api" "$folder/hal/webgpu/api.h"; then echo 'api.h has no such member any more'; exit 1; fi
compile wrong '"'"$folder"'/hal/webgpu/api.h"'
if cmp -s "$folder/wrong.out" "$folder/theirs.out"; then echo 'another length is not seen'; exit 1; fi
