// SPDX-License-Identifier: Apache-2.0
// A program that is not linked with slipring and loads the library late, as plug-ins and other languages do. It calls a
// ring kernel from many threads that end, closes the library and loads it again.
#include <slipring/slipring.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 96, CALLS = 20 };
#define LONG 60000000000ull

static const char source[] = "#include <slipring/device.h>\n"
                             "struct number { int value; };\n"
                             "__ring__ void twice(struct number *self, const struct number *in)\n"
                             "{\n"
                             "    self->value = 2 * in->value;\n"
                             "    ring_reply(self);\n"
                             "}\n";

#define FUNCTIONS(X)                                                                                                   \
    X(slr_version)                                                                                                     \
    X(slr_error_message)                                                                                               \
    X(slr_device_open_from)                                                                                            \
    X(slr_device_close)                                                                                                \
    X(slr_program_from_text)                                                                                           \
    X(slr_program_destroy)                                                                                             \
    X(slr_ring_create)                                                                                                 \
    X(slr_ring_launch)                                                                                                 \
    X(slr_ring_activate)                                                                                               \
    X(slr_ring_get_address)                                                                                            \
    X(slr_ring_get_stats_sized)                                                                                        \
    X(slr_ring_find)                                                                                                   \
    X(slr_ring_destroy)                                                                                                \
    X(slr_call)                                                                                                        \
    X(slr_region_begin)                                                                                                \
    X(slr_region_end)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} lib;

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("dlopen: %s\n", dlerror());
        exit(1);
    }
    // As POSIX has it: a function's address comes as a pointer to an object.
#define FIND(name)                                                                                                     \
    *(void **)&lib.name = dlsym(library, #name);                                                                       \
    if (!lib.name) {                                                                                                   \
        printf("no %s\n", #name);                                                                                      \
        exit(1);                                                                                                       \
    }
    FUNCTIONS(FIND)
#undef FIND
    return library;
}

static void must(slr_status status, const char *what)
{
    if (status == SLR_OK)
        return;
    printf("%s: %d: %s\n", what, status, lib.slr_error_message());
    exit(1);
}

static slr_device *device;
static slr_program *program;
static slr_ring *ring;
static slr_address address;

// A message of 3,000 bytes is the thread's own, and freed when the thread ends.
static void *call(void *user)
{
    char name[3000];
    int number = (int)(intptr_t)user;
    memset(name, 'a' + number % 26, sizeof name - 1);
    name[sizeof name - 1] = '\0';
    slr_address none;
    lib.slr_region_begin("call");
    for (int i = 0; i < CALLS; ++i) {
        int ask = number * CALLS + i, answer = 0;
        must(lib.slr_call(NULL, address, &ask, sizeof ask, &answer, sizeof answer, LONG), "slr_call");
        if (answer != 2 * ask) {
            printf("twice %d is %d\n", ask, answer);
            exit(1);
        }
    }
    lib.slr_region_end();
    if (lib.slr_ring_find(device, name, &none) != SLR_NOT_FOUND || !strstr(lib.slr_error_message(), name)) {
        printf("the message of 3,000 letters is: %s\n", lib.slr_error_message());
        exit(1);
    }
    return NULL;
}

static void begin(void)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    must(lib.slr_device_open_from("cpu", NULL, SLR_VERSION_NUMBER, &device), "slr_device_open");
    must(lib.slr_program_from_text(device, "twice.cu", source, NULL, &program), "slr_program_from_text");
    desc.program = program;
    must(lib.slr_ring_create(device, &desc, &ring), "slr_ring_create");
    must(lib.slr_ring_launch(ring), "slr_ring_launch");
    must(lib.slr_ring_activate(ring, LONG), "slr_ring_activate");
    must(lib.slr_ring_get_address(ring, 0, &address), "slr_ring_get_address");
}

static void end(uint64_t handled)
{
    slr_ring_stats stats;
    must(lib.slr_ring_get_stats_sized(ring, &stats, sizeof stats), "slr_ring_get_stats");
    if (stats.handled != handled) {
        printf("%llu messages were handled, not %llu\n", (unsigned long long)stats.handled,
               (unsigned long long)handled);
        exit(1);
    }
    lib.slr_ring_destroy(ring);
    lib.slr_program_destroy(program);
    lib.slr_device_close(device);
}

static void call_from_many_threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&thread[i], NULL, call, (void *)(intptr_t)i) != 0)
            exit(1);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(thread[i], NULL);
}

// What a thread has of the library is freed by the library's code when the thread ends, here after dlclose().
static pthread_barrier_t step;
static void *outlive(void *user)
{
    call(user);
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (int i = 0; i < 2; ++i) {
        pthread_t last;
        void *library = load(argv[1]);
        begin();
        call_from_many_threads();
        pthread_barrier_init(&step, NULL, 2);
        pthread_create(&last, NULL, outlive, NULL);
        pthread_barrier_wait(&step);
        end((THREADS + 1) * CALLS);
        dlclose(library);
        pthread_barrier_wait(&step);
        pthread_join(last, NULL);
    }
    printf("slipring %s, loaded twice, called from %d threads\n", lib.slr_version(), THREADS + 1);
    return 0;
}
