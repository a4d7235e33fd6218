//! What all exported functions share: their table, errors, handles and pointers.

pub(crate) mod call;
pub(crate) mod code;
pub(crate) mod handle;
pub(crate) mod raw;
pub(crate) mod sync;
pub(crate) mod trace;

pub(crate) use code::{
    CAPTURED_EVENT, CONTEXT_IS_DESTROYED, Code, DEINITIALIZED, FILE_NOT_FOUND, GRAPH_EXEC_UPDATE_FAILURE,
    HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, ILLEGAL_STATE, INVALID_CONTEXT, INVALID_DEVICE,
    INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, LAUNCH_FAILED, LOSSY_QUERY, NO_BINARY_FOR_GPU, NO_DEVICE, NOT_FOUND,
    NOT_INITIALIZED, NOT_PERMITTED, NOT_READY, NOT_SUPPORTED, OUT_OF_MEMORY, PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED, PRIMARY_CONTEXT_ACTIVE, Result, STREAM_CAPTURE_ISOLATION,
    STREAM_CAPTURE_MERGE, STREAM_CAPTURE_UNJOINED, STREAM_CAPTURE_UNMATCHED, STREAM_CAPTURE_UNSUPPORTED, SUCCESS,
    UNSUPPORTED_EXEC_AFFINITY, UNSUPPORTED_LIMIT,
};
pub(crate) use handle::{Handle, Names, Object, objects};
pub(crate) use raw::{HostFunction, In, Memory, Out, SizeFunction, StreamCallback, Text, layouts, size_t};
pub(crate) use sync::{INLINE, ThreadList, lock};
