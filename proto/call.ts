import { z } from 'zod'
import { ServiceError } from './errors.ts'
import type { SealedConnection } from './sealed-connection.ts'

/** The services that may own a contract or call one; the same word names folder, pod, subject, metric and log field. */
export const serviceNames = ['gateway', 'query', 'agent', 'mcp', 'alert-dispatcher', 'ingest', 'report'] as const
export type ServiceName = (typeof serviceNames)[number]

/** Whether a service is called so. */
export const isServiceName = (name: string): name is ServiceName => serviceNames.some((known) => known === name)

/** Services with methods for guests: a part of them may run apart, with a user and a key of its own. */
export const guestServices: readonly ServiceName[] = ['query']

/** Which services each one calls, as the contracts state it. What the gateway signed for a service may be used by these too. */
export const serviceCalls: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  gateway: ['query', 'agent', 'mcp', 'alert-dispatcher', 'ingest', 'report'],
  query: [],
  agent: ['query', 'mcp', 'report'],
  mcp: ['query', 'agent', 'report'],
  'alert-dispatcher': ['query'],
  ingest: [],
  report: ['query', 'agent', 'alert-dispatcher'],
}

/** Feature ids of the configuration reference; permissions are stated per id. */
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
/** One feature id. */
export const Feature = z.enum(features)
export type Feature = z.infer<typeof Feature>

/** How a signed-in person is shown, as far as whoever vouches for them says; decides nothing. */
export const Profile = z.object({
  name: z.string().max(256).optional(),
  email: z.string().max(256).optional(),
  /** Address of a picture. */
  avatar: z.string().max(2_048).optional(),
  groups: z.array(z.string().max(256)).max(256).optional(),
  /** What the operator chose to show beside these, by the names the operator gave. */
  fields: z.record(z.string().max(64), z.string().max(1_024)).optional(),
})
export type Profile = z.infer<typeof Profile>

/**
 * What an API key may be used for: to read what the product shows, to change things and run SQL (which includes reading), to ask
 * the agent, to reach the tool server.
 */
export const scopes = ['read', 'write', 'agent', 'mcp'] as const
/** One scope. */
export const Scope = z.enum(scopes)
export type Scope = z.infer<typeof Scope>

/** Who is asking, as the gateway resolved it. `features` are those this caller may use; `all` is every feature. */
export const Identity = z.object({
  kind: z.enum(['anonymous', 'guest', 'user', 'key', 'service']),
  subject: z.string().max(256),
  features: z.union([z.literal('all'), z.array(z.string()).max(64)]),
  profile: Profile.optional(),
  /** Of API keys; without it nothing but the features limits the caller. A newer release may know further names. */
  scopes: z.array(z.string().max(32)).max(16).optional(),
  /** Whether a browser holds the API key as its session, so that a person may decide on what waits for an approval. */
  isBrowserSession: z.boolean().optional(),
})
export type Identity = z.infer<typeof Identity>

/** Who waits for the answer: people go before sweeps, sweeps before reports. */
export const Priority = z.enum(['person', 'sweep', 'report'])
export type Priority = z.infer<typeof Priority>

/** W3C trace context of the caller's span. */
export interface Trace {
  traceparent: string
  tracestate?: string
}

/** What travels with every request. Handlers hand theirs on, so deadline, trace and cancellation span all services. */
export interface Call {
  identity: Identity
  /** When the caller stops waiting, by `Clock.elapsedMs` of this process: between processes the time left travels. */
  deadline: number
  signal: AbortSignal
  priority: Priority
  trace?: Trace | undefined
  /** The calling service, proven by the subject it published on; set on the serving side only. */
  caller?: ServiceName | undefined
  /** What the gateway signed of the identity; passed on with it, so that further services believe it too. */
  signature?: string | undefined
  /** Databases that the caller brought and that this call is about, by host key; the gateway adds those that it resolves. */
  connections?: Map<string, SealedConnection> | undefined
}

/** Whether an identity may use a feature; methods without one are open to every caller that may reach them. */
export const mayUse = (identity: Identity, feature: Feature | undefined): boolean =>
  feature === undefined || identity.features === 'all' || identity.features.includes(feature)

/** Throws `forbidden` naming the feature in its details, so that the door can tell whether signing in would help. */
export const requireFeature = (identity: Identity, feature: Feature | undefined, what: string): void => {
  if (!mayUse(identity, feature))
    throw new ServiceError('forbidden', `${what} is not open to you`, { details: { feature } })
}
