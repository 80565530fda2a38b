#!/usr/bin/env python3
"""Random predicates through PyIceberg, planned by the client and by the server: the same rows, equal counts.

    predicates.py --uri URI [--warehouse NAME] [--count N] [--seed N] [--foreign NAMESPACE] [--only PATTERN]

Twenty-odd shapes of tables of its own, and the tables of a namespace that others wrote (--foreign), as far as PyIceberg can read
them by itself and plan them through a server (no null partitions, no equality deletes). Files that the server hands out and the client
leaves out are allowed where the reason has a name; they are counted by it. Last line: N passed, N failed, N skipped.
"""
import argparse, collections, datetime as dt, decimal, math, random, re, sys, uuid

import pyarrow as pa
from pyiceberg import expressions as ex
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform, TruncateTransform, YearTransform
from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType, IntegerType, ListType, LongType, NestedField,
                             StringType, StructType, TimestampType, TimestamptzType, TimeType)

from harness import clean, connect

D, UTC = decimal.Decimal, dt.timezone.utc
ROWS, FILES = 24, 6
FOREIGN_SHARE = 3  # of the predicates for a table of our own, so many fewer for one that others wrote
SHAPES = []
COLUMNS = [("b", BooleanType()), ("i", IntegerType()), ("l", LongType()), ("f", FloatType()), ("d", DoubleType()), ("dec", DecimalType(9, 2)), ("big", DecimalType(30, 6)),
           ("day", DateType()), ("tod", TimeType()), ("ts", TimestampType()), ("tz", TimestamptzType()), ("s", StringType()), ("fix", FixedType(4)), ("bin", BinaryType()),
           ("st", StructType(NestedField(101, "x", IntegerType(), required=False), NestedField(102, "y", StringType(), required=False))),
           ("li", ListType(103, IntegerType(), element_required=False)), ("key", IntegerType()), ("tag", StringType())]
SOURCE = {name: place for place, (name, _) in enumerate(COLUMNS, 1)}
WORDS = ["", "a", "alpha", "alphabet", "beta", "Ünïcode", "zebra", "日本語テキスト", "a'quote", "\U0001f600smile", "prefix-0123456789-longer-than-16", "prefix-0123456789-longer-than-17"]
EPOCH, MOMENT = dt.date(1970, 1, 1), dt.datetime(1970, 1, 1)


def schema(required=()):
    return Schema(*[NestedField(SOURCE[n], n, t, required=n in required) for n, t in COLUMNS])


def value(kind, rng, spread):
    """A value of a column; `spread` is where this file's values lie, so that files differ."""
    n = spread * 10 + rng.randrange(4) * 3
    match kind:
        case BooleanType(): return n % 3 == 0
        case IntegerType() | LongType(): return n - 20
        case FloatType() | DoubleType(): return rng.choice([float(n) / 4 - 5, 0.0, -0.0] + ([math.nan] if spread % 3 == 0 else []) + ([math.inf, -math.inf] if spread == 4 else []))
        case DecimalType(): return (D(n - 25) / 4).quantize(D(1).scaleb(-kind.scale))
        case DateType(): return EPOCH + dt.timedelta(days=n - 30)
        case TimeType(): return dt.time(n % 24, n % 60, n % 60, abs(n))
        case TimestampType(): return MOMENT + dt.timedelta(hours=7 * (n - 30), microseconds=n)
        case TimestamptzType(): return (MOMENT + dt.timedelta(hours=7 * (n - 30), microseconds=n)).replace(tzinfo=UTC)
        case StringType(): return WORDS[n % len(WORDS)] + ("" if n % 2 else str(n))
        case FixedType(): return bytes([n % 256, 255, 0, n % 7])
        case BinaryType(): return bytes([n % 256] * (n % 4))
        case StructType(): return {f.name: value(f.field_type, rng, spread) for f in kind.fields}
        case ListType(): return [n, n + 1]
    raise AssertionError(kind)


def batch(table_schema, seed, required=()):
    """One file's rows; about one value in eight is null, and a whole column of file 2."""
    rng, spread = random.Random(seed), seed % 7
    def one(field):
        if field.name in required: return value(field.field_type, rng, spread)
        if field.name == "l" and spread == 2: return None
        return None if rng.random() < 0.12 else value(field.field_type, rng, spread)
    return pa.Table.from_pylist([{f.name: one(f) for f in table_schema.fields} for _ in range(ROWS)], schema=table_schema.as_arrow())


def shape(fn):
    SHAPES.append((fn.__name__.replace("_", "-"), fn))
    return fn


