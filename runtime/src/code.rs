//! A module's code: PTX that is translated kernel by kernel, for blocks of a certain size, or SPIR-V as it is, maybe in several
//! variants for blocks of different sizes.

use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::Entry;
use ptx2spv_translator::target::Cluster;
use ptx2spv_translator::{Interface, Math, Options, Program, Source};
use self_cell::self_cell;

use crate::backend::Shader;
use crate::check;
use crate::device::Device;
use crate::error::Error;
use crate::info::DeviceKind;
use crate::sync::lock;
use crate::variables::LoadedVariables;
use crate::version::Version;

self_cell!(
    /// A parsed program together with the text that it borrows from.
    struct Parsed {
        owner: Source,
        #[covariant]
        dependent: Program,
    }
);

pub(crate) enum Code {
    Ptx(Ptx),
    /// At least one. Those after the first one take larger blocks of some kernel than those before them.
    Spirv(Vec<Shipped>),
}

/// Translated elsewhere.
pub(crate) struct Shipped {
    shader: Arc<dyn Shader>,
    interface: Interface,
}

/// What a kernel is translated for.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster, if the launch says it.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

/// Translated kernel by kernel.
pub(crate) struct Ptx {
    parsed: Mutex<Parsed>,
    math: Math,
}

impl Ptx {
    /// Parses a module.
    pub fn new(source: &Source, math: Math) -> Result<Self, Error> {
        let parsed = Parsed::try_new(source.clone(), |source| Program::new(source))?;
        Ok(Self { parsed: Mutex::new(parsed), math })
    }

    /// Names of its kernels, and the interface of a translation of none: every translation describes all the module's
    /// variables in the same way.
    pub fn describe(&self, device: &Device) -> Result<(Vec<String>, Interface), Error> {
        let parsed = lock(&self.parsed);
        let program = parsed.borrow_dependent();
        let nothing = Options { entries: Some(&[]), ..Options::new(device.target()) };
        let interface = program.translate(&nothing)?.interface;
        Ok((program.entries().into_iter().map(str::to_owned).collect(), interface))
    }

    /// Translates a kernel so that it takes launches of these sizes.
    pub fn translate(
        &self,
        device: &Device,
        name: &str,
        variables: &LoadedVariables,
        sizes: Sizes,
    ) -> Result<Version, Error> {
        let only = [name.to_owned()];
        let options = Options {
            entries: Some(&only),
            math: self.math,
            block_threads: Some(sizes.threads),
            cluster: sizes.cluster,
            dynamic_shared_bytes: sizes.dynamic_shared_bytes,
            // Findings name lines; drivers have no use for them, nor for marks.
            line_info: device.info().kind == DeviceKind::Reference,
            checks: device.info().kind == DeviceKind::Reference,
            ..Options::new(device.target())
        };
        let translation = lock(&self.parsed).borrow_dependent().translate(&options)?;
        check::interface(device.target(), &translation.spirv, &translation.interface)?;
        if translation.interface.variables != variables.layout {
            return Err(Error::Interface(format!("`{name}` sees the module's variables elsewhere")));
        }
        let shader = device.shader(&translation.spirv)?;
        version(shader, &translation.interface, name)
    }
}

impl Code {
    /// A kernel that takes as large blocks as the device does without anybody paying for it.
    pub fn kernel(
        &self,
        device: &Device,
        name: &str,
        variables: &LoadedVariables,
        cluster: Option<[u32; 3]>,
    ) -> Result<Version, Error> {
        match self {
            Self::Spirv(variants) => match &variants[..] {
                [first, ..] => version(first.shader.clone(), &first.interface, name),
                [] => Err(Error::Interface("it has no variant".to_owned())),
            },
            Self::Ptx(ptx) => {
                let sizes = Sizes { threads: 1, cluster, dynamic_shared_bytes: 0 };
                ptx.translate(device, name, variables, sizes)
            }
        }
    }
}

impl Shipped {
    /// Takes what passed [`check::interface`].
    pub fn new(device: &Device, spirv: &[u32], interface: &Interface) -> Result<Self, Error> {
        let shader = device.shader(spirv)?;
        Ok(Self { shader, interface: interface.clone() })
    }

    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The kernel of that name, if this variant has it for such clusters.
    pub fn entry(&self, name: &str, cluster: Option<Cluster>) -> Option<&Entry> {
        let size = |cluster: Option<Cluster>| cluster.map(|cluster| cluster.size);
        self.interface.entry(name).filter(|entry| size(entry.cluster) == size(cluster))
    }

    /// One of its kernels.
    pub fn version(&self, entry: &Entry) -> Version {
        Version::new(entry.clone(), self.shader.clone())
    }
}

fn version(shader: Arc<dyn Shader>, interface: &Interface, name: &str) -> Result<Version, Error> {
    let entry = interface.entry(name).cloned();
    let entry = entry.ok_or_else(|| Error::Interface(format!("it leaves out the kernel `{name}`")))?;
    Ok(Version::new(entry, shader))
}
