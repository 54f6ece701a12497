/* Adds two vectors: the first program of every course, with all that stands around the kernel. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include "helper_cuda.h"

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

static int verbose = 0;
float *host_a, *host_b;

__global__ void vectorAdd(const float *A, const float *B, float *C, int numElements)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;

    if (i < numElements)
        C[i] = A[i] + B[i] + 0.0f;
}

static void fill(float *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = rand() / (float)RAND_MAX;
}

int main(int argc, char **argv)
{
    const int n = 50000;
    size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *d_a = NULL;
    if (a == NULL)
        goto fail;
    fill(a, n);
    CHECK(cudaMalloc((void **)&d_a, bytes));
    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
    vectorAdd<<<(n + 255) / 256, 256>>>(d_a, d_a, d_a, n);
    CHECK(cudaGetLastError());
    free(a);
    return 0;
fail:
    return verbose;
}
