//! The public interface of the reference device: memory, shaders, pipelines, dispatches.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::compile::compile;
use crate::config::{Config, Mode};
use crate::finding::{Finding, Site};
use crate::memory::device::{Memory, Pool};
use crate::memory::strict::Strict;
use crate::memory::{Fault, Words};
use crate::module::Module;
use crate::module::Refusal;
use crate::requirements;
use crate::run::Findings;
use crate::run::{self, Knowledge, Launch, Log, Program};

/// A reference device. All methods can be called from several threads; dispatches and host accesses take effect in the
/// order of the calls. Reads, writes, fills and copies fail if a range is not inside of one allocation.
#[derive(Debug)]
pub struct Device {
    config: Config,
    state: Mutex<State>,
    log: Mutex<Log>,
}

/// The mutable state of a device.
#[derive(Debug)]
struct State {
    memory: Memory,
    /// Knowledge about memory other than its bytes, if the mode needs it.
    knowledge: Option<Knowledge>,
    /// Addresses and sizes of memory shared with the host.
    lent: Vec<(u64, u64)>,
    findings: Findings,
    /// Number of instructions run by dispatches.
    steps: u64,
}

/// A SPIR-V module that the device can run.
#[derive(Debug)]
pub struct Shader {
    module: Module,
}

/// A specialized entry point, ready to run.
#[derive(Debug)]
pub struct Pipeline {
    program: Arc<Program>,
}

/// A dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// Push constants.
    pub push_constants: &'a [u8],
}

#[allow(clippy::result_large_err, reason = "errors are rare, and callers want the finding itself")]
impl Device {
    /// A device without allocations.
    pub fn new(config: Config) -> Self {
        let knowledge = (config.mode != Mode::default()).then(|| Knowledge::new(config.mode));
        let state =
            State { memory: Memory::new(), knowledge, lent: Vec::new(), findings: Findings::default(), steps: 0 };
        Self { config, state: Mutex::new(state), log: Mutex::default() }
    }

