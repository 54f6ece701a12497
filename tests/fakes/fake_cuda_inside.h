// SPDX-License-Identifier: Apache-2.0
// What the files of the simulated driver (fake_cuda.h) and of its NVRTC share. Only what is SEEN is exported: the rest
// is hidden, as all of the project is compiled.
#ifndef TESTS_FAKES_FAKE_CUDA_INSIDE_H
#define TESTS_FAKES_FAKE_CUDA_INSIDE_H

#include "fake_cuda.h"

#include "hal/cuda/api.h"
#include "hal/cuda/nvrtc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct fake_cuda fake_cuda;
extern pthread_mutex_t lock; // of all that the driver keeps, but not of what memory holds

// Prototypes are checked against the table that the backend calls by.
#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters, arguments) SEEN result cu##name parameters;
SLRI_CU_REQUIRED(DECLARE)
SLRI_CU_OPTIONAL(DECLARE)
#define DECLARE_NVRTC(result, name, parameters) SEEN result nvrtc##name parameters;
SLRI_NVRTC_REQUIRED(DECLARE_NVRTC)

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_UNSUPPORTED = 217,
    ILLEGAL_ADDRESS = 700,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    LAUNCH_FAILED = 719
};

static inline uint32_t fake_registers(void)
{
    return fake_cuda.registers ? fake_cuda.registers : 32;
}

// ---- objects -------------------------------------------------------------------------------------------------------

enum kind { CONTEXT = 0x51, STREAM, MEMORY, HOST, REGISTERED, MODULE, GRAPH, EXEC, LINK, EVENT };

// A command that was captured. `parameter`: of a kernel, copies.
struct node {
    enum { HTOD, DTOH, DTOD, SET8, SET16, SET32, KERNEL } op;
    uint64_t to, from;
    size_t count;
    uint32_t value, size[7];
    slri_cu_function function;
    void *parameter[131]; // HIDDEN of them are none of its source
    uint32_t parameters;
};

struct object {
    enum kind kind;
    struct object *context, *next; // in its context's list
    struct object *first;          // of a context: what is in it
    uint32_t staying;              // of a context: kernels that stay; atomic
    int32_t device;                // of a context of its own
    uint32_t reaches;              // of a context: the devices whose memory it may reach; a bit each
    int32_t gone;                  // of a context: the error that ended it
    uint32_t retained;             // of a primary one
    unsigned char *bytes;
    size_t size;
    struct slri_module *module; // of a module
    struct shim_image *image;   // likewise: its text, compiled; NULL: it is interpreted
    struct ptx_image *ptx;      // likewise: what NVRTC made of it
    struct slri_interp *interp;
    struct node *node; // of a stream that is captured, a graph, and what is launched of it
    uint32_t nodes;
    bool captured;
    char *text;                  // of a module: its source
    bool stays;                  // of a module: it has the loop of a kernel that stays
    bool is_loaded;              // of a module: its functions are on the device
    bool waits_for_null;         // of a stream: it and the NULL stream take turns
    struct object *recorded;     // of an event: the stream
    struct object *user;         // of memory: a stream that does not, which may still work on it
    bool copied;                 // of memory: the NULL stream may still copy there
    bool launched;               // of one of the two: once, so that a launch takes no memory any more
    struct fake_cuda_stay *stay; // of a stream: the kernel that runs in it, or NULL
};

int32_t refuse(const char *name, int32_t error); // what the manual forbids
struct object *current(void);                    // context of the thread, or NULL
void *make(enum kind kind, struct object *context);
void free_nodes(struct object *object);
void drop(struct object *object);
int32_t drop_from_context(const char *name, void *handle, enum kind kind);
void drop_all(struct object *context);
void end_stays(struct object *context);  // waits for all its kernels that stay
void lose_stays(struct object *context); // likewise, of a context that is lost, unless they linger
void end_stay(struct object *stream, bool by_force);
bool stays(const struct object *stream);

void keep_pin(const void *memory); // as keeps_pins says
// Whether a stream's command is in order behind what the NULL stream does with the piece. NULL is fine.
bool is_in_order(struct object *piece, struct object *stream);
void forget_user(struct object *context, const struct object *stream); // it has been waited for

// The piece of the current context that the range lies in, or NULL. Of the host's memory the device reaches what is
// mapped; it sees it where the host does.
struct object *piece_of(slri_cu_pointer from, size_t bytes);
void *host_of(slri_cu_pointer pointer);

// ---- calls ---------------------------------------------------------------------------------------------------------

#define LONG_MS 20000 // for what must not find one: it may be about to end, on a machine with much else to do

// Of calls that wait for all kernels of a context: wrong where they do so for `most_ms`. Without the lock.
void wait_for_stays(const char *name, int most_ms);
// The call that a test has named waits like those.
void stall(const char *name);

// Failing on demand: under the lock.
int32_t next_call(const char *name);
// A call that needs a context, which is there and not gone.
int32_t next_in_context(const char *name);
// With it go the kernels that stay.
void lose_context(struct object *context, int32_t error);
// A command to a stream; one may fault, which is told only later.
int32_t next_command(const char *name, slri_cu_stream stream);

#define LOCKED(call)                                                                                                   \
    stall(__func__);                                                                                                   \
    pthread_mutex_lock(&lock);                                                                                         \
    int32_t error = (call);                                                                                            \
    pthread_mutex_unlock(&lock)

#define CALL(name)                                                                                                     \
    LOCKED(next_call(#name));                                                                                          \
    if (error != 0)                                                                                                    \
    return error

// Where the stream is captured: it is put behind what was, instead of done. The parameters' copies are the node's.
// Without the lock.
bool capture(slri_cu_stream stream, const struct node *node);

// ---- a cubin is a mark, its length and the emitted source ----------------------------------------------------------

extern const char slri_embedded_cu_resident_h[];

#define MARK "fake cubin"

struct cubin {
    char mark[sizeof MARK];
    size_t bytes;
    char text[];
};

// Between the two texts of a link, handler and loop.
#define LINKED "#ifndef __SLIPRING__ // linked\n"

// What of a text the host's C++ compiler compiles (tests/shim): `module` is what the front end reads in it.
bool compile_shim(const char *text, const struct slri_module *module, char **complaint);
struct shim_image *load_shim(const char *text, const struct slri_module *module);

// Likewise what NVRTC makes of it (tests/ptx).
struct ptx_image *load_ptx(const char *text);

// fake_nvrtc.c
bool has_option(int32_t options, const char *const *option, const char *wanted);
int32_t compile_program(slri_nvrtc_program program);

// The front end reads what our emitter wrote; NULL with a message where it is none of ours.
struct slri_module *read_source(const char *text);

#endif
