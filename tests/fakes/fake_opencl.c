// SPDX-License-Identifier: Apache-2.0
// See fake_opencl.h. Prototypes are checked against the table that the backend calls by.
#include "fake_opencl.h"

#include "hal/opencl/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_stay.h"

static struct fake_opencl fake_opencl;

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) SEEN result cl##name parameters;
SLRI_CL_REQUIRED(DECLARE)
SLRI_CL_OPTIONAL(DECLARE)

SEEN struct fake_opencl *fake_opencl_words(void);
struct fake_opencl *fake_opencl_words(void)
{
    return &fake_opencl;
}

// ---- failing on demand ---------------------------------------------------------------------------------------------

static int32_t next_call(const char *name)
{
    if (fake_opencl.only && strncmp(name, fake_opencl.only, strlen(fake_opencl.only)) != 0)
        return 0;
    uint32_t call = __atomic_add_fetch(&fake_opencl.calls, 1, __ATOMIC_RELAXED); // a poller calls, too
    uint32_t fail_at = __atomic_load_n(&fake_opencl.fail_at, __ATOMIC_ACQUIRE);  // `lost`
    if (fail_at == 0 || (call != fail_at && !(fake_opencl.lost && call > fail_at)))
        return 0;
    const char *none = NULL; // the first that failed
    __atomic_compare_exchange_n(&fake_opencl.failed, &none, name, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return fake_opencl.error;
}

#define CALL(name)                                                                                                     \
    do {                                                                                                               \
        int32_t failure = next_call(#name);                                                                            \
        if (failure != 0)                                                                                              \
            return failure;                                                                                            \
    } while (0)
// For those that give an object.
#define CALL_FOR_OBJECT(name)                                                                                          \
    do {                                                                                                               \
        *error = next_call(#name);                                                                                     \
        if (*error != 0)                                                                                               \
            return NULL;                                                                                               \
    } while (0)

static int32_t refuse(int32_t error)
{
    ++fake_opencl.wrong;
    return error;
}

// ---- objects -------------------------------------------------------------------------------------------------------

enum kind { CONTEXT = 0x51, QUEUE, MEM, EVENT, PROGRAM, KERNEL };

struct object {
    enum kind kind;
    int32_t status; // of an event
    unsigned char *bytes;
    size_t size;
    bool own; // `bytes`
    // Of a kernel: its name and what it was given; of a launch of one that stays: that.
    char name[24];
    void *memory;
    void (*call)(slri_cl_event event, int32_t status, void *user); // of an event: when it is done, with `memory`
    uint32_t word[3];
    const struct object *given[16]; // memory objects among its arguments
    struct fake_stay *stay;
    struct object *next, **place; // of all that are alive: what a lost device keeps is not forgotten
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *all;

static void *make(enum kind kind)
{
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    pthread_mutex_lock(&all_lock);
    object->next = all;
    object->place = &all;
    if (all)
        all->place = &object->next;
    all = object;
    pthread_mutex_unlock(&all_lock);
    __atomic_add_fetch(&fake_opencl.live, 1, __ATOMIC_RELAXED);
    return object;
}

static bool is_alive(const void *handle, enum kind kind)
{
    pthread_mutex_lock(&all_lock);
    const struct object *object = all;
    while (object && object != handle)
        object = object->next;
    bool alive = object && object->kind == kind;
    pthread_mutex_unlock(&all_lock);
    return alive;
}

static int32_t drop(void *handle, enum kind kind)
{
    struct object *object = handle;
    if (!object || object->kind != kind)
        return refuse(-30);
    object->kind = 0;
    pthread_mutex_lock(&all_lock);
    *object->place = object->next;
    if (object->next)
        object->next->place = object->place;
    pthread_mutex_unlock(&all_lock);
    if (object->own)
        free(object->bytes);
    free(object);
    __atomic_sub_fetch(&fake_opencl.live, 1, __ATOMIC_RELAXED);
    return 0;
}

static unsigned char *at(slri_cl_mem mem, size_t offset, size_t bytes)
{
    struct object *object = (void *)mem;
    return object->kind == MEM && offset <= object->size && bytes <= object->size - offset ? object->bytes + offset
                                                                                           : NULL;
}

// A command that its caller waits for tells its failure at once.
static int32_t done(uint32_t blocking, slri_cl_event *event)
{
    if (blocking) {
        fake_opencl.failed = ++fake_opencl.events == fake_opencl.fail_event ? "a command" : fake_opencl.failed;
        return fake_opencl.events == fake_opencl.fail_event ? fake_opencl.error : event ? refuse(-30) : 0;
    }
    if (!event)
        return refuse(-30); // nobody would learn of its failure
    struct object *made = make(EVENT);
    if (++fake_opencl.events == fake_opencl.fail_event) {
        made->status = fake_opencl.error;
        fake_opencl.failed = "a command";
    }
    *event = (slri_cl_event)(void *)made;
    return 0;
}

// ---- platform and device -------------------------------------------------------------------------------------------

enum { PLATFORMS = 4, DEVICES = 2 };
static char platform_handle[PLATFORMS], device_handle[PLATFORMS][DEVICES];

int32_t clGetPlatformIDs(uint32_t room, slri_cl_platform *out, uint32_t *count)
{
    CALL(GetPlatformIDs);
    *count = fake_opencl.platforms ? fake_opencl.platforms : 1;
    for (uint32_t i = 0; i < *count && i < room; ++i)
        out[i] = (slri_cl_platform)(void *)&platform_handle[i];
    return 0;
}

static int32_t answer(const void *from, size_t bytes, size_t room, void *out, size_t *told)
{
    if (told)
        *told = bytes;
    if (out && room < bytes)
        return refuse(-30);
    if (out)
        memcpy(out, from, bytes);
    return 0;
}

int32_t clGetPlatformInfo(slri_cl_platform platform, uint32_t what, size_t room, void *out, size_t *bytes)
{
    CALL(GetPlatformInfo);
    (void)what;
    char name[] = "fake 0";
    name[5] = (char)('0' + ((char *)(void *)platform - platform_handle));
    return answer(name, sizeof name, room, out, bytes);
}

int32_t clGetDeviceIDs(slri_cl_platform platform, uint64_t type, uint32_t room, slri_cl_device_id *out, uint32_t *count)
{
    CALL(GetDeviceIDs);
    (void)type;
    ptrdiff_t number = (char *)(void *)platform - platform_handle;
    if (number == 1)
        return -1; // CL_DEVICE_NOT_FOUND
    *count = number == 0 ? 1 : DEVICES;
    for (uint32_t i = 0; i < *count && i < room; ++i)
        out[i] = (slri_cl_device_id)(void *)&device_handle[number][i];
    return 0;
}

static int32_t answer_text(slri_cl_device_id id, uint32_t what, size_t room, void *out, size_t *bytes)
{
    char version[32], name[] = "a fake 0";
    name[7] = (char)('0' + ((char *)(void *)id - &device_handle[0][0]) % DEVICES);
    snprintf(version, sizeof version, "OpenCL %u.%u fake", fake_opencl.version / 100, fake_opencl.version / 10 % 10);
    const char *text = what == SLRI_CL_DEVICE_VERSION      ? version
                       : what != SLRI_CL_DEVICE_EXTENSIONS ? name
                       : fake_opencl.sub_groups ? "cl_khr_fp64 cl_khr_subgroup_ballot cl_khr_subgroup_shuffle"
                                                : "cl_khr_fp64 cl_khr_priority_hints";
    return answer(text, strlen(text) + 1, room, out, bytes);
}

int32_t clGetDeviceInfo(slri_cl_device_id id, uint32_t what, size_t room, void *out, size_t *bytes)
{
    CALL(GetDeviceInfo);
    const uint64_t svm = fake_opencl.svm, memory = (uint64_t)1 << 30, floats = 128;
    const uint32_t units = fake_opencl.units ? fake_opencl.units : 2, alignment = 1024, yes = 1;
    const size_t group = 256;
    const uint64_t type = fake_opencl.type ? fake_opencl.type : SLRI_CL_DEVICE_TYPE_CPU;
    switch (what) {
    case SLRI_CL_DEVICE_NAME:
    case SLRI_CL_DEVICE_VERSION:
    case SLRI_CL_DRIVER_VERSION:
    case SLRI_CL_DEVICE_EXTENSIONS:
        return answer_text(id, what, room, out, bytes);
    case SLRI_CL_DEVICE_MAX_NUM_SUB_GROUPS:
        return answer(&fake_opencl.sub_groups, sizeof fake_opencl.sub_groups, room, out, bytes);
    case SLRI_CL_DEVICE_TYPE:
        return answer(&type, sizeof type, room, out, bytes);
    case SLRI_CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer(&units, sizeof units, room, out, bytes);
    case SLRI_CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer(&group, sizeof group, room, out, bytes);
    case SLRI_CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return answer(&alignment, sizeof alignment, room, out, bytes);
    case SLRI_CL_DEVICE_AVAILABLE:
        return answer(&fake_opencl.available, sizeof yes, room, out, bytes);
    case SLRI_CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer(&fake_opencl.host_unified, sizeof yes, room, out, bytes);
    case SLRI_CL_DEVICE_COMPILER_AVAILABLE:
    case SLRI_CL_DEVICE_ENDIAN_LITTLE:
        return answer(&yes, sizeof yes, room, out, bytes);
    case SLRI_CL_DEVICE_SINGLE_FP_CONFIG:
        return answer(&floats, sizeof floats, room, out, bytes);
    case SLRI_CL_DEVICE_SVM_CAPABILITIES:
        return answer(&svm, sizeof svm, room, out, bytes);
    case SLRI_CL_DEVICE_GLOBAL_MEM_SIZE:
    case SLRI_CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case SLRI_CL_DEVICE_LOCAL_MEM_SIZE:
    case SLRI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return answer(&memory, sizeof memory, room, out, bytes);
    default:
        return refuse(-30);
    }
}

// ---- contexts, queues, events --------------------------------------------------------------------------------------

slri_cl_context clCreateContext(const intptr_t *properties, uint32_t devices, const slri_cl_device_id *device,
                                void *notify, void *user, int32_t *error)
{
    CALL_FOR_OBJECT(CreateContext);
    (void)properties, (void)devices, (void)device, (void)notify, (void)user;
    return make(CONTEXT);
}

int32_t clReleaseContext(slri_cl_context context)
{
    return drop(context, CONTEXT);
}

slri_cl_queue clCreateCommandQueue(slri_cl_context context, slri_cl_device_id id, uint64_t properties, int32_t *error)
{
    CALL_FOR_OBJECT(CreateCommandQueue);
    (void)context, (void)id, (void)properties;
    return make(QUEUE);
}

slri_cl_queue clCreateCommandQueueWithProperties(slri_cl_context context, slri_cl_device_id id,
                                                 const uint64_t *properties, int32_t *error)
{
    CALL_FOR_OBJECT(CreateCommandQueueWithProperties);
    (void)context, (void)id, (void)properties;
    return make(QUEUE);
}

int32_t clReleaseCommandQueue(slri_cl_queue queue)
{
    return drop(queue, QUEUE);
}

// Waits for a launch of a kernel that stays; gives the event's status.
static int32_t settle(struct object *event)
{
    if (event->status > 0) // it hangs, and so would whoever waits
        return refuse(-58);
    if (event->stay) {
        pthread_join(event->stay->thread, NULL);
        event->status = event->stay->status;
        free(event->stay);
        event->stay = NULL;
    }
    return event->status;
}

// Commands that hang are done after all.
SEEN void fake_opencl_end_hung(void);
void fake_opencl_end_hung(void)
{
    pthread_mutex_lock(&all_lock);
    for (struct object *event = all; event; event = event->next) {
        if (event->kind != EVENT || event->stay || event->status <= 0)
            continue;
        __atomic_store_n(&event->status, 0, __ATOMIC_RELEASE); // what they did
        if (event->call)
            event->call((slri_cl_event)(void *)event, 0, event->memory);
    }
    pthread_mutex_unlock(&all_lock);
}

SEEN void fake_opencl_join(void);
void fake_opencl_join(void)
{
    pthread_mutex_lock(&all_lock);
    for (struct object *object = all; object; object = object->next)
        if (object->kind == EVENT && object->stay)
            settle(object);
    pthread_mutex_unlock(&all_lock);
}

int32_t clWaitForEvents(uint32_t count, const slri_cl_event *event)
{
    CALL(WaitForEvents);
    if (count == 0)
        return refuse(-30);
    for (uint32_t i = 0; i < count; ++i)
        if (settle((void *)event[i]) < 0)
            return -14;
    return 0;
}

// Each command takes a microsecond.
int32_t clGetEventProfilingInfo(slri_cl_event event, uint32_t what, size_t room, void *out, size_t *bytes)
{
    CALL(GetEventProfilingInfo);
    (void)bytes;
    if (!event || room != sizeof(uint64_t) ||
        (what != SLRI_CL_PROFILING_COMMAND_QUEUED && what != SLRI_CL_PROFILING_COMMAND_START &&
         what != SLRI_CL_PROFILING_COMMAND_END))
        return refuse(-30);
    *(uint64_t *)out = what == SLRI_CL_PROFILING_COMMAND_END     ? 2000
                       : what == SLRI_CL_PROFILING_COMMAND_START ? 1000
                                                                 : 500;
    return 0;
}

int32_t clGetEventInfo(slri_cl_event event, uint32_t what, size_t room, void *out, size_t *bytes)
{
    CALL(GetEventInfo);
    (void)what;
    if (fake_look(&fake_opencl.mute))
        return fake_opencl.error;
    const struct object *object = (void *)event;
    int32_t status = __atomic_load_n(object->stay ? &object->stay->status : &object->status, __ATOMIC_ACQUIRE);
    return answer(&status, sizeof status, room, out, bytes);
}

int32_t clSetEventCallback(slri_cl_event event, int32_t status,
                           void (*call)(slri_cl_event event, int32_t status, void *user), void *user)
{
    CALL(SetEventCallback);
    struct object *object = (void *)event;
    if (object->kind != EVENT || object->stay || status != 0)
        return refuse(-58);
    if (object->status <= 0) {
        call(event, object->status, user);
        return 0;
    }
    object->memory = user;
    object->call = call;
    return 0;
}

int32_t clReleaseEvent(slri_cl_event event)
{
    settle((void *)event);
    return drop(event, EVENT);
}

int32_t clFlush(slri_cl_queue queue)
{
    CALL(Flush);
    (void)queue;
    if (fake_look(&fake_opencl.mute))
        return fake_opencl.error;
    return 0;
}

// ---- programs: taken as they are, and kernels that do nothing ------------------------------------------------------

static const char log_text[] = "kernel.cu:3:7: error: the fake does not like it";

slri_cl_program clCreateProgramWithSource(slri_cl_context context, uint32_t count, const char **text,
                                          const size_t *bytes, int32_t *error)
{
    CALL_FOR_OBJECT(CreateProgramWithSource);
    (void)context, (void)count, (void)text, (void)bytes;
    return make(PROGRAM);
}

slri_cl_program clCreateProgramWithBinary(slri_cl_context context, uint32_t count, const slri_cl_device_id *id,
                                          const size_t *bytes, const unsigned char **binary, int32_t *each,
                                          int32_t *error)
{
    CALL_FOR_OBJECT(CreateProgramWithBinary);
    (void)context, (void)count, (void)id;
    *each = *bytes == 6 && memcmp(*binary, "binary", 6) == 0 ? 0 : -42;
    *error = *each;
    return *each == 0 ? make(PROGRAM) : NULL;
}

int32_t clBuildProgram(slri_cl_program program, uint32_t devices, const slri_cl_device_id *id, const char *options,
                       void *notify, void *user)
{
    CALL(BuildProgram);
    (void)program, (void)devices, (void)id, (void)options, (void)notify, (void)user;
    return 0;
}

int32_t clGetProgramBuildInfo(slri_cl_program program, slri_cl_device_id id, uint32_t what, size_t room, void *out,
                              size_t *bytes)
{
    CALL(GetProgramBuildInfo);
    (void)program, (void)id, (void)what;
    return answer(log_text, sizeof log_text, room, out, bytes);
}

int32_t clGetProgramInfo(slri_cl_program program, uint32_t what, size_t room, void *out, size_t *bytes)
{
    CALL(GetProgramInfo);
    (void)program;
    const size_t size = 6;
    if (what == SLRI_CL_PROGRAM_BINARY_SIZES)
        return answer(&size, sizeof size, room, out, bytes);
    memcpy(*(unsigned char **)out, "binary", size);
    return 0;
}

int32_t clReleaseProgram(slri_cl_program program)
{
    return drop(program, PROGRAM);
}

slri_cl_kernel clCreateKernel(slri_cl_program program, const char *name, int32_t *error)
{
    CALL_FOR_OBJECT(CreateKernel);
    (void)program;
    struct object *kernel = make(KERNEL);
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    return (slri_cl_kernel)(void *)kernel;
}

int32_t clGetKernelSubGroupInfo(slri_cl_kernel kernel, slri_cl_device_id id, uint32_t what, size_t in_bytes,
                                const void *in, size_t room, void *out, size_t *bytes)
{
    CALL(GetKernelSubGroupInfo);
    (void)id, (void)in;
    const size_t size = fake_opencl.sub_groups;
    bool fits = is_alive(kernel, KERNEL) && what == SLRI_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE && in_bytes == 24;
    return fits ? answer(&size, sizeof size, room, out, bytes) : refuse(-30);
}

// A device of 256 threads a group, in eights; the kernel has no memory of its own.
int32_t clGetKernelWorkGroupInfo(slri_cl_kernel kernel, slri_cl_device_id id, uint32_t what, size_t room, void *out,
                                 size_t *bytes)
{
    CALL(GetKernelWorkGroupInfo);
    (void)id;
    const size_t most = 256, multiple = 8;
    const uint64_t none = 0;
    if (!is_alive(kernel, KERNEL))
        return refuse(-48);
    switch (what) {
    case SLRI_CL_KERNEL_WORK_GROUP_SIZE:
        return answer(&most, sizeof most, room, out, bytes);
    case SLRI_CL_KERNEL_PREFERRED_MULTIPLE:
        return answer(&multiple, sizeof multiple, room, out, bytes);
    case SLRI_CL_KERNEL_LOCAL_MEM_SIZE:
    case SLRI_CL_KERNEL_PRIVATE_MEM_SIZE:
        return answer(&none, sizeof none, room, out, bytes);
    default:
        return refuse(-30);
    }
}

int32_t clSetKernelArg(slri_cl_kernel kernel, uint32_t index, size_t bytes, const void *value)
{
    CALL(SetKernelArg);
    struct object *object = (void *)kernel;
    const void *handle = NULL;
    if (value && bytes == sizeof handle)
        memcpy(&handle, value, sizeof handle);
    if (index < 16) // no kernel keeps them, as the specification says
        object->given[index] = is_alive(handle, MEM) ? handle : NULL;
    if (index == 0 && bytes == sizeof(slri_cl_mem))
        object->memory = *(struct object *const *)value;
    else if (index < 3 && bytes == sizeof(uint32_t))
        memcpy(&object->word[index], value, bytes);
    return 0;
}

int32_t clSetKernelArgSVMPointer(slri_cl_kernel kernel, uint32_t index, const void *value)
{
    CALL(SetKernelArgSVMPointer);
    if (index == 0)
        ((struct object *)(void *)kernel)->memory = (void *)(uintptr_t)value;
    return 0;
}

int32_t clSetKernelExecInfo(slri_cl_kernel kernel, uint32_t what, size_t bytes, const void *value)
{
    CALL(SetKernelExecInfo);
    (void)kernel, (void)value;
    return what == SLRI_CL_KERNEL_EXEC_INFO_SVM_PTRS && bytes != 0 && bytes % sizeof(void *) == 0 ? 0 : refuse(-30);
}

int32_t clReleaseKernel(slri_cl_kernel kernel)
{
    return drop(kernel, KERNEL);
}

static int32_t begin_stay(const struct object *kernel, bool canary, slri_cl_event *event)
{
    struct fake_stay *stay = calloc(1, sizeof *stay);
    struct object *made = make(EVENT);
    *stay = (struct fake_stay){.status = 1, .words = &fake_opencl};
    if (canary) {
        stay->canary = (uint32_t *)(void *)((struct object *)kernel->memory)->bytes;
        stay->looks = kernel->word[1];
        stay->group = kernel->word[2];
    } else {
        stay->table = kernel->memory;
    }
    made->stay = stay;
    __atomic_fetch_add(&fake_opencl.staying, 1, __ATOMIC_RELAXED);
    *event = (slri_cl_event)(void *)made;
    return pthread_create(&stay->thread, NULL, fake_stay_run, stay) == 0 ? 0 : refuse(-5);
}

int32_t clEnqueueNDRangeKernel(slri_cl_queue queue, slri_cl_kernel kernel, uint32_t dimensions, const size_t *offset,
                               const size_t *global, const size_t *local, uint32_t waits, const slri_cl_event *wait,
                               slri_cl_event *event)
{
    CALL(EnqueueNDRangeKernel);
    (void)queue, (void)dimensions, (void)offset, (void)waits, (void)wait;
    if (*local == 0 || *global % *local != 0)
        return refuse(-54);
    const struct object *object = (void *)kernel;
    for (int i = 0; i < 16; ++i)
        if (object->given[i] && !is_alive(object->given[i], MEM))
            return refuse(-38);
    bool canary = strcmp(object->name, "slr_canary") == 0, group = strcmp(object->name, "slr_stay") == 0;
    if (group && fake_look(&fake_opencl.refuse_stay))
        return fake_opencl.error;
    if (fake_look(&fake_opencl.hang) && !canary && !group) {
        struct object *never = make(EVENT);
        never->status = 1;
        *event = (slri_cl_event)(void *)never;
        return 0;
    }
    return fake_opencl.stays && (canary || group) ? begin_stay(object, canary, event) : done(0, event);
}

// ---- memory --------------------------------------------------------------------------------------------------------

slri_cl_mem clCreateBuffer(slri_cl_context context, uint64_t flags, size_t bytes, void *host, int32_t *error)
{
    CALL_FOR_OBJECT(CreateBuffer);
    (void)context;
    bool uses = (flags & SLRI_CL_MEM_USE_HOST_PTR) != 0, copies = (flags & SLRI_CL_MEM_COPY_HOST_PTR) != 0;
    unsigned char *memory = uses ? host : malloc(bytes);
    if (copies)
        memcpy(memory, host, bytes);
    struct object *mem = make(MEM);
    mem->bytes = memory;
    mem->size = bytes;
    mem->own = !uses;
    return (slri_cl_mem)(void *)mem;
}

slri_cl_mem clCreateSubBuffer(slri_cl_mem mem, uint64_t flags, uint32_t type, const void *region, int32_t *error)
{
    CALL_FOR_OBJECT(CreateSubBuffer);
    (void)flags, (void)type;
    const size_t *place = region;
    unsigned char *bytes = at(mem, place[0], place[1]);
    if (!bytes || place[0] % 128 != 0) {
        *error = refuse(-13);
        return NULL;
    }
    struct object *part = make(MEM);
    part->bytes = bytes;
    part->size = place[1];
    return (slri_cl_mem)(void *)part;
}

int32_t clReleaseMemObject(slri_cl_mem mem)
{
    return drop(mem, MEM);
}

int32_t clEnqueueReadBuffer(slri_cl_queue queue, slri_cl_mem mem, uint32_t blocking, size_t offset, size_t bytes,
                            void *to, uint32_t waits, const slri_cl_event *wait, slri_cl_event *event)
{
    CALL(EnqueueReadBuffer);
    (void)queue, (void)waits, (void)wait;
    const unsigned char *from = at(mem, offset, bytes);
    if (!from || bytes == 0)
        return refuse(-30);
    memcpy(to, from, bytes);
    return done(blocking, event);
}

int32_t clEnqueueWriteBuffer(slri_cl_queue queue, slri_cl_mem mem, uint32_t blocking, size_t offset, size_t bytes,
                             const void *from, uint32_t waits, const slri_cl_event *wait, slri_cl_event *event)
{
    CALL(EnqueueWriteBuffer);
    (void)queue, (void)waits, (void)wait;
    unsigned char *to = at(mem, offset, bytes);
    if (!to || bytes == 0)
        return refuse(-30);
    memcpy(to, from, bytes);
    return done(blocking, event);
}

static int32_t copy(unsigned char *to, const unsigned char *from, size_t bytes, uint32_t blocking, slri_cl_event *event)
{
    if (!to || !from || bytes == 0)
        return refuse(-30);
    if ((to > from ? (size_t)(to - from) : (size_t)(from - to)) < bytes)
        return refuse(-8);
    memcpy(to, from, bytes);
    return done(blocking, event);
}

int32_t clEnqueueCopyBuffer(slri_cl_queue queue, slri_cl_mem from, slri_cl_mem to, size_t from_offset, size_t to_offset,
                            size_t bytes, uint32_t waits, const slri_cl_event *wait, slri_cl_event *event)
{
    CALL(EnqueueCopyBuffer);
    (void)queue, (void)waits, (void)wait;
    return copy(at(to, to_offset, bytes), at(from, from_offset, bytes), bytes, 0, event);
}

static int32_t fill(unsigned char *to, size_t place, const void *pattern, size_t pattern_bytes, size_t bytes,
                    slri_cl_event *event)
{
    if (!to || place % pattern_bytes != 0 || bytes % pattern_bytes != 0 || bytes == 0)
        return refuse(-30);
    for (size_t i = 0; i < bytes; i += pattern_bytes)
        memcpy(to + i, pattern, pattern_bytes);
    return done(0, event);
}

int32_t clEnqueueFillBuffer(slri_cl_queue queue, slri_cl_mem mem, const void *pattern, size_t pattern_bytes,
                            size_t offset, size_t bytes, uint32_t waits, const slri_cl_event *wait,
                            slri_cl_event *event)
{
    CALL(EnqueueFillBuffer);
    (void)queue, (void)waits, (void)wait;
    return fill(at(mem, offset, bytes), offset, pattern, pattern_bytes, bytes, event);
}

void *clSVMAlloc(slri_cl_context context, uint64_t flags, size_t bytes, uint32_t alignment)
{
    (void)context, (void)flags, (void)alignment;
    if (next_call("SVMAlloc") != 0)
        return NULL;
    __atomic_add_fetch(&fake_opencl.live, 1, __ATOMIC_RELAXED);
    unsigned char *memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    memset(memory, 0xa5, bytes); // it is not zeroed
    return memory;
}

void clSVMFree(slri_cl_context context, void *memory)
{
    (void)context;
    __atomic_sub_fetch(&fake_opencl.live, 1, __ATOMIC_RELAXED);
    free(memory);
}

int32_t clEnqueueSVMMemcpy(slri_cl_queue queue, uint32_t blocking, void *to, const void *from, size_t bytes,
                           uint32_t waits, const slri_cl_event *wait, slri_cl_event *event)
{
    CALL(EnqueueSVMMemcpy);
    (void)queue, (void)waits, (void)wait;
    return copy(to, from, bytes, blocking, event);
}

int32_t clEnqueueSVMMemFill(slri_cl_queue queue, void *to, const void *pattern, size_t pattern_bytes, size_t bytes,
                            uint32_t waits, const slri_cl_event *wait, slri_cl_event *event)
{
    CALL(EnqueueSVMMemFill);
    (void)queue, (void)waits, (void)wait;
    return fill(to, (size_t)(uintptr_t)to, pattern, pattern_bytes, bytes, event);
}

int32_t clEnqueueMarkerWithWaitList(slri_cl_queue queue, uint32_t waits, const slri_cl_event *wait,
                                    slri_cl_event *event)
{
    CALL(EnqueueMarkerWithWaitList);
    (void)waits, (void)wait;
    return is_alive((const void *)queue, QUEUE) ? done(0, event) : refuse(-36);
}

// ---- CLBlast: products of matrices, by the host --------------------------------------------------------------------

SEEN int32_t CLBlastSGemmTempBufferSize(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k,
                                        size_t a_offset, size_t a_stride, size_t b_offset, size_t b_stride,
                                        size_t c_offset, size_t c_stride, slri_cl_queue *queue, size_t *bytes)
{
    CALL(CLBlastSGemmTempBufferSize);
    (void)layout, (void)transpose_a, (void)transpose_b, (void)k, (void)a_offset, (void)a_stride, (void)b_offset;
    (void)b_stride, (void)c_offset, (void)c_stride;
    *bytes = 4 * m * n;
    return is_alive((const void *)*queue, QUEUE) ? 0 : refuse(-36);
}

SEEN int32_t CLBlastSgemm(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, float alpha,
                          slri_cl_mem a, size_t a_offset, size_t a_stride, slri_cl_mem b, size_t b_offset,
                          size_t b_stride, float beta, slri_cl_mem c, size_t c_offset, size_t c_stride,
                          slri_cl_queue *queue, slri_cl_event *event)
{
    CALL(CLBlastSgemm);
    if (layout != 101 || event || !is_alive((const void *)*queue, QUEUE))
        return refuse(-30);
    const float *from_a = (const float *)(void *)at(a, 4 * a_offset, 4 * m * k);
    const float *from_b = (const float *)(void *)at(b, 4 * b_offset, 4 * k * n);
    float *to = (float *)(void *)at(c, 4 * c_offset, 4 * m * n);
    if (!from_a || !from_b || !to)
        return refuse(-30);
    for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
            float sum = 0;
            for (size_t p = 0; p < k; ++p)
                sum += from_a[transpose_a == 112 ? p * a_stride + i : i * a_stride + p] *
                       from_b[transpose_b == 112 ? j * b_stride + p : p * b_stride + j];
            to[i * c_stride + j] = alpha * sum + (beta != 0.0f ? beta * to[i * c_stride + j] : 0);
        }
    return 0;
}
