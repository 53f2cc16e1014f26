//! The words of each dialect. Everything that differs by more than a word is in `helpers`.

use super::Dialect;
use crate::trace::ir::Program;
use farro_portability::{Bounds, ElementKind};

/// A dialect's words.
pub(super) struct Words {
    pub dialect: Dialect,
    /// The 64-bit integer and the ending of its literals.
    pub i64_name: &'static str,
    pub i64_suffix: &'static str,
    /// Infinity and not-a-number.
    pub special_f64: [&'static str; 2],
    pub special_f32: [&'static str; 2],
    /// What stands before a pointer's type, by where it points.
    pub global: &'static str,
    pub local: &'static str,
    pub restrict: &'static str,
    /// What stands before a function.
    pub function: &'static str,
    pub league_rank: &'static str,
    pub league_size: &'static str,
    pub item: &'static str,
    pub barrier: &'static str,
    /// Functions for 64 and 32 bits.
    pub fma: [&'static str; 2],
    pub sqrt: [&'static str; 2],
    pub abs: [&'static str; 2],
    /// What every text of the dialect begins with.
    pub prelude: &'static str,
}

const CUDA: Words = Words {
    dialect: Dialect::Cuda,
    i64_name: "long long",
    i64_suffix: "ll",
    special_f64: ["__longlong_as_double(0x7ff0000000000000ll)", "__longlong_as_double(0x7ff8000000000000ll)"],
    special_f32: ["__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"],
    global: "",
    local: "",
    restrict: " __restrict__",
    function: "static __device__ __forceinline__",
    league_rank: "(int)blockIdx.x",
    league_size: "(int)gridDim.x",
    item: "(int)threadIdx.x",
    barrier: "__syncthreads();",
    fma: ["fma", "fmaf"],
    sqrt: ["sqrt", "sqrtf"],
    abs: ["fabs", "fabsf"],
    prelude: "",
};

const HIP: Words = Words {
    dialect: Dialect::Hip,
    special_f64: ["__builtin_inf()", "__builtin_nan(\"\")"],
    special_f32: ["__builtin_inff()", "__builtin_nanf(\"\")"],
    function: "static inline __attribute__((device, always_inline))",
    league_rank: "FARRO_LEAGUE_RANK",
    league_size: "FARRO_LEAGUE_SIZE",
    item: "FARRO_WORK_ITEM",
    barrier: "FARRO_BARRIER();",
    fma: ["__builtin_fma", "__builtin_fmaf"],
    sqrt: ["__builtin_sqrt", "__builtin_sqrtf"],
    abs: ["__builtin_fabs", "__builtin_fabsf"],
    prelude: HIP_PRELUDE,
    ..CUDA
};

/// The words of the hardware, from the compiler alone: no header is needed. Who runs the text elsewhere defines
/// `FARRO_WORDS` and the words. Launch bounds mean teams that fit a compute unit, from which follow the waves that each of
/// its four SIMDs must hold; `FARRO_NATIVE_BOUNDS` makes them the compiler's own, waves per SIMD.
const HIP_PRELUDE: &str = r#"#ifndef FARRO_WORDS
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
"#;

const OPENCL: Words = Words {
    dialect: Dialect::OpenCl,
    i64_name: "long",
    i64_suffix: "L",
    special_f64: ["as_double(0x7ff0000000000000L)", "as_double(0x7ff8000000000000L)"],
    special_f32: ["as_float(0x7f800000)", "as_float(0x7fc00000)"],
    global: "__global ",
    local: "__local ",
    restrict: " restrict",
    function: "static inline",
    league_rank: "(int)get_group_id(0)",
    league_size: "(int)get_num_groups(0)",
    item: "(int)get_local_id(0)",
    barrier: "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    fma: ["fma", "fma"],
    sqrt: ["sqrt", "sqrt"],
    abs: ["fabs", "fabs"],
    prelude: "",
};

impl Words {
    pub fn of(dialect: Dialect) -> &'static Words {
        match dialect {
            Dialect::Cuda => &CUDA,
            Dialect::Hip => &HIP,
            Dialect::OpenCl => &OPENCL,
        }
    }
    /// The name of a type.
    pub fn element(&self, kind: ElementKind) -> &'static str {
        match kind {
            ElementKind::F64 => "double",
            ElementKind::F32 => "float",
            ElementKind::I32 => "int",
            ElementKind::I64 => self.i64_name,
        }
    }
    /// What stands before the kernel's name.
    pub fn kernel_head(&self, program: &Program, sub_groups: bool) -> String {
        let items = program.work_items();
        match (self.dialect, program.bounds) {
            (Dialect::Cuda, None) => format!("extern \"C\" __global__ void __launch_bounds__({items})"),
            (Dialect::Cuda, Some(Bounds { max_threads, min_blocks: 0 })) => {
                format!("extern \"C\" __global__ void __launch_bounds__({max_threads})")
            }
            (Dialect::Cuda, Some(Bounds { max_threads, min_blocks })) => {
                format!("extern \"C\" __global__ void __launch_bounds__({max_threads}, {min_blocks})")
            }
            (Dialect::Hip, None) => format!("extern \"C\" FARRO_KERNEL_UNBOUND({items}) void"),
            (Dialect::Hip, Some(Bounds { max_threads, min_blocks: 0 })) => {
                format!("extern \"C\" FARRO_KERNEL_UNBOUND({max_threads}) void")
            }
            (Dialect::Hip, Some(Bounds { max_threads, min_blocks })) => {
                format!("extern \"C\" FARRO_KERNEL({max_threads}, {min_blocks}) void")
            }
            (Dialect::OpenCl, _) if sub_groups => format!(
                "__kernel __attribute__((reqd_work_group_size({items}, 1, 1), intel_reqd_sub_group_size({}))) void",
                program.vector_length
            ),
            (Dialect::OpenCl, _) => format!("__kernel __attribute__((reqd_work_group_size({items}, 1, 1))) void"),
        }
    }
}
