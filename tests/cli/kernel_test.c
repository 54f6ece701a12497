// SPDX-License-Identifier: Apache-2.0
// `slipring kernel` as its users see it: the built program, in a shell, with kernels of this file.
#include "tests/cli/shell.h"

static const char mixed_cu[] = "#include <vector>\n"
                               "struct point { float x, y; };\n"
                               "__global__ void __launch_bounds__(128) sum(const float *in, struct point *out, int n)\n"
                               "{\n"
                               "    __shared__ float part[128];\n"
                               "    part[threadIdx.x] = in[threadIdx.x] * (float)n;\n"
                               "    __syncthreads();\n"
                               "    out[0].x = part[0];\n"
                               "}\n"
                               "template <class T> __global__ void copy(const T *from, T *to) { *to = *from; }\n"
                               "int main() { return 0; }\n";

static const char axpy_cu[] =
    "__global__ void axpy(float a, const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n"
    "__global__ void torn(unsigned long long *out)\n"
    "{\n"
    "    out[threadIdx.x] = ~0ull;\n"
    "    if (out[0] > threadIdx.x && threadIdx.x < 3)\n"
    "        __syncthreads();\n"
    "    else\n"
    "        __syncthreads();\n"
    "    extern __shared__ int room[];\n"
    "    room[threadIdx.x] = 1;\n"
    "}\n"
    "__global__ void kinds(bool *b, signed char *c, const unsigned *u, double *d, long long w)\n"
    "{\n"
    "    d[0] = (double)c[2] + (double)u[1] + (double)w;\n"
    "    b[0] = true;\n"
    "}\n";

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("mixed.cu", mixed_cu);
    write_file("axpy.cu", axpy_cu);
    write_file("broken.cu", "__global__ void broken(int *x) { x[0] = y; }\n");
    write_file("x.txt", "1, 2.5\n-3 4\n");
    return 0;
}

static void list_shows_kernels_their_use_of_a_block_and_what_was_left_out(void **state)
{
    (void)state;
    says("\"$S\" kernel list mixed.cu", 0,
         "mixed.cu:3: kernel sum(const float *in, struct point *out, int n)\n"
         "    512 bytes of shared memory, barriers, at most 128 threads per block\n");
    says("\"$S\" kernel list mixed.cu", 0, "mixed.cu:11: skipped: the host function 'main': ");
    says("\"$S\" kernel list mixed.cu", 0, "mixed.cu:10: skipped: the kernel template 'copy': ");
    says("\"$S\" kernel list axpy.cu", 0, "    extern shared memory, barriers\n");
    says("\"$S\" kernel list mixed.cu axpy.cu --json", 0, "\"type\": \"struct point *\"");
    says("\"$S\" kernel list mixed.cu --json", 0, "\"left_out\": [");
}

static void headers_and_macros_are_given_as_to_a_compiler(void **state)
{
    (void)state;
    static const char *const verbs[] = {"list", "emit", "explain", "check"};
    static const char *const given[] = {"-I inc -D SCALE=2", "-Iinc -DSCALE=2", "--include inc --define SCALE=2",
                                        "-I nowhere -Iinc -DSCALE=2 -DOTHER"};
    char command[256];
    shell("mkdir -p inc && echo 'static __device__ int twice(int x) { return SCALE * x; }' >inc/twice.h", &(int){0});
    write_file("needs.cu",
               "#include \"twice.h\"\n"
               "__global__ void grow(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = twice(x[i]); }\n"
               "__global__ void plain(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
            snprintf(command, sizeof command, "\"$S\" kernel %s needs.cu %s --require-all %s 2>&1", verbs[i], given[k],
                     strcmp(verbs[i], "emit") == 0 ? "--lang cuda" : "");
            says(command, 0, "grow");
        }
        snprintf(command, sizeof command, "\"$S\" kernel %s needs.cu --require-all %s 2>&1 >/dev/null", verbs[i],
                 strcmp(verbs[i], "emit") == 0 ? "--lang cuda" : "");
        says(command, 1, "needs.cu: the kernel 'grow' in line 2 is skipped: line 2: SLR-K");
        says(command, 1, "(perhaps of a header that was not found: 'twice.h'; -I names its folder)\n");
    }
    says("\"$S\" kernel check needs.cu", 0, "not checked: the kernel 'grow'"); // without the option: as it was
    says("\"$S\" kernel run needs.cu grow --grid 1 --block 4 --arg 'x=[4]:iota' --print x -Iinc -DSCALE=3", 0,
         "x: 0 3 6 9\n");
    says("\"$S\" kernel list needs.cu -I 2>&1", 2, "'-I' needs a value");
}

