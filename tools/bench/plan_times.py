"""How long PyIceberg takes to plan scans of a table for itself: `plan<TAB>what<TAB>milliseconds<TAB>files` for each.

    plan_times.py URI NAMESPACE.TABLE HOSTNAME FROM TO
"""

import sys
import time

from pyiceberg.catalog import load_catalog

RUNS = 2

uri, table_name, hostname, begin, end = sys.argv[1:]
catalog = load_catalog("bench", type="rest", uri=uri, warehouse="main")
selective = f"ts >= '{begin}' and ts < '{end}' and hostname = '{hostname}'"
for what, row_filter in (("1 h × 1 series", selective), ("all", None)):
    for run in range(1, RUNS + 1):
        table = catalog.load_table(table_name)
        scan = table.scan() if row_filter is None else table.scan(row_filter=row_filter)
        started = time.perf_counter()
        count = sum(1 for _ in scan.plan_files())
        took = (time.perf_counter() - started) * 1000
        print(f"plan\t{what}, run {run}\t{took:.1f}\t{count}", flush=True)
