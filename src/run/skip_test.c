// SPDX-License-Identifier: Apache-2.0
// Files as they are found: host code, headers, launches and C++ around the kernels.
#include "run/grid_test.h"

#include "base/file.h"
#include "base/folder.h"
#include "ir/ir_print.h"

#include <stdlib.h>
#include <unistd.h>

static struct slri_module *compile_file(const char *name)
{
    char path[512];
    struct slri_module *module;
    snprintf(path, sizeof path, "%s/tests/cuda/%s", SLIPRING_SOURCE_DIR, name);
    struct slri_source source = {.path = path};
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return module;
}

static void assert_kernels(const struct slri_module *module, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < module->entries && i < count; i++)
        assert_string_equal(module->entry[i].name, names[i]);
    assert_int_equal(module->entries, count);
}

// Is `name` in the list, as what, and for a reason with those words in it?
static void assert_skipped(const struct slri_module *module, const char *name, const char *what, const char *words)
{
    for (uint32_t i = 0; i < module->skippeds; i++) {
        const struct slri_skipped *skipped = &module->skipped[i];
        if (strcmp(skipped->name, name) != 0 || strcmp(skipped->what, what) != 0)
            continue;
        if (!strstr(skipped->why, words))
            fail_msg("%s was skipped because %s", name, skipped->why);
        return;
    }
    for (uint32_t i = 0; i < module->skippeds; i++)
        print_error("%s '%s': %s\n", module->skipped[i].what, module->skipped[i].name, module->skipped[i].why);
    fail_msg("%s '%s' is not in the list", what, name);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void the_first_program_of_every_course(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_file("vector_add.cu");
    static const char *const kernels[] = {"vectorAdd"};
    assert_kernels(module, kernels, COUNT(kernels));
    assert_skipped(module, "main", "the host function", "it is the host's");
    assert_skipped(module, "host_a", "the host variable", "a variable of the host");
    assert_skipped(module, "verbose", "the host variable", "a variable of the host");
    assert_skipped(module, "fill", "the function", "'RAND_MAX'");
    assert_int_equal(module->skippeds, 4);
    slri_module_destroy(module);
}

static void reductions_in_c_and_in_cplusplus(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_file("reductions.cu");
    static const char *const kernels[] = {"deviceReduce", "reduceVolatile", "reduceLast"};
    assert_kernels(module, kernels, COUNT(kernels));
    assert_skipped(module, "cooperative_groups.h", "the header", "not found");
    assert_skipped(module, "cub/cub.cuh", "the header", "not found");
    assert_skipped(module, "reduceTemplate", "the kernel template", "C++");
    assert_skipped(module, "Timer", "what C++ has and C has not,", "C++");
    assert_skipped(module, "Workspace", "the declaration", "pointer");
    assert_skipped(module, "reduceGroups", "the kernel", "SLR-K087");
    assert_skipped(module, "reduceWorkspace", "the kernel", "'Workspace' in line 26 was skipped");
    assert_skipped(module, "reduceReference", "the kernel", "a reference");
    assert_skipped(module, "Launcher", "the template", "C++");
    assert_skipped(module, "main", "the host function", "it is the host's");

    struct slri_interp *interp;
    static float in[4096], out[1];
    int n = 4096;
    for (int i = 0; i < n; i++)
        in[i] = (float)(i % 3);
    struct slri_bound arg[] = {{in, sizeof in}, {out, sizeof out}, {&n, sizeof n}};
    struct slri_grid grid = {.grid = {4, 1, 1}, .block = {96, 1, 1}, .arg = arg, .args = 3, .fuel = 1000, .seed = 1};
    struct slri_grid_end end;
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    assert_int_equal(slri_interpret_grid(interp, &grid, &end), SLR_OK);
    assert_int_equal(end.fault, SLRI_FAULT_NONE);
    assert_float_equal(out[0], 4095, 0);
    slri_interp_destroy(interp);
    slri_module_destroy(module);
}

static void image_filters(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_file("image.cu");
    static const char *const kernels[] = {"toGray", "blurRows", "blurFromHost", "gradient"};
    assert_kernels(module, kernels, COUNT(kernels));
    assert_skipped(module, "launch", "the host function", "the host's");
    assert_int_equal(module->skippeds, 1);
    assert_int_equal(module->entry[0].max_threads, 256);
    slri_module_destroy(module);
}

static void mistakes_in_kernels_are_still_mistakes(void **unused)
{
    (void)unused;
    assert_true(is_marked("int main() { return 0; }\n__global__ void k(int *out) { *out = ^^y; }", SLRI_K_UNKNOWN_NAME,
                          "'y' is not declared"));
    assert_true(is_marked("int main() { return 0; }\n__global__ void k(int *out) { *out = 1 ^^}",
                          SLRI_K_UNEXPECTED_TOKEN, "expected ';'"));
    assert_true(is_marked("__device__ int f(int a) { return ^^b; }\n__global__ void k(int *out) { *out = f(1); }",
                          SLRI_K_UNKNOWN_NAME, "'b'"));
    assert_rejected("template <class T> __global__ void k(T *out) { }\n", SLRI_K_NO_HANDLER, 1, 1, 1);
    assert_non_null(strstr(slr_error_message(), "the kernel template 'k' was skipped (it is C++)"));
}

static void what_is_left_out_says_so_where_it_is_used(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("int limit = 3; float helper(float x) { return x; }\n"
                                              "__global__ void uses_limit(int *out) { *out = limit; }\n"
                                              "__global__ void uses_helper(int *out) { *out = (int)helper(1); }\n"
                                              "__device__ int *pick(int *a, int *b) { return a[0] ? a : b; }\n"
                                              "__global__ void uses_roots(int *a, int *b) { *pick(a, b) = 1; }\n"
                                              "__global__ void good(int *out) { *out = 1; }\n"
                                              "__device__ void never(int **p) { }\n");
    assert_int_equal(module->entries, 1);
    assert_skipped(module, "uses_limit", "the kernel", "'limit' in line 1 was skipped: it is a variable of the host");
    assert_skipped(module, "uses_helper", "the kernel", "'helper' in line 1 was skipped");
    assert_skipped(module, "uses_roots", "the kernel", "SLR-K081");
    assert_skipped(module, "never", "the device function", "a pointer to a pointer");
    slri_module_destroy(module);
}

// Each of these refused the whole file.
static void an_error_in_one_item_leaves_out_what_needs_it(void **unused)
{
    (void)unused;
    static const char *const items[] = {
        "__device__ int bad(int n) { int a[n]; return a[0]; }",                       // K064: an extent
        "__device__ int bad(int n) { return n + ; }",                                 // K030
        "__device__ int bad(int n) { return missing + n; }",                          // K050
        "__device__ int bad(int n) { return missing(n); }",                           // K051
        "__device__ int bad(int n) { struct in far; return far.x; }",                 // K055
        "__device__ int bad(int n) { return 3(n); }",                                 // K056
        "__device__ int bad(int n) { n = 1; }",                                       // K068
        "__shared__ int bad[4];",                                                     // K120
        "__device__ int bad(int n) { printf(\"%s\", n); return n; }",                 // K127
        "struct bad { int n; nothing x; };\n__device__ int worse(struct bad *b) { }", // K050 in a struct
        "static __device__ int bad = missing;",                                       // a variable
        "__device__ int bad(int n) { return n; }\n__device__ int bad(int n) { return n; }",
        "__device__ int bad(int n) { int a = n; int a = 2; return a; }", // K051
        "struct bad { int n; int n; };\n__device__ int worse(struct bad *b) { return b->n; }",
        "struct bad { int n; };\nstruct bad { int n; };",
        "__constant__ int bad[2] = { 1 };\n__constant__ float bad[2] = { 2 };",
        "enum one { bad }; enum two { bad };",
        "typedef int bad; typedef float bad;",
        "__device__ float bad(float n) { return sinf(n, n); }", // K055
        "__constant__ float bad[1] = { sinf(1, 2) };",
        "__device__ int bad(const int *n) { n[0] = 1; return 1; }", // K056
        "__device__ int bad(int n) { return far_away(n); }",        // K064
        "__constant__ int bad[1] = { far_away(1) };",
        "struct far;\n__device__ int bad(struct far *n) { return n->x; }", // K068
        "struct far;\nstruct bad { struct far n; };",
        "struct far;\n__device__ struct far bad;",
        "struct near { int n; };\n__device__ int bad(struct near n) { return n + 1; }", // K070
        "__global__ void bad(void *n) { }",                                             // K118
        "__global__ void bad(int *n) { n[0] = n * 2; }",
        "__device__ int bad(int n) { __shared__ int a = 1; return a; }", // K120
        "__global__ void bad(int *n) { printf(\"%d\"); }",               // K127
        "__constant__ int bad[2] = { 1 2 };",                            // K030
        "struct bad { int n m; };",
    };
    for (size_t i = 0; i < COUNT(items); i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "__global__ void first(int *out) { *out = 1; }\n%s\n"
                 "__global__ void needs(int *out) { struct bad *b; *out = bad(1) + bad[0]; }\n"
                 "__global__ void second(int *out) { *out = 2; }\n",
                 items[i]);
        struct slri_module *module = compile_text(text);
        static const char *const kernels[] = {"first", "second"};
        assert_kernels(module, kernels, COUNT(kernels));
        assert_skipped(module, "needs", "the kernel", "line ");
        slri_module_destroy(module);
    }
}

