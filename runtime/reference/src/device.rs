//! The reference device as its users see it: memory, shaders, pipelines, dispatches.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::compile::compile;
use crate::config::{Config, Mode};
use crate::dispatch::{Bound, Dispatch};
use crate::finding::{Finding, Refusal, Site};
use crate::memory::Fault;
use crate::memory::Words;
use crate::memory::device::{Memory, Pool};
use crate::module::Module;
use crate::requirements;
use crate::run::{self, Findings, Knowledge, Launch, Log, Program};

/// A reference device. All methods can be called from several threads; dispatches and host accesses follow each other in
/// the order of the calls.
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
    /// Knowledge about memory besides its bytes, if the mode asks for it.
    knowledge: Option<Knowledge>,
    /// Address and size of memory that the host uses too.
    lent: Vec<(u64, u64)>,
    findings: Findings,
    /// Instructions that dispatches have taken.
    steps: u64,
}

/// A SPIR-V module that the device can run.
#[derive(Debug)]
pub struct Shader {
    module: Module,
}

/// An entry point, specialised and ready to run.
#[derive(Debug)]
pub struct Pipeline {
    program: Arc<Program>,
}

#[allow(
    clippy::result_large_err,
    reason = "whatever fails here does so once, and its finding is what the caller is after"
)]
impl Device {
    /// A device with no memory allocated.
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

    /// Locks the state, even after a thread has panicked; memory is then as that thread left it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates memory, uninitialised, and returns its device address, a multiple of 256 that no other allocation ever has.
    /// `None` if the host has no room.
    pub fn allocate(&self, bytes: u64) -> Option<u64> {
        let mut state = self.state();
        let address = state.memory.allocate(bytes)?;
        state.allocated(address);
        Some(address)
    }

    /// As [`Device::allocate`], in words that the host uses too: `lend` gets the address that the allocation will have, and returns the
    /// words. The device treats their values as defined, and the host may change them between dispatches. The device uses them until the
    /// allocation is freed.
    pub fn allocate_lent(&self, bytes: u64, lend: impl FnOnce(u64) -> Option<&'static [AtomicU32]>) -> Option<u64> {
        let mut state = self.state();
        let address = state.memory.allocate_in(bytes, |address| Words::lent(lend(address)?, bytes))?;
        state.lent.push((address, bytes));
        state.allocated(address);
        Some(address)
    }

    /// Frees an allocation by its address; a wrong one is ignored.
    pub fn free(&self, address: u64) {
        let State { memory, knowledge, lent, .. } = &mut *self.state();
        lent.retain(|(lent, _)| *lent != address);
        if let Some(knowledge) = knowledge
            && let Some((number, 0)) = memory.locate(address, 0)
        {
            knowledge.strict.free(number);
        }
        memory.free(address);
    }

    /// Gives a name, such as a variable's, to `bytes` bytes from an address on, for findings.
    pub fn name_part(&self, address: u64, bytes: u64, name: &str) {
        self.state().memory.name_part(address, bytes, name);
    }

    /// Declares that kernels allocate memory themselves from a part of an allocation: in checked mode, accesses to unallocated memory there
    /// are faults.
    pub fn add_pool(&self, pool: Pool) {
        self.state().memory.add_pool(pool);
    }

