// SPDX-License-Identifier: Apache-2.0
// See fake_cuda.h. Prototypes are checked against the table that the backend calls by.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda.h"
#include "fake_cuda_stay.h"
#include "fake_gdr.h"

#include "abi/relaunch.h"
#include "backend/cuda/api.h"
#include "backend/cuda/nvrtc.h"
#include "device/printed.h"
#include "device/resident_layout.h"
#include "kernel/grid.h"
#include "kernel/interpreter.h"
#include "kernel/kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct fake_cuda fake_cuda = {.devices = 2, .error = 2};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all below, but not of what memory holds

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters, arguments) SEEN result cu##name parameters;
SLRI_CU_REQUIRED(DECLARE)
SLRI_CU_OPTIONAL(DECLARE)
#define DECLARE_NVRTC(result, name, parameters) SEEN result nvrtc##name parameters;
SLRI_NVRTC_REQUIRED(DECLARE_NVRTC)

SEEN struct fake_cuda *fake_cuda_words(void);
struct fake_cuda *fake_cuda_words(void)
{
    return &fake_cuda;
}

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 };

// ---- objects -------------------------------------------------------------------------------------------------------

enum kind { CONTEXT = 0x51, STREAM, MEMORY, HOST, REGISTERED, MODULE, GRAPH, EXEC, LINK };

// A command that was captured. `parameter`: of a kernel, copies.
struct node {
    enum { HTOD, DTOH, DTOD, SET8, SET16, SET32, KERNEL } op;
    uint64_t to, from;
    size_t count;
    uint32_t value, size[7];
    slri_cu_function function;
    void *parameter[130]; // HIDDEN of them are none of its source
    uint32_t parameters;
};

struct object {
    enum kind kind;
    struct object *context, *next; // in its context's list
    struct object *first;          // of a context: what is in it
    uint32_t staying;              // of a context: kernels that stay; atomic
    int32_t gone;                  // of a context: the error that ended it
    uint32_t retained;             // of a primary one
    unsigned char *bytes;
    size_t size;
    struct slri_module *module; // of a module
    struct slri_interp *interp;
    struct node *node; // of a stream that is captured, a graph, and what is launched of it
    uint32_t nodes;
    bool captured;
    char *text;                  // of a module: its source
    bool stays;                  // of a module: it has the loop of a kernel that stays
    bool relaunches;             // of a module: it has the kernel of a dispatch
    struct fake_cuda_stay *stay; // of a stream: the kernel that runs in it, or NULL
};

static struct object primary[FAKE_CUDA_MOST_DEVICES];

// A thread's contexts, the current one last.
static __thread struct object *stack[16];
static __thread uint32_t depth;

static int32_t refuse(const char *name, int32_t error)
{
    ++fake_cuda.wrong;
    if (!fake_cuda.first_wrong)
        fake_cuda.first_wrong = name;
    return error;
}

static struct object *current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

static void *make(enum kind kind, struct object *context)
{
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    object->context = context;
    if (context) {
        object->next = context->first;
        context->first = object;
    }
    ++fake_cuda.live;
    return object;
}

static void end_stay(struct object *stream, bool by_force);

static void free_nodes(struct object *object)
{
    for (uint32_t i = 0; i < object->nodes; ++i)
        for (uint32_t p = 0; p < object->node[i].parameters; ++p)
            free(object->node[i].parameter[p]);
    free(object->node);
    object->node = NULL;
    object->nodes = 0;
}

static void drop(struct object *object)
{
    free_nodes(object);
    if (object->stay)
        end_stay(object, true);
    if (object->kind == MEMORY)
        fake_gdr_goes(object->bytes, object->size);
    if (object->kind != REGISTERED) // that is the application's
        free(object->bytes);
    free(object->text);
    slri_interp_destroy(object->interp);
    slri_module_destroy(object->module);
    object->kind = 0;
    free(object);
    --fake_cuda.live;
}

static int32_t drop_from_context(const char *name, void *handle, enum kind kind)
{
    struct object *context = current();
    if (!context)
        return refuse(name, INVALID_CONTEXT);
    struct object **at = &context->first;
    while (*at && *at != handle)
        at = &(*at)->next;
    if (!*at || (*at)->kind != kind)
        return refuse(name, INVALID_VALUE);
    struct object *object = *at;
    *at = object->next;
    drop(object);
    return context->gone;
}

static void drop_all(struct object *context)
{
    for (struct object *o = context->first; o; o = o->next) // before the memory that they use
        if (o->stay)
            end_stay(o, true);
    while (context->first) {
        struct object *object = context->first;
        context->first = object->next;
        drop(object);
    }
}

// ---- dispatches of ring kernels that are relaunched ----------------------------------------------------------------
//
// The kernel that NVRTC gets, as C, thread by thread.

static __thread struct dispatch_thread {
    struct slri_interp_thread *interp;
    const char *text;
    uint32_t block, thread, outlets;
    bool is_block; // the interpreter's handler is a whole block, which its first thread runs
} dispatching;

static uint32_t handle_dispatched(struct slri_call *call)
{
    uint32_t fault = slri_interp_handler(dispatching.interp, call);
    call->fault_file = 0;
    call->fault_line = fake_users_line(dispatching.text, call->fault_line);
    return fault;
}
#define SLR_DISPATCH static void
#define SLR_DISPATCH_FN static
#define SLR_DISPATCH_SHARED static __thread
#define SLR_DISPATCH_CALL(call) handle_dispatched(call)
#define SLR_HAS_OUTLETS dispatching.outlets
#define SLR_DISPATCH_MEET() (void)0
#define SLR_IS_BLOCK dispatching.is_block
#define SLR_GROUP 32u
#define SLR_CHAINS 32u
#define SLR_OUTS 128u
#define blockIdx ((struct { uint32_t x; }){dispatching.block})
#define threadIdx ((struct { uint32_t x; }){dispatching.thread})
#include "backend/cuda/device/cu_relaunch.h"
#undef blockIdx
#undef threadIdx

static uint32_t handler_of(const struct object *module)
{
    uint32_t entry = 0;
    while (module->module->entry[entry].kind == SLRI_ENTRY_KERNEL)
        ++entry;
    return entry;
}

