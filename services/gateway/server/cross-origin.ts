import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings, type Setting } from '#shared/config/setting.ts'
import { getRequestPath } from './receive.ts'

const everyOrigin = '*'

const origins: Setting<readonly string[]> = {
  doc: 'Allowed CORS origins of the API; * allows all. Such pages authenticate with an API key, never with a cookie. Unset: same origin only. /api/mcp allows all origins.',
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

/** Settings of cross-origin requests. */
export const crossOriginSettings = { SVC_CORS_ORIGINS: origins } as const

/** Response headers that pages of other sites may read in addition to the default ones. */
const exposedHeaders = [
  'ETag',
  'Mcp-Session-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
]
/** Path of the MCP server, open to pages of every site. It accepts no cookies, so each page needs its own key. */
const mcpPath = '/api/mcp'
/** Path of documents that pages of every site may read. They are public, and clients need them to authenticate. */
const publicDocuments = '/.well-known/'
/** How long browsers cache a preflight response. */
const maxAgeSeconds = 600

/** Middleware that can run in front of the Express application as well as inside it. */
export type CorsMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Returns middleware that adds the CORS headers and responds to preflight requests. */
export const createCorsMiddleware = (env: Environment): CorsMiddleware => {
  const allowedNow = () => parseSettings(crossOriginSettings, env).SVC_CORS_ORIGINS
  const answer = cors<IncomingMessage>(({ url }, decided) => {
    const path = getRequestPath(url ?? '')
    const allowed = allowedNow()
    const origin = isOpenToAllOrigins(path) || allowed.includes(everyOrigin) ? everyOrigin : [...allowed]
    decided(null, { origin, exposedHeaders, maxAge: maxAgeSeconds })
  })
  return (request, response, next) => {
    const { url, headers, method } = request
    const path = getRequestPath(url ?? '')
    const isPreflight = method === 'OPTIONS' && path === mcpPath
    const needsAnswer =
      isPreflight || (headers.origin !== undefined && (isOpenToAllOrigins(path) || allowedNow().length > 0))
    if (needsAnswer) answer(request, response, next)
    else next()
  }
}

/** Returns whether the operator allows pages of this origin to use the API. */
export const isAllowedOrigin = (origin: string | undefined, env: Environment): boolean => {
  const allowed = parseSettings(crossOriginSettings, env).SVC_CORS_ORIGINS
  return origin !== undefined && (allowed.includes(everyOrigin) || allowed.includes(origin))
}

const isOpenToAllOrigins = (path: string): boolean => path === mcpPath || path.startsWith(publicDocuments)
