import type { QueryHandlers } from './query.ts'

/** A host that keeps page views. */
export const fakePageViews: Pick<QueryHandlers, 'tracksPageViews' | 'keepPageViews' | 'removePageViews'> = {
  tracksPageViews: async () => ({ enabled: true }),
  keepPageViews: async ({ views }) => ({ kept: views.length }),
  removePageViews: async () => ({ removed: 2 }),
}
