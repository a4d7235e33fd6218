//! The header of a test: comment lines at the start of the file, each a key, a colon and a value.

use anyhow::{Context, Result, bail, ensure};
use ptx2spv_translator::interface::Status;
use ptx2spv_translator::internals::legalize::Allocations;
use ptx2spv_translator::internals::pipeline::{Blocks, Settings};
use ptx2spv_translator::internals::policy::Policy;
use ptx2spv_translator::{Feature, Math, Target};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The action of a test.
pub struct Header {
    /// The passes to run, or the pass after which to print a `.ptx` file's kernel.
    pub passes: Vec<String>,
    pub target: Target,
    pub math: Math,
    pub block_threads: Option<u32>,
    block: Option<[u32; 3]>,
    architecture: Option<u32>,
    status: Option<Status>,
    locks: Option<u64>,
    workspace: Option<u32>,
    loop_workspace: Option<u32>,
    pauses: Option<u32>,
    allocations: Option<Allocations>,
}

impl Header {
    pub fn parse(text: &str, comment: &str) -> Result<Self> {
        let mut header = Self {
            passes: Vec::new(),
            target: Target::reference(),
            math: Math::EXACT,
            block_threads: None,
            block: None,
            architecture: None,
            status: None,
            locks: None,
            workspace: None,
            loop_workspace: None,
            pauses: None,
            allocations: None,
        };
        for line in text.lines().map_while(|line| line.strip_prefix(comment)) {
            // Other lines describe the test in words.
            let Some((key, value)) = line.trim().split_once(": ").filter(|(key, _)| !key.contains(' ')) else {
                continue;
            };
            header.set(key, value.trim()).with_context(|| format!("`{key}: {value}`"))?;
        }
        ensure!(!header.passes.is_empty(), "the first lines say which passes are tested, as `{comment} test: NAME`");
        Ok(header)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let list = || value.split(',').map(str::trim);
        match key {
            "test" => self.passes = list().map(str::to_owned).collect(),
            "target" => self.target = Target::preset(value).context("no such preset")?,
            "lacks" => {
                for name in list() {
                    let feature: Feature = serde_json::from_value(name.into())?;
                    self.target.features.retain(|other| *other != feature);
                }
            }
            // As `ptx2spv devices --json` names them, such as `fma_f32_fused`.
            "wrong" => set_flags(&mut self.target.facts, list(), false)?,
            "right" => set_flags(&mut self.target.facts, list(), true)?,
            "quirk" => set_flags(&mut self.target.quirks, list(), true)?,
            "subgroup" => {
                let size = value.parse()?;
                let subgroups = &mut self.target.subgroups;
                (subgroups.size, subgroups.min_size, subgroups.max_size) = (size, size, size);
            }
            "invocations" => self.target.limits.max_compute_work_group_invocations = value.parse()?,
            "shared_memory" => self.target.limits.max_compute_shared_memory_size = value.parse()?,
            "loop_budget" => self.target.quirks.loop_budget = Some(value.parse()?),
            "nesting" => self.target.quirks.nesting = Some(value.parse()?),
            "math" => self.math = value.parse()?,
            "architecture" => self.architecture = Some(value.parse()?),
            "block" => {
                let sizes = list().map(str::parse).collect::<Result<Vec<u32>, _>>()?;
                self.block = Some(sizes.try_into().ok().context("three sizes")?);
            }
            "block_threads" => self.block_threads = Some(value.parse()?),
            "status" => self.status = Some(Status { offset: value.parse()? }),
            "locks" => self.locks = Some(value.parse()?),
            "workspace" => self.workspace = Some(value.parse()?),
            "loop_workspace" => self.loop_workspace = Some(value.parse()?),
            "pauses" => self.pauses = Some(value.parse()?),
            // With this many bytes of variables.
            "allocations" => {
                let variables = value.parse()?;
                self.allocations = Some(Allocations { table: 56, variables, provided: variables, params: None });
            }
            _ => bail!("no such key"),
        }
        Ok(())
    }

    pub fn settings<'a>(&self, policy: &'a Policy) -> Settings<'a> {
        let blocks = match (self.block, self.block_threads) {
            (Some(size), _) => Blocks::Of(size),
            (None, Some(threads)) => Blocks::UpTo(threads),
            (None, None) => Blocks::Fitting,
        };
        Settings {
            architecture: self.architecture,
            required_block: self.block,
            blocks,
            status: self.status,
            locks: self.locks,
            workspace: self.workspace,
            loop_workspace: self.loop_workspace,
            pauses: self.pauses,
            allocations: self.allocations,
            ..Settings::new(policy)
        }
    }
}

/// Sets fields of facts or quirks by their names in JSON.
fn set_flags<'n, T: Serialize + DeserializeOwned>(
    of: &mut T,
    names: impl Iterator<Item = &'n str>,
    value: bool,
) -> Result<()> {
    let mut json = serde_json::to_value(&*of)?;
    for name in names {
        json[name] = value.into();
    }
    *of = serde_json::from_value(json.clone())?;
    let read = serde_json::to_value(&*of)?;
    ensure!(read == json, "there is no such flag");
    Ok(())
}
