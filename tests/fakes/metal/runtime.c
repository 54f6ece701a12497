// SPDX-License-Identifier: Apache-2.0
// The Objective-C runtime: selectors, messages, references, autorelease pools; Foundation's few classes; what is noted
// of calls. See fake_metal.h.
#define _POSIX_C_SOURCE 200809L
#include "tests/fakes/metal/inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_metal fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of objects' lists, selectors, and `fake`

SEEN struct fake_metal *fake_metal_words(void);
struct fake_metal *fake_metal_words(void)
{
    return &fake;
}

SEEN int slr_driver_is_simulated(void);
int slr_driver_is_simulated(void)
{
    return 1;
}

// ---- what is noted -------------------------------------------------------------------------------------------------

void wrong(const char *format, ...)
{
    va_list arguments;
    char words[sizeof fake.first_wrong];
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    if (fake.wrong++ == 0)
        memcpy(fake.first_wrong, words, sizeof words);
    pthread_mutex_unlock(&lock);
}

static bool comes(const char *name)
{
    pthread_mutex_lock(&lock);
    const bool is_named = fake.fail_name && strcmp(fake.fail_name, name) == 0;
    const bool fails = ++fake.calls == fake.fail_at || is_named;
    if (is_named)
        fake.fail_name = NULL;
    if (fails)
        fake.failed = name;
    pthread_mutex_unlock(&lock);
    if (fails && fake.error != 0)
        __atomic_store_n(&fake.lost, 1, __ATOMIC_RELAXED);
    return fails;
}

bool fails(const char *name)
{
    return comes(name) && fake.error == 0;
}

bool loses(const char *name)
{
    return comes(name);
}

bool is_lost(void)
{
    return __atomic_load_n(&fake.lost, __ATOMIC_RELAXED) != 0;
}

void found_again(void)
{
    __atomic_store_n(&fake.lost, 0, __ATOMIC_RELAXED);
}

// ---- selectors -----------------------------------------------------------------------------------------------------

struct selector {
    char name[96];
};
static struct selector selectors[160];
static uint32_t selector_count;

SEEN sel sel_registerName(const char *name);
sel sel_registerName(const char *name)
{
    pthread_mutex_lock(&lock);
    uint32_t i = 0;
    while (i < selector_count && strcmp(selectors[i].name, name) != 0)
        ++i;
    if (i == selector_count && i < sizeof selectors / sizeof *selectors)
        snprintf(selectors[selector_count++].name, sizeof selectors[i].name, "%s", name);
    pthread_mutex_unlock(&lock);
    return &selectors[i];
}

static struct class *const classes[] = {&class_NSString,
                                        &class_NSArray,
                                        &class_NSURL,
                                        &class_NSError,
                                        &class_NSProcessInfo,
                                        &class_MTLCompileOptions,
                                        &class_MTLComputePipelineDescriptor,
                                        &class_MTLBinaryArchiveDescriptor};

SEEN struct class *objc_getClass(const char *name);
struct class *objc_getClass(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i)
        if (strcmp(classes[i]->name, name) == 0)
            return classes[i];
    return NULL;
}

// ---- objects -------------------------------------------------------------------------------------------------------

#define MOST_ENDED 65536u // kept, so that a message to one of them is noticed

static struct object alive = {.next = &alive, .before = &alive}, *ended[MOST_ENDED];
static uint32_t endings;

void *made(struct class *class)
{
    struct object *object = calloc(1, class->bytes);
    if (!object)
        abort();
    object->class = class;
    object->holds = 1;
    pthread_mutex_lock(&lock);
    object->next = &alive;
    object->before = alive.before;
    alive.before->next = object;
    alive.before = object;
    ++fake.live;
    pthread_mutex_unlock(&lock);
    return object;
}

struct object *held(struct object *object)
{
    if (object && __atomic_fetch_add(&object->holds, 1, __ATOMIC_RELAXED) == 0)
        wrong("an object of %s that has ended is retained", object->class->name);
    return object;
}

static void end(struct object *object)
{
    if (object->class->end)
        object->class->end(object);
    pthread_mutex_lock(&lock);
    object->next->before = object->before;
    object->before->next = object->next;
    --fake.live;
    free(ended[endings % MOST_ENDED]);
    ended[endings++ % MOST_ENDED] = object;
    pthread_mutex_unlock(&lock);
}

void let_go(struct object *object)
{
    if (!object || object->stays)
        return;
    const uint32_t was =
        __atomic_fetch_sub(&object->holds, 1, __ATOMIC_ACQ_REL); // what others did comes before its end
    if (was == 1)
        end(object);
    if (was == 0 || was > UINT32_MAX / 2) {
        __atomic_store_n(&object->holds, 0, __ATOMIC_RELAXED);
        wrong("an object of %s is released once too often", object->class->name);
    }
}

// ---- pools ---------------------------------------------------------------------------------------------------------

struct pool {
    struct pool *outer;
    struct object **of;
    uint32_t count, room;
};
static _Thread_local struct pool *innermost;

