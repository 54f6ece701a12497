extern "C" __global__ void a(unsigned long long n, double *p) {}
__global__ void b(int);
const char *s = R"x(" )x";
/* */ # define X \
 1