static void run_dispatch(const struct object *module, uint32_t grid, uint32_t threads, void **parameter)
{
    uint32_t entry = handler_of(module);
    const struct slri_entry *handler = &module->module->entry[entry];
    dispatching = (struct dispatch_thread){.text = module->text, .is_block = handler->kind == SLRI_ENTRY_BLOCK};
    for (uint32_t i = 0; i < handler->bindings; ++i)
        if (handler->binding[i].is_outlet)
            dispatching.outlets = handler->bindings;
    if (slri_interp_thread_create(module->interp, entry, &dispatching.interp) != SLR_OK)
        abort();
    for (uint32_t i = 0; i < grid * threads; i += dispatching.is_block ? threads : 1) {
        dispatching.block = i / threads;
        dispatching.thread = i % threads;
        slr_relaunch(*(void **)parameter[0], *(void **)parameter[1], *(void **)parameter[2], *(void **)parameter[3],
                     *(void **)parameter[4], *(uint32_t *)parameter[5]);
    }
    slri_interp_thread_destroy(dispatching.interp);
}

static void end_stay(struct object *stream, bool by_force)
{
    fake_cuda_stay_end(stream->stay, by_force);
    stream->stay = NULL;
}

static bool stays(const struct object *stream)
{
    return stream->stay && fake_cuda_stays(stream->stay);
}

static void begin_stay(struct object *stream, struct object *module, uint32_t grid, struct slri_resident_table *table)
{
    ++fake_cuda.stayed;
    if (fake_cuda.most_idle != 0)
        table->most_idle = fake_cuda.most_idle; // the launch is not begun
    uint32_t *running[] = {&fake_cuda.staying, &stream->context->staying};
    uint32_t handler = handler_of(module);
    bool is_block = module->module->entry[handler].kind == SLRI_ENTRY_BLOCK;
    stream->stay = fake_cuda_stay_begin(module->interp, handler, is_block, module->text, grid, table, running);
}

#define LONG_MS 500 // for what must not find one

