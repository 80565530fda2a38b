import { readSettings, type Settings } from '@timelake/timelake/contract/settings'

/**
 * Keeps a library from telling users of Node 20 on standard error what its next versions will need: which version is
 * installed is decided here.
 */
export function quietLibraries(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
}

/** The settings of this process. The only place that reads the environment. Throws SettingsError. */
export function processSettings(): Settings {
  return readSettings(process.env)
}
