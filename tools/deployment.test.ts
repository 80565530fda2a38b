import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSettings, SETTINGS } from '@timelake/timelake/contract/settings'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Service {
  readonly image: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly healthcheck?: object
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

const composeText = read('docker-compose.yml')
// `as`: the tests below look at what they use.
const compose = parse(composeText, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const services = Object.entries(compose.services)
const own = services.filter(([, { build }]) => build !== undefined)

const example = new Map(
  read('.env.example')
    .split('\n')
    .map((line) => /^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line))
    .flatMap((match) => (match === null ? [] : [[String(match[1]), String(match[2])] as const])),
)

// One instruction a line: continued lines are joined, comments are left out.
const instructions = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => ({ name: line.split(' ', 1)[0], rest: line.slice(line.indexOf(' ') + 1) }))
const all = (name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ rest }) => rest)

const references = [...composeText.matchAll(/\$\{([A-Z0-9_]+)(:[?-][^}]*)?\}/g)].map(
  ([, name = '', rest = '']) => ({ name, rest }),
)

const filledIn = (text: string): string =>
  text.replaceAll(
    /\$\{([A-Z0-9_]+)(?::[?-][^}]*)?\}/g,
    (_, name: string) => example.get(name) ?? '',
  )

const PINNED = /^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)?$/

describe('docker-compose.yml', () => {
  it('pins every image to a version, and ours to that of the repository', () => {
    expect(services.map(([, { image }]) => image).filter((image) => !PINNED.test(image))).toEqual(
      [],
    )
    // `as`: npm itself insists on this shape.
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(new Set(own.map(([, { image }]) => image))).toEqual(new Set([`timelake:${version}`]))
  })

  it.each(own)('gives %s settings that it accepts', (_, { environment = {} }) => {
    const image = Object.fromEntries(all('ENV').flatMap(assignments))
    const values = Object.entries(environment).map(([name, text]) => [name, filledIn(text)])
    const settings = readSettings({ ...image, ...Object.fromEntries(values) })
    expect(settings.databaseUrl).toMatch(/^postgres:\/\/timelake:[\w.-]+@postgres:5432\/timelake$/)
    expect(settings.redisUrl).toMatch(/^redis:\/\/:[\w.-]+@valkey:6379$/)
    expect(settings.token).toBeDefined()
    expect(settings.secretKey).toBeDefined()
    expect(settings.warehouseLocation).toBe('s3://lake/main')
    expect(settings.s3Endpoint).toBe('http://s3:8333')
  })

  it('takes every secret from the environment, and every variable from .env.example', () => {
    const unknown = references.filter(({ name }) => !example.has(name))
    expect(unknown).toEqual([])
    const secrets = references.filter(({ name }) => /PASSWORD|TOKEN|KEY/.test(name))
    expect(secrets.filter(({ rest }) => !rest.startsWith(':?'))).toEqual([])
    const used = new Set(references.map(({ name }) => name))
    const settings = new Set(Object.values(SETTINGS).map(({ variable }) => variable))
    expect([...example.keys()].filter((name) => !used.has(name) && !settings.has(name))).toEqual([])
  })

  it('publishes ports on this machine only', () => {
    const published = services.flatMap(([, { ports = [] }]) => ports)
    expect(published.length).toBeGreaterThan(0)
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  it('waits for the health of what a service needs', () => {
    const waits = services.flatMap(([, { depends_on = {} }]) => Object.entries(depends_on))
    expect(waits.length).toBeGreaterThan(0)
    for (const [name, { condition }] of waits) {
      expect(condition, name).toBe('service_healthy')
      const service = compose.services[name]
      const isChecked = service?.healthcheck !== undefined || service?.build !== undefined
      expect(isChecked, name).toBe(true)
    }
  })

  it('keeps the data of every service in a volume that it declares', () => {
    const used = services.flatMap(([name, { volumes = [] }]) => {
      expect(volumes.length, name).toBe(1)
      return volumes.map((volume) => volume.split(':')[0])
    })
    expect(new Set(used)).toEqual(new Set(Object.keys(compose.volumes)))
  })

  it('runs the jobs in the worker alone, and no message of theirs is evicted', () => {
    expect(compose.services['catalog']?.environment).toMatchObject({ TIMELAKE_MAINTENANCE: 'off' })
    expect(compose.services['worker']?.command).toEqual(['worker'])
    expect(compose.services['worker']?.environment).not.toHaveProperty('TIMELAKE_MAINTENANCE')
    expect(compose.services['valkey']?.command).toContain('noeviction')
  })

  it('keeps the file with the secrets out of the repository and out of the image', () => {
    expect(read('.gitignore').split('\n')).toContain('.env')
    expect(read('.dockerignore').split('\n')).toContain('.env')
  })
})

describe('Dockerfile', () => {
  it('starts both stages from one pinned Node 24', () => {
    const images = all('FROM').map((rest) => rest.split(' ')[0] ?? '')
    expect(images).toHaveLength(2)
    expect(new Set(images).size).toBe(1)
    expect(images[0]).toMatch(/^node:24\.\d+\.\d+-[\w-]+$/)
  })

  it('does not run as root', () => {
    const [user, ...others] = all('USER')
    expect(others).toEqual([])
    expect(user).toBe('node')
    const positions = instructions.map(({ name }) => name)
    expect(positions.indexOf('USER')).toBeGreaterThan(positions.lastIndexOf('RUN'))
  })

  it('installs without scripts and without what only development needs', () => {
    const install = all('RUN').filter((rest) => rest.startsWith('npm '))
    expect(install).toHaveLength(1)
    expect(install[0]).toMatch(/^npm ci .*--omit=dev .*--ignore-scripts/)
  })

  it('gives npm the description of every workspace', () => {
    const workspaces = ['apps', 'packages'].flatMap((folder) =>
      readdirSync(join(root, folder))
        .map((name) => `${folder}/${name}/package.json`)
        .filter((path) => existsSync(join(root, path))),
    )
    const copied = all('COPY').flatMap((rest) => rest.split(' '))
    expect(workspaces.filter((path) => !copied.includes(path))).toEqual([])
  })

  it('copies and runs only what is there', () => {
    const sources = all('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1))
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([])
    // The exec form, so that signals reach Node and not a shell.
    const entry = JSON.parse(all('ENTRYPOINT')[0] ?? '[]') as string[]
    expect(entry[0]).toBe('node')
    expect(existsSync(join(root, entry[1] ?? ''))).toBe(true)
    expect(JSON.parse(all('CMD')[0] ?? '[]')).toEqual(['serve'])
  })

  it('is asked for its readiness', () => {
    expect(all('HEALTHCHECK')[0]).toContain('/health/ready')
  })
})

function assignments(text: string): [string, string][] {
  return text.split(' ').map((part) => {
    const [name = '', value = ''] = part.split('=')
    return [name, value]
  })
}
