// SPDX-License-Identifier: Apache-2.0
// Expressions, statements and types. Each section is a program of its own; kernel_case.h says what its line means.

//: add_and_subtract_wrap block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[1250]
__global__ void k(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[2 * i] = a[i] + b[i];
        out[2 * i + 1] = a[i] - b[i];
    }
}

//: multiplication_wraps block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[625]
__global__ void k(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625)
        out[i] = a[i] * b[i];
}

//: signed_division_truncates a:i32[6]=iota out:i32[6] : out==-3,-1,3,1,-3,0
__global__ void k(const int *a, int *out)
{
    out[0] = (a[1] - 8) / 2;
    out[1] = (a[1] - 8) % 2;
    out[2] = (a[1] - 8) / (a[0] - 2);
    out[3] = (a[5] + 2) % (a[0] - 2);
    out[4] = (a[5] + 2) / (a[0] - 2);
    out[5] = (a[0] - 8) % 2;
}

//: unsigned_division block=64 grid=10 a:u32[625]=edges b:u32[625]=across out:u32[1250]
__global__ void k(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[2 * i] = a[i] / (b[i] | 1u);
        out[2 * i + 1] = a[i] % (b[i] | 1u);
    }
}

//: division_of_64_bits block=64 grid=10 a:i64[625]=edges b:i64[625]=across out:i64[1250]
__global__ void k(const long long *a, const long long *b, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[2 * i] = a[i] / (b[i] | 1);
        out[2 * i + 1] = a[i] % (b[i] | 1);
    }
}

//: the_least_integer_by_minus_one a:i32[1]=-1 out:i32[2] : out==-2147483648,0
__global__ void k(const int *a, int *out)
{
    int least = -2147483647 - 1;
    out[0] = least / a[0];
    out[1] = least % a[0];
}

//: shifts_take_the_count_modulo_the_width block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:i32[1875]
__global__ void k(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[3 * i] = a[i] << b[i];
        out[3 * i + 1] = a[i] >> b[i];
        out[3 * i + 2] = (int)((unsigned)a[i] >> b[i]);
    }
}

//: shifts_of_64_bits block=64 grid=10 a:i64[625]=edges b:i32[625]=across out:i64[1875]
__global__ void k(const long long *a, const int *b, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        out[3 * i] = a[i] << b[i];
        out[3 * i + 1] = a[i] >> b[i];
        out[3 * i + 2] = (long long)((unsigned long long)a[i] >> b[i]);
    }
}

//: bitwise_operators block=64 a:u32[64]=random b:u32[64]=edges out:u32[256]
__global__ void k(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = threadIdx.x;
    out[4 * i] = a[i] & b[i];
    out[4 * i + 1] = a[i] | b[i];
    out[4 * i + 2] = a[i] ^ b[i];
    out[4 * i + 3] = ~a[i];
}

//: comparisons_of_signed_and_unsigned block=64 grid=10 a:i32[625]=edges b:i32[625]=across out:u32[625]
__global__ void k(const int *a, const int *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 625) {
        unsigned u = a[i], v = b[i];
        out[i] = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] == b[i]) << 2 | (u < v) << 3 | (u >= v) << 4 |
                 (a[i] < v) << 5 | (a[i] != v) << 6;
    }
}

//: narrow_integers_promote block=32 a:i8[32]=edges b:u8[32]=edges out:i32[96]
__global__ void k(const signed char *a, const unsigned char *b, int *out)
{
    int i = threadIdx.x;
    out[3 * i] = a[i] * b[i];
    out[3 * i + 1] = a[i] - b[i];
    out[3 * i + 2] = -b[i] >> 1;
}

//: narrow_stores_truncate block=32 a:i32[32]=edges c:i8[32] d:u8[32] s:i16[32] t:u16[32]
__global__ void k(const int *a, signed char *c, unsigned char *d, short *s, unsigned short *t)
{
    int i = threadIdx.x;
    c[i] = a[i];
    d[i] = a[i];
    s[i] = a[i];
    t[i] = a[i];
}

//: integers_widen_by_their_sign block=32 a:i32[32]=edges b:u32[32]=edges out:i64[64]
__global__ void k(const int *a, const unsigned *b, long long *out)
{
    int i = threadIdx.x;
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
}

