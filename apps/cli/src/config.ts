import { readSettings, type Settings } from '@timelake/timelake/contract/settings'

/** The settings of this process. The only place that reads the environment. Throws SettingsError. */
export function processSettings(): Settings {
  return readSettings(process.env)
}
