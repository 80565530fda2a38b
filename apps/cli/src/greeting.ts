import { clientSnippets, type CatalogAddress } from './client-snippets.ts'

/** What `serve` prints once it listens. */
export function greetingText(address: CatalogAddress & { readonly dataDirectory: string }): string {
  const snippets = clientSnippets(address).map(
    ({ client, text }) => `${client}\n${text.replace(/^/gm, '  ')}`,
  )
  return [
    'Timelake is listening.',
    `  URI             ${address.uri}`,
    `  warehouse       ${address.warehouse}`,
    `  data directory  ${address.dataDirectory}`,
    '',
    snippets.join('\n\n'),
    '',
    'Stop it with Ctrl-C.',
  ].join('\n')
}
