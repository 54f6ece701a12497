# SPDX-License-Identifier: Apache-2.0
"""check.py SLIPRING PACKAGE [FILTER]: see README.md."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import device
import suite

SLIPRING, PACKAGE = sys.argv[1], sys.argv[2]
FILTER = sys.argv[3] if len(sys.argv) > 3 else ""
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


# What WGSL allows: of a division, and what is computed from it; of its functions, by that of atan.
LEAST_ULPS, MATH_ULPS = 16, 4096

# What WGSL or a driver leaves open.
KNOWN = {
    "limits/a_long_loop": "lavapipe 22 ends a loop after 65,535 turns",
    "math/logarithms": "WGSL does not say what log is of 0",
    "math/sine_and_cosine": "WGSL does not bound sin and cos of large angles",
    "math/sine_of_large_arguments": "WGSL does not bound sin and cos of large angles",
    "math/tangent": "WGSL does not bound sin and cos of large angles",
    "math/atan2_in_all_quadrants": "WGSL does not say what atan2 is of infinities and zeros",
    "math/powers": "WGSL does not say what pow is of infinities",
    "math/fused_multiply_add_rounds_once": "fma of WGSL may round twice",
}


def slipring(*arguments):
    done = subprocess.run([SLIPRING, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr.strip()


def emit(path, kernel, block, batched=False):
    more = ["--batched"] if batched else []
    if block:
        more += ["--block", ",".join(str(n) for n in block)]
    return slipring("kernel", "emit", path, kernel, "--lang", "wgsl", *more)


def constants_of(text, shared):
    return {"slri_dynamic_words": max(1, (shared + 3) // 4)} if "slri_dynamic_words" in text else {}


def compile_examples(dev, tally):
    for path, kernel, batched in suite.example_kernels(os.path.join(ROOT, "examples")):
        name = f"{os.path.relpath(path, ROOT)}:{kernel}"
        if FILTER not in name:
            continue
        code, text, said = emit(path, kernel, None, batched)
        if code:
            tally.refuse(name, said)
            continue
        try:
            dev.compile(text, "slrk_" + kernel, constants_of(text, 1024))
            tally.good(name, "compiled")
        except device.Refused as error:
            tally.wrong(name, f"refused by the compiler: {error}")


def interpreted(path, case, folder):
    """What the interpreter leaves in each buffer."""
    given = []
    for argument in case.arguments:
        if argument.count:
            name = os.path.join(folder, argument.name + ".bin")
            with open(name, "wb") as file:
                file.write(argument.data)
            given += ["--arg", f"{argument.name}={name}", "--print", argument.name]
        else:
            code = suite.TYPES[argument.kind]
            numbers = [struct.unpack("<" + code, v)[0] for v in argument.data]
            given += ["--arg", f"{argument.name}=" + ",".join(repr(n) for n in numbers)]
    code, text, said = slipring("kernel", "run", path, case.kernel, "--grid", ",".join(map(str, case.grid)), "--block",
                                ",".join(map(str, case.block)), "--shared", str(case.shared), *given, "--json")
    return (json.loads(text), said) if code == 0 else (None, said)


def element(code, width, kind, printed):
    if kind[0] == "f":
        return struct.pack("<" + code, float("nan") if printed is None else float(printed))
    return (int(printed) & (2 ** (8 * width) - 1)).to_bytes(width, "little")


def left_by_interpreter(result, case):
    left = {b["name"]: b["values"] for b in result["buffers"]}
    out = []
    for argument in case.arguments:
        if argument.count:
            code = suite.TYPES[argument.kind]
            width = struct.calcsize(code)
            out.append(b"".join(element(code, width, argument.kind, v) for v in left[argument.name]))
    return out


def run_case(dev, case, tally, folder):
    path = os.path.join(folder, case.name.replace("/", "_") + ".cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(case.source)
    if max(case.grid) > 65535:
        tally.skip(case.name, "WebGPU has at most 65,535 blocks along an axis")
        return
    code, text, said = emit(path, case.kernel, case.block)
    if code:
        tally.refuse(case.name, said)
        return
    if re.search(r"^\s*__device__[^()]*=", case.source, re.M):
        tally.skip(case.name, "its variables begin with values that only a program gives them")
        return
    try:
        compiled = dev.compile(text, "slrk_" + case.kernel, constants_of(text, case.shared))
    except device.Refused as error:
        tally.wrong(case.name, f"refused by the compiler: {error}")
        return
    result, said = interpreted(path, case, folder)
    if result is None:
        tally.skip(case.name, said)
        return
    buffers = [a.data for a in case.arguments if a.count]
    values = [b"".join(a.data) for a in case.arguments if not a.count]
    left, faulted = dev.run(compiled, buffers, values, [True] * len(buffers), case.grid)
    expected = left_by_interpreter(result, case)
    ulps = max(case.ulp, MATH_ULPS if case.name.startswith("math/") else LEAST_ULPS)
    bad = []
    for argument, x, y in zip([a for a in case.arguments if a.count], left, expected):
        found = suite.differences(argument.kind, x, y, ulps, case.off)
        if found:
            bad.append(f"{argument.name} in {len(found)} elements, first [{found[0][0]}] {found[0][1]}, interpreted {found[0][2]}")
    if faulted[0]:
        tally.wrong(case.name, f"faults: {faulted}")
    elif bad and case.name in KNOWN:
        tally.known(case.name, f"{KNOWN[case.name]}: " + "; ".join(bad))
    elif bad:
        tally.wrong(case.name, "differs: " + "; ".join(bad))
    else:
        tally.good(case.name, "ran")


def check_the_check(dev, tally):
    """An error is told with the line of the source; what computes something else is seen to."""
    path = os.path.join(ROOT, "examples", "kernels", "saxpy.cu")
    _, text, _ = emit(path, "saxpy", [64, 1, 1])
    broken = re.sub(r"(i_\d+) < (n_\d+)", r"\1 < \2 + 1u", text)
    try:
        dev.compile(broken, "slrk_saxpy", {})
        tally.wrong("an error in the text", "is not seen")
    except device.Refused as error:
        told = str(error).split(": ")[0]
        line = next(n for n, l in enumerate(open(path, encoding="utf-8"), 1) if "i < n" in l)
        if not told.endswith(f"saxpy.cu:{line}"):
            tally.wrong("an error in the text", f"is told of {told}, not of line {line}")
    floats = struct.pack("<4f", 1, 2, 3, 4)
    values = [struct.pack("<f", 2), struct.pack("<i", 4)]
    for which, expected in ((text, (3, 6, 9, 12)), (text.replace("a_0 * ", "a_0 + "), (4, 6, 8, 10))):
        left, _ = dev.run(dev.compile(which, "slrk_saxpy", {}), [floats, floats], values, [True, True], [1, 1, 1])
        if struct.unpack("<4f", left[1]) != expected:
            tally.wrong("saxpy", f"gives {struct.unpack('<4f', left[1])}, not {expected}")


class Tally:
    def __init__(self):
        self.count = {"compiled": 0, "ran": 0, "known to differ": 0, "refused": 0, "skipped": 0, "wrong": 0}

    def good(self, _name, how):
        self.count[how] += 1

    def known(self, name, said):
        self.count["known to differ"] += 1
        print(f"known    {name}: {said}")

    def refuse(self, name, said):
        """By slipring: then it says where."""
        if not re.search(r"\.cu:\d+: ", said):
            self.wrong(name, f"refused without a place: {said}")
            return
        self.count["refused"] += 1
        print(f"refused  {name}: {said.splitlines()[0].rsplit('.cu:', 1)[-1][:150]}")

    def skip(self, name, said):
        self.count["skipped"] += 1
        print(f"skipped  {name}: {said.splitlines()[0][:150] if said else '?'}")

    def wrong(self, name, said):
        self.count["wrong"] += 1
        print(f"WRONG    {name}: {said[:600]}")


def main():
    try:
        dev = device.Device(PACKAGE)
    except (ImportError, LookupError, OSError, RuntimeError) as error:
        print(f"skipped: {error}")
        return 77
    tally = Tally()
    check_the_check(dev, tally)
    compile_examples(dev, tally)
    with tempfile.TemporaryDirectory() as folder:
        for case in suite.suite_cases(os.path.join(ROOT, "tests", "cts", "kernels")):
            if FILTER in case.name:
                run_case(dev, case, tally, folder)
    print(f"{PACKAGE} on {dev.name}:", ", ".join(f"{count} {what}" for what, count in tally.count.items()))
    return 1 if tally.count["wrong"] else 0


sys.exit(main())
