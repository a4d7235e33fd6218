//! Synchronization: gives waiting between threads a form that Vulkan has, while a kernel is still a graph.
//!
//! * [`yield_in_loops`]: forward progress of loops in which a thread waits for another.
//! * [`make_warp_sync_explicit`]: implicit warp synchrony of code for architectures before Volta.
//! * [`pause_in_loops`]: long loops, which some drivers end, in kernels that `suspend_in_loops` leaves alone.
//! * [`converge_warp_operations`]: convergence of `.sync` operations whose members come to them at different places.
//! * [`resolve_barriers`]: barriers in uniform control flow.
//! * [`suspend_in_loops`]: long loops in other kernels.
//! * [`reconverge_in_loops`]: loops in whose iterations the threads of a warp meet.

mod barriers;
mod convergence;
mod forward_progress;
mod implicit_warp_sync;
mod loop_suspension;
mod reconvergence;

pub use barriers::{Resolved, RoundsLeft, SavedLayout, resolve_barriers};
pub use convergence::converge_warp_operations;
pub use forward_progress::yield_in_loops;
pub use implicit_warp_sync::make_warp_sync_explicit;
pub use loop_suspension::{Loop, SuspendedLoops, SuspensionKind, loops, mark_loops, pause_in_loops, suspend_in_loops};
pub use reconvergence::reconverge_in_loops;
