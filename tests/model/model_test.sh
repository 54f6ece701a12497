#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The protocol's models pass, and each mutant of them dies by the property that it breaks.
set -euo pipefail
exec "${SLIPRING_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/model/run.sh"
