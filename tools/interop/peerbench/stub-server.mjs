#!/usr/bin/env node
// A toy catalog in memory: shows how fast peerbench itself is, and (BREAK=…) that its checks can fail.
//   PORT=19350 node stub-server.mjs          BREAK=cas | lose | page | 500
import { createServer } from 'node:http'
import { createHash, randomUUID } from 'node:crypto'

const broken = process.env.BREAK ?? ''
const namespaces = new Map() // name -> Map(table name -> { metadata, location, body })
const send = (res, status, body, headers = {}) => {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  res
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text)
}
const fail = (res, code, type, message) => send(res, code, { error: { message, type, code } })
const page = (list, url) => {
  const size = Number(url.searchParams.get('pageSize') ?? 0)
  if (!size) return [list, null]
  const from = Number(url.searchParams.get('pageToken') || 0),
    to = from + size
  return [list.slice(from, to), to < list.length ? String(to - (broken === 'page' ? 1 : 0)) : null]
}
const bodyOf = (table) =>
  (table.body ??= JSON.stringify({
    'metadata-location': table.location,
    metadata: table.metadata,
    config: {},
  }))

createServer((req, res) => {
  const chunks = []
  req
    .on('data', (c) => chunks.push(c))
    .on('end', () => {
      const url = new URL(req.url, 'http://x'),
        parts = url.pathname.split('/').slice(1).map(decodeURIComponent)
      const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : {}
      if (parts[1] === 'config') return send(res, 200, { defaults: {}, overrides: {} })
      const [, , ns, kind, name] = parts
      if (!ns) {
        if (req.method === 'POST') {
          namespaces.set(body.namespace.join('.'), new Map())
          return send(res, 200, { namespace: body.namespace, properties: {} })
        }
        const [part, next] = page([...namespaces.keys()], url)
        return send(res, 200, { namespaces: part.map((n) => [n]), 'next-page-token': next })
      }
      const tables = namespaces.get(ns)
      if (!tables) return fail(res, 404, 'NoSuchNamespaceException', ns)
      if (kind === 'tables' && !name) {
        if (req.method === 'POST') {
          const location = `file:///stub/${ns}/${body.name}`
          const table = {
            location: `${location}/metadata/0.json`,
            metadata: {
              'format-version': 2,
              'table-uuid': randomUUID(),
              location,
              'last-sequence-number': 0,
              'last-updated-ms': Date.now(),
              schemas: [body.schema],
              properties: body.properties ?? {},
              snapshots: [],
              refs: {},
            },
          }
          tables.set(body.name, table)
          return send(res, 200, bodyOf(table))
        }
        const [part, next] = page([...tables.keys()], url)
        return send(res, 200, {
          identifiers: part.map((n) => ({ namespace: [ns], name: n })),
          'next-page-token': next,
        })
      }
      const table = tables.get(name)
      if (!table) return fail(res, 404, 'NoSuchTableException', name)
      if (req.method === 'DELETE') {
        tables.delete(name)
        return send(res, 204)
      }
      if (req.method === 'GET') {
        const refs = url.searchParams.get('snapshots') === 'refs'
        const text = refs
          ? JSON.stringify({
              'metadata-location': table.location,
              metadata: { ...table.metadata, snapshots: table.metadata.snapshots.slice(-1) },
            })
          : bodyOf(table)
        const etag = `W/"${createHash('sha1')
          .update(table.location + refs)
          .digest('hex')}"`
        if (req.headers['if-none-match'] === etag) return send(res, 304, undefined, { etag })
        return send(res, 200, text, { etag })
      }
      if (broken === '500' && Math.random() < 0.05)
        return fail(res, 500, 'InternalServerError', 'broken on purpose')
      for (const r of body.requirements) {
        if (
          r.type === 'assert-ref-snapshot-id' &&
          broken !== 'cas' &&
          (table.metadata.refs.main?.['snapshot-id'] ?? null) !== r['snapshot-id']
        )
          return fail(res, 409, 'CommitFailedException', 'branch main has changed')
      }
      const next = {
        ...table.metadata,
        refs: { ...table.metadata.refs },
        properties: { ...table.metadata.properties },
        snapshots: [...table.metadata.snapshots],
      }
      for (const u of body.updates) {
        // BREAK=cas: the classic lost update, the second writer's base overwrites what the first one added.
        if (u.action === 'add-snapshot' && broken === 'cas')
          next.snapshots = next.snapshots.filter(
            (x) => x['sequence-number'] < u.snapshot['sequence-number'],
          )
        if (u.action === 'add-snapshot') {
          if (!(broken === 'lose' && Math.random() < 0.05)) next.snapshots.push(u.snapshot)
          next['last-sequence-number'] = u.snapshot['sequence-number']
        }
        if (u.action === 'set-snapshot-ref')
          next.refs.main = { 'snapshot-id': u['snapshot-id'], type: 'branch' }
        if (u.action === 'set-properties') Object.assign(next.properties, u.updates)
      }
      tables.set(name, {
        location: `${table.metadata.location}/metadata/${randomUUID()}.json`,
        metadata: next,
      })
      send(res, 200, bodyOf(tables.get(name)))
    })
}).listen(Number(process.env.PORT ?? 19350), '127.0.0.1')
