//! `VK_KHR_shader_bfloat16`, which `ash` doesn't have: names and numbers of the Vulkan specification 1.4.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;

use ash::vk;

pub(super) const NAME: &CStr = c"VK_KHR_shader_bfloat16";

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`.
pub(super) const COMPONENT_TYPE: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
#[repr(C)]
pub(super) struct PhysicalDeviceShaderBfloat16FeaturesKHR<'a> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pub(super) shader_bfloat16_type: vk::Bool32,
    shader_bfloat16_dot_product: vk::Bool32,
    pub(super) shader_bfloat16_cooperative_matrix: vk::Bool32,
    marker: PhantomData<&'a ()>,
}

impl Default for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {
    fn default() -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            shader_bfloat16_type: vk::FALSE,
            shader_bfloat16_dot_product: vk::FALSE,
            shader_bfloat16_cooperative_matrix: vk::FALSE,
            marker: PhantomData,
        }
    }
}

// SAFETY: the structure has the layout of the one of this type (`VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR`).
unsafe impl vk::TaggedStructure for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_141_000);
}

// SAFETY: the specification has it in the chain of `VkPhysicalDeviceFeatures2`.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for PhysicalDeviceShaderBfloat16FeaturesKHR<'_> {}
