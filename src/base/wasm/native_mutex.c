// SPDX-License-Identifier: Apache-2.0
// A flag: there are no threads, but a task may find it set by another.
#include "base/native_mutex.h"

void slri_native_init(slri_mutex *mutex)
{
    mutex->native = 0;
}

void slri_native_destroy(slri_mutex *mutex)
{
    (void)mutex;
}

// Of a program that has no tasks yet.
void slri_native_lock(slri_mutex *mutex)
{
    mutex->native = 1;
}

bool slri_native_try(slri_mutex *mutex)
{
    bool was_free = mutex->native == 0;
    mutex->native = 1;
    return was_free;
}

void slri_native_unlock(slri_mutex *mutex)
{
    mutex->native = 0;
}
