"""Builds events.jsonl, points.jsonl and questions.jsonl of the sample from lives/*.yaml and questions.yaml.

    python make_sample.py [--out DIR]      default: the folder above this one

The same texts give the same bytes. What the script adds to the texts is what a memory system would add when it stores
them: ids, clock times, the vectors, the nearest earlier facts, and the final state of every point.

One thing it takes away: the authored relations are what a reconcile step could say about a pair of facts, but such a
step is only shown a few earlier facts. A relation to a fact outside that window (see `Memory.window`) is dropped and
counted, as it would have been missed in real life. The window was fixed before any vector existed.
"""

import argparse
import datetime
import hashlib
from pathlib import Path

import numpy as np

import check
import wire
from embed import Embedder
from source import HERE, ITEM_KEYS, Life, load_lives, load_questions

AGENTS = ("desk", "hearth")
WINDOW_NEAREST = 10  # nearest earlier active facts
WINDOW_RECENT = 12  # latest facts of the user, whatever they are about


class Memory:
    """One user's facts as they grow, and the events that say so."""

    def __init__(self, life, vectors):
        self.life, self.vectors = life, vectors
        self.points, self.order, self.keys = {}, [], {}
        self.events, self.dropped = [], []

    def replay(self):
        for episode in self.life.episodes:
            if episode["agent"] not in AGENTS:
                raise ValueError(f"episode {episode['id']}: unknown agent {episode['agent']}")
            moment = self.life.local(episode["at"])
            for number, items in enumerate(episode["turns"], start=1):
                moment += self._pause(episode["id"], number)
                self._turn(episode, number, moment, items)

    def _pause(self, *seed):
        """Between half a minute and six minutes pass from one turn to the next; microseconds as a clock would give."""
        digest = hashlib.sha256("/".join(map(str, (self.life.user, *seed))).encode()).digest()
        return datetime.timedelta(microseconds=30_000_000 + int.from_bytes(digest[:4], "big") % 330_000_000)

    def _turn(self, episode, number, moment, items):
        """One turn of a conversation: one batch of facts, then what it retires or deletes."""
        written = [item for item in items if "delete" not in item]
        for item in items:
            if set(item) - ITEM_KEYS:
                raise ValueError(f"{episode['id']}: unknown keys {set(item) - ITEM_KEYS}")
        batch = f"{episode['id']}-t{number}"
        for item in written:
            if "k" in item:
                if item["k"] in self.keys:
                    raise ValueError(f"{batch}: key {item['k']} used twice")
                self.keys[item["k"]] = wire.make_id("fact", self.life.user, item["k"])
        # Neighbours and window are of the time before the batch: its facts are not in the store yet.
        facts = [self._fact(episode, batch, moment, item, written) for item in written]
        if facts:
            data = {"user_id": self.life.user, "batch_id": batch, "facts": facts}
            self.events.append(wire.event(wire.WRITTEN, moment, data))
            for fact in facts:
                self._store(fact, batch)
        later = moment
        for item in items:
            for key in item.get("sup", []):
                later += datetime.timedelta(milliseconds=40)
                self._supersede(key, self.keys[item["k"]], later)
            if "delete" in item:
                later += datetime.timedelta(milliseconds=40)
                self._delete(item["delete"], later)

    def _fact(self, episode, batch, moment, item, written):
        key = item.get("k") or item["update"]
        fact_id, vector = self.keys[key], self.vectors[item["t"]]
        known = [i for i in self.order if self._active(i) and i != fact_id]
        matrix = np.array([self.points[i]["vector"] for i in known])
        fact = {
            "id": fact_id,
            "op": "add" if "k" in item else "update",
            "version": 1 if "k" in item else self.points[fact_id]["payload"]["version"] + 1,
            "agent_id": episode["agent"],
            "source_id": "msg-" + batch,
            "episode_id": episode["id"],
            "content": item["t"],
        }
        if item.get("at", "") != "~":
            fact["memory_at"] = self.life.moment(item["at"]) if "at" in item else moment.isoformat(timespec="seconds")
        if "from" in item:
            fact["valid_from"] = self.life.moment(item["from"])
        fact["recorded_at"] = wire.utc(moment)
        # An update that says nothing about tags or entities leaves the old ones alone, so the fields stay away.
        whole = "k" in item
        if whole or "tags" in item:
            fact["tags"] = item.get("tags", [])
        if whole or "ent" in item:
            fact["entities"] = [self.life.entity(e) for e in item.get("ent", [])]
        if whole or "rel" in item:
            fact["relations"] = self._relations(key, item, written, episode["id"], known, matrix)
        fact["neighbors"] = wire.neighbors(vector, known, matrix)
        if "tri" in item:
            fact["triples"] = [self.life.triple(t, item["t"]) for t in item["tri"]]
        return fact

    def _relations(self, key, item, written, episode_id, known, matrix):
        seen = self.window(self.vectors[item["t"]], episode_id, known, matrix)
        seen |= {self.keys[other.get("k") or other["update"]] for other in written}
        seen |= {self.keys[old] for old in item.get("sup", [])}
        out = []
        for text in item.get("rel", []):
            kind, other, weight = text.split(":")
            if other == key or other not in self.keys:
                raise ValueError(f"{key}: relation to {other}, which is not an earlier fact")
            if self.keys[other] in seen:
                out.append({"to": self.keys[other], "type": kind, "weight": float(weight)})
            else:
                self.dropped.append((key, text))
        return out

    def window(self, vector, episode_id, known, matrix):
        """Ids of the earlier facts that a reconcile step is shown beside a new one."""
        seen = set(known[-WINDOW_RECENT:])
        seen |= {i for i in known if self.points[i]["payload"]["episode_id"] == episode_id}
        if known:
            best = np.argsort(-wire.cosines(vector, matrix), kind="stable")[:WINDOW_NEAREST]
            seen |= {known[i] for i in best}
        return seen

    def _active(self, fact_id):
        return self.points[fact_id]["payload"]["state"] == "active"

    def _store(self, fact, batch):
        """The point of a fact. Times that the fact does not have stay absent."""
        old = self.points.get(fact["id"], {}).get("payload", {})
        payload = {
            **old,
            "content": fact["content"],
            "agent_id": fact["agent_id"],
            "state": "active",
            "version": fact["version"],
            "created_at": old.get("created_at", fact["recorded_at"]),
            "episode_id": fact["episode_id"],
            "batch_id": batch,
            "source_id": fact["source_id"],
        }
        for name in ("memory_at", "valid_from", "tags", "entities", "relations", "triples"):
            if name in fact:
                payload[name] = fact[name]
        if old:
            payload["updated_at"] = fact["recorded_at"]
        else:
            self.order.append(fact["id"])
        self.points[fact["id"]] = {
            "user_id": self.life.user,
            "id": fact["id"],
            "vector": self.vectors[fact["content"]].tolist(),
            "payload": payload,
        }

    def _supersede(self, key, by, moment):
        old, new = self.points[self.keys[key]]["payload"], self.points[by]["payload"]
        if old["state"] != "active":
            raise ValueError(f"{key} superseded twice")
        old["version"] += 1
        data = {"user_id": self.life.user, "fact_id": self.keys[key], "by": by, "version": old["version"]}
        self.events.append(wire.event(wire.SUPERSEDED, moment, data))
        valid_to = new.get("valid_from") or new.get("memory_at") or wire.utc(moment)
        old.update(state="superseded", superseded_by=by, valid_to=valid_to, updated_at=wire.utc(moment))

    def _delete(self, key, moment):
        fact_id = self.keys[key]
        version = self.points.pop(fact_id)["payload"]["version"] + 1
        self.order.remove(fact_id)
        data = {"user_id": self.life.user, "fact_id": fact_id, "version": version}
        self.events.append(wire.event(wire.DELETED, moment, data))


