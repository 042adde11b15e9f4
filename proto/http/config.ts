import { z } from 'zod'
import { Feature } from '../call.ts'
import { Catalogue } from '../catalogue.ts'
import { Host, HostState } from '../query.ts'
import { answer } from './answer.ts'
import { Me } from './session.ts'

/** A host with its last known state, at most 10 seconds old. */
export const HostSummary = Host.omit({ key: true }).extend({
  status: HostState.shape.status,
  reason: HostState.shape.reason,
  failure: HostState.shape.failure,
  version: HostState.shape.version,
  missingGrants: HostState.shape.missingGrants,
  /** How far its clock is ahead, in milliseconds rounded to ten seconds. */
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
  /** Null unless guests can use the agent. */
  guestQuestionsPerDay: z.int().nullable(),
})

/** Optional capabilities of this installation beyond features. */
const Offers = z.object({
  /** Users can store connections. */
  storedConnections: z.boolean(),
  /** Users, roles and grants of the hosts can be changed. */
  management: z.boolean(),
  /** A repository host can report deployments, which charts annotate. */
  deployments: z.boolean(),
  /** Opened pages are counted for the charts of page views. */
  pageViews: z.boolean(),
  /** A PostgreSQL server is monitored. */
  postgresSource: z.boolean(),
  /** A replication service is monitored. */
  replicationService: z.boolean(),
  /** Users can subscribe webhooks to alerts. */
  subscriptions: z.boolean(),
})
export type Offers = z.infer<typeof Offers>

/**
 * `GET /api/v1/config`: what a client needs before its first page: permissions, sign-in methods, and for callers with
 * read access the hosts with their last known state and all definitions. Queries no host, so it also works when all are
 * down.
 */
export const ConfigResponse = answer(
  z.object({
    provider: Me.shape.provider,
    capabilities: Me.shape.may,
    signIn: Me.shape.signIn,
    features: z.record(Feature, FeaturePermission),
    limits: ClientLimits,
    /** Default IANA time zone for display. */
    displayZone: z.string().optional(),
    offers: Offers,
    hosts: z.array(HostSummary),
    catalogue: Catalogue,
  }),
  z.object({}),
)
