"""What both generators write: CloudEvents envelopes, deterministic ids, neighbours, JSON lines."""

import datetime
import json
import uuid

import numpy as np

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://github.com/kithgraph/kith/internal/sample")
WRITTEN = "memory.facts.written.v1"
SUPERSEDED = "memory.fact.superseded.v1"
DELETED = "memory.fact.deleted.v1"
# A memory system shows its reconcile step the nearest facts it already has; these two bound what is passed on.
NEIGHBOR_FLOOR = 0.60
NEIGHBOR_COUNT = 8


def make_id(*parts):
    """A UUIDv5 of the parts: the same in every run."""
    return str(uuid.uuid5(NAMESPACE, "/".join(parts)))


def utc(moment):
    """RFC 3339 in UTC with microseconds."""
    return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def event(kind, moment, data):
    """One event in the envelope of the wire contract. Its id follows from its contents."""
    digest = json.dumps(data, sort_keys=True, ensure_ascii=False)
    return {
        "specversion": "1.0",
        "id": make_id("event", kind, utc(moment), digest),
        "source": "memory-writer",
        "type": kind,
        "time": utc(moment),
        "data": data,
    }


def cosines(vector, matrix):
    """Cosines of one rounded vector with the rows of a matrix, in float64."""
    return matrix @ vector / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector))


def neighbors(vector, ids, matrix):
    """The nearest of the given facts, best first: [{id, score}]."""
    if len(ids) == 0:
        return []
    scored = sorted(((round(float(s), 4), i) for s, i in zip(cosines(vector, matrix), ids)), key=lambda p: (-p[0], p[1]))
    return [{"id": i, "score": s} for s, i in scored[:NEIGHBOR_COUNT] if s >= NEIGHBOR_FLOOR]


def write_lines(path, rows):
    """One compact JSON object a line, UTF-8 as it is."""
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")


def read_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
