import { describe, expect, it } from 'vitest'
import { patientSend } from './patient-send.ts'

type Answer = number | Error

/** Sends a request to a catalog that gives these answers in turn, the last one for ever. */
async function send(request: Request, answers: readonly Answer[]) {
  const bodies: string[] = []
  const pauses: number[] = []
  const patient = patientSend(
    async (sent) => {
      const answer = answers[Math.min(bodies.length, answers.length - 1)]
      bodies.push(await sent.text())
      if (answer instanceof Error) throw answer
      return new Response('{}', { status: answer ?? 200 })
    },
    { pauseMs: async (durationMs) => void pauses.push(durationMs) },
  )
  const outcome = await patient(request).then(
    ({ status }) => status,
    (error: unknown) => error,
  )
  return { outcome, bodies, pauses }
}

const away = new Error('connection refused')
const load = () => new Request('http://catalog/t')
const commit = (headers = {}) =>
  new Request('http://catalog/t', { method: 'POST', body: 'x', headers })

describe('patientSend', () => {
  it('reads again while the catalog is away, with growing pauses', async () => {
    const { outcome, pauses } = await send(load(), [away, 503, 502, 200])
    expect(outcome).toBe(200)
    expect(pauses).toEqual([200, 400, 800])
  })

  it('repeats a commit that has a key, with its body', async () => {
    const { outcome, bodies } = await send(commit({ 'idempotency-key': 'k' }), [away, 200])
    expect(outcome).toBe(200)
    expect(bodies).toEqual(['x', 'x'])
  })

  it.each([away, 503])(
    'sends a request without a key once, whatever becomes of it: %s',
    async (answer) => {
      const { outcome, bodies } = await send(commit(), [answer])
      expect(outcome).toBe(answer)
      expect(bodies).toHaveLength(1)
    },
  )

  it.each([200, 404, 409, 500])('takes %s as an answer', async (status) => {
    const { outcome, bodies } = await send(load(), [status])
    expect(outcome).toBe(status)
    expect(bodies).toHaveLength(1)
  })

  it('gives up after a bounded number of attempts', async () => {
    const { outcome, bodies } = await send(load(), [away])
    expect(outcome).toBe(away)
    expect(bodies).toHaveLength(8)
  })

  it('stops when it is aborted', async () => {
    const aborted = new AbortController()
    aborted.abort(new Error('deadline'))
    const request = new Request('http://catalog/t', { signal: aborted.signal })
    expect((await send(request, [away])).bodies).toHaveLength(1)
  })
})
