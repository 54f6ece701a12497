// SPDX-License-Identifier: Apache-2.0
/// A log in this process: a server with a disk, whose logs and whose power a test can end at any moment. The engine
/// `memory_log_disk` is that of one process on its own disk; `memory_log_server` that of workers on other machines,
/// whose appends are on their way for a while, and arrive even after their worker has gone.
#ifndef SIM_MEMORY_LOG_H
#define SIM_MEMORY_LOG_H

#include "cluster/log.h"

#include <stdbool.h>

extern const slri_log_engine memory_log_disk, memory_log_server;

/// An empty one for all logs of this process. `seed` decides what arrives when, and what a power cut takes.
void memory_log_begin(uint64_t seed);
void memory_log_end(void);

/// While it is set no record is stored: SYSTEM.
void memory_log_fill(bool is_full);

/// Each stream keeps what was synced, and perhaps some of what was not. Logs that are open fail.
void memory_log_cut_power(void);

/// What is on the way may arrive or not, and logs that are open fail: TIMEOUT. What is stored stays.
void memory_log_kill(void);

/// Some of what workers that are gone have sent arrives; with `all` set, all of it.
void memory_log_deliver(bool all);

/// What a sender appends to `in`. False: the disk is full.
bool memory_log_send(const void *data, size_t bytes);

/// The first and the last record of a stream, and one of them.
void memory_log_range(enum slri_log_stream stream, uint64_t *first, uint64_t *last);
slri_log_record memory_log_record(enum slri_log_stream stream, uint64_t sequence);

/// Appends that came too late, because another worker had written.
uint64_t memory_log_late(void);

#endif
