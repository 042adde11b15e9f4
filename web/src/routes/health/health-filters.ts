import type { HostScope } from '#lib/api/health.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** Status filters of the check list. */
export const statusFilters = ['all', 'critical', 'warning', 'unknown', 'ok', 'off'] as const
export type StatusFilter = (typeof statusFilters)[number]

/** The filters of the health page. */
export interface HealthFilters {
  /** Text that checks, conditions and history entries must contain. */
  search: string
  status: StatusFilter
  /** A day of the history in UTC, such as `2026-06-01`. Null means all days. */
  day: string | null
  /** An event type of the history. Null means all types. */
  kind: string | null
  /** The condition whose diagnosis is open; null if none is. */
  diagnosed: { host: number; ruleId: string } | null
}

/** Reads the filters from the URL; invalid values are ignored. */
export const readHealthFilters = (parameters: ReadableParameters): HealthFilters => ({
  search: parameters.get('search') ?? '',
  status: statusFilters.find((status) => status === parameters.get('status')) ?? 'all',
  day: /^\d{4}-\d{2}-\d{2}$/.exec(parameters.get('day') ?? '')?.[0] ?? null,
  kind: parameters.get('kind'),
  diagnosed: readDiagnosed(parameters.get('diagnose')),
})

/** Reads the scope from the URL. A link without a host means all hosts, as in notifications about several hosts. */
export const readScope = (parameters: ReadableParameters, host: number): HostScope =>
  parameters.get('hosts') === 'all' || parameters.get('host') === null ? 'all' : host

const readDiagnosed = (text: string | null): HealthFilters['diagnosed'] => {
  const parts = /^(\d{1,6})\.(.+)$/.exec(text ?? '')
  return parts?.[2] ? { host: Number(parts[1]), ruleId: parts[2] } : null
}

export const formatDiagnosedCondition = (host: number, ruleId: string): string => `${host}.${ruleId}`

/** Returns whether one of the texts contains the search text. Ignores case. */
export const containsSearchText = (search: string, texts: readonly (string | null)[]): boolean => {
  const wanted = search.trim().toLowerCase()
  return wanted === '' || texts.some((text) => text?.toLowerCase().includes(wanted))
}
