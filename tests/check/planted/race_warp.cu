// The lanes of a warp do not keep in step by themselves.
__global__ void sum_warps(const float *in, float *out)
{
    __shared__ float part[256];
    int t = threadIdx.x, lane = t % 32;
    part[t] = in[blockIdx.x * 256 + t];
    __syncwarp();
    for (int s = 16; s > 0; s /= 2) {
        float more = lane < s ? part[t + s] : 0.0f;
        part[t] += more; // finds SLR-C010
        __syncwarp();
    }
    if (lane == 0)
        out[blockIdx.x * 8 + t / 32] = part[t];
}
