// SPDX-License-Identifier: Apache-2.0
// AMD's GPUs: HIP's runtime, libamdhip64 or what SLIPRING_HIP_LIB names, and HIPRTC, in the places of CUDA's functions.
// Most are the same by another name, and so are the numbers of errors. Those that are not are here.
#include "hal/cuda/hip.h"
#include "hal/cuda/vendor.h"

#include "base/dl.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/status.h"
#include "emit/cuda/emit_cuda.h"

#include <stdio.h>
#include <string.h>

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_HIP_OWN(MEMBER)
#undef MEMBER
} hip; // written by `load_hip` alone

// ---- functions of another shape ------------------------------------------------------------------------------------

// 50221153 is HIP 5.2; as CUDA says it: 5020.
static int32_t hip_version(int32_t *version)
{
    int32_t error = hip.DriverGetVersion(version);
    *version = *version / 10000000 * 1000 + *version / 100000 % 100 * 10;
    return error;
}

static int32_t hip_error_name(int32_t error, const char **name)
{
    *name = hip.GetErrorName(error);
    return SLRI_CU_SUCCESS;
}

#define INVALID_VALUE 1

// By CUDA's number: HIP's, or a value that all of its devices have.
static int32_t hip_attribute(int32_t *value, int32_t attribute, slri_cu_device device)
{
    static const struct {
        int32_t cuda, hip, always;
    } known[] = {
        {1, 56, 0},                  // block_threads
        {8, 74, 0},                  // shared_bytes
        {10, 87, 0},                 // warp: of the hardware's waves
        {13, 5, 0},                  // clock_khz
        {16, 63, 0},                 // multiprocessors
        {17, 18, 0},                 // time_limit
        {SLRI_CU_INTEGRATED, 16, 0}, //
        {36, 60, 0},                 // memory_khz
        {37, 59, 0},                 // bus_bits
        {38, 19, 0},                 // l2_bytes
        {39, 57, 0},                 // unit_threads
        {40, -1, 0},                 // copy_engines: it does not say
        {41, -1, 1},                 // unified_addressing
        {75, 23, 0},                 // major
        {76, 61, 0},                 // minor
        {81, 10002, 0},              // unit_shared
        {82, 71, 0},                 // registers
        {89, 9, 0},                  // concurrent_managed
        {91, -1, 1},                 // registered_address
        {97, 74, 0},                 // shared_most: all of it, without being asked
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i].cuda == attribute) {
            *value = known[i].always;
            return known[i].hip < 0 ? SLRI_CU_SUCCESS : hip.DeviceGetAttribute(value, known[i].hip, device);
        }
    return INVALID_VALUE;
}

// "gfx90a:sramecc+:xnack-", as HIPRTC wants it. It is in a structure whose layout is another one in each version,
// behind the name, which has 256 bytes in all of them: so it is looked for.
static int32_t hip_architecture(slri_cu_device device, char out[SLRI_CU_ARCHITECTURE_BYTES])
{
    _Alignas(8) char properties[8192] = {0};
    int32_t error = hip.GetDeviceProperties(properties, device);
    *out = '\0';
    for (size_t at = 256; error == SLRI_CU_SUCCESS && at + SLRI_CU_ARCHITECTURE_BYTES < sizeof properties; ++at)
        if (memcmp(properties + at, "gfx", 3) == 0) {
            snprintf(out, SLRI_CU_ARCHITECTURE_BYTES, "%.*s", SLRI_CU_ARCHITECTURE_BYTES - 1, properties + at);
            break;
        }
    return error;
}

static int32_t hip_bus_id(slri_cu_device device, char out[SLRI_CU_BUS_BYTES])
{
    return hip.DeviceGetPCIBusId(out, SLRI_CU_BUS_BYTES, device);
}

// ---- loading -------------------------------------------------------------------------------------------------------

#define KERNEL_DRIVER "/dev/kfd"

static struct slri_cu functions; // written by `load_hip` alone

// What is never called stays NULL: kernels do not stay here, shared memory need not be asked for, and memory of one
// device is copied to another by way of the host.
static slr_status find_hip(slri_dl *library, const char *path, struct slri_cu *out)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(name, his) out->name = (__typeof__(out->name))slri_dl_find(library, "hip" #his, &missing);
    SLRI_HIP_SAME(FIND)
#undef FIND
#define FIND(result, name, parameters) hip.name = (result(*) parameters)slri_dl_find(library, "hip" #name, &missing);
    SLRI_HIP_OWN(FIND)
#undef FIND
    out->DriverGetVersion = hip_version;
    out->GetErrorName = hip_error_name;
    out->DeviceGetAttribute = hip_attribute;
    out->architecture = hip_architecture;
    out->bus_id = hip_bus_id;
    return slri_dl_all_found(SLR_NO_DEVICE, path, "runtime of HIP 5.2 or later", &missing);
}

