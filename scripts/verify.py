#!/usr/bin/env python3
"""A second opinion about certificates, written from src/evidence/README.md alone.

    scripts/verify.py PATH...      certificates, or folders with *.cert below

One line a claim: verified, refuted or unreadable. Exit code 0: all are verified; 1: one is refuted;
2: none is, but one cannot be read, or is "too large for this checker". A distance certificate is
checked with the archive `levels/` beside it. Plain Python 3 without other packages; zstd comes from
Python 3.14 or from the system's libzstd.so.1. It shares no line with `farthest-verify`, knows no
run folders, and is slow on purpose: whoever doubts a result can read all of it in one sitting.
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

MOST_RANKS = 20_000_000  # of a distance certificate: about 100 bytes of memory for 10 of them
MOST_PLANES = 1 << 20
MOST_BALL_BYTES = 1 << 30
MOST_FILE_BYTES = 1 << 28
MOST_WORK = 10**10  # labels moved and bytes read, for one certificate
LINE_BYTES = 1 << 20
NONE = 255  # a number without a label


class Refuted(Exception):
    """The claim is false, or the evidence does not show it."""


class Unreadable(Exception):
    """Grammar, limits, missing files."""


def too_large(what):
    return Unreadable(f"too large for this checker: {what}")


def printable(text):
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


class Records:
    """The records of a certificate, one by one, and the work that it may cost."""

    def __init__(self, file):
        self.file, self.line, self.ahead, self.work = file, 0, None, 0

    def peek(self):
        """The fields of the next record."""
        while self.ahead is None:
            line = self.file.readline(LINE_BYTES + 1)
            self.line += 1
            self.spend(len(line))
            if len(line) > LINE_BYTES:
                raise Unreadable("found a line that is too long")
            if not line.endswith(b"\n"):
                raise Unreadable("found the end of the file, or of the file within a line")
            try:
                text = line[:-1].decode("utf-8")
            except UnicodeDecodeError:
                raise Unreadable("found no UTF-8") from None
            if self.line == 1 or not text.startswith("#"):
                self.ahead = text.split(" ")
        return self.ahead

    def take(self, name):
        """The fields of the next record, which must have this name, after it."""
        fields = self.peek()
        if fields[0] != name:
            raise Unreadable(f"found {fields[0][:40]!r}, expected the record {name!r}")
        self.ahead = None
        return fields[1:]

    def one_of(self, name, words):
        fields = self.take(name)
        if len(fields) != 1 or fields[0] not in words:
            raise Unreadable(f"found another {name}, expected one of {', '.join(words)}")
        return fields[0]

    def numbers(self, name, count):
        return numbers(self.take(name), count)

    def end(self):
        if self.take("end") or self.file.read(1):
            raise Unreadable("found more, expected nothing after end")

    def spend(self, work):
        self.work += work
        if self.work > MOST_WORK:
            raise too_large("this is too much work")


def number(text):
    if not re.fullmatch("0|[1-9][0-9]{0,19}", text) or int(text) >= 1 << 64:
        raise Unreadable(f"found {text[:40]!r}, expected a decimal number below 2^64")
    return int(text)


def numbers(fields, count):
    if len(fields) != count:
        raise Unreadable(f"found {len(fields)} fields, expected {count} numbers")
    return [number(field) for field in fields]


# Puzzles. A move is the tuple of the places, from 0, from which the pieces come.


def moved(move, state):
    return tuple([state[i] for i in move])


def inverse(move):
    return tuple(sorted(range(len(move)), key=move.__getitem__))


def is_odd(move):
    """Whether a permutation of places is odd: it is when its cycles of even length are."""
    seen, odd = set(), False
    for start in range(len(move)):
        place = move[start]
        while start not in seen and place != start:
            seen.add(place)
            odd = not odd
            place = move[place]
    return odd


class Puzzle:
    def __init__(self, records):
        family, *fields = records.take("puzzle") or [""]
        self.name = " ".join([family, *fields])
        self.family, self.is_ring, self.columns = family, False, 0
        if family == "turnstyle" and len(fields) == 2:
            self.turnstyle(number(fields[0]), fields[1])
        elif family == "rotation-board" and len(fields) == 4:
            self.rotation_board(*numbers(fields[:3], 3), fields[3])
        elif family == "permutations" and len(fields) == 2:
            self.permutations(records, *numbers(fields, 2))
        else:
            raise Unreadable("found another puzzle, expected turnstyle, rotation-board or permutations with their sizes")
        self.places = len(self.solved)
        self.labels = sorted(self.solved)

    def turnstyle(self, size, metric):
        if not 4 <= size <= 1000 or metric not in ("step", "turn", "flip"):
            raise Unreadable("found another size or metric, expected turnstyle of 4 to 1000 in step, turn or flip")
        self.solved = tuple(range(1, size + 1))
        ring = range(size)
        swaps = (1, 0, 3, 2, *ring[4:])
        if metric == "flip":
            self.is_ring, self.moves = True, {}
            for k in ring if size > 4 else [0]:
                turned = moved(swaps, [(place + k) % size for place in ring])
                first = turned.index(0)
                self.moves[f"F{k}"] = turned[first:] + turned[:first]
            return
        self.moves = {"R": 1, "L": size - 1}
        if metric == "turn":
            self.moves |= {f"R{k}": k for k in range(2, size - 1)}
        self.moves = {name: tuple((place - k) % size for place in ring) for name, k in self.moves.items()}
        self.moves["F"] = swaps

    def rotation_board(self, rows, columns, block, metric):
        if not 2 <= block <= min(rows, columns) or rows * columns > 65535 or metric not in ("quarter", "half"):
            raise Unreadable("found another board or metric, expected one of at most 65535 cells, quarter or half")
        cells, down, right = rows * columns, rows - block + 1, columns - block + 1
        if down * right * cells > MOST_RANKS:
            raise too_large(f"{down * right} blocks on {cells} cells")
        letters = {2: "XY", 3: "XYZ"}.get(down * right, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        self.solved, self.columns, self.moves = tuple(range(1, cells + 1)), columns, {}
        for number, (row, column) in enumerate(itertools.product(range(down), range(right))):
            turn = list(range(cells))
            for i, j in itertools.product(range(block), repeat=2):
                turn[(row + block - 1 - j) * columns + column + i] = (row + i) * columns + column + j
            half = moved(turn, turn)
            if down * right <= 26:
                names = [letters[number] + end for end in ("", "'", "2")]
            else:
                names = [f"{row + 1},{column + 1},{end}" for end in ("1", "-1", "2")]
            turns = [tuple(turn), moved(turn, half), half]
            self.moves |= zip(names, turns if metric == "half" else turns[:2])

    def permutations(self, records, places, count):
        if not (1 <= places <= 1000 and 1 <= count <= 1000):
            raise Unreadable("found another size, expected 1 to 1000 positions and moves")
        self.moves = {}
        for _ in range(count):
            name, *images = records.take("generator") or [""]
            images = numbers(images, places)
            if not name or name in self.moves or sorted(images) != list(range(1, places + 1)):
                raise Unreadable("found another generator, expected a new name and each place once")
            self.moves[name] = tuple(image - 1 for image in images)
        self.solved = tuple(records.numbers("solved", places))
        if not all(1 <= label <= 65535 for label in self.solved):
            raise Unreadable("found another label, expected labels from 1 to 65535")

    def state(self, records, name):
        state = tuple(records.numbers(name, self.places))
        if sorted(state) != self.labels:
            raise Unreadable("found other labels than those of the solved state")
        if self.is_ring and state[0] != 1:
            raise Unreadable(f"found a ring from piece {state[0]} on, expected one from piece 1 on")
        return state

    def all_differ(self):
        if len(set(self.labels)) < self.places:
            raise Unreadable("found a solved state with equal pieces, expected pieces that all differ")

    def word(self, records, state):
        """Its moves, applied to the state."""
        (length,) = records.numbers("length", 1)
        count, fields = 0, records.take("word")
        while True:
            for name in fields:
                if name not in self.moves:
                    raise Unreadable(f"found {name[:40]!r}, expected a move of {self.name}")
                state = moved(self.moves[name], state)
            records.spend(len(fields) * self.places)
            count += len(fields)
            if count > length:
                break
            if records.peek()[0] != "word":
                break
            fields = records.take("word")
        if count != length:
            raise Refuted(f"found {count} moves, expected {length}")
        return state, length


class Packed:
    """States as keys of sets, and moves of them: bytes where they fit, which are ten times as fast as tuples."""

    def __init__(self, puzzle):
        ids = {label: index for index, label in enumerate(sorted(set(puzzle.solved)))}
        if puzzle.places <= 256:
            rest = bytes(256 - puzzle.places)
            self.pack = lambda state: bytes(ids[label] for label in state)
            # `translate` looks each byte of the move up in a table, which is the state.
            self.moved = lambda move, states: [move.translate(state + rest) for state in states]
            self.move = bytes
        else:
            self.pack = self.move = tuple
            self.moved = lambda move, states: [moved(move, state) for state in states]


# What each kind of certificate claims.


def check_word(puzzle, records):
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    found, length = puzzle.word(records, start)
    if found != target:
        raise Refuted(f"found a word that leads to {shown(found)}, expected {shown(target)}")
    records.end()
    return f"from {shown(start)} to {shown(target)} by {length} moves"


def check_group(puzzle, records):
    group = records.one_of("group", ("symmetric", "alternating"))
    puzzle.all_differ()
    places = range(puzzle.places)
    shifts = {move[0]: move for move in puzzle.moves.values() if all(move[j] == (j + move[0]) % len(places) for j in places)}
    if all(math.gcd(shift, len(places)) != 1 for shift in shifts):
        raise Refuted("found no move that shifts all places by an amount prime to their number")
    if group == "alternating" and any(map(is_odd, puzzle.moves.values())):
        raise Refuted("found an odd move, expected even ones only")
    found, _ = puzzle.word(records, tuple(places))
    touched = {place for place in places if found[place] != place}
    length = 2 if group == "symmetric" else 3
    if len(touched) != length or not any(touched == {(j + i) % len(places) for i in range(length)} for j in touched):
        raise Refuted(f"found a word that leads to {shown(found)}, expected {length} places in a row exchanged")
    records.end()
    return f"the moves generate the {group} group of {puzzle.places} places"


def check_invariant(puzzle, records):
    kinds = ("parity", "colours", "colour-signs", "colour-parity")
    kind = records.one_of("invariant", kinds)
    if kind != "parity" and not puzzle.columns:
        raise Unreadable(f"found {kind} of {puzzle.name}, expected a rotation board")
    puzzle.all_differ()

    def signs(permutation):
        """Whether it is odd on each colour; nothing when it does not keep the colours."""
        rows = range(puzzle.places // puzzle.columns)
        colour = [(row + column) % 2 for row in rows for column in range(puzzle.columns)]
        if any(colour[to] != colour[place] for place, to in enumerate(permutation)):
            return None
        return tuple(is_odd([to if colour[place] == c else place for place, to in enumerate(permutation)]) for c in (0, 1))

    def is_kept(permutation):
        """Whether it is in the group that the moves are in."""
        if kind == "parity":
            return not is_odd(permutation)
        both = signs(permutation)
        if kind == "colours":
            return both is not None
        return both is not None and (both[0] == both[1] if kind == "colour-signs" else both == (False, False))

    records.spend(len(puzzle.moves) * puzzle.places)
    if not all(map(is_kept, puzzle.moves.values())):
        raise Refuted(f"found a move that does not keep {kind}")
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    where = {label: place for place, label in enumerate(start)}
    between = tuple(where[label] for label in target)
    if is_kept(between) or (kind not in ("parity", "colours") and signs(between) is None):
        raise Refuted(f"found states that {kind} does not tell apart")
    records.end()
    return f"from {shown(start)} {shown(target)} cannot be reached: {kind}"


def check_closed_set(puzzle, records):
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    packed, states = Packed(puzzle), set()
    (count,) = records.numbers("states", 1)
    while len(states) < count:
        state = packed.pack(puzzle.state(records, "state"))
        if state in states:
            raise Unreadable("found a state that was there before")
        states.add(state)
    records.end()
    if packed.pack(start) not in states or packed.pack(target) in states:
        raise Refuted('found another set, expected one with the state "from" and without the state "to"')
    for name, move in puzzle.moves.items():
        records.spend(count * puzzle.places)
        if not states.issuperset(packed.moved(packed.move(move), states)):
            raise Refuted(f"found a state from which {name} leads out of the set")
    return f"from {shown(start)} {shown(target)} cannot be reached: a closed set of {count} states"


def check_bidirectional(puzzle, records):
    start, target = puzzle.state(records, "from"), puzzle.state(records, "to")
    found, length = puzzle.word(records, start)
    if found != target:
        raise Refuted(f"found a word that leads to {shown(found)}, expected {shown(target)}")
    radii = records.numbers("radii", 2)
    if sum(radii) != length - 1:
        raise Refuted(f"found radii {radii}, expected a sum of {length} - 1")
    sizes = records.numbers("balls", 2)
    records.end()
    if sum(sizes) * (puzzle.places + 120) > MOST_BALL_BYTES:
        raise too_large(f"balls of {sizes} states")
    packed = Packed(puzzle)

    def ball(centre, moves, radius, size):
        moves = [packed.move(move) for move in moves]
        states = frontier = {packed.pack(centre)}
        for _ in range(radius):
            if not frontier:
                break
            reached = set()
            for move in moves:
                records.spend(len(frontier) * puzzle.places)
                reached.update(packed.moved(move, frontier))
                reached -= states
                if len(states) + len(reached) > size:
                    break
            states, frontier = states | reached, reached
            if len(states) > size:
                break
        if len(states) != size:
            raise Refuted(f"found a ball of {len(states)} states or more, expected {size}")
        return states

    forward = ball(start, puzzle.moves.values(), radii[0], sizes[0])
    backward = ball(target, map(inverse, puzzle.moves.values()), radii[1], sizes[1])
    if not forward.isdisjoint(backward):
        raise Refuted("found balls that meet, so there is a shorter word")
    return f"from {shown(start)} to {shown(target)} by {length} moves and no fewer"


def shown(state):
    return " ".join(map(str, state))


# Distances. The arrangements of a plane are a table of m! labels in lexicographic order.


class Numbering:
    """States as planes and arrangements. A move takes a plane to a plane and permutes all its arrangements alike."""

    def __init__(self, puzzle, arranged, most):
        self.puzzle = puzzle
        size = puzzle.places
        if puzzle.family == "turnstyle":
            planes = [()] if puzzle.is_ring else [(place,) for place in range(size)]
            self.arranged = range(1, size)
        else:
            self.arranged = orbit_of(puzzle) if arranged is None else arranged
            self.others = [place for place in range(size) if place not in set(self.arranged)]
            for name, move in puzzle.moves.items():
                if any(move[place] not in set(self.arranged) for place in self.arranged):
                    raise Refuted(f"found cells that {name} mixes with others")
        self.m = len(self.arranged)
        if self.m > 20:
            raise Unreadable(f"found {self.m} arranged pieces, expected at most 20")
        order = sorted(self.arranged) if arranged is None else self.arranged
        self.renamed = {puzzle.solved[place]: index for index, place in enumerate(order)}
        self.size = math.factorial(self.m)
        if puzzle.family != "turnstyle":
            planes = self.reachable_planes(most)
        self.planes = {plane: index for index, plane in enumerate(planes)}
        self.solved_plane, arrangement = self.split(puzzle.solved)
        assert arrangement == tuple(range(self.m))
        # For each plane and move: the plane that it leads to, and how it permutes the arrangements.
        samples = map(self.state, self.planes)
        self.steps = [[self.split(moved(move, state)) for move in puzzle.moves.values()] for state in samples]
        self.signs = self.signs_of_planes() if self.m >= 2 else None
        self.ranks = len(planes) * (self.size // 2 if self.signs else self.size)

    def reachable_planes(self, most):
        places = {place: index for index, place in enumerate(self.others)}
        moves = [[places[move[place]] for place in self.others] for move in self.puzzle.moves.values()]
        planes = {moved(self.others, self.puzzle.solved)}
        open_planes = list(planes)
        while open_planes:
            plane = open_planes.pop()
            reached = {moved(move, plane) for move in moves} - planes
            planes |= reached
            open_planes += reached
            if len(planes) * max(self.size // 2, 1) > most:
                raise Refuted(f"found {most} numbered states, expected more")
            if len(planes) > MOST_PLANES:
                raise too_large(f"more than {MOST_PLANES} planes")
        return sorted(planes)

    def split(self, state):
        """The plane of a state, and its arrangement."""
        if self.puzzle.family == "turnstyle":
            first = state.index(1)
            plane = () if self.puzzle.is_ring else (-first % len(state),)
            pieces = state[first + 1 :] + state[:first]
        else:
            plane, pieces = moved(self.others, state), moved(self.arranged, state)
        return self.planes[plane], tuple(self.renamed[piece] for piece in pieces)

    def state(self, plane):
        """The state of a plane whose pieces are arranged as in the solved state."""
        solved = self.puzzle.solved
        if self.puzzle.family == "turnstyle":
            first = plane[0] if plane else 0
            return solved[first:] + solved[:first]
        labels = dict(zip(self.others, plane))
        return tuple(labels.get(place, solved[place]) for place in range(len(solved)))

    def signs_of_planes(self):
        """Signs of the planes (1 is odd) such that no move changes the sign of plane and arrangement together."""
        signs, open_planes = {self.solved_plane: 0}, [self.solved_plane]
        while open_planes:
            plane = open_planes.pop()
            for other, move in self.steps[plane]:
                sign = signs[plane] ^ is_odd(move)
                if other not in signs:
                    open_planes.append(other)
                if signs.setdefault(other, sign) != sign:
                    return None
        return signs

    def tables(self, labels):
        """The labels of each plane's arrangements; in a halved numbering those of the other sign have none."""
        each = len(labels) // len(self.planes)
        halves = [bytes(labels[start : start + each]) for start in range(0, len(labels), each)]
        if not self.signs:
            return halves
        # Signs of all arrangements in order: after the first piece, d, come those of the others, d times changed.
        odd, changed = bytes([0]), bytes([NONE, *range(1, NONE), 0])
        for count in range(2, self.m + 1):
            odd = b"".join(odd.translate(changed) if first % 2 else odd for first in range(count))
        tables = []
        for plane, half in enumerate(halves):
            table = bytearray(self.size)
            for last in (0, 1):
                wrong = odd[last::2].translate(changed) if self.signs[plane] else odd[last::2]
                table[last::2] = bytes(map(operator.or_, half, wrong))
            tables.append(bytes(table))
        return tables


