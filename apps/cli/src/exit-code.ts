/** Exit codes of every command, as `timelake help` lists them. */
export const EXIT_CODES = { done: 0, failed: 1, wrongUsage: 2, refused: 3, incomplete: 4 } as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

/** A command that stopped for a reason that the user can understand and change; `exitCode` goes to the shell. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
