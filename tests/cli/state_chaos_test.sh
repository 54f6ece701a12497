#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `slipring run --state` over 20 kills and torn files: scripts/chaos-state.sh, which does as many as one likes.
set -euo pipefail
exec "${SLIPRING_SOURCE_DIR:?run by ctest}/scripts/chaos-state.sh" 20
