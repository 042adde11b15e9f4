import { type Call, mayUse } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { BillingAnswer } from '#proto/http/billing.ts'
import { ConfigAnswer, type HostSummary, type Offers } from '#proto/http/config.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { Version } from '#proto/http/status.ts'
import type { Host, HostState } from '#proto/query.ts'
import { displayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { mayBeSubscribed } from '../alert-config/subscriber.ts'
import { settings } from '../config.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, type Route } from '../http-route.ts'
import { cloudMode } from '../installation/cloud-mode.ts'
import { billingOf, editionOf } from '../installation/edition.ts'
import { limitSettings } from '../limits/config.ts'
import { isOnEdge } from '../request/client-address.ts'
import { success } from '../response/envelope.ts'
import { webhookSettings } from '../webhooks/config.ts'
import { meOf } from './auth-session.ts'
import { visibleTo } from './hosts.ts'

export const config = getRoute({
  path: '/api/v1/config',
  doc: 'What the web needs to know: features, provider, capabilities; no secret',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: ConfigAnswer,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const { provider, may, signIn } = meOf(call.identity, gateway)
    const { permissions } = gateway.policy()
    const watched = may.read ? await whatIsWatched(call, gateway) : nothing
    return success(
      {
        provider,
        capabilities: may,
        signIn,
        features: permissions,
        limits: limitsOf(gateway),
        displayZone: displayZone(gateway.env),
        ...watched,
      },
      {},
    )
  },
})

interface Watched {
  offers: Offers
  hosts: HostSummary[]
  catalogue: Catalogue
}

/** What strangers see where they may not read: they must first sign in, and learn here how. */
const nothing: Watched = {
  offers: {
    keptConnections: false,
    management: false,
    deployments: false,
    pageViews: false,
    postgresSource: false,
    replicationService: false,
    subscriptions: false,
  },
  hosts: [],
  catalogue: { topics: [], charts: [], tables: [] },
}

const whatIsWatched = async (call: Call, gateway: Gateway): Promise<Watched> => {
  const [known, states, definitions, offers] = await Promise.all([
    gateway.hosts.all(),
    gateway.query.hostStates({}, call),
    gateway.query.catalogue({}, call),
    offersOf(call, gateway),
  ])
  const byKey = new Map(states.map((state) => [state.key, state]))
  const hosts = known.map((host) => summary(host, byKey.get(host.key)))
  return { offers, hosts, catalogue: visibleTo(call.identity, definitions) }
}

const offersOf = async (call: Call, gateway: Gateway): Promise<Offers> => {
  const [keptConnections, management, { isOffered: postgresSource }, replicationService, pageViews, subscriptions] =
    await Promise.all([
      gateway.connections.areKept(call),
      isManaged(call, gateway),
      gateway.query.postgresOffered({}, call),
      hasReplicationService(call, gateway),
      tracksPageViews(call, gateway),
      mayBeSubscribed(call, gateway),
    ])
  const deployments = read(webhookSettings, gateway.env).REPO_HOST_WEBHOOK_SECRET !== undefined
  return { keptConnections, management, deployments, postgresSource, replicationService, pageViews, subscriptions }
}

/** A release of `query` before this one does not know of it, and then keeps none. */
const tracksPageViews = (call: Call, { query }: Gateway): Promise<boolean> =>
  query.tracksPageViews({}, call).then(
    ({ enabled }) => enabled,
    () => false,
  )

const isManaged = async (call: Call, { query }: Gateway): Promise<boolean> =>
  mayUse(call.identity, 'SECURITY') && (await query.management({}, call)).enabled

const hasReplicationService = async (call: Call, { query }: Gateway): Promise<boolean> =>
  mayUse(call.identity, 'REPLDB') && (await query.repldbOffer({}, call)).isConfigured

const summary = ({ key: _key, ...host }: Host, state: HostState | undefined): HostSummary => ({
  ...host,
  status: state?.status ?? 'unknown',
  reason: state?.reason ?? null,
  failure: state?.failure ?? null,
  version: state?.version ?? null,
  clockSkewMs: Math.round((state?.clockSkewMs ?? 0) / skewStepMs) * skewStepMs,
})

/** No finer, so that the answer stays the same from one probe to the next. */
const skewStepMs = 10_000

const limitsOf = ({ build, env }: Gateway) => {
  const limits = read(limitSettings, env)
  return {
    requestsPerMinute: limits.RATE_LIMIT_API_PER_MIN,
    questionsPerMinute: limits.RATE_LIMIT_AGENT_PER_MIN,
    guestQuestionsPerDay: cloudMode(build, env).runtime ? limits.SVC_GUEST_AI_REQUESTS_PER_DAY : null,
  }
}

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
