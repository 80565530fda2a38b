/** A step that is repeated; it is told when the loop ends. */
export type RepeatedStep = (signal: AbortSignal) => Promise<'again' | 'wait'>

export interface RepeatOptions {
  /** Between steps that found nothing more to do. */
  readonly intervalMs: number
  /** A step that failed is tried again after the interval. */
  readonly onError: (error: unknown) => void
}

export interface Repetition {
  /** Runs the next step now rather than after the interval. */
  wake(): void
  /** Waits for the step that runs, and runs no further one. */
  stop(): Promise<void>
}

/** Repeats a step until it is stopped: at once while there is more to do, else after the interval or a wake. */
export function repeat(step: RepeatedStep, options: RepeatOptions): Repetition {
  const controller = new AbortController()
  let wake = (): void => {}
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, options.intervalMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const ended = run()
  async function run(): Promise<void> {
    while (!controller.signal.aborted) {
      const next = await attempt(step, controller.signal, options)
      if (next === 'wait' && !controller.signal.aborted) await pause()
    }
  }
  return {
    wake: () => wake(),
    async stop() {
      controller.abort(new Error('the worker is stopping'))
      wake()
      await ended
    },
  }
}

async function attempt(
  step: RepeatedStep,
  signal: AbortSignal,
  { onError }: RepeatOptions,
): Promise<'again' | 'wait'> {
  try {
    return await step(signal)
  } catch (error) {
    if (!signal.aborted) onError(error)
    return 'wait'
  }
}
