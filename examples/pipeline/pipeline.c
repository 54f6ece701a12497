// SPDX-License-Identifier: Apache-2.0
// Runs pipeline.cu: the host feeds the first stage, reads what the last one says, and does nothing in between.
#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

enum { STAGES = 4, SENSORS = 8, READINGS = 4000 };

struct reading {
    uint32_t sensor;
    int32_t millivolts;
};

struct alarm {
    uint32_t sensor, number;
    float celsius;
};

static void must(slr_status status, const char *what)
{
    if (status == SLR_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, slr_status_name(status), slr_error_message());
    exit(1);
}

#define MUST(call) must((call), #call)

static slr_ring *start(slr_device *device, slr_program *program, const char *handler)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.handler = handler;
    desc.instances = SENSORS;
    desc.queue_size = 256;
    desc.time_stamps = 1;
    slr_ring *ring;
    MUST(slr_ring_create(device, &desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_activate(ring, 60 * SECOND));
    return ring;
}

// Sensor 3 is heated from the middle on; the others stay at 20 degrees.
static struct reading make_reading(uint32_t i)
{
    uint32_t sensor = i % SENSORS;
    int32_t heated = sensor == 3 && i > READINGS / 2 ? (int32_t)(i - READINGS / 2) : 0;
    return (struct reading){sensor, 700 + heated};
}

static void feed(slr_device *device, slr_ring *first)
{
    slr_port *port;
    MUST(slr_port_open(device, &port));
    for (uint32_t i = 0; i < READINGS; ++i) {
        struct reading reading = make_reading(i);
        slr_address to;
        MUST(slr_ring_get_address(first, reading.sensor, &to));
        MUST(slr_send(port, to, &reading, sizeof reading, 60 * SECOND)); // waits while the pipeline is full
    }
    slr_port_close(port);
}

// Everything that comes until the last stage has ended.
static uint32_t read_alarms(slr_port *out)
{
    uint32_t count = 0;
    slr_reply reply;
    struct alarm alarm;
    slr_status status;
    while ((status = slr_receive(out, &reply, &alarm, sizeof alarm, 60 * SECOND)) == SLR_OK) {
        if (alarm.sensor != 3 || alarm.number != ++count)
            exit(1);
    }
    if (status != SLR_END)
        must(status, "slr_receive");
    if (count)
        printf("%u alarms from sensor %u, the last at %.1f degrees\n", count, alarm.sensor, alarm.celsius);
    return count;
}

int main(int argc, char **argv)
{
    static const char *const handlers[STAGES] = {"convert", "smooth", "differ", "warn"};
    if (argc != 2) {
        fprintf(stderr, "usage: %s pipeline.cu\n", argv[0]);
        return 2;
    }
    slr_device *device;
    slr_program *program;
    slr_ring *stage[STAGES];
    slr_port *out;
    MUST(slr_device_open(NULL, NULL, &device));
    MUST(slr_program_load(device, argv[1], NULL, &program));
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.close_with_source = 1; // closing the first stage drains them all
    for (int i = 0; i < STAGES; ++i) {
        stage[i] = start(device, program, handlers[i]);
        if (i > 0)
            MUST(slr_route(stage[i - 1], stage[i], &route));
    }
    MUST(slr_port_open(device, &out));
    MUST(slr_route_to_port(stage[STAGES - 1], out, NULL));
    feed(device, stage[0]);
    MUST(slr_ring_close_input(stage[0]));
    uint32_t alarms = read_alarms(out);
    slr_ring_stats stats;
    MUST(slr_ring_get_stats(stage[STAGES - 1], &stats));
    slr_port_close(out);
    for (int i = 0; i < STAGES; ++i)
        slr_ring_destroy(stage[i]);
    slr_program_destroy(program);
    slr_device_close(device);
    return alarms > 0 && stats.handled == READINGS && stats.routed == alarms ? 0 : 1;
}
