import type { Severity } from '#proto/rules.ts'
import type { DecryptedInstallation } from './chat-application/installation.ts'
import type { DecryptedSubscription } from './subscriptions/subscription.ts'
import type { SweepPlan } from './sweeps/sweep-settings.ts'
import type { TargetFormat, TargetTemplates } from '#proto/webhook-targets.ts'
import type {
  ChannelSettings,
  CustomRule,
  HostThresholds,
  MaintenanceWindow,
  QuietHours,
  NotificationRoute,
  RuleSettings,
  SqlRule,
} from '#proto/alert-policy.ts'

export type { CustomRule, HostThresholds, MaintenanceWindow, QuietHours, NotificationRoute, SqlRule }
/** Overrides of one rule; absent fields use the rule's own values. */
export type RulePolicy = RuleSettings

/** The alert configuration, resolved field by field: database, file, environment, default. */
export interface Policy {
  /** False pauses notifications; evaluation continues. */
  enabled: boolean
  minSeverity: Severity
  /** The lowest minimum severity of all targets and routes. Anything below it is never sent. */
  leastSeverity: Severity
  /** 0 disables reminders. */
  cooldownMs: number
  /** 0 disables the digest. */
  digestMs: number
  breaches: number
  clears: number
  sweeps: SweepPlan
  /** Overrides by rule id. */
  rules: Readonly<Record<string, RulePolicy>>
  custom: readonly CustomRule[]
  sqlRules: readonly SqlRule[]
  maintenance: readonly MaintenanceWindow[]
  quietHours: readonly QuietHours[]
  routes: readonly NotificationRoute[]
  /** Overrides of channel variables, by channel id. */
  channels: Readonly<Record<string, ChannelPolicy>>
  webhookTargets: readonly WebhookTarget[]
  /** Webhook subscriptions of users, which operators do not configure. */
  subscriptions: readonly DecryptedSubscription[]
  /** Slack channels in which the application is installed. */
  chatApplications: readonly DecryptedInstallation[]
}

/** A channel as database and files configure it. Absent fields use the variables `HEALTH_ALERT_<CHANNEL>_…`. */
export interface ChannelPolicy extends ChannelSettings {
  /** Values from files by variable, secrets included. */
  fromFiles?: Readonly<Record<string, string>> | undefined
  /**
   * Values saved through the API by variable. They override files, and saved addresses must not reach internal
   * networks.
   */
  variables: Readonly<Record<string, string>>
  /** Whether the saved addresses were entered on this machine, so that they may be private. */
  isLocal?: boolean | undefined
  /** Variables whose saved secrets the current key cannot decrypt. In that case none of the saved values are used. */
  unreadable?: readonly string[] | undefined
}

/** An additional webhook. Its URL and secret headers come from variables or are saved with it. */
export interface WebhookTarget {
  name: string
  urlEnv?: string | undefined
  headersEnv?: string | undefined
  /** Set for a saved webhook: its id, its URL, its headers as JSON, and whether it was entered on this machine. */
  saved?: { id: string; url: string; headers: string; isLocal?: boolean | undefined } | undefined
  enabled: boolean
  format: TargetFormat
  minSeverity: Severity | null
  templates?: TargetTemplates | undefined
  /** Origin of the configuration; absent for webhooks listed in a variable. */
  source?: 'database' | 'file' | 'environment'
}
