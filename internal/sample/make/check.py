"""Checks the three written files by reading them back, independently of how they were built.

    python check.py DIR

Exits with status 1 and one line for each violation.
"""

import collections
import datetime
import math
import sys
import uuid
from pathlib import Path

import overlap
import wire
from embed import DIMENSION

FACTS_MIN, FACTS_MAX = 280, 330
NO_OVERLAP_MIN = 15
BATCH_MAX = 8
RELATIONS = {"causes", "elaborates", "contrasts", "same_series", "related"}
KINDS = {"lexical", "no-overlap", "multi-hop"}
TIMES = ("memory_at", "valid_from", "valid_to", "recorded_at", "created_at", "updated_at")


class Check:
    """Replays the events into a plain table of facts and compares everything else with it."""

    def __init__(self, events, points, questions):
        self.events, self.points, self.questions = events, points, questions
        self.bad, self.facts = [], {}

    def fail(self, where, rule):
        self.bad.append(f"{where}: {rule}")

    def run(self):
        self.replay()
        self.check_points()
        self.check_questions()
        return self.bad

    def time(self, where, value):
        try:
            moment = datetime.datetime.fromisoformat(value)
        except ValueError:
            return self.fail(where, f"{value!r} is not a time")
        if moment.tzinfo is None:
            self.fail(where, f"{value!r} has no zone")

    def replay(self):
        seen, last = set(), ""
        for event in self.events:
            where = "event " + event["id"]
            uuid.UUID(event["id"])
            if event["id"] in seen:
                self.fail(where, "id used twice")
            seen.add(event["id"])
            self.time(where, event["time"])
            if event["time"] < last:
                self.fail(where, "not in the order of time")
            last = event["time"]
            if event["specversion"] != "1.0" or event["source"] != "memory-writer":
                self.fail(where, "wrong envelope")
            if event["type"] == wire.WRITTEN:
                self.replay_written(where, event["data"])
            elif event["type"] in (wire.SUPERSEDED, wire.DELETED):
                self.replay_change(where, event)
            else:
                self.fail(where, f"unknown type {event['type']}")

    def replay_written(self, where, data):
        if not 1 <= len(data["facts"]) <= BATCH_MAX:
            self.fail(where, f"{len(data['facts'])} facts in a batch")
        for fact in data["facts"]:
            uuid.UUID(fact["id"])
            old = self.facts.get(fact["id"])
            if (old is None) != (fact["op"] == "add"):
                self.fail(where, f"{fact['op']} of {fact['id']}")
            if old and (old["user"] != data["user_id"] or old["version"] >= fact["version"]):
                self.fail(where, f"{fact['id']} of another user, or its version does not grow")
            self.facts[fact["id"]] = {
                "user": data["user_id"], "state": "active", "version": fact["version"], "content": fact["content"],
            }
        for fact in data["facts"]:
            self.check_fact(f"{where} fact {fact['id']}", data["user_id"], fact)

    def check_fact(self, where, user, fact):
        if not fact["content"] or not fact["agent_id"] or not fact["episode_id"] or not fact["source_id"]:
            self.fail(where, "a field is empty")
        for name in TIMES:
            if name in fact:
                self.time(where, fact[name])
        if "tags" in fact and not 1 <= len(fact["tags"]) <= 3:
            self.fail(where, f"{len(fact['tags'])} tags")
        for relation in fact.get("relations", []):
            if relation["type"] not in RELATIONS or not 0 < relation["weight"] <= 1:
                self.fail(where, f"relation {relation}")
            self.reference(where, user, fact["id"], relation["to"])
        scores = [n["score"] for n in fact["neighbors"]]
        if scores != sorted(scores, reverse=True) or len(scores) > wire.NEIGHBOR_COUNT:
            self.fail(where, "neighbors are not the best in order")
        for neighbor in fact["neighbors"]:
            if not wire.NEIGHBOR_FLOOR <= neighbor["score"] <= 1:
                self.fail(where, f"score {neighbor['score']}")
            self.reference(where, user, fact["id"], neighbor["id"])
        for triple in fact.get("triples", []):
            if not 0 < triple["confidence"] <= 1 or not triple["subject"]["name"] or not triple["object"]["name"]:
                self.fail(where, f"triple {triple}")

    def reference(self, where, user, fact_id, other):
        if other == fact_id or other not in self.facts or self.facts[other]["user"] != user:
            self.fail(where, f"refers to {other}, which is not another earlier fact of {user}")

    def replay_change(self, where, event):
        data, fact = event["data"], self.facts.get(event["data"]["fact_id"])
        if fact is None or fact["user"] != data["user_id"] or fact["state"] != "active":
            return self.fail(where, "no active fact of this user")
        if data["version"] <= fact["version"]:
            self.fail(where, "version does not grow")
        fact["version"] = data["version"]
        fact["state"] = "deleted" if event["type"] == wire.DELETED else "superseded"
        if "by" in data:
            self.reference(where, data["user_id"], data["fact_id"], data["by"])

    def check_points(self):
        left = {i: f for i, f in self.facts.items() if f["state"] != "deleted"}
        if sorted(p["id"] for p in self.points) != sorted(left):
            self.fail("points", "not exactly the facts that are not deleted")
        if not FACTS_MIN <= len(self.facts) <= FACTS_MAX:
            self.fail("events", f"{len(self.facts)} facts")
        for point in self.points:
            where, payload, fact = "point " + point["id"], point["payload"], left.get(point["id"])
            if fact is None:
                continue
            self.check_vector(where, point["vector"])
            got = {"user": point["user_id"], **{k: payload[k] for k in ("state", "version", "content")}}
            if got != fact:
                self.fail(where, f"{got} after events that say {fact}")
            if (payload["state"] == "superseded") != ("valid_to" in payload) or "valid_to" in payload and (
                payload.get("valid_from", "") and moment(payload["valid_from"]) >= moment(payload["valid_to"])
            ):
                self.fail(where, "valid_to does not fit")
            for name in TIMES:
                if name in payload:
                    self.time(where, payload[name])

    def check_vector(self, where, vector):
        if len(vector) != DIMENSION or abs(math.hypot(*vector) - 1) > 1e-4:
            self.fail(where, f"vector of {len(vector)} values and length {math.hypot(*vector)}")

    def check_questions(self):
        kinds, seen = collections.Counter(), set()
        for question in self.questions:
            where = "question " + question["id"]
            if question["id"] in seen or question["kind"] not in KINDS or not question["answers"]:
                self.fail(where, "id, kind or answers")
            seen.add(question["id"])
            kinds[question["kind"]] += 1
            self.check_vector(where, question["vector"])
            for answer in question["answers"]:
                fact = self.facts.get(answer)
                if fact is None or fact["user"] != question["user_id"] or fact["state"] != "active":
                    self.fail(where, f"answer {answer} is not an active fact of the user")
                elif question["kind"] == "no-overlap" and overlap.shared(question["question"], fact["content"]):
                    words = overlap.shared(question["question"], fact["content"])
                    self.fail(where, f"shares {sorted(words)} with {fact['content']!r}")
        if kinds["no-overlap"] < NO_OVERLAP_MIN:
            self.fail("questions", f"{kinds['no-overlap']} of kind no-overlap")


