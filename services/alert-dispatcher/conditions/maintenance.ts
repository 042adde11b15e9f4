import type { MaintenanceWindow } from '../policy/policy.ts'

/** Whether nobody is to be told anything about the host, or about a source by its name; a window of no host is for all of them. */
export const isInMaintenance = (
  windows: readonly MaintenanceWindow[],
  hostKey: string | null,
  nowMs: number,
): boolean =>
  windows.some(
    (window) =>
      window.startsAtMs <= nowMs && nowMs < window.endsAtMs && (window.hostKey === null || window.hostKey === hostKey),
  )
