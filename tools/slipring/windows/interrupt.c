// SPDX-License-Identifier: Apache-2.0
// Control-C, and the end of a console, a session or Windows, which come on a thread of their own.
#define WIN32_LEAN_AND_MEAN
#include "interrupt.h"

#include "clock.h"

#include <windows.h>

enum { INTERRUPTED = 2, TERMINATED = 15 }; // as the numbers of SIGINT and SIGTERM, for exit codes

static uint32_t signalled; // one of the two; atomic
static uint64_t signalled_ns;
static HANDLE wake;

static BOOL WINAPI on_control(DWORD kind)
{
    if (__atomic_load_n(&signalled, __ATOMIC_ACQUIRE) != 0)
        return FALSE;                                              // the second one ends the program
    __atomic_store_n(&signalled_ns, clock_ns(), __ATOMIC_RELAXED); // the next store publishes it
    __atomic_store_n(&signalled, kind == CTRL_C_EVENT ? INTERRUPTED : TERMINATED, __ATOMIC_RELEASE);
    SetEvent(wake);
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT)
        Sleep(INFINITE); // Windows ends the program when this returns, and some seconds later in any case
    return TRUE;
}

void interrupt_note(void)
{
    wake = CreateEventA(NULL, TRUE, FALSE, NULL);
    SetConsoleCtrlHandler(on_control, TRUE);
}

void interrupt_on_hangup(void (*handler)(int number))
{
    (void)handler;
}

void interrupt_deliver(void)
{
}

bool interrupted(void)
{
    return __atomic_load_n(&signalled, __ATOMIC_ACQUIRE) != 0; // and so its time
}

uint64_t interrupt_ns(void)
{
    return interrupted() ? __atomic_load_n(&signalled_ns, __ATOMIC_RELAXED) : 0;
}

int interrupt_exit_code(void)
{
    return 128 + (int)__atomic_load_n(&signalled, __ATOMIC_ACQUIRE);
}

bool interrupt_is_orderly(void)
{
    return __atomic_load_n(&signalled, __ATOMIC_ACQUIRE) == TERMINATED;
}

int interrupt_descriptor(void)
{
    return wake != NULL ? (int)(intptr_t)wake : -1; // a handle fits (port.h)
}
