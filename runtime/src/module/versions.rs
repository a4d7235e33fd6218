//! The versions of a kernel: translations for ordinary blocks, for larger ones, and for more shared memory, each with its pipelines.

use std::sync::Arc;

use ptx2spv_translator::interface::Declaration;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::limits::{lacks_shared, misfit, most_threads};
use crate::module::code::{Code, Shipped, Sizes, Version};
use crate::module::variables::LoadedVariables;
use crate::sync::OnceMap;

/// A kernel without its module.
pub(crate) struct KernelVersions {
    pub device: Device,
    pub variables: Arc<LoadedVariables>,
    /// For blocks that fit the device directly.
    pub base: Arc<Version>,
    /// For larger blocks, made on first launch.
    larger: OnceMap<VersionKey, Arc<Version>>,
    code: Arc<Code>,
    /// The size of clusters, if launches set it.
    cluster: Option<[u32; 3]>,
    /// Whether launches are cooperative.
    pub cooperative: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum VersionKey {
    /// Translated here: the number of threads of a block, and whether shared memory lies in device memory.
    Threads(u32, bool),
    /// The index of a variant translated ahead of time.
    Variant(u32),
}

impl KernelVersions {
    pub fn new(
        device: &Device,
        version: Version,
        code: Arc<Code>,
        variables: Arc<LoadedVariables>,
        cluster: Option<[u32; 3]>,
    ) -> Self {
        variables.add_reporter(&version.entry);
        let cooperative = version.entry.cooperative.is_some();
        let (base, larger) = (Arc::new(version), OnceMap::default());
        Self { device: device.clone(), variables, base, larger, code, cluster, cooperative }
    }

    /// The version for a block size, which the kernel and CUDA must allow, and `dynamic` bytes of dynamic shared
    /// memory.
    pub fn version(&self, block: [u32; 3], dynamic: u32) -> Result<Arc<Version>> {
        let limits = &self.device.target().limits;
        let reason = misfit(&self.base.entry, limits, block);
        if reason.is_none() && !lacks_shared(&self.base.entry, limits, dynamic) {
            return Ok(self.base.clone());
        }
        let name = &self.base.entry.name;
        let refuse = |reason: String| Err(Error::Block { kernel: name.clone(), block, reason });
        let threads: u32 = block.iter().product();
        match &*self.code {
            Code::Ptx(ptx) => {
                let room = if reason.is_some() { threads.next_power_of_two() } else { 1 };
                let translate = |dynamic| {
                    let Self { cluster, cooperative, .. } = *self;
                    let sizes = Sizes { threads: room, cluster, cooperative, dynamic_shared_bytes: dynamic };
                    ptx.translate(&self.device, name, &self.variables, sizes)
                };
                let mut version = self.base.clone();
                if room > 1 {
                    version = self.larger(VersionKey::Threads(room, false), || translate(0))?;
                }
                if lacks_shared(&version.entry, limits, dynamic) {
                    version = self.larger(VersionKey::Threads(room, true), || translate(dynamic))?;
                }
                match misfit(&version.entry, limits, block) {
                    None => Ok(version),
                    Some(reason) => refuse(reason.to_string()),
                }
            }
            Code::Spirv(variants) => {
                let with_entry =
                    |variant| Shipped::entry(variant, name, &self.base.entry).map(|entry| (variant, entry));
                for (number, (variant, entry)) in (0..).zip(variants.iter().filter_map(with_entry)) {
                    if misfit(entry, limits, block).is_none() && !lacks_shared(entry, limits, dynamic) {
                        return self.larger(VersionKey::Variant(number), || Ok(variant.version(entry)));
                    }
                }
                // The launch itself refuses the amount of shared memory.
                let Some(reason) = reason else { return Ok(self.base.clone()) };
                let sizes = variants.iter().filter_map(with_entry).map(|(_, entry)| most_threads(entry, limits));
                let most = sizes.max().unwrap_or(0);
                refuse(format!(
                    "{reason}; as it was translated, it takes blocks of up to {most} threads here, and with `--block-threads \
                     {threads}`, which a bundle can have beside others, of up to {threads}"
                ))
            }
        }
    }

    /// A version for larger blocks or more shared memory, by its key; `make` makes a missing one.
    fn larger(&self, key: VersionKey, make: impl FnOnce() -> Result<Version>) -> Result<Arc<Version>> {
        self.larger.get_or_make(&key, || {
            let version = Arc::new(make()?);
            self.variables.add_reporter(&version.entry);
            Ok(version)
        })
    }
}

/// The state that clones and kernels of a module share.
pub(crate) struct Loaded {
    pub device: Device,
    pub names: Vec<String>,
    /// The kernels' declarations, known before the kernels are translated. Kernels that can't be translated may have none.
    pub declarations: Vec<Declaration>,
    pub variables: Arc<LoadedVariables>,
    pub code: Arc<Code>,
    pub kernels: Kernels,
}

/// Kernels without their module, by name, cluster size, and whether launches are cooperative.
pub(crate) type Kernels = OnceMap<(String, Option<[u32; 3]>, bool), Arc<KernelVersions>>;

impl Loaded {
    /// A kernel for the given kind of launches, translated on first use.
    pub fn kernel(&self, name: &str, cluster: Option<[u32; 3]>, cooperative: bool) -> Result<Arc<KernelVersions>> {
        let Self { device, names, variables, code, kernels, .. } = self;
        if !names.iter().any(|known| known == name) {
            return Err(Error::NoKernel { name: name.to_owned(), available: names.clone() });
        }
        kernels.get_or_make(&(name.to_owned(), cluster, cooperative), || {
            let version = code.kernel(device, name, variables, cluster, cooperative)?;
            let size = version.entry.cluster.map_or([1; 3], |cluster| cluster.size);
            if cluster.is_some_and(|cluster| cluster != size) {
                return Err(Error::Interface(format!("`{name}` was translated for clusters of {size:?} blocks")));
            }
            if cooperative && version.entry.cooperative.is_none() {
                return Err(Error::Interface(format!("`{name}` was not translated for cooperative launches")));
            }
            Ok(Arc::new(KernelVersions::new(device, version, code.clone(), variables.clone(), cluster)))
        })
    }
}
