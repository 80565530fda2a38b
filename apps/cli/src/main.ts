import {
  DatabaseTooNewError,
  DatabaseUnavailableError,
  DataDirectoryInUseError,
  MigrationChangedError,
} from '@timelake/database/database-errors'
import { SettingsError, type Settings } from '@timelake/timelake/contract/settings'
import type { InputContext } from './command-context.ts'
import { parseCommandLine, type Command } from './command-line.ts'
import { processSettings, quietLibraries } from './config.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import { HELP_TEXT } from './help-text.ts'
import type { RunningServer } from './serve.ts'
import { UsageError } from './usage-error.ts'

/** npm passes an interrupt on that the terminal has already delivered; repeats within this time are the same one. */
const SECOND_SIGNAL_AFTER_MS = 1_000

/**
 * Runs the command that the arguments ask for and sets the exit code. `serve` returns once the server listens and
 * goes on until a signal. Everything else in the program is free of signals and exits.
 */
export async function main(args: readonly string[]): Promise<void> {
  quietLibraries()
  try {
    process.exitCode = await run(parseCommandLine(args))
  } catch (error) {
    process.exitCode = report(error)
  }
}

async function run(command: Command): Promise<ExitCode> {
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  switch (command.kind) {
    case 'help':
      print(HELP_TEXT)
      return EXIT_CODES.done
    case 'version':
      print((await import('./program-version.ts')).programVersion())
      return EXIT_CODES.done
    case 'serve':
      return runUntilSignal((await import('./serve.ts')).serve, print)
    case 'worker':
      return runUntilSignal((await import('./serve-worker.ts')).serveWorker, print)
    case 'info':
      return (await import('./info.ts')).info(command, await commandContext())
    case 'maintain':
      return (await import('./maintain.ts')).maintain(command, await commandContext())
    case 'recover':
      return (await import('./recover.ts')).recover(command, await commandContext())
    case 'migrate':
      return (await import('./migrate.ts')).migrate(command, await commandContext())
    case 'warehouse':
      return (await import('./warehouse.ts')).warehouse(command, await commandContext())
    case 'dropped':
      return (await import('./dropped.ts')).dropped(command, await commandContext())
    case 'events':
      return (await import('./events.ts')).events(command, await commandContext())
    case 'webhooks':
      return (await import('./webhooks.ts')).webhooks(command, await commandContext())
    case 'accounts':
      return (await import('./access.ts')).accounts(command, await commandContext())
    case 'grants':
      return (await import('./access.ts')).grants(command, await commandContext())
    case 'audit':
      return (await import('./access.ts')).audit(command, await commandContext())
  }
}

async function commandContext(): Promise<InputContext> {
  return (await import('./context.ts')).makeCommandContext(processSettings())
}

async function runUntilSignal(
  start: (settings: Settings) => Promise<RunningServer>,
  print: (text: string) => void,
): Promise<ExitCode> {
  const server = await start(processSettings())
  print(server.greeting)
  let firstSignalMs: number | undefined
  const stop = (): void => {
    const nowMs = Date.now()
    if (firstSignalMs === undefined) {
      firstSignalMs = nowMs
      void server.stop().then(
        () => process.exit(EXIT_CODES.done),
        (error: unknown) => process.exit(report(error)),
      )
    } else if (nowMs - firstSignalMs >= SECOND_SIGNAL_AFTER_MS) {
      process.exit(EXIT_CODES.failed)
    }
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return EXIT_CODES.done
}

function report(error: unknown): ExitCode {
  const known = explain(error)
  process.stderr.write(`${known?.sentence ?? describeChain(error)}\n`)
  return known?.exitCode ?? EXIT_CODES.failed
}

function explain(error: unknown): { sentence: string; exitCode: ExitCode } | undefined {
  if (error instanceof CommandError) return { sentence: error.message, exitCode: error.exitCode }
  if (error instanceof UsageError || error instanceof SettingsError) {
    return { sentence: error.message, exitCode: EXIT_CODES.wrongUsage }
  }
  if (error instanceof DataDirectoryInUseError) {
    return { sentence: error.message, exitCode: EXIT_CODES.refused }
  }
  if (error instanceof DatabaseTooNewError || error instanceof MigrationChangedError) {
    return { sentence: error.message, exitCode: EXIT_CODES.failed }
  }
  if (error instanceof DatabaseUnavailableError) {
    const hint = '`timelake recover --dry-run` shows what can be rebuilt from the warehouse'
    return { sentence: `${error.message}; ${hint}`, exitCode: EXIT_CODES.failed }
  }
  return explainNetwork(error)
}

function explainNetwork(error: unknown): { sentence: string; exitCode: ExitCode } | undefined {
  // `as`: whatever was thrown is only looked at.
  const { code, address, port } = Object(error) as {
    code?: string
    address?: string
    port?: number
  }
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there',
    EADDRNOTAVAIL: 'this machine has no such address',
    EACCES: 'this user may not',
  }
  const reason = code === undefined || port === undefined ? undefined : reasons[code]
  if (reason === undefined) return undefined
  const sentence = `cannot listen on ${address}:${port}: ${reason}; set TIMELAKE_HOST or TIMELAKE_PORT`
  return { sentence, exitCode: EXIT_CODES.failed }
}

// An error that nobody expected is shown with its stack and its causes, because somebody has to find it.
function describeChain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${own}\ncaused by: ${describeChain(error.cause)}`
}
