import type { LogSetting } from '#proto/query-detail.ts'
import type { LoggedQueryDetail } from '#lib/api/analysis.ts'

interface LoggedSection {
  table: string
  setting: string
  /** What the section lists, such as `threads`. */
  subject: string
}

export const threadLog: LoggedSection = {
  table: 'system.query_thread_log',
  setting: 'log_query_threads',
  subject: 'threads',
}
export const processorLog: LoggedSection = {
  table: 'system.processors_profile_log',
  setting: 'log_processors_profiles',
  subject: 'processors',
}

const sourceTexts: Record<LogSetting['source'], string> = {
  query: 'set by the query or the profile of its user',
  default: 'the default of this host',
  'monitoring-user': 'in the profile of the monitoring user; the query may have had another value',
}

/** Returns why a log has no rows of a query, from the settings of the query and of the host, and what to do. */
export const explainEmptyLog = (
  { table, setting, subject }: LoggedSection,
  { summary, logSettings }: Pick<LoggedQueryDetail, 'summary' | 'logSettings'>,
): string => {
  if (summary.status === 'running') return `The host logs ${subject} when the query ends.`
  const found = logSettings.find(({ name }) => name === setting)
  if (!found) return `This host has no setting ${setting}.`
  const fact = `${setting} = ${found.value} (${sourceTexts[found.source]}).`
  if (isOff(found.value))
    return `${fact} To log ${subject} in ${table}, which exists on this host, set it to 1 in the profile of user ${summary.user}, or add SETTINGS ${setting} = 1 to the statement.`
  const minMs = Number(logSettings.find(({ name }) => name === 'log_queries_min_query_duration_ms')?.value ?? 0)
  if (minMs > summary.durationMs)
    return `${fact} The query was shorter than log_queries_min_query_duration_ms = ${minMs}, so the host did not log it.`
  return `${fact} ${table} exists on this host but has no rows of this query: they are written some seconds after its end, and removed after the TTL of the table.`
}

const isOff = (value: string): boolean => value === '0' || value === 'false'
