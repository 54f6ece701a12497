// SPDX-License-Identifier: Apache-2.0
/// Structs that pass between a program and the library, which may be of different versions (docs/contract/abi.md).
///
/// A program tells how many bytes its headers give a struct: a description in its `struct_size`, a report (a struct
/// that the library fills) in the last argument of the function whose name ends in `_sized`. Fewer bytes than the
/// library's are the struct of an earlier version. More bytes are the struct of a later version, which is refused.
#ifndef SLRI_BASE_SIZED_H
#define SLRI_BASE_SIZED_H

#include <slipring/status.h>

#include <stddef.h>

/// X(type, bytes): each such struct, and its size in the first version that had it. These numbers never change, and a
/// field is only appended past them. A description must not end in padding: a field there would not change its size.
#define SLRI_SIZED_DESCS(X)                                                                                            \
    X(slr_adam_desc, 64)                                                                                               \
    X(slr_balance_desc, 48)                                                                                            \
    X(slr_baseline, 48)                                                                                                \
    X(slr_buffer_desc, 120)                                                                                            \
    X(slr_check_desc, 64)                                                                                              \
    X(slr_cluster_route_desc, 16)                                                                                      \
    X(slr_convolution_desc, 80)                                                                                        \
    X(slr_device_desc, 56)                                                                                             \
    X(slr_emit_desc, 32)                                                                                               \
    X(slr_fusion_desc, 56)                                                                                             \
    X(slr_heap_desc, 56)                                                                                               \
    X(slr_kernel_fusion_desc, 56)                                                                                      \
    X(slr_matmul_desc, 64)                                                                                             \
    X(slr_occupancy_desc, 40)                                                                                          \
    X(slr_ops_desc, 24)                                                                                                \
    X(slr_peer_desc, 24)                                                                                               \
    X(slr_pool_desc, 32)                                                                                               \
    X(slr_pooling_desc, 56)                                                                                            \
    X(slr_prefetch_desc, 32)                                                                                           \
    X(slr_print_desc, 24)                                                                                              \
    X(slr_program_desc, 48)                                                                                            \
    X(slr_remote_desc, 80)                                                                                             \
    X(slr_ring_desc, 240)                                                                                              \
    X(slr_route_desc, 24)                                                                                              \
    X(slr_scaler_desc, 24)                                                                                             \
    X(slr_sender_desc, 40)                                                                                             \
    X(slr_sequence_desc, 104)                                                                                          \
    X(slr_serve_desc, 48)                                                                                              \
    X(slr_stream_desc, 8)                                                                                              \
    X(slr_supervisor_desc, 48)                                                                                         \
    X(slr_tiling_desc, 88)                                                                                             \
    X(slr_timing_desc, 32)                                                                                             \
    X(slr_trace_desc, 8)                                                                                               \
    X(slr_tune_desc, 72)                                                                                               \
    X(slr_work, 216)                                                                                                   \
    X(slr_worker_desc, 40)

