import type { Severity } from '#proto/rules.ts'
import type { OpenInstallation } from './chat-application/installation.ts'
import type { OpenSubscription } from './subscriptions/subscription.ts'
import type { TargetFormat, TargetTemplates } from '#proto/webhook-targets.ts'
import type {
  ChannelSettings,
  CustomRule,
  MaintenanceWindow,
  QuietHours,
  Route,
  RuleSettings,
} from '#proto/alert-policy.ts'

export type { CustomRule, MaintenanceWindow, QuietHours, Route }
/** What an operator wants otherwise about one rule; absent fields are the rule's own. */
export type RulePolicy = RuleSettings

/** All that operators have settled about alerts, resolved field by field: database, then file, then environment, then default. */
export interface Policy {
  /** False pauses dispatch; checks and the state of conditions go on. */
  enabled: boolean
  minSeverity: Severity
  /** The lowest floor of any target or route; what is below reaches nobody. */
  leastSeverity: Severity
  /** 0 sends no reminders. */
  cooldownMs: number
  /** 0 gathers nothing. */
  digestMs: number
  breaches: number
  clears: number
  /** By rule id, where the operator wants it otherwise. */
  rules: Readonly<Record<string, RulePolicy>>
  custom: readonly CustomRule[]
  maintenance: readonly MaintenanceWindow[]
  quietHours: readonly QuietHours[]
  routes: readonly Route[]
  /** By name of the channel, where the operator wants it otherwise than its variables say. */
  channels: Readonly<Record<string, ChannelPolicy>>
  webhookTargets: readonly WebhookTarget[]
  /** Webhooks that people brought, which no operator settles. */
  subscriptions: readonly OpenSubscription[]
  /** Chats that the chat application is installed for. */
  chatApplications: readonly OpenInstallation[]
}

/** A channel as database and file have it; what they leave open its own variables `HEALTH_ALERT_<CHANNEL>_…` say. */
export interface ChannelPolicy extends ChannelSettings {
  /** Values that files put in place of the channel's variables, by name of the variable, secrets among them. */
  fromFiles?: Readonly<Record<string, string>> | undefined
  /** Values that were saved in the product, which go before those of files: addresses among them must not reach inside. */
  variables: Readonly<Record<string, string>>
  /** Names of the variables whose saved secrets the present key does not decrypt; then nothing that was saved with them is used. */
  unreadable?: readonly string[] | undefined
}

/** A further webhook: the address and secret headers are in variables, or were saved with it. */
export interface WebhookTarget {
  name: string
  urlEnv?: string | undefined
  headersEnv?: string | undefined
  /** Saved in the product: under which id, the address, and the headers as JSON. */
  saved?: { id: string; url: string; headers: string } | undefined
  enabled: boolean
  format: TargetFormat
  minSeverity: Severity | null
  templates?: TargetTemplates | undefined
  /** The place that settled it; absent of one that a variable lists. */
  source?: 'database' | 'file' | 'environment'
}
