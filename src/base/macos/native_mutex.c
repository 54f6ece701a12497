// SPDX-License-Identifier: Apache-2.0
// macOS's lock of four bytes.
#include "base/native_mutex.h"

void slri_native_init(slri_mutex *mutex)
{
    mutex->native = OS_UNFAIR_LOCK_INIT;
}

void slri_native_destroy(slri_mutex *mutex)
{
    (void)mutex; // it holds nothing
}

void slri_native_lock(slri_mutex *mutex)
{
    os_unfair_lock_lock(&mutex->native);
}

bool slri_native_try(slri_mutex *mutex)
{
    return os_unfair_lock_trylock(&mutex->native);
}

void slri_native_unlock(slri_mutex *mutex)
{
    os_unfair_lock_unlock(&mutex->native);
}
