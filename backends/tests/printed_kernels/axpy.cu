// Kernel `axpy`, CUDA C++, 64-bit arithmetic. Team: 256 threads of 1 lane.
static __device__ __forceinline__ long long min_i64(long long a, long long b) { return a < b ? a : b; }

extern "C" __global__ void __launch_bounds__(256)
farro_axpy(
    const double* __restrict__ x,
    double* __restrict__ y,
    const double a,
    const long long extent_0)
{
    const int league_rank = (int)blockIdx.x;
    const int item = (int)threadIdx.x;
    const long long k0 = (long long)(league_rank * 1024);
    const long long k1 = min_i64(extent_0 - k0, 1024);
    // range: kernel.rs:64
    for (long long i0 = (long long)item; i0 < k1; i0 += 256) {
        const long long k2 = k0 + i0;
        const double x_0 = x[k2];  // mod.rs:18
        const double y_0 = y[k2];
        y[k2] = fma(a, x_0, y_0);
    }
}
