/** Where a client finds the catalog. */
export interface CatalogAddress {
  readonly uri: string
  readonly warehouse: string
  /** What the warehouse's locations start with. */
  readonly storage: 'file' | 's3'
  /** Whether clients must send a token. The token itself is never printed. */
  readonly needsToken: boolean
}

export interface ClientSnippet {
  readonly client: string
  readonly text: string
}

const TOKEN_PLACEHOLDER = 'YOUR_TOKEN'

/** Configuration of each client, ready to be pasted; with a token, a placeholder stands for it. */
export function clientSnippets(address: CatalogAddress): readonly ClientSnippet[] {
  return [
    { client: 'PyIceberg', text: pyicebergSnippet(address) },
    { client: 'DuckDB', text: duckdbSnippet(address) },
    { client: 'Spark', text: sparkSnippet(address) },
    { client: 'Trino', text: trinoSnippet(address) },
  ]
}

function pyicebergSnippet({ uri, warehouse, needsToken }: CatalogAddress): string {
  const token = needsToken ? `, token="${TOKEN_PLACEHOLDER}"` : ''
  return [
    'from pyiceberg.catalog import load_catalog',
    `catalog = load_catalog("lake", type="rest", uri="${uri}", warehouse="${warehouse}"${token})`,
  ].join('\n')
}

function duckdbSnippet({ uri, warehouse, needsToken }: CatalogAddress): string {
  const access = needsToken ? `TOKEN '${TOKEN_PLACEHOLDER}'` : `AUTHORIZATION_TYPE 'none'`
  return [
    'INSTALL iceberg; LOAD iceberg;',
    `ATTACH '${warehouse}' AS lake (TYPE iceberg, ENDPOINT '${uri}', ${access}, ACCESS_DELEGATION_MODE 'none');`,
  ].join('\n')
}

function sparkSnippet({ uri, warehouse, needsToken }: CatalogAddress): string {
  const lines = [
    'spark-sql --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0',
    '--conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
    '--conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog',
    '--conf spark.sql.catalog.lake.type=rest',
    `--conf spark.sql.catalog.lake.uri=${uri}`,
    `--conf spark.sql.catalog.lake.warehouse=${warehouse}`,
    ...(needsToken ? [`--conf spark.sql.catalog.lake.token=${TOKEN_PLACEHOLDER}`] : []),
    '--conf spark.sql.defaultCatalog=lake',
  ]
  return lines.join(' \\\n  ')
}

function trinoSnippet({ uri, warehouse, storage, needsToken }: CatalogAddress): string {
  return [
    'connector.name=iceberg',
    'iceberg.catalog.type=rest',
    `iceberg.rest-catalog.uri=${uri}`,
    `iceberg.rest-catalog.warehouse=${warehouse}`,
    ...(needsToken
      ? [
          'iceberg.rest-catalog.security=OAUTH2',
          `iceberg.rest-catalog.oauth2.token=${TOKEN_PLACEHOLDER}`,
        ]
      : []),
    ...(storage === 's3'
      ? ['fs.s3.enabled=true', 's3.endpoint=…', 's3.region=…', 's3.path-style-access=true']
      : ['fs.local.enabled=true', 'local.location=/']),
  ].join('\n')
}
