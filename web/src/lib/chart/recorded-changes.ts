import type { RecordedChange } from '#lib/api/changes.ts'

/** The names of the kinds of the timeline. Logs of hosts use the same names. */
export const changeKindNames: Readonly<Record<string, string>> = {
  version: 'Version',
  restart: 'Restart',
  settings: 'Settings',
  schema: 'Schema',
  access: 'Access',
  topology: 'Topology',
  workload: 'Workload',
  deployment: 'Deployment',
  alert: 'Alert',
  action: 'Action',
}

/** A snapshot follows a statement within this time. */
const snapshotDelayMs = 120_000
const clockToleranceMs = 10_000

/** Returns whether the history contains the change that a statement in the log of the host made. */
export const isInHistory = (timeMs: number, kind: string, recorded: readonly RecordedChange[]): boolean =>
  recorded.some(
    (change) =>
      changeKindNames[change.kind] === kind &&
      change.atMs >= timeMs - clockToleranceMs &&
      change.atMs <= timeMs + snapshotDelayMs,
  )
