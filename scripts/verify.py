#!/usr/bin/env python3
"""A second opinion about certificates, written from src/evidence/README.md alone.

    scripts/verify.py PATH...      certificates, or folders with *.cert below

One line a claim: verified, refuted or unreadable. Exit code 0: all are verified; 1: one is refuted;
2: none is, but one cannot be read, or is "too large for this checker". A distance certificate is
checked with the archive `levels/` beside it. Plain Python 3; zstd is that of Python 3.14 or the
system's libzstd.so.1. It knows no run folders and shares nothing with `farthest-verify`: whoever
doubts a result can read all of this in one sitting, and that checker in another.
"""

import ctypes
import hashlib
import itertools
import math
import operator
import os
import re
import stat
import struct
import sys

MOST_RANKS = 20_000_000  # of a distance certificate; some bytes of memory for each
MOST_PLANES = 1 << 20  # and blocks of a file
MOST_BALL_BYTES = 1 << 30
MOST_FILE_BYTES = 1 << 26
MOST_WORK = 10**10  # labels moved and bytes read, for one certificate
MOST_LINE_BYTES = 1 << 20
TOO_LARGE = "too large for this checker:"


class Refuted(Exception):
    """The claim is false, or the evidence does not show it."""


class Unreadable(Exception):
    """Grammar, limits, missing files."""


# What no name of a move holds: controls, blanks, quotation marks, backslashes, marks that are not seen.
NO_NAME = (
    "[\\x00-\\x20\"\\\\\\x7f-\\xa0\\xad\\u061c\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff\\ufff9-\\ufffb"
    "\\U000e0000-\\U000e007f]"
)


def refuted_unless(condition, told):
    if not condition:
        raise Refuted(told)


def unreadable_unless(condition, told):
    if not condition:
        raise Unreadable(told)


def shown(numbers):
    return " ".join(map(str, numbers))


def printable(text):
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def number(text):
    is_number = re.fullmatch("0|[1-9][0-9]{0,19}", text) and int(text) < 1 << 64
    unreadable_unless(is_number, f"found {text[:40]!r}, expected a decimal number below 2^64")
    return int(text)


def numbers(fields, count):
    unreadable_unless(len(fields) == count, f"found {len(fields)} fields, expected {count} numbers")
    return [number(field) for field in fields]


class Records:
    """The records of a certificate, one by one, and the work that was done for it."""

    def __init__(self, file):
        self.file, self.line, self.ahead, self.work = file, 0, None, 0

    def spend(self, work):
        self.work += work
        unreadable_unless(self.work <= MOST_WORK, f"{TOO_LARGE} so much work")

    def read(self):
        while True:
            line = self.file.readline(MOST_LINE_BYTES + 2)
            self.line += 1
            self.spend(len(line))
            unreadable_unless(len(line) <= MOST_LINE_BYTES + 1, "found a line that is too long")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                raise Unreadable("found no UTF-8") from None
            if not text.endswith("\n"):
                return ["the end of the file"]
            if self.line == 1 or not text.startswith("#"):
                return text[:-1].split(" ")

    def take(self, name):
        """The fields of the next record, which must have this name, after it."""
        fields, self.ahead = self.ahead or self.read(), None
        unreadable_unless(fields[0] == name, f"found {fields[0][:40]!r}, expected the record {name!r}")
        return fields[1:]

    def has_another(self, name):
        self.ahead = self.read()
        return self.ahead[0] == name

    def numbers(self, name, count):
        return numbers(self.take(name), count)

    def one_of(self, name, words):
        fields = self.take(name)
        unreadable_unless(len(fields) == 1 and fields[0] in words, f"found another {name}, expected one of {words}")
        return fields[0]

    def end(self):
        unreadable_unless(not self.take("end") and not self.file.read(1), "expected nothing after end")


# Puzzles. A move is the tuple of the places, from 0, from which the pieces come.


def moved(move, state):
    return tuple([state[i] for i in move])


def inverse(move):
    return tuple(sorted(range(len(move)), key=move.__getitem__))


def moved_all(move, states):
    # One place has one arrangement, and `itemgetter` of one item makes no tuple.
    return map(operator.itemgetter(*move), states) if len(move) > 1 else states


