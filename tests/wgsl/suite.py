# SPDX-License-Identifier: Apache-2.0
"""The kernels that are tested: those of the examples, and of the conformance suite with their launches."""
import glob
import math
import os
import random
import re
import struct

TYPES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f16": "e", "f32": "f",
         "f64": "d"}
EDGES = {"i": [0, 1, -1, 2147483647, -2147483648, 31, 32, 33, 127, -128, 255, 65535],
         "f": [0.0, 1.0, -1.0, 0.5, 2.5, 100.25, -7.75, 3e5, 1e-3]}


class Argument:
    """A buffer of `count` elements, or a value (count 0) of several numbers: bytes of it."""

    def __init__(self, name, kind, count, data):
        self.name, self.kind, self.count, self.data = name, kind, count, data


class Case:
    def __init__(self, name, source, kernel, given, arguments):
        self.name, self.source, self.kernel, self.arguments = name, source, kernel, arguments
        self.grid, self.block, self.shared = shape(given.get("grid")), shape(given.get("block")), int(given.get("shared", "0"))
        self.ulp, self.off = int(given.get("ulp", "0")), float(given.get("abs", "0"))


def fill(kind, count, how, draw):
    code, width = TYPES[kind], struct.calcsize(TYPES[kind])
    if how in ("random", "wide") and kind[0] != "f":
        return draw.randbytes(width * count)
    if how in ("edges", "across"):
        values = EDGES["f" if kind[0] == "f" else "i"]
        step = len(values) if how == "across" else 1
        values = [values[i // step % len(values)] for i in range(count)]
    elif how == "iota":
        values = range(count)
    elif how == "small":
        values = [draw.random() if kind[0] == "f" else draw.randrange(100) for _ in range(count)]
    elif how in ("random", "wide"):
        values = [draw.uniform(-1, 1) * (2.0 ** draw.randrange(-9, 9) if how == "wide" else 1) for _ in range(count)]
    else:
        values = [0 if how == "zero" else float(how)] * count
    if kind[0] == "f":
        return struct.pack(f"<{count}{code}", *values)
    return b"".join((int(v) & (2 ** (8 * width) - 1)).to_bytes(width, "little") for v in values)


def shape(text):
    return ([int(part) for part in text.split("x")] + [1, 1])[:3] if text else [1, 1, 1]


def value(kind, text):
    if kind[0] == "f":
        return struct.pack("<" + TYPES[kind], float(text))
    width = struct.calcsize(TYPES[kind])
    return (int(text) & (2 ** (8 * width) - 1)).to_bytes(width, "little")


def read_case(area, line, source):
    words = line.split(" : ")[0].split()
    draw = random.Random(line)
    given = dict(word.split("=", 1) for word in words[1:] if ":" not in word and "==" not in word)
    arguments = []
    for word in words[1:]:
        match = re.fullmatch(r"(\w+):(\w+)\[(\d+)\](?:=(.*))?", word)
        if match:
            name, kind, count = match[1], match[2], int(match[3])
            arguments.append(Argument(name, kind, count, fill(kind, count, match[4] or "zero", draw)))
            continue
        match = re.fullmatch(r"(\w+):(\w+)=(.*)", word)
        if match:
            arguments.append(Argument(match[1], match[2], 0, [value(match[2], v) for v in match[3].split(",")]))
    kernel = re.findall(r"__global__[^(]*?\b(\w+)\s*\(", re.sub(r"__launch_bounds__\([^)]*\)", "", source))[-1]
    return Case(f"{area}/{words[0]}", source, kernel, given, arguments)


def suite_cases(folder):
    cases = []
    for path in sorted(glob.glob(os.path.join(folder, "*.cu"))):
        area = os.path.basename(path)[:-3]
        if area in ("host", "planted"):
            continue
        text = re.sub(r"\n//: {2,}", " ", open(path, encoding="utf-8").read())
        for section in re.split(r"^//: ", text, flags=re.M)[1:]:
            line, _, source = section.partition("\n")
            cases.append(read_case(area, line, source))
    return cases


def example_kernels(folder):
    """(file, kernel, block) of each kernel of the examples."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.cu"))):
        text = open(path, encoding="utf-8").read()
        found += [(path, name, False) for name in re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(", text)]
        found += [(path, name, True) for name in re.findall(r"__ring__\s+void\s+(\w+)\s*\(", text)]
    return found


def differences(kind, a, b, ulps, off):
    """The elements in which two memories differ, floats by more than so many units in the last place and than `off`: (at, a, b)."""
    code, width = TYPES[kind], struct.calcsize(TYPES[kind])
    if a == b:
        return []
    count = min(len(a), len(b)) // width
    found = []
    for i, (x, y) in enumerate(zip(struct.unpack(f"<{count}{code}", a[:count * width]), struct.unpack(f"<{count}{code}", b[:count * width]))):
        if x == y or (kind[0] == "f" and is_near(x, y, max(off, ulps * 2.0 ** -23 * max(abs(x), abs(y), 2.0 ** -126)))):
            continue
        found.append((i, x, y))
    return found


def is_near(x, y, bound):
    return (math.isnan(x) and math.isnan(y)) or (math.isfinite(x) and math.isfinite(y) and abs(x - y) <= bound)
