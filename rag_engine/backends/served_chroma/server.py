"""Chroma's HTTP interface over a folder of this process, on loopback, for those who have the key.

It speaks the part of the interface, version 2, that Chroma's own clients use for collections and their records.
"""

# ruff: noqa: SLF001 - Chroma's own interface of a server has such names

from __future__ import annotations

import hmac
import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_engine import workspace as paths
from rag_engine.backends.chroma import lock_folder

_DATABASE = "/api/v2/tenants/{tenant}/databases/{database}"
_COLLECTIONS = f"{_DATABASE}/collections"
# Chroma's own server takes 40 MiB; 5,000 records with the widest vectors and texts have less than this.
_MOST_BYTES = 2**28

_Body = Mapping[str, Any]
_Act = Callable[[Any, Mapping[str, str], _Body], Any]


def serve(workspace: Path, port: int, key: str) -> None:
    """Serve the Chroma folder of a workspace until the process is told to end.

    The lock is this process's own, so that it stays taken as long as the folder may be written, whatever becomes of
    the `sextant serve` that started it.
    """
    import chromadb
    from chromadb.api import ServerAPI
    from chromadb.config import Settings

    folder = paths.chroma(workspace)
    with lock_folder(folder):
        client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        api = client._system.instance(ServerAPI)
        app = Starlette(
            routes=[Route(paths.PROOF_PATH, _proof(key, paths.folder_identity(workspace))), *_routes(api)],
            middleware=[Middleware(_only_with, key)],
        )
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False, server_header=False)


def _only_with(app: ASGIApp, key: str) -> ASGIApp:
    """Return the app behind a check of the key."""
    expected = f"Bearer {key}".encode()

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != paths.PROOF_PATH:
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                refused = _failed("AuthError", "This Chroma answers the workspace that it was started for.", 403)
                await refused(scope, receive, send)
                return
        await app(scope, receive, send)

    return checked


def _proof(key: str, folder: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(paths.proof(key, request.query_params.get("nonce", ""), folder))

    return answer


def _routes(api: Any) -> list[Route]:
    """Return the routes of the interface."""

    def route(method: str, path: str, act: _Act) -> Route:
        return Route(path, _answering(api, act), methods=[method])

    checks = {"max_batch_size": api.get_max_batch_size(), "supports_base64_encoding": True}
    everybody = {"user_id": "", "tenant": "default_tenant", "databases": ["default_database"]}
    one, records = _COLLECTIONS + "/{name}", _COLLECTIONS + "/{collection_id}"
    return [
        route("GET", "/api/v2/heartbeat", lambda api, *_: {"nanosecond heartbeat": api.heartbeat()}),
        route("GET", "/api/v2/version", lambda api, *_: api.get_version()),
        route("GET", "/api/v2/pre-flight-checks", lambda *_: checks),
        route("GET", "/api/v2/auth/identity", lambda *_: everybody),
        route("GET", "/api/v2/tenants/{tenant}", lambda api, at, _: dict(api.get_tenant(at["tenant"]))),
        route("GET", _DATABASE, lambda api, at, _: dict(api.get_database(at["database"], at["tenant"]))),
        route("GET", _COLLECTIONS, lambda api, at, _: [_described(each) for each in api.list_collections(**at)]),
        route("POST", _COLLECTIONS, _create),
        route("GET", one, lambda api, at, _: _described(api.get_collection(**at))),
        route("DELETE", one, lambda api, at, _: api.delete_collection(**at) or {}),
        route("GET", f"{records}/count", lambda api, at, _: api._count(**at)),
        route("POST", f"{records}/upsert", _upsert),
        route("POST", f"{records}/get", lambda api, at, body: _chosen(api._get(**at, **body), body)),
        route("POST", f"{records}/query", _query),
        route("POST", f"{records}/delete", lambda api, at, body: api._delete(**at, **body)),
    ]


def _answering(api: Any, act: _Act) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that does an act of Chroma in a thread, which lets go of the interpreter meanwhile."""
    from chromadb.errors import ChromaError

    async def answer(request: Request) -> Response:
        if int(request.headers.get("content-length", 0)) > _MOST_BYTES:
            return _failed("InvalidArgumentError", "That is too much at once.", 413)
        content = await request.body()
        try:
            body = json.loads(content) if content else {}
            done = await run_in_threadpool(act, api, request.path_params, body)
            return Response(json.dumps(done, default=_plain), media_type="application/json")
        except ChromaError as error:
            return _failed(type(error).__name__, str(error), error.code())
        except (KeyError, TypeError, ValueError) as error:
            return _failed("InvalidArgumentError", repr(error), 400)
        except Exception as error:
            # Chroma raises its own failures in Rust as plain exceptions.
            return _failed("InternalError", str(error), 500)

    return answer


def _failed(kind: str, message: str, status: int) -> Response:
    """Return a failure as Chroma's clients read it."""
    return JSONResponse({"error": kind, "message": message}, status)


def _plain(value: Any) -> Any:
    """Return vectors as lists and ids as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _create(api: Any, at: Mapping[str, str], body: _Body) -> Any:
    from chromadb.api.collection_configuration import load_create_collection_configuration_from_json

    configuration = body.get("configuration")
    return _described(
        api.create_collection(
            body["name"],
            configuration=load_create_collection_configuration_from_json(configuration) if configuration else None,
            metadata=body.get("metadata"),
            get_or_create=bool(body.get("get_or_create")),
            **at,
        )
    )


def _upsert(api: Any, at: Mapping[str, str], body: _Body) -> Any:
    vectors = [np.frombuffer(b64decode(one), "<f4") for one in body["embeddings"]]
    given = {name: body.get(name) for name in ("metadatas", "documents", "uris")}
    return api._upsert(ids=body["ids"], embeddings=vectors, **given, **at) and {}


def _query(api: Any, at: Mapping[str, str], body: _Body) -> Any:
    vectors = [np.array(one, np.float32) for one in body["query_embeddings"]]
    return _chosen(api._query(**at, **{**body, "query_embeddings": vectors}), body)


def _chosen(found: Mapping[str, Any], body: _Body) -> dict[str, Any]:
    """Return the ids that were found and what was asked for beside them."""
    return {"ids": found["ids"]} | {name: found.get(name) for name in body.get("include", ())}


def _described(collection: Any) -> dict[str, Any]:
    """Return a collection as Chroma's clients read it."""
    return {
        "id": str(collection.id),
        "name": collection.name,
        "configuration_json": collection.configuration_json,
        "schema": collection.serialized_schema,
        "metadata": collection.metadata,
        "dimension": collection.dimension,
        "tenant": collection.tenant,
        "database": collection.database,
    }
