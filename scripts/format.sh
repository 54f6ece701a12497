#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: our C and C++ as .clang-format says. Kernel sources (.cu) are laid out by hand.
set -eu
cd "$(dirname "$0")/.."
command -v clang-format > /dev/null || { echo "format.sh: clang-format is not installed (Debian: clang-format)" >&2; exit 1; }

case "${1-}" in
    --check) action='--dry-run --Werror' ;;
    '') action='-i' ;;
    *) echo "format.sh: unknown argument $1; known: --check" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # two words on purpose
find include src tools tests examples bench -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 clang-format $action
