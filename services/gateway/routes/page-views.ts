import type { IncomingHttpHeaders } from 'node:http'
import { PageViewResponse, PageViewRequest } from '#proto/http/page-views.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { PageView } from '#proto/page-views.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { definePostRoute } from '../http-route.ts'

export const pageViewRoute = definePostRoute({
  path: '/api/v1/page-views',
  doc: 'Records a page view, if the operator enabled page views',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  body: PageViewRequest,
  answer: PageViewResponse,
  handle: async ({ body: { page }, headers, call }, { query, pageViews, clock }) => {
    const { enabled } = await query.tracksPageViews({}, call)
    const { kind, subject } = call.identity
    const actor = kind === 'user' || kind === 'key' ? subject : 'anonymous'
    if (enabled) pageViews.add({ page, actor, ...visitorOf(headers), atMs: clock.now() })
    return createSuccessBody({ kept: enabled }, {})
  },
})

/** Returns device, bot flag and country from the request headers. */
const visitorOf = (headers: IncomingHttpHeaders): Pick<PageView, 'device' | 'bot' | 'country'> => {
  const { 'user-agent': agent = '', 'cf-ipcountry': country } = headers
  return {
    device: deviceOf(agent),
    bot: agent === '' || bots.test(agent),
    country: typeof country === 'string' && /^[A-Z]{2}$/.test(country) ? country : null,
  }
}

/** Matches user agents of bots and other programs. */
const bots = /bot|crawl|spider|slurp|headless|lighthouse|curl|wget|python|java\/|go-http|axios|node/i

const deviceOf = (agent: string): PageView['device'] => {
  if (/ipad|tablet|android(?!.*mobile)/i.test(agent)) return 'tablet'
  return /mobi|iphone|android/i.test(agent) ? 'mobile' : 'desktop'
}
