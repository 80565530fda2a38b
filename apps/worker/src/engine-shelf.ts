import { join } from 'node:path'
import { createMergeProcess, type MergeProcess } from '@timelake/timelake/data/merge-process'
import type { WorkerConfig } from './worker-config.ts'

/** Merge processes that are kept warm, as many as jobs have run at the same time. */
export interface EngineShelf {
  borrow(): { readonly engine: MergeProcess; giveBack(): void }
  /** Ends all of them, borrowed ones too. */
  stop(): Promise<void>
}

/** A shelf without processes; each is started by its first statement. */
export function engineShelf(config: WorkerConfig): EngineShelf {
  const all: MergeProcess[] = []
  const idle: MergeProcess[] = []
  const make = (): MergeProcess => {
    const engine = createMergeProcess({
      jobsDirectory: join(config.jobsDirectory, `engine-${all.length}`),
      memoryBytesMax: config.memoryBytesMax,
      threadCount: config.threadCount,
      spillBytesMax: config.spillBytesMax,
      idleMsMax: config.engineIdleMsMax,
    })
    all.push(engine)
    return engine
  }
  return {
    borrow() {
      const engine = idle.pop() ?? make()
      return { engine, giveBack: () => void idle.push(engine) }
    },
    async stop() {
      await Promise.all(all.map((engine) => engine.stop()))
    },
  }
}
