import { z } from 'zod'
import { DefinitionId, Unit } from './catalogue.ts'
import { HostKey } from './host.ts'
import { Severity } from './rule-definition.ts'

/** Id of an alert configuration entry; those of custom rules begin with `custom:`, those of SQL rules with `sql:`. */
export const AlertConfigId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9:_.-]{0,127}$/i, 'must be 1 to 128 letters, digits, dots, dashes, underscores or colons')

/** A duration in whole minutes, at most one day. */
const minutes = z.int().min(0).max(1_440)
const sweeps = z.int().min(1).max(100)
const threshold = z.number().nullable()
const glob = z.string().min(1).max(128).default('*')

/** Settings of all alerts. Absent fields are inherited from the next layer: database, file, environment, defaults. */
export const AlertSettings = z.object({
  /** Whether notifications are sent. If false, rules are still evaluated. */
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
  /** Minutes before a reminder of a condition at the same severity; 0 disables reminders. */
  cooldownMinutes: z.int().min(0).max(43_200).optional(),
  breaches: sweeps.optional(),
  clears: sweeps.optional(),
  /** Interval of sweeps; 0 disables the schedule. Variables of the sweep take precedence. */
  sweepMinutes: minutes.optional(),
})
export type AlertSettings = z.infer<typeof AlertSettings>

/** Whether non-critical findings are grouped into digests, and the length of a digest window in minutes. */
export const DigestSettings = z.object({ enabled: z.boolean(), windowMinutes: minutes })
export type DigestSettings = z.infer<typeof DigestSettings>

/**
 * Thresholds of a rule on hosts whose name and group match. Absent ones are those of the rule; a severity with a null
 * threshold is never reached. The first matching entry applies.
 */
export const HostThresholds = z.object({
  matchHost: glob,
  matchGroup: glob,
  warning: threshold.optional(),
  critical: threshold.optional(),
})
export type HostThresholds = z.infer<typeof HostThresholds>
const hostThresholds = { hostThresholds: z.array(HostThresholds).max(50).optional() }

/** Overrides for one rule. Absent fields have the values of the rule. */
export const RuleSettings = z.object({
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
  warning: z.number().optional(),
  critical: z.number().optional(),
  breaches: sweeps.optional(),
  clears: sweeps.optional(),
  ...hostThresholds,
})
export type RuleSettings = z.infer<typeof RuleSettings>

const operators = ['>', '>=', '<', '<='] as const

/** The fields that rules of operators have in common. */
const ownRule = {
  name: z.string().trim().min(1).max(80),
  operator: z.enum(operators),
  warning: threshold.default(null),
  critical: threshold.default(null),
  ...hostThresholds,
  enabled: z.boolean().default(true),
}
const customRule = { ...ownRule, metric: DefinitionId }
/** A rule that operators define on one of the metrics of `query`. */
export const CustomRule = z.object({ id: AlertConfigId, ...customRule })
export type CustomRule = z.infer<typeof CustomRule>

/** Maximum number of SQL rules. Each is one statement per host and sweep. */
export const maxSqlRules = 50
/** Maximum length of the statement of an SQL rule, in characters. */
export const maxRuleSqlLength = 8_000

const sqlRule = {
  ...ownRule,
  /** A SELECT statement. Its value is the first column of the first row. A second column names what is affected. */
  sql: z.string().trim().min(1).max(maxRuleSqlLength),
  unit: Unit.default('none'),
  /** What the condition means and what to do; part of each notification. */
  summary: z.string().trim().max(1_000).default(''),
  /** The hosts on which the rule is evaluated. */
  matchHost: glob,
  matchGroup: glob,
  breaches: sweeps.optional(),
  clears: sweeps.optional(),
}
/** A rule whose value is the result of a read-only statement of an operator. */
export const SqlRule = z.object({ id: AlertConfigId, ...sqlRule })
export type SqlRule = z.infer<typeof SqlRule>

/** Returns why the thresholds of a custom rule or SQL rule are invalid; undefined if they are valid. */
export const findThresholdProblem = ({
  operator,
  warning,
  critical,
}: Pick<CustomRule, 'operator' | 'warning' | 'critical'>): string | undefined => {
  if (warning === null && critical === null) return 'or critical is required'
  if (warning === null || critical === null) return undefined
  const above = operator === '>' || operator === '>='
  return (above ? critical >= warning : critical <= warning)
    ? undefined
    : `must not be beyond critical; with ${operator}, critical must be at ${above ? 'least' : 'most'} warning`
}