static void the_message_for_an_unknown_option_names_that_option(void **state)
{
    (void)state;
    static const char *const verbs[] = {"kernel check axpy.cu", "kernel list axpy.cu", "kernel run axpy.cu axpy",
                                        "run axpy.cu"};
    static const char *const wrong[][2] = {{"-Xfoo", "'-X'"},          {"--json -Xfoo", "'-X'"},
                                           {"--bogus", "'--bogus'"},   {"--bogus=3", "'--bogus=3'"},
                                           {"--help=x", "'--help=x'"}, {"-X --json", "'-X'"}};
    char command[256], message[64];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            snprintf(command, sizeof command, "\"$S\" %s %s 2>&1", verbs[i], wrong[k][0]);
            snprintf(message, sizeof message, "no option %s", wrong[k][1]);
            says(command, 2, message);
        }
    }
}

static void a_file_that_fails_does_not_hide_the_others(void **state)
{
    (void)state;
    says("\"$S\" kernel list broken.cu absent.cu axpy.cu 2>/dev/null", 1, "axpy.cu:1: kernel axpy(float a, ");
    says("\"$S\" kernel list broken.cu 2>&1", 1, "broken.cu:1:");
    says("\"$S\" kernel list absent.cu 2>&1", 1, "absent.cu");
    says("\"$S\" kernel list broken.cu --json 2>/dev/null", 1, "\"error\": \"broken.cu:1:");
}

#define AXPY "\"$S\" kernel run axpy.cu axpy --grid 2 --block 4 --arg a=2 "

static void run_prints_what_the_kernel_wrote(void **state)
{
    (void)state;
    gives(AXPY "--arg 'x=float[8]:iota' --arg 'y=[8]:zero' --arg n=8 --print y --print x:2", 0,
          "y: 0 2 4 6 8 10 12 14\nx: 0 1\n");
    gives(AXPY "--arg x=x.txt --arg 'y=float[4]' --arg n=4 --print y", 0, "y: 2 5 -6 8\n");
    gives(AXPY "--arg 'x=[4]:x.txt' --arg 'y=[4]:iota' --arg n=3 --print y", 0, "y: 2 6 -4 3\n");
    says(AXPY "--arg 'x=[8]:random' --arg 'y=[8]:iota' --arg n=0 --print y:2 --json | tr -d ' \\n'", 0,
         "\"ok\":true,\"buffers\":[{\"name\":\"y\",\"type\":\"float*\",\"elements\":8,\"values\":[0.0,1.0]}]}");
    gives("\"$S\" kernel run axpy.cu kinds --grid 1 --block 1 --arg 'b=[2]' --arg 'c=[300]:iota' --arg "
          "'u=unsigned[2]:iota'"
          " --arg 'd=double[1]' --arg w=-7 --print d --print b --print c:2",
          0, "d: -4\nb: 1 0\nc: 0 1\n");
}

static void random_numbers_are_the_same_each_time(void **state)
{
    (void)state;
    gives(AXPY "--arg 'x=[8]:random' --arg 'y=[8]:random' --arg n=8 --print y >1; " AXPY
               "--arg 'x=[8]:random' --arg 'y=[8]:random' --arg n=8 --print y | cmp - 1",
          0, "");
}

static void a_fault_is_shown_with_line_block_and_thread(void **state)
{
    (void)state;
    says(AXPY "--arg 'x=[7]:iota' --arg 'y=[8]' --arg n=8 --print y 2>&1", 1, "axpy.cu:5");
    says(AXPY "--arg 'x=[7]:iota' --arg 'y=[8]' --arg n=8 2>&1", 1, "block (1, 0, 0)");
    says(AXPY "--arg 'x=[7]:iota' --arg 'y=[8]' --arg n=8 2>&1", 1, "thread (3, 0, 0)");
    says(AXPY "--arg 'x=[7]:iota' --arg 'y=[8]' --arg n=8 --json 2>/dev/null", 1, "\"ok\": false");
    says("\"$S\" kernel run axpy.cu torn --grid 1 --block 4 --shared 16 --arg 'out=[4]' 2>&1", 1, "barrier");
}