// What only shows in the whole of what a kernel calls.
static void an_error_that_follows_from_calls_leaves_out_the_kernels_that_make_them(void **unused)
{
    (void)unused;
    static const struct {
        const char *items, *why;
    } cases[] = {
        {"__device__ void bad(int *out) { ring_reply(out); }", "line 2: SLR-K122: ring_reply in the kernel"},
        {"__device__ void bad(int *out) { if (threadIdx.x < 16) __syncthreads(); *out = 1; }",
         "line 2: SLR-K123: only some threads of a block reach this barrier"},
        {"__device__ void bad(int *out) { __shared__ int a[8000]; __shared__ int b[8000]; a[threadIdx.x] = *out; "
         "b[threadIdx.x] = 1; __syncthreads(); *out = a[1] + b[2]; }",
         "the shared objects of 'needs' need 64000 bytes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[800];
        snprintf(text, sizeof text,
                 "__global__ void first(int *out) { __shared__ int s[4]; s[threadIdx.x & 3] = *out; __syncthreads(); "
                 "*out = s[1]; }\n%s\n"
                 "__global__ void needs(int *out) { bad(out); }\n"
                 "__global__ void also(int *out) { bad(out + 1); }\n"
                 "__global__ void second(int *out) { __shared__ int a[4], b[4]; b[threadIdx.x & 3] = *out; "
                 "a[threadIdx.x & 3] = 2; __syncthreads(); *out = b[1] + a[1]; }\n",
                 cases[i].items);
        struct slri_module *module = compile_text(text);
        static const char *const kernels[] = {"first", "second"};
        assert_kernels(module, kernels, COUNT(kernels));
        assert_int_equal(module->entry[0].shared_bytes, 16);
        assert_int_equal(module->entry[1].shared_bytes, 32);
        assert_skipped(module, "needs", "the kernel", cases[i].why);
        assert_skipped(module, "also", "the kernel", "line ");
        assert_int_equal(module->skippeds, 2);
        assert_int_equal(module->functions, 2); // nobody writes what only they call
        slri_module_destroy(module);
    }
}

// As where there is no other kernel: the diagnostics.
static void a_handler_or_the_only_kernel_with_such_an_error_refuses_the_file(void **unused)
{
    (void)unused;
    struct slri_module *module;
    static const char *const texts[] = {
        "__global__ void bad(int *out) { if (threadIdx.x < 16) __syncthreads(); *out = 1; }\n",
        "__global__ void good(int *out) { *out = 1; }\nstruct in { int x; };\n"
        "__ring_block__ void bad(struct in *self, const struct in *in) { if (threadIdx.x < 16) __syncthreads(); "
        "self->x = in->x; }\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct slri_source source = {.path = "t.cu", .text = texts[i]};
        assert_int_equal(slri_kernel_compile(&source, &module), SLR_COMPILE);
        assert_non_null(strstr(slr_error_message(), "error SLR-K123: only some threads"));
    }
}

static void a_kernel_that_was_left_out_says_why_where_it_is_asked_for(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("__device__ int bad(int n) { return n + m; }\n"
                                              "__global__ void needs(int *out) { *out = bad(1); }\n"
                                              "__global__ void good(int *out) { *out = 1; }\n");
    assert_skipped(module, "bad", "the device function", "line 1: SLR-K050: 'm' is not declared");
    assert_skipped(module, "needs", "the kernel", "'bad' in line 1 was skipped");
    assert_int_equal(slri_module_no_entry(module, "needs"), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "the kernel 'needs' of t.cu was skipped: line 2: SLR-K"));
    assert_int_equal(slri_module_no_entry(module, "other"), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "no kernel and no handler 'other'"));
    slri_module_destroy(module);
}

