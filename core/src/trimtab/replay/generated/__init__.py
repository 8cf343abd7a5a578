"""Sessions of a made-up agent, for trying things out: the same from the same numbers, in any built-in protocol."""

from __future__ import annotations

from random import Random

from trimtab.errors import CallerError
from trimtab.replay.generated.outputs import TOOLS, pick, sentence, upto
from trimtab.replay.generated.writers import WRITERS, Asked
from trimtab.replay.sessions import Session, session_of
from trimtab.types import Json
from trimtab.wire.definitions import definition
from trimtab.wire.guard import protocol_named
from trimtab.wire.histories import Answer
from trimtab.wire.lookup import shape_of

__all__ = ["generate"]

_SYSTEM = (
    "You are the on-call engineer of a payment service. Look before you conclude: read the code, run the tests, ask "
    "the database. Say what you know apart from what you suppose, name ids and paths, and keep answers short. Change "
    "nothing in production without being asked."
)
_WISHES = ("Find out why it happens.", "Is this new?", "Fix it and run the tests.", "Who is affected?", "Write it up.")


def generate(turns: int, *, protocol: str = "anthropic", seed: int = 1, size: float = 1.0) -> Session:
    """A session of a made-up agent: so many turns of up to three steps, with up to three tool calls each.

    Args:
        turns: how often the user says something.
        protocol: a built-in one.
        seed: another number makes another session.
        size: of the tool outputs; 1: up to some 60,000 chars.

    Raises:
        CallerError: a protocol that is not built in; no turns.
    """
    writer = protocol_named(protocol, WRITERS)
    shape = shape_of(protocol, None)
    if turns < 1:
        raise CallerError(f"a session has at least one turn, not {turns}")
    random = Random(seed)
    messages: list[Json] = []
    for turn in range(1, turns + 1):
        messages.append(shape.user_text(f"Ticket {1_000 + turn}: {sentence(random)} {pick(random, _WISHES)}"))
        done: list[Json] = []
        for step in range(1, 2 + upto(random, 3)):
            said, answers = _step(random, f"call_{turn}_{step}", size)
            text = sentence(random) if upto(random, 2) else ""
            done += shape.answered(writer.say(text, said), answers)
        done += writer.say(f"Ticket {1_000 + turn} is done. {sentence(random)} {sentence(random)}", [])
        messages += writer.turn(done)
    return session_of(writer.request(_SYSTEM, _definitions(protocol), messages), protocol=protocol)


def _step(random: Random, call_id: str, size: float) -> tuple[list[Asked], list[Answer]]:
    """The calls of one message, with what they return."""
    said, answers = [], []
    for number in range(1, 2 + upto(random, 3)):
        tool = pick(random, TOOLS)
        made = tool.call(random, size)
        one = f"{call_id}_{number}"
        said.append(Asked(call_id=one, name=tool.name, arguments=made.arguments))
        answers.append(Answer(call_id=one, name=tool.name, value=made.output, is_error=made.failed))
    return said, answers


def _definitions(protocol: str) -> list[Json]:
    return [
        definition(
            protocol,
            tool.name,
            tool.about,
            {
                "type": "object",
                "properties": {tool.parameter: {"type": "string"}},
                "required": [tool.parameter],
            },
        )
        for tool in TOOLS
    ]
