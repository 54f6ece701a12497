// SPDX-License-Identifier: Apache-2.0
// The libamdhip64 and the HIPRTC in the library of fake_cuda.c: the same driver by HIP's names, with a device of AMD's.
// Its waves have 64 lanes, or as many as SLIPRING_FAKE_HIP_WAVE says. What runs is the text, compiled by the host's
// compiler (tests/shim), with SLIPRING_FAKE_CUDA_BY=text; else what the front end reads in it.
#include "fake_cuda_inside.h"

#include "hal/cuda/hip.h"
#include "tests/shim/image.h"

#include <stdio.h>
#include <string.h>

// ---- the same functions --------------------------------------------------------------------------------------------

#if defined(__x86_64__)
#define JUMP "jmp"
#else
#define JUMP "b"
#endif
#define SAME(own, his) __asm__(".text\n.globl " his "\n.type " his ", %function\n" his ":\n    " JUMP " " own "\n");
#define SAME_HIP(name, his) SAME("cu" #name, "hip" #his)
SLRI_HIP_SAME(SAME_HIP)
#define SAME_HIPRTC(name, his) SAME("nvrtc" #name, "hiprtc" #his)
SLRI_HIPRTC_SAME(SAME_HIPRTC)

// ---- functions of another shape ------------------------------------------------------------------------------------

#define DECLARE_HIP(result, name, parameters) SEEN result hip##name parameters;
SLRI_HIP_OWN(DECLARE_HIP)

int32_t hipDriverGetVersion(int32_t *version)
{
    CALL(DriverGetVersion);
    *version = 60342134;
    return 0;
}

const char *hipGetErrorName(int32_t error)
{
    return error == OUT_OF_MEMORY ? "hipErrorOutOfMemory" : error == ILLEGAL_ADDRESS ? "hipErrorIllegalAddress" : "";
}

// An MI210's.
int32_t hipDeviceGetAttribute(int32_t *value, int32_t attribute, slri_cu_device device)
{
    static const struct {
        int32_t attribute, value;
    } answers[] = {{56, 1024}, {74, 65536},    {87, 0},     {5, 1700000},  {63, 104},  {18, 0},
                   {16, 0},    {60, 1600000},  {59, 4096},  {19, 8388608}, {57, 2048}, {23, 9},
                   {61, 0},    {10002, 65536}, {71, 65536}, {9, 1}};
    (void)device;
    CALL(DeviceGetAttribute);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i)
        if (answers[i].attribute == attribute) {
            *value = attribute == 87 ? (int32_t)shim_hip_wave() : answers[i].value;
            return 0;
        }
    return refuse("DeviceGetAttribute", INVALID_VALUE);
}

int32_t hipDeviceGetPCIBusId(char *out, int32_t bytes, slri_cu_device device)
{
    CALL(DeviceGetPCIBusId);
    snprintf(out, (size_t)bytes, "0001:c%d:00.0", 3 + (int)device);
    return 0;
}

static const char *architecture(void)
{
    return shim_hip_wave() == 64 ? "gfx90a:sramecc+:xnack-" : "gfx1030";
}

int32_t hipGetDeviceProperties(void *properties, int32_t device)
{
    static const char name[] = "Fake gfx of AMD";
    (void)device;
    CALL(GetDeviceProperties);
    memcpy(properties, name, sizeof name);
    memset((char *)properties + 256, 0x5a, 140); // numbers
    strcpy((char *)properties + 396, architecture());
    return 0;
}

SEEN int32_t hiprtcCompileProgram(slri_nvrtc_program program, int32_t options, const char *const *option);
int32_t hiprtcCompileProgram(slri_nvrtc_program program, int32_t options, const char *const *option)
{
    char wanted[64] = "--gpu-architecture=";
    CALL(nvrtcCompileProgram);
    strcat(wanted, architecture());
    if (!has_option(options, option, wanted) || !has_option(options, option, "-ffp-contract=off")) {
        LOCKED(refuse("hiprtcCompileProgram", 5));
        return error;
    }
    return compile_program(program);
}
