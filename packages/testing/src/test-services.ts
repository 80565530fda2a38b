/** Real services for tests, by the variables that `tools/services/start.sh` prints; undefined where they are not set. */
export interface TestServices {
  /** A PostgreSQL server in which databases may be made and dropped, `postgres://user@host:port/postgres`. */
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly s3: TestS3 | undefined
  /** What the catalog's suites run on where they do not choose; `postgres` needs the server. */
  readonly catalogDatabase: 'pglite' | 'postgres'
  readonly simulation: SimulationSize
}

/** Which schedules the simulation lives through. */
export interface SimulationSize {
  readonly firstSeed: number
  readonly scheduleCount: number
}

/** A minute's worth on a laptop; CI takes more of them. */
const SCHEDULES_DEFAULT = 1_000
const SCHEDULES_IN_CI = 10_000

export interface TestS3 {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** A role that STS at the same endpoint lets the keys assume. */
  readonly roleArn: string | undefined
}

/** What the environment offers. Under `CI=true` everything must be there: throws when something is missing. */
export function testServices(): TestServices {
  const services = {
    databaseUrl: process.env['TEST_DATABASE_URL'],
    redisUrl: process.env['TEST_REDIS_URL'],
    s3: testS3(),
    catalogDatabase: catalogDatabase(),
    simulation: simulationSize(),
  }
  const missing = Object.entries(services).filter(([, value]) => value === undefined)
  if (process.env['CI'] === 'true' && missing.length > 0) {
    throw new Error(`CI tests need real services: ${missing.map(([name]) => name).join(', ')}`)
  }
  return services
}

function catalogDatabase(): 'pglite' | 'postgres' {
  return process.env['TEST_CATALOG_DATABASE'] === 'postgres' ? 'postgres' : 'pglite'
}

function simulationSize(): SimulationSize {
  const { CI, TEST_SIMULATION_SEED, TEST_SIMULATION_SCHEDULES } = process.env
  const scheduleCount = CI === 'true' ? SCHEDULES_IN_CI : SCHEDULES_DEFAULT
  return {
    firstSeed: Number(TEST_SIMULATION_SEED ?? 1),
    scheduleCount: Number(TEST_SIMULATION_SCHEDULES ?? scheduleCount),
  }
}

function testS3(): TestS3 | undefined {
  const { S3_ENDPOINT, S3_REGION, S3_BUCKET, S3_ACCESS_KEY, S3_SECRET_KEY, STS_ROLE_ARN } =
    process.env
  if (!S3_ENDPOINT || !S3_BUCKET || !S3_ACCESS_KEY || !S3_SECRET_KEY) return undefined
  return {
    endpoint: S3_ENDPOINT,
    region: S3_REGION ?? 'us-east-1',
    bucket: S3_BUCKET,
    accessKeyId: S3_ACCESS_KEY,
    secretAccessKey: S3_SECRET_KEY,
    roleArn: STS_ROLE_ARN,
  }
}
