"""Plugins: each is loaded, checked and called alone; one that is broken is data, and everything else works."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest
from attrs import define, frozen

from trimtab import Budget, Host, Policy, hookimpl
from trimtab.discovery import Registry, load
from trimtab.errors import BrokenPlugin, PolicyError
from trimtab.policy import PluginPolicy
from trimtab.types import Codec, Json

LONG = "line of a long page\n" * 90
SMALL = Budget(limit=600, keep=512)

# The beginning of every plugin module below.
IMPORTS = "from trimtab import hookimpl\n"
GOOD = "@hookimpl\ndef trimtab_codecs():\n    return [('good_tool', lambda output: None)]\n"

# Modules that are broken, and what the report of each says.
BROKEN: dict[str, tuple[str, str]] = {
    "import_error": ("import nowhere_to_be_found\n", "nowhere_to_be_found"),
    "syntax_error": ("def x(:\n", "invalid syntax"),
    "exit_at_import": ("import sys\nsys.exit('bye')\n", "bye"),
    "raises_at_import": ("raise RuntimeError('at import')\n", "at import"),
    "hook_raises": ("@hookimpl\ndef trimtab_codecs():\n    raise ValueError('in the hook')\n", "in the hook"),
    "hook_exits": ("@hookimpl\ndef trimtab_codecs():\n    raise SystemExit(3)\n", "3"),
    "half_way": (
        "@hookimpl\ndef trimtab_codecs():\n    yield 'half', lambda o: None\n    raise OSError('half way')\n",
        "half way",
    ),
    "second_hook_raises": (
        GOOD + "@hookimpl\ndef trimtab_token_counters():\n    raise KeyError('second')\n",
        "second",
    ),
    "misspelt": ("@hookimpl\ndef trimtab_codec():\n    return []\n", "did you mean trimtab_codecs?"),
    "unknown_hook": ("@hookimpl\ndef pytest_configure():\n    pass\n", "hooks: trimtab_blob_stores"),
    "not_marked": ("def trimtab_codecs():\n    return []\n", "is not marked"),
    "wrong_marker": (
        "import pluggy\n@pluggy.HookimplMarker('other')\ndef trimtab_codecs():\n    return []\n",
        "is not marked",
    ),
    "unknown_argument": ("@hookimpl\ndef trimtab_codecs(config):\n    return []\n", "config"),
    "nothing_returned": ("@hookimpl\ndef trimtab_codecs():\n    pass\n", "must give a list"),
    "no_pairs": ("@hookimpl\ndef trimtab_codecs():\n    return ['tool']\n", "pairs"),
    "codec_is_no_function": ("@hookimpl\ndef trimtab_codecs():\n    return [('tool', '/content')]\n", "pairs"),
    "pattern_is_no_text": ("@hookimpl\ndef trimtab_codecs():\n    return [(None, len)]\n", "pairs"),
    "a_mapping_of_codecs": ("@hookimpl\ndef trimtab_codecs():\n    return {'tool': len}\n", "pairs"),
    "counters_as_a_list": ("@hookimpl\ndef trimtab_token_counters():\n    return [len]\n", "mapping"),
    "store_is_no_factory": ("@hookimpl\ndef trimtab_blob_stores():\n    return {'redis': 'x'}\n", "mapping"),
    "scheme_is_no_text": ("@hookimpl\ndef trimtab_blob_stores():\n    return {1: len}\n", "mapping"),
    "protocol_without_a_name": ("@hookimpl\ndef trimtab_wire_protocols():\n    return [object()]\n", "a `name`"),
    "commands_are_none": ("@hookimpl\ndef trimtab_commands():\n    return None\n", "mapping"),
    "repr_raises": (
        (
            "class Odd:\n    def __repr__(self):\n        raise RuntimeError('no repr')\n\n"
            "@hookimpl\ndef trimtab_codecs():\n    return [Odd()]\n"
        ),
        "no repr",
    ),
    "a_wrapper": ("@hookimpl(wrapper=True)\ndef trimtab_summarizers():\n    return (yield)\n", "mapping"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def installed(folder: Path, **modules: str) -> list[EntryPoint]:
    """Entry points of modules with these sources; imported under names that no other test has."""
    points = []
    for name, source in modules.items():
        unique = f"{name}_{abs(hash(str(folder)))}"
        (folder / f"{unique}.py").write_text(IMPORTS + source)
        points.append(EntryPoint(name=name, value=unique, group="trimtab"))
    return points


def names(registry: Registry) -> list[str]:
    """Names of what loaded, without the built-in parts."""
    return [one.name for one in registry.plugins][1:]


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("first", ["a_good_one", "z_good_one"])
def test_a_broken_plugin_is_data(folder: Path, name: str, first: str) -> None:
    """Whatever is wrong with one, it is reported with its cause, nothing of it is used, and the good one is."""
    source, says = BROKEN[name]
    registry = load(PluginPolicy(), found=installed(folder, **{name: source, first: GOOD}))
    (broken,) = registry.broken
    assert broken.name == name
    assert says in f"{type(broken.cause).__name__} {broken.cause}"
    assert names(registry) == [first]
    assert [one.pattern for one in registry.codecs] == ["good_tool"]
    assert set(registry.token_counters) >= {"estimate"}
    assert registry.conflicts == []


def test_all_broken_at_once_break_nothing_else(folder: Path) -> None:
    """All of them together: each is reported, and a host loads and trims."""
    points = installed(folder, good=GOOD, **{name: source for name, (source, _) in BROKEN.items()})
    registry = load(PluginPolicy(), found=points)
    assert [one.name for one in registry.broken] == sorted(BROKEN)
    assert names(registry) == ["good"]
    with Host(Host.load(discover=False).store, Policy(), registry) as host:
        assert host.trim("any", LONG, budget=SMALL).changed
        assert len(host.broken) == len(BROKEN)


@pytest.mark.parametrize("value", ["", "gone.module", "json:gone", "a:b:c", "json:loads.gone"])
def test_an_entry_point_that_leads_nowhere_is_reported(value: str) -> None:
    """A value that names nothing that can be imported is that plugin's fault alone."""
    registry = load(PluginPolicy(), found=[EntryPoint("x", value, "trimtab")])
    assert [one.name for one in registry.broken] == ["x"]


