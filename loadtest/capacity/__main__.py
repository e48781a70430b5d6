"""The capacity model: `python -m loadtest.capacity`; `make capacity` puts its table into docs/scale-out.md.

Computes what a number of tenants and memories would take, from the constants of constants.yaml. A model, and not a
test: nothing of that size was run. Inputs come from a YAML file, from flags, or both, flags first.
"""

import argparse
import json
import sys
from pathlib import Path

from pydantic import ValidationError

from loadtest.capacity.constants import constants
from loadtest.capacity.model import Capacity
from loadtest.capacity.report import as_json, markdown, put_into
from loadtest.capacity.workload import Workload, workload

WRONG_INPUT = 2


def main(arguments: list[str] | None = None) -> int:
    """Print the table or write it into a document; return 2 where an input is wrong, and say which."""
    parser = argparse.ArgumentParser(
        prog="python -m loadtest.capacity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=Path, help="YAML file with some of the inputs below, by their names with _")
    parser.add_argument("--json", action="store_true", help="print inputs and rows as one JSON object")
    parser.add_argument("--into", type=Path, help="write the table between the markers of this document")
    for name, field in Workload.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, help=f"default {field.default:,}")
    options = vars(parser.parse_args(arguments))
    given = {name: options[name] for name in Workload.model_fields if name in options}
    try:
        case = workload(options["inputs"], given)
        rows = Capacity(case, constants()).rows()
        if options["into"]:
            text = put_into(options["into"].read_text("utf-8"), markdown(case, rows))
            options["into"].write_text(text, "utf-8")
            return 0
    except ValidationError as error:
        for each in error.errors():
            sys.stderr.write(f"{'.'.join(map(str, each['loc'])) or 'inputs'}: {each['msg']}\n")
        return WRONG_INPUT
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_INPUT
    sys.stdout.write(f"{json.dumps(as_json(case, rows))}\n" if options["json"] else markdown(case, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
