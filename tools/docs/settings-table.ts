import { SETTINGS } from '@timelake/timelake/contract/settings'
import { printBytes, printDurationMs, type Bounds } from '@timelake/timelake/contract/quantity'
import { TABLE_SETTINGS } from '@timelake/timelake/contract/table-settings'

/** The README's table of process settings, from the declarations that the program reads. */
export function processSettingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ variable, kind, defaultText, bounds, doc }) => {
    const range = bounds === undefined ? '' : ` ${printRange(kind, bounds)}`
    return `| \`${variable}\` | ${kind}${range} | ${printDefault(defaultText)} | ${doc} |`
  })
  return ['| variable | kind | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** The README's table of table properties that change what maintenance does. */
export function tableSettingsTable(): string {
  const rows = Object.values(TABLE_SETTINGS).map((setting) => {
    const { property, kind, doc } = setting
    return `| \`${property}\` | ${kind} | \`${String(setting.default)}\` | ${doc} |`
  })
  return ['| property | kind | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** The text with what lies between `<!-- name -->` and `<!-- /name -->` replaced. Throws when the marks are missing. */
export function replaceBetweenMarks(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`cannot find the marks ${start} and ${end}`)
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`
}

function printDefault(text: string | undefined): string {
  if (text === undefined) return 'unset'
  return text === '' ? 'empty' : `\`${text}\``
}

function printRange(kind: string, { min, max }: Bounds): string {
  const print = { bytes: printBytes, duration: printDurationMs }[kind] ?? String
  return `${print(min)}–${print(max)}`
}
