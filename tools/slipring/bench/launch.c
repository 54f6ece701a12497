// SPDX-License-Identifier: Apache-2.0
// `slipring bench kernels`: what a launch costs that does nothing.
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/batch.h"
#include "bench/cuda.h"
#include "clock.h"
#include "say.h"
#include "spin.h"

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

enum { BY_HAND = 8, LAUNCHES = 512, WARM_UP = 64, SEEN = 32, SEEN_NS = 2000000 };

static const char source[] = "__global__ void empty(void) {}\n"
                             "__global__ void first(unsigned *word, unsigned number) { *word = number; }\n";

typedef struct launch_bench {
    bench *bench;
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_kernel *writer; // of a word
    slr_buffer *buffer;
    uint32_t *word, number;
    bare *bare; // Vulkan's alone
    cuda *cu;   // CUDA's alone, with the next
    cuda_kernel by_driver;
    double times[LAUNCHES];
    void (*job)(void *context);
    _Alignas(128) uint32_t asked; // functions handed to the partner
    _Alignas(128) uint32_t answered;
} launch_bench;

static bool launch_and_wait(launch_bench *l)
{
    slr_status status = SLR_LAUNCH(l->stream, l->kernel, SLR_GRID(1, 1, 0));
    if (status == SLR_OK)
        status = slr_stream_finish(l->stream, BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "launch_empty");
}

static void nothing(void *context)
{
    (void)context;
}

// Calls as many functions as a slice hands over.
static void serve(void *context)
{
    launch_bench *l = context;
    for (uint32_t i = 1; i <= WARM_UP + LAUNCHES; i++) {
        while (__atomic_load_n(&l->asked, __ATOMIC_ACQUIRE) != i) // the function
            spin_pause();
        l->job(NULL);
        __atomic_store_n(&l->answered, i, __ATOMIC_RELEASE); // what it wrote
    }
}

static bool hand_off(launch_bench *l)
{
    uint32_t number = l->asked + 1;
    l->job = nothing;
    __atomic_store_n(&l->asked, number, __ATOMIC_RELEASE);
    while (__atomic_load_n(&l->answered, __ATOMIC_ACQUIRE) != number)
        spin_pause();
    return true;
}

// The median of many, one behind the other, each waited for.
static bool measure(launch_bench *l, bool (*once)(launch_bench *l), double *figures)
{
    for (int i = 0; i < WARM_UP; i++)
        if (!once(l))
            return false;
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t start = clock_ns();
        if (!once(l))
            return false;
        l->times[i] = (double)(clock_ns() - start);
    }
    measure_sort(l->times, LAUNCHES);
    figures[0] = measure_quantile(l->times, LAUNCHES, 0.5);
    return true;
}

static bool launch_slice(void *context, double *figures)
{
    return measure(context, launch_and_wait, figures);
}

static bool hand_off_slice(void *context, double *figures)
{
    launch_bench *l = context;
    l->asked = l->answered = 0;
    partner_run(l->bench->partner, serve, l);
    bool fine = measure(l, hand_off, figures);
    partner_join(l->bench->partner);
    return fine;
}

static bool submit_and_wait(launch_bench *l)
{
    return bare_add(l->bare, BY_HAND);
}

static bool launch_by_driver(launch_bench *l)
{
    static const uint32_t one[2] = {1, 1};
    return cuda_launch(l->cu, l->by_driver, one, one, NULL);
}

static bool launch_by_driver_and_wait(launch_bench *l)
{
    return launch_by_driver(l) && cuda_finish(l->cu);
}

static bool driver_slice(void *context, double *figures)
{
    return measure(context, launch_by_driver_and_wait, figures);
}

static bool driver_run_slice(void *context, double *figures)
{
    launch_bench *l = context;
    bool fine = launch_by_driver_and_wait(l); // the device changes to this context
    uint64_t start = clock_ns();
    for (int i = 0; i < LAUNCHES && fine; i++)
        fine = launch_by_driver(l);
    fine = fine && cuda_finish(l->cu);
    figures[0] = (double)(clock_ns() - start) / LAUNCHES;
    return fine;
}

static bool submit_slice(void *context, double *figures)
{
    return measure(context, submit_and_wait, figures);
}

