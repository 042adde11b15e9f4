import { randomId } from '#lib/ui/random-id.ts'
import type { Accounts } from './accounts.ts'

/** What is told of a page: the pattern of its path, such as `/tables/[name]`, and nothing that stands in its address. */
interface Opened {
  pattern: string
  origin: string
  /** Of this visit alone; forgotten with the tab. */
  visitor: string
}

/** An event as product analytics (PostHog) take it. */
export const productEvent = (key: string, { pattern, origin, visitor }: Opened) => ({
  api_key: key,
  event: '$pageview',
  distinct_id: visitor,
  properties: { $current_url: `${origin}${pattern}`, $process_person_profile: false, $geoip_disable: true },
})

const visitor = randomId()

/** Tells whoever the build names that a page was opened. Nobody waits for it, and nobody minds when it does not arrive. */
export const measure = ({ measurementId, product }: Accounts, pattern: string): void => {
  const opened = { pattern, origin: location.origin, visitor }
  if (measurementId !== null) tellGoogle(measurementId, opened)
  if (product === null) return
  void fetch(`${product.host}/i/v0/e/`, {
    method: 'POST',
    // Without a header of ours it is a request that needs no permission first.
    body: JSON.stringify(productEvent(product.key, opened)),
    credentials: 'omit',
    keepalive: true,
    referrerPolicy: 'no-referrer',
  }).catch(() => {})
}

/** The queue that the script of Google Analytics reads: it wants the `arguments` of calls, not lists. */
const queue: unknown[] = []
function gtag(..._call: unknown[]): void {
  // oxlint-disable-next-line prefer-rest-params
  queue.push(arguments)
}

const tellGoogle = (id: string, { pattern, origin }: Opened): void => {
  if (!document.getElementById('web-analytics')) {
    Object.assign(window, { dataLayer: queue })
    gtag('js', new Date())
    gtag('config', id, { send_page_view: false, allow_google_signals: false, client_storage: 'none' })
    const src = `https://www.googletagmanager.com/gtag/js?id=${encodeURIComponent(id)}`
    document.head.append(Object.assign(document.createElement('script'), { id: 'web-analytics', async: true, src }))
  }
  gtag('event', 'page_view', { page_location: `${origin}${pattern}`, page_title: pattern, page_referrer: '' })
}
