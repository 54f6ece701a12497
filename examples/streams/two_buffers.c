// SPDX-License-Identifier: Apache-2.0
// Double buffering: while one buffer is worked on, the next piece is copied into the other. Two streams, and no wait of
// the host's: a copy waits for the work on what it overwrites, the work for the copy.
#include <slipring/slipring.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 64, PIECE = 1 << 16 }; // numbers in a piece

#define MUST(call) must((call), #call)

static void must(slr_status status, const char *what)
{
    if (status == SLR_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, slr_status_name(status), slr_error_message());
    exit(1);
}

// The work on a piece, by a function of the host.
struct work {
    uint32_t number[PIECE];
    uint64_t sum;
};

static void add_up(void *user, slr_status status)
{
    struct work *work = user;
    MUST(status);
    for (uint32_t i = 0; i < PIECE; ++i)
        work->sum += work->number[i];
}

int main(void)
{
    slr_device *device;
    slr_stream *copies, *works;
    slr_buffer *buffer[2];
    uint64_t expected = 0;
    MUST(slr_device_open(NULL, NULL, &device));
    MUST(slr_stream_create(device, NULL, &copies));
    MUST(slr_stream_create(device, NULL, &works));
    uint32_t *numbers = malloc(PIECES * PIECE * sizeof *numbers);
    struct work *work = calloc(1, sizeof *work);
    if (!numbers || !work)
        return 1;
    for (uint32_t i = 0; i < PIECES * PIECE; ++i)
        expected += numbers[i] = i * 2654435761u;
    for (int i = 0; i < 2; ++i)
        MUST(slr_buffer_create(device, PIECE * sizeof *numbers, &buffer[i]));
    for (uint32_t piece = 0; piece < PIECES; ++piece) {
        uint32_t i = piece % 2;
        MUST(slr_stream_write(copies, buffer[i], 0, numbers + piece * PIECE, sizeof work->number, NULL));
        MUST(slr_stream_read(works, buffer[i], 0, work->number, sizeof work->number, NULL)); // when it is there
        MUST(slr_stream_call(works, add_up, work, NULL));
    }
    MUST(slr_stream_finish(works, UINT64_MAX));
    printf("%d pieces of %d KiB: the sum is %llu\n", PIECES, (int)(PIECE * sizeof *numbers / 1024),
           (unsigned long long)work->sum);
    for (int i = 0; i < 2; ++i)
        slr_buffer_destroy(buffer[i]);
    slr_stream_destroy(copies);
    slr_stream_destroy(works);
    slr_device_close(device);
    bool right = work->sum == expected;
    free(numbers);
    free(work);
    return right ? 0 : 1;
}
