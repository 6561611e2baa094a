#!/usr/bin/env python3
"""Writes the licence texts of all crates that are in the program and in the wheel: licences.py > THIRD-PARTY.md

Crates that only build or test are left out. A crate without a file of its own has the licences that it names, and is listed first:
their texts are those of others below. Exit code 1: a crate names no licence.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

#: How names of files with licence texts begin, without regard to case.
BEGINNINGS = ("licen", "copying", "notice", "unlicense", "copyright")


def crates():
    """The crates of all features, without those of this project."""
    metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--all-features", "--locked"]))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    own = set(metadata["workspace_members"])
    seen, open_ids = set(own), list(own)
    while open_ids:
        for dependency in nodes[open_ids.pop()]["deps"]:
            is_inside = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_inside and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                open_ids.append(dependency["pkg"])
    return sorted((packages[name] for name in seen - own), key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The licence texts in a crate, without differences of blanks."""
    folder = Path(package["manifest_path"]).parent
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name.lower().startswith(BEGINNINGS)]
    named = folder / (package["license_file"] or "")
    if named.is_file() and named not in files:
        files.append(named)
    return ["\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines()) for path in files]


def main():
    users, without = defaultdict(list), []
    all_crates = crates()
    for package in all_crates:
        name = f"{package['name']} {package['version']}"
        if not (package["license"] or package["license_file"]):
            sys.exit(f"{name} names no licence\nhint: read it, and decide with deny.toml")
        own = texts(package)
        for text in own:
            users[text].append(name)
        if not own:
            without.append(f"- {name}: {package['license']}, {package['repository'] or 'no repository named'}")
    print(f"# Licences of the {len(all_crates)} crates that callsieve is built from\n")
    print("## Crates without a text of their own\n\n" + "\n".join(without))
    for text, names in sorted(users.items(), key=lambda item: (-len(item[1]), item[1])):
        print(f"\n## {', '.join(names)}\n\n~~~~text\n{text}\n~~~~")


if __name__ == "__main__":
    main()