def orbit_of(puzzle):
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
            table = with_neighbours_swapped(table, m, left)
    return table


def with_neighbours_swapped(table, m, left):
    """The table after a swap of the pieces at places `left` and `left` + 1.

    In lexicographic order the arrangements that agree up to `left` are a block of n! in a row. The
    piece at `left` is the d-th of the n pieces, the next one the e-th of the other n - 1: these
    arrangements are (n - 2)! in a row. Swapped, the next is the first, and its number among all
    n pieces is e, or e + 1 when it is larger."""
    n = m - left
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
    arranged = None
    if puzzle.family == "rotation-board":
        arranged = [number(cell) - 1 for cell in records.take("arranged")]
        if len(arranged) > 20 or len(set(arranged)) < len(arranged) or not set(arranged) <= set(range(puzzle.places)):
            raise Unreadable("found other cells, expected at most 20 of the board, each once")
    ranks, shard_size = records.numbers("ranks", 2)
    puzzle.all_differ()
    if shard_size == 0:
        raise Unreadable("found shards of no number")
    numbering = Numbering(puzzle, arranged, ranks)
    if numbering.ranks != ranks:
        raise Refuted(f"found {ranks} numbered states, expected {numbering.ranks}")
    (states,) = records.numbers("states", 1)
    (levels,) = records.numbers("levels", 1)
    if not 1 <= levels <= 254:
        raise Unreadable(f"found {levels} levels, expected 1 to 254")
    counts = []
    for depth in range(levels):
        level, count = records.numbers("level", 2)
        if level != depth or count == 0:
            raise Unreadable(f"found level {level} of {count} states, expected level {depth} and at least one state")
        counts.append(count)
    if sum(counts) != states:
        raise Refuted(f"found {states} states, expected {sum(counts)}, the sum of the levels")
    (count,) = records.numbers("archives", 1)
    files = []
    while len(files) < count:
        fields = records.take("archive")
        depth, length = numbers(fields[:2], 2)
        if len(fields) != 4 or not re.fullmatch("[0-9a-f]{64}", fields[2]):
            raise Unreadable('found another record, expected "archive DEPTH BYTES SHA256 PATH"')
        if depth >= levels or not re.fullmatch(f"levels/{depth:06}/[A-Za-z0-9_-][A-Za-z0-9._-]*", fields[3]):
            raise Unreadable(f"found {fields[3][:80]!r}, expected a level below {levels} and levels/{depth:06}/NAME")
        if files and (files[-1][0], files[-1][3]) >= (depth, fields[3]):
            raise Unreadable("found files in another order, expected an ascending one, each once")
        files.append((depth, length, *fields[2:]))
    records.end()
    if ranks > MOST_RANKS:
        raise too_large(f"{ranks} numbered states")

    # 1 and 2: the archive is a labelling, with as many states of each label as stated.
    labels = bytearray([NONE]) * ranks
    for depth, length, digest, path in files:
        for member in members_of(read_archive(folder, path, length, digest), path, ranks, shard_size, records):
            if labels[member] != NONE:
                raise Refuted(f"{path}: found the number {member} twice")
            labels[member] = depth
    for depth, count in enumerate(counts):
        if labels.count(depth) != count:
            raise Refuted(f"found {labels.count(depth)} states of level {depth}, expected {count}")
    # 3: the solved state has label 0, and no other state has.
    tables = numbering.tables(labels)
    if counts[0] != 1 or tables[numbering.solved_plane][0] != 0:
        raise Refuted("found another state of level 0, expected the solved state alone")
    # 4 and 5: let `nearest` be one more than the least label of a state from which a move leads here.
    # No label is larger, and none is smaller, but that of the solved state.
    larger = bytes([*range(1, NONE), NONE, NONE])
    nearest = [None] * len(tables)
    for table, steps in zip(tables, numbering.steps):
        for plane, move in steps:
            records.spend(len(table))
            reached = permuted(table, numbering.m, move).translate(larger)
            nearest[plane] = bytes(map(min, nearest[plane], reached)) if nearest[plane] else reached
    for plane, (table, least) in enumerate(zip(tables, nearest)):
        if any(map(operator.gt, table, least)):
            raise Refuted(f"found a move to plane {plane} that leads to no label, or to one more than 1 larger")
        smaller = sum(map(operator.lt, table, least))
        if smaller != (plane == numbering.solved_plane):
            raise Refuted(f"found a state in plane {plane} to which no move leads from a smaller label")
    return f"{states} states can be reached, by {levels - 1} moves at the most: {shown(counts)}"


