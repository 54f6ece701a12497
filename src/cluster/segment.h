// SPDX-License-Identifier: Apache-2.0
/// A file of a stream: a head, then records. Whatever is read here may be torn or forged: lengths and sums are checked
/// before anything is used.
#ifndef SLRI_CLUSTER_SEGMENT_H
#define SLRI_CLUSTER_SEGMENT_H

#include "cluster/log.h"

#include <stdbool.h>

typedef struct slri_segment_head {
    unsigned char magic[8];
    uint32_t version, order;
    uint64_t first; // the sequence of its first record
    uint64_t sum;   // of what stands before it
} slri_segment_head;

typedef struct slri_record_head {
    uint32_t magic, bytes; // bytes of the record, padded to 8 behind it
    uint64_t sequence;
    uint32_t row_bytes, rows_at; // from that byte on the record consists of rows (slri_rows_add); 0: it has none
    uint64_t sum;                // of what stands before it, of the record up to its rows, and of their sum
} slri_record_head;

/// A file that had other records before is `is_reused`: its bytes behind the last record are old ones. So its records'
/// checksums begin with the head's, and an end mark stands behind the last one.
slri_segment_head slri_segment_head_of(uint64_t first, bool is_reused);

/// What the checksums of the file's records begin with.
uint64_t slri_segment_seed(const slri_segment_head *head);

/// Stands where record `sequence` will be written.
slri_record_head slri_end_mark_of(uint64_t sequence, uint64_t seed);

/// The head of what fills a gap of `bytes` bytes between two records, with zeros after it: a write of whole pages costs
/// half of one that begins and ends in the middle of a page.
enum { SLRI_SEGMENT_PAGE = 4096 };
slri_record_head slri_filler_head_of(uint64_t bytes, uint64_t seed);

/// `rows`: what the last part consists of, a multiple of 8 bytes each; NULL: bytes.
slri_record_head slri_record_head_of(uint64_t sequence, uint64_t seed, const slri_append_part *parts, uint32_t count,
                                     const slri_log_rows *rows);

enum slri_segment_end {
    SLRI_SEGMENT_WHOLE,
    SLRI_SEGMENT_TORN,  // behind `good` nothing is a record: a write that was cut off
    SLRI_SEGMENT_BROKEN // behind `good` there is damage, and behind that a record
};

typedef struct slri_segment_scan {
    uint64_t first, last; // last = first - 1: no record
    uint64_t seed;        // of its checksums; 0: it is not reused
    size_t good;          // bytes up to the end of the last whole record; 0: the head is damaged
    enum slri_segment_end end;
    slr_status status; // of `visit`
    const char *why;   // what is wrong at `good`
} slri_segment_scan;

/// Reads a segment. `content` is aligned to 8. Calls `visit` (NULL: does not) for each record from sequence `from` on.
slri_segment_scan slri_segment_read(const void *content, size_t bytes, uint64_t from, slri_log_visit *visit,
                                    void *user);

#endif
