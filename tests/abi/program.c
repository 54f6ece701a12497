// SPDX-License-Identifier: Apache-2.0
// A program of version 0.1: compiled with the headers of that version (tests/abi/0.1), as C and as C++, and run with
// the library of today. Each struct that it shares with the library ends where a page begins that nobody may touch, so
// that one byte read or written past the program's struct ends the program.
#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONG 60000000000ull

static const char source[] = "#include <slipring/device.h>\n"
                             "#include \"not_there.h\"\n"
                             "struct sum { int value; };\n"
                             "__ring__ void add(struct sum *self, const struct sum *in)\n"
                             "{\n"
                             "    self->value += 12 / in->value;\n"
                             "    ring_reply(self);\n"
                             "}\n"
                             "__global__ void scale(float *x, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    __shared__ float near[256];\n"
                             "    near[threadIdx.x] = x[i];\n"
                             "    x[i] = 2 * near[(threadIdx.x + 1) % blockDim.x];\n"
                             "}\n";

// `bytes` bytes of 0xa5 that end at a page without access. Never freed.
static void *guarded(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    char *at = (char *)mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) != 0)
        exit(2);
    memset(at, 0xa5, room);
    return at + room - bytes;
}

#define REPORT(type, name) type *name = (type *)guarded(sizeof(type))
#define DESC(type, name, init)                                                                                         \
    REPORT(type, name);                                                                                                \
    memset(name, 0, sizeof *name);                                                                                     \
    {                                                                                                                  \
        const type initial = init;                                                                                     \
        *name = initial;                                                                                               \
    }

