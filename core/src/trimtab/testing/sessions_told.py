"""Sessions of many kinds in which is known what must not be forgotten: harder to summarize than `briefings`.

Requests have logs, SQL, JSON and lists in them, conclusions tables, diffs and quotes; ids are spelt in two dozen ways.
The same from the same seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from trimtab.compaction.asking.transcript import transcript
from trimtab.testing.briefings import Briefing
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

__all__ = ["KINDS", "session_told"]

_WORDS: Final = (
    "archive basket carrier docket engine folder gauge harbor intake journal kiosk ladder market notice outlet parcel "
    "quota rack sensor ticket union valve wallet yard zone"
)
_NOUNS: Final = _WORDS.split()


def _hex(random: Random, count: int) -> str:
    # Never digits alone, which would be a number, and another one inside of a longer.
    return "".join(random.choice("0123456789abcdef") for _ in range(count - 2)) + "a7"


def _date(random: Random) -> str:
    day = f"2026-{random.randrange(1, 13):02d}-{random.randrange(1, 29):02d}"
    return random.choice((day, f"{day}T{random.randrange(24):02d}:{random.randrange(60):02d}:07Z"))


_Write = Callable[[Random, Callable[[], str], Callable[[int], int]], str]
_FACTS: Final[Mapping[str, _Write]] = {
    "issue": lambda r, w, n: f"{r.choice(('OPS', 'WEB', 'INC', 'CHG'))}-{n(99_999)}",
    "version": lambda r, w, n: f"{n(9)}.{n(30)}.{n(40)}" + r.choice(("", f"-rc.{n(9)}", f"+build.{n(999)}")),
    "uuid": lambda r, w, n: "-".join(_hex(r, size) for size in (8, 4, 4, 4, 12)),
    "hash": lambda r, w, n: _hex(r, r.choice((7, 10, 40, 64))),
    "address": lambda r, w, n: f"10.{n(255)}.{n(255)}.{n(255)}:{n(9_999)}",
    "setting": lambda r, w, n: f"{w().upper()}_{w().upper()}_{r.choice(('URL', 'TTL', 'MAX'))}",
    "function": lambda r, w, n: f"{w()}_{w()}_{r.choice(('rows', 'batch', 'all'))}",
    "class": lambda r, w, n: f"{w().title()}{w().title()}{r.choice(('Error', 'Client'))}",
    "place": lambda r, w, n: f"src/{w()}/{w()}_{w()}.{r.choice(('py', 'ts', 'go', 'rs'))}:{n(1_999)}",
    "path": lambda r, w, n: r.choice(
        (f"/etc/{w()}/{w()}.conf", f"~/.config/{w()}.toml", f"./bin/{w()}-{w()}.sh", f"{w()}/{w()}.test.ts")
    ),
    "url": lambda r, w, n: r.choice(
        (
            f"https://{w()}.example.com/{w()}/{n(9_999)}?{w()}={w()}&page={n(99)}#{w()}",
            f"s3://{w()}-{w()}/{w()}/2026/",
            f"postgres://{w()}@{w()}-db.example.net:5432/{w()}",
            f"https://wiki.example.org/{w()}_({w()})",
        )
    ),
    "mail": lambda r, w, n: f"{w()}.{w()}+{n(99)}@{w()}.example.com",
    "host": lambda r, w, n: f"{w()}-{n(40):02d}.eu-west-1.example.net",
    "table": lambda r, w, n: f"{w()}.{w()}_{w()}_daily",
    "order": lambda r, w, n: r.choice((f"#{n(10**8)}", f"ORD{n(10**8)}", f"RMA/2026/{n(10**5)}")),
    "phone": lambda r, w, n: r.choice((f"+49-30-{n(10**7)}", f"0{n(999)}-{n(10**6)}")),
    "iban": lambda r, w, n: f"DE{n(10**20)}",
    "amount": lambda r, w, n: r.choice((f"${n(99_999) / 100:,.2f}", f"€{n(9_999_999) / 100:,.2f}", f"£{n(999)}k")),
    "share": lambda r, w, n: f"{n(999) / 10}%",
    "date": lambda r, w, n: _date(r),
    "number": lambda r, w, n: r.choice((f"{n(9_999_999):,}", str(n(99_999)), f"{n(99)}.{n(99)}", f"1.{n(9)}e-{n(9)}")),
    "paper": lambda r, w, n: r.choice((f"arXiv:24{n(12):02d}.{n(99_999):05d}v2", f"10.{n(9_999)}/{w()}.{n(99_999)}")),
    "flag": lambda r, w, n: f"--{w()}-{w()}",
}

_SAID: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "coding": (
        (
            "Builds of {hash} are red. See {place}: `{function}()` raises {class}. Never force-push to trunk!",
            "Set {setting}={number} in {path} and move {function} to {version}, please. It is for {issue}.",
            (
                'This is what it prints:\n```\n2026-05-06 ERROR {class}: frame {uuid}\n  File "{path}", line {number}\n'
                "refused: {address}\n```\nwhy?"
            ),
            'Put this into {path}:\n```json\n{"endpoint": "{url}", "retries": {number}, "key": "{hash}"}\n```',
            "fine. then\n1. rename {function} to {function}\n2. run it with {flag}={number}\n3. leave {path} alone",
        ),
        (
            (
                "**Cause:** `{function}` in `{place}` takes `{setting}` for an int. Mended in {hash}.\n\n"
                "| test | before | after |\n|---|---:|---:|\n| {function} | {number} | {number} |\n\nAll {number} pass."
            ),
            "- Moved to **{version}** in `{path}`\n- `{function}` still fails with `{class}`\n\n### Next\n- {url}",
            (
                "A try with {version} did not work: `{class}: got {number}`. I reverted it ({hash}), patched {place}:"
                "\n```diff\n--- a/x\n-    return {function}(x)\n+    return {function}(x, {flag})\n```"
            ),
        ),
    ),
    "research": (
        (
            "Look for papers on storage of heat. Begin with {paper} and {paper}; nothing before {date}.",
            "How do {url} and {url} differ? One says {share}, and {number} kWh a year. Always name the source.",
            "A reviewer writes: “{number} in table 3 contradicts {paper}, which has {number}.” Answer until {date}.",
        ),
        (
            (
                "### Found\n\n1. **Loss**: {number} ([source]({url}))\n2. **Price**: {amount}\n3. {paper}: {share}\n\n"
                "> “In {date} there were {number} of them.”\n\nOpen: whether {paper} measures the same."
            ),
            "They disagree: {share} in {url}, {share} in {paper}. I chose the second, as n = {number} is larger.",
            "I could not open {url} (code {number}); the right figure is {number}, by {paper}.",
        ),
    ),
    "operations": (
        (
            "{issue}: {host} has {share} errors since {date}. {mail} is on call. Do not restart {host}.",
            "Run\n```sql\nSELECT sum(n) FROM {table} WHERE day >= '{date}' AND code = {number}\n```\nand tell the sum.",
            "| zone | rows | lag |\n|---|---|---|\n| {host} | {number} | {number} s |\n\nWhy is {table} behind?",
        ),
        (
            "Traffic moved from {host} to {host}; errors are down to {share}. The pool of {path} was {number}.",
            "Sums of `{table}`:\n\n| at | sum |\n|---|---|\n| {host} | {amount} |\n| {host} | {amount} |\n\nId {uuid}.",
            "Refilled {table} for {date}: {number} rows. The first attempt timed out after {number} s. Due: {issue}.",
        ),
    ),
    "service": (
        (
            "Hello, order {order} is not here. I live in {number} Elm Street, phone {phone}, and paid {amount}.",
            "Send the money to {iban}, not to the card with {number}. Please never call before noon. Mail: {mail}",
            "And invoice {order} says {amount}, but I was told {share} less.",
        ),
        (
            "I am sorry! Order {order} waits at depot {number}; it arrives on {date}.",
            "I paid back {amount} for {order} (reference {uuid}). Your case is {issue}.",
            "{share} could not be taken off, the code ended on {date}. We agreed on a voucher instead: {order}.",
        ),
    ),
    "German": (
        (
            "Bitte sieh dir {issue} an: seit {version} fehlen {number} Zeilen, der Code ist {path}. Niemals auf main!",
            "Kunde {order} zahlte {amount} zweimal, siehe {url}. Bitte nur einmal erstatten, spätestens am {date}.",
        ),
        (
            "Die Ursache ist `{function}` in {place}. Behoben in {hash}. Versuch {number} schlug fehl ({class}).",
            "**Fertig**\n- {amount} sind erstattet (Beleg {uuid})\n- {order} bleibt, Rückfragen an {mail}",
        ),
    ),
    "Russian": (
        (
            "Посмотри {issue}: с {date} адрес {url} отвечает {number}. Код в {path}. Никогда не меняй main!",
            "Заказ {order} не пришёл, телефон {phone}, оплачено {amount}.",
        ),
        (
            "Причина: {function} в {place}, после {number} строк. Исправлено в {hash}.",
            "Возвращено {amount}, операция {uuid}. С {flag} не удалось ({class}), решили оставить {version}.",
        ),
    ),
    "Chinese": (
        (
            "请看一下{issue}，从{date}起{url} 返回{number}，代码在{path}。绝对不要修改main分支！",
            "客户{order}付了两次{amount}，电话{phone}，请退到{iban}。",
        ),
        (
            "原因是{place} 里的{function}，{number}毫秒后超时。已在{hash}中修复，错误率降到{share}。",
            "结论：\n- 版本{version}有缺陷\n- 决定改用{version}\n- 已退{amount}，流水号{uuid}",
        ),
    ),
    "Japanese": (
        (
            "{issue}を見てください。{date}から{url} が{number}を返します。{path}は絶対に変えないでください。",
            "注文{order}がまだ届きません。電話は{phone}、支払いは{amount}です。",
        ),
        (
            "原因は{place}の{function}で、{number}件目で止まります。{hash}で修正済みです。",
            "{amount}を返金しました（番号{uuid}）。{version}は失敗し（{class}）、{version}を使うことにしました。",
        ),
    ),
    "Korean": (
        (
            "{issue} 봐 주세요. {date}부터 {url} 에서 {number} 오류가 납니다. {path}는 절대 바꾸지 마세요.",
            "주문 {order}이 오지 않았습니다. 전화는 {phone}, 금액은 {amount}입니다.",
        ),
        (
            "원인은 {place}의 {function}이며 {hash}에서 수정했습니다.",
            "{amount}을 환불했습니다(번호 {uuid}). {version}은 실패해서 {version}을 쓰기로 결정했습니다.",
        ),
    ),
    "Arabic": (
        (
            "يرجى فحص {issue}: منذ {date} يعيد {url} الرمز {number}. الشفرة في {path}. لا تغير main أبدا.",
            "الطلب {order} لم يصل، هاتفي {phone} ودفعت {amount}.",
        ),
        (
            "السبب هو {function} في {place} بعد {number}. تم الإصلاح في {hash}.",
            "تم رد {amount} برقم {uuid}. فشلت المحاولة مع {version} فقررنا استخدام {version}.",
        ),
    ),
}

KINDS: Final = tuple(_SAID)
"""Kinds of sessions: what they are about, or their language."""


def session_told(kind: str, seed: int, *, turns: int = 12) -> Briefing:
    """A session of so many turns: a request, a few calls with long outputs, one of ten failing, a conclusion."""
    random = Random(f"{kind} {seed}")
    facts: list[str] = []
    passing: list[str] = []  # named in calls and outputs alone
    requests, conclusions = _SAID[kind]
    messages: list[Json] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": _told(random, random.choice(requests), facts)})
        for step in range(random.randrange(2, 6)):
            call, command = f"toolu_{turn}_{step}", _told(random, "rg -n {function} {path}", passing)
            used = {"type": "tool_use", "id": call, "name": "run", "input": {"command": command}}
            line = random.choice(
                ("{path}:{number}: {function}", "{date} INFO {address} {hash}", "at {class} ({place})")
            )
            shown = "\n".join(_told(random, line, passing) for _ in range(random.randrange(10, 90)))
            failed = random.random() < 0.1
            result = {"type": "tool_result", "tool_use_id": call, "content": shown, "is_error": failed}
            messages += [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
        messages.append({"role": "assistant", "content": _told(random, random.choice(conclusions), facts)})
    history = transcript(shape_of("anthropic", None).read(messages))
    return Briefing(messages=tuple(messages), history=history, facts=tuple(dict.fromkeys(facts)))


def _told(random: Random, template: str, facts: list[str]) -> str:
    def fact(found: re.Match[str]) -> str:
        written = _FACTS[found[1]](
            random, lambda: random.choice(_NOUNS), lambda most: random.randrange(most // 10, most)
        )
        facts.append(written)
        return written

    return re.sub("\\{([a-z]+)\\}", fact, template)
