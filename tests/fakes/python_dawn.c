// SPDX-License-Identifier: Apache-2.0
// Dawn as a library of C: the functions of webgpu.h that Python's package wgpudawn has compiled into a module, and does
// not export. Python, which this starts, tells where each is. SLIPRING_WEBGPU_PYTHON: the folder of the package
// (scripts/webgpu.sh).
#include "hal/webgpu/dawn.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN __attribute__((visibility("default")))

// ---- Python, as far as it is used ----------------------------------------------------------------------------------

typedef struct PyObject PyObject;
#define PYTHON(X)                                                                                                      \
    X(void, Py_InitializeEx, (int))                                                                                    \
    X(int, PyRun_SimpleString, (const char *))                                                                         \
    X(PyObject *, PyImport_AddModule, (const char *))                                                                  \
    X(PyObject *, PyObject_CallMethod, (PyObject *, const char *, const char *, ...))                                  \
    X(void *, PyLong_AsVoidPtr, (PyObject *))                                                                          \
    X(void, PyErr_Print, (void))

static struct {
#define FIELD(result, name, parameters) result(*name) parameters;
    PYTHON(FIELD)
#undef FIELD
    PyObject *main;
} python;

static const char script[] = "import os, sys\n"
                             "folder = os.environ['SLIPRING_WEBGPU_PYTHON']\n"
                             "sys.path[:0] = [folder, os.path.join(folder, 'wgpudawn')]\n"
                             "from _lib._wgpu_dawn import ffi, lib\n"
                             "def place(name):\n"
                             "    if not hasattr(lib, name):\n"
                             "        return 0\n"
                             "    return int(ffi.cast('uintptr_t', ffi.addressof(lib, name)))\n";

// Its modules find its functions only where all do.
static void start(void)
{
    void *library = dlopen(SLIPRING_PYTHON_LIB, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "python_dawn: %s\n", dlerror());
        abort();
    }
#define FIND(result, name, parameters)                                                                                 \
    {                                                                                                                  \
        void *found = dlsym(library, #name);                                                                           \
        memcpy(&python.name, &found, sizeof found);                                                                    \
    }
    PYTHON(FIND)
#undef FIND
    python.Py_InitializeEx(0);
    if (python.PyRun_SimpleString(script) != 0) // which has printed why
        abort();
    python.main = python.PyImport_AddModule("__main__");
}

static void *place_of(const char *name)
{
    if (!python.main)
        start();
    PyObject *place = python.PyObject_CallMethod(python.main, "place", "s", name);
    if (!place)
        python.PyErr_Print();
    return place ? python.PyLong_AsVoidPtr(place) : NULL;
}

// ---- the functions: the loader asks where one is when it is looked up ----------------------------------------------

#define FUNCTION(result, name, parameters)                                                                             \
    __attribute__((used)) static result(*resolve_##name(void)) parameters                                              \
    {                                                                                                                  \
        result(*found) parameters;                                                                                     \
        void *place = place_of("wgpu" #name);                                                                          \
        memcpy(&found, &place, sizeof found);                                                                          \
        return found;                                                                                                  \
    }                                                                                                                  \
    SEEN result wgpu##name parameters __attribute__((ifunc("resolve_" #name)));
// What the loader looks for alone, and what `slipring bench` calls by hand.
#define OTHERS(X)                                                                                                      \
    X(uint32_t, GetInstanceLimits, (void *))                                                                           \
    X(void, InstanceGetWGSLLanguageFeatures, (WGPUInstance, void *))                                                   \
    X(void, InstanceRelease, (WGPUInstance))                                                                           \
    X(void, DeviceTick, (WGPUDevice))                                                                                  \
    X(WGPUBindGroupLayout, ComputePipelineGetBindGroupLayout, (WGPUComputePipeline, uint32_t))
SLRI_WG_COMMON_FUNCTIONS(FUNCTION)
SLRI_WG_DAWN_FUNCTIONS(FUNCTION)
OTHERS(FUNCTION)
