#!/usr/bin/env node
// `npx timelake …`: the same as `node scripts/run.mjs cli …`, which installs what is missing first.
import { fileURLToPath } from 'node:url'

const run = new URL('../../../scripts/run.mjs', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(run), 'cli')
await import(run.href)
