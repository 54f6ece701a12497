// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring demo ward`: a ward of patients, each the same recording begun at another place.
#ifndef DEMO_H
#define DEMO_H

#include "score.h"
#include "ward.h"

#include <slipring/slipring.h>

#include <stdbool.h>
#include <stdio.h>

enum {
    DEMO_SAMPLES = 108000, // of the recording
    DEMO_MESSAGES = DEMO_SAMPLES / WARD_SAMPLES,
    DEMO_FAST_PATIENTS = 100,
    DEMO_MOST_PATIENTS = 100000,
    DEMO_MOST_BEATS = 1024, // of the recording: 3.4 a second
    DEMO_RATE_BEATS = 8,    // a heart rate is the mean over so many
    DEMO_BATCH = 256,       // messages that are sent at once, at most

    // A histogram of latencies: bin i begins at DEMO_BIN_NS * 2^(i / DEMO_BINS_PER_OCTAVE); the last has no end.
    DEMO_BIN_NS = 64,
    DEMO_BINS_PER_OCTAVE = 4,
    DEMO_BINS = 88 // up to 0.2 s
};
#define DEMO_PERIOD_NS 100000000ull    // between two messages of a patient
#define DEMO_TIMEOUT_NS 60000000000ull // a loaded machine is no failure

typedef struct demo_options {
    uint32_t patients, seconds;
    const char *device;
    const char *beats;  // file for the beats of patient 0, or NULL
    const char *report; // file for the page, or NULL
    bool json, classify;
} demo_options;

/// The recording, carried on from its start for one message more, and its reference beats.
typedef struct demo_record {
    short adc[DEMO_SAMPLES + WARD_SAMPLES];
    unsigned reference[DEMO_MOST_BEATS];
    size_t reference_count;
} demo_record;

/// The beats of one patient.
typedef struct demo_beats {
    struct beat all[DEMO_MOST_BEATS];
    size_t count;
} demo_beats;

/// What a nurse would see, over all patients.
typedef struct demo_hearts {
    float (*rr_s)[DEMO_RATE_BEATS]; // a patient's last intervals
    uint32_t *intervals;            // of a patient so far
    uint64_t beats, alarms;
    float slowest, fastest; // heart rates, a minute; 0: none known yet
} demo_hearts;

/// One way to have the messages handled.
typedef struct demo_way {
    double messages_per_s;          // part one, as fast as it goes
    double p50_ns, p99_ns, p999_ns; // part two, of the messages that gave a beat
    uint64_t dropped;
    uint64_t bins[DEMO_BINS]; // of the latencies
} demo_way;

typedef struct demo {
    demo_options options;
    demo_record *record;
    slr_device *device;
    slr_device_info info;
    slr_program *program;
    demo_way plain, handoff, ring;
    struct {
        uint32_t patients;
        uint64_t messages; // handled
        double seconds;
        demo_hearts hearts;
        struct ward_score first, all; // patient 0; the sums over all, with their f1
        bool whole;                   // the recording was sent to its end
        bool same;                    // then: the same beats as the plain call's
        demo_beats first_beats;       // patient 0's
    } fast;
    struct { // of --classify: the beats of part one
        uint64_t beats, premature;
        uint64_t compared, missed, alarms; // with the reference's later beats, which the network has not seen
        double train_seconds, seconds;
        double accuracy; // of the network itself, in training
    } kinds;
    struct {
        uint64_t messages, late, timed;
        uint32_t compared;       // patients
        double seconds, send_ns; // that it took to send one message
        demo_hearts hearts;
    } live;
} demo;

/// A ring kernel for so many patients, active, and the port to it.
typedef struct demo_ring {
    slr_ring *ring;
    slr_port *port;
    slr_address to;
} demo_ring;

/// demo_data.c: what is inside the program.
demo_record *demo_record_make(void);
char *demo_source_make(void);       // ward.cu as one text, to free()
char *demo_beats_source_make(void); // beats.cu

/// Where in the recording a patient begins.
uint32_t demo_offset(uint32_t patient);

/// The patient's message number `number`, from 0. It lies in the record.
const struct samples *demo_message(const demo_record *record, uint32_t patient, uint64_t number);

/// The beats against the reference, as it is seen from where the patient begins.
struct ward_score demo_score(const demo_record *record, uint32_t patient, const demo_beats *beats);

/// demo_hearts.c
void demo_hearts_open(demo_hearts *hearts, uint32_t patients);
void demo_hearts_close(demo_hearts *hearts);
void demo_hearts_take(demo_hearts *hearts, uint32_t patient, const struct beat *beat);

/// demo_ring.c. False: failed, and that has been said; close it all the same.
bool demo_ring_open(demo *demo, uint32_t patients, demo_ring *out);
void demo_ring_close(demo_ring *ring);

/// The two parts. False: failed, and that has been said. An interrupt ends them early, with what was sent handled.
bool demo_fast(demo *demo);
bool demo_live(demo *demo);

/// demo/kinds.c: trains a network, and has a ring kernel classify the beats of these patients.
bool demo_classify(demo *demo, const demo_beats *found, uint32_t patients);

/// demo_report.c
void demo_report_head(const demo *demo);
void demo_report_fast(const demo *demo);
void demo_report_live(const demo *demo);
void demo_report_json(const demo *demo);
struct json_t *demo_report_object(const demo *demo); // what --json prints, to be released
const char *grouped(double value);                   // 1234567.8 as "1,234,568", in one of some buffers

/// demo_histogram.c: the bin that a latency belongs to.
size_t demo_bin(double ns);

/// demo_page.c: one page of HTML that needs nothing beside it. False: the file could not be written, and errno says
/// why.
bool demo_page_write(const demo *demo, FILE *file);

#endif
