import { z } from 'zod'
import {
  AlertSettings,
  ChannelSettings,
  DigestSettings,
  findQuietHoursProblem,
  RuleSettings,
  AlertConfigId,
  alertConfigFields,
  findThresholdProblem,
} from '#proto/alert-policy.ts'
import { HostKey } from '#proto/host.ts'
import { Severity } from '#proto/rules.ts'
import { EnvironmentVariableName } from '../../channels/webhook-target-list.ts'

const { rule, customRule, sqlRule, quietHours, route, maintenance } = alertConfigFields

const checkThresholds = (rule: Parameters<typeof findThresholdProblem>[0], context: z.RefinementCtx): void => {
  const problem = findThresholdProblem(rule)
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['warning'], message: problem })
}

export const FileCustomRule = z.strictObject({ id: AlertConfigId, ...customRule }).superRefine(checkThresholds)
export const FileSqlRule = z.strictObject({ id: AlertConfigId, ...sqlRule }).superRefine(checkThresholds)

export const FileThresholds = RuleSettings.pick({ warning: true, critical: true }).strict()
export const FileRuleSettings = z.strictObject(rule)
export const FileAlertSettings = AlertSettings.strict()
export const FileDigest = DigestSettings.strict()

export const FileRoute = z.strictObject({ id: AlertConfigId, ...route })

export const FileQuietHours = z.strictObject({ id: AlertConfigId, ...quietHours }).superRefine((hours, context) => {
  const problem = findQuietHoursProblem(hours)
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['end'], message: problem })
})

const instant = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-06-01T22:00:00Z' })
  .transform((text) => Date.parse(text))

/** A maintenance window in a file. `host` is a host name; null or absent means all hosts. */
export const FileMaintenanceWindow = z
  .strictObject({
    id: AlertConfigId,
    ...maintenance,
    host: HostKey.nullable().default(null),
    startsAt: instant,
    endsAt: instant,
  })
  .refine(({ startsAt, endsAt }) => startsAt < endsAt, { path: ['endsAt'], message: 'must be later than startsAt' })

/** A channel in a file. `target` has plain values and `secretEnv` names of variables with secrets, by channel field. */
export const FileChannel = z.strictObject({
  channel: z.string().min(1).max(64),
  ...ChannelSettings.shape,
  minSeverity: Severity.nullable().optional(),
  target: z.record(z.string().max(64), z.union([z.string().max(1_000), z.number()])).default({}),
  secretEnv: z.record(z.string().max(64), EnvironmentVariableName).default({}),
})
