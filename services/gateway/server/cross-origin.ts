import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Setting } from '#shared/config/setting.ts'
import { pathOf } from './receive.ts'

const everyOrigin = '*'

const origins: Setting<readonly string[]> = {
  doc: 'Origins whose pages may call the API, by a key of their own and never by a cookie; * for all. Unset, only pages of this site may. /api/mcp is open to pages of every origin.',
  audience: 'server',
  fallback: 'none',
  allowed: 'comma-separated origins such as https://tools.example.com, or *',
  parse: (given) => {
    const named = (given ?? '').split(',').map((origin) => origin.trim())
    const wanted = named.filter((origin) => origin !== '')
    for (const origin of wanted) {
      const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes(everyOrigin)
      if (origin !== everyOrigin && !isOrigin)
        throw new Error('must be origins such as https://tools.example.com, or *')
    }
    return wanted
  },
}

/** Which pages of other sites may call. */
export const crossOriginSettings = { SVC_CORS_ORIGINS: origins } as const

/** Header fields of our answers that a page of another site may read besides the usual ones. */
const exposedHeaders = [
  'ETag',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
]
/** Its clients also run in browsers, on pages of any site. It accepts no cookie, so such a page has no rights but those of its own key. */
const toolServerPath = '/api/mcp'
/** The same for every caller, and needed by pages of other sites before they know anything about this one. */
const publicDocuments = '/.well-known/'
/** How long a browser need not ask again whether it may ask. */
const maxAgeSeconds = 600

/** Takes a request as it came, before or in the application. */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Adds the headers by which browsers let pages of other sites send requests and read the answers. */
export const crossOrigin = (env: Environment): CrossOrigin => {
  const allowedNow = () => read(crossOriginSettings, env).SVC_CORS_ORIGINS
  const answer = cors<IncomingMessage>(({ url }, decided) => {
    const path = pathOf(url ?? '')
    const allowed = allowedNow()
    const origin = isOpen(path) || allowed.includes(everyOrigin) ? everyOrigin : [...allowed]
    decided(null, { origin, exposedHeaders, maxAge: maxAgeSeconds })
  })
  return (request, response, next) => {
    const { url, headers, method } = request
    const path = pathOf(url ?? '')
    const isPreflight = method === 'OPTIONS' && path === toolServerPath
    const needsAnswer = isPreflight || (headers.origin !== undefined && (isOpen(path) || allowedNow().length > 0))
    if (needsAnswer) answer(request, response, next)
    else next()
  }
}

const isOpen = (path: string): boolean => path === toolServerPath || path.startsWith(publicDocuments)
