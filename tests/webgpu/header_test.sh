#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Structures and numbers of src/hal/webgpu/api.h and dawn.h are those of the libraries' own headers: one program, compiled with
# each, prints the same. Skipped where SLIPRING_WEBGPU_PYTHON (scripts/webgpu.sh) is missing.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
headers=${SLIPRING_WEBGPU_PYTHON-}/wgpu/resources
[[ -e $headers/webgpu.h ]] || { echo 'skipped: SLIPRING_WEBGPU_PYTHON does not say where wgpu is'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dawn=${SLIPRING_WEBGPU_PYTHON-}/wgpudawn/_lib
api=$source_dir/src/hal/webgpu/api.h

# A line for each structure, each of its members and each number of a header.
body_of() { # HEADER...
    echo '#include <stdio.h>'
    echo '#include <stddef.h>'
    echo 'int main(void) {'
    awk '/^typedef struct WGPU[A-Za-z]* \{/ { name = $3; print "printf(\"" name " %zu\\n\", sizeof(" name "));"; inside = 1; next }
         inside && /^\}/ { inside = 0 }
         inside { line = $0; sub(/\/\/.*/, "", line); text = text line
                  if (line !~ /;/) next
                  gsub(/\*(const )?/, " ", text); gsub(/;/, " ", text)
                  sub(/^ *(const )?(struct )?[A-Za-z0-9_]+ /, "", text); count = split(text, member, ",")
                  for (i = 1; i <= count; i++) { gsub(/ /, "", member[i])
                      print "printf(\"" name "." member[i] " %zu\\n\", offsetof(" name ", " member[i] "));" }
                  text = "" }
         /^    WGPU[A-Za-z0-9]*_[A-Za-z0-9_]* =/ { print "printf(\"" $1 " %lld\\n\", (long long)" $1 ");" }' "$@"
    echo 'return 0; }'
}
body_of "$api" > "$folder/native.c"
body_of "$api" "$source_dir/src/hal/webgpu/dawn.h" > "$folder/dawn.c"
(($(wc -l < "$folder/native.c") > 200)) || { echo 'api.h was not read'; exit 1; }
(($(wc -l < "$folder/dawn.c") > $(wc -l < "$folder/native.c") + 20)) || { echo 'dawn.h was not read'; exit 1; }

compile() { # NAME BODY INCLUDES...
    local name=$1 body=$2
    shift 2
    { printf '#include %s\n' "$@"; cat "$folder/$body.c"; } > "$folder/$name-of.c"
    ${CC:-cc} -std=c17 -I"$source_dir/src" -I"$source_dir/include" -I"$headers" -I"$folder" -o "$folder/$name" "$folder/$name-of.c"
    "$folder/$name" > "$folder/$name.out"
}
compile ours native '"hal/webgpu/api.h"'
compile theirs native '"webgpu.h"' '"wgpu.h"'
diff "$folder/ours.out" "$folder/theirs.out" || { echo 'api.h differs from the library'; exit 1; }

# wgpudawn has Dawn's header as cffi takes it: in two files, with lines that are not C.
if [[ -e $dawn/webgpu_cdef.h ]]; then
    { printf '#include <stddef.h>\n#include <stdint.h>\n'
      sed -E '/^#define|^extern "Python"/d' "$dawn/webgpu_cdef.h" "$dawn/webgpu_native_extra_cdef.h"; } > "$folder/dawns.h"
    compile our_dawn dawn '"hal/webgpu/dawn.h"'
    compile their_dawn dawn '"dawns.h"'
    diff "$folder/our_dawn.out" "$folder/their_dawn.out" || { echo "api.h or dawn.h differs from Dawn's header"; exit 1; }
fi

# A member of another length is seen.
mkdir -p "$folder/hal/webgpu"
sed 's/^    uint64_t offset, size;/    uint32_t offset, size;/' "$api" > "$folder/hal/webgpu/api.h"
if cmp -s "$api" "$folder/hal/webgpu/api.h"; then echo 'api.h has no such member any more'; exit 1; fi
compile wrong native '"'"$folder"'/hal/webgpu/api.h"'
if cmp -s "$folder/wrong.out" "$folder/theirs.out"; then echo 'another length is not seen'; exit 1; fi