#define SLRI_SIZED_REPORTS(X)                                                                                          \
    X(slr_backend_info, 280)                                                                                           \
    X(slr_best_block, 288)                                                                                             \
    X(slr_buffer_info, 128)                                                                                            \
    X(slr_cache_info, 72)                                                                                              \
    X(slr_candidate, 40)                                                                                               \
    X(slr_ceilings, 32)                                                                                                \
    X(slr_check_finding, 128)                                                                                          \
    X(slr_check_info, 32)                                                                                              \
    X(slr_check_launch, 64)                                                                                            \
    X(slr_check_line, 96)                                                                                              \
    X(slr_cluster_route_stats, 24)                                                                                     \
    X(slr_cluster_stats, 56)                                                                                           \
    X(slr_comparison, 256)                                                                                             \
    X(slr_dead_letter, 32)                                                                                             \
    X(slr_decision, 496)                                                                                               \
    X(slr_device_limits, 64)                                                                                           \
    X(slr_device_info, 1816)                                                                                           \
    X(slr_device_model, 176)                                                                                           \
    X(slr_estimate, 168)                                                                                               \
    X(slr_explanation, 208)                                                                                            \
    X(slr_function_info, 64)                                                                                           \
    X(slr_fusion_info, 56)                                                                                             \
    X(slr_graph_info, 208)                                                                                             \
    X(slr_handler_info, 120)                                                                                           \
    X(slr_heap_stats, 104)                                                                                             \
    X(slr_kernel_info, 32)                                                                                             \
    X(slr_kernel_occupancy, 248)                                                                                       \
    X(slr_latency, 64)                                                                                                 \
    X(slr_metrics, 264)                                                                                                \
    X(slr_occupancy, 56)                                                                                               \
    X(slr_peer_info, 240)                                                                                              \
    X(slr_place_info, 456)                                                                                             \
    X(slr_plan, 88)                                                                                                    \
    X(slr_pool_stats, 80)                                                                                              \
    X(slr_profile_row, 232)                                                                                            \
    X(slr_remote_copy, 56)                                                                                             \
    X(slr_remote_info, 208)                                                                                            \
    X(slr_remote_letter, 216)                                                                                          \
    X(slr_remote_safety, 384)                                                                                          \
    X(slr_resources, 48)                                                                                               \
    X(slr_ring_stats, 720)                                                                                             \
    X(slr_scaler_info, 24)                                                                                             \
    X(slr_sender_stats, 56)                                                                                            \
    X(slr_server_stats, 376)                                                                                           \
    X(slr_skipped_info, 48)                                                                                            \
    X(slr_suggestion, 288)                                                                                             \
    X(slr_supervisor_stats, 16)                                                                                        \
    X(slr_tiling, 288)                                                                                                 \
    X(slr_timing, 120)                                                                                                 \
    X(slr_trace_stats, 16)                                                                                             \
    X(slr_tunable, 32)                                                                                                 \
    X(slr_tuned, 648)                                                                                                  \
    X(slr_worker_stats, 376)

enum {
#define SLRI_FIRST_BYTES(type, bytes) SLRI_FIRST_##type = (bytes),
    SLRI_SIZED_DESCS(SLRI_FIRST_BYTES) SLRI_SIZED_REPORTS(SLRI_FIRST_BYTES)
#undef SLRI_FIRST_BYTES
};

/// Sets `*whole` to `*desc`: the program's fields, then zeros (the default) for the fields of later versions. All zero
/// where `desc` is NULL. `whole->struct_size` becomes the library's.
/// Errors: INVALID (a size that is no version's: names it, the library's version, and the version of the headers).
#define SLRI_TAKE_DESC(type, whole, desc)                                                                              \
    slri_desc_take(#type, sizeof(type), SLRI_FIRST_##type, 1 ? (desc) : (const type *)NULL, 1 ? (whole) : (type *)NULL)
slr_status slri_desc_take(const char *type, size_t bytes, size_t first_bytes, const void *desc, void *whole);

/// Whether a program's report of `bytes` bytes can be filled. Errors: INVALID, as above.
#define SLRI_CHECK_REPORT(type, bytes) slri_report_check(#type, sizeof(type), SLRI_FIRST_##type, (bytes))
slr_status slri_report_check(const char *type, size_t library_bytes, size_t first_bytes, size_t bytes);

/// Copies the first `bytes` bytes of a report to the program's. Errors: INVALID, as above; then nothing is written.
#define SLRI_GIVE_REPORT(type, out, bytes, whole)                                                                      \
    slri_report_give(#type, sizeof(type), SLRI_FIRST_##type, 1 ? (out) : (type *)NULL, (bytes),                        \
                     1 ? (whole) : (const type *)NULL)
slr_status slri_report_give(const char *type, size_t library_bytes, size_t first_bytes, void *out, size_t bytes,
                            const void *whole);

/// Notes the version of the headers that a part of the program was compiled with (SLR_VERSION_NUMBER), for messages.
void slri_headers_seen(uint32_t version);

#endif
