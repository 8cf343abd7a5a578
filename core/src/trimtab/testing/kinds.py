"""Every kind of codec that core has, each with a host that uses it and a strategy of outputs. Needs Hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from attrs import field, frozen
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from trimtab.codecs import Bulk, codec_for, entities, pointers, text_field
from trimtab.host import Host
from trimtab.policy import Policy, ToolPolicy
from trimtab.testing.samples import host_with
from trimtab.testing.strategies import forged_rows, json_texts, json_values, keys, media_blocks, scalars, texts
from trimtab.types import BlobStore, Codec, Json

__all__ = ["KINDS", "Kind"]


@frozen(kw_only=True)
class Kind:
    """One kind of codec.

    `tool`: the name of the tool. `outputs`: its outputs. `codec`: which is registered for `pattern`; None: core's own
    look-up. `policy`: of the host.
    """

    name: str
    outputs: SearchStrategy[Json] = field(repr=False)
    tool: str = "tool"
    pattern: str = "tool"
    codec: Codec | None = None
    policy: Policy = field(factory=Policy, repr=False)

    def host(self, store: BlobStore | str = "memory:") -> Host:
        """A host that knows this codec and the built-in parts."""
        return host_with(self.codec, self.pattern, store, self.policy)

    @property
    def known(self) -> Codec | None:
        """The codec that is tried first, the policy's included; None: core's own look-up."""
        own = self.policy.for_tool(self.tool)
        return own.declared_codec() if own else self.codec


@frozen
class _Found:
    url: str
    title: str
    content: Annotated[str, Bulk]
    score: float | None = None


def _objects(**members: SearchStrategy[Json]) -> SearchStrategy[dict[str, Json]]:
    """Objects with these members, in any order, and unknown ones among them."""
    extra = st.dictionaries(keys().filter(lambda key: key not in members), scalars(), max_size=2)
    return st.builds(
        lambda known, more, first: {**more, **known} if first else {**known, **more},
        st.fixed_dictionaries(members),
        extra,
        st.booleans(),
    )


_TEXTS: Final = texts() | texts() | json_texts(json_values(longest=2_000, deepest=4))
_FOUND: Final = st.lists(
    _objects(url=st.just("https://example.org/a"), title=st.text(max_size=20), content=_TEXTS), min_size=1, max_size=6
)
_ISSUES: Final = st.builds(
    lambda items, note: {"issues": [{"key": "A-1", "fields": {"description": one}} for one in items], "note": note},
    st.lists(_TEXTS, max_size=5),
    _TEXTS,
)


def _in_block(text: str, more: Mapping[str, Json]) -> Json:
    return {"content": [{"type": "text", "text": text}, *more.get("blocks", ())], "isError": False}


_RESOURCES: Final = texts().map(lambda text: {"type": "resource", "resource": {"uri": "file:///a", "text": text}})
_BLOCKS: Final = st.fixed_dictionaries({"blocks": st.lists(media_blocks() | _RESOURCES, max_size=2)})
_NAMED: Final = st.dictionaries(keys(), _objects(content=_TEXTS), min_size=1, max_size=5)

KINDS: Final = (
    Kind(name="entities", codec=entities("/*/content"), outputs=_FOUND | _NAMED),
    Kind(name="text_field", codec=text_field("/text"), outputs=_objects(text=_TEXTS, path=st.text(max_size=9))),
    Kind(name="pointers", codec=pointers(["/issues/*/fields/description", "/note"]), outputs=_ISSUES),
    Kind(name="typed", codec=codec_for(list[_Found]), outputs=_FOUND),
    Kind(name="policy", policy=Policy(tools={"tool": ToolPolicy(bulk=("/*/content",))}), outputs=_FOUND),
    Kind(name="glob", tool="mcp__web__find", pattern="mcp__*", codec=entities("/*/content"), outputs=_FOUND),
    Kind(name="json leaves", outputs=json_values().filter(lambda value: not isinstance(value, str))),
    Kind(name="forged rows", outputs=forged_rows() | st.lists(forged_rows(), max_size=3)),
    Kind(name="json text", outputs=json_texts()),
    Kind(name="json text, codec", codec=entities("/*/content"), outputs=json_texts(_FOUND)),
    Kind(
        name="json in a string",
        outputs=st.builds(lambda text, note: {"result": text, "note": note}, json_texts(), st.text(max_size=9)),
    ),
    Kind(
        name="only text block",
        codec=entities("/*/content"),
        outputs=st.builds(_in_block, json_texts(_FOUND) | json_texts() | texts(), _BLOCKS),
    ),
    Kind(name="plain text", outputs=texts(longest=60_000)),
)
"""Each kind of look-up: declared, typed, by policy, by glob, JSON leaves, JSON text, JSON inside, plain text."""
