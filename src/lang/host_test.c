// SPDX-License-Identifier: Apache-2.0
// What is read of launches in host code, and what is not guessed.
#include "lang/compile_test.h"
#include "lang/host/host.h"

#include "base/text.h"

#define KERNEL                                                                                                         \
    "__global__ void k(float *x, float *y, int n, float a) { if (threadIdx.x < n) x[threadIdx.x] = a * y[0]; }\n"

static struct slri_module *module;

// The only launch of a text.
static const struct slri_host_launch *launch_of(const char *text)
{
    slri_module_destroy(module);
    module = compile_text(text);
    assert_int_equal(module->launches, 1);
    return &module->launch[0];
}

static void assert_shape(const uint32_t shape[3], uint32_t x, uint32_t y, uint32_t z)
{
    assert_int_equal(shape[0], x);
    assert_int_equal(shape[1], y);
    assert_int_equal(shape[2], z);
}

static void literals_macros_and_constants_are_computed(void **unused)
{
    (void)unused;
    const struct slri_host_launch *l =
        launch_of(KERNEL "#define BLOCK 64\n"
                         "const int rows = 1 << 9;\n"
                         "int main() {\n"
                         "    float *x, *y;\n"
                         "    size_t bytes = rows * sizeof(float);\n"
                         "    cudaMalloc((void **)&x, bytes);\n"
                         "    cudaMalloc(&y, 3 * bytes / 2);\n"
                         "    k<<<(rows + BLOCK - 1) / BLOCK, BLOCK, 2 * BLOCK>>>(x, y, rows, -2.5f);\n"
                         "}\n");
    assert_string_equal(l->kernel, "k");
    assert_int_equal(l->where.line, 9);
    assert_string_equal(l->text, "k<<<(rows + 64 - 1) / 64, 64, 2 * 64>>>(x, y, rows, - 2.5f)");
    assert_shape(l->grid, 8, 1, 1);
    assert_shape(l->block, 64, 1, 1);
    assert_true(l->shared_bytes.is_known);
    assert_int_equal(l->shared_bytes.whole, 128);
    assert_int_equal(l->arguments, 4);
    assert_int_equal(l->argument[0].bytes, 2048);
    assert_int_equal(l->argument[1].bytes, 3072);
    assert_int_equal(l->argument[2].number.whole, 512);
    assert_true(l->argument[3].number.real == -2.5);
    assert_int_equal(l->halvings, 0);
}

static void dim3_is_read_in_all_its_forms(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "dim3 block(16, 8), grid(up(100, block.x), up(60, block.y));",
        "dim3 block = dim3(16, 8); dim3 grid(7); grid.y = 8;",
        "dim3 block{16, 8}; const dim3 grid{(unsigned)ceil(100 / (double)block.x), 60 / 8 + 1};",
        "int tx = 16, ty = tx / 2; dim3 block(tx, ty, 1); dim3 grid(max(7, 3), ty == 8 ? 8 : 1);",
        "dim3 grid, block; block = dim3(16, 8); grid = dim3(7, block.y);",
        "dim3 grid(1), block(1); block = 3; grid = dim3(7, 8); block = dim3(16, 8);",
        "dim3 grid; dim3 block; block.x = 16; block.y = 8; grid.x = 7; grid.y = block.y;",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 KERNEL "static int up(int a, int b) { return (a + b - 1) / b; }\n"
                        "void run(float *x) { %s k<<<grid, block>>>(x, x, 5, 1); }\n",
                 texts[i]);
        const struct slri_host_launch *l = launch_of(text);
        assert_shape(l->grid, 7, 8, 1);
        assert_shape(l->block, 16, 8, 1);
    }
}

static void what_the_caller_gives_is_read(void **unused)
{
    (void)unused;
    const struct slri_host_launch *l = launch_of(KERNEL "void run(float *p, float *q, int count, int threads) {\n"
                                                        "    k<<<count / threads, threads>>>(p, q, count, 1.0f);\n"
                                                        "}\n"
                                                        "int main() {\n"
                                                        "    float *a, *b; int n = 600;\n"
                                                        "    cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, 4);\n"
                                                        "    run(a, b, n, 20);\n"
                                                        "}\n");
    assert_shape(l->grid, 30, 1, 1);
    assert_shape(l->block, 20, 1, 1);
    assert_int_equal(l->argument[0].bytes, 2400);
    assert_int_equal(l->argument[1].bytes, 4);
    assert_int_equal(l->argument[2].number.whole, 600);
}

