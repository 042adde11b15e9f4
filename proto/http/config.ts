import { z } from 'zod'
import { Feature } from '../call.ts'
import { Catalogue } from '../catalogue.ts'
import { Host, HostState } from '../query.ts'
import { createResponseSchema } from './response.ts'
import { Me } from './session.ts'

/** A host with its last known state, at most 10 seconds old. */
export const HostSummary = Host.omit({ key: true }).extend({
  status: HostState.shape.status,
  reason: HostState.shape.reason,
  failure: HostState.shape.failure,
  version: HostState.shape.version,
  missingGrants: HostState.shape.missingGrants,
  /** How far the clock of the host is ahead, in milliseconds, rounded to ten seconds. */
  clockSkewMs: z.int(),
})
export type HostSummary = z.infer<typeof HostSummary>

/** The state of a feature: whether it is enabled, and whether it requires sign-in. */
const FeaturePermission = z.object({
  enabled: z.boolean(),
  access: z.enum(['public', 'authenticated']),
  /** The setting that disabled it; null if it is enabled. */
  offBy: z.string().nullable(),
})

/** Rate limits for the client, so that it can stay below them. */
const ClientLimits = z.object({
  requestsPerMinute: z.int(),
  questionsPerMinute: z.int(),
  /** Maximum agent questions of a guest per day; null unless guests can use the agent. */
  guestQuestionsPerDay: z.int().nullable(),
})

/** Optional capabilities of this installation, in addition to features. */
const InstallationCapabilities = z.object({
  /** Whether hosts can be added to the monitored hosts; absent means false. */
  managedHosts: z.boolean().optional(),
  /** Whether users can store connections. */
  storedConnections: z.boolean(),
  /** Whether users, roles and grants of the hosts can be changed. */
  management: z.boolean(),
  /** Whether a repository host can report deployments, which charts show as annotations. */
  deployments: z.boolean(),
  /** Whether page views are stored, so that charts can show them. */
  pageViews: z.boolean(),
  /** Whether a PostgreSQL server is monitored. */
  postgresSource: z.boolean(),
  /** Whether a replication service is monitored. */
  replicationService: z.boolean(),
  /** Whether users can subscribe webhooks to alerts. */
  subscriptions: z.boolean(),
})
export type InstallationCapabilities = z.infer<typeof InstallationCapabilities>

/**
 * Response of `GET /api/v1/config`: permissions and sign-in methods. Callers with read access also receive all
 * definitions, and the hosts with their last known state. The route queries no host, so it works even if all are down.
 */
export const ConfigResponse = createResponseSchema(
  z.object({
    provider: Me.shape.provider,
    capabilities: Me.shape.may,
    signIn: Me.shape.signIn,
    features: z.record(Feature, FeaturePermission),
    limits: ClientLimits,
    /** Default IANA time zone for display. */
    displayZone: z.string().optional(),
    offers: InstallationCapabilities,
    hosts: z.array(HostSummary),
    catalogue: Catalogue,
  }),
  z.object({}),
)