static void must(slr_status status, const char *what, int line)
{
    if (status == SLR_OK)
        return;
    printf("line %d: %s: %s: %s\n", line, what, slr_status_name(status), slr_error_message());
    exit(1);
}
#define MUST(call) must((call), #call, __LINE__)

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("line %d: %s does not hold\n", __LINE__, #condition);                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static slr_device *device;
static slr_program *program;

static void devices(void)
{
    DESC(slr_device_desc, desc, SLR_DEVICE_DESC_INIT);
    MUST(slr_device_open("cpu?engine=interpreted", desc, &device));
    REPORT(slr_device_info, info);
    MUST(slr_device_get_info(device, info));
    HOLDS(strcmp(info->backend, "cpu") == 0 && info->ring_kernels == 1 && info->stalls == 0);
    REPORT(slr_backend_info, backend);
    MUST(slr_backend_get_info(0, backend));
    HOLDS(strcmp(backend->name, "cpu") == 0 && backend->devices == 1);
    REPORT(slr_metrics, metrics);
    MUST(slr_device_get_metrics(device, metrics));
    HOLDS(metrics->count > 0 && metrics->count <= SLR_MOST_METRICS);
}

static void memory(void)
{
    DESC(slr_buffer_desc, desc, SLR_BUFFER_DESC_INIT);
    slr_buffer *buffer;
    desc->dtype = SLR_F32;
    desc->rank = 1;
    desc->shape[0] = 64;
    MUST(slr_buffer_create_with(device, desc, &buffer));
    REPORT(slr_buffer_info, info);
    MUST(slr_buffer_get_info(buffer, info));
    HOLDS(info->bytes == 256 && info->shape[0] == 64 && info->pinned == 0);
    DESC(slr_print_desc, print, SLR_PRINT_DESC_INIT);
    char text[64];
    print->count = 2;
    MUST(slr_buffer_format(buffer, print, text, sizeof text, NULL));
    HOLDS(strcmp(text, "0 0\n") == 0);

    DESC(slr_heap_desc, heap_desc, SLR_HEAP_DESC_INIT);
    slr_heap *heap;
    MUST(slr_heap_create(device, heap_desc, &heap));
    REPORT(slr_heap_stats, heap_stats);
    MUST(slr_heap_get_stats(heap, heap_stats));
    HOLDS(heap_stats->max_bytes == UINT64_MAX && heap_stats->fragmentation == 0);
    slr_heap_destroy(heap);

    DESC(slr_pool_desc, pool_desc, SLR_POOL_DESC_INIT);
    slr_pool *pool;
    MUST(slr_pool_create(device, pool_desc, &pool));
    REPORT(slr_pool_stats, pool_stats);
    MUST(slr_pool_get_stats(pool, pool_stats));
    HOLDS(pool_stats->max_bytes == UINT64_MAX && pool_stats->hit_rate == 0);
    slr_pool_destroy(pool);
    slr_buffer_destroy(buffer);
}

static void programs(void)
{
    DESC(slr_program_desc, desc, SLR_PROGRAM_DESC_INIT);
    MUST(slr_program_from_text(device, "sums.cu", source, desc, &program));
    REPORT(slr_handler_info, handler);
    MUST(slr_program_get_handler(program, 0, handler));
    HOLDS(strcmp(handler->name, "add") == 0 && handler->message.bytes == 4 && handler->parameter_count == 0);
    REPORT(slr_function_info, function);
    MUST(slr_program_get_function(program, 1, function));
    HOLDS(strcmp(function->name, "scale") == 0 && function->parameter_count == 2);
    REPORT(slr_skipped_info, skipped);
    MUST(slr_program_get_skipped(program, 0, skipped));
    HOLDS(skipped->line == 2);
    REPORT(slr_explanation, explanation);
    MUST(slr_program_explain(program, "scale", explanation));
    HOLDS(explanation->thread.flops == 1);
    REPORT(slr_resources, resources);
    HOLDS(slr_program_get_resources(program, "add", 90, resources) == SLR_UNSUPPORTED); // a handler
    DESC(slr_emit_desc, emit, SLR_EMIT_DESC_INIT);
    size_t needed;
    emit->language = SLR_LANGUAGE_OPENCL;
    emit->name = "scale";
    MUST(slr_program_emit(program, emit, NULL, 0, &needed));
    HOLDS(needed > 100);
}

static void kernels(void)
{
    slr_kernel *kernel;
    slr_check *check;
    MUST(slr_program_get_kernel(program, "scale", &kernel));
    REPORT(slr_kernel_info, info);
    MUST(slr_kernel_get_info(kernel, info));
    HOLDS(info->max_threads == 1024 && info->takes_dynamic_shared == 0);
    DESC(slr_prefetch_desc, prefetch, SLR_PREFETCH_DESC_INIT);
    slr_point point;
    prefetch->kernel = "scale";
    MUST(slr_program_prefetch(program, prefetch, &point));
    MUST(slr_point_wait(point, LONG));

    DESC(slr_check_desc, desc, SLR_CHECK_DESC_INIT);
    MUST(slr_kernel_check(kernel, desc, &check));
    REPORT(slr_check_info, checked);
    MUST(slr_check_get_info(check, checked));
    HOLDS(checked->launches > 0 && checked->findings > 0);
    REPORT(slr_check_finding, finding);
    MUST(slr_check_get_finding(check, 0, finding));
    HOLDS(finding->code != 0 && finding->at.line != 0);
    REPORT(slr_check_launch, launch);
    MUST(slr_check_get_launch(check, 0, launch));
    HOLDS(launch->argument_count == 2);
    REPORT(slr_check_line, line);
    MUST(slr_check_get_line(check, 0, line));
    HOLDS(line->requests > 0);
    slr_check_destroy(check);
    slr_kernel_destroy(kernel);
}

static void streams(void)
{
    DESC(slr_stream_desc, desc, SLR_STREAM_DESC_INIT);
    slr_stream *stream;
    slr_graph *graph;
    MUST(slr_stream_create(device, desc, &stream));
    MUST(slr_graph_create(device, &graph));
    REPORT(slr_graph_info, info);
    MUST(slr_graph_get_info(graph, info));
    HOLDS(info->commands == 0);
    slr_graph_destroy(graph);
    slr_stream_destroy(stream);
}

static slr_ring *start(const char *name)
{
    DESC(slr_ring_desc, desc, SLR_RING_DESC_INIT);
    slr_ring *ring;
    desc->name = name;
    desc->program = program;
    desc->handler = "add";
    desc->dead_letters = 8;
    desc->latency_every = 1;
    MUST(slr_ring_create(device, desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_activate(ring, LONG));
    return ring;
}

static void rings(void)
{
    slr_ring *first = start("first"), *second = start("second");
    slr_address address;
    MUST(slr_ring_get_address(first, 0, &address));
    int in = 3, out = 0;
    MUST(slr_call(NULL, address, &in, sizeof in, &out, sizeof out, LONG));
    HOLDS(out == 4);
    in = 0; // divides by zero
    HOLDS(slr_call(NULL, address, &in, sizeof in, &out, sizeof out, LONG) == SLR_HANDLER_FAULT);

    REPORT(slr_ring_stats, stats);
    MUST(slr_ring_get_stats(first, stats));
    HOLDS(stats->handled == 1 && stats->faulted == 1 && stats->pending == 0 && stats->records_dropped == 0);
    REPORT(slr_latency, latency);
    MUST(slr_ring_get_latency(first, latency));
    HOLDS(latency->count == 2 && latency->every == 1);
    slr_latency_bucket buckets[16];
    uint32_t count;
    MUST(slr_ring_get_latency_buckets(first, buckets, 16, &count));
    MUST(slr_latency_summarise(buckets, count, latency));
    HOLDS(latency->count == 2 && latency->every == 0);

    slr_dead_letter *letter = (slr_dead_letter *)guarded(2 * sizeof *letter);
    MUST(slr_ring_take_dead_letters(first, letter, NULL, 0, 2, &count));
    HOLDS(count == 1 && letter[0].reason == SLR_DEAD_LETTER_FAULTED && letter[0].bytes == 4);

    DESC(slr_route_desc, route, SLR_ROUTE_DESC_INIT);
    MUST(slr_route(first, second, route));
    MUST(slr_unroute(first, second));

    DESC(slr_supervisor_desc, desc, SLR_SUPERVISOR_DESC_INIT);
    slr_supervisor *supervisor;
    MUST(slr_supervisor_create(desc, &supervisor));
    MUST(slr_supervisor_add_ring(supervisor, second));
    REPORT(slr_supervisor_stats, supervised);
    MUST(slr_supervisor_get_stats(supervisor, supervised));
    HOLDS(supervised->children == 1 && supervised->failed == 0);
    slr_supervisor_destroy(supervisor);

    REPORT(slr_ring_stats, last);
    MUST(slr_ring_terminate(first, LONG, NULL, NULL, last));
    HOLDS(last->state == SLR_RING_TERMINATED && last->handled == 1);
    slr_ring_destroy(first);
    slr_ring_destroy(second);
}

static void figures(void)
{
    slr_device *none;
    slr_profile_row *row = (slr_profile_row *)guarded(2 * sizeof *row);
    uint32_t count;
    MUST(slr_profile_start());
    for (int i = 0; i < 3; ++i) {
        static const char *const names[] = {"one", "two", "three"};
        slr_region_begin(names[i]);
        slr_region_end();
    }
    MUST(slr_profile_read(row, 2, &count)); // there are more rows than places
    HOLDS(count == 3 && row[0].kind == SLR_PROFILE_REGION && row[0].n == 1 && row[1].n == 1);
    HOLDS(row[0].total_ns >= row[1].total_ns && row[1].lines[0].line == 0);
    slr_profile_stop();

    MUST(slr_device_open("null", NULL, &none));
    REPORT(slr_ceilings, ceilings);
    HOLDS(slr_profile_ceilings(none, ceilings) == SLR_UNSUPPORTED);
    HOLDS(slr_profile_measure_ceilings(none, ceilings) == SLR_UNSUPPORTED);
    slr_device_close(none);

    DESC(slr_occupancy_desc, desc, SLR_OCCUPANCY_DESC_INIT);
    desc->capability = 90;
    desc->block_threads = 256;
    desc->registers = 32;
    REPORT(slr_occupancy, occupancy);
    MUST(slr_occupancy_compute(desc, occupancy));
    HOLDS(occupancy->blocks == 8 && occupancy->max_warps == 64);

    DESC(slr_trace_desc, trace, SLR_TRACE_DESC_INIT);
    MUST(slr_trace_start("/dev/null", trace));
    REPORT(slr_trace_stats, stats);
    MUST(slr_trace_stop(stats));
    HOLDS(stats->dropped == 0);
}

int main(void)
{
    devices();
    memory();
    programs();
    kernels();
    streams();
    rings();
    figures();
    slr_program_destroy(program);
    slr_device_close(device);
    puts("a program of slipring " SLR_VERSION " runs");
    return 0;
}