static void check_finds_faults_and_says_what_it_ran(void **state)
{
    (void)state;
    says("\"$S\" kernel check axpy.cu axpy", 0,
         "axpy.cu:1: kernel axpy: nothing found\n  grid 2, block 256: a = 1.5; ");
    says("\"$S\" kernel check axpy.cu axpy", 0, "x = float[507], random (n)");
    says("\"$S\" kernel check axpy.cu axpy --grid 2 --block 4 --arg n=8 --arg 'x=[7]:iota'", 1,
         "axpy.cu:5:22: error SLR-C001: thread 3 of block 1 reads x[7], and x has 7 elements\n"
         "        y[i] = a * x[i] + y[i];\n"
         "                     ^\n");
    write_file("host.cu",
               "__global__ void fill(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = n; }\n"
               "int main() { int n = 100; float *x; cudaMalloc(&x, n * sizeof(float));\n"
               "    fill<<<n / 32 + 1, 32>>>(x, n); }\n"
               "__global__ void over(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) "
               "x[i] = n; }\n");
    says("\"$S\" kernel check host.cu fill", 1,
         "error SLR-C001: thread 4 of block 3 writes x[100], and x has 100 elements\n");
    says("\"$S\" kernel check host.cu fill", 1,
         "  grid 4, block 32 (from line 3: fill<<<n / 32 + 1, 32>>>(x, n)): x = float[100]");
    says("\"$S\" kernel check host.cu fill --json | tr -d ' \\n'", 0, "\"from\":\"line3:fill<<<n/32+1,32>>>(x,n)\"");
    says("\"$S\" kernel check host.cu over", 0, "warning SLR-C001: ");
    says("\"$S\" kernel check host.cu over --strict", 1,
         "generated values: give --arg x=..., --arg n=..., --block ..., --grid ...)\n");
    says("\"$S\" kernel check host.cu over --json | tr -d ' \\n'", 0,
         "\"give\":\"--argx=...,--argn=...,--block...,--grid...\"");
    says("\"$S\" kernel check axpy.cu axpy --arg y=none --json | tr -d ' \\n'", 0, "\"code\":\"SLR-C022\"");
    says("\"$S\" kernel check axpy.cu torn", 1, "error SLR-C030: ");
    says("\"$S\" kernel check mixed.cu", 0, "note SLR-C012: ");
    says("\"$S\" kernel check mixed.cu", 0, "mixed.cu:11: not checked: the host function 'main': ");
    says("\"$S\" kernel check broken.cu axpy.cu", 1, "kernel axpy: nothing found");
    says("\"$S\" kernel check broken.cu --json | tr -d ' \\n'", 0, "\"compile_errors\":[{\"code\":\"SLR-K050\"");
    says("\"$S\" kernel check broken.cu --sarif s; grep -c SLR-K050 s", 0, "2\n");
    says("\"$S\" kernel check axpy.cu --arg n=8 2>&1", 2, "--arg needs one kernel");
    says("\"$S\" kernel check axpy.cu xpy 2>&1", 2, "no kernel 'xpy' in axpy.cu");
    says("\"$S\" kernel check axpy.cu axpy --arg n=1.5 2>&1", 2, "--arg n: '1.5' is not");
    says("\"$S\" kernel check 2>&1", 2, "FILE.cu is missing");
    says("\"$S\" kernel check somewhere 2>&1", 2, "FILE.cu is missing: 'somewhere' is taken for a kernel's NAME");
    says("mkdir -p sources; \"$S\" kernel check sources 2>&1", 2,
         "'sources' is a folder: give its files, such as sources/*.cu");
    says("\"$S\" kernel check ./sources/ axpy 2>&1", 2,
         "'./sources/' is a folder: give its files, such as ./sources/*.cu");
    says("\"$S\" kernel emit sources 2>&1", 1, "slipring kernel emit: sources is a folder, not a file\n"); // named once
    says("\"$S\" kernel check axpy.cu --ring axpy 2>&1", 2, "no option '--ring'; the handler's NAME follows FILE.cu\n");
    says("\"$S\" kernel fuse --ops '' 2>&1", 2, "an operation is missing: add");
    says("\"$S\" kernel check absent.cu 2>&1", 1, "absent.cu");
}

