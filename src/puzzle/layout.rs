//! How a state is written for people: labels in position order.

/// The rule from (plane, arrangement) to the labels that a person sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A cycle of `size` positions. The plane is the first position relative to piece 0, the
    /// arrangement the other pieces clockwise from it.
    Cycle {
        /// Number of positions and pieces.
        size: u32,
    },
    /// A cycle whose rotations are one state: written from piece 0 on.
    Circle,
    /// Positions permuted outright: the positions of the largest orbit hold the arrangement, the
    /// other moved ones the contents that belong to the plane, the rest never moves.
    Orbits {
        /// Number of all positions.
        positions: u32,
        /// The positions that the arrangement fills, in its order.
        arranged: Vec<u8>,
        /// The other positions that move.
        planar: Vec<u8>,
        /// For each plane the labels at the planar positions, by position number of their home.
        planes: Vec<Vec<u8>>,
    },
    /// Planes and arrangements given by number: `plane:` and the arrangement.
    Numbered,
    /// The contents of all cells, from 0.
    Cells,
}

impl Layout {
    /// The state's text: labels from 1 (from 0 for [`Layout::Numbered`] and [`Layout::Cells`]),
    /// separated by blanks, in position order.
    #[must_use]
    pub fn text(&self, plane: u32, arrangement: &[u8]) -> String {
        match self {
            Self::Cycle { size } => {
                let size = u64::from(*size);
                let home = (size - u64::from(plane)) % size;
                let labels = (0..size).map(|position| {
                    let clockwise = (position + size - home) % size;
                    if clockwise == 0 { 1 } else { label_at(arrangement, clockwise - 1) + 1 }
                });
                joined(labels)
            }
            Self::Circle => joined(std::iter::once(1).chain(arrangement.iter().map(|&label| u64::from(label) + 2))),
            Self::Orbits { positions, arranged, planar, planes } => {
                let mut labels: Vec<u64> = (0..u64::from(*positions)).collect();
                for (&position, &label) in arranged.iter().zip(arrangement) {
                    labels[usize::from(position)] = u64::from(arranged[usize::from(label)]);
                }
                let contents = &planes[crate::base::ids::index_u32(plane)];
                for (&position, &label) in planar.iter().zip(contents) {
                    labels[usize::from(position)] = u64::from(label);
                }
                joined(labels.into_iter().map(|label| label + 1))
            }
            Self::Cells => joined(arrangement.iter().map(|&content| u64::from(content))),
            Self::Numbered => {
                format!("{plane}: {}", joined(arrangement.iter().map(|&label| u64::from(label))))
            }
        }
    }
}

/// Number (from 1) of the piece that the arrangement holds at clockwise distance `index + 1` from
/// piece 0.
fn label_at(arrangement: &[u8], index: u64) -> u64 {
    u64::from(arrangement[crate::base::ids::to_usize(index)]) + 1
}

fn joined(labels: impl Iterator<Item = u64>) -> String {
    labels.map(|label| label.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_written_from_its_first_position() {
        let layout = Layout::Cycle { size: 4 };
        assert_eq!(layout.text(0, &[0, 1, 2]), "1 2 3 4");
        // Piece 1 stands one position to the right of the turntable's first position: that position
        // is piece 1's number 3.
        assert_eq!(layout.text(3, &[0, 1, 2]), "4 1 2 3");
        assert_eq!(Layout::Circle.text(0, &[2, 0, 1]), "1 4 2 3");
    }

    #[test]
    fn orbits_keep_unmoved_positions() {
        let layout = Layout::Orbits { positions: 6, arranged: vec![1, 2, 4], planar: vec![0, 5], planes: vec![vec![0, 5], vec![5, 0]] };
        assert_eq!(layout.text(1, &[2, 0, 1]), "6 5 2 4 3 1");
    }
}
