// SPDX-License-Identifier: Apache-2.0
#include "ops/blas.h"
#include "ops/provider.h"

#include "base/clock.h"
#include "base/dl.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdio.h>

// Up to this m n k, OpenBLAS 0.3 uses one thread, however many it may use (interface/gemm.c: SMP_THRESHOLD_MIN times
// GEMM_MULTITHREAD_THRESHOLD).
#define MOST_OF_ONE_THREAD (65536 * 4)

enum { ROWS_ARE_CONTIGUOUS = 101, AS_IT_IS = 111, TRANSPOSED = 112 }; // cblas.h

typedef void multiply(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                      int a_stride, const float *b, int b_stride, float beta, float *c, int c_stride);

// Filled in once, under the lock; then only read.
static char path[256], version[160];
static multiply *sgemm;
static int (*get_threads)(void);
static void (*set_threads)(int threads);

// The number of threads is the library's, for all callers: calls of one thread run side by side, others alone.
static struct {
    slri_mutex lock;           // of the rest. No child takes it: provider.c
    uint32_t running, waiting; // calls; those that wait until nobody runs
    int threads, before;       // of those that run; what the application had set
    uint32_t ended;            // a futex: changes when the last call ends
} calls = {.lock = SLRI_MUTEX_INIT};

static slr_status start_openblas(slri_dl *library, const char *found)
{
    slri_text missing = SLRI_TEXT_INIT;
    sgemm = (multiply *)slri_dl_find(library, "cblas_sgemm", &missing);
    get_threads = (int (*)(void))slri_dl_find(library, "openblas_get_num_threads", &missing);
    set_threads = (void (*)(int))slri_dl_find(library, "openblas_set_num_threads", &missing);
    char *(*config)(void) = (char *(*)(void))slri_dl_find(library, "openblas_get_config", &missing);
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, found, "OpenBLAS", &missing));
    snprintf(path, sizeof path, "%s", found);
    snprintf(version, sizeof version, "%s", config());
    return SLR_OK;
}

const slr_provider *slri_blas_describe(void)
{
    static struct slri_ops_library library = {.vendor = {.variable = "SLIPRING_OPENBLAS_LIB",
                                                         .places = {"libopenblas.so.0"},
                                                         .hint = "Debian: libopenblas0-pthread",
                                                         .absent = SLR_UNSUPPORTED,
                                                         .start = start_openblas,
                                                         .lock = SLRI_MUTEX_INIT},
                                              .told = {"openblas", path, version, "it was not looked for"}};
    return slri_ops_library_describe(&library);
}

static bool must_wait(int threads)
{
    return calls.running != 0 && (threads != 1 || calls.threads != 1);
}

static void begin_call(int threads)
{
    slri_mutex_lock(&calls.lock);
    // Nobody passes a call that waits: else it might wait for ever.
    for (bool first = true; must_wait(threads) || (first && calls.waiting != 0); first = false) {
        uint32_t ended = calls.ended;
        calls.waiting++;
        slri_mutex_unlock(&calls.lock);
        slri_futex_wait(&calls.ended, ended, SLRI_FOREVER);
        slri_mutex_lock(&calls.lock);
        calls.waiting--;
    }
    if (calls.running++ == 0) {
        calls.threads = threads;
        calls.before = get_threads();
        if (calls.before != threads)
            set_threads(threads);
    }
    slri_mutex_unlock(&calls.lock);
}

static void end_call(void)
{
    slri_mutex_lock(&calls.lock);
    bool last = --calls.running == 0;
    if (last) {
        if (calls.before != calls.threads)
            set_threads(calls.before);
        __atomic_fetch_add(&calls.ended, 1, __ATOMIC_RELAXED);
    }
    bool awaited = last && calls.waiting != 0;
    slri_mutex_unlock(&calls.lock);
    if (awaited)
        slri_futex_wake(&calls.ended, UINT32_MAX);
}

void slri_blas_multiply(const struct slri_blas_product *products, uint32_t count, int threads)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t size = (uint64_t)products[i].m * products[i].n * products[i].k;
        most = size > most ? size : most;
    }
    begin_call(threads = most > MOST_OF_ONE_THREAD ? threads : 1);
    for (uint32_t i = 0; i < count; ++i) {
        const struct slri_blas_product *p = &products[i];
        sgemm(ROWS_ARE_CONTIGUOUS, p->transpose_a ? TRANSPOSED : AS_IT_IS, p->transpose_b ? TRANSPOSED : AS_IT_IS, p->m,
              p->n, p->k, p->alpha, p->a, p->transpose_a ? p->m : p->k, p->b, p->transpose_b ? p->k : p->n, p->beta,
              p->c, p->n);
    }
    end_call();
}
