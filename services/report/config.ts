import type { Environment } from '#shared/config/environment.ts'
import { flagSetting, type SettingProblem } from '#shared/config/setting.ts'
import { findUnsharedFileProblems } from '#shared/store/edge-binding.ts'
import { reportSettings } from './reports/settings.ts'
import { insightStoreSettings } from './stores/settings.ts'

/** The settings of insights, reports and advice. */
export const settings = {
  ...insightStoreSettings,
  ...reportSettings,
  SVC_ADVICE_READS_DATA: flagSetting(
    true,
    'Whether query advice is verified on the host by reading the columns of the conditions, for at most 10 seconds per test. Off: no data is read, and all advice is unverified.',
  ),
  SVC_ADVICE_MEASURES_CODECS: flagSetting(
    false,
    'Whether table advice measures codecs on the host, in a temporary table; otherwise they are estimated. Never done for MCP.',
  ),
} as const

/** Returns a problem for each setting that names a database file which several processes would share. */
export const problems = (env: Environment): readonly SettingProblem[] =>
  findUnsharedFileProblems(['INSIGHTS_EDGESQL', 'CONVERSATIONS_EDGESQL'], env)
