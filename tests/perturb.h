// SPDX-License-Identifier: Apache-2.0
// Read before every C file of a build with SLIPRING_PERTURB (`make perturb`): each thread pauses at random before what
// it stores atomically. So a test meets the moments between two stores that it would meet once in a million runs.
//
// No header is included, since a file's feature macros come behind this.
#ifndef SLIPRING_TESTS_PERTURB_H
#define SLIPRING_TESTS_PERTURB_H

extern char *getenv(const char *name);
extern unsigned long strtoul(const char *text, char **end, int base);
extern int usleep(unsigned us);

// One time in ONE_IN, for up to MOST microseconds: SLIPRING_PERTURB=MOST,ONE_IN; 3000,100 where it is not set.
static inline void slr_perturb(void)
{
    static unsigned most_us, one_in;
    static _Thread_local unsigned long long state;
    if (__atomic_load_n(&one_in, __ATOMIC_ACQUIRE) == 0) {
        const char *asked = getenv("SLIPRING_PERTURB");
        char *end = 0;
        unsigned long most = asked ? strtoul(asked, &end, 10) : 3000;
        unsigned long each = end && *end == ',' ? strtoul(end + 1, 0, 10) : 100;
        __atomic_store_n(&most_us, most != 0 ? (unsigned)most : 1u, __ATOMIC_RELAXED);
        __atomic_store_n(&one_in, each != 0 ? (unsigned)each : 1u, __ATOMIC_RELEASE);
    }
    if (state == 0)
        state = (unsigned long)&state;
    state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
    if ((unsigned)(state >> 33) % __atomic_load_n(&one_in, __ATOMIC_RELAXED) == 0)
        usleep((unsigned)(state >> 40) % __atomic_load_n(&most_us, __ATOMIC_RELAXED));
}

// As tests/sim/points.h does it.
#define __atomic_store_n(...) (slr_perturb(), __atomic_store_n(__VA_ARGS__))
#define __atomic_exchange_n(...) (slr_perturb(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (slr_perturb(), __atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_fetch_add(...) (slr_perturb(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) (slr_perturb(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_add_fetch(...) (slr_perturb(), __atomic_add_fetch(__VA_ARGS__))
#define __atomic_sub_fetch(...) (slr_perturb(), __atomic_sub_fetch(__VA_ARGS__))

#endif
