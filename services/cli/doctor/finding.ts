/** The result of one check. */
export interface Finding {
  /** What was checked: the id of a rule, or a part of the connection. */
  check: string
  title: string
  status: 'ok' | 'warning' | 'critical' | 'no data'
  detail: string
  /** What to do, such as a GRANT statement; null if nothing. */
  remedy: string | null
}

/** Points that a finding costs. */
const costs: Readonly<Record<Finding['status'], number>> = { ok: 0, 'no data': 1, warning: 5, critical: 15 }

/** Returns the score of a host: 100 points, less those that its findings cost. */
export const computeScore = (findings: readonly Finding[]): number =>
  Math.max(0, 100 - findings.reduce((total, { status }) => total + costs[status], 0))
