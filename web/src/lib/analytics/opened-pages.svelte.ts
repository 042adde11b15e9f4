import { page } from '$app/state'
import { call } from '#lib/api/call.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { accountsOf, isMeasured } from './accounts.ts'
import { consent } from './consent.ts'

const accounts = accountsOf(import.meta.env)

/** Whether anybody is to be asked whether they may be measured. */
export const asksConsent = isMeasured(accounts)

/** Counts each page once that is opened: here where the operator keeps page views, elsewhere where the reader consents. */
export const countOpenedPages = (session: Session): void => {
  const isKept = $derived(session.offers?.pageViews === true)
  const isGiven = $derived(asksConsent && consent.current === 'given')
  const pattern = $derived(page.route.id)
  const path = $derived(page.url.pathname)
  $effect(() => {
    void path
    if (pattern !== null && isKept) void call('POST /api/v1/page-views', { body: { page: pattern } }).catch(() => {})
  })
  $effect(() => {
    void path
    if (pattern !== null && isGiven) void import('./measure.ts').then(({ measure }) => measure(accounts, pattern))
  })
}
