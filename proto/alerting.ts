import { z } from 'zod'
import { AlertHistoryEntry, Silence } from './alert-history.ts'
import {
  AlertSettings,
  ChannelField,
  ChannelSettingsUpdate,
  CustomRule,
  SqlRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  NotificationRoute,
  RuleSettings,
  AlertConfigId,
  CheckedRoute,
} from './alert-policy.ts'
import { Unit } from './catalogue.ts'
import { rpc } from './contract.ts'
import { HostKey, hostInput } from './host.ts'
import { Severity } from './rules.ts'
import { EncryptedSecrets, TransitPublicKey } from './encrypted-secrets.ts'
import { WebhookTargetView, WebhookTargetInput } from './webhook-targets.ts'

const Milliseconds = z.number().int()
const Whole = z.int().min(0)
const RuleId = z.string().min(1).max(160)
const Until = z.object({ untilMs: Milliseconds.nullable() }).nullable()

/** A condition that is not ok, or that is ok again but whose recovery is not sent yet. */
export const AlertCondition = z.object({
  ruleId: RuleId,
  /** Id of the episode, which lasts from the first breach to the recovery. */
  episode: z.string(),
  title: z.string(),
  unit: Unit,
  /**
   * `pending` until the rule has breached in enough consecutive sweeps, then `firing`. `cleared` if the condition is
   * ok, but its recovery is not sent yet.
   */
  phase: z.enum(['pending', 'firing', 'cleared']),
  severity: Severity,
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  offenders: z.array(z.string()),
  /** Epoch milliseconds of the first breach, the last evaluation and the last notification. */
  sinceMs: Milliseconds,
  evaluatedAtMs: Milliseconds,
  lastNotifiedAtMs: Milliseconds.nullable(),
  /** Why a due notification is held back; null if none is. A newer release may add values. */
  held: z.string().nullable(),
  /** The active silences; null without one. If `untilMs` is null, the silence lasts until the recovery. */
  acknowledged: Until,
  dismissed: Until,
})
export type AlertCondition = z.infer<typeof AlertCondition>

/** The alert state of one host. */
export const AlertHost = z.object({
  hostKey: HostKey,
  /** Whether the host was unreachable in the last sweep. */
  failed: z.boolean(),
  firing: Whole,
  /** Worst severity of the firing conditions; null if none is firing. */
  worst: Severity.nullable(),
  /** Title of the worst condition; null if none is firing, and from older releases. */
  worstTitle: z.string().nullable().default(null),
  /** Epoch milliseconds of the first breach of the worst condition; null if none is firing, and from older releases. */
  worstSinceMs: Milliseconds.nullable().default(null),
  /** Number of rules that could not be evaluated. */
  unknown: Whole,
  /** Empty if only counts were requested. */
  conditions: z.array(AlertCondition),
})
export type AlertHost = z.infer<typeof AlertHost>

/** One rule on one host, as of the last sweep that evaluated it. */
export const AlertCheck = z.object({
  ruleId: RuleId,
  title: z.string(),
  doc: z.string(),
  category: z.string(),
  unit: Unit,
  isCustom: z.boolean(),
  /** `off` if the rule is disabled, `unknown` without data, with the cause in `reason`. */
  status: z.enum(['ok', 'warning', 'critical', 'unknown', 'off']),
  value: z.number().nullable(),
  reason: z.string().nullable(),
  /** Epoch milliseconds of the evaluation; null before the first one. */
  atMs: Milliseconds.nullable(),
  /** The configured thresholds on this host; a server's own settings may replace them. */
  warning: z.number().nullable(),
  critical: z.number().nullable(),
  /** The thresholds on other hosts, if this host has its own. */
  usual: z.object({ warning: z.number().nullable(), critical: z.number().nullable() }).optional(),
  below: z.boolean(),
  runbook: z.string(),
  /** Whether the rule has a diagnostic, a statement whose rows explain the condition. */
  diagnosed: z.boolean(),
})
export type AlertCheck = z.infer<typeof AlertCheck>

/** The source of an entry; a newer release may add values. */
const Source = z.string().max(32)
const createSourcedSchema = <S extends z.ZodType>(value: S) => z.object({ value, source: Source })
const sourceField = { source: Source }

