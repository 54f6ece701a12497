// Nothing is chosen where the value is neither small nor large.
__global__ void grade(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int grade;
    if (i >= n)
        return;
    if (in[i] < 0.3f)
        grade = 1;
    else if (in[i] > 0.7f)
        grade = 3;
    out[i] = grade; // finds SLR-C021
}