def embed_all(lives, questions):
    """Vector of every text that is ever stored or asked."""
    texts = [q["q"] for q in questions]
    texts += [item["t"] for life in lives for e in life.episodes for turn in e["turns"] for item in turn if "t" in item]
    texts = sorted(set(texts))
    return dict(zip(texts, Embedder().encode(texts)))


def question_row(question, memories, vectors):
    keys = memories[question["user"]].keys
    return {
        "id": question["id"],
        "user_id": question["user"],
        "question": question["q"],
        "answers": [keys[a] for a in question["a"]],
        "kind": question["kind"],
        "note": question["note"],
        "vector": vectors[question["q"]].tolist(),
    }


def main():
    arguments = argparse.ArgumentParser(description="build the sample")
    arguments.add_argument("--out", type=Path, default=HERE.parent)
    out = arguments.parse_args().out

    lives, questions = [Life(raw) for raw in load_lives()], load_questions()
    vectors = embed_all(lives, questions)
    memories = {}
    for life in lives:
        memories[life.user] = Memory(life, vectors)
        memories[life.user].replay()

    events = sorted((e for m in memories.values() for e in m.events), key=lambda e: (e["time"], e["id"]))
    points = [m.points[i] for m in memories.values() for i in m.order]
    wire.write_lines(out / "events.jsonl", events)
    wire.write_lines(out / "points.jsonl", points)
    wire.write_lines(out / "questions.jsonl", [question_row(q, memories, vectors) for q in questions])

    for user, memory in memories.items():
        for key, relation in memory.dropped:
            print(f"outside the window, dropped: {user} {key} -> {relation}")
    check.main(out)


if __name__ == "__main__":
    main()
