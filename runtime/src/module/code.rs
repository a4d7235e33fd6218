//! A module's code: PTX, translated kernel by kernel for certain block sizes, or ready SPIR-V, perhaps in several
//! variants for different block sizes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ptx2spv_translator::interface::{Entry, ServiceSizes};
use ptx2spv_translator::target::Cluster;
use ptx2spv_translator::{Interface, Math, Options, Program, Source, Translation};

use crate::backend::launch::PipelineKey;
use crate::backend::{Pipeline, Shader};
use crate::cache::Cache;
use crate::cache::translations::{Description, Translations};
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::DeviceKind;
use crate::module::check;
use crate::module::variables::LoadedVariables;
use crate::profile::ProfileRange;
use crate::sync::{OnceMap, lock};

pub(crate) enum Code {
    Ptx(Box<Ptx>),
    /// At least one variant. Each later variant takes larger blocks of some kernel than those before it.
    Spirv(Vec<Shipped>),
}

/// A translation made ahead of time.
pub(crate) struct Shipped {
    shader: Arc<dyn Shader>,
    interface: Interface,
}

/// Properties of launches that a kernel is translated for.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a cluster, if the launch sets it.
    pub cluster: Option<[u32; 3]>,
    /// Whether the launch is cooperative.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

/// Translated kernel by kernel.
pub(crate) struct Ptx {
    source: Source,
    math: Math,
    sizes: ServiceSizes,
    check_accesses: bool,
    /// `None` if only the text was given, as long as everything was found in the cache.
    program: Mutex<Option<Program>>,
    cache: Option<Translations>,
}

impl Ptx {
    /// A module that may not be parsed yet.
    pub fn new(source: &Source, program: Option<&Program>, options: LoadOptions) -> Self {
        Self {
            sizes: options.sizes,
            check_accesses: options.check_accesses,
            program: Mutex::new(program.cloned()),
            ..Self::with_cache(source, options.math, if options.cached { Cache::of_user() } else { None })
        }
    }

    fn with_cache(source: &Source, math: Math, cache: Option<Cache>) -> Self {
        let cache = cache.map(|cache| Translations::new(cache, source));
        let sizes = ServiceSizes::default();
        Self { source: source.clone(), math, sizes, check_accesses: false, program: Mutex::default(), cache }
    }

    /// Names of the kernels, the interface of a translation without kernels, and the kernels' declarations. Every translation describes all
    /// of the module's variables in the same way.
    pub fn describe(&self, device: &Device) -> Result<Description> {
        let nothing = self.options(device).entries(Some(&[]));
        if let Some(known) = self.cache.as_ref().and_then(|cache| cache.description(&nothing)) {
            return Ok(known);
        }
        let program = self.program()?;
        let interface = program.translate(&nothing)?.interface;
        let names = program.entries().into_iter().map(str::to_owned).collect();
        let found = Description { names, interface, declarations: program.declarations(&nothing) };
        if let Some(cache) = &self.cache {
            cache.keep_description(&nothing, &found);
        }
        Ok(found)
    }

    /// Options shared by all of the module's translations.
    fn options<'d>(&self, device: &'d Device) -> Options<'d> {
        let by_itself = device.info().kind == DeviceKind::Reference;
        Options::new(device.target()).sizes(self.sizes).check_accesses(self.check_accesses && !by_itself)
    }

    /// The program, which is parsed on first use.
    fn program(&self) -> Result<Program> {
        // Locked while parsing, so that two threads don't do the same work.
        let mut program = lock(&self.program);
        let program = match &mut *program {
            Some(program) => program,
            none => {
                let _range = ProfileRange::of_runtime("parse", Some(self.source.name()));
                none.insert(Program::new(&self.source)?)
            }
        };
        Ok(program.clone())
    }

    /// Translates a kernel so that it takes launches of these sizes.
    pub fn translate(&self, device: &Device, name: &str, variables: &LoadedVariables, sizes: Sizes) -> Result<Version> {
        let _range = ProfileRange::of_runtime("translate", Some(name));
        let start = Instant::now();
        let only = [name.to_owned()];
        // The reference device's findings show lines. Drivers have no use for line information or marks.
        let checks = device.info().kind == DeviceKind::Reference;
        // Children are translated when they are launched.
        let shared = self.options(device).launched(false).math(self.math).line_info(checks).checks(checks);
        let options = shared
            .entries(Some(&only))
            .block_threads(Some(sizes.threads))
            .cluster(sizes.cluster)
            .cooperative(sizes.cooperative)
            .suspend_in_loops(true)
            .dynamic_shared_bytes(sizes.dynamic_shared_bytes);
        let known = self.cache.as_ref().and_then(|cache| cache.translation(&options));
        let is_known = known.is_some();
        let (spirv, interface) = match known {
            Some(known) => known,
            None => {
                let Translation { spirv, interface, .. } = self.program()?.translate(&options)?;
                (spirv, interface)
            }
        };
        check::interface(device.target(), &spirv, &interface)?;
        if interface.variables != variables.layout {
            return Err(Error::Interface(format!("`{name}` expects the module's variables at other offsets")));
        }
        if let Some(cache) = self.cache.as_ref().filter(|_| !is_known) {
            cache.keep_translation(&options, &spirv, &interface);
        }
        let shader = device.shader(&spirv)?;
        version(shader, &interface, name, start.elapsed())
    }
}

