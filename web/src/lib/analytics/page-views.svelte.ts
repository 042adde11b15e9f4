import { page } from '$app/state'
import { call } from '#lib/api/call.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { readAnalyticsAccounts, hasAnalytics } from './accounts.ts'
import { consent } from './consent.ts'

const accounts = readAnalyticsAccounts(import.meta.env)

/** Whether analytics is enabled, which requires the consent of the user. */
export const needsConsent = hasAnalytics(accounts)

/** Reports page views: to the service if it records them, and to analytics if the user has consented. */
export const trackPageViews = (session: Session): void => {
  const isKept = $derived(session.offers?.pageViews === true)
  const isGranted = $derived(needsConsent && consent.current === 'granted')
  const pattern = $derived(page.route.id)
  const path = $derived(page.url.pathname)
  $effect(() => {
    void path
    if (pattern !== null && isKept) void call('POST /api/v1/page-views', { body: { page: pattern } }).catch(() => {})
  })
  $effect(() => {
    void path
    if (pattern !== null && isGranted)
      void import('./report-page-view.ts').then(({ reportPageView }) => reportPageView(accounts, pattern))
  })
}
