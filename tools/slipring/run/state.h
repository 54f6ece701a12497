// SPDX-License-Identifier: Apache-2.0
/// `slipring run --state`: a ring kernel that goes on where the last run stood, and an output file that does too.
#ifndef RUN_STATE_H
#define RUN_STATE_H

#include "run/run.h"

/// Opens the feed on the folder of --state. `desc` has no keys yet.
slr_status run_open_state(run *run, slr_ring_desc *desc);

/// Instead of output_begin: the output goes on behind what an earlier run has written. An exit code.
int run_begin_state_output(run *run);

/// The key of an output.
key_text run_state_key(const run *run, uint32_t instance);

/// Makes what was read accepted; from time to time notes what the output has.
void run_keep_state(run *run);

/// What was received is in the output, which is on the disk unless the policy is never: it need not be kept.
void run_note_output(run *run);

/// The end of the run: takes a snapshot where all was handled, and closes the folder.
void run_end_state(run *run);

#endif
