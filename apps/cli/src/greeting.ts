import type { WarehouseRow } from '@timelake/database/warehouses'
import { clientSnippets } from './client-snippets.ts'

export interface Greeted {
  readonly uri: string
  readonly warehouse: Pick<WarehouseRow, 'name' | 'location'> | undefined
  /** Whether clients must send a token. The token itself is never printed. */
  readonly needsToken: boolean
  readonly dataDirectory: string
}

/** What `serve` prints once it listens. */
export function greetingText(server: Greeted): string {
  const { uri, warehouse, needsToken } = server
  if (warehouse === undefined) {
    return [
      'Timelake is listening.',
      `  URI             ${uri}`,
      '  warehouse       none yet: make one with `timelake warehouse create`',
      '',
      'Stop it with Ctrl-C.',
    ].join('\n')
  }
  const address = { uri, warehouse: warehouse.name, storage: storageOf(warehouse), needsToken }
  const snippets = clientSnippets(address).map(
    ({ client, text }) => `${client}\n${text.replace(/^/gm, '  ')}`,
  )
  return [
    'Timelake is listening.',
    `  URI             ${uri}`,
    `  warehouse       ${warehouse.name} at ${warehouse.location}`,
    `  data directory  ${server.dataDirectory}`,
    '',
    snippets.join('\n\n'),
    '',
    'Stop it with Ctrl-C.',
  ].join('\n')
}

function storageOf({ location }: Pick<WarehouseRow, 'location'>): 'file' | 's3' {
  return location.startsWith('s3:') ? 's3' : 'file'
}
