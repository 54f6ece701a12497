// SPDX-License-Identifier: Apache-2.0
// Runs triage.cu: one ring kernel that looks at each measurement, and two that it sends to, by what it sees.
#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

enum { PATIENTS = 50, MEASUREMENTS = 5000, NURSES = 4 };

struct measurement {
    uint32_t patient;
    float pulse, pressure;
};

struct tally {
    uint32_t count;
    float highest;
};

static void must(slr_status status, const char *what)
{
    if (status == SLR_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, slr_status_name(status), slr_error_message());
    exit(1);
}

#define MUST(call) must((call), #call)

static slr_ring *start(slr_device *device, slr_program *program, const char *handler, const char *name,
                       uint32_t instances)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.handler = handler;
    desc.name = name;
    desc.instances = instances;
    slr_ring *ring;
    MUST(slr_ring_create(device, &desc, &ring));
    MUST(slr_ring_launch(ring));
    MUST(slr_ring_activate(ring, 60 * SECOND));
    return ring;
}

// Everything that triage sends through `outlet` is a message of `to`, whose input ends with triage's.
static void connect(slr_ring *triage, const char *outlet, slr_ring *to)
{
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.outlet = outlet;
    route.close_with_source = 1;
    MUST(slr_route(triage, to, &route));
}

// Every hundredth pulse is too high, every tenth pressure.
static struct measurement measure(uint32_t i)
{
    return (struct measurement){i % PATIENTS, i % 100 == 99 ? 160.0f : 120.0f, i % 10 == 3 ? 150.0f : 120.0f};
}

static void feed(slr_device *device, slr_ring *triage)
{
    slr_port *port;
    MUST(slr_port_open(device, &port));
    for (uint32_t i = 0; i < MEASUREMENTS; ++i) {
        struct measurement measurement = measure(i);
        slr_address to;
        MUST(slr_ring_get_address(triage, measurement.patient, &to));
        MUST(slr_send(port, to, &measurement, sizeof measurement, 60 * SECOND));
    }
    slr_port_close(port);
    MUST(slr_ring_close_input(triage));
}

// Replies until both have ended: how many.
static uint32_t read_all(slr_port *port)
{
    uint32_t count = 0;
    slr_reply reply;
    struct tally tally;
    slr_status status;
    while ((status = slr_receive(port, &reply, &tally, sizeof tally, 60 * SECOND)) == SLR_OK)
        ++count;
    if (status != SLR_END)
        must(status, "slr_receive");
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s triage.cu\n", argv[0]);
        return 2;
    }
    slr_device *device;
    slr_program *program;
    slr_port *urgent_out, *routine_out;
    MUST(slr_device_open(NULL, NULL, &device));
    MUST(slr_program_load(device, argv[1], NULL, &program));
    slr_ring *urgent = start(device, program, "note", "urgent", 1);
    slr_ring *routine = start(device, program, "note", "routine", NURSES);
    slr_ring *triage = start(device, program, "triage", "triage", PATIENTS);
    MUST(slr_port_open(device, &urgent_out));
    MUST(slr_port_open(device, &routine_out));
    MUST(slr_route_to_port(urgent, urgent_out, NULL));
    MUST(slr_route_to_port(routine, routine_out, NULL));
    connect(triage, "urgent", urgent);
    connect(triage, "routine", routine);
    feed(device, triage);
    uint32_t urgents = read_all(urgent_out), routines = read_all(routine_out);
    slr_ring_stats stats;
    MUST(slr_ring_get_stats(triage, &stats));
    printf("%llu measurements: %u urgent, %u routine\n", (unsigned long long)stats.handled, urgents, routines);
    slr_port_close(urgent_out);
    slr_port_close(routine_out);
    slr_ring_destroy(triage);
    slr_ring_destroy(urgent);
    slr_ring_destroy(routine);
    slr_program_destroy(program);
    slr_device_close(device);
    return urgents == MEASUREMENTS / 100 && routines == MEASUREMENTS / 10 && stats.unrouted == 0 ? 0 : 1;
}
