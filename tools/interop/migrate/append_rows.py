"""Appends rows with PyIceberg: append_rows.py URI ROWS NAMESPACE.TABLE…  Run by migrate.py with PyIceberg's own Python."""
import sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog

uri, rows, *names = sys.argv[1:]
catalog = load_catalog("source", type="rest", uri=uri)
batch = pa.table({"id": pa.array(range(int(rows)), pa.int64()), "note": pa.array(["x"] * int(rows), pa.string())})
for name in names:
    catalog.load_table(tuple(name.split("\t"))).append(batch)
print(f"{len(names)} tables with {rows} rows")
