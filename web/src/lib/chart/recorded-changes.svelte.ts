import { createQuery } from '@tanstack/svelte-query'
import { changesQuery, type RecordedChange } from '#lib/api/changes.ts'
import { createPageLoadGate } from '#lib/state/page-load-gate.svelte.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'

const refreshMs = 60_000

/** Creates the query for the recorded changes of the host within the time range of the page. */
export const createRecordedChangesQuery = (session: Session): { readonly list: readonly RecordedChange[] } => {
  const page = createPageLoadGate()
  const changes = createQuery(() => ({
    ...changesQuery({ hostId: view.host }, view.range),
    enabled: page.isDue && view.host >= 0 && view.connection === null && session.host !== undefined,
    staleTime: refreshMs,
    retry: false,
  }))
  return {
    get list() {
      return changes.data?.data ?? []
    },
  }
}
