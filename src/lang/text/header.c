// SPDX-License-Identifier: Apache-2.0
// The headers that are built in: those of C that need no library, as slipring's types have them (LP64, char signed).
#include "lang/text/header_half.h"
#include "lang/text/preprocess.h"

#include <string.h>

static const struct {
    const char *name, *text;
} headers[] = {
    {"slipring/device.h", ""}, // what these two declare is known to the checker, as are the types of <stdint.h>
    {"stddef.h", ""},
    {"assert.h", ""}, // and assert is
    {"slipring/ring_slice.h", "#pragma once\n"
                              "struct ring_slice { unsigned long long offset, bytes; unsigned owner, turn; };\n"
                              "#define ring_slice_data(buffer, slice) ((buffer) + (slice).offset / sizeof *(buffer))\n"
                              "#define ring_slice_count(buffer, slice) ((slice).bytes / sizeof *(buffer))\n"},
    {"stdbool.h", "#pragma once\n"
                  "#define bool _Bool\n"
                  "#define true 1\n"
                  "#define false 0\n"
                  "#define __bool_true_false_are_defined 1\n"},
    {"stdint.h", "#pragma once\n"
                 "#define INT8_MIN (-128)\n"
                 "#define INT8_MAX 127\n"
                 "#define UINT8_MAX 255\n"
                 "#define INT16_MIN (-32768)\n"
                 "#define INT16_MAX 32767\n"
                 "#define UINT16_MAX 65535\n"
                 "#define INT32_MIN (-2147483647 - 1)\n"
                 "#define INT32_MAX 2147483647\n"
                 "#define UINT32_MAX 4294967295u\n"
                 "#define INT64_MIN (-9223372036854775807l - 1)\n"
                 "#define INT64_MAX 9223372036854775807l\n"
                 "#define UINT64_MAX 18446744073709551615ul\n"
                 "#define SIZE_MAX UINT64_MAX\n"
                 "#define INT64_C(value) value##l\n"
                 "#define UINT64_C(value) value##ul\n"
                 "#define INT32_C(value) value\n"
                 "#define UINT32_C(value) value##u\n"},
    {"limits.h", "#pragma once\n"
                 "#define CHAR_BIT 8\n"
                 "#define SCHAR_MIN (-128)\n"
                 "#define SCHAR_MAX 127\n"
                 "#define UCHAR_MAX 255\n"
                 "#define CHAR_MIN SCHAR_MIN\n"
                 "#define CHAR_MAX SCHAR_MAX\n"
                 "#define SHRT_MIN (-32768)\n"
                 "#define SHRT_MAX 32767\n"
                 "#define USHRT_MAX 65535\n"
                 "#define INT_MIN (-2147483647 - 1)\n"
                 "#define INT_MAX 2147483647\n"
                 "#define UINT_MAX 4294967295u\n"
                 "#define LONG_MIN (-9223372036854775807l - 1)\n"
                 "#define LONG_MAX 9223372036854775807l\n"
                 "#define ULONG_MAX 18446744073709551615ul\n"
                 "#define LLONG_MIN LONG_MIN\n"
                 "#define LLONG_MAX LONG_MAX\n"
                 "#define ULLONG_MAX ULONG_MAX\n"},
    {"float.h", "#pragma once\n"
                "#define FLT_RADIX 2\n"
                "#define FLT_MANT_DIG 24\n"
                "#define FLT_DIG 6\n"
                "#define FLT_MIN_EXP (-125)\n"
                "#define FLT_MAX_EXP 128\n"
                "#define FLT_EPSILON 0x1p-23f\n"
                "#define FLT_MIN 0x1p-126f\n"
                "#define FLT_MAX 0x1.fffffep127f\n"
                "#define DBL_MANT_DIG 53\n"
                "#define DBL_DIG 15\n"
                "#define DBL_MIN_EXP (-1021)\n"
                "#define DBL_MAX_EXP 1024\n"
                "#define DBL_EPSILON 0x1p-52\n"
                "#define DBL_MIN 0x1p-1022\n"
                "#define DBL_MAX 0x1.fffffffffffffp1023\n"},
    {"cuda_fp16.h", SLRI_CUDA_FP16_H},
    {"cuda_bf16.h", SLRI_CUDA_BF16_H},
    {"math_constants.h", "#pragma once\n"
                         "#define CUDART_INF_F __slri_infinity\n"
                         "#define CUDART_NAN_F __slri_nan\n"
                         "#define CUDART_INF ((double)__slri_infinity)\n"
                         "#define CUDART_PI_F 3.141592654f\n"
                         "#define CUDART_PI 3.1415926535897931e+0\n"
                         "#define CUDART_SQRT_TWO_F 1.414213562f\n"
                         "#define CUDART_LN2_F 0.693147180559945f\n"},
    {"math.h", "#pragma once\n" // the functions are known to the checker
               "#define INFINITY __slri_infinity\n"
               "#define HUGE_VALF __slri_infinity\n"
               "#define HUGE_VAL ((double)__slri_infinity)\n"
               "#define NAN __slri_nan\n"
               "#define M_E 2.7182818284590452354\n"
               "#define M_LOG2E 1.4426950408889634074\n"
               "#define M_LOG10E 0.43429448190325182765\n"
               "#define M_LN2 0.69314718055994530942\n"
               "#define M_LN10 2.30258509299404568402\n"
               "#define M_PI 3.14159265358979323846\n"
               "#define M_PI_2 1.57079632679489661923\n"
               "#define M_PI_4 0.78539816339744830962\n"
               "#define M_1_PI 0.31830988618379067154\n"
               "#define M_2_PI 0.63661977236758134308\n"
               "#define M_2_SQRTPI 1.12837916709551257390\n"
               "#define M_SQRT2 1.41421356237309504880\n"
               "#define M_SQRT1_2 0.70710678118654752440\n"},
};

// Headers of the host, of CUDA and of C++: what kernels may use of them is built in, and what else is in them belongs
// to host code, which is left out.
static const char *const of_others[] = {
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_types.h",
    "vector_functions.h",
    "curand.h",
    "cublas_v2.h",
    "cuda_profiler_api.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_timer.h",
    "helper_string.h",
    "helper_math.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
    "errno.h",
    "inttypes.h",
    "ctype.h",
    "signal.h",
    "unistd.h",
    "sys/time.h",
    "sys/types.h",
    "sys/stat.h",
    "omp.h",
    "algorithm",
    "array",
    "atomic",
    "cerrno",
    "chrono",
    "complex",
    "cstdio",
    "cstdlib",
    "cstring",
    "ctime",
    "fstream",
    "functional",
    "iomanip",
    "iostream",
    "limits",
    "map",
    "memory",
    "mutex",
    "new",
    "numeric",
    "random",
    "sstream",
    "stdexcept",
    "string",
    "thread",
    "tuple",
    "type_traits",
    "unordered_map",
    "utility",
    "vector",
};

// What C++ calls the headers of C that are built in.
static const char *const of_c[][2] = {
    {"cassert", "assert.h"},   {"cfloat", "float.h"},   {"climits", "limits.h"}, {"cmath", "math.h"},
    {"cstdbool", "stdbool.h"}, {"cstddef", "stddef.h"}, {"cstdint", "stdint.h"},
};

const char *slri_builtin_header(const char *name)
{
    for (size_t i = 0; i < sizeof of_c / sizeof of_c[0]; i++)
        if (strcmp(of_c[i][0], name) == 0)
            name = of_c[i][1];
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        if (strcmp(of_others[i], name) == 0)
            return "";
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (strcmp(headers[i].name, name) == 0)
            return headers[i].text;
    return NULL;
}
