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
  /** How far its clock is ahead of the service's, in milliseconds to the nearest ten seconds. */
  clockSkewMs: z.int(),
})
export type HostSummary = z.infer<typeof HostSummary>

/** What stands for a feature: whether there is it at all, and whether everybody may use it or only who is known. */
const FeaturePermission = z.object({
  enabled: z.boolean(),
  access: z.enum(['public', 'authenticated']),
  /** The setting that switched it off; null while it is on. */
  offBy: z.string().nullable(),
})

/** Budgets that a client should stay within, so that it need not find them out by refusals. */
const ClientLimits = z.object({
  requestsPerMinute: z.int(),
  questionsPerMinute: z.int(),
  /** Only where guests may ask the agent. */
  guestQuestionsPerDay: z.int().nullable(),
})

/** What this installation is set up for, besides what its features say. */
const Offers = z.object({
  /** People may keep connections to databases of their own. */
  keptConnections: z.boolean(),
  /** Users, roles and grants of the hosts may be changed. */
  management: z.boolean(),
  /** A repository host may tell what was put into use, to be marked on charts. */
  deployments: z.boolean(),
  /** Pages that people open are counted, for the charts of page views. */
  pageViews: z.boolean(),
  /** A PostgreSQL server is watched beside the hosts. */
  postgresSource: z.boolean(),
  /** A replication service is watched. */
  replicationService: z.boolean(),
  /** People may subscribe webhooks of their own to alerts. */
  subscriptions: z.boolean(),
})
export type Offers = z.infer<typeof Offers>

/**
 * `GET /api/v1/config`: what a client needs before its first page, in one answer: what the caller may do and how to sign in,
 * and for callers who may read the hosts with their last known state and every definition in force. Asks no host, so it
 * answers when all of them are down.
 */
export const ConfigAnswer = answer(
  z.object({
    provider: Me.shape.provider,
    capabilities: Me.shape.may,
    signIn: Me.shape.signIn,
    features: z.record(Feature, FeaturePermission),
    limits: ClientLimits,
    /** IANA name of the zone in which instants are shown to people who choose none. */
    displayZone: z.string().optional(),
    offers: Offers,
    hosts: z.array(HostSummary),
    catalogue: Catalogue,
  }),
  z.object({}),
)
