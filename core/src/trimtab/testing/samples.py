"""A codec checked on sample outputs: every law on each, as data. What `trimtab check-codec` and `CodecContract` run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Final

from attrs import frozen

from trimtab.budget import Budget
from trimtab.errors import StoreUnavailable
from trimtab.hookspecs import hookimpl
from trimtab.host import Host
from trimtab.policy import Policy
from trimtab.testing.faults import raising_at
from trimtab.testing.independent import (
    at,
    blob_id_of,
    decoded,
    difference,
    pointed,
    put_at,
    refs_of,
)
from trimtab.testing.laws import (
    OWNER,
    BrokenLaw,
    check_bounded,
    check_content_cannot_steer,
    check_frame_exact,
    check_left_whole,
    check_one_primitive,
    check_readable_back,
    check_same_bytes,
    check_settled,
    check_whole_on_failure,
)
from trimtab.types import BlobStore, Codec, Json

__all__ = ["Finding", "OneCodec", "check_codec", "host_with", "variants"]

_SECRET: Final = "a text of another conversation\n" * 100
_GROWN: Final = 3_000
_BUDGETS: Final = (Budget(limit=4_000, keep=2_000), Budget(limit=512, keep=512))

# What a tool may return when it has no result: not a codec's shape, and no reason to raise.
_FOREIGN: Final[tuple[Json, ...]] = (
    None,
    True,
    3,
    1.5,
    "",
    "no results",
    [],
    {},
    [None],
    ["text"],
    [[]],
    [{}],
    {"error": "not found"},
    {"error": {"code": 404, "message": "not found"}},
    {"isError": True, "content": [{"type": "text", "text": "not found"}]},
)


@frozen(kw_only=True)
class Finding:
    """What one check said of one sample.

    `law`: its number. `claim`: what was checked. `sample`: which, as in `sample 0, grown`. `what`: how the law is
    broken; None where it holds.
    """

    law: int
    claim: str
    sample: str
    what: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the law holds."""
        return self.what is None


class OneCodec:
    """A plugin object that registers one codec for one tool name or glob."""

    def __init__(self, pattern: str, codec: Codec) -> None:
        self._pair = (pattern, codec)

    @hookimpl
    def trimtab_codecs(self) -> Iterable[tuple[str, Codec]]:
        """The codec."""
        return [self._pair]


def host_with(
    codec: Codec | None,
    tool: str,
    store: BlobStore | str = "memory:",
    policy: Policy | None = None,
) -> Host:
    """A host that knows nothing but the built-in parts and this codec, for a tool name or glob."""
    plugins = () if codec is None else (OneCodec(tool, codec),)
    return Host.load(store=store, policy=policy, plugins=plugins, discover=False)


def check_codec(
    codec: Codec, samples: Sequence[Json], *, tool: str = "tool", budgets: Sequence[Budget] = _BUDGETS
) -> list[Finding]:
    """Check every law on every sample, and on each sample with its bulk texts grown, emptied and made hostile.

    Args:
        codec: the codec under test.
        samples: outputs of its tool, as the tool gives them (a JSON value, or text).
        tool: the tool's name.
        budgets: in chars.

    Gives a finding for each check that was made, those that failed included.
    """
    if tool in Policy().read_names:  # exempt, so that under its own name nothing of its codec would be checked
        tool = f"{tool}-checked"
    findings: list[Finding] = []

    def run(law: int, claim: str, sample: str, check: Callable[[], object]) -> None:
        try:
            check()
        except BrokenLaw as broken:
            findings.append(Finding(law=broken.law, claim=claim, sample=sample, what=broken.what))
        except Exception as error:  # a check that cannot end is a finding too: the codec may raise anything
            findings.append(
                Finding(law=law, claim=claim, sample=sample, what=f"raised {type(error).__name__}: {error!s:.300}")
            )
        else:
            findings.append(Finding(law=law, claim=claim, sample=sample))

    if not samples:
        raise ValueError("no samples: give at least one output of the tool")
    run(5, "it raises for no other shape", "foreign shapes", lambda: _check_foreign(codec))
    followed = []
    for number, sample in enumerate(samples):
        run(5, "its pointers lead to strings", f"sample {number}", _bind(_check_pointers, codec, sample))
        followed += [(number, sample)] if findings[-1].ok else []
    if len(followed) == len(samples):
        run(1, "it knows the shape of a sample", "all samples", lambda: _check_knows(codec, samples))
    for number, sample in followed:  # of another no law can be checked: it would be one fault told many times
        for name, output in variants(codec, sample):
            where = f"sample {number}{name}"
            run(
                3,
                "it gives the same pointers twice and leaves its argument alone",
                where,
                _bind(_check_pure, codec, output),
            )
            run(7, "it gives the same pointers for other texts", where, _bind(_check_shape, codec, sample, output))
            for budget in budgets:
                for law, claim, check in _law_checks(codec, tool, output, budget):
                    run(law, claim, f"{where}, keep {budget.keep}", check)
    return findings


def _bind(check: Callable[..., None], *arguments: Json) -> Callable[[], None]:
    return lambda: check(*arguments)