static slr_status start_hip(struct slri_cu *out)
{
    int32_t error = out->Init(0);
    if (error == SLRI_CU_SUCCESS)
        error = out->DriverGetVersion(&out->version);
    if (error == SLRI_CU_NO_DEVICE && !slri_file_is_there(KERNEL_DRIVER)) // a library that was asked for by name
        return SLRI_FAIL(NO_DEVICE, "AMD's HIP runtime finds no GPU: there is no " KERNEL_DRIVER
                                    ", so AMD's kernel driver amdgpu is not loaded, or not for compute");
    if (error == SLRI_CU_NO_DEVICE)
        return SLRI_FAIL(
            NO_DEVICE, "AMD's HIP runtime finds no GPU%s",
            slri_environment_of_vendor("HIP_VISIBLE_DEVICES") ? ": HIP_VISIBLE_DEVICES is set, and may hide it" : "");
    return error == SLRI_CU_SUCCESS ? SLR_OK : slri_cu_failed(out, "hip", "Init", error);
}

static slr_status load_hip(slri_dl *library, const char *path)
{
    functions = (struct slri_cu){.vendor = &slri_vendor_hip};
    SLRI_TRY(find_hip(library, path, &functions));
    functions.simulated = slri_dl_find(library, "slr_driver_is_simulated", NULL) != NULL;
    return start_hip(&functions);
}

static slr_status slri_hip_load(const struct slri_cu **out)
{
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_HIP_LIB",
                                           .places = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                                      "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"},
                                           .hint = "it comes with AMD's ROCm; SLIPRING_HIP_LIB gives its path",
                                           .absent = SLR_NO_DEVICE,
                                           .start = load_hip,
                                           .lock = SLRI_MUTEX_INIT};
    // The library brings a compiler with it: it is not opened where it cannot find a GPU. An empty name names none.
    const char *asked = slri_environment("SLIPRING_HIP_LIB");
    if (!(asked && *asked) && !slri_file_is_there(KERNEL_DRIVER))
        return SLRI_FAIL(NO_DEVICE,
                         "there is no " KERNEL_DRIVER ": AMD's kernel driver amdgpu is not loaded, or not for compute");
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &functions;
    return SLR_OK;
}

static const char *const hiprtc_options[] = {"-O3", "-std=c++17", "-ffp-contract=off",
                                             "-fhip-fp32-correctly-rounded-divide-sqrt", NULL};
static struct slri_nvrtc compiler = { // its functions are written by `find_hiprtc` alone
    .name = "HIPRTC",
    .options = hiprtc_options,
    .begin = slri_emit_hip_words,
    .emit = slri_emit_hip};

static slr_status find_hiprtc(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(name, his) compiler.name = (__typeof__(compiler.name))slri_dl_find(library, "hiprtc" #his, &missing);
    SLRI_HIPRTC_SAME(FIND)
    FIND(CompileProgram, CompileProgram)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, path, "HIPRTC", &missing));
    return compiler.Version(&compiler.major, &compiler.minor) == 0
               ? SLR_OK
               : SLRI_FAIL(UNSUPPORTED, "%s does not report its version", path);
}

static slr_status slri_hiprtc_load(const struct slri_nvrtc **out)
{
    static struct slri_dl_vendor vendor = {
        .variable = "SLIPRING_HIPRTC_LIB",
        .places = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so",
                   "libamdhip64.so.5"}, // it was in the runtime's library before it had one of its own
        .hint = "HIP's compiler comes with AMD's ROCm; SLIPRING_HIPRTC_LIB gives its path",
        .absent = SLR_UNSUPPORTED,
        .start = find_hiprtc,
        .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &compiler;
    return SLR_OK;
}

const struct slri_cu_vendor slri_vendor_hip = {
    .backend = &slri_backend_hip,
    .prefix = "hip",
    .driver = "AMD's HIP runtime",
    .advice = "rocminfo lists them",
    .visible = "HIP_VISIBLE_DEVICES",
    .compiler = "HIPRTC",
    .platform = "HIP",
    .never_stays = "persistent kernels are built for CUDA alone",
    .load = slri_hip_load,
    .load_compiler = slri_hiprtc_load,
};
