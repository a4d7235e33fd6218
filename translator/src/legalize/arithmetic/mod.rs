//! Arithmetic that the device lacks, rounds otherwise, or flushes.

pub(in crate::legalize) mod approximate;
pub(in crate::legalize) mod bits;
pub(in crate::legalize) mod bounded;
pub(in crate::legalize) mod convert;
pub(in crate::legalize) mod division;
pub(in crate::legalize) mod dot;
pub(crate) mod doubles;
pub(in crate::legalize) mod exposed;
pub(in crate::legalize) mod extreme_groups;
pub(crate) mod flushed;
pub(in crate::legalize) mod fma;
mod groups;
pub(in crate::legalize) mod halves;
mod late_nans;
pub(in crate::legalize) mod matrix;
pub(in crate::legalize) mod nan_groups;
pub(in crate::legalize) mod nans;
pub(in crate::legalize) mod ordinary_products;
pub(in crate::legalize) mod products;
pub(in crate::legalize) mod root_ends;
pub(in crate::legalize) mod roots;
pub(in crate::legalize) mod round;
pub(in crate::legalize) mod rounded;
pub(crate) mod singles;
pub(in crate::legalize) mod sqrt;
pub(in crate::legalize) mod turns;
pub(in crate::legalize) mod words;
