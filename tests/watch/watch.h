// SPDX-License-Identifier: Apache-2.0
// What the library itself does with memory that a simulated device reaches, for who checks order between the two. A
// library that is compiled with -fsanitize=thread calls functions of the sanitizer's runtime; watch.c is another one.
#ifndef TESTS_WATCH_WATCH_H
#define TESTS_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define WATCH_PAGES 20 // bits of a page's number that are kept: who shares them is told of, too

struct watch {
    unsigned char page[1 << (WATCH_PAGES - 3)]; // a bit for each page of 4096 bytes that is looked at
    // NULL: nobody looks. Orders are of <stdatomic.h>.
    void (*plain)(uintptr_t at, unsigned bytes, bool writes, const void *by);
    void (*told)(uintptr_t at, unsigned bytes, int order, bool adds, const void *by);     // before an atomic store
    void (*learned)(uintptr_t at, unsigned bytes, int order, bool looks, const void *by); // after an atomic load
    void (*fence)(int order);
};

#endif
