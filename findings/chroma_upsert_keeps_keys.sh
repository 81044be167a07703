#!/usr/bin/env bash
# Chroma 1.5.9: `upsert` merges. A metadata key or a text that the new record does not name stays as it was, without a
# word. A correction that removes a value ("no licence stated") leaves the old one in place, and filters find it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check chromadb==1.5.9
cd "$folder"
ANONYMIZED_TELEMETRY=False venv/bin/python - <<'PYTHON'
import chromadb

passages = chromadb.PersistentClient("store").create_collection("passages")
first = {"licence": "CC BY 4.0", "year": 2019}
passages.add(ids=["a"], embeddings=[[1.0, 0.0]], documents=["The dike is raised by a metre."], metadatas=[first])
passages.upsert(ids=["a"], embeddings=[[0.0, 1.0]], metadatas=[{"year": 2020}])
kept = passages.get(ids=["a"])
print("chromadb", chromadb.__version__, kept["metadatas"][0], kept["documents"][0])
assert kept["metadatas"][0] == {"licence": "CC BY 4.0", "year": 2020}, "the old key is gone: the behaviour has changed"
assert kept["documents"] == ["The dike is raised by a metre."], "the old text is gone: the behaviour has changed"
assert passages.get(where={"licence": "CC BY 4.0"})["ids"] == ["a"]
PYTHON
