// SPDX-License-Identifier: Apache-2.0
// Included before each source of src/ring and src/hal/cpu where they are built for the random programs: every
// atomic operation is a point at which the seed may let another task go on. So they are played as finely as threads
// would run, but in one order of memory; what weaker orders do is the models' part (tests/model).
#ifndef TESTS_SIM_POINTS_H
#define TESTS_SIM_POINTS_H

#include "base/sim.h"

// A macro's own name is not expanded again: these are the builtins, each behind a point.
#define __atomic_load_n(...) (slri_sim_point(), __atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...) (slri_sim_point(), __atomic_store_n(__VA_ARGS__))
#define __atomic_exchange_n(...) (slri_sim_point(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (slri_sim_point(), __atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_fetch_add(...) (slri_sim_point(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) (slri_sim_point(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_add_fetch(...) (slri_sim_point(), __atomic_add_fetch(__VA_ARGS__))

#endif
