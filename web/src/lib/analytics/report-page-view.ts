import { createRandomId } from '#lib/ui/random-id.ts'
import type { AnalyticsAccounts } from './accounts.ts'

/** A page view: the path pattern, such as `/tables/[name]`, without any values of the URL. */
interface PageView {
  pattern: string
  origin: string
  /** A random id of this visit; it is discarded with the tab. */
  visitor: string
}

/** Returns a page view event in the format of PostHog. */
export const createPageViewEvent = (key: string, { pattern, origin, visitor }: PageView) => ({
  api_key: key,
  event: '$pageview',
  distinct_id: visitor,
  properties: { $current_url: `${origin}${pattern}`, $process_person_profile: false, $geoip_disable: true },
})

const visitor = createRandomId()

/** Reports a page view to the configured analytics. Failures are ignored. */
export const reportPageView = ({ measurementId, product }: AnalyticsAccounts, pattern: string): void => {
  const pageView = { pattern, origin: location.origin, visitor }
  if (measurementId !== null) sendToGoogle(measurementId, pageView)
  if (product === null) return
  void fetch(`${product.host}/i/v0/e/`, {
    method: 'POST',
    // Without custom headers the browser sends no preflight request.
    body: JSON.stringify(createPageViewEvent(product.key, pageView)),
    credentials: 'omit',
    keepalive: true,
    referrerPolicy: 'no-referrer',
  }).catch(() => {})
}

/** The queue that the Google Analytics script reads. It requires `arguments` objects, not arrays. */
const queue: unknown[] = []
function gtag(..._call: unknown[]): void {
  // oxlint-disable-next-line prefer-rest-params
  queue.push(arguments)
}

const sendToGoogle = (id: string, { pattern, origin }: PageView): void => {
  if (!document.getElementById('web-analytics')) {
    Object.assign(window, { dataLayer: queue })
    gtag('js', new Date())
    gtag('config', id, { send_page_view: false, allow_google_signals: false, client_storage: 'none' })
    const src = `https://www.googletagmanager.com/gtag/js?id=${encodeURIComponent(id)}`
    document.head.append(Object.assign(document.createElement('script'), { id: 'web-analytics', async: true, src }))
  }
  gtag('event', 'page_view', { page_location: `${origin}${pattern}`, page_title: pattern, page_referrer: '' })
}
