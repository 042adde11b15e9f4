import { type CallContext, mayUseFeature } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { BillingResponse } from '#proto/http/billing.ts'
import { ConfigResponse, type HostSummary, type InstallationCapabilities } from '#proto/http/config.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { VersionResponse } from '#proto/http/status.ts'
import type { Host, HostState } from '#proto/query.ts'
import { readDisplayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { canSubscribeWebhooks } from '../alert-config/subscriber.ts'
import { settings } from '../config.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { resolveBilling, resolveCloudMode, resolveEdition } from '../installation/edition.ts'
import { rateLimitSettings } from '../limits/config.ts'
import { isEdgeRuntime } from '../request/client-address.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { webhookSettings } from '../webhooks/signature.ts'
import { describeCaller } from './auth-session.ts'
import { filterCatalogue } from './hosts.ts'

export const configRoute = defineGetRoute({
  path: '/api/v1/config',
  doc: 'Returns the configuration of the web UI: features, provider and capabilities, without secrets',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: ConfigResponse,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const { provider, may, signIn } = describeCaller(call.identity, gateway)
    const { permissions } = gateway.policy()
    const fleet = may.read ? await visibleFleetOf(call, gateway) : emptyFleet
    return createSuccessBody(
      {
        provider,
        capabilities: may,
        signIn,
        features: permissions,
        limits: limitsOf(gateway),
        displayZone: readDisplayZone(gateway.env),
        ...fleet,
      },
      {},
    )
  },
})

interface VisibleFleet {
  offers: InstallationCapabilities
  hosts: HostSummary[]
  catalogue: Catalogue
}

/** The fleet as shown to callers without read access, who must sign in first. */
const emptyFleet: VisibleFleet = {
  offers: {
    managedHosts: false,
    storedConnections: false,
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

const visibleFleetOf = async (call: CallContext, gateway: Gateway): Promise<VisibleFleet> => {
  const [known, states, definitions, offers] = await Promise.all([
    gateway.hosts.all(),
    gateway.query.hostStates({}, call),
    gateway.query.catalogue({}, call),
    resolveCapabilities(call, gateway),
  ])
  const byKey = new Map(states.map((state) => [state.key, state]))
  const hosts = known.map((host) => summary(host, byKey.get(host.key)))
  return { offers, hosts, catalogue: filterCatalogue(call.identity, definitions) }
}

const resolveCapabilities = async (call: CallContext, gateway: Gateway): Promise<InstallationCapabilities> => {
  const deployments = parseSettings(webhookSettings, gateway.env).REPO_HOST_WEBHOOK_SECRET !== undefined
  const [managedHosts, storedConnections, management, postgres, replicationService, pageViews, subscriptions] =
    await Promise.all([
      canAddHosts(call, gateway),
      gateway.connections.canSave(call),
      canManage(call, gateway),
      gateway.query.postgresOffered({}, call),
      hasReplicationService(call, gateway),
      tracksPageViews(call, gateway),
      canSubscribeWebhooks(call, gateway),
    ])
  const own = { managedHosts, storedConnections, management, deployments, subscriptions }
  return { ...own, postgresSource: postgres.isOffered, replicationService, pageViews }
}

/** Returns whether hosts can be added; false if an older release of `query` lacks the method. */
const canAddHosts = (call: CallContext, { query }: Gateway): Promise<boolean> =>
  query.managedHostSetup({}, call).then(
    ({ problem }) => problem === null && mayUseFeature(call.identity, 'SETTINGS'),
    () => false,
  )

/** Returns whether page views are stored; false if an older release of `query` lacks the method. */
const tracksPageViews = (call: CallContext, { query }: Gateway): Promise<boolean> =>
  query.tracksPageViews({}, call).then(
    ({ enabled }) => enabled,
    () => false,
  )

const canManage = async (call: CallContext, { query }: Gateway): Promise<boolean> =>
  mayUseFeature(call.identity, 'SECURITY') && (await query.management({}, call)).enabled

const hasReplicationService = async (call: CallContext, { query }: Gateway): Promise<boolean> =>
  mayUseFeature(call.identity, 'REPLDB') && (await query.repldbOffer({}, call)).isConfigured

const summary = ({ key: _key, ...host }: Host, state: HostState | undefined): HostSummary => ({
  ...host,
  status: state?.status ?? 'unknown',
  reason: state?.reason ?? null,
  failure: state?.failure ?? null,
  version: state?.version ?? null,
  missingGrants: state?.missingGrants ?? [],
  clockSkewMs: Math.round((state?.clockSkewMs ?? 0) / skewStepMs) * skewStepMs,
})

/** Clock skew is rounded to this step, so that the response and its ETag do not change with every probe. */
const skewStepMs = 10_000

const limitsOf = ({ build, env }: Gateway) => {
  const limits = parseSettings(rateLimitSettings, env)
  return {
    requestsPerMinute: limits.RATE_LIMIT_API_PER_MIN,
    questionsPerMinute: limits.RATE_LIMIT_AGENT_PER_MIN,
    guestQuestionsPerDay: resolveCloudMode(build, env).runtime ? limits.SVC_GUEST_AI_REQUESTS_PER_DAY : null,
  }
}

const { APP_VERSION } = settings
/** Version of the web UI when it is not built. */
const unbuiltVersion = '0.0.0-unbuilt'

const version = defineGetRoute({
  path: '/api/version',
  doc: 'Returns the versions of the service and the web UI',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: VersionResponse,
  handle: async (_request, { build, env, version }) => ({
    ui: edgeVersion(env) ?? build?.version ?? unbuiltVersion,
    version,
    gitSha: build?.gitSha ?? null,
    gitRef: build?.gitRef ?? null,
    builtAt: build?.builtAt ?? null,
    edition: resolveEdition(env, build),
  }),
})

/** Returns the configured version on edge platforms, which deploy the web UI separately; undefined elsewhere. */
const edgeVersion = (env: Environment): string | undefined =>
  isEdgeRuntime(env) ? parseSettings({ APP_VERSION }, env).APP_VERSION : undefined

const billing = defineGetRoute({
  path: '/api/v1/billing',
  doc: 'Returns whether billing is active and its URL; it is inactive outside the cloud edition',
  feature: 'BILLING',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: BillingResponse,
  handle: async (_request, { env, build }) => createSuccessBody(resolveBilling(env, build), {}),
})

export const installationRoutes: readonly Route[] = [version, billing]
