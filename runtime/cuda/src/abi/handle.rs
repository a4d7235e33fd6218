//! Handles: slot numbers in tables. A generation number distinguishes an object from earlier ones in its slot, so that
//! stale, foreign and made-up handles are detected.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, RwLock};

use crate::abi::code::{Code, INVALID_HANDLE, Result};
use crate::abi::sync::{read, write};

/// A handle. C programs see a pointer, which must not be dereferenced. From the top: eight bits of [`Object::TAG`], 28
/// of the slot's generation, 28 of its number.
#[repr(transparent)]
pub(crate) struct Handle<T> {
    value: usize,
    object: PhantomData<fn() -> T>,
}

/// An object that has handles.
pub(crate) trait Object: Sized + 'static {
    /// Distinguishes handles of this kind from those of others. Not zero, and below 128, so that no handle is negative.
    const TAG: u8;
    /// The error for an invalid handle.
    const BAD: Code = INVALID_HANDLE;
    /// Handles below this number always stand for something.
    const FIXED: usize = 0;

    fn table() -> &'static Table<Self>;
}

/// Gives a type of objects its table, its tag, and the error for invalid handles and the number of fixed ones, unless
/// these are the usual ones.
macro_rules! objects {
    ($table:ident: $object:ident = $tag:literal $(, $bad:ident $(, $fixed:literal)?)?) => {
        static $table: $crate::abi::handle::Table<$object> = $crate::abi::handle::Table::new();

        impl $crate::abi::handle::Object for $object {
            const TAG: u8 = $tag;
            $(const BAD: $crate::abi::code::Code = $bad;
            $(const FIXED: usize = $fixed;)?)?

            fn table() -> &'static $crate::abi::handle::Table<Self> {
                &$table
            }
        }
    };
}
pub(crate) use objects;

/// All live objects of a kind.
pub(crate) struct Table<T> {
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    list: Vec<Slot<T>>,
    free: Vec<usize>,
}

struct Slot<T> {
    generation: usize,
    object: Option<Arc<T>>,
}

const BITS: u32 = 28;
const MASK: usize = (1 << BITS) - 1;

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Eq for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.value)
    }
}

impl<T> Handle<T> {
    pub const NULL: Self = Self::from_value(0);

    pub const fn from_value(value: usize) -> Self {
        Self { value, object: PhantomData }
    }

    pub fn value(self) -> usize {
        self.value
    }

    pub fn is_null(self) -> bool {
        self.value == 0
    }
}

impl<T: Object> Handle<T> {
    pub fn new(object: Arc<T>) -> Result<Self> {
        T::table().insert(object)
    }

    /// The object that the handle stands for.
    pub fn get(self) -> Result<Arc<T>> {
        T::table().get(self).ok_or(T::BAD)
    }

    /// Fails if the handle stands for nothing.
    pub fn check(self) -> Result {
        if self.value < T::FIXED { Ok(()) } else { self.get().map(drop) }
    }

    /// Invalidates the handle, and returns the object.
    pub fn remove(self) -> Result<Arc<T>> {
        T::table().remove(self).ok_or(T::BAD)
    }
}

impl<T> Table<T> {
    pub const fn new() -> Self {
        Self { slots: RwLock::new(Slots { list: Vec::new(), free: Vec::new() }) }
    }
}

impl<T: Object> Table<T> {
    fn insert(&self, object: Arc<T>) -> Result<Handle<T>> {
        let mut slots = write(&self.slots);
        let Slots { list, free } = &mut *slots;
        let index = match free.pop() {
            Some(index) => index,
            None if list.len() > MASK => return Err(crate::abi::code::OUT_OF_MEMORY),
            None => {
                list.push(Slot { generation: 0, object: None });
                list.len() - 1
            }
        };
        let slot = &mut list[index];
        slot.generation = (slot.generation + 1) & MASK;
        slot.object = Some(object);
        Ok(Self::handle(slot.generation, index))
    }

    fn handle(generation: usize, index: usize) -> Handle<T> {
        Handle::from_value(usize::from(T::TAG) << (2 * BITS) | generation << BITS | index)
    }

    fn get(&self, handle: Handle<T>) -> Option<Arc<T>> {
        let slots = read(&self.slots);
        let slot = slots.list.get(Self::index(handle)?)?;
        slot.object.clone().filter(|_| slot.generation == Self::generation(handle))
    }