static void what_is_not_known_stays_so(void **unused)
{
    (void)unused;
    static const char *const sizes[] = {
        "int n = atoi(argv[1]);", "int n; scanf(\"%d\", &n);",
        "int n = 4; n *= argc;",  "int n = 1; for (n = 1; n < 9; n++)",
        "int n = 7 / 0;",         "int n = p->n;",
        "int n = 1, m = n +;",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[1024];
        snprintf(text, sizeof text, KERNEL "int main(int argc, char **argv) { %s k<<<n, 32>>>(x, y, n, 1); }\n",
                 sizes[i]);
        const struct slri_host_launch *l = launch_of(text);
        if (i + 1 < sizeof sizes / sizeof *sizes)
            assert_int_equal(l->grid[0], 0);
        assert_shape(l->block, 32, 1, 1);
    }
    const struct slri_host_launch *l = // a default is what stands there where the command line says nothing
        launch_of(KERNEL "int main(int argc, char **argv) { int n = 9; if (argc > 1) n = atoi(argv[1]);\n"
                         "    k<<<n, 32>>>(x, y, n, 1); }\n");
    assert_shape(l->grid, 9, 1, 1);
    assert_int_equal(l->argument[2].number.whole, 9);
}

static void a_default_beside_the_command_line_counts(void **unused)
{
    (void)unused;
    const struct slri_host_launch *l =
        launch_of(KERNEL "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 12;\n"
                         "    int m = argc > 2 ? 3 : 4; k<<<n, 32, m>>>(x, y, m, n > 5 ? 1.5f : 2); }\n");
    assert_shape(l->grid, 12, 1, 1);
    assert_false(l->shared_bytes.is_known); // either may be
    assert_false(l->argument[2].number.is_known);
    assert_true(l->argument[3].number.real == 1.5);
}

static void what_is_large_is_halved_until_it_fits(void **unused)
{
    (void)unused;
    const struct slri_host_launch *l = launch_of(KERNEL "#define BLOCK 256\n"
                                                        "int main() {\n"
                                                        "    int n = 1 << 22, threads = BLOCK;\n"
                                                        "    float *x; cudaMalloc(&x, n * sizeof(float));\n"
                                                        "    k<<<(n + threads - 1) / threads, threads>>>(x, y, n, 1);\n"
                                                        "}\n");
    assert_int_equal(l->halvings, 7);
    assert_shape(l->grid, 128, 1, 1);
    assert_shape(l->block, 256, 1, 1);
    assert_int_equal(l->argument[0].bytes, 4u << 15);
    assert_int_equal(l->argument[2].number.whole, 1 << 15);
    l = launch_of(KERNEL "#define N 4000000\nint main() { k<<<N / 200, 200>>>(x, y, N, 1); }\n");
    assert_int_equal(l->halvings, 0); // the kernel may be compiled for it
    assert_shape(l->grid, 20000, 1, 1);
}

static void a_file_made_to_be_slow_is_given_up_in_time(void **unused)
{
    (void)unused;
    struct slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, KERNEL "int f(int a) { return f(a) + f(a); }\nint main() { int n0 = 1;\n");
    for (int i = 1; i < 200; i++)
        slri_text_printf(&text, "int n%d = n%d + n%d;\n", i, i - 1, i - 1);
    for (int i = 0; i < 300; i++)
        slri_text_printf(&text, "k<<<n%d, f(3)>>>(x, y, n%d, 1);\n", 199 - i % 50, 199);
    slri_text_puts(&text, "}\n");
    slri_module_destroy(module);
    module = compile_text(slri_text_view(&text));
    assert_int_equal(module->launches, 256);
    assert_int_equal(module->launch[0].grid[0], 0);
    slri_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_macros_and_constants_are_computed),
        cmocka_unit_test(dim3_is_read_in_all_its_forms),
        cmocka_unit_test(what_the_caller_gives_is_read),
        cmocka_unit_test(what_is_not_known_stays_so),
        cmocka_unit_test(a_default_beside_the_command_line_counts),
        cmocka_unit_test(what_is_large_is_halved_until_it_fits),
        cmocka_unit_test(a_file_made_to_be_slow_is_given_up_in_time),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slri_module_destroy(module);
    return failed;
}