// Found by a fuzzer: the handler stayed, though what was wrong with it was taken back together with the struct.
static void a_handler_behind_a_broken_struct_is_left_out_with_it(void **unused)
{
    (void)unused;
    assert_rejected("struct {(} __ring__ n(struct a *, const struct h) { __global__ }\n", SLRI_K_NO_HANDLER, 1, 1, 1);
}

static void declarations_end_where_they_end(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("enum class Mode : int { fast, slow };\n"
                                              "struct Op { int operator()(int a) const { return a; } } op;\n"
                                              "template <int A, class B = Pair<int, Two<A>>> struct X { int y; };\n"
                                              "template <> struct X<1> { };\n"
                                              "const char *names[] = { \"a\", \"b;{\" };\n"
                                              "static inline int twice(int v) { return 2 * v; }\n"
                                              "namespace { int hidden() { return 1; } }\n"
                                              "void launch(int *p) { k<<<1, 1>>>(p); }\n"
                                              "int (*callback)(int) = 0;\n"
                                              "extern \"C\" {\n"
                                              "void declared(int *p);\n"
                                              "__global__ void k(int *out) { *out = twice(21); }\n"
                                              "}\n"
                                              "std::vector<int> numbers(10);\n"
                                              "#define CHECK(x) do { if (x) abort(); } while (0)\n"
                                              "static void check(int e) { CHECK(e); }\n");
    assert_int_equal(module->entries, 1);
    assert_string_equal(module->entry[0].name, "k");
    slri_module_destroy(module);
}