// It is wrong in every launch, so that leaving it out must not hide it.
static void check_finds_a_barrier_that_some_threads_never_reach_beside_other_kernels(void **state)
{
    (void)state;
    write_file("parted.cu", "__global__ void fine(float *x) { x[threadIdx.x] = 1; }\n"
                            "__global__ void bad(float *x) {\n"
                            "    if (threadIdx.x < 16) __syncthreads();\n"
                            "    x[threadIdx.x] = 1;\n}\n");
    says("\"$S\" kernel check parted.cu", 1,
         "parted.cu:2:1: error SLR-K123: the kernel 'bad', line 3: only some threads of a block reach this barrier");
    says("\"$S\" kernel check parted.cu", 1, "kernel fine: 0 errors");
    says("\"$S\" kernel check parted.cu bad", 1, "error SLR-K123");
    says("\"$S\" kernel check parted.cu fine", 0, "kernel fine: 0 errors");
    says("\"$S\" kernel check parted.cu --json | tr -d ' \\n'", 0,
         "\"compile_errors\":[{\"code\":\"SLR-K123\",\"level\":\"error\",");
}

static void a_limit_of_the_check_that_is_none_is_refused_with_what_is_valid(void **state)
{
    static const char *const wrong[] = {"0", "-1", "1e9", "many", "''"};
    static const char *const limits[][2] = {{"steps", "200000000, for a handler 16000000"},
                                            {"fuel", "1000000, for a handler 100000"},
                                            {"memory", "1073741824"},
                                            {"messages", "600"}};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            char command[96], said[160];
            snprintf(command, sizeof command, "\"$S\" kernel check axpy.cu --%s %s 2>&1", limits[i][0], wrong[k]);
            snprintf(said, sizeof said, "is not a whole number from 1 to 18446744073709551615; the default is %s\n",
                     limits[i][1]);
            says(command, 2, said);
        }
    }
    says("\"$S\" kernel check axpy.cu axpy --steps 5", 0, "raise --fuel; if the launch is only long, --steps\n");
}

static void what_is_wrong_with_an_argument_is_said(void **state)
{
    (void)state;
    says("\"$S\" kernel 2>&1", 2, "check, list, emit, explain, fuse, suggest, tile, time or run");
    says("\"$S\" kernel dance 2>&1", 2, "no verb 'dance'");
    says("\"$S\" kernel list 2>&1", 2, "FILE.cu is missing");
    says("\"$S\" kernel run axpy.cu 2>&1", 2, "NAME is missing");
    says("\"$S\" kernel run axpy.cu axpy --grid 0 --block 4 2>&1", 2, "--grid: '0' is not X");
    says("\"$S\" kernel run axpy.cu axpy --grid 1,2,3,4 --block 4 2>&1", 2, "--grid: '1,2,3,4' is not X");
    says("\"$S\" kernel run axpy.cu axpy --grid 1 2>&1", 2, "--block is missing");
    says("\"$S\" kernel run axpy.cu xpy --grid 1 --block 1 2>&1", 2, "it has: axpy, torn, kinds");
    says(AXPY "2>&1", 2, "needs --arg 'x=float[COUNT]:zero'");
    says(AXPY "2>&1", 2, "needs --arg n=VALUE");
    says(AXPY "--arg z=1 2>&1", 2, "no parameter with that name");
    says(AXPY "--arg n 2>&1", 2, "--arg 'n': NAME=VALUE");
    says(AXPY "--arg 'x=int[8]' --arg 'y=[8]' --arg n=1 2>&1", 2, "--arg x: its elements are float, not int");
    says(AXPY "--arg 'x=[8]:seven' --arg 'y=[8]' --arg n=1 2>&1", 1, "cannot read 'seven'");
    says(AXPY "--arg 'x=[0]' --arg 'y=[8]' --arg n=1 2>&1", 2, "--arg x: '0' is not a count");
    says(AXPY "--arg 'x=[3]:x.txt' --arg 'y=[8]' --arg n=1 2>&1", 2, "'x.txt' has 4 elements, not 3");
    says(AXPY "--arg 'x=[8]' --arg 'y=[8]' --arg n=1.5 2>&1", 2, "--arg n: '1.5' is not");
    says(AXPY "--arg 'x=[8]' --arg 'y=[8]' --arg n=1 --print y:9 2>&1", 2, "not a count from 1 to 8");
    says(AXPY "--arg 'x=[8]' --arg 'y=[8]' --arg n=1 --print n 2>&1", 2, "no buffer with that name");
    says(AXPY "--arg 'x=[8]' --arg 'y=[8]' --arg n=1 --block 2000 2>&1", 2, "2000");
}