//: floats_to_integers_saturate block=32 a:f32[32]=edges out:i32[64] big:i64[64]
__global__ void k(const float *a, int *out, long long *big)
{
    int i = threadIdx.x;
    out[2 * i] = (int)a[i];
    out[2 * i + 1] = (int)(unsigned)a[i];
    big[2 * i] = (long long)a[i];
    big[2 * i + 1] = (long long)(unsigned long long)a[i];
}

//: floats_to_narrow_integers_saturate block=32 a:f32[32]=edges c:i8[32] d:u8[32] s:i16[32] t:u16[32]
__global__ void k(const float *a, signed char *c, unsigned char *d, short *s, unsigned short *t)
{
    int i = threadIdx.x;
    c[i] = (signed char)a[i];
    d[i] = (unsigned char)a[i];
    s[i] = (short)a[i];
    t[i] = (unsigned short)a[i];
}

//: nan_to_integer_is_zero a:f32[1]=0 out:i32[1]=7 : out==0
__global__ void k(const float *a, int *out)
{
    out[0] = (int)(a[0] / a[0]);
}

//: integers_to_floats_round_to_even block=32 a:i32[32]=edges b:u64[32]=edges out:f32[64] : out==0,0
__global__ void k(const int *a, const unsigned long long *b, float *out)
{
    int i = threadIdx.x;
    out[2 * i] = (float)a[i];
    out[2 * i + 1] = (float)b[i];
}

//: floats_are_not_contracted block=4 a:f32[4]=0 c:f32=-1.0000002384185791 out:f32[4]=9 : out==0,0,0,0
__global__ void k(const float *a, float c, float *out)
{
    float x = a[threadIdx.x] + 1.0f + 1.1920929e-7f;
    out[threadIdx.x] = x * x + c;
}

//: floats_stay_floats a:f32[1]=0 out:f32[1] : out==16777216
__global__ void k(const float *a, float *out)
{
    float x = a[0] + 16777216.0f;
    out[0] = x + 1.0f;
}

//: float_arithmetic_rounds_once block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:f32[3844]
__global__ void k(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        out[4 * i] = a[i] + b[i];
        out[4 * i + 1] = a[i] - b[i];
        out[4 * i + 2] = a[i] * b[i];
        out[4 * i + 3] = a[i] / b[i];
    }
}

//: float_comparisons_with_nan block=64 grid=16 a:f32[961]=edges b:f32[961]=across out:i32[961]
__global__ void k(const float *a, const float *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961)
        out[i] = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] == b[i]) << 2 | (a[i] != b[i]) << 3 | (a[i] > b[i]) << 4 |
                 (a[i] >= b[i]) << 5 | !(a[i] < b[i]) << 6;
}

//: subnormal_floats_are_kept a:f32[1]=1 out:f32[2] : out==1.40129846e-45,4.20389539e-45
__global__ void k(const float *a, float *out)
{
    float least = a[0] * 1.40129846e-45f;
    out[0] = least;
    out[1] = least * 3.0f;
}

//: double_arithmetic block=64 grid=16 a:f64[961]=edges b:f64[961]=across out:f64[3844]
__global__ void k(const double *a, const double *b, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 961) {
        out[4 * i] = a[i] + b[i];
        out[4 * i + 1] = a[i] - b[i];
        out[4 * i + 2] = a[i] * b[i];
        out[4 * i + 3] = a[i] / b[i];
    }
}

//: double_to_float_rounds block=64 a:f64[64]=wide out:f32[64]
__global__ void k(const double *a, float *out)
{
    out[threadIdx.x] = (float)a[threadIdx.x];
}

//: logic_stops_early out:i32[3] a:i32[1]=1 : out==1,0,2
__global__ void k(int *out, const int *a)
{
    int n = 0;
    out[0] = a[0] || (n += 1);
    out[1] = !a[0] && (n += 1);
    out[2] = n == 0 && a[0] ? 2 : 3;
}

//: increments_before_and_after out:i32[4] a:i32[1]=5 : out==5,7,7,5
__global__ void k(int *out, const int *a)
{
    int n = a[0];
    out[0] = n++;
    out[1] = ++n;
    out[2] = n--;
    out[3] = --n;
}

