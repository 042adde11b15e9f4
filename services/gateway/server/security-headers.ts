import { hash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet, { type HelmetOptions } from 'helmet'
import type { BuildFacts } from '#proto/http/build.ts'
import { parseFlag } from '#shared/config/setting.ts'

/** Names and values of headers that are the same for every answer of their kind. */
export type HeaderLines = readonly (readonly [string, string])[]

export interface SecurityHeaders {
  api: HeaderLines
  page: HeaderLines
}

/** The headers of helmet, computed once: they do not depend on the request, and most of a request's middleware cost was theirs. */
export const securityHeaders = (indexHtml: string | undefined, build: BuildFacts | undefined): SecurityHeaders => ({
  api: [...linesOf(apiOptions), ['Cache-Control', 'no-store']],
  page: linesOf(pageOptions(indexHtml ?? '', build)),
})

/** TLS ends before this process, and whoever ends it decides about HSTS and upgrades; a plain-http installation must work. */
const decidedInFront = { strictTransportSecurity: false } as const

/** An answer of the API is data: nothing in it may run, load or be framed. */
const apiOptions: HelmetOptions = {
  ...decidedInFront,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
}

const pageOptions = (indexHtml: string, build: BuildFacts | undefined): HelmetOptions => ({
  ...decidedInFront,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'", ...inlineScriptHashes(indexHtml), ...analyticsOrigins(build, 'load')],
      // Charts and virtual rows place their marks by style attributes.
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', ...originOf(build?.client.CLIENT_LOGO), ...analyticsOrigins(build, 'load')],
      connectSrc: ["'self'", ...analyticsOrigins(build, 'report')],
      objectSrc: ["'none'"],
      baseUri: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'same-origin' },
  xFrameOptions: { action: 'deny' },
})

/** Sources that allow exactly the inline scripts of a page. */
export const inlineScriptHashes = (html: string): string[] =>
  [...html.matchAll(/<script(?![^>]*\ssrc\s*=)[^>]*>(?<code>[\s\S]*?)<\/script>/gi)].map(
    ({ groups }) => `'sha256-${hash('sha256', groups?.code ?? '', 'base64')}'`,
  )

const linesOf = (options: HelmetOptions): HeaderLines => {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  helmet(options)(request, response, (error) => {
    if (error) throw new Error('the security headers cannot be computed', { cause: error })
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
}

type Built = BuildFacts['client']

/** Somebody whose script may measure the use of the pages, once the build names an account there. */
interface Analytics {
  account: string
  /** Without it nothing is measured, whatever account there is. */
  switch: string
  /** Whether a script of its own is loaded; else the web reports by itself. */
  hasScript: boolean
  /** Where that script comes from, and where is reported to. */
  origins(built: Built): readonly string[]
}

/** Who may be let in, and by which variables of the build. */
const analytics: readonly Analytics[] = [
  {
    account: 'CLIENT_MEASUREMENT_ID',
    switch: 'CLIENT_ANALYTICS_A_ENABLED',
    hasScript: true,
    // https://developers.google.com/tag-platform/security/guides/csp#google_analytics_4_google_analytics
    origins: () => [
      'https://*.googletagmanager.com',
      'https://*.google-analytics.com',
      'https://*.analytics.google.com',
    ],
  },
  {
    account: 'CLIENT_PRODUCT_ANALYTICS_KEY',
    switch: 'CLIENT_ANALYTICS_B_ENABLED',
    hasScript: false,
    origins: ({ CLIENT_PRODUCT_ANALYTICS_HOST: host }) => originOf(host),
  },
]

/** Origins that the analytics of a build report to, or load what they need from; none when it was built without. */
const analyticsOrigins = (build: BuildFacts | undefined, reason: 'report' | 'load'): string[] => {
  const client = build?.client ?? {}
  const on = analytics.filter((each) => client[each.account] && parseFlag(client[each.switch] ?? undefined))
  return on.flatMap(({ hasScript, origins }) => (hasScript || reason === 'report' ? origins(client) : []))
}

/** The origin of a web address as a content security policy may name it; empty for anything else. */
const originOf = (url: string | null | undefined): string[] => {
  const origin = url && URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
