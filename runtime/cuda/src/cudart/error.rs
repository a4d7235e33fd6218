//! Errors of the runtime API. Numbers are the driver's where both APIs have the error, names are not.

use std::ffi::{CStr, c_char};

use crate::abi::Code;

pub(crate) const INVALID_CONFIGURATION: Code = Code(9);
pub(crate) const INVALID_PITCH_VALUE: Code = Code(12);
pub(crate) const INVALID_SYMBOL: Code = Code(13);
pub(crate) const INVALID_TEXTURE: Code = Code(18);
pub(crate) const INVALID_CHANNEL_DESCRIPTOR: Code = Code(20);
pub(crate) const INVALID_MEMCPY_DIRECTION: Code = Code(21);
pub(crate) const MISSING_CONFIGURATION: Code = Code(52);
pub(crate) const INVALID_SURFACE: Code = Code(37);
pub(crate) const INVALID_DEVICE_FUNCTION: Code = Code(98);

/// Errors that the driver doesn't have, or has with another text: numbers in ascending order, names and descriptions.
static OWN: &[(u32, &CStr, &CStr)] = &[
    (9, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    (10, c"cudaErrorVersionTranslation", c"cudaGetDeviceProperties version translation failed"),
    (12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    (16, c"cudaErrorInvalidHostPointer", c"invalid host pointer"),
    (17, c"cudaErrorInvalidDevicePointer", c"invalid device pointer"),
    (18, c"cudaErrorInvalidTexture", c"invalid texture reference"),
    (19, c"cudaErrorInvalidTextureBinding", c"texture is not bound to a pointer"),
    (20, c"cudaErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (21, c"cudaErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (22, c"cudaErrorAddressOfConstant", c"__device__ variable address taken"),
    (23, c"cudaErrorTextureFetchFailed", c"fetch from texture failed"),
    (24, c"cudaErrorTextureNotBound", c"cannot fetch from a texture that is not bound"),
    (25, c"cudaErrorSynchronizationError", c"incorrect use of __syncthreads()"),
    (26, c"cudaErrorInvalidFilterSetting", c"linear filtering not supported for non-float type"),
    (27, c"cudaErrorInvalidNormSetting", c"read as normalized float not supported for 32-bit non float type"),
    (28, c"cudaErrorMixedDeviceExecution", c"device emulation mode and device execution mode cannot be mixed"),
    (31, c"cudaErrorNotYetImplemented", c"feature not yet implemented"),
    (32, c"cudaErrorMemoryValueTooLarge", c"memory size or pointer value too large to fit in 32 bit"),
    (35, c"cudaErrorInsufficientDriver", c"CUDA driver version is insufficient for CUDA runtime version"),
    (36, c"cudaErrorCallRequiresNewerDriver", c"API call is not supported in the installed CUDA driver"),
    (37, c"cudaErrorInvalidSurface", c"invalid surface reference"),
    (43, c"cudaErrorDuplicateVariableName", c"duplicate global variable looked up by string name"),
    (44, c"cudaErrorDuplicateTextureName", c"duplicate texture looked up by string name"),
    (45, c"cudaErrorDuplicateSurfaceName", c"duplicate surface looked up by string name"),
    (49, c"cudaErrorIncompatibleDriverContext", c"incompatible driver context"),
    (52, c"cudaErrorMissingConfiguration", c"__global__ function call is not configured"),
    (53, c"cudaErrorPriorLaunchFailure", c"unspecified launch failure in prior launch"),
    (65, c"cudaErrorLaunchMaxDepthExceeded", c"launch would exceed maximum depth of nested launches"),
    (
        66,
        c"cudaErrorLaunchFileScopedTex",
        c"launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)",
    ),
    (
        67,
        c"cudaErrorLaunchFileScopedSurf",
        c"launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)",
    ),
    (
        68,
        c"cudaErrorSyncDepthExceeded",
        c"cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth",
    ),
    (
        69,
        c"cudaErrorLaunchPendingCountExceeded",
        c"launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
    ),
    (98, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    (103, c"cudaErrorSoftwareValidityNotEstablished", c"integrity checks failed"),
    (127, c"cudaErrorStartupFailure", c"startup failure in cuda runtime"),
    (226, c"cudaErrorContained", c"invalid error code"),
];

/// The text for unknown numbers.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

fn own(code: Code) -> Option<&'static (u32, &'static CStr, &'static CStr)> {
    OWN.binary_search_by_key(&code.0, |row| row.0).ok().and_then(|index| OWN.get(index))
}

pub(crate) fn name_of(code: Code) -> Option<&'static CStr> {
    own(code).map(|row| row.1).or_else(|| code.runtime_name())
}

pub(crate) fn name(error: u32) -> *const c_char {
    name_of(Code(error)).unwrap_or(UNRECOGNIZED).as_ptr()
}

pub(crate) fn text(error: u32) -> *const c_char {
    own(Code(error)).map(|row| row.2).or_else(|| Code(error).text()).unwrap_or(UNRECOGNIZED).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_tables() {
        assert!(OWN.is_sorted_by_key(|row| row.0));
        assert_eq!(name_of(INVALID_CONFIGURATION), Some(c"cudaErrorInvalidConfiguration"));
        assert_eq!(name_of(Code(1)), Some(c"cudaErrorInvalidValue"));
        assert_eq!(name_of(Code(226)), Some(c"cudaErrorContained"));
        assert_eq!(name_of(Code(11)), None);
    }
}
