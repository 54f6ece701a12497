// SPDX-License-Identifier: Apache-2.0
// Whether the simulated Metal finds what is wrong: leaks, references given up once too often, messages to what has
// ended, encoders and command buffers out of order.
#define _POSIX_C_SOURCE 200809L
#include "tests/metal/metal_test.h"

#include <sys/wait.h>
#include <unistd.h>

static void *pool;

static int begin(void **state)
{
    (void)state;
    pool = mt->push_pool();
    return 0;
}

static int end(void **state)
{
    if (pool)
        mt->pop_pool(pool);
    return nothing_is_left(state);
}

// And forgets it.
static void was_wrong(const char *words)
{
    assert_int_equal(metal->wrong, 1);
    if (!strstr(metal->first_wrong, words))
        fail_msg("'%s' is not in '%s'", words, metal->first_wrong);
    metal->wrong = 0;
}

static slri_mt_id make(void)
{
    return SLRI_MT(mt, mt->class.MTLCompileOptions, make);
}

// ---- references ----------------------------------------------------------------------------------------------------

static void object_that_is_not_released_is_left(void **state)
{
    (void)state;
    slri_mt_id object = make();
    SLRI_MT(mt, object, retain);
    SLRI_MT(mt, object, release);
    assert_int_equal(metal->live, 1);
    SLRI_MT(mt, object, release);
    assert_int_equal(metal->live, 0);
}

static void process_that_leaks_ends_with_97(void **state)
{
    int status = 0;
    (void)state;
    for (int leaks = 0; leaks < 2; ++leaks) {
        const pid_t child = fork();
        if (child == 0) {
            slri_mt_id object = make();
            if (!leaks)
                SLRI_MT(mt, object, release);
            fclose(stderr);
            exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), leaks ? 97 : 0);
    }
}

static void object_released_once_too_often_is_found(void **state)
{
    (void)state;
    slri_mt_id object = make();
    slri_mt_id other = SLRI_MT(mt, object, retain);
    SLRI_MT(mt, object, release);
    SLRI_MT(mt, other, release);
    assert_int_equal(metal->wrong, 0);
    SLRI_MT(mt, other, release);
    was_wrong("-[MTLCompileOptions release] is sent to an object that has ended");
}

// As code does that releases what it does not own.
static void object_of_a_pool_that_is_released_is_found(void **state)
{
    (void)state;
    slri_mt_id string = SLRI_MT_WITH(mt, mt->class.NSString, string, "words");
    SLRI_MT(mt, string, release);
    assert_int_equal(metal->wrong, 0);
    mt->pop_pool(pool);
    pool = NULL;
    was_wrong("NSString is released once too often");
}

static void object_without_a_pool_is_found(void **state)
{
    (void)state;
    mt->pop_pool(pool);
    pool = NULL;
    slri_mt_id string = SLRI_MT_WITH(mt, mt->class.NSString, string, "words");
    was_wrong("NSString is autoreleased, and there is no pool");
    SLRI_MT(mt, string, release);
}

static void pools_end_in_order(void **state)
{
    (void)state;
    void *inner = mt->push_pool();
    SLRI_MT_WITH(mt, mt->class.NSString, string, "words");
    assert_int_equal(metal->live, 1);
    mt->pop_pool(inner);
    assert_int_equal(metal->live, 0);
    (void)mt->push_pool();
    mt->pop_pool(pool);
    pool = NULL;
    was_wrong("a pool is popped that is not the innermost");
}

static void method_that_there_is_not_is_found(void **state)
{
    (void)state;
    slri_mt_id object = make();
    assert_int_equal(SLRI_MT(mt, object, count), 0);
    was_wrong("-[MTLCompileOptions count] is sent, which there is not");
    SLRI_MT(mt, object, release);
    assert_null(SLRI_MT(mt, NULL, name)); // as the language has it
}

// ---- command buffers and encoders ----------------------------------------------------------------------------------

struct work {
    slri_mt_id devices, device, queue, commands, encoder;
};

static void start(struct work *w)
{
    w->devices = mt->all_devices();
    w->device = SLRI_MT_WITH(mt, w->devices, object_at, 0);
    w->queue = SLRI_MT_WITH(mt, w->device, new_queue, 4);
    w->commands = SLRI_MT(mt, w->queue, command_buffer);
    w->encoder = SLRI_MT(mt, w->commands, encoder);
}

static void stop(struct work *w)
{
    SLRI_MT(mt, w->queue, release);
    SLRI_MT(mt, w->devices, release);
}