def test_the_order_is_that_of_the_names(folder: Path) -> None:
    """Plugins load in the order of their names, however they were found."""
    source = "@hookimpl\ndef trimtab_codecs():\n    return [(__name__[:1], len)]\n"
    points = installed(folder, c=source, a=source, B=source)
    for order in (points, points[::-1]):
        registry = load(PluginPolicy(), found=order)
        assert names(registry) == ["B", "a", "c"]
        assert [one.pattern for one in registry.codecs] == ["B", "a", "c"]


@pytest.mark.parametrize("name", ["twice", "trimtab"])
def test_a_name_that_is_taken_is_reported(folder: Path, name: str) -> None:
    """A second entry point of one name (the built-in parts' too) is reported; the first stays."""
    points = installed(folder, one=GOOD, two=GOOD)
    same = [EntryPoint(name, one.value, "trimtab") for one in points]
    registry = load(PluginPolicy(), found=same)
    assert len(registry.broken) == (1 if name == "twice" else 2)
    assert all("same entry-point name" in str(one.cause) for one in registry.broken)
    assert [one.name for one in registry.plugins].count(name) == 1


def test_the_policy_says_what_loads(folder: Path) -> None:
    """`only` and `block` name entry points; what is not wanted is never imported."""
    points = installed(folder, good=GOOD, other="raise SystemExit('imported')\n")
    assert names(load(PluginPolicy(block=("other",)), found=points)) == ["good"]
    assert load(PluginPolicy(only=("good",)), found=points).broken == []
    assert names(load(PluginPolicy(only=()), found=points)) == []
    assert names(load(PluginPolicy(only=("other", "good"), block=("good",)), found=points)) == []


# Plugin objects of the application's own


@define
class Unhashable:
    """An object that compares by value and has no hash."""

    tool: str = "x"

    @hookimpl
    def trimtab_codecs(self) -> list[tuple[str, Codec]]:
        """One codec."""
        return [(self.tool, entities_of)]