// Its name was taken to be the type that the function returns, which was then left out.
static void a_pointer_to_a_function_keeps_the_type_that_it_returns(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("typedef float real;\n"
                                              "typedef real (*operation)(real, real);\n"
                                              "typedef real (*operations[3])(real);\n"
                                              "__device__ real (*chosen)(real);\n"
                                              "real (*callback)(real) = 0;\n"
                                              "__global__ void k(real *out) { out[0] = 1; }\n"
                                              "__global__ void needs(operation o) { }\n");
    assert_int_equal(module->entries, 1);
    assert_string_equal(module->entry[0].name, "k");
    assert_skipped(module, "operation", "the declaration", "SLR-K084");
    assert_skipped(module, "operations", "the declaration", "SLR-K084");
    assert_skipped(module, "chosen", "the declaration", "SLR-K084");
    assert_skipped(module, "callback", "the host variable", "a variable of the host");
    assert_skipped(module, "needs", "the kernel", "'operation' in line 2 was skipped");
    slri_module_destroy(module);
}

// Each of the first two swallowed the kernel behind it.
static void specialisations_and_operators_end_with_their_bodies(void **unused)
{
    (void)unused;
    struct slri_module *module =
        compile_text("template <class T> __global__ void t(T *out) { *out = 1; }\n"
                     "template <> __global__ void t<Pair<int, 2>>(int *out) { *out = 2; }\n"
                     "__global__ void first(int *out) { *out = 1; }\n"
                     "__device__ float2 operator+(float2 a, float2 b) { a.x += b.x; return a; }\n"
                     "__global__ void second(int *out) { *out = 2; }\n"
                     "template <> __device__ int pick<float>(int a) { return a; }\n"
                     "template __global__ void t<float>(float *out);\n"
                     "__global__ void third(int *out) { *out = 3; }\n");
    static const char *const kernels[] = {"first", "second", "third"};
    assert_kernels(module, kernels, COUNT(kernels));
    assert_skipped(module, "t", "the kernel template", "C++");
    assert_skipped(module, "pick", "the template", "C++");
    assert_skipped(module, "operator", "the device function", "C++");
    slri_module_destroy(module);
}

