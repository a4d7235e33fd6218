//! The devices that a program sees that spreads its work, listed without opening them.

use std::fmt;

use crate::backend::reference;
use crate::backend::vulkan::{Instance, InstanceOptions, PhysicalDevice};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::select::DeviceSelector;
use crate::info::{DeviceInfo, DeviceKind};
use crate::open::{is_absence, open_tested};

/// A device that can be opened.
///
/// ```
/// use ptx2spv_runtime::{InstanceOptions, listed_devices};
///
/// for listed in listed_devices(&InstanceOptions::default())? {
///     assert_eq!(listed.open()?.info().name, listed.info().name);
/// }
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
pub struct ListedDevice {
    info: DeviceInfo,
    place: Place,
}

enum Place {
    Vulkan(Box<(Instance, PhysicalDevice)>),
    Selected(Box<(DeviceSelector, InstanceOptions)>),
}

impl fmt::Debug for ListedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListedDevice({})", self.info.name)
    }
}

impl ListedDevice {
    /// The driver's description. The facts of its target are those of a device without a self-test.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Opens the device. Each call opens it anew.
    ///
    /// # Errors
    /// The errors of [`Device::open`].
    pub fn open(&self) -> Result<Device> {
        match &self.place {
            Place::Vulkan(found) => open_tested(&found.0, &found.1),
            Place::Selected(selected) => Device::open_with(&selected.0, &selected.1),
        }
    }

    fn vulkan(instance: &Instance, physical: &PhysicalDevice) -> Self {
        let place = Place::Vulkan(Box::new((instance.clone(), physical.clone())));
        Self { info: physical.info.clone(), place }
    }
}

/// Lists devices without opening them: those that the environment variable `PTX2SPV_DEVICE` names, in its order, or the best
/// one if it isn't set, and with that the machine's other graphics cards of the same type. A card of several drivers is listed
/// once. The first device is that of [`DeviceSelector::Default`].
///
/// # Errors
/// The errors of [`Device::open`].
pub fn listed_devices(options: &InstanceOptions) -> Result<Vec<ListedDevice>> {
    let selectors = DeviceSelector::of_environment()?;
    let selected = |selector: &DeviceSelector, info| {
        let place = Place::Selected(Box::new((selector.clone(), options.clone())));
        ListedDevice { info, place }
    };
    let mut vulkan = None;
    // Not before a selector needs it.
    let mut all = || match &vulkan {
        Some(known) => Ok::<_, Error>(Clone::clone(known)),
        None => {
            let instance = Instance::new(options)?;
            let list = instance.physical_devices()?;
            Ok(vulkan.insert((instance, list)).clone())
        }
    };
    let mut one = |selector: &DeviceSelector, with_similar: bool| {
        if let DeviceSelector::Reference(options) = selector {
            return Ok(vec![selected(selector, reference::describe(Some(options))?)]);
        }
        let found = all().and_then(|(instance, list)| {
            let chosen = choose(selector, &list, with_similar)?;
            Ok(chosen.into_iter().map(|physical| ListedDevice::vulkan(&instance, physical)).collect::<Vec<_>>())
        });
        match found {
            // The reference device stands in, and says so when it is opened.
            Err(reason) if *selector == DeviceSelector::Best && is_absence(&reason) => {
                let info = reference::describe(None).map_err(|_| reason)?;
                Ok(vec![selected(selector, info)])
            }
            found => found.map_err(|error| DeviceSelector::Default.blame(error)),
        }
    };
    if selectors.is_empty() {
        return one(&DeviceSelector::Best, true);
    }
    let lists = selectors.iter().map(|selector| one(selector, false)).collect::<Result<Vec<_>>>()?;
    Ok(lists.into_iter().flatten().collect())
}

/// The selected device of a list, and the devices that are similar.
fn choose<'d>(
    selector: &DeviceSelector,
    list: &'d [PhysicalDevice],
    with_similar: bool,
) -> Result<Vec<&'d PhysicalDevice>> {
    let pairs: Vec<_> = list.iter().map(|physical| (&physical.info, physical)).collect();
    let (best, chosen) = selector.choose_from(&pairs)?;
    best.check_usable()?;
    let mut chosen = vec![chosen];
    for physical in list.iter().filter(|physical| with_similar && is_similar(best, &physical.info)) {
        // Drivers of one card agree on its UUID.
        if chosen.iter().all(|other| other.info.uuid != physical.info.uuid) {
            chosen.push(physical);
        }
    }
    Ok(chosen)
}

/// Whether work may be spread over a device as over the best one. Several drivers for the host's processor are still one processor.
fn is_similar(best: &DeviceInfo, other: &DeviceInfo) -> bool {
    other.kind == best.kind && other.kind != DeviceKind::Cpu && other.missing().is_empty()
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;

    fn physical(index: usize, name: &str, kind: DeviceKind, missing: &[&'static str], card: u8) -> PhysicalDevice {
        let info = DeviceInfo { uuid: [card; 16], ..DeviceInfo::example(index, name, kind, missing) };
        PhysicalDevice { handle: vk::PhysicalDevice::null(), info }
    }

    #[test]
    fn cards_of_the_best_ones_type_are_similar() {
        use DeviceKind::{Cpu, Discrete, Integrated};
        let list = [
            physical(0, "llvmpipe", Cpu, &[], 1),
            physical(1, "A", Discrete, &[], 2),
            physical(2, "SwiftShader", Cpu, &[], 3),
            physical(3, "Graphics", Integrated, &[], 4),
            physical(4, "B", Discrete, &[], 5),
            physical(5, "A by another driver", Discrete, &[], 2),
            physical(6, "old", Discrete, &["bufferDeviceAddress"], 6),
        ];
        let names = |list: &[PhysicalDevice], selector: &DeviceSelector, with_similar| {
            let chosen = choose(selector, list, with_similar).unwrap();
            chosen.iter().map(|physical| physical.info.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&list, &DeviceSelector::Best, true), ["A", "B"]);
        assert_eq!(names(&list, &DeviceSelector::Best, false), ["A"]);
        assert_eq!(names(&list[2..4], &DeviceSelector::Best, true), ["Graphics"]);
        assert_eq!(names(&list[..1], &DeviceSelector::Best, true), ["llvmpipe"]);
        assert!(matches!(choose(&DeviceSelector::Index(6), &list, false), Err(Error::UnusableDevice { .. })));
    }
}
