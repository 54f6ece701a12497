// SPDX-License-Identifier: Apache-2.0
// What a device can do at best: how fast it moves bytes and computes, and what a launch costs. Measured by kernels of
// our own once a device, and kept as text in the cache folder. costs.c measures the second half.
#include "observe/ceilings.h"

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
    "__global__ void nothing(void) {}\n"
    "__global__ void walk(const int *table, int *out, int rounds)\n"
    "{\n"
    "    int x = threadIdx.x;\n"
    "    for (int k = 0; k < rounds; ++k) x = table[x & 1023] + k;\n"
    "    out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n"
    "}\n"
    "__global__ void split(const int *table, int *out, int rounds)\n"
    "{\n"
    "    int x = threadIdx.x;\n"
    "    for (int lane = 0; lane < 32; ++lane)\n"
    "        if ((threadIdx.x & 31) == lane)\n"
    "            for (int k = 0; k < rounds; ++k) x = table[x & 1023] + k;\n"
    "    out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n"
    "}\n";

#define FLOPS_A_ROUND 16u
#define BLOCK SLRI_CEILINGS_BLOCK
#define LARGEST ((uint64_t)1 << 24) // threads: 192 MiB for the triad, beyond every cache
#define ENOUGH_NS 20000000u         // of one run
#define RUNS 5
#define CEILINGS_NAME_BYTES 64
#define LAUNCHES 256

// ---- measuring -----------------------------------------------------------------------------------------------------

static slr_status launch(const struct slri_ceilings_bench *b, slr_kernel *kernel, uint64_t threads, const slr_arg *args,
                         uint32_t count)
{
    slr_shape shape = SLR_GRID((uint32_t)((threads + BLOCK - 1) / BLOCK), BLOCK, 0);
    return slr_launch(b->stream, kernel, shape, args, count, NULL);
}

// The shortest of some runs; sooner where they are long.
static slr_status shortest(const struct slri_ceilings_bench *b, slr_kernel *kernel, uint64_t threads,
                           const slr_arg *args, uint32_t count, uint64_t *out)
{
    uint64_t begun = slri_now_ns();
    *out = UINT64_MAX;
    for (int i = 0; i < RUNS && (i < 2 || slri_now_ns() - begun < 10 * (uint64_t)ENOUGH_NS); ++i) {
        uint64_t from = slri_now_ns();
        SLRI_TRY(launch(b, kernel, threads, args, count));
        SLRI_TRY(slr_stream_finish(b->stream, SLRI_CEILINGS_TIMEOUT_NS));
        uint64_t took = slri_now_ns() - from;
        *out = took < *out ? took : *out;
    }
    return SLR_OK;
}

// On a device that takes long for a few threads, a few it is.
static slr_status triad(const struct slri_ceilings_bench *b, slr_kernel *kernel, double *out)
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

static slr_status chains(const struct slri_ceilings_bench *b, slr_kernel *kernel, double *out)
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

static slr_status nothing(const struct slri_ceilings_bench *b, slr_kernel *kernel, double *out)
{
    uint64_t took;
    SLRI_TRY(shortest(b, kernel, 1, NULL, 0, &took)); // compiled
    uint64_t from = slri_now_ns();
    for (int i = 0; i < LAUNCHES; ++i)
        SLRI_TRY(launch(b, kernel, 1, NULL, 0));
    SLRI_TRY(slr_stream_finish(b->stream, SLRI_CEILINGS_TIMEOUT_NS));
    *out = (double)(slri_now_ns() - from) / LAUNCHES;
    return SLR_OK;
}

slr_status slri_ceilings_run(const struct slri_ceilings_bench *b, const char *name,
                             slr_status (*measure)(const struct slri_ceilings_bench *, slr_kernel *, double *),
                             double *out)
{
    slr_kernel *kernel;
    SLRI_TRY(slr_program_get_kernel(b->program, name, &kernel));
    slr_status status = measure(b, kernel, out);
    slr_kernel_destroy(kernel);
    return status;
}

static slr_status measure_in(struct slri_ceilings_bench *b, bool costs_only, slr_ceilings *out)
{
    SLRI_TRY(slr_stream_create(b->device, NULL, &b->stream));
    SLRI_TRY(slr_program_from_text(b->device, "slipring ceilings", source, NULL, &b->program));
    for (int i = 0; i < 3; ++i)
        SLRI_TRY(slr_buffer_create(b->device, LARGEST * 4, &b->buffer[i]));
    if (!costs_only) {
        SLRI_TRY(slri_ceilings_run(b, "triad", triad, &out->bytes_per_second));
        SLRI_TRY(slri_ceilings_run(b, "chains", chains, &out->flops_per_second));
        SLRI_TRY(slri_ceilings_run(b, "chains64", chains, &out->flops64_per_second));
        SLRI_TRY(slri_ceilings_run(b, "nothing", nothing, &out->launch_ns));
    }
    return slri_ceilings_costs(b, out);
}

static slr_status measure(slr_device *device, bool costs_only, slr_ceilings *out)
{
    struct slri_ceilings_bench b = {.device = device};
    slr_status status = measure_in(&b, costs_only, out);
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(b.buffer[i]);
    slr_program_destroy(b.program);
    slr_stream_destroy(b.stream);
    return status;
}

// ---- the file ------------------------------------------------------------------------------------------------------