SEEN void *objc_autoreleasePoolPush(void);
void *objc_autoreleasePoolPush(void)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        abort();
    pool->outer = innermost;
    return innermost = pool;
}

SEEN void objc_autoreleasePoolPop(void *token);
void objc_autoreleasePoolPop(void *token)
{
    if (innermost != token)
        wrong("a pool is popped that is not the innermost of its thread");
    while (innermost) {
        struct pool *pool = innermost;
        innermost = pool->outer;
        for (uint32_t i = 0; i < pool->count; ++i)
            let_go(pool->of[i]);
        const bool is_it = pool == token;
        free(pool->of);
        free(pool);
        if (is_it)
            return;
    }
}

struct object *later(struct object *object)
{
    struct pool *pool = innermost;
    if (!pool) {
        wrong("an object of %s is autoreleased, and there is no pool: it leaks", object->class->name);
        return object;
    }
    if (pool->count == pool->room) {
        pool->room = pool->room ? pool->room * 2 : 16;
        pool->of = realloc(pool->of, pool->room * sizeof(struct object *));
        if (!pool->of)
            abort();
    }
    pool->of[pool->count++] = object;
    return object;
}

// ---- messages ------------------------------------------------------------------------------------------------------

static struct object *retain(struct object *object, sel selector)
{
    (void)selector;
    return held(object);
}

static void release(struct object *object, sel selector)
{
    (void)selector;
    let_go(object);
}

static struct object *make(struct class *class, sel selector)
{
    (void)selector;
    return fails("new") ? NULL : made(class);
}

static struct method of_all[] = {METHOD("retain", retain), METHOD("release", release), {0}};
static struct method of_classes[] = {METHOD("new", make), {0}};

static void (*find(struct method *methods, sel selector))(void)
{
    for (; methods && methods->name; ++methods)
        if (strcmp(methods->name, selector->name) == 0)
            return methods->body;
    return NULL;
}

extern void fake_nothing(void);

// For fake_send: what a message to the object calls.
__attribute__((used)) void (*fake_lookup(struct object *object, sel selector))(void);
void (*fake_lookup(struct object *object, sel selector))(void)
{
    void (*body)(void);
    if (!object)
        return fake_nothing;
    if (!object->class) { // it is one
        struct class *class = (struct class *)object;
        body = find(class->of_class, selector);
        body = body ? body : find(of_classes, selector);
        if (!body)
            wrong("+[%s %s] is sent, which there is not", class->name, selector->name);
        return body ? body : fake_nothing;
    }
    if (__atomic_load_n(&object->holds, __ATOMIC_ACQUIRE) == 0) {
        wrong("-[%s %s] is sent to an object that has ended", object->class->name, selector->name);
        return fake_nothing;
    }
    body = find(of_all, selector);
    body = body ? body : find(object->class->of_object, selector);
    if (!body)
        wrong("-[%s %s] is sent, which there is not", object->class->name, selector->name);
    return body ? body : fake_nothing;
}

// A message has the arguments of what it calls: they stay where they are.
#if defined __x86_64__
#define SEND(name, move)                                                                                               \
    ".globl " #name "\n.type " #name ", @function\n" #name ":\n"                                                       \
    "push %rbp\nmov %rsp, %rbp\nsub $192, %rsp\n"                                                                      \
    "mov %rdi, 128(%rsp)\nmov %rsi, 136(%rsp)\nmov %rdx, 144(%rsp)\n"                                                  \
    "mov %rcx, 152(%rsp)\nmov %r8, 160(%rsp)\nmov %r9, 168(%rsp)\n"                                                    \
    "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n" move              \
    "call fake_lookup\nmov %rax, %r11\n"                                                                               \
    "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"                   \
    "mov 128(%rsp), %rdi\nmov 136(%rsp), %rsi\nmov 144(%rsp), %rdx\n"                                                  \
    "mov 152(%rsp), %rcx\nmov 160(%rsp), %r8\nmov 168(%rsp), %r9\n"                                                    \
    "leave\njmp *%r11\n"
__asm__(".text\n" SEND(objc_msgSend, "")
            SEND(objc_msgSend_stret,
                 "mov %rsi, %rdi\nmov %rdx, %rsi\n") ".globl fake_nothing\n.hidden fake_nothing\nfake_nothing:\nxor "
                                                     "%eax, %eax\nxorps %xmm0, %xmm0\nret\n");
#elif defined __aarch64__
__asm__(".text\n.globl objc_msgSend\n.type objc_msgSend, @function\nobjc_msgSend:\n"
        "stp x29, x30, [sp, #-160]!\nmov x29, sp\n"
        "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\n"
        "str x8, [sp, #80]\nstp d0, d1, [sp, #96]\nstp d2, d3, [sp, #112]\n"
        "bl fake_lookup\nmov x9, x0\n"
        "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\n"
        "ldr x8, [sp, #80]\nldp d0, d1, [sp, #96]\nldp d2, d3, [sp, #112]\n"
        "ldp x29, x30, [sp], #160\nbr x9\n"
        ".globl fake_nothing\n.hidden fake_nothing\nfake_nothing:\nmov x0, #0\nfmov d0, xzr\nret\n");
