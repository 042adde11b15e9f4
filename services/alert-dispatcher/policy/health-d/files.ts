import type { RuleSettings } from '#proto/alert-policy.ts'
import { type Layer, digestMinutesOf } from '../layers/layer.ts'
import { DefinitionId } from '#proto/catalogue.ts'
import { sentenceOf } from '#shared/sentence-of.ts'
import type { ChannelSpec } from '../saved/fields.ts'
import { channelLayers } from './channels.ts'
import { type Document, fieldsOf, listOf, requireKnown, tableOf } from './entries.ts'
import { reasonOf, type Report } from './report.ts'
import {
  FileCheck,
  FileDigest,
  FileMaintenance,
  FileQuietHours,
  FileRoute,
  FileRule,
  FileSettings,
  FileThresholds,
  FileWebhookTarget,
} from './shapes.ts'

type ReadFile = (document: Document, report: Report, channels: readonly ChannelSpec[]) => Partial<Layer>

const idOf = ({ id }: { id: string }): string => id

const alerts: ReadFile = (document, report) => {
  requireKnown(document, ['settings', 'rules', 'thresholds', 'checks'], report)
  const general = fieldsOf(document, { key: 'settings', schema: FileSettings }, report)
  const byRule = { name: DefinitionId }
  const thresholds = tableOf(document, { ...byRule, key: 'thresholds', schema: FileThresholds }, report)
  const checks = tableOf(document, { ...byRule, key: 'checks', schema: FileCheck }, report)
  const custom = listOf(document, { key: 'rules', schema: FileRule, idOf }, report)
  return {
    general: general ?? {},
    rules: joined(thresholds, checks),
    custom: custom.map((rule) => ({ ...rule, id: customId(rule.id) })),
  }
}

/** Rules of operators are told from ours by how their ids begin. */
const customId = (id: string): string => (id.startsWith('custom:') ? id : `custom:${id}`)

const joined = (
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
  requireKnown(document, ['routes'], report)
  return { routes: listOf(document, { key: 'routes', schema: FileRoute, idOf }, report) }
}

const channels: ReadFile = (document, report, known) => {
  requireKnown(document, ['channels', 'webhookTargets'], report)
  const targets = { key: 'webhookTargets', schema: FileWebhookTarget, idOf: ({ name }: { name: string }) => name }
  return { channels: channelLayers(document, report, known), webhookTargets: listOf(document, targets, report) }
}

const quietHours: ReadFile = (document, report) => {
  requireKnown(document, ['windows'], report)
  return { quietHours: listOf(document, { key: 'windows', schema: FileQuietHours, idOf }, report) }
}

const maintenance: ReadFile = (document, report) => {
  requireKnown(document, ['windows'], report)
  const windows = listOf(document, { key: 'windows', schema: FileMaintenance, idOf }, report)
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
  const read = FileDigest.safeParse(document, { error: sentenceOf })
  if (!read.success) report('', reasonOf(read.error))
  return { digestMinutes: read.data && digestMinutesOf(read.data) }
}

/** Every file that is read, by its name without `.yaml` or `.yml`. */
export const files: Readonly<Record<string, ReadFile>> = {
  alerts,
  routing,
  channels,
  'quiet-hours': quietHours,
  maintenance,
  digest,
}
