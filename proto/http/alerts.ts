import { z } from 'zod'
import { AlertHistoryEntry, Silence } from '../alert-history.ts'
import {
  AlertSettings,
  ChannelSettingsUpdate,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  findQuietHoursProblem,
  SqlRule,
  AlertConfigId,
  alertConfigFields,
  findThresholdProblem,
  CheckedRoute,
} from '../alert-policy.ts'
import {
  AlertCheck,
  AlertCondition,
  AlertHost,
  AlertPolicy,
  alertingMethods,
  maxAlertHistoryEntries,
} from '../alerting.ts'
import { DefinitionId } from '../catalogue.ts'
import { RuleMetric, ruleMethods } from '../rules.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId, hostId, textParameter, createIntegerParameter, booleanParameter } from './parameters.ts'

/** The name of the host; `hostId` is null if it is no longer configured. */
const host = { hostId: z.int().nullable(), host: z.string() }
const optionalHost = { hostId: z.int().nullable(), host: z.string().nullable() }
const RuleId = z.string().min(1).max(160)
const counted = z.object({ count: z.int() })

/** The page with the queries that cause a condition, and the minutes that its rule looks back; null if unknown. */
const causes = z.object({ path: z.string(), minutes: z.int().nullable() }).nullable().optional()

/** `GET /api/v1/health/checks`: every rule on one host, as of the last sweep that evaluated it. */
export const ChecksQuery = z.strictObject({ hostId: hostId.default(0) })
/** Response of `GET /api/v1/health/checks`. */
export const ChecksResponse = createResponseSchema(z.array(AlertCheck), counted.extend({ host: z.string() }))

/** `GET /api/v1/health/snapshot`: counts over all hosts. */
export const SnapshotQuery = z.strictObject({})
/** Response of `GET /api/v1/health/snapshot`. */
export const SnapshotResponse = createResponseSchema(
  z.array(AlertHost.omit({ hostKey: true, conditions: true }).extend(host)),
  /** `inbound` is the number of conditions of inbound events, which have no host. */
  counted.extend({ sweptAtMs: z.int().nullable(), isSweeping: z.boolean(), inbound: z.int() }),
)

/** `GET /api/v1/health/alert-state`: conditions that are not ok on one host or on all. */
export const AlertStateQuery = z.strictObject({ hostId: hostId.optional() })
/** Response of `GET /api/v1/health/alert-state`. */
export const AlertStateResponse = createResponseSchema(
  /**
   * `source` is null for conditions of the product's own rules. For conditions of inbound events, `source` and `host`
   * are the name of the source, and `hostId` is null.
   */
  z.array(AlertCondition.extend({ ...host, source: z.string().nullable(), causes })),
  counted.extend({ sweptAtMs: z.int().nullable(), isSweeping: z.boolean(), truncated: z.boolean() }),
)

const daySentence = 'must be a day such as 2026-06-01, in UTC'
const dayMs = 86_400_000
const Day = textParameter
  .regex(/^\d{4}-\d{2}-\d{2}$/, daySentence)
  .refine((day) => !Number.isNaN(Date.parse(day)), daySentence)
  .transform((day) => ({ fromMs: Date.parse(day), toMs: Date.parse(day) + dayMs }))
  .meta({ override: { type: 'string', format: 'date' } })

const defaultLines = 100

/** `GET /api/v1/health/history`: the history of conditions, newest first. */
export const HistoryQuery = z.strictObject({
  hostId: hostId.optional(),
  day: Day.optional(),
  limit: createIntegerParameter(1, maxAlertHistoryEntries).default(defaultLines),
})
/** Response of `GET /api/v1/health/history`. */
export const HistoryResponse = createResponseSchema(
  z.array(AlertHistoryEntry.omit({ hostKey: true }).extend({ ...optionalHost, causes })),
  counted,
)

const durations = { '5m': 5, '15m': 15, '60m': 60, '4h': 240, recovery: null } as const
const Duration = z.enum(Object.keys(durations)).transform(
  (name) =>
    // The schema allows only the names of `durations`.
    durations[name as keyof typeof durations],
)
const silenceFields = {
  hostId: bodyHostId,
  ruleId: RuleId,
  /** The request fails with 409 if the condition has a newer episode. */
  episode: z.string().min(1).max(160).optional(),
  note: z.string().trim().max(500).default(''),
}

