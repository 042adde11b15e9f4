import { replaceInstantMarks } from '#proto/instant-marks.ts'
import type { HostReport } from '#proto/host-report.ts'
import type { ReportData } from '../report-data.ts'

const hourMs = 3_600_000

/** Returns the state of backups and certificates; values are null if unknown. */
export const summarizeSafeguards = ({ rows }: Pick<ReportData, 'rows'>): HostReport['safeguards'] => {
  const [backups] = rows.backups ?? []
  return {
    backupAtMs: backups?.succeededAtMs ?? null,
    failedBackups: backups?.failed ?? null,
    certificateExpiresAtMs: rows.certificates?.[0]?.expiresAtMs ?? null,
  }
}

/** Returns the hashes of the settings that differ from their defaults, by name. */
export const collectSettingHashes = ({ settings }: Pick<ReportData, 'settings'>): HostReport['settings'] =>
  Object.fromEntries((settings ?? []).map(({ name, valueHash }) => [name, valueHash]))

/** Returns the changes since the report of the previous week. */
export const summarizeChanges = (
  material: Pick<ReportData, 'rows' | 'settings' | 'version' | 'before'>,
): HostReport['changes'] => {
  const { rows, settings, version, before } = material
  const now = collectSettingHashes(material)
  const names = new Set([...Object.keys(now), ...Object.keys(before?.settings ?? {})])
  const versionBefore = before?.changes.version ?? null
  return {
    version: version ?? null,
    versionBefore: versionBefore === version ? null : versionBefore,
    settings: before && settings ? [...names].filter((name) => now[name] !== before.settings[name]).toSorted() : null,
    restarts: rows.restarts?.[0]?.restarts ?? null,
  }
}

/** Returns the monitored hours of the period, the number of rules without data, and the failed deliveries. */
export const summarizeCoverage = ({
  period,
  writtenAtMs,
  rows,
  checks,
  undelivered,
}: Pick<ReportData, 'period' | 'writtenAtMs' | 'rows' | 'checks' | 'undelivered'>): HostReport['coverage'] => {
  const evaluated = checks?.filter(({ status, atMs }) => status !== 'off' && atMs !== null)
  const byChannel = undelivered && Map.groupBy(undelivered, ({ channel }) => channel)
  return {
    hours: Math.ceil((Math.min(period.toMs, writtenAtMs) - period.fromMs) / hourMs),
    watchedHours: rows.watched?.[0]?.hours ?? null,
    rules: evaluated?.length ?? null,
    unknownRules: evaluated?.filter(({ status }) => status === 'unknown').length ?? null,
    undelivered: (byChannel && [...byChannel].map(([channel, { length }]) => ({ channel, count: length }))) ?? null,
  }
}

const maxRecommended = 10
const worstFirst = ['critical', 'warning', 'info']

/** Returns the undismissed insights of the period, one per kind and subject. Sorts by severity, then latest first. */
export const selectRecommendations = ({
  insights,
  period,
}: Pick<ReportData, 'insights' | 'period'>): HostReport['recommendations'] => {
  const found = insights
    .filter(({ foundAtMs, dismissed }) => !dismissed && foundAtMs >= period.fromMs && foundAtMs < period.toMs)
    .toSorted(
      (one, other) =>
        worstFirst.indexOf(one.severity) - worstFirst.indexOf(other.severity) || other.foundAtMs - one.foundAtMs,
    )
  const seen = new Set<string>()
  const firsts = found.filter(({ kind, subject }) => {
    const name = JSON.stringify([kind, subject])
    return !seen.has(name) && seen.add(name)
  })
  return firsts.slice(0, maxRecommended).map(({ kind, subject, severity, title, detail, evidenceSql, link }) => ({
    kind,
    subject,
    severity,
    title,
    // A report is read later, so it names times instead of ages.
    detail: replaceInstantMarks(detail, formatUtc),
    evidenceSql,
    link,
  }))
}

/** Formats an instant as `on 2026-06-01 at 12:30 UTC`. */
const formatUtc = (atMs: number): string => new Date(atMs).toISOString().replace(/^(.{10})T(.{5}).*/, 'on $1 at $2 UTC')
