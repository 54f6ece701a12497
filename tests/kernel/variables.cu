// SPDX-License-Identifier: Apache-2.0
// Variables of a program and printf, in functions with and without parameters.
struct tally {
    unsigned launches;
    short most[3];
};
__constant__ float filter[5];
__device__ struct tally tally = {7, {-1, 2, -3}};
__device__ unsigned long long bits = 0xffffffff00000001ull;
__device__ volatile int unused = 4;
__device__ int sums[4];

__device__ void told()
{
    printf("%u launches\n", tally.launches);
}

__device__ int largest(const short *value, int count)
{
    int most = value[0];
    for (int i = 1; i < count; i++)
        most = value[i] > most ? value[i] : most;
    return most;
}

__global__ void blur(const int *in, int *out)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, (int)(filter[t % 5] * in[t]));
    atomicAdd(&sums[t & 3], in[t]);
    __syncthreads();
    out[t] = sum + largest(tally.most, 3);
    if (t == 0) {
        tally.launches++;
        bits ^= 1;
        told();
        printf("%d %5.2f %llx %c%%\n", sum, filter[1], bits, 'a' + t);
    }
}

__global__ void quiet(int *out)
{
    out[threadIdx.x] = 1;
}

__global__ void tell(void)
{
    told();
    printf("\"and\\ that is all?\?!\"\n");
}
