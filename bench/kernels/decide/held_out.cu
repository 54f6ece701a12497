// SPDX-License-Identifier: Apache-2.0
// Twelve kernels, two of each line of the guides' table, by which no figure of slr_decide was chosen.

// ---- large matrix operations ---------------------------------------------------------------------------------------

__global__ void gram(const float *a, float *c, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) return;
    float sum = 0.0f;
    for (int k = 0; k < side; k++)
        sum += a[k * side + x] * a[k * side + y];
    c[y * side + x] = sum;
}

__global__ void bodies(const float *x, const float *y, const float *z, float *pull, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int k = 0; k < n; k++) {
        float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
        float far = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), cube = far * far * far;
        ax += dx * cube;
        ay += dy * cube;
        az += dz * cube;
    }
    pull[i] = ax + ay + az;
}

// ---- short sequences -----------------------------------------------------------------------------------------------

// A token looks at those before it: each thread does one number of its value.
__global__ void token(const float *query, const float *key, const float *value, float *out, int before)
{
    int i = threadIdx.x, width = blockDim.x;
    float all = 0.0f, sum = 0.0f;
    for (int t = 0; t < before; t++) {
        float score = 0.0f;
        for (int k = 0; k < width; k++)
            score += query[k] * key[t * width + k];
        float weight = expf(score * 0.125f);
        all += weight;
        sum += weight * value[t * width + i];
    }
    out[i] = sum / all;
}

__global__ void filter(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 16; k++)
        sum += in[i + k] * (0.5f - 0.03125f * k);
    out[i] = sum;
}

// ---- tensor computations -------------------------------------------------------------------------------------------

__global__ void stencil(const float *in, float *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    int at = y * side + x;
    out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - side] + in[at + side]);
}

__global__ void squares(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum += in[k * n + i] * in[k * n + i];
    out[i] = sum;
}

// ---- bound by input and output -------------------------------------------------------------------------------------

__global__ void packets(const unsigned *words, unsigned *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned crc = 0xffffffffu;
    for (int k = 0; k < 32; k++) {
        crc ^= words[k * n + i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1u));
    }
    sums[i] = ~crc;
}

__global__ void lines(const unsigned char *text, unsigned char *keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned found = 0;
    for (int k = 0; k < 64; k++)
        found |= text[i * 64 + k] == 69;
    keep[i] = found;
}

// ---- deep learning -------------------------------------------------------------------------------------------------

__global__ void dense(const float *in, const float *weight, float *out, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++)
        sum += in[y * width + k] * weight[k * width + x];
    out[y * width + x] = 0.5f * sum * (1.0f + tanhf(0.79788456f * (sum + 0.044715f * sum * sum * sum)));
}

__global__ void normal(const float *in, float *out, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float sum = 0.0f, square = 0.0f;
    for (int k = 0; k < 768; k++) {
        float x = in[k * rows + i];
        sum += x;
        square += x * x;
    }
    float mean = sum / 768.0f, scale = rsqrtf(square / 768.0f - mean * mean + 1e-5f);
    for (int k = 0; k < 768; k++)
        out[k * rows + i] = (in[k * rows + i] - mean) * scale;
}

// ---- control flow --------------------------------------------------------------------------------------------------

// Each thread sorts 200 numbers of its own.
__global__ void sorted(unsigned *all, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned *own = all + i * 200;
    for (int k = 1; k < 200; k++) {
        unsigned value = own[k];
        int at = k;
        while (at > 0 && own[at - 1] > value) {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = value;
    }
}

// Programs of a small machine, each its own.
__global__ void machine(const unsigned char *code, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = i, b = 1, at = 0;
    for (int step = 0; step < 3000; step++) {
        unsigned what = code[(i * 131 + at) % 4096];
        if (what < 15) a += b;
        else if (what < 30) b ^= a >> 3;
        else if (what < 45) at += a & 7;
        else if (what < 60) {
            for (unsigned k = b & 3; k > 0; k--) a = a * 5 + k;
        } else if (what < 75) a = a << 7 | a >> 25;
        else if (a > b) {
            unsigned other = a;
            a = b;
            b = other;
        } else at++;
        at++;
    }
    out[i] = a ^ b;
}
