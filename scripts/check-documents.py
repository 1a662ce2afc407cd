#!/usr/bin/env python3
"""Fails on what a document must not have, and prints FILE:LINE for each mistake.

    scripts/check-documents.py

A line has at most 120 columns (but for tables, addresses, and commands that a test reads as one line). A link leads
to a file and a heading that exist. A page of docs/ asks its question in its first lines, and tells no history of
versions. docs/ without docs/measurements has at most 35,000 words, and docs/measurements at most five pages.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
WORDS = 35_000
PAGES_OF_MEASUREMENTS = 5
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HISTORY = re.compile(r"\b(since|from before|until) (version|store schema|evaluator) \d|\bVersion \d+ has\b|\bformerly\b", re.I)
EXEMPT = re.compile(r"\|| {4}|build/release/winnow |.*https?://")


def documents():
    files = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # Prompts are what models read, replies are what models wrote.
    skipped = re.compile(r"agents/prompts/(?!README)|agents/testing/|tests/redteam/replies/")
    return [ROOT / name for name in files.splitlines() if not skipped.match(name) and (ROOT / name).exists()]


def without_code(text):
    """The lines, with those of code blocks emptied, so that numbers of lines stay."""
    inside, lines = False, []
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        lines.append("" if inside or fence else line)
        inside ^= fence
    return lines


def anchors(text):
    """The names that GitHub gives to headings."""
    names = set()
    for line in without_code(text):
        if line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip().lower())
            names.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return names


def broken_links(path, lines, texts):
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            file, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            other = (path.parent / file).resolve() if file else path
            if not other.exists():
                yield number, f"the link leads to {file}, which does not exist"
            elif anchor and other in texts and anchor not in anchors(texts[other]):
                yield number, f"{other.name} has no heading #{anchor}"


def mistakes_in(path, texts):
    text = texts[path]
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not EXEMPT.match(line):
            yield number, f"{len(line)} columns; at most {COLUMNS}"
    prose = without_code(text)
    yield from broken_links(path, prose, texts)
    if ROOT / "docs" in path.parents:
        if "?" not in " ".join(lines[1:6]):
            yield 1, "the first lines do not ask the question that the page answers"
        for number, line in enumerate(prose, 1):
            if HISTORY.search(line):
                yield number, "history of versions belongs into CHANGELOG.md"


def main():
    paths = documents()
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    found = 0
    for path in paths:
        for number, mistake in mistakes_in(path, texts):
            print(f"{path.relative_to(ROOT)}:{number}: {mistake}")
            found += 1
    words = sum(len(texts[path].split()) for path in paths if path.parent == ROOT / "docs")
    pages = sum(path.parent == ROOT / "docs/measurements" for path in paths)
    if words > WORDS or pages > PAGES_OF_MEASUREMENTS:
        print(f"docs: {words} words in docs/, at most {WORDS}; {pages} pages in docs/measurements, at most {PAGES_OF_MEASUREMENTS}")
        found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