def fill(t, required=(), count=FILES, first=0):
    for seed in range(first, first + count): t.append(batch(t.schema(), seed, required))
    return t


def partitioned(*fields):
    """A shape whose partition sources are never null: PyIceberg cannot read a null in a task's partition."""
    names = tuple(dict.fromkeys(name for name, _ in fields))
    spec = PartitionSpec(*[PartitionField(SOURCE[n], 1000 + k, tr, f"{n}_p{k}") for k, (n, tr) in enumerate(fields)])
    return lambda make: fill(make(schema(names), partition_spec=spec), names)


for label, fields in {
    "identity-string": [("tag", IdentityTransform())], "identity-int": [("key", IdentityTransform())], "identity-bool-date": [("b", IdentityTransform()), ("day", IdentityTransform())],
    "identity-decimal": [("dec", IdentityTransform())], "day-of-timestamp": [("ts", DayTransform())], "hour-of-timestamptz": [("tz", HourTransform())], "month-of-date": [("day", MonthTransform())],
    "year-of-timestamp": [("ts", YearTransform())], "bucket-int": [("key", BucketTransform(5))], "bucket-string-and-day": [("tag", BucketTransform(3)), ("tz", DayTransform())],
    "truncate-string": [("tag", TruncateTransform(3))], "truncate-int": [("key", TruncateTransform(10))], "truncate-decimal": [("dec", TruncateTransform(50))], "bucket-decimal": [("dec", BucketTransform(4))],
}.items():
    SHAPES.append((label, partitioned(*fields)))


@shape
def unpartitioned(make): return fill(make(schema()))


@shape
def version_1(make): return fill(make(schema(("tag",)), properties={"format-version": "1"}, partition_spec=PartitionSpec(PartitionField(SOURCE["tag"], 1000, IdentityTransform(), "tag"))), ("tag",))


@shape
def no_metrics(make): return fill(make(schema(), properties={"write.metadata.metrics.default": "none"}))


@shape
def counts_only(make): return fill(make(schema(), properties={"write.metadata.metrics.default": "counts"}))


@shape
def cut_bounds(make): return fill(make(schema(), properties={"write.metadata.metrics.default": "truncate(2)"}))


@shape
def merged_manifests(make):
    return fill(make(schema(), properties={"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"}), count=9)


@shape
def evolved_spec(make):
    t = fill(make(schema(("key", "ts"))), ("key", "ts"), 3)
    with t.update_spec() as u: u.add_field("key", IdentityTransform(), "key_id")
    fill(t, ("key", "ts"), 2, 3)
    with t.update_spec() as u: u.remove_field("key_id").add_field("ts", DayTransform(), "ts_day")
    return fill(t, ("key", "ts"), 3, 5)


@shape
def evolved_schema(make):
    t = fill(make(schema()), count=2)
    with t.update_schema() as u:
        u.add_column("late", IntegerType()); u.rename_column("s", "text"); u.delete_column("b"); u.update_column("i", LongType()); u.update_column("f", DoubleType())
    t.append(batch(t.schema(), 3)); t.append(batch(t.schema(), 4))
    with t.update_schema() as u: u.update_column("dec", DecimalType(18, 2)); u.add_column("b", StringType())
    t.append(batch(t.schema(), 5))
    return t


@shape
def deleted_rows(make):
    t = fill(make(schema(("key",)), partition_spec=PartitionSpec(PartitionField(SOURCE["key"], 1000, TruncateTransform(10), "k"))), ("key",))
    t.delete("key < -10"); t.delete("i = 3"); t.overwrite(batch(t.schema(), 5, ("key",)), overwrite_filter="key > 30")
    return t


@shape
def empty(make): return make(schema())


@shape
def many_files(make): return fill(make(schema()), count=25)


def paths(fields, prefix=""):
    """(name, type) of every column that a predicate can test; lists cannot be."""
    for field in fields:
        if isinstance(field.field_type, StructType): yield from paths(field.field_type.fields, f"{prefix}{field.name}.")
        elif field.field_type.is_primitive: yield prefix + field.name, field.field_type


