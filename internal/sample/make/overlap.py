"""Content words that two texts share: lower-cased, without stop words, naively stemmed."""

import re
import unicodedata

STOP = frozenset(
    """a about after again against all also am an and any are as at be because been before being between both but by
    can cannot could did do does doing down during each for from had has have having he her here hers him his how i if
    in into is it its itself just may me might more most must my no nor not now of off on once only or other others our
    out over own same shall she should so some such than that the their theirs them then there these they this those
    through to too under until up upon very was we were what when where which while who whom whose why will with would
    you your yours s t don won can isn aren""".split()
)
ENDINGS = ("ing", "ies", "ied", "ed", "es", "s", "e", "y", "ly")


def stem(word):
    """Cuts one common English ending if three letters remain."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def content_words(text):
    text = unicodedata.normalize("NFC", text).casefold()
    return {stem(w) for w in re.findall(r"[^\W_]+", text) if w not in STOP}


def shared(a, b):
    return content_words(a) & content_words(b)
