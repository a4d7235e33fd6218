//! Extensions that `ash` doesn't have: names and numbers of the Vulkan specification 1.4.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;

use ash::vk;

pub(super) const BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";
pub(super) const FMA: &CStr = c"VK_KHR_shader_fma";

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`.
pub(super) const BFLOAT16_COMPONENT: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);

macro_rules! feature_structs {
    ($($(#[$doc:meta])* $name:ident = $number:literal { $($field:ident,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub(super) struct $name<'a> {
                s_type: vk::StructureType,
                p_next: *mut c_void,
                $(pub(super) $field: vk::Bool32,)*
                marker: PhantomData<&'a ()>,
            }

            impl Default for $name<'_> {
                fn default() -> Self {
                    Self {
                        s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
                        p_next: ptr::null_mut(),
                        $($field: vk::FALSE,)*
                        marker: PhantomData,
                    }
                }
            }

            // SAFETY: the structure has the members that the specification gives to the one with this number, in that order.
            unsafe impl vk::TaggedStructure for $name<'_> {
                const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
            }

            // SAFETY: the specification has the structure in the chain of `VkPhysicalDeviceFeatures2`.
            unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for $name<'_> {}
        )*
    };
}

feature_structs! {
    /// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
    PhysicalDeviceShaderBfloat16FeaturesKHR = 1_000_141_000 {
        shader_bfloat16_type,
        shader_bfloat16_dot_product,
        shader_bfloat16_cooperative_matrix,
    }
    /// `VkPhysicalDeviceShaderFmaFeaturesKHR`.
    PhysicalDeviceShaderFmaFeaturesKHR = 1_000_579_000 {
        shader_fma_float16,
        shader_fma_float32,
        shader_fma_float64,
    }
}
