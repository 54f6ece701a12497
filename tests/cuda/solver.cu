// A small solver in the manner of the samples: conv, gemv, scan of blocks, radix step, BFS level, with a host program.
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>
#include "helper_cuda.h"
#define BLOCK 256
#define CEIL(a, b) (((a) + (b) - 1) / (b))
typedef struct { int rows, cols; float alpha; } Shape;
struct Edge { int to; float weight; };

__device__ __forceinline__ float relu(float x) { return x > 0.f ? x : 0.f; }

__global__ void conv1d(const float *__restrict__ in, const float *__restrict__ taps, float *__restrict__ out, int n, int radius)
{
    extern __shared__ float tile[];
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    int lid = threadIdx.x + radius;
    tile[lid] = gid < n ? in[gid] : 0.f;
    if (threadIdx.x < radius) {
        tile[lid - radius] = gid >= radius ? in[gid - radius] : 0.f;
        tile[lid + blockDim.x] = gid + blockDim.x < n ? in[gid + blockDim.x] : 0.f;
    }
    __syncthreads();
    if (gid >= n) return;
    float sum = 0.f;
    for (int k = -radius; k <= radius; k++) sum += tile[lid + k] * taps[k + radius];
    out[gid] = relu(sum);
}

__global__ void gemv(const float *A, const float *x, float *y, Shape s)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < s.rows) {
        float sum = 0;
        for (int c = 0; c < s.cols; c++) sum += A[row * s.cols + c] * x[c];
        y[row] = s.alpha * sum;
    }
}

__global__ void bfs(const int *rowStart, const struct Edge *edges, int *dist, int *changed, int nodes, int level)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || dist[v] != level) return;
    for (int e = rowStart[v]; e < rowStart[v + 1]; e++) {
        int to = edges[e].to;
        if (atomicCAS(&dist[to], -1, level + 1) == -1) *changed = 1;
    }
}

__global__ void blockScan(int *data, int *sums, int n)
{
    __shared__ int temp[2 * BLOCK];
    int t = threadIdx.x, offset = 1, base = 2 * BLOCK * blockIdx.x;
    temp[2 * t] = base + 2 * t < n ? data[base + 2 * t] : 0;
    temp[2 * t + 1] = base + 2 * t + 1 < n ? data[base + 2 * t + 1] : 0;
    for (int d = BLOCK; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (t == 0) { sums[blockIdx.x] = temp[2 * BLOCK - 1]; temp[2 * BLOCK - 1] = 0; }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
            int v = temp[ai]; temp[ai] = temp[bi]; temp[bi] += v;
        }
    }
    __syncthreads();
    if (base + 2 * t < n) data[base + 2 * t] = temp[2 * t];
    if (base + 2 * t + 1 < n) data[base + 2 * t + 1] = temp[2 * t + 1];
}

__global__ void dot(const double *a, const double *b, double *out, size_t n)
{
    __shared__ double cache[BLOCK];
    double sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 32; s >>= 1) { if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s]; __syncthreads(); }
    if (threadIdx.x < 32) {
        double v = cache[threadIdx.x] + cache[threadIdx.x + 32];
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

__global__ void laplace3d(const float *u, float *v, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int i = (z * ny + y) * nx + x;
    v[i] = u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny] - 6.f * u[i];
}

int main(int argc, char **argv)
{
    std::vector<float> h(1 << 20);
    float *d; cudaMalloc(&d, h.size() * 4);
    conv1d<<<CEIL(1 << 20, BLOCK), BLOCK, (BLOCK + 16) * sizeof(float)>>>(d, d, d, 1 << 20, 8);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