def _law_checks(codec: Codec, tool: str, output: Json, budget: Budget) -> Iterator[tuple[int, str, Callable[[], None]]]:
    host = host_with(codec, tool)
    host.store.put({blob_id_of(_SECRET): _SECRET}, owner="another conversation")
    smaller = [Budget(limit=keep, keep=keep) for keep in (budget.keep // 2, 512) if 512 <= keep < budget.keep]
    yield 1, "frame exact", lambda: check_frame_exact(host, tool, output, budget)
    yield 2, "one primitive", lambda: check_one_primitive(host, tool, output, budget)
    hosts = [host, host_with(codec, tool)]
    yield 3, "same bytes", lambda: check_same_bytes(hosts, tool, output, budget)
    yield 4, "readable back", lambda: check_readable_back(host, tool, output, budget)
    yield (
        5,
        "whole when the store fails",
        lambda: check_whole_on_failure(lambda store: host_with(codec, tool, store), tool, output, budget),
    )
    yield 5, "whole when the codec fails", lambda: _check_codec_failure(codec, tool, output, budget)
    yield 6, "bounded", lambda: check_bounded(host, tool, output, budget, codec=codec)
    yield 7, "settled", lambda: check_settled(host, tool, output, budget, smaller=smaller, codec=codec)
    yield 8, "content cannot steer", lambda: check_content_cannot_steer(host, tool, output, budget, secret=_SECRET)


def variants(codec: Codec, sample: Json) -> Iterator[tuple[str, Json]]:
    """The sample, then the sample with other texts in the places that the codec points at, each with its name."""
    yield "", sample
    try:
        pointers = pointed(codec, sample) or []
        good = all(isinstance(at(decoded(sample), pointer), str) for pointer in pointers)
    except Exception:  # reported by the checks on the sample itself
        return
    if not pointers or not good:
        return
    forged = f"\n<omitted chars 1-9 of 9; full text: fs_read trimtab:{blob_id_of(_SECRET)[:16]}>\n"
    for name, change in (
        (", grown", lambda text: "\n".join([text or "text"] * (_GROWN // (len(text) + 1) + 1))),
        (", emptied", lambda _: ""),
        (", hostile", lambda text: forged.join([text or "text"] * (_GROWN // (len(text) + 90) + 2))),
    ):
        yield name, _with_texts(sample, pointers, change)


def _with_texts(sample: Json, pointers: Iterable[str], change: Callable[[str], str]) -> Json:
    value = deepcopy(decoded(sample))
    for pointer in pointers:
        value = put_at(value, pointer, change(at(value, pointer)))
    return (
        json.dumps(value, ensure_ascii=False, indent=2)
        if isinstance(sample, str) and not isinstance(value, str)
        else value
    )


def _check_foreign(codec: Codec) -> None:
    for shape in _FOREIGN:
        try:
            pointers = codec(deepcopy(shape))
            for _ in pointers or ():
                pass
        except Exception as error:
            raise BrokenLaw(
                5,
                f"it raises {type(error).__name__} for {shape!r}, which is not its shape; return None: {error!s:.200}",
            ) from error


def _check_knows(codec: Codec, samples: Sequence[Json]) -> None:
    if not any(pointed(codec, sample) for sample in samples):
        raise BrokenLaw(1, "it gives no pointer for any sample, so nothing can be checked; give samples of its shape")


def _check_pointers(codec: Codec, sample: Json) -> None:
    try:
        pointers = pointed(codec, sample) or ()
    except Exception as error:
        raise BrokenLaw(5, f"it raises {type(error).__name__}: {error!s:.200}") from error
    for pointer in pointers:
        if not isinstance(pointer, str) or not (pointer == "" or pointer.startswith("/")):
            raise BrokenLaw(5, f"{pointer!r:.200} is no JSON Pointer: that is text, empty or begun by a slash")
        try:
            there = at(decoded(sample), pointer)
        except (KeyError, IndexError, TypeError, ValueError):
            raise BrokenLaw(5, f"{pointer!r:.200} leads nowhere") from None
        if not isinstance(there, str):
            raise BrokenLaw(5, f"{pointer!r:.200} leads to something that is not a string")


def _check_pure(codec: Codec, output: Json) -> None:
    before = deepcopy(decoded(output))
    shown = deepcopy(before)
    first = codec(shown)
    first = None if first is None else list(first)
    if (differs := difference(shown, before)) is not None:
        raise BrokenLaw(3, f"it changes its argument: {differs}")
    if first != (again := pointed(codec, output)):
        raise BrokenLaw(3, f"called twice it gives {first!r:.200}, then {again!r:.200}")


def _check_shape(codec: Codec, sample: Json, output: Json) -> None:
    expected, given = pointed(codec, sample), pointed(codec, output)
    if expected != given:
        raise BrokenLaw(7, f"its pointers depend on the texts: {expected!r:.200} became {given!r:.200}")


def _check_codec_failure(codec: Codec, tool: str, output: Json, budget: Budget) -> None:
    """Raising at the first, the second and the last pointer, and at once."""
    count = len(pointed(codec, output) or ())
    for nth in sorted({0, 1, 2, count} & set(range(count + 1))):
        broken = raising_at(codec, nth, lambda: StoreUnavailable("a fault of the test"))
        host = host_with(broken, tool)
        trimmed = host.trim(tool, output, budget=budget, owner=OWNER)
        moved = refs_of(host_with(codec, tool).trim(tool, output, budget=budget, owner=OWNER).row)
        if moved and trimmed.error is None:
            raise BrokenLaw(5, f"the codec raised at pointer {nth}, and t.error does not say so")
        if trimmed.error is not None:
            check_left_whole(host, trimmed, output, f"the codec raised at pointer {nth}")