static void headers_of_c_are_read_by_their_names_in_cplusplus(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("#include <cmath>\n#include <math.h>\n#include <cfloat>\n"
                                              "#include <climits>\n#include <cstdint>\n#include <cstddef>\n"
                                              "__global__ void k(float *out, int *most, uint32_t n)\n"
                                              "{ out[0] = INFINITY + (float)M_PI; out[1] = FLT_MAX;\n"
                                              "  most[0] = INT_MAX; most[1] = n < UINT32_MAX; }\n");
    assert_int_equal(module->entries, 1);
    assert_int_equal(module->skippeds, 0);
    slri_module_destroy(module);
}

// Any text may be given: no crash, and no endless look for an end.
static void broken_files_are_refused_and_left(void **unused)
{
    (void)unused;
    static const char *const broken[] = {
        "__global__",
        "__global__ void",
        "template <",
        "template < class T > __global__",
        "struct {",
        "}}}} __global__",
        "__global__ void k(",
        "int x = { __global__",
        "namespace __global__ {",
        "class",
        "using",
        "extern \"C\" { __global__",
        "__launch_bounds__( __global__",
        "template <class T> template <class U> __global__",
        "( __global__ )",
        "__global__ void k(int *x) { \"",
        "[[nodiscard]] __global__ int f();",
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        struct slri_module *module;
        assert_int_equal(compile_quietly(broken[i], &module), SLR_COMPILE);
    }
}

#define KERNEL "__global__ void good(int *out) { *out = 1; }\n"

static void assert_unreadable(const char *folder, const char *include, const char *path, const char *reason)
{
    char text[600], expected[1200];
    struct slri_module *module;
    snprintf(text, sizeof text, "#include <missing.h>\n#include %s\n" KERNEL, include);
    snprintf(expected, sizeof expected, "c.cu:2:1: error SLR-K024: %s%s", path, reason);
    const struct slri_source source = {.path = "c.cu", .text = text, .include = &folder, .includes = 1};
    assert_int_equal(slri_kernel_compile(&source, &module), SLR_COMPILE);
    if (!strstr(slr_error_message(), expected))
        fail_msg("not \"%s\" in\n%s", expected, slr_error_message());
}