def sample(rng, rows, name, kind):
    """A literal: mostly a value of the table, or next to one, or far from all."""
    found = rows.get(name) or []
    if not found or rng.random() < 0.1: got = value(kind, rng, rng.randrange(-3, 12))
    else: got = rng.choice(found)
    # JSON cannot hold them: PyIceberg sends null.
    if isinstance(got, float) and not math.isfinite(got): got = 0.5
    if isinstance(got, dt.datetime): return got + dt.timedelta(microseconds=rng.choice([0, 0, -1, 1, 3_600_000_000]))
    if isinstance(got, dt.date): return got + dt.timedelta(days=rng.choice([0, 0, -1, 1, 40]))
    if isinstance(got, bool) or isinstance(got, (bytes, str, dt.time)): return got
    if isinstance(got, int):
        # Beyond the type's range PyIceberg takes a literal of a set for the greatest value.
        limit = 2 ** (31 if isinstance(kind, IntegerType) else 63)
        return min(max(got + rng.choice([0, 0, -1, 1, 1000]), -limit), limit - 1)
    if isinstance(got, D): return got + rng.choice([0, 0, 1, -1]) * D(1).scaleb(got.as_tuple().exponent)
    return got


def literal(v):
    """As PyIceberg takes it: dates and times as text, which keeps every digit."""
    if isinstance(v, dt.datetime): return v.isoformat()
    if isinstance(v, (dt.date, dt.time)): return v.isoformat()
    return v


def leaf(rng, columns, rows):
    name, kind = rng.choice(columns)
    if rng.random() < 0.12: return rng.choice([ex.IsNull, ex.NotNull])(name)
    if isinstance(kind, (FloatType, DoubleType)) and rng.random() < 0.2: return rng.choice([ex.IsNaN, ex.NotNaN])(name)
    if isinstance(kind, StringType) and rng.random() < 0.3:
        return rng.choice([ex.StartsWith, ex.NotStartsWith])(name, str(sample(rng, rows, name, kind))[: rng.randrange(1, 19)] or "a")
    if rng.random() < 0.2: return rng.choice([ex.In, ex.NotIn])(name, {literal(sample(rng, rows, name, kind)) for _ in range(rng.choice([2, 3, 10, 300]))})
    operators = [ex.EqualTo, ex.NotEqualTo] if isinstance(kind, BooleanType) else [ex.EqualTo, ex.NotEqualTo, ex.LessThan, ex.LessThanOrEqual, ex.GreaterThan, ex.GreaterThanOrEqual]
    return rng.choice(operators)(name, literal(sample(rng, rows, name, kind)))


def predicate(rng, columns, rows, depth=0):
    pick = rng.random()
    if depth > 2 or pick < 0.45: return leaf(rng, columns, rows)
    if pick < 0.55: return ex.Not(predicate(rng, columns, rows, depth + 1))
    kind = ex.And if pick < 0.8 else ex.Or
    return kind(predicate(rng, columns, rows, depth + 1), predicate(rng, columns, rows, depth + 1))


def values_by_path(arrow):
    """The values in a table by the full names of its columns, without nulls."""
    found = collections.defaultdict(list)
    def walk(name, v):
        if isinstance(v, dict):
            for k, inner in v.items(): walk(f"{name}.{k}", inner)
        elif v is not None and not isinstance(v, list): found[name].append(v)
    for row in arrow.to_pylist():
        for name, v in row.items(): walk(name, v)
    return found


def canonical(arrow):
    return sorted(map(repr, arrow.to_pylist()))


def planned_once(scan):
    """Answers the scan with a plan that was made once, however often it is asked for."""
    tasks = []
    def planned():
        if not tasks:
            tasks.append(list(scan.plan_files()))
            object.__setattr__(scan, "plan_files", lambda: list(tasks[0]))
        return scan
    return planned


def nan_columns(table, file):
    """The floating-point columns of a file that hold NaN, or may: a file without counts may."""
    names = {}
    for schema in table.schemas().values():
        for field in schema.fields:
            if isinstance(field.field_type, (FloatType, DoubleType)): names.setdefault(field.field_id, set()).add(field.name)
    counts = file.nan_value_counts or {}
    return {name for field_id, known in names.items() if counts.get(field_id, 1) for name in known}


