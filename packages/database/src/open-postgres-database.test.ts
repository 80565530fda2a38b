import { type AddressInfo, createServer, connect, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import {
  openPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DatabaseUnavailableError, UnsupportedServerError } from './database-errors.ts'
import {
  checkServer,
  openPostgresDatabase,
  type PostgresOptions,
} from './open-postgres-database.ts'
import type { Database } from './sql-session.ts'

const WAIT_MS_MAX = 10_000
const SECRET = 's3cret-w0rd'
const isThere = testServices().databaseUrl !== undefined

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('opening a database on a server', () => {
  it.each([
    ['mysql://u:s3cret-w0rd@127.0.0.1/db'],
    ['postgres://u:s3cret-w0rd@127.0.0.1:port/db'],
    ['postgres://u:s3cret-w0rd@[127.0.0.1/db'],
    ['postgres://u:s3cret-w0rd%@127.0.0.1/db'],
    ['postgres://u:s3cret-w0rd@127.0.0.1:1/db'],
    ['postgres://u:s3cret-w0rd@name.invalid/db'],
  ])('fails without showing the password: %s', async (url) => {
    const error = await failureOf(openPostgresDatabase({ url, connectionsMax: 1 }))
    expect(error).toBeInstanceOf(DatabaseUnavailableError)
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(SECRET)
  })

  it.each([
    ['hangs up', (socket: Socket) => void socket.destroy()],
    ['says nothing', (socket: Socket) => void socket.on('error', () => {})],
  ])('gives up a server that %s', async (_, treat) => {
    const url = `postgres://u:p@127.0.0.1:${await listen(createServer(treat))}/db`
    const options = { url, connectionsMax: 1, connectTimeoutMs: 300 }
    const error = await failureOf(openPostgresDatabase(options))
    expect(error).toBeInstanceOf(DatabaseUnavailableError)
    expect(error).toMatchObject({ isUnsent: true })
  })

  it.each([
    ['a server that is too old', { version: 140_012, encoding: 'UTF8' }, /PostgreSQL 14.*15/],
    ['another encoding', { version: 160_001, encoding: 'LATIN1' }, /LATIN1.*UTF8/],
  ])('refuses %s', (_, facts, message) => {
    expect(() => checkServer(facts)).toThrow(UnsupportedServerError)
    expect(() => checkServer(facts)).toThrow(message)
  })

  it('takes a server that is new enough', () => {
    expect(() => checkServer({ version: 150_000, encoding: 'UTF8' })).not.toThrow()
  })
})

describe.skipIf(!isThere)('a database on a server (skipped without TEST_DATABASE_URL)', () => {
  let database: PostgresTestDatabase

  beforeAll(async () => {
    database = await openPostgresTestDatabase()
    await database.runScript('create table note (id int primary key, text text)')
  })

  afterAll(() => database.close())

  /** Another process, so to say. */
  async function openAnother(options: Partial<PostgresOptions> = {}): Promise<Database> {
    const other = await openPostgresDatabase({ url: database.url, connectionsMax: 2, ...options })
    onTestFinished(() => other.close())
    return other
  }

  const killEverybody = (applicationName: string) =>
    database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
      [applicationName],
    )

  const untilRunning = (applicationName: string, text: string) =>
    waitFor(
      async () => {
        const rows = await database.query(
          `select 1 from pg_stat_activity where application_name = $1 and state = 'active' and query like $2`,
          [applicationName, `${text}%`],
        )
        return rows.length > 0
      },
      { timeoutMs: WAIT_MS_MAX },
    )

  it('goes on after its idle connections were cut', async () => {
    const applicationName = 'idle'
    const other = await openAnother({ applicationName })
    await Promise.all([other.query('select 1'), other.query('select 2')])
    await killEverybody(applicationName)
    // The first may still go to a connection whose end has not come through.
    await waitFor(() => other.query('select 1'), { timeoutMs: WAIT_MS_MAX })
    expect(await Promise.all([other.query('select 1'), other.query('select 2')])).toHaveLength(2)
  })

  it('does not know the outcome of a statement that was cut off', async () => {
    const applicationName = 'running'
    const other = await openAnother({ applicationName })
    const error = failureOf(other.query('select pg_sleep($1)', [60]))
    await untilRunning(applicationName, 'select pg_sleep')
    await killEverybody(applicationName)
    expect(await error).toBeInstanceOf(DatabaseUnavailableError)
    expect(await error).toMatchObject({ isUnsent: false })
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('knows that a transaction changed nothing when it was cut off before its commit', async () => {
    const applicationName = 'before-commit'
    const other = await openAnother({ applicationName })
    const failure = other.transaction(async (session) => {
      await session.query('insert into note values (1, $1)', ['lost'])
      await killEverybody(applicationName)
      await session.query('insert into note values (2, $1)', ['lost'])
    })
    const error = await failureOf(failure)
    expect(error).toBeInstanceOf(DatabaseUnavailableError)
    expect(error).toMatchObject({ isUnsent: true })
    expect(await database.query('select 1 from note where id in (1, 2)')).toEqual([])
    await other.query('insert into note values (3, $1)', ['kept'])
  })

  it('never lets a statement of a broken transaction through on another connection', async () => {
    const applicationName = 'broken'
    const other = await openAnother({ applicationName })
    let session: Pick<Database, 'query'> | undefined
    const failure = other.transaction(async (open) => {
      session = open
      await open.query('select 1')
      await killEverybody(applicationName)
      await waitFor(async () => (await other.query('select 1')).length === 1, {
        timeoutMs: WAIT_MS_MAX,
      })
      const late = [10, 11, 12].map((id) => open.query('insert into note values ($1)', [id]))
      const settled = await Promise.allSettled(late)
      expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    })
    await expect(failure).rejects.toThrow(DatabaseUnavailableError)
    expect(session).toBeDefined()
    expect(await database.query('select 1 from note where id in (10, 11, 12)')).toEqual([])
  })

  it('does not know the outcome of a transaction that was cut off during its commit', async () => {
    await database.runScript(`
      create function slow() returns trigger language plpgsql as
        $$ begin perform pg_sleep(60); return null; end $$;
      create table slow_note (id int);
      create constraint trigger slow after insert on slow_note deferrable initially deferred
        for each row execute function slow()`)
    const applicationName = 'during-commit'
    const other = await openAnother({ applicationName })
    const error = failureOf(
      other.transaction((session) => session.query('insert into slow_note values ($1)', [1])),
    )
    await untilRunning(applicationName, 'COMMIT')
    await killEverybody(applicationName)
    expect(await error).toBeInstanceOf(DatabaseUnavailableError)
    expect(await error).toMatchObject({ isUnsent: false })
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('ends a statement that takes too long, with an outcome that is unknown', async () => {
    const other = await openAnother({ statementTimeoutMs: 100 })
    const error = await failureOf(other.query('select pg_sleep($1)', [60]))
    expect(error).toBeInstanceOf(DatabaseUnavailableError)
    expect(error).toMatchObject({ isUnsent: false, message: expect.stringContaining('timeout') })
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('ends a wait for a lock, and nothing of the statement applies', async () => {
    const other = await openAnother({ lockTimeoutMs: 100 })
    await database.query('insert into note values (20, $1)', ['locked'])
    await database.transaction(async (session) => {
      await session.query('select 1 from note where id = 20 for update')
      const late = other.query('update note set text = $1 where id = 20', ['late'])
      await expect(late).rejects.toMatchObject({ name: 'StatementError', code: '55P03' })
    })
  })

  it('ends a transaction that does nothing for too long', async () => {
    const other = await openAnother({ idleInTransactionTimeoutMs: 100 })
    const error = await failureOf(
      other.transaction(async (session) => {
        const [row] = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
        const isGone = async () => {
          const rows = await database.query('select 1 from pg_stat_activity where pid = $1', [
            row?.pid,
          ])
          return rows.length === 0
        }
        await waitFor(isGone, { timeoutMs: WAIT_MS_MAX })
        await session.query('select 1')
      }),
    )
    expect(error).toMatchObject({ name: 'DatabaseUnavailableError', isUnsent: true })
  })

  it('gives up a server that falls silent in the middle of a statement', async () => {
    const proxy = await openProxy(database.url)
    const other = await openAnother({ url: proxy.url, statementTimeoutMs: 50 })
    await other.query('select 1')
    proxy.silence()
    const error = await failureOf(other.query('insert into note values (30, $1)', ['?']))
    expect(error).toMatchObject({ name: 'DatabaseUnavailableError', isUnsent: false })
    proxy.close()
  })

  it('recovers by itself when the server comes back', async () => {
    const proxy = await openProxy(database.url)
    const other = await openAnother({ url: proxy.url, connectTimeoutMs: 300 })
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
    proxy.close()
    for (let i = 0; i < 5; i++) {
      const error = await failureOf(other.query('select 1'))
      expect(error).toBeInstanceOf(DatabaseUnavailableError)
    }
    await proxy.reopen()
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }])
    proxy.close()
  })

  it('says that the server has no connection left, and goes on when it has', async () => {
    const role = `limited_${Date.now()}`
    await database.runScript(`create role ${role} login connection limit 1`)
    const url = new URL(database.url)
    url.username = role
    const first = await openPostgresDatabase({ url: url.href, connectionsMax: 2 })
    await first.transaction(async () => {
      const error = await failureOf(first.query('select 1'))
      expect(error).toMatchObject({ name: 'DatabaseUnavailableError', isUnsent: true })
      expect(String(error)).toContain('too many connections')
    })
    expect(await first.query('select 1 as one')).toEqual([{ one: 1 }])
    await first.close()
    await database.runScript(`drop role ${role}`)
  })

  it('lends its connections in turn to any number of callers', async () => {
    const other = await openAnother({ connectionsMax: 3, applicationName: 'crowd' })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => other.query('select $1::int as n', [n])),
    )
    expect(answers.map(([row]) => row?.['n'])).toEqual(Array.from({ length: 200 }, (_, n) => n))
    const sessions = await database.query(
      'select 1 from pg_stat_activity where application_name = $1',
      ['crowd'],
    )
    expect(sessions).toHaveLength(3)
  })

  it('prepares a statement once for each connection', async () => {
    const other = await openAnother({ connectionsMax: 1 })
    for (let n = 0; n < 5; n++) await other.query('select $1::int as once', [n])
    const rows = await other.query(
      `select generic_plans + custom_plans as uses from pg_prepared_statements
       where statement like 'select $1::int as once'`,
    )
    expect(rows).toEqual([{ uses: 5n }])
  })

  it('ends what is running before it closes, and refuses what comes later', async () => {
    const other = await openPostgresDatabase({ url: database.url, connectionsMax: 1 })
    const running = [1, 2].map((n) => other.query('select $1::int as n, pg_sleep(0.05)', [n]))
    const closed = other.close()
    await expect(other.query('select 1')).rejects.toThrow(DatabaseUnavailableError)
    expect((await Promise.all(running)).map(([row]) => row?.['n'])).toEqual([1, 2])
    await closed
  })

  it('hands on what the server remarks', async () => {
    const notices: string[] = []
    const other = await openAnother({ onNotice: (text) => void notices.push(text) })
    await other.runScript(`do $$ begin raise warning 'mind the gap'; end $$`)
    expect(notices).toEqual(['WARNING: mind the gap'])
  })

  it('keeps parameters and row values out of what is logged', async () => {
    const error = await failureOf(database.query('insert into note values ($1, $2)', ['x', SECRET]))
    expect(error).toMatchObject({ name: 'StatementError', code: '22P02' })
    expect(JSON.stringify(error)).not.toContain(SECRET)
    expect(String(error)).not.toContain(SECRET)
  })
})

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // `as`: a server that listens on TCP has such an address.
  return (server.address() as AddressInfo).port
}

/** A way to the server that can fall silent, close and open again. */
async function openProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const serve = () =>
    createServer((near) => {
      const far = connect(Number(port), hostname)
      for (const socket of [near, far]) {
        sockets.add(socket)
        socket.on('error', () => {})
      }
      near.pipe(far).pipe(near)
    })
  let server = serve()
  const ownPort = await listen(server)
  const url = new URL(databaseUrl)
  url.port = String(ownPort)
  return {
    url: url.href,
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    async reopen() {
      server = serve()
      await listen(server, ownPort)
    },
  }
}
