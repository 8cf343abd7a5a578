"""Sets up this checkout on a machine that has only Python, pip and git, and runs what a developer runs.

python3 dev.py demo [args]    set up, then the demo
python3 dev.py test [args]    set up, then linters, types and tests; `args` go to pytest
python3 dev.py check          set up, then linters and types only
python3 dev.py bench [args]   set up, then the benchmarks; `args` go to pytest
python3 dev.py envs           an environment in .venvs/ for every CPython found, for the same-bytes tests
python3 dev.py wheels         build all wheels, install them into empty environments, run the command there
python3 dev.py stranger       build, install and test examples/trimtab-hello as its author would
python3 dev.py lowest         run the core tests with the oldest dependencies that are allowed
python3 dev.py lock [args]    write requirements.txt again; `args` (as --upgrade) go to `uv pip compile`

Everything is installed from requirements.txt, with hashes, into .venv and .venvs in the checkout; where there is npm,
also what tests/node/package-lock.json names, for tests that are skipped without it. Only pip, uv and npm use the
network, as this machine has them set up.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# An older Python 3 has to get as far as this line: no newer syntax in this file.
if sys.version_info < (3, 11):  # noqa: UP036 - whoever calls it may have an older one
    sys.exit(f"dev.py needs Python 3.11 or newer, this is {sys.version.split()[0]}: call it with a newer one")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
ENVS = ROOT / ".venvs"
LOCK = ROOT / "requirements.txt"
NODE = ROOT / "tests" / "node"
PACKAGES = ("core", "plugins/fs", "plugins/kb", "plugins/mcp", "plugins/web")
EDITABLE = [word for package in PACKAGES for word in ("--editable", package)]
BUILD_TOOLS = ("hatchling", "editables")
DISTRIBUTIONS = ("trimtab", "trimtab-fs", "trimtab-kb", "trimtab-mcp", "trimtab-web")
ALL_CORES = ("--numprocesses=auto", "--dist=worksteal")
# What would make an environment see another's packages, or hide what an import costs.
FOREIGN = ("CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "UV_PROJECT", "VIRTUAL_ENV")
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


class Failed(Exception):
    """A step that did not work; the message is for the person at the terminal."""


def program(env: Path, name: str) -> Path:
    """The path of an installed program (`python`, `trimtab`, …) of an environment."""
    return env / "Scripts" / f"{name}.exe" if os.name == "nt" else env / "bin" / name


def outcome(*command: object, cwd: Path = ROOT, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, whatever its exit code; options as for `subprocess.run`."""
    sys.stdout.flush()
    words = [str(word) for word in command]
    return subprocess.run(words, check=False, cwd=cwd, env=ENVIRON, text=True, **options)


