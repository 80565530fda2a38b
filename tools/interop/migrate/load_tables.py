"""Reads every table of a catalog with Spark: load_tables.py EXPECTED.json. Run by migrate.py.

EXPECTED holds "tables", a list of names as lists of levels, and "rows", how many rows each table has that has any.
"""
import json, sys
from session import start

expected = json.load(open(sys.argv[1]))
rows = {tuple(name): count for name, count in expected["rows"]}
spark = start("migrate")


def quoted(levels):
    return ".".join(f"`{level}`" for level in levels)


def namespaces(parent):
    for row in spark.sql(f"SHOW NAMESPACES IN {quoted(['lake'] + parent)}").collect():
        levels = row[0].replace("`", "").split(".")
        yield levels
        yield from namespaces(levels)


read, failed = set(), []
for levels in namespaces([]):
    for row in spark.sql(f"SHOW TABLES IN {quoted(['lake'] + levels)}").collect():
        name = (*levels, row["tableName"])
        try:
            table = spark.table(quoted(["lake", *name]))
            assert table.columns == ["id", "note"], table.columns
            # A job per table takes long; those without rows have nothing to read but their metadata.
            assert name not in rows or table.count() == rows[name], f"expected {rows[name]} rows"
            read.add(name)
        except Exception as error:
            failed.append(f"{name}: {str(error)[:200]}")
missing = {tuple(name) for name in expected["tables"]} - read
for line in [*failed, *(f"{name}: not read" for name in missing)][:5]:
    print(line)
print(f"Spark read {len(read)} of {len(expected['tables'])} tables and the rows of {len(rows)}")
good = not failed and not missing
print("1 passed, 0 failed" if good else "0 passed, 1 failed")
sys.exit(0 if good else 1)
