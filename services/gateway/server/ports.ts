import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { problemsOf, read, type SettingProblem, text, whole } from '#shared/config/setting.ts'

/** Where callers are met. */
export const portSettings = {
  PORT: whole(3000, 'Port of the HTTP API and the web; 0 takes a free one.', { max: 65_535 }),
  HOST: text('0.0.0.0', 'Address the HTTP API and the web are bound to.'),
} as const

const { OPERATIONS_PORT, OPERATIONS_HOST } = processSettings
const both = { ...portSettings, OPERATIONS_PORT, OPERATIONS_HOST }
const everywhere = new Set(['0.0.0.0', '::'])

/** What is wrong when callers are to be met where probes and scrapes are. */
export const portProblems = (env: Environment): readonly SettingProblem[] => {
  if (problemsOf(both, env).length > 0) return []
  const { PORT: port, HOST: host, ...operations } = read(both, env)
  const meets = [host, operations.OPERATIONS_HOST].some((each) => everywhere.has(each))
  const isSame = port !== 0 && port === operations.OPERATIONS_PORT && (meets || host === operations.OPERATIONS_HOST)
  const sentence = `must not be ${port}, which is the port of the HTTP API and the web (PORT)`
  return isSame ? [{ name: 'OPERATIONS_PORT', sentence }] : []
}
