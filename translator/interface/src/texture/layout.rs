//! The layout of structs in device memory: each field at its offset, in little endian.

/// A value that occupies 32-bit words of memory.
pub(super) trait Part: Sized {
    /// Its bytes.
    const BYTES: usize = 4;

    /// Writes it to as many bytes.
    fn write(self, bytes: &mut [u8]);

    /// Reads it from them; `None` if a number in them stands for nothing.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Part for $ty {
            const BYTES: usize = size_of::<$ty>();

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}
numbers!(u32 u64 f32);

impl<T: Part, const LEN: usize> Part for [T; LEN] {
    const BYTES: usize = LEN * T::BYTES;

    fn write(self, bytes: &mut [u8]) {
        self.into_iter().zip(bytes.chunks_exact_mut(T::BYTES)).for_each(|(part, bytes)| part.write(bytes));
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let parts: Option<Vec<T>> = bytes.chunks_exact(T::BYTES).map(T::read).collect();
        parts?.try_into().ok()
    }
}

/// Defines a struct of so many bytes, and a module with the offsets of its fields.
macro_rules! record {
    (
        $(#[$about:meta])* $name:ident of $size:ident;
        $(#[$about_offsets:meta])* $offsets:ident {
            $($(#[$doc:meta])* $field:ident: $ty:ty = $offset:ident $at:literal,)*
        }
    ) => {
        $(#[$about_offsets])*
        pub mod $offsets {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\n`", stringify!($ty), "`")]
                pub const $offset: u32 = $at;
            )*
        }

        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl $name {
            /// The bytes as they lie in memory.
            pub fn to_bytes(&self) -> [u8; $size as usize] {
                let mut bytes = [0; $size as usize];
                $($crate::texture::layout::Part::write(self.$field, &mut bytes[Self::range::<$ty>($at)]);)*
                bytes
            }

            /// Reads a struct from memory, such as the initial record of a reference; `None` if a number in it stands
            /// for nothing.
            pub fn from_bytes(bytes: &[u8; $size as usize]) -> Option<Self> {
                Some(Self {
                    $($field: $crate::texture::layout::Part::read(&bytes[Self::range::<$ty>($at)])?,)*
                })
            }

            const fn range<T: $crate::texture::layout::Part>(offset: usize) -> std::ops::Range<usize> {
                offset..offset + T::BYTES
            }
        }
    };
}
pub(super) use record;
