"""Messages: English sentences that keep their template and values, so that a page can translate them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any

from pydantic_core import CoreSchema, core_schema

# Up to the last @ of a host: a password may hold others.
_USER = re.compile(r"(?<=://)[^\s/?#]*@")

# Of a template that was kept, or came from another process: names in places, and formats that make nothing large.
_TEMPLATE = re.compile(r"(?:[^{}]|\{\{|\}\}|\{\w+(?:!r)?(?::[,.%\w]{0,4})?\})*")


def without_passwords(text: str) -> str:
    """Return a text whose web addresses have no user and no password, as it may be shown and kept."""
    return _USER.sub("", text)


class Message(str):
    """A sentence in English with the template and the values that it is made of.

    It is text for the terminal, the log, an export or a comparison. A page fills in the translation of the template.
    A value may be a message itself. Without values the template is the sentence as it is. Written out as a literal the
    template is found by docs/list_messages.py. No address in it has a password: messages are printed, logged and kept.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str = "", /, **values: object) -> Message:
        """Return the template filled in; a message is returned as it is, with or without values."""
        if isinstance(template, Message):
            return template
        kept = {name: _kept(value) for name, value in values.items()}
        template = template if kept else without_passwords(template)
        message = super().__new__(cls, template.format(**kept) if kept else template)
        message.template, message.values = str(template), kept
        return message

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Have records hold a message with its template."""
        writing = core_schema.plain_serializer_function_ser_schema(with_templates)
        shown = core_schema.str_schema()
        return core_schema.no_info_plain_validator_function(
            _validated, serialization=writing, json_schema_input_schema=shown
        )


# A message that says nothing.
NO_MESSAGE = Message()


def join_messages(messages: Iterable[str], separator: str = " ") -> Message:
    """Return one message of those that say anything."""
    said = {f"part{number}": one for number, one in enumerate(filter(None, messages), 1)}
    if len(said) < 2:
        return Message(*said.values())
    return Message(separator.join(f"{{{name}}}" for name in said), **said)


def change_texts(text: str, change: Callable[[str], str]) -> str:
    """Return a text changed by `change`; of a message its values change, or its text if it has none."""
    if not isinstance(text, Message):
        return change(text)
    if not text.values:
        return Message(change(text))
    changed = {name: change_texts(one, change) if isinstance(one, str) else one for name, one in text.values.items()}
    return Message(text.template, **changed)


def fill_template(template: str, values: Mapping[str, object], number: Callable[..., str]) -> str:
    """Return a template filled with values; `number(value, decimals)` writes a number that has a format."""
    return _Filling(number).vformat(template, (), values)


def dump_json(value: object) -> str:
    """Return values as JSON, each message with its template."""
    return json.dumps(with_templates(value))


def load_json(text: str) -> Any:
    """Return the values of what `dump_json` wrote."""
    return json.loads(text, object_hook=_read)


def with_templates(value: object) -> object:
    """Return values in which each message that has values is a dict of its template and them."""
    match value:
        case Message(values=values) if values:
            return _as_dict(value)
        case dict():
            return {name: with_templates(one) for name, one in value.items()}
        case list() | tuple():
            return [with_templates(one) for one in value]
    return value


def _as_dict(message: Message) -> dict[str, object]:
    values = {name: _as_dict(one) if isinstance(one, Message) else one for name, one in message.values.items()}
    return {"template": message.template, "values": values}


def _read(value: Any) -> Any:
    match value:
        case {"template": str(template), "values": {}, **others} if not others and not value["values"]:
            return Message(template)
        case {"template": str(template), "values": dict(values), **others} if not others:
            if not _TEMPLATE.fullmatch(template) or not {one[1] for one in Formatter().parse(template)} <= {
                None,
                *values,
            }:
                raise ValueError(f"{template!r} is no template of these values")
            return Message(template, **values)
    return value


def _validated(value: object) -> Message:
    """Return the message of a record; ValueError for what is none."""
    message = load_json(json.dumps(value)) if isinstance(value, dict) else value
    if not isinstance(message, str):
        raise ValueError("no message")
    return Message(message)


def message_of(error: Exception) -> Message:
    """Return what an error says."""
    match error:
        case _ if isinstance(message := getattr(error, "message", None), Message):
            return message
        case OSError(errno=int(number), strerror=str(fault), filename=None) if number > 0:
            return Message(fault)
        case OSError(errno=int(number), strerror=str(fault), filename=file) if number > 0:
            return Message("{what}: {error}", what=Message(fault), error=repr(file))
    return Message(str(error))


def _kept(value: object) -> object:
    """Return a value as a message holds it: what JSON has keeps its kind, for the template formats it."""
    match value:
        case Message() | int() | float() | list() | dict() | None:
            return value
        case Exception():
            return message_of(value)
    return without_passwords(str(value))


class _Filling(Formatter):
    def __init__(self, number: Callable[..., str]) -> None:
        self._number = number

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec and isinstance(value, int | float):
            return self._number(value, 0 if float(value).is_integer() else 2)
        return str(value)
