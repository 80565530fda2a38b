/*
 * A small identity provider for the judges: `tsx provider.ts PORT` on loopback. Anybody gets a token who asks:
 *
 *   GET  /.well-known/openid-configuration, GET /keys
 *   POST /token        client credentials; `client_id` becomes the subject, `groups` (words) its groups, `lifetime` its seconds
 *   POST /rotate       new tokens are signed with a new key; the old one stays published until the next rotation
 *   POST /stop?for=MS  answers nothing but 503 for that long
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'

const LIFETIME_SECONDS = 3_600
const KEYS_PUBLISHED = 2
const ALGORITHM = 'RS256'

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly published: JWK
}

const port = Number(process.argv[2])
const issuer = `http://127.0.0.1:${port}`
const keys = [await newKey()]
let silentUntilMs = 0

async function newKey(): Promise<SigningKey> {
  const kid = randomUUID()
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  return {
    kid,
    privateKey,
    published: { ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: 'sig' },
  }
}

async function token(form: URLSearchParams): Promise<unknown> {
  const [key] = keys
  if (key === undefined) throw new Error('there is always a key')
  const lifetime = Number(form.get('lifetime') ?? LIFETIME_SECONDS)
  const subject = form.get('client_id') ?? 'nobody'
  const groups = (form.get('groups') ?? '').split(' ').filter((word) => word !== '')
  const jwt = await new SignJWT({ groups, preferred_username: subject })
    .setProtectedHeader({ alg: ALGORITHM, kid: key.kid })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(form.get('audience') ?? 'timelake')
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1_000) + lifetime)
    .sign(key.privateKey)
  return { access_token: jwt, token_type: 'Bearer', expires_in: lifetime }
}

/** What RFC 6749 lets a client send in the header counts like the form's. */
async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const piece of request) text += String(piece)
  const form = new URLSearchParams(text)
  const basic = /^basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (basic !== undefined) {
    const [id = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':')
    form.set('client_id', decodeURIComponent(id))
  }
  return form
}

async function answer(request: IncomingMessage): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
  switch (`${request.method} ${pathname}`) {
    case 'GET /.well-known/openid-configuration':
      return {
        issuer,
        jwks_uri: `${issuer}/keys`,
        token_endpoint: `${issuer}/token`,
        id_token_signing_alg_values_supported: [ALGORITHM],
      }
    case 'GET /keys':
      return { keys: keys.map(({ published }) => published) }
    case 'POST /token':
      return token(await formOf(request))
    case 'POST /rotate':
      keys.unshift(await newKey())
      keys.splice(KEYS_PUBLISHED)
      return {}
    case 'POST /stop':
      silentUntilMs = Date.now() + Number(searchParams.get('for') ?? 0)
      return {}
    default:
      return undefined
  }
}

const server = createServer((request, response) => {
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  if (Date.now() < silentUntilMs) return send(503, { error: 'temporarily_unavailable' })
  answer(request).then(
    (body) => (body === undefined ? send(404, { error: 'not_found' }) : send(200, body)),
    (error: unknown) => send(500, { error: String(error) }),
  )
})
server.listen(port, '127.0.0.1')
