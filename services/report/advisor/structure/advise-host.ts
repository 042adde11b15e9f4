import type { StructureAdvice } from '#proto/structure-advice.ts'
import { formatBytes } from '../../format.ts'

/** Hardware and settings of a host. */
export interface HostConfig {
  cores: number | null
  memoryBytes: number | null
  settings: Readonly<Record<string, string>>
}

const maxCacheShare = 0.25
const maxPoolThreadsPerCore = 2
const maxQueryMemoryShare = 0.5

type SettingChange = Pick<StructureAdvice, 'title' | 'rationale' | 'risk'> & { value: string }

/** Returns advice on settings that do not fit the hardware. Skips settings if the required hardware is unknown. */
export const adviseOnSettings = (config: HostConfig): StructureAdvice[] =>
  Object.entries(settingRules).flatMap(([name, evaluate]) => {
    const value = config.settings[name]
    const advised = value === undefined ? undefined : evaluate(value, config)
    if (!advised) return []
    const { value: recommended, ...words } = advised
    const isServerSetting = serverSettings.has(name)
    return {
      kind: 'setting' as const,
      subject: name,
      ...words,
      rationale:
        `${words.rationale} ${isServerSetting ? `In the server configuration: <${name}>${recommended}</${name}>.` : ''}`.trim(),
      ddl: isServerSetting ? null : `ALTER USER <user> SETTINGS ${name} = ${recommended}`,
      proof: 'unverified' as const,
      savings: null,
    }
  })

const serverSettings = new Set(['background_pool_size', 'mark_cache_size', 'max_server_memory_usage_to_ram_ratio'])

const settingRules: Readonly<Record<string, (value: string, config: HostConfig) => SettingChange | undefined>> = {
  max_threads: (value, { cores }) =>
    cores !== null && Number(value) > cores
      ? {
          title: 'Limit threads to the number of cores',
          rationale: `A query can use ${value} threads on ${cores} cores, which then compete for CPU.`,
          value: String(cores),
          risk: 'Queries that wait for remote storage can benefit from more threads.',
        }
      : undefined,
  max_memory_usage: (value, { memoryBytes }) =>
    memoryBytes !== null && (Number(value) === 0 || Number(value) > memoryBytes)
      ? {
          title: 'Memory limit per query',
          rationale: `${Number(value) === 0 ? 'There is none' : `It is ${formatBytes(Number(value))}`}, and the host has ${formatBytes(memoryBytes)}: one query can take all memory from the others.`,
          value: String(Math.floor(maxQueryMemoryShare * memoryBytes)),
          risk: 'Queries that need more memory will fail.',
        }
      : undefined,
  max_bytes_before_external_group_by: (value, { memoryBytes, settings }) =>
    memoryBytes !== null && Number(value) === 0 && Number(settings.max_bytes_ratio_before_external_group_by ?? 0) === 0
      ? {
          title: 'Spill large GROUP BY to disk',
          rationale: 'A GROUP BY that exceeds the memory limit fails, because spilling to disk is disabled.',
          value: String(Math.floor((maxQueryMemoryShare * memoryBytes) / 2)),
          risk: 'A GROUP BY that spills to disk is slower than one in memory.',
        }
      : undefined,
  background_pool_size: (value, { cores }) =>
    cores !== null && Number(value) > maxPoolThreadsPerCore * Math.max(cores, 8)
      ? {
          title: 'Fewer concurrent merges',
          rationale: `Up to ${value} merges can run at once on ${cores} cores and compete with queries for CPU.`,
          value: String(Math.max(cores, 8)),
          risk: 'Bursts of new parts are merged later. Takes effect after a restart.',
        }
      : undefined,
  mark_cache_size: (value, { memoryBytes }) =>
    memoryBytes !== null && Number(value) > maxCacheShare * memoryBytes
      ? {
          title: 'Smaller mark cache',
          rationale: `The cache can take ${formatBytes(Number(value))} of ${formatBytes(memoryBytes)}.`,
          value: String(Math.floor(maxCacheShare * memoryBytes)),
          risk: 'If the marks of all tables exceed the cache, more of them are read from disk.',
        }
      : undefined,
  max_server_memory_usage_to_ram_ratio: (value) =>
    Number(value) > 1
      ? {
          title: 'Memory limit below physical memory',
          rationale: `The server can allocate ${value} times the memory of the host, and the OOM killer then stops it.`,
          value: '0.9',
          risk: 'Queries fail where the OOM killer would have stopped the server.',
        }
      : undefined,
}

interface Change {
  release: string
  name: string
  after: string
  reason: string
}

const supportMonths = 12
const maxChanges = 20

/**
 * Returns advice to upgrade if the release no longer gets fixes, or if another host runs a newer release. The age is
 * computed from the version, which consists of year and month.
 */
export const adviseOnUpgrade = (
  { version, nowMs }: { version: string; nowMs: number },
  newer: { version: string; changes: readonly Change[] } | undefined,
): StructureAdvice[] => {
  const [year = 0, month = 0] = version.split('.').map(Number)
  const now = new Date(nowMs)
  const age = (now.getUTCFullYear() - (2_000 + year)) * 12 + now.getUTCMonth() + 1 - month
  const isOld = age > supportMonths
  if (!isOld && !newer) return []
  const changes = newer?.changes ?? []
  const listed = changes
    .slice(0, maxChanges)
    .map(({ release, name, after, reason }) => `${name} = ${after} since ${release}: ${reason}`)
  const more = changes.length > maxChanges ? `\nand ${changes.length - maxChanges} more` : ''
  const notes = newer
    ? `Another host runs ${newer.version} and reports ${changes.length} defaults that changed since then:\n${listed.join('\n')}${more}`
    : 'No configured host runs a newer release that could report what has changed.'
  return [
    {
      kind: 'upgrade',
      subject: version,
      title: isOld ? `${version} is ${age} months old` : `Another host runs ${newer?.version ?? ''}`,
      rationale: `${isOld ? 'Releases get fixes for at most a year. ' : ''}${notes}`,
      ddl: null,
      proof: 'unverified',
      savings: null,
      risk: 'Read the notes of each release in between and test important queries on one host first. The setting compatibility keeps the old defaults.',
    },
  ]
}
