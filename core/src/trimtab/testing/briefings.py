"""Conversations in which is known what must not be forgotten: for trying summarizers. The same from the same seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab.compaction.asking.transcript import transcript
from trimtab.types import Json
from trimtab.wire.histories import Message
from trimtab.wire.lookup import shape_of

__all__ = ["Briefing", "Language", "briefing", "kept"]

Language: TypeAlias = Literal["en", "zh", "ja"]


@frozen(kw_only=True)
class Briefing:
    """A conversation, and what was seeded in it.

    Attributes:
        messages: of an Anthropic request.
        history: as a summarizer gets it.
        facts: ids, paths, urls and numbers of the user's requests and the assistant's conclusions, in order.
    """

    messages: tuple[Json, ...] = field(repr=False)
    history: str = field(repr=False)
    facts: tuple[str, ...]

    @property
    def read(self) -> tuple[Message, ...]:
        """The messages as the neutral view has them."""
        return shape_of("anthropic", None).read(list(self.messages))


def kept(facts: Sequence[str], summary: str) -> list[str]:
    """The facts that a summary has: each as a whole, so that `42` is not found in `1042`."""
    return [one for one in facts if re.search(f"(?<![0-9A-Za-z_]){re.escape(one)}(?![0-9A-Za-z_])", summary)]


# In each, the numbers in braces are replaced by seeded facts: 0 an id, 1 a path, 2 a url, 3 a number, 4 an amount.
_REQUESTS: Final[dict[Language, tuple[str, ...]]] = {
    "en": (
        "Hi, please look into {0}: since the release the export writes {3} rows too few. The code is in {1}.",
        "Thanks! Next, customer {0} was charged {4} twice. See {2} for the report. Refund only one of them, please.",
        "Could you move the limit in {1} to {3}? Never touch the defaults of {0} though, others rely on them.",
        "One more thing: the dashboard at {2} times out after {3} seconds. Find out why, but do not restart anything.",
        "Good. Now do the same for {0}, and write what you find to {1} so that I can pass it on to the others.",
    ),
    "zh": (
        "你好，请查一下 {0}：发布之后导出的数据少了 {3} 行，代码应该在 {1} 里面，麻烦看一看。",
        "谢谢！接下来，客户 {0} 被重复扣款 {4}，报告见 {2}，请只退还其中一笔，不要全部退款。",
        "把{1}里的上限改成{3}可以吗？但是不要动{0}的默认值，其他团队还在使用。",
        "还有一件事：{2} 这个看板在{3}秒之后超时，请找出原因，但是不要重启任何服务。",
    ),
    "ja": (
        "{0}を調べてください。リリース後、エクスポートの行数が{3}行足りません。コードは {1} にあるはずです。",
        "ありがとうございます。次に、顧客{0}に{4}が二重に請求されました。{2} を見て、片方だけ返金してください。",
        "{1} の上限を{3}に変更できますか。ただし{0}の既定値は絶対に変えないでください。",
    ),
}
_CONCLUSIONS: Final[dict[Language, tuple[str, ...]]] = {
    "en": (
        (
            "I found it. The loop in {1} stops at {3} because the cursor of {0} is closed too early. I decided to keep "
            "the cursor open until the batch of {3} is written. A first attempt with a larger page failed: the worker "
            "ran out of memory at {3} rows. The patch is up for review at {2}."
        ),
        (
            "Done: the second charge {0} over {4} is refunded; the first one stays. The job {0} that sent it twice "
            "lost its lock after {3} s. Retrying with the old key did not work, the gateway answered with code {3}."
        ),
        (
            "The value in {1} is {3} now. All {3} tests pass, except the one for {0}, which had been failing before. "
            "Details are at {2}."
        ),
        (
            "The query behind it scans {3} rows, as the index on {0} is missing. We agreed not to add it by day; "
            "the script is {1}, and it takes about {3} seconds on the copy of the database."
        ),
    ),
    "zh": (
        (
            "已经找到原因：{1} 中的循环在第{3}条停止，{0} 的游标过早关闭。决定保持游标打开。"
            "第一次尝试加大分页失败了，在 {3} 行时内存不足。补丁见 {2}。"
        ),
        (
            "完成：第二笔扣款 {0}（{4}）已经退还，第一笔保留。任务 {0} 在 {3} 秒之后丢失了锁。"
            "用旧密钥重试没有成功，网关返回代码 {3}。"
        ),
        "{1} 中的值现在是 {3}，{3} 个测试全部通过，只有 {0} 的那个之前就失败。详情见 {2}。",
    ),
    "ja": (
        (
            "原因が分かりました。{1} のループが{3}件目で止まります。{0} が早く閉じられるためです。"
            "{3}件を書き終えるまで開いておくことにしました。最初の試みは失敗しました。修正は {2} にあります。"
        ),
        (
            "完了しました。二重の請求{0}（{4}）は返金済みです。ジョブ {0} は{3}秒後にロックを失いました。"
            "古い鍵での再試行はできませんでした。コードは{3}です。"
        ),
    ),
}
_NOTES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("Let me look at the code first.", "That is not it. I will check the logs.", "Now the tests."),
    "zh": ("我先看一下代码。", "不是这里，我再查一下日志。", "现在运行测试。"),
    "ja": ("まずコードを見ます。", "ここではないようです。ログを確認します。", "次にテストを実行します。"),
}
_WORDS: Final = (
    "account batch cache cursor customer daemon export handler index invoice job ledger limit lock message order page "
    "payment queue refund request retry row schema session shard table tenant token update version worker"
)
_NOUNS: Final = _WORDS.split()


def _ids(random: Random) -> str:
    number, word = random.randrange(1_000, 99_999), random.choice(_NOUNS)
    made = f"{random.getrandbits(48):012x}"
    return random.choice((f"{word[:4].upper()}-{number}", f"{word[:3]}_{made}", f"#{number}", f"{made[:7]}a{made[7:]}"))


def _path(random: Random) -> str:
    one, two, three = random.sample(_NOUNS, 3)
    ending = random.choice((".py", ".ts", ".sql", ".yaml", ".md"))
    return random.choice(
        (f"src/{one}/{two}_{three}{ending}", f"/srv/{one}/{two}/{three}{ending}", f"{one}/{two}{ending}")
    )


def _url(random: Random) -> str:
    one, two = random.sample(_NOUNS, 2)
    return f"https://{one}.example.com/{two}/{random.randrange(100, 99_999)}"


def _number(random: Random) -> str:
    whole = random.randrange(12, 10 ** random.randrange(2, 7))
    return random.choice((str(whole), f"{whole:,}", f"{whole / 10:.1f}"))


def _amount(random: Random) -> str:
    return f"{random.choice('€$')}{random.randrange(1_000, 999_999) / 100:,.2f}"


_KINDS: Final[tuple[Callable[[Random], str], ...]] = (_ids, _path, _url, _number, _amount)


def briefing(seed: int, *, turns: int = 12, language: Language = "en") -> Briefing:
    """A conversation of so many turns: a request, a few calls with long outputs, a conclusion."""
    random = Random(seed)
    facts: list[str] = []
    messages: list[Json] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": _seeded(random, _REQUESTS[language], facts)})
        for step in range(random.randrange(2, 5)):
            call = f"toolu_{turn}_{step}"
            used: Json = {
                "type": "tool_use",
                "id": call,
                "name": random.choice(("read_file", "grep", "run")),
                "input": {},
            }
            used["input"] = {"path": _path(random), "pattern": random.choice(_NOUNS)}
            said = [{"type": "text", "text": random.choice(_NOTES[language])}] if random.random() < 0.5 else []
            messages.append({"role": "assistant", "content": [*said, used]})
            result = {"type": "tool_result", "tool_use_id": call, "content": _output(random)}
            messages.append({"role": "user", "content": [result]})
        messages.append({"role": "assistant", "content": _seeded(random, _CONCLUSIONS[language], facts)})
    read = shape_of("anthropic", None).read(messages)
    return Briefing(messages=tuple(messages), history=transcript(read), facts=tuple(dict.fromkeys(facts)))


def _seeded(random: Random, templates: Sequence[str], facts: list[str]) -> str:
    def fact(found: re.Match[str]) -> str:
        facts.append(_KINDS[int(found[1])](random))
        return facts[-1]

    return re.sub("\\{([0-4])\\}", fact, random.choice(templates))


def _output(random: Random) -> str:
    """Lines of code, of a log or of a search, some 1,000 to 8,000 chars."""
    lines = []
    for number in range(random.randrange(20, 120)):
        one, two, three = random.sample(_NOUNS, 3)
        line = random.choice(
            (
                f"{number:4d}  def {one}_{two}({three}): return {two}.{one}({three}, limit={random.randrange(9_999)})",
                f"2026-05-{random.randrange(1, 29):02d} 12:{random.randrange(60):02d} INFO {one} {two} {_ids(random)}",
                f"{_path(random)}:{random.randrange(900)}: {one} = {two}[{three}]",
                f"    # the {one} of a {two} is written before its {three}",
            )
        )
        lines.append(line)
    return "\n".join(lines)
