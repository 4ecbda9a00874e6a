//! The page of claims: each published claim about Turnstyle, our value, the certificate, the
//! verdict. Only the source's own numbers are written here; verdicts are comparisons.

use super::turnstyle::{JUMP_SIZE, Values, digits};
use crate::families::turnstyle::shortest::Shortest;
use std::fmt::{Display, Write as _};

/// Fewest moves of a SWAP of any pair, as the source has them.
const SOURCE_LEAST: [(u16, usize); 4] = [(8, 17), (10, 24), (12, 30), (14, 38)];

/// Pair by pair from the turntable's left pair on, as the source has them.
const SOURCE_PAIRS: [(u16, &[usize]); 4] = [
    (8, &[18, 17, 18, 18, 20, 20, 20, 18]),
    (10, &[25, 25, 25, 24]),
    (12, &[32, 33, 32, 30, 32, 34, 34, 34, 34, 34, 32, 30]),
    (14, &[39, 39, 39, 38, 40, 40, 42, 42, 42, 42, 42, 40, 40, 38]),
];

/// The head of the page.
const HEAD: &str = "# The claims about Turnstyle

What the puzzle's source says of it, with our values. This page and its certificates are written by `farthest certify claims --out results`; nothing here is typed in
but the source's own numbers. `farthest-verify results/claims results/swap` checks every certificate with a program that shares no code with ours. All
lengths are in the metric `step`. Pairs are numbered from the turntable's left one (1) on around the ring.

";

/// Markdown.
#[must_use]
pub fn page(values: &Values) -> String {
    let mut text = HEAD.to_owned();
    existence(values, &mut text);
    swaps(values, &mut text);
    final_four(values, &mut text);
    reversal(values, &mut text);
    jumps(values, &mut text);
    text
}

fn table(text: &mut String, header: &[&str]) {
    line(text, format!("| {} |", header.join(" | ")));
    line(text, format!("|{}", " --- |".repeat(header.len())));
}

fn line(text: &mut String, content: impl Display) {
    writeln!(text, "{content}").expect("writing to a string");
}

/// `confirmed`, or what is there instead.
fn verdict<T: PartialEq + Display>(source: &T, ours: &T) -> String {
    if source == ours { "confirmed".into() } else { format!("differs: {ours}, not {source}") }
}

fn or_none(value: Option<usize>) -> String {
    value.map_or_else(|| "none".into(), |value| value.to_string())
}

