import type { BuildFacts } from '#proto/http/build.ts'
import { parseFlag } from '#shared/config/setting.ts'

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
export const analyticsOrigins = (build: BuildFacts | undefined, reason: 'report' | 'load'): string[] => {
  const client = build?.client ?? {}
  const on = analytics.filter((each) => client[each.account] && parseFlag(client[each.switch] ?? undefined))
  return on.flatMap(({ hasScript, origins }) => (hasScript || reason === 'report' ? origins(client) : []))
}

/** The origin of a web address as a content security policy may name it; empty for anything else. */
export const originOf = (url: string | null | undefined): string[] => {
  const origin = url && URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