// A header that is not there may be left out, one that cannot be read is a mistake. Each of these was a crash.
static void headers_that_cannot_be_read_are_refused_with_the_reason(void **unused)
{
    (void)unused;
    enum { TOO_LARGE = (4 << 20) + 1 };
    char large[600], loop[600], *text = malloc(TOO_LARGE);
    assert_non_null(text);
    memset(text, '\n', TOO_LARGE);
    slri_folder *made;
    assert_int_equal(slri_folder_open_private(&made), SLR_OK);
    const char *folder = slri_folder_path(made);
    snprintf(large, sizeof large, "%s/large.h", folder);
    snprintf(loop, sizeof loop, "%s/loop.h", folder);
    assert_int_equal(slri_file_write_atomic(large, text, TOO_LARGE), SLR_OK);
    assert_int_equal(symlink("loop.h", loop), 0);
    assert_unreadable(folder, "\".\"", ".", " is a folder, not a file");
    assert_unreadable(folder, "</>", "/", " is a folder, not a file");
    assert_unreadable(folder, "<large.h>", large, " is longer than the 4194304 bytes allowed");
    char reason[700];
    snprintf(reason, sizeof reason, "cannot find %s", loop);
    assert_unreadable(folder, "<loop.h>", reason, ": Too many levels of symbolic links");
    assert_int_equal(slri_file_remove(large), SLR_OK);
    assert_int_equal(slri_file_remove(loop), SLR_OK);
    slri_folder_discard(made);
    free(text);
}

static void missing_headers_are_listed_by_their_names(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("#include <it's.h>\n#include \"a.h/b.h\"\n" KERNEL);
    assert_int_equal(module->entries, 1);
    assert_skipped(module, "it's.h", "the header", "not found");
    assert_skipped(module, "a.h/b.h", "the header", "not found");
    slri_module_destroy(module);
}

static void a_macro_that_is_defined_anew_counts_from_there_on(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text(
        "#define BLOCK 8\n"
        "__device__ int h(void) { return BLOCK; }\n"
        "#define BLOCK 16\n" KERNEL "__global__ void wide(float *x) { __shared__ float a[BLOCK]; x[0] = a[0]; }\n");
    assert_int_equal(module->entries, 2);
    assert_int_equal(module->shared[0].type->count, 16);
    assert_skipped(module, "BLOCK", "the earlier definition of the macro", "this line redefines it");
    slri_module_destroy(module);
    assert_rejected("struct m { int a; };\n#define A 1\n#define A 2\n__ring__ void h(const struct m *m) { }\n",
                    SLRI_K_MACRO_REDEFINED, 3, 9, 1);
}

// Each was listed, checked and run as an empty kernel, without a word.
static void kernels_that_the_preprocessor_emptied_are_listed(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("__device__ void work(int *out)\n"
                                              "{\n"
                                              "#if __CUDA_ARCH__ >= 900\n"
                                              "    *out = 1;\n"
                                              "#endif\n"
                                              "}\n"
                                              "__global__ void calls(int *out) { work(out); }\n"
                                              "__global__ void stages(int *out)\n"
                                              "{\n"
                                              "    __shared__ int tile[32];\n"
                                              "    tile[threadIdx.x] = out[threadIdx.x];\n"
                                              "#ifdef NEVER\n"
                                              "    out[1] = 1;\n"
                                              "    out[2] = 2;\n"
                                              "#elif 0\n"
                                              "    out[3] = 3;\n"
                                              "#endif\n"
                                              "}\n"
                                              "__global__ void full(int *out)\n"
                                              "{\n"
                                              "#if __CUDA_ARCH__ >= 800\n"
                                              "    *out = 1;\n"
                                              "#else\n"
                                              "    *out = 2;\n"
                                              "#endif\n"
                                              "}\n"
                                              "__global__ void nothing(int *out) { }\n"
                                              "#if 0\n"
                                              "__global__ void absent(int *out) { }\n"
                                              "#endif\n");
    assert_int_equal(module->entries, 4);
    assert_skipped(module, "calls", "what does the work of the kernel", "#if took line 4 away");
    assert_skipped(module, "stages", "what does the work of the kernel", "lines 13 to 14 away");
    assert_int_equal(module->skippeds, 2);
    assert_int_equal(module->skipped[0].code, SLRI_K_EMPTIED);
    assert_true(module->skipped[0].is_kernel);
    slri_module_destroy(module);
}

