//! Turns the text of a case into bytes: reads its files and checks that every number fits its type.
//!
//! The result is complete and consistent, so that a back end only copies bytes and launches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use super::contents::{self, Array, CasePath, array_len, global_array, hex_bytes, scalar};
use super::contents_spec::Tables;
use super::image_spec::ObjectSpec;
use super::images::{self, Image, Object, Textures};
use super::spec::{ArgSpec, CaseSpec, ExpectSpec, NanRule};
use super::{Ptx, Result, Scalar};
use ptx2spv_translator::Math;

/// A case that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Name of the case.
    pub name: String,
    /// The module that has the kernel.
    pub ptx: Ptx,
    /// Name of the kernel.
    pub entry: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z, if the launch sets them.
    pub cluster: Option<[u32; 3]>,
    /// Whether the launch is cooperative.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
    /// The accuracy of float arithmetic, if the case sets it.
    pub math: Option<Math>,
    /// Bytes to write to module variables before the launch.
    pub globals: BTreeMap<String, Array>,
    /// Images, and objects that references are bound to.
    pub textures: Textures,
    /// Arguments in order.
    pub args: Vec<Argument>,
    /// Module variables to read after the launch, with the number of bytes.
    pub read_globals: BTreeMap<String, usize>,
    /// The expected outcome.
    pub expectation: Expectation,
}

impl Prepared {
    /// A launch of one thread without arguments and expectations, named after its kernel.
    pub fn new(ptx: Ptx, entry: impl Into<String>) -> Self {
        let entry = entry.into();
        Self {
            name: entry.clone(),
            ptx,
            entry,
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            cooperative: false,
            dynamic_shared_bytes: 0,
            math: None,
            globals: BTreeMap::new(),
            textures: Textures::default(),
            args: Vec::new(),
            read_globals: BTreeMap::new(),
            expectation: Expectation::Results(Vec::new()),
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A device buffer with these contents; its address is passed.
    Buffer(Array),
    /// Bytes passed by value: a scalar, or a struct.
    Value(Vec<u8>),
    /// The null pointer.
    Null,
    /// The handle of a texture, a surface or a sampler.
    Object(Object),
    /// A device buffer of handles.
    Handles(Vec<Object>),
    /// A struct by value, with the layout of C.
    Struct(Vec<Argument>),
}

impl Argument {
    /// The parts of the argument: the members of a struct, recursively, or else the argument itself.
    pub fn parts(&self) -> Vec<&Argument> {
        match self {
            Argument::Struct(members) => members.iter().flat_map(Argument::parts).collect(),
            _ => vec![self],
        }
    }

    /// The bytes of the argument, given the addresses and handles of buffers and objects among its parts, in order.
    pub fn bytes(&self, addresses: &mut dyn Iterator<Item = u64>) -> Vec<u8> {
        match self {
            Argument::Buffer(_) | Argument::Object(_) | Argument::Handles(_) => {
                addresses.next().unwrap_or(0).to_le_bytes().to_vec()
            }
            Argument::Value(bytes) => bytes.clone(),
            Argument::Null => vec![0; 8],
            Argument::Struct(members) => {
                let mut bytes = Vec::new();
                for member in members {
                    bytes.resize(bytes.len().next_multiple_of(member.align()), 0);
                    bytes.extend(member.bytes(addresses));
                }
                bytes.resize(bytes.len().next_multiple_of(self.align()), 0);
                bytes
            }
        }
    }

    /// The alignment in a struct: a number's size, or 1 for other bytes.
    fn align(&self) -> usize {
        match self {
            Argument::Buffer(_) | Argument::Null | Argument::Object(_) | Argument::Handles(_) => 8,
            Argument::Value(bytes) if matches!(bytes.len(), 2 | 4 | 8) => bytes.len(),
            Argument::Value(_) => 1,
            Argument::Struct(members) => members.iter().map(Argument::align).max().unwrap_or(1),
        }
    }
}

/// The expected outcome of a case.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// Contents of buffers and variables. Empty if the case has none.
    Results(Vec<Check>),
    /// A refusal whose message contains this.
    Error(String),
}

/// Expected elements of one buffer, variable or image.
#[derive(Clone, Debug)]
pub struct Check {
    /// The subject to check.
    pub subject: Subject,
    /// First element.
    pub offset: usize,
    /// Expected elements, and the type of the comparison.
    pub expected: Array,
    /// Accepted differences.
    pub tolerance: Tolerance,
}

/// A buffer, a module variable or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The buffer of the argument with this index.
    Arg(usize),
    /// The variable with this name.
    Global(String),
    /// The image with this name.
    Image(String),
}

