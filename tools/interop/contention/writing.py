"""What every process of writers does, whatever their engine: get ready, start together, append in turns, tell.

An order is JSON: {"uri", "namespace", "table", "writers": [numbers], "appends": count, "seconds": after which no append begins, or null}, for DuckDB also
"extensions". The process prints
`ready`, waits for a line, and prints one line of JSON in the end: a list of [writer, turn, milliseconds, outcome, detail], outcome
`landed`, `lost` (the client says that the commit failed because others came first) or `broken` (anything else).
"""
import json, sys, threading, time

VALUES_PER_WRITER = 1_000_000


def row_of(writer, turn):
    """The one row that a writer adds in its turn; no other append has its `v`."""
    return {"v": writer * VALUES_PER_WRITER + turn, "writer": writer, "turn": turn}


def write_all(order, make_writer, is_lost_race):
    writers = [make_writer(order, number) for number in order["writers"]]
    told, lock = [], threading.Lock()
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + (order["seconds"] or float("inf"))

    def write(writer):
        for turn in range(order["appends"]):
            began = time.monotonic()
            if began > end:
                break
            outcome, detail = "landed", ""
            try:
                writer.append(turn)
            except Exception as broken:
                outcome, detail = ("lost" if is_lost_race(broken) else "broken"), f"{type(broken).__name__}: {' '.join(str(broken).split())[:300]}"
            with lock:
                told.append([writer.number, turn, round((time.monotonic() - began) * 1000, 1), outcome, detail])

    threads = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(told), flush=True)