//: compound_assignment block=32 a:i32[32]=random out:i32[32]
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.x, v = a[i];
    v += i;
    v -= 3;
    v *= 7;
    v /= 5;
    v %= 1000;
    v <<= 2;
    v >>= 1;
    v &= 0xfff;
    v |= 0x10;
    v ^= 0x33;
    out[i] = v;
}

//: comma_and_conditional block=32 out:i32[32] : out==10,21,30,41
__global__ void k(int *out)
{
    int i = threadIdx.x, j;
    j = (out[i] = 1, i * 10);
    out[i] = i & 1 ? j + 11 : j + 10 * (i == 0 ? 1 : 1);
}

//: switch_falls_through block=8 out:i32[8] : out==1,11,10,100,0,0,0,7
__global__ void k(int *out)
{
    int i = threadIdx.x, v = 0;
    switch (i) {
    case 0:
        v = 1;
        break;
    case 1:
        v = 1;
    case 2:
        v += 10;
        break;
    case 3:
        v = 100;
        break;
    case 7:
        v = 7;
    default:
        v += 0;
    }
    out[i] = v;
}

//: switch_on_negative_and_64_bits block=4 a:i64[4]=iota out:i32[4] : out==5,6,7,8
__global__ void k(const long long *a, int *out)
{
    switch (a[threadIdx.x] * 4294967296ll - 1) {
    case -1:
        out[threadIdx.x] = 5;
        break;
    case 4294967295ll:
        out[threadIdx.x] = 6;
        break;
    case 8589934591ll:
        out[threadIdx.x] = 7;
        break;
    default:
        out[threadIdx.x] = 8;
    }
}

//: loops_of_three_kinds block=32 out:i32[96]
__global__ void k(int *out)
{
    int i = threadIdx.x, sum = 0, n = i, d = 0;
    for (int j = 0; j <= i; j++)
        sum += j * j;
    while (n > 1)
        n = n % 2 ? 3 * n + 1 : n / 2, d++;
    out[3 * i] = sum;
    out[3 * i + 1] = d;
    n = i;
    do
        n -= 3;
    while (n > 0);
    out[3 * i + 2] = n;
}

//: break_and_continue block=32 a:i32[32]=small out:i32[32]
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.x, sum = 0;
    for (int j = 0; j < 32; j++) {
        if (a[j] % 3 == i % 3)
            continue;
        if (sum > 40 * i)
            break;
        sum += a[j];
    }
    out[i] = sum;
}

//: nested_loops_leave_the_inner_one out:i32[1] : out==30
__global__ void k(int *out)
{
    int n = 0;
    for (int i = 0; i < 10; i++)
        for (int j = 0;; j++) {
            if (j == 3)
                break;
            n++;
        }
    out[0] = n;
}

//: early_returns block=64 a:i32[64]=iota out:i32[64]=-1 : out==-1,1,-1,3,-1,5
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.x;
    if (a[i] % 2 == 0)
        return;
    out[i] = a[i];
    if (i > 20)
        return;
    out[i] = i;
}

//: structs_are_copied block=16 out:i32[32]
struct pair { int a; short b; };
struct box { struct pair first, second; int tail[3]; };
__global__ void k(int *out)
{
    int i = threadIdx.x;
    struct box x = {{i, 2}, {3, (short)(i * 5)}, {7, 8, 9}};
    struct box y = x;
    y.second = y.first;
    y.tail[i % 3] += 100;
    out[2 * i] = x.first.a + x.second.b * 10 + x.tail[0] + x.tail[1] + x.tail[2];
    out[2 * i + 1] = y.second.a + y.second.b + y.tail[0] + y.tail[1] * 2 + y.tail[2] * 3;
}

//: structs_have_the_hosts_layout out:i32[6] : out==24,4,8,16,20,2
struct odd { char c; int i; long long l; short s; float f; };
__global__ void k(int *out)
{
    out[0] = (int)sizeof(struct odd);
    out[1] = (int)offsetof(struct odd, i);
    out[2] = (int)offsetof(struct odd, l);
    out[3] = (int)offsetof(struct odd, s);
    out[4] = (int)offsetof(struct odd, f);
    out[5] = (int)sizeof(short);
}

