//! The meanings of the numbers in a record.

/// An enumeration whose variants have numbers.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $code,)*
        }

        impl $name {
            /// Its number in a record.
            pub const fn code(self) -> u32 {
                self as u32
            }

            /// The variant of a record's number.
            pub const fn from_code(code: u32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl super::layout::Part for $name {
            fn write(self, bytes: &mut [u8]) {
                self.code().write(bytes);
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Self::from_code(u32::read(bytes)?)
            }
        }
    };
}

codes! {
    /// The kinds of memory of textures and surfaces.
    Kind {
        /// None: an unbound reference.
        #[default]
        None = 0,
        /// Linear memory of one dimension, where there are neither address modes nor filters.
        Linear = 1,
        /// Linear memory of two dimensions.
        Pitched = 2,
        /// An array of one dimension.
        Array1d = 3,
        /// An array of two dimensions.
        Array2d = 4,
        /// An array of three dimensions.
        Array3d = 5,
        /// Layers of one dimension.
        Layered1d = 6,
        /// Layers of two dimensions.
        Layered2d = 7,
        /// A cube.
        Cube = 8,
        /// Several cubes.
        LayeredCube = 9,
    }
}

codes! {
    /// Treatment of coordinates out of range, with CUDA's numbers.
    AddressMode {
        /// They repeat; normalised coordinates only.
        #[default]
        Wrap = 0,
        /// The nearest texel.
        Clamp = 1,
        /// They repeat, every second time mirrored; normalised coordinates only.
        Mirror = 2,
        /// The border colour.
        Border = 3,
    }
}

codes! {
    /// The computation of a value from the texels around it; CUDA's numbers.
    Filter {
        /// The nearest texel.
        #[default]
        Point = 0,
        /// Interpolation.
        Linear = 1,
    }
}

codes! {
    /// The conversion of a texel's channel by a fetch: the channel's width, and the resulting 32 bits.
    Texel {
        /// Unsigned integers of 8 bits.
        #[default]
        U8 = 0,
        /// Signed integers of 8 bits.
        S8 = 1,
        /// Unsigned integers of 16 bits.
        U16 = 2,
        /// Signed integers of 16 bits.
        S16 = 3,
        /// Integers of 32 bits of either sign.
        B32 = 4,
        /// Floats of 16 bits, which become floats of 32 bits.
        F16 = 5,
        /// Floats of 32 bits.
        F32 = 6,
        /// Unsigned integers of 8 bits, which become floats from 0 to 1.
        Unorm8 = 8,
        /// Signed integers of 8 bits, which become floats from -1 to 1.
        Snorm8 = 9,
        /// Unsigned integers of 16 bits, which become floats from 0 to 1.
        Unorm16 = 10,
        /// Signed integers of 16 bits, which become floats from -1 to 1.
        Snorm16 = 11,
        /// As `Unorm8`; all channels but the fourth are sRGB.
        Srgb8 = 12,
    }
}

impl Texel {
    /// Bytes of a channel.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 | Self::Unorm8 | Self::Snorm8 | Self::Srgb8 => 1,
            Self::U16 | Self::S16 | Self::F16 | Self::Unorm16 | Self::Snorm16 => 2,
            Self::B32 | Self::F32 => 4,
        }
    }
}
