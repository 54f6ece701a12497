// SPDX-License-Identifier: Apache-2.0
// What kernels print. Only the page's own thread can call the page's function, so it waits here for the end of a call.
#include "bridge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct printed {
    struct printed *next;
    double lost;
    char *text;    // behind the kernel's name
    char kernel[]; // with its NUL
};

static _Atomic(struct printed *) last;
static atomic_uint lost_here; // there was no memory for them

EM_JS(void, tell_print, (const char *from, const char *text, double lost), {
    if (Module["onPrint"])
        Module["onPrint"](UTF8ToString(from), UTF8ToString(text), lost);
})

void bridge_on_print(void *user, const slr_print *print)
{
    const char *text = print->text ? print->text : "";
    const size_t name_bytes = strlen(print->kernel) + 1, text_bytes = strlen(text) + 1;
    struct printed *one = malloc(sizeof *one + name_bytes + text_bytes);
    (void)user;
    if (!one) {
        atomic_fetch_add_explicit(&lost_here, 1, memory_order_relaxed);
        return;
    }
    one->lost = (double)print->lost;
    one->text = one->kernel + name_bytes;
    memcpy(one->kernel, print->kernel, name_bytes);
    memcpy(one->text, text, text_bytes);
    one->next = atomic_load_explicit(&last, memory_order_relaxed);
    // Release: what it holds.
    while (!atomic_compare_exchange_weak_explicit(&last, &one->next, one, memory_order_release, memory_order_relaxed)) {
    }
}

// In the order in which it came.
void bridge_tell_prints(void)
{
    struct printed *one = atomic_exchange_explicit(&last, NULL, memory_order_acquire), *first = NULL;
    while (one) {
        struct printed *next = one->next;
        one->next = first;
        first = one;
        one = next;
    }
    for (; first; first = one) {
        one = first->next;
        tell_print(first->kernel, first->text,
                   first->lost + atomic_exchange_explicit(&lost_here, 0, memory_order_relaxed));
        free(first);
    }
}