static void emit_prints_c_and_cuda_with_the_users_lines(void **state)
{
    (void)state;
    gives("\"$S\" kernel emit axpy.cu axpy | grep -c slrk_blocks", 0, "1\n");
    says("\"$S\" kernel emit axpy.cu axpy --block 64,2 | grep BLOCK_Y", 0, "SLRI_BLOCK_Y 2");
    says("\"$S\" kernel emit axpy.cu --lang cuda | grep kinds", 0, "extern \"C\" __global__ void kinds(bool *b, ");
    says("\"$S\" kernel emit axpy.cu axpy --lang cuda | grep '#line'", 0, "#line 3 \"axpy.cu\"");
    gives("\"$S\" kernel emit axpy.cu axpy --lang cuda | grep -c __global__", 0, "1\n");
    says("\"$S\" kernel emit axpy.cu axpy --lang opencl --block 64 | grep axpy", 0,
         "(64, 1, 1))) void slrk_axpy(float a, ");
    says("\"$S\" kernel emit axpy.cu axpy --lang wgsl --block 64 | grep axpy", 0, "fn slrk_axpy(");
    says("\"$S\" kernel emit axpy.cu --lang wgsl 2>&1", 2, "WGSL needs the name of one kernel");
    says("\"$S\" kernel emit axpy.cu axpy --lang msl --block 64 | grep axpy", 0,
         "[[kernel, max_total_threads_per_threadgroup(64)]] void slrk_axpy(constant ");
    says("\"$S\" kernel emit axpy.cu axpy --lang msl | grep '#line'", 0, "#line 3 \"axpy.cu\"");
    says("\"$S\" kernel emit axpy.cu --lang msl 2>&1", 2, "MSL needs the name of one kernel");
    says("\"$S\" kernel emit axpy.cu axpy --lang cuda --json | grep language", 0, "\"language\": \"cuda\"");
    says("\"$S\" kernel emit axpy.cu axpy --lang spirv | grep EntryPoint", 0, "\"axpy\"");
    gives("\"$S\" kernel emit axpy.cu axpy --lang spirv --binary | od -An -tx4 -N4", 0, " 07230203\n");
}

static void explain_counts_and_gives_occupancy(void **state)
{
    (void)state;
    says("\"$S\" kernel explain axpy.cu axpy", 0, "    a thread: 2 flops, 0 math calls, ");
    says("\"$S\" kernel explain axpy.cu axpy", 0, "2 loads (8 B), 1 stores (4 B)");
    says("\"$S\" kernel explain axpy.cu", 0, "kernel kinds(");
    says("\"$S\" kernel explain axpy.cu axpy --registers 32 --block 256 --cc 86", 0,
         "6 blocks, 48 of 48 warps, 100 % (limited by warps)");
    says("\"$S\" kernel explain axpy.cu axpy --registers 33 --block 256 --cc 80", 0, "6 blocks, 48 of 64 warps, 75 %");
    says("\"$S\" kernel explain axpy.cu axpy --registers 33 --block 256 --cc 8.0", 0, "6 blocks, 48 of 64 warps, 75 %");
    says("\"$S\" kernel explain axpy.cu axpy --registers 33 --block 256 --cc 8.x 2>&1", 2, "such as 90 or 9.0");
    says("\"$S\" kernel explain axpy.cu axpy --registers 33 --block 256 --cc 8.00 2>&1", 2, "such as 90 or 9.0");
    says("\"$S\" kernel explain axpy.cu axpy --registers 33 --block 256 --cc 80", 0,
         "best block for occupancy: 768 threads, 2 blocks, 75 %");
    says("\"$S\" kernel explain axpy.cu axpy", 0,
         "launched in one dimension, SLR_1D takes blocks of 64 below 512 threads, 128 below 1,024, 256 up to 100,000, "
         "512 above (size table)");
    says("\"$S\" kernel explain axpy.cu axpy --registers 65 --block 1024 --cc 90", 0, "it cannot be launched");
    says("\"$S\" kernel explain axpy.cu axpy --registers 32 --block 256 --cc 80 --json | tr -d ' \\n'", 0,
         "\"occupancy\":{\"blocks\":8,");
    says("\"$S\" kernel explain axpy.cu axpy --registers 32 --block 256 --cc 72 2>&1", 2, "7.2 is not known");
    says("\"$S\" kernel explain axpy.cu axpy --block 64 2>&1", 2, "--cc is missing");
    says("SLIPRING_NVRTC_LIB=/nowhere \"$S\" kernel explain axpy.cu axpy --cc 80", 0,
         "    compute capability 8.0: not compiled, so registers, occupancy and best block are not known: cannot load "
         "/nowhere");
    says("SLIPRING_NVRTC_LIB=/nowhere \"$S\" kernel explain axpy.cu axpy --cc 80 --json", 0,
         "\"no_resources\": \"cannot load /nowhere");
    says("SLIPRING_NVRTC_LIB=/nowhere \"$S\" kernel explain axpy.cu axpy --cc 80 --registers 32", 0,
         "256 threads, 32 registers: 8 blocks");
    says("SLIPRING_NVRTC_LIB=/nowhere \"$S\" kernel explain axpy.cu axpy --cc 72 2>&1", 2, "7.2 is not known");
    says("\"$S\" kernel explain axpy.cu none 2>&1", 2, "no kernel and no handler 'none'");
    says("\"$S\" kernel explain broken.cu 2>&1", 1, "broken.cu:1:");
}