    /// Names whole allocations, by an address in each, for the findings of dispatches until the next call; for example after arguments.
    pub fn name_allocations<'n>(&self, names: impl IntoIterator<Item = (u64, &'n str)>) {
        let memory = &mut self.state().memory;
        memory.forget_names();
        names.into_iter().for_each(|(address, name)| memory.name(address, name));
    }

    /// Copies from device memory. In checked mode, bytes that a kernel stored an undefined value to are reported.
    ///
    /// # Errors
    /// A range outside of one allocation.
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
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Finding> {
        let mut state = self.state();
        state.memory.write(address, bytes).map_err(host)?;
        state.written(address, bytes.len() as u64);
        Ok(())
    }

    /// Sets `bytes` bytes of device memory.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn fill(&self, address: u64, bytes: u64, byte: u8) -> Result<(), Finding> {
        let mut state = self.state();
        state.memory.fill(address, bytes, byte).map_err(host)?;
        state.written(address, bytes);
        Ok(())
    }

    /// Copies within device memory, undefined bytes included. The ranges don't overlap.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Finding> {
        let mut state = self.state();
        state.note_lent_writes();
        let State { memory, knowledge, .. } = &mut *state;
        memory.copy(from, to, bytes).map_err(host)?;
        if let Some(knowledge) = knowledge
            && let (Some(from), Some(to)) = (memory.locate(from, bytes), memory.locate(to, bytes))
        {
            knowledge.strict.host_copy(from, to, bytes);
        }
        Ok(())
    }

    /// Reads a module.
    ///
    /// # Errors
    /// It is malformed or uses what the target lacks.
    pub fn shader(&self, words: &[u32]) -> Result<Arc<Shader>, Refusal> {
        let module = Module::parse(words)?;
        requirements::check(&module, &self.config.target)?;
        Ok(Arc::new(Shader { module }))
    }

    /// Prepares an entry point. `specialization` gives values for specialization constants by `SpecId`; `subgroup_size` asks
    /// for one, as `VkPipelineShaderStageRequiredSubgroupSizeCreateInfo` does.
    ///
    /// # Errors
    /// No such entry point, a workgroup or workgroup memory beyond the target's limits, an unsupported subgroup size.
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
            let message =
                "the registers and variables of a workgroup's invocations take more memory than the host gives";
            return Err(Refusal { rule: "VK_ERROR_OUT_OF_HOST_MEMORY".into(), message: message.into() });
        }
        Ok(Arc::new(Pipeline { program: Arc::new(program) }))
    }

    /// The size of subgroups, if `wanted` is asked for.
    fn subgroup_size(&self, wanted: Option<u32>) -> Result<u32, Refusal> {
        let subgroups = &self.config.target.subgroups;
        let refuse = |rule: &str, message| Err(Refusal { rule: rule.into(), message });
        let size = wanted.unwrap_or(subgroups.size);
        if !size.is_power_of_two() || size > 128 {
            let rule = "VUID-VkPipelineShaderStageRequiredSubgroupSizeCreateInfo-requiredSubgroupSize-02760";
            return refuse(rule, format!("a subgroup size of {size}"));
        }
        if wanted.is_some() && !subgroups.required_size {
            let rule = "VUID-VkPipelineShaderStageCreateInfo-pNext-02755";
            return refuse(rule, "the target takes no required subgroup size for compute shaders".into());
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
    /// What stopped it (see [`FindingKind::is_fatal`](crate::FindingKind::is_fatal)); what it wrote until then stays.
    /// Other findings are left for [`Device::take_findings`].
    pub fn dispatch(&self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Finding> {
        let program = &pipeline.program;
        let Config { mode, step_budget, trace, .. } = self.config;
        let bound = program.code.bindings.iter().map(|wanted| {
            let is_it = |bound: &&Bound| (bound.set, bound.binding) == (wanted.set, wanted.binding);
            dispatch.bindings.iter().find(is_it).copied()
        });
        let groups = dispatch.groups.iter().fold(1_usize, |all, &extent| all.saturating_mul(extent as usize)).max(1);
        let launch = Launch {
            program,
            groups: dispatch.groups,
            push_constants: dispatch.push_constants,
            bound: bound.collect(),
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

    /// The findings since the last call, except those that [`Device::dispatch`] and other methods returned themselves.
    pub fn take_findings(&self) -> Vec<Finding> {
        self.state().findings.take()
    }

    /// How many instructions of the interpreter its dispatches have taken.
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// What the trace wrote since the last call: one line an instruction.
    pub fn take_trace(&self) -> Vec<String> {
        Log::take(&self.log)
    }
}

impl State {
    /// There is a new allocation.
    fn allocated(&mut self, address: u64) {
        if let Some(knowledge) = &mut self.knowledge
            && let Some((number, _)) = self.memory.locate(address, 0)
        {
            knowledge.strict.allocate(number);
        }
    }

    /// The host may have written to memory that it shares.
    fn note_lent_writes(&mut self) {
        if self.knowledge.is_some() {
            for (address, bytes) in self.lent.clone() {
                self.written(address, bytes);
            }
        }
    }

    /// The host has written bytes.
    fn written(&mut self, address: u64, bytes: u64) {
        if let Some(knowledge) = &mut self.knowledge
            && let Some((number, offset)) = self.memory.locate(address, bytes)
        {
            knowledge.strict.host_write(number, offset, bytes);
        }
    }
}

/// A fault of the host, which has no instruction.
#[allow(clippy::boxed_local, reason = "faults come in boxes")]
fn host(fault: Box<Fault>) -> Finding {
    let Fault { kind, message } = *fault;
    let site =
        Site { entry: "the host".into(), instruction: None, line: None, origin: None, workgroup: None, local: None };
    Finding { kind, message, site, other: None, repeated: 0 }
}
