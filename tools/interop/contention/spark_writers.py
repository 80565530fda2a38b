"""Some Spark writers in one session, each with a catalog (and so an HTTP client) of its own. Run by spark_writers.sh; see writing.py."""
import json, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from contention.writing import row_of, write_all
from session import start

order = json.loads(sys.argv[1])
spark = start("contention")
# What session.py sets for the catalog `lake`, once more for each writer.
PREFIX = "spark.sql.catalog.lake"
lake = {name.removeprefix(PREFIX): value for name, value in spark.sparkContext.getConf().getAll() if name == PREFIX or name.startswith(PREFIX + ".")}


class Writer:
    def __init__(self, order, number):
        self.number, catalog = number, f"lake{number}"
        for name, value in lake.items():
            spark.conf.set(f"spark.sql.catalog.{catalog}{name}", value)
        self.target = f"{catalog}.{order['namespace']}.{order['table']}"
        spark.sql(f"SELECT * FROM {self.target} LIMIT 0").collect()

    def append(self, turn):
        row = row_of(self.number, turn)
        spark.sql(f"INSERT INTO {self.target} VALUES ({row['v']}L, {row['writer']}, {row['turn']})")


write_all(order, Writer, lambda broken: "CommitFailedException" in str(broken))
spark.stop()
