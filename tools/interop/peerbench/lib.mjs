// Shared pieces of peerbench: HTTP client, process sampling, statistics, fabricated snapshots.
import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export const CACHE =
  process.env.INTEROP_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'timelake-interop')

/** Install the npm package once into the cache folder and load it from there. */
export function deps() {
  const dir = join(CACHE, 'peerbench')
  if (!existsSync(join(dir, 'node_modules', 'undici'))) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'package.json'), '{"private":true}')
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', 'undici@6'], {
      cwd: dir,
      stdio: 'inherit',
    })
  }
  const require = createRequire(join(dir, 'index.js'))
  return { undici: require('undici') }
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
export const now = () => performance.now()

/** Nearest-rank percentiles of a list of milliseconds. */
export function stats(list) {
  const sorted = [...list].sort((a, b) => a - b)
  const at = (q) =>
    sorted.length ? sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] : NaN
  const r = (x) => (Number.isFinite(x) ? Math.round(x * 100) / 100 : null)
  return {
    n: sorted.length,
    p50: r(at(0.5)),
    p90: r(at(0.9)),
    p99: r(at(0.99)),
    max: r(sorted.at(-1) ?? NaN),
  }
}

// ---------------------------------------------------------------- processes (Linux /proc)

function children(pid) {
  let out = []
  try {
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim()
      if (text) out = out.concat(text.split(/\s+/).map(Number))
    }
  } catch {
    /* the process ended */
  }
  return out
}
const tree = (pid) => [pid, ...children(pid).flatMap(tree)]

/** RSS in MB and CPU seconds of some processes and their living descendants (`cutime` covers ended children). */
export function sample(pids) {
  let rssKb = 0,
    ticks = 0
  const seen = new Set(pids.flatMap(tree))
  for (const pid of seen) {
    try {
      const status = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
      rssKb += Number(/^Pss:\s+(\d+)/m.exec(status)[1]) // PSS, so that shared pages of Postgres count once
    } catch {
      try {
        rssKb += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])
      } catch {
        /* ended */
      }
    }
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const field = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      ticks += field[11] + field[12] + field[13] + field[14]
    } catch {
      /* ended */
    }
  }
  return { rssMb: Math.round(rssKb / 102.4) / 10, cpuS: ticks / 100, processes: seen.size }
}

// ---------------------------------------------------------------- HTTP

export class Client {
  constructor(undici, options) {
    this.undici = undici
    this.base = options.uri.replace(/\/+$/, '')
    this.origin = new URL(this.base).origin
    this.path = new URL(this.base).pathname.replace(/\/+$/, '')
    this.headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(options.headers ?? {}),
    }
    if (options.token) this.headers.authorization = `Bearer ${options.token}`
    this.pool = new undici.Pool(this.origin, {
      connections: options.connections ?? 64,
      pipelining: 1,
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 4_000,
    })
    this.prefix = ''
    this.separator = '%1F'
  }
  /** Read /v1/config and take over prefix and advertised routes. */
  async configure(warehouse) {
    const query = warehouse ? `?warehouse=${encodeURIComponent(warehouse)}` : ''
    const answer = await this.call('GET', `/v1/config${query}`, undefined, { raw: true })
    if (answer.status !== 200)
      throw new Error(`/v1/config answered ${answer.status}: ${answer.text?.slice(0, 300)}`)
    const config = JSON.parse(answer.text)
    const merged = { ...config.defaults, ...config.overrides }
    if (merged.prefix) this.prefix = '/' + encodeURIComponent(merged.prefix).replace(/%2F/gi, '/')
    if (merged.uri) {
      // Some servers move the client elsewhere (another port, another base path). Follow as real clients do.
      const moved = new URL(merged.uri)
      if (moved.origin !== this.origin)
        console.error(`note: config moves the client to ${merged.uri}; staying on ${this.origin}`)
      this.path = moved.pathname.replace(/\/+$/, '')
    }
    this.config = config
    return config
  }
  /** One request. Resolves with status, etag, body size, text or parsed JSON and milliseconds. */
  async call(method, path, body, { raw = false, keep = true, headers } = {}) {
    const started = now()
    let status = 0,
      bytes = 0,
      etag,
      text,
      error
    try {
      const response = await this.pool.request({
        method,
        path: this.path + path,
        headers: headers ? { ...this.headers, ...headers } : this.headers,
        body:
          body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
      })
      status = response.statusCode
      etag = response.headers.etag
      if (keep || raw || status >= 400) {
        text = await response.body.text()
        bytes = Buffer.byteLength(text)
      } else {
        for await (const chunk of response.body) bytes += chunk.length
      }
    } catch (cause) {
      error = cause.code ?? cause.message
    }
    const ms = now() - started
    let json
    if (keep && !raw && text) {
      try {
        json = JSON.parse(text)
      } catch {
        /* not JSON: an error page */
      }
    }
    return { status, bytes, etag, text, json, ms, error }
  }
  ns(namespace) {
    return `/v1${this.prefix}/namespaces/${encodeURIComponent(namespace)}`
  }
  table(namespace, name) {
    return `${this.ns(namespace)}/tables/${encodeURIComponent(name)}`
  }
  close() {
    return this.pool.destroy()
  }
}

