// SPDX-License-Identifier: Apache-2.0
/// Who the calling thread is to the system, and a call when it ends.
#ifndef SLRI_BASE_THREAD_END_H
#define SLRI_BASE_THREAD_END_H

#include <stdint.h>

/// The numbers that a debugger shows, and the thread's name; "" where it has none.
uint32_t slri_process_id(void);
uint32_t slri_thread_id(void);
void slri_thread_name(char name[16]);

/// Once in the life of the process: what slri_thread_end_note's value is given to when its thread ends.
void slri_thread_end_call(void (*function)(void *value));

/// The calling thread's value. Nothing is called for NULL.
void slri_thread_end_note(void *value);

#endif
