// Tables for people: one run, or the ratios of two.

const pad = (rows) => {
  const width = rows[0].map((_, i) => Math.max(...rows.map((r) => String(r[i] ?? '').length)))
  return rows
    .map((r) =>
      r
        .map((c, i) => (i ? String(c ?? '').padStart(width[i]) : String(c ?? '').padEnd(width[i])))
        .join('  '),
    )
    .join('\n')
}

/** Every figure as { key, operations per second, p50, p99, server CPU per operation }. */
export function lines(result) {
  const out = [],
    w = result.workloads
  const add = (key, row, extra = '') =>
    out.push({
      key,
      perSecond: row.perSecond,
      p50: row.p50,
      p99: row.p99,
      cpu: row.serverCpuMsPerOp,
      extra,
    })
  for (const r of w.W1 ?? [])
    if (r.shape)
      add(
        `W1 load ${r.snapshots} ${r.shape} c${r.concurrency}`,
        r,
        `${r.bytes} B${r.shape === 'refs' && !r.refsTrims ? ' (refs ignored)' : ''}${r.shape === 'if-none-match' && !r.supports304 ? ' (no 304)' : ''}`,
      )
  for (const r of w.W2 ?? [])
    add(`W2 commits ${r.tables} tables c${r.concurrency}`, r, errors(r.statuses))
  for (const r of w.W3 ?? [])
    add(
      `W3 append N=${r.writers} retry=${r.retries}`,
      r,
      `${r.successPercent} % ok, wasted ${r.wastedPercent} %${r.cutAfterSeconds ? `, cut: ${r.appends} tried` : ''}${errors(r.statuses, ['200', '409'])}`,
    )
  for (const r of w.W4 ?? [])
    add(
      `W4 ${r.what}${r.pageSize !== undefined ? ` page=${r.pageSize}` : ''}`,
      {
        ...r,
        perSecond: r.perSecond ?? (r.totalMs ? Math.round(1e6 / r.totalMs) / 1000 : undefined),
      },
      r.pages ? `${r.distinct} names, ${r.pages} pages, ${r.totalMs} ms` : errors(r.statuses),
    )
  for (const r of w.W5 ?? [])
    add(`W5 ${r.what} c${r.concurrency}`, r, errors(r.statuses, ['200', '204']))
  return out
}
const errors = (statuses, fine = ['200']) =>
  Object.entries(statuses ?? {})
    .filter(([s]) => !fine.includes(s))
    .map(([s, n]) => ` ${n}x${s}`)
    .join('')

export function printReport(result) {
  console.log(
    `\n${result.name}  ${result.uri}  ${result.at}  ${result.machine.cores} cores, load ${result.machine.load?.map((x) => x.toFixed(1)).join(' ')}`,
  )
  if (result.workloads.W6) console.log('W6', JSON.stringify(result.workloads.W6))
  if (result.endpoints) console.log(`${result.endpoints.length} routes advertised`)
  else console.log('no endpoints advertised in /v1/config')
  const rows = lines(result).map((l) => [l.key, l.perSecond, l.p50, l.p99, l.cpu, l.extra])
  if (rows.length)
    console.log(pad([['workload', 'per s', 'p50 ms', 'p99 ms', 'srv CPU ms/op', 'notes'], ...rows]))
  for (const c of result.checks.filter((x) => !x.passed)) console.log(`FAIL ${c.name}: ${c.detail}`)
}

/** Ratios B / A: above 1 is better for `per s`, below 1 is better for times and CPU. */
export function compare(a, b) {
  console.log(`A = ${a.name} (${a.at})\nB = ${b.name} (${b.at})\nratio = B / A`)
  const left = new Map(lines(a).map((l) => [l.key, l]))
  const ratio = (x, y) => (x > 0 && y >= 0 ? (y / x).toFixed(2) : '')
  const rows = []
  for (const l of lines(b)) {
    const m = left.get(l.key)
    if (!m) continue
    rows.push([
      l.key,
      m.perSecond,
      l.perSecond,
      ratio(m.perSecond, l.perSecond),
      m.p50,
      l.p50,
      ratio(m.p50, l.p50),
      m.p99,
      l.p99,
      ratio(m.p99, l.p99),
      ratio(m.cpu, l.cpu),
    ])
  }
  console.log(
    rows.length
      ? pad([
          [
            'workload',
            'A/s',
            'B/s',
            'ratio',
            'A p50',
            'B p50',
            'ratio',
            'A p99',
            'B p99',
            'ratio',
            'CPU ratio',
          ],
          ...rows,
        ])
      : 'no workload in common',
  )
  const [x, y] = [a.workloads.W6, b.workloads.W6]
  if (x && y)
    for (const k of ['firstConfigMs', 'idleRssMb', 'loadedRssMb'])
      console.log(`W6 ${k}: ${x[k]} -> ${y[k]}  ratio ${ratio(x[k], y[k])}`)
}
