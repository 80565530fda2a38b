import { afterAll, describe, expect, it } from 'vitest'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { readSettings } from '@timelake/timelake/contract/settings'
import { parseCommandLine, type Command } from './command-line.ts'
import { dropped } from './dropped.ts'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import { UsageError } from './usage-error.ts'
import { warehouse } from './warehouse.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: JsonValue | undefined
  readonly authorization: string | null
}

const sent: Sent[] = []
const answers: { status: number; body: string }[] = []
let input = ''
const printed: string[] = []

const settings = readSettings({
  TIMELAKE_URI: 'http://lake.example',
  TIMELAKE_TOKEN: 'letmein',
  TIMELAKE_S3_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  TIMELAKE_S3_SECRET_ACCESS_KEY: 'hunter2hunter2',
})
const context = {
  settings,
  print: (text: string) => void printed.push(text),
  readInput: async () => input,
  nowMs: () => 1_700_000_000_000,
  newUuid: () => '00000000-0000-4000-8000-000000000000' as const,
  pause: async () => undefined,
  async send(request: Request): Promise<Response> {
    const text = await request.text()
    const { pathname, search } = new URL(request.url)
    sent.push({
      method: request.method,
      path: pathname + search,
      body: text === '' ? undefined : parseJson(text),
      authorization: request.headers.get('authorization'),
    })
    const { status, body } = answers.shift() ?? { status: 500, body: '' }
    return new Response(status === 204 ? null : body, { status })
  },
}

async function run(
  args: string,
  replies: readonly (JsonObject | { status: number; body: string })[],
): Promise<ExitCode> {
  sent.splice(0)
  printed.splice(0)
  for (const reply of replies) {
    const isRaw = 'status' in reply && 'body' in reply
    // `as`: the second kind was told apart a line above.
    if (isRaw) answers.push(reply as { status: number; body: string })
    else answers.push({ status: 200, body: JSON.stringify(reply) })
  }
  const command: Command = parseCommandLine(args.split(' '))
  if (command.kind === 'warehouse') return warehouse(command, context)
  if (command.kind === 'dropped') return dropped(command, context)
  throw new Error('not one of ours')
}

afterAll(() => expect(answers).toEqual([]))

const WAREHOUSE = {
  id: 'w1',
  name: 'lake',
  location: 's3://lake/x',
  storage: { type: 's3', region: 'x', 'path-style': true, endpoint: 'http://h:1' },
  credentials: { 'opens-here': true, 'access-key-id-end': 'MPLE' },
  'allowed-locations': ['s3://old'],
  defaults: { a: '1' },
  overrides: {},
  delegation: [],
  version: 3,
}
const FINE = { ok: true, findings: [{ check: 'write', ok: true, detail: null }] }

