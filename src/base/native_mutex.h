// SPDX-License-Identifier: Apache-2.0
/// The system's own mutex in slri_mutex; thread.h has what everybody calls.
#ifndef SLRI_BASE_NATIVE_MUTEX_H
#define SLRI_BASE_NATIVE_MUTEX_H

#include "base/thread.h"

#include <stdbool.h>

void slri_native_init(slri_mutex *mutex);
void slri_native_destroy(slri_mutex *mutex);
void slri_native_lock(slri_mutex *mutex);
bool slri_native_try(slri_mutex *mutex);
void slri_native_unlock(slri_mutex *mutex);

#endif
