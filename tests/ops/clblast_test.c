// SPDX-License-Identifier: Apache-2.0
// CLBlast on an OpenCL that is simulated, whose kernels do nothing: what is right was computed by the library. Then
// each call fails in turn.
#define _POSIX_C_SOURCE 200809L
#include "tests/opencl/fake_library.h"

#include <slipring/ops.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int load_libraries(void **state)
{
    return load_fake(state) | setenv("SLIPRING_CLBLAST_LIB", getenv("SLIPRING_FAKE_OPENCL"), 1);
}

struct attempt {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops;
    slr_buffer *buffer[3];
};

// c = a b^T, twice: two matrices a, one b.
static slr_status attempt(struct attempt *a, float result[8])
{
    static const float left[8] = {1, 2, 3, 4, 5, 6, 7, 8}, right[4] = {1, 10, 100, 1000};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 1 << 20;
    slr_status status = slr_device_open("opencl:0", &desc, &a->device);
    if (status == SLR_OK)
        status = slr_stream_create(a->device, NULL, &a->stream);
    if (status == SLR_OK)
        status = slr_ops_create(a->device, NULL, &a->ops);
    for (int i = 0; i < 3 && status == SLR_OK; ++i)
        status = slr_buffer_create(a->device, 256, &a->buffer[i]);
    if (status == SLR_OK)
        status = slr_stream_write(a->stream, a->buffer[0], 0, left, sizeof left, NULL);
    if (status == SLR_OK)
        status = slr_stream_write(a->stream, a->buffer[1], 0, right, sizeof right, NULL);
    if (status != SLR_OK)
        return status;
    slr_tensor x = slr_tensor_3d(SLR_F32, a->buffer[0], 2, 2, 2), w = slr_tensor_2d(SLR_F32, a->buffer[1], 2, 2);
    slr_tensor y = slr_tensor_3d(SLR_F32, a->buffer[2], 2, 2, 2);
    slr_matmul_desc product = SLR_MATMUL_DESC_INIT;
    product.a = &x, product.b = &w, product.c = &y, product.transpose_b = 1;
    status = slr_ops_matmul(a->ops, a->stream, &product, NULL);
    if (status == SLR_OK)
        status = slr_stream_read(a->stream, a->buffer[2], 0, result, 32, NULL);
    return status == SLR_OK ? slr_stream_finish(a->stream, LONG) : status;
}

static void end_attempt(struct attempt *a)
{
    slr_ops_destroy(a->ops);
    if (a->stream)
        slr_stream_finish(a->stream, LONG);
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(a->buffer[i]);
    slr_stream_destroy(a->stream);
    slr_device_close(a->device);
}

static void nothing_is_left(const char *what)
{
    if (fake->live != 0 || fake->wrong != 0)
        fail_msg("%s: %u objects are left, %u wrong calls", what, fake->live, fake->wrong);
}

// Shared virtual memory, and memory objects.
static void products_are_the_librarys_in_any_memory(void **state)
{
    (void)state;
    static const float want[8] = {21, 2100, 43, 4300, 65, 6500, 87, 8700};
    for (uint32_t svm = 0; svm < 2; ++svm) {
        struct attempt a = {0};
        float result[8] = {0};
        reset();
        fake->svm = svm ? 15 : 0;
        must(attempt(&a, result));
        assert_memory_equal(result, want, sizeof want);
        end_attempt(&a);
        nothing_is_left("products");
    }
}

// Gives how many failures were told. All calls are another number in each attempt, because a poller calls, too; the
// library's are not.
static uint32_t fail_each(const char *only)
{
    uint32_t told = 0;
    for (uint32_t k = 1;; ++k) {
        struct attempt a = {0};
        float result[8];
        reset();
        fake->only = only;
        fake->fail_at = k;
        slr_status status = attempt(&a, result);
        const char *failed = fake->failed;
        if (status != SLR_OK && !failed)
            fail_msg("call %u: %s", k, slr_error_message());
        end_attempt(&a);
        nothing_is_left(failed ? failed : "no call");
        if (!failed)
            return told;
        told += status != SLR_OK;
    }
}

static void each_call_that_fails_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_each(NULL) > 5);
    assert_int_equal(fail_each("CLBlastSgemm"), 2); // one a matrix
}

// In a process of its own, because a library is opened once.
static int ask_real_library(void)
{
    struct attempt a = {0};
    float result[8] = {0};
    unsetenv("SLIPRING_CLBLAST_LIB");
    slr_status status = attempt(&a, result);
    return status == SLR_OK && result[0] == 0.0f ? 0 : 1; // the simulated kernels did it, which do nothing
}

static void a_library_that_calls_another_OpenCL_is_not_used(void **state)
{
    (void)state;
    int end = 0;
    reset();
    pid_t child = fork();
    if (child == 0)
        _exit(ask_real_library());
    assert_true(child > 0 && waitpid(child, &end, 0) == child);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_calls_another_OpenCL_is_not_used),
        cmocka_unit_test(products_are_the_librarys_in_any_memory),
        cmocka_unit_test(each_call_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, load_libraries, NULL);
}
