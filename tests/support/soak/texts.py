"""What the clients say: two languages and both mixed, each text with a mark that says whose it is and which version."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from string import ascii_lowercase

TENANTS, NAMESPACES = ("a", "b"), ("alpha", "beta")
_MARK = re.compile(r"zq([ab])x(alpha|beta)x([a-z]{5})x([a-z]{2})qz", re.ASCII)
_NOTES = (
    "{mark} 号箱子放在仓库第{number}排, 里面是老吴的工具",
    "Box {mark} stands in row {number} and holds the lamps of the stage",
    "{mark} 那份 contract 在第 {number} 个 folder 里",
    "The drawing {mark} shows pump station {number} before it was rebuilt",
    "档案 {mark} 记着第{number}次巡检发现的裂缝",
)
_TURNS = (
    "今天把 {mark} 号设备搬到了{number}号楼, 花了一个下午",
    "We tested valve {mark} at {number} bar and it held",
    "工单 {mark} 的 root cause 是第 {number} 号泵的密封圈",
    "巡检员说 {mark} 那里的温度是{number}度",
    "The meeting about {mark} moved to room {number}",
)
QUESTIONS = (
    "老吴的工具在哪里",
    "which boxes hold the lamps of the stage",
    "哪些 contract 放在 folder 里",
    "密封圈 root cause 是什么",
    "what was said about the valve test",
    "巡检发现了什么裂缝",
    "which meeting moved to another room",
    "现在的预算是多少",
)


def mark(thing: str, version: int = 0) -> str:
    """Return the mark of a thing, `tenant/namespace/name`, in one of its versions."""
    tenant, namespace, name = thing.split("/")
    return f"zq{tenant}x{namespace}x{name}x{_letters(version, 2)}qz"


def marks(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Return the things and versions whose marks stand in the texts, in their order."""
    return [
        (f"{tenant}/{namespace}/{name}", _number(version))
        for text in texts
        for tenant, namespace, name, version in _MARK.findall(text)
    ]


def thing_name(number: int) -> str:
    """Return the name of the n-th thing."""
    return _letters(number, 5)


def note(chance: random.Random, thing: str, version: int = 0) -> str:
    """Return the text of a memory that somebody asks to be remembered."""
    return chance.choice(_NOTES).format(mark=mark(thing, version), number=chance.randrange(2, 90))


def turn(chance: random.Random, thing: str) -> str:
    """Return what somebody says in a conversation."""
    return chance.choice(_TURNS).format(mark=mark(thing), number=chance.randrange(2, 90))


def budget(value: int) -> str:
    """Return how a new value of the one fact is told."""
    return f"我的预算改成 {value} 元了" if value % 2 else f"my budget is now {value} yuan"


def _letters(number: int, length: int) -> str:
    letters = ""
    for _ in range(length):
        number, letter = divmod(number, 26)
        letters = ascii_lowercase[letter] + letters
    return letters


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ascii_lowercase.index(letter)
    return number