static void encoders_and_commits_out_of_order_are_found(void **state)
{
    struct work w;
    (void)state;
    start(&w);
    assert_null(SLRI_MT(mt, w.commands, encoder));
    was_wrong("computeCommandEncoder of a command buffer while an encoder is open");
    SLRI_MT(mt, w.commands, commit);
    was_wrong("commit of a command buffer while an encoder is open");
    SLRI_MT(mt, w.commands, wait);
    was_wrong("waitUntilCompleted of a command buffer that was not committed");
    SLRI_MT(mt, w.encoder, end);
    SLRI_MT(mt, w.encoder, end);
    was_wrong("endEncoding of an encoder that has ended");
    SLRI_MT_WITH(mt, w.encoder, set_bytes, "", 1, 0);
    was_wrong("setBytes of an encoder that has ended");
    SLRI_MT(mt, w.commands, commit);
    SLRI_MT(mt, w.commands, wait);
    assert_int_equal(SLRI_MT(mt, w.commands, status), SLRI_MT_COMPLETED);
    SLRI_MT(mt, w.commands, commit);
    was_wrong("commit of a command buffer that was committed");
    assert_null(SLRI_MT(mt, w.commands, encoder));
    was_wrong("computeCommandEncoder of a command buffer that was committed");
    stop(&w);
}

static void encoder_that_goes_without_its_end_is_found(void **state)
{
    struct work w;
    (void)state;
    start(&w);
    mt->pop_pool(pool);
    pool = NULL;
    was_wrong("an encoder is released without endEncoding");
    stop(&w);
}

static void launches_that_metal_does_not_define_are_found(void **state)
{
    const struct slri_mt_size one = {1, 1, 1};
    struct work w;
    uint64_t word;
    (void)state;
    start(&w);
    SLRI_MT_WITH(mt, w.encoder, dispatch, one, one);
    was_wrong("dispatchThreadgroups without a pipeline or its block");
    SLRI_MT_WITH(mt, w.encoder, set_shared, 8, 0);
    was_wrong("setThreadgroupMemoryLength of 8 B");
    SLRI_MT_WITH(mt, w.encoder, set_bytes, "", 5000, 0);
    was_wrong("setBytes of 5000 B");
    slri_mt_id buffer = SLRI_MT_WITH(mt, w.device, new_buffer, 64, SLRI_MT_SHARED);
    slri_mt_id source = SLRI_MT_WITH(mt, mt->class.NSString, string,
                                     "#include <metal_stdlib>\n"
                                     "[[kernel]] void one(constant unsigned *word [[buffer(0)]]) { (void)word; }\n");
    slri_mt_id options = make(), error = NULL, name = SLRI_MT_WITH(mt, mt->class.NSString, string, "one");
    SLRI_MT_WITH(mt, options, set_language, 0x30000);
    slri_mt_id library = SLRI_MT_WITH(mt, w.device, new_library, source, options, &error);
    assert_non_null(library);
    slri_mt_id function = SLRI_MT_WITH(mt, library, new_function, name);
    slri_mt_id how = SLRI_MT(mt, mt->class.MTLComputePipelineDescriptor, make);
    SLRI_MT_WITH(mt, how, set_function, function);
    SLRI_MT_WITH(mt, how, set_most_threads, 32);
    slri_mt_id pipeline = SLRI_MT_WITH(mt, w.device, new_pipeline, how, 0, NULL, &error);
    SLRI_MT_WITH(mt, w.encoder, set_pipeline, pipeline);
    word = (uintptr_t)SLRI_MT(mt, buffer, contents);
    SLRI_MT_WITH(mt, w.encoder, set_bytes, &word, sizeof word, 0);
    SLRI_MT_WITH(mt, w.encoder, dispatch, one, one);
    was_wrong("a kernel is given an address of the host");
    word = SLRI_MT(mt, buffer, gpu_address);
    SLRI_MT_WITH(mt, w.encoder, set_bytes, &word, sizeof word, 0);
    SLRI_MT_WITH(mt, w.encoder, dispatch, one, one);
    was_wrong("a kernel is given a buffer that the encoder was not told of");
    SLRI_MT_WITH(mt, w.encoder, use, buffer, SLRI_MT_READ);
    SLRI_MT_WITH(mt, w.encoder, dispatch, one, one);
    assert_int_equal(metal->wrong, 0);
    SLRI_MT_WITH(mt, w.encoder, dispatch, one, (struct slri_mt_size){64, 1, 1});
    was_wrong("dispatchThreadgroups of 64 threads, of a pipeline of 32");
    SLRI_MT(mt, w.encoder, end);
    SLRI_MT(mt, w.commands, commit);
    SLRI_MT(mt, w.commands, wait);
    slri_mt_id all[] = {pipeline, how, function, library, options, buffer};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        SLRI_MT(mt, all[i], release);
    stop(&w);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(object_that_is_not_released_is_left),
        TEST(process_that_leaks_ends_with_97),
        TEST(object_released_once_too_often_is_found),
        TEST(object_of_a_pool_that_is_released_is_found),
        TEST(object_without_a_pool_is_found),
        TEST(pools_end_in_order),
        TEST(method_that_there_is_not_is_found),
        TEST(encoders_and_commits_out_of_order_are_found),
        TEST(encoder_that_goes_without_its_end_is_found),
        TEST(launches_that_metal_does_not_define_are_found),
    };
    return cmocka_run_group_tests(tests, load_metal, NULL);
}