// Whether the kernel's one store is the one that `arch` chooses.
static void assert_arch(const struct slri_source *given, const char *expected)
{
    struct slri_module *module;
    struct slri_source source = *given;
    slri_text text = SLRI_TEXT_INIT;
    source.text = "__global__ void k(int *out) { *out = __CUDA_ARCH__; }";
    assert_int_equal(slri_kernel_compile(&source, &module), SLR_OK);
    slri_module_print(module, &text);
    if (!strstr(slri_text_view(&text), expected))
        fail_msg("no \"%s\" in\n%s", expected, slri_text_view(&text));
    slri_text_free(&text);
    slri_module_destroy(module);
}

static void the_architecture_is_the_devices_or_what_a_define_says(void **unused)
{
    (void)unused;
    static const char *const define[] = {"X=1", "__CUDA_ARCH__=700"}, *const other[] = {"__CUDA_ARCH__X"};
    assert_arch(&(struct slri_source){.path = "a.cu"}, "0x320");
    assert_arch(&(struct slri_source){.path = "a.cu", .cuda_arch = 900}, "0x384");
    assert_arch(&(struct slri_source){.path = "a.cu", .cuda_arch = 900, .define = define, .defines = 2}, "0x2bc");
    assert_arch(&(struct slri_source){.path = "a.cu", .cuda_arch = 900, .define = other, .defines = 1}, "0x384");
}

// Each level doubles the orders in which pointers arrive: 426 bytes took a minute.
static void combinations_of_pointers_are_bounded(void **unused)
{
    (void)unused;
    static const char params[] = "int *a, int *b, int *c, int *d, int *e, int *f, int *g, int *h";
    slri_text text = SLRI_TEXT_INIT;
    struct slri_module *module;
    slri_text_printf(&text, "__device__ void f0(%s) { *a = 1; }\n", params);
    for (int i = 1; i < 17; i++)
        slri_text_printf(&text,
                         "__device__ void f%d(%s) { f%d(b, c, d, e, f, g, h, a); f%d(b, a, c, d, e, f, g, h); }\n", i,
                         params, i - 1, i - 1);
    slri_text_printf(&text, "__global__ void k(%s) { f16(a, b, c, d, e, f, g, h); }\n", params);
    assert_int_equal(compile_quietly(slri_text_view(&text), &module), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "SLR-K130"));
    assert_non_null(strstr(slr_error_message(), "more than 2048 combinations of pointers"));
    slri_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_program_of_every_course),
        cmocka_unit_test(reductions_in_c_and_in_cplusplus),
        cmocka_unit_test(image_filters),
        cmocka_unit_test(mistakes_in_kernels_are_still_mistakes),
        cmocka_unit_test(what_is_left_out_says_so_where_it_is_used),
        cmocka_unit_test(an_error_in_one_item_leaves_out_what_needs_it),
        cmocka_unit_test(an_error_that_follows_from_calls_leaves_out_the_kernels_that_make_them),
        cmocka_unit_test(a_handler_or_the_only_kernel_with_such_an_error_refuses_the_file),
        cmocka_unit_test(a_kernel_that_was_left_out_says_why_where_it_is_asked_for),
        cmocka_unit_test(a_handler_behind_a_broken_struct_is_left_out_with_it),
        cmocka_unit_test(declarations_end_where_they_end),
        cmocka_unit_test(a_pointer_to_a_function_keeps_the_type_that_it_returns),
        cmocka_unit_test(specialisations_and_operators_end_with_their_bodies),
        cmocka_unit_test(headers_of_c_are_read_by_their_names_in_cplusplus),
        cmocka_unit_test(broken_files_are_refused_and_left),
        cmocka_unit_test(headers_that_cannot_be_read_are_refused_with_the_reason),
        cmocka_unit_test(missing_headers_are_listed_by_their_names),
        cmocka_unit_test(a_macro_that_is_defined_anew_counts_from_there_on),
        cmocka_unit_test(kernels_that_the_preprocessor_emptied_are_listed),
        cmocka_unit_test(the_architecture_is_the_devices_or_what_a_define_says),
        cmocka_unit_test(combinations_of_pointers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
