#!/usr/bin/env node
// peerbench: one neutral load script for any Iceberg REST catalog. See README.md for the flags.
//   node peerbench.mjs --uri http://127.0.0.1:8181 --name ours --out ours.json
//   node peerbench.mjs --compare theirs.json ours.json
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync, openSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { compare, printReport } from './report.mjs'
import { W3 } from './contention.mjs'
import { W4, W5 } from './list-and-churn.mjs'
import {
  Client,
  createRequest,
  deepMetadata,
  deps,
  now,
  put,
  sample,
  sleep,
  snapshot,
  stats,
} from './lib.mjs'

const { values: flag } = parseArgs({
  options: {
    uri: { type: 'string' },
    warehouse: { type: 'string' },
    prefix: { type: 'string' },
    token: { type: 'string' },
    header: { type: 'string', multiple: true },
    name: { type: 'string', default: 'catalog' },
    out: { type: 'string' },
    workloads: { type: 'string', default: 'W1,W2,W3,W4,W5' },
    start: { type: 'string' },
    'start-log': { type: 'string', default: '/dev/null' },
    'start-timeout': { type: 'string', default: '120' },
    'start-kill': { type: 'boolean', default: true },
    pid: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    snapshots: { type: 'string', default: '10,1000,10000' },
    deep: { type: 'string', default: 'commit' },
    batch: { type: 'string', default: '200' },
    tables: { type: 'string', default: '100,1000' },
    'commit-concurrency': { type: 'string', default: '32' },
    writers: { type: 'string', default: '1,2,4,8,16,32,64' },
    appends: { type: 'string', default: '20' },
    'think-ms': { type: 'string', default: '0' },
    refs: { type: 'boolean', default: false },
    'retry-min-ms': { type: 'string', default: '100' },
    'cell-seconds': { type: 'string', default: '60' },
    'list-tables': { type: 'string', default: '10000' },
    'list-namespaces': { type: 'string', default: '500' },
    churn: { type: 'string', default: '500' },
    location: { type: 'string' },
    compare: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const positionals = parseArgs({ options: {}, strict: false, allowPositionals: true }).positionals
const numbers = (text) => text.split(',').filter(Boolean).map(Number)
const SECONDS = Number(flag.seconds)

if (flag.compare) {
  const files = positionals.slice(-2)
  compare(...files.map((file) => JSON.parse(readFileSync(file, 'utf8'))))
  process.exit(0)
}
if (!flag.uri) {
  console.error(
    'usage: peerbench.mjs --uri URI [--warehouse W] [--token T] [--start CMD | --pid N] … (README.md)',
  )
  process.exit(2)
}

const { undici } = deps()
const headers = Object.fromEntries(
  (flag.header ?? []).map((line) => [
    line.slice(0, line.indexOf(':')).trim().toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]),
)
const client = new Client(undici, { uri: flag.uri, token: flag.token, headers, connections: 128 })
const run = randomUUID().slice(0, 6) // every run uses namespaces of its own
const result = {
  name: flag.name,
  uri: flag.uri,
  at: new Date().toISOString(),
  machine: { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version, load: loadavg() },
  options: { ...flag, token: undefined },
  workloads: {},
  checks: [],
}
const check = (name, passed, detail = '') => {
  result.checks.push({ name, passed: !!passed, detail })
  console.error(`${passed ? 'ok  ' : 'FAIL'} ${name}${detail ? `: ${detail}` : ''}`)
}
let pids = (flag.pid ?? []).flatMap((p) => p.split(',')).map(Number)

/** Measure wall time, server CPU (all --pid trees), client CPU and load around `body`, which returns the number of operations. */
async function measure(body) {
  const before = pids.length ? sample(pids) : undefined
  const cpu = process.cpuUsage(),
    started = now()
  const { ops, ...figures } = await body()
  const seconds = (now() - started) / 1000,
    used = process.cpuUsage(cpu)
  const after = pids.length ? sample(pids) : undefined
  const clientCpu = (used.user + used.system) / 1e6
  const r = (x, d = 3) => Math.round(x * 10 ** d) / 10 ** d
  return {
    ops,
    seconds: r(seconds),
    perSecond: r(ops / seconds, 1),
    ...figures,
    clientCores: r(clientCpu / seconds),
    load1: r(loadavg()[0], 1),
    ...(before
      ? {
          serverCpuMsPerOp: r(((after.cpuS - before.cpuS) * 1000) / Math.max(1, ops)),
          serverCores: r((after.cpuS - before.cpuS) / seconds),
          rssMb: after.rssMb,
        }
      : {}),
  }
}

/** `width` loops that call `step(i)` until the time is over or `limit` calls were made. */
async function spin(width, step, { seconds = SECONDS, limit = Infinity } = {}) {
  const end = now() + seconds * 1000
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async (_, lane) => {
      while (next < limit && now() < end) await step(next++, lane)
    }),
  )
  return next
}
const count = (map, key) => {
  map[key] = (map[key] ?? 0) + 1
}
const outcome = (r) => r.error ?? r.status

async function makeNamespace(name) {
  const r = await client.call('POST', `/v1${client.prefix}/namespaces`, {
    namespace: [name],
    properties: {},
  })
  if (r.status !== 200)
    throw new Error(`create namespace ${name}: ${outcome(r)} ${r.text?.slice(0, 300)}`)
  return name
}
async function makeTable(ns, name) {
  const r = await client.call('POST', `${client.ns(ns)}/tables`, createRequest(name))
  if (r.status !== 200)
    throw new Error(`create table ${ns}.${name}: ${outcome(r)} ${r.text?.slice(0, 300)}`)
  return r.json
}
const drop = (ns, name) =>
  client.call('DELETE', `${client.table(ns, name)}?purgeRequested=false`, undefined, {
    keep: false,
  })

// ------------------------------------------------------------------------------------------------ W1

async function deepTable(ns, total) {
  const name = `deep_${total}`
  if (flag.deep === 'register') {
    // One file with the full history, put into the warehouse and registered.
    const base =
      flag.location ??
      (await makeTable(ns, `probe_${total}`)).metadata.location.replace(/\/[^/]*$/, '')
    const location = `${base}/${name}_${run}`,
      file = `${location}/metadata/00000-${randomUUID()}.metadata.json`
    put(file, Buffer.from(JSON.stringify(deepMetadata(location, total))))
    const r = await client.call('POST', `${client.ns(ns)}/register`, {
      name,
      'metadata-location': file,
    })
    if (r.status !== 200)
      throw new Error(`register ${file}: ${outcome(r)} ${r.text?.slice(0, 300)}`)
    return { name, how: 'register' }
  }
  // Many add-snapshot updates per commit; the branch moves at the end of each commit.
  const created = (await makeTable(ns, name)).metadata
  const started = now()
  let parent,
    sequence = 0,
    commits = 0
  while (sequence < total) {
    const updates = []
    const before = parent
    for (let i = 0; i < Number(flag.batch) && sequence < total; i++) {
      const s = snapshot({ parent, sequence: ++sequence, location: created.location })
      updates.push({ action: 'add-snapshot', snapshot: s })
      parent = s['snapshot-id']
    }
    updates.push({
      action: 'set-snapshot-ref',
      'ref-name': 'main',
      type: 'branch',
      'snapshot-id': parent,
    })
    const r = await client.call('POST', client.table(ns, name), {
      requirements: [
        { type: 'assert-table-uuid', uuid: created['table-uuid'] },
        { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': before ?? null },
      ],
      updates,
    })
    if (r.status !== 200)
      throw new Error(`deep commit ${sequence}/${total}: ${outcome(r)} ${r.text?.slice(0, 300)}`)
    commits++
  }
  return { name, how: `commit x${commits}`, buildSeconds: Math.round((now() - started) / 100) / 10 }
}

async function W1() {
  const ns = await makeNamespace(`w1_${run}`),
    rows = []
  for (const total of numbers(flag.snapshots)) {
    let table
    try {
      table = await deepTable(ns, total)
    } catch (error) {
      check(`W1 table with ${total} snapshots`, false, error.message)
      continue
    }
    const path = client.table(ns, table.name)
    const first = await client.call('GET', `${path}?snapshots=all`)
    check(
      `W1 ${total}: all snapshots come back`,
      first.json?.metadata?.snapshots?.length === total,
      `${first.json?.metadata?.snapshots?.length ?? outcome(first)} of ${total}`,
    )
    const refs = await client.call('GET', `${path}?snapshots=refs`)
    const refsTrims = (refs.json?.metadata?.snapshots?.length ?? total) === 1
    const again = first.etag
      ? await client.call('GET', `${path}?snapshots=all`, undefined, {
          keep: false,
          headers: { 'if-none-match': first.etag },
        })
      : undefined
    const supports304 = again?.status === 304
    const shapes = [
      ['full', `${path}?snapshots=all`, {}],
      ['full-gzip', `${path}?snapshots=all`, { 'accept-encoding': 'gzip' }],
      ['refs', `${path}?snapshots=refs`, {}],
      ...(first.etag
        ? [['if-none-match', `${path}?snapshots=all`, { 'if-none-match': first.etag }]]
        : []),
    ]
    for (const [shape, url, extra] of shapes)
      for (const width of [1, 16]) {
        await spin(
          width,
          () => client.call('GET', url, undefined, { keep: false, headers: extra }),
          { seconds: Math.min(1.5, SECONDS) },
        ) // warm up
        const times = [],
          statuses = {}
        let bytes = 0
        const figures = await measure(async () => {
          const ops = await spin(width, async () => {
            const r = await client.call('GET', url, undefined, { keep: false, headers: extra })
            count(statuses, outcome(r))
            times.push(r.ms)
            bytes = r.bytes
          })
          return { ops }
        })
        rows.push({
          snapshots: total,
          shape,
          concurrency: width,
          ...stats(times),
          bytes,
          statuses,
          refsTrims,
          supports304,
          ...figures,
        })
        console.error(
          `   W1 ${total} ${shape} c${width}: p50 ${rows.at(-1).p50} p99 ${rows.at(-1).p99} ms, ${rows.at(-1).perSecond}/s, ${bytes} B, ${JSON.stringify(statuses)}`,
        )
        check(
          `W1 ${total} ${shape} c${width}: only 200 and 304`,
          Object.keys(statuses).every((s) => s === '200' || s === '304'),
          JSON.stringify(statuses),
        )
      }
    rows.push({
      snapshots: total,
      built: table.how,
      buildSeconds: table.buildSeconds,
      etag: first.etag ?? null,
      refsTrims,
      supports304,
    })
  }
  return rows
}

// ------------------------------------------------------------------------------------------------ W2

async function W2() {
  const rows = []
  for (const total of numbers(flag.tables)) {
    const ns = await makeNamespace(`w2_${run}_${total}`)
    const tables = []
    await spin(
      16,
      async (i) => {
        const t = await makeTable(ns, `t${i}`)
        tables[i] = { path: client.table(ns, `t${i}`), uuid: t.metadata['table-uuid'] }
      },
      { seconds: 600, limit: total },
    )
    const width = Math.min(total, Number(flag['commit-concurrency']))
    const acknowledged = new Array(total).fill(0)
    const times = [],
      statuses = {}
    let firstError = ''
    // Lane k only touches tables k, k + width, …: no two commits meet on one table.
    const lanes = Array.from({ length: width }, (_, k) => k),
      turn = new Array(width).fill(0)
    const step = async (_, lane) => {
      const size = Math.ceil((total - lane) / width),
        i = lane + width * (turn[lane]++ % size)
      const r = await client.call(
        'POST',
        tables[i].path,
        {
          requirements: [{ type: 'assert-table-uuid', uuid: tables[i].uuid }],
          updates: [
            { action: 'set-properties', updates: { 'bench.counter': String(acknowledged[i] + 1) } },
          ],
        },
        { keep: false },
      )
      count(statuses, outcome(r))
      if (r.status === 200) acknowledged[i]++
      else if (!firstError) firstError = r.text?.slice(0, 200) ?? r.error
      times.push(r.ms)
    }
    await spin(lanes.length, step, { seconds: 2 })
    times.length = 0
    const figures = await measure(async () => ({
      ops: await spin(lanes.length, step, { seconds: SECONDS * 2 }),
    }))
    rows.push({
      tables: total,
      concurrency: width,
      ...stats(times),
      statuses,
      error: firstError || undefined,
      ...figures,
    })
    console.error(
      `   W2 ${total} tables c${width}: ${figures.perSecond} commits/s, p50 ${rows.at(-1).p50} p99 ${rows.at(-1).p99} ms, ${JSON.stringify(statuses)}`,
    )
    check(
      `W2 ${total}: every commit is 200`,
      Object.keys(statuses).every((s) => s === '200'),
      `${JSON.stringify(statuses)} ${firstError}`,
    )
    let wrong = 0
    for (let i = 0; i < total; i += Math.max(1, Math.floor(total / 50))) {
      const r = await client.call('GET', tables[i].path)
      if (Number(r.json?.metadata?.properties?.['bench.counter'] ?? 0) !== acknowledged[i]) wrong++
    }
    check(
      `W2 ${total}: acknowledged values are stored`,
      wrong === 0,
      `${wrong} wrong in the sample`,
    )
  }
  return rows
}

// A client whose requests share one connection, as those of one writer do; call it after the main client is configured.
const oneConnection = () =>
  Object.assign(new Client(undici, { uri: flag.uri, token: flag.token, headers, connections: 1 }), {
    prefix: client.prefix,
    path: client.path,
  })
const bench = {
  ...{ client, oneConnection, flag, run, measure, spin, count, outcome, check },
  ...{ makeNamespace, drop },
}

// ------------------------------------------------------------------------------------------------ W6 and the run

let server
async function W6start() {
  const started = now()
  const log = openSync(flag['start-log'], 'a')
  server = spawn('/bin/sh', ['-c', `exec ${flag.start}`], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  server.on('exit', (code, signal) => {
    if (!result.done) console.error(`note: the server ended (${code ?? signal})`)
  })
  pids = [...pids, server.pid]
  const query = flag.warehouse ? `?warehouse=${encodeURIComponent(flag.warehouse)}` : ''
  const auth = { ...headers, ...(flag.token ? { authorization: `Bearer ${flag.token}` } : {}) }
  while (now() - started < Number(flag['start-timeout']) * 1000) {
    try {
      const r = await undici.request(`${flag.uri.replace(/\/+$/, '')}/v1/config${query}`, {
        headers: auth,
      })
      await r.body.dump()
      if (r.statusCode === 200) {
        const firstMs = Math.round(now() - started)
        await sleep(5000)
        const idle = sample(pids)
        console.error(
          `   W6 first /v1/config after ${firstMs} ms, idle ${idle.rssMb} MB, CPU to start ${idle.cpuS} s`,
        )
        return { firstConfigMs: firstMs, idleRssMb: idle.rssMb, startCpuS: idle.cpuS }
      }
    } catch {
      /* not listening yet */
    }
    await sleep(25)
  }
  throw new Error('the server did not answer /v1/config in time')
}
function stop() {
  if (server?.exitCode === null && flag['start-kill']) {
    try {
      process.kill(-server.pid, 'SIGTERM')
    } catch {
      /* ended */
    }
  }
}
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stop()
    process.exit(130)
  })

try {
  if (flag.start) result.workloads.W6 = await W6start()
  const config = await client.configure(flag.warehouse)
  if (flag.prefix) client.prefix = `/${flag.prefix}`
  result.endpoints = config.endpoints ?? null
  result.config = {
    defaults: config.defaults,
    overrides: config.overrides,
    idempotency: config['idempotency-key-lifetime'],
  }
  for (const [name, work] of Object.entries({ W1, W2, W3, W4, W5 })) {
    if (!flag.workloads.split(',').includes(name)) continue
    try {
      result.workloads[name] = await work(bench)
    } catch (error) {
      check(`${name} ran to its end`, false, error.message)
    }
    if (flag.out) writeFileSync(flag.out, JSON.stringify(result, null, 1)) // a run that is cut short keeps what it has
  }
  if (pids.length) result.workloads.W6 = { ...result.workloads.W6, loadedRssMb: sample(pids).rssMb }
} catch (error) {
  check('the run', false, error.message)
} finally {
  result.done = true
  await client.close()
  stop()
}
if (flag.out) writeFileSync(flag.out, JSON.stringify(result, null, 1))
printReport(result)
const failed = result.checks.filter((c) => !c.passed).length
console.log(`${result.checks.length - failed} passed, ${failed} failed`)
process.exit(failed || !result.checks.length ? 1 : 0)
