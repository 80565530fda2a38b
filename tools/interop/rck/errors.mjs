#!/usr/bin/env node
// Prints what a catalog answers to the main failing requests, one line a case: name, status, error type, message.
//
//   errors.mjs URI [--prefix PREFIX] [--json]           print the answers of one server
//   errors.mjs URI --against REFERENCE_URI [--deviations FILE]   compare two servers; N passed, N failed, N skipped
//
// The prefix comes from /v1/config (CATALOG_WAREHOUSE names the warehouse) unless given. CATALOG_TOKEN is sent as a bearer token to URI (not to the reference). The namespace "errs" is created and dropped.
// Compared: status and error type always; the message (UUIDs masked) only for cases marked text, which the Java client
// or the kit reads. Where the reference itself breaks (5xx), any 4xx passes. An answer 5xx of the server under test always fails.
// FILE lists the answers that differ on purpose, as JSON: [{ "case", "status", "type", "reason" }]. Such a case passes only
// with that very status and type; an entry that no case needs fails, so the list cannot outlive its reasons.

import { readFileSync } from 'node:fs'

import { cases, setup, teardown } from './error-cases.mjs'

const args = process.argv.slice(2)
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const uri = args[0]
if (!uri?.startsWith('http')) {
  console.error(
    'usage: errors.mjs URI [--prefix PREFIX] [--json] [--against REFERENCE_URI [--deviations FILE]]',
  )
  process.exit(2)
}

// What a server says of itself: the path prefix, and which optional groups of routes it has.
async function introduce(base, token) {
  const warehouse =
    process.env.CATALOG_WAREHOUSE && base === uri
      ? `?warehouse=${encodeURIComponent(process.env.CATALOG_WAREHOUSE)}`
      : ''
  const answer = await fetch(`${base.replace(/\/$/, '')}/v1/config${warehouse}`, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
  })
  const config = await answer.json()
  const announced = config.overrides?.prefix ?? config.defaults?.prefix
  const prefix = (base === uri ? option('--prefix') : undefined) ?? announced
  const has = (part) => !config.endpoints || config.endpoints.some((e) => e.includes(part))
  return {
    prefix: prefix ? `/v1/${prefix}/` : '/v1/',
    views: has('/views'),
    plan: has('/plan'),
    transaction: has('/transactions/commit'),
    tokens: has('/oauth/tokens'),
    register: has('/register'),
  }
}
// A case about routes that the server does not announce is absent: not compared, counted apart.
const needs = ([name, , path]) =>
  /view/.test(name)
    ? 'views'
    : /\/plan|\/tasks/.test(path)
      ? 'plan'
      : path.includes('/transactions/')
        ? 'transaction'
        : path.includes('/oauth/')
          ? 'tokens'
          : path.includes('/register')
            ? 'register'
            : undefined
const self = new Map()

async function ask(base, token, [name, method, path, body, text, headers]) {
  const prefix = /^\/v1\/(config|oauth)/.test(path) ? '/v1/' : self.get(base).prefix
  const answer = await fetch(base.replace(/\/$/, '') + path.replace('/v1/', prefix), {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const content = await answer.text()
  let error
  try {
    error = JSON.parse(content).error
  } catch {
    error =
      content === ''
        ? undefined
        : {
            type: `(${answer.headers.get('content-type')})`,
            message: content.replace(/<[^>]*>|\s+/g, ' ').trim(),
          }
  }
  return {
    name,
    status: answer.status,
    type: error?.type ?? '',
    message: error?.message ?? '',
    text: text === true,
  }
}

async function answers(base, token) {
  self.set(base, await introduce(base, token))
  const missing = (step) => needs(step) && !self.get(base)[needs(step)]
  for (const step of setup) {
    if (missing(step)) continue
    const made = await ask(base, token, step)
    if (made.status !== 200) throw new Error(`${base} ${made.name}: ${made.status} ${made.message}`)
  }
  const all = []
  for (const one of cases)
    all.push(missing(one) ? { name: one[0], absent: true } : await ask(base, token, one))
  for (const step of teardown) if (!missing(step)) await ask(base, token, step)
  return all
}

const masked = (text) => text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
const line = (a) => `${a.status} | ${a.type} | ${a.message.split('\n')[0].slice(0, 160)}`
const ours = await answers(uri, process.env.CATALOG_TOKEN)
if (!args.includes('--against')) {
  if (args.includes('--json')) console.log(JSON.stringify(ours, null, 1))
  else for (const a of ours) console.log(`${a.name} | ${a.absent ? 'absent' : line(a)}`)
  process.exit(0)
}
const reference = await answers(option('--against'), undefined)
const file = option('--deviations')
const deviations = new Map(
  (file ? JSON.parse(readFileSync(file, 'utf8')) : []).map((entry) => [entry.case, entry]),
)

function verdict(a, b) {
  if (a.absent || b.absent) return 'absent'
  if (a.status >= 500) return 'broken'
  const equal =
    a.status === b.status &&
    a.type === b.type &&
    (!a.text || masked(a.message) === masked(b.message))
  const same = b.status >= 500 ? a.status >= 400 && a.status < 500 : equal
  const deviation = deviations.get(a.name)
  if (!deviation) return same ? 'same' : 'different'
  if (same) return 'stale'
  return a.status === deviation.status && a.type === deviation.type ? 'deviates' : 'different'
}

const counts = { passed: 0, failed: 0, skipped: 0 }
for (const [i, a] of ours.entries()) {
  const b = reference[i]
  const found = verdict(a, b)
  if (found === 'absent') counts.skipped++
  else if (found === 'same' || found === 'deviates') counts.passed++
  else counts.failed++
  if (found === 'deviates')
    console.log(`DEVIATION ${a.name}: ${line(a)}\n  because ${deviations.get(a.name).reason}`)
  if (found === 'stale')
    console.log(`FAIL ${a.name}: equal to the reference, yet listed as a deviation`)
  if (found === 'broken' || found === 'different')
    console.log(`DIFF ${a.name}\n  this      ${line(a)}\n  reference ${line(b)}`)
}
for (const name of deviations.keys())
  if (!cases.some(([known]) => known === name)) {
    counts.failed++
    console.log(`FAIL ${name}: a deviation of a case that does not exist`)
  }
if (counts.skipped)
  console.log(`${counts.skipped} skipped: about routes that this server does not announce`)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
