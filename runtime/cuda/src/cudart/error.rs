//! Errors of the runtime API. Numbers are the driver's where both APIs have the error, names are not.

use std::ffi::{CStr, c_char};

use crate::abi::code::{Code, SUCCESS};

pub(crate) const INVALID_CONFIGURATION: Code = Code(9);
pub(crate) const INVALID_PITCH_VALUE: Code = Code(12);
pub(crate) const INVALID_SYMBOL: Code = Code(13);
pub(crate) const INVALID_TEXTURE: Code = Code(18);
pub(crate) const INVALID_CHANNEL_DESCRIPTOR: Code = Code(20);
pub(crate) const INVALID_MEMCPY_DIRECTION: Code = Code(21);
pub(crate) const MISSING_CONFIGURATION: Code = Code(52);
pub(crate) const INVALID_SURFACE: Code = Code(37);
pub(crate) const INVALID_DEVICE_FUNCTION: Code = Code(98);

/// A row of the table of errors.
struct Row {
    number: u32,
    name: &'static str,
    /// The description, if it differs from the driver's.
    text: Option<&'static str>,
}

macro_rules! rows {
    (@text) => { None };
    (@text $text:literal) => { Some(concat!($text, "\0")) };
    ($($number:literal $name:literal $($text:literal)?,)*) => {
        /// All errors in ascending order.
        static ROWS: &[Row] = &[$(Row { number: $number, name: concat!($name, "\0"), text: rows!(@text $($text)?) }),*];
    };
}

