//! The published claims about rotation boards: the committed document is what the command computes,
//! and each claim's status is the one that an independent check in Python, C++ and GAP found.
#![allow(missing_docs)]

mod common;

use farthest::claims::boards::{Status, claims};
use std::fs;

#[test]
fn the_document_is_computed() {
    let output = common::succeed(common::farthest().arg("board-claims"));
    let committed = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/results/nrp-claims.md")).expect("readable");
    assert!(output == committed, "results/nrp-claims.md is not the output of farthest board-claims:\n{output}");
}

#[test]
fn statuses_are_those_found_before() {
    let claims = claims().expect("small searches");
    let numbers = |status: Status| claims.iter().filter(|claim| claim.status == status).map(|claim| claim.number).collect::<Vec<u32>>();
    assert!(claims.iter().map(|claim| claim.number).eq(1..=20));
    assert_eq!(numbers(Status::Fails), [2, 4, 8, 16]);
    assert_eq!(numbers(Status::Open), [5, 20]);
    let witness = |number: u32| &claims.iter().find(|claim| claim.number == number).expect("listed").witness;
    assert!(witness(2).contains(": seen for n = 3 to 16"));
    assert!(witness(4).contains("n = 4: 4 cells, where phi is (11 21 42 41)(22 44)"));
    assert!(witness(16).contains("(25 34) on P1") && witness(16).contains("(24 33) on P0"));
    // The table of the outer automorphism, as GAP and Python had it: pair of the corner's colour,
    // pairs of the other.
    for row in [
        "11 13: 12-32 14-21 23-34",
        "11 22: 12-21 14-23 32-34",
        "11 24: 12-14 21-34 23-32",
        "11 31: 12-34 14-32 21-23",
        "11 33: 12-23 14-34 21-32",
        "13 22: 12-23 14-32 21-34",
        "13 24: 12-34 14-23 21-32",
        "13 31: 12-21 14-34 23-32",
        "13 33: 12-14 21-23 32-34",
        "22 24: 12-32 14-34 21-23",
        "22 31: 12-14 21-32 23-34",
        "22 33: 12-34 14-21 23-32",
        "24 31: 12-23 14-21 32-34",
        "24 33: 12-21 14-32 23-34",
        "31 33: 12-32 14-23 21-34",
    ] {
        assert!(witness(15).contains(row), "{row}");
    }
}