static void suggest_says_the_block_and_why(void **state)
{
    (void)state;
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1000000 --cc 90 --registers 168", 0, "block: 384, 12 warps");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1000000 --cc 90 --registers 168", 0, "a block of 512: 0 %");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1023 --device cpu", 0, "why: size table: 128 below 1,024");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1023 --device cpu --json | tr -d ' \\n'", 0,
         "\"block\":128,\"grid\":8,\"warps\":4,\"rule\":\"sizetable\"");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 9 --cc 90 --registers 32 --json | tr -d ' \\n'", 0,
         "\"by_occupancy\":1024");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 9 --cc 90 --measure 2>&1", 2,
         "--measure needs a device that is here");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 9 --device cpu --measure", 0, "block: 64, 2 warps");
    write_file("square.cu", "#pragma slipring block square = 16, 8\n"
                            "__global__ void square(float *x) { x[blockIdx.x * 16 + threadIdx.x] = threadIdx.y; }\n");
    says("\"$S\" kernel suggest square.cu square --elements 1600 --device cpu", 0, "block: 16x8, 4 warps; grid: 100\n");
    says("\"$S\" kernel suggest square.cu square --elements 1600 --device cpu --json | tr -d ' \\n'", 0,
         "\"block_sides\":[16,8,1],\"grid_sides\":[100,1,1]");
    says("\"$S\" kernel explain square.cu", 0, "SLR_1D takes blocks of 16x8 below 512 threads, 16x8 below 1,024,");
    says("\"$S\" kernel suggest axpy.cu axpy 2>&1", 2, "--elements is missing, or 0");
    says("\"$S\" kernel suggest axpy.cu --elements 1 2>&1", 2, "NAME is missing");
    says("\"$S\" kernel suggest axpy.cu axpi --elements 1 --device cpu 2>&1", 2, "did you mean 'axpy'?");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1 --registers 3 2>&1", 2, "--cc is missing");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1 --registers 3 --cc 72 2>&1", 2, "7.2 is not known");
    says("\"$S\" kernel suggest axpy.cu axpy --elements 1 --cc 90 --device cpu 2>&1", 2, "give one of them");
    says("\"$S\" kernel suggest broken.cu k --elements 1 --device cpu 2>&1", 1, "broken.cu:1:");
}

static void tile_says_how_a_problem_is_cut_and_why(void **state)
{
    (void)state;
    says("\"$S\" kernel tile --product 1,1 2>&1", 2, "--product: '1,1' is not M,N,K");
    says("\"$S\" kernel tile --product 4,4,4 --cc 90 --units 132", 0, "tile: 4 rows, 4 columns, sums in parts of 4");
    says("\"$S\" kernel tile --product 4,4,4 --cc 90 --units 132", 0,
         "-D TILE_M=4 -D TILE_N=4 -D TILE_K=4 -D THREADS=16");
    says("\"$S\" kernel tile axpy.cu axpy --size 1000000 --device cpu", 0, "block: 512,1,1; grid: 1954,1,1;");
    says("\"$S\" kernel tile --size 64,64,64 --device cpu --json | tr -d ' \\n'", 0,
         "\"size\":[64,64,64],\"tile\":{\"m\":");
    says("\"$S\" kernel tile --size 4,4 --device cpu --json | tr -d ' \\n'", 0, "\"block_threads\":1024,");
    says("\"$S\" kernel tile --size 0 2>&1", 2, "--size: '0' is not X");
    says("\"$S\" kernel tile 2>&1", 2, "give one of --size and --product");
    says("\"$S\" kernel tile --size 4 --product 1,2,3 2>&1", 2, "give one of --size and --product");
    says("\"$S\" kernel tile axpy.cu --size 4 2>&1", 2, "give FILE.cu and NAME, or neither");
    says("\"$S\" kernel tile --size 4 --cc 90 2>&1", 2, "--cc and --units: give both");
    says("\"$S\" kernel tile --size 4 --cc 72 --units 1 2>&1", 2, "7.2 is not known");
    says("\"$S\" kernel tile --size 4 --bytes 17 --device cpu 2>&1", 2, "element_bytes 17");
    says("\"$S\" kernel tile axpy.cu axpi --size 4 --device cpu 2>&1", 2, "did you mean 'axpy'?");
    says("\"$S\" kernel tile --size 4,4,4 --radius 1000 --cc 90 --units 1 2>&1", 3, "no tile fits");
}