def moment(text):
    return datetime.datetime.fromisoformat(text)


def summary(events, points, questions):
    """What the files hold, for the README."""
    facts = [f for e in events if e["type"] == wire.WRITTEN for f in e["data"]["facts"]]
    per_user = collections.Counter(p["user_id"] for p in points)
    print("events:", dict(sorted(collections.Counter(e["type"] for e in events).items())))
    print("facts:", sum(f["op"] == "add" for f in facts), "added,", sum(f["op"] == "update" for f in facts), "updated")
    print("points:", dict(per_user), dict(collections.Counter(p["payload"]["state"] for p in points)))
    print("without memory_at:", sum("memory_at" not in p["payload"] for p in points))
    relations = collections.Counter(r["type"] for f in facts for r in f.get("relations", []))
    print("relations:", dict(sorted(relations.items())))
    print("facts without a relation:", sum(not f.get("relations") for f in facts if f["op"] == "add"))
    print("entity mentions:", sum(len(f.get("entities", [])) for f in facts))
    print("triples:", sum(len(f.get("triples", [])) for f in facts), "in", sum("triples" in f for f in facts), "facts")
    scores = [n["score"] for f in facts for n in f["neighbors"]]
    print("neighbors:", len(scores), "of them >= .75:", sum(s >= 0.75 for s in scores))
    print("questions:", dict(sorted(collections.Counter(q["kind"] for q in questions).items())))


def main(folder):
    files = [wire.read_lines(Path(folder) / (name + ".jsonl")) for name in ("events", "points", "questions")]
    bad = Check(*files).run()
    if bad:
        sys.exit("\n".join(bad))
    summary(*files)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
