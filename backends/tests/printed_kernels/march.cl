// Kernel `march`, OpenCL C, 64-bit arithmetic. Team: 2 threads of 32 lanes.
// Scratch of level 0: 512 bytes a team.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
farro_march(
    __global const double* restrict u,
    __global double* restrict out,
    const int u_extent_0,
    const long u_stride_0,
    const long out_stride_0)
{
    const int league_rank = (int)get_group_id(0);
    const int item = (int)get_local_id(0);
    __local double exchange_f64[64];
    __local uchar scratch_0[512] __attribute__((aligned(16)));
    __local double* const row = (__local double*)(scratch_0 + 0);  // row[2][32]
    double p0 = 0, p1 = 0, p2 = 0;
    // phase: mod.rs:41
    const int k0 = item / 32;
    const int k1 = item % 32;
    const long k2 = (long)(league_rank * 64 + k0 * 32 + k1);
    const double u_0 = u[k2];  // mod.rs:43
    p0 = u_0;
    const double u_1 = u[u_stride_0 + k2];  // mod.rs:44
    p1 = u_1;
    const int k3 = u_extent_0 - 2;
    for (int i0 = 0; i0 < k3; ++i0) {
        // phase: mod.rs:48
        const double u_2 = u[(i0 + 2) * u_stride_0 + k2];  // mod.rs:50
        p2 = u_2;
        exchange_f64[item] = p1; barrier(CLK_LOCAL_MEM_FENCE);
        const double r0 = exchange_f64[(item & 31) < 31 ? item + 1 : item]; barrier(CLK_LOCAL_MEM_FENCE);
        exchange_f64[item] = p1; barrier(CLK_LOCAL_MEM_FENCE);
        const double r1 = exchange_f64[(item & 31) < 1 ? item : item - 1]; barrier(CLK_LOCAL_MEM_FENCE);
        const int k4 = k0 * 32 + k1;
        row[k4] = fma(p0 + p2, 0.25, (r0 + r1) * 0.25);  // mod.rs:54
        p0 = p1;
        p1 = p2;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // mod.rs:58
        // phase: mod.rs:59
        const double row_0 = row[k4];  // mod.rs:61
        out[(i0 + 1) * out_stride_0 + k2] = row_0;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // mod.rs:63
    }
}
