// Reductions in C and in C++ beside each other, as tutorials have them.
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <iostream>
#include <vector>

namespace cg = cooperative_groups;
using real = float;

template <typename T> __global__ void reduceTemplate(const T *in, T *out, unsigned int n)
{
    extern __shared__ T data[];
    data[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
}

class Timer {
  public:
    Timer() { cudaEventCreate(&start_); }
    ~Timer() { cudaEventDestroy(start_); }

  private:
    cudaEvent_t start_;
};

struct Workspace {
    float *partial;
    size_t bytes;
};

__inline__ __device__ float warpReduceSum(float val)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val)
{
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;

    val = warpReduceSum(val);
    if (lane == 0)
        shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
    if (wid == 0)
        val = warpReduceSum(val);
    return val;
}

extern "C" __global__ void deviceReduce(const float *in, float *out, int N)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

__global__ void reduceGroups(const float *in, float *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    block.sync();
    out[0] = in[0];
}

__global__ void reduceWorkspace(Workspace w, const float *in)
{
    w.partial[threadIdx.x] = in[threadIdx.x];
}

__global__ void reduceReference(const float &scale, float *out) { out[0] = scale; }

__global__ void reduceVolatile(float *in)
{
    volatile float *v = in;
    v[threadIdx.x] += v[threadIdx.x + 16];
}

__device__ unsigned int finished = 0;

__global__ void reduceLast(float *out)
{
    if (threadIdx.x == 0) {
        unsigned int ticket = atomicInc(&finished, gridDim.x);
        out[0] = (float)ticket;
    }
}

template <int BLOCK> struct Launcher {
    void operator()(float *x) const { reduceTemplate<float><<<1, BLOCK>>>(x, x, BLOCK); }
};

int main()
{
    std::vector<float> host(1 << 20, 1.0f);
    auto sum = [&](float *p) { deviceReduce<<<128, 256>>>(p, p, 1 << 20); };
    std::cout << "sum " << host[0] << std::endl;
    return 0;
}
