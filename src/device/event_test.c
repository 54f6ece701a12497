// SPDX-License-Identifier: Apache-2.0
// Events, on the devices of stream_test.h.
#include "device/stream_test.h"

static void sleep_10_ms(void *user, slr_status status)
{
    (void)user, (void)status;
    slri_sleep_ns(10 * MS);
}

static void events_measure_what_lies_between(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        slr_stream *stream = make_stream(device);
        slr_event *from, *to;
        must(slr_event_create(device, &from));
        must(slr_event_create(device, &to));
        uint64_t time_ns;
        int64_t elapsed_ns;
        refuses(slr_event_time_ns(from, &time_ns), WRONG_STATE, "never recorded");
        refuses(slr_event_wait(from, LONG), WRONG_STATE, "never recorded");
        uint64_t before_ns = slri_now_ns();
        must(slr_event_record(from, stream, NULL));
        must(slr_stream_call(stream, sleep_10_ms, NULL, NULL));
        must(slr_event_record(to, stream, NULL));
        must(slr_event_wait(to, LONG));
        must(slr_event_elapsed_ns(from, to, &elapsed_ns));
        assert_true(elapsed_ns >= (int64_t)(10 * MS)); // how much more is a benchmark's matter
        assert_true(elapsed_ns <= (int64_t)(slri_now_ns() - before_ns));
        must(slr_event_elapsed_ns(to, from, &elapsed_ns));
        assert_true(elapsed_ns <= -(int64_t)(10 * MS));
        must(slr_event_time_ns(from, &time_ns));
        assert_true(time_ns >= before_ns);
        slr_event_destroy(from);
        slr_event_destroy(to);
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

static slr_kernel *make_spinner(slr_device *device)
{
    static const char source[] = "__global__ void spin(unsigned *out, int n) {\n"
                                 "    unsigned x = threadIdx.x;\n"
                                 "    for (int i = 0; i < n; i++) x = x * 1664525u + (x >> 7);\n"
                                 "    out[blockIdx.x * blockDim.x + threadIdx.x] = x;\n"
                                 "}\n";
    slr_program *program;
    slr_kernel *kernel;
    must(slr_program_from_text(device, "spin.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, "spin", &kernel));
    slr_program_destroy(program);
    return kernel;
}

enum { SPINNERS = 8 };

struct spinner {
    slr_stream *stream;
    slr_event *from, *to;
    slr_buffer *buffer;
};

// Records, kernel, record in each stream at once. Gives the sum of what the events say, and what all took together.
static uint64_t spin(slr_device *device, slr_kernel *kernel, struct spinner *spinner, int n, uint64_t *wall_ns)
{
    uint64_t sum_ns = 0, began_ns = slri_now_ns();
    for (int k = 0; k < SPINNERS; ++k) {
        must(slr_event_record(spinner[k].from, spinner[k].stream, NULL));
        must(SLR_LAUNCH(spinner[k].stream, kernel, SLR_GRID(4, 64, 0), spinner[k].buffer, n));
        must(slr_event_record(spinner[k].to, spinner[k].stream, NULL));
    }
    must(slr_device_finish(device, LONG));
    *wall_ns = slri_now_ns() - began_ns;
    for (int k = 0; k < SPINNERS; ++k) {
        int64_t elapsed_ns, back_ns;
        must(slr_event_elapsed_ns(spinner[k].from, spinner[k].to, &elapsed_ns));
        must(slr_event_elapsed_ns(spinner[k].to, spinner[k].from, &back_ns));
        assert_true(elapsed_ns > 0 && back_ns == -elapsed_ns);
        sum_ns += (uint64_t)elapsed_ns;
    }
    return sum_ns;
}

// A device that does so many kernels at a time is not busy with them for longer than that many times as long as all of
// them take together: on whatever machine, and however loaded that is.
static void event_times_count_no_work_of_other_streams(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?threads=1", "cpu?threads=2", "opencl:0"};
    static const uint32_t at_once[] = {1, 2, SPINNERS}; // OpenCL's drivers may begin all that they are given
    EACH_HERE(i, specs)
    {
        slr_device *device = open_device(specs[i]);
        slr_kernel *kernel = make_spinner(device);
        struct spinner spinner[SPINNERS];
        for (int k = 0; k < SPINNERS; ++k) {
            spinner[k].stream = make_stream(device);
            must(slr_event_create(device, &spinner[k].from));
            must(slr_event_create(device, &spinner[k].to));
            must(slr_buffer_create(device, 4 * 64 * 4, &spinner[k].buffer));
        }
        uint64_t wall_ns;
        spin(device, kernel, spinner, 1, &wall_ns); // whatever is compiled
        uint64_t sum_ns = spin(device, kernel, spinner, 100000, &wall_ns);
        if (sum_ns > at_once[i] * (wall_ns + MS))
            fail_msg("%s: %u kernels took %.3f ms together, of %.3f ms that passed", specs[i], SPINNERS,
                     (double)sum_ns / 1e6, (double)wall_ns / 1e6);
        for (int k = 0; k < SPINNERS; ++k) {
            slr_event_destroy(spinner[k].from);
            slr_event_destroy(spinner[k].to);
            slr_buffer_destroy(spinner[k].buffer);
            slr_stream_destroy(spinner[k].stream);
        }
        slr_kernel_destroy(kernel);
        slr_device_close(device);
    }
}

static void event_in_flight_is_not_recorded_again_but_may_be_destroyed(void **state)
{
    (void)state;
    EACH_STORING(i)
    {
        slr_device *device = open_device(storing[i]);
        slr_stream *stream = make_stream(device);
        slr_event *event;
        struct gate gate = {0};
        uint64_t time_ns;
        must(slr_event_create(device, &event));
        must(slr_stream_call(stream, hold_up, &gate, NULL));
        must(slr_event_record(event, stream, NULL));
        refuses(slr_event_record(event, stream, NULL), WRONG_STATE, "earlier record is still pending");
        refuses(slr_event_time_ns(event, &time_ns), WRONG_STATE, "is still pending");
        gives(slr_event_wait(event, MS), TIMEOUT);
        slr_event_destroy(event);
        slr_stream_destroy(stream);
        open_gate(&gate);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_measure_what_lies_between),
        cmocka_unit_test(event_times_count_no_work_of_other_streams),
        cmocka_unit_test(event_in_flight_is_not_recorded_again_but_may_be_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
