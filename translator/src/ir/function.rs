//! Functions: the tables and properties that statements belong to.

use super::{Block, Op, Stmt, Type, Value, Var, for_each_stmt};
use crate::index::IndexVec;
use ptx2spv_target::{self, Cluster, Packing, Scratch};

/// The bits of values that are constants.
pub type Constants = IndexVec<Value, Option<u64>>;

/// A kernel's body together with the tables that its numbers refer to.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Types of all values.
    pub values: IndexVec<Value, Type>,
    /// Types of all variables (never floats).
    pub vars: IndexVec<Var, Type>,
    /// The statements.
    pub body: Block,
    /// Bytes of `.shared` memory that a block declares statically; the translator's own included, unless the function is
    /// for a cluster.
    pub shared_bytes: u32,
    /// The address of the first byte of shared memory, as programs see addresses. [`Space::Shared`](super::Space::Shared) counts from
    /// that byte; generic addresses count from 0, which is null.
    pub shared_start: u32,
    /// The translator's own bytes among these, or after these: a multiple of 16. At run time they lie after all others.
    pub own_shared_bytes: u32,
    /// The word that sequentially consistent fences of the block go by, once there is one.
    pub fence_word: Option<OwnShared>,
    /// Whether the function uses dynamic shared memory.
    pub dynamic_shared: bool,
    /// Bytes of `.local` memory per thread.
    pub local_bytes: u32,
    /// A variable that tells whether a thread has exited, where a [`Warp`](super::Warp) asks for it. Other threads read
    /// the variable, even that of a thread that has exited.
    pub exited: Option<Var>,
    /// The mapping of the block's threads to invocations: in functions that had warp operations or are made for large
    /// blocks.
    pub packing: Option<Packing>,
    /// The cluster of blocks that a workgroup is, if it is more than one.
    pub cluster: Option<Cluster>,
    /// The local and shared memory that lies in device memory, once there is any.
    pub scratch: Option<Scratch>,
    /// The callees of [`Op::Call`].
    pub helpers: Vec<Helper>,
    /// The variables that count in loops over the lanes of a warp that lies in one invocation: see [`is_lane_loop`](super::is_lane_loop). Once the
    /// kernel is mapped, those of loops that are to be calls.
    pub lane_numbers: Vec<Var>,
}

/// Computes one operation that is long on the target, for all places where the kernel has that operation. A helper has no
/// effect, and calls only helpers of higher numbers.
#[derive(Clone, Debug)]
pub struct Helper {
    /// Types of the parameters, never floats.
    pub parameters: Vec<Type>,
    /// Type of the result, never a float.
    pub result: Type,
    /// The body, which ends in [`Stmt::Return`].
    pub function: Function,
}

/// Shared memory of the translator's own. Its address is made by [`Builder::own_shared`](super::Builder::own_shared).
#[derive(Clone, Copy, Debug)]
pub struct OwnShared {
    /// From the start of all shared memory, or from the end of the kernel's.
    pub(super) offset: u32,
    /// Whether the offset counts from the end of the kernel's memory, which only the launch may know.
    pub(super) after_kernel: bool,
}

impl Function {
    /// Takes words of shared memory for the translator's own use.
    pub fn take_shared(&mut self, words: u32) -> OwnShared {
        let bytes = words.saturating_mul(4).next_multiple_of(16);
        if let Some(cluster) = &mut self.cluster {
            let offset = self.own_shared_bytes;
            self.own_shared_bytes = self.own_shared_bytes.saturating_add(bytes);
            cluster.own_shared_bytes = self.own_shared_bytes;
            return OwnShared { offset, after_kernel: true };
        }
        if self.own_shared_bytes == 0 {
            // The kernel's dynamic memory begins there.
            self.shared_bytes = self.shared_bytes.next_multiple_of(16);
        }
        let offset = if self.dynamic_shared { self.own_shared_bytes } else { self.shared_bytes };
        self.own_shared_bytes = self.own_shared_bytes.saturating_add(bytes);
        self.shared_bytes = self.shared_bytes.saturating_add(bytes);
        OwnShared { offset, after_kernel: self.dynamic_shared }
    }

    /// Bytes of shared memory of a workgroup that gets no dynamic memory.
    pub fn workgroup_shared_bytes(&self) -> u64 {
        self.cluster.map_or(self.shared_bytes.into(), |cluster| cluster.shared_bytes(self.shared_bytes, 0))
    }

    /// The same for a launch with `dynamic_bytes` bytes of dynamic shared memory.
    pub fn launch_shared_bytes(&self, dynamic_bytes: u32) -> u64 {
        ptx2spv_target::shared_bytes(self.shared_bytes, dynamic_bytes, self.cluster)
    }

    /// Runs something on this and all helpers.
    pub fn each(&mut self, mut run: impl FnMut(&mut Function)) {
        self.helpers.iter_mut().for_each(|helper| run(&mut helper.function));
        run(self);
    }

    /// Whether some values are floats; each operation on floats has a float as its result or an operand.
    pub fn has_floats(&self) -> bool {
        self.values.iter().any(|ty| matches!(ty, Type::F32 | Type::F64))
    }

    /// The bits of values that are constants.
    pub fn constants(&self) -> Constants {
        let mut constants = IndexVec::filled(None, self.values.len());
        for_each_stmt(&self.body, |stmt| {
            if let Stmt::Let(value, Op::Const(bits)) = stmt
                && let Some(entry) = constants.at_mut(*value)
            {
                *entry = Some(*bits);
            }
        });
        constants
    }

    /// The operations that define values.
    pub fn definitions(&self) -> IndexVec<Value, Option<Op>> {
        definitions(&self.body, self.values.len())
    }

    /// The values that each variable is set to.
    pub fn sets(&self) -> IndexVec<Var, Vec<Value>> {
        let mut sets = IndexVec::filled(Vec::new(), self.vars.len());
        for_each_stmt(&self.body, |stmt| {
            if let Stmt::Set(var, value) = stmt
                && let Some(entry) = sets.at_mut(*var)
            {
                entry.push(*value);
            }
        });
        sets
    }

    /// A new value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.values.push(ty)
    }

    /// A new variable of a type.
    pub fn var(&mut self, ty: Type) -> Var {
        self.vars.push(ty)
    }

    /// Type of a value of this function.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value]
    }

    /// Type of a variable of this function.
    pub fn var_type(&self, var: Var) -> Type {
        self.vars[var]
    }
}

/// The operations in a list that define values, of which the function has as many as this.
pub fn definitions(body: &Block, values: usize) -> IndexVec<Value, Option<Op>> {
    let mut definitions = IndexVec::filled(None, values);
    for_each_stmt(body, |stmt| {
        if let Stmt::Let(value, op) = stmt
            && let Some(entry) = definitions.at_mut(*value)
        {
            *entry = Some(*op);
        }
    });
    definitions
}