static void emit_says_what_is_wrong(void **state)
{
    (void)state;
    says("\"$S\" kernel emit 2>&1", 2, "FILE.cu is missing");
    says("\"$S\" kernel emit axpy.cu 2>&1", 2, "C needs the name of one kernel; there are 3");
    says("\"$S\" kernel emit axpy.cu none --lang cuda 2>&1", 2, "no kernel and no handler 'none'");
    says("\"$S\" kernel emit axpy.cu axpy --lang rust 2>&1", 2, "unknown language 'rust'");
    says("\"$S\" kernel emit axpy.cu --lang spirv 2>&1", 2, "SPIR-V needs the name of one kernel; there are 3");
    says("\"$S\" kernel emit axpy.cu axpy --binary 2>&1", 2, "--binary is for --lang spirv");
    says("\"$S\" kernel emit axpy.cu axpy --lang spirv --binary --json 2>&1", 2, "--binary is for --lang spirv");
    says("\"$S\" kernel emit axpy.cu axpy --block 0 2>&1", 2, "--block: '0' is not X");
    says("\"$S\" kernel emit axpy.cu axpy --block 2000 2>&1", 2, "2000");
    says("\"$S\" kernel emit broken.cu 2>&1", 1, "broken.cu:1:");
}

#define CHAIN                                                                                                          \
    "__global__ void twice(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"          \
    " if (i < n) y[i] = 2 * x[i]; }\n"                                                                                 \
    "__global__ void less(const float *y, float *z, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"           \
    " if (i < n) z[i] = y[i] - 1; }\n"                                                                                 \
    "__global__ void next(const float *y, float *z, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"           \
    " if (i < n) z[i] = y[(i + 1) % n]; }\n"

static void fuse_prints_one_kernel_that_does_what_two_do(void **state)
{
    (void)state;
    write_file("chain.cu", CHAIN);
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less", 0,
         "__global__ void twice_less(const float *__restrict__ x, int n, float *__restrict__ z)\n");
    shell("\"$S\" kernel fuse chain.cu:twice chain.cu:less --keep y --name both -o both.cu", &(int){0});
    says("\"$S\" kernel check both.cu", 0, "both.cu:4: kernel both: nothing found");
    says("\"$S\" kernel run both.cu both --grid 1 --block 4 --arg 'x=[4]:iota' --arg 'y=[4]' --arg 'z=[4]' --arg n=4 "
         "--print y --print z",
         0, "y: 0 2 4 6\nz: -1 1 3 5\n");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:twice --join 0.y=1.x --json | tr -d ' \\n'", 0,
         "\"inputs\":1,\"outputs\":1,\"launches\":1,\"launches_apart\":2,\"bytes_an_element\":8,\"bytes_apart\":16,"
         "\"bound\":2.0,");
}

// The first only shows once all is translated.
static void fuse_needs_only_the_kernels_that_it_fuses(void **state)
{
    (void)state;
    static const char *const others[] = {
        "__global__ void other(int *x) { if (threadIdx.x < 16) __syncthreads(); x[0] = 1; }\n",
        "__global__ void other(int *x) { ring_reply(x); }\n",
        "__global__ void other(int *x) { x[0] = missing; }\n",
        "template <typename T> __global__ void other(T *x) { x[0] = 1; }\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", CHAIN, others[i]);
        write_file("others.cu", text);
        says("\"$S\" kernel fuse others.cu:twice others.cu:less", 0, "__global__ void twice_less(");
        says("\"$S\" kernel fuse others.cu:twice others.cu:other 2>&1", 2, "the kernel");
        says("\"$S\" kernel fuse others.cu:twice others.cu:less --require-all 2>&1", 1, "'other' in line 4 is skipped");
    }
}

