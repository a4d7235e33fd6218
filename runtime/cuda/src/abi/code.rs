//! Result codes, and their equivalents among the runtime's errors.

use std::cell::RefCell;
use std::ffi::CStr;

use ptx2spv_fatbin::Error as Wrong;
use ptx2spv_runtime::{Error, ErrorGroup, FindingKind, FormatError, TextureError};

/// A `CUresult` for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub u32);

/// The result of the body of a call.
pub(crate) type Result<T = (), E = Code> = std::result::Result<T, E>;

/// A row of the table of codes.
struct Row {
    number: u32,
    name: &'static CStr,
    /// The runtime API's name, if it has the error with the same text.
    runtime_name: Option<&'static CStr>,
    text: &'static CStr,
}

macro_rules! codes {
    (@name _) => { None };
    (@name $name:literal) => { Some($name) };
    ($($name:ident $number:literal $runtime:tt $text:literal,)*) => {
        $(#[allow(dead_code, reason = "some codes of the table are never returned here")]
        pub(crate) const $name: Code = Code($number);)*

        /// All codes in ascending order.
        static CODES: &[Row] = &[$(Row {
            number: $number,
            name: c_string(concat!("CUDA_ERROR_", stringify!($name), "\0")),
            runtime_name: codes!(@name $runtime),
            text: $text,
        }),*];
    };
}

