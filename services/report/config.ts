import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { flag, problemsOf, read, type SettingProblem } from '#shared/config/setting.ts'
import { insightStoreSettings } from './stores/settings.ts'

/** What reports and advice obey. */
export const settings = {
  ...insightStoreSettings,
  SVC_ADVICE_READS_DATA: flag(
    true,
    'Advice on a statement is tried out on the host, for which the columns of its conditions are read, 10 seconds at a time; otherwise nothing is, and all advice is unverified.',
  ),
} as const

/** What is wrong with the settings taken together: a file that several processes would have to share. */
export const problems = (env: Environment): readonly SettingProblem[] => {
  const together = { NATS_URL: processSettings.NATS_URL, ...insightStoreSettings }
  // Each setting that is wrong alone is told elsewhere.
  if (problemsOf(together, env).length > 0) return []
  const given = read(together, env)
  if (given.NATS_URL === undefined) return []
  const names = ['INSIGHTS_EDGESQL', 'CONVERSATIONS_EDGESQL'] as const
  const sentence = 'a file: database cannot be shared by the processes of NATS_URL; name a libsql: server'
  return names.flatMap((name) => (given[name]?.startsWith('file:') ? { name, sentence } : []))
}
