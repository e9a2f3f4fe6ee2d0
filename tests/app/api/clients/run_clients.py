#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real client libraries against the real program on the small model that comes with it.

Makes a virtual environment in Firesteel's cache folder once, with the pinned versions of requirements.txt through pip's
ordinary configuration, starts `firesteel --headless` in folders of its own, and runs check_clients.py, or the script that is named with its arguments, in the environment.
Prints FIRESTEEL-SKIP with the reason where the libraries cannot be had.
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 600  # seconds, for a model on a busy machine


def cache_folder() -> pathlib.Path:
    if given := os.environ.get("FIRESTEEL_CACHE"):
        return pathlib.Path(given)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "firesteel"


def last_line(run: subprocess.CompletedProcess) -> str:
    lines = (run.stdout + run.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit code {run.returncode}"


def make_environment(folder: pathlib.Path) -> str:
    """The reason why there is none; empty: there is one."""
    if (folder / "complete").exists():
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode != 0:
        return f"there is no virtual environment: {last_line(made)}"
    installed = subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                                "--retries", "1", "--requirement", HERE / "requirements.txt"],
                               capture_output=True, text=True)
    if installed.returncode != 0:
        return f"the clients cannot be installed: {last_line(installed)}"
    (folder / "complete").touch()
    return ""


def environment() -> tuple[pathlib.Path, str]:
    wanted = (HERE / "requirements.txt").read_bytes() + sys.version.encode()
    folder = cache_folder() / f"api-clients-{hashlib.sha256(wanted).hexdigest()[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Checkouts share the cache, and may run at the same time.
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder, make_environment(folder)


def wait_until_ready(process: subprocess.Popen, base: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"firesteel ended with {process.returncode} before it was ready")
        try:
            with urllib.request.urlopen(base + "/health", timeout=10) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    raise SystemExit("the model was not ready in time")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("check", nargs=argparse.REMAINDER, help="a script of this folder, and its arguments")
    arguments = parser.parse_args()
    folder, reason = environment()
    if reason:
        print(f"FIRESTEEL-SKIP: {reason}")
        return 0
    # Nothing of the person who runs this: no settings, no keys, no proxy between two programs of this machine.
    variables = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    variables.pop("FIRESTEEL_MODEL", None)
    with tempfile.TemporaryDirectory() as home:
        variables |= {"HOME": home, "XDG_DATA_HOME": home + "/data", "XDG_CONFIG_HOME": home + "/config",
                      "XDG_CACHE_HOME": home + "/cache"}
        process = subprocess.Popen([arguments.program, "--headless", "--port", "0", "--model", arguments.model],
                                   env=variables, stdout=subprocess.PIPE, text=True)
        try:
            said = process.stdout.readline()
            match = re.match(r"Listening on (http://127\.0\.0\.1:\d+)/v1", said)
            if not match:
                raise SystemExit(f"firesteel said {said!r}")
            wait_until_ready(process, match[1])
            script, *rest = arguments.check or ["check_clients.py"]
            checked = subprocess.run([folder / "bin/python", "-B", HERE / script, match[1], *rest], env=variables).returncode
        finally:
            process.terminate()
            ended = process.wait(timeout=60)
    if ended != 0:
        print(f"firesteel ended with {ended}")
    return checked or ended


if __name__ == "__main__":
    sys.exit(main())