rows! {
    1 "cudaErrorInvalidValue",
    2 "cudaErrorMemoryAllocation",
    3 "cudaErrorInitializationError",
    4 "cudaErrorCudartUnloading",
    5 "cudaErrorProfilerDisabled",
    6 "cudaErrorProfilerNotInitialized",
    7 "cudaErrorProfilerAlreadyStarted",
    8 "cudaErrorProfilerAlreadyStopped",
    9 "cudaErrorInvalidConfiguration" "invalid configuration argument",
    10 "cudaErrorVersionTranslation" "cudaGetDeviceProperties version translation failed",
    12 "cudaErrorInvalidPitchValue" "invalid pitch argument",
    13 "cudaErrorInvalidSymbol" "invalid device symbol",
    16 "cudaErrorInvalidHostPointer" "invalid host pointer",
    17 "cudaErrorInvalidDevicePointer" "invalid device pointer",
    18 "cudaErrorInvalidTexture" "invalid texture reference",
    19 "cudaErrorInvalidTextureBinding" "texture is not bound to a pointer",
    20 "cudaErrorInvalidChannelDescriptor" "invalid channel descriptor",
    21 "cudaErrorInvalidMemcpyDirection" "invalid copy direction for memcpy",
    22 "cudaErrorAddressOfConstant" "__device__ variable address taken",
    23 "cudaErrorTextureFetchFailed" "fetch from texture failed",
    24 "cudaErrorTextureNotBound" "cannot fetch from a texture that is not bound",
    25 "cudaErrorSynchronizationError" "incorrect use of __syncthreads()",
    26 "cudaErrorInvalidFilterSetting" "linear filtering not supported for non-float type",
    27 "cudaErrorInvalidNormSetting" "read as normalized float not supported for 32-bit non float type",
    28 "cudaErrorMixedDeviceExecution" "device emulation mode and device execution mode cannot be mixed",
    31 "cudaErrorNotYetImplemented" "feature not yet implemented",
    32 "cudaErrorMemoryValueTooLarge" "memory size or pointer value too large to fit in 32 bit",
    34 "cudaErrorStubLibrary",
    35 "cudaErrorInsufficientDriver" "CUDA driver version is insufficient for CUDA runtime version",
    36 "cudaErrorCallRequiresNewerDriver" "API call is not supported in the installed CUDA driver",
    37 "cudaErrorInvalidSurface" "invalid surface reference",
    43 "cudaErrorDuplicateVariableName" "duplicate global variable looked up by string name",
    44 "cudaErrorDuplicateTextureName" "duplicate texture looked up by string name",
    45 "cudaErrorDuplicateSurfaceName" "duplicate surface looked up by string name",
    46 "cudaErrorDevicesUnavailable",
    49 "cudaErrorIncompatibleDriverContext" "incompatible driver context",
    52 "cudaErrorMissingConfiguration" "__global__ function call is not configured",
    53 "cudaErrorPriorLaunchFailure" "unspecified launch failure in prior launch",
    65 "cudaErrorLaunchMaxDepthExceeded" "launch would exceed maximum depth of nested launches",
    66 "cudaErrorLaunchFileScopedTex" "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)",
    67 "cudaErrorLaunchFileScopedSurf" "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)",
    68 "cudaErrorSyncDepthExceeded" "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth",
    69 "cudaErrorLaunchPendingCountExceeded" "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
    98 "cudaErrorInvalidDeviceFunction" "invalid device function",
    100 "cudaErrorNoDevice",
    101 "cudaErrorInvalidDevice",
    102 "cudaErrorDeviceNotLicensed",
    103 "cudaErrorSoftwareValidityNotEstablished" "integrity checks failed",
    127 "cudaErrorStartupFailure" "startup failure in cuda runtime",
    200 "cudaErrorInvalidKernelImage",
    201 "cudaErrorDeviceUninitialized",
    205 "cudaErrorMapBufferObjectFailed",
    206 "cudaErrorUnmapBufferObjectFailed",
    207 "cudaErrorArrayIsMapped",
    208 "cudaErrorAlreadyMapped",
    209 "cudaErrorNoKernelImageForDevice",
    210 "cudaErrorAlreadyAcquired",
    211 "cudaErrorNotMapped",
    212 "cudaErrorNotMappedAsArray",
    213 "cudaErrorNotMappedAsPointer",
    214 "cudaErrorECCUncorrectable",
    215 "cudaErrorUnsupportedLimit",
    216 "cudaErrorDeviceAlreadyInUse",
    217 "cudaErrorPeerAccessUnsupported",
    218 "cudaErrorInvalidPtx",
    219 "cudaErrorInvalidGraphicsContext",
    220 "cudaErrorNvlinkUncorrectable",
    221 "cudaErrorJitCompilerNotFound",
    222 "cudaErrorUnsupportedPtxVersion",
    223 "cudaErrorJitCompilationDisabled",
    224 "cudaErrorUnsupportedExecAffinity",
    225 "cudaErrorUnsupportedDevSideSync",
    226 "cudaErrorContained" "invalid error code",
    300 "cudaErrorInvalidSource",
    301 "cudaErrorFileNotFound",
    302 "cudaErrorSharedObjectSymbolNotFound",
    303 "cudaErrorSharedObjectInitFailed",
    304 "cudaErrorOperatingSystem",
    400 "cudaErrorInvalidResourceHandle",
    401 "cudaErrorIllegalState",
    402 "cudaErrorLossyQuery",
    500 "cudaErrorSymbolNotFound",
    600 "cudaErrorNotReady",
    700 "cudaErrorIllegalAddress",
    701 "cudaErrorLaunchOutOfResources",
    702 "cudaErrorLaunchTimeout",
    703 "cudaErrorLaunchIncompatibleTexturing",
    704 "cudaErrorPeerAccessAlreadyEnabled",
    705 "cudaErrorPeerAccessNotEnabled",
    708 "cudaErrorSetOnActiveProcess",
    709 "cudaErrorContextIsDestroyed",
    710 "cudaErrorAssert",
    711 "cudaErrorTooManyPeers",
    712 "cudaErrorHostMemoryAlreadyRegistered",
    713 "cudaErrorHostMemoryNotRegistered",
    714 "cudaErrorHardwareStackError",
    715 "cudaErrorIllegalInstruction",
    716 "cudaErrorMisalignedAddress",
    717 "cudaErrorInvalidAddressSpace",
    718 "cudaErrorInvalidPc",
    719 "cudaErrorLaunchFailure",
    720 "cudaErrorCooperativeLaunchTooLarge",
    721 "cudaErrorTensorMemoryLeak",
    800 "cudaErrorNotPermitted",
    801 "cudaErrorNotSupported",
    802 "cudaErrorSystemNotReady",
    803 "cudaErrorSystemDriverMismatch",
    804 "cudaErrorCompatNotSupportedOnDevice",
    805 "cudaErrorMpsConnectionFailed",
    806 "cudaErrorMpsRpcFailure",
    807 "cudaErrorMpsServerNotReady",
    808 "cudaErrorMpsMaxClientsReached",
    809 "cudaErrorMpsMaxConnectionsReached",
    810 "cudaErrorMpsClientTerminated",
    811 "cudaErrorCdpNotSupported",
    812 "cudaErrorCdpVersionMismatch",
    900 "cudaErrorStreamCaptureUnsupported",
    901 "cudaErrorStreamCaptureInvalidated",
    902 "cudaErrorStreamCaptureMerge",
    903 "cudaErrorStreamCaptureUnmatched",
    904 "cudaErrorStreamCaptureUnjoined",
    905 "cudaErrorStreamCaptureIsolation",
    906 "cudaErrorStreamCaptureImplicit",
    907 "cudaErrorCapturedEvent",
    908 "cudaErrorStreamCaptureWrongThread",
    909 "cudaErrorTimeout",
    910 "cudaErrorGraphExecUpdateFailure",
    911 "cudaErrorExternalDevice",
    912 "cudaErrorInvalidClusterSize",
    913 "cudaErrorFunctionNotLoaded",
    914 "cudaErrorInvalidResourceType",
    915 "cudaErrorInvalidResourceConfiguration",
    999 "cudaErrorUnknown",
}

/// The text for unknown numbers.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

fn row(code: Code) -> Option<&'static Row> {
    ROWS.binary_search_by_key(&code.0, |row| row.number).ok().and_then(|index| ROWS.get(index))
}

fn c_string(text: &'static str) -> Option<&'static CStr> {
    CStr::from_bytes_with_nul(text.as_bytes()).ok()
}

/// The name of a code.
pub(crate) fn name_of(code: Code) -> Option<&'static CStr> {
    if code == SUCCESS { Some(c"cudaSuccess") } else { row(code).and_then(|row| c_string(row.name)) }
}

pub(crate) fn name(error: u32) -> *const c_char {
    name_of(Code(error)).unwrap_or(UNRECOGNIZED).as_ptr()
}

pub(crate) fn text(error: u32) -> *const c_char {
    let own = row(Code(error)).and_then(|row| row.text).and_then(c_string);
    own.or_else(|| Code(error).text()).unwrap_or(UNRECOGNIZED).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_name_and_a_text() {
        assert!(ROWS.is_sorted_by_key(|row| row.number));
        for row in ROWS {
            assert!(c_string(row.name).is_some());
            // Every row without a text has a driver's code with that number.
            assert!(row.text.is_some() || Code(row.number).text().is_some(), "{}", row.name);
        }
        assert_eq!(name_of(INVALID_CONFIGURATION), Some(c"cudaErrorInvalidConfiguration"));
        assert_eq!(name_of(Code(11)), None);
    }
}
