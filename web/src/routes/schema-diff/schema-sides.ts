import type { SchemaDiff, SchemaSide } from '#lib/api/schema-diff.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

const groupPrefix = 'group:'

/** Returns the value of a side in the URL: a host id, or a group with a prefix. */
export const formatSide = ({ hostId, group }: SchemaSide): string =>
  group === null ? String(hostId ?? '') : `${groupPrefix}${group}`

/** Returns a side of the URL. Without one, it is the host `fallback`. */
export const readSide = (
  parameters: ReadableParameters,
  side: 'base' | 'target',
  fallback: number | undefined,
): SchemaSide => {
  const value = parameters.get(side)
  const seconds = parameters.get(`${side}Time`) ?? ''
  const time = /^\d{1,12}$/.test(seconds) ? Number(seconds) : null
  if (value?.startsWith(groupPrefix)) return { hostId: null, group: value.slice(groupPrefix.length), time }
  const hostId = value !== null && /^-?\d{1,10}$/.test(value) ? Number(value) : fallback
  return { hostId: hostId ?? null, group: null, time }
}

export const riskLabels: Readonly<Record<string, { label: string; tone: string }>> = {
  safe: { label: 'Metadata only', tone: 'bg-good-soft text-good' },
  rewrite: { label: 'Rewrites data', tone: 'bg-warn-soft text-warn' },
  'data-loss': { label: 'Data loss', tone: 'bg-bad-soft text-bad' },
  manual: { label: 'Complete first', tone: 'bg-warn-soft text-warn' },
}

type Statement = SchemaDiff['data']['statements'][number]

/** Returns all statements as a script, with their risks as comments. */
export const formatScript = (statements: readonly Statement[]): string =>
  statements
    .map(({ sql, risk, note }) => {
      const comment = [risk === 'safe' ? '' : (riskLabels[risk]?.label ?? risk), note].filter(Boolean).join(': ')
      return `${comment && `-- ${comment.replaceAll('\n', ' ')}\n`}${sql}${sql.startsWith('--') ? '' : ';'}\n`
    })
    .join('\n')
