// The application as few plain JavaScript files, made from the sources when they changed. Loading some two hundred
// TypeScript files one by one takes longer than everything else at a start; making the bundle takes a fraction of it.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const BUNDLES_KEPT_MAX = 2

/** The path of the bundled entry file. Two processes may make it at once; one of them wins. */
export async function bundledEntry(root, entry, cacheDirectory) {
  const directory = join(cacheDirectory, `app-${hashOfSources(root)}`)
  const file = join(directory, basename(entry).replace(/\.ts$/, '.js'))
  if (existsSync(file)) return file
  const unfinished = `${directory}.${process.pid}.tmp`
  await buildBundle(root, entry, unfinished)
  try {
    renameSync(unfinished, directory)
  } catch (error) {
    if (!existsSync(file)) throw error
    rmSync(unfinished, { recursive: true, force: true })
  }
  removeOldBundles(cacheDirectory, basename(directory))
  return file
}

// Names, times and sizes: reading two hundred files would cost what is to be saved.
function hashOfSources(root) {
  const hash = createHash('sha256').update(process.version)
  for (const workspaces of ['apps', 'packages']) {
    for (const workspace of readdirSync(join(root, workspaces)).sort()) {
      const source = join(root, workspaces, workspace, 'src')
      if (existsSync(source)) addFolder(hash, source)
    }
  }
  return hash.digest('hex').slice(0, 16)
}

function addFolder(hash, folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) addFolder(hash, path)
    else if (path.endsWith('.ts') && !path.endsWith('.test.ts')) {
      const { mtimeMs, size } = statSync(path)
      hash.update(`${path} ${mtimeMs} ${size}\n`)
    }
  }
}

async function buildBundle(root, entry, directory) {
  const { build } = await import('esbuild')
  mkdirSync(dirname(directory), { recursive: true })
  await build({
    entryPoints: [entry],
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    absWorkingDir: root,
    logLevel: 'error',
    plugins: [houseModules],
  })
}

// Our own packages are bundled, everybody else's stay where they are. What a file says about its own place stays true.
const houseModules = {
  name: 'house-modules',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@timelake/')
        ? undefined
        : { path, external: true },
    )
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const here = JSON.stringify(pathToFileURL(path).href)
      const contents = readFileSync(path, 'utf8').replaceAll(/\bimport\.meta\.url\b/g, here)
      return { contents, loader: 'ts' }
    })
  },
}

function removeOldBundles(cacheDirectory, current) {
  const others = readdirSync(cacheDirectory)
    .filter((name) => /^app-[0-9a-f]{16}$/.test(name) && name !== current)
    .map((name) => ({ name, madeAtMs: statSync(join(cacheDirectory, name)).mtimeMs }))
    .sort((left, right) => right.madeAtMs - left.madeAtMs)
  for (const { name } of others.slice(BUNDLES_KEPT_MAX - 1)) {
    rmSync(join(cacheDirectory, name), { recursive: true, force: true })
  }
}
