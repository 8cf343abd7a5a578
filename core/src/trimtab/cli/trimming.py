"""`trimtab trim`: outputs in, renderings out; what was done is told on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from attrs import define, field, frozen
from cyclopts import Parameter

from trimtab._json import canonical
from trimtab.budget import Budget
from trimtab.cli.inputs import Form, Outputs, argument, read_outputs
from trimtab.cli.options import Count, File, Flat, Name, Places
from trimtab.cli.places import find_policy, open_host
from trimtab.cli.requests import request_protocol
from trimtab.cli.screen import counted, percent, progress, saying
from trimtab.cli.streams import emit
from trimtab.envelope import BlobRef
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.host import Host
from trimtab.host.requests import TrimmedRequest
from trimtab.marker import MIN_MOVED, uri
from trimtab.policy import Policy
from trimtab.trimmed import Trimmed
from trimtab.types import Call, Json

__all__ = ["trim"]

# The tool's name where none is given.
_ANY = "output"

# Moved texts, or outputs with an error, that a report names one by one.
_NAMED = 10


@frozen(kw_only=True)
class _About:
    """Options that are about one output.

    Args:
        tool: The tool's name, which decides on codec and budget. Default: output.
        focus: What the excerpts should answer; "" for nothing. Default: taken from the arguments.
        arguments: The call's arguments, as JSON.
        row: Print the row for the database instead of the rendering.
    """

    tool: Annotated[str, Parameter(metavar="NAME")] = _ANY
    focus: Annotated[str | None, Parameter(metavar="TEXT")] = None
    arguments: Annotated[str | None, Parameter(metavar="JSON")] = None
    row: bool = False

    def call(self) -> Call:
        """The call that gave the output. Raises CallerError."""
        return Call(self.tool, None, arguments=argument(self.arguments, "--arguments"), focus=self.focus)


@frozen(kw_only=True)
class _Read:
    """Options that say how the input is read.

    Args:
        as_: What the input is.
        protocol: The wire protocol of a request, such as anthropic. Default: the one that it looks like.
    """

    as_: Annotated[Literal[Form, "request"], Parameter(name="--as")] = "auto"
    protocol: Name = None

    @property
    def is_request(self) -> bool:
        """Whether the input is said to be a provider's request."""
        return self.as_ == "request" or self.protocol is not None

    @property
    def form(self) -> Form:
        """What a file is read as: a request is one JSON value."""
        return "json" if self.as_ == "request" or self.protocol is not None else self.as_


@frozen(kw_only=True)
class _Sizes:
    """Options that change the policy's budget.

    Args:
        limit: An output up to this size is left alone. Default: the policy's, else 20,000.
        keep: A larger one is trimmed to this. Default: the policy's, else 12,000; never above the limit.
        unit: What the sizes count. Default: the policy's, else chars.
    """

    limit: Count = None
    keep: Count = None
    unit: Literal["chars", "tokens"] | None = None

    def budget(self, policy: Policy, call: Call) -> Budget:
        """The policy's for the tool with what is given here; one of limit and keep brings the other along."""
        own = policy.budget(policy.inner_call(call.tool, call.arguments)[0])
        limit = max(own.limit, self.keep or 0) if self.limit is None else self.limit
        keep = min(own.keep, limit) if self.keep is None else self.keep
        return Budget(
            unit=self.unit or own.unit, limit=limit, keep=keep, batch=own.batch, cap=own.cap, counter=own.counter
        )


