import type { Logger } from 'pino'
import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import { clientVariables } from '#proto/build-variables.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import { ingest } from '#proto/ingest.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { openCounters } from '#shared/store/counters.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openServiceDatabase } from '#shared/store/sql/service-database.ts'
import { warnOfPublicMcp } from './agent/callers.ts'
import { openChatRuns } from './agent/run-events.ts'
import { openConversationQueue } from './agent/read-agent-request.ts'
import { openAuditLog } from './audit/open-audit.ts'
import { openAuditStore } from './audit/store.ts'
import { openAuth } from './auth/auth.ts'
import { openDeniedUsers } from './auth/denied-users.ts'
import { openCodeStore, openDeviceLogin } from './auth/device/open-device-login.ts'
import { openApiKeys, warnOfWeakSecret } from './auth/keys/keys.ts'
import { createFetchJson } from './auth/fetch-json.ts'
import { settings } from './config.ts'
import { openSavedConnections, openUserConnections } from './connections/user-connections.ts'
import { openDashboards } from './dashboards/dashboards.ts'
import { openExposition } from './exposition/exposition.ts'
import { createPolicyReader, readFeatureFile } from './features/policy.ts'
import type { Gateway } from './gateway.ts'
import { openIncidentNotes } from './incidents/notes.ts'
import { openHostList, openHostStates } from './hosts/host-list.ts'
import {
  findIgnoredBillingSettings,
  findIgnoredEditionSettings,
  type IgnoredSetting,
  warnOfCloudModeMismatch,
} from './installation/edition.ts'
import { openUsageReport } from './installation/usage-report.ts'
import { rateLimitBindings } from './limits/config.ts'
import { openGuests, createRateLimits } from './limits/limits.ts'
import { createDocumentLoader } from './openapi/document.ts'
import { warnOfMissingPublicUrl } from './request/public-url.ts'
import type { WebBuild } from './web/web-build.ts'
import { openPageViewQueue } from './web/page-view-queue.ts'
import { createChatReplier } from './webhooks/chat-click.ts'
import { openReplayProtection } from './webhooks/signature.ts'

import packageFacts from '../../package.json' with { type: 'json' }

/** Opens the dependencies of the routes. Resources that must be released are added to `opening`. */
export const openGateway = async (
  { bus, clock, env, net, store, telemetry, readiness }: ServiceContext,
  { facts: build, docs }: WebBuild,
  opening: AsyncDisposableStack,
): Promise<Gateway> => {
  const { log } = telemetry
  const counters = opening.use(await openCounters(env, log))
  const codeStore = opening.use(await openCodeStore(env, store, log))
  const clients = createServiceClients(bus)
  const hosts = openHostList(clients.query, clock)
  warnOfSettings(env, build, log)
  opening.use(openUsageReport({ env, store, clock, log, hosts, send: net.trusted, version: packageFacts.version }))
  const denied = openDeniedUsers(env, store)
  const keys = openApiKeys({ env, store, clock, denied })
  warnOfPublicMcp({ env, build, keys }, log)
  const policy = createPolicyReader(env, build, readFeatureFile(env, log))
  const auth = openAuth({ env, build, keys, denied, clock, log, fetchJson: createFetchJson(net) })
  const database = await openServiceDatabase('gateway', { env, telemetry, readiness }, opening)
  const savedConnections = database && (await openSavedConnections(database))
  return {
    env,
    clock,
    telemetry,
    ...clients,
    chats: openChatRuns(store),
    conversationBodies: openConversationQueue(),
    hosts,
    hostStates: opening.use(openHostStates(clients.query, clock, telemetry)),
    exposition: openExposition({ ...clients, hosts, clock, log }),
    build,
    docs,
    version: packageFacts.version,
    requestTimeoutMs: parseSettings(settings, env).SVC_REQUEST_TIMEOUT_MS,
    document: createDocumentLoader(packageFacts.version),
    keys,
    auth,
    denied,
    deviceLogin: openDeviceLogin({ env, build, codeStore, counters, clock, keys }),
    identify: auth.identify,
    policy,
    connections: openUserConnections({ env, query: clients.query, policy, saved: savedConnections }),
    ...(await openUserDocuments(database, { env, clock })),
    audit: opening.use(await openAuditLog({ store: await openAuditStore(database), bus, clock, telemetry })),
    limits: createRateLimits(env, clock, counters),
    guests: openGuests(store),
    requireFirstTime: openReplayProtection(store),
    answerChat: createChatReplier(net.guarded('notification'), log),
    pageViews: opening.use(openPageViewQueue({ ...clients, hosts, clock, log })),
  }
}

/** Opens the documents that users write. */
const openUserDocuments = async (
  database: Database | undefined,
  deps: Pick<ServiceContext, 'env' | 'clock'>,
): Promise<Pick<Gateway, 'dashboards' | 'incidentNotes'>> => ({
  dashboards: await openDashboards(database, deps),
  incidentNotes: await openIncidentNotes(database),
})

const warnOfSettings = (
  env: ServiceContext['env'],
  build: WebBuild['facts'],
  log: ServiceContext['telemetry']['log'],
): void => {
  warnOfWeakSecret(env, log)
  warnOfMissingPublicUrl(env, log)
  warnOfCloudModeMismatch(build, env, log)
  warnOfIgnoredSettings(env, build, log)
}

/** Returns bus clients of the services that the routes call. */
const createServiceClients = (bus: ServiceContext['bus']) => ({
  query: bus.client(query),
  alerts: bus.client(alerts),
  report: bus.client(report),
  mcp: bus.client(mcp),
  ingest: bus.client(ingest),
  agent: bus.client(agent),
})

/** Logs each variable that is set and has no effect, so that operators do not rely on it. */
const warnOfIgnoredSettings = (env: Environment, build: BuildInfo | undefined, log: Logger): void => {
  for (const { name, reason } of findIgnoredSettings(env, build))
    log.warn({ variable: name, reason }, 'setting has no effect')
}

/** Returns every variable that is set and has no effect. */
export const findIgnoredSettings = (env: Environment, build: BuildInfo | undefined): IgnoredSetting[] => [
  ...findIgnoredBillingSettings(env, build),
  ...findIgnoredEditionSettings(env, build),
  ...findIgnoredBindings(env),
  ...(build ? findIgnoredClientVariables(env, build) : []),
]

const findIgnoredBindings = (env: Environment): IgnoredSetting[] =>
  Object.entries(parseSettings(rateLimitBindings, env))
    .filter(([, text]) => text !== undefined)
    .map(([name]) => ({
      name,
      reason:
        'only the edge platform provides this binding; set REDIS_URL or a state database to share rate limits between processes',
    }))

/** Returns the client variables that differ from the web build, which contains their values. */
const findIgnoredClientVariables = (env: Environment, { client }: BuildInfo): IgnoredSetting[] =>
  Object.keys(clientVariables)
    .filter((name) => env[name]?.trim() && env[name].trim() !== client[name])
    .map((name) => ({
      name,
      reason: 'the web UI was built with another value; rebuild the web UI to apply it',
    }))
