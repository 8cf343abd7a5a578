"""Policies: what they say, and that a wrong one is never half taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from trimtab import Budget, Host, Policy
from trimtab.errors import BadBudget, PolicyError
from trimtab.policy import McpPolicy, MetaTool, PluginPolicy, ToolPolicy

# Every key with a value other than its default, as somebody would write it.
EVERYTHING = """
limit = 8_000
keep = 5_000
unit = "tokens"
counter = "estimate"
batch = 40_000
cap = 2_000
store = "sqlite:///texts.db"
read_tool = "open_text"
search_tool = ""
read_aliases = ["mcp__files__open_text"]
without_read_back = "trim"
unsupported = "whole"
summarizer = "mine"

[summarizers.mine]
model = "small-1"

[tools.jira_search]
limit = 9_000
keep = 600
cap = 300
bulk = ["/issues/*/fields/description", "/note"]
focus = "/jql"

[tools."mcp__*"]
codec = "trimtab.codecs:text_field"
exempt = true

[meta.tool_invoke]
name = "/name"
arguments = "/params"

[plugins]
only = ["web", "fs"]
block = ["kb"]

[mcp]
tools = ["search_*"]
defer = ["rare_*"]
"""


def write(folder: Path, text: str, name: str = "trimtab.toml") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    """Each documented key arrives where it belongs, and none is left out here."""
    policy = Policy.load(write(tmp_path, EVERYTHING))
    plain = Policy()
    same = [one.name for one in attrs.fields(Policy) if getattr(policy, one.name) == getattr(plain, one.name)]
    assert same == ["counter"]
    tool = policy.tools["jira_search"]
    assert tool == ToolPolicy(
        limit=9_000, keep=600, cap=300, bulk=("/issues/*/fields/description", "/note"), focus="/jql"
    )
    assert policy.summarizers == {"mine": {"model": "small-1"}}
    assert policy.tools["mcp__*"].exempt
    assert policy.meta == {"tool_invoke": MetaTool(name="/name", arguments="/params")}
    assert policy.plugins == PluginPolicy(only=("web", "fs"), block=("kb",))
    assert policy.mcp == McpPolicy(tools=("search_*",), defer=("rare_*",))
    assert policy.budget("jira_search") == Budget(
        unit="tokens", limit=9_000, keep=600, batch=40_000, cap=300, counter="estimate"
    )


def test_it_may_stand_in_pyproject(tmp_path: Path) -> None:
    """In `pyproject.toml` it is `[tool.trimtab]`; without that table everything is the default."""
    table = "[project]\nname = 'x'\n\n[tool.trimtab]\nlimit = 9_000\n[tool.trimtab.tools.run]\ncap = 400\n"
    policy = Policy.load(write(tmp_path, table, "pyproject.toml"))
    assert policy.limit == 9_000
    assert policy.tools["run"].cap == 400
    assert Policy.load(write(tmp_path, "[project]\nname = 'x'\n", "pyproject.toml")) == Policy()
    assert Policy.load(write(tmp_path, "[tool.trimtab]\nlimit = 9_000\n")).limit == 9_000
    assert Policy.load(str(write(tmp_path, ""))) == Policy()


# Text of a policy, and what its error says beside the file's name.
WRONG: dict[str, tuple[str, str]] = {
    "no toml": ("limit = ", "cannot read the policy"),
    "twice": ("limit = 1000\nlimit = 2000", "cannot read the policy"),
    "unknown key": ("limits = 5", "unknown key 'limits'; did you mean 'limit'?"),
    "unknown key, nothing near": ("zzz = 5", "unknown key 'zzz'; known keys: limit, keep"),
    "unknown key of a tool": ("[tools.run]\nexmpt = true", "tools.run: unknown key 'exmpt'; did you mean 'exempt'?"),
    "unknown key of a meta-tool": (
        "[meta.call]\nname = '/n'\nargument = '/a'",
        "meta.call: unknown key 'argument'; did you mean 'arguments'?",
    ),
    "unknown key of plugins": ("[plugins]\nblocked = []", "plugins: unknown key 'blocked'; did you mean 'block'?"),
    "unknown key of mcp": ("[mcp]\ntool = []", "mcp: unknown key 'tool'; did you mean 'tools'?"),
    "unknown table": ("[tool_policies.run]\ncap = 400", "unknown key 'tool_policies'"),
    "limit is text": ("limit = '9000'", "limit must be a whole number, not '9000'"),
    "limit is true": ("limit = true", "limit must be a whole number, not True"),
    "limit has a fraction": ("limit = 9000.5", "limit must be a whole number, not 9000.5"),
    "unit": ("unit = 'words'", "unit must be one of 'chars', 'tokens', not 'words'"),
    "unsupported": ("unsupported = 'ignore'", "unsupported must be one of 'error', 'whole'"),
    "without_read_back": ("without_read_back = true", "without_read_back must be one of 'whole', 'trim'"),
    "read_tool": ("read_tool = 'read a file'", "read_tool must be a tool name"),
    "read_tool is too long": (f"read_tool = '{'x' * 65}'", "read_tool must be a tool name"),
    "search_tool": ("search_tool = 3", "search_tool must be a tool name"),
    "aliases are text": ("read_aliases = 'fs'", "read_aliases must be a list of strings, not 'fs'"),
    "aliases are numbers": ("read_aliases = [1]", "read_aliases must be a list of strings"),
    "store": ("store = 5", "store must be a string, not 5"),
    "tools are a list": ("tools = []", "tools: expected tables, not []"),
    "a tool is text": ("[tools]\nrun = 'whole'", "tools.run: expected a table, not 'whole'"),
    "summarizers are a list": ("summarizers = []", "summarizers: expected tables, not []"),
    "a summarizer's options are text": (
        "[summarizers]\nmine = 'x'",
        "summarizers.mine: expected a table of its options",
    ),
    "exempt": ("[tools.run]\nexempt = 1", "tools.run: exempt must be true or false, not 1"),
    "bulk is text": ("[tools.run]\nbulk = '/a'", "tools.run: bulk must be a list of strings, not '/a'"),
    "bulk is empty": ("[tools.run]\nbulk = []", "tools.run: bulk:"),
    "bulk is no pointer": ("[tools.run]\nbulk = ['issues/*']", "tools.run: bulk: 'issues/*' is not a JSON Pointer"),
    "bulk has a bad escape": ("[tools.run]\nbulk = ['/a~2']", "tools.run: bulk: '/a~2' is not a JSON Pointer"),
    "focus is no pointer": ("[tools.run]\nfocus = 'query'", "tools.run: focus: 'query' is not a JSON Pointer"),
    "meta name is no pointer": ("[meta.m]\nname = 'n'\narguments = '/a'", "meta.m: name: 'n' is not a JSON Pointer"),
    "meta without arguments": ("[meta.m]\nname = '/n'", "meta.m: the key 'arguments' is missing"),
    "codec cannot be imported": ("[tools.run]\ncodec = 'nowhere:x'", "tools.run: codec 'nowhere:x' cannot be imported"),
    "codec is not there": ("[tools.run]\ncodec = 'json:gone'", "tools.run: codec 'json:gone' cannot be imported"),
    "codec is no function": ("[tools.run]\ncodec = 'sys:path'", "tools.run: codec 'sys:path' is not callable"),
    "plugins are a list": ("plugins = ['web']", "plugins: expected a table, not ['web']"),
    "plugins.only": ("[plugins]\nonly = 'web'", "plugins: only must be a list of strings, not 'web'"),
    "limit is too small": ("limit = 100", "limit must be at least 512 chars, not 100"),
    "keep is above limit": ("limit = 5_000\nkeep = 6_000", "keep (6000) is above limit (5000)"),
    "keep is above the usual limit": ("keep = 30_000", "keep (30000) is above limit (20000)"),
    "keep is too small": ("keep = 9", "keep must lie between 512"),
    "batch is too small": ("batch = 9", "batch must be at least 512"),
    "cap is too small": ("cap = 9", "cap must be at least 256"),
    "a tool's keep is above its limit": ("[tools.run]\nlimit = 800\nkeep = 900", "tools.run: keep must lie between"),
    "a tool's limit is too small": ("[tools.run]\nlimit = 80", "tools.run: limit must be at least 512"),
    "a tool's cap is too small": ("[tools.run]\ncap = 1", "tools.run: cap must be at least 256"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("file", ["trimtab.toml", "pyproject.toml"])
def test_a_wrong_policy_says_what_is_right(tmp_path: Path, name: str, file: str) -> None:
    """Each fault is an error with the file, the table, the key and what may stand there; nothing is half taken."""
    text, says = WRONG[name]
    if file == "pyproject.toml":
        lines = [line.replace("[", "[tool.trimtab.", 1) if line.startswith("[") else line for line in text.split("\n")]
        text = "[tool.trimtab]\n" + "\n".join(lines)
    path = write(tmp_path, text, file)
    with pytest.raises(PolicyError) as caught:
        Policy.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"limit = 9000 \x00", "folder"])
def test_an_unreadable_policy_says_so(tmp_path: Path, content: Any) -> None:
    """A file that is missing, a folder, or no UTF-8 is an error that names it."""
    path = tmp_path / "policy.toml"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match="cannot read the policy") as caught:
        Policy.load(path)
    assert str(path) in str(caught.value)
    assert caught.value.__cause__ is not None


def test_made_in_code_it_is_checked_alike() -> None:
    """Values given in code have the same checks, and all faults are policy errors; a budget's own are a budget's."""
    for wrong in ({"limit": 100}, {"keep": 30_000}, {"unit": "words"}, {"read_aliases": "x"}, {"tools": {"a": 3}}):
        with pytest.raises(PolicyError):
            Policy(**wrong)
    with pytest.raises(PolicyError, match="did you mean 'limit'"):
        Policy.from_mapping({"limitt": 5})
    with pytest.raises(PolicyError, match="expected a table"):
        Policy.from_mapping([])  # type: ignore[arg-type]
    with pytest.raises(BadBudget):
        Budget(limit=100)
    assert Policy(tools={"a": ToolPolicy(cap=300)}) == Policy(tools={"a": {"cap": 300}})


@pytest.mark.parametrize(
    ("tables", "tool", "limit"),
    [
        ({"jira_search": 1_000, "jira_*": 2_000}, "jira_search", 2_000),
        ({"jira_*": 2_000, "jira_search": 1_000}, "jira_search", 1_000),
        ({"jira_*": 2_000, "jira_search": 1_000}, "jira_get", 2_000),
        ({"JIRA_*": 2_000}, "jira_get", 20_000),
        ({"*": 3_000}, "", 3_000),
        ({"a[bc]?": 3_000}, "abx", 3_000),
        ({"a[bc]?": 3_000}, "a[bc]?", 3_000),
        ({"jira": 3_000}, "jira_get", 20_000),
    ],
)
def test_the_later_table_that_fits_wins(tables: dict[str, int], tool: str, limit: int) -> None:
    """A table is for an exact name or a glob, case and all; of several that fit the last one decides, whole."""
    policy = Policy(tools={name: {"limit": number} for name, number in tables.items()})
    assert policy.budget(tool).limit == limit


def test_the_winning_table_wins_whole() -> None:
    """What the later table leaves out is the policy's, not the earlier table's."""
    policy = Policy(tools={"run": {"limit": 900, "cap": 300, "exempt": True}, "r*": {"keep": 600}})
    assert policy.budget("run") == policy.budget("rx")
    assert not policy.is_read_tool("run")
    assert (policy.budget("run").limit, policy.budget("run").keep, policy.budget("run").cap) == (20_000, 600, None)


@pytest.mark.parametrize(
    ("own", "limit", "keep"),
    [({"limit": 2_000}, 2_000, 2_000), ({"keep": 600}, 20_000, 600), ({"keep": 90_000}, 90_000, 90_000)],
)
def test_one_number_of_a_tool_brings_the_other_with_it(own: dict[str, int], limit: int, keep: int) -> None:
    """A tool's `limit` under the policy's `keep` lowers `keep`; its `keep` over the policy's `limit` raises `limit`."""
    budget = Policy(tools={"run": own}).budget("run")
    assert (budget.limit, budget.keep) == (limit, keep)


