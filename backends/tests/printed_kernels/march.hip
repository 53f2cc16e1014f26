// Kernel `march`, HIP C++, 64-bit arithmetic. Team: 2 threads of 32 lanes.
// Scratch of level 0: 512 bytes a team.
#ifndef FARRO_WORDS
#ifdef FARRO_NATIVE_BOUNDS
#define FARRO_WAVES(threads, minimum) (minimum)
#else
#define FARRO_WAVES(threads, minimum) \
    (((minimum) * (((threads) + __AMDGCN_WAVEFRONT_SIZE - 1) / __AMDGCN_WAVEFRONT_SIZE) + 3) / 4)
#endif
#define FARRO_KERNEL(threads, minimum) \
    __attribute__((global, amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(FARRO_WAVES(threads, minimum))))
#define FARRO_KERNEL_UNBOUND(threads) __attribute__((global, amdgpu_flat_work_group_size(1, threads)))
#define FARRO_SHARED extern __attribute__((shared, aligned(16)))
#define FARRO_LEAGUE_RANK ((int)__builtin_amdgcn_workgroup_id_x())
#define FARRO_LEAGUE_SIZE ((int)(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()))
#define FARRO_WORK_ITEM ((int)__builtin_amdgcn_workitem_id_x())
#define FARRO_LANE ((int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)))
#define FARRO_FROM_LANE(lane, bits) __builtin_amdgcn_ds_bpermute((lane) << 2, bits)
#define FARRO_BARRIER() \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
#define FARRO_ATOMIC_ADD(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define FARRO_ATOMIC_EXCHANGE(p, v) __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define FARRO_ATOMIC_LOAD(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define FARRO_ATOMIC_REPLACE(p, seen, v) \
    __hip_atomic_compare_exchange_strong(p, seen, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#endif
template <class T> static inline __attribute__((device, always_inline)) T shift_from(T value, int lane) {
    int words[sizeof(T) / 4];
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) words[i] = FARRO_FROM_LANE(lane, words[i]);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}

extern "C" FARRO_KERNEL(128, 5) void
farro_march(
    const double* __restrict__ u,
    double* __restrict__ out,
    const int u_extent_0,
    const long long u_stride_0,
    const long long out_stride_0)
{
    const int league_rank = FARRO_LEAGUE_RANK;
    const int item = FARRO_WORK_ITEM;
    FARRO_SHARED unsigned char scratch_0[];
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
        const double r0 = shift_from(p1, (FARRO_LANE & 31) < 31 ? FARRO_LANE + 1 : FARRO_LANE);
        const double r1 = shift_from(p1, (FARRO_LANE & 31) < 1 ? FARRO_LANE : FARRO_LANE - 1);
        const int k4 = k0 * 32 + k1;
        row[k4] = __builtin_fma(p0 + p2, 0.25, (r0 + r1) * 0.25);  // mod.rs:54
        p0 = p1;
        p1 = p2;
        FARRO_BARRIER();  // mod.rs:58
        // phase: mod.rs:59
        const double row_0 = row[k4];  // mod.rs:61
        out[(i0 + 1) * out_stride_0 + k2] = row_0;
        FARRO_BARRIER();  // mod.rs:63
    }
}
