// SPDX-License-Identifier: Apache-2.0
// What the files of the simulated Metal share.
#ifndef TESTS_FAKES_METAL_INSIDE_H
#define TESTS_FAKES_METAL_INSIDE_H

#include "tests/fakes/metal/fake_metal.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEEN __attribute__((visibility("default")))

extern struct fake_metal fake;

typedef const struct selector *sel; // one a name
struct object;

struct method {
    const char *name;
    void (*body)(void); // (object, selector, arguments ...)
    sel selector;       // of the name; the runtime's
};

struct class {
    struct object *as_object_of; // NULL: its own class is none, and so it is one
    const char *name;
    size_t bytes;                        // of its objects
    struct method *of_class, *of_object; // up to one without a name; NULL: none
    void (*end)(struct object *object);  // when nobody has it any more; NULL: nothing is to be done
};

struct object {
    struct class *class;          // an object's; of a class NULL
    uint32_t holds;               // atomic; 0: it has ended, and is only kept so that a message to it is noticed
    bool stays;                   // as long as the process
    struct object *next, *before; // of those that are alive
};

// runtime.c
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Whether the call of that name fails now. Counts it.
bool fails(const char *name);
bool loses(const char *name); // likewise of one that cannot give nothing: the device may be lost with it
bool is_lost(void);
void found_again(void);                                   // the device: it is lost no more
void *made(struct class *class);                          // an object that the caller has
struct object *held(struct object *object);               // gives it; NULL is fine
void let_go(struct object *object);                       // NULL is fine
struct object *later(struct object *object);              // the pool has it now
struct object *text_of(const char *words);                // an NSString that the caller has
const char *words_of(const struct object *string);        // as long as that
struct object *error_of(int64_t code, const char *words); // an NSError of the pool
#define METHOD(name, body)                                                                                             \
    {                                                                                                                  \
        name, (void (*)(void))(body), NULL                                                                             \
    }

extern struct class class_NSString, class_NSArray, class_NSURL, class_NSError, class_NSProcessInfo;
struct array {
    struct object object;
    uint32_t count;
    struct object *of[4];
};
struct url {
    struct object object;
    char path[1024];
};

// classes.c
extern struct class class_MTLCompileOptions, class_MTLComputePipelineDescriptor, class_MTLBinaryArchiveDescriptor;
extern struct class class_MTLDevice;

// memory.c
struct buffer {
    struct object object;
    uint64_t bytes, mapped;
    unsigned char *host, *device; // the same memory, at two addresses
    bool is_private;
    struct buffer *next; // of all
};
extern struct class class_MTLBuffer;
struct object *new_buffer(struct object *device, sel selector, uint64_t bytes, uint64_t options);
uint64_t allocated_bytes(void);
// The buffer of which `address` is an address of the device (`is_host`: of the host), or NULL.
struct buffer *buffer_at(uint64_t address, bool is_host);

// code.c
struct library {
    struct object object;
    char *text;
    struct image *image; // run.c
};
struct function {
    struct object object;
    struct library *library;
    char name[128];
};
struct pipeline {
    struct object object;
    struct function *function;
    uint64_t most_threads;
};
struct object *new_library(struct object *device, sel selector, struct object *source, struct object *options,
                           struct object **error);
struct object *new_archive(struct object *device, sel selector, struct object *how, struct object **error);
struct object *new_pipeline(struct object *device, sel selector, struct object *how, uint64_t options, void *reflection,
                            struct object **error);

// queue.c
struct size {
    uint64_t width, height, depth;
};
struct object *new_queue(struct object *device, sel selector, uint64_t most);
struct object *new_event(struct object *device, sel selector);

// run.c: kernels on the host's cores.
struct launch {
    const struct pipeline *pipeline;
    const void *block; // its arguments
    uint64_t dynamic_bytes;
    struct size grid, threads;
};
struct image *image_of(const char *text, char **complaint); // NULL: `complaint`, to free()
void image_end(struct image *image);
bool image_has(const struct image *image, const char *name);
bool run(const struct launch *launch); // false: it touched what is not its own

#endif
