import { z } from 'zod'
import { HistoryEntry, Silence } from './alert-history.ts'
import {
  AlertSettings,
  ChannelField,
  ChannelSaving,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  Route,
  RuleSettings,
  SettledId,
  ToldRoute,
} from './alert-policy.ts'
import { Unit } from './catalogue.ts'
import { rpc } from './contract.ts'
import { HostKey, ofHost } from './host.ts'
import { Severity } from './rules.ts'
import { Encrypted, TransitPublicKey } from './transit.ts'
import { ShownTarget, TargetSaving } from './webhook-targets.ts'

const Milliseconds = z.number().int()
const Whole = z.int().min(0)
const RuleId = z.string().min(1).max(160)
const Until = z.object({ untilMs: Milliseconds.nullable() }).nullable()

/** One condition that is not ok, or is ok again without everybody knowing. */
export const AlertCondition = z.object({
  ruleId: RuleId,
  /** Names this time of being not ok. */
  episode: z.string(),
  title: z.string(),
  unit: Unit,
  /** `pending` until it has breached often enough, then `firing`; `cleared` when it is ok and people are still to be told. */
  phase: z.enum(['pending', 'firing', 'cleared']),
  severity: Severity,
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  offenders: z.array(z.string()),
  /** Epoch milliseconds of the first breach, of the last judgement, and of when people were told last. */
  sinceMs: Milliseconds,
  judgedAtMs: Milliseconds,
  toldAtMs: Milliseconds.nullable(),
  /** Why people are not told what is due; null while nothing is held. A newer release may know more words. */
  held: z.string().nullable(),
  /** Until when; a null end is the recovery. */
  acknowledged: Until,
  dismissed: Until,
})
export type AlertCondition = z.infer<typeof AlertCondition>

/** What is known of one host. */
export const AlertHost = z.object({
  hostKey: HostKey,
  /** It did not answer on the last sweep. */
  failed: z.boolean(),
  firing: Whole,
  /** Of the conditions that fire; null when none does. */
  worst: Severity.nullable(),
  /** What the worst of them is called; null when none fires, and of an older release. */
  worstTitle: z.string().nullable().default(null),
  /** Epoch milliseconds of its first breach; null when none fires, and of an older release. */
  worstSinceMs: Milliseconds.nullable().default(null),
  /** Rules that could not be judged. */
  unknown: Whole,
  /** Empty where only figures were asked for. */
  conditions: z.array(AlertCondition),
})
export type AlertHost = z.infer<typeof AlertHost>

/** One rule on one host, as the last sweep that asked found it. */
export const AlertCheck = z.object({
  ruleId: RuleId,
  title: z.string(),
  doc: z.string(),
  category: z.string(),
  unit: Unit,
  isCustom: z.boolean(),
  /** `off` when nobody watches it, `unknown` when it could not be told, which `reason` explains. */
  status: z.enum(['ok', 'warning', 'critical', 'unknown', 'off']),
  value: z.number().nullable(),
  reason: z.string().nullable(),
  /** Null before it was first judged. */
  atMs: Milliseconds.nullable(),
  /** Where its severities begin as operators have settled it; what a server's own settings say may stand in. */
  warning: z.number().nullable(),
  critical: z.number().nullable(),
  below: z.boolean(),
  runbook: z.string(),
  /** Whether there are rows that explain it. */
  diagnosed: z.boolean(),
})
export type AlertCheck = z.infer<typeof AlertCheck>

/** Where something was settled; a newer release may know more. */
const Source = z.string().max(32)
const sourced = <S extends z.ZodType>(value: S) => z.object({ value, source: Source })
const withSource = { source: Source }

/** All that operators have settled, as it holds, and where each thing comes from. */
export const AlertPolicy = z.object({
  /** Whether it can be changed here: false without a state database. */
  lasting: z.boolean(),
  general: z.object({
    enabled: sourced(z.boolean()),
    minSeverity: sourced(Severity),
    cooldownMinutes: sourced(Whole),
    breaches: sourced(Whole),
    clears: sourced(Whole),
  }),
  digestMinutes: sourced(Whole),
  channels: z.array(
    z.object({
      channel: z.string(),
      /** Whether all its required settings are there. */
      configured: z.boolean(),
      enabled: z.boolean(),
      minSeverity: Severity.nullable(),
      settings: z.array(ChannelField).default([]),
      /** Why its settings cannot be used, naming the variables; null when they can, and of an older release. */
      problem: z.string().nullable().default(null),
      ...withSource,
    }),
  ),
  /** Names of the webhook targets beside the channels. */
  webhookTargets: z.array(z.string()),
  /** The same targets with all that may be shown of them. */
  targets: z.array(ShownTarget).default([]),
  rules: z.array(RuleSettings.extend({ ruleId: RuleId, sources: z.record(z.string(), Source) })),
  customRules: z.array(CustomRule.extend(withSource)),
  maintenanceWindows: z.array(MaintenanceWindow.extend(withSource)),
  quietHours: z.array(QuietHours.extend(withSource)),
  routes: z.array(ToldRoute.extend(withSource)),
})
export type AlertPolicy = z.infer<typeof AlertPolicy>