class Judge:
    def __init__(self, options):
        self.options, self.rng = options, random.Random(options.seed)
        self.here, self.there = connect(options), connect(options, **{"scan-planning-mode": "server"})
        assert self.there.supports_server_side_planning(), "the server announces no plan routes"
        self.counts, self.supersets, self.crashes = collections.Counter(), collections.Counter(), collections.Counter()

    def compare(self, name, filter_, **how):
        """Counts one comparison; a predicate at which the client stumbles by itself says nothing about the server."""
        here, there = (planned_once(catalog.load_table(name).scan(row_filter=filter_, **how)) for catalog in (self.here, self.there))
        try: rows, files = canonical(here().to_arrow()), {f.file.file_path for f in here().plan_files()}
        except Exception as e:
            self.crashes[f"{type(e).__name__}: {str(e)[:60]}"] += 1
            return
        wrong = []
        try:
            paths, got = [f.file.file_path for f in there().plan_files()], canonical(there().to_arrow())
            more, fewer = list((collections.Counter(got) - collections.Counter(rows)).elements()), collections.Counter(rows) - collections.Counter(got)
            # NaN is above every number, so `x > 5` keeps it in PyArrow's `not (x <= 5)`; PyIceberg prunes as if there were none.
            if fewer or any("nan" not in row for row in more): wrong.append(f"{len(got)} rows instead of {len(rows)}")
            elif more: self.supersets["rows with NaN, which the client's own plan loses"] += 1
            # Counting reads every file again whose residual is not `true`.
            if self.rng.random() < 0.3 and there().count() != len(got): wrong.append(f"count {there().count()} instead of {len(got)}")
            if len(set(paths)) != len(paths): wrong.append("a file twice")
            for path in set(paths) - files: self.supersets[self.reason(path, name, filter_)] += 1
        except Exception as e: wrong = [f"{type(e).__name__}: {str(e)[:300]}"]
        if not wrong: self.counts["passed"] += 1
        else:
            self.counts["failed"] += 1
            print(f"FAIL {'.'.join(name)} {how or ''} {filter_!r}: {'; '.join(wrong)}", flush=True)

    def reason(self, path, name, filter_):
        """Why the server may hand out a file that the client leaves out."""
        text = repr(filter_)
        if re.search(r"DoubleLiteral\(-?0\.0\)", text): return "files with zero or negative zero, which are equal"
        if any(f"Reference(name={column!r})" in text for column in self.with_nan.get(path, ())): return "files with NaN, which is above every number"
        return f"unnamed: {'.'.join(name)} {text[:300]}"

    def run(self, name, count):
        table = self.here.load_table(name)
        columns = list(paths(table.schema().fields))
        rows = values_by_path(table.scan().to_arrow())
        self.with_nan = {task.file.file_path: nan_columns(table, task.file) for snapshot in table.snapshots() for task in table.scan(snapshot_id=snapshot.snapshot_id).plan_files()}
        self.compare(name, ex.AlwaysTrue())
        for _ in range(count): self.compare(name, predicate(self.rng, columns, rows))
        for snapshot in table.snapshots()[:2]: self.compare(name, leaf(self.rng, [c for c in columns if c[0] == "key"] or columns, rows), snapshot_id=snapshot.snapshot_id)
        self.compare(name, leaf(self.rng, columns, rows), selected_fields=(columns[0][0],))

    def foreign(self, namespace, count):
        for name in sorted(self.here.list_tables(namespace)):
            try:
                table = self.here.load_table(name); table.scan().to_arrow(); tasks = list(table.scan().plan_files())
                why = "a null partition" if any(v is None for t in tasks for v in (t.file.partition[k] for k in range(len(t.file.partition)))) else None
            except Exception as e: why = f"PyIceberg cannot read it: {type(e).__name__} {str(e)[:80]}"
            if why:
                self.counts["skipped"] += 1
                print(f"SKIP {'.'.join(name)} {why}", flush=True)
            else: self.run(name, count // FOREIGN_SHARE)


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("uri", None), ("warehouse", ""), ("foreign", None), ("only", "")): parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--count", type=int, default=36); parser.add_argument("--seed", type=int, default=20261130); parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    judge, namespace = Judge(options), f"predicates_{uuid.uuid4().hex[:8]}"
    judge.here.create_namespace(namespace)
    try:
        for label, make in SHAPES:
            if not re.search(options.only, label): continue
            name = (namespace, label)
            make(lambda schema, **how: judge.here.create_table(name, schema, **how))
            before = sum(judge.counts.values())
            judge.run(name, options.count)
            print(f"ok   {label}: {sum(judge.counts.values()) - before} comparisons", flush=True)
        if options.foreign: judge.foreign(options.foreign, options.count)
    finally:
        if not options.keep: clean(judge.here, (namespace,))
    for what, found in (("superset", judge.supersets), ("not compared", judge.crashes)):
        for reason, n in found.most_common(): print(f"info {what}: {n} × {reason}")
    for reason in judge.supersets:
        if reason.startswith("unnamed"): judge.counts["failed"] += 1; print(f"FAIL a file too many, {reason}")
    print(f"{judge.counts['passed']} passed, {judge.counts['failed']} failed, {judge.counts['skipped']} skipped")
    return 1 if judge.counts["failed"] or not judge.counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
