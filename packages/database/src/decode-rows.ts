import type { StatementResult } from './pglite-connection.ts'

export type FieldParser = (text: string, typeOid: number) => unknown
export type ParserOf = (typeOid: number) => FieldParser | undefined

export const INT8_OID = 20
const JSON_OID = 114
const JSONB_OID = 3802

/** int8 as bigint, JSON as text (its numbers must not be rounded), everything else as the driver does it. */
export function sessionParsers(driver: ParserOf): ParserOf {
  return (typeOid) => (typeOid === JSON_OID || typeOid === JSONB_OID ? undefined : driver(typeOid))
}

/** What node-postgres gives: int8 as a string, JSON parsed. */
export function nodePostgresParsers(driver: ParserOf): ParserOf {
  return (typeOid) => (typeOid === INT8_OID ? undefined : driver(typeOid))
}

/** The rows as objects by column name; SQL null is null. */
export function decodeRows<Row>(result: StatementResult, parserOf: ParserOf): Row[] {
  const parsers = result.fields.map((field) => parserOf(field.typeOid))
  return result.rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < result.fields.length; i++) {
      const field = result.fields[i]
      const value = values[i]
      if (field === undefined) continue
      const parse = parsers[i]
      row[field.name] =
        value === null || value === undefined ? null : parse ? parse(value, field.typeOid) : value
    }
    // The caller names the columns that its SQL selects; nothing else can know their types.
    return row as Row
  })
}