/// Accepted differences. An element passes if any of the rules accepts it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Maximum distance of floats, in representable values.
    pub ulp: Option<u64>,
    /// Maximum absolute error.
    pub abs: Option<f64>,
    /// Maximum error relative to the expected value.
    pub rel: Option<f64>,
    /// The comparison of NaNs.
    pub nan: NanRule,
}

/// Reads and checks everything that a case in `file` refers to. `path` is its JSON path there, such as `$[3]`. Cases with the same PTX
/// share `ptx`: the first of them reads the file.
pub fn prepare(spec: &CaseSpec, tables: &Tables, file: &Path, path: &str, ptx: &OnceLock<Ptx>) -> Result<Prepared> {
    let place = CasePath { file, tables, path };
    let ptx = match ptx.get() {
        Some(ptx) => ptx.clone(),
        None => {
            let bytes = place.at(".ptx", |place| place.read(&spec.ptx))?;
            let read = Ptx::new(spec.ptx.display().to_string(), ptx2spv_fatbin::text(&bytes));
            ptx.get_or_init(|| read).clone()
        }
    };
    check_launch(place, spec)?;
    let mut globals = BTreeMap::new();
    for (name, global) in &spec.globals {
        globals.insert(name.clone(), place.at(&format!(".globals.{name}"), |place| global_array(place, global))?);
    }
    let textures = images::prepare(place, spec)?;
    let mut args = Vec::new();
    for (index, arg) in spec.args.iter().enumerate() {
        args.push(place.at(&format!(".args[{index}]"), |place| argument(place, arg, &textures.images))?);
    }
    let mut read_globals = BTreeMap::new();
    let expectation = match (&spec.expect, &spec.error) {
        (Some(_), Some(_)) => return Err(place.error("`expect` and `error` exclude each other")),
        (None, Some(error)) if error.is_empty() => return Err(place.error("`error` is empty: any message would do")),
        (None, Some(error)) => Expectation::Error(error.clone()),
        (list, None) => {
            let mut checks = Vec::new();
            for (index, expect) in list.iter().flatten().enumerate() {
                let check = place.at(&format!(".expect[{index}]"), |place| {
                    check(place, expect, &args, &globals, &textures.images)
                })?;
                if let Subject::Global(name) = &check.subject {
                    let end = check.offset * check.expected.ty.size() + check.expected.bytes.len();
                    let bytes: &mut usize = read_globals.entry(name.clone()).or_default();
                    *bytes = end.max(*bytes);
                }
                checks.push(check);
            }
            Expectation::Results(checks)
        }
    };
    Ok(Prepared {
        name: spec.name.clone(),
        ptx,
        entry: spec.entry.clone(),
        grid: spec.grid,
        block: spec.block,
        cluster: spec.cluster,
        cooperative: spec.cooperative,
        dynamic_shared_bytes: spec.dynamic_shared_bytes,
        math: spec.math,
        globals,
        textures,
        args,
        read_globals,
        expectation,
    })
}

fn check_launch(place: CasePath<'_>, spec: &CaseSpec) -> Result {
    // A launch without threads would have no effect. Every device accepts sizes from 1 on.
    let cluster = (".cluster", spec.cluster.unwrap_or([1; 3]));
    for (key, size) in [(".grid", spec.grid), (".block", spec.block), cluster] {
        if size.contains(&0) {
            return place.at(key, |place| Err(place.error("sizes begin at 1")));
        }
    }
    Ok(())
}