def run(*command: object, cwd: Path = ROOT, quiet: bool = False) -> None:
    """Run a command to its end. `quiet`: its output is shown only when it fails.

    Raises:
        Failed: it exited with another code than 0.
    """
    done = outcome(*command, cwd=cwd, **({"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if quiet else {}))
    if done.returncode:
        raise Failed(f"{done.stdout or ''}exit code {done.returncode}: {' '.join(map(str, command))}")


def code_of(name: str, *arguments: object) -> int:
    """Run a program of `.venv` to its end with its output shown, and give its exit code."""
    print("$", name, *arguments)
    return outcome(program(VENV, name), *arguments).returncode


def uv(*arguments: object, cwd: Path = ROOT) -> None:
    """Run the pinned uv of `.venv`, showing its output only when it fails."""
    run(program(VENV, "uv"), *arguments, cwd=cwd, quiet=True)


def fingerprint(python: str) -> str:
    """Changes when an environment made for this Python has to be made again."""
    digest = hashlib.sha256(python.encode())
    for path in (Path(__file__), LOCK, *(ROOT / package / "pyproject.toml" for package in PACKAGES)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def up_to_date(env: Path, stamp: str) -> bool:
    """Whether the environment was made whole, from what now stands in the checkout."""
    path = env / "stamp"
    return path.is_file() and path.read_text() == stamp and program(env, "python").exists()


def set_up() -> None:
    """Make `.venv` what requirements.txt says, with core and plugins installed for editing."""
    stamp = fingerprint(sys.version + str(ROOT))
    if up_to_date(VENV, stamp):
        return
    print(f"setting up {VENV} (Python {sys.version.split()[0]})", flush=True)
    python = program(VENV, "python")
    pip = [python, "-m", "pip"]
    if outcome(sys.executable, "-m", "venv", "--clear", VENV, capture_output=True).returncode:
        # Some systems package ensurepip apart from pip; then the pip beside this Python does.
        run(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
        pip = [sys.executable, "-m", "pip", "--python", python]
    with tempfile.TemporaryDirectory() as folder:
        only_uv = Path(folder, "uv.txt")
        only_uv.write_text(pinned("uv"))
        run(*pip, "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r", only_uv)
    uv("pip", "sync", "--python", python, "--compile-bytecode", "--require-hashes", LOCK)
    uv("pip", "install", "--python", python, "--no-deps", "--no-build-isolation", *EDITABLE)
    (VENV / "stamp").write_text(stamp)


def pinned(name: str) -> str:
    """The lines of requirements.txt that pin one distribution."""
    lines = LOCK.read_text().splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith(name + "=="))
    end = next((n for n in range(start + 1, len(lines)) if not lines[n].startswith(" ")), len(lines))
    return "".join(lines[start:end])


def found_pythons() -> dict[str, str]:
    """Every CPython ≥ 3.11 of this machine: full version to path of its interpreter."""
    asked = ["python", "list", "--only-installed", "--output-format", "json"]
    listed = outcome(program(VENV, "uv"), *asked, cwd=Path(tempfile.gettempdir()), capture_output=True)
    paths = [row["path"] for row in json.loads(listed.stdout)] if listed.returncode == 0 else []
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    paths += sorted(str(path) for path in pyenv.glob("versions/*/bin/python3"))
    paths += filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 30)))
    ask = "import platform, sys; print(sys.implementation.name, sys.version_info >= (3, 11), platform.python_version())"
    found: dict[str, str] = {}
    for path in [sys.executable, *paths]:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            answer = outcome(path, "-c", ask, capture_output=True, timeout=20)
            if answer.stdout.startswith("cpython True "):
                found.setdefault(answer.stdout.split()[2], path)
    return found


def make_envs() -> None:
    """Make `.venvs/<version>` for every CPython found: runtime dependencies only, no extras, ours for editing.

    One that cannot be made is named with the reason, and left out.
    """
    for version, path in sorted(found_pythons().items()):
        env, stamp = ENVS / version, fingerprint(version + path + str(ROOT))
        if up_to_date(env, stamp):
            continue
        shutil.rmtree(env, ignore_errors=True)
        try:
            uv("venv", "--no-project", "--python", path, env)
            install(env, *BUILD_TOOLS)
            install(env, "--no-build-isolation", *EDITABLE)
        except Failed as failure:
            shutil.rmtree(env, ignore_errors=True)
            print(f"no environment for Python {version} ({path}): {failure}", flush=True)
        else:
            (env / "stamp").write_text(stamp)
            print(f"made {env.relative_to(ROOT)}", flush=True)


def node_packages() -> None:
    """Install the pinned packages of tests/node with npm, running none of their scripts.

    Without npm, or where it fails, the tests that need them are skipped: said here, with the reason.
    """
    stamp, npm = NODE / "node_modules" / "stamp", shutil.which("npm")
    digest = hashlib.sha256((NODE / "package-lock.json").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    if npm is None:
        print("no npm: the tests that run the AI SDK are skipped", flush=True)
        return
    try:
        run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=NODE, quiet=True)
    except Failed as failure:
        print(f"the tests that run the AI SDK are skipped: {failure}", flush=True)
    else:
        stamp.write_text(digest)


def install(env: Path, *arguments: object, cwd: Path = ROOT) -> None:
    """Install into an environment; what requirements.txt names, only as pinned and hashed there."""
    uv("pip", "install", "--python", program(env, "python"), "--constraint", LOCK, *arguments, cwd=cwd)


def linters() -> int:
    """Run ruff and mypy over everything; 0 when both are content."""
    codes = [
        code_of("ruff", "check", "."),
        code_of("ruff", "format", "--check", "."),
        code_of("mypy", "--strict"),
    ]
    return max(codes)


def test(arguments: Sequence[str]) -> int:
    """Linters, types, then pytest, whose summary is the last thing shown; its exit code comes first."""
    make_envs()
    node_packages()
    lint = linters()
    tests = code_of("python", "-m", "pytest", *ALL_CORES, *arguments)
    if lint:
        print("FAILED: ruff or mypy, above the tests' output (`python3 dev.py check` runs them alone)", file=sys.stderr)
    return tests or lint


def bench(arguments: Sequence[str]) -> int:
    """Run the benchmarks."""
    return code_of("python", "-m", "pytest", "bench", "--benchmark-only", *arguments)


@contextlib.contextmanager
def outside() -> Iterator[tuple[Path, dict[str, Path]]]:
    """An empty folder outside the checkout, and in it our wheels, built just now: distribution to file."""
    with tempfile.TemporaryDirectory(prefix="trimtab-") as name:
        folder = Path(name)
        how = ["--all-packages", "--wheel", "--no-build-isolation"]
        uv("build", *how, "--python", program(VENV, "python"), "--out-dir", folder / "dist")
        built = {path.name.split("-")[0].replace("_", "-"): path for path in folder.glob("dist/*.whl")}
        if sorted(built) != list(DISTRIBUTIONS):
            raise Failed(f"wheels were built of {', '.join(sorted(built))}; expected {', '.join(DISTRIBUTIONS)}")
        yield folder, built


def empty_env(folder: Path, name: str) -> Path:
    """A new environment with nothing in it."""
    uv("venv", "--no-project", "--python", sys.executable, folder / name, cwd=folder)
    return folder / name


def wheels() -> None:
    """The wheels alone, away from the checkout: first core with one plugin, then everything with the demo."""
    with outside() as (folder, built):
        env = empty_env(folder, "two")
        install(env, built["trimtab"], built["trimtab-web"], cwd=folder)
        run(program(env, "trimtab"), "--version", cwd=folder)
        run(program(env, "trimtab"), "plugins", cwd=folder)
        env = empty_env(folder, "all")
        rest = [built[name] for name in DISTRIBUTIONS if name != "trimtab"]
        install(env, f"trimtab[all] @ {built['trimtab'].as_uri()}", *rest, cwd=folder)
        run(program(env, "trimtab"), "plugins", cwd=folder)
        run(program(env, "trimtab"), "demo", cwd=folder)
    print("wheels: built; in empty environments `trimtab plugins` and `trimtab demo` ran")


def stranger() -> None:
    """A third party's plugin package, copied away from the checkout, against our wheels only."""
    with outside() as (folder, built):
        copy = shutil.copytree(ROOT / "examples" / "trimtab-hello", folder / "trimtab-hello")
        env = empty_env(folder, "env")
        install(env, *BUILD_TOOLS, cwd=folder)
        core = f"trimtab[testing] @ {built['trimtab'].as_uri()}"
        install(env, "--no-build-isolation", "--no-sources", core, copy, cwd=folder)
        run(program(env, "python"), "-m", "pytest", "-p", "no:cacheprovider", cwd=copy)
        run(program(env, "trimtab"), "plugins", cwd=folder)


def lowest(arguments: Sequence[str]) -> int:
    """The core tests with the lowest versions that core/pyproject.toml allows."""
    env = ENVS / "lowest"
    python = program(env, "python")
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "lowest.txt")
        how = ["--resolution", "lowest-direct", "--all-extras", "--no-sources", "--no-emit-package", "trimtab"]
        uv("pip", "compile", *how, "--python", sys.executable, "core/pyproject.toml", "--output-file", pins)
        uv("venv", "--no-project", "--clear", "--python", sys.executable, env)
        uv("pip", "install", "--python", python, "--requirement", pins, *BUILD_TOOLS)
    uv("pip", "install", "--python", python, "--no-deps", "--no-build-isolation", "--editable", "core")
    print(f"$ {python.relative_to(ROOT)} -m pytest core/tests", *arguments)
    return outcome(python, "-m", "pytest", "core/tests", *arguments).returncode


