import fc from 'fast-check'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { Snapshot, SnapshotRef } from '@timelake/iceberg/spec/snapshot'
import type { SortOrder } from '@timelake/iceberg/spec/sort-order'
import type {
  FormatVersion,
  StatisticsFile,
  TableMetadata,
} from '@timelake/iceberg/spec/table-metadata'
import type { Transform } from '@timelake/iceberg/spec/transform'
import type { IcebergType, NestedField, PrimitiveType } from '@timelake/iceberg/spec/type'
import type {
  OtherRepresentation,
  SqlRepresentation,
  ViewMetadata,
  ViewVersion,
} from '@timelake/iceberg/view/view-metadata'

// Generators of model values for property tests; nothing but tests imports this file.

const LONG_MAX = 2n ** 63n - 1n
const long = fc.bigInt(-(2n ** 63n), LONG_MAX)
const naturalLong = fc.bigInt(0n, LONG_MAX)
const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const natural = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const timestampMs = fc.integer({ min: 0, max: 4_102_444_800_000 })
const text = fc.string({ unit: 'binary', maxLength: 12 })

/** JSON values as parseJson gives them: integers are bigint, other numbers have a point. */
export const arbitraryJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    long,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

/** Members that no version of the format knows. */
const extra: fc.Arbitrary<JsonObject | undefined> = fc.option(
  fc.dictionary(
    fc.string({ minLength: 1, maxLength: 6 }).map((name) => `x-${name}`),
    arbitraryJson,
    { minKeys: 1, maxKeys: 2, noNullPrototype: true },
  ),
  { nil: undefined, freq: 4 },
)
const stringMap = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true })

/** The value without members that are undefined: the codecs leave such members away. */
function defined<T>(
  arbitrary: fc.Arbitrary<{ [K in keyof T]: T[K] | undefined }>,
): fc.Arbitrary<T> {
  return arbitrary.map(
    (value) =>
      Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T,
  )
}

function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined })
}

export const arbitraryPrimitiveType: fc.Arbitrary<PrimitiveType> = fc.oneof(
  fc
    .constantFrom(
      ...(['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp'] as const),
      ...(['timestamptz', 'string', 'uuid', 'binary', 'timestamp_ns', 'timestamptz_ns'] as const),
      ...(['unknown', 'variant'] as const),
    )
    .map((kind) => ({ kind })),
  fc
    .integer({ min: 1, max: 38 })
    .chain((precision) =>
      fc
        .integer({ min: 0, max: precision })
        .map((scale) => ({ kind: 'decimal' as const, precision, scale })),
    ),
  natural.map((lengthBytes) => ({ kind: 'fixed' as const, lengthBytes })),
  fc.constantFrom<PrimitiveType>(
    { kind: 'geometry' },
    { kind: 'geometry', crs: 'projjson:my.crs' },
    { kind: 'geography' },
    { kind: 'geography', crs: 'EPSG:4326' },
    { kind: 'geography', algorithm: 'karney' },
    { kind: 'geography', crs: 'EPSG:4326', algorithm: 'spherical' },
  ),
)

const nested = fc.letrec<{ type: IcebergType; field: NestedField }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    arbitraryPrimitiveType,
    defined<IcebergType>(
      fc.record({
        kind: fc.constant('struct' as const),
        fields: fc.array(tie('field'), { maxLength: 3 }),
        extra,
      }),
    ),
    defined<IcebergType>(
      fc.record({
        kind: fc.constant('list' as const),
        elementId: int,
        elementRequired: fc.boolean(),
        element: tie('type'),
        extra,
      }),
    ),
    defined<IcebergType>(
      fc.record({
        kind: fc.constant('map' as const),
        keyId: int,
        key: tie('type'),
        valueId: int,
        valueRequired: fc.boolean(),
        value: tie('type'),
        extra,
      }),
    ),
  ),
  field: defined<NestedField>(
    fc.record({
      id: int,
      name: text,
      required: fc.boolean(),
      type: tie('type'),
      doc: maybe(text),
      initialDefault: maybe(
        fc.oneof(text, fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true })),
      ),
      writeDefault: maybe(text),
      extra,
    }),
  ),
}))

export const arbitraryType: fc.Arbitrary<IcebergType> = nested.type

export const arbitrarySchema: fc.Arbitrary<Schema> = defined<Schema>(
  fc.record({
    schemaId: natural,
    fields: fc.array(nested.field, { maxLength: 4 }),
    identifierFieldIds: fc.array(int, { maxLength: 2 }),
    extra,
  }),
)