@frozen
class Equal:
    """An object that equals others of its kind."""

    tool: str

    @hookimpl
    def trimtab_codecs(self) -> list[tuple[str, Codec]]:
        """One codec."""
        return [(self.tool, entities_of)]


class EqualToAll(Equal):
    """An object that claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def entities_of(output: Json) -> list[str] | None:
    """A codec for a list of objects with a text."""
    if not isinstance(output, list) or not all(isinstance(one, dict) and "text" in one for one in output):
        return None
    return [f"/{n}/text" for n in range(len(output))]


def test_objects_that_equal_each_other_do_not_meet() -> None:
    """Each plugin is registered alone: equal ones, and one that equals everything, keep none of the others out."""
    registry = load(None, discover=False, extra=[EqualToAll("a"), Equal("b"), Equal("b"), EqualToAll("c"), Equal("d")])
    assert registry.broken == []
    assert [one.pattern for one in registry.codecs] == ["a", "b", "b", "c", "d"]
    assert len({one.name for one in registry.plugins}) == 6
    assert [one.what for one in registry.conflicts] == ["codec 'b'"]


def test_an_object_without_a_hash_is_reported() -> None:
    """An attrs `@define` object has no hash: it is reported, the next one loads."""
    registry = load(None, discover=False, extra=[Unhashable(), Equal("ok")])
    assert [str(one.cause) for one in registry.broken] == ["unhashable type: 'Unhashable'"]
    assert [one.pattern for one in registry.codecs] == ["ok"]


def test_a_class_is_made_into_an_object() -> None:
    """A plugin may be a class that needs no arguments; one that needs some is reported."""

    class Plain:
        @hookimpl
        def trimtab_codecs(self) -> Iterator[tuple[str, Codec]]:
            yield "plain", entities_of

    registry = load(None, discover=False, extra=[Plain, Equal])
    assert [one.pattern for one in registry.codecs] == ["plain"]
    assert "missing 1 required positional argument" in str(registry.broken[0].cause)


def test_an_optional_hook_of_a_later_version_is_let_be() -> None:
    """A hook that is not known but marked optional is no mistake."""

    class Later:
        @hookimpl(optionalhook=True)
        def trimtab_later(self) -> None:
            raise AssertionError("never called")

    assert load(None, discover=False, extra=[Later()]).broken == []


# Two that want the same


class Hooks(SimpleNamespace):
    """A namespace that can be registered, since it has a hash."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def plugin(name: str, **provided: Any) -> object:
    """A plugin object with a name and these hooks, each giving a fixed value."""

    def hook(value: Any) -> Any:
        return lambda: value

    return Hooks(__name__=name, **{key: hookimpl(hook(value)) for key, value in provided.items()})


def test_two_codecs_for_one_tool_are_reported_and_chosen() -> None:
    """The first by name is used and the clash reported; the policy chooses the other."""
    first, second = (lambda output: ["/0/a"]), (lambda output: ["/0/b"])
    extra = [plugin("one", trimtab_codecs=[("t", first)]), plugin("two", trimtab_codecs=[("t", second)])]
    output = [{"a": LONG, "b": LONG}]
    for chosen, moved in ((None, "a"), ("two", "b"), ("one", "a")):
        policy = Policy(tools={} if chosen is None else {"t": {"codec": chosen}})
        with Host.load(policy=policy, plugins=extra, discover=False) as host:
            (conflict,) = host.conflicts
            assert (conflict.what, conflict.used, conflict.unused) == ("codec 't'", "one", "two")
            shown = host.trim("t", output, budget=Budget(limit=3_000, keep=2_500)).value
            assert [key for key in "ab" if shown[0][key] != LONG] == [moved]
    with Host.load(policy=Policy(tools={"t": {"codec": "three"}}), plugins=extra, discover=False) as host:
        trimmed = host.trim("t", output, budget=SMALL)
        assert isinstance(trimmed.error, PolicyError)
        assert trimmed.value is output


