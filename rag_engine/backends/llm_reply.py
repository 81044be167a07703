"""A model's reply read as the JSON object it was asked for."""

from __future__ import annotations

import json
from ipaddress import ip_address

import jsonschema

from rag_engine.errors import BackendError


def _nothing(*_: object) -> tuple[()]:
    """Find no fault."""
    return ()


# A value outside a closed list or longer than asked costs that value, which the caller judges, not the whole reply.
_Shape = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, dict.fromkeys(("enum", "maxItems", "maxLength"), _nothing)
)


def read_object(reply: str, schema: dict[str, object], *, model: str) -> dict[str, object]:
    """Return the JSON object in a reply, of the shape of the schema; BackendError when there is none.

    Values that the schema's closed lists do not hold are left for the caller to drop.
    Words or a code fence around the object are passed over: models add them where a server cannot hold them back.
    """
    help = "Ask again; if it stays so, use another model."
    start = reply.find("{")
    try:
        found, _ = json.JSONDecoder().raw_decode(reply, max(start, 0))
        jsonschema.validate(found, schema, cls=_Shape)
    except json.JSONDecodeError as error:
        raise BackendError(
            f"{model} replied with no JSON object: {reply[:80]!r}.", help=help, retryable=True
        ) from error
    except jsonschema.ValidationError as error:
        raise BackendError(
            f"{model} replied with other JSON: {error.message[:200]}.", help=help, retryable=True
        ) from error
    if not isinstance(found, dict):
        raise BackendError(f"{model} replied with JSON that is not an object.", help=help, retryable=True)
    return found


def is_loopback(host: str) -> bool:
    """Whether a host of an address, without port, is this machine; names other than localhost are not looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
