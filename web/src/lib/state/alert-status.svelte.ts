import { createQuery } from '@tanstack/svelte-query'
import { snapshotQuery } from '#lib/api/health.ts'
import { createPageLoadGate } from './page-load-gate.svelte.ts'
import { getSession } from './session.svelte.ts'

/** Refresh interval. It is long, because sweeps run minutes apart. */
const refreshMs = 120_000

/**
 * Creates the query for firing conditions per host and from other systems, which all components share. Unless `atOnce`
 * is set, the request waits until the page has loaded.
 */
export const createAlertStatusQuery = ({ atOnce = false } = {}) => {
  const session = getSession()
  const page = atOnce ? { isDue: true } : createPageLoadGate()
  const snapshot = createQuery(() => ({
    ...snapshotQuery(),
    enabled: page.isDue && session.mayRead === true,
    staleTime: refreshMs,
    refetchInterval: refreshMs,
  }))
  return {
    get isPending() {
      return snapshot.isPending
    },
    get hasFailed() {
      return snapshot.isError
    },
    /** Whether a sweep has started yet. */
    get isSwept() {
      return typeof snapshot.data?.metadata.sweptAtMs === 'number'
    },
    get hosts() {
      return snapshot.data?.data ?? []
    },
    /** Number of firing conditions from other systems. */
    get inbound() {
      return snapshot.data?.metadata.inbound ?? 0
    },
  }
}