impl Code {
    /// A kernel with the device's ordinary block sizes, which costs nothing extra.
    pub fn kernel(
        &self,
        device: &Device,
        name: &str,
        variables: &LoadedVariables,
        cluster: Option<[u32; 3]>,
        cooperative: bool,
    ) -> Result<Version> {
        match self {
            Self::Spirv(variants) => match &variants[..] {
                [first, ..] => version(first.shader.clone(), &first.interface, name, Duration::ZERO),
                [] => Err(Error::Interface("it has no variant".to_owned())),
            },
            Self::Ptx(ptx) => {
                let sizes = Sizes { threads: 1, cluster, cooperative, dynamic_shared_bytes: 0 };
                ptx.translate(device, name, variables, sizes)
            }
        }
    }
}

impl Shipped {
    /// Loads a translation that has passed [`check::interface`].
    pub fn new(device: &Device, spirv: &[u32], interface: &Interface) -> Result<Self> {
        let shader = device.shader(spirv)?;
        Ok(Self { shader, interface: interface.clone() })
    }

    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The kernel of that name, if this variant accepts the same launches as `like`.
    pub fn entry(&self, name: &str, like: &Entry) -> Option<&Entry> {
        let size = |cluster: Option<Cluster>| cluster.map(|cluster| cluster.size);
        let alike = |entry: &&Entry| {
            size(entry.cluster) == size(like.cluster) && entry.cooperative.is_some() == like.cooperative.is_some()
        };
        self.interface.entry(name).filter(alike)
    }

    /// A kernel of the module.
    pub fn version(&self, entry: &Entry) -> Version {
        Version::new(entry.clone(), self.shader.clone(), Duration::ZERO)
    }
}

fn version(shader: Arc<dyn Shader>, interface: &Interface, name: &str, translation: Duration) -> Result<Version> {
    let entry = interface.entry(name).cloned();
    let entry = entry.ok_or_else(|| Error::Interface(format!("it leaves out the kernel `{name}`")))?;
    Ok(Version::new(entry, shader, translation))
}

/// A translation of a kernel for blocks and shared memory up to a certain size.
pub(crate) struct Version {
    pub entry: Entry,
    /// Time of the translation.
    pub translation: Duration,
    shader: Arc<dyn Shader>,
    /// Pipelines by key, made on first launch.
    pipelines: OnceMap<PipelineKey, Arc<Prepared>>,
}

/// A kernel that is ready to be launched with one block size.
pub(crate) struct Prepared {
    pub pipeline: Box<dyn Pipeline>,
    /// Time to make the pipeline.
    pub time: Duration,
    /// The kernel's measured speed.
    pub rate: Mutex<BlockRate>,
}

impl Version {
    pub fn new(entry: Entry, shader: Arc<dyn Shader>, translation: Duration) -> Self {
        Self { entry, translation, shader, pipelines: OnceMap::default() }
    }

    /// The pipeline of a key whose sizes are within the device's limits.
    pub fn prepare(&self, key: PipelineKey) -> Result<Arc<Prepared>> {
        self.pipelines.get_or_make(&key, || {
            let _range = ProfileRange::of_runtime("make a pipeline", Some(&self.entry.name));
            let start = Instant::now();
            let pipeline = self.shader.pipeline(&self.entry, key)?;
            Ok(Arc::new(Prepared { pipeline, time: start.elapsed(), rate: Mutex::default() }))
        })
    }
}

/// Maximum growth from one submission to the next.
const GROWTH: u64 = 8;

/// A kernel's speed, as the number of blocks for the next submission.
#[derive(Debug)]
pub(crate) struct BlockRate(u64);

impl Default for BlockRate {
    fn default() -> Self {
        Self(1)
    }
}

