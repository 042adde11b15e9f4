import type { AlertRule } from './scaled-alerts.ts'

/** By fault: the alerts that fired, each with the time after which it fired, in milliseconds. */
type FiredAlerts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Formats a table with a line per alert: the faults in which it fired, and the number of faults in which it did not. */
export const formatAlertTable = (rules: readonly AlertRule[], results: FiredAlerts): string => {
  const lines = rules.map(({ alert }) => {
    const fired = [...results].flatMap(([fault, alerts]) => {
      const afterMs = alerts.get(alert)
      return afterMs === undefined ? [] : [`${fault} (${Math.round(afterMs / 1_000)} s)`]
    })
    return `| ${alert} | ${fired.join('; ')} | ${results.size - fired.length} of ${results.size} |\n`
  })
  return `\n| Alert | Fired in | Not fired in |\n| --- | --- | --- |\n${lines.join('')}`
}