codes! {
    SUCCESS 0 c"cudaSuccess" c"no error",
    INVALID_VALUE 1 c"cudaErrorInvalidValue" c"invalid argument",
    OUT_OF_MEMORY 2 c"cudaErrorMemoryAllocation" c"out of memory",
    NOT_INITIALIZED 3 c"cudaErrorInitializationError" c"initialization error",
    DEINITIALIZED 4 c"cudaErrorCudartUnloading" c"driver shutting down",
    PROFILER_DISABLED 5 c"cudaErrorProfilerDisabled" c"profiler disabled while using external profiling tool",
    PROFILER_NOT_INITIALIZED 6 c"cudaErrorProfilerNotInitialized" c"profiler not initialized: call cudaProfilerInitialize()",
    PROFILER_ALREADY_STARTED 7 c"cudaErrorProfilerAlreadyStarted" c"profiler already started",
    PROFILER_ALREADY_STOPPED 8 c"cudaErrorProfilerAlreadyStopped" c"profiler already stopped",
    STUB_LIBRARY 34 c"cudaErrorStubLibrary" c"CUDA driver is a stub library",
    DEVICE_UNAVAILABLE 46 c"cudaErrorDevicesUnavailable" c"CUDA-capable device(s) is/are busy or unavailable",
    NO_DEVICE 100 c"cudaErrorNoDevice" c"no CUDA-capable device is detected",
    INVALID_DEVICE 101 c"cudaErrorInvalidDevice" c"invalid device ordinal",
    DEVICE_NOT_LICENSED 102 c"cudaErrorDeviceNotLicensed" c"device not licensed",
    INVALID_IMAGE 200 c"cudaErrorInvalidKernelImage" c"device kernel image is invalid",
    INVALID_CONTEXT 201 c"cudaErrorDeviceUninitialized" c"invalid device context",
    CONTEXT_ALREADY_CURRENT 202 _ c"context already current",
    MAP_FAILED 205 c"cudaErrorMapBufferObjectFailed" c"mapping of buffer object failed",
    UNMAP_FAILED 206 c"cudaErrorUnmapBufferObjectFailed" c"unmapping of buffer object failed",
    ARRAY_IS_MAPPED 207 c"cudaErrorArrayIsMapped" c"array is mapped",
    ALREADY_MAPPED 208 c"cudaErrorAlreadyMapped" c"resource already mapped",
    NO_BINARY_FOR_GPU 209 c"cudaErrorNoKernelImageForDevice" c"no kernel image is available for execution on the device",
    ALREADY_ACQUIRED 210 c"cudaErrorAlreadyAcquired" c"resource already acquired",
    NOT_MAPPED 211 c"cudaErrorNotMapped" c"resource not mapped",
    NOT_MAPPED_AS_ARRAY 212 c"cudaErrorNotMappedAsArray" c"resource not mapped as array",
    NOT_MAPPED_AS_POINTER 213 c"cudaErrorNotMappedAsPointer" c"resource not mapped as pointer",
    ECC_UNCORRECTABLE 214 c"cudaErrorECCUncorrectable" c"uncorrectable ECC error encountered",
    UNSUPPORTED_LIMIT 215 c"cudaErrorUnsupportedLimit" c"limit is not supported on this architecture",
    CONTEXT_ALREADY_IN_USE 216 c"cudaErrorDeviceAlreadyInUse" c"exclusive-thread device already in use by a different thread",
    PEER_ACCESS_UNSUPPORTED 217 c"cudaErrorPeerAccessUnsupported" c"peer access is not supported between these two devices",
    INVALID_PTX 218 c"cudaErrorInvalidPtx" c"a PTX JIT compilation failed",
    INVALID_GRAPHICS_CONTEXT 219 c"cudaErrorInvalidGraphicsContext" c"invalid OpenGL or DirectX context",
    NVLINK_UNCORRECTABLE 220 c"cudaErrorNvlinkUncorrectable" c"uncorrectable NVLink error detected during the execution",
    JIT_COMPILER_NOT_FOUND 221 c"cudaErrorJitCompilerNotFound" c"PTX JIT compiler library not found",
    UNSUPPORTED_PTX_VERSION 222 c"cudaErrorUnsupportedPtxVersion" c"the provided PTX was compiled with an unsupported toolchain.",
    JIT_COMPILATION_DISABLED 223 c"cudaErrorJitCompilationDisabled" c"PTX JIT compilation was disabled",
    UNSUPPORTED_EXEC_AFFINITY 224 c"cudaErrorUnsupportedExecAffinity" c"the provided execution affinity is not supported",
    UNSUPPORTED_DEVSIDE_SYNC 225 c"cudaErrorUnsupportedDevSideSync" c"the provided PTX contains unsupported call to cudaDeviceSynchronize",
    CONTAINED 226 _ c"Invalid error code",
    INVALID_SOURCE 300 c"cudaErrorInvalidSource" c"device kernel image is invalid",
    FILE_NOT_FOUND 301 c"cudaErrorFileNotFound" c"file not found",
    SHARED_OBJECT_SYMBOL_NOT_FOUND 302 c"cudaErrorSharedObjectSymbolNotFound" c"shared object symbol not found",
    SHARED_OBJECT_INIT_FAILED 303 c"cudaErrorSharedObjectInitFailed" c"shared object initialization failed",
    OPERATING_SYSTEM 304 c"cudaErrorOperatingSystem" c"OS call failed or operation not supported on this OS",
    INVALID_HANDLE 400 c"cudaErrorInvalidResourceHandle" c"invalid resource handle",
    ILLEGAL_STATE 401 c"cudaErrorIllegalState" c"the operation cannot be performed in the present state",
    LOSSY_QUERY 402 c"cudaErrorLossyQuery" c"attempted introspection would be semantically lossy",
    NOT_FOUND 500 c"cudaErrorSymbolNotFound" c"named symbol not found",
    NOT_READY 600 c"cudaErrorNotReady" c"device not ready",
    ILLEGAL_ADDRESS 700 c"cudaErrorIllegalAddress" c"an illegal memory access was encountered",
    LAUNCH_OUT_OF_RESOURCES 701 c"cudaErrorLaunchOutOfResources" c"too many resources requested for launch",
    LAUNCH_TIMEOUT 702 c"cudaErrorLaunchTimeout" c"the launch timed out and was terminated",
    LAUNCH_INCOMPATIBLE_TEXTURING 703 c"cudaErrorLaunchIncompatibleTexturing" c"launch uses incompatible texturing mode",
    PEER_ACCESS_ALREADY_ENABLED 704 c"cudaErrorPeerAccessAlreadyEnabled" c"peer access is already enabled",
    PEER_ACCESS_NOT_ENABLED 705 c"cudaErrorPeerAccessNotEnabled" c"peer access has not been enabled",
    PRIMARY_CONTEXT_ACTIVE 708 c"cudaErrorSetOnActiveProcess" c"cannot set while device is active in this process",
    CONTEXT_IS_DESTROYED 709 c"cudaErrorContextIsDestroyed" c"context is destroyed",
    ASSERT 710 c"cudaErrorAssert" c"device-side assert triggered",
    TOO_MANY_PEERS 711 c"cudaErrorTooManyPeers" c"peer mapping resources exhausted",
    HOST_MEMORY_ALREADY_REGISTERED 712 c"cudaErrorHostMemoryAlreadyRegistered" c"part or all of the requested memory range is already mapped",
    HOST_MEMORY_NOT_REGISTERED 713 c"cudaErrorHostMemoryNotRegistered" c"pointer does not correspond to a registered memory region",
    HARDWARE_STACK_ERROR 714 c"cudaErrorHardwareStackError" c"hardware stack error",
    ILLEGAL_INSTRUCTION 715 c"cudaErrorIllegalInstruction" c"an illegal instruction was encountered",
    MISALIGNED_ADDRESS 716 c"cudaErrorMisalignedAddress" c"misaligned address",
    INVALID_ADDRESS_SPACE 717 c"cudaErrorInvalidAddressSpace" c"operation not supported on global/shared address space",
    INVALID_PC 718 c"cudaErrorInvalidPc" c"invalid program counter",
    LAUNCH_FAILED 719 c"cudaErrorLaunchFailure" c"unspecified launch failure",
    COOPERATIVE_LAUNCH_TOO_LARGE 720 c"cudaErrorCooperativeLaunchTooLarge" c"too many blocks in cooperative launch",
    TENSOR_MEMORY_LEAK 721 c"cudaErrorTensorMemoryLeak" c"tensor memory not completely freed",
    NOT_PERMITTED 800 c"cudaErrorNotPermitted" c"operation not permitted",
    NOT_SUPPORTED 801 c"cudaErrorNotSupported" c"operation not supported",
    SYSTEM_NOT_READY 802 c"cudaErrorSystemNotReady" c"system not yet initialized",
    SYSTEM_DRIVER_MISMATCH 803 c"cudaErrorSystemDriverMismatch" c"system has unsupported display driver / cuda driver combination",
    COMPAT_NOT_SUPPORTED_ON_DEVICE 804 c"cudaErrorCompatNotSupportedOnDevice" c"forward compatibility was attempted on non supported HW",
    MPS_CONNECTION_FAILED 805 c"cudaErrorMpsConnectionFailed" c"MPS client failed to connect to the MPS control daemon or the MPS server",
    MPS_RPC_FAILURE 806 c"cudaErrorMpsRpcFailure" c"the remote procedural call between the MPS server and the MPS client failed",
    MPS_SERVER_NOT_READY 807 c"cudaErrorMpsServerNotReady" c"MPS server is not ready to accept new MPS client requests",
    MPS_MAX_CLIENTS_REACHED 808 c"cudaErrorMpsMaxClientsReached" c"the hardware resources required to create MPS client have been exhausted",
    MPS_MAX_CONNECTIONS_REACHED 809 c"cudaErrorMpsMaxConnectionsReached" c"the hardware resources required to support device connections have been exhausted",
    MPS_CLIENT_TERMINATED 810 c"cudaErrorMpsClientTerminated" c"the MPS client has been terminated by the server",
    CDP_NOT_SUPPORTED 811 c"cudaErrorCdpNotSupported" c"the current program uses CUDA Dynamic Parallelism, but this device does not support it",
    CDP_VERSION_MISMATCH 812 c"cudaErrorCdpVersionMismatch" c"the program contains an unsupported interaction between different versions of CUDA Dynamic Parallelism",
    STREAM_CAPTURE_UNSUPPORTED 900 c"cudaErrorStreamCaptureUnsupported" c"operation not permitted when stream is capturing",
    STREAM_CAPTURE_INVALIDATED 901 c"cudaErrorStreamCaptureInvalidated" c"operation failed due to a previous error during capture",
    STREAM_CAPTURE_MERGE 902 c"cudaErrorStreamCaptureMerge" c"operation would result in a merge of separate capture sequences",
    STREAM_CAPTURE_UNMATCHED 903 c"cudaErrorStreamCaptureUnmatched" c"capture was not ended in the same stream as it began",
    STREAM_CAPTURE_UNJOINED 904 c"cudaErrorStreamCaptureUnjoined" c"capturing stream has unjoined work",
    STREAM_CAPTURE_ISOLATION 905 c"cudaErrorStreamCaptureIsolation" c"dependency created on uncaptured work in another stream",
    STREAM_CAPTURE_IMPLICIT 906 c"cudaErrorStreamCaptureImplicit" c"operation would make the legacy stream depend on a capturing blocking stream",
    CAPTURED_EVENT 907 c"cudaErrorCapturedEvent" c"operation not permitted on an event last recorded in a capturing stream",
    STREAM_CAPTURE_WRONG_THREAD 908 c"cudaErrorStreamCaptureWrongThread" c"attempt to terminate a thread-local capture sequence from another thread",
    TIMEOUT 909 c"cudaErrorTimeout" c"wait operation timed out",
    GRAPH_EXEC_UPDATE_FAILURE 910 c"cudaErrorGraphExecUpdateFailure" c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update",
    EXTERNAL_DEVICE 911 c"cudaErrorExternalDevice" c"an async error has occured in external entity outside of CUDA",
    INVALID_CLUSTER_SIZE 912 c"cudaErrorInvalidClusterSize" c"a kernel launch error has occurred due to cluster misconfiguration",
    FUNCTION_NOT_LOADED 913 c"cudaErrorFunctionNotLoaded" c"the function handle is not loaded when calling an API that requires a loaded function",
    INVALID_RESOURCE_TYPE 914 c"cudaErrorInvalidResourceType" c"the external resource is not valid for the requested operation type",
    INVALID_RESOURCE_CONFIGURATION 915 c"cudaErrorInvalidResourceConfiguration" c"the resource is insufficient or not applicable to the requested operation",
    UNKNOWN 999 c"cudaErrorUnknown" c"unknown error",
}

