import type { ClientVariable } from '#proto/build-variables.ts'
import { parseBuildFlag } from '#lib/state/build-flags.ts'

type Built = Readonly<Partial<Record<ClientVariable, string | null>>>

/** The analytics accounts of this build; a field is null if its provider is disabled or not configured. */
export interface AnalyticsAccounts {
  /** The measurement id of Google Analytics. */
  measurementId: string | null
  /** The project key of product analytics, and the origin that receives its events. */
  product: { key: string; host: string } | null
}

/**
 * Returns the configured accounts. Each requires its `CLIENT_ANALYTICS_…_ENABLED` flag and its id or key. Product
 * analytics also require a valid URL.
 */
export const readAnalyticsAccounts = (built: Built): AnalyticsAccounts => {
  const { CLIENT_MEASUREMENT_ID: id, CLIENT_PRODUCT_ANALYTICS_KEY: key, CLIENT_PRODUCT_ANALYTICS_HOST: url } = built
  const host = url && URL.canParse(url) ? new URL(url).origin : null
  return {
    measurementId: parseBuildFlag(built.CLIENT_ANALYTICS_A_ENABLED) && id ? id : null,
    product: parseBuildFlag(built.CLIENT_ANALYTICS_B_ENABLED) && key && host ? { key, host } : null,
  }
}

/** Returns whether an analytics service is configured. If so, the page requires the consent of the user. */
export const hasAnalytics = ({ measurementId, product }: AnalyticsAccounts): boolean =>
  measurementId !== null || product !== null
