"""Parquet files of one row each, written before their table is asked to take them in."""
import pyarrow as pa, pyarrow.parquet as pq
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField

from contention.writing import row_of

SCHEMA = Schema(NestedField(1, "v", LongType(), required=False), NestedField(2, "writer", IntegerType(), required=False), NestedField(3, "turn", IntegerType(), required=False))


def write_row_file(table, writer, turn):
    """(location, bytes) of a new file in the table's data folder, with the row of that turn and the field ids of SCHEMA."""
    location = f"{table.location()}/data/row-{writer}-{turn}.parquet"
    with table.io.new_output(location).create() as out:
        pq.write_table(pa.Table.from_pylist([row_of(writer, turn)], schema=schema_to_pyarrow(SCHEMA)), out)
    return location, len(table.io.new_input(location))
