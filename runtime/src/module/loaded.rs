//! The state that clones and kernels of a module share.

use std::sync::Arc;

use ptx2spv_translator::interface::Declaration;

use crate::device::Device;
use crate::error::Error;
use crate::module::code::Code;
use crate::module::variables::LoadedVariables;
use crate::module::versions::KernelVersions;
use crate::sync::OnceMap;

/// The state that clones and kernels of a module share.
pub(crate) struct Loaded {
    pub device: Device,
    pub names: Vec<String>,
    /// What is known of kernels before they are translated; those are missing that can't be.
    pub declarations: Vec<Declaration>,
    pub variables: Arc<LoadedVariables>,
    pub code: Arc<Code>,
    pub kernels: Kernels,
}

/// Kernels without their module, by name, cluster size, and whether launches are cooperative.
pub(crate) type Kernels = OnceMap<(String, Option<[u32; 3]>, bool), Arc<KernelVersions>>;

impl Loaded {
    /// A kernel for the given kind of launches, translated on first use.
    pub fn kernel(
        &self,
        name: &str,
        cluster: Option<[u32; 3]>,
        cooperative: bool,
    ) -> Result<Arc<KernelVersions>, Error> {
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