def trim(
    file: File,
    /,
    *,
    about: Annotated[_About | None, Parameter(name="*")] = None,
    sizes: Annotated[_Sizes | None, Parameter(name="*")] = None,
    read: Annotated[_Read | None, Parameter(name="*")] = None,
    owner: Name = None,
    json: bool = False,
    places: Flat = None,
) -> int:
    """Trim tool outputs, or those in a provider's request: print what goes into the prompt, store the full texts.

    Standard output has the rendering and nothing else; a report goes to standard error. A text is printed as it is, any
    other value as JSON on one line, outputs from JSON lines one to a line.

    The input is UTF-8. What parses as one JSON value is that value; two or more lines of which each is a JSON object or
    array, and files named .jsonl or .ndjson, are one output to a line; anything else is a text. `--as` overrides this:
    a JSON file read `--as text` keeps its own spelling and indentation outside the moved texts.

    A JSON object that is a request of a provider's with tool results in it is printed with its results trimmed, each by
    its tool's budget, and everything else as it was; not with `--tool`, `--arguments`, `--focus` or `--row`, which are
    about one output. A bare list of messages is one output too, unless `--as request` is given.

    A store that is named (by `--store`, TRIMTAB_STORE or the policy) is opened first; trimtab.db in this folder is made
    when a text is stored. Exits with 1 if an output was left whole because something failed.

    Args:
        file: A file, or - for standard input.
        owner: Who holds the stored texts until `trimtab store release`, such as a conversation's id. Default: default.
        json: Print an object for each output, with value, row, sizes and error.
    """
    about, sizes, read, places = about or _About(), sizes or _Sizes(), read or _Read(), places or Places()
    _check_together(about, read, json=json)
    call = about.call()
    outputs = read_outputs(file, read.form)
    host, url = open_host(places, reading=False)
    with host:
        budget = sizes.budget(host.policy, call)
        report = _Report(outputs=outputs, budget=budget, url=url, places=places, trims=host.policy.trims())
        protocol = read.protocol
        if read == _Read() and about == _About() and outputs.form == "json":
            protocol = request_protocol(host, outputs.values[0])
        if read.is_request or protocol is not None:
            own = None if sizes == _Sizes() else budget
            _print_request(host.trim_request(outputs.values[0], protocol, budget=own, owner=owner), report, json=json)
        else:
            for done in _trimmed(host, outputs, call, budget, owner):
                report.add(done)
                _print(done, outputs, url=url, row=about.row, json=json)
    report.tell()
    return 1 if report.failed else 0


def _check_together(about: _About, read: _Read, *, json: bool) -> None:
    """Options that cannot be meant together are refused. Raises CallerError."""
    if about.row and json:
        raise CallerError("give --row or --json, not both: --json has the row too")
    if read.is_request and about != _About():
        raise CallerError(
            "--tool, --arguments, --focus and --row are about one output; a request says which call is which"
        )
    if read.protocol is not None and read.as_ in ("text", "jsonl"):
        raise CallerError(f"--protocol is about a request, which is one JSON value; leave out --as {read.as_}")


def _print_request(done: TrimmedRequest, report: _Report, *, json: bool) -> None:
    """Print a trimmed request, and count its results."""
    note = f"read as a request of {done.protocol}; with --as json it is one output"
    report.outputs = Outputs(form="jsonl", values=[one.value for one in done.results], note=note)
    for one in done.results:
        report.add(one)
    results = [{"key": key, **_as_data(one, report.url)} for key, one in zip(done.keys, done.results, strict=True)]
    shown = {"protocol": done.protocol, "request": done.request, "results": results} if json else done.request
    emit(f"{canonical(shown)}\n")


def _trimmed(host: Host, outputs: Outputs, call: Call, budget: Budget, owner: str | None) -> Iterator[Trimmed]:
    many = outputs.form == "jsonl"
    with progress("trimming", len(outputs.values) if many else None, printing=True) as tell:
        for number, value in enumerate(outputs.values, 1):
            try:
                yield host.trim(
                    call.tool, value, arguments=call.arguments, focus=call.focus, budget=budget, owner=owner
                )
            except UnsupportedOutput as error:
                if not many:
                    raise
                raise CallerError(f"output {number}: {error}") from error
            tell(number)


def _print(done: Trimmed, outputs: Outputs, *, url: str, row: bool, json: bool) -> None:
    if json:
        emit(f"{canonical(_as_data(done, url))}\n")
    elif row:
        emit(f"{done.row_text}\n")
    elif outputs.form == "jsonl":
        emit(f"{canonical(done.value)}\n")
    else:
        emit(done.text if isinstance(done.value, str) else f"{done.text}\n")


def _as_data(done: Trimmed, url: str) -> dict[str, Json]:
    sizes, error = done.sizes, done.error
    return {
        "tool": done.tool,
        "changed": done.changed,
        "over_budget": done.over_budget,
        "error": None if error is None else {"kind": type(error).__name__, "message": str(error)},
        "sizes": {
            "before": sizes.before,
            "after": sizes.after,
            "tokens_before": sizes.tokens_before,
            "tokens_after": sizes.tokens_after,
        },
        "store": url,
        "value": done.value,
        "row": done.row,
    }


