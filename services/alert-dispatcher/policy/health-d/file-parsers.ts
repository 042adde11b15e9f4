import { z } from 'zod'
import type { RuleSettings } from '#proto/alert-policy.ts'
import { DefinitionId } from '#proto/catalogue.ts'
import { describeIssue } from '#shared/text/zod-errors.ts'
import { FileWebhookTarget } from '../../channels/webhook-target-list.ts'
import { type PolicyLayer, toDigestMinutes, type ChannelLayer } from '../layers/layer.ts'
import { type ChannelSpec, listFields } from '../saved-channels/channel-fields.ts'
import {
  type YamlDocument,
  parseMappingFields,
  parseList,
  reportUnknownKeys,
  parseMapping,
  describeIssues,
  type ReportProblem,
} from './parse-entries.ts'
import {
  FileRuleSettings,
  FileDigest,
  FileMaintenanceWindow,
  FileQuietHours,
  FileRoute,
  FileCustomRule,
  FileSqlRule,
  FileAlertSettings,
  FileThresholds,
  FileChannel,
} from './file-schemas.ts'

type ReadFile = (
  document: YamlDocument,
  report: ReportProblem,
  channels: readonly ChannelSpec[],
) => Partial<PolicyLayer>

const idOf = ({ id }: { id: string }): string => id

const alerts: ReadFile = (document, report) => {
  reportUnknownKeys(document, ['settings', 'rules', 'sqlRules', 'thresholds', 'checks'], report)
  const general = parseMappingFields(document, { key: 'settings', schema: FileAlertSettings }, report)
  const byRule = { name: DefinitionId }
  const thresholds = parseMapping(document, { ...byRule, key: 'thresholds', schema: FileThresholds }, report)
  const checks = parseMapping(document, { ...byRule, key: 'checks', schema: FileRuleSettings }, report)
  const custom = parseList(document, { key: 'rules', schema: FileCustomRule, idOf }, report)
  const sqlRules = parseList(document, { key: 'sqlRules', schema: FileSqlRule, idOf }, report)
  return {
    general: general ?? {},
    rules: mergeRuleSettings(thresholds, checks),
    custom: custom.map((rule) => ({ ...rule, id: withPrefix('custom:', rule.id) })),
    sqlRules: sqlRules.map((rule) => ({ ...rule, id: withPrefix('sql:', rule.id) })),
  }
}

/** Adds the prefix that keeps ids of custom rules and SQL rules apart from others, unless the id has it already. */
const withPrefix = (prefix: string, id: string): string => (id.startsWith(prefix) ? id : `${prefix}${id}`)

const mergeRuleSettings = (
  thresholds: Readonly<Record<string, RuleSettings>>,
  checks: Readonly<Record<string, RuleSettings>>,
): Record<string, RuleSettings> =>
  Object.fromEntries(
    [...new Set([...Object.keys(thresholds), ...Object.keys(checks)])].map((rule) => [
      rule,
      { ...thresholds[rule], ...checks[rule] },
    ]),
  )

const routing: ReadFile = (document, report) => {
  reportUnknownKeys(document, ['routes'], report)
  return { routes: parseList(document, { key: 'routes', schema: FileRoute, idOf }, report) }
}

const channels: ReadFile = (document, report, known) => {
  reportUnknownKeys(document, ['channels', 'webhookTargets'], report)
  const targets = { key: 'webhookTargets', schema: FileWebhookTarget, idOf: ({ name }: { name: string }) => name }
  return { channels: parseChannelLayers(document, report, known), webhookTargets: parseList(document, targets, report) }
}

const quietHours: ReadFile = (document, report) => {
  reportUnknownKeys(document, ['windows'], report)
  return { quietHours: parseList(document, { key: 'windows', schema: FileQuietHours, idOf }, report) }
}

const maintenance: ReadFile = (document, report) => {
  reportUnknownKeys(document, ['windows'], report)
  const windows = parseList(document, { key: 'windows', schema: FileMaintenanceWindow, idOf }, report)
  return {
    maintenance: windows.map(({ id, host, reason, startsAt, endsAt }) => ({
      id,
      hostKey: host,
      reason,
      startsAtMs: startsAt,
      endsAtMs: endsAt,
    })),
  }
}

const digest: ReadFile = (document, report) => {
  const read = FileDigest.safeParse(document, { error: describeIssue })
  if (!read.success) report('', describeIssues(read.error))
  return { digestMinutes: read.data && toDigestMinutes(read.data) }
}

/** Parsers by file name without `.yaml` or `.yml`. */
export const fileParsers: Readonly<Record<string, ReadFile>> = {
  alerts,
  routing,
  channels,
  'quiet-hours': quietHours,
  maintenance,
  digest,
}

/**
 * Returns the channel settings of a file. Field names are derived from variables: `routingKey` is the field of
 * `…_ROUTING_KEY`.
 */
const parseChannelLayers = (
  document: YamlDocument,
  report: ReportProblem,
  known: readonly ChannelSpec[],
): Record<string, ChannelLayer> => {
  const schema = FileChannel.extend({ channel: z.enum(known.map(({ id }) => id)) })
  const entries = parseList(document, { key: 'channels', schema, idOf: ({ channel }) => channel }, report)
  return Object.fromEntries(
    known.flatMap((spec) => {
      const entry = entries.find(({ channel }) => channel === spec.id)
      return entry ? [[spec.id, buildChannelLayer(spec, entry, report)] as const] : []
    }),
  )
}

const buildChannelLayer = (
  spec: ChannelSpec,
  { enabled, minSeverity, target, secretEnv }: z.output<typeof FileChannel>,
  report: ReportProblem,
): ChannelLayer => {
  const place = `channels, ${spec.id}`
  const open = resolveVariables(spec, target, `${place}: target`, report).filter(({ field, name, text }) => {
    const setting = spec.settings[name]
    if (setting?.audience === 'secret')
      report(`${place}: target.${field}`, 'is a secret; put the name of its variable in secretEnv')
    else if (!isValid(spec, name, String(text))) report(`${place}: target.${field}`, 'invalid value')
    else return true
    return false
  })
  const secret = resolveVariables(spec, secretEnv, `${place}: secretEnv`, report)
  return {
    enabled,
    minSeverity: minSeverity ?? undefined,
    variables: Object.fromEntries(open.map(({ name, text }) => [name, String(text)])),
    fromVariables: Object.fromEntries(secret.map(({ name, text }) => [name, text])),
  }
}

/** Returns the variables of the fields; unknown fields are reported and skipped. */
const resolveVariables = <T>(
  channel: ChannelSpec,
  input: Readonly<Record<string, T>>,
  place: string,
  report: ReportProblem,
) => {
  const fields = listFields(channel)
  return Object.entries(input).flatMap(([field, text]) => {
    const known = fields.find((each) => each.field === field)
    if (known) return [{ field, name: known.variable, text }]
    const names = fields.map((each) => each.field).join(', ')
    report(place, `has an unknown field; fields of channel ${channel.id}: ${names}`)
    return []
  })
}

const isValid = ({ settings }: ChannelSpec, name: string, text: string): boolean => {
  try {
    settings[name]?.parse(text)
    return true
  } catch {
    return false
  }
}
