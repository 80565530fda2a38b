"""Statements from standard input, one a line as a JSON string; an answer a line. Run by sql.sh."""
import json, sys

from session import start

spark = start("mixed")
print(json.dumps({"ready": spark.version}), flush=True)
for line in sys.stdin:
    try:
        answer = {"rows": [list(row) for row in spark.sql(json.loads(line)).collect()]}
    except Exception as broken:  # the other side decides what an error means
        answer = {"error": " ".join(str(broken).split())[:600]}
    print(json.dumps(answer, default=str), flush=True)
spark.stop()
