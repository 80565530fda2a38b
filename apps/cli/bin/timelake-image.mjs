#!/usr/bin/env node
// What the container image runs: Node 24 strips the types by itself, so a start installs and builds nothing.
import { main } from '../src/main.ts'

await main(process.argv.slice(2))
