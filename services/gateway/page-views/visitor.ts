import type { IncomingHttpHeaders } from 'node:http'
import type { PageView } from '#proto/page-views.ts'

/** What the headers of a request tell of who opened a page, as charts count it. */
export const visitorOf = (headers: IncomingHttpHeaders): Pick<PageView, 'device' | 'bot' | 'country'> => {
  const { 'user-agent': agent = '', 'cf-ipcountry': country } = headers
  return {
    device: deviceOf(agent),
    bot: agent === '' || bots.test(agent),
    country: typeof country === 'string' && /^[A-Z]{2}$/.test(country) ? country : null,
  }
}

/** Programs that say what they are. */
const bots = /bot|crawl|spider|slurp|headless|lighthouse|curl|wget|python|java\/|go-http|axios|node/i

const deviceOf = (agent: string): PageView['device'] => {
  if (/ipad|tablet|android(?!.*mobile)/i.test(agent)) return 'tablet'
  return /mobi|iphone|android/i.test(agent) ? 'mobile' : 'desktop'
}
