import { z } from 'zod'
import { DefinitionId } from './catalogue.ts'
import { HostKey } from './host.ts'
import { Severity } from './rules.ts'

/** Id of something that operators settle; those of custom rules begin with `custom:`. */
export const SettledId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9:_.-]{0,127}$/i, 'must be 1 to 128 letters, digits, dots, dashes, underscores or colons')

/** Whole minutes of at most a day. */
const minutes = z.int().min(0).max(1_440)
const sweeps = z.int().min(1).max(100)
const threshold = z.number().nullable()

/** What holds for all alerts; absent fields are left to the next layer below. */
export const AlertSettings = z.object({
  /** False pauses dispatch; checks go on. */
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
  /** Minutes before a condition is told again at the same severity; 0 never tells it again. */
  cooldownMinutes: z.int().min(0).max(43_200).optional(),
  breaches: sweeps.optional(),
  clears: sweeps.optional(),
})
export type AlertSettings = z.infer<typeof AlertSettings>

/** Whether non-critical findings are gathered, and for how long. */
export const DigestSettings = z.object({ enabled: z.boolean(), windowMinutes: minutes })
export type DigestSettings = z.infer<typeof DigestSettings>

/** What operators want otherwise about one rule; absent fields are the rule's own. */
export const RuleSettings = z.object({
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
  warning: z.number().optional(),
  critical: z.number().optional(),
  breaches: sweeps.optional(),
  clears: sweeps.optional(),
})
export type RuleSettings = z.infer<typeof RuleSettings>

const operators = ['>', '>=', '<', '<='] as const

const customRule = {
  name: z.string().trim().min(1).max(80),
  metric: DefinitionId,
  operator: z.enum(operators),
  warning: threshold.default(null),
  critical: threshold.default(null),
  enabled: z.boolean().default(true),
}
/** A rule that operators put on one of the metrics that `query` measures. */
export const CustomRule = z.object({ id: SettledId, ...customRule })
export type CustomRule = z.infer<typeof CustomRule>

/** What is wrong with the thresholds of a custom rule; undefined when nothing is. */
export const thresholdProblem = ({ operator, warning, critical }: Omit<CustomRule, 'id'>): string | undefined => {
  if (warning === null && critical === null) return 'or critical must be given'
  if (warning === null || critical === null) return undefined
  const above = operator === '>' || operator === '>='
  return (above ? critical >= warning : critical <= warning)
    ? undefined
    : `must not be beyond critical: with ${operator} critical is at ${above ? 'least' : 'most'} as much`
}

/** A stated time in which nobody is told anything about one host, or about any where `hostKey` is null; half open. */
export const MaintenanceWindow = z.object({
  id: SettledId,
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
  /** 0 is Sunday. */
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
 * Hours of a week in an IANA zone; a window that ends before it starts runs over midnight and belongs to the day it starts on.
 * `severityCap` `critical` lets critical pass; null holds everything.
 */
export const QuietHours = z.object({ id: SettledId, ...quietHours })
export type QuietHours = z.infer<typeof QuietHours>

/** What is wrong with the times of quiet hours; undefined when nothing is. */
export const quietHoursProblem = ({ start, end }: Pick<QuietHours, 'start' | 'end'>): string | undefined =>
  start === end ? 'must differ from start; 00:00 to 24:00 is the whole day' : undefined

const glob = z.string().min(1).max(128).default('*')

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
  /** Where it matches, no route after it is asked. */
  last: z.boolean().default(false),
}
/** Where notices go that match; `*` is any text, `?` any character. Routes are asked in the order of their ids, those of files after them. */
export const Route = z.object({ id: SettledId, ...route })
export type Route = z.infer<typeof Route>

/** A route as it is told: why it leads to nobody, so that it matches nothing; null when it leads to somebody. */
export const ToldRoute = Route.extend({ problem: z.string().nullable().default(null) })

/** What operators want otherwise about one channel; absent fields are left to the next layer below. */
export const ChannelSettings = z.object({
  enabled: z.boolean().optional(),
  minSeverity: Severity.optional(),
})
export type ChannelSettings = z.infer<typeof ChannelSettings>

/**
 * What is saved of a channel: its switch and its floor, and texts of its settings by field. A field that is not named keeps what
 * was saved, since secrets are never given back; null takes it back.
 */
export const ChannelSaving = ChannelSettings.extend({
  settings: z
    .record(z.string().regex(/^[a-z][A-Za-z0-9]{0,63}$/), z.string().trim().min(1).max(8_000).nullable())
    .optional(),
})
export type ChannelSaving = z.infer<typeof ChannelSaving>

/** One setting of a channel; of a secret `value` is its end at most. */
export const ChannelField = z.object({
  field: z.string(),
  variable: z.string(),
  isSecret: z.boolean(),
  value: z.string().nullable(),
  /** Where it was settled; a newer release may know more. */
  source: z.string().max(32),
})
export type ChannelField = z.infer<typeof ChannelField>

/** The fields of what people write themselves: everything but the id, and of a window the host as they name it. */
export const settledFields = {
  customRule,
  quietHours,
  route,
  maintenance: { reason: z.string().trim().max(300).default('') },
}
