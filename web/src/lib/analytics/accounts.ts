import type { ClientVariable } from '#proto/build-variables.ts'
import { builtFlag } from '#lib/state/built.ts'

type Built = Readonly<Partial<Record<ClientVariable, string | null>>>

/** Where the use of the pages is measured, as the build says; a field is null where that is not. */
export interface Accounts {
  /** Of Google Analytics. */
  measurementId: string | null
  /** Of product analytics: whose project, and the origin that takes its events. */
  product: { key: string; host: string } | null
}

/** Off unless both the switch and the account are there. */
export const accountsOf = (built: Built): Accounts => {
  const { CLIENT_MEASUREMENT_ID: id, CLIENT_PRODUCT_ANALYTICS_KEY: key, CLIENT_PRODUCT_ANALYTICS_HOST: url } = built
  const host = url && URL.canParse(url) ? new URL(url).origin : null
  return {
    measurementId: builtFlag(built.CLIENT_ANALYTICS_A_ENABLED) && id ? id : null,
    product: builtFlag(built.CLIENT_ANALYTICS_B_ENABLED) && key && host ? { key, host } : null,
  }
}

/** Whether anybody is to be asked at all. */
export const isMeasured = ({ measurementId, product }: Accounts): boolean => measurementId !== null || product !== null