/** `POST /api/v1/health/ack`: suppresses the reminders of a condition for a limited time or until it recovers. */
export const AckRequest = z.strictObject({ ...silenceFields, duration: Duration })
/** `POST /api/v1/health/dismiss`: suppresses notifications of a condition for `minutes` or until it recovers. */
export const DismissRequest = z.strictObject({
  ...silenceFields,
  minutes: z.int().min(1).max(43_200).nullable().default(null),
})
const { note } = silenceFields
/** `POST /api/v1/health/inbound/{episode}/ack`: acknowledges a condition of an inbound event. */
export const InboundAckRequest = z.strictObject({ duration: Duration, note })
/** `POST /api/v1/health/inbound/{episode}/dismiss`: dismisses a condition of an inbound event. */
export const InboundDismissRequest = z.strictObject({ minutes: DismissRequest.shape.minutes, note })
/** `DELETE /api/v1/health/ack` and `…/dismiss`: the condition whose silence is removed. */
export const SilenceQuery = z.strictObject({
  hostId,
  ruleId: textParameter.min(1, 'must name a rule').max(160, 'must not be longer than 160 characters'),
})
const HttpSilence = Silence.omit({ hostKey: true }).extend(optionalHost)
/** Response with the acknowledgement or dismissal that was created or removed. */
export const SilenceResponse = createResponseSchema(HttpSilence, z.object({}))
/** `GET /api/v1/health/ack`: acknowledgements and dismissals in force. */
export const SilencesResponse = createResponseSchema(z.array(HttpSilence), counted)

const persistent = z.object({ persistent: z.boolean() })
/**
 * Returns a strict schema that requires at least one field, because an empty body would reset everything, like
 * `DELETE`.
 */
const requireAnyField = <S extends z.ZodObject>(schema: S) =>
  schema
    .strict()
    .refine((body) => Object.keys(body).length > 0, 'must have at least one field; DELETE removes the configuration')

/**
 * `PUT /api/v1/health/alert-config`: replaces the saved settings. Absent fields fall back to files, variables and
 * defaults.
 */
export const AlertConfigRequest = requireAnyField(AlertSettings)
/** Response of `GET`, `PUT` and `DELETE /api/v1/health/alert-config`: the settings in force, with their sources. */
export const AlertConfigResponse = createResponseSchema(
  AlertPolicy.pick({ general: true, digestMinutes: true, channels: true, webhookTargets: true }),
  persistent,
)
/** Body of `PUT /api/v1/health/alert-config/channels/{channel}`. */
export const AlertChannelRequest = requireAnyField(ChannelSettingsUpdate)

/** Body of `PUT /api/v1/health/alert-digest`. */
export const AlertDigestRequest = DigestSettings.strict()
/** Response of `GET`, `PUT` and `DELETE /api/v1/health/alert-digest`: the digest window in minutes, 0 if disabled. */
export const AlertDigestResponse = createResponseSchema(AlertPolicy.shape.digestMinutes, persistent)

/** Body of `PUT /api/v1/health/check-alerts/{checkId}`. */
export const CheckAlertsRequest = requireAnyField(z.object(alertConfigFields.rule))
/** Rules with a configuration, with the source of each field. */
export const CheckAlertsResponse = createResponseSchema(AlertPolicy.shape.rules, persistent.extend({ count: z.int() }))

const source = { source: z.string() }
/** The id of the created, changed or deleted entry. */
export const AlertConfigIdResponse = createResponseSchema(z.object({ id: z.string() }), z.object({}))
const newId = { id: AlertConfigId.optional() }

const checkThresholds = (rule: Parameters<typeof findThresholdProblem>[0], context: z.RefinementCtx) => {
  const message = findThresholdProblem(rule)
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['warning'], message })
}
const checkHours = (hours: Omit<QuietHours, 'id'>, context: z.RefinementCtx) => {
  const message = findQuietHoursProblem(hours)
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['end'], message })
}

/** `GET /api/v1/health/custom-rules`; `catalog=1` adds the metrics for custom rules. */
export const CustomRulesQuery = z.strictObject({ catalog: booleanParameter.default(false) })
/** Response of `GET /api/v1/health/custom-rules`; `metrics` is null without `catalog=1`. */
export const CustomRulesResponse = createResponseSchema(
  z.array(CustomRule.extend(source)),
  persistent.extend({ count: z.int(), metrics: z.array(RuleMetric).nullable() }),
)
/** Body of `POST /api/v1/health/custom-rules` and `PUT /api/v1/health/custom-rules/{id}`. */
export const CustomRuleRequest = z.strictObject(alertConfigFields.customRule).superRefine(checkThresholds)
/** `POST /api/v1/health/custom-rules/test`: measures and evaluates a rule once. */
export const CustomRuleTestRequest = z
  .strictObject({
    ...alertConfigFields.customRule,
    name: CustomRule.shape.name.default('test'),
    hostId: bodyHostId.default(0),
  })
  .superRefine(checkThresholds)
