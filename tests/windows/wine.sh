#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wine.sh PROGRAM ARGUMENT...: runs a program of Windows by Wine, and says how it ended where that is no success: CTest does
# not. 77 stands for a test that is skipped.
set -uo pipefail

# Debian's Wine lies at 0x7d000000, and Linux puts its heap at random into the GiB above. There Windows has data at
# 0x7ffe0000: of 10,000 starts one failed ("failed to map the shared user data"). So nothing is put at random, for the
# programs that this one starts, too. Some containers do not allow that.
fixed=(setarch -R)
"${fixed[@]}" true 2> /dev/null || fixed=()

status=0
"${fixed[@]}" wine "$@" || status=$?
((status == 0 || status == 77)) || echo "wine.sh: '$1' ended with $status after $SECONDS s" >&2
exit "$status"