impl BlockRate {
    /// Blocks for the next submission.
    pub fn blocks(&self) -> u64 {
        self.0
    }

    /// Updates the rate after a submission of `blocks` blocks, aiming at half of the time limit `most`.
    pub fn learn(&mut self, blocks: u64, time: Duration, most: Duration) {
        let goal = most.as_nanos() / 2;
        let enough = u128::from(blocks).saturating_mul(goal).checked_div(time.as_nanos());
        let grown = blocks.saturating_mul(GROWTH);
        self.0 = match enough.and_then(|enough| u64::try_from(enough).ok()) {
            Some(enough) if enough < blocks => enough.max(1),
            // A small submission is dominated by its fixed cost, so it never lowers the rate.
            Some(enough) => self.0.max(enough.min(grown)),
            // The time was too short to measure.
            None => self.0.max(grown),
        };
    }
}

ptx2spv_translator::target::options! {
    /// Options for loading a PTX module.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, LoadOptions, Math, Source};
    ///
    /// let device = Device::reference(Config::default());
    /// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
    /// // Floats as fast as the device computes them, and every access checked.
    /// let options = LoadOptions::default().math(Math::FAST).check_accesses(true);
    /// device.load_with(&Source::new("nothing.ptx", ptx), options)?;
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    LoadOptions {
        /// The required accuracy of float arithmetic.
        math: Math = Math::default(),
        /// Whether translations are stored in the user's [`Cache`](crate::Cache) and reused.
        cached: bool = true,
        /// Device memory for kernels' output, allocations and launches.
        sizes: ServiceSizes = ServiceSizes::default(),
        /// Whether the host can access variables at the same addresses as kernels, as CUDA's `__managed__` variables
        /// require.
        managed_variables: bool = false,
        /// Whether kernels check each access to global, shared and local memory. An access outside of all allocations, or a
        /// misaligned one, is not performed, and the next call that waits fails with [`Error::Fault`](crate::Error::Fault),
        /// which names place, thread and nearest allocation. Kernels are slower then. The reference device always checks
        /// accesses itself.
        check_accesses: bool = false,
    }
}

impl LoadOptions {
    /// Always translates, and doesn't use the cache.
    pub fn uncached(math: Math) -> Self {
        Self { math, cached: false, ..Self::default() }
    }
}

#[cfg(all(test, feature = "reference"))]
mod tests {
    use super::*;
    use ptx2spv_reference::Config;
    use ptx2spv_translator::Topic;
    use std::fs;

    const PTX: &str = "
        .version 7.0
        .target sm_50
        .address_size 64
        .global .u32 number = 7;
        .visible .entry one(.param .u64 out) { ret; }
        .visible .entry two(.param .u64 out) { ret; }";

    /// Loads a kernel as another process would, and returns whether the text had to be parsed.
    fn load(cache: &Cache, text: &str, math: Math, kernel: &str) -> bool {
        let device = Device::reference(Config::default());
        let ptx = Ptx::with_cache(&Source::new("test.ptx", text), math, Some(cache.clone()));
        let Description { names, interface, .. } = ptx.describe(&device).unwrap();
        assert_eq!((&names[..], &interface.variables.list[0].name[..]), (&["one".into(), "two".into()][..], "number"));
        let variables = LoadedVariables::new(&device, &interface, false).unwrap();
        let sizes = Sizes { threads: 1, cluster: None, cooperative: false, dynamic_shared_bytes: 0 };
        assert_eq!(ptx.translate(&device, kernel, &variables, sizes).unwrap().entry.name, kernel);
        lock(&ptx.program).is_some()
    }

    #[test]
    fn what_was_translated_before_is_not_even_parsed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        assert!(load(&cache, PTX, Math::EXACT, "one"));
        assert!(!load(&cache, PTX, Math::EXACT, "one"));
        // Other kernels are translated, one by one.
        assert!(load(&cache, PTX, Math::EXACT, "two"));
        assert!(!load(&cache, PTX, Math::EXACT, "two"));
        // Everything that a translation depends on is part of its key.
        let math = Math::EXACT.with(Topic::Division, true);
        assert!(load(&cache, PTX, math, "one") && !load(&cache, PTX, math, "one"));
        let longer = format!("{PTX} // the same");
        assert!(load(&cache, &longer, Math::EXACT, "one"));
        // Damaged files are replaced by a new translation.
        for file in fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }
        assert!(load(&cache, PTX, Math::EXACT, "one") && !load(&cache, PTX, Math::EXACT, "one"));
    }
}
