//! What a kernel uses, read from its code object: an ELF file whose note is a MessagePack map.

use crate::error::{HipError, Result};
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, elf};
use rmpv::Value;

/// What one kernel uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Vector registers of a work item. Where both kinds come out of one file, accumulation registers are counted in.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// Scalar registers of a wave.
    pub sgprs: u32,
    /// Vector registers that went to memory.
    pub vgpr_spills: u32,
    /// Scalar registers that went elsewhere.
    pub sgpr_spills: u32,
    /// Bytes of private memory of a work item: spills, and arrays that did not fit registers.
    pub private_bytes: u32,
    /// Bytes of local memory of a team, as fixed in the text.
    pub lds_bytes: u32,
    /// Lanes of a wave.
    pub wavefront: u32,
    /// Work items of the largest team.
    pub max_team: u32,
}

impl Resources {
    /// Whether vector registers ran out.
    pub fn spills(&self) -> bool {
        self.vgpr_spills > 0
    }
}

/// The type of the note of code objects from version 3 on.
const METADATA: u32 = 32;

/// Reads the resources of one kernel, and the architecture that the code object is for.
pub(crate) fn read(kernel: &str, entry: &str, code_object: &[u8]) -> Result<(Resources, String)> {
    let failed = |reason: String| HipError::CodeObject { kernel: kernel.into(), reason };
    let file = ElfFile64::<Endianness>::parse(code_object).map_err(|error| failed(error.to_string()))?;
    let (header, endian) = (file.elf_header(), file.endian());
    let mut metadata = None;
    let segments = header.program_headers(endian, code_object).map_err(|error| failed(error.to_string()))?;
    for segment in segments {
        use object::read::elf::ProgramHeader;
        let Ok(Some(mut notes)) = segment.notes(endian, code_object) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.n_type(endian) == METADATA && note.name() == b"AMDGPU" {
                metadata = Some(note.desc());
            }
        }
    }
    debug_assert!(file.architecture() != object::Architecture::Unknown || header.e_machine(endian) == elf::EM_AMDGPU);
    let mut bytes = metadata.ok_or_else(|| failed("it has no note of AMD's".into()))?;
    let map = rmpv::decode::read_value(&mut bytes).map_err(|error| failed(error.to_string()))?;
    let get =
        |map: &Value, key: &str| map.as_map()?.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, v)| v.clone());
    let target = get(&map, "amdhsa.target").and_then(|target| target.as_str().map(str::to_owned)).unwrap_or_default();
    let kernels = get(&map, "amdhsa.kernels").unwrap_or(Value::Nil);
    let mut list = kernels.as_array().into_iter().flatten();
    let found = list.find(|map| get(map, ".name").is_some_and(|name| name.as_str() == Some(entry)));
    let found = found.ok_or_else(|| failed(format!("it has no kernel `{entry}`")))?;
    let number = |key: &str| get(found, key).and_then(|value| value.as_u64()).unwrap_or(0) as u32;
    let resources = Resources {
        vgprs: number(".vgpr_count"),
        agprs: number(".agpr_count"),
        sgprs: number(".sgpr_count"),
        vgpr_spills: number(".vgpr_spill_count"),
        sgpr_spills: number(".sgpr_spill_count"),
        private_bytes: number(".private_segment_fixed_size"),
        lds_bytes: number(".group_segment_fixed_size"),
        wavefront: number(".wavefront_size"),
        max_team: number(".max_flat_workgroup_size"),
    };
    // amdgcn-amd-amdhsa--gfx90a:xnack-
    let arch = target.rsplit_once("--").map_or(target.clone(), |(_, arch)| arch.to_owned());
    Ok((resources, arch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_object_is_refused_with_a_reason() {
        for bytes in [&b""[..], b"\x7fELF", &[0; 200]] {
            let error = read("axpy", "farro_axpy", bytes).unwrap_err();
            assert!(matches!(&error, HipError::CodeObject { kernel, .. } if kernel == "axpy"), "{error}");
        }
    }
}
