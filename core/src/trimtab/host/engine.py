"""What one host knows, fixed at load: policy, codecs, counters, and which outputs went out whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from attrs import define, field

from trimtab._json import blob_id
from trimtab.budget import Budget
from trimtab.discovery import NamedCodec, Registry
from trimtab.errors import CallerError, LeftWhole, PluginError, PolicyError, TrimtabError
from trimtab.policy import Policy
from trimtab.tokens import Checked
from trimtab.trim import prompt_text
from trimtab.types import Codec, Everything, Json, Owner, TokenCounter

__all__ = ["DEFAULT_OWNER", "Engine", "check_budget", "counter_named", "fingerprint", "holder"]

DEFAULT_OWNER = "default"

# Tool names come from outside: a flood of them must not fill the memory.
_MOST_BUDGETS = 1_000

# Results of requests whose share of a batch is remembered; the oldest are forgotten first.
_MOST_SHARES = 100_000


def holder(owner: Owner | None) -> str:
    """The owner to hold blobs for. Raises CallerError for `ALL`, which holds nothing, and for an empty one."""
    if owner is None:
        return DEFAULT_OWNER
    if isinstance(owner, Everything):
        raise CallerError("ALL is for reading: name the conversation or message that holds the texts, as owner=...")
    if not isinstance(owner, str) or not owner:
        raise CallerError(f"owner must be a non-empty string, not {owner!r:.80}")
    return owner


def check_budget(budget: object) -> None:
    """Raises CallerError for anything but a `Budget`, or None for the policy's."""
    if budget is not None and not isinstance(budget, Budget):
        raise CallerError(f"budget must be a Budget, as in Budget(limit=8_000, keep=4_000), not {budget!r:.80}")


def fingerprint(tool: str, output: Json) -> str:
    """Tells outputs of tools apart: what went whole, what was sent with which share."""
    return blob_id(f"{tool}\0{prompt_text(output)}")


@define
class Engine:
    """Policy, registered parts, token counters made so far, and the outputs that must stay whole."""

    policy: Policy
    registry: Registry
    _counters: dict[str, TokenCounter] = field(factory=dict)
    _budgets: dict[str | None, Budget] = field(factory=dict)
    _whole: dict[str, str] = field(factory=dict)
    _shares: dict[str, int | None] = field(factory=dict)
    _lock: Lock = field(factory=Lock, repr=False)

    def budget(self, tool: str | None = None) -> Budget:
        """The policy's budget of a tool; None: of any."""
        found = self._budgets.get(tool)
        if found is None:
            found = self.policy.budget(tool)
            if len(self._budgets) < _MOST_BUDGETS:
                self._budgets[tool] = found
        return found

    def counter(self, budget: Budget) -> TokenCounter:
        """The counter of a budget, made when first needed. Raises as `counter_named`."""
        wanted = budget.counter if budget.counter is not None else self.policy.counter
        if not isinstance(wanted, str):
            return Checked(wanted)
        with self._lock:
            if wanted not in self._counters:
                self._counters[wanted] = counter_named(wanted, self.registry.token_counters)
            return self._counters[wanted]

    def codecs(self, tool: str) -> list[tuple[str, Codec]]:
        """Codecs of a tool in the order they are tried, each with a name for reports: the policy's, then plugins'."""
        own = self.policy.for_tool(tool)
        registered = self.registry.codecs_for(tool)
        if own is None:
            return [_named(one) for one in registered]
        if (declared := own.declared_codec()) is not None:
            return [("policy", declared), *(_named(one) for one in registered)]
        if own.codec is not None:
            registered = sorted(registered, key=lambda one: one.plugin != own.codec)
            if not registered or registered[0].plugin != own.codec:
                raise PolicyError(
                    f"tools: codec {own.codec!r} is neither `module:name` nor a plugin with a codec for it"
                )
        return [_named(one) for one in registered]

    def stay_whole(self, owner: str, tool: str, output: Json, error: Exception) -> None:
        """Remember that this output went out whole, and why: it must, from now on, in every request of its owner's."""
        with self._lock:
            # Its words only: an exception would keep the output, and whatever its frames hold, in memory.
            self._whole.setdefault(fingerprint(f"{owner}\0{tool}", output), f"{type(error).__name__}: {error}")

    def why_whole(self, owner: str, tool: str, output: Json) -> Exception | None:
        """What failed when this output went out whole before; None: it did not."""
        words = self._whole.get(fingerprint(f"{owner}\0{tool}", output)) if self._whole else None
        return None if words is None else LeftWhole(f"it went out whole before: {words:.500}")

    def was_sent(self, key: str) -> bool:
        """Whether a request with this result was trimmed before."""
        return key in self._shares

    def first_share(self, key: str) -> int | None:
        """The share of its batch that a result was first sent with; None: its own budget."""
        return self._shares.get(key)

    def sent(self, key: str, share: int | None) -> None:
        """Remember the share that a result is sent with: it keeps it in every later request, whatever stands beside."""
        with self._lock:
            self._shares.setdefault(key, share)
            while len(self._shares) > _MOST_SHARES:
                del self._shares[next(iter(self._shares))]

    def describe(self, budget: Budget) -> Mapping[str, Json]:
        """A budget as data."""
        counter = self.counter(budget) if budget.unit == "tokens" else None
        return {
            "limit": budget.limit,
            "keep": budget.keep,
            "unit": budget.unit,
            "batch": budget.batch,
            "cap": budget.cap,
            "counter": None if counter is None else f"{counter.name} {counter.version}",
        }


def counter_named(name: str, factories: Mapping[str, Callable[[], TokenCounter]]) -> TokenCounter:
    """A new token counter, held to what a counter must give.

    Raises:
        PolicyError: nothing registers its name.
        PluginError: its factory raised, or gave no counter.
    """
    if name not in factories:
        raise PolicyError(f"unknown token counter {name!r:.80}; known: {', '.join(sorted(factories))}")
    try:
        made = factories[name]()
    except TrimtabError:  # an extra that is not installed says so itself
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"token counter {name!r}: its factory raised {type(error).__name__}: {error!s:.200}"
        ) from error
    if not isinstance(made, TokenCounter):
        raise PluginError(f"token counter {name!r}: its factory gave {type(made).__name__}, which is no token counter")
    return Checked(made)


def _named(one: NamedCodec) -> tuple[str, Codec]:
    return f"{one.plugin}: {one.pattern}", one.codec