fn argument(place: CasePath<'_>, spec: &ArgSpec, images: &BTreeMap<String, Image>) -> Result<Argument> {
    let contents = spec.contents();
    let object =
        ObjectSpec { texture: spec.texture.clone(), surface: spec.surface.clone(), sampler: spec.sampler.clone() };
    let is_object = object.texture.is_some() || object.surface.is_some() || object.sampler.is_some();
    let others = [spec.null, spec.value.is_some(), is_object, spec.handles.is_some()];
    if contents.count() + others.into_iter().filter(|&given| given).count() != 1 {
        return Err(place.error(
            "expected exactly one of `data`, `bits`, `file`, `table`, `zeros`, `fill`, `value`, `null`, `texture`, `surface`, \
             `sampler` and `handles`",
        ));
    }
    if is_object {
        return images::object(place, &object, images).map(Argument::Object);
    }
    if let Some(handles) = &spec.handles {
        let object = |(index, spec): (usize, &ObjectSpec)| {
            place.at(&format!(".handles[{index}]"), |place| images::object(place, spec, images))
        };
        return handles.iter().enumerate().map(object).collect::<Result<_, _>>().map(Argument::Handles);
    }
    if spec.null {
        return Ok(Argument::Null);
    }
    let name = spec.ty.as_deref().ok_or_else(|| place.error("`type` is missing"))?;
    let Some(value) = &spec.value else {
        return contents::read(&contents, place, scalar(place, name)?).map(Argument::Buffer);
    };
    if spec.len.is_some() || spec.at.is_some() {
        return Err(place.error("`len` and `fill` or `at` go together"));
    }
    if name == "bytes" {
        let bytes = hex_bytes(&value.text).filter(|_| value.quoted);
        return bytes
            .map(Argument::Value)
            .ok_or_else(|| place.error("`value`: expected a string of pairs of hexadecimal digits"));
    }
    let ty = scalar(place, name)?;
    let bits = place.at(".value", |place| ty.parse(&value.text).map_err(|message| place.error(message)))?;
    Ok(Argument::Value(ty.to_bytes(bits).collect()))
}

fn check(
    place: CasePath<'_>,
    spec: &ExpectSpec,
    args: &[Argument],
    globals: &BTreeMap<String, Array>,
    images: &BTreeMap<String, Image>,
) -> Result<Check> {
    let (subject, array) = match (spec.arg, &spec.global, &spec.image) {
        (Some(index), None, None) => match args.get(index) {
            Some(Argument::Buffer(array)) => (Subject::Arg(index), Some(array)),
            Some(_) => return Err(place.error(format!("argument {index} is not a buffer"))),
            None => return Err(place.error(format!("there is no argument {index}"))),
        },
        (None, Some(name), None) => (Subject::Global(name.clone()), globals.get(name)),
        (None, None, Some(name)) => match images.get(name) {
            Some(image) => (Subject::Image(name.clone()), Some(&image.contents)),
            None => return Err(place.error(format!("there is no image `{name}`"))),
        },
        _ => return Err(place.error("expected exactly one of `arg`, `global` and `image`")),
    };
    let ty = match (&spec.ty, array) {
        (Some(name), _) => scalar(place, name)?,
        (None, Some(array)) => array.ty,
        (None, None) => return Err(place.error("`type` is needed for a variable that is not in `globals`")),
    };
    let expected = contents::read(&spec.contents(), place, ty)?;
    if expected.bytes.is_empty() {
        return Err(place.error("nothing is expected: such a check can't fail"));
    }
    let offset = array_len(place, spec.offset, ty)?;
    let end = offset * ty.size() + expected.bytes.len();
    if let (Subject::Arg(_) | Subject::Image(_), Some(array)) = (&subject, array)
        && end > array.bytes.len()
    {
        return Err(place.error(format!("reaches to byte {end} of a buffer of {} bytes", array.bytes.len())));
    }
    Ok(Check { subject, offset, expected, tolerance: tolerance(place, spec, ty)? })
}

fn tolerance(place: CasePath<'_>, spec: &ExpectSpec, ty: Scalar) -> Result<Tolerance> {
    let loose = spec.ulp.is_some() || spec.abs.is_some() || spec.rel.is_some();
    if (loose || spec.nan.is_some()) && !ty.is_float() {
        return Err(place.error(format!("`ulp`, `abs`, `rel` and `nan` are for floats, and this is {ty}")));
    }
    if [spec.abs, spec.rel].into_iter().flatten().any(|bound| !(bound >= 0.0 && bound.is_finite())) {
        return Err(place.error("`abs` and `rel` must be finite and not negative"));
    }
    Ok(Tolerance { ulp: spec.ulp, abs: spec.abs, rel: spec.rel, nan: spec.nan.unwrap_or_default() })
}
