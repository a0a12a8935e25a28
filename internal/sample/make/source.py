"""Reads the authored texts: lives/*.yaml and questions.yaml.

A life is a list of episodes (conversations), an episode a list of turns, a turn a list of items. An item is

    {k: key, t: text, ...}          a new fact
    {update: key, t: text, ...}     a fact written again with other words
    {delete: key}                   the user asked to forget it

and may carry: `at` (event time; "~" for unknown; the moment of the turn if left out), `from` (valid_from), `tags`,
`ent` ("Name" or "Name|type"), `rel` ("type:key:weight"), `sup` (keys it retires) and `tri`
("Subject:type|predicate|Object:type|confidence|valid_from"). Days and times are local to the `zone` of the life.
"""

import datetime
import zoneinfo
from pathlib import Path

import yaml

HERE = Path(__file__).parent
ITEM_KEYS = {"k", "update", "delete", "t", "at", "from", "tags", "ent", "rel", "sup", "tri"}


def load_lives():
    """The lives in the order of their file names."""
    return [_load(path) for path in sorted((HERE / "lives").glob("*.yaml"))]


def load_questions():
    return _load(HERE / "questions.yaml")


def _load(path):
    # Everything stays text: a date must not become a point in time before its zone is known.
    with open(path, encoding="utf-8") as f:
        return yaml.load(f, yaml.BaseLoader)


class Life:
    """One user's texts with names, times and references resolved."""

    def __init__(self, raw):
        self.user = raw["user"]
        self.zone = zoneinfo.ZoneInfo(raw["zone"])
        self.episodes = raw["episodes"]
        self._types, self._aliases, self._full = {}, {}, {}
        for name, entry in raw["entities"].items():
            entry = entry if isinstance(entry, dict) else {"type": entry}
            self._types[name] = entry["type"]
            self._aliases[name] = entry.get("aliases", [])
            for alias in self._aliases[name]:
                self._full[alias] = name
        self._introduced = set()

    def entity(self, text):
        """The entity as the extraction named it. Aliases come with the first mention under the full name only."""
        name, _, kind = text.partition("|")
        full = self._full.get(name, name)
        out = {"name": name, "type": kind or self._types[full]}
        if name == full and self._aliases.get(name) and name not in self._introduced:
            self._introduced.add(name)
            out["aliases"] = self._aliases[name]
        return out

    def triple(self, text, sentence):
        subject, predicate, obj, confidence, *rest = text.split("|")
        out = {
            "subject": _typed(subject),
            "predicate": predicate,
            "object": _typed(obj),
            "confidence": float(confidence),
            "sentence": sentence,
        }
        if rest:
            out["valid_from"] = self.moment(rest[0])
        return out

    def local(self, text):
        """A moment of the life: "YYYY-MM-DD" (midnight) or "YYYY-MM-DD HH:MM"."""
        layout = "%Y-%m-%d %H:%M" if " " in text else "%Y-%m-%d"
        return datetime.datetime.strptime(text, layout).replace(tzinfo=self.zone)

    def moment(self, text):
        return self.local(text).isoformat()


def _typed(text):
    name, _, kind = text.rpartition(":")
    return {"name": name, "type": kind}
