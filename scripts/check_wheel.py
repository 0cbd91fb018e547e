"""Looks into a built wheel: all that must be there, nothing else, and a tag that fits every Python."""

import sys
import zipfile
from pathlib import Path

REQUIRED = (
    "microloop/py.typed",
    "microloop/policy.schema.json",
    "microloop/_lowlevel/ffi.py",
    "microloop/_lowlevel/lib_lowlevel.so",
)
ROOTS = ("microloop/", "microloop-")


def problems(wheel: Path, names: list[str]) -> list[str]:
    """What is wrong with the wheel, in words."""
    found = [f"{name} is missing" for name in REQUIRED if name not in names]
    found += [f"{name} does not belong into the wheel" for name in names if not name.startswith(ROOTS)]
    shipped = sorted(Path("policies").glob("*.yaml"))
    found += [f"{path} is not packaged" for path in shipped if f"microloop/{path}" not in names]
    if "-py3-none-" not in wheel.name:
        found.append(f"the tag of {wheel.name} is not py3-none: it would not install on every Python")
    return found


def main() -> int:
    """Prints what the wheel holds, biggest first; 1 if anything is wrong."""
    wheel = Path(sys.argv[1])
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    for member in sorted(members, key=lambda entry: -entry.compress_size)[:8]:
        print(f"{member.compress_size / 1000:9.1f} kB  {member.filename}")
    print(f"{wheel.stat().st_size / 1000:9.1f} kB  {wheel.name}, {len(members)} files")
    wrong = problems(wheel, [member.filename for member in members])
    for problem in wrong:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
