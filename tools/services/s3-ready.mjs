// Waits until an S3 server is ready. Exit status 1: not within a minute, or its process died.
//
//   s3-ready.mjs ENDPOINT BUCKET --pid PID --role ARN [--again]      keys from S3_ACCESS_KEY, S3_SECRET_KEY
//
// Ready means that an object can be written and read, that the role can be assumed, and with --again that an object of the
// earlier run can be read: after a restart the server lists objects for seconds before it can read them.

import { call } from './sigv4.mjs'

const [endpoint, bucket, ...flags] = process.argv.slice(2)
const option = (name) => flags[flags.indexOf(name) + 1]
const credentials = {
  accessKeyId: process.env.S3_ACCESS_KEY,
  secretAccessKey: process.env.S3_SECRET_KEY,
}
const READY_MS_MAX = 60_000
const MARKER = '/start-check/marker'

const statusOf = (request) =>
  call(endpoint, { credentials, ...request }).then(
    ({ status }) => status,
    () => 0,
  )

async function isReady() {
  const query = { 'list-type': '2', 'max-keys': '1' }
  if ((await statusOf({ path: `/${bucket}`, query })) !== 200) return false
  if (flags.includes('--again') && (await statusOf({ path: MARKER })) !== 200) return false
  if ((await statusOf({ method: 'PUT', path: MARKER, body: 'x' })) !== 200) return false
  if ((await statusOf({ path: MARKER })) !== 200) return false
  const form = {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleSessionName: 'ready',
    RoleArn: option('--role'),
  }
  const assume = {
    method: 'POST',
    path: '/',
    service: 'sts',
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
  return (await statusOf(assume)) === 200
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const until = Date.now() + READY_MS_MAX; Date.now() < until;) {
  if (!isAlive(Number(option('--pid')))) process.exit(1)
  if (await isReady()) process.exit(0)
  await new Promise((resolve) => setTimeout(resolve, 50))
}
process.exit(1)
