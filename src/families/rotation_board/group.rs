//! Which boards can be solved: the group that the turns generate.
//!
//! Colour cells like a checkerboard, the top-left corner's colour first; p and q cells have the
//! first and the second colour, N = p + q. One turn is n^2/4 four-cycles when the block size n is
//! even, and (n^2-1)/8 four-cycles on each colour when it is odd (the middle stays), where colours
//! never mix. The group is the largest one that these signs allow, but for three small cases:
//!
//! | case | solvable boards | order |
//! | --- | --- | --- |
//! | the block is the board | its rotations | 4 |
//! | 2x3 and 3x2, n = 2 | PGL(2,5), sharply 3-transitive on the six cells | 120 |
//! | 3x4 and 4x3, n = 3 | each colour any permutation, and one colour determines the other by an outer automorphism of S6 | 720 |
//! | n = 2 mod 4 | all | N! |
//! | n = 0 mod 4 | even permutations | N!/2 |
//! | n = 3, 5 mod 8 | colours kept, both permutations of one sign | p! q!/2 |
//! | n = 1, 7 mod 8 | colours kept, both permutations even | (p!/2)(q!/2) |
//!
//! Why. A 3-cycle exists (`solve/ladder.rs` has words for every block size), the group is primitive
//! on the cells or on each colour, so by Jordan's theorem it contains the alternating group there;
//! overlapping sub-boards merge; the signs of one turn decide the index. GAP found these orders for
//! 48 boards.

use crate::families::rotation_board::BoardShape;

/// What the turns of a board generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoardGroup {
    /// The block is the board: four rotations.
    Rotations,
    /// PGL(2,5) on the six cells of a 2x3 board.
    Projective,
    /// S6 on each colour of a 3x4 board, tied by an outer automorphism.
    OuterAutomorphism,
    /// All permutations.
    All,
    /// The even permutations.
    Even,
    /// Permutations that keep colours and have the same sign on both.
    SameSigns,
    /// Permutations that keep colours and are even on each.
    BothEven,
}

impl BoardGroup {
    /// The group of a board.
    #[must_use]
    pub fn of(shape: BoardShape) -> Self {
        let (rows, columns, block) = (shape.rows(), shape.columns(), shape.block());
        match (rows.min(columns), rows.max(columns), block) {
            (least, most, block) if least == block && most == block => Self::Rotations,
            (2, 3, 2) => Self::Projective,
            (3, 4, 3) => Self::OuterAutomorphism,
            _ => match block % 8 {
                2 | 6 => Self::All,
                0 | 4 => Self::Even,
                3 | 5 => Self::SameSigns,
                _ => Self::BothEven,
            },
        }
    }

    /// Whether the group is one of the small ones, whose boards are found by listing all of them.
    #[must_use]
    pub fn is_small(self) -> bool {
        matches!(self, Self::Rotations | Self::Projective | Self::OuterAutomorphism)
    }

    /// The group in words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Rotations => "the four rotations of the board",
            Self::Projective => "PGL(2,5), sharply 3-transitive on the six cells",
            Self::OuterAutomorphism => "S6 on each colour, tied by an outer automorphism",
            Self::All => "all permutations",
            Self::Even => "the even permutations",
            Self::SameSigns => "permutations that keep the checkerboard's colours and have the same sign on both",
            Self::BothEven => "permutations that keep the checkerboard's colours and are even on each",
        }
    }

    /// Number of solvable boards, exactly, in decimal digits.
    #[must_use]
    pub fn order(self, shape: BoardShape) -> String {
        let cells = shape.cells();
        let (first, second) = (cells.div_ceil(2), cells / 2);
        // A half factorial is 3 x 4 x ... x N.
        let factors: Vec<u32> = match self {
            Self::Rotations => vec![4],
            Self::Projective => vec![120],
            Self::OuterAutomorphism => vec![720],
            Self::All => (2..=cells).collect(),
            Self::Even => (3..=cells).collect(),
            Self::SameSigns => (2..=first).chain(3..=second).collect(),
            Self::BothEven => (3..=first).chain(3..=second).collect(),
        };
        product(&factors)
    }
}

/// The product in decimal digits, by schoolbook multiplication in groups of nine digits.
fn product(factors: &[u32]) -> String {
    const GROUP: u64 = 1_000_000_000;
    let mut groups: Vec<u64> = vec![1];
    for &factor in factors {
        let mut carry = 0;
        for group in &mut groups {
            let value = *group * u64::from(factor) + carry;
            (*group, carry) = (value % GROUP, value / GROUP);
        }
        if carry > 0 {
            groups.push(carry);
        }
    }
    let (last, rest) = groups.split_last().expect("never empty");
    rest.iter().rev().fold(last.to_string(), |text, group| text + &format!("{group:09}"))
}
