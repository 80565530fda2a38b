import { openTestDatabase } from '@timelake/testing/open-test-database'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueueNotification, QueuePool } from './queue-pool.ts'
import type { EmbeddedDatabase } from './sql-session.ts'

describe('the pool for the job queue', () => {
  let database: EmbeddedDatabase
  let pool: QueuePool

  beforeAll(async () => {
    database = await openTestDatabase()
    pool = database.queuePool()
    await pool.query('create table queue_note (id int primary key, text text)')
  })

  afterAll(() => database.close())

  const ids = async () => {
    const { rows } = await pool.query<{ id: number }>('select id from queue_note order by id')
    return rows.map((row) => row.id)
  }

  it('answers rows and counts as node-postgres does', async () => {
    const inserted = await pool.query('insert into queue_note values (1, $1), (2, $2)', [
      'a',
      undefined,
    ])
    expect(inserted).toEqual({ rows: [], rowCount: 2 })
    const found = await pool.query('select * from queue_note where id <= $1 order by id', [2])
    expect(found).toEqual({
      rows: [
        { id: 1, text: 'a' },
        { id: 2, text: null },
      ],
      rowCount: 2,
    })
    const updated = await pool.query(
      `update queue_note set text = 'x' where id = $1 returning id`,
      [1],
    )
    expect(updated).toEqual({ rows: [{ id: 1 }], rowCount: 1 })
    expect(await pool.query('delete from queue_note')).toEqual({ rows: [], rowCount: 2 })
  })

  it('gives int8 as a string and JSON parsed', async () => {
    const { rows } = await pool.query(
      `select 9007199254740993::bigint as big, '{"a":[1]}'::jsonb as json`,
    )
    expect(rows).toEqual([{ big: '9007199254740993', json: { a: [1] } }])
    const sql = await database.query('select 9007199254740993::bigint as big')
    expect(sql).toEqual([{ big: 9007199254740993n }])
  })

  it('runs scripts of several statements and answers the last', async () => {
    const answer = await pool.query(
      `insert into queue_note values (7, 'a'); select id from queue_note where id = 7`,
    )
    expect(answer).toEqual({ rows: [{ id: 7 }], rowCount: 1 })
    await pool.query('delete from queue_note')
  })

  it('commits and rolls back the transactions of a client', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('insert into queue_note values (1, $1)', ['kept'])
    await client.query('COMMIT')
    await client.query(' begin isolation level read committed')
    await client.query('insert into queue_note values (2, $1)', ['lost'])
    await client.query('rollback;')
    client.release()
    expect(await ids()).toEqual([1])
    await pool.query('delete from queue_note')
  })

  it('keeps a transaction open over a rollback to a savepoint', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('insert into queue_note values (1, $1)', ['kept'])
    await client.query('SAVEPOINT here')
    await expect(client.query('insert into queue_note values (1, $1)', ['twice'])).rejects.toThrow()
    await client.query('ROLLBACK TO SAVEPOINT here')
    await client.query('COMMIT')
    client.release()
    expect(await ids()).toEqual([1])
    await pool.query('delete from queue_note')
  })

  it('lets go after COMMIT failed, so that others go on', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await expect(client.query('select * from no_such_table')).rejects.toThrow()
    await client.query('COMMIT')
    client.release()
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('rolls back what a client left open when it is released', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('insert into queue_note values (1, $1)', ['lost'])
    client.release()
    expect(await ids()).toEqual([])
  })

  it('makes everybody else wait while a client is in a transaction', async () => {
    const client = await pool.connect()
    const order: string[] = []
    await client.query('BEGIN')
    const others = [
      database.query('select 1').then(() => order.push('database')),
      pool.query('select 1').then(() => order.push('pool')),
      database
        .transaction(async (session) => session.query('select 1'))
        .then(() => order.push('transaction')),
    ]
    await client.query('insert into queue_note values (1, $1)', ['x'])
    order.push('client')
    await client.query('ROLLBACK')
    await Promise.all(others)
    client.release()
    expect(order[0]).toBe('client')
    expect(order.slice(1).sort()).toEqual(['database', 'pool', 'transaction'])
  })

  it('keeps many clients in transactions apart', async () => {
    await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const client = await pool.connect()
        await client.query('BEGIN')
        await client.query('insert into queue_note values ($1, $2)', [i, 'x'])
        await client.query(i % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
        client.release()
      }),
    )
    expect(await ids()).toEqual([0, 2, 4, 6, 8])
    await pool.query('delete from queue_note')
  })

  it('delivers notifications to listening clients until they are released', async () => {
    const client = await pool.connect()
    const heard: QueueNotification[] = []
    client.on('notification', (message) => heard.push(message))
    await client.query('LISTEN "jobs:channel"')
    await pool.query(`select pg_notify('jobs:channel', $1)`, ['hello'])
    await waitFor(() => heard.length === 1, { timeoutMs: 5000 })
    expect(heard).toEqual([{ channel: 'jobs:channel', payload: 'hello' }])
    const inTransaction = await pool.connect()
    await inTransaction.query('BEGIN')
    await inTransaction.query(`select pg_notify('jobs:channel', 'later')`)
    await inTransaction.query('COMMIT')
    inTransaction.release()
    await waitFor(() => heard.length === 2, { timeoutMs: 5000 })
    client.release()
    await pool.query(`select pg_notify('jobs:channel', $1)`, ['nobody'])
    await pool.query('select 1')
    expect(heard).toHaveLength(2)
  })

  it('leaves timers and sockets their turn in a busy loop of queries', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    for (let i = 0; i < 200; i++) await pool.query('select $1::int', [i])
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(0)
  })

  it('finds the tables of the queue, and ours first', async () => {
    await pool.query('create schema bullmq; create table bullmq.queue_only (a int)')
    expect(await pool.query('select * from queue_only')).toEqual({ rows: [], rowCount: 0 })
    const { rows } = await pool.query<{ search_path: string }>('show search_path')
    expect(rows[0]?.search_path.replaceAll(/\s/g, '')).toBe('public,bullmq')
    await pool.query('drop schema bullmq cascade')
  })

  it('leaves the database open when the pool ends', async () => {
    await pool.end()
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }])
  })
})
