import type { StructureAdvice } from '#proto/structure-advice.ts'
import { bytes } from '../../measures/words.ts'

/** What is known of the hardware of a host, and how it is set up. */
export interface HostSetUp {
  cores: number | null
  memoryBytes: number | null
  settings: Readonly<Record<string, string>>
}

const mostCacheShare = 0.25
const mostPoolPerCore = 2
const halfOfMemory = 0.5

type Advised = Pick<StructureAdvice, 'title' | 'rationale' | 'risk'> & { value: string }

/** Settings that do not suit the hardware. A host of unknown hardware has none. */
export const settingAdvice = (setUp: HostSetUp): StructureAdvice[] =>
  Object.entries(rules).flatMap(([name, judge]) => {
    const value = setUp.settings[name]
    const advised = value === undefined ? undefined : judge(value, setUp)
    if (!advised) return []
    const { value: wanted, ...words } = advised
    const isOfServer = ofServer.has(name)
    return {
      kind: 'setting' as const,
      subject: name,
      ...words,
      rationale:
        `${words.rationale} ${isOfServer ? `In the configuration of the server: <${name}>${wanted}</${name}>.` : ''}`.trim(),
      ddl: isOfServer ? null : `ALTER USER <user> SETTINGS ${name} = ${wanted}`,
      proof: 'unverified' as const,
      savings: null,
    }
  })

const ofServer = new Set(['background_pool_size', 'mark_cache_size', 'max_server_memory_usage_to_ram_ratio'])

const rules: Readonly<Record<string, (value: string, setUp: HostSetUp) => Advised | undefined>> = {
  max_threads: (value, { cores }) =>
    cores !== null && Number(value) > cores
      ? {
          title: 'No more threads than cores',
          rationale: `A statement may use ${value} threads on ${cores} cores, which then wait for one another.`,
          value: String(cores),
          risk: 'Statements that wait for remote storage may have gained by more threads.',
        }
      : undefined,
  max_memory_usage: (value, { memoryBytes }) =>
    memoryBytes !== null && (Number(value) === 0 || Number(value) > memoryBytes)
      ? {
          title: 'A limit for the memory of one statement',
          rationale: `${Number(value) === 0 ? 'There is none' : `It is ${bytes(Number(value))}`}, and the host has ${bytes(memoryBytes)}: one statement can take it all from the others.`,
          value: String(Math.floor(halfOfMemory * memoryBytes)),
          risk: 'Statements that need more fail from then on.',
        }
      : undefined,
  max_bytes_before_external_group_by: (value, { memoryBytes, settings }) =>
    memoryBytes !== null && Number(value) === 0 && Number(settings.max_bytes_ratio_before_external_group_by ?? 0) === 0
      ? {
          title: 'Large groupings go to disk',
          rationale: 'A GROUP BY that outgrows the memory fails, as it may not go to disk.',
          value: String(Math.floor((halfOfMemory * memoryBytes) / 2)),
          risk: 'Groupings that go to disk are slower than those that fit.',
        }
      : undefined,
  background_pool_size: (value, { cores }) =>
    cores !== null && Number(value) > mostPoolPerCore * Math.max(cores, 8)
      ? {
          title: 'Fewer merges at once',
          rationale: `${value} merges may run at once on ${cores} cores, and take them from statements.`,
          value: String(Math.max(cores, 8)),
          risk: 'Parts that come in bursts are merged later. It takes effect with a restart.',
        }
      : undefined,
  mark_cache_size: (value, { memoryBytes }) =>
    memoryBytes !== null && Number(value) > mostCacheShare * memoryBytes
      ? {
          title: 'A smaller cache of marks',
          rationale: `It may take ${bytes(Number(value))} of ${bytes(memoryBytes)}.`,
          value: String(Math.floor(mostCacheShare * memoryBytes)),
          risk: 'Where the marks of all tables are larger than that, more of them are read again.',
        }
      : undefined,
  max_server_memory_usage_to_ram_ratio: (value) =>
    Number(value) > 1
      ? {
          title: 'No more memory than there is',
          rationale: `The server may take ${value} times the memory of the host, and is ended by the system then.`,
          value: '0.9',
          risk: 'Statements are refused where the server would have been ended.',
        }
      : undefined,
}

interface Change {
  release: string
  name: string
  after: string
  reason: string
}

const monthsOfFixes = 12
const mostChanges = 20

/** Whether a release gets fixes still, and what would change with that of another host. Releases are named by year and month. */
export const upgradeAdvice = (
  { version, nowMs }: { version: string; nowMs: number },
  newer: { version: string; changes: readonly Change[] } | undefined,
): StructureAdvice[] => {
  const [year = 0, month = 0] = version.split('.').map(Number)
  const now = new Date(nowMs)
  const age = (now.getUTCFullYear() - (2_000 + year)) * 12 + now.getUTCMonth() + 1 - month
  const isOld = age > monthsOfFixes
  if (!isOld && !newer) return []
  const changes = newer?.changes ?? []
  const told = changes
    .slice(0, mostChanges)
    .map(({ release, name, after, reason }) => `${name} = ${after} since ${release}: ${reason}`)
  const more = changes.length > mostChanges ? `\nand ${changes.length - mostChanges} more` : ''
  const notes = newer
    ? `Another host runs ${newer.version}, and tells ${changes.length} defaults that changed since:\n${told.join('\n')}${more}`
    : 'No host of the list runs a later release that could tell what changed since.'
  return [
    {
      kind: 'upgrade',
      subject: version,
      title: isOld ? `${version} is ${age} months old` : `${newer?.version ?? ''} runs elsewhere`,
      rationale: `${isOld ? 'Releases get fixes for a year at most. ' : ''}${notes}`,
      ddl: null,
      proof: 'unverified',
      savings: null,
      risk: 'Read the notes of each release in between, and try statements that matter on one host first; the setting compatibility keeps defaults of before.',
    },
  ]
}