static void fuse_makes_a_kernel_of_operations(void **state)
{
    (void)state;
    shell("\"$S\" kernel fuse --ops add,multiply,relu --name chain -o ops.cu", &(int){0});
    says("\"$S\" kernel run ops.cu chain --grid 1 --block 2 --arg 'in0=[2]:iota' --arg 'in1=[2]:iota' "
         "--arg 'in2=[2]:iota' --arg 'out=[2]' --arg n=2 --print out",
         0, "out: 0 2\n");
    says("\"$S\" kernel fuse --ops add,sum --dtype int --json | tr -d ' \\n'", 0, "\"inputs\":2,\"outputs\":1,");
    says("\"$S\" kernel fuse --ops add,sum,add 2>&1", 1, "step 2 (add) comes after sum");
    says("\"$S\" kernel fuse --ops add,mul 2>&1", 2, "no operation 'mul'");
    says("\"$S\" kernel fuse --ops sqrt --dtype int 2>&1", 2, "needs float or double, but gets int");
    says("\"$S\" kernel fuse --ops add,relu --dtype int 2>&1", 2, "step 1 (relu) needs float or double, but gets int");
    says("\"$S\" kernel fuse --ops sum,tanh 2>&1", 1, "step 1 (tanh) comes after sum");
    says("\"$S\" kernel fuse --ops add --dtype half 2>&1", 2, "no type 'half'");
    says("\"$S\" kernel fuse --ops add chain.cu:twice 2>&1", 2, "--ops takes no kernels");
}

static void fuse_says_why_not_and_what_is_wrong(void **state)
{
    (void)state;
    says("\"$S\" kernel fuse --ops add --keep q 2>&1", 2, "--keep is for kernels of files, not for --ops");
    says("\"$S\" kernel fuse --ops add --join 0.a=1.b 2>&1", 2, "--join is for kernels of files, not for --ops");
    write_file("chain.cu", CHAIN);
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:next 2>&1", 1,
         "not fused: next accesses elements of 'y' that are not its thread's own");
    says("\"$S\" kernel fuse chain.cu:twice 2>&1", 2, "at least two kernels are needed");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:none 2>&1", 2, "no kernel 'none'");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less --keep q 2>&1", 2, "no part has a buffer 'q'");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less --join twice.y=more.y 2>&1", 2,
         "--join: 'twice.y=more.y' is not");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less --join twice.q=less.y 2>&1", 2, "no parameter 'q'");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less -o chain.cu 2>&1", 2, "is also an input");
    says("\"$S\" kernel fuse chain.cu:twice chain.cu:less -o /nowhere/x.cu 2>&1", 1, "cannot write '/nowhere/x.cu'");
    says("\"$S\" kernel fuse broken.cu chain.cu:less 2>&1", 1, "broken.cu:1:");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_shows_kernels_their_use_of_a_block_and_what_was_left_out),
        cmocka_unit_test(headers_and_macros_are_given_as_to_a_compiler),
        cmocka_unit_test(the_message_for_an_unknown_option_names_that_option),
        cmocka_unit_test(a_file_that_fails_does_not_hide_the_others),
        cmocka_unit_test(emit_prints_c_and_cuda_with_the_users_lines),
        cmocka_unit_test(emit_says_what_is_wrong),
        cmocka_unit_test(explain_counts_and_gives_occupancy),
        cmocka_unit_test(suggest_says_the_block_and_why),
        cmocka_unit_test(tile_says_how_a_problem_is_cut_and_why),
        cmocka_unit_test(fuse_prints_one_kernel_that_does_what_two_do),
        cmocka_unit_test(fuse_needs_only_the_kernels_that_it_fuses),
        cmocka_unit_test(fuse_makes_a_kernel_of_operations),
        cmocka_unit_test(fuse_says_why_not_and_what_is_wrong),
        cmocka_unit_test(run_prints_what_the_kernel_wrote),
        cmocka_unit_test(random_numbers_are_the_same_each_time),
        cmocka_unit_test(a_fault_is_shown_with_line_block_and_thread),
        cmocka_unit_test(check_finds_faults_and_says_what_it_ran),
        cmocka_unit_test(check_finds_a_barrier_that_some_threads_never_reach_beside_other_kernels),
        cmocka_unit_test(a_limit_of_the_check_that_is_none_is_refused_with_what_is_valid),
        cmocka_unit_test(what_is_wrong_with_an_argument_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
