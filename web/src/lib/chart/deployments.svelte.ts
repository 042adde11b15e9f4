import { createQuery } from '@tanstack/svelte-query'
import { deploymentsQuery, type Deployment } from '#lib/api/deployments.ts'
import { createAfterPage } from '#lib/state/after-page.svelte.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

const refreshMs = 5 * 60_000

/** What was put into use in the time that the page shows, where anybody tells the product of it. */
export const createDeployments = (session: Session): { readonly list: readonly Deployment[] } => {
  const page = createAfterPage()
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