// Of calls that wait for all kernels of a context: wrong where they do so for `most_ms`. Without the lock.
static void wait_for_stays(const char *name, int most_ms)
{
    const struct object *context = current();
    for (int ms = 0; context && __atomic_load_n(&context->staying, __ATOMIC_ACQUIRE) != 0; ++ms) {
        if (ms == most_ms) {
            pthread_mutex_lock(&lock);
            refuse(name, 0);
            pthread_mutex_unlock(&lock);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// The call that a test has named waits like those.
static void stall(const char *name)
{
    const char *asked = __atomic_load_n(&fake_cuda.stalls_in, __ATOMIC_ACQUIRE);
    const struct object *context = current();
    if (!asked || !context || strcmp(asked, name) != 0 || __atomic_load_n(&context->staying, __ATOMIC_ACQUIRE) == 0)
        return;
    if (__atomic_load_n(&fake_cuda.held, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&fake_cuda.holds, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&fake_cuda.held, __ATOMIC_ACQUIRE))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        return;
    }
    wait_for_stays(name, 20000); // as long as a slow machine may take
}

// ---- failing on demand: under the lock -----------------------------------------------------------------------------

static int32_t next_call(const char *name)
{
    ++fake_cuda.calls;
    bool fails = fake_cuda.fail_at != 0 &&
                 (fake_cuda.calls == fake_cuda.fail_at || (fake_cuda.lost && fake_cuda.calls > fake_cuda.fail_at));
    if (!fails)
        return 0;
    if (!fake_cuda.failed)
        fake_cuda.failed = name;
    return fake_cuda.error;
}

// A call that needs a context, which is there and not gone.
static int32_t next_in_context(const char *name)
{
    int32_t error = next_call(name);
    if (error != 0)
        return error;
    return current() ? current()->gone : refuse(name, INVALID_CONTEXT);
}

// With it go the kernels that stay.
static void lose_context(struct object *context, int32_t error)
{
    context->gone = error;
    for (struct object *o = context->first; o; o = o->next)
        if (o->stay)
            end_stay(o, true);
}

// A command to a stream; one may fault, which is told only later.
static int32_t next_command(const char *name, slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context(name);
    if (error != 0)
        return error;
    if (!object || object->kind != STREAM || object->context != current())
        return refuse(name, INVALID_VALUE);
    if (!object->captured && __atomic_add_fetch(&fake_cuda.commands, 1, __ATOMIC_RELAXED) ==
                                 __atomic_load_n(&fake_cuda.fault_at, __ATOMIC_RELAXED)) {
        lose_context(current(), ILLEGAL_ADDRESS);
        fake_cuda.failed = "a command";
    }
    return 0;
}

#define LOCKED(call)                                                                                                   \
    stall(__func__);                                                                                                   \
    pthread_mutex_lock(&lock);                                                                                         \
    int32_t error = (call);                                                                                            \
    pthread_mutex_unlock(&lock)

#define CALL(name)                                                                                                     \
    LOCKED(next_call(#name));                                                                                          \
    if (error != 0)                                                                                                    \
    return error

// ---- the driver and its devices ------------------------------------------------------------------------------------

int32_t cuInit(uint32_t flags)
{
    (void)flags;
    CALL(Init);
    return 0;
}

int32_t cuDriverGetVersion(int32_t *version)
{
    CALL(DriverGetVersion);
    *version = 13000;
    return 0;
}

int32_t cuGetErrorName(int32_t number, const char **name)
{
    *name = number == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : number == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                        : NULL;
    return *name ? 0 : INVALID_VALUE;
}

int32_t cuDeviceGetCount(int32_t *count)
{
    CALL(DeviceGetCount);
    *count = (int32_t)fake_cuda.devices;
    return 0;
}

int32_t cuDeviceGet(slri_cu_device *device, int32_t number)
{
    CALL(DeviceGet);
    if (number < 0 || (uint32_t)number >= fake_cuda.devices)
        return 101;
    *device = number;
    return 0;
}

int32_t cuDeviceGetName(char *name, int32_t room, slri_cu_device device)
{
    CALL(DeviceGetName);
    snprintf(name, (size_t)room, "Fake GPU %d", device);
    return 0;
}

static void put_uuid(unsigned char uuid[16], slri_cu_device device)
{
    for (int i = 0; i < 16; ++i)
        uuid[i] = (unsigned char)(0xa0 + i + device);
}

int32_t cuDeviceGetUuid(unsigned char uuid[16], slri_cu_device device)
{
    CALL(DeviceGetUuid);
    put_uuid(uuid, device);
    return 0;
}

int32_t cuDeviceGetUuid_v2(unsigned char uuid[16], slri_cu_device device)
{
    CALL(DeviceGetUuid_v2);
    put_uuid(uuid, device);
    return 0;
}

int32_t cuDeviceTotalMem_v2(size_t *bytes, slri_cu_device device)
{
    (void)device;
    CALL(DeviceTotalMem_v2);
    *bytes = (size_t)1 << 30;
    return 0;
}

// An H100's.
int32_t cuDeviceGetAttribute(int32_t *value, int32_t attribute, slri_cu_device device)
{
    static const struct {
        int32_t attribute, value;
    } answers[] = {{1, 1024},  {8, 49152},     {10, 32}, {13, 1980000}, {16, 132}, {17, 0}, {36, 2619000},
                   {37, 5120}, {38, 52428800}, {40, 3},  {75, 9},       {76, 0},   {41, 1}, {91, 1},
                   {89, 1},    {82, 65536},    {95, 1},  {97, 232448},  {133, 0}};
    (void)device;
    CALL(DeviceGetAttribute);
    if (fake_cuda.no_cooperative && attribute == 95) {
        *value = 0;
        return 0;
    }
    if (fake_cuda.mps && attribute == 133) {
        *value = 1;
        return 0;
    }
    if (fake_cuda.old && attribute == 133)
        return INVALID_VALUE;
    if (fake_cuda.display && attribute == 17) {
        *value = 1;
        return 0;
    }
    if (fake_cuda.separate && (attribute == 41 || attribute == 89)) {
        *value = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i)
        if (answers[i].attribute == attribute) {
            *value = answers[i].value;
            return 0;
        }
    return refuse("DeviceGetAttribute", INVALID_VALUE);
}

// ---- contexts ------------------------------------------------------------------------------------------------------

static void push(struct object *context)
{
    if (depth == sizeof stack / sizeof *stack)
        abort();
    stack[depth++] = context;
}

static int32_t create_context(slri_cu_context *context)
{
    int32_t error = next_call("CtxCreate_v2");
    if (error != 0)
        return error;
    struct object *made = make(CONTEXT, NULL);
    ++fake_cuda.contexts;
    push(made);
    *context = (slri_cu_context)(void *)made;
    return 0;
}

int32_t cuCtxCreate_v2(slri_cu_context *context, uint32_t flags, slri_cu_device device)
{
    (void)flags, (void)device;
    LOCKED(create_context(context));
    return error;
}

int32_t cuCtxDestroy_v2(slri_cu_context context)
{
    struct object *object = (void *)context;
    pthread_mutex_lock(&lock);
    int32_t gone = object->gone;
    drop_all(object);
    drop(object);
    pthread_mutex_unlock(&lock);
    return gone;
}

static int32_t retain(slri_cu_context *context, slri_cu_device device)
{
    int32_t error = next_call("DevicePrimaryCtxRetain");
    if (error != 0)
        return error;
    primary[device].kind = CONTEXT;
    ++primary[device].retained;
    ++fake_cuda.retained;
    *context = (slri_cu_context)(void *)&primary[device];
    return 0;
}

int32_t cuDevicePrimaryCtxRetain(slri_cu_context *context, slri_cu_device device)
{
    LOCKED(retain(context, device));
    return error;
}

int32_t cuDevicePrimaryCtxRelease_v2(slri_cu_device device)
{
    pthread_mutex_lock(&lock);
    --fake_cuda.retained;
    if (--primary[device].retained == 0) {
        drop_all(&primary[device]);
        primary[device].gone = 0;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t cuCtxPushCurrent_v2(slri_cu_context context)
{
    CALL(CtxPushCurrent_v2);
    push((void *)context);
    return 0;
}

int32_t cuCtxPopCurrent_v2(slri_cu_context *context)
{
    pthread_mutex_lock(&lock);
    if (depth == 0)
        refuse("CtxPopCurrent_v2", INVALID_CONTEXT);
    else
        *context = (slri_cu_context)(void *)stack[--depth];
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t cuCtxGetStreamPriorityRange(int32_t *least, int32_t *greatest)
{
    LOCKED(next_in_context("CtxGetStreamPriorityRange"));
    *least = 0;
    *greatest = -5;
    return error;
}

// ---- memory --------------------------------------------------------------------------------------------------------

#define MOST_DIRT 65536 // sanitizers take long for more

static int32_t allocate(const char *name, enum kind kind, slri_cu_pointer *memory, size_t bytes)
{
    int32_t error = next_in_context(name);
    if (error != 0)
        return error;
    if (bytes == 0)
        return refuse(name, INVALID_VALUE);
    fake_cuda.allocations += kind == MEMORY;
    struct object *made = make(kind, current());
    made->bytes = aligned_alloc(256, (bytes + 255) / 256 * 256);
    made->size = bytes;
    memset(made->bytes, 0xa5, bytes < MOST_DIRT ? bytes : MOST_DIRT); // it is not zeroed
    *memory = (slri_cu_pointer)(uintptr_t)made->bytes;
    return 0;
}

int32_t cuMemAlloc_v2(slri_cu_pointer *memory, size_t bytes)
{
    wait_for_stays("MemAlloc_v2", LONG_MS);
    LOCKED(allocate("MemAlloc_v2", MEMORY, memory, bytes));
    return error;
}

int32_t cuMemAllocManaged(slri_cu_pointer *memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemAllocManaged", LONG_MS);
    LOCKED(flags == SLRI_CU_ATTACH_GLOBAL ? allocate("MemAllocManaged", MEMORY, memory, bytes)
                                          : refuse("MemAllocManaged", INVALID_VALUE));
    return error;
}

// The piece of the current context that the range lies in, or NULL. Of the host's memory the device reaches what is
// mapped; it sees it where the host does.
static struct object *piece_of(slri_cu_pointer from, size_t bytes)
{
    for (struct object *o = current()->first; o; o = o->next)
        if ((o->kind == MEMORY || o->kind == HOST) && from - (uintptr_t)o->bytes <= o->size &&
            bytes <= o->size - (from - (uintptr_t)o->bytes))
            return o;
    return NULL;
}

int32_t cuMemFree_v2(slri_cu_pointer memory)
{
    wait_for_stays("MemFree_v2", LONG_MS);
    pthread_mutex_lock(&lock);
    struct object *piece = current() ? piece_of(memory, 1) : NULL;
    bool whole = piece && (uintptr_t)piece->bytes == memory;
    int32_t error = whole ? drop_from_context("MemFree_v2", piece, MEMORY) : refuse("MemFree_v2", INVALID_VALUE);
    pthread_mutex_unlock(&lock);
    return error;
}

static int32_t set_pointer_attribute(const uint32_t *value, int32_t attribute, slri_cu_pointer memory)
{
    int32_t error = next_in_context("PointerSetAttribute");
    if (error != 0)
        return error;
    const struct object *piece = piece_of(memory, 1);
    if (!piece || attribute != SLRI_CU_POINTER_SYNC_MEMOPS || *value != 1)
        return refuse("PointerSetAttribute", INVALID_VALUE);
    fake_gdr_is_ready(piece->bytes, piece->size);
    return 0;
}

int32_t cuPointerSetAttribute(const void *value, int32_t attribute, slri_cu_pointer memory)
{
    LOCKED(set_pointer_attribute(value, attribute, memory));
    return error;
}

// ---- memory of the host --------------------------------------------------------------------------------------------

#define HOST_FLAGS (SLRI_CU_HOST_PORTABLE | SLRI_CU_HOST_MAPPED)

// What of the host's memory is pinned in the current context: the one with the byte in it, or NULL.
static struct object *pinned_at(const void *memory)
{
    for (struct object *o = current() ? current()->first : NULL; o; o = o->next)
        if ((o->kind == HOST || o->kind == REGISTERED) && (uintptr_t)memory - (uintptr_t)o->bytes < o->size)
            return o;
    return NULL;
}

int32_t cuMemHostAlloc(void **memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemHostAlloc", LONG_MS);
    slri_cu_pointer made = 0;
    LOCKED(flags == HOST_FLAGS ? allocate("MemHostAlloc", HOST, &made, bytes) : refuse("MemHostAlloc", INVALID_VALUE));
    *memory = (void *)(uintptr_t)made;
    return error;
}

static int32_t let_go_of(const char *name, enum kind kind, void *memory)
{
    struct object *object = pinned_at(memory);
    return object && object->bytes == memory ? drop_from_context(name, object, kind) : refuse(name, INVALID_VALUE);
}

int32_t cuMemFreeHost(void *memory)
{
    wait_for_stays("MemFreeHost", LONG_MS);
    LOCKED(let_go_of("MemFreeHost", HOST, memory));
    return error;
}

static int32_t pin(void *memory, size_t bytes, uint32_t flags)
{
    int32_t error = next_in_context("MemHostRegister_v2");
    if (error != 0)
        return error;
    if (bytes == 0 || flags != HOST_FLAGS)
        return refuse("MemHostRegister_v2", INVALID_VALUE);
    if (pinned_at(memory))
        return 712;
    struct object *made = make(REGISTERED, current());
    made->bytes = memory;
    made->size = bytes;
    return 0;
}

int32_t cuMemHostRegister_v2(void *memory, size_t bytes, uint32_t flags)
{
    wait_for_stays("MemHostRegister_v2", LONG_MS);
    LOCKED(pin(memory, bytes, flags));
    return error;
}

int32_t cuMemHostUnregister(void *memory)
{
    wait_for_stays("MemHostUnregister", LONG_MS);
    LOCKED(let_go_of("MemHostUnregister", REGISTERED, memory));
    return error;
}

int32_t cuMemHostGetDevicePointer_v2(slri_cu_pointer *out, void *memory, uint32_t flags)
{
    LOCKED(next_in_context("MemHostGetDevicePointer_v2"));
    (void)flags;
    *out = (slri_cu_pointer)(uintptr_t)memory + (fake_cuda.separate ? 4096 : 0);
    return error;
}

static void count_copy(const void *memory)
{
    pthread_mutex_lock(&lock);
    ++*(pinned_at(memory) ? &fake_cuda.pinned : &fake_cuda.pageable);
    pthread_mutex_unlock(&lock);
}

// What a command may do with memory: whether it is there, and whether the context is still good for it.
static int32_t check_ranges(const char *name, slri_cu_stream stream, slri_cu_pointer a, slri_cu_pointer b, size_t bytes,
                            bool *act)
{
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    if (bytes == 0 || !piece_of(a, bytes) || (b && !piece_of(b, bytes)))
        return refuse(name, INVALID_VALUE);
    if (b && (a > b ? a - b : b - a) < bytes)
        return refuse(name, INVALID_VALUE); // not defined
    *act = current()->gone == 0;
    return 0;
}

// The lock is not held while memory is read and written: who races for it is to be seen.
#define COMMAND(name, a, b, bytes)                                                                                     \
    bool act = false;                                                                                                  \
    LOCKED(check_ranges(#name, stream, a, b, bytes, &act));                                                            \
    if (error != 0 || !act)                                                                                            \
    return error

// Where the stream is captured: it is put behind what was, instead of done. The parameters' copies are the node's.
static bool capture(slri_cu_stream stream, const struct node *node)
{
    struct object *object = (void *)stream;
    pthread_mutex_lock(&lock);
    bool captured = object->captured;
    if (captured) {
        object->node = realloc(object->node, (object->nodes + 1) * sizeof *node);
        object->node[object->nodes++] = *node;
    }
    pthread_mutex_unlock(&lock);
    return captured;
}

#define CAPTURE(...)                                                                                                   \
    if (capture(stream, &(struct node){__VA_ARGS__}))                                                                  \
    return 0

static void *host_of(slri_cu_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

int32_t cuMemcpyHtoDAsync_v2(slri_cu_pointer to, const void *from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyHtoDAsync_v2, to, 0, bytes);
    CAPTURE(.op = HTOD, .to = to, .from = (uintptr_t)from, .count = bytes);
    count_copy(from);
    memcpy(host_of(to), from, bytes);
    return 0;
}

int32_t cuMemcpyDtoHAsync_v2(void *to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyDtoHAsync_v2, from, 0, bytes);
    CAPTURE(.op = DTOH, .to = (uintptr_t)to, .from = from, .count = bytes);
    count_copy(to);
    memcpy(to, host_of(from), bytes);
    return 0;
}

int32_t cuMemcpyDtoDAsync_v2(slri_cu_pointer to, slri_cu_pointer from, size_t bytes, slri_cu_stream stream)
{
    COMMAND(MemcpyDtoDAsync_v2, to, from, bytes);
    CAPTURE(.op = DTOD, .to = to, .from = from, .count = bytes);
    memcpy(host_of(to), host_of(from), bytes);
    return 0;
}

// Those that wait: of memory that is not pinned, in the NULL stream, behind all that runs.
SEEN int32_t cuMemcpyHtoD_v2(slri_cu_pointer to, const void *from, size_t bytes);
int32_t cuMemcpyHtoD_v2(slri_cu_pointer to, const void *from, size_t bytes)
{
    wait_for_stays("MemcpyHtoD_v2", LONG_MS);
    LOCKED(next_in_context("MemcpyHtoD_v2"));
    if (error == 0)
        memcpy(host_of(to), from, bytes);
    return error;
}

SEEN int32_t cuMemcpyDtoH_v2(void *to, slri_cu_pointer from, size_t bytes);
int32_t cuMemcpyDtoH_v2(void *to, slri_cu_pointer from, size_t bytes)
{
    wait_for_stays("MemcpyDtoH_v2", LONG_MS);
    LOCKED(next_in_context("MemcpyDtoH_v2"));
    if (error == 0)
        memcpy(to, host_of(from), bytes);
    return error;
}

static int32_t fill(slri_cu_pointer to, const void *pattern, size_t size, size_t count)
{
    if (to % size != 0) {
        LOCKED(refuse("MemsetAsync", INVALID_VALUE));
        return error;
    }
    for (size_t i = 0; i < count; ++i)
        memcpy((char *)host_of(to) + i * size, pattern, size);
    return 0;
}

int32_t cuMemsetD8Async(slri_cu_pointer to, unsigned char value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD8Async, to, 0, count);
    CAPTURE(.op = SET8, .to = to, .value = value, .count = count);
    return fill(to, &value, 1, count);
}

int32_t cuMemsetD16Async(slri_cu_pointer to, uint16_t value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD16Async, to, 0, count * 2);
    CAPTURE(.op = SET16, .to = to, .value = value, .count = count);
    return fill(to, &value, 2, count);
}

int32_t cuMemsetD32Async(slri_cu_pointer to, uint32_t value, size_t count, slri_cu_stream stream)
{
    COMMAND(MemsetD32Async, to, 0, count * 4);
    CAPTURE(.op = SET32, .to = to, .value = value, .count = count);
    return fill(to, &value, 4, count);
}

// ---- streams -------------------------------------------------------------------------------------------------------

static int32_t create_stream(slri_cu_stream *stream, uint32_t flags, int32_t priority)
{
    int32_t error = next_in_context("StreamCreateWithPriority");
    if (error != 0)
        return error;
    if (flags != SLRI_CU_STREAM_NON_BLOCKING || priority > 0 || priority < -5)
        return refuse("StreamCreateWithPriority", INVALID_VALUE);
    fake_cuda.last_priority = priority;
    *stream = (slri_cu_stream)make(STREAM, current());
    return 0;
}

int32_t cuStreamCreateWithPriority(slri_cu_stream *stream, uint32_t flags, int32_t priority)
{
    LOCKED(create_stream(stream, flags, priority));
    return error;
}

int32_t cuStreamDestroy_v2(slri_cu_stream stream)
{
    LOCKED(drop_from_context("StreamDestroy_v2", stream, STREAM));
    return error;
}

static int32_t synchronize(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context("StreamSynchronize");
    if (error == 0 && (!object || object->kind != STREAM || object->context != current() || object->captured))
        return refuse("StreamSynchronize", INVALID_VALUE);
    return error;
}

int32_t cuStreamSynchronize(slri_cu_stream stream)
{
    LOCKED(synchronize(stream));
    return error;
}

// Of a stream with a kernel in it that stays: whether that has ended.
static int32_t query(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context("StreamQuery");
    if (error == 0 && (!object || object->kind != STREAM || object->context != current()))
        return refuse("StreamQuery", INVALID_VALUE);
    return error != 0 ? error : stays(object) ? SLRI_CU_NOT_READY : 0;
}

int32_t cuStreamQuery(slri_cu_stream stream)
{
    LOCKED(query(stream));
    return error;
}

// ---- modules: a cubin is a mark, its length and the emitted source -------------------------------------------------

extern const char slri_embedded_cu_resident_h[], slri_embedded_cu_relaunch_h[];

#define MARK "fake cubin"

struct cubin {
    char mark[sizeof MARK];
    size_t bytes;
    char text[];
};

// The front end reads what our emitter wrote; NULL with a message where it is none of ours.
static struct slri_module *read_source(const char *text)
{
    struct slri_source source = {.path = "emitted.cu", .text = text, .is_emitted = true};
    struct slri_module *module = NULL;
    return slri_kernel_compile(&source, &module) == SLR_OK ? module : NULL;
}

static int32_t load_module(slri_cu_module *module, const struct cubin *cubin)
{
    int32_t error = next_in_context("ModuleLoadData");
    if (error != 0)
        return error;
    if (memcmp(cubin->mark, MARK, sizeof MARK) != 0)
        return 200;
    struct object *made = make(MODULE, current());
    *module = (slri_cu_module)(void *)made;
    made->module = read_source(cubin->text);
    made->text = strdup(cubin->text);
    made->stays = strstr(cubin->text, slri_embedded_cu_resident_h) != NULL; // as it is, to the letter
    made->relaunches = strstr(cubin->text, slri_embedded_cu_relaunch_h) != NULL;
    return made->module && slri_interp_create(made->module, &made->interp) == SLR_OK ? 0 : 200;
}

int32_t cuModuleLoadData(slri_cu_module *module, const void *image)
{
    wait_for_stays("ModuleLoadData", LONG_MS);
    LOCKED(load_module(module, image));
    return error;
}

int32_t cuModuleUnload(slri_cu_module module)
{
    wait_for_stays("ModuleUnload", LONG_MS);
    LOCKED(drop_from_context("ModuleUnload", module, MODULE));
    return error;
}

// Files that are linked are one text: that of the handler, and the loop behind it.
int32_t cuLinkCreate_v2(uint32_t options, int32_t *option, void **value, slri_cu_link *link)
{
    (void)option, (void)value;
    LOCKED(options == 0 ? next_in_context("LinkCreate_v2") : refuse("LinkCreate_v2", INVALID_VALUE));
    if (error != 0)
        return error;
    pthread_mutex_lock(&lock);
    *link = (slri_cu_link)make(LINK, current());
    pthread_mutex_unlock(&lock);
    return 0;
}

static int32_t add_to_link(struct object *link, const struct cubin *cubin)
{
    int32_t error = next_in_context("LinkAddData_v2");
    if (error != 0)
        return error;
    if (!link || link->kind != LINK || memcmp(cubin->mark, MARK, sizeof MARK) != 0)
        return refuse("LinkAddData_v2", INVALID_VALUE);
    bool is_loop = strstr(cubin->text, slri_embedded_cu_resident_h) != NULL;
    const char *was = link->text ? link->text : "";
    static const char hides[] = "#ifndef __SLIPRING__\n%s#endif\n"; // from our front end
    size_t room = strlen(was) + cubin->bytes + sizeof hides;
    char *both = malloc(room);
    int put = snprintf(both, room, "%s", is_loop ? was : cubin->text);
    if (is_loop)
        snprintf(both + put, room - (size_t)put, hides, cubin->text);
    else
        snprintf(both + put, room - (size_t)put, "%s", was);
    free(link->text);
    link->text = both;
    return 0;
}

int32_t cuLinkAddData_v2(slri_cu_link link, int32_t type, void *data, size_t bytes, const char *name, uint32_t options,
                         int32_t *option, void **value)
{
    (void)bytes, (void)name, (void)option, (void)value;
    LOCKED(type == SLRI_CU_LINK_CUBIN && options == 0 ? add_to_link((void *)link, data)
                                                      : refuse("LinkAddData_v2", INVALID_VALUE));
    return error;
}

static int32_t complete_link(struct object *link, void **cubin, size_t *bytes)
{
    int32_t error = next_in_context("LinkComplete");
    if (error != 0)
        return error;
    if (!link || link->kind != LINK || link->bytes || !link->text)
        return refuse("LinkComplete", INVALID_VALUE);
    struct cubin head = {MARK, strlen(link->text) + 1};
    *bytes = sizeof head + head.bytes;
    link->bytes = malloc(*bytes);
    memcpy(link->bytes, &head, sizeof head);
    memcpy(link->bytes + sizeof head, link->text, head.bytes);
    *cubin = link->bytes;
    return 0;
}

int32_t cuLinkComplete(slri_cu_link link, void **cubin, size_t *bytes)
{
    LOCKED(complete_link((void *)link, cubin, bytes));
    return error;
}

int32_t cuLinkDestroy(slri_cu_link link)
{
    LOCKED(drop_from_context("LinkDestroy", link, LINK));
    return error;
}

// A function is the entry of a module, which is found by it.
int32_t cuModuleGetFunction(slri_cu_function *function, slri_cu_module module, const char *name)
{
    struct object *object = (void *)module;
    LOCKED(next_in_context("ModuleGetFunction"));
    if (error != 0)
        return error;
    const struct slri_entry *entry = slri_module_entry(object->module, name);
    *function = (slri_cu_function)(uintptr_t)entry;
    if ((object->stays && strcmp(name, "slr_stay") == 0) || (object->relaunches && strcmp(name, "slr_relaunch") == 0))
        *function = (slri_cu_function)(void *)object; // what is not of its source
    return *function ? 0 : 500;
}

int32_t cuFuncGetAttribute(int32_t *value, int32_t attribute, slri_cu_function function)
{
    LOCKED(next_in_context("FuncGetAttribute"));
    const struct slri_entry *entry = (const void *)function;
    *value = attribute == SLRI_CU_FUNCTION_SHARED ? (int32_t)entry->shared_bytes
             : fake_cuda.most_threads             ? (int32_t)fake_cuda.most_threads
                                                  : 1024;
    return error;
}

int32_t cuFuncSetAttribute(slri_cu_function function, int32_t attribute, int32_t value)
{
    LOCKED(next_in_context("FuncSetAttribute"));
    const struct slri_entry *entry = (const void *)function;
    (void)attribute;
    return error != 0 || value + (int32_t)entry->shared_bytes <= 232448 ? error : INVALID_VALUE;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static struct object *module_of(const struct slri_entry *entry)
{
    for (struct object *o = current()->first; o; o = o->next)
        if (o->kind == MODULE && entry >= o->module->entry && entry < o->module->entry + o->module->entries)
            return o;
    return NULL;
}

// As far as the piece that a buffer begins in goes: a GPU knows no more.
static bool bind(const struct slri_binding_info *binding, void *parameter, struct slri_bound *out)
{
    *out = (struct slri_bound){parameter, binding->type->bytes};
    if (!binding->is_buffer)
        return true;
    slri_cu_pointer pointer = *(slri_cu_pointer *)parameter;
    struct object *piece = piece_of(pointer, 0);
    *out = (struct slri_bound){host_of(pointer), piece ? piece->size - (pointer - (uintptr_t)piece->bytes) : 0};
    return piece || pointer == 0;
}

// What emitted text is given behind its parameters (kernel/emit_cuda.h).
#define HIDDEN 2

static bool has_hidden(const struct slri_entry *entry)
{
    return (entry->function->uses & (SLRI_USES_GLOBAL | SLRI_USES_PRINT)) != 0;
}

static bool reaches(slri_cu_pointer pointer, uint64_t bytes)
{
    struct object *piece = pointer ? piece_of(pointer, 0) : NULL;
    return piece && piece->size - (pointer - (uintptr_t)piece->bytes) >= bytes;
}

static bool check_hidden(const struct slri_module *module, const struct slri_entry *entry, void **parameter)
{
    void **hidden = parameter + entry->bindings;
    if (!has_hidden(entry))
        return true;
    slri_cu_pointer globals = *(slri_cu_pointer *)hidden[0], printed = *(slri_cu_pointer *)hidden[1];
    bool wants = (entry->function->uses & SLRI_USES_GLOBAL) != 0;
    return (!wants || reaches(globals, module->global_bytes)) && (printed == 0 || reaches(printed, SLRI_PRINTED_ROOM));
}

// As prelude/slr_cuda.h does; the interpreter is one thread.
static void print(void *user, uint32_t format, const union slri_scalar *value, uint32_t count)
{
    struct slri_printed_head *head = user;
    if (1 + count > head->room - head->used) {
        head->lost++;
        return;
    }
    unsigned char *record = (unsigned char *)(head + 1) + 8 * (size_t)head->used;
    const uint64_t begin = format | (uint64_t)count << 32;
    memcpy(record, &begin, sizeof begin);
    memcpy(record + sizeof begin, value, 8 * (size_t)count);
    head->used += 1 + count;
}

static int32_t prepare_launch(slri_cu_stream stream, const struct slri_entry *entry, void **parameter,
                              struct slri_bound *bound, struct object **module)
{
    int32_t error = next_command("LaunchKernel", stream);
    if (error != 0)
        return error;
    *module = current()->gone == 0 ? module_of(entry) : NULL;
    if (current()->gone == 0 && !*module)
        return refuse("LaunchKernel", 400);
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (!bind(&entry->binding[i], parameter[i], &bound[i]))
            return refuse("LaunchKernel", INVALID_VALUE);
    if (*module && !check_hidden((*module)->module, entry, parameter))
        return refuse("LaunchKernel", INVALID_VALUE);
    return 0;
}

static int32_t launch_stay(const char *name, slri_cu_function function, uint32_t grid, uint32_t threads,
                           slri_cu_stream stream, void **parameter);

// A module that is its only kernel, or NULL.
static struct object *kernel_module(slri_cu_function function)
{
    pthread_mutex_lock(&lock);
    struct object *o = current() ? current()->first : NULL;
    while (o && o != (void *)function)
        o = o->next;
    pthread_mutex_unlock(&lock);
    return o;
}

static int32_t check_dispatch(slri_cu_stream stream, const struct object *module, const uint32_t size[7],
                              void **parameter, bool *act)
{
    int32_t error = next_command("LaunchKernel", stream);
    if (error != 0)
        return error;
    bool one = size[1] == 1 && size[2] == 1 && size[4] == 1 && size[5] == 1 && size[6] == 0;
    const struct slri_entry *handler = &module->module->entry[handler_of(module)];
    bool fits = size[0] != 0 && size[3] != 0 &&
                (handler->kind == SLRI_ENTRY_BLOCK ? size[3] == handler->max_threads : size[3] <= 32);
    if (!one || !fits || ((struct object *)(void *)stream)->captured)
        return refuse("LaunchKernel", INVALID_VALUE);
    for (uint32_t i = 0; i < 5; ++i) {
        slri_cu_pointer pointer = *(slri_cu_pointer *)parameter[i];
        if (pointer != 0 && !piece_of(pointer, 1))
            return refuse("LaunchKernel", INVALID_VALUE);
    }
    *act = current()->gone == 0;
    return 0;
}

int32_t cuLaunchKernel(slri_cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                       uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, slri_cu_stream stream,
                       void **parameter, void **extra)
{
    const struct slri_entry *entry = (const void *)function;
    struct slri_bound bound[128];
    struct object *module = NULL;
    (void)extra;
    const struct object *whole = kernel_module(function);
    if (whole && whole->relaunches) {
        const uint32_t size[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes};
        bool act = false;
        LOCKED(check_dispatch(stream, whole, size, parameter, &act));
        if (act)
            run_dispatch(whole, grid_x, block_x, parameter);
        return error;
    }
    if (fake_cuda.no_cooperative && whole) {
        LOCKED(launch_stay("LaunchKernel", function, grid_x, block_x, stream, parameter));
        return error;
    }
    LOCKED(prepare_launch(stream, entry, parameter, bound, &module));
    if (error != 0 || !module)
        return error;
    if (((struct object *)(void *)stream)->captured) {
        struct node node = {.op = KERNEL,
                            .function = function,
                            .size = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes},
                            .parameters = entry->bindings + (has_hidden(entry) ? HIDDEN : 0)};
        for (uint32_t i = 0; i < node.parameters; ++i) {
            bool is_pointer = i >= entry->bindings || entry->binding[i].is_buffer;
            size_t bytes = is_pointer ? sizeof(slri_cu_pointer) : entry->binding[i].type->bytes;
            node.parameter[i] = memcpy(malloc(bytes), parameter[i], bytes);
        }
        capture(stream, &node);
        return 0;
    }
    struct slri_grid grid = {.entry = (uint32_t)(entry - module->module->entry),
                             .grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .dynamic_shared = shared_bytes,
                             .arg = bound,
                             .args = entry->bindings,
                             .fuel = UINT64_MAX};
    struct slri_grid_end end;
    if (has_hidden(entry)) {
        slri_cu_pointer *const *hidden = (slri_cu_pointer *const *)parameter + entry->bindings;
        grid.global = *hidden[0] ? host_of(*hidden[0]) : NULL;
        grid.print = *hidden[1] ? print : NULL;
        grid.user = *hidden[1] ? host_of(*hidden[1]) : NULL;
    }
    if (slri_interpret_grid(module->interp, &grid, &end) != SLR_OK)
        return INVALID_VALUE;
    if (end.fault != SLRI_FAULT_NONE) {
        pthread_mutex_lock(&lock);
        lose_context(current(), end.fault == SLRI_FAULT_ACCESS ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

// ---- graphs --------------------------------------------------------------------------------------------------------

static struct object *stream_here(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    return object && object->kind == STREAM && object->context == current() ? object : NULL;
}

static int32_t begin_capture(slri_cu_stream stream, int32_t mode)
{
    int32_t error = next_in_context("StreamBeginCapture_v2");
    struct object *object = error == 0 ? stream_here(stream) : NULL;
    if (error == 0 && (!object || object->captured || mode != SLRI_CU_CAPTURE_THREAD))
        return refuse("StreamBeginCapture_v2", INVALID_VALUE);
    if (error == 0)
        object->captured = true;
    return error;
}

int32_t cuStreamBeginCapture_v2(slri_cu_stream stream, int32_t mode)
{
    LOCKED(begin_capture(stream, mode));
    return error;
}

// It ends also where the call fails.
static int32_t end_capture(slri_cu_stream stream, slri_cu_graph *graph)
{
    struct object *object = stream_here(stream);
    *graph = NULL;
    if (!object || !object->captured)
        return refuse("StreamEndCapture", INVALID_VALUE);
    object->captured = false;
    int32_t error = next_in_context("StreamEndCapture");
    if (error != 0) {
        free_nodes(object);
        return error;
    }
    struct object *made = make(GRAPH, current());
    made->node = object->node;
    made->nodes = object->nodes;
    object->node = NULL;
    object->nodes = 0;
    *graph = (slri_cu_graph)(void *)made;
    return 0;
}

int32_t cuStreamEndCapture(slri_cu_stream stream, slri_cu_graph *graph)
{
    LOCKED(end_capture(stream, graph));
    return error;
}

static int32_t instantiate(slri_cu_exec *exec, slri_cu_graph graph)
{
    struct object *from = (void *)graph;
    int32_t error = next_in_context("GraphInstantiateWithFlags");
    if (error != 0)
        return error;
    if (!from || from->kind != GRAPH)
        return refuse("GraphInstantiateWithFlags", INVALID_VALUE);
    struct object *made = make(EXEC, current());
    made->node = from->node; // it keeps nothing of the graph, which is never instantiated twice here
    made->nodes = from->nodes;
    from->node = NULL;
    from->nodes = 0;
    *exec = (slri_cu_exec)(void *)made;
    return 0;
}

int32_t cuGraphInstantiateWithFlags(slri_cu_exec *exec, slri_cu_graph graph, uint64_t flags)
{
    wait_for_stays("GraphInstantiateWithFlags", LONG_MS);
    (void)flags;
    LOCKED(instantiate(exec, graph));
    return error;
}

int32_t cuGraphDestroy(slri_cu_graph graph)
{
    LOCKED(drop_from_context("GraphDestroy", graph, GRAPH));
    return error;
}

int32_t cuGraphExecDestroy(slri_cu_exec exec)
{
    wait_for_stays("GraphExecDestroy", LONG_MS);
    LOCKED(drop_from_context("GraphExecDestroy", exec, EXEC));
    return error;
}

static int32_t replay(struct node *n, slri_cu_stream stream)
{
    const uint32_t *s = n->size;
    switch (n->op) {
    case HTOD:
        return cuMemcpyHtoDAsync_v2(n->to, host_of(n->from), n->count, stream);
    case DTOH:
        return cuMemcpyDtoHAsync_v2(host_of(n->to), n->from, n->count, stream);
    case DTOD:
        return cuMemcpyDtoDAsync_v2(n->to, n->from, n->count, stream);
    case SET8:
        return cuMemsetD8Async(n->to, (unsigned char)n->value, n->count, stream);
    case SET16:
        return cuMemsetD16Async(n->to, (uint16_t)n->value, n->count, stream);
    case SET32:
        return cuMemsetD32Async(n->to, n->value, n->count, stream);
    default:
        return cuLaunchKernel(n->function, s[0], s[1], s[2], s[3], s[4], s[5], s[6], stream, n->parameter, NULL);
    }
}

int32_t cuGraphLaunch(slri_cu_exec exec, slri_cu_stream stream)
{
    struct object *object = (void *)exec;
    LOCKED(next_in_context("GraphLaunch"));
    if (error == 0 && (!object || object->kind != EXEC)) {
        LOCKED(refuse("GraphLaunch", INVALID_VALUE));
        return error;
    }
    __atomic_fetch_add(&fake_cuda.graph_launches, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; error == 0 && i < object->nodes; ++i)
        error = replay(&object->node[i], stream);
    return error;
}

// A warp, or the block of a handler that has a larger one.
static bool is_block_of_stay(const struct object *module, uint32_t threads)
{
    const struct slri_entry *handler = &module->module->entry[handler_of(module)];
    return threads == (handler->kind == SLRI_ENTRY_BLOCK && handler->max_threads > 32 ? handler->max_threads : 32);
}

static int32_t launch_stay(const char *name, slri_cu_function function, uint32_t grid, uint32_t threads,
                           slri_cu_stream stream, void **parameter)
{
    struct object *object = (void *)stream, *module = (void *)function;
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    if (current()->gone != 0)
        return 0;
    struct object *o = current()->first;
    while (o && o != module)
        o = o->next;
    if (!o || o->kind != MODULE || !o->stays || grid == 0 || grid > 64 || !is_block_of_stay(o, threads) ||
        stays(object))
        return refuse(name, INVALID_VALUE);
    if (object->stay)
        end_stay(object, false);
    begin_stay(object, o, grid, *(void **)parameter[0]);
    return 0;
}

int32_t cuLaunchCooperativeKernel(slri_cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
                                  uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared_bytes,
                                  slri_cu_stream stream, void **parameter)
{
    bool one = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 && shared_bytes == 0;
    LOCKED(one && !fake_cuda.no_cooperative
               ? launch_stay("LaunchCooperativeKernel", function, grid_x, block_x, stream, parameter)
               : refuse("LaunchCooperativeKernel", INVALID_VALUE));
    return error;
}

int32_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *blocks, slri_cu_function function, int32_t block_threads,
                                                    size_t shared_bytes)
{
    LOCKED(next_in_context("OccupancyMaxActiveBlocksPerMultiprocessor"));
    (void)function, (void)block_threads, (void)shared_bytes;
    *blocks = 32;
    return error;
}

// ---- NVRTC ---------------------------------------------------------------------------------------------------------

struct slri_nvrtc_program_object {
    char *text, *log;
    bool compiled;
};

int32_t nvrtcVersion(int32_t *major, int32_t *minor)
{
    CALL(nvrtcVersion);
    *major = 13;
    *minor = 0;
    return 0;
}

static const int32_t capabilities[] = {75, 80, 86, 89, 90, 100, 120};

int32_t nvrtcGetNumSupportedArchs(int32_t *count)
{
    CALL(nvrtcGetNumSupportedArchs);
    *count = sizeof capabilities / sizeof *capabilities;
    return 0;
}

int32_t nvrtcGetSupportedArchs(int32_t *capability)
{
    CALL(nvrtcGetSupportedArchs);
    memcpy(capability, capabilities, sizeof capabilities);
    return 0;
}

const char *nvrtcGetErrorString(int32_t number)
{
    return number == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR of a fake";
}

int32_t nvrtcCreateProgram(slri_nvrtc_program *program, const char *text, const char *name, int32_t headers,
                           const char *const *header, const char *const *include)
{
    (void)name, (void)headers, (void)header, (void)include;
    CALL(nvrtcCreateProgram);
    slri_nvrtc_program made = calloc(1, sizeof *made);
    made->text = strdup(text);
    *program = made;
    pthread_mutex_lock(&lock);
    ++fake_cuda.live;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t nvrtcDestroyProgram(slri_nvrtc_program *program)
{
    pthread_mutex_lock(&lock);
    --fake_cuda.live;
    pthread_mutex_unlock(&lock);
    free((*program)->text);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return 0;
}

static bool has_option(int32_t options, const char *const *option, const char *wanted)
{
    for (int32_t i = 0; i < options; ++i)
        if (strcmp(option[i], wanted) == 0)
            return true;
    return false;
}

int32_t nvrtcCompileProgram(slri_nvrtc_program program, int32_t options, const char *const *option)
{
    CALL(nvrtcCompileProgram);
    bool is_loop = strstr(program->text, slri_embedded_cu_resident_h) != NULL;
    bool is_raw = !is_loop && !strstr(program->text, "SLRI_FLOAT"); // not of our emitter, whose text is compiled so
    if (!has_option(options, option, "--gpu-architecture=sm_90") ||
        has_option(options, option, "--fmad=false") == is_raw) {
        LOCKED(refuse("nvrtcCompileProgram", 5));
        return error;
    }
    pthread_mutex_lock(&lock);
    ++fake_cuda.compilations;
    pthread_mutex_unlock(&lock);
    if (is_loop) { // compiled with this file
        program->compiled = true;
        return 0;
    }
    struct slri_module *module = read_source(program->text);
    program->compiled = module != NULL;
    if (!module)
        program->log = strdup(slr_error_message());
    slri_module_destroy(module);
    return program->compiled ? 0 : 6;
}

int32_t nvrtcGetProgramLogSize(slri_nvrtc_program program, size_t *bytes)
{
    CALL(nvrtcGetProgramLogSize);
    *bytes = program->log ? strlen(program->log) + 1 : 1;
    return 0;
}

int32_t nvrtcGetProgramLog(slri_nvrtc_program program, char *log)
{
    CALL(nvrtcGetProgramLog);
    strcpy(log, program->log ? program->log : "");
    return 0;
}

int32_t nvrtcGetCUBINSize(slri_nvrtc_program program, size_t *bytes)
{
    CALL(nvrtcGetCUBINSize);
    *bytes = sizeof(struct cubin) + strlen(program->text) + 1;
    return 0;
}

int32_t nvrtcGetCUBIN(slri_nvrtc_program program, char *out)
{
    CALL(nvrtcGetCUBIN);
    struct cubin cubin = {MARK, strlen(program->text) + 1};
    memcpy(out, &cubin, sizeof cubin);
    memcpy(out + sizeof cubin, program->text, cubin.bytes);
    return 0;
}
