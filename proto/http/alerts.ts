import { z } from 'zod'
import { HistoryEntry, Silence } from '../alert-history.ts'
import {
  AlertSettings,
  ChannelSaving,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  quietHoursProblem,
  RuleSettings,
  SettledId,
  settledFields,
  thresholdProblem,
  ToldRoute,
} from '../alert-policy.ts'
import { AlertCheck, AlertCondition, AlertHost, AlertPolicy, alertingMethods, maxHistoryLines } from '../alerting.ts'
import { DefinitionId } from '../catalogue.ts'
import { RuleMetric, ruleMethods } from '../rules.ts'
import { answer } from './answer.ts'
import { bodyHostId, hostId, text, whole, yesOrNo } from './parameters.ts'

/** The host as lists name it; `hostId` is null of one that is not in the list any more. */
const host = { hostId: z.int().nullable(), host: z.string() }
const nobodysHost = { hostId: z.int().nullable(), host: z.string().nullable() }
const RuleId = z.string().min(1).max(160)
const counted = z.object({ count: z.int() })

/** `GET /api/v1/health/checks`: every rule on one host, as the last sweep that asked found it. */
export const ChecksQuery = z.strictObject({ hostId: hostId.default(0) })
/** Its answer. */
export const ChecksAnswer = answer(z.array(AlertCheck), counted.extend({ host: z.string() }))

/** `GET /api/v1/health/snapshot`: all hosts in a few figures. */
export const SnapshotQuery = z.strictObject({})
/** Its answer. */
export const SnapshotAnswer = answer(
  z.array(AlertHost.omit({ hostKey: true, conditions: true }).extend(host)),
  /** `inbound`: conditions of inbound events, which are on no host. */
  counted.extend({ sweptAtMs: z.int().nullable(), isSweeping: z.boolean(), inbound: z.int() }),
)

/** `GET /api/v1/health/alert-state`: what is not ok, on one host or on all. */
export const AlertStateQuery = z.strictObject({ hostId: hostId.optional() })
/** Its answer. */
export const AlertStateAnswer = answer(
  /** `source` is null of a condition of ours; of what an inbound event began it stands for the host too, whose id is null. */
  z.array(AlertCondition.extend({ ...host, source: z.string().nullable() })),
  counted.extend({ sweptAtMs: z.int().nullable(), isSweeping: z.boolean(), truncated: z.boolean() }),
)

const daySentence = 'must be a day such as 2026-06-01, which is taken in UTC'
const dayMs = 86_400_000
const Day = text
  .regex(/^\d{4}-\d{2}-\d{2}$/, daySentence)
  .refine((day) => !Number.isNaN(Date.parse(day)), daySentence)
  .transform((day) => ({ fromMs: Date.parse(day), toMs: Date.parse(day) + dayMs }))
  .meta({ override: { type: 'string', format: 'date' } })

const usualLines = 100

/** `GET /api/v1/health/history`: what became of conditions, the newest first. */
export const HistoryQuery = z.strictObject({
  hostId: hostId.optional(),
  day: Day.optional(),
  limit: whole(1, maxHistoryLines).default(usualLines),
})
/** Its answer. */
export const HistoryAnswer = answer(z.array(HistoryEntry.omit({ hostKey: true }).extend(nobodysHost)), counted)

const durations = { '5m': 5, '15m': 15, '60m': 60, '4h': 240, recovery: null } as const
const Duration = z.enum(Object.keys(durations)).transform(
  (name) =>
    // The schema lets the names of `durations` through and no other.
    durations[name as keyof typeof durations],
)
const silencing = {
  hostId: bodyHostId,
  ruleId: RuleId,
  /** Refused with 409 when the condition has recovered and come back since. */
  episode: z.string().min(1).max(160).optional(),
  note: z.string().trim().max(500).default(''),
}

/** `POST /api/v1/health/ack`: ends the reminders of a condition for a while or until it recovers. */
export const AckRequest = z.strictObject({ ...silencing, duration: Duration })
/** `POST /api/v1/health/dismiss`: nobody is told of the condition for so many minutes, or until it recovers. */
export const DismissRequest = z.strictObject({
  ...silencing,
  minutes: z.int().min(1).max(43_200).nullable().default(null),
})
const { note } = silencing
/** `POST /api/v1/health/inbound/{episode}/ack`: the same of what an inbound event began. */
export const InboundAckRequest = z.strictObject({ duration: Duration, note })
/** `POST /api/v1/health/inbound/{episode}/dismiss` */
export const InboundDismissRequest = z.strictObject({ minutes: DismissRequest.shape.minutes, note })
/** `DELETE` of both names the condition. */
export const SilenceQuery = z.strictObject({
  hostId,
  ruleId: text.min(1, 'must name a rule').max(160, 'must not be longer than 160 characters'),
})
const HttpSilence = Silence.omit({ hostKey: true }).extend(nobodysHost)
/** The acknowledgement or dismissal as it is or was. */
export const SilenceAnswer = answer(HttpSilence, z.object({}))
/** `GET /api/v1/health/ack`: what holds, dismissals too. */
export const SilencesAnswer = answer(z.array(HttpSilence), counted)

const lasting = z.object({ lasting: z.boolean() })
/** At least one field: an empty body would mean that nothing is settled, which `DELETE` says. */
const filled = <S extends z.ZodObject>(schema: S) =>
  schema.strict().refine((body) => Object.keys(body).length > 0, 'must have at least one field; DELETE settles nothing')

