# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every file says its licence, and none has grown past reading."""

import ast
import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[2]
LICENCE = "SPDX-License-Identifier: LGPL-2.1-or-later"
WITHOUT_COMMENTS = {"LICENSE", "requirements.txt", "go.sum"}  # the licence, generated locks
WITHOUT_COMMENTS_SUFFIXES = {".csv", ".json", ".jsonl", ".txt", ".png", ".svg", ".bin"}
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
SOURCES = {".c", ".h", ".py", ".S", ".sh"}


def tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    files = [PROJECT / name for name in listing.stdout.split("\0") if name]
    return [f for f in files if f.is_file() and not f.is_symlink()]


def sources() -> list[Path]:
    return [f for f in tracked_files() if f.suffix in SOURCES]


def test_every_file_names_its_licence_in_its_first_lines():
    silent = []
    for file in tracked_files():
        data = file.relative_to(PROJECT).parts[:2] in {("tests", "data"), ("tests", "fuzz")}
        if data or file.name in WITHOUT_COMMENTS or file.suffix in WITHOUT_COMMENTS_SUFFIXES:
            continue
        with file.open(encoding="utf-8") as lines:
            head = "".join(line for line, _ in zip(lines, range(5), strict=False))
        if LICENCE not in head:
            silent.append(str(file.relative_to(PROJECT)))
    assert not silent, "\n".join(silent)


def test_no_source_file_is_longer_than_400_lines():
    long = {
        str(f.relative_to(PROJECT)): count
        for f in sources()
        if (count := len(f.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    assert not long, long


def c_functions(text: str) -> list[tuple[str, int]]:
    """Names and lengths: a function starts at a lone '{' and ends at a lone '}' in column 0."""
    found, start, name = [], None, ""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line == "{":
            start, name = number, lines[number - 1]
        elif line == "}" and start is not None:
            found.append((name, number - start + 1))
            start = None
    return found


def python_functions(text: str) -> list[tuple[str, int]]:
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_function_is_longer_than_60_lines():
    long = []
    for file in sources():
        text = file.read_text(encoding="utf-8")
        functions = python_functions(text) if file.suffix == ".py" else c_functions(text)
        long += [
            f"{file.relative_to(PROJECT)}: {name}: {length}"
            for name, length in functions
            if length > LONGEST_FUNCTION
        ]
    assert not long, "\n".join(long)


def test_no_todo_is_left_in_a_source():
    word = "TO" + "DO"
    left = [
        str(f.relative_to(PROJECT))
        for f in sources()
        if re.search(rf"\b{word}\b", f.read_text(encoding="utf-8"))
    ]
    assert not left, left


def test_no_two_test_files_have_one_name():
    """Pytest imports them by it, outside of packages, and stops where it meets a second one."""
    where: dict[str, list[str]] = {}
    for file in tracked_files():
        alone = file.name.startswith("test_") and not (file.parent / "__init__.py").exists()
        if alone and file.suffix == ".py":
            where.setdefault(file.name, []).append(str(file.relative_to(PROJECT)))
    assert [names for names in where.values() if len(names) > 1] == []
