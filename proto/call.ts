import { z } from 'zod'
import { ServiceError } from './errors.ts'
import type { SealedConnection } from './sealed-connection.ts'

/** All services. The name is used for folders, pods, subjects, metrics and log fields. */
export const serviceNames = ['gateway', 'query', 'agent', 'mcp', 'alert-dispatcher', 'ingest', 'report'] as const
export type ServiceName = (typeof serviceNames)[number]

/** Returns whether a service with this name exists. */
export const isServiceName = (name: string): name is ServiceName => serviceNames.some((known) => known === name)

/** Services whose guest methods can run in separate processes, with their own user and key. */
export const guestServices: readonly ServiceName[] = ['query']

/**
 * The services that each service calls, according to the contracts. A service accepts identities that the gateway
 * signed for its callers.
 */
export const serviceDependencies: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  gateway: ['query', 'agent', 'mcp', 'alert-dispatcher', 'ingest', 'report'],
  query: [],
  agent: ['query', 'mcp', 'report'],
  mcp: ['query', 'agent', 'report', 'alert-dispatcher', 'ingest'],
  'alert-dispatcher': ['query'],
  ingest: [],
  report: ['query', 'agent', 'alert-dispatcher'],
}

/** Feature ids, as in the configuration reference. Permissions are configured per feature. */
export const features = [
  'OVERVIEW',
  'AGENT',
  'INSIGHTS',
  'HEALTH',
  'QUERIES',
  'TABLES',
  'METRICS',
  'DASHBOARD',
  'SECURITY',
  'LOGS',
  'SETTINGS',
  'BILLING',
  'CLUSTER',
  'OPERATIONS',
  'ACTIONS',
  'MCP',
  'DOCS',
  'ABOUT',
  'REPLDB',
] as const
/** The id of a feature. */
export const Feature = z.enum(features)
export type Feature = z.infer<typeof Feature>

/** The profile of a signed-in user from the identity provider, for display only. */
export const UserProfile = z.object({
  name: z.string().max(256).optional(),
  email: z.string().max(256).optional(),
  /** URL of the avatar. */
  avatar: z.string().max(2_048).optional(),
  groups: z.array(z.string().max(256)).max(256).optional(),
  /** Additional fields selected by the operator, by name. */
  fields: z.record(z.string().max(64), z.string().max(1_024)).optional(),
})
export type UserProfile = z.infer<typeof UserProfile>

/**
 * Scopes of an API key: `read`, `write` (changes and SQL, includes `read`), `agent`, and `mcp` for the tool server.
 */
export const scopes = ['read', 'write', 'agent', 'mcp'] as const
/** A scope of an API key. */
export const ApiKeyScope = z.enum(scopes)
export type ApiKeyScope = z.infer<typeof ApiKeyScope>

/** The caller, as resolved by the gateway. `features` are those that it can use; `all` means every feature. */
export const Identity = z.object({
  kind: z.enum(['anonymous', 'guest', 'user', 'key', 'service']),
  subject: z.string().max(256),
  features: z.union([z.literal('all'), z.array(z.string()).max(64)]),
  profile: UserProfile.optional(),
  /** Scopes of an API key. If absent, only the features limit the caller. A newer release may add names. */
  scopes: z.array(z.string().max(32)).max(16).optional(),
  /** Whether the API key is a browser session, so that a user can decide on approval requests. */
  isBrowserSession: z.boolean().optional(),
})
export type Identity = z.infer<typeof Identity>

/** The priority of a request, highest first: requests of users, tools of agents, sweeps, reports. */
export const RequestPriority = z.enum(['person', 'tool', 'sweep', 'report'])
export type RequestPriority = z.infer<typeof RequestPriority>

/** W3C trace context of the caller's span. */
export interface W3cTraceContext {
  traceparent: string
  tracestate?: string
}

/** The context of a request. Handlers pass it on, so deadline, trace and cancellation span all services. */
export interface CallContext {
  identity: Identity
  /**
   * When the caller stops waiting, in milliseconds of `Clock.elapsedMs` of this process. Requests on the bus contain
   * the remaining time instead.
   */
  deadline: number
  signal: AbortSignal
  priority: RequestPriority
  trace?: W3cTraceContext | undefined
  /** The calling service, proven by the subject it published on; set on the serving side only. */
  caller?: ServiceName | undefined
  /** The signature of the gateway over the identity, passed on so that further services can verify it. */
  signature?: string | undefined
  /** User connections of the queried hosts, by host key. The gateway adds those of the hosts that it resolves. */
  connections?: Map<string, SealedConnection> | undefined
}

/** Returns whether an identity can use a feature. Methods without a feature are open to all their callers. */
export const mayUseFeature = (identity: Identity, feature: Feature | undefined): boolean =>
  feature === undefined || identity.features === 'all' || identity.features.includes(feature)

/** Throws `forbidden` if the identity cannot use the feature. `details` allow the gateway to suggest signing in. */
export const requireFeature = (identity: Identity, feature: Feature | undefined, what: string): void => {
  if (!mayUseFeature(identity, feature))
    throw new ServiceError('forbidden', `you do not have access to ${what}`, { details: { feature } })
}