// ---------------------------------------------------------------- Iceberg payloads

export const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [
    { id: 1, name: 'ts', required: true, type: 'timestamptz' },
    { id: 2, name: 'device', required: true, type: 'string' },
    { id: 3, name: 'temperature', required: false, type: 'double' },
    { id: 4, name: 'humidity', required: false, type: 'double' },
    { id: 5, name: 'battery', required: false, type: 'float' },
  ],
}
export const createRequest = (name, extra = {}) => ({
  name,
  schema: SCHEMA,
  properties: { 'write.format.default': 'parquet', owner: 'peerbench' },
  ...extra,
})

// 52-bit ids: real clients use 63 bits, but these survive JSON.parse in this script.
export const newSnapshotId = () =>
  Number(randomBytes(7).readUIntBE(0, 6) * 16 + 1 + (randomBytes(1)[0] & 7))

/** A fabricated append snapshot with the summary that Spark writes (about 750 bytes of JSON). */
export function snapshot({ parent, sequence, location, list, at = Date.now(), total = sequence }) {
  const id = newSnapshotId()
  return {
    'snapshot-id': id,
    ...(parent ? { 'parent-snapshot-id': parent } : {}),
    'sequence-number': sequence,
    'timestamp-ms': at,
    'manifest-list': list ?? `${location}/metadata/snap-${id}-1-${randomUUID()}.avro`,
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': '1000',
      'added-files-size': '48213',
      'changed-partition-count': '1',
      'total-records': String(total * 1000),
      'total-files-size': String(total * 48213),
      'total-data-files': String(total),
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'engine-name': 'peerbench',
      'engine-version': '1',
      'app-id': 'local-1730000000000',
      'iceberg-version': 'Apache Iceberg 1.12.0 (commit fabricated)',
    },
    'schema-id': 0,
  }
}

/** Writes the bytes of a `file:` location. */
export function put(location, bytes) {
  const path = location.replace(/^file:(\/\/)?/, '')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
}

/** Metadata of a table with `count` snapshots, as a file to register. The log has one entry per snapshot, as real tables have. */
export function deepMetadata(location, count) {
  const start = Date.now() - count * 60_000
  const snapshots = [],
    log = []
  let parent
  for (let i = 1; i <= count; i++) {
    const s = snapshot({ parent, sequence: i, location, at: start + i * 60_000 })
    snapshots.push(s)
    log.push({ 'timestamp-ms': s['timestamp-ms'], 'snapshot-id': s['snapshot-id'] })
    parent = s['snapshot-id']
  }
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': count,
    'last-updated-ms': start + count * 60_000,
    'last-column-id': 5,
    'current-schema-id': 0,
    schemas: [SCHEMA],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { owner: 'peerbench' },
    ...(parent
      ? { 'current-snapshot-id': parent, refs: { main: { 'snapshot-id': parent, type: 'branch' } } }
      : { refs: {} }),
    snapshots,
    statistics: [],
    'partition-statistics': [],
    'snapshot-log': log,
    'metadata-log': [],
  }
}