const named = { id: SettledId }

/** One thing that an operator settles. */
export const Settling = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('general'), value: AlertSettings }),
  z.object({ kind: z.literal('digest'), value: DigestSettings }),
  z.object({ kind: z.literal('rule'), id: RuleId, value: RuleSettings }),
  z.object({ kind: z.literal('channel'), id: z.string().max(64), value: ChannelSaving }),
  z.object({ kind: z.literal('custom-rule'), value: CustomRule }),
  z.object({ kind: z.literal('maintenance-window'), value: MaintenanceWindow }),
  z.object({ kind: z.literal('quiet-hours'), value: QuietHours }),
  z.object({ kind: z.literal('route'), value: Route }),
  z.object({ kind: z.literal('webhook-target'), value: TargetSaving }),
])
export type Settling = z.infer<typeof Settling>

/** Names one thing that was settled. */
export const Settled = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['general', 'digest']) }),
  z.object({ kind: z.literal('rule'), id: RuleId }),
  z.object({ kind: z.literal('channel'), id: z.string().max(64) }),
  z.object({ kind: z.enum(['custom-rule', 'maintenance-window', 'quiet-hours', 'route', 'webhook-target']), ...named }),
])
export type Settled = z.infer<typeof Settled>

/** Lines of the history that one answer has at most. */
export const maxHistoryLines = 200

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
/** Of what reports tell too. */
const reported = { callers: ['gateway', 'report'], feature: 'HEALTH' } as const

/** Methods about what was found, what became of it, and what operators settle. */
export const alertingMethods = {
  alertState: rpc({
    ...common,
    doc: 'What is not ok on one host or on all, as the last sweep left it; asks no host.',
    safe: true,
    input: z.object({ hostKey: HostKey.optional(), figuresOnly: z.boolean().default(false) }),
    output: z.object({
      hosts: z.array(AlertHost),
      /** Epoch milliseconds at which the last sweep began; null before the first. */
      sweptAtMs: Milliseconds.nullable(),
      isSweeping: z.boolean(),
      /** More conditions than one answer has. */
      truncated: z.boolean(),
    }),
  }),
  alertChecks: rpc({
    ...reported,
    doc: 'Every rule on one host, as the last sweep that asked found it; asks no host.',
    safe: true,
    input: z.object(ofHost),
    output: z.array(AlertCheck),
  }),
  alertHistory: rpc({
    ...reported,
    doc: 'What became of episodes, the newest first.',
    safe: true,
    input: z.object({
      hostKey: HostKey.optional(),
      fromMs: Milliseconds.optional(),
      toMs: Milliseconds.optional(),
      limit: z.int().min(1).max(maxHistoryLines),
    }),
    output: z.array(HistoryEntry),
  }),
  silences: rpc({
    ...reported,
    doc: 'Acknowledgements and dismissals that hold.',
    safe: true,
    input: z.object({}),
    output: z.array(Silence),
  }),
  silence: rpc({
    ...common,
    doc: 'Acknowledges or dismisses the condition of one rule on one host; `conflict` when it is another episode than the one named.',
    input: z.object({
      ...ofHost,
      kind: Silence.shape.kind,
      ruleId: RuleId,
      episode: z.string().max(160).optional(),
      /** Null holds until the recovery. */
      minutes: z.int().min(1).max(43_200).nullable(),
      note: Silence.shape.note,
    }),
    output: Silence,
  }),
  unsilence: rpc({
    ...common,
    doc: 'Takes back an acknowledgement or a dismissal.',
    input: z.object({ ...ofHost, kind: Silence.shape.kind, ruleId: RuleId }),
    output: Silence,
  }),
  alertPolicy: rpc({
    ...common,
    doc: 'All that operators have settled, and where each thing comes from.',
    safe: true,
    input: z.object({}),
    output: AlertPolicy,
  }),
  settle: rpc({
    ...common,
    doc: 'Settles one thing, in place of what the database had of it; `not-implemented` without a state database.',
    input: z.object({
      settling: Settling,
      /** What is secret of its value, as JSON encrypted with `alertSecretsKey`: these fields are added to it. */
      encrypted: Encrypted.optional(),
      /** Whether it must be new, or must be there already; null is both. */
      mustBe: z.enum(['new', 'known']).nullable().default(null),
    }),
    output: AlertPolicy,
  }),
  alertSecretsKey: rpc({
    ...common,
    doc: 'The key to encrypt secrets of channels with; only `alert-dispatcher` opens them.',
    safe: true,
    input: z.object({}),
    output: TransitPublicKey,
  }),
  unsettle: rpc({
    ...common,
    doc: 'Takes back what the database has of one thing; `conflict` for what comes from elsewhere.',
    input: z.object({ settled: Settled }),
    output: AlertPolicy,
  }),
  testCustomRule: rpc({
    ...common,
    doc: 'Measures the metric of a rule on one host and judges it, without keeping anything.',
    safe: true,
    input: z.object({ ...ofHost, rule: CustomRule.omit({ id: true }) }),
    output: z.object({
      status: AlertCheck.shape.status,
      value: z.number().nullable(),
      unit: Unit,
      reason: z.string().nullable(),
    }),
  }),
}
