"""`PluginContract`: what every plugin keeps, as tests that its own package imports and runs.

from trimtab.testing import PluginContract

class TestPlugin(PluginContract):
    plugin = "jira"
    samples = {"jira_search": [{"issues": [{"key": "A-1", "fields": {"description": "It fails ..."}}]}]}
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from trimtab.host import Host
from trimtab.policy import PluginPolicy, Policy
from trimtab.testing.samples import check_codec
from trimtab.types import Json

__all__ = ["PluginContract"]


class PluginContract:
    """Tests of a plugin; derive from it and override `plugin` and `samples`.

    `plugin`: the name of its entry point, or the plugin object (a module, or an instance).
    `samples`: outputs by tool name, as the tools give them; every codec needs some.
    """

    plugin: ClassVar[Any] = None
    samples: ClassVar[Mapping[str, Sequence[Json]]] = {}

    def load(self) -> Host:
        """A host with the built-in parts and this plugin alone."""
        plugin = inspect.getattr_static(type(self), "plugin")
        assert plugin is not None, f"{type(self).__name__}.plugin must be the plugin under test"
        if isinstance(plugin, str):
            return Host.load("memory:", Policy(plugins=PluginPolicy(only=(plugin,))))
        return Host.load("memory:", plugins=(plugin,), discover=False)

    @pytest.fixture
    def host(self) -> Iterator[Host]:
        """A host with the built-in parts and this plugin alone, closed after the test."""
        with self.load() as host:
            yield host

    def test_it_loads_alone(self, host: Host) -> None:
        """It loads with nothing but the built-in parts, and its hooks give what they must."""
        assert [f"{one.name}: {type(one.cause).__name__}: {one.cause}" for one in host.broken] == []
        assert len(host.plugins) == 2, "it was not found; is its entry point in the group `trimtab`, and installed?"

    def test_it_provides_something(self, host: Host) -> None:
        """At least one hook gives something."""
        assert host.plugins[-1].provides

    def test_it_takes_no_name_that_is_taken(self, host: Host) -> None:
        """Nothing it registers is registered already by the built-in parts."""
        assert [f"{one.what}: {one.used} and {one.unused}" for one in host.conflicts] == []

    def test_it_provides_the_same_each_time(self, host: Host) -> None:
        """Two hosts get the same names in the same order."""
        with self.load() as other:
            assert other.plugins == host.plugins
            assert [one.pattern for one in other.registry.codecs] == [one.pattern for one in host.registry.codecs]

    def test_every_codec_has_samples(self, host: Host) -> None:
        """Each codec is the first choice of a tool that has samples, so that the next test checks it."""
        first = {id(found[0]) for tool in self.samples if (found := host.registry.codecs_for(tool))}
        assert [one.pattern for one in host.registry.codecs if id(one) not in first] == []

    def test_its_codecs_keep_the_laws(self, host: Host) -> None:
        """Every law holds for every codec and sample."""
        for tool, samples in self.samples.items():
            codecs = host.registry.codecs_for(tool)
            assert codecs, f"no codec fits {tool!r}"
            findings = check_codec(codecs[0].codec, list(samples), tool=tool)
            assert [f"{tool}, {one.sample}: {one.claim}: {one.what}" for one in findings if not one.ok] == []
