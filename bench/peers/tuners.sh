#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tuners.sh SLIPRING [OPTION]...: tuners.py with Kernel Tuner from PyPI, which is kept in build/tuners.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly kept=build/tuners

if [[ ! -e $kept/ready ]]; then
    python3 -m venv "$kept/python"
    "$kept/python/bin/pip" install -q --no-compile kernel-tuner==1.5.0 pyopencl==2026.1.4
    touch "$kept/ready"
fi
exec "$kept/python/bin/python" bench/peers/tuners.py "$@"