@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        ("trimtab_summarizers", "summarizers"),
        ("trimtab_blob_stores", "blob_stores"),
        ("trimtab_token_counters", "token_counters"),
        ("trimtab_commands", "commands"),
    ],
)
def test_a_name_registered_twice_is_the_first_ones(hook: str, kind: str) -> None:
    """Of two factories of one name, built-in parts included, the first is used and the second reported."""
    taken = {"blob_stores": "memory", "token_counters": "estimate"}.get(kind, "new")
    extra = [plugin("one", **{hook: {"new": len, taken: len}}), plugin("two", **{hook: {"new": repr}})]
    registry = load(None, discover=False, extra=extra)
    assert getattr(registry, kind)["new"] is len
    assert {one.unused for one in registry.conflicts} == ({"one", "two"} if taken != "new" else {"two"})
    with Host.load(plugins=extra, discover=False) as host:
        assert host.trim("x", LONG, budget=SMALL).changed


def test_exact_names_come_before_globs() -> None:
    """The tool's own name is asked first, then globs, the longest first; None falls through to the next."""
    asked: list[str] = []

    def noting(name: str) -> Codec:
        return lambda output: asked.append(name)

    pairs = [("*", noting("all")), ("t*", noting("t*")), ("tool", noting("exact")), ("other", noting("other"))]
    with Host.load(plugins=[plugin("p", trimtab_codecs=pairs)], discover=False) as host:
        assert host.trim("tool", LONG * 20, budget=SMALL).changed
    assert asked == ["exact", "t*", "all"]


# What is installed


def dist(site: Path, name: str, entry_points: str, metadata: str | None = None) -> None:
    """A distribution in a folder of its own."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points))
    if metadata is not None:
        (info / "METADATA").write_text(metadata)


def test_one_malformed_distribution_spoils_no_other(folder: Path) -> None:
    """Entry points that cannot be read, and missing metadata, are that distribution's fault alone."""
    (folder / "good_installed.py").write_text(IMPORTS + GOOD)
    dist(folder, "good", "[trimtab]\ngood = good_installed\n", "Metadata-Version: 2.1\nName: good\nVersion: 1.0\n")
    dist(folder, "nameless", "[trimtab]\nnameless = nowhere_at_all\n")
    assert "good" in names(load(PluginPolicy(only=("good", "nameless"))))
    dist(folder, "malformed", "[trimtab]\nno equals sign\n", "Metadata-Version: 2.1\nName: malformed\nVersion: 1.0\n")
    dist(folder, "foreign", "[console_scripts]\nno equals sign\n")
    registry = load(PluginPolicy(only=("good", "nameless")))
    assert names(registry) == ["good"]
    assert {(one.name, one.distribution, one.version) for one in registry.broken} == {
        ("?", "malformed", "1.0"),
        ("nameless", "?", "?"),
    }
    assert any(isinstance(one.cause, BrokenPlugin) and "cannot be read" in str(one.cause) for one in registry.broken)


def test_nothing_loads_at_import_and_hosts_share_nothing() -> None:
    """Each host has its own registry; what one loads the other has not got."""
    with Host.load(plugins=[Equal("mine")], discover=False) as one, Host.load(discover=False) as other:
        assert [codec.pattern for codec in one.registry.codecs] == ["mine"]
        assert other.registry.codecs == []
        assert isinstance(hookimpl, pluggy.HookimplMarker)


@pytest.mark.parametrize("error", [RuntimeError("no name"), SystemExit(3), AttributeError("x")])
def test_a_plugin_that_cannot_say_its_name_is_no_danger(error: BaseException) -> None:
    """Whatever its `__name__` raises: it is called by its class, and loads or is reported as any other."""

    class Nameless:
        """A plugin without a name."""

        @property
        def __name__(self) -> str:
            raise error

        @hookimpl
        def trimtab_codecs(self) -> list[Any]:
            """No codecs."""
            return []

    registry = load(discover=False, extra=[Nameless(), Nameless()])
    loaded = [one.name for one in registry.plugins] + [one.name for one in registry.broken]
    assert loaded == ["trimtab", "Nameless", "Nameless-1"]
