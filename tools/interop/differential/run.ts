/*
 * Random sequences of table updates, sent to the Java reference catalog and to ours; every answer is compared.
 *
 *   npx tsx tools/interop/differential/run.ts [--sequences 1000] [--seed N] [--commits 12] [--only N [--trace]]
 *                                             [--reference URI] [--uri URI [--prefix main]]
 *
 * Without --uri our side is the pure functions in this process; with it, a running Timelake. Without --reference the
 * reference server is started and stopped here. --only repeats one sequence of a run. Ends with `N passed, N failed`.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { httpContestant, inProcessContestant } from './contestant.ts'
import { DEVIATIONS, type Step } from './deviations.ts'
import { judgeSequence, printStep, type SequenceResult } from './judge-sequence.ts'
import { Random } from './random.ts'
import { startReferenceServer } from './reference-server.ts'

const CONCURRENCY = 4
const FAILURES_PRINTED_MAX = 10
const SEED_STEP = 1_000_003

interface Run {
  readonly seed: number
  readonly commitCount: number
  readonly namespace: string
  /** Where the reference keeps its tables; removed at the end. */
  readonly directory: string
  readonly referenceUri: string
  readonly ourUri?: string
  readonly ourPrefix: string
  readonly isTraced: boolean
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      sequences: { type: 'string', default: '1000' },
      commits: { type: 'string', default: '12' },
      seed: { type: 'string' },
      only: { type: 'string' },
      trace: { type: 'boolean', default: false },
      reference: { type: 'string' },
      uri: { type: 'string' },
      prefix: { type: 'string', default: 'main' },
    },
  })
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  console.log(`seed ${seed}`)
  const directory = await mkdtemp(join(tmpdir(), 'timelake-differential-'))
  const server = values.reference === undefined ? await startReferenceServer(directory) : undefined
  try {
    const run: Run = {
      seed,
      commitCount: Number(values.commits),
      namespace: `differential_${randomUUID().slice(0, 8)}`,
      directory,
      referenceUri: withSlash(server?.uri ?? String(values.reference)),
      ourPrefix: values.prefix,
      isTraced: values.trace,
      ...(values.uri === undefined ? {} : { ourUri: withSlash(values.uri) }),
    }
    const numbers =
      values.only === undefined
        ? Array.from({ length: Number(values.sequences) }, (_, n) => n)
        : [Number(values.only)]
    return await judgeAll(run, numbers)
  } finally {
    await server?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function judgeAll(run: Run, numbers: readonly number[]): Promise<number> {
  await createNamespace(`${run.referenceUri}v1/namespaces`, run.namespace)
  if (run.ourUri !== undefined)
    await createNamespace(`${run.ourUri}v1/${run.ourPrefix}/namespaces`, run.namespace)
  const results: SequenceResult[] = []
  const waiting = [...numbers]
  const work = async () => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      const result = await judgeOne(run, number)
      results.push(result)
      printFailure(result, results.filter(({ failure }) => failure !== undefined).length)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return summarize(results)
}

async function judgeOne(run: Run, number: number): Promise<SequenceResult> {
  const name = `t${number}`
  const reference = httpContestant({
    tablesUri: `${run.referenceUri}v1/namespaces/${run.namespace}/tables`,
    name,
    locationRoot: `file://${run.directory}/${name}`,
  })
  const ours =
    run.ourUri === undefined
      ? inProcessContestant(`00000000-0000-4000-8000-${String(number + 1).padStart(12, 'c')}`)
      : httpContestant({
          tablesUri: `${run.ourUri}v1/${run.ourPrefix}/namespaces/${run.namespace}/tables`,
          name,
        })
  const sides = {
    title: `seed ${run.seed} sequence ${number}`,
    table: name,
    reference,
    ours,
    allowsCreateCommit: run.ourUri === undefined,
    movesTables: run.ourUri === undefined,
    commitCount: run.commitCount,
    ...(run.isTraced ? { onStep: (step: Step) => console.log(printStep(step)) } : {}),
  }
  return judgeSequence(new Random(run.seed * SEED_STEP + number), sides)
}

function summarize(results: readonly SequenceResult[]): number {
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const sum = (of: (result: SequenceResult) => number) =>
    results.reduce((total, result) => total + of(result), 0)
  console.log(
    `${sum(({ stepCount }) => stepCount)} steps, ${sum(({ acceptedCount }) => acceptedCount)} accepted`,
  )
  for (const { name } of DEVIATIONS) {
    const count = sum(({ deviations }) => deviations.filter((other) => other === name).length)
    console.log(`deviation ${String(count).padStart(5)}  ${name}`)
  }
  console.log(`${results.length - failed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

function printFailure({ failure }: SequenceResult, failureCount: number): void {
  if (failure !== undefined && failureCount <= FAILURES_PRINTED_MAX)
    console.log(`FAILED ${failure}`)
}

async function createNamespace(uri: string, namespace: string): Promise<void> {
  const body = JSON.stringify({ namespace: [namespace], properties: {} })
  const response = await fetch(uri, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  if (!response.ok)
    throw new Error(
      `cannot create namespace ${namespace}: ${response.status} ${await response.text()}`,
    )
}

function withSlash(uri: string): string {
  return uri.endsWith('/') ? uri : `${uri}/`
}

process.exitCode = await main()