/** `PUT /api/v1/health/alert-config`: replaces what was saved; absent fields are left to files, variables and defaults. */
export const AlertConfigRequest = filled(AlertSettings)
/** `GET`, `PUT` and `DELETE` answer with what holds, and where each field comes from. */
export const AlertConfigAnswer = answer(
  AlertPolicy.pick({ general: true, digestMinutes: true, channels: true, webhookTargets: true }),
  lasting,
)
/** `PUT /api/v1/health/alert-config/channels/{channel}` */
export const AlertChannelRequest = filled(ChannelSaving)

/** `PUT /api/v1/health/alert-digest` */
export const AlertDigestRequest = DigestSettings.strict()
/** `GET`, `PUT` and `DELETE` answer with the minutes for which findings are gathered; 0 gathers none. */
export const AlertDigestAnswer = answer(AlertPolicy.shape.digestMinutes, lasting)

/** `PUT /api/v1/health/check-alerts/{checkId}` */
export const CheckAlertsRequest = filled(RuleSettings)
/** Rules about which something is settled, with where each field comes from. */
export const CheckAlertsAnswer = answer(AlertPolicy.shape.rules, lasting.extend({ count: z.int() }))

const source = { source: z.string() }
/** What was made, changed or removed. */
export const SettledIdAnswer = answer(z.object({ id: z.string() }), z.object({}))
const newId = { id: SettledId.optional() }

const soundThresholds = (rule: Omit<CustomRule, 'id'>, context: z.RefinementCtx) => {
  const message = thresholdProblem(rule)
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['warning'], message })
}
const soundHours = (hours: Omit<QuietHours, 'id'>, context: z.RefinementCtx) => {
  const message = quietHoursProblem(hours)
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['end'], message })
}

/** `GET /api/v1/health/custom-rules`; `catalog=1` adds the metrics that rules may be put on. */
export const CustomRulesQuery = z.strictObject({ catalog: yesOrNo.default(false) })
/** Its answer. */
export const CustomRulesAnswer = answer(
  z.array(CustomRule.extend(source)),
  lasting.extend({ count: z.int(), metrics: z.array(RuleMetric).nullable() }),
)
/** `POST /api/v1/health/custom-rules` and `PUT …/{id}` */
export const CustomRuleRequest = z.strictObject(settledFields.customRule).superRefine(soundThresholds)
/** `POST /api/v1/health/custom-rules/test`: measures once what the rule would judge. */
export const CustomRuleTestRequest = z
  .strictObject({
    ...settledFields.customRule,
    name: CustomRule.shape.name.default('test'),
    hostId: bodyHostId.default(0),
  })
  .superRefine(soundThresholds)
/** Its answer. */
export const CustomRuleTestAnswer = answer(alertingMethods.testCustomRule.output, z.object({ host: z.string() }))

const Instant = z.iso.datetime({ offset: true, error: 'must be a time with its zone, such as 2026-06-01T22:00:00Z' })
const window = {
  /** Null is all hosts. */
  hostId: bodyHostId.nullable().default(null),
  ...settledFields.maintenance,
  startsAt: Instant,
  endsAt: Instant,
}
const endsLater = { path: ['endsAt'], error: 'must be later than startsAt' }
const isForwards = ({ startsAt, endsAt }: { startsAt: string; endsAt: string }) =>
  Date.parse(startsAt) < Date.parse(endsAt)

/** `GET /api/v1/health/maintenance-windows`; `host` is null of a window for all. */
export const MaintenanceWindowsAnswer = answer(
  z.array(
    MaintenanceWindow.pick({ id: true, reason: true }).extend({
      ...nobodysHost,
      startsAt: z.iso.datetime(),
      endsAt: z.iso.datetime(),
      ...source,
    }),
  ),
  lasting.extend({ count: z.int() }),
)
/** `POST /api/v1/health/maintenance-windows` */
export const NewMaintenanceWindow = z.strictObject({ ...newId, ...window }).refine(isForwards, endsLater)
/** `PUT /api/v1/health/maintenance-windows/{id}` */
export const MaintenanceWindowRequest = z.strictObject(window).refine(isForwards, endsLater)

/** `GET /api/v1/health/quiet-hours` */
export const QuietHoursAnswer = answer(z.array(QuietHours.extend(source)), lasting.extend({ count: z.int() }))
/** `POST /api/v1/health/quiet-hours` */
export const NewQuietHours = z.strictObject({ ...newId, ...settledFields.quietHours }).superRefine(soundHours)
/** `PUT /api/v1/health/quiet-hours/{id}` */
export const QuietHoursRequest = z.strictObject(settledFields.quietHours).superRefine(soundHours)

/** `GET /api/v1/health/routes` */
export const RoutesAnswer = answer(z.array(ToldRoute.extend(source)), lasting.extend({ count: z.int() }))
/** `POST /api/v1/health/routes` */
export const NewRoute = z.strictObject({ ...newId, ...settledFields.route })
/** `PUT /api/v1/health/routes/{id}` */
export const RouteRequest = z.strictObject(settledFields.route)

/** `POST /api/v1/health/actions`: the rows that explain a rule on one host. */
export const DiagnosisRequest = z.strictObject({ hostId: bodyHostId.default(0), ruleId: DefinitionId })
/** Its answer. */
export const DiagnosisAnswer = answer(
  ruleMethods.diagnoseRule.output.omit({ unavailable: true }),
  z.object({ host: z.string(), unavailable: z.string().nullable() }),
)
