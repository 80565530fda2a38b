#!/usr/bin/env python3
"""Spark SQL checks against an Iceberg REST catalog; started by run.sh.

  checks.py [--only REGEX] [--skip REGEX] [--list]

Every check uses tables of its own in one fresh namespace. Prints one line per check, then `N passed, N failed`.
"""
import argparse, os, re, sys, time, uuid
from concurrent.futures import ThreadPoolExecutor

ap = argparse.ArgumentParser()
ap.add_argument("--only", default="")
ap.add_argument("--skip", default="")
ap.add_argument("--list", action="store_true")
args = ap.parse_args()

N = "spark_" + uuid.uuid4().hex[:8]
CHECKS, spark = [], None


def check(fn):
    CHECKS.append(fn)
    return fn


def sql(text):
    return [tuple(row) for row in spark.sql(text).collect()]


def one(text):
    return sql(text)[0][0]


def equal(actual, expected, what=""):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}".lstrip(": "))


def raises(pattern, text):
    try:
        sql(text)
    except Exception as e:
        if not re.search(pattern, str(e)):
            raise AssertionError(f"expected an error like {pattern!r}, got {str(e)[:300]}")
        return
    raise AssertionError(f"expected an error like {pattern!r}, got none [{text[:100]}]")


def local(location):
    """The folder behind a file: location, or None for an object store."""
    return re.sub(r"^file:/+", "/", location) if location.startswith("file:") else None


def location_of(table):
    return [r[1] for r in sql(f"DESCRIBE TABLE EXTENDED {table}") if r[0] == "Location"][0]


def small_files(table, parts=5, ddl="", props=""):
    sql(f"CREATE TABLE {table} (a int, b string) USING iceberg {ddl} {props}")
    for n in range(parts):
        sql(f"INSERT INTO {table} VALUES ({n}, 'b{n}')")


# ---- namespaces ----------------------------------------------------------------------------------------------------
@check
def namespace_properties():
    ns = f"{N}_p"
    sql(f"CREATE NAMESPACE {ns} COMMENT 'c' WITH DBPROPERTIES ('k' = 'v', 'ü' = 'ä b')")
    equal("(k,v)" in str(sql(f"DESCRIBE NAMESPACE EXTENDED {ns}")), True, "property k")
    sql(f"ALTER NAMESPACE {ns} SET DBPROPERTIES ('k' = 'w', 'n' = '1')")
    text = str(sql(f"DESCRIBE NAMESPACE EXTENDED {ns}"))
    for part in ("(k,w)", "(n,1)", "(ü,ä b)"):
        equal(part in text, True, f"{part} in {text}")
    raises("SCHEMA_ALREADY_EXISTS|already exists", f"CREATE NAMESPACE {ns}")
    sql(f"CREATE NAMESPACE IF NOT EXISTS {ns}")
    sql(f"CREATE TABLE {ns}.t (a int) USING iceberg")
    raises("not empty|SCHEMA_NOT_EMPTY|SCHEMA_NOT_FOUND", f"DROP NAMESPACE {ns}")
    sql(f"DROP TABLE {ns}.t")
    sql(f"DROP NAMESPACE {ns}")
    equal((ns,) in sql("SHOW NAMESPACES"), False)
    sql(f"DROP NAMESPACE IF EXISTS {ns}")


@check
def namespace_nested():
    sql(f"CREATE NAMESPACE {N}.a")
    sql(f"CREATE NAMESPACE {N}.a.b")
    equal(sql(f"SHOW NAMESPACES IN {N}"), [(f"{N}.a",)])
    equal(sql(f"SHOW NAMESPACES IN {N}.a"), [(f"{N}.a.b",)])
    sql(f"CREATE TABLE {N}.a.b.t USING iceberg AS SELECT 1 x")
    equal(sql(f"SELECT x FROM {N}.a.b.t"), [(1,)])
    equal([r[1] for r in sql(f"SHOW TABLES IN {N}.a.b")], ["t"])
    sql(f"DROP TABLE {N}.a.b.t")
    sql(f"DROP NAMESPACE {N}.a.b")
    sql(f"DROP NAMESPACE {N}.a")
    equal(sql(f"SHOW NAMESPACES IN {N}"), [])


# ---- create and write ----------------------------------------------------------------------------------------------
@check
def create_errors():
    sql(f"CREATE TABLE {N}.ce (a int) USING iceberg")
    raises("already exists", f"CREATE TABLE {N}.ce (a int) USING iceberg")
    sql(f"CREATE TABLE IF NOT EXISTS {N}.ce (a int) USING iceberg")
    raises("TABLE_OR_VIEW_NOT_FOUND|cannot be found", f"SELECT * FROM {N}.nothing")
    sql(f"DROP TABLE IF EXISTS {N}.nothing")