#endif

// ---- Foundation ----------------------------------------------------------------------------------------------------

struct string {
    struct object object;
    char *words;
};

static void end_string(struct object *object)
{
    free(((struct string *)object)->words);
}

struct object *text_of(const char *words)
{
    struct string *string = made(&class_NSString);
    string->words = strdup(words);
    return &string->object;
}

const char *words_of(const struct object *string)
{
    return ((const struct string *)string)->words;
}

static struct object *string_with(struct class *class, sel selector, const char *words)
{
    (void)class, (void)selector;
    return fails("stringWithUTF8String:") ? NULL : later(text_of(words));
}

static const char *utf8(const struct object *string, sel selector)
{
    (void)selector;
    return words_of(string);
}

struct class class_NSString = {.name = "NSString",
                               .bytes = sizeof(struct string),
                               .of_class = (struct method[]){METHOD("stringWithUTF8String:", string_with), {0}},
                               .of_object = (struct method[]){METHOD("UTF8String", utf8), {0}},
                               .end = end_string};

static void end_array(struct object *object)
{
    struct array *array = (struct array *)object;
    for (uint32_t i = 0; i < array->count; ++i)
        let_go(array->of[i]);
}

static struct object *array_with(struct class *class, sel selector, struct object *of)
{
    (void)selector;
    struct array *array = made(class);
    array->of[array->count++] = held(of);
    return later(&array->object);
}

static uint64_t array_count(const struct array *array, sel selector)
{
    (void)selector;
    return array->count;
}

static struct object *array_at(const struct array *array, sel selector, uint64_t index)
{
    (void)selector;
    if (index < array->count)
        return array->of[index];
    wrong("an array of %u has no object %llu", array->count, (unsigned long long)index);
    return NULL;
}

struct class class_NSArray = {
    .name = "NSArray",
    .bytes = sizeof(struct array),
    .of_class = (struct method[]){METHOD("arrayWithObject:", array_with), {0}},
    .of_object = (struct method[]){METHOD("count", array_count), METHOD("objectAtIndex:", array_at), {0}},
    .end = end_array};

static struct object *url_of(struct class *class, sel selector, const struct object *path)
{
    (void)selector;
    if (fails("fileURLWithPath:"))
        return NULL;
    struct url *url = made(class);
    snprintf(url->path, sizeof url->path, "%s", words_of(path));
    return later(&url->object);
}

struct class class_NSURL = {.name = "NSURL",
                            .bytes = sizeof(struct url),
                            .of_class = (struct method[]){METHOD("fileURLWithPath:", url_of), {0}}};

struct error {
    struct object object;
    int64_t code;
    struct object *words;
};

static void end_error(struct object *object)
{
    let_go(((struct error *)object)->words);
}

struct object *error_of(int64_t code, const char *words)
{
    struct error *error = made(&class_NSError);
    error->code = code;
    error->words = text_of(fake.words ? fake.words : words);
    return later(&error->object);
}

static int64_t error_code(const struct error *error, sel selector)
{
    (void)selector;
    return error->code;
}

static struct object *error_words(const struct error *error, sel selector)
{
    (void)selector;
    return error->words;
}

struct class class_NSError = {
    .name = "NSError",
    .bytes = sizeof(struct error),
    .of_object = (struct method[]){METHOD("code", error_code), METHOD("localizedDescription", error_words), {0}},
    .end = end_error};

static uint32_t major_of_system(void)
{
    return fake.system_major ? fake.system_major : 15;
}

static struct object *process_info(struct class *class, sel selector)
{
    (void)selector;
    return later(made(class));
}

static struct object *system_version(struct object *process, sel selector)
{
    char words[48];
    (void)process, (void)selector;
    snprintf(words, sizeof words, "Version %u.0 (Build simulated)", major_of_system());
    return later(text_of(words));
}

static bool is_at_least(struct object *process, sel selector, struct size version)
{
    (void)process, (void)selector;
    return major_of_system() >= version.width;
}

struct class class_NSProcessInfo = {.name = "NSProcessInfo",
                                    .bytes = sizeof(struct object),
                                    .of_class = (struct method[]){METHOD("processInfo", process_info), {0}},
                                    .of_object =
                                        (struct method[]){METHOD("operatingSystemVersionString", system_version),
                                                          METHOD("isOperatingSystemAtLeastVersion:", is_at_least),
                                                          {0}}};

// ---- the end -------------------------------------------------------------------------------------------------------

__attribute__((destructor)) static void look_at_end(void)
{
    if (fake.live == 0 && fake.wrong == 0)
        return;
    fprintf(stderr, "fake_metal: %d objects are left, %u calls were wrong%s%s\n", fake.live, fake.wrong,
            fake.wrong ? ", first: " : "", fake.first_wrong);
    for (const struct object *each = alive.next; each != &alive; each = each->next)
        fprintf(stderr, "fake_metal: an object of %s, held %u times\n", each->class->name, each->holds);
    _exit(97);
}
