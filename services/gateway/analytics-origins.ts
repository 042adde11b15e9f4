import type { BuildFacts } from '#proto/http/build.ts'
import { parseFlag } from '#shared/config/setting.ts'

type Built = BuildFacts['client']

/** Somebody whose script may measure the use of the pages, once the build names an account there. */
interface Analytics {
  account: string
  /** Without it nothing is measured, whatever account there is. */
  switch: string
  /** Where its script comes from and reports to. */
  origins(built: Built): readonly string[]
}

/** Who may be let in, and by which variables of the build. */
const analytics: readonly Analytics[] = [
  {
    account: 'CLIENT_MEASUREMENT_ID',
    switch: 'CLIENT_ANALYTICS_A_ENABLED',
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
    origins: ({ CLIENT_PRODUCT_ANALYTICS_HOST: host }) => originOf(host),
  },
]

/** Origins that the analytics of a build need; none when it was built without. */
export const analyticsOrigins = (build: BuildFacts | undefined): string[] => {
  const client = build?.client ?? {}
  const on = analytics.filter((each) => client[each.account] && parseFlag(client[each.switch] ?? undefined))
  return on.flatMap(({ origins }) => origins(client))
}

/** The origin of a web address as a content security policy may name it; empty for anything else. */
export const originOf = (url: string | null | undefined): string[] => {
  const origin = url && URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
