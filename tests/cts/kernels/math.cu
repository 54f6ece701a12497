// SPDX-License-Identifier: Apache-2.0
// The math library. On cpu the same bits as interpreted; elsewhere within the bound of the line: the larger of what CUDA
// (C++ Programming Guide, mathematical functions) and OpenCL (C specification, relative error as ULP) state, and one more
// for the error of what it is compared with. Of lgammaf near its zeros CUDA states none: `abs` does.

//: absolute_and_copysign block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[1922]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        out[2 * i] = fabsf(a[i]);
        out[2 * i + 1] = copysignf(a[i], b[i]);
    }
}

//: square_roots_are_rounded_once block=64 a:f32[64]=wide out:f32[64]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = sqrtf(fabsf(a[threadIdx.x]));
}

//: rsqrt ulp=3 block=64 a:f32[64]=wide out:f32[64]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = rsqrtf(fabsf(a[threadIdx.x]));
}

//: rounding_to_integers block=64 a:f32[64]=edges out:f32[320]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    out[5 * i] = floorf(a[i]);
    out[5 * i + 1] = ceilf(a[i]);
    out[5 * i + 2] = truncf(a[i]);
    out[5 * i + 3] = rintf(a[i]);
    out[5 * i + 4] = roundf(a[i]);
}

//: halfway_cases a:f32[4]=2 out:f32[4] : out==2,3,-2,-3
#include <math.h>
__global__ void k(const float *a, float *out)
{
    float x = a[0] + 0.5f;
    out[0] = rintf(x);
    out[1] = roundf(x);
    out[2] = rintf(-x);
    out[3] = roundf(-x);
}

//: minimum_and_maximum_pass_over_nan ulp=0 block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[1922]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        out[2 * i] = fminf(a[i], b[i]);
        out[2 * i + 1] = fmaxf(a[i], b[i]);
    }
}

//: exponentials ulp=4 block=64 a:f32[64]=random edge:f32[64]=edges out:f32[384]
#include <math.h>
__global__ void k(const float *a, const float *edge, float *out)
{
    int i = threadIdx.x;
    float x = a[i] * 60;
    out[6 * i] = expf(x);
    out[6 * i + 1] = exp2f(x);
    out[6 * i + 2] = exp10f(a[i] * 30);
    out[6 * i + 3] = expm1f(a[i]);
    out[6 * i + 4] = expf(edge[i]);
    out[6 * i + 5] = exp2f(edge[i]);
}

//: logarithms ulp=4 block=64 a:f32[64]=wide edge:f32[64]=edges out:f32[384]
#include <math.h>
__global__ void k(const float *a, const float *edge, float *out)
{
    int i = threadIdx.x;
    float x = fabsf(a[i]);
    out[6 * i] = logf(x);
    out[6 * i + 1] = log2f(x);
    out[6 * i + 2] = log10f(x);
    out[6 * i + 3] = log1pf(x);
    out[6 * i + 4] = logf(edge[i]);
    out[6 * i + 5] = log2f(edge[i]);
}

//: sine_and_cosine ulp=5 block=64 a:f32[64]=random edge:f32[64]=edges out:f32[256]
#include <math.h>
__global__ void k(const float *a, const float *edge, float *out)
{
    int i = threadIdx.x;
    out[4 * i] = sinf(a[i] * 20);
    out[4 * i + 1] = cosf(a[i] * 20);
    out[4 * i + 2] = sinf(edge[i]);
    out[4 * i + 3] = cosf(edge[i]);
}

//: sine_of_large_arguments ulp=5 block=64 a:f32[64]=wide out:f32[128]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    out[2 * i] = sinf(a[i] * 1e6f);
    out[2 * i + 1] = cosf(a[i] * 1e6f);
}

//: tangent ulp=6 block=64 a:f32[64]=random edge:f32[64]=edges out:f32[128]
#include <math.h>
__global__ void k(const float *a, const float *edge, float *out)
{
    out[2 * threadIdx.x] = tanf(a[threadIdx.x] * 3);
    out[2 * threadIdx.x + 1] = tanf(edge[threadIdx.x]);
}

//: inverse_trigonometry ulp=6 block=64 a:f32[64]=random out:f32[192]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    out[3 * i] = asinf(a[i]);
    out[3 * i + 1] = acosf(a[i]);
    out[3 * i + 2] = atanf(a[i] * 10);
}

