//! Shapes of arrays, and the limits of their sizes.

use crate::texel::limits;

/// The dimensions of an array. All sizes are in elements.
///
/// ```
/// use ptx2spv_runtime::ArrayShape;
///
/// assert_eq!(ArrayShape::OneD { width: 9 }.size(), [9, 1, 1]);
/// assert_eq!(ArrayShape::Cube { width: 4 }.size(), [4, 4, 6]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are the shape's sizes")]
pub enum ArrayShape {
    /// One row.
    OneD { width: u32 },
    /// Rows.
    TwoD { width: u32, height: u32 },
    /// Slices of rows.
    ThreeD { width: u32, height: u32, depth: u32 },
    /// Layers of one row each.
    OneDLayered { width: u32, layers: u32 },
    /// Layers of rows.
    TwoDLayered { width: u32, height: u32, layers: u32 },
    /// The six square faces of a cube: +x, -x, +y, -y, +z, -z.
    Cube { width: u32 },
    /// Several cubes.
    CubeLayered { width: u32, cubes: u32 },
}

impl ArrayShape {
    /// Width, height, and depth or layers; 1 for missing dimensions. A cube has six layers.
    pub fn size(self) -> [u64; 3] {
        let [width, height, depth] = match self {
            Self::OneD { width } => [width, 1, 1],
            Self::TwoD { width, height } => [width, height, 1],
            Self::ThreeD { width, height, depth } => [width, height, depth],
            Self::OneDLayered { width, layers } => [width, 1, layers],
            Self::TwoDLayered { width, height, layers } => [width, height, layers],
            Self::Cube { width } => [width, width, 6],
            Self::CubeLayered { width, cubes } => [width, width, cubes.saturating_mul(6)],
        };
        [width, height, depth].map(u64::from)
    }

    /// The number of layers, six for each cube; `None` if the shape has none.
    pub fn layers(self) -> Option<u32> {
        match self {
            Self::OneD { .. } | Self::TwoD { .. } | Self::ThreeD { .. } => None,
            Self::OneDLayered { layers, .. } | Self::TwoDLayered { layers, .. } => Some(layers),
            Self::Cube { .. } => Some(6),
            Self::CubeLayered { cubes, .. } => Some(cubes.saturating_mul(6)),
        }
    }

    /// Whether the layers are faces of cubes.
    pub fn is_cube(self) -> bool {
        matches!(self, Self::Cube { .. } | Self::CubeLayered { .. })
    }

    /// The size of a level. Each level halves width, height and depth, but not the layers.
    pub fn level_size(self, level: u32) -> [u64; 3] {
        let [width, height, depth] = self.size();
        let halved = |size: u64| (size >> level).max(1);
        [halved(width), halved(height), if self.layers().is_some() { depth } else { halved(depth) }]
    }

    /// Maximum number of levels.
    pub(crate) fn most_levels(self) -> u32 {
        let [width, height, depth] = self.size();
        let longest = width.max(height).max(if self.layers().is_some() { 1 } else { depth });
        longest.max(1).ilog2() + 1
    }

    /// Names and limits of the sizes.
    pub(crate) fn limits(self, several_levels: bool, surface: bool, gather: bool) -> Vec<(&'static str, u64, u64)> {
        let others = limits::ARRAY_OTHERS;
        let narrow = |limit: u64, narrowed: bool| if narrowed { others } else { limit };
        match self {
            Self::OneD { width } => {
                vec![("the width", width.into(), narrow(limits::ARRAY_1D, several_levels || surface))]
            }
            Self::TwoD { width, height } => {
                let [most_width, most_height] = limits::ARRAY_2D.map(|most| narrow(most, several_levels || gather));
                vec![("the width", width.into(), most_width), ("the height", height.into(), most_height)]
            }
            Self::ThreeD { width, height, depth } => {
                let most =
                    if u64::from(depth) <= limits::ARRAY_3D[2] { limits::ARRAY_3D } else { limits::ARRAY_3D_DEEP };
                vec![
                    ("the width", width.into(), most[0]),
                    ("the height", height.into(), most[1]),
                    ("the depth", depth.into(), most[2]),
                ]
            }
            Self::OneDLayered { width, layers } => {
                vec![("the width", width.into(), others), ("the number of layers", layers.into(), limits::LAYERS)]
            }
            Self::TwoDLayered { width, height, layers } => vec![
                ("the width", width.into(), others),
                ("the height", height.into(), others),
                ("the number of layers", layers.into(), limits::LAYERS),
            ],
            Self::Cube { width } => vec![("the width", width.into(), others)],
            Self::CubeLayered { width, cubes } => {
                vec![("the width", width.into(), others), ("the number of cubes", cubes.into(), limits::CUBES)]
            }
        }
    }
}
