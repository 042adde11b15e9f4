import type { Environment } from '#shared/config/environment.ts'
import { flag, type SettingProblem } from '#shared/config/setting.ts'
import { unsharedFiles } from '#shared/store/edge-binding.ts'
import { reportSettings } from './reports/settings.ts'
import { insightStoreSettings } from './stores/settings.ts'

/** What reports and advice obey. */
export const settings = {
  ...insightStoreSettings,
  ...reportSettings,
  SVC_ADVICE_READS_DATA: flag(
    true,
    'Advice on a statement is tried out on the host, for which the columns of its conditions are read, 10 seconds at a time; otherwise nothing is, and all advice is unverified.',
  ),
  SVC_ADVICE_MEASURES_CODECS: flag(
    false,
    'Advice on a table measures codecs on the host, in a temporary table of a session that ends with it; otherwise they are estimated. The tool server never does.',
  ),
} as const

/** What is wrong with the settings taken together: a file that several processes would have to share. */
export const problems = (env: Environment): readonly SettingProblem[] =>
  unsharedFiles(['INSIGHTS_EDGESQL', 'CONVERSATIONS_EDGESQL'], env)
