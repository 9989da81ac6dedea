"""The options that a program's --help shows."""
import collections
import re
import subprocess

Option = collections.namedtuple("Option", "argument default minimum maximum text")


def parse(text):
    """Parses --help text: option name without hyphens -> Option. An entry is "  --port N   text [default; 0 to 65535]",
    over several lines."""
    found = {}
    for block in re.findall(r"^  --.*(?:\n {5,}.*)*", text, re.M):
        name, argument, rest = re.fullmatch(r"--([a-z-]+)(?: ([A-Z]\S*))?(?: +(.*))?", " ".join(block.split())).groups()
        last = re.search(r"\[([^][]*)\]$", rest or "")
        parts = last.group(1).split("; ") if last else []
        bounds = re.fullmatch(r"(\S+) to (\S+)", parts[-1]) if parts else None
        parts = parts[:-1] if bounds else parts
        default = parts[0] if parts else ""
        minimum, maximum = (float(b) for b in bounds.groups()) if bounds else (None, None)
        found[name] = Option(argument or "", default, minimum, maximum, rest or "")
    return found


def of(*command):
    return parse(subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout)
