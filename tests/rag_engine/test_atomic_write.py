"""Atomic writes: all of a file or none of it, however many write it at once."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rag_engine.atomic_write import bound_log, remove_abandoned, replacing, staging, write_atomic


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_replaced_when_its_content_is_complete(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"first", durable=durable)
    with replacing(path, durable=durable) as temporary:
        temporary.write_bytes(b"second")
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_former_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"first")

    def fill_the_disk() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"sec")
            raise OSError("disk full")

    with pytest.raises(OSError, match="full"):
        fill_the_disk()
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_of_one_file_never_take_each_others_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with replacing(path) as slow:
        slow.write_bytes(b"slow")
        with replacing(path) as fast:
            fast.write_bytes(b"fast")
        assert path.read_bytes() == b"fast"
    assert path.read_bytes() == b"slow"


def test_eight_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_atomic(path, b"%d" % number * 10_000), range(8)))
    assert path.read_bytes() in {b"%d" % number * 10_000 for number in range(8)}


def test_what_a_killed_process_left_half_written_is_removed_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    half = "import os, sys; from pathlib import Path; from rag_engine.atomic_write import replacing\n"
    half += "with replacing(Path(sys.argv[1])) as new: new.write_bytes(b'half'); os._exit(1)"
    subprocess.run([sys.executable, "-c", half, str(tmp_path / "a.json")], check=False)
    [left] = tmp_path.iterdir()
    with replacing(tmp_path / "a.json") as temporary:
        temporary.write_bytes(b"being written")
        remove_abandoned(tmp_path)
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_of_a_killed_process_goes_when_the_next_is_made(tmp_path: Path) -> None:
    killed = "import os, sys; from pathlib import Path; from rag_engine.atomic_write import staging\n"
    killed += "with staging(Path(sys.argv[1])) as new:\n"
    killed += "    (new / 'half').write_bytes(b'half'); os._exit(1)"
    subprocess.run([sys.executable, "-c", killed, str(tmp_path / "a.zip")], check=False)
    assert list(tmp_path.iterdir())
    with staging(tmp_path / "b.zip") as used, staging(tmp_path / "a.zip") as next_one:
        assert {*tmp_path.iterdir()} == {used, next_one}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_another_user_is_making_in_the_folder_keeps_nobody_from_making_one() -> None:
    other = "import os, sys; from pathlib import Path; from rag_engine.atomic_write import staging\n"
    other += "os.setgid(65534); os.setuid(65534)\n"
    other += "with staging(Path(sys.argv[1])) as new: (new / 'whole').touch()"
    # Not in `tmp_path`, which others cannot enter.
    with TemporaryDirectory() as folder:
        shared = Path(folder)
        shared.chmod(0o777)
        (held := shared / ".sextant-0000000100000000.part").mkdir(mode=0o700)
        command = [sys.executable, "-c", other, str(shared / "a.zip")]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert list(shared.iterdir()) == [held]


def test_a_log_keeps_its_last_lines_and_its_writer_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "serving.log"
    with log.open("ab", buffering=0) as writer:
        for number in range(12):
            writer.write(f"{number:07}\n".encode() * 125_000)
        bound_log(log)
        writer.write(b"the last\n")
    lines = log.read_text().splitlines()
    assert log.stat().st_size < 1_100_000
    assert (set(lines[:-1]), lines[-1]) == ({"0000011"}, "the last")
