import { openTestCatalog, type TestCatalog } from '@timelake/catalog/open-test-catalog'
import { parseJson } from '@timelake/iceberg/spec/json'
import { waitFor } from '@timelake/testing/wait-for'
import { readSettings } from '@timelake/timelake/contract/settings'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseCommandLine } from './command-line.ts'
import { makeCommandContext } from './context.ts'
import { events } from './events.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { UsageError } from './usage-error.ts'

const SOON = { timeoutMs: 10_000 }

let catalog: TestCatalog

beforeAll(async () => {
  catalog = await openTestCatalog()
  await post('/v1/main/namespaces', { namespace: ['metrics'] })
  const field = { id: 1, name: 'ts', required: false, type: 'timestamptz' }
  const schema = { type: 'struct', fields: [field] }
  await post('/v1/main/namespaces/metrics/tables', { name: 'cpu', schema })
})

afterAll(() => catalog.stop())

async function post(path: string, body: object): Promise<void> {
  const answer = await catalog.call('POST', path, { body: JSON.stringify(body) })
  expect(answer.status, answer.text).toBe(200)
}

const setProperty = (value: string) => ({
  requirements: [],
  updates: [{ action: 'set-properties', updates: { key: value } }],
})

interface Run {
  readonly printed: string[]
  readonly ended: Promise<number>
  stop(): void
}

function run(args: string, send = (request: Request) => fetch(request)): Run {
  const command = parseCommandLine(['events', ...args.split(' ').filter((arg) => arg !== '')])
  if (command.kind !== 'events') throw new Error('another command')
  const printed: string[] = []
  const stopping = new AbortController()
  const context = {
    ...makeCommandContext(readSettings({ TIMELAKE_URI: catalog.running.url })),
    print: (text: string) => void printed.push(text),
    pause: () => Promise.resolve(),
    send,
  }
  const ended = events(command, context, stopping.signal)
  return { printed, ended, stop: () => stopping.abort() }
}

it('prints what the server keeps, and how to go on', async () => {
  const { printed, ended } = run('')
  expect(await ended).toBe(EXIT_CODES.done)
  expect(printed[0]).toMatch(/^2023-11-14T22:13:20.000Z {2}namespace-created {2}metrics {2}#1$/)
  expect(printed[1]).toMatch(/table-created {2}metrics\.cpu {2}#1$/)
  const next = /^go on with --after (.*)$/.exec(printed.at(-1) ?? '')?.[1] ?? ''
  const again = run(`--after ${next}`)
  await again.ended
  expect(again.printed).toHaveLength(1)
})

it('prints JSON lines, only of what is asked for', async () => {
  const { printed, ended } = run(
    '--json --table metrics.cpu --kind table-created --kind view-created',
  )
  await ended
  expect(printed.map((line) => parseJson(line))).toMatchObject([
    { kind: 'table-created', namespace: ['metrics'], name: 'cpu' },
  ])
})

it('follows what comes, across answers that are lost', async () => {
  let losses = 0
  const lossy = (request: Request): Promise<Response> => {
    if (!request.url.includes('/events?') || losses > 1) return fetch(request)
    losses += 1
    return losses === 1
      ? Promise.reject(new Error('connection reset'))
      : Promise.resolve(new Response('', { status: 503 }))
  }
  const follower = run('--follow --after start --table metrics.cpu', lossy)
  await waitFor(() => follower.printed.length === 1, SOON)
  await post('/v1/main/namespaces/metrics/tables/cpu', setProperty('1'))
  await waitFor(() => follower.printed.length === 2, SOON)
  expect(losses).toBe(2)
  expect(follower.printed[1]).toMatch(/table-committed {2}metrics\.cpu {2}#2$/)
  follower.stop()
  expect(await follower.ended).toBe(EXIT_CODES.done)
})

it('says what the server refuses, and that none answers', async () => {
  await expect(run('--after nonsense').ended).rejects.toThrow(/cannot read the events: .*after/)
  const dead = () => Promise.reject(new Error('refused'))
  await expect(run('', dead).ended).rejects.toThrow(CommandError)
})

it.each(['--after=', '--nonsense', 'cpu'])('refuses %s', (arg) => {
  expect(() => parseCommandLine(['events', arg])).toThrow(UsageError)
})

it('begins at the start, and a follower with what comes', () => {
  expect(parseCommandLine(['events'])).toMatchObject({ after: 'start', isFollowing: false })
  expect(parseCommandLine(['events', '-f'])).toMatchObject({ after: 'now', isFollowing: true })
})
