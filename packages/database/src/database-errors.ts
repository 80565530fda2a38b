/** The database refused a statement: it and its transaction changed nothing. `code` is the SQLSTATE. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  readonly code: string | undefined
  readonly constraint: string | undefined
  constructor(
    message: string,
    options: ErrorOptions & { code?: string; constraint?: string } = {},
  ) {
    super(message, options)
    this.code = options.code
    this.constraint = options.constraint
  }
}

/** The database did not answer: what was asked may or may not have happened. Read before deciding. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError'
  /** Whether what was asked certainly changed nothing, as when no connection could be made or no commit was sent. */
  readonly isUnsent: boolean
  constructor(message: string, options: ErrorOptions & { isUnsent?: boolean } = {}) {
    super(message, options)
    this.isUnsent = options.isUnsent ?? false
  }
}

/** The database server is too old or set up in a way that cannot hold the catalog. */
export class UnsupportedServerError extends Error {
  override readonly name = 'UnsupportedServerError'
}

/** The data was written by a newer program: using it with this one could damage it. */
export class DatabaseTooNewError extends Error {
  override readonly name = 'DatabaseTooNewError'
  readonly databaseVersion: number
  readonly knownVersion: number
  constructor(databaseVersion: number, knownVersion: number) {
    super(
      `the database is at schema version ${databaseVersion}, but this program knows versions up to ` +
        `${knownVersion}: start the newer Timelake that last used it, or restore a backup`,
    )
    this.databaseVersion = databaseVersion
    this.knownVersion = knownVersion
  }
}

/** A migration that was applied earlier now reads differently, or its file is gone. */
export class MigrationChangedError extends Error {
  override readonly name = 'MigrationChangedError'
}

/** Another living process owns the data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError'
  readonly directory: string
  readonly pid: number | undefined
  constructor(directory: string, pid: number | undefined, options?: ErrorOptions) {
    const owner = pid === undefined ? 'another process' : `process ${pid}`
    super(
      `the data directory ${directory} is in use by ${owner}: stop it, or choose another directory`,
      options,
    )
    this.directory = directory
    this.pid = pid
  }
}

/**
 * A call with the same idempotency key has already finished, so this one changed nothing. It happens when a call
 * outlives its lease and is taken over; the stored outcome is the answer.
 */
export class IdempotencyKeyLostError extends Error {
  override readonly name = 'IdempotencyKeyLostError'
  constructor() {
    super('another call with the same idempotency key has already finished')
  }
}

/**
 * A folder of a table would equal, contain or lie inside one of another live table; nothing was changed.
 * The backstop for the race that a check beforehand (`findTablesNear`) leaves open.
 */
export class LocationTakenError extends Error {
  override readonly name = 'LocationTakenError'
  /** The folders, one of which is in another one's way. */
  readonly locations: readonly string[]
  constructor(locations: readonly string[]) {
    super(`location overlaps with the location of another table: ${locations.join(' or ')}`)
    this.locations = locations
  }
}