@define(kw_only=True)
class _Report:
    """What is told about all outputs together, on standard error."""

    outputs: Outputs
    budget: Budget
    url: str
    places: Places
    trims: bool
    before: int = 0
    after: int = 0
    refs: list[BlobRef] = field(factory=list)
    over: int = 0
    failed: list[tuple[int, Exception]] = field(factory=list)
    _last: Trimmed | None = None
    _number: int = 0

    def add(self, done: Trimmed) -> None:
        """Count one output."""
        self._number += 1
        self._last = done
        chars = self.budget.unit == "chars"
        self.before += done.sizes.before if chars else done.sizes.tokens_before
        self.after += done.sizes.after if chars else done.sizes.tokens_after
        self.over += done.over_budget
        if done.error is not None:
            self.failed.append((self._number, done.error))
        elif done.envelope is not None:
            self.refs += done.envelope.refs

    def tell(self) -> None:
        """Write the report."""
        if self.outputs.note:
            saying((f"note: {self.outputs.note}", "yellow"))
        self._tell_sizes()
        if self.refs:
            self._tell_texts()
        if self.over and self.refs:
            which = f"{counted(self.over, 'output')} " if self._many else ""
            keep = f"{self.budget.keep:,} {self.budget.unit}"
            saying((f"{which}still above keep ({keep}): nothing else can be moved", "yellow"))
        for number, error in self.failed[:_NAMED]:
            which = f"output {number} " if self._many else ""
            saying((f"{which}left whole: {type(error).__name__}: {error}", "red"))
        if len(self.failed) > _NAMED:
            saying((f"… and {counted(len(self.failed) - _NAMED, 'other output')} left whole", "red"))

    @property
    def _many(self) -> bool:
        return self.outputs.form == "jsonl"

    def _tell_sizes(self) -> None:
        if self._many and not self._number and not self.failed:
            saying("no outputs in it, nothing stored")
            return
        head = f"{counted(self._number, 'output')}: " if self._many else ""
        unit = self.budget.unit
        if self.refs:
            sizes = (f"{self.before:,} → {self.after:,} {unit} ", "bold")
            change = (f"({percent(self.before, self.after)})", "green")
            saying(head, sizes, change, f", {counted(len(self.refs), 'text')} moved")
        elif not self.failed:
            saying(head, (f"{self.before:,} {unit}", "bold"), self._why_whole())

    def _why_whole(self) -> str:
        """Why nothing of the outputs was moved."""
        if self._many:
            return ": left alone, nothing stored"
        limit = f"above the limit of {self.budget.limit:,}"
        if self.before <= self.budget.limit:
            return f", not {limit}: left alone, nothing stored"
        if not self.trims:
            return f", {limit}: left whole, nothing stored, because the policy has no read-back tool"
        what = (
            "what is not media is not" if self._last is None or not self._last.over_budget else _unmovable(self._last)
        )
        return f", {limit}: nothing in it can be moved ({what}); left whole, nothing stored"

    def _tell_texts(self) -> None:
        for ref in () if self._many else self.refs[:_NAMED]:
            omitted = sum(last - first + 1 for first, last in ref.cuts or ())
            place = ref.key or "the text"
            place += "" if ref.span is None else f" from char {ref.span[0] + 1:,}"
            saying(f"  {place}: ", f"{omitted:,} of {ref.total_chars:,} omitted  ", (uri(ref.blob_id), "cyan"))
        if not self._many and len(self.refs) > _NAMED:
            saying(f"  … and {counted(len(self.refs) - _NAMED, 'other text')} (`trim --row`, then `show`, lists all)")
        policy = self.places.policy or find_policy()
        where = f"stored in {self.url}" + (f", policy {policy}" if policy else "")
        if self.url.startswith("memory:"):
            saying(("kept in memory, gone when this command ends: nothing can be read back", "yellow"))
            return
        store = f" --store {self.places.store}" if self.places.store else ""
        saying(f"{where}; read back with: ", (f"trimtab read {uri(self.refs[0].blob_id)}{store}", "bold"))


def _unmovable(whole: Trimmed) -> str:
    """What an output is made of that no text or list of it can be moved."""
    count = longest = 0
    left = [whole.value]
    while left:
        one = left.pop()
        if isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
            continue
        count += 1
        longest = max(longest, len(one) if isinstance(one, str) else 0)
    if longest < MIN_MOVED:
        return f"{counted(count, 'value')}, all shorter than {MIN_MOVED} chars"
    return "what is long in it are keys, ids or urls"