//: atan2_in_all_quadrants ulp=7 block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[961]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961)
        out[i] = atan2f(a[i], b[i]);
}

//: hyperbolic_functions ulp=6 block=64 a:f32[64]=random out:f32[192]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    out[3 * i] = sinhf(a[i] * 4);
    out[3 * i + 1] = coshf(a[i] * 4);
    out[3 * i + 2] = tanhf(a[i] * 4);
}

//: powers ulp=17 block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[961]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961)
        out[i] = powf(a[i], b[i]);
}

//: powers_of_plain_numbers ulp=17 block=64 a:f32[64]=small b:f32[64]=random out:f32[64]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    out[threadIdx.x] = powf(a[threadIdx.x] * 9, b[threadIdx.x] * 7);
}

//: fmod_and_hypot ulp=5 block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[1922]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        out[2 * i] = fmodf(a[i], b[i]);
        out[2 * i + 1] = hypotf(a[i], b[i]);
    }
}

//: fused_multiply_add_rounds_once a:f32[1]=0 out:f32[2] : out==1.42108547e-14,0
#include <math.h>
__global__ void k(const float *a, float *out)
{
    float x = a[0] + 1.0f + 1.1920929e-7f, p = x * x;
    out[0] = fmaf(x, x, -p);
    out[1] = x * x - p;
}

//: cube_root_and_error_function ulp=17 block=64 a:f32[64]=random out:f32[192]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    out[3 * i] = cbrtf(a[i] * 100);
    out[3 * i + 1] = erff(a[i] * 3);
    out[3 * i + 2] = erfcf(a[i] * 3);
}

//: the_fast_forms ulp=8 abs=5e-7 block=64 a:f32[64]=random out:f32[448]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    int i = threadIdx.x;
    float x = fabsf(a[i]) + 0.5f;
    out[7 * i] = __expf(a[i]);
    out[7 * i + 1] = __logf(x);
    out[7 * i + 2] = __sinf(a[i]);
    out[7 * i + 3] = __cosf(a[i]);
    out[7 * i + 4] = __powf(x, a[i]);
    out[7 * i + 5] = __fdividef(a[i], x);
    out[7 * i + 6] = __saturatef(a[i] * 2);
}

//: classification block=64 a:f32[64]=edges d:f64[64]=edges out:i32[128]
#include <math.h>
__global__ void k(const float *a, const double *d, int *out)
{
    int i = threadIdx.x;
    out[2 * i] = isnan(a[i]) | isinf(a[i]) << 1 | isfinite(a[i]) << 2 | (signbit(a[i]) ? 8 : 0);
    out[2 * i + 1] = isnan(d[i]) | isinf(d[i]) << 1 | isfinite(d[i]) << 2;
}

//: double_roots_and_rounding block=64 a:f64[64]=wide out:f64[320]
#include <math.h>
__global__ void k(const double *a, double *out)
{
    int i = threadIdx.x;
    out[5 * i] = sqrt(fabs(a[i]));
    out[5 * i + 1] = floor(a[i] * 100);
    out[5 * i + 2] = ceil(a[i] * 100);
    out[5 * i + 3] = rint(a[i] * 100);
    out[5 * i + 4] = round(a[i] * 100);
}

//: double_exponentials_and_logarithms ulp=4 block=64 a:f64[64]=random out:f64[320]
#include <math.h>
__global__ void k(const double *a, double *out)
{
    int i = threadIdx.x;
    double x = fabs(a[i]) * 500;
    out[5 * i] = exp(a[i] * 700);
    out[5 * i + 1] = exp2(a[i] * 1000);
    out[5 * i + 2] = log(x);
    out[5 * i + 3] = log2(x);
    out[5 * i + 4] = log10(x);
}

//: double_trigonometry ulp=7 block=64 a:f64[64]=random out:f64[320]
#include <math.h>
__global__ void k(const double *a, double *out)
{
    int i = threadIdx.x;
    out[5 * i] = sin(a[i] * 50);
    out[5 * i + 1] = cos(a[i] * 50);
    out[5 * i + 2] = tan(a[i]);
    out[5 * i + 3] = atan(a[i] * 5);
    out[5 * i + 4] = atan2(a[i], a[(i + 1) % 64]);
}

