"""Some DuckDB writers in one process, each a database with a catalog attached of its own. Run by judge.py; see writing.py."""
import json, os, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from contention.writing import row_of, write_all
from engines import attach_duckdb


class Writer:
    def __init__(self, order, number):
        self.connection, self.number = attach_duckdb(order["uri"], order["extensions"], os.environ.get("DUCKDB_SETUP")), number
        self.connection.execute("SET threads = 1")
        self.target = f"lake.{order['namespace']}.{order['table']}"

    def append(self, turn):
        row = row_of(self.number, turn)
        self.connection.execute(f"INSERT INTO {self.target} VALUES ({row['v']}, {row['writer']}, {row['turn']})")


# The text is DuckDB's own; it has no class of its own for a lost race.
write_all(json.loads(sys.argv[1]), Writer, lambda broken: "Conflict_409" in str(broken) or "CommitFailedException" in str(broken))
