// SPDX-License-Identifier: Apache-2.0
// The device, and what is said of things before they are made.
#include "tests/fakes/metal/inside.h"

#include "tests/fakes/metal/classes.h"

// ---- descriptions --------------------------------------------------------------------------------------------------

static void set_fast_math(struct compile_options *options, sel selector, bool is_on)
{
    (void)selector;
    options->has_fast_math = is_on;
}

static void set_language(struct compile_options *options, sel selector, uint64_t version)
{
    (void)selector;
    options->version = version;
}

struct class class_MTLCompileOptions = {.name = "MTLCompileOptions",
                                        .bytes = sizeof(struct compile_options),
                                        .of_object = (struct method[]){METHOD("setFastMathEnabled:", set_fast_math),
                                                                       METHOD("setLanguageVersion:", set_language),
                                                                       {0}}};

static void put(struct object **place, struct object *object)
{
    held(object);
    let_go(*place);
    *place = object;
}

static void set_function(struct pipeline_how *how, sel selector, struct object *function)
{
    (void)selector;
    put(&how->function, function);
}

static void set_archives(struct pipeline_how *how, sel selector, struct object *archives)
{
    (void)selector;
    put(&how->archives, archives);
}

static void set_most_threads(struct pipeline_how *how, sel selector, uint64_t most)
{
    (void)selector;
    how->most_threads = most;
}

static void end_pipeline_how(struct object *object)
{
    const struct pipeline_how *how = (struct pipeline_how *)object;
    let_go(how->function);
    let_go(how->archives);
}

struct class class_MTLComputePipelineDescriptor = {
    .name = "MTLComputePipelineDescriptor",
    .bytes = sizeof(struct pipeline_how),
    .of_object = (struct method[]){METHOD("setComputeFunction:", set_function),
                                   METHOD("setBinaryArchives:", set_archives),
                                   METHOD("setMaxTotalThreadsPerThreadgroup:", set_most_threads),
                                   {0}},
    .end = end_pipeline_how};

static void set_url(struct archive_how *how, sel selector, struct object *url)
{
    (void)selector;
    put(&how->url, url);
}

static void end_archive_how(struct object *object)
{
    let_go(((struct archive_how *)object)->url);
}

struct class class_MTLBinaryArchiveDescriptor = {.name = "MTLBinaryArchiveDescriptor",
                                                 .bytes = sizeof(struct archive_how),
                                                 .of_object = (struct method[]){METHOD("setUrl:", set_url), {0}},
                                                 .end = end_archive_how};

// ---- the device ----------------------------------------------------------------------------------------------------

static struct object *device_name(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return later(text_of("Simulated Metal device"));
}

static uint64_t device_id(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return 0x100000042;
}

static bool has_unified_memory(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return fake.is_apart == 0;
}

static bool supports_family(struct object *device, sel selector, int64_t family)
{
    (void)device, (void)selector;
    return family <= 5001 && fake.system_major != 12; // Metal 3 came with macOS 13
}

static uint64_t working_set(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return UINT64_C(5726623061);
}

static uint64_t allocated(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return allocated_bytes();
}

static uint64_t most_buffer(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return UINT64_C(1) << 32;
}

static uint64_t most_shared(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return 32768;
}

static struct size most_threads(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return (struct size){1024, 1024, 1024};
}

struct class class_MTLDevice = {
    .name = "MTLDevice",
    .bytes = sizeof(struct object),
    .of_object =
        (struct method[]){METHOD("name", device_name),
                          METHOD("registryID", device_id),
                          METHOD("hasUnifiedMemory", has_unified_memory),
                          METHOD("supportsFamily:", supports_family),
                          METHOD("recommendedMaxWorkingSetSize", working_set),
                          METHOD("currentAllocatedSize", allocated),
                          METHOD("maxBufferLength", most_buffer),
                          METHOD("maxThreadgroupMemoryLength", most_shared),
                          METHOD("maxThreadsPerThreadgroup", most_threads),
                          METHOD("newCommandQueueWithMaxCommandBufferCount:", new_queue),
                          METHOD("newSharedEvent", new_event),
                          METHOD("newBufferWithLength:options:", new_buffer),
                          METHOD("newLibraryWithSource:options:error:", new_library),
                          METHOD("newBinaryArchiveWithDescriptor:error:", new_archive),
                          METHOD("newComputePipelineStateWithDescriptor:options:reflection:error:", new_pipeline),
                          {0}}};

// A device that each caller of this gets anew is one more object that may leak.
SEEN struct object *MTLCopyAllDevices(void);
struct object *MTLCopyAllDevices(void)
{
    if (fails("MTLCopyAllDevices"))
        return NULL;
    found_again();
    struct array *array = made(&class_NSArray);
    array->of[array->count++] = made(&class_MTLDevice);
    return &array->object;
}
