// A fault proxy with a control port, both on loopback, until SIGTERM. Prints PROXY=URL and CONTROL=URL.
//
//   run.ts --upstream URL [--port PORT]
//
// PUT /rules   a JSON array of rules (fault-rules.ts)      GET /hits   how many requests each rule has broken
// GET /log     every request since the last reset          POST /reset

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { portOf, startChaosProxy, type ChaosProxy } from './chaos-proxy.ts'
import type { FaultRule } from './fault-rules.ts'

const { values } = parseArgs({
  options: { upstream: { type: 'string' }, port: { type: 'string' } },
})
if (values.upstream === undefined) throw new Error('usage: run.ts --upstream URL [--port PORT]')
const proxy = await startChaosProxy({
  upstream: values.upstream,
  port: values.port === undefined ? 0 : Number(values.port),
})
const control = createServer((request, response) => {
  answerControl(proxy, request).then(
    (value) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value)),
    (error: unknown) => response.writeHead(400).end(String(error)),
  )
})
control.listen(0, '127.0.0.1')
await once(control, 'listening')
process.stdout.write(`PROXY=${proxy.url}\nCONTROL=http://127.0.0.1:${portOf(control)}\n`)
process.once('SIGTERM', () => process.exit(0))

async function answerControl(target: ChaosProxy, request: IncomingMessage): Promise<unknown> {
  switch (`${request.method} ${request.url}`) {
    case 'PUT /rules':
      // `as`: setRules refuses what is not a rule.
      target.setRules((await json(request)) as FaultRule[])
      return {}
    case 'GET /hits':
      return target.hits()
    case 'GET /log':
      return target.log()
    case 'POST /reset':
      target.reset()
      return {}
    default:
      throw new Error(`no such control: ${request.method} ${request.url}`)
  }
}
