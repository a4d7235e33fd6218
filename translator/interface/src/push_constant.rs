//! Byte offsets within the push constant block of every module.

/// u64: device address of the module's variables (`.global` and `.const`), see [`crate::Interface::variables`].
pub const VARIABLES_ADDRESS: u32 = 0;
/// u64: device address of the parameter block, where [`crate::ParamLocation::Buffer`] says so; or that of scratch memory, see
/// [`ptx2spv_target::Scratch::address`].
pub const PARAMS_ADDRESS: u32 = 8;
/// 3 × u32: `%nctaid`, the whole grid's size even if it is split over several dispatches.
pub const GRID_SIZE: u32 = 16;
/// 3 × u32: added to the dispatch's own workgroup id to give `%ctaid`, or `%clusterid` of entries with
/// [`crate::Entry::cluster`].
pub const GRID_BASE: u32 = 28;
/// First byte of the parameter block, where [`crate::ParamLocation::PushConstant`] says so; or the address of scratch memory.
pub const PARAMS: u32 = 40;
/// u64: device address of the launch's workspace, for entries with [`crate::Entry::cooperative`].
pub const WORKSPACE_ADDRESS: u32 = 48;
/// u64: device address of the table of live [`crate::allocations`], for entries that have it and their parameters in a buffer. It
/// comes after the parameters where these are push constants too.
pub const ALLOCATIONS_ADDRESS: u32 = 56;