//: local_arrays_are_each_threads_own block=64 a:i32[64]=small out:i32[64]
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.x, t[8];
    for (int j = 0; j < 8; j++)
        t[j] = a[(i + j) % 64];
    for (int j = 0; j < 7; j++)
        for (int m = 0; m < 7 - j; m++)
            if (t[m] > t[m + 1]) {
                int keep = t[m];
                t[m] = t[m + 1];
                t[m + 1] = keep;
            }
    out[i] = t[0] + 100 * t[3] + 10000 * t[7];
}

//: arrays_of_two_dimensions block=4x4 out:i32[16]
__global__ void k(int *out)
{
    int t[4][4], x = threadIdx.x, y = threadIdx.y;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            t[i][j] = i * 10 + j;
    out[y * 4 + x] = t[y][x] + t[x][y] * 100;
}

//: pointers_walk_through_their_array block=16 a:i32[64]=iota out:i32[16]
__global__ void k(const int *a, int *out)
{
    const int *at = a + threadIdx.x * 4, *end = at + 4;
    int sum = 0;
    while (at < end)
        sum += *at++;
    out[threadIdx.x] = sum + (int)(end - a);
}

//: device_functions_take_pointers block=16 a:i32[16]=iota out:i32[16]
__device__ void swap(int *x, int *y)
{
    int keep = *x;
    *x = *y;
    *y = keep;
}
__device__ int twice(int x)
{
    return x * 2;
}
__global__ void k(const int *a, int *out)
{
    int x = a[threadIdx.x], y = twice(twice(x)) + 1;
    swap(&x, &y);
    swap(&y, &out[threadIdx.x]);
    out[threadIdx.x] += x * 1000;
}

//: device_functions_return_structs block=8 out:f32[16]
struct complex { float re, im; };
__device__ struct complex times(struct complex a, struct complex b)
{
    struct complex p = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return p;
}
__global__ void k(float *out)
{
    struct complex z = {1, (float)threadIdx.x}, w = {0.5f, 2};
    for (int i = 0; i < 3; i++)
        z = times(z, w);
    out[2 * threadIdx.x] = z.re;
    out[2 * threadIdx.x + 1] = z.im;
}

//: constant_tables block=16 out:i32[16] : out==2,3,5,7,11,13,17,19,4
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static const short squares[8] = {4, 9, 25, 49, 121, 169, 289, 361};
__global__ void k(int *out)
{
    int i = threadIdx.x;
    out[i] = i < 8 ? primes[i] : squares[i - 8];
}

//: enums_typedefs_and_macros block=8 out:i32[8] : out==0,1,5,6
enum colour { RED, GREEN, BLUE = 5, GREY };
typedef unsigned char byte;
#define PICK(a, b) ((a) > (b) ? (a) : (b))
#if defined(PICK) && 3 * 2 == 6
#define LIMIT 255
#endif
__global__ void k(int *out)
{
    static const int order[4] = {RED, GREEN, BLUE, GREY};
    byte small = (byte)(threadIdx.x + 256);
    out[threadIdx.x] = threadIdx.x < 4 ? order[threadIdx.x] : PICK((int)small, LIMIT - 251);
}

//: uninitialised_variables_are_zero block=4 out:i32[8]=9 : out==0,0,0,0
__global__ void k(int *out)
{
    int n, t[3] = {1};
    struct { int a; float b; } s = {.b = 2};
    out[threadIdx.x] = n + t[2] + s.a;
    out[4 + threadIdx.x] = t[0] + (int)s.b;
}

//: bool_is_zero_or_one block=8 a:i32[8]=iota out:i32[8] : out==0,1,1,1,0
__global__ void k(const int *a, int *out)
{
    bool b = a[threadIdx.x];
    _Bool d = a[threadIdx.x] > 3 ? false : b;
    out[threadIdx.x] = d + (sizeof b == 1 ? 0 : 100);
}

//: vector_types_and_their_makers block=8 a:f32[32]=random out:f32[32]
__global__ void k(const float4 *a, float4 *out)
{
    float4 v = a[threadIdx.x], w = make_float4(v.w, v.z, v.y, v.x);
    int2 n = make_int2((int)threadIdx.x, 3);
    w.x += (float)(n.x * n.y);
    out[threadIdx.x] = w;
}

