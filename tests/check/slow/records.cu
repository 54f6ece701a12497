// One member out of records of 32 bytes.
struct body { float x, y, z, mass, vx, vy, vz, age; };
__global__ void masses(const struct body *body, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = body[i].mass; // finds SLR-C060
}
