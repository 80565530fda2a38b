import {
  decodeCatalogEntry,
  type CatalogEntry,
  type ViewEntry,
} from '../rest/catalog-entry-json.ts'
import { encodeNamespaceDescription, type NamespaceDescription } from '../rest/namespace-json.ts'
import { identifierText, namespaceText, type TableIdentifier } from '../rest/table-identifier.ts'
import { printJson } from '../spec/json.ts'
import type { JsonObject } from '../spec/json-value.ts'
import {
  namespaceSegment,
  refusal,
  type Answer,
  type CatalogConnection,
} from './rest-catalog-connection.ts'
import type { EntryKind } from './rest-catalog-contents.ts'

export interface Registration {
  readonly kind: EntryKind
  readonly identifier: TableIdentifier
  readonly metadataLocation: string
  /** Points an existing table there, too. */
  readonly overwrite: boolean
}

/**
 * Makes names in a catalog for what exists already. Errors of every call: CatalogRefusedError (nothing was done),
 * CatalogUnavailableError and InvalidInputError for an answer that cannot be read (it may have been done; a repeat
 * then says `exists`).
 */
export interface CatalogRegistration {
  createNamespace(namespace: NamespaceDescription): Promise<'created' | 'exists'>
  /** What the catalog has under the name then; `exists` when something else has it. */
  register(registration: Registration): Promise<CatalogEntry | 'exists'>
  /** Makes a view with the meaning of another; it gets a UUID of its own. */
  createView(identifier: TableIdentifier, view: ViewEntry): Promise<'created' | 'exists'>
}

/** The calls that make names. Spec: REST catalog, createNamespace, registerTable, registerView, createView. */
export function registerInCatalog(connection: CatalogConnection): CatalogRegistration {
  const post = async (path: string, body: JsonObject): Promise<Answer> =>
    connection.read(await connection.request(path, { method: 'POST', body: printJson(body) }))
  const segment = async (levels: readonly string[]): Promise<string> =>
    namespaceSegment(levels, await connection.routes())
  return {
    async createNamespace(namespace) {
      const answer = await post('namespaces', encodeNamespaceDescription(namespace))
      const what = `create namespace ${namespaceText(namespace.namespace)}`
      return isMade(answer, what) ? 'created' : 'exists'
    },
    async register({ kind, identifier, metadataLocation, overwrite }) {
      const { namespace, name } = identifier
      const route = kind === 'table' ? 'register' : 'register-view'
      const answer = await post(`namespaces/${await segment(namespace)}/${route}`, {
        name,
        'metadata-location': metadataLocation,
        ...(overwrite ? { overwrite } : {}),
      })
      const what = `register ${kind} ${identifierText(namespace, name)}`
      return isMade(answer, what) ? decodeCatalogEntry(kind, answer.body) : 'exists'
    },
    async createView({ namespace, name }, { recipe }) {
      const path = `namespaces/${await segment(namespace)}/views`
      const answer = await post(path, { name, ...recipe })
      return isMade(answer, `create view ${identifierText(namespace, name)}`) ? 'created' : 'exists'
    },
  }
}

function isMade(answer: Answer, what: string): boolean {
  if (answer.status === 200) return true
  if (answer.status === 409) return false
  throw refusal(answer, what)
}
