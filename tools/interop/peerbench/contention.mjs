// W3: writers that append to one table as clients do. `bench` is what peerbench.mjs gives every workload.
import { createRequest, now, sleep, snapshot, stats } from './lib.mjs'

/** Ids stay text (`#123#`), because another writer's id may have 63 bits; `plain` makes them JSON numbers. */
const plain = (body) => JSON.stringify(body).replace(/"#(\d+)#"/g, '$1')

/** The few fields a writer needs, found without parsing megabytes of history (the client shares the machine with the server). */
function head(text) {
  const one = (re) => re.exec(text)?.[1]
  const current =
    one(/"current-snapshot-id"\s*:\s*(-?\d+)/) ??
    one(/"refs"\s*:\s*\{\s*"main"\s*:\s*\{[^}]*"snapshot-id"\s*:\s*(\d+)/)
  return {
    sequence: Number(one(/"last-sequence-number"\s*:\s*(\d+)/)) + 1,
    updated: Number(one(/"last-updated-ms"\s*:\s*(\d+)/)),
    current: Number(current) > 0 ? `#${current}#` : undefined,
  }
}

/** One try as clients make it: load, commit on what was loaded. Resolves with the answer's status and the snapshot id. */
async function attempt({ flag, count, outcome }, cell, client) {
  const loaded = await client.call('GET', cell.load, undefined, { raw: true })
  count(cell.loadStatuses, outcome(loaded))
  if (loaded.status !== 200) return { status: outcome(loaded) }
  const { current, sequence, updated } = head(loaded.text)
  const at = Math.max(Date.now(), updated)
  const snap = snapshot({ parent: current, sequence, location: cell.location, at })
  const think = Number(flag['think-ms'])
  if (think) await sleep(think * (0.5 + Math.random()))
  cell.attempts++
  const ref = { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': current ?? null }
  const main = { 'ref-name': 'main', type: 'branch', 'snapshot-id': snap['snapshot-id'] }
  const r = await client.call(
    'POST',
    cell.path,
    plain({
      requirements: [{ type: 'assert-table-uuid', uuid: cell.uuid }, ref],
      updates: [
        { action: 'add-snapshot', snapshot: snap },
        { action: 'set-snapshot-ref', ...main },
      ],
    }),
    { keep: false },
  )
  count(cell.statuses, outcome(r))
  if (r.status !== 200 && r.status !== 409) cell.error ||= r.text?.slice(0, 240) ?? r.error
  return { status: outcome(r), id: snap['snapshot-id'] }
}

async function write(bench, cell, client, end) {
  for (let i = 0; i < cell.appends && now() < end; i++) {
    const started = now()
    cell.tried++
    for (let n = 0; ; n++) {
      const { status, id } = await attempt(bench, cell, client)
      if (status === 200) {
        cell.winners.push(id)
        cell.times.push(now() - started)
        break
      }
      // Java: only CommitFailedException (409) is retried; first wait 100 ms, doubled each time, up to 10 % jitter.
      if (status !== 409 || n >= cell.retries) break
      const wait = Math.min(60_000, Number(bench.flag['retry-min-ms']) * 2 ** n)
      await sleep(wait + Math.random() * 0.1 * wait)
    }
  }
}

async function contend(bench, ns, writers, retries) {
  const { client, flag, measure } = bench
  const name = `hot_${writers}_${retries}`
  const made = await client.call('POST', `${client.ns(ns)}/tables`, createRequest(name))
  if (made.status !== 200)
    throw new Error(`create table ${ns}.${name}: ${made.status} ${made.text?.slice(0, 300)}`)
  const path = client.table(ns, name)
  const cell = {
    path,
    load: `${path}?snapshots=${flag.refs ? 'refs' : 'all'}`,
    location: made.json.metadata.location,
    uuid: made.json.metadata['table-uuid'],
    appends: Number(flag.appends),
    retries,
    statuses: {},
    loadStatuses: {},
    times: [],
    winners: [],
    tried: 0,
    attempts: 0,
    error: '',
  }
  // A connection for each writer: a server may tell its callers apart by it.
  const clients = Array.from({ length: writers }, () => bench.oneConnection())
  const figures = await measure(async () => {
    const end = now() + Number(flag['cell-seconds']) * 1000
    await Promise.all(clients.map((own) => write(bench, cell, own, end)))
    return { ops: cell.tried }
  })
  await Promise.all(clients.map((own) => own.close()))
  await verify(bench, cell, { writers, retries })
  const { tried, attempts, winners, statuses, loadStatuses, times, error } = cell
  const seconds = Number(flag['cell-seconds'])
  const share = (x) => Math.round(x * 1000) / 10
  const row = {
    ...{ writers, retries, appends: tried, succeeded: winners.length, attempts },
    ...(tried < writers * cell.appends ? { cutAfterSeconds: seconds } : {}),
    successPercent: share(winners.length / tried),
    wastedPercent: attempts ? share(1 - winners.length / attempts) : null,
    ...{ statuses, loadStatuses, error: error || undefined },
    ...figures,
    perSecond: Math.round((winners.length / figures.seconds) * 10) / 10,
    ...stats(times),
  }
  console.error(
    `   W3 N=${writers} retries=${retries}: ${row.successPercent} % of ${tried}, ${row.perSecond} appends/s, p50 ${row.p50} p99 ${row.p99} ms, wasted ${row.wastedPercent} %, ${JSON.stringify(statuses)}`,
  )
  return row
}

async function verify({ client, check }, cell, { writers, retries }) {
  const { winners, statuses, loadStatuses } = cell
  const final = (await client.call('GET', `${cell.path}?snapshots=all`)).json?.metadata
  const stored = new Set((final?.snapshots ?? []).map((s) => s['snapshot-id']))
  const lost = winners.filter((id) => !stored.has(id)).length
  check(
    `W3 N=${writers} retry=${retries}: every acknowledged append is stored, none twice`,
    lost === 0 && stored.size === winners.length,
    `${winners.length} acknowledged, ${stored.size} stored, ${lost} lost`,
  )
  const fine = (map, list) => Object.keys(map).every((s) => list.includes(s))
  check(
    `W3 N=${writers} retry=${retries}: a lost race is 409, never another error`,
    fine(statuses, ['200', '409']) && fine(loadStatuses, ['200']),
    `${JSON.stringify(statuses)} loads ${JSON.stringify(loadStatuses)} ${cell.error}`,
  )
}

export async function W3(bench) {
  const ns = await bench.makeNamespace(`w3_${bench.run}`),
    rows = []
  for (const writers of bench.flag.writers.split(',').filter(Boolean).map(Number))
    for (const retries of [0, 4]) rows.push(await contend(bench, ns, writers, retries))
  return rows
}