@check
def create_in_missing_namespace():
    raises("cannot be found|does not exist|NOT_FOUND", f"CREATE TABLE {N}_none.t (a int) USING iceberg")


@check
def all_types():
    sql(f"""CREATE TABLE {N}.types USING iceberg AS SELECT true b, 1 i, 9223372036854775807L l, CAST(1.5 AS float) f, 2.5D d,
        CAST('12345678901234567890.12' AS decimal(38,2)) de, DATE '1969-12-31' dt, TIMESTAMP '1969-12-31 23:59:59.999999' ts,
        TIMESTAMP_NTZ '2026-01-01 00:00:00.000001' tn, 'ä€😀' s, X'00FF' bi, array(1, null) ar, map('k', 1) m, named_struct('p', 1, 'q', 'x') st""")
    equal(sql(f"SELECT b, i, l, f, d, CAST(de AS string), CAST(dt AS string), CAST(ts AS string), CAST(tn AS string), s, hex(bi), CAST(ar AS string), m['k'], st.q FROM {N}.types"),
          [(True, 1, 9223372036854775807, 1.5, 2.5, "12345678901234567890.12", "1969-12-31", "1969-12-31 23:59:59.999999", "2026-01-01 00:00:00.000001",
            "ä€😀", "00FF", "[1, null]", 1, "x")])


@check
def ctas_partitioned():
    sql(f"""CREATE TABLE {N}.part USING iceberg PARTITIONED BY (days(ts), bucket(4, id), truncate(2, name)) TBLPROPERTIES ('format-version' = '2') AS
        SELECT id, TIMESTAMP '2026-01-01 00:00:00' + make_interval(0, 0, 0, CAST(id % 3 AS int)) ts, concat('abc', id) name FROM range(30)""")
    equal(one(f"SELECT count(*) FROM {N}.part WHERE ts >= '2026-01-03'"), 10)
    equal(one(f"SELECT count(*) FROM {N}.part WHERE id = 7 AND name LIKE 'ab%'"), 1)
    equal(one(f"SELECT count(DISTINCT partition.ts_day) FROM {N}.part.partitions"), 3)
    equal(one(f"SELECT sum(record_count) FROM {N}.part.files"), 30)


@check
def insert_overwrite():
    sql(f"CREATE TABLE {N}.ow (id int, p int) USING iceberg PARTITIONED BY (p)")
    sql(f"INSERT INTO {N}.ow VALUES (1, 1), (2, 2)")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        sql(f"INSERT OVERWRITE {N}.ow VALUES (3, 2)")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    equal(sql(f"SELECT id FROM {N}.ow ORDER BY 1"), [(1,), (3,)])
    sql(f"INSERT OVERWRITE {N}.ow VALUES (4, 4)")
    equal(sql(f"SELECT id FROM {N}.ow"), [(4,)])
    equal(one(f"SELECT operation FROM {N}.ow.snapshots ORDER BY committed_at DESC LIMIT 1"), "overwrite")


@check
def null_nan():
    sql(f"CREATE TABLE {N}.nn (id int, v double) USING iceberg")
    sql(f"INSERT INTO {N}.nn VALUES (1, 1.5), (2, NULL), (3, double('NaN')), (4, double('-Infinity')), (5, 0.0D)")
    equal(sql(f"SELECT id FROM {N}.nn WHERE v IS NULL"), [(2,)])
    equal(sql(f"SELECT id FROM {N}.nn WHERE isnan(v)"), [(3,)])
    equal(sql(f"SELECT id FROM {N}.nn WHERE v = 0"), [(5,)])


def rows_changed(mode, version):
    t = f"{N}.chg_{mode.replace('-', '')}_{version}"
    sql(f"""CREATE TABLE {t} (id int, v string, p int) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '{version}',
        'write.delete.mode' = '{mode}', 'write.update.mode' = '{mode}', 'write.merge.mode' = '{mode}')""")
    sql(f"INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS int), 'old', CAST(id % 2 AS int) FROM range(10)")
    sql(f"DELETE FROM {t} WHERE id = 3")
    sql(f"UPDATE {t} SET v = 'upd' WHERE id = 4")
    sql(f"""MERGE INTO {t} t USING (SELECT * FROM VALUES (5, 'del'), (6, 'mrg'), (20, 'new') s(id, v)) s ON t.id = s.id
        WHEN MATCHED AND s.v = 'del' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, 0)""")
    equal(sql(f"SELECT id, v FROM {t} ORDER BY id"), [(0, "old"), (1, "old"), (2, "old"), (4, "upd"), (6, "mrg"), (7, "old"), (8, "old"), (9, "old"), (20, "new")])
    formats = {r[0] for r in sql(f"SELECT DISTINCT file_format FROM {t}.files WHERE content = 1")}
    equal(formats, set() if mode == "copy-on-write" else {"PARQUET"} if version == 2 else {"PUFFIN"}, "kinds of delete file")
    sql(f"DELETE FROM {t} WHERE p = 1")            # whole partition: metadata only
    equal(one(f"SELECT count(*) FROM {t} WHERE p = 1"), 0)