//: double_powers_and_tanh ulp=17 block=64 a:f64[64]=small b:f64[64]=random out:f64[192]
#include <math.h>
__global__ void k(const double *a, const double *b, double *out)
{
    int i = threadIdx.x;
    out[3 * i] = pow(a[i] * 50, b[i] * 30);
    out[3 * i + 1] = tanh(b[i] * 3);
    out[3 * i + 2] = fmin(a[i], b[i]) + fmax(a[i], b[i]);
}

//: integer_minimum_maximum_and_absolute block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[1875]
#include <math.h>
__global__ void k(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[3 * i] = min(a[i], b[i]);
        out[3 * i + 1] = max(a[i], b[i]);
        out[3 * i + 2] = abs(a[i]);
    }
}

//: integers_of_24_and_64_bits block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[5000] w:i64[1250]
__global__ void k(const int *a, const int *b, int *out, long long *w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        int x = a[i], y = b[i];
        out[8 * i] = __mul24(x, y);
        out[8 * i + 1] = __umul24(x, y);
        out[8 * i + 2] = __hadd(x, y);
        out[8 * i + 3] = __rhadd(x, y);
        out[8 * i + 4] = __uhadd(x, y);
        out[8 * i + 5] = __urhadd(x, y);
        out[8 * i + 6] = __sad(x, y, 7u);
        out[8 * i + 7] = __usad(x, y, 7u);
        w[2 * i] = __mul64hi((long long)x << 20, (long long)y << 30);
        w[2 * i + 1] = __umul64hi((long long)x, (long long)y);
    }
}

//: bytes_and_words_are_picked block=32 a:u32[32]=edges b:u32[32]=across out:u32[160]
__global__ void k(const unsigned *a, const unsigned *b, unsigned *out)
{
    int t = threadIdx.x;
    out[5 * t] = __byte_perm(a[t], b[t], 0x3715u + t * 0x1081u);
    out[5 * t + 1] = __funnelshift_l(a[t], b[t], t * 3u);
    out[5 * t + 2] = __funnelshift_r(a[t], b[t], t * 3u);
    out[5 * t + 3] = __funnelshift_lc(a[t], b[t], t * 3u);
    out[5 * t + 4] = __funnelshift_rc(a[t], b[t], t * 3u);
}

//: floats_are_rounded_as_a_name_says block=64 a:f32[64]=wide out:i32[512] w:i64[384] f:f32[128]
__global__ void k(const float *a, int *out, long long *w, float *f)
{
    int t = threadIdx.x;
    float x = a[t];
    out[8 * t] = __float2int_rn(x);
    out[8 * t + 1] = __float2int_rz(x);
    out[8 * t + 2] = __float2int_rd(x);
    out[8 * t + 3] = __float2int_ru(x);
    out[8 * t + 4] = __float2uint_rn(fabsf(x));
    out[8 * t + 5] = __float2uint_ru(fabsf(x));
    out[8 * t + 6] = __double2int_rd(x * 0.5);
    out[8 * t + 7] = __double2hiint(x * 0.5) ^ __double2loint(x * 0.5);
    w[6 * t] = __float2ll_rn(x);
    w[6 * t + 1] = __double2ll_ru(x * 0.5);
    w[6 * t + 2] = lrintf(x);
    w[6 * t + 3] = lroundf(x * 0.5f);
    w[6 * t + 4] = llrint(x * 0.5);
    w[6 * t + 5] = llround(x * 0.5);
    f[2 * t] = __int2float_rn(t * 16777213);
    f[2 * t + 1] = __double2float_rn(__hiloint2double(0x3ff00000 + t, t * 0x08000001));
}

//: numbers_are_taken_apart block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[6727] e:i32[1922]
#include <math.h>
__global__ void k(const float *a, const float *b, float *out, int *e)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        float whole = 0.0f, x = a[i];
        out[7 * i] = isfinite(x) ? frexpf(x, &e[2 * i]) : 0.0f;
        out[7 * i + 1] = modff(x, &whole);
        out[7 * i + 2] = whole;
        out[7 * i + 3] = ldexpf(x, i % 300 - 150);
        out[7 * i + 4] = scalbnf(x, 150 - i % 300);
        out[7 * i + 5] = nextafterf(x, b[i]);
        out[7 * i + 6] = logbf(x);
        e[2 * i + 1] = ilogbf(x);
    }
}

