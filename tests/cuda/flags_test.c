// SPDX-License-Identifier: Apache-2.0
// Flags of lanes in the device's memory, by a driver and a libgdrapi that are simulated: each call that fails, what the
// kernel finds by them, and a window that closes with its device while somebody sends.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "observe/observe_test.h"
#include "ring/ring.h"
#include "tests/fakes/fake_gdr.h"

#define BAR "cuda:0?flags=bar&ring=persistent"

static struct fake_gdr *window;

// Nothing of it is loaded before the first test has looked for one that is not there.
static int find_window(void **state)
{
    window = ((struct fake_gdr * (*)(void)) function_of_fake("SLIPRING_FAKE_CUDA", "fake_gdr_words"))();
    return load_fake(state);
}

static void begin(void)
{
    reset();
    *window = (struct fake_gdr){0};
    setenv("SLIPRING_GDR_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
}

static void nothing_is_open(const char *what)
{
    nothing_is_left(what);
    if (window->live != 0 || window->wrong != 0)
        fail_msg("%s: %u windows are left, %u wrong calls", what, window->live, window->wrong);
}

// ---- having them, or not -------------------------------------------------------------------------------------------

// Where nobody asks a device has none then, and says why; where somebody does it is refused.
static void has_none(const char *why)
{
    struct residence r = {.max_bytes = 4096};
    slr_device_info info;
    slr_device *device;
    must(launch(&r, "cuda:0?ring=persistent"));
    must(ask(&r, 1));
    must(slr_device_get_info(r.device, &info));
    assert_non_null(strstr(info.features, " flags=host "));
    assert_non_null(strstr(info.notes, "; flags on the host: "));
    assert_non_null(strstr(info.notes, why));
    assert_null(r.ring->shard[0].flags);
    end(&r);
    refuses(slr_device_open(BAR, NULL, &device), UNSUPPORTED,
            "device 'cuda:0' cannot keep its flags in device memory: ");
    assert_non_null(strstr(slr_error_message(), why));
    nothing_is_open(why);
}

static void without_what_they_need_there_are_none_and_the_device_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *fails, *why;
    } calls[] = {{"open", "GDRCopy's module gdrdrv is not loaded, or not for this user"},
                 {"pin_buffer", "GDRCopy's gdr_pin_buffer fails: Operation not permitted"},
                 {"map", "GDRCopy's gdr_map fails: Cannot allocate memory"}};
    slr_device *device;
    begin();
    refuses(slr_device_open("cuda:0?flags=far", NULL, &device), INVALID, "flags 'far'; expected 'host' or 'bar'");
    setenv("SLIPRING_GDR_LIB", "/nowhere/libgdrapi.so.2", 1);
    has_none("cannot load /nowhere/libgdrapi.so.2");
    setenv("SLIPRING_GDR_LIB", "libm.so.6", 1);
    has_none("libm.so.6 is not usable as libgdrapi");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        begin();
        window->fails = calls[i].fails;
        has_none(calls[i].why);
    }
}

// Of the driver's calls: the device opens without them, or says what failed.
static void each_call_of_the_driver_fails_once(void **state)
{
    (void)state;
    for (uint32_t k = 1;; ++k) {
        slr_device *device = NULL;
        begin();
        fake->fail_at = k;
        slr_status status = slr_device_open("cuda:0", NULL, &device);
        slr_device_close(device);
        nothing_is_open("opening");
        if (!fake->failed) {
            assert_int_equal(window->pinned, 1);
            must(status);
            return;
        }
        if (strcmp(fake->failed, "PointerSetAttribute") == 0)
            assert_int_equal(status, SLR_OK);
    }
}

static void flags_can_be_left_on_the_host(void **state)
{
    (void)state;
    slr_device_info info;
    begin();
    slr_device *device = open_device("cuda:0?flags=host");
    must(slr_device_get_info(device, &info));
    assert_string_equal(info.name, "cuda:0?flags=host");
    assert_non_null(strstr(info.features, " flags=host "));
    assert_null(strstr(info.notes, "flags"));
    assert_int_equal(window->pinned, 0);
    slr_device_close(device);
    nothing_is_open("host");
}

// ---- messages ------------------------------------------------------------------------------------------------------

static uint32_t shown_by_flags(const slr_ring *ring, uint32_t port)
{
    uint32_t shown = 0;
    for (uint32_t shard = 0; shard < ring->shards; ++shard)
        shown += __atomic_load_n(&ring->shard[shard].flags[port], __ATOMIC_RELAXED);
    return shown;
}

