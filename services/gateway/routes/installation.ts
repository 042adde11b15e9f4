import { BillingAnswer } from '#proto/http/billing.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { Version } from '#proto/http/status.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import { billingOf } from '../installation/billing.ts'
import { editionOf } from '../installation/edition.ts'
import { isOnEdge } from '../request/client-address.ts'
import { success } from '../response/envelope.ts'
import { getRoute, type Route } from '../http-route.ts'

const { APP_VERSION } = settings
/** What the web's version is called while there is no web. */
const unbuilt = '0.0.0-unbuilt'

const version = getRoute({
  path: '/api/version',
  doc: 'Versions of the service and its web',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: Version,
  handle: async (_asked, { build, env, version }) => ({
    ui: edgeVersion(env) ?? build?.version ?? unbuilt,
    version,
    gitSha: build?.gitSha ?? null,
    gitRef: build?.gitRef ?? null,
    builtAt: build?.builtAt ?? null,
    edition: editionOf(env, build),
  }),
})

/** Edge platforms deploy the web apart from its build, so there the operator's word counts. */
const edgeVersion = (env: Environment): string | undefined =>
  isOnEdge(env) ? read({ APP_VERSION }, env).APP_VERSION : undefined

const billing = getRoute({
  path: '/api/v1/billing',
  doc: 'Whether people are billed, and where they see what they pay; outside the cloud edition nobody is',
  feature: 'BILLING',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: BillingAnswer,
  handle: async (_asked, { env, build }) => success(billingOf(env, build), {}),
})

export const installationRoutes: readonly Route[] = [version, billing]
