// Kernel `march`, CUDA C++, 64-bit arithmetic. Team: 2 threads of 32 lanes.
// Scratch of level 0: 512 bytes a team.

extern "C" __global__ void __launch_bounds__(64)
farro_march(
    const double* __restrict__ u,
    double* __restrict__ out,
    const int u_extent_0,
    const long long u_stride_0,
    const long long out_stride_0)
{
    const int league_rank = (int)blockIdx.x;
    const int item = (int)threadIdx.x;
    extern __shared__ __align__(16) unsigned char scratch_0[];
    double* const row = (double*)(scratch_0 + 0);  // row[2][32]
    double p0 = 0, p1 = 0, p2 = 0;
    // phase: mod.rs:41
    const int k0 = item / 32;
    const int k1 = item % 32;
    const long long k2 = (long long)(league_rank * 64 + k0 * 32 + k1);
    const double u_0 = u[k2];  // mod.rs:43
    p0 = u_0;
    const double u_1 = u[u_stride_0 + k2];  // mod.rs:44
    p1 = u_1;
    const int k3 = u_extent_0 - 2;
    for (int i0 = 0; i0 < k3; ++i0) {
        // phase: mod.rs:48
        const double u_2 = u[(i0 + 2) * u_stride_0 + k2];  // mod.rs:50
        p2 = u_2;
        const double r0 = __shfl_down_sync(0xffffffff, p1, 1, 32);
        const double r1 = __shfl_up_sync(0xffffffff, p1, 1, 32);
        const int k4 = k0 * 32 + k1;
        row[k4] = fma(p0 + p2, 0.25, (r0 + r1) * 0.25);  // mod.rs:54
        p0 = p1;
        p1 = p2;
        __syncthreads();  // mod.rs:58
        // phase: mod.rs:59
        const double row_0 = row[k4];  // mod.rs:61
        out[(i0 + 1) * out_stride_0 + k2] = row_0;
        __syncthreads();  // mod.rs:63
    }
}