//: casts_of_cplusplus block=8 a:f32[8]=iota out:i32[8] : out==1,2,3,4
__global__ void k(const float *a, int *out)
{
    constexpr int one = 1;
    const int *bits = reinterpret_cast<const int *>(a);
    out[threadIdx.x] = static_cast<int>(a[threadIdx.x]) + one + (bits[threadIdx.x] < 0) + int(float(0));
}

//: casts_between_pointers block=8 a:f32[8]=random out:u32[8]
__global__ void k(const float *a, unsigned *out)
{
    const unsigned *bits = (const unsigned *)a;
    out[threadIdx.x] = bits[threadIdx.x] >> 23;
}

//: integers_of_a_kind_have_their_sizes out:i32[10] : out==1,2,4,8,8,1,4,8,8,16
__global__ void k(int *out)
{
    out[0] = sizeof(char);
    out[1] = sizeof(short);
    out[2] = sizeof(int);
    out[3] = sizeof(long);
    out[4] = sizeof(long long);
    out[5] = sizeof(bool);
    out[6] = sizeof(float);
    out[7] = sizeof(double);
    out[8] = sizeof(float2);
    out[9] = sizeof(int4);
}

//: char_is_signed a:i32[1]=200 out:i32[2] : out==-56,255
__global__ void k(const int *a, int *out)
{
    char c = (char)a[0];
    unsigned char u = (unsigned char)(c + 55 + 256);
    out[0] = c;
    out[1] = u;
}

//: literals_have_their_types out:i64[6] : out==4294967295,-1,4294967296,97,10,255
__global__ void k(long long *out)
{
    out[0] = 0xffffffff;
    out[1] = -1;
    out[2] = 0x100000000;
    out[3] = 'a';
    out[4] = '\n';
    out[5] = 0377;
}

//: halves_round_each_operation block=64 a:f16[64]=random b:f16[64]=random out:f16[256]
#include <cuda_fp16.h>
__global__ void k(const half *a, const half *b, half *out)
{
    int i = threadIdx.x;
    out[4 * i] = a[i] + b[i];
    out[4 * i + 1] = a[i] - b[i];
    out[4 * i + 2] = a[i] * b[i];
    out[4 * i + 3] = a[i] / b[i];
}

//: halves_from_floats_round_to_even block=64 a:f32[64]=edges out:f16[64]
#include <cuda_fp16.h>
__global__ void k(const float *a, half *out)
{
    out[threadIdx.x] = __float2half(a[threadIdx.x]);
}

//: every_half_is_some_float block=256 grid=256 out:f32[65536]
#include <cuda_fp16.h>
__global__ void k(float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short bits = (unsigned short)i;
    out[i] = __half2float(__ushort_as_half(bits));
}

//: bfloat16_conversions block=64 a:f32[64]=edges out:f32[64]
#include <cuda_bf16.h>
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = __bfloat162float(__float2bfloat16(a[threadIdx.x]));
}

//: arguments_are_evaluated_left_to_right out:i32[2] a:i32[1]=3 : out==34,5
__device__ int join(int a, int b)
{
    return a * 10 + b;
}
__global__ void k(int *out, const int *a)
{
    int n = a[0];
    out[0] = join(n++, n++);
    out[1] = n;
}

//: unsigned_counters_wrap_downwards out:i32[1] : out==6
__global__ void k(int *out)
{
    int n = 0;
    for (unsigned i = 5; i <= 5u; i--)
        n++;
    out[0] = n;
}

//: a_file_with_host_code_and_templates block=32 a:f32[32]=iota out:f32[32]
#include <cuda_runtime.h>
#include <vector>
template <typename T> T own(T x) { return x; }
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = a[threadIdx.x] * 2.0f;
}
int main()
{
    std::vector<float> v(32);
    k<<<1, 32>>>(v.data(), v.data());
    return 0;
}

//: comparisons_as_indices grid=3 block=64 a:i32[64]=iota x:i32[192]=small f:f32[192]=small out:i32[192]
__device__ int is_negative(float f)
{
    return f < 0;
}
__global__ void comparisons_as_indices(const int *a, const int *x, const float *f, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool both = x[i] > 1 && f[i] > 1.0f;
    out[i] = a[(x[i] == 0) & 31] + 3 * a[f[i] > 1.0f] + 9 * a[20 + both] + 27 * a[is_negative(f[i])];
}