// What a launch costs beside the driver's own calls, where these are Vulkan's.
static bool measure_bare(launch_bench *l, const char *name, const measure_pair *pair)
{
    if (!bench_wants(l->bench, name))
        return true;
    bench_case beside = {
        name,
        "ns",
        {"p50"},
        "The same as launch_empty. Floor: without slipring, a recorded command buffer with a kernel for 8 messages is "
        "submitted, and the program waits for the timeline semaphore that it signals.",
        *pair};
    beside.pair.floor = submit_slice;
    if ((l->bare = bare_open(l->bench)) == NULL)
        return false;
    void *in = bare_take(l->bare, BY_HAND * sizeof(bench_message));
    void *out = bare_take(l->bare, BY_HAND * sizeof(uint32_t));
    bool fine = in && out && bare_prepare(l->bare, BARE_ADDER, in, out);
    if (!fine)
        say("%s has no floor: %s", name, bare_why(l->bare));
    fine = fine && bench_measure(l->bench, &beside);
    bare_close(l->bare);
    return fine;
}

// Many launches, waited for together: what each costs the caller and the stream.
static bool run_slice(void *context, double *figures)
{
    launch_bench *l = context;
    slr_status status = launch_and_wait(l) ? SLR_OK : SLR_DEVICE_LOST; // see driver_run_slice
    uint64_t start = clock_ns();
    for (int i = 0; i < LAUNCHES && status == SLR_OK; i++)
        status = SLR_LAUNCH(l->stream, l->kernel, SLR_GRID(1, 1, 0));
    if (status == SLR_OK)
        status = slr_stream_finish(l->stream, BENCH_TIMEOUT_NS);
    figures[0] = (double)(clock_ns() - start) / LAUNCHES;
    return status == SLR_OK || bench_failed(status, "launch_empty");
}

// What launches cost beside calls of CUDA's driver alone, in the primary context and a stream of its own.
static bool measure_by_driver(launch_bench *l, const char *name, const char *many, const measure_pair *pair)
{
    const char *why = "";
    if (!bench_wants(l->bench, name) && !bench_wants(l->bench, many))
        return true;
    bench_case one = {name,
                      "ns",
                      {"p50"},
                      "The same as launch_empty. Floor: cuLaunchKernel and cuStreamSynchronize in the calling thread.",
                      *pair};
    bench_case together = {
        many,
        "ns",
        {"median"},
        "The same as launch_empty_many. Floor: as many calls of cuLaunchKernel and one of cuStreamSynchronize.",
        *pair};
    one.pair.floor = driver_slice;
    together.pair.value = run_slice;
    together.pair.floor = driver_run_slice;
    l->cu = cuda_open(l->bench->info.name, &why);
    cuda_module *module =
        l->cu != NULL ? cuda_compile(l->cu, "extern \"C\" __global__ void empty() {}", "empty.cu", &why) : NULL;
    l->by_driver = module != NULL ? cuda_find(l->cu, module, "empty") : NULL;
    bool fine = l->by_driver != NULL;
    if (!fine)
        say("%s has no floor: %s", name, why);
    fine = fine && bench_measure(l->bench, &one) && bench_measure(l->bench, &together);
    if (l->cu != NULL)
        cuda_unload(l->cu, module);
    cuda_close(l->cu);
    return fine;
}

static bool measure_beside(launch_bench *l, const char *name, const char *many, const measure_pair *pair)
{
    const char *backend = l->bench->info.backend;
    return strcmp(backend, "vulkan") == 0 ? measure_bare(l, name, pair)
           : strcmp(backend, "cuda") == 0 ? measure_by_driver(l, name, many, pair)
                                          : true;
}

// The call alone, of a stream that is empty.
static bool call_slice(void *context, double *figures)
{
    launch_bench *l = context;
    slr_status status = SLR_OK;
    for (int i = 0; i < LAUNCHES && status == SLR_OK; i++) {
        uint64_t start = clock_ns();
        status = SLR_LAUNCH(l->stream, l->kernel, SLR_GRID(1, 1, 0));
        l->times[i] = (double)(clock_ns() - start);
        if (status == SLR_OK)
            status = slr_stream_finish(l->stream, BENCH_TIMEOUT_NS);
    }
    measure_sort(l->times, LAUNCHES);
    figures[0] = measure_quantile(l->times, LAUNCHES, 0.5) - l->bench->clock_ns;
    return status == SLR_OK || bench_failed(status, "launch_empty");
}

// The host's view of a word that the kernel writes. Where it changes only once the launch is waited for, the time is 0.
static slr_status launch_and_see(launch_bench *l, uint32_t number, double *ns)
{
    uint64_t start = clock_ns(), until = start + SEEN_NS;
    *ns = 0;
    slr_status status = SLR_LAUNCH(l->stream, l->writer, SLR_GRID(1, 1, 0), l->buffer, number);
    while (status == SLR_OK && *ns == 0 && clock_ns() < until)
        if (__atomic_load_n(l->word, __ATOMIC_ACQUIRE) == number) // nothing else is read
            *ns = (double)(clock_ns() - start);
    return status == SLR_OK ? slr_stream_finish(l->stream, BENCH_TIMEOUT_NS) : status;
}

