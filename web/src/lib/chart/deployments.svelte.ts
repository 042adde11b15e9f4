import { createQuery } from '@tanstack/svelte-query'
import { deploymentsQuery, type Deployment } from '#lib/api/deployments.ts'
import { createPageLoadGate } from '#lib/state/page-load-gate.svelte.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

const refreshMs = 5 * 60_000

/** Creates the query for deployments within the time range of the page, if the installation receives them. */
export const createDeploymentsQuery = (session: Session): { readonly list: readonly Deployment[] } => {
  const page = createPageLoadGate()
  const deployments = createQuery(() => ({
    ...deploymentsQuery(view.range),
    enabled: page.isDue && view.connection === null && session.offers?.deployments === true,
    staleTime: refreshMs,
    retry: false,
  }))
  return {
    get list() {
      return deployments.data?.data ?? []
    },
  }
}
