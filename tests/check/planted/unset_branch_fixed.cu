// Nothing is chosen where the value is neither small nor large.
__global__ void grade(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int grade;
    if (i >= n)
        return;
    if (in[i] < 0.3f)
        grade = 1;
    else
        grade = in[i] > 0.7f ? 3 : 2;
    out[i] = grade;
}