fn joined(values: &[usize]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn existence(values: &Values, text: &mut String) {
    text.push_str("## Which rings have a SWAP\n\n");
    table(text, &["size", "source", "ours", "evidence", "verdict"]);
    for &(size, exists) in &values.existence {
        let source = match size {
            4..=7 | 9 | 11 => "no",
            _ => "yes",
        };
        let ours = if exists { "yes" } else { "no" };
        let evidence = match (size, exists) {
            (4 | 6, _) => format!("closed set, `swap/turnstyle-{size:04}/no-swap-01.cert` and on, one for each pair"),
            (_, true) => format!("a word, `swap/turnstyle-{size:04}/group-symmetric.cert`"),
            (_, false) => format!("parity, `swap/turnstyle-{size:04}/no-swap.cert`"),
        };
        line(text, format!("| {size} | {source} | {ours} | {evidence} | {} |", verdict(&source, &ours)));
    }
    text.push_str(
        "\n**The question the source leaves open, odd sizes, is settled: no ring of odd size has a SWAP.** Rotating an odd ring is an even permutation (a cycle of odd length), F is two \
         transpositions, so every arrangement that is reached is even, and a SWAP is odd. And no more than that is lost: for size 5 and every odd size from 7 on a word cycles three \
         neighbours (`group-alternating.cert`), so exactly half of all arrangements are reached, all the even ones. Every even size from 8 on has a SWAP: `swap/README.md` has the construction.\n\n",
    );
}

fn swaps(values: &Values, text: &mut String) {
    text.push_str("## Shortest SWAPs\n\n");
    table(text, &["claim", "source", "ours", "certificates", "verdict"]);
    for (size, source) in SOURCE_LEAST {
        let ours = values.least_swap(size);
        line(
            text,
            format!(
                "| shortest SWAP of {size}, over all pairs | {source} | {} | `swap/turnstyle-{size:04}/shortest-*.cert` | {} |",
                or_none(ours),
                ours.map_or_else(|| "not computed".into(), |ours| verdict(&source, &ours))
            ),
        );
    }
    for (size, source) in SOURCE_PAIRS {
        let ours = values.swaps_of(size);
        let compared = &ours[..source.len().min(ours.len())];
        line(
            text,
            format!(
                "| SWAP of {size} pair by pair | {}{} | {} | the same | {} |",
                joined(source),
                if source.len() < usize::from(size) { " …" } else { "" },
                joined(ours),
                if compared.is_empty() { "not computed".into() } else { verdict(&joined(source), &joined(compared)) }
            ),
        );
    }
    let beyond: Vec<_> = values.swaps.iter().filter(|(size, _)| SOURCE_PAIRS.iter().all(|(known, _)| known != size)).collect();
    if beyond.is_empty() {
        text.push('\n');
        return;
    }
    text.push_str("\nBeyond the source:\n\n");
    table(text, &["size", "shortest", "pair by pair"]);
    for (size, lengths) in beyond {
        line(text, format!("| {size} | {} | {} |", or_none(lengths.iter().min().copied()), joined(lengths)));
    }
    text.push('\n');
}

fn final_four(values: &Values, text: &mut String) {
    text.push_str("## The final four of 12\n\nThe other eight pieces stand solved; the four under the turntable do not. Fewest moves for each of their 24 orders:\n\n");
    table(text, &["order", "moves", "shortest words", "a shortest word", "certificate"]);
    for (four, shortest) in &values.final_four {
        let file = if shortest.word.is_empty() { "solved".to_owned() } else { format!("`claims/final-four-{}.cert`", digits(*four)) };
        line(text, format!("| {} | {} | {} | {} | {file} |", digits(*four), shortest.length(), shortest.count, shortest.word.concat()));
    }
    text.push_str("\nThe words lead from the solved ring to the order; read backwards with R and L exchanged they lead from the order to the solved ring.\n\n");
    table(text, &["claim", "source", "ours", "verdict"]);
    let mean = format!("{:.3}", values.final_four_mean());
    line(
        text,
        format!(
            "| mean over the 24 orders | 22.125 | {mean} ({} / 24) | {} |",
            values.final_four_sum(),
            verdict(&"22.125", &mean.as_str())
        ),
    );
    let reversed = or_none(values.final_four_of([4, 3, 2, 1]));
    line(text, format!("| 4321 | 18 | {reversed} | {} |", verdict(&"18", &reversed.as_str())));
    let [plain, cancelled] = values.two_flips_two_swaps;
    let left = values.swaps_of(12).first().copied().unwrap_or_default();
    let verdict = match cancelled {
        66 => "confirmed".to_owned(),
        less if less < 66 => format!("holds as an upper bound; {less} is possible"),
        more => format!("differs: {more}, not 66"),
    };
    line(
        text,
        format!(
            "| 4321 by two flips and two SWAPs | 66 | F SWAP F SWAP with shortest SWAPs of the middle pair is {plain} moves; with the best choice of them, and moves that undo each other cancelled \
             where the parts meet, {cancelled} (66 is 2 + 2 x {left}, where {left} is the SWAP of the turntable's left pair) | {verdict} |"
        ),
    );
    text.push('\n');
}

fn reversal(values: &Values, text: &mut String) {
    text.push_str("## The reversal of 12\n\nThe ring in reverse order, 12 11 … 1, turned to the right by each amount:\n\n");
    table(text, &["turned by", "moves", "shortest words", "certificate"]);
    for (rotation, shortest) in values.reversals.iter().enumerate() {
        line(
            text,
            format!("| {rotation} | {} | {} | `claims/reversal-12-rotation-{rotation:02}.cert` |", shortest.length(), shortest.count),
        );
    }
    let in_place = values.reversals.first().map(Shortest::length);
    let left = values.swaps_of(12).first().copied();
    let difference = |more: Option<usize>, less: Option<usize>| or_none(more.zip(less).map(|(more, less)| more.saturating_sub(less)));
    let (least, least_swap) = (values.least_reversal(), values.least_swap(12));
    text.push('\n');
    table(text, &["claim", "source", "ours", "verdict"]);
    line(
        text,
        format!(
            "| the reversal takes more moves than SWAP by | 9 | {} for the reversal in place - {} for the SWAP of the turntable's left pair = {} \
             (fewest over rotations - fewest over pairs: {} - {} = {}) | {} |",
            or_none(in_place),
            or_none(left),
            difference(in_place, left),
            or_none(least),
            or_none(least_swap),
            difference(least, least_swap),
            verdict(&"9".to_owned(), &difference(in_place, left))
        ),
    );
    text.push('\n');
}

fn jumps(values: &Values, text: &mut String) {
    line(
        text,
        format!(
            "## Jumps\n\nA pair advances past four or six pieces; computed on {JUMP_SIZE} pieces, over all places of the pair and all turns of the ring afterwards:\n"
        ),
    );
    table(text, &["claim", "source", "shortest", "its word", "with the pair at the turntable's left end", "its word", "verdict"]);
    for (passed, anywhere, left) in &values.jumps {
        let source = if *passed == 4 { 10 } else { 16 };
        let verdict = match (anywhere.length(), left.length()) {
            (best, _) if best == source => "confirmed".to_owned(),
            (best, at_the_end) if at_the_end == source => {
                format!("confirmed with the pair at the turntable's left end; {best} where the turntable may start anywhere")
            }
            (best, _) => format!("differs: {best}, not {source}"),
        };
        line(
            text,
            format!(
                "| JUMP{passed} | {source} | {} | {} (`claims/jump{passed}.cert`) | {} | {} (`claims/jump{passed}-from-the-left-end.cert`) | {verdict} |",
                anywhere.length(),
                anywhere.word.concat(),
                left.length(),
                left.word.concat()
            ),
        );
    }
}