/** The alert configuration in force, with the source of each entry. */
export const AlertPolicy = z.object({
  /** Whether changes can be saved: false without a state database. */
  persistent: z.boolean(),
  general: z.object({
    enabled: createSourcedSchema(z.boolean()),
    minSeverity: createSourcedSchema(Severity),
    cooldownMinutes: createSourcedSchema(Whole),
    breaches: createSourcedSchema(Whole),
    clears: createSourcedSchema(Whole),
    /** Whether sweeps run. Null from older releases. */
    sweepsEnabled: createSourcedSchema(z.boolean()).nullable().default(null),
    /** Minutes between sweeps; 0 if only requests start them. Null from older releases. */
    sweepMinutes: createSourcedSchema(Whole).nullable().default(null),
  }),
  digestMinutes: createSourcedSchema(Whole),
  channels: z.array(
    z.object({
      channel: z.string(),
      /** Whether all its required settings are set. */
      configured: z.boolean(),
      enabled: z.boolean(),
      minSeverity: Severity.nullable(),
      settings: z.array(ChannelField).default([]),
      /** Why the settings are invalid, with their variables; null if valid, and from older releases. */
      problem: z.string().nullable().default(null),
      ...sourceField,
    }),
  ),
  /** Names of the additional webhook targets. */
  webhookTargets: z.array(z.string()),
  /** The additional webhook targets with all fields that are not secret. */
  targets: z.array(WebhookTargetView).default([]),
  rules: z.array(RuleSettings.extend({ ruleId: RuleId, sources: z.record(z.string(), Source) })),
  customRules: z.array(CustomRule.extend(sourceField)),
  sqlRules: z.array(SqlRule.extend(sourceField)).default([]),
  maintenanceWindows: z.array(MaintenanceWindow.extend(sourceField)),
  quietHours: z.array(QuietHours.extend(sourceField)),
  routes: z.array(CheckedRoute.extend(sourceField)),
})
export type AlertPolicy = z.infer<typeof AlertPolicy>

const named = { id: AlertConfigId }

/** One change of the alert configuration. */
export const AlertConfigUpdate = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('general'), value: AlertSettings }),
  z.object({ kind: z.literal('digest'), value: DigestSettings }),
  z.object({ kind: z.literal('rule'), id: RuleId, value: RuleSettings }),
  z.object({ kind: z.literal('channel'), id: z.string().max(64), value: ChannelSettingsUpdate }),
  z.object({ kind: z.literal('custom-rule'), value: CustomRule }),
  z.object({ kind: z.literal('maintenance-window'), value: MaintenanceWindow }),
  z.object({ kind: z.literal('quiet-hours'), value: QuietHours }),
  z.object({ kind: z.literal('route'), value: NotificationRoute }),
  z.object({ kind: z.literal('webhook-target'), value: WebhookTargetInput }),
  z.object({ kind: z.literal('sql-rule'), value: SqlRule }),
])
export type AlertConfigUpdate = z.infer<typeof AlertConfigUpdate>

/** The kind and id that identify one entry of the alert configuration. */
export const AlertConfigKey = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['general', 'digest']) }),
  z.object({ kind: z.literal('rule'), id: RuleId }),
  z.object({ kind: z.literal('channel'), id: z.string().max(64) }),
  z.object({
    kind: z.enum(['custom-rule', 'sql-rule', 'maintenance-window', 'quiet-hours', 'route', 'webhook-target']),
    ...named,
  }),
])
export type AlertConfigKey = z.infer<typeof AlertConfigKey>

/** The state that a rule would have on one host. `reason` is why there is no value. */
const RuleTestResult = z.object({
  status: AlertCheck.shape.status,
  value: z.number().nullable(),
  unit: Unit,
  reason: z.string().nullable(),
})

/** Maximum history entries in one response. */
export const maxAlertHistoryEntries = 200

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
/** Traits of the methods that `report` can call in addition to `gateway`. */
const reportMethodTraits = { callers: ['gateway', 'report'], feature: 'HEALTH' } as const
/** Traits of the methods that the tools of `mcp` can call too. */
const toolMethodTraits = { callers: ['gateway', 'mcp'], feature: 'HEALTH' } as const

