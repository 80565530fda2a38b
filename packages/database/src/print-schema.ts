import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from './migrate.ts'
import { migrationsDirectory } from './migrations-directory.ts'
import { openPgliteDatabase } from './open-pglite-database.ts'
import type { SqlSession } from './sql-session.ts'

const TABLES = `
select c.relname as name, c.reloptions::text as options,
  (select string_agg(format(E'  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attcollation <> 0 and a.attcollation <> t.typcollation
        then format(' collate %I', (select collname from pg_collation where oid = a.attcollation)) else '' end,
      case a.attidentity when 'a' then ' generated always as identity' else '' end,
      case when a.attnotnull then ' not null' else '' end), E',\\n' order by a.attnum)
   from pg_attribute a join pg_type t on t.oid = a.atttypid
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
  (select string_agg(format(',' || E'\\n' || '  constraint %I %s', conname, pg_get_constraintdef(oid)), ''
      order by contype, conname)
   from pg_constraint where conrelid = c.oid and contype in ('p', 'u', 'f', 'c')) as constraints,
  (select string_agg(pg_get_indexdef(i.indexrelid) || E';\\n', '' order by pg_get_indexdef(i.indexrelid))
   from pg_index i where i.indrelid = c.oid
     and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u'))) as indexes
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
order by c.relname`

interface TableText {
  readonly name: string
  readonly options: string | null
  readonly columns: string
  readonly constraints: string | null
  readonly indexes: string | null
}

/** The tables, constraints and indexes of schema public as SQL, in a fixed order, the same on every server. */
export async function printSchema(session: SqlSession): Promise<string> {
  const tables = await session.query<TableText>(TABLES)
  const texts = tables.map(({ name, options, columns, constraints, indexes }) => {
    const storage = options === null ? '' : ` with (${options.slice(1, -1)})`
    return `create table ${name} (\n${columns}${constraints ?? ''}\n)${storage};\n${indexes ?? ''}`
  })
  return `${HEADER}\n${texts.join('\n')}`
}

const HEADER = `-- What the migrations add up to. Written by packages/database/src/print-schema.ts; do not edit.
`

/** What `migrations/schema.sql` must hold. */
export async function printMigratedSchema(): Promise<string> {
  const database = await openPgliteDatabase()
  try {
    await migrate(database, migrationsDirectory())
    return await printSchema(database)
  } finally {
    await database.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(migrationsDirectory(), 'schema.sql'), await printMigratedSchema())
}
