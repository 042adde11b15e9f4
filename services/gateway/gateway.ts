import type { Request } from 'express'
import type { agent } from '#proto/agent.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Identity } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { DocPage } from '#proto/http/docs.ts'
import type { OpenApiDocument } from '#proto/http/openapi.ts'
import type { ingest } from '#proto/ingest.ts'
import type { mcp } from '#proto/mcp.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { AdmissionQueue } from '#shared/admission/queue.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { ChatRuns } from './agent/run-events.ts'
import type { AuditLog } from './audit/open-audit.ts'
import type { AccessPolicy } from './features/policy.ts'
import type { ApiKeys } from './auth/keys/keys.ts'
import type { Auth } from './auth/auth.ts'
import type { Dashboards } from './dashboards/dashboards.ts'
import type { DeniedUsers } from './auth/denied-users.ts'
import type { DeviceLogin } from './auth/device/open-device-login.ts'
import type { Exposition } from './exposition/exposition.ts'
import type { UserConnections } from './connections/user-connections.ts'
import type { IncidentNotes } from './incidents/notes.ts'
import type { HostList, HostStates } from './hosts/host-list.ts'
import type { Guests, RateLimits } from './limits/limits.ts'
import type { ChatReplier } from './webhooks/chat-click.ts'
import type { PageViewQueue } from './web/page-view-queue.ts'
import type { RejectReplay } from './webhooks/signature.ts'

/** The dependencies of the routes. */
export interface Gateway {
  env: Environment
  clock: Clock
  telemetry: Telemetry
  query: ServiceClient<typeof query>
  alerts: ServiceClient<typeof alerts>
  report: ServiceClient<typeof report>
  mcp: ServiceClient<typeof mcp>
  ingest: ServiceClient<typeof ingest>
  agent: ServiceClient<typeof agent>
  /** The latest agent run of each chat. */
  chats: ChatRuns
  /** Limits the conversations that are received at the same time. */
  conversationBodies: AdmissionQueue
  hosts: HostList
  hostStates: HostStates
  /** User-supplied connections. */
  connections: UserConnections
  exposition: Exposition
  /** Facts about the web build; undefined if the web UI is not built. */
  build: BuildInfo | undefined
  /** The pages of the documentation, in order. */
  docs: readonly DocPage[]
  /** Version of the product. */
  version: string
  requestTimeoutMs: number
  /** Returns the OpenAPI document of all routes; read on the first call. */
  document(): Promise<OpenApiDocument>
  keys: ApiKeys
  auth: Auth
  denied: DeniedUsers
  deviceLogin: DeviceLogin
  /** Authenticates a request; throws `unauthenticated` for invalid credentials and `forbidden` for denied users. */
  identify(request: Request): Promise<Identity>
  /** Returns the current access policy. */
  policy(): AccessPolicy
  limits: RateLimits
  audit: AuditLog
  /** Dashboards and the saved views of table pages. */
  dashboards: Dashboards
  /** Notes of users about incidents. */
  incidentNotes: IncidentNotes
  guests: Guests
  /** Rejects replays of signed requests. */
  requireFirstTime: RejectReplay
  answerChat: ChatReplier
  pageViews: PageViewQueue
}
