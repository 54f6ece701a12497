// SPDX-License-Identifier: Apache-2.0
// What a device can do at best: how fast it moves bytes and computes, and what a launch costs. Measured by kernels of
// our own once a device, and kept as text in the cache folder.
#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "observe/names.h"
#include "observe/observe.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__global__ void triad(const float *a, const float *b, float *c, float s, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) c[i] = a[i] + s * b[i];\n"
    "}\n"
    "#define ROUND(v) v = v * x + y;\n"
    "#define CHAINS(T) T a = x + threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a "
    "+ 7; \\\n"
    "    for (int k = 0; k < rounds; ++k) { \\\n"
    "        ROUND(a) ROUND(b) ROUND(c) ROUND(d) ROUND(e) ROUND(f) ROUND(g) ROUND(h) } \\\n"
    "    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d + e + f + g + h;\n"
    "__global__ void chains(float *out, float x, float y, int rounds) { CHAINS(float) }\n"
    "__global__ void chains64(double *out, double x, double y, int rounds) { CHAINS(double) }\n"
    "__global__ void nothing(void) {}\n";

#define FLOPS_A_ROUND 16u
#define BLOCK 256u
#define LARGEST ((uint64_t)1 << 24) // threads: 192 MiB for the triad, beyond every cache
#define ENOUGH_NS 20000000u         // of one run
#define RUNS 5
#define CEILINGS_NAME_BYTES 64
#define LAUNCHES 256
#define TIMEOUT_NS 60000000000u

struct bench {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_buffer *buffer[3];
};

// ---- measuring -----------------------------------------------------------------------------------------------------

static slr_status launch(const struct bench *b, slr_kernel *kernel, uint64_t threads, const slr_arg *args,
                         uint32_t count)
{
    slr_shape shape = SLR_GRID((uint32_t)((threads + BLOCK - 1) / BLOCK), BLOCK, 0);
    return slr_launch(b->stream, kernel, shape, args, count, NULL);
}

// The shortest of some runs; sooner where they are long.
static slr_status shortest(const struct bench *b, slr_kernel *kernel, uint64_t threads, const slr_arg *args,
                           uint32_t count, uint64_t *out)
{
    uint64_t begun = slri_now_ns();
    *out = UINT64_MAX;
    for (int i = 0; i < RUNS && (i < 2 || slri_now_ns() - begun < 10 * (uint64_t)ENOUGH_NS); ++i) {
        uint64_t from = slri_now_ns();
        SLRI_TRY(launch(b, kernel, threads, args, count));
        SLRI_TRY(slr_stream_finish(b->stream, TIMEOUT_NS));
        uint64_t took = slri_now_ns() - from;
        *out = took < *out ? took : *out;
    }
    return SLR_OK;
}

// On a device that takes long for a few threads, a few it is.
static slr_status triad(const struct bench *b, slr_kernel *kernel, double *out)
{
    uint64_t took = 0, threads = 1 << 12;
    for (;; threads *= 8) {
        int n = (int)threads;
        const slr_arg args[] = {slr_arg_buffer(b->buffer[0]), slr_arg_buffer(b->buffer[1]),
                                slr_arg_buffer(b->buffer[2]), slr_arg_float(3), slr_arg_signed(n)};
        SLRI_TRY(shortest(b, kernel, threads, args, 5, &took));
        if (threads == LARGEST || took > ENOUGH_NS)
            break;
    }
    *out = (double)threads * 12 * 1e9 / (double)took;
    return SLR_OK;
}

static slr_status chains(const struct bench *b, slr_kernel *kernel, double *out)
{
    uint64_t took = 0, rounds = 16;
    const uint64_t threads = 1 << 12;
    for (;; rounds *= 8) {
        const slr_arg args[] = {slr_arg_buffer(b->buffer[0]), slr_arg_float(0.5), slr_arg_float(0.25),
                                slr_arg_signed((int)rounds)};
        SLRI_TRY(shortest(b, kernel, threads, args, 4, &took));
        if (took > ENOUGH_NS / 4 || rounds > 1 << 20)
            break;
    }
    *out = (double)threads * (double)(rounds * FLOPS_A_ROUND) * 1e9 / (double)took;
    return SLR_OK;
}

static slr_status nothing(const struct bench *b, slr_kernel *kernel, double *out)
{
    uint64_t took;
    SLRI_TRY(shortest(b, kernel, 1, NULL, 0, &took)); // compiled
    uint64_t from = slri_now_ns();
    for (int i = 0; i < LAUNCHES; ++i)
        SLRI_TRY(launch(b, kernel, 1, NULL, 0));
    SLRI_TRY(slr_stream_finish(b->stream, TIMEOUT_NS));
    *out = (double)(slri_now_ns() - from) / LAUNCHES;
    return SLR_OK;
}

static slr_status run(const struct bench *b, const char *name,
                      slr_status (*measure)(const struct bench *, slr_kernel *, double *), double *out)
{
    slr_kernel *kernel;
    SLRI_TRY(slr_program_get_kernel(b->program, name, &kernel));
    slr_status status = measure(b, kernel, out);
    slr_kernel_destroy(kernel);
    return status;
}