    /// The device's configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn state(&self) -> MutexGuard<'_, State> {
        run::lock(&self.state)
    }

    /// Allocates uninitialized memory and returns its device address, a multiple of 256. Addresses are never reused.
    /// Returns `None` if the host has no memory.
    pub fn allocate(&self, bytes: u64) -> Option<u64> {
        let mut state = self.state();
        let address = state.memory.allocate(bytes)?;
        state.allocated(address);
        Some(address)
    }

    /// Like [`Device::allocate`], in words shared with the host. `lend` gets the address of the allocation and returns
    /// the words. The device treats their values as defined, and the host may change them between dispatches. The
    /// device uses them until the allocation is freed.
    pub fn allocate_lent(&self, bytes: u64, lend: impl FnOnce(u64) -> Option<&'static [AtomicU32]>) -> Option<u64> {
        let mut state = self.state();
        let address = state.memory.allocate_in(bytes, |address| Words::lent(lend(address)?, bytes))?;
        state.lent.push((address, bytes));
        state.allocated(address);
        Some(address)
    }

    /// Frees the allocation at an address. Other addresses are ignored.
    pub fn free(&self, address: u64) {
        let mut state = self.state();
        state.lent.retain(|(lent, _)| *lent != address);
        if let Some((strict, (number, 0))) = state.known(address, 0) {
            strict.free(number);
        }
        state.memory.free(address);
    }

    /// Names a part of an allocation (such as a variable) in findings.
    pub fn name_part(&self, address: u64, bytes: u64, name: &str) {
        self.state().memory.name_part(address, bytes, name);
    }

    /// Declares a region that kernels allocate from: in checked mode, accesses to unallocated memory in the region are
    /// faults.
    pub fn add_pool(&self, pool: Pool) {
        self.state().memory.add_pool(pool);
    }

    /// Names whole allocations in findings, given an address in each, until the next call; for example after arguments.
    pub fn name_allocations<'n>(&self, names: impl IntoIterator<Item = (u64, &'n str)>) {
        let memory = &mut self.state().memory;
        memory.forget_names();
        names.into_iter().for_each(|(address, name)| memory.name(address, name));
    }

    /// Copies from device memory. In checked mode, bytes with an undefined value stored by a kernel are reported.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Finding> {
        let mut state = self.state();
        state.note_lent_writes();
        let State { memory, knowledge, findings, .. } = &mut *state;
        memory.read(address, bytes).map_err(host)?;
        if let Some(knowledge) = knowledge {
            knowledge.host_read(memory, address, bytes.len() as u64, findings);
        }
        Ok(())
    }

    /// Copies to device memory.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Finding> {
        let mut state = self.state();
        state.memory.write(address, bytes).map_err(host)?;
        state.written(address, bytes.len() as u64);
        Ok(())
    }

    /// Fills `bytes` bytes of device memory.
    pub fn fill(&self, address: u64, bytes: u64, byte: u8) -> Result<(), Finding> {
        let mut state = self.state();
        state.memory.fill(address, bytes, byte).map_err(host)?;
        state.written(address, bytes);
        Ok(())
    }

    /// Copies within device memory, including undefined bits. The ranges don't overlap.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Finding> {
        let mut state = self.state();
        state.note_lent_writes();
        state.memory.copy(from, to, bytes).map_err(host)?;
        let to = state.memory.locate(to, bytes);
        if let (Some((strict, from)), Some(to)) = (state.known(from, bytes), to) {
            strict.host_copy(from, to, bytes);
        }
        Ok(())
    }

    /// Reads a module.
    ///
    /// # Errors
    /// The module is malformed or requires something that the target lacks.
    pub fn shader(&self, words: &[u32]) -> Result<Arc<Shader>, Refusal> {
        let module = Module::parse(words)?;
        requirements::check(&module, &self.config.target)?;
        Ok(Arc::new(Shader { module }))
    }

    /// Prepares an entry point. `specialization` has values of specialization constants by `SpecId`. `subgroup_size`
    /// requires a size, like `VkPipelineShaderStageRequiredSubgroupSizeCreateInfo`.
    ///
    /// # Errors
    /// The entry point doesn't exist, the workgroup or its memory exceeds the target's limits, or the subgroup size is
    /// not supported.
    pub fn pipeline(
        &self,
        shader: &Arc<Shader>,
        entry: &str,
        specialization: &[(u32, u64)],
        subgroup_size: Option<u32>,
    ) -> Result<Arc<Pipeline>, Refusal> {
        let subgroup_size = self.subgroup_size(subgroup_size)?;
        let code = compile(&shader.module, entry, specialization, &self.config.target)?;
        let shader = shader.clone();
        let program = Program::new(code, entry, subgroup_size, move |word| shader.module.disassemble(word));
        if !program.fits(self.config.mode.check) {
            let message = "the registers and variables of a workgroup's invocations need more memory than the host has";
            return Err(Refusal::new("VK_ERROR_OUT_OF_HOST_MEMORY", message));
        }
        Ok(Arc::new(Pipeline { program: Arc::new(program) }))
    }

    /// The subgroup size, given the required one, if any.
    fn subgroup_size(&self, wanted: Option<u32>) -> Result<u32, Refusal> {
        let subgroups = &self.config.target.subgroups;
        let refuse = |rule: &str, message: String| Err(Refusal::new(rule, message));
        let size = wanted.unwrap_or(subgroups.size);
        if !size.is_power_of_two() || size > 128 {
            let rule = "VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-02760";
            return refuse(rule, format!("a subgroup size of {size}"));
        }
        if wanted.is_some() && !subgroups.required_size {
            let rule = "VUID-VkPipelineShaderStageCreateInfo-pNext-02755";
            return refuse(rule, "the target doesn't support required subgroup sizes for compute shaders".into());
        }
        let (least, most) = (subgroups.min_size, subgroups.max_size);
        if wanted.is_some() && !(least..=most).contains(&size) {
            let rule = if size < least { "02761" } else { "02762" };
            let rule = format!("VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-{rule}");
            return refuse(&rule, format!("a subgroup size of {size}; the target has {least} to {most}"));
        }
        Ok(size)
    }

    /// Runs a dispatch to its end.
    ///
    /// # Errors
    /// The finding that stopped the dispatch (see [`FindingKind::is_fatal`](crate::FindingKind::is_fatal)). Its writes
    /// until then remain. Other findings are collected for [`Device::take_findings`].
    pub fn dispatch(&self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Finding> {
        let program = &pipeline.program;
        let Config { mode, step_budget, trace, .. } = self.config;
        let groups = dispatch.groups.iter().fold(1_usize, |all, &extent| all.saturating_mul(extent as usize)).max(1);
        let launch = Launch {
            program,
            groups: dispatch.groups,
            push_constants: dispatch.push_constants,
            shadowed: mode.check,
            threads: if mode == Mode::default() { self.config.threads.clamp(1, groups) } else { 1 },
            steps: AtomicU64::new(0),
            step_budget,
            trace,
            log: &self.log,
        };
        let mut state = self.state();
        state.note_lent_writes();
        let State { memory, knowledge, findings, steps, .. } = &mut *state;
        let result = match knowledge {
            None => run::run_plain(&launch, memory),
            Some(knowledge) => knowledge.run(program, &launch, memory, findings),
        };
        *steps += launch.steps.into_inner();
        result.map_err(|finding| *finding)
    }

    /// Takes the findings since the last call, except those that [`Device::dispatch`] and other methods returned.
    pub fn take_findings(&self) -> Vec<Finding> {
        self.state().findings.take()
    }

    /// Number of interpreter instructions that dispatches have run.
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// Takes the trace since the last call, one line for each instruction.
    pub fn take_trace(&self) -> Vec<String> {
        Log::take(&self.log)
    }
}

impl State {
    /// The knowledge about memory, and the allocation and offset of a range.
    fn known(&mut self, address: u64, bytes: u64) -> Option<(&mut Strict, (u32, u64))> {
        Some((&mut self.knowledge.as_mut()?.strict, self.memory.locate(address, bytes)?))
    }

    /// Records a new allocation.
    fn allocated(&mut self, address: u64) {
        if let Some((strict, (number, _))) = self.known(address, 0) {
            strict.allocate(number);
        }
    }

    /// Records that the host may have written to shared memory.
    fn note_lent_writes(&mut self) {
        for (address, bytes) in self.lent.clone() {
            self.written(address, bytes);
        }
    }

    /// Records a write of the host.
    fn written(&mut self, address: u64, bytes: u64) {
        if let Some((strict, (number, offset))) = self.known(address, bytes) {
            strict.host_write(number, offset, bytes);
        }
    }
}

/// Turns a fault of the host, which has no instruction, into a finding.
#[allow(clippy::boxed_local, reason = "faults are boxed")]
fn host(fault: Box<Fault>) -> Finding {
    let Fault { kind, message } = *fault;
    let site =
        Site { entry: "the host".into(), instruction: None, line: None, origin: None, workgroup: None, local: None };
    Finding::new(kind, message, site, None)
}