static bool first_slice(void *context, double *figures)
{
    launch_bench *l = context;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < SEEN && status == SLR_OK; i++)
        status = launch_and_see(l, ++l->number, &l->times[i]);
    measure_sort(l->times, SEEN);
    figures[0] = measure_quantile(l->times, SEEN, 0.5);
    return status == SLR_OK || bench_failed(status, "launch_empty_first");
}

static slr_status make_word(launch_bench *l)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    l->word = bench_lines(4096);
    desc.bytes = 4096;
    desc.import = l->word;
    return slr_buffer_create_with(l->device, &desc, &l->buffer);
}

// Where the word is one of both sides; else a row that says that it is not.
static bool measure_first(launch_bench *l, const char *name, const measure_pair *pair)
{
    double seen = 0;
    bench_case first = {name,
                        "ns",
                        {"p50"},
                        "The time from the call of slr_launch on an empty stream until the host sees what the kernel's "
                        "first instruction writes. Floor: as for launch_empty.",
                        *pair};
    first.pair.value = first_slice;
    if (!bench_wants(l->bench, name))
        return true;
    slr_status status = make_word(l);
    for (int i = 0; i < WARM_UP && status == SLR_OK; i++)
        status = launch_and_see(l, ++l->number, &seen);
    bool fine = status == SLR_OK || bench_failed(status, name);
    if (fine && seen > 0)
        fine = bench_measure(l->bench, &first);
    else if (fine)
        bench_add(l->bench, &(bench_row){.name = name, .stat = "p50", .unit = "ns"},
                  "Not measured: the host sees what a kernel of this device writes only after a wait for the launch.");
    slr_buffer_destroy(l->buffer);
    free(l->word);
    return fine;
}

static bool open(launch_bench *l)
{
    partner_free_caller(l->bench->partner); // the device's threads must not inherit the caller's core
    slr_status status = slr_device_open(l->bench->info.name, NULL, &l->device);
    if (status == SLR_OK)
        status = slr_stream_default(l->device, &l->stream);
    if (status == SLR_OK)
        status = slr_program_from_text(l->device, "empty.cu", source, NULL, &l->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(l->program, "empty", &l->kernel);
    if (status == SLR_OK)
        status = slr_program_get_kernel(l->program, "first", &l->writer);
    bool fine = status == SLR_OK ? launch_and_wait(l) : bench_failed(status, "launch_empty");
    partner_move_caller(l->bench->partner, false);
    return fine;
}

bool bench_launch(bench *bench)
{
    static const char finished[] = "launch_empty", together[] = "launch_empty_many", called[] = "launch_empty_call",
                      first[] = "launch_empty_first", beside[] = "launch_empty_bare",
                      many_beside[] = "launch_empty_many_bare";
    launch_bench l = {.bench = bench};
    if (!bench_wants(bench, finished) && !bench_wants(bench, together) && !bench_wants(bench, called) &&
        !bench_wants(bench, first) && !bench_wants(bench, beside) && !bench_wants(bench, many_beside))
        return true;
    measure_pair pair = {
        .value = launch_slice, .floor = hand_off_slice, .value_context = &l, .floor_context = &l, .figures = 1};
    bench_case one = {finished,
                      "ns",
                      {"p50"},
                      "The time of a launch of a kernel that does nothing (one block of one thread) and of the wait "
                      "for its end; one launch after the other. Floor: the caller passes a function to a thread that "
                      "polls, and waits until this thread has called it.",
                      pair};
    bench_case many = {
        together,
        "ns",
        {"median"},
        "The time of one launch, if 512 launches follow one another before one wait. Floor: as for launch_empty.",
        pair};
    many.pair.value = run_slice;
    bench_case call = {called,
                       "ns",
                       {"p50"},
                       "The time of the call of slr_launch alone, on an empty stream. Floor: as for launch_empty.",
                       pair};
    call.pair.value = call_slice;
    bool fine = open(&l) && bench_measure(bench, &one) && bench_measure(bench, &many) && bench_measure(bench, &call) &&
                measure_first(&l, first, &pair) && measure_beside(&l, beside, many_beside, &pair);
    slr_kernel_destroy(l.writer);
    slr_kernel_destroy(l.kernel);
    slr_program_destroy(l.program);
    slr_device_close(l.device);
    return fine;
}
