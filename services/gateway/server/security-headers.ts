import { hash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet, { type HelmetOptions } from 'helmet'
import type { BuildInfo } from '#proto/http/build.ts'
import { parseFlag } from '#shared/config/setting.ts'

/** Names and values of fixed headers. */
export type HeaderLines = readonly (readonly [string, string])[]

export interface SecurityHeaders {
  api: HeaderLines
  page: HeaderLines
}

/**
 * Computes the headers of Helmet once. They do not depend on the request, and computing them for each request would
 * cost more than all other middleware.
 */
export const createSecurityHeaders = (
  indexHtml: string | undefined,
  build: BuildInfo | undefined,
): SecurityHeaders => ({
  api: [...linesOf(apiOptions), ['Cache-Control', 'no-store']],
  page: linesOf(pageOptions(indexHtml ?? '', build)),
})

/** HSTS is left to the TLS proxy, because installations with plain HTTP must work. */
const leftToProxy = { strictTransportSecurity: false } as const

/** API responses are data: they may not run scripts, load anything or be framed. */
const apiOptions: HelmetOptions = {
  ...leftToProxy,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
}

const pageOptions = (indexHtml: string, build: BuildInfo | undefined): HelmetOptions => ({
  ...leftToProxy,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'", ...computeInlineScriptHashes(indexHtml), ...analyticsOrigins(build, 'load')],
      // Charts and virtual rows are positioned by style attributes.
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

/** Returns the hash sources of the inline scripts of a page. */
export const computeInlineScriptHashes = (html: string): string[] =>
  [...html.matchAll(/<script(?![^>]*\ssrc\s*=)[^>]*>(?<code>[\s\S]*?)<\/script>/gi)].map(
    ({ groups }) => `'sha256-${hash('sha256', groups?.code ?? '', 'base64')}'`,
  )

const linesOf = (options: HelmetOptions): HeaderLines => {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  helmet(options)(request, response, (error) => {
    if (error) throw new Error('computing the security headers failed', { cause: error })
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
}

type ClientVariables = BuildInfo['client']

/** An analytics provider, which is used if the build sets its account and its switch. */
interface AnalyticsProvider {
  account: string
  /** Name of the build variable that must be true in addition to `account`. */
  switch: string
  /** Whether the web UI loads a script of the provider; otherwise, the web UI sends the events itself. */
  hasScript: boolean
  /** Origins of the script and of the endpoint for events. */
  origins(client: ClientVariables): readonly string[]
}

/** All providers, with the build variables that enable them. */
const analytics: readonly AnalyticsProvider[] = [
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

/** Returns the origins that analytics send events to (`report`) or load scripts from (`load`). */
const analyticsOrigins = (build: BuildInfo | undefined, reason: 'report' | 'load'): string[] => {
  const client = build?.client ?? {}
  const on = analytics.filter((each) => client[each.account] && parseFlag(client[each.switch] ?? undefined))
  return on.flatMap(({ hasScript, origins }) => (hasScript || reason === 'report' ? origins(client) : []))
}

/** Returns the origin of a URL for a content security policy; empty for other texts. */
const originOf = (url: string | null | undefined): string[] => {
  const origin = url && URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
