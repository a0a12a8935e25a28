"""Turns MuSiQue-style files into events, points and questions in the formats of the sample, for larger measurements.

    python musique.py --passages FILE --questions FILE --out DIR

Passages, one JSON object a line: {id, title, text, entities: [name], triples: [[subject, predicate, object]]}. Order must
not matter: where it follows the questions, anything derived from it would give the answers away.
Questions, one JSON object a line: {id, hops, question, answer, gold: [passage id]}.

Written to DIR (created if absent): events.jsonl, points.jsonl, questions.jsonl, of one user, "musique".

* Each passage is one fact in a batch of its own. Content: "title: text". The id is a UUIDv5 of the passage id, which
  stands in source_id. There is no event time, no validity, no episode, no tag and no relation: the source gives none.
  Event and recording times count up by one second in the order of the file.
* Entities, all of type "thing": the passage's own, its title, and every other passage's title of at least four
  characters that its text mentions verbatim between word boundaries. So a mention of a title and a shared entity both
  become a common entity of two facts.
* Triples carry the first sentence of the text that names both ends, and confidence 0.9; without such a sentence 0.5.
  Triples with an empty part, or not of three parts, are left out and counted.
* Neighbours: cosine 0.60 and more, the best eight among all passages, later ones included.
* Questions are of kind multi-hop; answers are the gold passages; the note holds the number of hops and the answer.
"""

import argparse
import datetime
import re
from pathlib import Path

import numpy as np

import wire
from embed import Embedder

USER = "musique"
TITLE_MIN = 4
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def fact_id(passage_id):
    return wire.make_id("fact", USER, passage_id)


def mentioned_titles(text, titles):
    """The titles that stand verbatim in the text, not as a part of a longer word, in the order of the list."""
    return [t for t in titles if t in text and re.search(rf"(?<!\w){re.escape(t)}(?!\w)", text)]


def entities(passage, titles):
    names = [*passage["entities"], passage["title"], *mentioned_titles(passage["text"], titles)]
    unique = {name.strip().casefold(): name.strip() for name in reversed(names) if name.strip()}
    return [{"name": name, "type": "thing"} for name in reversed(unique.values())]


def triples(passage):
    """The usable triples and how many were not."""
    sentences = re.split(r"(?<=[.!?])\s+", passage["text"])
    out = []
    for triple in passage["triples"]:
        if len(triple) != 3 or not all(part.strip() for part in triple):
            continue
        subject, predicate, obj = (part.strip() for part in triple)
        entry = {
            "subject": {"name": subject, "type": "thing"},
            "predicate": predicate,
            "object": {"name": obj, "type": "thing"},
            "confidence": 0.5,
        }
        both = [s for s in sentences if subject.casefold() in s.casefold() and obj.casefold() in s.casefold()]
        if both:
            entry.update(confidence=0.9, sentence=both[0])
        out.append(entry)
    return out, len(passage["triples"]) - len(out)


def build(passages, vectors):
    """The events and points of all passages, and the number of triples left out."""
    titles = sorted({p["title"] for p in passages if len(p["title"]) >= TITLE_MIN})
    ids = [fact_id(p["id"]) for p in passages]
    events, points, left_out = [], [], 0
    for number, (passage, own, vector) in enumerate(zip(passages, ids, vectors)):
        moment = START + datetime.timedelta(seconds=number)
        usable, dropped = triples(passage)
        left_out += dropped
        stored = {
            "agent_id": USER,
            "source_id": passage["id"],
            "content": content(passage),
            "entities": entities(passage, titles),
            "relations": [],
            "triples": usable,
        }
        others = np.arange(len(ids)) != number
        near = wire.neighbors(vector, [i for i in ids if i != own], vectors[others])
        fact = {"id": own, "op": "add", "version": 1, **stored, "recorded_at": wire.utc(moment), "neighbors": near}
        batch = "passage-" + passage["id"]
        events.append(wire.event(wire.WRITTEN, moment, {"user_id": USER, "batch_id": batch, "facts": [fact]}))
        payload = {**stored, "state": "active", "version": 1, "created_at": wire.utc(moment), "batch_id": batch}
        points.append({"user_id": USER, "id": own, "vector": vector.tolist(), "payload": payload})
    return events, points, left_out


def content(passage):
    return passage["title"] + ": " + passage["text"]


def build_questions(questions, vectors, known):
    rows = []
    for question, vector in zip(questions, vectors):
        missing = [g for g in question["gold"] if g not in known]
        if missing or not question["gold"]:
            raise SystemExit(f"question {question['id']}: gold passages {missing or 'none'} are not among the passages")
        rows.append({
            "id": question["id"],
            "user_id": USER,
            "question": question["question"],
            "answers": [fact_id(g) for g in question["gold"]],
            "kind": "multi-hop",
            "note": f"{question['hops']} hops: {question['answer']}",
            "vector": vector.tolist(),
        })
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--passages", "--questions", "--out"):
        arguments.add_argument(name, type=Path, required=True)
    given = arguments.parse_args()

    passages, questions = wire.read_lines(given.passages), wire.read_lines(given.questions)
    known = {p["id"] for p in passages}
    if len(known) != len(passages):
        raise SystemExit("passages: an id stands twice")
    embedder = Embedder()
    asked = build_questions(questions, embedder.encode([q["question"] for q in questions]), known)
    events, points, left_out = build(passages, embedder.encode([content(p) for p in passages]))

    given.out.mkdir(parents=True, exist_ok=True)
    wire.write_lines(given.out / "events.jsonl", events)
    wire.write_lines(given.out / "points.jsonl", points)
    wire.write_lines(given.out / "questions.jsonl", asked)
    facts = [e["data"]["facts"][0] for e in events]
    print(f"{len(points)} passages, {len(asked)} questions,", f"{sum(len(f['entities']) for f in facts)} entity mentions,",
          f"{sum(len(f['neighbors']) for f in facts)} neighbours,",
          f"{sum(len(f['triples']) for f in facts)} triples ({left_out} left out)")


if __name__ == "__main__":
    main()