describe('timelake warehouse', () => {
  it('creates one with keys from the environment, tries its store and prints no secret (B201)', async () => {
    const args =
      'warehouse create lake s3://lake/x --endpoint http://h:1 --path-style yes --credentials env --allow s3://old --default a=1=2 --override b='
    expect(await run(args, [WAREHOUSE, FINE])).toBe(EXIT_CODES.done)
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/admin/v1/warehouses',
        authorization: 'Bearer letmein',
        body: {
          name: 'lake',
          location: 's3://lake/x',
          storage: { type: 's3', endpoint: 'http://h:1', region: 'us-east-1', 'path-style': true },
          credentials: {
            'access-key-id': 'AKIAIOSFODNN7EXAMPLE',
            'secret-access-key': 'hunter2hunter2',
          },
          'allowed-locations': ['s3://old'],
          defaults: { a: '1=2' },
          overrides: { b: '' },
        },
      },
      expect.objectContaining({ method: 'POST', path: '/admin/v1/warehouses/lake/test' }),
    ])
    const text = printed.join('\n')
    expect(text).toContain('access key id ends with MPLE')
    expect(text).toContain('the store of lake does what it must')
    expect(text).not.toMatch(/hunter2|AKIAIOS|letmein/)
  })

  it('takes keys from standard input, and repeats nothing of what is not JSON', async () => {
    input = '{"access-key-id":"a","secret-access-key":"b","session-token":"c"}'
    await run('warehouse update lake --credentials stdin', [WAREHOUSE])
    expect(sent).toMatchObject([
      {
        method: 'PATCH',
        path: '/admin/v1/warehouses/lake',
        body: { credentials: { 'access-key-id': 'a', 'session-token': 'c' } },
      },
    ])
    input = 'hunter2'
    const failed = run('warehouse update lake --credentials stdin', [])
    await expect(failed).rejects.toThrow('standard input is not JSON')
    await expect(failed).rejects.not.toThrow('hunter2')
  })

  it('changes only what is named', async () => {
    await run('warehouse update lake --default x=y', [WAREHOUSE])
    expect(sent[0]?.body).toEqual({ defaults: { x: 'y' } })
    await run('warehouse update lake --credentials none', [WAREHOUSE])
    expect(sent[0]?.body).toEqual({ credentials: null })
    await run('warehouse update lake --location s3://new --region eu', [WAREHOUSE])
    expect(sent[0]?.body).toEqual({ location: 's3://new', storage: { type: 's3', region: 'eu' } })
    await run('warehouse create local file:///lake', [WAREHOUSE, FINE])
    expect(sent[0]?.body).toMatchObject({ storage: { type: 'file' } })
  })

  it('fails when the store fails a check, and says which', async () => {
    const bad = { ok: false, findings: [{ check: 'list', ok: false, detail: 'it is empty' }] }
    expect(await run('warehouse test a/b', [bad])).toBe(EXIT_CODES.failed)
    expect(sent[0]?.path).toBe('/admin/v1/warehouses/a%2Fb/test')
    expect(printed[0]).toContain('FAILED  list: it is empty')
  })

  it('lists all pages, as lines or as JSON', async () => {
    const pages = [
      { warehouses: [WAREHOUSE], 'next-page-token': 'next' },
      { warehouses: [{ ...WAREHOUSE, name: 'b' }], 'next-page-token': null },
    ]
    await run('warehouse list', pages)
    expect(printed).toEqual(['lake  s3://lake/x  http://h:1\nb  s3://lake/x  http://h:1'])
    expect(sent.map(({ path }) => path)).toEqual([
      '/admin/v1/warehouses?pageToken=',
      '/admin/v1/warehouses?pageToken=next',
    ])
    await run('warehouse list --json', [{ warehouses: [], 'next-page-token': null }])
    expect(printed).toEqual(['[]'])
  })

  it('deletes, and says what the server refuses', async () => {
    await run('warehouse delete lake --force', [{ status: 204, body: '' }])
    expect(sent[0]).toMatchObject({
      method: 'DELETE',
      path: '/admin/v1/warehouses/lake?force=true',
    })
    const body = JSON.stringify({ error: { message: 'it holds 1 table(s)', type: 'x', code: 409 } })
    await expect(run('warehouse delete lake', [{ status: 409, body }])).rejects.toThrow(
      'was answered 409: it holds 1 table(s)',
    )
  })

  it.each([
    ['warehouse', 'say what to do'],
    ['warehouse drop x', 'say what to do'],
    ['warehouse show', 'name a warehouse'],
    ['warehouse create lake', 'say where lake is to lie'],
    ['warehouse create lake s3://x y', 'there is too much: y'],
    ['warehouse create lake file:///x --region eu', 'are for locations in s3://'],
    [
      'warehouse create lake s3://x --credentials AKIA:hunter2',
      'keys never go on the command line',
    ],
    ['warehouse create lake s3://x --path-style maybe', '--path-style is yes or no'],
    ['warehouse create lake s3://x --default a', 'key=value'],
    ['warehouse show x --force', '--force is for delete'],
    [
      'warehouse create lake s3://x --secret-access-key hunter2',
      "Unknown option '--secret-access-key'",
    ],
    ['dropped', 'say what to do'],
    ['dropped undrop', 'name the id'],
    ['dropped keep a b', 'there is too much: b'],
    ['dropped purge a --name b', 'are for undrop'],
  ])('refuses %j with a sentence that repeats no secret', (args, sentence) => {
    const parse = () => parseCommandLine(args.split(' '))
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(sentence)
    expect(parse).not.toThrow('hunter2')
  })
})

describe('timelake dropped', () => {
  const TABLE = {
    id: 't1',
    namespace: ['a', 'b'],
    name: 't',
    'dropped-ms': 1_699_999_940_000,
    'can-come-back': true,
    'purge-requested': true,
    'purge-requested-ms': 1_699_999_940_000,
    'purge-due-ms': 1_700_000_060_000,
    'purge-started-ms': null,
    'purged-ms': null,
  }

  it('lists what becomes of the files', async () => {
    const tables = [
      TABLE,
      { ...TABLE, id: 't2', 'purge-requested': false },
      { ...TABLE, id: 't3', 'purge-started-ms': 1_699_999_999_000 },
      { ...TABLE, id: 't4', 'purged-ms': 1_699_999_999_000 },
    ]
    await run('dropped list --warehouse w', [{ 'dropped-tables': tables, 'next-page-token': null }])
    expect(sent[0]?.path).toBe('/admin/v1/dropped-tables?pageToken=&warehouse=w')
    const lines = printed[0]?.split('\n') ?? []
    expect(lines[0]).toMatch(/^t1 {2}a\.b\.t {2}dropped .*; files will be deleted .*\(in 1 min\)$/)
    expect(lines[1]).toMatch(/files stay$/)
    expect(lines[2]).toMatch(/files are being deleted since/)
    expect(lines[3]).toMatch(/files deleted/)
  })

  it('undrops, purges and keeps', async () => {
    await run('dropped undrop t1 --namespace x.y --name back', [TABLE])
    expect(sent[0]).toMatchObject({
      method: 'POST',
      path: '/admin/v1/dropped-tables/t1/undrop',
      body: { namespace: ['x', 'y'], name: 'back' },
    })
    expect(printed).toEqual(['a.b.t is back'])
    await run('dropped purge t1', [{ status: 202, body: JSON.stringify(TABLE) }])
    expect(sent[0]).toMatchObject({ method: 'DELETE', path: '/admin/v1/dropped-tables/t1' })
    await run('dropped keep t1', [{ ...TABLE, 'purge-requested': false }])
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/admin/v1/dropped-tables/t1/keep' })
    expect(printed[0]).toContain('files stay')
  })
})
