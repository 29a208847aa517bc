"""Makes words.bin: build.py MODEL_DIR WORDNET_DIR DESCRIPTIONS OUT. README.md beside this file says what and why."""

import json
import random
import re
import struct
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DIMENSIONS = 128
FIRST_WORD = 999  # before it the vocabulary has controls and single characters
MAX_TOKENS = 40
HELD = 1.0  # how much a row is held to the one before
ROUNDS = 3  # a sum has to have the direction of its target; each round takes its length as it is by then
STEPS = 40
STOP_WORDS = set(
    """a about also am an and any are as at be been but by can could did do does for from had has have her here
    him his how i if in into is it its just know let looking m may me might my need of on or our out please s she
    should so some such that the their them then there these they this those to up us ve want was we were what when
    where which who will with would you your yours yourself""".split()
)


class Model:
    """all-MiniLM-L6-v2 in plain arrays: six layers, twelve heads, the mean of the last layer."""

    def __init__(self, folder):
        weights = load_file(folder / "model.safetensors")
        self.weights = {k: v.astype(np.float32) for k, v in weights.items() if v.dtype != np.int64}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)
        self.vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]

    def normal(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def linear(self, x, name):
        flat = np.ascontiguousarray(x).reshape(-1, x.shape[-1])
        flat = flat @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def attend(self, x, layer):
        count, length, _ = x.shape
        parts = (self.linear(x, f"{layer}attention.self.{n}") for n in ("query", "key", "value"))
        query, key, value = (p.reshape(count, length, 12, 32).transpose(0, 2, 1, 3) for p in parts)
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, 384)

    def read(self, tokens):
        """The vectors of equally long lists of tokens."""
        tokens = np.array(tokens)
        name = "embeddings."
        x = self.weights[name + "word_embeddings.weight"][tokens]
        x = x + self.weights[name + "position_embeddings.weight"][: tokens.shape[1]]
        x = x + self.weights[name + "token_type_embeddings.weight"][0]
        x = self.normal(x, name + "LayerNorm")
        for number in range(6):
            layer = f"encoder.layer.{number}."
            seen = self.linear(self.attend(x, layer), layer + "attention.output.dense")
            x = self.normal(x + seen, layer + "attention.output.LayerNorm")
            inner = self.linear(x, layer + "intermediate.dense")
            inner = 0.5 * inner * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner**3)))
            x = self.normal(x + self.linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
        return x.mean(1)

    def read_all(self, lists):
        vectors = np.zeros((len(lists), 384), np.float32)
        by_length = {}
        for at, tokens in enumerate(lists):
            by_length.setdefault(len(tokens), []).append(at)
        for length, places in sorted(by_length.items()):
            step = max(1, 1024 // length)
            for at in range(0, len(places), step):
                part = places[at : at + step]
                vectors[part] = self.read([lists[place] for place in part])
        return vectors.astype(np.float64)


def sentences(wordnet, vocabulary):
    """Definitions with their words, and examples, for the words that the vocabulary has."""
    places = {word: at for at, word in enumerate(vocabulary)}
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text(encoding="latin1").split("\n"):
            if line.startswith(" ") or "|" not in line:
                continue
            head, gloss = line.split("|", 1)
            fields = head.split()
            words = [fields[4 + 2 * at].split("(")[0].replace("_", " ") for at in range(int(fields[3], 16))]
            first = min(places.get(word.lower(), 10**6) for word in words)
            if first >= 10**6:
                continue
            definition, *examples = (piece.strip() for piece in gloss.strip().split(";"))
            found.append((first, ", ".join(words[:3]) + ": " + definition))
            for example in examples:
                if example.startswith('"') and len(example) > 12:
                    found.append((first + 5000, example.strip('"')))
    found.sort()
    texts = [text for _, text in found]
    random.Random(0).shuffle(texts)
    return texts


ABOUT_PACKAGING = re.compile(
    r"package (contains|provides|includes|installs|depends)|metapackage|transitional|development files|debug symbols"
    r"|shared librar"
)


def descriptions(path):
    """What packages are: the short descriptions, then the sentences of the long ones, each once."""
    short, long, seen = [], [], set()
    for record in path.read_text(encoding="utf-8").split("\n\n"):
        found = re.search(r"^Description-en: (.*(?:\n .*)*)", record, re.M)
        if not found:
            continue
        head, *lines = found.group(1).split("\n")
        head = head.strip()
        if head.lower() not in seen and len(head) > 12:
            seen.add(head.lower())
            short.append(head)
        paragraphs = [[]]
        for line in lines:
            if line.strip() == "." or line.startswith("  "):
                paragraphs.append([])
            else:
                paragraphs[-1].append(line.strip())
        for paragraph in paragraphs:
            for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph).strip()):
                key = sentence.lower()
                whole = 30 <= len(sentence) <= 200 and sentence[0].isascii() and sentence[0].isupper()
                if whole and sentence[-1] in ".!?" and key not in seen and not ABOUT_PACKAGING.search(key):
                    seen.add(key)
                    long.append(sentence)
    return short + long


