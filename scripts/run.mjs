// Entry of every npm script: start | test | check | interop | soak | generate | cli … | install.
// Plain JavaScript without dependencies, because it is what installs them. The app runs in this process, so that
// signals sent to it arrive.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NODE_MAJOR_MIN = 20
const NODE_MINOR_MIN = 19
const CHECK_PROCESSES_MAX = 2
const PARENT_CHECK_INTERVAL_MS = 250

const root = fileURLToPath(new URL('..', import.meta.url))
const stampFile = join(root, 'node_modules', '.timelake-installed')
const cacheDirectory = join(root, 'node_modules', '.cache', 'timelake')

const commands = {
  start: (rest) => runCli(['serve', ...rest]),
  cli: runCli,
  test: (rest) => runVitest(rest),
  soak: (rest) => runVitest(['--mode', 'soak', '--passWithNoTests', ...rest]),
  check,
  interop: (rest) => runProcess('bash', [join(root, 'tools', 'interop', 'run.sh'), ...rest]),
  generate: () => importTypeScript(join(root, 'tools', 'generate.ts')),
  install: () => {},
  'build-template': buildTemplate,
}

const [command = '', ...rest] = process.argv.slice(2)
refuseOldNode()
if (!Object.hasOwn(commands, command)) {
  fail(`usage: node scripts/run.mjs ${Object.keys(commands).join(' | ')} [arguments]`)
}
if (command !== 'build-template') installWhatIsMissing()
stopWithNpm()
await commands[command](rest)

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > NODE_MAJOR_MIN || (major === NODE_MAJOR_MIN && minor >= NODE_MINOR_MIN)) return
  const wanted = `${NODE_MAJOR_MIN}.${NODE_MINOR_MIN}`
  fail(`Timelake needs Node ${wanted} or newer, and this is Node ${process.versions.node}.`)
}

// The stamp makes the usual start cheap: one hash instead of a walk over the lock file.
function installWhatIsMissing() {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).update(process.version).digest('hex')
  if (readStamp() === wanted) return
  if (!isInstalled(JSON.parse(lock.toString('utf8')))) installPackages()
  runOrFail(process.execPath, [fileURLToPath(import.meta.url), 'build-template'])
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(stampFile, wanted)
}

function readStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined
}

// npm keeps its own record of what it installed; packages that are optional elsewhere (other platforms) may lack.
function isInstalled(lock) {
  const recordFile = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(recordFile)) return false
  const installed = JSON.parse(readFileSync(recordFile, 'utf8')).packages
  return Object.entries(lock.packages).every(([path, { version, link, optional, peer }]) => {
    if (!path.startsWith('node_modules/') || optional || peer) return true
    return link ? existsSync(join(root, path)) : installed[path]?.version === version
  })
}

function installPackages() {
  process.stderr.write('Installing packages (once)…\n')
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  runOrFail('npm', ['ci', ...flags], { env: environmentForNpm() })
}

// What the calling npm was told (ignore-scripts, omit=dev, a workspace …) must not decide this installation;
// how it reaches the registry must.
function environmentForNpm() {
  const kept = /^npm_config_(registry|cache|userconfig|.*proxy|cafile|ca|strict_ssl|.*:.*)$/i
  const dropped = (name) => /^npm_/i.test(name) && !kept.test(name)
  const entries = Object.entries(process.env).filter(([name]) => !dropped(name))
  return { ...Object.fromEntries(entries), NODE_ENV: 'development' }
}

// initdb in WASM takes seconds and three quarters of a gigabyte; it runs once, in a process that ends afterwards.
async function buildTemplate() {
  const module = join(root, 'packages', 'database', 'src', 'pglite-template.ts')
  const { ensurePgliteTemplate } = await importTypeScript(module)
  mkdirSync(cacheDirectory, { recursive: true })
  await ensurePgliteTemplate(cacheDirectory)
}

async function runCli(args) {
  const { bundledEntry } = await import('./app-bundle.mjs')
  const entry = join(root, 'apps', 'cli', 'src', 'main.ts')
  const file = await bundledEntry(root, entry, cacheDirectory)
  process.setSourceMapsEnabled(true)
  nodeModule.enableCompileCache?.(join(cacheDirectory, 'compiled'))
  const { main } = await import(pathToFileURL(file).href)
  await main(args)
}

// npm runs scripts in a shell, and hands a signal to the shell alone, which dies of it and leaves us behind.
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_INTERVAL_MS)
  timer.unref()
}

async function runVitest(args) {
  process.chdir(root)
  process.argv.splice(2, Infinity, 'run', ...args)
  const require = nodeModule.createRequire(import.meta.url)
  await import(pathToFileURL(join(require.resolve('vitest/package.json'), '..', 'vitest.mjs')).href)
}

// Node that strips types by itself needs no loader; before that, tsx does it in process.
async function importTypeScript(file) {
  if (process.features.typescript !== 'strip') {
    const { register } = await import('tsx/esm/api')
    register()
  }
  return import(pathToFileURL(file).href)
}

async function check() {
  const steps = [
    ['types', 'typescript/bin/tsc', ['-p', 'tsconfig.json']],
    [
      'lint',
      'eslint/bin/eslint.js',
      ['.', '--max-warnings=0', '--cache', '--cache-location', '.cache/eslint/'],
    ],
    ['format', 'prettier/bin/prettier.cjs', ['--check', '--log-level=warn', '--cache', '.']],
    ['tidy', 'vitest/vitest.mjs', ['run', '--project', 'tools', 'tidy.test.ts', '--reporter=dot']],
  ]
  const waiting = [...steps]
  const failed = []
  const drain = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const [name, script, args] = step
      const { status, output } = await capture(join(root, 'node_modules', script), args)
      process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`)
      if (status !== 0) failed.push({ name, output })
    }
  }
  await Promise.all(Array.from({ length: CHECK_PROCESSES_MAX }, drain))
  for (const { name, output } of failed) process.stdout.write(`\n--- ${name}\n${output}\n`)
  process.stdout.write(`${steps.length - failed.length} passed, ${failed.length} failed\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

function capture(script, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', (status) =>
      resolve({ status, output: Buffer.concat(chunks).toString('utf8') }),
    )
  })
}

async function runProcess(file, args) {
  const child = spawn(file, args, { cwd: root, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  process.exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? 1))
  })
}

function runOrFail(file, args, options = {}) {
  const { status, error } = spawnSync(file, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    ...options,
  })
  if (error !== undefined) fail(`cannot run ${file}: ${error.message}`)
  if (status !== 0) fail(`${file} ${args[0]} failed with status ${status}`)
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(2)
}
