// SPDX-License-Identifier: Apache-2.0
// Which algorithm a call uses: the measured one, of this process or another; and what a graph records.
#include "tests/ops/ops_test.h"

#include <slipring/graph.h>
#include <slipring/profile.h>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

struct seen {
    char name[6][32], chosen[32], why_not[160], why_no_blas[160];
    uint32_t count, deterministic;
};

static void see(void *user, const slr_algorithm *algorithm)
{
    struct seen *seen = user;
    snprintf(seen->name[seen->count++ % 6], 32, "%s", algorithm->name);
    if (algorithm->chosen)
        snprintf(seen->chosen, sizeof seen->chosen, "%s", algorithm->name);
    if (*algorithm->why_not && strcmp(algorithm->provider, "own") == 0)
        snprintf(seen->why_not, sizeof seen->why_not, "%s", algorithm->why_not);
    if (strcmp(algorithm->provider, "openblas") == 0)
        snprintf(seen->why_no_blas, sizeof seen->why_no_blas, "%s", algorithm->why_not);
    assert_true((algorithm->ns == 0) == (*algorithm->why_not != '\0'));
    assert_true(!algorithm->chosen || algorithm->ns > 0);
    seen->deterministic += algorithm->deterministic;
}

struct operands {
    struct data a, b, c;
    slr_matmul_desc desc;
};

static void make_operands(struct fixture *f, struct operands *o, uint32_t m, uint32_t n, uint32_t k)
{
    o->a = make(f, 2, m, k, 1, 1), o->b = make(f, 2, k, n, 1, 1), o->c = make(f, 2, m, n, 1, 1);
    o->desc = (slr_matmul_desc)SLR_MATMUL_DESC_INIT;
    o->desc.a = &o->a.tensor, o->desc.b = &o->b.tensor, o->desc.c = &o->c.tensor;
}

static void drop_operands(struct operands *o)
{
    drop(&o->a), drop(&o->b), drop(&o->c);
}

static struct seen bench(const slr_ops_desc *desc)
{
    struct fixture f = open_ops_with("cpu", desc);
    struct operands o;
    struct seen seen = {0};
    make_operands(&f, &o, 33, 65, 17);
    must(slr_ops_matmul_bench(f.ops, f.stream, &o.desc, see, &seen));
    drop_operands(&o);
    close_ops(&f);
    return seen;
}

static void all_algorithms_are_timed_and_one_is_chosen(void **state)
{
    (void)state;
    struct seen seen = bench(NULL);
    assert_int_equal(seen.count, 5);
    assert_string_equal(seen.name[0], "openblas.sgemm");
    assert_string_equal(seen.name[1], "own.panel");
    assert_string_equal(seen.name[2], "cublaslt.matmul");
    assert_string_equal(seen.name[3], "clblast.sgemm");
    assert_string_equal(seen.name[4], "own.tile");
    assert_true(*seen.chosen);
    assert_int_equal(seen.deterministic, 2);
}

static void what_is_ruled_out_is_not_chosen_and_says_why(void **state)
{
    (void)state;
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.deterministic = 1, desc.workspace_bytes = 16;
    struct seen seen = bench(&desc);
    assert_string_equal(seen.chosen, "own.tile");
    assert_non_null(strstr(seen.why_not, "workspace"));
}

// How many kernels a call launched.
static uint64_t launches_of(struct fixture *f, slr_matmul_desc *desc)
{
    uint64_t launches = 0;
    uint32_t count;
    slr_profile_row row[64];
    slr_profile_clear();
    must(slr_ops_matmul(f->ops, f->stream, desc, NULL));
    must(slr_stream_finish(f->stream, LONG));
    must(slr_profile_read(row, 64, &count));
    for (uint32_t i = 0; i < count && i < 64; ++i)
        launches += row[i].kind == SLR_PROFILE_KERNEL ? row[i].n : 0;
    return launches;
}

// The first call of a shape times all; the second does not, nor does that of other operations, which find the record.
static void a_shape_is_measured_once_for_all_that_come_later(void **state)
{
    (void)state;
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.choice = SLR_CHOICE_BENCHMARK;
    struct fixture f = open_ops_with("cpu", &desc);
    struct operands o;
    seed = (uint64_t)slri_now_ns(); // a shape that no earlier run of this test has left a record of
    make_operands(&f, &o, 17 + draw(300), 17 + draw(300), 17 + draw(300));
    must(slr_profile_start());
    uint64_t first = launches_of(&f, &o.desc), second = launches_of(&f, &o.desc);
    assert_true(first > 10 && second <= 3);
    slr_ops_destroy(f.ops);
    must(slr_ops_create(f.device, &desc, &f.ops));
    assert_true(launches_of(&f, &o.desc) <= 3);
    slr_profile_stop();
    drop_operands(&o);
    close_ops(&f);
}