@check
def dml_copy_on_write():
    rows_changed("copy-on-write", 2)


@check
def dml_merge_on_read_v2():
    rows_changed("merge-on-read", 2)


@check
def dml_merge_on_read_v3_deletion_vectors():
    rows_changed("merge-on-read", 3)


@check
def upgrade_2_to_3():
    t = f"{N}.up23"
    small_files(t, 3, props="TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
    sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
    sql(f"INSERT INTO {t} VALUES (3, 'b3')")
    sql(f"DELETE FROM {t} WHERE a = 1")
    equal(sql(f"SELECT a FROM {t} ORDER BY a"), [(0,), (2,), (3,)])
    equal(one(f"SELECT count(DISTINCT _row_id) FROM {t}"), 3, "row ids after the upgrade")


@check
def row_lineage_v3():
    t = f"{N}.lineage"
    sql(f"CREATE TABLE {t} (a int, v string) USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.update.mode' = 'merge-on-read')")
    sql(f"INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS int), 'x' FROM range(3)")
    sql(f"INSERT INTO {t} VALUES (3, 'x')")
    equal(sql(f"SELECT a, _row_id, _last_updated_sequence_number FROM {t} ORDER BY a"), [(0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 3, 2)])
    sql(f"UPDATE {t} SET v = 'y' WHERE a = 1")
    equal(sql(f"SELECT _row_id, _last_updated_sequence_number FROM {t} WHERE a = 1"), [(1, 3)])
    equal(sql(f"SELECT first_row_id IS NOT NULL FROM {t}.data_files").count((True,)) > 0, True)


@check
def variant_v3():
    t = f"{N}.var"
    sql(f"CREATE TABLE {t} (a int, v variant) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(f"""INSERT INTO {t} VALUES (1, parse_json('{{"k": 5, "s": "x"}}')), (2, NULL)""")
    equal(sql(f"SELECT a, variant_get(v, '$.k', 'int') FROM {t} ORDER BY a"), [(1, 5), (2, None)])


@check
def create_or_replace():
    t = f"{N}.cor"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT 1 a")
    old = one(f"SELECT snapshot_id FROM {t}.snapshots")
    sql(f"CREATE OR REPLACE TABLE {t} USING iceberg PARTITIONED BY (c) AS SELECT 'x' b, 2 c")
    equal(sql(f"SELECT b, c FROM {t}"), [("x", 2)])
    equal(sql(f"SELECT a FROM {t} VERSION AS OF {old}"), [(1,)])
    sql(f"REPLACE TABLE {t} USING iceberg AS SELECT 3 d")
    equal(sql(f"SELECT d FROM {t}"), [(3,)])


@check
def concurrent_appends():
    t = f"{N}.conc"
    sql(f"CREATE TABLE {t} (w int, n int) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '20', 'commit.retry.min-wait-ms' = '20')")

    def writer(w):
        for n in range(5):
            sql(f"INSERT INTO {t} VALUES ({w}, {n})")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(writer, range(4)))
    equal(sql(f"SELECT w, count(*) FROM {t} GROUP BY w ORDER BY w"), [(w, 5) for w in range(4)])
    equal(one(f"SELECT count(*) FROM {t}.snapshots"), 20)


# ---- alter ---------------------------------------------------------------------------------------------------------
@check
def alter_columns():
    t = f"{N}.alt"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT 1 a, 'x' b, CAST(1.5 AS float) f, named_struct('p', 1) s, CAST(1.25 AS decimal(5,2)) d")
    sql(f"ALTER TABLE {t} ADD COLUMNS (c int COMMENT 'c')")
    sql(f"ALTER TABLE {t} ADD COLUMN z string FIRST")
    sql(f"ALTER TABLE {t} ADD COLUMN s.q string")
    sql(f"ALTER TABLE {t} RENAME COLUMN b TO bb")
    sql(f"ALTER TABLE {t} ALTER COLUMN a TYPE bigint")
    sql(f"ALTER TABLE {t} ALTER COLUMN f TYPE double")
    sql(f"ALTER TABLE {t} ALTER COLUMN d TYPE decimal(10,2)")
    sql(f"ALTER TABLE {t} ALTER COLUMN bb AFTER c")
    sql(f"ALTER TABLE {t} ALTER COLUMN a COMMENT 'wide'")
    sql(f"ALTER TABLE {t} DROP COLUMN c")
    sql(f"ALTER TABLE {t} ADD COLUMN c string")       # same name again: a new field, so no old values
    equal([r[0] for r in sql(f"DESCRIBE {t}")][:7], ["z", "a", "f", "s", "d", "bb", "c"])
    sql(f"INSERT INTO {t} VALUES ('z', 9223372036854775807, 2.5D, named_struct('p', 2, 'q', 'q'), 3.75, 'y', 'c')")
    equal(sql(f"SELECT z, a, f, s.q, CAST(d AS string), bb, c FROM {t} ORDER BY a"),
          [(None, 1, 1.5, None, "1.25", "x", None), ("z", 9223372036854775807, 2.5, "q", "3.75", "y", "c")])
    raises("(?i)cannot (change|update|convert)|NOT_SUPPORTED", f"ALTER TABLE {t} ALTER COLUMN a TYPE int")


@check
def alter_partition_fields():
    t = f"{N}.altp"
    sql(f"CREATE TABLE {t} (id int, ts timestamp, p int) USING iceberg")
    sql(f"INSERT INTO {t} VALUES (1, TIMESTAMP '2026-01-01 05:00:00', 1)")
    sql(f"ALTER TABLE {t} ADD PARTITION FIELD days(ts) AS d")
    sql(f"INSERT INTO {t} VALUES (2, TIMESTAMP '2026-01-02 05:00:00', 1)")
    sql(f"ALTER TABLE {t} REPLACE PARTITION FIELD d WITH hours(ts)")
    sql(f"INSERT INTO {t} VALUES (3, TIMESTAMP '2026-01-03 05:00:00', 1)")
    sql(f"ALTER TABLE {t} ADD PARTITION FIELD bucket(8, id) AS shard")
    sql(f"ALTER TABLE {t} DROP PARTITION FIELD hours(ts)")
    sql(f"INSERT INTO {t} VALUES (4, TIMESTAMP '2026-01-04 05:00:00', 1)")
    sql(f"ALTER TABLE {t} ADD PARTITION FIELD p")
    sql(f"ALTER TABLE {t} DROP PARTITION FIELD p")
    sql(f"ALTER TABLE {t} ADD PARTITION FIELD p")     # the same field again: must get its old id back
    sql(f"INSERT INTO {t} VALUES (5, TIMESTAMP '2026-01-05 05:00:00', 2)")
    equal(sql(f"SELECT id FROM {t} WHERE ts > '2026-01-02' ORDER BY id"), [(2,), (3,), (4,), (5,)])
    equal(one(f"SELECT count(DISTINCT spec_id) FROM {t}.files"), 5)
    equal(one(f"SELECT count(*) FROM {t}.partitions"), 5)


@check
def write_ordered_by():
    t = f"{N}.ord"
    sql(f"CREATE TABLE {t} (id int, v string) USING iceberg")
    sql(f"ALTER TABLE {t} WRITE ORDERED BY id DESC NULLS LAST, truncate(1, v)")
    sql(f"INSERT INTO {t} SELECT CAST(id AS int), 'v' FROM range(10)")
    equal({r[0] for r in sql(f"SELECT DISTINCT sort_order_id FROM {t}.files")}, {1})
    sql(f"ALTER TABLE {t} WRITE UNORDERED")
    sql(f"ALTER TABLE {t} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY v")
    sql(f"INSERT INTO {t} VALUES (100, 'w')")
    equal(one(f"SELECT count(*) FROM {t}"), 11)


@check
def identifier_fields():
    t = f"{N}.idf"
    sql(f"CREATE TABLE {t} (id int NOT NULL, v string) USING iceberg")
    sql(f"ALTER TABLE {t} SET IDENTIFIER FIELDS id")
    raises("(?i)identifier", f"ALTER TABLE {t} DROP COLUMN id")
    sql(f"ALTER TABLE {t} DROP IDENTIFIER FIELDS id")
    sql(f"ALTER TABLE {t} DROP COLUMN id")


@check
def table_properties():
    t = f"{N}.props"
    sql(f"CREATE TABLE {t} (a int) USING iceberg TBLPROPERTIES ('x' = '1', 'sp ace' = 'ä')")
    sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('x' = '2', 'y' = '3')")
    sql(f"ALTER TABLE {t} UNSET TBLPROPERTIES ('y')")
    props = dict(sql(f"SHOW TBLPROPERTIES {t}"))
    equal((props.get("x"), props.get("y"), props.get("sp ace")), ("2", None, "ä"))


@check
def rename_table():
    sql(f"CREATE TABLE {N}.ren USING iceberg AS SELECT 1 a")
    sql(f"CREATE TABLE {N}.ren_taken USING iceberg AS SELECT 2 a")
    raises("already exists", f"ALTER TABLE {N}.ren RENAME TO {N}.ren_taken")
    sql(f"ALTER TABLE {N}.ren RENAME TO {N}.ren2")
    equal(sql(f"SELECT a FROM {N}.ren2"), [(1,)])
    sql(f"CREATE NAMESPACE {N}_r")
    sql(f"ALTER TABLE {N}.ren2 RENAME TO {N}_r.ren3")
    sql(f"INSERT INTO {N}_r.ren3 VALUES (5)")
    equal(sql(f"SELECT a FROM {N}_r.ren3 ORDER BY a"), [(1,), (5,)])
    raises("cannot be found|not found", f"SELECT * FROM {N}.ren2")
    sql(f"DROP TABLE {N}_r.ren3")
    sql(f"DROP NAMESPACE {N}_r")


def odd(names):
    for name in names:
        q = f"{N}.`{name}`"
        sql(f"CREATE TABLE {q} USING iceberg AS SELECT 1 `c {name}`")
        sql(f"INSERT INTO {q} VALUES (2)")
        equal(sql(f"SELECT `c {name}` FROM {q} ORDER BY 1"), [(1,), (2,)], name)
        equal(name in [r[1] for r in sql(f"SHOW TABLES IN {N}")], True, name + " listed")
        sql(f"DROP TABLE {q}")
        equal(name in [r[1] for r in sql(f"SHOW TABLES IN {N}")], False, name + " dropped")


@check
def names_space_unicode_punctuation():
    odd(["sp ace", "ünï€😀", "pl+us", "q?mark#hash", "a&b=c", "UPPER", "tilde~!@$^*()"])


@check
def names_with_dot():
    odd(["dot.ted", ".lead", "trail."])


@check
def names_with_slash():
    odd(["sl/ash", "a/../b"])


@check
def names_with_percent_and_semicolon():
    odd(["per%cent", "a%20b", "semi;colon"])


@check
def namespace_odd_names():
    for name in ("sp ace", "ünï", "pl+us", "q?mark"):
        sql(f"CREATE NAMESPACE {N}.`{name}`")
        sql(f"CREATE TABLE {N}.`{name}`.t USING iceberg AS SELECT 1 a")
        equal(sql(f"SELECT a FROM {N}.`{name}`.t"), [(1,)], name)
        sql(f"DROP TABLE {N}.`{name}`.t")
        sql(f"DROP NAMESPACE {N}.`{name}`")


@check
def namespace_with_dot():
    sql(f"CREATE NAMESPACE {N}.`x.y`")
    sql(f"CREATE TABLE {N}.`x.y`.t USING iceberg AS SELECT 1 a")
    equal(sql(f"SELECT a FROM {N}.`x.y`.t"), [(1,)])
    equal(sql(f"SHOW NAMESPACES IN {N}"), [(f"{N}.`x.y`",)])
    sql(f"DROP TABLE {N}.`x.y`.t")
    sql(f"DROP NAMESPACE {N}.`x.y`")


# ---- branches, tags, history ---------------------------------------------------------------------------------------
@check
def branches_and_tags():
    t = f"{N}.br"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT 1 a")
    sql(f"ALTER TABLE {t} CREATE TAG v1 RETAIN 30 DAYS")
    sql(f"ALTER TABLE {t} CREATE BRANCH dev RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS 5 DAYS")
    sql(f"INSERT INTO {t}.branch_dev VALUES (2)")
    equal(sql(f"SELECT a FROM {t} ORDER BY a"), [(1,)])
    equal(sql(f"SELECT a FROM {t} VERSION AS OF 'dev' ORDER BY a"), [(1,), (2,)])
    sql(f"INSERT INTO {t} VALUES (3)")
    equal(sql(f"SELECT a FROM {t}.tag_v1"), [(1,)])
    equal(sql(f"SELECT name, type, min_snapshots_to_keep FROM {t}.refs ORDER BY name"), [("dev", "BRANCH", 2), ("main", "BRANCH", None), ("v1", "TAG", None)])
    raises("(?i)already exists", f"ALTER TABLE {t} CREATE BRANCH dev")
    sql(f"ALTER TABLE {t} CREATE OR REPLACE TAG v1")
    equal(sql(f"SELECT a FROM {t} VERSION AS OF 'v1' ORDER BY a"), [(1,), (3,)])
    sql(f"ALTER TABLE {t} DROP TAG v1")
    sql(f"ALTER TABLE {t} CREATE BRANCH ff")
    sql(f"INSERT INTO {t}.branch_ff VALUES (4)")
    sql(f"CALL lake.system.fast_forward('{t}', 'main', 'ff')")
    equal(sql(f"SELECT a FROM {t} ORDER BY a"), [(1,), (3,), (4,)])
    sql(f"ALTER TABLE {t} DROP BRANCH ff")
    sql(f"ALTER TABLE {t} DROP BRANCH dev")
    equal(sql(f"SELECT name FROM {t}.refs"), [("main",)])


@check
def write_audit_publish():
    t = f"{N}.wap"
    sql(f"CREATE TABLE {t} (a int) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')")
    sql(f"INSERT INTO {t} VALUES (1)")
    spark.conf.set("spark.wap.id", "w1")
    try:
        sql(f"INSERT INTO {t} VALUES (2)")
    finally:
        spark.conf.unset("spark.wap.id")
    equal(sql(f"SELECT a FROM {t}"), [(1,)], "staged only")
    sql(f"CALL lake.system.publish_changes('{t}', 'w1')")
    equal(sql(f"SELECT a FROM {t} ORDER BY a"), [(1,), (2,)])


@check
def time_travel():
    t = f"{N}.tt"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT 1 a")
    first, at = sql(f"SELECT snapshot_id, CAST(committed_at AS string) FROM {t}.snapshots")[0]
    time.sleep(0.05)
    sql(f"INSERT INTO {t} VALUES (2)")
    equal(sql(f"SELECT a FROM {t} VERSION AS OF {first}"), [(1,)])
    equal(sql(f"SELECT a FROM {t} TIMESTAMP AS OF '{at}'"), [(1,)])
    sql(f"CALL lake.system.rollback_to_snapshot('{t}', {first})")
    equal(sql(f"SELECT a FROM {t}"), [(1,)])
    equal(sql(f"SELECT is_current_ancestor FROM {t}.history"), [(True,), (False,), (True,)])
    last = one(f"SELECT max_by(snapshot_id, committed_at) FROM {t}.snapshots")
    sql(f"CALL lake.system.set_current_snapshot('{t}', {last})")
    equal(one(f"SELECT count(*) FROM {t}"), 2)


@check
def metadata_tables():
    t = f"{N}.meta"
    sql(f"CREATE TABLE {t} USING iceberg PARTITIONED BY (p) AS SELECT CAST(id AS int) id, CAST(id % 2 AS int) p FROM range(10)")
    sql(f"INSERT INTO {t} VALUES (10, 1)")
    equal(sql(f"SELECT operation FROM {t}.snapshots ORDER BY committed_at"), [("append",), ("append",)])
    equal(one(f"SELECT sum(record_count) FROM {t}.files"), 11)
    equal(one(f"SELECT count(*) FROM {t}.manifests"), 2)
    equal(sql(f"SELECT partition.p, record_count FROM {t}.partitions ORDER BY 1"), [(0, 5), (1, 6)])
    equal(one(f"SELECT count(*) FROM {t}.history"), 2)
    equal(sql(f"SELECT name, type FROM {t}.refs"), [("main", "BRANCH")])
    equal(one(f"SELECT count(*) FROM {t}.metadata_log_entries") >= 2, True, "metadata log")
    for name in ("entries", "all_entries", "all_manifests", "data_files", "delete_files", "all_data_files", "position_deletes"):
        sql(f"SELECT * FROM {t}.{name}")
    equal(one(f"SELECT count(DISTINCT _file) FROM {t}") >= 3, True)


# ---- views ---------------------------------------------------------------------------------------------------------
@check
def views():
    sql(f"CREATE TABLE {N}.vt USING iceberg AS SELECT CAST(id AS int) id FROM range(5)")
    v = f"{N}.vw"
    sql(f"CREATE VIEW {v} (x COMMENT 'the x') COMMENT 'c' TBLPROPERTIES ('k' = 'v') AS SELECT id FROM {N}.vt WHERE id > 2")
    equal(sql(f"SELECT x FROM {v} ORDER BY x"), [(3,), (4,)])
    raises("already exists", f"CREATE VIEW {v} AS SELECT 1 a")
    sql(f"CREATE VIEW IF NOT EXISTS {v} AS SELECT 1 a")
    sql(f"CREATE OR REPLACE VIEW {v} AS SELECT id + 1 y FROM {N}.vt WHERE id = 1")
    equal(sql(f"SELECT y FROM {v}"), [(2,)])
    equal("vw" in [r[1] for r in sql(f"SHOW VIEWS IN {N}")], True)
    equal("id + 1" in one(f"SHOW CREATE TABLE {v}"), True, "SHOW CREATE TABLE")
    sql(f"ALTER VIEW {v} SET TBLPROPERTIES ('n' = 'm')")
    equal(dict(sql(f"SHOW TBLPROPERTIES {v}")).get("n"), "m")
    sql(f"ALTER VIEW {v} UNSET TBLPROPERTIES ('n')")
    sql(f"ALTER VIEW {v} RENAME TO {N}.vw2")
    equal(sql(f"SELECT y FROM {N}.vw2"), [(2,)])
    sql(f"DROP VIEW {N}.vw2")
    raises("cannot be found|not found", f"SELECT * FROM {N}.vw2")
    sql(f"DROP VIEW IF EXISTS {N}.vw2")


@check
def view_and_table_share_names():
    sql(f"CREATE TABLE {N}.clash_t USING iceberg AS SELECT 1 a")
    sql(f"CREATE VIEW {N}.clash_v AS SELECT 1 a")
    raises("already exists", f"CREATE VIEW {N}.clash_t AS SELECT 2 a")
    raises("already exists", f"CREATE TABLE {N}.clash_v (a int) USING iceberg")
    equal("clash_v" in [r[1] for r in sql(f"SHOW VIEWS IN {N}")], True)


# ---- procedures ----------------------------------------------------------------------------------------------------
@check
def register_table():
    t = f"{N}.reg"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT 7 a")
    file = one(f"SELECT file FROM {t}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")
    sql(f"DROP TABLE {t}")
    sql(f"CALL lake.system.register_table(table => '{N}.reg2', metadata_file => '{file}')")
    equal(sql(f"SELECT a FROM {N}.reg2"), [(7,)])
    sql(f"INSERT INTO {N}.reg2 VALUES (8)")
    raises("already exists", f"CALL lake.system.register_table(table => '{N}.reg2', metadata_file => '{file}')")


@check
def rewrite_data_files():
    for strategy, extra in (("binpack", ""), ("sort", ", sort_order => 'a DESC'"), ("sort", ", sort_order => 'zorder(a, b)'")):
        t = f"{N}.rw_{strategy}{len(extra)}"
        small_files(t, 6)
        rewritten, added = sql(f"CALL lake.system.rewrite_data_files(table => '{t}', strategy => '{strategy}'{extra}, options => map('min-input-files', '2'))")[0][:2]
        equal((rewritten, added), (6, 1), strategy + extra)
        equal(one(f"SELECT operation FROM {t}.snapshots ORDER BY committed_at DESC LIMIT 1"), "replace")
        equal(one(f"SELECT sum(a) FROM {t}"), 15)


@check
def rewrite_with_deletes_and_partial_progress():
    t = f"{N}.rwd"
    small_files(t, 6, props="TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'format-version' = '2')")
    sql(f"DELETE FROM {t} WHERE a = 2")
    sql(f"CALL lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true', 'partial-progress.max-commits', '2'))")
    equal(one(f"SELECT sum(a) FROM {t}"), 13)
    sql(f"CALL lake.system.rewrite_position_delete_files(table => '{t}', options => map('rewrite-all', 'true'))")
    equal(one(f"SELECT sum(a) FROM {t}"), 13)


@check
def rewrite_manifests():
    t = f"{N}.rm"
    small_files(t, 5)
    sql(f"CALL lake.system.rewrite_manifests('{t}')")
    equal(one(f"SELECT count(*) FROM {t}.manifests"), 1)
    equal(one(f"SELECT sum(a) FROM {t}"), 10)


@check
def expire_snapshots():
    t = f"{N}.exp"
    small_files(t, 5)
    sql(f"ALTER TABLE {t} CREATE TAG keep AS OF VERSION {one(f'SELECT min_by(snapshot_id, committed_at) FROM {t}.snapshots')}")
    sql(f"CALL lake.system.expire_snapshots(table => '{t}', older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1, stream_results => true)")
    equal(one(f"SELECT count(*) FROM {t}.snapshots"), 2, "the current one and the tagged one")
    equal(one(f"SELECT sum(a) FROM {t}"), 10)
    equal(sql(f"SELECT a FROM {t} VERSION AS OF 'keep'"), [(0,)])


@check
def remove_orphan_files():
    t = f"{N}.orph"
    small_files(t, 2)
    folder = local(location_of(t))
    if folder:
        stray = os.path.join(folder, "data", "stray.parquet")
        with open(stray, "w") as f:
            f.write("x")
        old = time.time() - 10 * 86400
        os.utime(stray, (old, old))
        found = sql(f"CALL lake.system.remove_orphan_files(table => '{t}', older_than => TIMESTAMP '{time.strftime('%Y-%m-%d', time.gmtime(time.time() - 5 * 86400))} 00:00:00')")
        equal([os.path.basename(r[0]) for r in found], ["stray.parquet"])
        equal(os.path.exists(stray), False)
    else:
        # object stores are listed through the table's FileIO; the default lists through Hadoop, which knows no s3:
        equal(sql(f"CALL lake.system.remove_orphan_files(table => '{t}', dry_run => true, prefix_listing => true)"), [])
    equal(one(f"SELECT sum(a) FROM {t}"), 1)


@check
def compute_statistics():
    t = f"{N}.stat"
    sql(f"CREATE TABLE {t} USING iceberg AS SELECT CAST(id % 7 AS int) g FROM range(100)")
    equal(one(f"CALL lake.system.compute_table_stats(table => '{t}')").endswith(".stats"), True)
    sql(f"CREATE TABLE {t}p USING iceberg PARTITIONED BY (g) AS SELECT CAST(id % 7 AS int) g FROM range(100)")
    sql(f"CALL lake.system.compute_partition_stats(table => '{t}p')")


@check
def changelog_view():
    t = f"{N}.cl"
    small_files(t, 2)
    sql(f"DELETE FROM {t} WHERE a = 0")
    view = one(f"CALL lake.system.create_changelog_view(table => '{t}')")
    equal(sql(f"SELECT _change_type, count(*) FROM {view} GROUP BY 1 ORDER BY 1"), [("DELETE", 1), ("INSERT", 2)])


# ---- drop ----------------------------------------------------------------------------------------------------------
@check
def drop_keeps_files_purge_removes_them():
    for purge in (False, True):
        t = f"{N}.drop_{purge}".lower()
        sql(f"CREATE TABLE {t} USING iceberg AS SELECT 1 a")
        data, meta = one(f"SELECT file_path FROM {t}.files"), one(f"SELECT file FROM {t}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")
        io = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, t).io()
        sql(f"DROP TABLE {t}{' PURGE' if purge else ''}")
        raises("cannot be found|not found", f"SELECT * FROM {t}")
        deadline = time.time() + 20                     # a server may purge in the background
        while purge and io.newInputFile(data).exists() and time.time() < deadline:
            time.sleep(0.2)
        for file in (data, meta):
            equal(io.newInputFile(file).exists(), not purge, f"{file} after drop, purge={purge}")


def main():
    global spark
    chosen = [c for c in CHECKS if re.search(args.only, c.__name__) and not (args.skip and re.search(args.skip, c.__name__))]
    if args.list:
        print("\n".join(c.__name__ for c in chosen))
        return 0
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from session import start
    began = time.time()
    spark = start()
    try:
        sql(f"CREATE NAMESPACE {N}")
    except Exception as e:
        print("FAIL  setup: " + " ".join(str(e).split())[:500] + "\n0 passed, 1 failed")
        return 1
    print(f"spark {spark.version}, started in {time.time() - began:.0f} s", flush=True)
    passed = failed = 0
    for fn in chosen:
        began = time.time()
        try:
            fn()
            passed += 1
            print(f"ok    {fn.__name__} ({time.time() - began:.1f} s)", flush=True)
        except Exception as e:
            failed += 1
            print(f"FAIL  {fn.__name__}: {type(e).__name__}: {' '.join(str(e).split())[:500]}", flush=True)
    try:                                                # leave nothing behind
        for ns in [N]:
            for row in [r for r in sql(f"SHOW VIEWS IN {ns}") if not r[2]]:
                sql(f"DROP VIEW {ns}.`{row[1]}`")
            for row in sql(f"SHOW TABLES IN {ns}"):
                sql(f"DROP TABLE {ns}.`{row[1]}` PURGE")
        sql(f"DROP NAMESPACE {N}")
    except Exception as e:
        print(f"note: clean-up of {N} stopped: {' '.join(str(e).split())[:200]}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    if spark:
        spark.stop()
    sys.exit(code)