export const arbitraryTransform: fc.Arbitrary<Transform> = fc.oneof(
  fc
    .constantFrom(...(['identity', 'year', 'month', 'day', 'hour', 'void'] as const))
    .map((kind) => ({ kind })),
  fc
    .integer({ min: 1, max: 2 ** 31 - 1 })
    .map((bucketCount) => ({ kind: 'bucket' as const, bucketCount })),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }).map((width) => ({ kind: 'truncate' as const, width })),
  fc
    .constantFrom('zorder[3]', 'Custom')
    .map((name) => ({ kind: 'unknown-transform' as const, text: name })),
)

const sourceIds = fc.array(int, { minLength: 1, maxLength: 3 })

export const arbitrarySpec: fc.Arbitrary<PartitionSpec> = defined<PartitionSpec>(
  fc.record({
    specId: natural,
    fields: fc.array(
      defined<PartitionSpec['fields'][number]>(
        fc.record({ sourceIds, fieldId: int, name: text, transform: arbitraryTransform, extra }),
      ),
      { maxLength: 3 },
    ),
    extra,
  }),
)

export const arbitrarySortOrder: fc.Arbitrary<SortOrder> = defined<SortOrder>(
  fc.record({
    orderId: natural,
    fields: fc.array(
      defined<SortOrder['fields'][number]>(
        fc.record({
          transform: arbitraryTransform,
          sourceIds,
          direction: fc.constantFrom('asc', 'desc'),
          nullOrder: fc.constantFrom('nulls-first', 'nulls-last'),
          extra,
        }),
      ),
      { maxLength: 3 },
    ),
    extra,
  }),
)

const snapshotId = long.filter((id) => id !== -1n)

export const arbitrarySnapshot: fc.Arbitrary<Snapshot> = defined<Snapshot>(
  fc.record({
    snapshotId,
    parentSnapshotId: maybe(snapshotId),
    sequenceNumber: naturalLong,
    timestampMs,
    manifestList: maybe(text),
    manifests: maybe(fc.array(text, { maxLength: 2 })),
    summary: maybe(stringMap),
    schemaId: maybe(int),
    firstRowId: maybe(naturalLong),
    addedRows: maybe(naturalLong),
    keyId: maybe(text),
    extra,
  }),
)

export const arbitraryStatistics: fc.Arbitrary<StatisticsFile> = defined<StatisticsFile>(
  fc.record({
    snapshotId: long,
    statisticsPath: text,
    fileSizeBytes: naturalLong,
    fileFooterSizeBytes: naturalLong,
    keyMetadata: maybe(text),
    blobMetadata: fc.array(
      defined<StatisticsFile['blobMetadata'][number]>(
        fc.record({
          type: text,
          snapshotId: long,
          sequenceNumber: long,
          fields: fc.array(int, { maxLength: 2 }),
          properties: maybe(stringMap),
          extra,
        }),
      ),
      { maxLength: 2 },
    ),
    extra,
  }),
)

function refOf(ids: readonly bigint[]): fc.Arbitrary<SnapshotRef> {
  return defined<SnapshotRef>(
    fc.record({
      snapshotId: fc.constantFrom(...ids),
      type: fc.constantFrom('branch', 'tag'),
      minSnapshotsToKeep: maybe(natural),
      maxSnapshotAgeMs: maybe(timestampMs),
      maxRefAgeMs: maybe(timestampMs),
      extra,
    }),
  )
}

function uniqueBy<T>(arbitrary: fc.Arbitrary<T>, idOf: (value: T) => number): fc.Arbitrary<T[]> {
  return fc.uniqueArray(arbitrary, { minLength: 1, maxLength: 2, selector: idOf })
}

/** Table metadata of one format version whose ids and refs fit together. */
export function arbitraryMetadata(formatVersion: FormatVersion): fc.Arbitrary<TableMetadata> {
  const parts = fc.record({
    schemas: uniqueBy(arbitrarySchema, (schema) => schema.schemaId),
    partitionSpecs: uniqueBy(arbitrarySpec, (spec) => spec.specId),
    sortOrders: uniqueBy(arbitrarySortOrder, (order) => order.orderId),
    snapshots: fc.uniqueArray(arbitrarySnapshot, {
      maxLength: 3,
      selector: (snapshot) => snapshot.snapshotId,
    }),
  })
  return parts.chain((lists) => completeMetadata(formatVersion, lists))
}