// A graph takes kernels alone, so that its buffers can be rebound; replayed, it computes what the call does.
static void a_recorded_product_is_replayed(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        struct operands o;
        slr_graph *graph;
        make_operands(&f, &o, 33, 20, 17);
        must(slr_graph_create(f.device, &graph));
        must(slr_graph_begin(graph, f.stream));
        must(slr_ops_matmul(f.ops, f.stream, &o.desc, NULL));
        must(slr_graph_end(graph));
        for (int k = 0; k < 2; ++k) {
            float one = (float)k + 1;
            must(slr_stream_fill(f.stream, o.a.tensor.buffer, 0, o.a.n * 4, &one, 4, NULL));
            must(slr_graph_launch(graph, f.stream, NULL, 0, NULL));
            double want[33 * 20];
            for (int j = 0; j < 33 * 20; ++j) {
                want[j] = 0;
                for (int p = 0; p < 17; ++p)
                    want[j] += o.b.value[p * 20 + j % 20] * (k + 1);
            }
            expect(&f, "replayed", &o.c, want, 64 * EPS * 17, 0);
        }
        slr_graph_destroy(graph);
        drop_operands(&o);
        close_ops(&f);
    }
}

static void convolutions_have_their_algorithms(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    struct data x = make(&f, 4, 1, 8, 9, 9), w = make(&f, 4, 8, 8, 3, 3), y = make(&f, 4, 1, 8, 7, 7);
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    struct seen seen = {0};
    desc.x = &x.tensor, desc.weights = &w.tensor, desc.y = &y.tensor;
    must(slr_ops_convolution_bench(f.ops, f.stream, &desc, see, &seen));
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.name[0], "onednn.convolution");
    assert_string_equal(seen.name[1], "cudnn.convolution");
    assert_string_equal(seen.name[2], "own.columns");
    assert_string_equal(seen.name[3], "own.direct");
    assert_true(*seen.chosen);
    drop(&x), drop(&w), drop(&y);
    close_ops(&f);
}

static void a_library_that_is_missing_is_reported_and_not_needed(void **state)
{
    (void)state;
    struct seen seen = bench(NULL);
    if (strcmp(seen.name[0], "openblas.sgemm") == 0 && *seen.why_no_blas == '\0')
        return; // it is here: the sources' kernels are tested as `deterministic`
    assert_true(strcmp(seen.chosen, "openblas.sgemm") != 0);
    assert_non_null(strstr(seen.why_no_blas, "cannot load"));
}

#ifndef _WIN32
static void count_usable(void *user, const slr_provider *provider)
{
    uint32_t *count = user;
    *count += *provider->why_not == '\0';
}

static void count_refused(void *user, const slr_provider *provider)
{
    uint32_t *count = user;
    *count += strstr(provider->why_not, "fork()") != NULL;
}

// What a process has to give a library, and its child too: a product and a convolution, so large that threads share it.
static int compute(void)
{
    struct fixture f = open_ops("cpu");
    struct operands o;
    struct data x = make(&f, 4, 1, 16, 64, 64), w = make(&f, 4, 16, 16, 3, 3), y = make(&f, 4, 1, 16, 62, 62);
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    make_operands(&f, &o, 256, 256, 256);
    desc.x = &x.tensor, desc.weights = &w.tensor, desc.y = &y.tensor;
    const bool is_done = slr_ops_matmul(f.ops, f.stream, &o.desc, NULL) == SLR_OK &&
                         slr_ops_convolution(f.ops, f.stream, &desc, NULL) == SLR_OK &&
                         slr_stream_finish(f.stream, COMPILED) == SLR_OK;
    drop(&x), drop(&w), drop(&y);
    drop_operands(&o);
    close_ops(&f);
    return is_done ? 0 : 2;
}

static void a_child_uses_no_library_of_its_parent(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // which ends a child of threads that starts one
#endif
    uint32_t usable = 0;
    int how;
    must(slr_ops_visit_providers(count_usable, &usable));
    assert_int_equal(compute(), 0);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t refused = 0;
        alarm(120); // a call that waits for a thread of the parent ends the child by a signal
        (void)slr_ops_visit_providers(count_refused, &refused);
        _exit(refused != usable ? 1 : compute());
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_algorithms_are_timed_and_one_is_chosen),
        cmocka_unit_test(what_is_ruled_out_is_not_chosen_and_says_why),
        cmocka_unit_test(a_shape_is_measured_once_for_all_that_come_later),
        cmocka_unit_test(a_recorded_product_is_replayed),
        cmocka_unit_test(convolutions_have_their_algorithms),
        cmocka_unit_test(a_library_that_is_missing_is_reported_and_not_needed),
#ifndef _WIN32
        cmocka_unit_test(a_child_uses_no_library_of_its_parent),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