def is_odd(move):
    """Whether a permutation of places is odd: it is as many swaps as it has places less its cycles."""
    seen, swaps = set(), len(move)
    for place in range(len(move)):
        swaps -= place not in seen
        while place not in seen:
            seen.add(place)
            place = move[place]
    return swaps % 2 == 1


class Puzzle:
    def __init__(self, records):
        self.family, *fields = records.take("puzzle") or [""]
        self.name = " ".join([self.family, *fields])
        self.is_ring, self.columns, self.moves = False, 0, {}
        if self.family == "turnstyle" and len(fields) == 2:
            self.turnstyle(number(fields[0]), fields[1])
        elif self.family == "rotation-board" and len(fields) == 4:
            self.rotation_board(*numbers(fields[:3], 3), fields[3])
        elif self.family == "permutations" and len(fields) == 2:
            self.permutations(records, *numbers(fields, 2))
        else:
            raise Unreadable("found another puzzle, expected turnstyle, rotation-board or permutations")
        self.places, self.labels = len(self.solved), sorted(self.solved)

    def turnstyle(self, size, metric):
        is_known = 4 <= size <= 1000 and metric in ("step", "turn", "flip")
        unreadable_unless(is_known, "expected turnstyle of 4 to 1000 pieces in step, turn or flip")
        self.solved, self.is_ring, ring = tuple(range(1, size + 1)), metric == "flip", range(size)
        flip = (1, 0, 3, 2, *ring[4:])
        if self.is_ring:
            for k in ring if size > 4 else [0]:
                turned = moved(flip, [(place + k) % size for place in ring])
                first = turned.index(0)
                self.moves[f"F{k}"] = turned[first:] + turned[:first]
        else:
            shifts = {f"R{k}": k for k in range(2, size - 1)} if metric == "turn" else {}
            shifts |= {"R": 1, "L": size - 1}
            self.moves = {name: tuple((place - k) % size for place in ring) for name, k in shifts.items()}
            self.moves["F"] = flip

    def rotation_board(self, rows, columns, block, metric):
        cells, down, right = rows * columns, rows - block + 1, columns - block + 1
        is_known = 2 <= block <= min(rows, columns) and cells <= 65535 and metric in ("quarter", "half")
        unreadable_unless(is_known, "expected blocks that fit, at most 65535 cells, quarter or half")
        unreadable_unless(down * right * cells <= MOST_RANKS, f"{TOO_LARGE} {down * right} blocks on {cells} cells")
        letters = {2: "XY", 3: "XYZ"}.get(down * right, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        self.solved, self.columns = tuple(range(1, cells + 1)), columns
        for index, (row, column) in enumerate(itertools.product(range(down), range(right))):
            turn = list(range(cells))
            for i, j in itertools.product(range(block), repeat=2):
                turn[(row + block - 1 - j) * columns + column + i] = (row + i) * columns + column + j
            half = moved(turn, turn)
            turns = [tuple(turn), moved(turn, half), half][: 3 if metric == "half" else 2]
            names = [f"{row + 1},{column + 1},{times}" for times in ("1", "-1", "2")]
            if down * right <= 26:
                names = [letters[index] + times for times in ("", "'", "2")]
            self.moves |= zip(names, turns)

    def permutations(self, records, places, count):
        unreadable_unless(1 <= places <= 1000 and 1 <= count <= 1000, "expected 1 to 1000 positions and moves")
        for _ in range(count):
            name, *images = records.take("generator") or [""]
            is_move = sorted(images := numbers(images, places)) == list(range(1, places + 1))
            is_name = 1 <= len(name) <= 32 and not re.search(NO_NAME, name)
            unreadable_unless(is_move and is_name and name not in self.moves, "expected a new name and each place once")
            self.moves[name] = tuple(image - 1 for image in images)
        self.solved = tuple(records.numbers("solved", places))
        unreadable_unless(all(1 <= label <= 65535 for label in self.solved), "expected labels from 1 to 65535")

    def state(self, records, name):
        state = tuple(records.numbers(name, self.places))
        unreadable_unless(sorted(state) == self.labels, "found other labels than those of the solved state")
        unreadable_unless(not self.is_ring or state[0] == 1, "expected a ring from piece 1 on")
        return state

    def all_differ(self):
        unreadable_unless(len(set(self.labels)) == self.places, "found equal pieces, expected none")

    def word(self, records, state):
        """The state to which a word leads, and its length. It is followed while it is read."""
        (length,), count, is_word = records.numbers("length", 1), 0, True
        while is_word:
            for name in (names := records.take("word")):
                unreadable_unless(name in self.moves, f"found {name[:40]!r}, expected a move")
                state = moved(self.moves[name], state)
            count += len(names)
            records.spend(len(names) * self.places)
            is_word = count <= length and records.has_another("word")
        refuted_unless(count == length, f"found {count} moves, expected {length}")
        return state, length

    def word_between(self, records):
        start, target = self.state(records, "from"), self.state(records, "to")
        found, length = self.word(records, start)
        refuted_unless(found == target, f"found a word that leads to {shown(found)}, expected {shown(target)}")
        return start, target, length


# What each kind claims. All records are read before what costs work is checked.


def check_word(puzzle, records):
    start, target, length = puzzle.word_between(records)
    records.end()
    return f"from {shown(start)} to {shown(target)} by {length} moves"


def check_group(puzzle, records):
    group = records.one_of("group", ("symmetric", "alternating"))
    size, moves, count = puzzle.places, puzzle.moves.values(), 2 if group == "symmetric" else 3
    found, _ = puzzle.word(records, tuple(range(size)))
    records.end()
    puzzle.all_differ()
    shifts = [move[0] for move in moves if all(move[j] == (j + move[0]) % size for j in range(size))]
    refuted_unless(any(math.gcd(shift, size) == 1 for shift in shifts), "found no move that shifts all places")
    refuted_unless(count == 2 or not any(map(is_odd, moves)), "found an odd move, expected none")
    touched = {place for place in range(size) if found[place] != place}
    is_row = len(touched) == count and any({(j + i) % size for i in range(count)} == touched for j in touched)
    refuted_unless(is_row, f"found a word that moves {len(touched)} places, expected {count} in a row")
    return f"the moves generate the {group} group of {size} places"


def check_invariant(puzzle, records):
    kind = records.one_of("invariant", ("parity", "colours", "colour-signs", "colour-parity"))
    unreadable_unless(kind == "parity" or puzzle.columns, "found a puzzle without colours")
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    records.end()
    puzzle.all_differ()
    columns, places = puzzle.columns or 1, range(puzzle.places)
    colour = [(place // columns + place % columns) % 2 for place in places]

    def signs(move):
        """Whether it is odd on each colour; nothing when it does not keep the colours."""
        if all(colour[move[place]] == colour[place] for place in places):
            return [is_odd([move[place] if colour[place] == c else place for place in places]) for c in (0, 1)]

    keeps = {
        "parity": lambda move: not is_odd(move),
        "colours": signs,
        "colour-signs": lambda move: signs(move) in ([False, False], [True, True]),
        "colour-parity": lambda move: signs(move) == [False, False],
    }[kind]
    records.spend(len(puzzle.moves) * puzzle.places)
    refuted_unless(all(map(keeps, puzzle.moves.values())), f"found a move that does not keep {kind}")
    between = tuple(map(start.index, target))
    is_apart = not keeps(between) and (kind in ("parity", "colours") or signs(between))
    refuted_unless(is_apart, f"found states that {kind} does not tell apart")
    return f"{shown(target)} cannot be reached from {shown(start)}: {kind}"


def check_closed_set(puzzle, records):
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    states, (count,) = set(), records.numbers("states", 1)
    while len(states) < count:
        state = puzzle.state(records, "state")
        unreadable_unless(state not in states, "found a state that was there before")
        states.add(state)
    records.end()
    refuted_unless(start in states and target not in states, 'expected "from" in the set and "to" outside')
    for name, move in puzzle.moves.items():
        records.spend(count * puzzle.places)
        refuted_unless(states.issuperset(moved_all(move, states)), f"found a state from which {name!r} leads out")
    return f"{shown(target)} cannot be reached from {shown(start)}: a closed set of {count} states"


def check_bidirectional(puzzle, records):
    start, target, length = puzzle.word_between(records)
    radii = records.numbers("radii", 2)
    refuted_unless(sum(radii) == length - 1, f"found radii {radii}, expected a sum of {length} - 1")
    sizes = records.numbers("balls", 2)
    records.end()
    is_small = sum(sizes) * (8 * puzzle.places + 120) <= MOST_BALL_BYTES
    unreadable_unless(is_small, f"{TOO_LARGE} balls of {shown(sizes)} states")

    def ball(centre, moves, radius, size):
        states, frontier = {centre}, {centre}
        for _ in range(radius):
            reached = set()
            for move in moves:
                records.spend(len(frontier) * puzzle.places)
                reached.update(moved_all(move, frontier))
                reached -= states
                refuted_unless(len(states) + len(reached) <= size, f"found a larger ball, expected {size} states")
            states |= reached
            frontier = reached
            if not frontier:
                break
        refuted_unless(len(states) == size, f"found a ball of {len(states)} states, expected {size}")
        return states

    forward = ball(start, puzzle.moves.values(), radii[0], sizes[0])
    inverses = [inverse(move) for move in puzzle.moves.values()]
    backward = ball(target, inverses, radii[1], sizes[1])
    refuted_unless(forward.isdisjoint(backward), "found balls that meet, so there is a shorter word")
    return f"from {shown(start)} to {shown(target)} by {length} moves and no fewer"


# Distances. The labels of a plane are m! bytes, its arrangements in lexicographic order.

NONE = 255  # no label


class Numbering:
    """States as planes and arrangements. A move leads from a plane to a plane, and permutes all
    arrangements alike: `steps` has both for each plane and move."""

    def __init__(self, puzzle, cells, most):
        self.puzzle, moves = puzzle, puzzle.moves.values()
        self.cells = range(1, puzzle.places) if puzzle.family == "turnstyle" else cells
        self.others = [place for place in range(puzzle.places) if place not in self.cells]
        self.m = len(self.cells)
        unreadable_unless(self.m <= 20, f"found {self.m} arranged pieces, expected at most 20")
        self.size = math.factorial(self.m)
        self.renamed = {puzzle.solved[cell]: index for index, cell in enumerate(self.cells)}
        self.start, _ = self.split(puzzle.solved)
        self.steps, self.signs, found = {}, {self.start: False}, [self.start]
        for plane in found:
            refuted_unless(len(found) * (self.size // 2 or 1) <= most, f"found {most} numbered states, expected more")
            unreadable_unless(len(found) <= MOST_PLANES, f"{TOO_LARGE} so many planes")
            self.steps[plane] = [self.split(moved(move, self.state(plane))) for move in moves]
            for other, move in self.steps[plane]:
                if other not in self.signs:
                    self.signs[other] = self.signs[plane] ^ is_odd(move)
                    found.append(other)
        self.planes = sorted(found)
        changes = ((self.signs[plane] ^ self.signs[other], move) for plane in found for other, move in self.steps[plane])
        self.is_halved = self.m >= 2 and all(is_odd(move) == change for change, move in changes)
        self.ranks = len(found) * (self.size // 2 if self.is_halved else self.size)

    def split(self, state):
        """The plane of a state, and its arrangement."""
        if self.puzzle.family == "turnstyle":
            first = state.index(1)
            plane, pieces = -first % len(state) * (not self.puzzle.is_ring), state[first + 1 :] + state[:first]
        else:
            plane, pieces = moved(self.others, state), moved(self.cells, state)
        return plane, moved(pieces, self.renamed)

    def state(self, plane):
        """The state of a plane whose pieces are arranged as in the solved state."""
        solved = self.puzzle.solved
        if self.puzzle.family == "turnstyle":
            return solved[plane:] + solved[:plane]
        labels = dict(zip(self.others, plane))
        return tuple(labels.get(place, label) for place, label in enumerate(solved))

    def tables(self, labels):
        """The labels of all arrangements of each plane. Those that a halved numbering leaves out have none."""
        each = len(labels) // len(self.planes)
        parts = [bytes(labels[start : start + each]) for start in range(0, len(labels), each)]
        if not self.is_halved:
            return dict(zip(self.planes, parts))
        # Signs of all arrangements, odd ones as NONE: after a piece d come those of the others,
        # changed d times.
        odd, changed = bytes([0]), bytes([NONE, *range(1, NONE), 0])
        for n in range(2, self.m + 1):
            odd = b"".join(odd.translate(changed) if d % 2 else odd for d in range(n))
        tables = {}
        for plane, part in zip(self.planes, parts):
            wrong, tables[plane] = odd.translate(changed) if self.signs[plane] else odd, bytearray(self.size)
            for last in (0, 1):
                tables[plane][last::2] = bytes(map(operator.or_, part, wrong[last::2]))
        return tables


def largest_orbit(puzzle):
    """The largest set of places that reach one another; of equals that with the first place."""
    orbits, seen = [], set()
    for start in range(puzzle.places):
        orbit = [] if start in seen else [start]
        seen.add(start)
        for place in orbit:
            reached = {move[place] for move in puzzle.moves.values()} - seen
            seen |= reached
            orbit += reached
        orbits.append(sorted(orbit))
    return max(orbits, key=len)


def permuted(table, m, move):
    """The table in which each arrangement has the label that it had before the move."""
    now = list(range(m))
    for place in range(m):
        for left in reversed(range(place, now.index(move[place]))):
            now[left], now[left + 1] = now[left + 1], now[left]
            table = with_neighbours_swapped(table, m - left)
    return table


def with_neighbours_swapped(table, n):
    """The table after a swap of the first two of the last n pieces of each arrangement.

    Arrangements that agree before these are a block of n! in a row. Let the first of the n pieces
    be the d-th of them, and the second the e-th of the other n - 1: those are (n - 2)! in a row.
    After the swap the second is the first, and its place among all n is e, or e + 1 if d <= e."""
    block, run = math.factorial(n), math.factorial(n - 2)
    result = bytearray(len(table))
    for d, e in itertools.product(range(n), range(n - 1)):
        first, second = (e + 1, d) if d <= e else (e, d - 1)
        source, target = (d * (n - 1) + e) * run, (first * (n - 1) + second) * run
        if run <= len(table) // block:
            for i in range(run):
                result[target + i :: block] = table[source + i :: block]
        else:
            for i in range(0, len(table), block):
                result[i + target : i + target + run] = table[i + source : i + source + run]
    return result


def check_distance(puzzle, records, folder):
    if records.has_another("direction"):
        moves = set(puzzle.moves.values())
        undone = {name: inverse(move) for name, move in puzzle.moves.items()}
        is_directed = records.take("direction") == ["to"] and not moves.issuperset(undone.values())
        unreadable_unless(is_directed, "expected direction to, where a move has none that undoes it")
        puzzle.moves = undone
    if puzzle.family == "rotation-board":
        cells = [number(cell) - 1 for cell in records.take("arranged")]
        are_cells = len(cells) == len(set(cells)) <= 20 and set(cells) <= set(range(puzzle.places))
        unreadable_unless(are_cells, "expected at most 20 cells of the board, each once")
        is_closed = all(move[cell] in cells for move in puzzle.moves.values() for cell in cells)
        refuted_unless(is_closed, "found cells that a move mixes with others")
    else:
        cells = largest_orbit(puzzle)
    ranks, shard_size = records.numbers("ranks", 2)
    unreadable_unless(1 <= shard_size <= ranks, f"found shards of {shard_size}, expected 1 to {ranks}")
    (states,), (levels,) = records.numbers("states", 1), records.numbers("levels", 1)
    unreadable_unless(1 <= levels <= 254, f"found {levels} levels, expected 1 to 254")
    counts, files = [], []
    for depth in range(levels):
        level, count = records.numbers("level", 2)
        unreadable_unless(level == depth and count > 0, f"expected level {depth} and at least one state")
        counts.append(count)
    refuted_unless(states == sum(counts), f"found {states} states, expected {sum(counts)}, the sum of the levels")
    (count,) = records.numbers("archives", 1)
    unreadable_unless(count <= 1 << 20, f"found {count} files, expected at most 2^20")
    while len(files) < count:
        fields = records.take("archive")
        depth, length = numbers(fields[:2], 2)
        digest, path = fields[2:] if len(fields) == 4 else ("", "")
        unreadable_unless(re.fullmatch("[0-9a-f]{64}", digest), "expected archive DEPTH BYTES SHA256 PATH")
        is_path = re.fullmatch(f"levels/{depth:06}/[A-Za-z0-9_-][A-Za-z0-9._-]*", path)
        unreadable_unless(depth < levels and is_path, f"expected a level below {levels} and levels/{depth:06}/NAME")
        is_next = not files or (files[-1][0], files[-1][3]) < (depth, path)
        unreadable_unless(is_next, "expected files in ascending order, each once")
        files.append((depth, length, digest, path))
    records.end()
    puzzle.all_differ()
    numbering = Numbering(puzzle, cells, ranks)
    refuted_unless(ranks == numbering.ranks, f"found {ranks} numbered states, expected {numbering.ranks}")
    unreadable_unless(ranks <= MOST_RANKS, f"{TOO_LARGE} {ranks} numbered states")
    # 1 and 2: the archive is a labelling, with as many states of each label as stated.
    labels = bytearray([NONE]) * ranks
    for depth, length, digest, path in files:
        data = read_archive(folder, path, length, digest)
        for member in members_of(data, path, ranks, shard_size, records):
            refuted_unless(labels[member] == NONE, f"{path}: found the number {member} twice")
            labels[member] = depth
    for depth, count in enumerate(counts):
        found = labels.count(depth)
        refuted_unless(found == count, f"found {found} states of level {depth}, expected {count}")
    # 3: the solved state has label 0, and no other state has.
    tables = numbering.tables(labels)
    is_start = counts[0] == 1 and tables[numbering.start][0] == 0
    refuted_unless(is_start, "found another state of level 0, expected the solved state")
    # One more than the least label from which a move leads here, for all arrangements of each
    # plane.
    one_more = bytes([*range(1, NONE), NONE, NONE])
    bounds = dict.fromkeys(tables)
    for plane, table in tables.items():
        for other, move in numbering.steps[plane]:
            records.spend(len(table))
            bound = permuted(table, numbering.m, move).translate(one_more)
            bounds[other] = bytes(map(min, bounds[other], bound)) if bounds[other] else bound
    for plane, table in tables.items():
        # 4: no label is larger; and no label at all is larger than any.
        is_bounded = all(map(operator.le, table, bounds[plane]))
        refuted_unless(is_bounded, "found a move to a state without a label, or with one more than 1 larger")
        # 5: none is smaller, but that of the solved state.
        smaller = sum(map(operator.lt, table, bounds[plane]))
        is_reached = smaller == (plane == numbering.start)
        refuted_unless(is_reached, "found a state to which no move leads from one with the label before")
    return f"{states} states, by {levels - 1} moves at most: {shown(counts)}"


# The archive.


def open_regular(name, flags=0, folder=None):
    """An open regular file: a pipe is not waited for, a device is not read."""
    file = open(os.open(name, os.O_RDONLY | os.O_NONBLOCK | flags, dir_fd=folder), "rb")
    status = os.fstat(file.fileno())
    unreadable_unless(stat.S_ISREG(status.st_mode), "found no regular file")
    unreadable_unless(status.st_size <= MOST_FILE_BYTES, f"{TOO_LARGE} {status.st_size} bytes")
    return file


def read_archive(folder, path, length, digest):
    """The bytes of a file in the folder of the certificate; nothing on its path is a link."""
    *parents, name = path.split("/")
    opened = [os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for parent in parents:
            opened.append(os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        with open_regular(name, os.O_NOFOLLOW, opened[-1]) as file:
            data = file.read(MOST_FILE_BYTES)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    finally:
        for descriptor in opened:
            os.close(descriptor)
    refuted_unless(len(data) == length, f"{path}: found {len(data)} bytes, expected {length}")
    refuted_unless(hashlib.sha256(data).hexdigest() == digest, f"{path}: found another SHA-256")
    return data


def members_of(data, path, ranks, shard_size, records):
    """The numbers in a file of the archive."""

    def need(condition, what):
        unreadable_unless(condition, f"{path}: expected {what}")

    need(len(data) >= 88 and data[:32] == b"FARTHESTPACK\1\0".ljust(32, b"\0"), "the header of a pack")
    index, index_length, magic = struct.unpack("<QQ8s", data[-24:])
    need(magic == b"FARTHEND" and index >= 32 <= index_length == len(data) - 24 - index, "the end of a pack")
    head, payload = data[index : index + 24], data[index + 32 : -24]
    checksum = int.from_bytes(data[index + 24 : index + 32], "little")
    need(head == struct.pack("<12sHHQ", b"FARTHESTINDX", 1, 1, len(payload)), "an index of version 1")
    need(xxh3_64(head + payload) == checksum, "an index with its checksum")
    position = 0

    def integer():
        nonlocal position
        need(position < len(payload), "more of the index")
        first = payload[position]
        start, width = (position + 1, 2 << first - 251) if first > 250 else (position, 1)
        position = start + width
        need(first <= 253 and position <= len(payload), "an integer of the index")
        return int.from_bytes(payload[start:position], "little")

    count = integer()
    unreadable_unless(count <= MOST_PLANES, f"{TOO_LARGE} {count} blocks")
    blocks = [[integer() for _ in range(9)] for _ in range(count)]
    need(position == len(payload), "nothing after the last block")
    for _, set_, encoding, _, _, is_packed, *_ in blocks:
        need(set_ == 1 and encoding <= 3 and is_packed <= 1, "levels in a known encoding")
    need(len({block[0] for block in blocks}) == count, "each shard once")
    for shard, _, encoding, count, length, is_packed, start, stored_length, checksum in blocks:
        first, size = shard * shard_size, min(shard_size, ranks - shard * shard_size)
        refuted_unless(size > 0, f"{path}: found shard {shard}, expected numbers below {ranks}")
        need(32 <= start <= start + stored_length <= index, "a block within the file")
        records.spend(stored_length + 100)
        raw = data[start : start + stored_length]
        refuted_unless(xxh3_64(raw) == checksum, f"{path}: found another checksum of a block")
        bits_length = (size + 63) // 64 * 8
        is_length = length == bits_length if encoding == 3 else length <= (10 * count if encoding == 2 else 0)
        need(count <= size and is_length, "members that fit the shard, and their bytes")
        records.spend(length + count)
        raw = decompressed(raw, length) if is_packed else raw
        need(len(raw) == length, "a block of its length")
        if encoding == 3:
            bits = "".join(f"{byte:08b}"[::-1] for byte in raw)
            offsets = (offset for offset, bit in enumerate(bits) if bit == "1")
        else:
            offsets = list_of(raw) if encoding == 2 else range(size * encoding)
        found = 0
        for found, offset in enumerate(offsets, 1):
            need(offset < size, "members within the shard")
            yield first + offset
        need(found == count, f"{count} members")


def list_of(raw):
    """Ascending offsets: LEB128 of the first, then of each distance less 1."""
    value, shift, last = 0, 0, -1
    for byte in raw:
        value |= (byte & 127) << shift
        shift += 7
        unreadable_unless(byte < 128 or shift < 64, "found a number that is too long")
        if byte < 128:
            last += value + 1
            yield last
            value = shift = 0
    unreadable_unless(shift == 0, "found a list that ends within a number")


def decompressed(stored, length):
    """The bytes of zstd frames, at most `length` and one more."""
    raw = b""
    try:
        from compression import zstd
    except ImportError:
        return decompressed_by_the_system(stored, length)
    try:
        while stored and len(raw) <= length:
            frame = zstd.ZstdDecompressor()
            raw += frame.decompress(stored, max_length=length + 1 - len(raw))
            unreadable_unless(frame.eof, "found no whole zstd frame")
            stored = frame.unused_data
    except zstd.ZstdError:
        raise Unreadable("found no zstd frame") from None
    return raw


def decompressed_by_the_system(stored, length):
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise Unreadable("found no zstd here, expected Python 3.14 or libzstd.so.1") from None
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    raw = ctypes.create_string_buffer(length + 1)
    written = library.ZSTD_decompress(raw, length, stored, len(stored))
    unreadable_unless(written <= length, "found no zstd frames of the stated length")
    return raw.raw[:written]


# XXH3, 64 bits, no seed: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
WORD, HALF = (1 << 64) - 1, (1 << 32) - 1


def xxh3_64(data):
    n = len(data)

    def key(at):
        return int.from_bytes(SECRET[at : at + 8], "little")

    def word(at, width=8):
        return int.from_bytes(data[at : at + width], "little")

    def avalanche(hash, shifts=(37, 32), primes=(0x165667919E3779F9,)):
        hash &= WORD
        for shift, prime in zip(shifts, primes):
            hash = (hash ^ hash >> shift) * prime & WORD
        return hash ^ hash >> shifts[-1]

    def folded(a, b):
        return (a * b & WORD) ^ (a * b >> 64)

    def mixed(at, secret):
        return folded(word(at) ^ key(secret), word(at + 8) ^ key(secret + 8))

    if n == 0:
        return avalanche(key(56) ^ key(64), (33, 29, 32), P64[1:3])
    if n <= 3:
        hash = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche(hash ^ (key(0) ^ key(0) >> 32) & HALF, (33, 29, 32), P64[1:3])
    if n <= 8:
        hash = (word(n - 4, 4) | word(0, 4) << 32) ^ key(8) ^ key(16)
        hash ^= (hash << 49 | hash >> 15) & WORD ^ (hash << 24 | hash >> 40) & WORD
        hash = hash * 0x9FB21C651E98DF25 & WORD
        hash = (hash ^ (hash >> 35) + n) * 0x9FB21C651E98DF25 & WORD
        return hash ^ hash >> 28
    if n <= 16:
        low, high = word(0) ^ key(24) ^ key(32), word(n - 8) ^ key(40) ^ key(48)
        return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + folded(low, high))
    hash = n * P64[0]
    if n <= 128:
        rounds = range((n - 1) // 32 + 1)
        return avalanche(hash + sum(mixed(16 * i, 32 * i) + mixed(n - 16 * i - 16, 32 * i + 16) for i in rounds))
    if n <= 240:
        hash = avalanche(hash + sum(mixed(16 * i, 16 * i) for i in range(8)))
        return avalanche(hash + sum(mixed(16 * i, 16 * i - 125) for i in range(8, n // 16)) + mixed(n - 16, 119))

    lanes = [P32[2], *P64[:4], P32[1], P64[4], P32[0]]

    def accumulate(at, secret):
        keys = struct.unpack_from("<8Q", SECRET, secret)
        for i, value in enumerate(struct.unpack_from("<8Q", data, at)):
            mix = value ^ keys[i]
            lanes[i ^ 1] += value
            lanes[i] += (mix & HALF) * (mix >> 32)

    for stripe in range((n - 1) // 64):
        accumulate(64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            for i, lane in enumerate(lanes):
                lane &= WORD
                lanes[i] = (lane ^ lane >> 47 ^ key(128 + 8 * i)) * P32[0] & WORD
    accumulate(n - 64, 121)
    lanes = [lane & WORD ^ key(11 + 8 * i) for i, lane in enumerate(lanes)]
    return avalanche(hash + sum(map(folded, lanes[::2], lanes[1::2])))


# The command line.

CHECKS = {
    "word": check_word,
    "group": check_group,
    "invariant": check_invariant,
    "closed-set": check_closed_set,
    "bidirectional": check_bidirectional,
    "distance": check_distance,
}


def check(path):
    """The claim of a certificate in words; an exception when it is not verified."""
    try:
        file = open_regular(path)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{error}") from None
    with file:
        records = Records(file)
        try:
            unreadable_unless(records.take("farthest-certificate") == ["1"], "expected version 1")
            kind = records.one_of("claim", tuple(CHECKS))
            puzzle = Puzzle(records)
            archive = [os.path.dirname(path)] if kind == "distance" else []
            return f"{puzzle.name}: {CHECKS[kind](puzzle, records, *archive)}"
        except (Refuted, Unreadable) as error:
            raise type(error)(f"line {records.line}: {error}") from None


def certificates(path):
    """The certificates that a path stands for. In folders hidden names and links are passed over."""
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = (os.path.join(folder, name) for name in sorted(files) if name.endswith(".cert") and name[0] != ".")
        found += [name for name in names if not os.path.islink(name)]
    return found or [path]


def main(paths):
    if not paths or paths[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if paths else 2
    verdicts = set()
    for path in itertools.chain.from_iterable(map(certificates, paths)):
        try:
            verdict, told = "verified", check(path)
        except (Refuted, Unreadable) as error:
            verdict, told = type(error).__name__.lower(), f"{error}"
        verdicts.add(verdict)
        print(f"{verdict:<12}{printable(path)}: {printable(told)}", flush=True)
    return 1 if "refuted" in verdicts else 2 if "unreadable" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
