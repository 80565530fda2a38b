import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StatementError } from '../database-errors.ts'
import type { UseDatabase } from './contract-world.ts'

/** What a SqlSession and a Database promise. */
export function describeSessions(useDatabase: UseDatabase): void {
  describe('sessions', () => {
    beforeAll(() =>
      useDatabase().runScript('create table contract_note (id int primary key, text text)'),
    )
    afterAll(() => useDatabase().runScript('drop table contract_note'))

    it.each([
      ['null::text', null],
      ["'a''b'", "a'b"],
      ['9223372036854775807', 9_223_372_036_854_775_807n],
      ['1::bigint', 1n],
      ['1::int', 1],
      ['true', true],
      ['1.5::float8', 1.5],
      ["'{1,9151314442816847871}'::bigint[]", [1n, 9_151_314_442_816_847_871n]],
      [`array['a', 'b,c', '"d"', '']`, ['a', 'b,c', '"d"', '']],
      [`'{"id": 9151314442816847871}'::json`, '{"id": 9151314442816847871}'],
    ])('reads %s', async (expression, value) => {
      expect(await useDatabase().query(`select ${expression} as value`)).toEqual([{ value }])
    })

    it.each([
      ['text', "quote ' backslash \\ newline \n unicode \u{1f600} cafe\u0301"],
      ['text', ''],
      ['text', null],
      ['bigint', -9_223_372_036_854_775_808n],
      ['int', -2_147_483_648],
      ['boolean', false],
      ['bigint[]', [1n, -5n]],
      ['bigint[]', []],
      ['text[]', ['a', 'b,c', '"d"', '\\', '{}', 'NULL', '']],
    ])('passes a %s parameter through unchanged', async (type, value) => {
      expect(await useDatabase().query(`select $1::${type} as value`, [value])).toEqual([{ value }])
    })

    it('passes epoch milliseconds as numbers and reads them as bigint', async () => {
      const rows = await useDatabase().query('select $1::bigint as at_ms', [1_700_000_000_123])
      expect(rows).toEqual([{ at_ms: 1_700_000_000_123n }])
    })

    it('reports a refused statement with its code and goes on', async () => {
      const database = useDatabase()
      const error = await database
        .query('select * from no_such_table')
        .catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(StatementError)
      expect(error).toMatchObject({ code: '42P01' })
      await expect(database.query('select 1/$1::int', [0])).rejects.toMatchObject({ code: '22012' })
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }])
    })

    it('names the constraint that refused a row', async () => {
      const database = useDatabase()
      await database.query('insert into contract_note values (1, $1)', ['first'])
      const again = database.query('insert into contract_note values (1, $1)', ['second'])
      await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'contract_note_pkey' })
    })

    it('keeps using a statement whose table was changed', async () => {
      const database = useDatabase()
      const read = () => database.query('select * from contract_note where id = $1', [99])
      expect(await read()).toEqual([])
      await database.runScript('alter table contract_note add column extra text')
      await database.query('insert into contract_note values (99, $1, $2)', ['a', 'b'])
      expect(await read()).toEqual([{ id: 99, text: 'a', extra: 'b' }])
      await database.runScript('alter table contract_note drop column extra')
      expect(await read()).toEqual([{ id: 99, text: 'a' }])
    })

    it('commits a transaction whose work succeeds, and gives its value', async () => {
      const database = useDatabase()
      const value = await database.transaction(async (session) => {
        await session.query('insert into contract_note values (2, $1)', ['kept'])
        return 'value'
      })
      expect(value).toBe('value')
      expect(await database.query('select text from contract_note where id = 2')).toHaveLength(1)
    })

    it('rolls a transaction back whose work throws, and throws that', async () => {
      const database = useDatabase()
      const failure = database.transaction(async (session) => {
        await session.query('insert into contract_note values (3, $1)', ['lost'])
        throw new Error('changed my mind')
      })
      await expect(failure).rejects.toThrow('changed my mind')
      expect(await database.query('select text from contract_note where id = 3')).toEqual([])
    })

    it('does not pretend to commit when a statement failed and the work went on', async () => {
      const database = useDatabase()
      const swallowed = database.transaction(async (session) => {
        await session.query('insert into contract_note values (4, $1)', ['lost'])
        await session.query('select * from no_such_table').catch(() => {})
      })
      await expect(swallowed).rejects.toThrow(StatementError)
      expect(await database.query('select text from contract_note where id = 4')).toEqual([])
    })

    it('keeps the statements of others out of a transaction', async () => {
      const database = useDatabase()
      const failure = database.transaction(async (session) => {
        await session.query('insert into contract_note values (5, $1)', ['lost'])
        throw new Error('no')
      })
      const other = database.query('insert into contract_note values (6, $1)', ['kept'])
      await expect(failure).rejects.toThrow('no')
      await other
      const rows = await database.query('select id from contract_note where id in (5, 6)')
      expect(rows).toEqual([{ id: 6 }])
    })

    it('refuses the session of a transaction that has ended', async () => {
      const database = useDatabase()
      const session = await database.transaction(async (open) => open)
      await expect(session.query('select 1')).rejects.toThrow(StatementError)
    })
  })
}