static void flags_say_how_many_messages_a_port_has_published(void **state)
{
    (void)state;
    enum { PORTS = 3, MESSAGES = 90 };
    struct residence r = {.max_bytes = 4096};
    slr_device_info info;
    begin();
    must(launch(&r, BAR));
    must(slr_device_get_info(r.device, &info));
    assert_string_equal(info.name, "cuda:0?flags=bar&ring=persistent");
    assert_non_null(strstr(info.features, " flags=bar "));
    slr_port *port[PORTS] = {r.port, open_port(r.device), open_port(r.device)};
    uint32_t sent[PORTS] = {0};
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t value, p = i * i % PORTS;
        must(send_value(port[p], address_of(r.ring, i % 3), i, LONG));
        must(receive_value(port[p], &value, LONG));
        assert_int_equal(value, i + 1);
        ++sent[p];
    }
    for (uint32_t p = 0; p < PORTS; ++p)
        assert_int_equal(shown_by_flags(r.ring, p), sent[p]);
    slr_port_close(port[1]);
    slr_port_close(port[2]);
    end(&r);
    nothing_is_open("counts");
}

// How many batches the kernel makes of runs of messages into an idle mailbox.
static uint64_t batches_of_runs(const char *spec, uint32_t runs)
{
    enum { RUN = 20 };
    struct residence r = {.max_bytes = 4096};
    struct message message[RUN] = {{0}};
    begin();
    must(slr_profile_start());
    must(launch(&r, spec));
    for (uint32_t i = 0; i < runs; ++i) {
        must(slr_send_many(r.port, address_of(r.ring, 0), NULL, message, sizeof *message, RUN, LONG, NULL));
        for (uint32_t k = 0, value; k < RUN; ++k)
            must(receive_value(r.port, &value, LONG));
        slri_sleep_ns(200000); // it is idle again
    }
    must(slr_device_park(r.device, LONG)); // all that it tells is read
    must(slr_device_resume(r.device));
    uint64_t batches = row_of(SLR_PROFILE_BATCH, "counts").n + stats_of(r.ring).records_dropped;
    slr_profile_stop();
    slr_profile_clear();
    end(&r);
    nothing_is_open(spec);
    return batches;
}

// A flag says how many there are; an idle kernel that looks at slots takes the first to be the only one, which makes
// two batches of a run. Now and then such a look comes between the slots and the flag.
static void run_of_messages_is_one_batch(void **state)
{
    (void)state;
    enum { RUNS = 40 };
    uint64_t near = batches_of_runs(BAR, RUNS), far = batches_of_runs("cuda:0?flags=host&ring=persistent", RUNS);
    assert_true(near < RUNS + RUNS / 2);
    assert_true(far >= RUNS); // far more where nothing else runs
}

// Before it is activated a ring kernel has no owner, and no flags; and of 40 ports some share a lane of the warp.
static void what_is_sent_before_there_are_flags_is_found_and_so_is_every_port(void **state)
{
    (void)state;
    enum { PORTS = 40 };
    struct residence r = {.max_bytes = 4096};
    slr_port *port[PORTS];
    slr_ring *ring;
    begin();
    fake->most_idle = UINT32_MAX; // it does not end, for the host to find them
    must(launch(&r, BAR));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "many";
    desc.handler = "counts";
    desc.program = r.program;
    desc.queue_size = 256;
    must(slr_ring_create(r.device, &desc, &ring));
    must(slr_ring_launch(ring));
    for (uint32_t p = 0; p < PORTS; ++p) {
        port[p] = open_port(r.device);
        must(send_value(port[p], address_of(ring, 0), p, LONG));
    }
    must(slr_ring_activate(ring, LONG));
    for (uint32_t i = 0; i < 5; ++i)
        for (uint32_t p = 0; p < PORTS; ++p) {
            uint32_t value;
            must(receive_value(port[p], &value, LONG));
            assert_int_equal(value, p + i + 1);
            if (i < 4)
                must(send_value(port[p], address_of(ring, 0), p + i + 1, LONG));
        }
    struct message run[7] = {{0}};
    must(slr_send_many(port[3], address_of(ring, 0), NULL, run, sizeof *run, 7, LONG, NULL));
    for (uint32_t i = 0, value; i < 7; ++i)
        must(receive_value(port[3], &value, LONG));
    assert_int_equal(__atomic_load_n(&ring->shard[0].flags[3], __ATOMIC_RELAXED), 12);
    assert_int_equal(__atomic_load_n(&ring->shard[0].flags[39], __ATOMIC_RELAXED), 5);
    for (uint32_t p = 0; p < PORTS; ++p)
        slr_port_close(port[p]);
    slr_ring_destroy(ring);
    end(&r);
    nothing_is_open("ports");
}

