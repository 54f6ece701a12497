// Image filters in the style of the samples: vector types, constant memory, tiles with a border, and a launch at the end.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <math.h>
#include <stdint.h>

#define RADIUS 2
#define TILE 16
#define IDX(x, y, w) ((y) * (w) + (x))

__constant__ float filter_from_host[2 * RADIUS + 1];
__constant__ float filter[2 * RADIUS + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

typedef unsigned char uchar;
typedef struct {
    int width, height;
    float gain;
} ImageParams;

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return max(lo, min(v, hi)); }

__device__ inline float luminance(uchar4 p)
{
    return 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
}

__global__ void __launch_bounds__(TILE *TILE) toGray(const uchar4 *__restrict__ in, float *__restrict__ out,
                                                     const ImageParams params)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= params.width || y >= params.height)
        return;
    out[IDX(x, y, params.width)] = params.gain * luminance(in[IDX(x, y, params.width)]);
}

__global__ void blurRows(const float *in, float *out, ImageParams p)
{
    __shared__ float tile[TILE][TILE + 2 * RADIUS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    int row = clampi(y, 0, p.height - 1);

    tile[ty][tx + RADIUS] = in[IDX(clampi(x, 0, p.width - 1), row, p.width)];
    if (tx < RADIUS) {
        tile[ty][tx] = in[IDX(clampi(x - RADIUS, 0, p.width - 1), row, p.width)];
        tile[ty][tx + TILE + RADIUS] = in[IDX(clampi(x + TILE, 0, p.width - 1), row, p.width)];
    }
    __syncthreads();

    if (x < p.width && y < p.height) {
        float sum = 0.0f;
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; ++k)
            sum += filter[k + RADIUS] * tile[ty][tx + RADIUS + k];
        out[IDX(x, y, p.width)] = sum;
    }
}

__global__ void blurFromHost(const float *in, float *out) { out[0] = in[0] * filter_from_host[0]; }

__global__ void gradient(const float4 *in, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = in[i];
        float angle = atan2f(v.y - v.x, v.w - v.z);
        out[i] = make_float2(sqrtf(v.x * v.x + v.y * v.y), angle < 0 ? angle + 2 * CUDART_PI_F : angle);
    }
}

extern "C" void launch(uchar4 *in, float *out, int width, int height)
{
    dim3 block(TILE, TILE), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    ImageParams p = {width, height, 1.0f};
    toGray<<<grid, block>>>(in, out, p);
}