def is_kept(at, word):
    bare = word.lstrip("#")
    shaped = re.fullmatch(r"(##)?[a-z0-9]+", word) and len(bare) >= 2 and not bare.isdigit()
    return at >= FIRST_WORD and bool(shaped) and word not in STOP_WORDS


def directions(x):
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-12)


def corrected(rows, counts, targets):
    """Conjugate gradients for: min |counts (rows + d) - targets|^2 + HELD |d|^2."""
    rest = counts.T @ (targets - counts @ rows)
    change, way = np.zeros_like(rows), rest.copy()
    square = (rest * rest).sum(0)
    for _ in range(STEPS):
        image = counts.T @ (counts @ way) + HELD * way
        step = square / ((way * image).sum(0) + 1e-12)
        change += step * way
        rest -= step * image
        next_square = (rest * rest).sum(0)
        way = rest + next_square / (square + 1e-12) * way
        square = next_square
    return rows + change


def word_rows(model, texts):
    kept = [at for at, word in enumerate(model.vocabulary) if is_kept(at, word)]
    place = {token: at for at, token in enumerate(kept)}
    alone = model.read_all([[101, token, 102] for token in kept])
    alone = directions(alone - alone.mean(0))
    tokens = [found.ids[:MAX_TOKENS] for found in model.tokenizer.encode_batch(texts)]
    targets = directions(model.read_all(tokens))
    targets = directions(targets - targets.mean(0))
    own = [[place[t] for t in line if t in place] for line in tokens]
    entries = [(at, p, len(line) ** -0.5) for at, line in enumerate(own) for p in line]
    at, places, values = zip(*entries)
    counts = sp.csr_matrix((values, (at, places)), (len(tokens), len(kept)))
    axes, _, _ = np.linalg.svd(targets.T @ targets / len(targets) + alone.T @ alone / len(alone))
    axes = axes[:, :DIMENSIONS]
    # Frequent words come first in the vocabulary and tell less.
    rows = (alone @ axes) * np.log(1 + np.arange(len(kept)))[:, None]
    targets = targets @ axes
    sums = counts @ rows
    rows *= (sums * targets).sum() / (sums * sums).sum()
    for _ in range(ROUNDS):
        lengths = np.linalg.norm(counts @ rows, axis=1, keepdims=True)
        middle = np.median(lengths)
        rows = corrected(rows, counts, targets * np.clip(lengths, 0.3 * middle, 3 * middle))
    words = [model.vocabulary[token] for token in kept]
    return [("#" + w[2:] if w.startswith("##") else w).encode() for w in words], rows


def write(out, words, rows):
    scale = np.percentile(np.abs(rows), 99.95) / 127
    rows = np.clip(np.round(rows / scale), -127, 127).astype(np.int8)
    order = sorted(range(len(words)), key=lambda at: words[at])
    text = [words[at] for at in order]
    ends = np.cumsum([len(word) for word in text]).astype("<u4")
    header = b"CCWV" + struct.pack("<III", 1, len(words), DIMENSIONS)
    out.write_bytes(header + ends.tobytes() + b"".join(text) + rows[order].tobytes())


def main(model_dir, wordnet_dir, described, out):
    model = Model(Path(model_dir))
    texts = sentences(Path(wordnet_dir), model.vocabulary) + descriptions(Path(described))
    words, rows = word_rows(model, texts)
    write(Path(out), words, rows)
    print(json.dumps({"words": len(words), "sentences": len(texts)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