impl Code {
    /// The name of the code.
    pub fn name(self) -> Option<&'static CStr> {
        if self == SUCCESS { Some(c"CUDA_SUCCESS") } else { self.row().map(|row| row.name) }
    }

    /// The name that the runtime API has for the code.
    pub fn runtime_name(self) -> Option<&'static CStr> {
        self.row().and_then(|row| row.runtime_name)
    }

    /// The description of the code.
    pub fn text(self) -> Option<&'static CStr> {
        self.row().map(|row| row.text)
    }

    fn row(self) -> Option<&'static Row> {
        CODES.binary_search_by_key(&self.0, |row| row.number).ok().and_then(|index| CODES.get(index))
    }

    /// Whether the error makes its context unusable.
    pub fn is_sticky(self) -> bool {
        matches!(self, ILLEGAL_ADDRESS | LAUNCH_TIMEOUT | ASSERT | LAUNCH_FAILED | MISALIGNED_ADDRESS)
    }

    /// Attaches a reason, which the trace shows.
    pub fn because(self, reason: impl ToString) -> Self {
        // `try_with` fails while the thread is being destroyed; no call is traced then.
        let _ = REASON.try_with(|last| *last.borrow_mut() = Some(reason.to_string()));
        self
    }
}

const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

thread_local! {
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The reason why the thread's last failed call failed.
pub(crate) fn reason() -> Option<String> {
    REASON.try_with(|last| last.borrow().clone()).ok().flatten()
}

/// Takes the reason why the thread's last failed call failed.
pub(crate) fn take_reason() -> Option<String> {
    REASON.try_with(|last| last.borrow_mut().take()).ok().flatten()
}

impl From<FormatError> for Code {
    fn from(error: FormatError) -> Self {
        Error::from(error).into()
    }
}

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Environment { .. } => NO_DEVICE,
            _ if error.group() == ErrorGroup::Device => NO_DEVICE,
            _ if error.group() == ErrorGroup::OutOfMemory => OUT_OF_MEMORY,
            Error::Translation(_) | Error::Refused { .. } => INVALID_PTX,
            Error::Binary { error: Wrong::MachineCode | Wrong::NoPtx { .. }, .. } => NO_BINARY_FOR_GPU,
            Error::Binary { .. } => INVALID_IMAGE,
            Error::MissingFeatures { .. } | Error::NoVariant { .. } | Error::SpirvVersion { .. } => NO_BINARY_FOR_GPU,
            Error::NoKernel { .. } | Error::NoVariable(_) => NOT_FOUND,
            Error::NoTime => INVALID_HANDLE,
            Error::NoTimestamps(_) | Error::NoManagedMemory { .. } | Error::NotRegistered { .. } => NOT_SUPPORTED,
            Error::Forked => NOT_INITIALIZED,
            // CUDA's message for a failed assertion.
            Error::Aborted { reason, .. } if reason.contains("Assertion `") => ASSERT,
            // CUDA reports a failed copy like an illegal access in a kernel.
            Error::Request { reason, .. } => match **reason {
                Error::NotAllocated { .. } | Error::OutOfRange { .. } => ILLEGAL_ADDRESS,
                _ => LAUNCH_FAILED,
            },
            Error::DeviceLost { address: Some(_), .. } | Error::SegmentationFault { .. } => ILLEGAL_ADDRESS,
            Error::Aborted { .. } | Error::Overwritten { .. } | Error::DeviceLost { .. } => LAUNCH_FAILED,
            Error::Fault { findings } => match findings.first().map(|finding| finding.kind) {
                Some(FindingKind::OutOfBounds | FindingKind::UseAfterFree | FindingKind::ReadOnly) => ILLEGAL_ADDRESS,
                Some(FindingKind::Misaligned) => MISALIGNED_ADDRESS,
                Some(FindingKind::StepBudget | FindingKind::Deadlock) => LAUNCH_TIMEOUT,
                _ => LAUNCH_FAILED,
            },
            Error::Texture(TextureError::Format(FormatError::Named(_) | FormatError::Unknown { .. })) => NOT_SUPPORTED,
            Error::ForeignBuffer(_) => INVALID_CONTEXT,
            Error::HostThread(_) => OPERATING_SYSTEM,
            Error::Graph(_) => UNKNOWN,
            _ if error.group() == ErrorGroup::Argument => INVALID_VALUE,
            _ => UNKNOWN,
        };
        code.because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_by_number() {
        assert!(CODES.is_sorted_by_key(|row| row.number));
        assert_eq!(INVALID_PTX.name(), Some(c"CUDA_ERROR_INVALID_PTX"));
        assert_eq!(Code(0).name(), Some(c"CUDA_SUCCESS"));
        assert_eq!(OUT_OF_MEMORY.text(), Some(c"out of memory"));
        assert_eq!(Code(12345).name(), None);
    }
}
