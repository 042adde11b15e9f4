import { createQuery } from '@tanstack/svelte-query'
import { historyQuery, type ConditionHistoryEntry } from '#lib/api/health.ts'
import { createPageLoadGate } from '#lib/state/page-load-gate.svelte.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

const refreshMs = 10 * 60_000

/** Creates the query for recent alerts of the current host. Only configured hosts have alerts. */
export const createAlertHistoryQuery = (session: Session): { readonly lines: readonly ConditionHistoryEntry[] } => {
  const page = createPageLoadGate()
  const history = createQuery(() => ({
    ...historyQuery(view.host, null),
    enabled: page.isDue && view.host >= 0 && view.connection === null && session.isOffered('HEALTH'),
    staleTime: refreshMs,
    retry: false,
  }))
  return {
    get lines() {
      return history.data?.data ?? []
    },
  }
}
