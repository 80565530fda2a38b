"""Counts the rows of every table of a catalog with Spark: load_tables.py TABLES_EXPECTED ROWS_EXPECTED. Run by migrate.py."""
import sys
from session import start

tables_expected, rows_expected = map(int, sys.argv[1:])
spark = start("migrate")


def quoted(levels):
    return ".".join(f"`{level}`" for level in levels)


def namespaces(parent):
    catalog = spark.sparkContext._jvm.org.apache.spark.sql.connector.catalog
    found = spark.sql(f"SHOW NAMESPACES IN {quoted(['lake'] + parent)}").collect()
    for row in found:
        levels = row[0].replace("`", "").split(".")
        yield levels
        yield from namespaces(levels)


tables, rows, failed = 0, 0, []
for levels in namespaces([]):
    for row in spark.sql(f"SHOW TABLES IN {quoted(['lake'] + levels)}").collect():
        try:
            rows += spark.table(quoted(["lake"] + levels + [row["tableName"]])).count()
            tables += 1
        except Exception as error:
            failed.append(f"{levels} {row['tableName']}: {str(error)[:200]}")
for line in failed[:5]:
    print(line)
ok = not failed and (tables, rows) == (tables_expected, rows_expected)
print(f"Spark read {tables} tables with {rows} rows; expected {tables_expected} with {rows_expected}; {len(failed)} failed")
print("1 passed, 0 failed" if ok else "0 passed, 1 failed")
sys.exit(0 if ok else 1)
