// z = a x + y, as one writes it in CUDA: what the traced kernel `ceiling_triad` is compared with.

// A thread for each element.
extern "C" __global__ void __launch_bounds__(256)
triad(double a, const double* __restrict__ x, const double* __restrict__ y, double* __restrict__ z, long long n)
{
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) z[i] = fma(a, x[i], y[i]);
}

// Eight elements for each thread, a block's share in one piece.
extern "C" __global__ void __launch_bounds__(256)
triad_chunks(double a, const double* __restrict__ x, const double* __restrict__ y, double* __restrict__ z, long long n)
{
    const long long first = blockIdx.x * 2048ll;
    const int count = n - first < 2048 ? (int)(n - first) : 2048;
    for (int i = threadIdx.x; i < count; i += 256) z[first + i] = fma(a, x[first + i], y[first + i]);
}

// Nothing: what a launch costs.
extern "C" __global__ void empty() {}
