import cors from 'cors'
import type { Request, RequestHandler } from 'express'
import type { Environment } from '#shared/config/environment.ts'
import { read, type Setting } from '#shared/config/setting.ts'

const everyOrigin = '*'

const origins: Setting<readonly string[]> = {
  doc: 'Origins whose pages may call the API, by a key of their own and never by a cookie; * for all. Unset, only pages of this site may.',
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
/** Its clients may live in browsers, so it answers every preflight. */
const toolServerPath = '/api/mcp'
/** What is the same for everybody, and needed by pages of other sites before they know anything of this one. */
const publicDocuments = '/.well-known/'
/** How long a browser need not ask again whether it may ask. */
const maxAgeSeconds = 600

/** Tells browsers which pages of other sites may read what is answered; those of this site need no telling. */
export const crossOrigin = (env: Environment): RequestHandler => {
  const allowedNow = () => read(crossOriginSettings, env).SVC_CORS_ORIGINS
  const answer = cors<Request>(({ path }, decided) => {
    const allowed = allowedNow()
    const origin = path.startsWith(publicDocuments) || allowed.includes(everyOrigin) ? everyOrigin : [...allowed]
    decided(null, { origin, exposedHeaders, maxAge: maxAgeSeconds })
  })
  return (request, response, next) => {
    const { path, headers, method } = request
    const isOpen = path === toolServerPath || path.startsWith(publicDocuments)
    const isPreflight = method === 'OPTIONS' && path === toolServerPath
    if (isPreflight || (headers.origin !== undefined && (isOpen || allowedNow().length > 0)))
      answer(request, response, next)
    else next()
  }
}