def lock(arguments: Sequence[str]) -> None:
    """Write requirements.txt from the pyproject files: all extras, all tools, no index, no path."""
    read = ["pyproject.toml", *(f"{package}/pyproject.toml" for package in PACKAGES)]
    what = ["--all-extras", "--group", "dev", "--universal", "--python-version", "3.11", "--generate-hashes"]
    ours = [word for name in DISTRIBUTIONS for word in ("--no-emit-package", name)]
    bare = ["--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    header = ["--custom-compile-command", "python3 dev.py lock"]
    uv("pip", "compile", *read, *what, *ours, *bare, *header, *arguments, "--output-file", LOCK)


def demo(arguments: Sequence[str]) -> int:
    """Run the demo."""
    return code_of("trimtab", "demo", *arguments)


def main(command: str, *arguments: str) -> int:
    """Set up, then do what the command says; the exit code."""
    with_arguments = {"demo": demo, "test": test, "bench": bench, "lowest": lowest, "lock": lock}
    without = {"check": linters, "envs": make_envs, "wheels": wheels, "stranger": stranger}
    try:
        if command in with_arguments:
            set_up()
            return with_arguments[command](arguments) or 0
        if command in without and not arguments:
            set_up()
            return without[command]() or 0
    except Failed as failure:
        print(f"dev.py {command}: {failure}", file=sys.stderr)
        return 1
    print(__doc__, end="")
    return 0 if command in {"-h", "--help", "help"} else 2


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["help"])))