function completeMetadata(
  formatVersion: FormatVersion,
  lists: Pick<TableMetadata, 'schemas' | 'partitionSpecs' | 'sortOrders' | 'snapshots'>,
): fc.Arbitrary<TableMetadata> {
  const ids = lists.snapshots.map((snapshot) => snapshot.snapshotId)
  const refs =
    ids.length === 0
      ? fc.constant({})
      : fc.dictionary(text, refOf(ids), { maxKeys: 2, noNullPrototype: true })
  return defined<TableMetadata>(
    fc.record({
      formatVersion: fc.constant(formatVersion),
      tableUuid: fc.uuid(),
      location: fc.constant('file:///warehouse/t'),
      lastSequenceNumber: formatVersion === 1 ? fc.constant(0n) : naturalLong,
      lastUpdatedMs: timestampMs,
      lastColumnId: natural,
      currentSchemaId: fc.constantFrom(...lists.schemas.map((schema) => schema.schemaId)),
      schemas: fc.constant(lists.schemas),
      defaultSpecId: fc.constantFrom(...lists.partitionSpecs.map((spec) => spec.specId)),
      partitionSpecs: fc.constant(lists.partitionSpecs),
      lastPartitionId: int,
      defaultSortOrderId: fc.constantFrom(...lists.sortOrders.map((order) => order.orderId)),
      sortOrders: fc.constant(lists.sortOrders),
      properties: stringMap,
      currentSnapshotId: fc.constantFrom(undefined, ...ids),
      snapshots: fc.constant(lists.snapshots),
      snapshotLog: fc.array(
        defined<TableMetadata['snapshotLog'][number]>(
          fc.record({ timestampMs, snapshotId: long, extra }),
        ),
        { maxLength: 2 },
      ),
      metadataLog: fc.array(
        defined<TableMetadata['metadataLog'][number]>(
          fc.record({ timestampMs, metadataFile: text, extra }),
        ),
        { maxLength: 2 },
      ),
      refs,
      statistics: fc.array(arbitraryStatistics, { maxLength: 2 }),
      partitionStatistics: fc.array(
        defined<TableMetadata['partitionStatistics'][number]>(
          fc.record({ snapshotId: long, statisticsPath: text, fileSizeBytes: naturalLong, extra }),
        ),
        { maxLength: 2 },
      ),
      nextRowId: formatVersion === 3 ? naturalLong : fc.constant(undefined),
      encryptionKeys: fc.array(
        defined<TableMetadata['encryptionKeys'][number]>(
          fc.record({
            keyId: text,
            encryptedKeyMetadata: text,
            encryptedById: maybe(text),
            properties: maybe(stringMap),
            extra,
          }),
        ),
        { maxLength: 2 },
      ),
      extra,
    }),
  ).map(withMain)
}

/** `refs.main` and the current snapshot always go together. */
function withMain(metadata: TableMetadata): TableMetadata {
  const refs = Object.fromEntries(Object.entries(metadata.refs).filter(([name]) => name !== 'main'))
  if (metadata.currentSnapshotId === undefined) return { ...metadata, refs }
  return {
    ...metadata,
    refs: { ...refs, main: { snapshotId: metadata.currentSnapshotId, type: 'branch' } },
  }
}

const arbitrarySql = defined<SqlRepresentation>(
  fc.record({ kind: fc.constant('sql' as const), sql: text, dialect: text, extra }),
)
const arbitraryOther: fc.Arbitrary<OtherRepresentation> = fc.record({
  kind: fc.constant('other' as const),
  type: text.filter((type) => type.toLowerCase() !== 'sql'),
  members: extra.map((members) => members ?? {}),
})

export const arbitraryViewVersion: fc.Arbitrary<ViewVersion> = defined<ViewVersion>(
  fc.record({
    versionId: int,
    schemaId: int,
    timestampMs,
    summary: stringMap,
    representations: fc.array(fc.oneof(arbitrarySql, arbitraryOther), { maxLength: 3 }),
    defaultCatalog: maybe(text),
    defaultNamespace: fc.array(text, { maxLength: 2 }),
    extra,
  }),
)

/** View metadata whose ids fit together. */
export const arbitraryViewMetadata: fc.Arbitrary<ViewMetadata> = fc
  .record({
    schemas: uniqueBy(arbitrarySchema, (schema) => schema.schemaId),
    versions: uniqueBy(arbitraryViewVersion, (version) => version.versionId),
  })
  .chain(({ schemas, versions }) =>
    defined<ViewMetadata>(
      fc.record({
        viewUuid: fc.uuid(),
        formatVersion: fc.constant(1 as const),
        location: fc.constant('file:///warehouse/v'),
        properties: stringMap,
        schemas: fc.constant(schemas),
        currentVersionId: fc.constantFrom(...versions.map(({ versionId }) => versionId)),
        versions: fc.constant(
          versions.map((version) => ({ ...version, schemaId: schemas[0]?.schemaId ?? 0 })),
        ),
        versionLog: fc.array(
          defined<ViewMetadata['versionLog'][number]>(
            fc.record({ timestampMs, versionId: int, extra }),
          ),
          { maxLength: 3 },
        ),
        extra,
      }),
    ),
  )
