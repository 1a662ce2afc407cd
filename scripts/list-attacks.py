#!/usr/bin/env python3
"""Prints, as Markdown, the attacks of tests/redteam by kind: what each file shows, in the words of its own
first comment, what stops it, and the verdicts that are accepted. expected.json has the same as data."""
import json
import pathlib

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "tests/redteam"


def shown(attack):
    """The first comment after the plan; a reply has no comment of its own."""
    if "shows" in attack:
        return attack["shows"]
    line = (CORPUS / attack["file"]).read_text().partition("@*/\n")[2].partition("\n")[0]
    if not line.startswith("// "):
        raise SystemExit(f"{attack['file']}: the line after the plan does not say what the file shows")
    return line[3:]


def verdicts(attack, device):
    text = ", ".join(f"`{verdict}`" for verdict in attack[device])
    if device == "cpu" and "cpu_why" in attack:
        text += f" ({attack['cpu_why']})"
    return text + " or paid in full" * attack.get("pays", False)


def main():
    attacks = json.loads((CORPUS / "expected.json").read_text())
    kinds = json.loads((CORPUS / "kinds.json").read_text())
    print("| file | what it shows | what stops it | cpu | CUDA |\n|---|---|---|---|---|")
    for number, kind in enumerate(kinds, 1):
        print(f"| | **{number}. {kind}** | | | |")
        for attack in attacks:
            if attack["rows"][0] == number:
                print(f"| `{attack['file']}` | {shown(attack)} | {attack['why']} | "
                      f"{verdicts(attack, 'cpu')} | {verdicts(attack, 'cuda')} |")
        also = [f"`{attack['file']}`" for attack in attacks if number in attack["rows"][1:]]
        if also:
            print(f"| | also: {', '.join(also)} | | | |")


if __name__ == "__main__":
    main()
