#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The shared library can be loaded late: by a C program's dlopen() and, where Python is, by ctypes. It takes none of the
# room that the C library keeps for thread-local variables of libraries loaded late.
set -euo pipefail
library=${SLIPRING_BINARY_DIR:?run by ctest}/lib/libslipring.so
program=$SLIPRING_BINARY_DIR/tests/dlopen_program

if [[ $(readelf -dW "$library") == *STATIC_TLS* ]]; then
    echo "libslipring.so is marked STATIC_TLS: a thread-local variable names the model initial-exec"
    exit 1
fi
bytes=$((16#$(readelf -lW "$library" | awk '$1 == "TLS" { print substr($6, 3) }')))
echo "thread-local variables: $bytes B a thread"
((bytes <= 1024))

"$program" "$library"

# The room is used up: the loader is asked to keep none.
GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0:glibc.rtld.nns=1 "$program" "$library"

command -v python3 > /dev/null || exit 0
python3 - "$library" << 'PYTHON'
import ctypes, sys, threading

library = ctypes.CDLL(sys.argv[1])
library.slr_version.restype = ctypes.c_char_p
library.slr_error_message.restype = ctypes.c_char_p
said = []

def use():
    device = ctypes.c_void_p()
    refused = library.slr_device_open(b"no such device", None, ctypes.byref(device))
    message = library.slr_error_message()
    opened = library.slr_device_open(b"cpu?engine=interpreted", None, ctypes.byref(device))
    said.append((refused, b"no such device" in message, opened, library.slr_device_close(device)))

threads = [threading.Thread(target=use) for _ in range(64)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(said) == 64 and all(refused != 0 and named and opened == 0 for refused, named, opened, _ in said), said
print("Python has slipring", library.slr_version().decode())
PYTHON
