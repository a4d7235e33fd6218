//! The table in which kernels find the kernels that they launch.

use std::sync::Arc;

use crate::decode::program::{FuncId, Program};
use crate::lower::layout::launch_region::LaunchRegion;
use crate::lower::layout::launch_texts;
use crate::lower::layout::services::Services;
use crate::lower::layout::{self, LaunchKind, Places};
use crate::policy::Policy;
use ptx2spv_interface::launches::{FUNCTION_BYTES, FUNCTION_WORDS, Function, SHARED_LIMIT};
use ptx2spv_interface::{ImageRun, Variables};

/// Most threads of a block.
const MAX_THREADS: u32 = 1024;

/// Adds the table to the initial bytes of the module's variables.
pub fn add_table(
    program: &Program,
    region: LaunchRegion,
    places: &Arc<Places>,
    services: Services,
    policy: &Policy,
    variables: &mut Variables,
) {
    if region.texts {
        let offset = region.offset + region.texts_offset();
        variables.image.push(ImageRun { offset, bytes: launch_texts::bytes() });
    }
    for (number, (id, kernel)) in (1_u32..).zip(program.kernels()) {
        if !program.address_taken.contains(&id) {
            continue;
        }
        // A kernel that can't be laid out can't be translated either, and its launch gives an error.
        let layout = layout::lay_out(program, id, places, services, policy, LaunchKind::default()).ok();
        let shared = layout.as_ref().map_or(0, |layout| layout.shared_bytes - layout.reserved_shared);
        let local = layout.as_ref().map_or(0, |layout| layout.local_bytes);
        let threads = |block: [u32; 3]| block.into_iter().fold(1, u32::saturating_mul);
        let declared = kernel.required_block.into_iter().chain(kernel.max_block).map(threads);
        let [x, y, z] = kernel.required_block.unwrap_or_default();
        let mut words = [0; FUNCTION_WORDS as usize];
        for (word, value) in [
            (Function::Number, number),
            (Function::MaxThreads, declared.fold(MAX_THREADS, u32::min)),
            (Function::SharedBytes, shared),
            (Function::LocalBytes, local),
            (Function::RequiredX, x),
            (Function::RequiredY, y),
            (Function::RequiredZ, z),
            (Function::SharedLimit, SHARED_LIMIT.max(shared)),
        ] {
            words[word as usize] = value;
        }
        let FuncId(place) = id;
        let offset = region.offset + LaunchRegion::TABLE + FUNCTION_BYTES * u64::from(place);
        variables.image.push(ImageRun { offset, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() });
    }
}
