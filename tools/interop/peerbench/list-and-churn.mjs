// W4: create and list. W5: create, load, drop. `bench` is what peerbench.mjs gives every workload.
import { createRequest, now, stats } from './lib.mjs'

async function listAll({ client, outcome }, path, pageSize, key) {
  const names = [],
    times = []
  let token = '',
    pages = 0,
    status = 200,
    bytes = 0
  const started = now()
  do {
    // Without pageSize a server may still cut the list and hand out a token: follow it, and stop if it repeats.
    const query = pageSize
      ? `?pageSize=${pageSize}&pageToken=${encodeURIComponent(token)}`
      : token
        ? `?pageToken=${encodeURIComponent(token)}`
        : ''
    const r = await client.call('GET', path + query)
    status = outcome(r)
    if (status !== 200) break
    times.push(r.ms)
    bytes += r.bytes
    names.push(...r.json[key].map((id) => (key === 'identifiers' ? id.name : id.join('.'))))
    const next = r.json['next-page-token'] ?? ''
    pages++
    if (next && next === token) {
      status = 'token repeats'
      break
    }
    token = next
  } while (token && pages < 20_000)
  return {
    pageSize: pageSize ?? 'none',
    status,
    pages,
    names: names.length,
    distinct: new Set(names).size,
    totalMs: Math.round(now() - started),
    bytes,
    ...stats(times),
  }
}

export async function W4(bench) {
  const { client, flag, run, measure, spin, count, outcome, check, makeNamespace } = bench
  const total = Number(flag['list-tables']),
    ns = await makeNamespace(`w4_${run}`),
    rows = []
  const statuses = {},
    times = []
  let made = 0
  const created = await measure(async () => ({
    ops: await spin(
      16,
      async (i) => {
        const r = await client.call(
          'POST',
          `${client.ns(ns)}/tables`,
          createRequest(`t${String(i).padStart(6, '0')}`),
          { keep: false },
        )
        count(statuses, outcome(r))
        times.push(r.ms)
        if (r.status === 200) made++
      },
      { seconds: 900, limit: total },
    ),
  }))
  rows.push({
    what: `create ${total} tables`,
    concurrency: 16,
    ...stats(times),
    statuses,
    ...created,
  })
  console.error(`   W4 create ${total}: ${created.perSecond}/s ${JSON.stringify(statuses)}`)
  for (const pageSize of [undefined, 100, 1000]) {
    const path = `${client.ns(ns)}/tables`
    await listAll(bench, path, pageSize, 'identifiers')
    let row
    const figures = await measure(async () => {
      row = await listAll(bench, path, pageSize, 'identifiers')
      return { ops: 1 }
    })
    rows.push({
      what: 'list tables',
      ...row,
      serverCpuMsPerOp: figures.serverCpuMsPerOp,
      load1: figures.load1,
    })
    console.error(
      `   W4 list tables pageSize=${row.pageSize}: ${row.totalMs} ms, ${row.pages} pages, ${row.distinct} names, page p50 ${row.p50} p99 ${row.p99}`,
    )
    check(
      `W4 tables pageSize=${row.pageSize}: each of ${made} once`,
      row.status === 200 && row.distinct === made && row.names === made,
      `${row.names} names, ${row.distinct} distinct, status ${row.status}`,
    )
  }
  const nNs = Number(flag['list-namespaces'])
  const nsTimes = []
  const nsMade = await measure(async () => ({
    ops: await spin(
      16,
      async (i) => {
        const started = now()
        await makeNamespace(`w4n_${run}_${String(i).padStart(6, '0')}`)
        nsTimes.push(now() - started)
      },
      { seconds: 300, limit: nNs },
    ),
  }))
  rows.push({ what: `create ${nNs} namespaces`, concurrency: 16, ...stats(nsTimes), ...nsMade })
  for (const pageSize of [undefined, 100]) {
    const row = await listAll(bench, `/v1${client.prefix}/namespaces`, pageSize, 'namespaces')
    rows.push({ what: 'list namespaces', ...row })
    console.error(
      `   W4 list namespaces pageSize=${row.pageSize}: ${row.totalMs} ms, ${row.distinct} names`,
    )
    check(
      `W4 namespaces pageSize=${row.pageSize}: at least ${nNs}, none twice`,
      row.distinct >= nNs && row.names === row.distinct,
      `${row.names} names, ${row.distinct} distinct, status ${row.status}`,
    )
  }
  return rows
}

export async function W5(bench) {
  const { client, flag, run, measure, spin, count, outcome, check, makeNamespace, drop } = bench
  const ns = await makeNamespace(`w5_${run}`),
    total = Number(flag.churn),
    rows = []
  for (const width of [1, 16]) {
    for (const what of ['create', 'load', 'drop']) {
      const statuses = {},
        times = []
      const figures = await measure(async () => ({
        ops: await spin(
          width,
          async (i) => {
            const name = `c${width}_${i}`
            const r =
              what === 'create'
                ? await client.call('POST', `${client.ns(ns)}/tables`, createRequest(name), {
                    keep: false,
                  })
                : what === 'load'
                  ? await client.call('GET', client.table(ns, name), undefined, { keep: false })
                  : await drop(ns, name)
            count(statuses, outcome(r))
            times.push(r.ms)
          },
          { seconds: 300, limit: total },
        ),
      }))
      rows.push({ what, concurrency: width, ...stats(times), statuses, ...figures })
      console.error(
        `   W5 ${what} c${width}: ${figures.perSecond}/s p50 ${rows.at(-1).p50} p99 ${rows.at(-1).p99} ms ${JSON.stringify(statuses)}`,
      )
      const good = what === 'drop' ? ['204', '200'] : ['200']
      check(
        `W5 ${what} c${width}: all succeed`,
        Object.keys(statuses).every((s) => good.includes(s)),
        JSON.stringify(statuses),
      )
    }
  }
  const left = await listAll(bench, `${client.ns(ns)}/tables`, undefined, 'identifiers')
  check('W5: nothing is listed after the drops', left.names === 0, `${left.names} left`)
  return rows
}
