// SPDX-License-Identifier: Apache-2.0
#include "bench/floors.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const char hand_embedded_hand_h[];

// ---- memory --------------------------------------------------------------------------------------------------------

static void triad(float *restrict a, const float *restrict b, const float *restrict c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + 2.0f * c[i];
}

static void saxpy(float *restrict y, const float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = 2.0f * x[i] + y[i];
}

// Sixteen sums, so that none waits for another.
static float sum(const float *a, size_t count)
{
    float part[16] = {0}, all = 0.0f;
    for (size_t i = 0; i + 16 <= count; i += 16)
        for (size_t k = 0; k < 16; k++)
            part[k] += a[i + k];
    for (size_t k = 0; k < 16; k++)
        all += part[k];
    return all;
}

// Where a half begins, and how many there are in it.
static size_t first_of(const halves *h, unsigned half)
{
    return half ? h->count / 2 : 0;
}

static size_t count_of(const halves *h, unsigned half)
{
    return half ? h->count - h->count / 2 : h->count / 2;
}

static void triad_half(halves *h, unsigned half)
{
    size_t at = first_of(h, half);
    triad(h->a + at, h->b + at, h->c + at, count_of(h, half));
}

static void saxpy_half(halves *h, unsigned half)
{
    size_t at = first_of(h, half);
    saxpy(h->b + at, h->a + at, count_of(h, half));
}

static void sum_half(halves *h, unsigned half)
{
    h->sum[half] = sum(h->a + first_of(h, half), count_of(h, half));
}

static void second(void *context)
{
    halves *h = context;
    h->work(h, 1);
}

static void both(halves *h, partner *partner, void (*work)(halves *, unsigned))
{
    h->work = work;
    partner_run(partner, second, h);
    work(h, 0);
    partner_join(partner);
}

void floors_triad(halves *h, partner *partner)
{
    both(h, partner, triad_half);
}

void floors_saxpy(halves *h, partner *partner)
{
    both(h, partner, saxpy_half);
}

void floors_sum(halves *h, partner *partner)
{
    both(h, partner, sum_half);
}

// ---- OpenBLAS ------------------------------------------------------------------------------------------------------

typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);
static sgemm *blas;

bool floors_blas_open(int threads)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL); // picks the core's best code when it is loaded
    if (library == NULL)
        return false;
    void (*set_threads)(int);
    *(void **)(void *)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)(void *)&blas = dlsym(library, "cblas_sgemm");
    if (set_threads != NULL)
        set_threads(threads);
    return blas != NULL;
}

void floors_blas(int side, const float *a, const float *b, float *c)
{
    enum { ROW_MAJOR = 101, AS_IT_IS = 111 };
    blas(ROW_MAJOR, AS_IT_IS, AS_IT_IS, side, side, side, 1.0f, a, side, b, side, 0.0f, c, side);
}

// ---- by hand -------------------------------------------------------------------------------------------------------

bool floors_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool fine = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && fine;
}

bool floors_compile(char *const *arguments)
{
    pid_t process;
    int ended = 0;
    return posix_spawnp(&process, arguments[0], NULL, NULL, arguments, environ) == 0 &&
           waitpid(process, &ended, 0) == process && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

static bool compile(const char *compiler, char *source, char *made)
{
    char *arguments[] = {
        (char *)compiler,
        "-std=c17",
        "-O3",
        "-march=native",
        "-fPIC",
        "-shared",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-w",
#if defined(__x86_64__)
        "-mprefer-vector-width=512",
#endif
        "--param=max-completely-peel-times=8",
        "-fno-tree-loop-distribute-patterns",
        "-o",
        made,
        source,
        NULL
    };
    return floors_compile(arguments);
}

hand_function *floors_hand(const char *source, const char **why)
{
    const char *compiler = getenv("SLIPRING_CC"), *parent = getenv("TMPDIR");
    char folder[200], text[256], header[256], made[256];
    hand_function *found = NULL;
    snprintf(folder, sizeof folder, "%s/slipring-hand-XXXXXX", parent != NULL ? parent : "/tmp");
    *why = "the C compiler that is here does not take it";
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(text, sizeof text, "%s/hand.c", folder);
    snprintf(header, sizeof header, "%s/hand.h", folder);
    snprintf(made, sizeof made, "%s/hand.so", folder);
    if (floors_write(text, source) && floors_write(header, hand_embedded_hand_h) &&
        compile(compiler != NULL && *compiler ? compiler : "cc", text, made)) {
        void *library = dlopen(made, RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            *(void **)(void *)&found = dlsym(library, "hand");
    }
    unlink(text);
    unlink(header);
    unlink(made);
    rmdir(folder);
    return found;
}