# The archive.


def open_regular(name, flags=0, folder=None):
    """An open regular file: a pipe is not waited for, a device is not read."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=folder)
    file = open(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise Unreadable("found no regular file")
    return file


def read_archive(folder, path, length, digest):
    """The bytes of a file in the folder of the certificate; nothing on its path is a link."""
    *parents, name = path.split("/")
    opened = [os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)]
    try:
        for parent in parents:
            opened.append(os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
        with open_regular(name, os.O_NOFOLLOW, opened[-1]) as file:
            size = os.fstat(file.fileno()).st_size
            if size != length:
                raise Refuted(f"{path}: found {size} bytes, expected {length}")
            if size > MOST_FILE_BYTES:
                raise too_large(f"{path} of {size} bytes")
            data = file.read(length + 1)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    finally:
        for descriptor in opened:
            os.close(descriptor)
    if len(data) != length or hashlib.sha256(data).hexdigest() != digest:
        raise Refuted(f"{path}: found other bytes, expected those of the stated SHA-256")
    return data


def members_of(data, path, ranks, shard_size, records):
    """The numbers in a file of the archive."""

    def need(condition, what):
        if not condition:
            raise Unreadable(f"{path}: found {what}")

    need(len(data) >= 32 + 32 + 24 and data[:32] == b"FARTHESTPACK\1\0".ljust(32, b"\0"), "another header")
    index, index_length, magic = struct.unpack("<QQ8s", data[-24:])
    need(magic == b"FARTHEND" and index >= 32 and index + index_length == len(data) - 24, "another trailer")
    head, payload = data[index : index + 24], data[index + 32 : -24]
    need(index_length >= 32 and head == struct.pack("<12sHHQ", b"FARTHESTINDX", 1, 1, len(payload)), "another index")
    if xxh3_64(head + payload) != int.from_bytes(data[index + 24 : index + 32], "little"):
        raise Refuted(f"{path}: found another checksum of the index")
    position = 0

    def integer():
        nonlocal position
        width = {251: 3, 252: 5, 253: 9}.get(payload[position] if position < len(payload) else 255, 1)
        value = payload[position + (width > 1) : position + width]
        position += width
        need(position <= len(payload) and (width > 1 or value[0] < 251), "another end of the index")
        return int.from_bytes(value, "little")

    for _ in range(integer()):
        shard, kind, encoding, count, raw_length, is_packed, offset, length, checksum = (integer() for _ in range(9))
        first = shard * shard_size
        size = min(shard_size, ranks - first)
        need(kind == 1 and encoding <= 3 and is_packed <= 1 and size > 0 and count <= size, "another block")
        need(offset >= 32 and offset + length <= index, "a block outside of the file")
        limits = {0: 0, 1: 0, 2: 10 * count, 3: (size + 63) // 64 * 8}
        need(raw_length <= limits[encoding] and (is_packed or raw_length == length), "a block of another length")
        records.spend(length + raw_length + count)
        stored = data[offset : offset + length]
        if xxh3_64(stored) != checksum:
            raise Refuted(f"{path}: found another checksum of a block")
        raw = decompressed(stored, raw_length) if is_packed else stored
        need(raw is not None and len(raw) == raw_length, "a block that cannot be decompressed to its length")
        if encoding == 2:
            offsets = list_of(raw)
        elif encoding == 3:
            need(raw_length == limits[3], "bits of another length")
            offsets = list(itertools.compress(itertools.count(), map(int, "".join(f"{byte:08b}"[::-1] for byte in raw))))
        else:
            offsets = range(size if encoding == 1 else 0)
        need(len(offsets) == count and (not offsets or offsets[-1] < size), "other members than stated")
        yield from (first + offset for offset in offsets)
    need(position == len(payload), "more after the last block")


def list_of(raw):
    """Ascending offsets: LEB128 of the first, then of each distance less 1."""
    offsets, value, shift, last = [], 0, 0, -1
    for byte in raw:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            last += value + 1
            offsets.append(last)
            value = shift = 0
    if shift:
        raise Unreadable("found a list that ends within a number")
    return offsets


def decompressed(stored, length):
    """The bytes of a zstd frame, at most `length`; nothing when it is none or longer."""
    try:
        from compression import zstd
    except ImportError:
        pass
    else:
        try:
            decompressor = zstd.ZstdDecompressor()
            raw = decompressor.decompress(stored, max_length=length + 1)
            return raw if decompressor.eof and not decompressor.unused_data else None
        except zstd.ZstdError:
            return None
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise Unreadable("found no zstd, expected Python 3.14 or libzstd.so.1") from None
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    raw = ctypes.create_string_buffer(max(length, 1))
    written = library.ZSTD_decompress(raw, length, stored, len(stored))
    return raw.raw[:written] if written <= length else None


# XXH3, 64 bits, without seed: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
PRIMES_32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIMES_64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
WORD = (1 << 64) - 1


def secret(at):
    return int.from_bytes(SECRET[at : at + 8], "little")


def avalanche(hash, shifts=(37, 32), primes=(0x165667919E3779F9,)):
    for shift, prime in zip(shifts, primes):
        hash = (hash ^ hash >> shift) * prime & WORD
    return hash ^ hash >> shifts[-1]


def folded(a, b):
    """The two halves of the product of two words."""
    return (a * b & WORD) ^ (a * b >> 64)


def xxh3_64(data):
    n = len(data)

    def word(at, width=8):
        return int.from_bytes(data[at : at + width], "little")

    def mixed(at, key):
        return folded(word(at) ^ secret(key), word(at + 8) ^ secret(key + 8))

    if n <= 3:
        shifts, primes = (33, 29, 32), PRIMES_64[1:3]
        if n == 0:
            return avalanche(secret(56) ^ secret(64), shifts, primes)
        combined = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche(combined ^ (secret(0) ^ secret(0) >> 32) & 0xFFFFFFFF, shifts, primes)
    if n <= 8:
        hash = (word(n - 4, 4) | word(0, 4) << 32) ^ secret(8) ^ secret(16)
        hash ^= (hash << 49 | hash >> 15) & WORD ^ (hash << 24 | hash >> 40) & WORD
        hash = hash * 0x9FB21C651E98DF25 & WORD
        hash = (hash ^ (hash >> 35) + n) * 0x9FB21C651E98DF25 & WORD
        return hash ^ hash >> 28
    if n <= 16:
        low, high = word(0) ^ secret(24) ^ secret(32), word(n - 8) ^ secret(40) ^ secret(48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(n + swapped + high + folded(low, high) & WORD)
    hash = n * PRIMES_64[0]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            hash += mixed(16 * i, 32 * i) + mixed(n - 16 * (i + 1), 32 * i + 16)
        return avalanche(hash & WORD)
    if n <= 240:
        hash = avalanche(hash + sum(mixed(16 * i, 16 * i) for i in range(8)) & WORD)
        hash += sum(mixed(16 * i, 16 * i - 125) for i in range(8, n // 16)) + mixed(n - 16, 136 - 17)
        return avalanche(hash & WORD)

    lanes = [PRIMES_32[2], *PRIMES_64[:4], PRIMES_32[1], PRIMES_64[4], PRIMES_32[0]]
    keys = [struct.unpack_from("<8Q", SECRET, 8 * i) for i in range(17)]

    def accumulate(at, keys):
        for i, (value, key) in enumerate(zip(struct.unpack_from("<8Q", data, at), keys)):
            key ^= value
            lanes[i ^ 1] += value
            lanes[i] += (key & 0xFFFFFFFF) * (key >> 32)

    for stripe in range((n - 1) // 64):
        accumulate(64 * stripe, keys[stripe % 16])
        if stripe % 16 == 15:
            lanes = [lane & WORD for lane in lanes]
            lanes = [(lane ^ lane >> 47 ^ key) * PRIMES_32[0] & WORD for lane, key in zip(lanes, keys[16])]
    accumulate(n - 64, struct.unpack_from("<8Q", SECRET, 121))
    lanes = [lane & WORD ^ secret(11 + 8 * i) for i, lane in enumerate(lanes)]
    return avalanche(hash + sum(folded(lanes[i], lanes[i + 1]) for i in range(0, 8, 2)) & WORD)


# The command line.

CHECKS = {
    "word": check_word,
    "group": check_group,
    "invariant": check_invariant,
    "closed-set": check_closed_set,
    "bidirectional": check_bidirectional,
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
            if records.take("farthest-certificate") != ["1"]:
                raise Unreadable('found another version, expected "farthest-certificate 1"')
            kind = records.one_of("claim", (*CHECKS, "distance"))
            puzzle = Puzzle(records)
            if kind == "distance":
                claim = check_distance(puzzle, records, os.path.dirname(path))
            else:
                claim = CHECKS[kind](puzzle, records)
        except (Refuted, Unreadable) as error:
            raise type(error)(f"line {records.line}: {error}") from None
    return f"{puzzle.name}: {claim}"


def certificates(path):
    """The certificates that a path stands for. In folders hidden names and links are passed over."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = [os.path.join(folder, name) for name in sorted(files) if name.endswith(".cert") and not name.startswith(".")]
        found += [name for name in names if not os.path.islink(name)]
    return found or [path]


def main(paths):
    if not paths or any(path in ("-h", "--help") for path in paths):
        print(__doc__)
        return 0 if paths else 2
    verdicts = set()
    for path in [certificate for path in paths for certificate in certificates(path)]:
        try:
            verdict, told = "verified", check(path)
        except Refuted as error:
            verdict, told = "refuted", f"{error}"
        except Unreadable as error:
            verdict, told = "unreadable", f"{error}"
        verdicts.add(verdict)
        print(f"{verdict:<12}{printable(path)}: {printable(told)}", flush=True)
    return 1 if "refuted" in verdicts else 2 if "unreadable" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
