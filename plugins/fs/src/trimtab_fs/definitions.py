"""What the tools tell a model: their descriptions and arguments."""

from __future__ import annotations

from trimtab.host.tools import definition, paging_properties, positive
from trimtab.types import Json
from trimtab_fs.names import READ_FILE

__all__ = ["read_definition", "read_file_definition", "search_definition"]

_READ = (
    "Read a text: a file, or the full text that was omitted from an earlier tool output. Where a line says "
    "`<omitted chars A-B of N; full text: {name} trimtab:...>`, pass that trimtab: uri as `path`. "
    "Give `line` or `char` (both count from 1) to say where to begin; the answer says where to go on."
)
_READ_FILE = (
    "Read a file that is attached to this conversation, by its name. "
    "Give `line` or `char` (both count from 1) to say where to begin; the answer says where to go on."
)
_SEARCH = (
    "Search for lines that match a word or a regular expression: in the files of a folder, in one file{attachment}, "
    "or in the full text behind a trimtab: uri. The answer gives line numbers to read around, and says where to go on."
)


def _string(text: str) -> Json:
    return {"type": "string", "description": text}


def _object(properties: dict[str, Json], *required: str) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


def _paging() -> dict[str, Json]:
    return {
        **paging_properties(),
        "numbers": {"type": "boolean", "description": "Show the number of each line and a tab before it."},
    }


def read_definition(protocol: str, name: str) -> Json:
    """Of the tool that reads files and stored texts."""
    path = _string("A trimtab: uri from a marker, or the path of a file as a search gives it.")
    return definition(protocol, name, _READ.format(name=name), _object({"path": path, **_paging()}, "path"))


def read_file_definition(protocol: str) -> Json:
    """Of the tool that reads attachments."""
    filename = _string("The attachment's name, as the conversation gives it.")
    return definition(protocol, READ_FILE, _READ_FILE, _object({"filename": filename, **_paging()}, "filename"))


def search_definition(protocol: str, name: str, *, attachments: bool) -> Json:
    """Of the tool that searches. `attachments`: whether it may be told an attachment's name."""
    properties = {
        "pattern": _string("A word or a regular expression."),
        "path": _string("A trimtab: uri, a file, or a folder. Default: all folders that may be read."),
        "glob": _string("Only files whose path fits, as in *.py or docs/**/*.md."),
        "line": positive("First line to search: next_line of the last answer. Default 1."),
        "file": _string("In folders: the file to go on at, next_file of the last answer."),
    }
    if attachments:
        properties["filename"] = _string("The name of an attachment to search, instead of `path`.")
    text = _SEARCH.format(attachment=", in an attachment" if attachments else "")
    return definition(protocol, name, text, _object(properties, "pattern"))
