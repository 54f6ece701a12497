#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The layers are respected, and the check would say so if they were not: each planted violation is reported.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
check=$source_dir/scripts/check-layers.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A tree in which nothing is wrong.
plant_clean_tree() {
    rm -rf "${folder:?}/tree"
    mkdir -p "$folder"/tree/{include/slipring,src/base,src/ring,src/hal/cpu,tools/slipring}
    cd "$folder/tree"
    echo 'May include: public' > src/base/README.md
    echo 'May include: base, hal/cpu/worker.h' > src/ring/README.md
    echo 'May include: base' > src/hal/cpu/README.md
    echo '#include <stdint.h>' > include/slipring/status.h
    printf '#include <slipring/status.h>\n#include <unistd.h>\n' > src/base/status.h
    echo '#include "base/status.h"' > src/hal/cpu/worker.h
    echo '#include "worker.h"' > src/hal/cpu/pool.h
    printf '#include "base/status.h"\n#include "hal/cpu/worker.h"\n' > src/ring/ring.c
    echo '#include <slipring/status.h>' > tools/slipring/main.c
}

# expect_violation FILE LINE WORDS: the line, appended to the file, is reported with these words.
expect_violation() {
    plant_clean_tree
    mkdir -p "$(dirname "$1")"
    echo "$2" >> "$1"
    local said
    if said=$("$check" "$folder/tree"); then
        echo "not reported: $2 in $1"
        exit 1
    fi
    if [[ $said != *"${1%/*}"*"$3"* ]]; then
        echo "reported otherwise: $said"
        exit 1
    fi
}

plant_clean_tree
"$check" "$folder/tree" || { echo "the clean tree was refused"; exit 1; }
expect_violation src/base/clock.c '#include "ring/ring.c"' 'base may not include'
expect_violation src/ring/queue.c '#include "hal/cpu/pool.h"' 'ring may not include'
expect_violation src/ring/queue.c '#include <slipring/status.h>' 'ring may not include public'
expect_violation src/ring/queue.c '# include <pthread.h>' 'not ISO C'
expect_violation src/ring/queue.c '#include "../base/status.h"' 'from src/'
expect_violation src/ring/queue.c '#include "nowhere.h"' 'neither'
expect_violation src/hal/cpu/pool.h '#include "ring/ring.c"' 'a circle of includes'
expect_violation src/tune/tune.c '#include <stdint.h>' 'no README.md'
expect_violation include/slipring/ring.h '#include <sys/types.h>' 'ISO C only'
expect_violation tools/slipring/doctor.c '#include "base/status.h"' 'only public headers'
expect_violation src/ring/README.md "$(seq 60)" 'more than 60 lines'

"$check" "$source_dir"
