import type { Settings } from '@timelake/timelake/contract/settings'

/** What a command reaches in the outside world. */
export interface CommandContext {
  readonly settings: Settings
  /** One line or block for the user, on standard output. */
  readonly print: (text: string) => void
  readonly send: (request: Request) => Promise<Response>
  nowMs(): number
  newUuid(): string
  pause(durationMs: number): Promise<void>
}

/** The same for a command that may be given secrets. */
export interface InputContext extends CommandContext {
  /** All of standard input, as text. */
  readInput(): Promise<string>
}
