"""Some PyIceberg writers in one process, each with a catalog (and so a connection) of its own. Run by judge.py; see writing.py.

Every second writer keeps its table object between appends, as a service does, and meets its competitors by a 409; the others load
the table for each append, as a job does that starts anew.
"""
import json, os, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow as pa

from contention.writing import row_of, write_all
from table_files import connect

LOST_RACES = ("CommitFailedException", "ValidationException")


class Writer:
    def __init__(self, order, number):
        self.catalog, self.number = connect(order["uri"], **json.loads(os.environ.get("CATALOG_PROPS") or "{}")), number
        self.name = (order["namespace"], order["table"])
        self.table = self.catalog.load_table(self.name)

    def append(self, turn):
        if self.number % 2:
            self.table = self.catalog.load_table(self.name)
        values = {name: pa.array([value], pa.int32() if name != "v" else pa.int64()) for name, value in row_of(self.number, turn).items()}
        self.table.append(pa.table(values))


write_all(json.loads(sys.argv[1]), Writer, lambda broken: type(broken).__name__ in LOST_RACES)