/**
 * A maintenance window without notifications for one host, or for all hosts if `hostKey` is null. The end is exclusive.
 */
export const MaintenanceWindow = z.object({
  id: AlertConfigId,
  hostKey: HostKey.nullable(),
  reason: z.string().max(300),
  startsAtMs: z.number().int(),
  endsAtMs: z.number().int(),
})
export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>

const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time of day such as 22:30, or 24:00 for the end of the day')

const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const quietHours = {
  /** Days of the week on which the quiet hours start; 0 is Sunday. */
  days: z
    .array(z.int().min(0).max(6))
    .min(1)
    .refine((days) => new Set(days).size === days.length, 'must name each day once'),
  start: timeOfDay.refine((time) => time !== '24:00', 'must be earlier than 24:00'),
  end: timeOfDay,
  timezone: z.string().max(64).refine(isTimeZone, 'must be a time zone such as Europe/Berlin').default('UTC'),
  severityCap: z.literal('critical').nullable().default('critical'),
}
/**
 * Weekly quiet hours in an IANA time zone. Quiet hours that end before they start span midnight and belong to the day
 * of their start. If `severityCap` is `critical`, notifications of critical findings are still sent; if null, none are.
 */
export const QuietHours = z.object({ id: AlertConfigId, ...quietHours })
export type QuietHours = z.infer<typeof QuietHours>

/** Returns why the times of quiet hours are invalid; undefined if they are valid. */
export const findQuietHoursProblem = ({ start, end }: Pick<QuietHours, 'start' | 'end'>): string | undefined =>
  start === end ? 'must differ from start; 00:00 to 24:00 is the whole day' : undefined

const route = {
  matchRule: glob,
  matchHost: glob,
  matchGroup: glob,
  matchTag: glob,
  matchSeverity: z.enum(['*', 'warning', 'critical']).default('*'),
  /** Name of a channel or of a webhook target. */
  target: z.string().min(1).max(64),
  enabled: z.boolean().default(true),
  minSeverity: Severity.nullable().default(null),
  /** Whether routing stops here: if this route matches, no further routes are evaluated. */
  last: z.boolean().default(false),
}
/**
 * A route, which sends matching notifications to one target. `*` matches any text, `?` any character. Routes are
 * evaluated in id order, those of files last.
 */
export const NotificationRoute = z.object({ id: AlertConfigId, ...route })
export type NotificationRoute = z.infer<typeof NotificationRoute>

/** A route. `problem` is why its target is invalid; null if it is valid. Invalid routes match nothing. */
export const CheckedRoute = NotificationRoute.extend({ problem: z.string().nullable().default(null) })

/** Settings of one channel. Absent fields are inherited from the next layer: database, file, environment. */
export const ChannelSettings = z.object({
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
})
export type ChannelSettings = z.infer<typeof ChannelSettings>

/**
 * The saved settings of a channel: whether it is enabled, its minimum severity, and its fields. An absent field keeps
 * its saved value, because secrets are never returned; null deletes it.
 */
export const ChannelSettingsUpdate = ChannelSettings.extend({
  settings: z
    .record(z.string().regex(/^[a-z][A-Za-z0-9]{0,63}$/), z.string().trim().min(1).max(8_000).nullable())
    .optional(),
})
export type ChannelSettingsUpdate = z.infer<typeof ChannelSettingsUpdate>

/** One setting of a channel. For a secret, `value` only shows that it is set. */
export const ChannelField = z.object({
  field: z.string(),
  variable: z.string(),
  isSecret: z.boolean(),
  value: z.string().nullable(),
  /** The source of the entry; a newer release may add values. */
  source: z.string().max(32),
})
export type ChannelField = z.infer<typeof ChannelField>

/** Thresholds of hosts in requests and files, where unknown and missing fields are errors. */
const checkedHostThresholds = {
  hostThresholds: z
    .array(
      HostThresholds.strict().refine(
        ({ warning, critical }) => warning !== undefined || critical !== undefined,
        'must have warning or critical',
      ),
    )
    .max(50)
    .optional(),
}

/** The fields of alert configuration entries, without the id and, for maintenance windows, without the host. */
export const alertConfigFields = {
  rule: { ...RuleSettings.shape, ...checkedHostThresholds },
  customRule: { ...customRule, ...checkedHostThresholds },
  sqlRule: { ...sqlRule, ...checkedHostThresholds },
  quietHours,
  route,
  maintenance: { reason: z.string().trim().max(300).default('') },
}