/** Response of `POST /api/v1/health/custom-rules/test`. */
export const CustomRuleTestResponse = createResponseSchema(
  alertingMethods.testCustomRule.output,
  z.object({ host: z.string() }),
)

/** Response of `GET /api/v1/health/sql-rules`. */
export const SqlRulesResponse = createResponseSchema(
  z.array(SqlRule.extend(source)),
  persistent.extend({ count: z.int() }),
)
/** Body of `POST /api/v1/health/sql-rules` and `PUT /api/v1/health/sql-rules/{id}`. */
export const SqlRuleRequest = z.strictObject(alertConfigFields.sqlRule).superRefine(checkThresholds)
/** `POST /api/v1/health/sql-rules/test`: runs the statement of a rule once and evaluates the rule. */
export const SqlRuleTestRequest = z
  .strictObject({
    ...alertConfigFields.sqlRule,
    name: SqlRule.shape.name.default('test'),
    hostId: bodyHostId.default(0),
  })
  .superRefine(checkThresholds)
/** Response of `POST /api/v1/health/sql-rules/test`. */
export const SqlRuleTestResponse = createResponseSchema(
  alertingMethods.testSqlRule.output,
  z.object({ host: z.string() }),
)

const Instant = z.iso.datetime({ offset: true, error: 'must be a time with its zone, such as 2026-06-01T22:00:00Z' })
const window = {
  /** The affected host; null means all hosts. */
  hostId: bodyHostId.nullable().default(null),
  ...alertConfigFields.maintenance,
  startsAt: Instant,
  endsAt: Instant,
}
const endBeforeStartIssue = { path: ['endsAt'], error: 'must be later than startsAt' }
const hasEndAfterStart = ({ startsAt, endsAt }: { startsAt: string; endsAt: string }) =>
  Date.parse(startsAt) < Date.parse(endsAt)

/** Response of `GET /api/v1/health/maintenance-windows`; `host` is null for a window of all hosts. */
export const MaintenanceWindowsResponse = createResponseSchema(
  z.array(
    MaintenanceWindow.pick({ id: true, reason: true }).extend({
      ...optionalHost,
      startsAt: z.iso.datetime(),
      endsAt: z.iso.datetime(),
      ...source,
    }),
  ),
  persistent.extend({ count: z.int() }),
)
/** Body of `POST /api/v1/health/maintenance-windows`. */
export const NewMaintenanceWindow = z
  .strictObject({ ...newId, ...window })
  .refine(hasEndAfterStart, endBeforeStartIssue)
/** Body of `PUT /api/v1/health/maintenance-windows/{id}`. */
export const MaintenanceWindowRequest = z.strictObject(window).refine(hasEndAfterStart, endBeforeStartIssue)

/** Response of `GET /api/v1/health/quiet-hours`. */
export const QuietHoursResponse = createResponseSchema(
  z.array(QuietHours.extend(source)),
  persistent.extend({ count: z.int() }),
)
/** Body of `POST /api/v1/health/quiet-hours`. */
export const NewQuietHours = z.strictObject({ ...newId, ...alertConfigFields.quietHours }).superRefine(checkHours)
/** Body of `PUT /api/v1/health/quiet-hours/{id}`. */
export const QuietHoursRequest = z.strictObject(alertConfigFields.quietHours).superRefine(checkHours)

/** Response of `GET /api/v1/health/routes`. */
export const RoutesResponse = createResponseSchema(
  z.array(CheckedRoute.extend(source)),
  persistent.extend({ count: z.int() }),
)
/** Body of `POST /api/v1/health/routes`. */
export const NewRoute = z.strictObject({ ...newId, ...alertConfigFields.route })
/** Body of `PUT /api/v1/health/routes/{id}`. */
export const RouteRequest = z.strictObject(alertConfigFields.route)

/** `POST /api/v1/health/actions`: the rows that explain a rule on one host. */
export const DiagnosisRequest = z.strictObject({ hostId: bodyHostId.default(0), ruleId: DefinitionId })
/** Response of `POST /api/v1/health/actions`. */
export const DiagnosisResponse = createResponseSchema(
  ruleMethods.diagnoseRule.output.omit({ unavailable: true }),
  z.object({ host: z.string(), unavailable: z.string().nullable() }),
)
