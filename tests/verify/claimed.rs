//! What a certificate claims, found again in the plainest way there is: by a search through all states that can be reached. For small puzzles only.

use std::collections::HashMap;

type State = Vec<usize>;

/// A move: its name, and what it makes of a state.
type Move = (String, Box<dyn Fn(&State) -> State>);

/// A claim as the text has it; the evidence is not looked at, but for words.
pub struct Claimed {
    kind: String,
    moves: Vec<Move>,
    solved: State,
    records: HashMap<String, Vec<String>>,
}

impl Claimed {
    /// None when the puzzle is too large to search, or the text no certificate.
    pub fn read(text: &str) -> Option<Self> {
        let mut records: HashMap<String, Vec<String>> = HashMap::new();
        let mut generators = Vec::new();
        for line in text.lines().skip(1).filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ').map(str::to_owned);
            let name = words.next()?;
            if name == "generator" {
                generators.push((words.next()?, numbers(&words.collect::<Vec<_>>())?));
            } else {
                records.entry(name).or_default().extend(words);
            }
        }
        let puzzle: Vec<&str> = records.get("puzzle")?.iter().map(String::as_str).collect();
        let (moves, solved) = match puzzle[..] {
            ["turnstyle", size, metric] => {
                let size = size.parse().ok().filter(|size| (4..=9).contains(size))?;
                (turnstyle(size, metric)?, (1..=size).collect())
            }
            ["rotation-board", rows, columns, block, metric] => {
                let [rows, columns, block] = [rows, columns, block].map(|measure| measure.parse::<usize>().ok());
                let (rows, columns, block) = (rows?, columns?, block?);
                // Few states: small, or one block, or a word to follow.
                let is_word = records.get("claim")? == &["word"];
                let few = rows * columns <= 8 || (rows, columns) == (block, block) || (is_word && rows * columns <= 64);
                (few.then(|| board(rows, columns, block, metric))??, (1..=rows * columns).collect())
            }
            ["permutations", ..] => {
                let solved = numbers(records.get("solved")?)?;
                (generators.into_iter().map(|(name, from)| (name, replaced(from))).collect(), solved)
            }
            _ => return None,
        };
        Some(Self { kind: records.get("claim")?.first()?.clone(), moves, solved, records })
    }

    /// The same for certificates of the same claim, whatever their evidence; a word is a claim.
    pub fn key(&self) -> String {
        let names = ["puzzle", "solved", "group", "from", "to", "length", "word"];
        let moves: Vec<String> =
            self.moves.iter().map(|(name, turn)| format!("{name} {:?}", turn(&(1..=self.solved.len()).collect()))).collect();
        format!("{} {moves:?} {:?}", self.kind, names.map(|name| self.records.get(name)))
    }

    /// Whether what is claimed holds.
    pub fn is_true(&self) -> bool {
        let word = self.records.get("word").cloned().unwrap_or_default();
        let length = self.records.get("length").map(|length| numbers(length).expect("a number")[0]);
        let state = |name: &str| numbers(&self.records[name]).expect("labels");
        match self.kind.as_str() {
            "word" => length == Some(word.len()) && self.led(&word, state("from")) == Some(state("to")),
            "group" => {
                let all: usize = (1..=self.solved.len()).product();
                let half = self.records["group"] == ["alternating"];
                self.distances(self.solved.clone()).len() == if half { all / 2 } else { all }
            }
            "invariant" | "closed-set" => !self.distances(state("from")).contains_key(&state("to")),
            "bidirectional" => self.distances(state("from")).get(&state("to")).copied() == length,
            _ => panic!("{} is not known here", self.kind),
        }
    }

    fn led(&self, word: &[String], from: State) -> Option<State> {
        word.iter().try_fold(from, |state, name| self.moves.iter().find(|(known, _)| known == name).map(|(_, turn)| turn(&state)))
    }

    fn distances(&self, from: State) -> HashMap<State, usize> {
        let mut found = HashMap::from([(from.clone(), 0)]);
        let mut open = vec![from];
        let mut depth = 0;
        while !open.is_empty() {
            depth += 1;
            let all = open.iter().flat_map(|state| self.moves.iter().map(|(_, turn)| turn(state)));
            let next: Vec<State> =
                all.collect::<std::collections::BTreeSet<_>>().into_iter().filter(|state| !found.contains_key(state)).collect();
            found.extend(next.iter().map(|state| (state.clone(), depth)));
            open = next;
        }
        found
    }
}

fn numbers(words: &[String]) -> Option<Vec<usize>> {
    words.iter().map(|word| word.parse().ok()).collect()
}

fn replaced(from: Vec<usize>) -> Box<dyn Fn(&State) -> State> {
    Box::new(move |state| from.iter().map(|&place| state[place - 1]).collect())
}

/// The turns of every block, as a player makes them: the four cells of every ring change places.
fn board(rows: usize, columns: usize, block: usize, metric: &str) -> Option<Vec<Move>> {
    let (down, right) = (rows.checked_sub(block)? + 1, columns.checked_sub(block)? + 1);
    let quarters: &[usize] = match metric {
        "quarter" => &[1, 3],
        "half" => &[1, 2, 3],
        _ => return None,
    };
    let turned = move |state: &State, top: usize, left: usize| {
        let mut after = state.clone();
        for row in 0..block {
            for column in 0..block {
                // Counter-clockwise: the last column becomes the first row.
                after[(top + row) * columns + left + column] = state[(top + column) * columns + left + block - 1 - row];
            }
        }
        after
    };
    let letters: &str = if (2..=3).contains(&(down * right)) { "XYZ" } else { "ABCDEFGHIJKLMNOPQRSTUVWXYZ" };
    let mut moves: Vec<Move> = Vec::new();
    for (top, left) in (0..down).flat_map(|top| (0..right).map(move |left| (top, left))) {
        for &count in quarters {
            let name = if down * right <= 26 {
                format!("{}{}", letters.chars().nth(top * right + left)?, ["", "", "2", "'"][count])
            } else {
                format!("{},{},{}", top + 1, left + 1, ["", "1", "2", "-1"][count])
            };
            moves.push((name, Box::new(move |state| (0..count).fold(state.clone(), |state, _| turned(&state, top, left)))));
        }
    }
    Some(moves)
}

/// The moves on a list of pieces, as a player makes them.
fn turnstyle(size: usize, metric: &str) -> Option<Vec<Move>> {
    fn flipped(mut state: State) -> State {
        state.swap(0, 1);
        state.swap(2, 3);
        state
    }
    fn turned(mut state: State, by: usize) -> State {
        state.rotate_right(by);
        state
    }
    let shift = |by: usize| -> Move {
        let name = if by == 1 { "R".into() } else { format!("R{by}") };
        (if by == size - 1 { "L".into() } else { name }, Box::new(move |state| turned(state.clone(), by)))
    };
    let flip = || -> Move { ("F".into(), Box::new(|state| flipped(state.clone()))) };
    match metric {
        "step" => Some(vec![shift(1), shift(size - 1), flip()]),
        "turn" => Some((1..size).map(shift).chain([flip()]).collect()),
        "flip" => Some(
            (0..size)
                .map(|first| -> Move {
                    let play = move |state: &State| {
                        let after = flipped(turned(state.clone(), state.len() - first));
                        let home = after.iter().position(|&piece| piece == 1).expect("there");
                        let back = (after.len() - home) % after.len();
                        turned(after, back)
                    };
                    (format!("F{first}"), Box::new(play))
                })
                .collect(),
        ),
        _ => None,
    }
}
