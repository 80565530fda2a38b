import { clientSnippets, type CatalogAddress } from '@timelake/cli/client-snippets'
import { processSettingsTable, replaceBetweenMarks, tableSettingsTable } from './settings-table.ts'

const ADDRESS: CatalogAddress = {
  uri: 'http://127.0.0.1:8181',
  warehouse: 'main',
  storage: 'file',
  needsToken: false,
}

const LANGUAGES: Readonly<Record<string, string>> = {
  PyIceberg: 'python',
  DuckDB: 'sql',
  Spark: 'sh',
  Trino: 'properties',
}

/** The README with every part that the code knows better written again. */
export function currentReadme(text: string): string {
  const parts = {
    snippets: snippets(),
    settings: processSettingsTable(),
    'table-settings': tableSettingsTable(),
  }
  return Object.entries(parts).reduce(
    (readme, [name, content]) => replaceBetweenMarks(readme, name, content),
    text,
  )
}

function snippets(): string {
  return clientSnippets(ADDRESS)
    .map(({ client, text }) => `${client}\n\n\`\`\`${LANGUAGES[client] ?? ''}\n${text}\n\`\`\``)
    .join('\n\n')
}