static slr_status measure_in(struct bench *b, slr_ceilings *out)
{
    SLRI_TRY(slr_stream_create(b->device, NULL, &b->stream));
    SLRI_TRY(slr_program_from_text(b->device, "slipring ceilings", source, NULL, &b->program));
    for (int i = 0; i < 3; ++i)
        SLRI_TRY(slr_buffer_create(b->device, LARGEST * 4, &b->buffer[i]));
    SLRI_TRY(run(b, "triad", triad, &out->bytes_per_second));
    SLRI_TRY(run(b, "chains", chains, &out->flops_per_second));
    SLRI_TRY(run(b, "chains64", chains, &out->flops64_per_second));
    return run(b, "nothing", nothing, &out->launch_ns);
}

static slr_status measure(slr_device *device, slr_ceilings *out)
{
    struct bench b = {.device = device};
    slr_status status = measure_in(&b, out);
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(b.buffer[i]);
    slr_program_destroy(b.program);
    slr_stream_destroy(b.stream);
    return status;
}

// ---- the file ------------------------------------------------------------------------------------------------------

// Whole numbers: the decimal point is the locale's.
#define FORMAT "slipring ceilings 1\nbytes_per_s %llu\nflops_per_s %llu\nflops64_per_s %llu\nlaunch_ns %llu\n"

// One a device, a CPU and a version.
static void name_of(const char *device, char out[CEILINGS_NAME_BYTES])
{
    char cpu[SLRI_CPU_IDENTITY_BYTES], hex[SLRI_HASH_HEX_BYTES];
    slri_hash hash;
    slri_cpu_identity(cpu);
    slri_hash_init(&hash);
    const char *const parts[] = {SLR_VERSION, cpu, device};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        slri_hash_field(&hash, parts[i], strlen(parts[i]));
    slri_hash_hex(&hash, hex);
    snprintf(out, CEILINGS_NAME_BYTES, "ceilings-%s.txt", hex);
}

// The cache folder, where it can be trusted.
static slr_status open_folder(slri_folder **out)
{
    char *path;
    SLRI_TRY(slri_cache_folder(&path));
    slr_status status = slri_folder_open(path, out);
    free(path);
    return status;
}

static bool read_text(const char *device, char **out)
{
    char name[CEILINGS_NAME_BYTES];
    slri_folder *folder;
    name_of(device, name);
    if (open_folder(&folder) != SLR_OK)
        return false;
    bool is_read = slri_folder_read(folder, name, 4096, true, out, NULL) == SLR_OK;
    slri_folder_close(folder);
    return is_read;
}

bool slri_ceilings_find(const char *device, slr_ceilings *out)
{
    char *text;
    unsigned long long number[4];
    if (!read_text(device, &text))
        return false;
    bool whole = sscanf(text, FORMAT, &number[0], &number[1], &number[2], &number[3]) == 4;
    free(text);
    if (!whole || number[0] == 0 || number[1] == 0 || number[2] == 0)
        return false;
    *out = (slr_ceilings){(double)number[0], (double)number[1], (double)number[2], (double)number[3]};
    return true;
}

// Failing to keep them costs the next process another measurement.
static void write_file(const char *device, const slr_ceilings *ceilings)
{
    char name[CEILINGS_NAME_BYTES];
    slri_folder *folder;
    slri_text text = SLRI_TEXT_INIT;
    name_of(device, name);
    if (open_folder(&folder) != SLR_OK)
        return;
    slri_text_printf(&text, FORMAT, (unsigned long long)ceilings->bytes_per_second,
                     (unsigned long long)ceilings->flops_per_second, (unsigned long long)ceilings->flops64_per_second,
                     (unsigned long long)ceilings->launch_ns);
    if (!text.out_of_memory)
        slri_folder_write(folder, name, text.data, text.length);
    slri_text_free(&text);
    slri_folder_close(folder);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// `known` all 0: nothing was known before.
static slr_status measure_and_keep(slr_device *device, const char *name, const slr_ceilings *known, slr_ceilings *out)
{
    slr_ceilings found;
    SLRI_TRY(measure(device, &found));
    *out =
        (slr_ceilings){larger(found.bytes_per_second, known->bytes_per_second),
                       larger(found.flops_per_second, known->flops_per_second),
                       larger(found.flops64_per_second, known->flops64_per_second),
                       known->launch_ns > 0 && known->launch_ns < found.launch_ns ? known->launch_ns : found.launch_ns};
    write_file(name, out);
    return SLR_OK;
}

static slr_status ceilings(slr_device *device, bool anew, const char *call, slr_ceilings *out, size_t bytes)
{
    slr_ceilings known = {0}, whole;
    if (!device || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, device ? "out" : "device");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_ceilings, bytes)); // before seconds of measuring
    // Without a folder nothing is known, and nothing is kept.
    const char *name = slri_name_text(slri_device_name(device));
    bool is_known = slri_ceilings_find(name, &known);
    slr_status status = SLR_OK;
    if (is_known && !anew)
        whole = known;
    else
        status = measure_and_keep(device, name, &known, &whole);
    return status == SLR_OK ? SLRI_GIVE_REPORT(slr_ceilings, out, bytes, &whole) : status;
}

slr_status slr_profile_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes)
{
    return ceilings(device, false, "slr_profile_ceilings", out, bytes);
}

slr_status(slr_profile_ceilings)(slr_device *device, slr_ceilings *out)
{
    return slr_profile_ceilings_sized(device, out, SLRI_FIRST_slr_ceilings);
}

slr_status slr_profile_measure_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes)
{
    return ceilings(device, true, "slr_profile_measure_ceilings", out, bytes);
}

slr_status(slr_profile_measure_ceilings)(slr_device *device, slr_ceilings *out)
{
    return slr_profile_measure_ceilings_sized(device, out, SLRI_FIRST_slr_ceilings);
}