    fn remove(&self, handle: Handle<T>) -> Option<Arc<T>> {
        let index = Self::index(handle)?;
        let mut slots = write(&self.slots);
        let slot = slots.list.get_mut(index).filter(|slot| slot.generation == Self::generation(handle))?;
        let object = slot.object.take()?;
        slots.free.push(index);
        Some(object)
    }

    /// All live objects.
    pub fn objects(&self) -> Vec<Arc<T>> {
        read(&self.slots).list.iter().filter_map(|slot| slot.object.clone()).collect()
    }

    /// The handle of an object that satisfies a predicate.
    pub fn find(&self, which: impl Fn(&T) -> bool) -> Option<Handle<T>> {
        let slots = read(&self.slots);
        let index = slots.list.iter().position(|slot| slot.object.as_ref().is_some_and(|object| which(object)))?;
        Some(Self::handle(slots.list.get(index)?.generation, index))
    }

    /// Invalidates the handles of all objects that satisfy a predicate.
    pub fn remove_all(&self, which: impl Fn(&T) -> bool) {
        let mut removed = Vec::new();
        let mut slots = write(&self.slots);
        let Slots { list, free } = &mut *slots;
        for (index, slot) in list.iter_mut().enumerate() {
            if slot.object.as_ref().is_some_and(|object| which(object)) {
                removed.push(slot.object.take());
                free.push(index);
            }
        }
        // Unlocked first, because dropping the objects may remove other handles.
        drop(slots);
    }

    fn generation(handle: Handle<T>) -> usize {
        handle.value >> BITS & MASK
    }

    fn index(handle: Handle<T>) -> Option<usize> {
        (handle.value >> (2 * BITS) == usize::from(T::TAG)).then_some(handle.value & MASK)
    }
}

/// The handles of objects that belong to another object, by kind and name.
#[derive(Default)]
pub(crate) struct Names(RwLock<HashMap<u8, HashMap<String, usize>>>);

impl Names {
    /// The handle of a name. Makes the object on the first request, which may take long, and holds up no launch.
    pub fn find_or_make<T: Object>(&self, name: &str, make: impl FnOnce() -> Result<Arc<T>>) -> Result<Handle<T>> {
        let find = |kinds: &HashMap<u8, HashMap<String, usize>>| kinds.get(&T::TAG)?.get(name).copied();
        if let Some(value) = find(&read(&self.0)) {
            return Ok(Handle::from_value(value));
        }
        let object = make()?;
        let mut kinds = write(&self.0);
        if let Some(value) = find(&kinds) {
            // Another thread was faster.
            return Ok(Handle::from_value(value));
        }
        let handle = Handle::new(object)?;
        kinds.entry(T::TAG).or_default().insert(name.to_owned(), handle.value);
        Ok(handle)
    }

    /// Calls a function with all handles of a kind.
    pub fn try_for_each<T: Object>(&self, mut act: impl FnMut(Handle<T>) -> Result) -> Result {
        let kinds = read(&self.0);
        kinds.get(&T::TAG).into_iter().flat_map(HashMap::values).try_for_each(|&value| act(Handle::from_value(value)))
    }

    /// Invalidates all handles of a kind.
    pub fn end<T: Object>(&self) -> Result {
        let names = write(&self.0).remove(&T::TAG).unwrap_or_default();
        names.into_values().try_for_each(|value| Handle::<T>::from_value(value).remove().map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Number(u32);

    static NUMBERS: Table<Number> = Table::new();

    impl Object for Number {
        const TAG: u8 = 127;

        fn table() -> &'static Table<Self> {
            &NUMBERS
        }
    }

    #[test]
    fn stale_and_foreign_handles_are_found_out() {
        let first = Handle::new(Arc::new(Number(1))).unwrap();
        assert_eq!(first.get().unwrap().0, 1);
        assert_eq!(first.remove().unwrap().0, 1);
        assert_eq!(first.get().unwrap_err(), INVALID_HANDLE);
        let second = Handle::new(Arc::new(Number(2))).unwrap();
        // The second object has reused the slot of the first.
        assert_eq!(first.value() & MASK, second.value() & MASK);
        assert!(first.get().is_err() && first.remove().is_err());
        assert_eq!(second.get().unwrap().0, 2);
        for value in [0, 1, 2, usize::MAX, second.value() ^ 1 << 60, second.value() | MASK] {
            assert!(Handle::<Number>::from_value(value).get().is_err(), "{value:#x}");
        }
        NUMBERS.remove_all(|number| number.0 == 2);
        assert!(second.get().is_err());
    }
}
