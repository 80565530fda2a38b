// Signed requests to an S3 or STS endpoint without a library: what readiness checks and fault judges need.

import { createHash, createHmac } from 'node:crypto'
import http from 'node:http'

const agent = new http.Agent({ keepAlive: true })

// One request to a plain HTTP endpoint: { status, headers, body }. `path` is encoded already, `query` holds raw values.
export function call(endpoint, request) {
  const { method = 'GET', path, query = {}, headers = {}, body = '', credentials } = request
  const url = new URL(endpoint)
  const payload = Buffer.from(body)
  const signed = sign({ ...request, method, query, headers, host: url.host, payload, credentials })
  const target = signed.queryText === '' ? path : `${path}?${signed.queryText}`
  const options = { host: url.hostname, port: url.port, method, path: target, agent }
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...options, headers: signed.headers }, (answer) => {
      const chunks = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

// Signature version 4. Returns the headers to send and the canonical query.
function sign({ method, host, path, query, headers, payload, credentials, service = 's3' }) {
  const timestamp = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = timestamp.slice(0, 8)
  const region = 'us-east-1'
  const payloadHash = createHash('sha256').update(payload).digest('hex')
  const all = {
    ...headers,
    host,
    'content-length': payload.length,
    'x-amz-date': timestamp,
    'x-amz-content-sha256': payloadHash,
  }
  const names = Object.keys(all).sort()
  const queryText = Object.keys(query)
    .sort()
    .map((key) => `${encode(key)}=${encode(query[key])}`)
    .join('&')
  const lines = names.map((name) => `${name}:${String(all[name]).trim()}`)
  const canonical = [method, path, queryText, ...lines, '', names.join(';'), payloadHash].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const hash = createHash('sha256').update(canonical).digest('hex')
  const key = [day, region, service, 'aws4_request'].reduce(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  )
  const signature = hmac(key, ['AWS4-HMAC-SHA256', timestamp, scope, hash].join('\n')).toString(
    'hex',
  )
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { headers: { ...all, authorization }, queryText }
}

function hmac(key, text) {
  return createHmac('sha256', key).update(text).digest()
}

function encode(text) {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