//: volatile_accesses grid=2 block=64 a:i32[128]=small out:i32[128] word:i32[8]=iota flag:u8[4]=iota
struct flags { volatile int ready; int value; };
__device__ int twice(volatile int *p)
{
    return *p + *p;
}
__global__ void volatile_accesses(const int *a, int *out, volatile int *word, volatile unsigned char *flag)
{
    __shared__ volatile int part[64];
    volatile int local = a[threadIdx.x];
    volatile struct flags f;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    f.ready = t;
    part[t] = a[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        volatile int *s = part;
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    f.ready++;
    out[i] = part[0] + local * 3 + twice(&local) + f.ready;
    if (i == 0) {
        word[0] = word[1] + word[1];
        flag[0] = flag[3] != 0;
        *(volatile int *)&word[4] += 5;
    }
}

//: memory_in_a_loop_that_threads_leave_one_by_one block=32 in:i32[64]=iota out:i32[128]
struct pair { int x, y; };
__device__ void fill(struct pair *p, const int *in, int t)
{
    int i = 0;
    do {
        p->x = in[i] * 3;
        p->y = i;
    } while (i++ < t);
}
__device__ void fill_and_return(struct pair *p, const int *in, int t)
{
    for (int i = 0;; i++) {
        p->x = in[i] * 5;
        p->y = i;
        if (i >= t)
            return;
    }
}
__global__ void k(const int *in, int *out)
{
    int t = threadIdx.x, a[2];
    struct pair s, copy;
    a[1] = 5;
    for (int i = 0;; i++) {
        a[0] = in[i] * 3;
        if (i >= t)
            break;
    }
    out[t] = a[0] + a[1];
    fill(&s, in, t);
    out[32 + t] = s.x * 100 + s.y;
    fill_and_return(&s, in, t);
    out[64 + t] = s.x * 100 + s.y;
    for (int i = 0;; i++) {
        s.x = in[i] * 7;
        s.y = i;
        copy = s;
        if (i >= t)
            break;
    }
    out[96 + t] = copy.x * 100 + copy.y;
}

//: values_of_a_loop_that_threads_leave_one_by_one block=32 in:i32[64]=iota out:i32[288]
__device__ int found(const int *in, int t)
{
    for (int i = 0;; i++) {
        int x = in[i] * 3;
        if (i >= t)
            return x;
    }
}
__device__ int found_within(const int *in, int t)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0;; i++) {
            int x = in[i] * 3 + j;
            if (i + j >= t)
                return x;
            if (i > 3)
                break;
        }
    return -1;
}
__global__ void k(const int *in, int *out)
{
    int t = threadIdx.x, x, y = 7, sum = 0, i = 0;
    for (;;) {
        x = in[i] * 3;
        if (i >= t)
            break;
        i++;
    }
    out[t] = x;
    i = 0;
    do {
        x = in[i] * 5;
    } while (i++ < t);
    out[32 + t] = x;
    i = 0;
    while ((x = in[i] * 3) < t * 3)
        i++;
    out[64 + t] = x;
    out[96 + t] = found(in, t);
    out[128 + t] = found_within(in, t);
    for (int j = 0; j < 3; j++) {
        for (i = 0;; i++) {
            x = in[i] + j;
            if (i + j >= t)
                break;
        }
        sum = sum * 5 + x;
        if (sum > 40 + t)
            break;
    }
    out[160 + t] = sum * 100 + x;
    for (int round = 0;;) {
        y = in[round] * 2;
        i = 0;
        do {
            x = in[i] + y;
            if (x > t + 3)
                continue;
            i++;
        } while (i < round && x < 40);
        if (round++ >= t % 3)
            break;
        switch (round) {
        case 1:
            x++;
            break;
        case 2:
            x += 2;
        }
    }
    out[192 + t] = x * 100 + y;
    for (i = 0;; i++) {
        x = in[i] * 7;
        if (i >= t) {
            out[224 + t] = x;
            break;
        }
    }
    for (i = 0;; i++) {
        x = in[i] * 9;
        if (i >= t) {
            out[256 + t] = x;
            return;
        }
    }
}