/** Methods for alert states, their history and the alert configuration. */
export const alertingMethods = {
  alertState: rpc({
    ...toolMethodTraits,
    doc: 'Returns the conditions that are not ok on one host or on all, as of the last sweep; queries no host.',
    safe: true,
    input: z.object({ hostKey: HostKey.optional(), figuresOnly: z.boolean().default(false) }),
    output: z.object({
      hosts: z.array(AlertHost),
      /** Epoch milliseconds of the start of the last sweep; null before the first. */
      sweptAtMs: Milliseconds.nullable(),
      isSweeping: z.boolean(),
      /** Whether there are more conditions than one response can contain. */
      truncated: z.boolean(),
    }),
  }),
  alertChecks: rpc({
    ...reportMethodTraits,
    callers: [...reportMethodTraits.callers, 'mcp'],
    doc: 'Returns every rule on one host, as of the last sweep that evaluated it; queries no host.',
    safe: true,
    input: z.object(hostInput),
    output: z.array(AlertCheck),
  }),
  alertHistory: rpc({
    ...reportMethodTraits,
    callers: [...reportMethodTraits.callers, 'mcp'],
    doc: 'Returns the history of episodes, newest first.',
    safe: true,
    input: z.object({
      hostKey: HostKey.optional(),
      fromMs: Milliseconds.optional(),
      toMs: Milliseconds.optional(),
      limit: z.int().min(1).max(maxAlertHistoryEntries),
    }),
    output: z.array(AlertHistoryEntry),
  }),
  silences: rpc({
    ...reportMethodTraits,
    doc: 'Returns the acknowledgements and dismissals in force.',
    safe: true,
    input: z.object({}),
    output: z.array(Silence),
  }),
  silence: rpc({
    ...common,
    doc: 'Acknowledges or dismisses the condition of one rule on one host; `conflict` if its episode differs from the specified one.',
    input: z.object({
      ...hostInput,
      kind: Silence.shape.kind,
      ruleId: RuleId,
      episode: z.string().max(160).optional(),
      /** Duration of the silence; null if it lasts until the recovery. */
      minutes: z.int().min(1).max(43_200).nullable(),
      note: Silence.shape.note,
    }),
    output: Silence,
  }),
  unsilence: rpc({
    ...common,
    doc: 'Removes an acknowledgement or a dismissal.',
    input: z.object({ ...hostInput, kind: Silence.shape.kind, ruleId: RuleId }),
    output: Silence,
  }),
  alertPolicy: rpc({
    ...common,
    doc: 'Returns the alert configuration, with the source of each entry.',
    safe: true,
    input: z.object({}),
    output: AlertPolicy,
  }),
  updateAlertConfig: rpc({
    ...common,
    doc: 'Sets one entry of the alert configuration and replaces the stored one; `not-implemented` without a state database.',
    input: z.object({
      update: AlertConfigUpdate,
      /** The secret fields of the value, as JSON encrypted with `alertSecretsKey`. They are added to the value. */
      encrypted: EncryptedSecrets.optional(),
      /** Whether the entry must be new or must exist; null allows both. */
      mustBe: z.enum(['new', 'known']).nullable().default(null),
      /** Whether the gateway received the request from a caller on its own machine. */
      isCallerLocal: z.boolean().default(false),
    }),
    output: AlertPolicy,
  }),
  alertSecretsKey: rpc({
    ...common,
    doc: 'Returns the public key to encrypt channel secrets; only `alert-dispatcher` can decrypt them.',
    safe: true,
    input: z.object({}),
    output: TransitPublicKey,
  }),
  deleteAlertConfig: rpc({
    ...common,
    doc: 'Deletes one entry from the database; `conflict` if another source manages it.',
    input: z.object({ key: AlertConfigKey }),
    output: AlertPolicy,
  }),
  testCustomRule: rpc({
    ...common,
    doc: 'Measures the metric of a rule on one host and evaluates it, without storing anything.',
    safe: true,
    input: z.object({ ...hostInput, rule: CustomRule.omit({ id: true }) }),
    output: RuleTestResult,
  }),
  testSqlRule: rpc({
    ...common,
    doc: 'Runs the statement of a rule on one host and evaluates the rule, without storing anything.',
    safe: true,
    input: z.object({ ...hostInput, rule: SqlRule.omit({ id: true }) }),
    output: RuleTestResult.extend({
      /** The thresholds on this host. */
      warning: z.number().nullable(),
      critical: z.number().nullable(),
      offenders: z.array(z.string()),
    }),
  }),
}
