#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `slipring kernel check --sarif` writes is SARIF 2.1.0: the parts that the standard wants are there, each rule index leads to
# its rule. With SLIPRING_SARIF_SCHEMA=FILE, the standard's schema (scripts/sarif-schema.sh; python3-jsonschema), it is held
# against that too.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
tool=${SLIPRING_TOOL:?run by ctest}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

[[ -x $tool ]] || { echo "the command line is not built"; exit 0; }
command -v python3 > /dev/null || { echo "no python3 to read the file with"; exit 0; }
echo '__global__ void broken(int *x) { x[0] = y; }' > "$folder/a file.cu"
"$tool" kernel check "$source_dir"/tests/check/planted/race_{tree,counter}.cu "$source_dir/tests/check/slow/banks.cu" \
    "$folder/a file.cu" --sarif "$folder/log.sarif" > /dev/null && { echo "no errors were found"; exit 1; }

python3 - "$folder/log.sarif" << 'EOF'
import json, os, sys
log = json.load(open(sys.argv[1]))
assert log["version"] == "2.1.0" and len(log["runs"]) == 1, log
run = log["runs"][0]
driver = run["tool"]["driver"]
rules, results = driver["rules"], run["results"]
assert driver["name"] == "slipring" and driver["semanticVersion"].count(".") == 2
assert len({rule["id"] for rule in rules}) == len(rules)
found = set()
for result in results:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
    for place in result["locations"] + result.get("relatedLocations", []):
        physical = place["physicalLocation"]
        assert " " not in physical["artifactLocation"]["uri"], physical
        assert physical["region"]["startLine"] >= 1 and physical["region"]["startColumn"] >= 1
    found.add(result["ruleId"])
assert {"SLR-C010", "SLR-C011", "SLR-C061", "SLR-K050"} <= found, found
schema = os.environ.get("SLIPRING_SARIF_SCHEMA")
if schema:
    import jsonschema
    schema = json.load(open(schema))
    jsonschema.validate(log, schema)
    results[0]["levels"] = "error" # the schema knows no such member
    try:
        jsonschema.validate(log, schema)
    except jsonschema.ValidationError as error:
        assert "levels" in error.message, error
    else:
        raise AssertionError("the schema lets everything pass")
    print("valid by the schema:", schema["title"])
print(len(results), "results,", len(rules), "rules")
EOF
