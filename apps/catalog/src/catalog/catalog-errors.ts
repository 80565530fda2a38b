import type { RowKind } from '@timelake/database/table-row'
import { namespaceText, tableText, type TableIdentifier } from './table-identifier.ts'

/** `context` is the sentence that clients and the compatibility kit expect in front. */
const withContext = (context: string | undefined, text: string): string =>
  context === undefined ? text : `${context}. ${text}`

export class NoSuchWarehouseError extends Error {
  override readonly name = 'NoSuchWarehouseError'
  constructor(warehouse: string) {
    super(`Warehouse does not exist: ${warehouse}`)
  }
}

export class NoSuchNamespaceError extends Error {
  override readonly name = 'NoSuchNamespaceError'
  constructor(levels: readonly string[], context?: string) {
    super(withContext(context, `Namespace does not exist: ${namespaceText(levels)}`))
  }
}

export class NoSuchTableError extends Error {
  override readonly name = 'NoSuchTableError'
  constructor(identifier: TableIdentifier) {
    super(`Table does not exist: ${tableText(identifier)}`)
  }
}

export class NoSuchViewError extends Error {
  override readonly name = 'NoSuchViewError'
  constructor(identifier: TableIdentifier) {
    super(`View does not exist: ${tableText(identifier)}`)
  }
}

export class NoSuchTableIdError extends Error {
  override readonly name = 'NoSuchTableIdError'
  constructor(id: string) {
    super(`Table does not exist: ${id}`)
  }
}

export class RenameSourceMissingError extends Error {
  override readonly name = 'RenameSourceMissingError'
  constructor(source: TableIdentifier, destination: TableIdentifier) {
    super(`Cannot rename ${tableText(source)} to ${tableText(destination)}. Table does not exist`)
  }
}

export class RenamedViewMissingError extends Error {
  override readonly name = 'RenamedViewMissingError'
  constructor(source: TableIdentifier, destination: TableIdentifier) {
    super(`Cannot rename ${tableText(source)} to ${tableText(destination)}. View does not exist`)
  }
}

/** A metadata file that the catalog points at, or was asked to register, is gone. */
export class MetadataFileMissingError extends Error {
  override readonly name = 'MetadataFileMissingError'
  constructor(location: string, options?: ErrorOptions) {
    super(`Failed to open input stream for file: ${location}`, options)
  }
}

export class NamespaceExistsError extends Error {
  override readonly name = 'NamespaceExistsError'
  constructor(levels: readonly string[]) {
    super(`Cannot create namespace ${namespaceText(levels)}. Namespace already exists`)
  }
}

const KIND_TEXTS: Readonly<Record<RowKind, string>> = { table: 'Table', view: 'View' }

/** The name has a table or a view already; the text is what clients look for. */
export class NameTakenError extends Error {
  override readonly name = 'NameTakenError'
  constructor(
    identifier: TableIdentifier,
    kinds: { readonly wanted: RowKind; readonly existing: RowKind },
  ) {
    const { wanted, existing } = kinds
    const what = existing === wanted ? '' : ' with same name'
    super(`${KIND_TEXTS[existing]}${what} already exists: ${tableText(identifier)}`)
  }
}

export class RenameDestinationExistsError extends Error {
  override readonly name = 'RenameDestinationExistsError'
  constructor(source: TableIdentifier, destination: TableIdentifier, existing: RowKind) {
    const [from, to] = [tableText(source), tableText(destination)]
    super(`Cannot rename ${from} to ${to}. ${KIND_TEXTS[existing]} already exists`)
  }
}

export class NamespaceNotEmptyError extends Error {
  override readonly name = 'NamespaceNotEmptyError'
  constructor(levels: readonly string[], content: string) {
    super(`Namespace ${namespaceText(levels)} is not empty. Contains ${content}.`)
  }
}

export class ContradictoryPropertiesError extends Error {
  override readonly name = 'ContradictoryPropertiesError'
  constructor(keys: readonly string[]) {
    const list = keys.join(', ')
    super(`Invalid namespace update, cannot simultaneously set and remove keys: [${list}]`)
  }
}

/** The commit may or may not have happened: the caller must keep every file and look again. */
export class CommitStateUnknownError extends Error {
  override readonly name = 'CommitStateUnknownError'
}

/** A data file that is to be appended is live on the branch already, or comes with an append just before. */
export class FileAlreadyLiveError extends Error {
  override readonly name = 'FileAlreadyLiveError'
  constructor(location: string, where: string) {
    super(`cannot append ${location}: expected a file that is not in the table, it is ${where}`)
  }
}

/** Nothing was changed and a repeat is harmless. */
export class NotAppliedError extends Error {
  override readonly name = 'NotAppliedError'
}

/** Too many commits wait for one table; nothing was tried. */
export class CommitQueueFullError extends Error {
  override readonly name = 'CommitQueueFullError'
  /** When there may be room again. */
  readonly retryAfterMs: number
  constructor(depth: number, retryAfterMs = 0) {
    super(`cannot queue a commit: ${depth} commits wait for this table already`)
    this.retryAfterMs = retryAfterMs
  }
}

/** Events behind the cursor are gone, or the cursor is of a database that was rebuilt since. */
export class EventsPrunedError extends Error {
  override readonly name = 'EventsPrunedError'
  constructor(cursor: string) {
    super(
      `cannot go on behind ${cursor}: events behind it are not kept any more. ` +
        'Begin without a cursor, and look at the tables for what was missed',
    )
  }
}

/** As many callers follow the events as this process lets. */
export class TooManyFollowersError extends Error {
  override readonly name = 'TooManyFollowersError'
  constructor(followersMax: number) {
    super(`${followersMax} callers follow the events already: try again later`)
  }
}

/** The key was used for another request, or its first use is still running. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError'
  /** Set when the first request is still running. */
  readonly retryAfterMs: number | undefined
  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