// ---- loss ----------------------------------------------------------------------------------------------------------

// Nothing is kept of it.
static void lose_device_alone(struct residence *r)
{
    lose_device(r);
    slr_buffer_destroy(r->buffer);
    r->buffer = NULL;
}

// There is another window then. A sender that is late writes where one was, and harms nobody.
static void device_that_was_lost_has_flags_again(void **state)
{
    (void)state;
    enum { TURNS = 3, MESSAGES = 60 };
    struct residence r = {.max_bytes = 4096};
    slr_device_info info;
    uint32_t *late[TURNS];
    begin();
    must(launch(&r, BAR));
    must(ask(&r, 1));
    for (uint32_t turn = 0; turn < TURNS; ++turn) {
        late[turn] = r.ring->shard[1].flags;
        lose_device_alone(&r);
        must(slr_device_reopen(r.device, LONG));
        assert_int_equal(window->live, 3);
        assert_int_equal(window->pinned, turn + 2);
        for (uint32_t i = 0; i <= turn; ++i) {
            assert_ptr_not_equal(late[i], r.ring->shard[1].flags);
            __atomic_store_n(late[i], 1u << 20, __ATOMIC_RELAXED);
        }
        must(slr_device_get_info(r.device, &info));
        assert_non_null(strstr(info.features, " flags=bar "));
        assert_null(strstr(info.notes, "flags on the host"));
        assert_int_equal(shown_by_flags(r.ring, 0), 1 + turn * MESSAGES); // they go on where they stood
        must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        for (uint32_t i = 0; i < MESSAGES; ++i)
            must(ask(&r, i));
        assert_int_equal(shown_by_flags(r.ring, 0), 1 + (turn + 1) * MESSAGES);
        assert_non_null(r.ring->shard[0].group.near_flags);
    }
    end(&r);
    nothing_is_open("loss");
}

// Where they were asked for the device stays lost; else it has none and says why. The next opening tries again.
static void window_that_does_not_open_again_is_told_as_the_first_is(void **state)
{
    (void)state;
    slr_device_info info;
    static const char *const specs[] = {BAR, "cuda:0?ring=persistent"};
    for (uint32_t i = 0; i < 2; ++i) {
        struct residence r = {.max_bytes = 4096};
        begin();
        must(launch(&r, specs[i]));
        must(ask(&r, 1));
        lose_device_alone(&r);
        window->fails = "map";
        if (i == 0) {
            refuses(slr_device_reopen(r.device, LONG), UNSUPPORTED,
                    "device 'cuda:0' cannot keep its flags in device memory: GDRCopy's gdr_map fails: Cannot allocate "
                    "memory");
            gives(slr_buffer_create(r.device, 64, &r.buffer), DEVICE_LOST);
        } else {
            must(slr_device_reopen(r.device, LONG));
            must(slr_device_get_info(r.device, &info));
            assert_non_null(strstr(info.notes, "flags on the host: GDRCopy's gdr_map fails"));
            must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
            must(ask(&r, 1));
            lose_device_alone(&r);
        }
        assert_int_equal(window->live, 0);
        window->fails = NULL;
        must(slr_device_reopen(r.device, LONG));
        must(slr_device_get_info(r.device, &info));
        assert_non_null(strstr(info.features, " flags=bar "));
        must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        must(ask(&r, 2));
        end(&r);
        nothing_is_open("again");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_what_they_need_there_are_none_and_the_device_says_why),
        cmocka_unit_test(each_call_of_the_driver_fails_once),
        cmocka_unit_test(flags_can_be_left_on_the_host),
        cmocka_unit_test(flags_say_how_many_messages_a_port_has_published),
        cmocka_unit_test(run_of_messages_is_one_batch),
        cmocka_unit_test(what_is_sent_before_there_are_flags_is_found_and_so_is_every_port),
        cmocka_unit_test(device_that_was_lost_has_flags_again),
        cmocka_unit_test(window_that_does_not_open_again_is_told_as_the_first_is),
    };
    return cmocka_run_group_tests(tests, find_window, NULL);
}