// Whole numbers: the decimal point is the locale's. A file of the first four alone lacks the costs.
#define FORMAT "slipring ceilings 1\nbytes_per_s %llu\nflops_per_s %llu\nflops64_per_s %llu\nlaunch_ns %llu\n"
#define COSTS                                                                                                          \
    "round_trip_ns %llu\nupload_ns %llu\nupload_bytes_per_s %llu\ndownload_ns %llu\ndownload_bytes_per_s %llu\n"       \
    "instructions_per_s %llu\nbranch_per_s %llu\ninstruction_ps %llu\n"
enum { PEAKS = 4, FIGURES = 12 };

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
    unsigned long long n[FIGURES] = {0};
    if (!read_text(device, &text))
        return false;
    int count = sscanf(text, FORMAT COSTS, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &n[10],
                       &n[11]);
    free(text);
    if (count < PEAKS || n[0] == 0 || n[1] == 0 || n[2] == 0)
        return false;
    *out = (slr_ceilings){.bytes_per_second = (double)n[0],
                          .flops_per_second = (double)n[1],
                          .flops64_per_second = (double)n[2],
                          .launch_ns = (double)n[3]};
    if (count < FIGURES || n[4] == 0 || n[6] == 0 || n[8] == 0 || n[9] == 0 || n[10] == 0 || n[11] == 0)
        return true; // without the costs
    out->round_trip_ns = (double)n[4];
    out->upload_ns = (double)n[5];
    out->upload_bytes_per_second = (double)n[6];
    out->download_ns = (double)n[7];
    out->download_bytes_per_second = (double)n[8];
    out->instructions_per_second = (double)n[9];
    out->branch_per_second = (double)n[10];
    out->instruction_ns = (double)n[11] / 1000;
    return true;
}

static unsigned long long whole(double figure)
{
    return (unsigned long long)figure;
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
    slri_text_printf(&text, FORMAT COSTS, whole(ceilings->bytes_per_second), whole(ceilings->flops_per_second),
                     whole(ceilings->flops64_per_second), whole(ceilings->launch_ns), whole(ceilings->round_trip_ns),
                     whole(ceilings->upload_ns), whole(ceilings->upload_bytes_per_second), whole(ceilings->download_ns),
                     whole(ceilings->download_bytes_per_second), whole(ceilings->instructions_per_second),
                     whole(ceilings->branch_per_second), whole(ceilings->instruction_ns * 1000));
    if (!text.out_of_memory)
        slri_folder_write(folder, name, text.data, text.length);
    slri_text_free(&text);
    slri_folder_close(folder);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// Of times; 0 is none.
static double smaller(double known, double found)
{
    return known > 0 && known < found ? known : found;
}

static void keep_better(const slr_ceilings *known, slr_ceilings *found)
{
    found->bytes_per_second = larger(found->bytes_per_second, known->bytes_per_second);
    found->flops_per_second = larger(found->flops_per_second, known->flops_per_second);
    found->flops64_per_second = larger(found->flops64_per_second, known->flops64_per_second);
    found->launch_ns = smaller(known->launch_ns, found->launch_ns);
    found->round_trip_ns = smaller(known->round_trip_ns, found->round_trip_ns);
    found->upload_ns = smaller(known->upload_ns, found->upload_ns);
    found->upload_bytes_per_second = larger(found->upload_bytes_per_second, known->upload_bytes_per_second);
    found->download_ns = smaller(known->download_ns, found->download_ns);
    found->download_bytes_per_second = larger(found->download_bytes_per_second, known->download_bytes_per_second);
    found->instructions_per_second = larger(found->instructions_per_second, known->instructions_per_second);
    found->branch_per_second = larger(found->branch_per_second, known->branch_per_second);
    found->instruction_ns = smaller(known->instruction_ns, found->instruction_ns);
}

// `known` all 0: nothing was known before.
static slr_status measure_and_keep(slr_device *device, const char *name, bool costs_only, const slr_ceilings *known,
                                   slr_ceilings *out)
{
    *out = *known;
    SLRI_TRY(measure(device, costs_only, out));
    keep_better(known, out);
    write_file(name, out);
    return SLR_OK;
}

static slr_status ceilings(slr_device *device, bool anew, const char *call, slr_ceilings *out, size_t bytes)
{
    slr_ceilings known = {0}, all;
    if (!device || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, device ? "out" : "device");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_ceilings, bytes)); // before seconds of measuring
    // Without a folder nothing is known, and nothing is kept.
    const char *name = slri_name_text(slri_device_name(device));
    bool is_known = slri_ceilings_find(name, &known);
    slr_status status = SLR_OK;
    if (is_known && !anew && known.round_trip_ns > 0)
        all = known;
    else
        status = measure_and_keep(device, name, is_known && !anew, &known, &all);
    return status == SLR_OK ? SLRI_GIVE_REPORT(slr_ceilings, out, bytes, &all) : status;
}

slr_status slr_profile_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return ceilings(device, false, "slr_profile_ceilings", out, bytes);
}

slr_status(slr_profile_ceilings)(slr_device *device, slr_ceilings *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_profile_ceilings_sized(device, out, SLRI_FIRST_slr_ceilings);
}

slr_status slr_profile_measure_ceilings_sized(slr_device *device, slr_ceilings *out, size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return ceilings(device, true, "slr_profile_measure_ceilings", out, bytes);
}

slr_status(slr_profile_measure_ceilings)(slr_device *device, slr_ceilings *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_profile_measure_ceilings_sized(device, out, SLRI_FIRST_slr_ceilings);
}
