import { randomBytes, randomUUID } from 'node:crypto'
import { openPostgresDatabase } from '@timelake/database/open-postgres-database'
import { startChaosProxy } from '../interop/chaos/chaos-proxy.ts'

/** An S3 server with a bucket, as `tools/services/start.sh` prints it. */
export interface BenchS3 {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** A new database and a new place in the bucket, for any number of catalog processes. */
export interface SharedLake {
  /** What a catalog process must be told. */
  readonly settings: Readonly<Record<string, string>>
  readonly s3: BenchS3
  /** Drops the database; what is in the bucket stays until the services end. */
  close(): Promise<void>
}

/**
 * On the services that `tools/services/start.sh` started, whose variables must be set: throws otherwise.
 * `storeDelayMs` makes every request of the catalogs to the store, but not the clients', wait that long.
 */
export async function openSharedLake(
  options: { readonly storeDelayMs?: number } = {},
): Promise<SharedLake> {
  const s3 = benchS3()
  const name = `timelake_bench_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name}`)
  const url = new URL(variable('TEST_DATABASE_URL'))
  url.pathname = `/${name}`
  const proxy =
    options.storeDelayMs === undefined
      ? undefined
      : await startChaosProxy({ upstream: s3.endpoint })
  proxy?.setRules([{ do: 'delay', ms: options.storeDelayMs ?? 0 }])
  return {
    settings: {
      TIMELAKE_DATABASE_URL: url.href,
      TIMELAKE_SECRET_KEY: randomBytes(32).toString('base64'),
      TIMELAKE_WAREHOUSE_LOCATION: `s3://${s3.bucket}/bench-${randomUUID()}`,
      TIMELAKE_S3_ENDPOINT: proxy?.url ?? s3.endpoint,
      TIMELAKE_S3_REGION: s3.region,
      TIMELAKE_S3_ACCESS_KEY_ID: s3.accessKeyId,
      TIMELAKE_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    },
    s3,
    close: async () => {
      await onServer(`drop database ${name} with (force)`)
      await proxy?.close()
    },
  }
}

function benchS3(): BenchS3 {
  return {
    endpoint: variable('S3_ENDPOINT'),
    region: variable('S3_REGION'),
    bucket: variable('S3_BUCKET'),
    accessKeyId: variable('S3_ACCESS_KEY'),
    secretAccessKey: variable('S3_SECRET_KEY'),
  }
}

function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new Error(`${name} is missing: set the variables that tools/services/start.sh prints`)
  }
  return value
}

/** Lets the server's warehouse vend credentials: sessions of the role that the S3 server of `tools/services` has. */
export async function vendCredentials(uri: string, s3: BenchS3): Promise<void> {
  const role = { 'role-arn': variable('STS_ROLE_ARN'), 'sts-endpoint': variable('STS_ENDPOINT') }
  const storage = { type: 's3', endpoint: s3.endpoint, region: s3.region, ...role }
  const answer = await fetch(`${uri}/admin/v1/warehouses/main`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ storage, delegation: ['vended-credentials'] }),
  })
  if (!answer.ok) throw new Error(`the warehouse: ${answer.status} ${await answer.text()}`)
}

async function onServer(statement: string): Promise<void> {
  const url = variable('TEST_DATABASE_URL')
  const server = await openPostgresDatabase({ url, connectionsMax: 1 })
  try {
    await server.runScript(statement)
  } finally {
    await server.close()
  }
}
