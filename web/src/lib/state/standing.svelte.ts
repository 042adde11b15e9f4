import { createQuery } from '@tanstack/svelte-query'
import { snapshotQuery } from '#lib/api/health.ts'
import { createAfterPage } from './after-page.svelte.ts'
import { getSession } from './session.svelte.ts'

/** Sweeps are minutes apart. */
const refreshMs = 120_000

/** What fires on each host and from other systems, asked once for all that show it: at once where that is what the page is opened for, else once it stands. */
export const createStanding = ({ atOnce = false } = {}) => {
  const session = getSession()
  const page = atOnce ? { isDue: true } : createAfterPage()
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
    /** Whether any sweep has begun yet. */
    get isSwept() {
      return typeof snapshot.data?.metadata.sweptAtMs === 'number'
    },
    get hosts() {
      return snapshot.data?.data ?? []
    },
    /** Conditions that other systems told of. */
    get inbound() {
      return snapshot.data?.metadata.inbound ?? 0
    },
  }
}
