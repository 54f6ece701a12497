template <int N> __device__ float f(float x) { return N * x; }
extern "C" {
__global__ void __launch_bounds__(128) k(const float *__restrict__ in, float *out, int n) { out[0] = f<2>(in[n]); }
}