//: doubles_are_taken_apart block=64 a:f64[64]=wide out:f64[320] e:i32[128]
#include <math.h>
__global__ void k(const double *a, double *out, int *e)
{
    int t = threadIdx.x;
    double whole;
    out[5 * t] = frexp(a[t], &e[2 * t]);
    out[5 * t + 1] = modf(a[t], &whole);
    out[5 * t + 2] = whole;
    out[5 * t + 3] = ldexp(a[t], t * 30 - 900);
    out[5 * t + 4] = nextafter(a[t], 0.0);
    e[2 * t + 1] = ilogb(a[t]);
}

//: sine_and_cosine_at_once ulp=5 block=64 a:f32[64]=wide out:f32[256] d:f64[256]
#include <math.h>
__device__ void turn(float x, float *at)
{
    sincosf(x, at, at + 1);
    sincospif(x, at + 2, at + 3);
}
__global__ void k(const float *a, float *out, double *d)
{
    int t = threadIdx.x;
    double s, c;
    turn(a[t], out + 4 * t);
    sincos((double)a[t], &s, &c);
    d[4 * t] = s;
    d[4 * t + 1] = c;
    sincospi((double)a[t], d + 4 * t + 2, d + 4 * t + 3);
}

//: gamma_and_normal_distribution ulp=17 abs=4e-6 block=64 a:f32[64]=wide out:f32[320] d:f64[192]
#include <math.h>
__global__ void k(const float *a, float *out, double *d)
{
    int t = threadIdx.x;
    float x = a[t];
    out[5 * t] = tgammaf(x);
    out[5 * t + 1] = lgammaf(x);
    out[5 * t + 2] = normcdff(x);
    out[5 * t + 3] = rhypotf(x, 3.0f);
    out[5 * t + 4] = tgammaf(x * 0.1f);
    d[3 * t] = tgamma((double)x);
    d[3 * t + 1] = lgamma((double)x);
    d[3 * t + 2] = normcdf((double)x);
}

//: counting_bits block=32 a:i32[32]=edges out:i32[96]
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.x;
    out[3 * i] = __clz(a[i]);
    out[3 * i + 1] = __ffs(a[i]);
    out[3 * i + 2] = __popc(a[i]);
}

//: counting_bits_of_64 block=32 a:i64[32]=edges out:i32[96]
__global__ void k(const long long *a, int *out)
{
    int i = threadIdx.x;
    out[3 * i] = __clzll(a[i]);
    out[3 * i + 1] = __ffsll(a[i]);
    out[3 * i + 2] = __popcll(a[i]);
}

//: reversing_bits block=32 a:u32[32]=edges b:u64[32]=edges out:u64[64]
__global__ void k(const unsigned *a, const unsigned long long *b, unsigned long long *out)
{
    int i = threadIdx.x;
    out[2 * i] = __brev(a[i]);
    out[2 * i + 1] = __brevll(b[i]);
}

//: high_halves_of_products block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[1250]
__global__ void k(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[2 * i] = __mulhi(a[i], b[i]);
        out[2 * i + 1] = (int)__umulhi((unsigned)a[i], (unsigned)b[i]);
    }
}

//: bits_of_floats_and_back block=32 a:f32[32]=edges out:f32[32]
__global__ void k(const float *a, float *out)
{
    int bits = __float_as_int(a[threadIdx.x]);
    out[threadIdx.x] = __uint_as_float(__float_as_uint(__int_as_float(bits)) ^ 0x80000000u);
}

//: bits_of_doubles_and_back block=32 a:f64[32]=edges out:f64[32]
__global__ void k(const double *a, double *out)
{
    out[threadIdx.x] = __longlong_as_double(__double_as_longlong(a[threadIdx.x]) + 1);
}

//: special_values_are_spelled out:f32[2] n:i32[1] : n==3
#include <math.h>
__global__ void k(float *out, int *n)
{
    out[0] = INFINITY;
    out[1] = NAN;
    n[0] = (INFINITY > 3e38f) + (NAN != NAN) * 2;
}

//: overloads_follow_their_argument a:i32[1]=-3 out:f64[4] : out==3,0.5,3,0.25
#include <math.h>
__global__ void k(const int *a, double *out)
{
    out[0] = abs(a[0]);
    out[1] = fabs(-0.5f);
    out[2] = max(a[0], 3);
    out[3] = min(0.25, 7.0);
}
