import type { Scope } from '#lib/api/health.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** Which checks are listed. */
export const statuses = ['all', 'critical', 'warning', 'unknown', 'ok', 'off'] as const
export type StatusChoice = (typeof statuses)[number]

/** What the reader has chosen of the page of health. */
export interface HealthChoices {
  /** Text that checks, conditions and lines of the history have to contain. */
  search: string
  status: StatusChoice
  /** A day of the history, as `2026-06-01` in UTC. */
  day: string | null
  /** One kind of line of the history. */
  kind: string | null
  /** The condition whose rows are shown. */
  diagnosed: { host: number; ruleId: string } | null
}

/** Reads the choices from the URL; what cannot be understood is left out. */
export const readChoices = (parameters: ReadableParameters): HealthChoices => ({
  search: parameters.get('search') ?? '',
  status: statuses.find((status) => status === parameters.get('status')) ?? 'all',
  day: /^\d{4}-\d{2}-\d{2}$/.exec(parameters.get('day') ?? '')?.[0] ?? null,
  kind: parameters.get('kind'),
  diagnosed: readDiagnosed(parameters.get('diagnose')),
})

/** A host is chosen by its position. Links in messages name none where a finding is about no one host. */
export const readScope = (parameters: ReadableParameters, host: number): Scope =>
  parameters.get('hosts') === 'all' || parameters.get('host') === null ? 'all' : host

const readDiagnosed = (text: string | null): HealthChoices['diagnosed'] => {
  const parts = /^(\d{1,6})\.(.+)$/.exec(text ?? '')
  return parts?.[2] ? { host: Number(parts[1]), ruleId: parts[2] } : null
}

export const writeDiagnosed = (host: number, ruleId: string): string => `${host}.${ruleId}`

/** Whether one of the texts contains what is searched for, in whatever case. */
export const matches = (search: string, texts: readonly (string | null)[]): boolean => {
  const wanted = search.trim().toLowerCase()
  return wanted === '' || texts.some((text) => text?.toLowerCase().includes(wanted))
}