def test_a_meta_tool_is_looked_through() -> None:
    """Codec, budget and focus are the inner call's; without an inner name it is a tool like any other."""
    policy = Policy(
        meta={"invoke": {"name": "/tool/name", "arguments": "/params"}},
        tools={"inner": {"bulk": ["/keep"], "limit": 600, "keep": 512, "focus": "/ask"}},
    )
    call = {"tool": {"name": "inner"}, "params": {"ask": "tides"}}
    assert policy.inner_call("invoke", call) == ("inner", {"ask": "tides"})
    assert policy.focus_of("inner", {"ask": "tides"}) == "tides"
    odd: Any
    for odd in (None, [], {}, {"tool": {"name": ""}}, {"tool": {"name": 3}}, {"tool": "inner"}, "text"):
        assert policy.inner_call("invoke", odd) == ("invoke", odd)
    with Host.load(policy=policy, discover=False) as host:
        output = {"keep": "tide table of the harbour\n" * 90, "other": "x " * 200}
        trimmed = host.trim("invoke", output, arguments=call)
        assert trimmed.value["other"] == output["other"]
        assert "<omitted" in trimmed.value["keep"]
        assert trimmed.tool == "invoke"
        assert host.trim("invoke", output).value is output


def test_an_exempt_tool_is_like_a_read_tool() -> None:
    """Whole in prompts, slim in rows, and outside a batch's budget."""
    output = {"text": "tide table of the harbour\n" * 900}
    with Host.load(policy=Policy(tools={"show_*": {"exempt": True}}), discover=False) as host:
        trimmed = host.trim("show_table", output)
        assert trimmed.value is output
        assert len(trimmed.row_text) < 400
        assert host.render(trimmed.row) == output
